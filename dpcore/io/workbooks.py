"""Convert Excel, OpenDocument, SPSS, Stata and SAS files to CSV text.

The text is then read like any other, so header, title lines, numbers and dates are
found by one set of rules. Cells with labels (SPSS, Stata) give the labels, and what the
file calls missing is empty. Formulas are not run: their last values are read.
"""

from __future__ import annotations

import csv
import datetime
import io
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from dpcore.errors import DpcoreError, ReadError, damaged_file_error
from dpcore.io._layout import MAX_TITLE_LINES
from dpcore.io.checks import (
    Limits,
    check_rows,
    check_size,
    empty_table_error,
    shorten_name,
)
from dpcore.schema.words import means_missing
from dpcore.text import Text

MIN_SCALE_STEPS = 3
"""Steps between two labelled whole numbers from which on they are ends of a scale."""
MIN_CANDIDATE_ROWS = 10
"""Rows from which on another sheet may be the table that is meant."""
MIN_CANDIDATE_SHARE = 0.5
"""The same, as a share of the rows of the sheet that was read."""
SHEET_ENDINGS = (".xlsx", ".xlsm", ".xls", ".ods")
STATISTICS_ENDINGS = (".sav", ".zsav", ".dta", ".sas7bdat")


def is_workbook(name: str) -> bool:
    """Return whether a file name has the extension of a workbook or statistics file."""
    return name.lower().endswith(SHEET_ENDINGS + STATISTICS_ENDINGS)


def has_sheets(name: str) -> bool:
    """Return whether a file name has the extension of a workbook with sheets."""
    return name.lower().endswith(SHEET_ENDINGS)


_EXACT_IN_SHEETS_BELOW = 10**15
"""Excel rounds whole numbers of more digits when they are typed."""


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """The CSV text of one sheet, or of a statistics file.

    Attributes:
        text: CSV with commas.
        notes: what was done on the way.
        merged_columns: places of columns in which two ids may have become one: of 12.1 and
            12.10, or of two long numbers, a float keeps one.
        name: of the sheet; None for a statistics file.
        sheets: of all sheets.
        other_sheets: names of other sheets that may be the table that is meant.
    """

    text: str = field(repr=False)
    notes: list[str]
    merged_columns: set[int]
    name: str | None = None
    sheets: tuple[str, ...] = ()
    other_sheets: tuple[str, ...] = ()


def read_sheet(
    data: bytes,
    name: str,
    *,
    sheet: str | None,
    limits: Limits,
    takes_first: bool = False,
) -> Sheet:
    """Read the table of a workbook or statistics file as CSV text.

    Args:
        data: the file.
        name: of the file.
        sheet: name of the sheet; else the visible one with most rows of a table.
        limits: of the table.
        takes_first: whether the first sheet with cells is read, without filling merged
            cells, and scales become labels, as in the first rules.

    Raises: LimitError; ReadError for a damaged or encrypted file, or a sheet that is
        not there.
    """
    try:
        if has_sheets(name):
            read = _read_first_sheet if takes_first else _read_sheets
            rows, found = read(data, sheet)
        else:
            rows, notes, merged = _read_statistics(
                data, name.lower(), keeps_scales=not takes_first
            )
            found = Sheet(text="", notes=notes, merged_columns=merged)
    except (DpcoreError, ImportError, MemoryError):
        raise
    # the libraries share no base class of errors, and their messages may quote cells
    except Exception as error:
        raise damaged_file_error(name.lower().rpartition(".")[2]) from error
    check_rows(len(rows), limits=limits)
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    check_size(out.tell(), limits=limits)
    return replace(found, text=out.getvalue())


