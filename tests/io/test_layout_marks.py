"""What rows decided about the whole file is marked; what the header or a person said is not."""

from __future__ import annotations

import pytest

import dpcore as dp
from dpcore.io import ReadOptions, read_table
from dpcore.schema.origin import READ
from tests.io.test_workbooks import LIST, PEOPLE, workbook

ROWS = "".join(f"{20 + i % 40},{'FM'[i % 2]}\n" for i in range(60))
PLAIN = "age,sex\n" + ROWS
BY_ROWS = {
    "lines above": ("by us\n\n" + PLAIN, {"skip": 2}),
    "two separators": ("age;years,sex\n" + ROWS, {"separator": ","}),
    "blanks": (PLAIN.replace(",", "  "), {"separator": " "}),
    "no header": (ROWS, {"header": False}),
    "a number in the header": ("2020,sex\n" + ROWS, {"header": True}),
}


def marks(data: bytes, name: str = "a.csv", **given: object) -> set[bool]:
    read = read_table(data, name, options=ReadOptions(**given))  # type: ignore[arg-type]
    # and the same when the file is read again as it was
    again = read_table(data, name, options=read.options)
    schema, other = dp.suggest_schema(read.frame), dp.suggest_schema(again.frame)
    assert schema == other
    return {READ in column.from_data for column in schema.columns}


def test_a_plain_header_decides_by_itself() -> None:
    """Every table would be called decided by its rows."""
    assert marks(PLAIN.encode()) == {False}


@pytest.mark.parametrize("case", BY_ROWS)
def test_what_rows_decided_is_marked_until_somebody_says_it(case: str) -> None:
    """One row could move the header, and a guarantee did not say so."""
    text, said = BY_ROWS[case]
    assert marks(text.encode()) == {True}
    assert marks(text.encode(), **said) == {False}


def test_a_sheet_among_several_is_marked() -> None:
    """One row more decided which sheet was read."""
    several = workbook(PEOPLE[:20], PEOPLE)
    assert marks(several, "a.xlsx") == {True}
    assert marks(several, "a.xlsx", sheet="S2") == {False}
    assert marks(workbook(LIST, PEOPLE, hidden=(1,)), "a.xlsx") == {False}
