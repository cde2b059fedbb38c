"""Read dates from single texts, in the forms of many countries and programs.

Everything here looks at one text alone, in linear time. Whether the day or the month
comes first, and the century of a year of two digits, is said by the caller. A month, a
quarter or a week is read as its first day.
"""

import datetime
import re
import tomllib
import unicodedata
from importlib.resources import files

from dpcore.schema.detector import name_words

_DATE_NAMES = tomllib.loads(
    files(__package__).joinpath("dates.toml").read_text("utf-8")
)
DEFAULT_CENTURY = 1950
"""First year of the hundred that a year of two digits may mean."""
BIRTH_CENTURY = 1930
DIGIT_FORMS = (
    "yyyymmdd",
    "ddmmyyyy",
    "mmddyyyy",
    "days since 1900",
    "seconds",
    "thousandths",
)
"""Ways to write a date as one number."""
_SHEET_DAY_ZERO = datetime.date(1899, 12, 30)
_EPOCH = datetime.datetime(1970, 1, 1)
_MAX_SHEET_DAY = 2_958_465  # the last day of the year 9999
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?", re.DOTALL | re.ASCII)
_CLOCK = (
    r"(?:,?[ T] ?(?P<half>上午|下午)?(?P<hour>\d{1,2}):(?P<minute>\d{2})"
    r"(?::(?P<second>\d{2})(?:[.,]\d{1,9})?)?(?: ?(?P<ampm>[AaPp])\.?[Mm]\.?)?)?"
)
_LETTER = r"(?:[^\W\d_]|[\u0900-\u0dff])"
"""Letters, and the signs of vowels in scripts of India, which count as marks."""
_WEEKDAY = rf"(?:{_LETTER}{{2,12}}\.?,? )?"
_MONTH = rf"(?P<name>{_LETTER}{{2,12}}(?: ال{_LETTER}{{2,10}})?)\.?"
_OF_WORD = r"(?:de |di |of |del |d['’])?"
_YEAR = r"(?P<year>\d{4}|'?\d{2})(?: ?(?:г|р|r|года|року|roku)\.?)?"
_ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018} | {
    "民國": 1911,
    "民国": 1911,
}
"""Eras of Japan and Taiwan, each with the year before its first."""
_ORDINAL = r"(?:\.|st|nd|rd|th|er|[ºª°])?"
_DATE_PATTERNS = [
    re.compile(form + _CLOCK)
    for form in (
        r"(?P<year>\d{4})(?P<sep>[-./]) ?(?P<month>\d{1,2})(?P=sep) ?(?P<day>\d{1,2})\.?",
        r"(?P<first>\d{1,2})(?P<mark>[-./]) ?(?P<other>\d{1,2})(?P=mark) ?"
        r"(?P<year>\d{4}|\d{2})(?: ?[гr]\.)?",
        r"(?P<year>\d{4}) ?[年년] ?(?P<month>\d{1,2}) ?[月월] ?(?P<day>\d{1,2}) ?[日号號일]",
        rf"(?P<era>{'|'.join(_ERAS)}) ?(?P<year>\d{{1,3}}|元)年 ?(?P<month>\d{{1,2}})月 ?"
        r"(?P<day>\d{1,2})日",
        r"(?:ngày )?(?P<day>\d{1,2}) tháng (?P<month>\d{1,2})(?:,| năm)? (?P<year>\d{4})",
        rf"(?P<year>\d{{4}}) ?m\. {_MONTH} (?P<day>\d{{1,2}})(?: ?d\.)?",
        rf"(?P<year>\d{{4}})\. ?gada (?P<day>\d{{1,2}})\. {_MONTH}",
        _WEEKDAY
        + rf"(?P<day>\d{{1,2}}){_ORDINAL}[ ./-]?{_OF_WORD}{_MONTH}[ ./-]?{_OF_WORD}{_YEAR}",
        _WEEKDAY + rf"{_MONTH} ?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})",
        rf"(?P<year>\d{{4}})(?:\. ?|[ -]){_MONTH}[ .-](?P<day>\d{{1,2}})\.?",
        r"(?P<year>\d{4})-?W(?P<week>\d{2})(?:-?(?P<weekday>[1-7]))?",
        r"(?P<year>\d{4})[-/M](?P<month>\d{2})",
        r"(?P<month>\d{1,2})[/-](?P<year>\d{4})",
        rf"{_MONTH}[ /-]{_OF_WORD}(?P<year>\d{{4}})",
        r"(?P<year>\d{4})[- /]?[QT](?P<quarter>[1-4])",
        r"[QT](?P<quarter>[1-4])[- /]?(?P<year>\d{4})",
    )
]


def _strip_accents(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text.lower())
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


_MONTHS = {
    _strip_accents(name): month
    for month, names in enumerate(_DATE_NAMES["months"], start=1)
    for name in names
}
_DATE_WORDS = frozenset[str](_DATE_NAMES["date_words"])
_BIRTH_WORDS = frozenset[str](_DATE_NAMES["birth_words"])


def is_date_column_name(column: str) -> bool:
    """Return whether a column's name suggests that it holds dates."""
    return not _DATE_WORDS.isdisjoint(name_words(column).split())


def first_year_of_century(column: str) -> int:
    """Return the first year of the century that two-digit years of a column mean."""
    is_birth = not _BIRTH_WORDS.isdisjoint(name_words(column).split())
    return BIRTH_CENTURY if is_birth else DEFAULT_CENTURY


