"""The rows of a text file as columns of texts, parsed by Arrow.

What is no table is refused first.

Arrow reads a few things more kindly than this program may: an open quotation mark, text
after a closed one, lines without end. So these are looked for before, in one linear
pass.
"""

import csv
import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dpcore.errors import LimitError, ReadError, damaged_file_error
from dpcore.io.checks import Limits, check_cell_length, check_rows, long_cell

_LINE = re.compile(r"[^\r\n]*+(?:\r\n?|\n|\Z)")


def first_row(text: str, separator: str, limits: Limits) -> tuple[list[str], int]:
    """Return the cells of the first row that is not blank, and where the rows after it
    begin.
    """
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
        raise _refusal(limits, too_long="field limit" in str(error)) from None
    return row, taken


def read_columns(
    text: str,
    separator: str,
    names: list[str],
    limits: Limits,
    *,
    blanks: bool = False,
) -> tuple[list[Any], set[int]]:
    """Arrow arrays of texts, one for each name and none without rows.

    Blanks after separators are cut off, unless `blanks` belong to the cells; blank
    lines are left out.

    Returns: the arrays, and the places of those in which two texts became one by that.

    Raises: LimitError; ReadError for quotation marks that do not pair up, and rows of
        another width.
    """
    _check_lines(text, separator, limits)
    if '"' in text:
        apart = ' "' in text and re.search(
            rf'(?:^|[{re.escape(separator)}\r\n]) +"', text
        )
        text = _without_blanks(text, separator) if apart else text
        _check_quotes(text, separator, limits)
    columns = _parse(text, separator, len(names))
    if not columns:
        return [], set()
    check_rows(len(columns[0]), limits=limits)

    merged = set()
    for place, column in enumerate(columns):
        if not blanks and pc.any(pc.starts_with(column, " ")).as_py():
            columns[place] = pc.utf8_ltrim(column, " ")
            if pc.count_distinct(columns[place]) != pc.count_distinct(column):
                merged.add(place)
    for column in columns:
        if (pc.max(pc.binary_length(column)).as_py() or 0) > limits.cell_length:
            check_cell_length(pc.max(pc.utf8_length(column)).as_py(), limits=limits)
    return columns, merged


def _parse(text: str, separator: str, width: int) -> list[Any]:
    import pyarrow.csv as arrow_csv

    wrong: list[bool] = []

    def invalid(row: Any) -> str:
        if width > 1 and row.text.strip(" ") in ("", '""'):
            return "skip"
        wrong.append(row.actual_columns > row.expected_columns)
        return "error"

    data = text.encode("utf-8")
    if not data.strip(b"\r\n"):
        return []
    places = [str(place) for place in range(width)]
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            read_options=arrow_csv.ReadOptions(
                column_names=places, block_size=len(data) + 1
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator,
                newlines_in_values=True,
                invalid_row_handler=invalid,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.string()),
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        if not wrong:
            raise damaged_file_error("csv") from None
        raise ReadError(
            (
                "some rows have more or fewer fields than the {expected:,} expected "
                "from "
                "the header"
            ),
            remedy="put quotation marks around cells that hold the separator, complete "
            "short rows, "
            "and see that the first line is the header",
            expected=width,
        ) from None
    return [column.combine_chunks() for column in table.columns]


def _check_lines(text: str, separator: str, limits: Limits) -> None:
    """Refuse a line of millions of separators."""
    longest = limits.columns * (limits.cell_length + len(separator))
    if len(text) > longest and any(
        match.end() - match.start() > longest for match in _LINE.finditer(text)
    ):
        raise _refusal(limits, too_long=True)


def _check_quotes(text: str, separator: str, limits: Limits) -> None:
    """Refuse a quoted cell that does not end, or goes on behind its end.

    Possessive, so linear.
    """
    sep = re.escape(separator)
    cell = rf'(?:"[^"]*+(?:""[^"]*+)*+"|[^"{sep}\r\n][^{sep}\r\n]*+)?+'
    match = re.match(rf"{cell}(?:[{sep}\r\n]{cell})*+", text)
    stopped = match.end() if match else 0
    if stopped < len(text):
        raise _refusal(
            limits,
            too_long=text[stopped] == '"' and len(text) - stopped > limits.cell_length,
        )


def _without_blanks(text: str, separator: str) -> str:
    """Cut the blanks between a separator and a quotation mark.

    Those of cells stay.
    """
    sep = re.escape(separator)
    quoted = r'"[^"]*+(?:""[^"]*+)*+"'
    parts = re.compile(
        rf'((?:^|[{sep}\r\n])) +(?=")|{quoted}|[^"{sep}\r\n][^{sep}\r\n]*+'
    )
    return parts.sub(lambda part: part[0] if part[1] is None else part[1], text)


def _refusal(limits: Limits, *, too_long: bool) -> LimitError | ReadError:
    if too_long:
        return long_cell(limits)
    return ReadError(
        "the quotation marks do not pair up",
        remedy='close every quoted cell, and write a quotation mark inside it twice ("")',
    )
