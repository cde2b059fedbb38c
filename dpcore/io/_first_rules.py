"""Version 1 of the reading rules, for files that were opened by earlier versions.

They are never changed: a file that was opened under them must be read as it was then.
They are used for stored options alone, which say how lines are read; here is how the
cells of columns are.
"""

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from dpcore.io._dates import write_moment
from dpcore.io._numbers import DECIMAL_SIGNS
from dpcore.io._text_column import TextColumn
from dpcore.io.options import ReadOptions

_MIN_FITTING_SHARE = 0.98
"""Share of the cells that must fit."""
_UNITS = (
    r"€|\$|£|¥|₹|₽|%|‰|元|円|EUR|USD|GBP|CHF|JPY|CNY|RMB|SEK|NOK|DKK|PLN|CZK"
    r"|kr\.?|zł|Kč|Fr\."
)
_THOUSANDS_SIGNS = {".": ",'’ \u00a0\u202f", ",": ".'’ \u00a0\u202f"}
_DATE = re.compile(
    r"(?:(?P<year>\d{4})(?P<sep>[-./])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})"
    r"|(?P<first>\d{1,2})(?P<mark>[-./])(?P<other>\d{1,2})(?P=mark)(?P<last>\d{4})"
    r"|(?P<nian>\d{4}) ?年 ?(?P<yue>\d{1,2}) ?月 ?(?P<ri>\d{1,2}) ?[日号])"
    r"(?:,?[ T] ?(?P<half>上午|下午)?(?P<hour>\d{1,2}):(?P<minute>\d{2})"
    r"(?::(?P<second>\d{2}))?(?: ?(?P<ampm>[AaPp])\.?[Mm]\.?)?)?"
)
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?", re.DOTALL)

TextTest = Callable[[str], bool]


def _number_pattern(decimal: str) -> re.Pattern[str]:
    sign = re.escape(decimal)
    group = rf"(?P<group>[{_THOUSANDS_SIGNS[decimal]}])\d{{3}}(?:(?P=group)\d{{3}})*"
    whole = rf"(?:0|[1-9]\d{{0,2}}(?:{group}|\d*))"
    return re.compile(
        rf"(?P<minus>[-−])?(?:(?P<before>{_UNITS}) ?)?(?P<whole>{whole})"
        rf"(?:{sign}(?P<part>\d+))?(?:[ \u00a0\u202f]?(?P<after>{_UNITS}))?",
        re.ASCII,
    )


_NUMBERS = {decimal: _number_pattern(decimal) for decimal in _THOUSANDS_SIGNS}


@dataclass(frozen=True, kw_only=True)
class _PlainTexts:
    """Plain numbers or ISO dates that replace the texts of a column, in their order.

    Attributes:
        is_decided: whether they could not be read in another way.
        day_first: of dates.
    """

    texts: list[str]
    is_decided: bool
    day_first: bool = True


def read_by_first_rules(
    columns: Mapping[str, TextColumn], separator: str | None, options: ReadOptions
) -> list[str]:
    """Read the cells of columns; return date columns whose day-month order is open."""
    rest = {name: column for name, column in columns.items() if _fitting_sample(column)}
    decimal = options.decimal or _choose_decimal([*rest.values()], separator)
    dates: list[str] = []
    for name, column in rest.items():
        fitting, plain = _find_numbers(
            column, decimal, is_decimal_given=options.decimal is not None
        )
        if plain is not None and _replace_texts(column, fitting, plain):
            continue
        sample = _fitting_sample(column, _is_date)
        if not column.plain and any(
            _read_dates(sample, first) for first in (True, False)
        ):
            dates.append(name)
    day_first = options.day_first
    if day_first is None:
        day_first = _choose_day_first([rest[name] for name in dates])
    undecided = []
    for name in dates:
        fitting = _fitting_texts(rest[name], _is_date)
        plain = _read_dates(fitting, day_first)
        if plain is not None and not plain.texts:
            undecided.append(name)
        elif plain is not None:
            _replace_texts(rest[name], fitting, plain)
    return undecided


def _fitting_sample(column: TextColumn, fits: TextTest = bool) -> list[str]:
    """Return the texts of a column's sample that fit; none if fewer than half fit."""
    first = column.sample()
    fitting = [text for text in first if fits(text)]
    return fitting if 2 * len(fitting) >= len(first) else []


def _fitting_texts(column: TextColumn, fits: TextTest) -> list[str]:
    """Return the texts of a column that fit; none unless they are nearly all cells."""
    fitting = [text for text in column.counts if fits(text)]
    cells = sum(column.counts[text] for text in fitting)
    return fitting if cells >= _MIN_FITTING_SHARE * sum(column.counts.values()) else []


