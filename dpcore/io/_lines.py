"""Parse the rows of a text file into columns of texts, with Arrow.

What is no table is refused first.

Arrow reads a few things more kindly than this program may: an open quotation mark, text
after a closed one, lines without end. So these are looked for before, in one linear
pass.
"""

import csv
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dpcore.errors import LimitError, ReadError, damaged_file_error
from dpcore.io.checks import Limits, check_cell_length, check_rows, long_cell_error
from dpcore.io.options import (
    AS_NAMED,
    EMPTY_LAST_FIELD,
    EMPTY_LAST_NAME,
    ROW_NAMES_FIRST,
)
from dpcore.schema.detector import strip_accents

_LINE = re.compile(r"[^\r\n]*+(?:\r\n?|\n|\Z)")
_SKIPPED_WORDS = tomllib.loads(
    files(__package__).joinpath("lines.toml").read_text("utf-8")
)
_TOTAL_WORDS = frozenset[str](_SKIPPED_WORDS["totals"])
_GREEK_TOTAL_WORDS = frozenset(
    strip_accents(word) for word in _TOTAL_WORDS if "\u0370" <= word[0] <= "\u03ff"
)
"""As capitals write them, without accents; elsewhere that would be another word."""
_FOOTNOTE = re.compile(
    rf"(?:{'|'.join(map(re.escape, _SKIPPED_WORDS['footnotes']))})(?!\w)", re.IGNORECASE
)
_SHORT_NOTE = re.compile(
    r"\s*(?:(?:\(?\d{1,2}\)?\s*[-–.):]\s+|\*{1,3}\s*)[^\W\d_]|[=_~#*+| -]{3,}\s*\Z"
    r"|\(?\d[\d.,]* (?:rows?|records?|zeilen?|datensätze|lignes|filas|righe|строк)\b)",
    re.IGNORECASE,
)
"""A numbered footnote, a ruled line, or a number of rows, in a line that is too short."""
_RULED_CELL = re.compile(r":?[-=_]{3,}:?")
"""A cell of a ruled line, as programs draw it below names."""
_BEGINS_WITH_LETTER = r"\A\s*[^\s0-9.,+-]"
"""How words for totals and footnotes begin; numbers do not."""
EMPTY, HEADER_AGAIN, TOTAL, FOOTNOTE = ("empty", "header again", "total", "footnote")
"""Reasons why a line is no row."""
_SAMPLE_LINES = 200
ROW_NAMES_COLUMN = "row_name"
"""The column of row names, for which R writes no name into the header."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The rows of a text file, as columns of texts.

    Attributes:
        names: of the columns.
        columns: Arrow arrays of texts, one for each name, none without rows.
        merged_columns: places of columns in which two texts became one.
        left_out: number of lines that are no rows, by reason.
        row_fields: how their fields fit the names, one of four words of `options`.
        notes: what a person should know.
    """

    names: list[str]
    columns: list[Any] = field(repr=False)
    merged_columns: set[int]
    left_out: Counter[str]
    row_fields: str
    notes: list[str] = field(default_factory=list)


def read_first_row(text: str, separator: str, limits: Limits) -> tuple[list[str], int]:
    """Return the cells of the first non-empty row, and the index of the next line."""
    taken = 0

    def lines() -> Iterator[str]:
        nonlocal taken
        for match in _LINE.finditer(text):
            taken = match.end()
            yield match.group()

    try:
        row = next(
            filter(
                None,
                csv.reader(
                    lines(), delimiter=separator, skipinitialspace=True, strict=True
                ),
            ),
            [],
        )
    except csv.Error as error:
        raise _malformed_text_error(
            limits, too_long="field limit" in str(error)
        ) from None
    return row, taken


