"""The layout of a text file: separator, title lines, header."""

import contextlib
import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from dpcore.io.options import (
    BLANK_SEPARATOR,
    FIRST_RULES,
    NO_SEPARATOR,
    SEPARATORS,
    ReadOptions,
)

_NUMBER = re.compile(r"-?(?:\d+(?:[.,]\d*)?|\.\d+)")
_BLANKS_OR_QUOTED = re.compile(
    r'(?P<quoted>"[^"\r\n]*")|^[ \t]+|[ \t]+$|(?P<inner>[ \t]+)', re.MULTILINE
)
_UNIT_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_SAMPLE_CHARACTERS = 100_000
_SAMPLE_ROWS = 100
MAX_TITLE_LINES = 20
_MIN_TABLE_SHARE = 0.8
"""Share of the lines below a block of titles that are as wide as the table."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How the lines of a text file are laid out.

    Attributes:
        separator: None for one column.
        skip: lines above the header.
        header_lines: lines that name the columns; 0 for no header.
    """

    separator: str | None
    skip: int
    header_lines: int

    @property
    def has_header(self) -> bool:
        """Whether the file has a header."""
        return self.header_lines > 0


def find_layout(text: str, options: ReadOptions) -> Layout:
    """Return the layout of a text; its first rows decide what the options leave
    open.
    """
    skip = options.skip
    separator = options.separator
    header = options.header
    if skip is None:
        signs = (separator,) if separator else SEPARATORS
        if separator == NO_SEPARATOR:
            signs = SEPARATORS
        skip = _count_title_lines(text, signs)
    head = _skip_lines(text[:_SAMPLE_CHARACTERS], skip)
    is_first = options.rules == FIRST_RULES
    if separator is None:
        separator = _choose_separator(head)
        if separator is None and not is_first and _is_separated_by_blanks(head):
            separator = BLANK_SEPARATOR
    elif separator == NO_SEPARATOR:
        separator = None
    if separator == BLANK_SEPARATOR:
        head = separate_by_tabs(head)
    sign = "\t" if separator == BLANK_SEPARATOR else separator or ","
    rows = _parse_first_rows(head, sign)
    if header is None:
        header = not _begins_with_data(rows)
    lines = options.header_lines
    if lines is None:  # whoever says that the first line names them means one
        is_seen = options.header is None and not is_first
        lines = 2 if is_seen and _has_second_header(rows) else 1
    return Layout(separator=separator, skip=skip, header_lines=lines if header else 0)


def separate_by_tabs(text: str) -> str:
    """Replace the blanks between cells by tabs, except inside quotation marks."""
    return _BLANKS_OR_QUOTED.sub(
        lambda part: part.group("quoted") or ("\t" if part.group("inner") else ""), text
    )


def _is_separated_by_blanks(text: str) -> bool:
    """Return whether blanks divide all of the first lines into equally many cells.

    A list of names is none: one of its columns has to hold numbers.
    """
    rows = [row for row in _parse_first_rows(separate_by_tabs(text), "\t") if row]
    if len(rows) < 3 or len(rows[0]) < 2:
        return False
    header, *rows = rows[:-1] if len(rows) == _SAMPLE_ROWS else rows
    width = len(rows[0])
    if {len(row) for row in rows} != {width} or width - len(header) not in (0, 1):
        return False
    return any(
        all(_NUMBER.fullmatch(cell) for cell in column)
        for column in zip(*rows, strict=True)
    )


def _skip_lines(text: str, lines: int) -> str:
    return text[find_line_start(text, lines) :]


def find_line_start(text: str, lines: int) -> int:
    """Return the index of a text's first character after its first `lines` lines."""
    ends = re.finditer(r"\r\n?|\n", text)
    last = next(islice(ends, lines - 1, None), None) if lines else None
    return 0 if not lines else last.end() if last else len(text)


def _parse_first_rows(text: str, separator: str) -> list[list[str]]:
    """Parse the first rows of a text into cells.

    Blank lines are empty lists.
    """
    rows: list[list[str]] = []
    sample = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True
    )
    with contextlib.suppress(csv.Error):
        rows.extend(islice(sample, _SAMPLE_ROWS))
    return rows


def _choose_separator(text: str) -> str | None:
    """Choose the separator by which most rows are as wide as the header.

    None when there is no separator in the header: one column.
    """
    best = None
    best_fit = (0.0, 1)
    for separator in SEPARATORS:
        widths = [len(row) for row in _parse_first_rows(text, separator) if row]
        fit = (
            (sum(width == widths[0] for width in widths) / len(widths), widths[0])
            if widths
            else (0.0, 1)
        )
        if fit[1] > 1 and fit > best_fit:
            best = separator
            best_fit = fit
    return best


