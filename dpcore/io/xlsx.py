"""Write public tables as Excel workbooks (.xlsx).

A text is written as a text, never as a formula or a link. One that begins like a
formula is marked besides, as by an apostrophe that is typed before it: it stays a text
when somebody edits the cell.
"""

import datetime
import io
import re
from collections.abc import Iterable
from decimal import Decimal
from numbers import Integral, Number
from typing import Any

import numpy as np
import pandas as pd

from dpcore.errors import LimitError
from dpcore.io.export import public_frame
from dpcore.schema.formulas import begins_formula
from dpcore.schema.numbers import MAX_PROPOSED_DECIMALS, count_decimals
from dpcore.tables.rows import PublicTable

MAX_ROWS = 1_048_576
"""Rows of a sheet in Excel, with that of the column names."""
MAX_COLUMNS = 16_384
"""Columns of a sheet in Excel."""
MAX_DIGITS = 15
"""Digits of a number that Excel keeps; a longer whole number is written as a text."""
FIRST_EXCEL_DAY = datetime.datetime(1900, 3, 1)
"""From which on all programs agree on Excel's days; earlier ones are written as texts.

Excel's calendar has a 29 February 1900.
"""
MAX_WIDTH = 40
"""Width of a column in letters, at most."""
WIDTH_SAMPLE_ROWS = 200
"""First rows that decide the width of a column."""
SHEET_NAME = "table"
_DAY_PATTERN = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT_PATTERN = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
_DAY_FORMAT = "yyyy-mm-dd"
_MOMENT_FORMAT = "yyyy-mm-dd hh:mm:ss"


def to_xlsx(table: PublicTable) -> bytes:
    """Return a workbook with one sheet: the column names, then the rows.

    Numbers show as many decimals as the longest of their column, if these are few;
    days and moments are dates. Missing cells are empty. Free post-processing.

    Raises: DisclosureError for anything but a PublicTable; LimitError for a table that
        no sheet of Excel holds.
    """
    frame = public_frame(table)
    _check_size(table)
    import xlsxwriter

    out = io.BytesIO()
    # rows go to a temporary file one by one, so that memory does not grow with them
    with xlsxwriter.Workbook(out, {"constant_memory": True}) as book:
        # a fixed date of creation, so that the same table always gives the same bytes
        book.set_properties({"created": datetime.datetime(2000, 1, 1)})
        sheet = book.add_worksheet(SHEET_NAME)
        sheet.freeze_panes(1, 0)
        sheet.ignore_errors({"number_stored_as_text": f"A1:XFD{MAX_ROWS}"})
        writer = _CellWriter(book, sheet, frame)
        writer.write_header(frame.columns)
        for row, cells in enumerate(frame.itertuples(index=False, name=None), start=1):
            writer.write_row(row, cells)
    return out.getvalue()