def read_rows(
    text: str,
    separator: str,
    names: list[str],
    limits: Limits,
    *,
    has_header: bool,
    row_fields: str | None = None,
    first_line: int = 1,
    keeps_blanks: bool = False,
    keeps_all_lines: bool = False,
) -> Rows:
    """Read the rows of a text; leave out empty lines, totals, footnotes and headers.

    A line is left out for what it holds by itself: nothing, the header again, a total,
    or a footnote. Blanks after separators are cut off, unless `keeps_blanks` belong to the
    cells.

    Args:
        text: below the header.
        separator: between cells.
        names: of the columns, in the header or made up.
        limits: of the table.
        has_header: whether the names are those of the file.
        row_fields: how the fields fit the names; else as the first rows show.
        first_line: number of the first line of the text, for errors.
        keeps_blanks: whether blanks belong to the cells.
        keeps_all_lines: whether every line that is not blank is a row, as in the first rules.

    Raises: LimitError; ReadError for quotation marks that do not pair up, and rows of
        another width.
    """
    _check_lines(text, separator, limits)
    if '"' in text:
        apart = ' "' in text and re.search(
            rf'(?:^|[{re.escape(separator)}\r\n]) +"', text
        )
        text = _strip_blanks_before_quotes(text, separator) if apart else text
        _check_quotes(text, separator, limits)
    if keeps_all_lines or not has_header or len(names) < 2:
        row_fields = AS_NAMED
    elif row_fields is None:
        row_fields = _detect_row_fields(names, text, separator)
    names = _fit_names(names, row_fields)
    left_out = Counter[str]()
    columns = _parse_columns(
        text,
        separator,
        len(names),
        left_out,
        first_line,
        keeps_all_lines=keeps_all_lines,
    )
    if not columns:
        return Rows(
            names=names,
            columns=[],
            merged_columns=set(),
            left_out=left_out,
            row_fields=row_fields,
        )
    check_rows(len(columns[0]), limits=limits)

    merged = set()
    for place, column in enumerate(columns):
        if not keeps_blanks and pc.any(pc.starts_with(column, " ")).as_py():
            columns[place] = pc.utf8_ltrim(column, " ")
            if pc.count_distinct(columns[place]) != pc.count_distinct(column):
                merged.add(place)
    for column in columns:
        if (pc.max(pc.binary_length(column)).as_py() or 0) > limits.cell_length:
            check_cell_length(pc.max(pc.utf8_length(column)).as_py(), limits=limits)
    if row_fields == EMPTY_LAST_FIELD:
        names = names[:-1]
        columns = columns[:-1]
    if not keeps_all_lines:
        columns = _drop_non_rows(names, columns, left_out)
    return Rows(
        names=names,
        columns=columns,
        merged_columns=merged,
        left_out=left_out,
        row_fields=row_fields,
    )


def _fit_names(names: list[str], row_fields: str) -> list[str]:
    """Adjust the column names to rows with one field more or one field fewer."""
    if row_fields == ROW_NAMES_FIRST:
        return [ROW_NAMES_COLUMN, *names]
    if row_fields == EMPTY_LAST_FIELD:
        return [*names, ""]
    return names[:-1] if row_fields == EMPTY_LAST_NAME else names


def _detect_row_fields(names: list[str], text: str, separator: str) -> str:
    """Determine from the first rows how their fields match the header."""
    first = csv.reader(
        (match.group() for match in _LINE.finditer(text)),
        delimiter=separator,
        skipinitialspace=True,
    )
    rows: list[list[str]] = []
    for row in first:
        if len(rows) == _SAMPLE_LINES:
            break
        if len(row) > 1:
            rows.append(row)
    widths = Counter(len(row) for row in rows)
    if len(widths) != 1:
        return AS_NAMED
    (width,) = widths
    if width == len(names) + 1:
        if not any(row[-1].strip() for row in rows):
            return EMPTY_LAST_FIELD
        if ROW_NAMES_COLUMN not in names and len({row[0] for row in rows}) == len(rows):
            return ROW_NAMES_FIRST
    if width == len(names) - 1 and names[-1] == f"column_{len(names)}":
        return EMPTY_LAST_NAME
    return AS_NAMED


def find_reason_to_skip(cells: Sequence[str], names: Sequence[str]) -> str | None:
    """Return the reason why a line is not a row of the table; None if it is one.

    >>> find_reason_to_skip(["Total", "", "12"], ["a", "b", "c"])
    'total'
    """
    texts = [cell.strip() for cell in cells]
    filled = [text for text in texts if text]
    if not filled:
        return EMPTY
    if texts == list(names):
        return HEADER_AGAIN
    if len(names) > 1 and all(map(_RULED_CELL.fullmatch, filled)):
        return EMPTY
    if len(names) > 1 and _is_total_word(filled[0]):
        return TOTAL
    if len(names) > 1 and len(filled) == 1 and _FOOTNOTE.match(filled[0]):
        return FOOTNOTE
    return None


def _is_total_word(text: str) -> bool:
    """Return whether a cell is a word for totals."""
    word = text.rstrip(" :").strip().lower()
    return word in _TOTAL_WORDS or word in _GREEK_TOTAL_WORDS


