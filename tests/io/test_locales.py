"""Numbers and dates of many countries, title lines, no header: read as they are meant,
or asked about.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpcore.errors import ParameterError
from dpcore.io import ColumnReading, ReadOptions, ReadResult, read_table
from dpcore.schema.values import READING_FROM_DATA, list_texts

GERMAN = (
    "Kunde;Umsatz;Größe;Geburt;Anteil\n"
    "Ada;3.461,21;172,5;06.04.2002;12,5 %\n"
    "Bo;12,00;180,0;31.12.1999;3 %\n"
    "Cy;1.000.000,5;165,25;01.01.1950;100 %\n"
)


def read(text: str, **options: object) -> ReadResult:
    return read_table(text.encode("utf-8"), "table.csv", options=ReadOptions(**options))  # type: ignore[arg-type]


def column(cells: list[str], separator: str = ";", **options: object) -> pd.Series:
    lines = "".join(f"{cell}{separator}a\n" for cell in cells)
    return read(f"x{separator}y\n{lines}", **options).frame["x"]


def test_a_german_table_is_read_as_it_is_meant() -> None:
    """Decimal commas and dates with points would be texts, and be left out as names."""
    result = read(GERMAN)
    assert result.frame["Umsatz"].tolist() == [3461.21, 12.0, 1_000_000.5]
    assert result.frame["Größe"].tolist() == [172.5, 180.0, 165.25]
    assert result.frame["Geburt"].tolist() == ["2002-04-06", "1999-12-31", "1950-01-01"]
    assert result.frame["Anteil"].tolist() == [12.5, 3.0, 100.0]
    assert [
        (each.column, each.kind, each.pattern) for each in result.understood_columns
    ] == [
        ("Umsatz", "number", "1.234,5"),
        ("Größe", "number", "1,5"),
        ("Geburt", "date", "dd.mm.yyyy"),
        ("Anteil", "number", "1,5 %"),
    ]
    assert result.understood_columns[0].examples[0] == ("3.461,21", "3461.21")
    assert "3.461" not in repr(result)
    again = read_table(GERMAN.encode(), "table.csv", options=result.options)
    assert again.frame.equals(result.frame)


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1 234,5", "12,25"], [1234.5, 12.25]),
        (["1\u00a0234,5", "12,25"], [1234.5, 12.25]),
        (["1'234.50", "12.25"], [1234.5, 12.25]),
        (["1,234.50", "12.25"], [1234.5, 12.25]),
        (["$1,234.50", "$3"], [1234.5, 3]),
        (["1.234,50 €", "3,00 €"], [1234.5, 3]),
        (["€ 3", "€ 4"], [3, 4]),
        (["12%", "3.5%"], [12, 3.5]),
        (["-1.234,5", "−2,5"], [-1234.5, -2.5]),
        (["¥1,234,567", "¥3"], [1234567, 3]),
    ],
)
def test_numbers_of_many_countries(cells: list[str], numbers: list[float]) -> None:
    """An amount would be a text, or off by a thousand."""
    found = column(cells, "|")
    assert found.tolist() == numbers
    assert pd.api.types.is_numeric_dtype(found.dtype)


@pytest.mark.parametrize(
    "cells",
    [
        ["1.234.5", "2"],
        ["01.234,5", "2,5"],
        ["3 €", "4 $"],
        ["192.168.0.1", "10.0.0.1"],
        ["06.04", "x"],
        ["+49 30 1234", "1"],
        ["12.34.5678 x", "1"],
        ["31.02.2002", "01.01.2002"],
    ],
)
def test_what_may_be_something_else_stays_a_text(cells: list[str]) -> None:
    """A code, an address or a date that is none would turn into a number or another
    day.
    """
    assert column(cells, "|").tolist() == cells


def test_an_ambiguous_point_follows_the_rest_of_the_file() -> None:
    """1.234 would be 1.234 in a file whose other numbers have decimal commas."""
    mixed = "a;b\n1.234;2,5\n5.678;3,5\n"
    assert read(mixed).frame["a"].tolist() == [1234, 5678]
    assert read("a,b\n1.234,2\n5.678,3\n").frame["a"].tolist() == [1.234, 5.678]
    assert read("a;b\n1.234;2\n", decimal=",").frame["a"].tolist() == [1234]
    assert read("a;b\n1.234;2\n", decimal=".").frame["a"].tolist() == [1.234]


def test_marks_for_missing_do_not_hide_numbers() -> None:
    """One "-" would make a column of amounts a text."""
    assert column(["3.461,21", "-", "12,5"]).tolist() == ["3461.21", "-", "12.5"]


@pytest.mark.parametrize(
    ("cells", "days"),
    [
        (["2002年4月6日", "1999年12月31日"], ["2002-04-06", "1999-12-31"]),
        (["2002/4/6", "1999/12/31"], ["2002-04-06", "1999-12-31"]),
        (["31/12/1999", "06/04/2002"], ["1999-12-31", "2002-04-06"]),
        (["12/31/1999", "06/04/2002"], ["1999-12-31", "2002-06-04"]),
        (
            ["12/31/1999 3:05 PM", "06/04/2002 12:00 AM"],
            ["1999-12-31 15:05:00", "2002-06-04 00:00:00"],
        ),
        (
            ["6.4.2002 07:30", "31.12.1999 23:59"],
            ["2002-04-06 07:30:00", "1999-12-31 23:59:00"],
        ),
    ],
)
def test_dates_of_many_countries(cells: list[str], days: list[str]) -> None:
    """A birth date would be a text that names people, or be another day."""
    assert column(cells, "|").tolist() == days


def test_the_order_of_day_and_month_is_asked_for_where_both_fit() -> None:
    """06/04/2002 would silently be in June, or in April."""
    text = "born,x\n06/04/2002,1\n01/02/2003,2\n"
    asked = read(text)
    assert asked.undecided_columns == ("born",)
    assert asked.frame["born"].tolist() == ["06/04/2002", "01/02/2003"]
    assert read(text, day_first=True).frame["born"].tolist() == [
        "2002-04-06",
        "2003-02-01",
    ]
    assert read(text, day_first=False).frame["born"].tolist() == [
        "2002-06-04",
        "2003-01-02",
    ]
    assert read(text, day_first=False).undecided_columns == ()
    beside = read("born,seen\n06/04/2002,31/12/2003\n01/02/2003,01/01/2004\n")
    # another column decides
    assert beside.frame["born"].tolist() == ["2002-04-06", "2003-02-01"]


def test_e7_a_file_without_a_header_keeps_its_first_row() -> None:
    """SEEDS E7, B14: the first person of adult.data would become the column names."""
    lines = (
        "39, State-gov, 77516, <=50K\n50, Private, 83311, <=50K\n38, State-gov, "
        "215646, >50K\n"
    )
    noticed = read(lines * 3)
    assert len(noticed.frame) == 9
    assert list(noticed.frame) == ["column_1", "column_2", "column_3", "column_4"]
    assert any("no header line" in note for note in noticed.notes)
    named = read(lines, header=False, names=("age", "workclass", "fnlwgt", "income"))
    assert named.frame["age"].tolist() == [39, 50, 38]
    assert list(named.frame["workclass"]) == ["State-gov", "Private", "State-gov"]
    # the header, where it comes again, is no row
    assert len(read(lines * 3, header=True).frame) == 6
    years = "name,2019,2020\nAda,1,2\nBo,3,4\nAda,5,6\nCy,1,1\n"
    assert list(read(years).frame) == ["name", "2019", "2020"]


def test_e7_adult_data_as_the_listing_reads_it(shared: Path) -> None:
    """SEEDS E7: 32,561 rows without a header, with ", " between the cells."""
    body = (shared / "data" / "adult.csv").read_text().split("\n", 1)[1]
    result = read(body.replace(",", ", "))
    assert result.frame.shape == (32_561, 15)
    assert result.options.header is False
    assert result.frame["column_1"].iloc[0] == 39
    assert int((result.frame == "?").sum().sum()) == 1_836 + 1_843 + 583


def test_title_lines_above_the_table_are_left_out() -> None:
    """A file with a title would be read as rows of rubbish."""
    text = "Customers of 2024\n\nname,age,city\nAda,3,Bonn\nBo,4,Kiel\n"
    result = read(text)
    assert list(result.frame) == ["name", "age", "city"]
    assert result.options.skip == 2
    assert any("lines left out above the table: 2" in note for note in result.notes)
    assert list(read("Report;;\nname;age;city\nAda;3;Bonn\nBo;4;Kiel\n").frame) == [
        "name",
        "age",
        "city",
    ]
    # a list of names has no title
    assert list(read('x\n"Doe, John"\n"Roe, Jane"\n').frame) == ["x"]
    assert list(read(text, skip=3, header=False, names=("n", "a", "c")).frame["a"]) == [
        3,
        4,
    ]


def test_long_whole_numbers_stay_exact() -> None:
    """The last digits of an account number would be lost, and two people be one."""
    numbers = ["123456789012345678", "123456789012345679", "999999999999999999"]
    assert column(numbers).map(str).tolist() == numbers
    assert column([*numbers, ""]).dropna().tolist() == numbers
    assert column(["1.234.567.890.123.456,5", "2,5"]).dtype == np.float64
    grouped = column(["1.234.567.890.123.456", "2.345.678.901.234.567"], decimal=",")
    assert grouped.tolist() == [1234567890123456, 2345678901234567]


def test_options_are_checked() -> None:
    """A separator that no reader knows would end in a traceback."""
    for options in ({"separator": "x"}, {"decimal": "'"}, {"skip": -1}):
        with pytest.raises(ParameterError):
            ReadOptions(**options)  # type: ignore[arg-type]


def test_an_id_stays_as_written_where_numbers_would_merge_people() -> None:
    """1.10 and 1.1 are two people; as numbers they would be one."""
    assert read("id,x\n1.10,1\n1.1,2\n").frame["id"].tolist() == ["1.10", "1.1"]
    assert read("id,x\n-0,1\n0,2\n").frame["id"].tolist() == ["-0", "0"]
    assert read("id,x\n10,1\n11,2\n10,3\n").frame["id"].tolist() == [10, 11, 10]


def test_some_odd_cells_do_not_keep_numbers_and_dates_from_being_read() -> None:
    """One "k.A.", one "<0,5" or one impossible date left a whole German column as it
    was written.
    """
    rows = [
        f"{place % 28 + 1:02}.0{place % 9 + 1}.1980;{place},5;{place}.000,25"
        for place in range(500)
    ]
    rows[3] = "00.00.1950;k.A.;<0,5"
    rows[4] = "unbekannt;<0,5;keine Angabe"
    read = read_table(
        ("geboren;crp;kosten\n" + "\n".join(rows)).encode(),
        "a.csv",
        options=ReadOptions(decimal=","),
    )
    assert [each.column for each in read.understood_columns] == [
        "geboren",
        "crp",
        "kosten",
    ]
    table = read.frame
    assert table.loc[[0, 3, 4], "geboren"].tolist() == [
        "1980-01-01",
        "00.00.1950",
        "unbekannt",
    ]
    assert table.loc[[0, 3, 4], "crp"].tolist() == ["0.5", "k.A.", "<0,5"]
    assert table.loc[[2, 3], "kosten"].tolist() == ["2000.25", "<0,5"]


TWINS = {
    "order of day and month": (["06/04/2020", "07/05/2020"], "12/25/2020"),
    "order that she alone decides": (["25/12/2020", "07/05/2020"], "12/25/2020"),
    "unit": (["12,5", "13,5"], "5,0 €"),
    "currency": (["1,234", "2,345"], "$5,000"),
    "decimal sign": (["4.217", "5.318"], "1.234,5"),
    "another decimal sign": (["12,5", "13,5"], "1.5"),
    "a word": (["12,5", "13,5"], "Quokka"),
    "an impossible day": (["06.04.2020", "07.05.2020"], "31.02.2020"),
    "century": (["06.04.20", "07.05.20"], "06.04.1920"),
    "days as numbers": (["20200406", "20200507"], "20201399"),
}
"""What everybody else writes, and the cell of one person who writes otherwise."""


@pytest.mark.parametrize(("values", "hers"), TWINS.values(), ids=TWINS)
@pytest.mark.parametrize("name", ["x", "born"])
def test_under_stored_options_one_person_changes_no_other_row(
    values: list[str], hers: str, name: str
) -> None:
    """Review 44b, finding 1: one cell of a CSV moved the counts by 800."""
    rows = [values[place % 2] for place in range(400)]
    without = f"{name}|y\n" + "".join(f"{cell}|a\n" for cell in rows)
    stored = read(without).options
    assert stored.columns is not None
    alone = read_table(without.encode(), "table.csv", options=stored).frame
    with_her = read_table(
        f"{without}{hers}|a\n".encode(), "table.csv", options=stored
    ).frame
    # canonical texts, since the type of a column may follow from one cell
    others = list_texts(with_her[name])[:400]
    assert others == list_texts(alone[name]) == list_texts(read(without).frame[name])


def test_a_given_reading_is_followed_and_is_not_marked() -> None:
    """An owner who says how a column is written would still see a mark."""
    text = "paid|y\n1.234|a\n5.678|a\n"
    given = ColumnReading(column="paid", kind="number", decimal=",")
    frame = read(text, columns=(given,)).frame
    assert frame["paid"].tolist() == [1234, 5678]
    told = {"encoding": "utf-8", "separator": "|", "header": True, "skip": 0}
    assert read(text, columns=(given,)).frame.attrs[READING_FROM_DATA]
    assert not read(text, columns=(given,), **told).frame.attrs[READING_FROM_DATA]
    assert read(text, columns=()).frame["paid"].tolist() == [1.234, 5.678]


def test_options_go_to_plain_data_and_back() -> None:
    """Stored options would not open, or be other ones."""
    options = read(GERMAN).options
    written = json.loads(json.dumps(dataclasses.asdict(options)))
    assert ReadOptions(**written) == options


@pytest.mark.parametrize(
    ("cells", "days"),
    [
        (["8. März 2021", "1 Mai 2021"], ["2021-03-08", "2021-05-01"]),
        (["8 mars 2021", "1er août 2021"], ["2021-03-08", "2021-08-01"]),
        (["8 de marzo de 2021", "1 de ene de 2021"], ["2021-03-08", "2021-01-01"]),
        (["8 marca 2021", "1 sierpnia 2021"], ["2021-03-08", "2021-08-01"]),
        (["8 марта 2021", "1 янв 2021 г."], ["2021-03-08", "2021-01-01"]),
        (["8 mrt 2021", "1 augustus 2021"], ["2021-03-08", "2021-08-01"]),
        (["08MAR2021", "01AUG2021"], ["2021-03-08", "2021-08-01"]),
        (["Mon, 08 Mar 2021", "Sun, 01 Aug 2021"], ["2021-03-08", "2021-08-01"]),
        (["March 8, 2021", "Aug 1, 2021"], ["2021-03-08", "2021-08-01"]),
        (["08.03.21", "01.08.49"], ["2021-03-08", "2049-08-01"]),
        (["2021-03", "2020-12"], ["2021-03-01", "2020-12-01"]),
        (["03/2021", "12/2020"], ["2021-03-01", "2020-12-01"]),
        (["2021M03", "2020M12"], ["2021-03-01", "2020-12-01"]),
        (["Q2 2021", "Q4 2020"], ["2021-04-01", "2020-10-01"]),
        (["2021-Q2", "2020Q4"], ["2021-04-01", "2020-10-01"]),
        (["2021-W10-1", "2020-W53"], ["2021-03-08", "2020-12-28"]),
        (["01.01.1700", "2001-01-18"], ["1700-01-01", "2001-01-18"]),
        (["8. 3. 2021", "31. 12. 2020"], ["2021-03-08", "2020-12-31"]),
        (["2021. 03. 08.", "2020. 12. 31."], ["2021-03-08", "2020-12-31"]),
        (["2021. március 8.", "2020. május 31."], ["2021-03-08", "2020-05-31"]),
        (["2021 m. kovo 8 d.", "2020 m. gegužės 1 d."], ["2021-03-08", "2020-05-01"]),
        (["2021. gada 8. marts", "2020. gada 1. maijs"], ["2021-03-08", "2020-05-01"]),
        (["8 tháng 3, 2021", "ngày 1 tháng 5 năm 2020"], ["2021-03-08", "2020-05-01"]),
        (["8 marca 2021 r.", "1 maja 2020 r."], ["2021-03-08", "2020-05-01"]),
        (["8 марта 2021 года", "1 мая 2020 года"], ["2021-03-08", "2020-05-01"]),
        (["8 मार्च 2021", "1 मई 2020"], ["2021-03-08", "2020-05-01"]),
        (["8 مارس 2021", "1 تشرين الأول 2020"], ["2021-03-08", "2020-10-01"]),
        (["٠٨/٠٣/٢٠٢١", "٣١/١٢/٢٠٢٠"], ["2021-03-08", "2020-12-31"]),
        (["٢٠٢١-٠٣-٠٨", "٢٠٢٠-١٢-٣١"], ["2021-03-08", "2020-12-31"]),
        (["令和3年3月8日", "平成元年1月8日"], ["2021-03-08", "1989-01-08"]),
        (["民國110年3月8日", "民國100年1月1日"], ["2021-03-08", "2011-01-01"]),
        # October in Croatia, November elsewhere: nobody guesses
        (["8. ožujka 2021", "1. travnja 2020"], ["8. ožujka 2021", "1. travnja 2020"]),
    ],
)
def test_dates_with_words_periods_and_mixed_forms(
    cells: list[str], days: list[str]
) -> None:
    """22 of 36 ways to write a date left a column out, as if it named people."""
    assert column(cells, "|").tolist() == days


@pytest.mark.parametrize(
    ("name", "cells", "days"),
    [
        ("birth_date", ["14678", "14700"], ["1940-03-08", "1940-03-30"]),
        ("birth_date", ["-940982400", "86400000"], ["1940-03-08", "1972-09-27"]),
        ("dob", ["08.03.40", "01.08.21"], ["1940-03-08", "2021-08-01"]),
        ("dateOfBirth", ["15550217", "20040229"], ["1555-02-17", "2004-02-29"]),
        ("born", ["08031940", "31122004"], ["1940-03-08", "2004-12-31"]),
        ("amount", ["14678", "14700"], [14678, 14700]),
        ("amount", ["20210308", "20210309"], [20210308, 20210309]),
    ],
)
def test_numbers_are_days_under_the_name_of_a_date(
    name: str, cells: list[str], days: list[object]
) -> None:
    """96 of 100 drawn birth dates were impossible, such as 20022742."""
    rows = "".join(f"{cell}|a\n" for cell in cells)
    assert read(f"{name}|y\n{rows}").frame[name].tolist() == days


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["(1,234.50)", "2,000.00"], [-1234.5, 2000]),
        (["1.234,50-", "2,5"], [-1234.5, 2.5]),
        (["+1.5", "-2.5"], [1.5, -2.5]),
        (["1,5E+03", "2,5E-01"], [1500, 0.25]),
        (["R$ 1.234,50", "R$ 3,00"], [1234.5, 3]),
        (["Rs. 1,234.50", "Rs. 3"], [1234.5, 3]),
        (["12,34,567.50", "1,00,000"], [1234567.5, 100000]),
        (["50 kg", "51 kg"], [50, 51]),
        (["１２３４.５０", "２０"], [1234.5, 20]),
        (["١٢٣٤٫٥٠", "٢٠"], [1234.5, 20]),
        (["–5.5", "6.5"], [-5.5, 6.5]),
        (["1_234.50", "2.5"], [1234.5, 2.5]),
        (["1234.50*", "2.5"], [1234.5, 2.5]),
        (["1.234,56", "1234,5"], [1234.56, 1234.5]),
        (["$-1,234.50", "$2"], [-1234.5, 2]),
        (["1.234,- €", "2,50 €"], [1234, 2.5]),
        (["Rp 1.234.567,50", "Rp 3"], [1234567.5, 3]),
        (["1.234,50 лв.", "3 лв."], [1234.5, 3]),
        (["1,234.50 บาท", "3 บาท"], [1234.5, 3]),
    ],
)
def test_numbers_of_many_programs(cells: list[str], numbers: list[float]) -> None:
    """17 of 37 ways to write a number left a column out, as if it named people."""
    assert column(cells, "|").tolist() == numbers


def test_reading_makes_no_two_ids_one() -> None:
    """Among ids with decimal commas, one with a point would become the same as
    another.
    """
    rows = [f"{place},5" for place in range(1, 500)]
    clash = "\n".join(["id", *(f'"{row}"' for row in rows), "7.5"])
    table = read_table(clash.encode(), "a.csv", options=ReadOptions(decimal=",")).frame
    assert table["id"].nunique() == 500