def _read_sheets(data: bytes, wanted: str | None) -> tuple[list[list[str]], Sheet]:
    """Read the wanted sheet, or the one most like a table."""
    from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    sheets = {
        about.name: about.visible == SheetVisibleEnum.Visible
        for about in book.sheets_metadata
        if about.typ == SheetTypeEnum.WorkSheet
    }
    if wanted is not None and wanted not in sheets:
        raise ReadError(
            "the workbook has no sheet {sheet!r}",
            remedy=Text("choose one of these: {sheets}", sheets=", ".join(sheets)),
            sheet=shorten_name(wanted),
        )
    read = {
        name: _read_cells(book.get_sheet_by_name(name))
        for name, is_visible in sheets.items()
        if name == wanted or (wanted is None and is_visible)
    }
    if not any(cells.rows for cells in read.values()):
        # the visible sheets are all empty, so the table may be in a hidden one
        read |= {name: _read_cells(book.get_sheet_by_name(name)) for name in sheets}
    sizes = {name: cells.count_rows() for name, cells in read.items() if cells.rows}
    if not sizes:
        raise empty_table_error()
    best = wanted if wanted is not None else max(sizes, key=lambda name: sizes[name])
    cells = read[best]
    notes: list[str] = []
    if len(sheets) > 1:
        notes.append(
            Text(
                "only the sheet {sheet} was read; the workbook has {sheets} sheets",
                sheet=repr(best),
                sheets=len(sheets),
            )
        )
    hidden = [name for name, is_visible in sheets.items() if not is_visible]
    if hidden:
        notes.append(Text("hidden sheets: {sheets}", sheets=", ".join(hidden)))
    found = Sheet(
        text="",
        notes=notes + cells.notes,
        merged_columns=cells.merged_columns,
        name=best,
        sheets=tuple(sheets),
        other_sheets=tuple(
            name
            for name, size in sizes.items()
            if name != best
            and size >= MIN_CANDIDATE_ROWS
            and size >= MIN_CANDIDATE_SHARE * sizes[best]
        ),
    )
    return cells.rows, found


def _read_first_sheet(data: bytes, wanted: str | None) -> tuple[list[list[str]], Sheet]:
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    for name in book.sheet_names if wanted is None else [wanted]:
        cells = list(book.get_sheet_by_name(name).iter_rows())
        rows = [texts for texts in map(_cell_texts, cells) if any(texts)]
        if rows:
            found = Sheet(
                text="",
                notes=[],
                merged_columns=_find_merged_columns(cells),
                name=name,
                sheets=tuple(book.sheet_names),
            )
            return rows, found
    raise empty_table_error()


def _find_merged_columns(cells: Iterable[Iterable[Any]]) -> set[int]:
    return {
        place
        for row in cells
        for place, cell in enumerate(row)
        if _may_merge_ids(cell, _EXACT_IN_SHEETS_BELOW)
    }


@dataclass(frozen=True, kw_only=True)
class _Cells:
    """The non-empty lines of a sheet, as texts."""

    rows: list[list[str]] = field(repr=False)
    notes: list[str]
    merged_columns: set[int]

    def count_rows(self) -> int:
        """Count the lines with more than one filled cell, as rows of a table have."""
        filled = [sum(map(bool, row)) for row in self.rows]
        return sum(count > 1 for count in filled) or min(1, len(filled))


def _read_cells(sheet: Any) -> _Cells:
    """Read the cells of a sheet, and fill merged ranges with their values."""
    cells = [list(row) for row in sheet.iter_rows()]
    merged = _find_merged_columns(cells)
    ranges = [
        (top, left, bottom, right)
        for (top, left), (bottom, right) in sheet.merged_cell_ranges or ()
        if bottom < len(cells)
    ]
    for top, left, bottom, right in ranges:
        if top == bottom and _is_group_heading(cells, top, left, right):
            cells[top][left : right + 1] = [cells[top][left]] * (right + 1 - left)
    notes: list[str] = []
    tall = [
        (top, left, bottom, right)
        for top, left, bottom, right in ranges
        # a title that is merged over all columns is not a value of these columns
        if bottom > top and (left == right or right - left + 1 < len(cells[top]))
    ]
    for top, left, bottom, right in tall:
        for row in cells[top : bottom + 1]:
            row[left : right + 1] = [cells[top][left]] * len(row[left : right + 1])
    if tall:
        notes.append(
            Text(
                "{ranges:,} range of merged cells was filled with its value",
                many="{ranges:,} ranges of merged cells were filled with their values",
                ranges=len(tall),
            )
        )
    rows = [texts for texts in map(_cell_texts, cells) if any(texts)]
    return _Cells(rows=rows, notes=notes, merged_columns=merged)


def _is_group_heading(cells: list[list[Any]], top: int, left: int, right: int) -> bool:
    """Return whether a merged cell is the heading of a group of column names."""
    if top > MAX_TITLE_LINES or top + 2 >= len(cells):
        return False
    below = cells[top + 1]
    names_all = all(
        isinstance(cell, str) and cell.strip() for cell in below[left : right + 1]
    )
    # a merged cell over the whole table is a title, not the heading of a group
    return names_all and right - left + 1 < len(below)