def _drop_non_rows(
    names: list[str], columns: list[Any], left_out: Counter[str]
) -> list[Any]:
    """Drop the lines that are not rows, such as totals, and count them by reason.

    Only a line that has an empty cell, a word for totals or a column's name needs a
    look.
    """
    if len(names) < 2:
        return columns
    is_odd = pc.equal(columns[0], "")
    for column in columns:
        distinct = column.dictionary_encode().dictionary
        may_be_word = pc.or_(
            pc.match_substring_regex(distinct, rf"{_BEGINS_WITH_LETTER}|---|==|__"),
            pc.is_in(pc.utf8_trim_whitespace(distinct), pa.array(names, pa.string())),
        )
        words = {
            text
            for text in distinct.filter(may_be_word).to_pylist()
            if _is_total_word(text)
            or _FOOTNOTE.match(text.strip())
            or text.strip() in names
            or _RULED_CELL.fullmatch(text.strip())
        }
        if words:
            is_odd = pc.or_(is_odd, pc.is_in(column, pa.array([*words], pa.string())))
    places = pc.indices_nonzero(is_odd).to_pylist()
    if not places:
        return columns
    suspects = zip(
        *(column.take(pa.array(places)).to_pylist() for column in columns), strict=True
    )
    keep = [True] * len(columns[0])
    for place, cells in zip(places, suspects, strict=True):
        reason = find_reason_to_skip(cells, names)
        if reason is not None:
            keep[place] = False
            left_out[reason] += 1
    if all(keep):
        return columns
    return [column.filter(pa.array(keep)) for column in columns]


def _parse_columns(
    text: str,
    separator: str,
    width: int,
    left_out: Counter[str],
    first_line: int,
    *,
    keeps_all_lines: bool,
) -> list[Any]:
    import pyarrow.csv as arrow_csv

    wrong: list[tuple[int | None, int]] = []
    names = [str(place) for place in range(width)]

    def invalid(row: Any) -> str:
        if width > 1 and row.text.strip(" ") in ("", '""'):
            return "skip"
        cells = next(csv.reader([row.text], delimiter=separator), [])
        is_short = len(cells) < width and not keeps_all_lines
        if is_short and (
            find_reason_to_skip(cells, names) == FOOTNOTE
            or (len(cells) == 1 and _SHORT_NOTE.match(cells[0]))
        ):
            left_out[FOOTNOTE] += 1
            return "skip"
        wrong.append((row.number, row.actual_columns))
        return "error"

    data = text.encode("utf-8")
    if not data.strip(b"\r\n"):
        return []
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            read_options=arrow_csv.ReadOptions(
                column_names=names, block_size=len(data) + 1, use_threads=False
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator,
                newlines_in_values=True,
                invalid_row_handler=invalid,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        if not wrong:
            raise damaged_file_error("csv") from None
        number, fields = wrong[0]
        raise ReadError(
            (
                "some rows have more or fewer fields than the header, which has "
                "{expected:,}; the first of them is line {line:,}, with {fields:,}"
            ),
            remedy="put quotation marks around cells that contain the separator, "
            "complete short rows, and check that the first line is the header",
            expected=width,
            line=first_line - 1 + (number or 1),
            fields=fields,
        ) from None
    return [column.combine_chunks() for column in table.columns]


def _check_lines(text: str, separator: str, limits: Limits) -> None:
    """Refuse a line that is longer than any row within the limits."""
    longest = limits.columns * (limits.cell_length + len(separator))
    if len(text) > longest and any(
        match.end() - match.start() > longest for match in _LINE.finditer(text)
    ):
        raise _malformed_text_error(limits, too_long=True)


def _check_quotes(text: str, separator: str, limits: Limits) -> None:
    """Refuse quoted cells without an end, or directly followed by text."""
    start = rf"(?:^|(?<=[{re.escape(separator)}\r\n]))"
    # Before version 3.11.4, Python matches too much of possessive groups
    closed = rf'{start}"[^"]*+(?:""[^"]*+)*"(?=[{re.escape(separator)}\r\n]|\Z)'
    if re.search(rf'{start}"', re.sub(closed, "", text)) is None:
        return
    for cell in re.finditer(rf'{closed}|{start}(?P<open>")', text):
        if cell["open"]:
            length = len(text) - cell.start()
            raise _malformed_text_error(limits, too_long=length > limits.cell_length)


def _strip_blanks_before_quotes(text: str, separator: str) -> str:
    """Remove the blanks between a separator and an opening quotation mark.

    Those of cells stay.
    """
    sep = re.escape(separator)
    quoted = r'"[^"]*+(?:""[^"]*+)*"'
    parts = re.compile(
        rf'((?:^|[{sep}\r\n])) +(?=")|{quoted}|[^"{sep}\r\n][^{sep}\r\n]*+'
    )
    return parts.sub(lambda part: part[0] if part[1] is None else part[1], text)


def _malformed_text_error(limits: Limits, *, too_long: bool) -> LimitError | ReadError:
    if too_long:
        return long_cell_error(limits)
    return ReadError(
        "a quotation mark is missing or out of place",
        remedy='close every quoted cell, and write a quotation mark inside it twice ("")',
    )