def is_iso(text: str) -> bool:
    """Return whether a text is written as an ISO date or time."""
    return _ISO.fullmatch(text) is not None


def read_date(
    text: str, *, day_first: bool, century: int = DEFAULT_CENTURY
) -> str | None:
    """Return the ISO text of a date, or None for other texts.

    Args:
        text: one cell; an ISO text is returned as it is.
        day_first: whether 06/04/2002 is 6 April; with points the day is always first.
        century: first of the hundred years that two digits may mean.

    >>> read_date("8. März 2021", day_first=True), read_date("2021-Q2", day_first=True)
    ('2021-03-08', '2021-04-01')
    """
    text = text.strip()
    if is_iso(text):
        return text
    for form in _DATE_PATTERNS:
        match = form.fullmatch(text)
        if match is not None:
            read = _parse_date_match(
                match.groupdict(), day_first=day_first, century=century
            )
            if read is not None:
                return read
    return None


def _parse_date_match(
    groups: dict[str, str | None], *, day_first: bool, century: int
) -> str | None:
    digits = (groups["year"] or "").removeprefix("'")
    year = 1 if digits == "元" else int(digits)
    if era := groups.get("era"):
        year += _ERAS[era]
    elif len(digits) == 2:
        year = century + (year - century) % 100
    month: str | int | None = groups.get("month")
    day: str | int = groups.get("day") or 1
    if groups.get("first") and (day_first or groups["mark"] == "."):
        day, month = groups["first"] or 0, groups["other"]
    elif groups.get("first"):
        day, month = groups["other"] or 0, groups["first"]
    if name := groups.get("name"):
        month = _MONTHS.get(_strip_accents(name), 0)
    if quarter := groups.get("quarter"):
        month = 3 * int(quarter) - 2
    clock = _parse_clock(groups)
    if clock is None:
        return None
    try:
        if week := groups.get("week"):
            weekday = int(groups["weekday"] or 1)
            date = datetime.date.fromisocalendar(year, int(week), weekday)
        else:
            date = datetime.date(year, int(month or 0), int(day))
        moment = datetime.datetime.combine(date, datetime.time(*clock))
    except ValueError:
        return None
    return write_moment(moment, has_clock=groups["hour"] is not None)


def write_moment(moment: datetime.datetime, *, has_clock: bool) -> str:
    """Return a moment as ISO text, with or without its time of day."""
    return moment.isoformat(" ") if has_clock else moment.date().isoformat()


def _parse_clock(groups: dict[str, str | None]) -> tuple[int, int, int] | None:
    hour = int(groups["hour"] or 0)
    half = {"a": "a", "p": "p", "上午": "a", "下午": "p"}.get(
        (groups["ampm"] or groups["half"] or "").lower()
    )
    if half and not 1 <= hour <= 12:
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return hour, int(groups["minute"] or 0), int(groups["second"] or 0)


def read_digits(text: str, form: str) -> str | None:
    """Return the ISO text of a date written as one number, or None.

    Args:
        text: one cell.
        form: one of `DIGIT_FORMS`.

    >>> read_digits("20210308", "yyyymmdd"), read_digits("14678", "days since 1900")
    ('2021-03-08', '1940-03-08')
    """
    text = text.strip()
    try:
        if form in ("yyyymmdd", "ddmmyyyy", "mmddyyyy"):
            if re.fullmatch(r"\d{8}", text, re.ASCII) is None:
                return None
            year, month, at = (form.index(part) for part in ("yyyy", "mm", "dd"))
            day = datetime.date(
                int(text[year : year + 4]),
                int(text[month : month + 2]),
                int(text[at : at + 2]),
            )
            return day.isoformat()
        if re.fullmatch(r"-?\d{1,14}(?:\.\d+)?", text, re.ASCII) is None:
            return None
        number = float(text)
        if form == "days since 1900":
            if not 1 <= number <= _MAX_SHEET_DAY:
                return None
            day = _SHEET_DAY_ZERO + datetime.timedelta(days=int(number))
            return day.isoformat()
        seconds = number / (1_000 if form == "thousandths" else 1)
        moment = _EPOCH + datetime.timedelta(seconds=int(seconds // 1))
    except (ValueError, OverflowError):
        return None
    return write_moment(moment, has_clock=moment.time() != datetime.time())


def describe_date(text: str, *, day_first: bool) -> str:
    """Return how a date is written, such as "dd.mm.yyyy"."""
    text = text.strip()
    numeric = re.match(r"(\d{1,4})([-./])(\d{1,2})(?:\2(\d{1,4}))?", text)
    if re.search(r"[^\W\d_]{3}", text) and not numeric:
        return "dd month yyyy" if text[:1].isdigit() else "month dd, yyyy"
    if "年" in text:
        return "yyyy年m月d日"
    if numeric is None:
        return "yyyy Q" if re.search("[QT]", text) else "yyyy"
    first, mark, _, last = numeric.groups()
    if last is None:
        return f"yyyy{mark}mm" if len(first) == 4 else f"mm{mark}yyyy"
    if len(first) == 4:
        return f"yyyy{mark}mm{mark}dd"
    days, months = ("dd", "mm") if day_first or mark == "." else ("mm", "dd")
    return f"{days}{mark}{months}{mark}{'yy' if len(last) == 2 else 'yyyy'}"
