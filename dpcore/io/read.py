"""The bytes of a file to a table: limits first, then what it is, then its encoding, separator and kinds.

Takes CSV (comma, semicolon, tab or pipe) and Parquet. Numbers become numbers, everything else stays text;
empty cells are missing. What else means missing, such as "?", is for the schema to say.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

import numpy as np
import pandas as pd

from dpcore.errors import LimitError, ReadError
from dpcore.io.checks import (
    DEFAULT_LIMITS,
    Limits,
    check_cell_length,
    check_header,
    check_rows,
    check_size,
)
from dpcore.io.encoding import decode, is_parquet, recognize
from dpcore.io.parquet import read_parquet
from dpcore.schema.values import READ_AS_TEXT

SEPARATORS = (",", ";", "\t", "|")
_INTEGER = r"0|-?[1-9][0-9]*"  # no leading zeros: 01234 is a code
_NUMBER = r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_SNIFFED_CHARACTERS = 100_000
_SNIFFED_ROWS = 100
_CELLS_AT_ONCE = 100_000


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadResult:
    """A table as it was read, and how.

    Attributes:
        frame: private rows; not shown by repr.
        encoding: Python's name of it; None for Parquet.
        separator: None for Parquet and for text of one column.
        kind: "csv", "tsv" or "parquet".
        notes: what a person should know, such as names that were made up.
    """

    frame: pd.DataFrame = field(repr=False)
    encoding: str | None
    separator: str | None
    kind: Literal["csv", "tsv", "parquet"]
    notes: tuple[str, ...] = ()


def read_table(
    data: bytes, name: str, *, encoding: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> ReadResult:
    """Read a table from the bytes of a file.

    Args:
        data: the whole file.
        name: its name; only the ending counts, and only to tell Parquet from text.
        encoding: of text; None to detect it.
        limits: checked before parsing wherever that is possible.

    Raises: LimitError for more than the limits; ReadError for what is no table. Neither holds a cell's value.
    """
    check_size(len(data), limits=limits)
    if not data:
        raise ReadError("the file is empty", remedy="choose a file with a header and at least one row")
    if name.lower().endswith((".parquet", ".pq")):
        if not is_parquet(data):
            raise ReadError(
                "the file is named as Parquet, but is not Parquet, or only a part of it",
                remedy="write it again, or name a text file .csv",
            )
        frame, notes = read_parquet(data, limits=limits)
        return ReadResult(frame=frame, encoding=None, separator=None, kind="parquet", notes=tuple(notes))
    if (other := recognize(data)) is not None:
        raise ReadError(
            "the file looks like {other}",
            remedy="name it .parquet" if is_parquet(data) else "export the table as CSV text",
            other=other,
        )
    text, found = decode(data, encoding)
    separator = _separator(text)
    frame, notes = _read_text(text, separator or ",", limits)
    if encoding is None and not found.startswith("utf"):
        notes.append(f"the encoding {found} is a guess: choose another one if letters look wrong")
    return ReadResult(
        frame=frame,
        encoding=found,
        separator=separator,
        kind="tsv" if separator == "\t" else "csv",
        notes=tuple(notes),
    )


def _separator(text: str) -> str | None:
    """The separator of the header with which most of the first rows have as many fields as the header.

    None when no separator stands in the header: one column.
    """
    best, best_fit = None, (0.0, 1)
    for separator in SEPARATORS:
        sample = csv.reader(
            io.StringIO(text[:_SNIFFED_CHARACTERS], newline=""), delimiter=separator, skipinitialspace=True
        )
        try:
            widths = [len(row) for row in islice(sample, _SNIFFED_ROWS) if row]
        except csv.Error:
            continue
        fit = (sum(width == widths[0] for width in widths) / len(widths), widths[0]) if widths else (0.0, 1)
        if fit[1] > 1 and fit > best_fit:
            best, best_fit = separator, fit
    return best


def _read_text(text: str, separator: str, limits: Limits) -> tuple[pd.DataFrame, list[str]]:
    if not text or text.isspace():
        raise ReadError("the file is blank", remedy="choose a file with a header and at least one row")
    rows = _rows(text, separator, limits)
    names, notes = check_header(next(rows), limits=limits)
    width = len(names)
    rows = (row for row in rows if width == 1 or row != [""])
    parts: list[list[pd.Series]] = []
    count = 0
    while chunk := list(islice(rows, max(1, _CELLS_AT_ONCE // width))):
        count += len(chunk)
        check_rows(count, limits=limits)
        for row in chunk:
            if len(row) != width:
                raise ReadError(
                    "some rows have more fields than the {expected:,} expected from the header"
                    if len(row) > width
                    else "some rows have fewer fields than the {expected:,} expected from the header",
                    remedy="put quotation marks around cells that hold the separator, complete short rows, "
                    "and see that the first line is the header",
                    expected=width,
                )
        columns = list(zip(*chunk, strict=True))
        for name, column in zip(names, columns, strict=True):
            check_cell_length(max(map(len, column)), name, limits=limits)
        parts.append([pd.Series(list(column), dtype="str") for column in columns])
    if not parts:
        raise ReadError(
            "the file has a header but no rows",
            remedy="choose a file with data in it; if the header looks wrong, name the encoding",
        )
    frame = pd.DataFrame(
        {
            name: _typed(pd.concat(column, ignore_index=True))
            for name, column in zip(names, zip(*parts, strict=True), strict=True)
        }
    )
    frame.attrs[READ_AS_TEXT] = True
    if pd.Series(names, dtype="str").str.fullmatch(_NUMBER).any():
        notes.append("some column names are numbers: if the file has no header line, add one")
    return frame, notes


def _rows(text: str, separator: str, limits: Limits) -> Iterator[list[str]]:
    """Rows as lists of cells; blank lines are left out."""
    longest = limits.columns * (limits.cell_length + len(separator))
    lines = csv.reader(_lines(text, longest), delimiter=separator, skipinitialspace=True, strict=True)
    try:
        yield from filter(None, lines)
    except csv.Error as error:
        if "field limit" in str(error):
            raise LimitError(
                "a cell has more than {limit:,} characters",
                remedy="see whether a quotation mark is not closed, or leave out columns of long free text",
                limit=limits.cell_length,
            ) from None
        raise ReadError(
            "the quotation marks do not pair up",
            remedy='close every quoted cell, and write a quotation mark inside it twice ("")',
        ) from None


def _lines(text: str, longest: int) -> Iterator[str]:
    """Lines with their ends. A StringIO would copy the text at four bytes a character.

    A line of millions of separators is refused before it becomes a list of millions of cells.
    """
    for match in _LINE.finditer(text):
        if match.end() - match.start() > longest:
            raise LimitError(
                "a line is longer than all its columns together may be",
                remedy="see whether the lines of the file end in line breaks",
            )
        yield match.group()


def _typed(texts: pd.Series) -> pd.Series:
    """Numbers if every cell that is not empty is one, otherwise the texts.

    Also the texts where numbers would take two of them for one, such as 12.1 and 12.10: they may be ids.
    """
    texts = texts.mask(texts == "")
    present = texts.dropna()
    if present.empty or not present.str.fullmatch(_NUMBER).all():
        return texts
    if present.str.fullmatch(_INTEGER).all():
        # Longer ones would lose digits, and two ids become one: 64 bits hold 18 digits, a float holds 15.
        complete = len(present) == len(texts)
        if present.str.lstrip("-").str.len().max() > (18 if complete else 15):
            return texts
        return texts.astype("int64") if complete else texts.astype("float64")
    if present.str.fullmatch(r"-?[0-9]{16,}").any():
        return texts
    numbers = texts.astype("float64")
    apart = present.nunique() == numbers.nunique()
    return numbers if apart and np.isfinite(numbers.dropna()).all() else texts
