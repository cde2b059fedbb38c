"""Texts of many countries as plain numbers and ISO dates, such as 3.461,21 €, 1'000.5
and 2002年4月6日.

All of it looks at texts one by one, in linear time, and at a column as a whole only to
decide what is meant: which sign is before the decimals, and whether 06/04 is in April.
"""

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass

_UNITS = r"€|\$|£|¥|₹|₽|%|‰|元|円|EUR|USD|GBP|CHF|JPY|CNY|RMB|SEK|NOK|DKK|PLN|CZK|kr\.?|zł|Kč|Fr\."
_GROUPS = {".": ",'’ \u00a0\u202f", ",": ".'’ \u00a0\u202f"}
_DATE = re.compile(
    r"(?:(?P<year>\d{4})(?P<sep>[-./])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})"
    r"|(?P<first>\d{1,2})(?P<mark>[-./])(?P<second>\d{1,2})(?P=mark)(?P<last>\d{4})"
    r"|(?P<nian>\d{4}) ?年 ?(?P<yue>\d{1,2}) ?月 ?(?P<ri>\d{1,2}) ?[日号])"
    r"(?:,?[ T] ?(?P<half>上午|下午)?(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second_>\d{2}))?"
    r"(?: ?(?P<ampm>[AaPp])\.?[Mm]\.?)?)?",
)
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?", re.DOTALL)


def _number(decimal: str) -> re.Pattern[str]:
    sign = re.escape(decimal)
    whole = rf"(?:0|[1-9]\d{{0,2}}(?:(?P<group>[{_GROUPS[decimal]}])\d{{3}}(?:(?P=group)\d{{3}})*|\d*))"
    return re.compile(
        rf"(?P<minus>[-−])?(?:(?P<before>{_UNITS}) ?)?(?P<whole>{whole})(?:{sign}(?P<part>\d+))?"
        rf"(?:[ \u00a0\u202f]?(?P<after>{_UNITS}))?",
        re.ASCII,
    )


_NUMBERS = {decimal: _number(decimal) for decimal in _GROUPS}


@dataclass(frozen=True, kw_only=True)
class NumbersOrDates:
    """Texts as plain ones, one for each, with how they were written.

    Attributes:
        decided: whether they could not be read in another way.
    """

    texts: list[str]
    pattern: str
    decided: bool = True


def is_number(text: str, decimal: str) -> bool:
    """Return whether a text is a number by itself, with this sign before the
    decimals.
    """
    return _NUMBERS[decimal].fullmatch(text) is not None


def is_date(text: str) -> bool:
    """Return whether a text is a date by itself, in some order of day and month."""
    match = _DATE.fullmatch(text)
    return match is not None and any(_day(match, order) for order in (True, False))


def as_numbers(texts: Sequence[str], decimal: str) -> NumbersOrDates | None:
    """Numbers with one sign before the decimals, one between thousands and one unit,
    None for all else.

    Decided: some number has both signs, or groups or decimals that the other reading
    would not allow.
    """
    attempts = [_NUMBERS[decimal].fullmatch(text) for text in texts]
    if not attempts or not all(attempts):
        return None
    matches = [match for match in attempts if match]
    units = {(match["before"] or "", match["after"] or "") for match in matches}
    groups = {match["group"] for match in matches if match["group"]}
    if len(units) > 1 or len(groups) > 1:
        return None
    if groups and any(
        len(match["whole"]) > 3 and not match["group"] for match in matches
    ):
        return None  # 1.234 beside 1234 would make one id of two
    group = next(iter(groups), "")
    plain = [
        ("-" if match["minus"] else "")
        + (match["whole"].replace(group, "") if group else match["whole"])
        + (f".{match['part']}" if match["part"] else "")
        for match in matches
    ]
    before, after = units.pop()
    part = f"{decimal}5" if any(match["part"] for match in matches) else ""
    pattern = (
        f"{before}{'1' + group + '234' if group else '1234' if not part else '1'}{part}"
    )
    other = "," if decimal == "." else "."
    decided = not all(_NUMBERS[other].fullmatch(text) for text in texts)
    return NumbersOrDates(
        texts=plain, pattern=f"{pattern} {after}" if after else pattern, decided=decided
    )


def as_dates(texts: Sequence[str], day_first: bool | None) -> NumbersOrDates | None:
    """Dates as ISO texts, None for all else.

    Dates with points have the day first. With slashes or hyphens the order is what fits
    all of them; where both fit, it is `day_first`, and with None the reading has no
    texts.
    """
    attempts = [_DATE.fullmatch(text) for text in texts]
    if not attempts or not all(attempts) or all(map(_ISO.fullmatch, texts)):
        return None
    matches = [match for match in attempts if match]
    short = [match for match in matches if match["first"] and match["mark"] != "."]
    if len({_written(match, True) for match in matches}) > 1:
        return None
    orders = [
        order
        for order in (True, False)
        if all(int(match["second" if order else "first"]) <= 12 for match in short)
    ]
    if not orders:
        return None
    decided = not short or len(orders) == 1
    if not decided and day_first is None:
        return NumbersOrDates(
            texts=[], pattern=_written(matches[0], True), decided=False
        )
    order = orders[0] if decided else bool(day_first)
    days = [_day(match, order) for match in matches]
    if None in days:
        return None
    return NumbersOrDates(
        texts=[day for day in days if day],
        pattern=_written(matches[0], order),
        decided=bool(short) and decided,
    )


def _written(match: re.Match[str], day_first: bool) -> str:
    if match["nian"]:
        return "yyyy年m月d日"
    if match["year"]:
        return f"yyyy{match['sep']}mm{match['sep']}dd"
    days, months = ("dd", "mm") if day_first or match["mark"] == "." else ("mm", "dd")
    return f"{days}{match['mark']}{months}{match['mark']}yyyy"


def _day(match: re.Match[str], day_first: bool) -> str | None:
    year = match["year"] or match["last"] or match["nian"]
    month = match["month"] or match["yue"]
    day = match["day"] or match["ri"]
    if match["first"]:
        first = day_first or match["mark"] == "."
        day, month = (
            (match["first"], match["second"])
            if first
            else (match["second"], match["first"])
        )
    hour = int(match["hour"] or 0)
    half = {"a": "a", "p": "p", "上午": "a", "下午": "p"}.get(
        (match["ampm"] or match["half"] or "").lower()
    )
    if half and not 1 <= hour <= 12:
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    try:
        moment = datetime.datetime(
            int(year),
            int(month),
            int(day),
            hour,
            int(match["minute"] or 0),
            int(match["second_"] or 0),
        )
    except ValueError:
        return None
    return str(moment) if match["hour"] else str(moment.date())