class _CellWriter:
    """Writes each cell by its type, in the format of its column."""

    def __init__(self, book: Any, sheet: Any, frame: pd.DataFrame) -> None:
        self._sheet = sheet
        self._formats = {
            name: book.add_format(properties)
            for name, properties in {
                "header": {"bold": True, "quote_prefix": True},
                "formula": {"quote_prefix": True},
                "day": {"num_format": _DAY_FORMAT},
                "moment": {"num_format": _MOMENT_FORMAT},
            }.items()
        }
        of_decimals = {
            decimals: book.add_format(
                {"num_format": f"0.{'0' * decimals}" if decimals else "0"}
            )
            for decimals in range(MAX_PROPOSED_DECIMALS + 1)
        }
        columns = [frame.iloc[:, place] for place in range(frame.shape[1])]
        self._numbers = [
            None if decimals is None else of_decimals[decimals]
            for decimals in map(_count_shown_decimals, columns)
        ]
        self._days = [_holds_days(column) for column in columns]
        for place, column in enumerate(columns):
            sheet.set_column(place, place, _column_width(column))

    def write_header(self, names: Iterable[Any]) -> None:
        for place, name in enumerate(names):
            self._write_text(0, place, str(name), self._formats["header"])

    def write_row(self, row: int, cells: Iterable[Any]) -> None:
        for place, cell in enumerate(cells):
            if isinstance(cell, str):
                self._write_text_or_date(row, place, cell)
            elif _is_missing(cell):
                continue
            elif isinstance(cell, bool | np.bool_):
                self._sheet.write_boolean(row, place, bool(cell))
            elif isinstance(cell, Number | Decimal):
                self._write_number(row, place, cell)
            elif isinstance(cell, datetime.datetime) and cell.tzinfo is None:
                self._write_moment(row, place, cell, is_day=self._days[place])
            elif type(cell) is datetime.date:
                moment = datetime.datetime.combine(cell, datetime.time())
                self._write_moment(row, place, moment, is_day=True)
            else:
                self._write_text_or_date(row, place, str(cell))

    def _write_number(self, row: int, place: int, number: Any) -> None:
        if _keeps_digits(number):
            style = self._numbers[place]
            self._sheet.write_number(row, place, float(number), style)
        else:
            self._write_text(row, place, str(number))

    def _write_text_or_date(self, row: int, place: int, text: str) -> None:
        """Write a text cell; a text that is an ISO date or time stamp becomes a
        date.
        """
        is_day = _DAY_PATTERN.fullmatch(text) is not None
        if is_day or _MOMENT_PATTERN.fullmatch(text):
            try:
                moment = datetime.datetime.fromisoformat(text)
            except ValueError:  # such as 31 April
                self._write_text(row, place, text)
                return
            self._write_moment(row, place, moment, is_day=is_day)
            return
        mark = self._formats["formula"] if begins_formula(text) else None
        self._write_text(row, place, text, mark)

    def _write_moment(
        self, row: int, place: int, moment: datetime.datetime, *, is_day: bool
    ) -> None:
        if moment < FIRST_EXCEL_DAY:
            text = moment.date().isoformat() if is_day else moment.isoformat(" ")
            self._write_text(row, place, text)
            return
        style = self._formats["day" if is_day else "moment"]
        self._sheet.write_datetime(row, place, moment, style)

    def _write_text(self, row: int, place: int, text: str, style: Any = None) -> None:
        if text and self._sheet.write_string(row, place, text, style) != 0:
            raise LimitError(
                "a text is longer than the 32,767 characters that a cell of Excel holds",
                remedy="use CSV or Parquet, or leave out the column",
            )


def _keeps_digits(number: Any) -> bool:
    """Return whether Excel would keep every digit of a number."""
    if isinstance(number, Decimal):
        return number.is_finite() and len(number.as_tuple().digits) <= MAX_DIGITS
    if isinstance(number, Integral):
        return bool(abs(int(number)) < 10**MAX_DIGITS)
    return bool(np.isfinite(number))


def fits_xlsx(table: PublicTable) -> bool:
    """Return whether a sheet of Excel holds the rows and columns of a table."""
    rows, columns = table.frame.shape
    return rows < MAX_ROWS and columns <= MAX_COLUMNS


def _check_size(table: PublicTable) -> None:
    if not fits_xlsx(table):
        raise LimitError(
            "a sheet of Excel holds at most {rows:,} rows and {columns:,} columns",
            remedy="use CSV or Parquet, or fewer rows or columns",
            rows=MAX_ROWS - 1,
            columns=MAX_COLUMNS,
        )


def _count_shown_decimals(column: pd.Series) -> int | None:
    """Return how many decimals to show for a column; None to show all."""
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return None
    numbers = pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan)).dropna()
    return count_decimals(numbers[np.isfinite(numbers)])


def _holds_days(column: pd.Series) -> bool:
    """Return whether a column holds time stamps that are all at midnight."""
    if not pd.api.types.is_datetime64_any_dtype(column.dtype):
        return False
    moments = column.dropna()
    return bool((moments == moments.dt.normalize()).all())


def _column_width(column: pd.Series) -> int:
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        texts = [_DAY_FORMAT if _holds_days(column) else _MOMENT_FORMAT]
    else:
        texts = [str(cell) for cell in column.head(WIDTH_SAMPLE_ROWS)]
    return min(MAX_WIDTH, 2 + max(map(len, (str(column.name), *texts))))


def _is_missing(cell: Any) -> bool:
    return cell is None or cell is pd.NA or bool(cell != cell)
