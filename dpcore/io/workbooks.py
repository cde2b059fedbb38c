"""Excel, OpenDocument, SPSS, Stata and SAS files to CSV text, which is then read like any other text.

So header, title lines, numbers and dates are found by one set of rules. Cells with labels (SPSS, Stata) give
the labels, and what the file calls missing is empty. Formulas are not run: their last values are read.
"""

from __future__ import annotations

import csv
import datetime
import io
import math
from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from dpcore.errors import DpcoreError, ReadError
from dpcore.io.checks import Limits, check_rows, check_size
from dpcore.text import Text

SHEETS = (".xlsx", ".xlsm", ".xls", ".ods")
STATISTICS = (".sav", ".zsav", ".dta", ".sas7bdat")


def is_workbook(name: str) -> bool:
    """Whether a file's name says that it is one of these formats."""
    return name.lower().endswith(SHEETS + STATISTICS)


def workbook_text(data: bytes, name: str, *, limits: Limits) -> tuple[str, list[str]]:
    """CSV text with commas, and notes.

    Raises: LimitError; ReadError for a damaged or encrypted file.
    """
    read: Callable[[bytes, str], tuple[list[list[str]], list[str]]]
    read = _sheet if name.lower().endswith(SHEETS) else _statistics
    try:
        rows, notes = read(data, name.lower())
    except (DpcoreError, ImportError, MemoryError):
        raise
    except Exception as error:  # the libraries have no common error; their words may hold cells
        raise ReadError(
            "the file is named {ending}, but is damaged, encrypted or of another kind",
            remedy="open it in its program and save it again, or export the table as CSV",
            ending=name.lower().rpartition(".")[2],
        ) from error
    check_rows(len(rows), limits=limits)
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    check_size(out.tell(), limits=limits)
    return out.getvalue(), notes


def _sheet(data: bytes, name: str) -> tuple[list[list[str]], list[str]]:
    """The first sheet that has cells."""
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    notes: list[str] = []
    for sheet in book.sheet_names:
        rows = [_texts(row) for row in book.get_sheet_by_name(sheet).iter_rows()]
        rows = [row for row in rows if any(row)]
        if rows:
            if len(book.sheet_names) > 1:
                notes.append(
                    Text(
                        "only the sheet {sheet} was read, of {sheets} sheets",
                        sheet=repr(sheet),
                        sheets=len(book.sheet_names),
                    )
                )
            return rows, notes
    raise ReadError("the workbook has no sheet with cells", remedy="choose a file with data in it")


def _statistics(data: bytes, name: str) -> tuple[list[list[str]], list[str]]:
    import pyreadstat

    if name.endswith(".sas7bdat"):
        frame, _about = pyreadstat.read_sas7bdat(io.BytesIO(data))
    else:
        read = pyreadstat.read_dta if name.endswith(".dta") else pyreadstat.read_sav
        frame, about = read(io.BytesIO(data), apply_value_formats=True, formats_as_category=False)
        if about.variable_value_labels:
            note = Text(
                "values with labels were read as their labels: {columns}",
                columns=", ".join(about.variable_value_labels),
            )
            return _rows(frame), [note]
    return _rows(frame), []


def _rows(frame: pd.DataFrame) -> list[list[str]]:
    cells = (frame[name].tolist() for name in frame.columns)
    return [[str(name) for name in frame.columns], *map(list, zip(*map(_texts, cells), strict=True))]


def _texts(cells: Iterable[Any]) -> list[str]:
    return [_text(cell) for cell in cells]


def _text(cell: Any) -> str:
    """One cell: whole numbers without a point, dates in ISO order, nothing for what is missing."""
    if cell is None or cell is pd.NaT:
        return ""
    if isinstance(cell, float):
        return "" if math.isnan(cell) else str(int(cell)) if cell.is_integer() else repr(cell)
    if isinstance(cell, datetime.datetime):
        return cell.date().isoformat() if cell.time() == datetime.time() else cell.isoformat(" ")
    return str(cell)
