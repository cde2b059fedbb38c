"""Excel, OpenDocument, SPSS, Stata and SAS files to CSV text, which is then read like
any other text.

So header, title lines, numbers and dates are found by one set of rules. Cells with
labels (SPSS, Stata) give the labels, and what the file calls missing is empty. Formulas
are not run: their last values are read.
"""

import csv
import datetime
import io
import math
from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from dpcore.errors import DpcoreError, damaged_file_error
from dpcore.io.checks import Limits, check_rows, check_size, empty
from dpcore.text import Text

SHEETS = (".xlsx", ".xlsm", ".xls", ".ods")
STATISTICS = (".sav", ".zsav", ".dta", ".sas7bdat")


def is_workbook(name: str) -> bool:
    """Return whether a file's name says that it is one of these formats."""
    return name.lower().endswith(SHEETS + STATISTICS)


def is_sheets(name: str) -> bool:
    """Return whether a file's name says that it holds sheets."""
    return name.lower().endswith(SHEETS)


_SHEET_DIGITS = 10**15
"""Excel rounds whole numbers of more digits when they are typed."""


def workbook_text(
    data: bytes, name: str, *, limits: Limits
) -> tuple[str, list[str], set[int]]:
    """CSV text with commas, notes, and the places of columns in which two ids may have
    become one.

    Their numbers are floats in these formats: of 12.1 and 12.10, or of two long ones,
    one is left.

    Raises: LimitError; ReadError for a damaged or encrypted file.
    """
    read: Callable[[bytes, str], tuple[list[list[str]], list[str], set[int]]]
    read = _sheet if name.lower().endswith(SHEETS) else _statistics
    try:
        rows, notes, merged = read(data, name.lower())
    except (DpcoreError, ImportError, MemoryError):
        raise
    # the libraries have no common error; their words may hold cells
    except Exception as error:
        raise damaged_file_error(name.lower().rpartition(".")[2]) from error
    check_rows(len(rows), limits=limits)
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    check_size(out.tell(), limits=limits)
    return out.getvalue(), notes, merged


def _sheet(data: bytes, name: str) -> tuple[list[list[str]], list[str], set[int]]:
    """Read the first sheet that has cells."""
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    notes: list[str] = []
    for sheet in book.sheet_names:
        cells = list(book.get_sheet_by_name(sheet).iter_rows())
        merged = {
            place
            for row in cells
            for place, cell in enumerate(row)
            if _merges(cell, _SHEET_DIGITS)
        }
        rows = [texts for texts in map(_texts, cells) if any(texts)]
        if rows:
            if len(book.sheet_names) > 1:
                notes.append(
                    Text(
                        "only the sheet {sheet} was read, of {sheets} sheets",
                        sheet=repr(sheet),
                        sheets=len(book.sheet_names),
                    ),
                )
            return rows, notes, merged
    raise empty()


def _statistics(data: bytes, name: str) -> tuple[list[list[str]], list[str], set[int]]:
    import pyreadstat

    notes: list[str] = []
    if name.endswith(".sas7bdat"):
        frame, about = pyreadstat.read_sas7bdat(io.BytesIO(data))
    else:
        read = pyreadstat.read_dta if name.endswith(".dta") else pyreadstat.read_sav
        frame, about = read(io.BytesIO(data))
        if about.variable_value_labels:
            columns = ", ".join(about.variable_value_labels)
            notes = [
                Text(
                    "values with labels were read as their labels: {columns}",
                    columns=columns,
                )
            ]
    merged = set()
    for place, column in enumerate(frame.columns):
        most = 2**24 if about.readstat_variable_types.get(column) == "float" else 2**53
        cells = frame[column].unique()
        labels = about.variable_value_labels.get(column, {})
        texts = _texts(labels.get(cell, cell) for cell in cells)
        named = [text for text in texts if text]
        if len({*named}) < len(named) or any(_merges(cell, most) for cell in cells):
            merged.add(place)
        if labels:
            frame[column] = frame[column].map(dict(zip(cells, texts, strict=True)))
    return _rows(frame), notes, merged


def _merges(cell: Any, most: int) -> bool:
    """Return whether a cell holds a number, or a time with a fraction, that two texts
    may have become.
    """
    if isinstance(cell, datetime.datetime):
        return cell is not pd.NaT and cell.microsecond > 0
    return isinstance(cell, float) and not (
        math.isnan(cell) or (cell.is_integer() and abs(cell) < most)
    )


def _rows(frame: pd.DataFrame) -> list[list[str]]:
    cells = (frame[name].tolist() for name in frame.columns)
    return [
        [str(name) for name in frame.columns],
        *map(list, zip(*map(_texts, cells), strict=True)),
    ]


def _texts(cells: Iterable[Any]) -> list[str]:
    return [_text(cell) for cell in cells]


def _text(cell: Any) -> str:
    """Write one cell, whole numbers without a point, dates in ISO order, nothing for
    what is missing.
    """
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
