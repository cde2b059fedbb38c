"""Read the bytes of a file into a table: limits, format, encoding, layout, types.

Takes CSV (comma, semicolon, tab or pipe), Parquet, and the formats of `workbooks`.
Numbers become numbers, dates ISO texts, and everything else stays text; empty cells are
missing. What else means missing, such as "?", is for the schema to say. A pure function
of the bytes, the name, the options and the limits.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pandas as pd

from dpcore.anonymization.plan import Plan
from dpcore.errors import ReadError, damaged_file_error
from dpcore.io._arx import PROJECT_ENDING, SUBSET_COLUMN, read_project
from dpcore.io._columns import type_columns
from dpcore.io._layout import (
    Layout,
    find_layout,
    find_line_start,
    join_headers,
    separate_by_tabs,
)
from dpcore.io._lines import Rows, read_first_row, read_rows
from dpcore.io._parquet import read_parquet
from dpcore.io._text_column import NUMBER
from dpcore.io.checks import (
    DEFAULT_LIMITS,
    Limits,
    check_header,
    check_size,
    empty_table_error,
)
from dpcore.io.encoding import (
    DAMAGED_UTF8,
    decode,
    find_damaged_line,
    is_parquet,
    is_text_table,
    recognize_format,
)
from dpcore.io.options import (
    AS_NAMED,
    BLANK_SEPARATOR,
    FIRST_RULES,
    NO_SEPARATOR,
    ReadOptions,
    UnderstoodColumn,
)
from dpcore.io.workbooks import (
    STATISTICS_ENDINGS,
    has_sheets,
    is_workbook,
    read_label_orders,
    read_sheet,
)
from dpcore.schema.order import CATEGORY_ORDERS, ORDERED_COLUMNS
from dpcore.schema.values import MERGED_COLUMNS, READING_FROM_DATA
from dpcore.text import Text

DEFAULT_OPTIONS = ReadOptions()
PARQUET_ENDINGS = (".parquet", ".pq")


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadResult:
    """A table that was read from a file, and how it was read.

    Attributes:
        frame: private rows; not shown by repr.
        encoding: Python's name of it; None for what is not text.
        separator: None for Parquet and for text of one column.
        kind: "csv", "tsv", "parquet", or "workbook" for the formats of programs.
        notes: what a person should know, such as names that were made up.
        options: the options that read the file the same way again.
        understood_columns: columns whose numbers or dates were written as in some country.
        undecided_columns: columns of dates that fit both orders of day and month; left as texts
            until `day_first` is said.
        sheets: names of all sheets of a workbook.
        other_sheets: sheets of a workbook that may be the table that is meant.
        plan: of a project of ARX.
    """

    frame: pd.DataFrame = field(repr=False)
    encoding: str | None
    separator: str | None
    kind: Literal["csv", "tsv", "parquet", "workbook"]
    notes: tuple[str, ...] = ()
    options: ReadOptions = DEFAULT_OPTIONS
    understood_columns: tuple[UnderstoodColumn, ...] = ()
    undecided_columns: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()
    other_sheets: tuple[str, ...] = ()
    plan: Plan | None = None


def read_table(
    data: bytes,
    name: str,
    *,
    options: ReadOptions = DEFAULT_OPTIONS,
    limits: Limits = DEFAULT_LIMITS,
    on_share: Callable[[float], None] = lambda share: None,
) -> ReadResult:
    """Read a table from the bytes of a file.

    Args:
        data: the whole file.
        name: its name; only the ending counts, and only to tell the format.
        options: what is known of a text file; the rest is seen from the file.
        limits: checked before parsing wherever that is possible.
        on_share: gets the share of a text's columns that are recognized.

    Raises: LimitError for more than the limits; ReadError for what is no table. Neither
        holds a cell's value.
    """
    check_size(len(data), limits=limits)
    if not data:
        raise ReadError(
            "the file is empty", remedy="choose a table with at least one row"
        )
    if name.lower().endswith(PARQUET_ENDINGS):
        if not is_parquet(data):
            raise damaged_file_error("parquet")
        frame, notes = read_parquet(data, limits=limits)
        frame.attrs[READING_FROM_DATA] = False  # a Parquet file says how it is written
        return ReadResult(
            frame=frame,
            encoding=None,
            separator=None,
            kind="parquet",
            notes=tuple(notes),
        )
    if is_workbook(name) and not (has_sheets(name) and is_text_table(data)):
        return _read_workbook(data, name, options, limits)
    if name.lower().endswith(PROJECT_ENDING):
        return _read_project(data, options, limits, on_share)
    if (other := recognize_format(data)) is not None:
        raise ReadError(
            "the file looks like {other}",
            remedy="export the table again as CSV in UTF-8",
            other=other,
        )
    text, encoding = decode(data, options.encoding)
    if not text or text.isspace():
        raise ReadError(
            "the file is empty", remedy="choose a table with at least one row"
        )
    shape = find_layout(text, options)
    found = _read_columns(text, shape, options, limits)
    notes = found.notes
    if encoding == DAMAGED_UTF8 and "\ufffd" in text:
        notes.append(
            Text(
                "The text is UTF-8, but some bytes are damaged, the first one in line "
                "{line}: they are shown as \ufffd",
                line=find_damaged_line(text),
            )
        )
    elif options.encoding is None and not encoding.startswith("utf"):
        notes.append(
            Text(
                (
                    "The encoding {encoding} is a guess: choose another one if letters "
                    "look wrong"
                ),
                encoding=encoding,
            ),
        )
    typed = type_columns(found.names, found.columns, shape.separator, options, on_share)
    _mark_merged(typed.frame, found.merged_columns)
    options = options.with_seen(
        encoding=encoding,
        **_layout_options(shape, options, found.row_fields),
        columns=typed.readings,
    )
    typed.frame.attrs[READING_FROM_DATA] = options.is_guessed
    return ReadResult(
        frame=typed.frame,
        encoding=encoding,
        separator=shape.separator,
        kind="tsv" if shape.separator == "\t" else "csv",
        notes=tuple(notes),
        options=options,
        understood_columns=typed.understood_columns,
        undecided_columns=typed.undecided_columns,
    )


def accepts_read_options(data: bytes, name: str) -> bool:
    """Return whether a file, a text or workbook, may be read with other options."""
    return bool(data) and (
        has_sheets(name)
        or (
            not name.lower().endswith(PARQUET_ENDINGS)
            and recognize_format(data) is None
        )
    )


def read_names(
    data: bytes,
    name: str,
    options: ReadOptions = DEFAULT_OPTIONS,
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> list[str] | None:
    """Read the names of the columns of a text file; None for other formats.

    Raises: LimitError, ReadError.
    """
    check_size(len(data), limits=limits)
    is_other = name.lower().endswith((*PARQUET_ENDINGS, PROJECT_ENDING)) or is_workbook(
        name
    )
    if is_other or recognize_format(data) is not None:
        return None
    text, _ = decode(data, options.encoding)
    shape = find_layout(text, options)
    return _read_header(text, shape, options, limits).names


def _read_project(
    data: bytes,
    options: ReadOptions,
    limits: Limits,
    on_share: Callable[[float], None],
) -> ReadResult:
    table, separator, subset, plan, notes = read_project(data, limits=limits)
    options = replace(options, separator=options.separator or separator)
    result = read_table(
        table, "input.csv", options=options, limits=limits, on_share=on_share
    )
    if subset is not None:
        if len(subset) != len(result.frame):
            raise damaged_file_error(PROJECT_ENDING[1:])
        result.frame[SUBSET_COLUMN] = subset
    return replace(result, plan=plan, notes=(*notes, *result.notes))


def _read_workbook(
    data: bytes, name: str, options: ReadOptions, limits: Limits
) -> ReadResult:
    is_first = options.rules == FIRST_RULES
    sheet = read_sheet(
        data, name, sheet=options.sheet, limits=limits, takes_first=is_first
    )
    as_text = replace(options, encoding=None, separator=",")
    if is_first:
        as_text = replace(as_text, decimal=".")
    shape = find_layout(sheet.text, as_text)
    found = _read_columns(sheet.text, shape, as_text, limits, keeps_blanks=True)
    names = found.names
    typed = type_columns(names, found.columns, ",", as_text, has_numbers=True)
    _mark_merged(typed.frame, sheet.merged_columns)
    seen = _layout_options(shape, options, found.row_fields)
    del seen["separator"]
    options = options.with_seen(sheet=sheet.name, **seen, columns=typed.readings)
    typed.frame.attrs[READING_FROM_DATA] = options.is_guessed
    if name.lower().endswith(STATISTICS_ENDINGS):
        orders = read_label_orders(data, name)
        typed.frame.attrs[CATEGORY_ORDERS] = {
            names[place]: labels for place, labels in orders.labels.items()
        }
        typed.frame.attrs[ORDERED_COLUMNS] = tuple(
            names[place] for place in orders.ordered
        )
    return ReadResult(
        frame=typed.frame,
        encoding=None,
        separator=",",
        kind="workbook",
        notes=(*sheet.notes, *found.notes),
        sheets=sheet.sheets,
        other_sheets=sheet.other_sheets,
        options=options,
        understood_columns=typed.understood_columns,
        undecided_columns=typed.undecided_columns,
    )


def _layout_options(
    shape: Layout, options: ReadOptions, row_fields: str
) -> dict[str, Any]:
    """Return the layout options with which the file is read the same way again."""
    seen = {
        "separator": shape.separator,
        "header": shape.has_header,
        "skip": shape.skip,
    }
    if options.rules == FIRST_RULES:
        return seen
    seen["separator"] = shape.separator or NO_SEPARATOR
    if shape.has_header and options.header is None:
        seen["header_lines"] = shape.header_lines
    if row_fields != AS_NAMED:
        seen["row_fields"] = row_fields
    return seen


def _mark_merged(frame: pd.DataFrame, places: set[int]) -> None:
    frame.attrs[MERGED_COLUMNS] += tuple(
        name for place, name in enumerate(frame.columns) if place in places
    )


def _read_columns(
    text: str,
    shape: Layout,
    options: ReadOptions,
    limits: Limits,
    *,
    keeps_blanks: bool = False,
) -> Rows:
    """Read the columns of a text file as texts, with notes for the owner of the
    file.
    """
    header = _read_header(text, shape, options, limits)
    notes = header.notes
    rows = read_rows(
        header.text,
        header.separator,
        header.names,
        limits,
        has_header=shape.has_header,
        row_fields=options.row_fields,
        first_line=shape.skip + shape.header_lines + 1,
        keeps_blanks=keeps_blanks,
        keeps_all_lines=options.rules == FIRST_RULES,
    )
    if not rows.columns or not len(rows.columns[0]):
        raise empty_table_error()
    if rows.left_out:
        notes.append(
            Text(
                "{lines:,} line was left out: it is empty, a total, a footnote or a "
                "repeated header",
                many="{lines:,} lines were left out: they are empty, totals, "
                "footnotes or repeated headers",
                lines=rows.left_out.total(),
            )
        )
    return replace(rows, notes=notes)


@dataclass(frozen=True, kw_only=True)
class _Header:
    """The names of the columns, and the text below them.

    Attributes:
        names: in the header, or made up.
        notes: what a person should know of them.
        text: the rows.
        separator: between their cells.
    """

    names: list[str]
    notes: list[str]
    text: str = field(repr=False)
    separator: str


def _read_header(
    text: str, shape: Layout, options: ReadOptions, limits: Limits
) -> _Header:
    separator = shape.separator or ","
    text = text[find_line_start(text, shape.skip) :]
    if separator == BLANK_SEPARATOR:
        text = separate_by_tabs(text)
        separator = "\t"
    row, rest = read_first_row(text, separator, limits)
    notes: list[str] = []
    if shape.header_lines == 2:
        lower, length = read_first_row(text[rest:], separator, limits)
        row = join_headers(row, lower)
        rest += length
        notes.append(Text("two header lines were joined into one"))
    if shape.skip:
        notes.append(Text("lines left out above the table: {lines}", lines=shape.skip))
    if shape.has_header and options.rules != FIRST_RULES:
        # spreadsheets break long column names over several lines
        row = [" ".join(name.split()) for name in row]
    if shape.has_header:
        names, made_up = check_header(row, limits=limits)
        notes += made_up
        text = text[rest:]
        if pd.Series(names, dtype="str").str.fullmatch(NUMBER).any():
            notes.append(
                Text(
                    "some column names are numbers: if the file has no header line, "
                    "say so"
                )
            )
    else:
        given = [*options.names[: len(row)], *[""] * (len(row) - len(options.names))]
        names, _ = check_header(given, limits=limits)
        if not options.names:
            notes.append(
                Text(
                    "no header line was found, so the columns are named column_1, "
                    "column_2, ..."
                )
            )
    return _Header(names=names, notes=notes, text=text, separator=separator)
