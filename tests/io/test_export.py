"""Only public tables leave, and no spreadsheet runs what is in them."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from dpcore.errors import DisclosureError, UsageError
from dpcore.io import read_table, to_csv, to_parquet
from dpcore.tables.rows import Microdata, PublicTable


def rows_of(frame: pd.DataFrame) -> list[list[str]]:
    text = to_csv(PublicTable(frame)).decode("utf-8")
    return list(csv.reader(io.StringIO(text, newline="")))


FORMULAS = [
    "=1+1",
    "+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "=cmd|' /C calc'!A0",
    "-",
    "＝1",
    "-1\n=2",
]
HARMLESS = [
    "a=b",
    "'=1",
    " x",
    "-5",
    "-0.25",
    "-1e-3",
    "3",
    "x@y.org",
    "北京",
    'say "hi", twice',
    "01234",
]


@pytest.mark.parametrize("dtype", ["str", "object", "category"])
def test_formulas_in_cells_are_disarmed_and_nothing_else_is_changed(dtype: str) -> None:
    """Opening a download in a spreadsheet would run a command, or numbers and names
    come out altered.
    """
    cells = pd.Series(FORMULAS + HARMLESS, dtype=dtype)
    header, *rows = rows_of(pd.DataFrame({"x": cells, "n": -1}))
    assert header == ["x", "n"]
    assert [row[0] for row in rows] == ["'" + cell for cell in FORMULAS] + HARMLESS
    assert {row[1] for row in rows} == {"-1"}


def test_formulas_in_the_header_are_disarmed() -> None:
    """A column's name would run as a formula."""
    header, _ = rows_of(
        pd.DataFrame([range(len(FORMULAS) + 1)], columns=[*FORMULAS, "age"])
    )
    assert header == ["'" + name for name in FORMULAS] + ["age"]


def test_values_are_written_as_they_are_read() -> None:
    """A synthetic table would not survive its own download."""
    frame = pd.DataFrame(
        {
            "age": [17, -3, 90],
            "share": [0.1, np.nan, -1e-9],
            "zip": ["01234", None, "99999"],
            "day": ["2020-01-31", "2021-02-28", None],
        },
        index=[5, 5, 6],
    )
    back = read_table(to_csv(PublicTable(frame)), "x.csv").frame
    pd.testing.assert_frame_equal(back, frame.reset_index(drop=True))
    dates = frame.assign(day=pd.to_datetime(frame["day"]))
    assert to_csv(PublicTable(dates)) == to_csv(PublicTable(frame))


def test_parquet_keeps_texts_verbatim_and_carries_the_guarantee() -> None:
    """Parquet would be altered like CSV, lose its guarantee, or carry what pandas knew
    of the original.
    """
    frame = pd.DataFrame(
        {"=x": FORMULAS, "n": range(len(FORMULAS))}, index=range(5, 5 + len(FORMULAS))
    )
    data = to_parquet(PublicTable(frame), metadata={"guarantee": '{"epsilon": "0.5"}'})
    assert pq.read_schema(io.BytesIO(data)).metadata == {
        b"guarantee": b'{"epsilon": "0.5"}'
    }
    pd.testing.assert_frame_equal(
        read_table(data, "x.parquet").frame, frame.reset_index(drop=True)
    )
    assert not pq.read_schema(io.BytesIO(to_parquet(PublicTable(frame)))).metadata


@pytest.mark.parametrize("write", [to_csv, to_parquet])
@pytest.mark.parametrize("wrap", [pd.DataFrame, Microdata])
def test_private_rows_do_not_leave(write: object, wrap: object) -> None:
    """The original table would be written to a file by a slip of one argument."""
    frame = pd.DataFrame({"name": ["secret"]})
    with pytest.raises(
        DisclosureError, match="release or anonymize it first"
    ) as refusal:
        write(wrap(frame))  # type: ignore[operator]
    assert "secret" not in str(refusal.value)


def test_a_csv_for_spreadsheets_opens_with_its_letters_and_columns() -> None:
    """Excel showed other letters for ä without a mark, and one column where lists are
    parted by semicolons.
    """
    frame = pd.DataFrame({"städte": ["Köln", "=1+1"], "pay": [1.5, -2.25]})
    table = PublicTable(frame)
    english = to_csv(table, spreadsheet_decimal=".")
    assert english == b"\xef\xbb\xbf" + to_csv(table)
    german = to_csv(table, spreadsheet_decimal=",").decode("utf-8-sig")
    assert german == "städte;pay\r\nKöln;1,5\r\n'=1+1;-2,25\r\n"
    # and the reader takes both back
    for sign in (".", ","):
        back = read_table(to_csv(table, spreadsheet_decimal=sign), "x.csv").frame
        assert list(back.columns) == ["städte", "pay"]
        assert list(back["pay"]) == [1.5, -2.25]
    with pytest.raises(UsageError, match="spreadsheet_decimal"):
        to_csv(table, spreadsheet_decimal=";")