def _count_title_lines(text: str, separators: tuple[str, ...]) -> int:
    """Count the title lines above the table.

    They have one text at most, above rows of three fields or more.

    A table of two columns counts only below a blank line, since a list of texts may
    hold a separator each.
    """
    head = text[:_SAMPLE_CHARACTERS]
    for separator in separators:
        rows = [row for row in _parse_first_rows(head, separator) if row]
        if rows and len(rows[0]) > 1 and all(rows[0]) and len(set(map(len, rows))) == 1:
            return 0  # header and rows share it: a comma in each row is one of a number
    above = [
        lines
        for separator in separators
        if (lines := _count_lines_above(head, separator)) is not None
    ]
    if above:  # commas of numbers and dates begin below the header
        return min(above)
    for separator in separators:
        for lines in range(MAX_TITLE_LINES):
            row = _cells_of_first_line(_skip_lines(head, lines), separator)
            if sum(bool(cell.strip()) for cell in row) > 1:
                break
        else:
            continue
        below = [
            len(row)
            for row in _parse_first_rows(_skip_lines(head, lines), separator)
            if row
        ]
        blank = lines > 0 and not any(
            _cells_of_first_line(_skip_lines(head, lines - 1), separator)
        )
        if (
            lines
            and len(below) > 1
            and len(set(below)) == 1
            and below[0] >= (2 if blank else 3)
        ):
            return lines
    return 0


def _count_lines_above(head: str, separator: str) -> int | None:
    """Count the lines above the table, whose lines nearly all have the same width.

    None where too few lines have one width, or where what is above is as wide.
    """
    lines = re.split(r"\r\n?|\n", head)[:_SAMPLE_ROWS]
    cells = [next(iter(_parse_first_rows(line, separator)), []) for line in lines]
    filled = [len(row) for row in cells if row]
    if not filled:
        return None
    usual, count = Counter(filled).most_common(1)[0]
    first = next(place for place, row in enumerate(cells) if len(row) == usual)
    below = sum(map(bool, cells[first:]))
    if usual < 3 or count < _MIN_TABLE_SHARE * below or count <= 2:
        return None
    before = cells[first - 1] if first else []
    if first > 1 and len(before) == usual + 1 and not before[-1]:
        first -= 1  # a header that ends in a comma
    above = [len(row) for row in cells[:first] if row]
    if not above:
        # all lines of a workbook are as wide as its table, so a title shows by its
        # single cell
        return first if sum(map(bool, cells[first])) > 1 else None
    if above == [usual - 1]:
        return (
            None  # a header without a name for row names, or rows that end in a comma
        )
    return first if max(above) < usual else None


def _cells_of_first_line(text: str, separator: str) -> list[str]:
    line = re.split(r"[\r\n]", text, maxsplit=1)[0]
    return next(iter(_parse_first_rows(line, separator)), [])


def _has_second_header(rows: list[list[str]]) -> bool:
    """Return whether the second line also names columns, below names of column groups.

    The first has empty cells or the same name for neighbors, and the second has a text
    of its own in each column, also above columns of numbers; or the second has units.
    """
    rows = [row for row in rows if row]
    if len(rows) < 4 or len({len(row) for row in rows[:-1]}) != 1:
        return False
    upper, lower, *columns = rows[0], rows[1], *zip(*rows[2:-1], strict=True)
    groups = [name for name in upper if name.strip()]
    repeats = any(a == b for a, b in itertools.pairwise(upper) if a.strip())
    names = [cell.strip() for cell in lower]
    units = [name for name in names if name]
    if units and all(map(_UNIT_IN_BRACKETS.fullmatch, units)):
        return True  # such as (years), below the names
    has_groups = 0 < len(groups) < len(upper)
    if (
        not (repeats or has_groups)
        or not all(names)
        or any(map(_NUMBER.fullmatch, names))
    ):
        return False
    joined = join_headers(upper, lower)
    has_numbers = any(
        any(column) and all(_NUMBER.fullmatch(cell) for cell in column if cell)
        for column in columns
    )
    return (repeats or has_numbers) and len(set(joined)) == len(joined)


def join_headers(upper: Sequence[str], lower: Sequence[str]) -> list[str]:
    """Join two header lines; a group's name applies until the next group begins.

    >>> join_headers(["", "2020", "", "2021"], ["region", "age", "pay", "pay"])
    ['region', '2020 age', '2020 pay', '2021 pay']
    """
    names = []
    group = ""
    for above, below in itertools.zip_longest(upper, lower, fillvalue=""):
        is_unit = (
            _UNIT_IN_BRACKETS.fullmatch(below.strip()) is not None or not below.strip()
        )
        group = above.strip() or ("" if is_unit else group)
        name = below.strip()
        # a name in a cell that is merged over both lines is used once
        names.append(name if name == group else f"{group} {name}".strip())
    return names


def _begins_with_data(rows: list[list[str]]) -> bool:
    """Return whether the first row holds data rather than column names.

    Then it has numbers above numbers, or texts that recur.
    """
    rows = [row for row in rows if row]
    if len(rows) < 3 or len({len(row) for row in rows[:-1]}) != 1:
        return False
    first, *columns = rows[0], *zip(*rows[1:-1], strict=True)
    numeric = [
        all(_NUMBER.fullmatch(cell) for cell in column if cell) and any(column)
        for column in columns
    ]
    numbers = [cell for cell in first if _NUMBER.fullmatch(cell)]
    above = [cell for cell, is_number in zip(first, numeric, strict=True) if is_number]
    if not above or not all(_NUMBER.fullmatch(cell) for cell in above):
        return False
    texts = [
        (cell, column)
        for cell, column, number in zip(first, columns, numeric, strict=True)
        if cell and not number
    ]
    if texts:
        return any(cell in column for cell, column in texts)
    return len(set(numbers)) < len(numbers) or any(
        not cell.isdigit() for cell in numbers
    )
