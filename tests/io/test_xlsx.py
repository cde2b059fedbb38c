"""A workbook holds what the public table holds, and nothing in it runs."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from dpcore.errors import DisclosureError, LimitError
from dpcore.io import read_table, to_xlsx, xlsx
from dpcore.tables.rows import Microdata, PublicTable
from tests.io.test_export import FORMULAS, HARMLESS


def sheet_of(data: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        return packed.read("xl/worksheets/sheet1.xml").decode()


def formats_of(data: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        return packed.read("xl/styles.xml").decode()


def test_texts_stay_texts_and_nothing_runs() -> None:
    """A name such as =HYPERLINK(...) would run when the file is opened, or when the
    cell is edited; a ZIP code would lose its first digit.
    """
    texts = [*FORMULAS, *HARMLESS, "http://example.org", "1/2", "TRUE"]
    frame = pd.DataFrame({"=x": texts})
    data = to_xlsx(PublicTable(frame))
    sheet = sheet_of(data)
    assert "<f>" not in sheet
    assert "hyperlink" not in sheet.lower()
    # one cell a text, and that of the column names, all of them strings
    assert len(re.findall(r't="inlineStr"', sheet)) == len(texts) + 1
    quoted = formats_of(data).split("<cellXfs")[1].count('quotePrefix="1"')
    assert quoted == 2  # the header's and that of texts which begin like a formula
    styled = re.findall(r'<c r="A\d+" s="(\d+)"', sheet)
    assert len(styled) == 1 + len(FORMULAS)
    back = read_table(data, "x.xlsx").frame
    assert back["=x"].tolist() == texts


def test_values_come_back() -> None:
    """A spreadsheet would show other values than the release has."""
    frame = pd.DataFrame(
        {
            "age": [17, -3, 90],
            "pay": [45840.1, np.nan, -0.25],
            "zip": ["01234", None, "99999"],
            "day": pd.to_datetime(["2020-01-31", "1900-01-01", None]),
            "born": ["1940-03-08", "1900-02-28", "2021-04-31"],
            "seen": pd.to_datetime(["2020-01-31 17:45:09"] * 3),
            "long": pd.array([12345678901234567, None, 3], dtype="Int64"),
            "yes": [True, False, True],
        },
        index=[5, 5, 6],
    )
    data = to_xlsx(PublicTable(frame))
    back = read_table(data, "x.xlsx").frame
    assert back["age"].tolist() == [17, -3, 90]
    assert back["pay"].dropna().tolist() == [45840.1, -0.25]
    assert back["zip"].dropna().tolist() == ["01234", "99999"]
    assert back["day"].dropna().tolist() == ["2020-01-31", "1900-01-01"]
    assert back["born"].tolist() == frame["born"].tolist()
    assert back["seen"].tolist() == ["2020-01-31 17:45:09"] * 3
    assert back["long"].dropna().astype(str).tolist() == ["12345678901234567", "3"]
    # texts of days are dates of Excel, as long as its calendar knows them
    sheet = sheet_of(data)
    assert re.search(r'<c r="E2" s="\d+"><v>\d+</v>', sheet)
    assert all(f'<c r="E{row}" t="inlineStr"' in sheet for row in (3, 4))
    assert '<c r="G2" t="inlineStr"' in sheet
    assert '<c r="H2" t="b"><v>1</v>' in sheet


def test_numbers_show_the_decimals_of_their_column() -> None:
    """Prices would stand there as 45840.1 beside 3.25, or as 3."""
    frame = pd.DataFrame(
        {
            "pay": [45840.1, 3.25, 3.0],
            "mean": [1 / 3, 0.5, 2.0],
            "whole": [1.0, 2.0, np.nan],
        }
    )
    styles = formats_of(to_xlsx(PublicTable(frame)))
    numbers = dict(re.findall(r'<numFmt numFmtId="(\d+)" formatCode="([^"]*)"', styles))
    built_in = {"0": "General", "1": "0", "2": "0.00"}
    of_style = re.findall(
        r'<xf numFmtId="(\d+)"', styles.split("<cellXfs")[1].split("</cellXfs>")[0]
    )
    shown = [(built_in | numbers)[number] for number in of_style]
    sheet = sheet_of(to_xlsx(PublicTable(frame)))
    cells = dict(re.findall(r'<c r="([A-C]2)" s="(\d+)"', sheet))
    assert shown[int(cells["A2"])] == "0.00"
    assert "B2" not in cells  # all digits of a mean
    assert shown[int(cells["C2"])] == "0"


def test_cells_of_other_types() -> None:
    """A table of a library's user would crash, or an instant lose its zone."""
    moment = datetime.datetime(2020, 1, 31, 17, 45, tzinfo=datetime.UTC)
    cells = [
        Decimal("1.50"),
        Decimal("1234567890.1234567"),
        datetime.date(2020, 2, 1),
        moment,
        float("inf"),
        pd.NA,
        ("a", 1),
    ]
    frame = pd.DataFrame({"x": pd.Series(cells, dtype=object)})
    back = read_table(to_xlsx(PublicTable(frame)), "x.xlsx").frame["x"]
    assert back.dropna().tolist() == [
        "1.5",
        "1234567890.1234567",
        "2020-02-01",
        "2020-01-31 17:45:00+00:00",
        "inf",
        "('a', 1)",
    ]


def test_the_same_table_is_the_same_bytes() -> None:
    """A file behind a link would change while nothing changed, and an opened one would
    not be found again by its bytes.
    """
    table = PublicTable(pd.DataFrame({"x": ["a", "b"], "n": [1.5, 2]}))
    assert to_xlsx(table) == to_xlsx(table)


def test_what_excel_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows or the ends of texts would be lost without a word."""
    long = PublicTable(pd.DataFrame({"x": ["a" * 32_768]}))
    with pytest.raises(LimitError, match="32,767"):
        to_xlsx(long)
    emoji = PublicTable(pd.DataFrame({"x": ["😀" * 16_384]}))  # two units each in Excel
    with pytest.raises(LimitError, match="32,767"):
        to_xlsx(emoji)
    monkeypatch.setattr(xlsx, "MAX_ROWS", 3)
    assert xlsx.fits_xlsx(PublicTable(pd.DataFrame({"x": [1, 2]})))
    with pytest.raises(LimitError, match="at most 2 rows") as refusal:
        to_xlsx(PublicTable(pd.DataFrame({"x": [1, 2, 3]})))
    assert "CSV or Parquet" in str(refusal.value)


@pytest.mark.parametrize("wrap", [pd.DataFrame, Microdata])
def test_private_rows_do_not_leave(wrap: object) -> None:
    """The original table would be written to a file by a slip of one argument."""
    with pytest.raises(DisclosureError, match="release or anonymize it first"):
        to_xlsx(wrap(pd.DataFrame({"name": ["secret"]})))  # type: ignore[operator]