def _replace_texts(column: TextColumn, texts: list[str], plain: _PlainTexts) -> bool:
    """Replace texts by their plain forms, unless one of these is already another
    text.
    """
    others = {*column.counts} - {*texts}
    if not others.isdisjoint(plain.texts):
        return False
    column.rewrite(dict(zip(texts, plain.texts, strict=True)))
    return True


def _choose_decimal(columns: Sequence[TextColumn], separator: str | None) -> str:
    for column in columns:
        decided = []
        for sign in DECIMAL_SIGNS:
            plain = _read_numbers(_fitting_sample(column, _number_test(sign)), sign)
            if plain is not None and plain.is_decided:
                decided.append(sign)
        if len(decided) == 1:
            sign = decided[0]
            if (
                _read_numbers(_fitting_texts(column, _number_test(sign)), sign)
                is not None
            ):
                return sign
    has_points = any(
        column.plain and any("." in text for text in _fitting_sample(column))
        for column in columns
    )
    return "," if separator == ";" and not has_points else "."


def _find_numbers(
    column: TextColumn, decimal: str, *, is_decimal_given: bool
) -> tuple[list[str], _PlainTexts | None]:
    other = "," if decimal == "." else "."
    for sign in (decimal,) if is_decimal_given else (decimal, other):
        if sign == "." and column.plain:
            break
        if _read_numbers(_fitting_sample(column, _number_test(sign)), sign) is None:
            continue
        fitting = _fitting_texts(column, _number_test(sign))
        plain = _read_numbers(fitting, sign)
        if plain is not None:
            return fitting, None if plain.texts == fitting else plain
    return [], None


def _number_test(decimal: str) -> TextTest:
    return partial(_is_number, decimal=decimal)


def _is_number(text: str, decimal: str) -> bool:
    return _NUMBERS[decimal].fullmatch(text) is not None


def _read_numbers(texts: Sequence[str], decimal: str) -> _PlainTexts | None:
    """Read texts as numbers; None unless they share one unit and one thousands sign."""
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
    plain = []
    for match in matches:
        whole = match["whole"].replace(group, "") if group else match["whole"]
        part = f".{match['part']}" if match["part"] else ""
        plain.append(("-" if match["minus"] else "") + whole + part)
    other = "," if decimal == "." else "."
    is_decided = not all(_NUMBERS[other].fullmatch(text) for text in texts)
    return _PlainTexts(texts=plain, is_decided=is_decided)


def _choose_day_first(columns: Sequence[TextColumn]) -> bool | None:
    for column in columns:
        for order in (True, False):
            plain = _read_dates(_fitting_texts(column, _is_date), order)
            if plain is not None and plain.is_decided:
                return plain.day_first
    return None


def _is_date(text: str) -> bool:
    match = _DATE.fullmatch(text)
    return match is not None and any(
        _parse_day(match, order) for order in (True, False)
    )


def _read_dates(texts: Sequence[str], day_first: bool | None) -> _PlainTexts | None:
    """Read texts as dates of one form; return no texts if the day-month order is
    open.
    """
    attempts = [_DATE.fullmatch(text) for text in texts]
    if not attempts or not all(attempts) or all(map(_ISO.fullmatch, texts)):
        return None
    matches = [match for match in attempts if match]
    short = [match for match in matches if match["first"] and match["mark"] != "."]
    if len({_date_form(match) for match in matches}) > 1:
        return None
    orders = [
        order
        for order in (True, False)
        if all(int(match["other" if order else "first"]) <= 12 for match in short)
    ]
    if not orders:
        return None
    is_decided = not short or len(orders) == 1
    if not is_decided and day_first is None:
        return _PlainTexts(texts=[], is_decided=False)
    order = orders[0] if is_decided else bool(day_first)
    days = [_parse_day(match, order) for match in matches]
    if None in days:
        return None
    return _PlainTexts(
        texts=[day for day in days if day],
        is_decided=bool(short) and is_decided,
        day_first=order,
    )


def _date_form(match: re.Match[str]) -> str:
    if match["nian"]:
        return "nian"
    return f"year {match['sep']}" if match["year"] else f"day {match['mark']}"


def _parse_day(match: re.Match[str], day_first: bool) -> str | None:
    year = match["year"] or match["last"] or match["nian"]
    month = match["month"] or match["yue"]
    day = match["day"] or match["ri"]
    if match["first"]:
        is_first = day_first or match["mark"] == "."
        day = match["first"] if is_first else match["other"]
        month = match["other"] if is_first else match["first"]
    hour = int(match["hour"] or 0)
    half = {"a": "a", "p": "p", "上午": "a", "下午": "p"}.get(
        (match["ampm"] or match["half"] or "").lower()
    )
    if half and not 1 <= hour <= 12:
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    minute = int(match["minute"] or 0)
    second = int(match["second"] or 0)
    try:
        moment = datetime.datetime(
            int(year), int(month), int(day), hour, minute, second
        )
    except ValueError:
        return None
    return write_moment(moment, has_clock=match["hour"] is not None)