def _read_statistics(
    data: bytes, name: str, *, keeps_scales: bool
) -> tuple[list[list[str]], list[str], set[int]]:
    import pyreadstat

    def labels_of(labels: Mapping[Any, str]) -> Mapping[Any, str]:
        return category_labels(labels) if keeps_scales else labels

    notes: list[str] = []
    if name.endswith(".sas7bdat"):
        frame, about = pyreadstat.read_sas7bdat(io.BytesIO(data))
    else:
        read = pyreadstat.read_dta if name.endswith(".dta") else pyreadstat.read_sav
        frame, about = read(io.BytesIO(data))
        labelled = [
            column
            for column, labels in about.variable_value_labels.items()
            if labels_of(labels)
        ]
        if labelled:
            columns = ", ".join(labelled)
            notes = [
                Text(
                    "coded values were replaced by their labels: {columns}",
                    columns=columns,
                )
            ]
    merged = set()
    for place, column in enumerate(frame.columns):
        most = 2**24 if about.readstat_variable_types.get(column) == "float" else 2**53
        cells = frame[column].unique()
        labels = labels_of(about.variable_value_labels.get(column, {}))
        texts = _cell_texts(labels.get(cell, cell) for cell in cells)
        named = [text for text in texts if text]
        if len({*named}) < len(named) or any(
            _may_merge_ids(cell, most) for cell in cells
        ):
            merged.add(place)
        if labels:
            frame[column] = frame[column].map(dict(zip(cells, texts, strict=True)))
    return _table_rows(frame), notes, merged


def _may_merge_ids(cell: Any, exact_below: int) -> bool:
    """Return whether two different texts of a file may have become this one cell.

    So may a number with a fraction, or a time with one.
    """
    if isinstance(cell, datetime.datetime):
        return cell is not pd.NaT and cell.microsecond > 0
    return isinstance(cell, float) and not (
        math.isnan(cell) or (cell.is_integer() and abs(cell) < exact_below)
    )


def _table_rows(frame: pd.DataFrame) -> list[list[str]]:
    cells = (frame[name].tolist() for name in frame.columns)
    return [
        [str(name) for name in frame.columns],
        *map(list, zip(*map(_cell_texts, cells), strict=True)),
    ]


def _cell_texts(cells: Iterable[Any]) -> list[str]:
    return [_cell_text(cell) for cell in cells]


def _cell_text(cell: Any) -> str:
    """Write one cell: ISO dates, whole numbers without a point, nothing if missing."""
    if cell is None or cell is pd.NaT:
        return ""
    if isinstance(cell, float):
        return (
            ""
            if math.isnan(cell)
            else str(int(cell))
            if cell.is_integer()
            else repr(cell)
        )
    if isinstance(cell, datetime.datetime):
        return (
            cell.date().isoformat()
            if cell.time() == datetime.time()
            else cell.isoformat(" ")
        )
    return str(cell)


@dataclass(frozen=True, kw_only=True)
class LabelOrders:
    """The order of each column's labels, as the file's own metadata gives it.

    Attributes:
        labels: place of a column -> its labels by their codes.
        ordered: places of columns whose order means something, as the file says.
    """

    labels: Mapping[int, tuple[str, ...]]
    ordered: frozenset[int]


def category_labels(labels: Mapping[Any, str]) -> Mapping[Any, str]:
    """Return the labels of a column's values; for a scale, only those for missing.

    A scale from 1 (never) to 7 (always) has labels at its ends, and is a number. The
    description decides, not which values occur.
    """
    codes = [code for code, label in labels.items() if not means_missing(str(label))]
    is_scale = (
        len(codes) == 2
        and all(
            isinstance(code, int | float) and float(code).is_integer() for code in codes
        )
        and max(codes) - min(codes) >= MIN_SCALE_STEPS
    )
    if not is_scale:
        return labels
    return {code: label for code, label in labels.items() if code not in codes}


def read_label_orders(data: bytes, name: str) -> LabelOrders:
    """Read the order of labels from the metadata of an SPSS or Stata file."""
    import pyreadstat

    if name.lower().endswith(".sas7bdat"):
        return LabelOrders(labels={}, ordered=frozenset())
    is_stata = name.lower().endswith(".dta")
    read = pyreadstat.read_dta if is_stata else pyreadstat.read_sav
    about = read(io.BytesIO(data), metadataonly=True)[1]
    orders = {}
    ordered = set()
    for place, column in enumerate(about.column_names):
        labels = category_labels(about.variable_value_labels.get(column, {}))
        present = {
            code: str(label)
            for code, label in labels.items()
            if isinstance(code, int | float) and not means_missing(str(label))
        }
        if present:
            orders[place] = tuple(
                dict.fromkeys(present[code] for code in sorted(present))
            )
            if about.variable_measure.get(column) == "ordinal":
                ordered.add(place)
    return LabelOrders(labels=orders, ordered=frozenset(ordered))
