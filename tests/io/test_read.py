"""Text files become tables: separators, quoting, kinds of values, limits, and what is
refused.
"""

from __future__ import annotations

import csv
import dataclasses
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore as dp
from dpcore.errors import LimitError, ParameterError, ReadError, SchemaError
from dpcore.io import Limits, ReadOptions, ReadResult, check_size, read_table
from dpcore.io._numbers import read_number
from tests.tiers import examples


def read(text: str, **options: object) -> ReadResult:
    return read_table(text.encode("utf-8"), "table.csv", **options)  # type: ignore[arg-type]


def test_b14_adult_is_read_in_full_with_its_question_marks(shared: Path) -> None:
    """SEEDS B14: rows or columns would be lost, or `?` be taken away before the schema
    sees it.
    """
    frame = read_table((shared / "data" / "adult.csv").read_bytes(), "adult.csv").frame
    assert frame.shape == (32_561, 15)
    marks = (frame == "?").sum()
    assert dict(marks[marks > 0]) == {
        "workclass": 1_836,
        "occupation": 1_843,
        "native-country": 583,
    }
    assert int((frame != "?").all(axis=1).sum()) == 30_162
    assert int(frame.duplicated().sum()) == 24
    assert frame["age"].dtype == "int64"
    assert frame["age"].mean() == 38.58164675532078


def test_files_with_semicolons_are_read(shared: Path) -> None:
    """The reference table of ARX would come out as one column."""
    result = read_table(
        (shared / "data" / "arx" / "adult_30162.csv").read_bytes(), "adult.csv"
    )
    assert result.separator == ";"
    assert result.frame.shape == (30_162, 9)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_separators_and_line_ends(separator: str, end: str) -> None:
    """A file of another country or system would be one wide column, or one long row."""
    text = end.join(
        [separator.join(row) for row in (("id", "name"), ("1", "Ann"), ("2", "Bo"))]
    )
    result = read(text)
    assert result.separator == separator
    assert result.kind == ("tsv" if separator == "\t" else "csv")
    pd.testing.assert_frame_equal(
        result.frame, pd.DataFrame({"id": [1, 2], "name": ["Ann", "Bo"]})
    )


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("id;amount;note\n1;1,5;a\n2;2,5;b\n", ";"),
        ("id;price, in EUR;x\n1;1,5;a\n2;2,5;b\n", ";"),
        ('id,"a;b;c"\n1,x\n2,y\n', ","),
        ("a|b,c\n1|2\n3|4\n", "|"),
    ],
)
def test_the_separator_is_the_one_that_fits_most_rows(
    text: str, separator: str
) -> None:
    """Decimal commas or a separator inside quotes would mislead."""
    assert read(text).separator == separator


def test_one_column_is_a_table() -> None:
    """A list of values would be refused for lack of a separator."""
    result = read('city\nBonn\n""\n\n"Washington, DC"\n')
    assert result.separator is None
    assert list(result.frame["city"].fillna("missing")) == [
        "Bonn",
        "missing",
        "Washington, DC",
    ]


def test_quotes_hold_separators_line_breaks_and_quotes() -> None:
    """A quoted address would be cut in two rows."""
    frame = read(
        'name,note\r\n"Smith, Ann","line 1\r\nline 2"\r\n"Bo ""B""",\r\n'
    ).frame
    assert list(frame["name"]) == ["Smith, Ann", 'Bo "B"']
    assert frame["note"][0] == "line 1\r\nline 2"


def test_blanks_after_separators_are_cut_off() -> None:
    """`39, State-gov` would be another category than `State-gov`, and ` 39` no
    number.
    """
    frame = read(
        'age, workclass, "note"\n 39, State-gov, "a, b"\n50,  Private, x\n'
    ).frame
    assert list(frame.columns) == ["age", "workclass", "note"]
    assert list(frame["age"]) == [39, 50]
    assert list(frame["workclass"]) == ["State-gov", "Private"]
    assert list(frame["note"]) == ["a, b", "x"]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2", "0"], "int64"),
        (["1", "2.5", "-.5"], "float64"),
        (["1e3", "2E-2", "3."], "float64"),
        (["1", "", "3"], "float64"),
        (["999999999999999999", "1"], "int64"),
        (["1", "?"], "str"),
        (["01234", "12345"], "str"),
        (["00", "1"], "str"),
        (["1234567890123456789", "1"], "str"),
        (["123456789012345678901", "1.5"], "str"),
        (["12.1", "12.10"], "float64"),
        (["-0", "0"], "float64"),
        (["-123456789012345", ""], "float64"),
        (["1234567890123456", ""], "str"),
        (["1e400", "1"], "str"),
        (["nan", "1"], "str"),
        (["inf", "1"], "str"),
        (["+49301234", "1"], "str"),
        (["0x10", "1"], "str"),
        (["True", "False"], "str"),
        (["2020-01-31", "2021-02-28"], "str"),
        (["NA", "null"], "str"),
    ],
)
def test_only_plain_numbers_become_numbers(cells: list[str], kind: str) -> None:
    """A zip code would lose its zero, an id its last digits, and `?` or `NA` its
    meaning.
    """
    frame = read("x;y\n" + "".join(f"{cell};a\n" for cell in cells)).frame
    assert str(frame["x"].dtype) == kind
    if kind == "str":
        assert list(frame["x"].fillna("")) == cells
    else:
        expected = [float(cell) if cell else np.nan for cell in cells]
        np.testing.assert_array_equal(frame["x"].to_numpy(dtype=float), expected)


def test_an_all_missing_column_and_one_row_are_a_table() -> None:
    """An empty column, or a table of one row, would be refused or crash the typing."""
    frame = read("a,b,c\n1,,x\n").frame
    assert frame.shape == (1, 3)
    assert frame["b"].isna().all()


def test_a_text_in_the_last_row_of_many_keeps_its_column_a_text() -> None:
    """A text far down would be lost, or its column come out mixed."""
    rows = [
        (number, "x" if number == 19_999 else str(number)) for number in range(20_000)
    ]
    frame = read("a,b\n" + "".join(f"{a},{b}\n" for a, b in rows)).frame
    assert list(frame["a"]) == [a for a, _ in rows]
    assert list(frame["b"]) == [b for _, b in rows]


TEXTS = (
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)
    .map(str.strip)
    .filter(lambda text: not text.startswith("'"))  # what spreadsheets mark texts with
)


@examples(200)
@given(st.data(), st.integers(1, 4), st.sampled_from([",", ";", "\t", "|"]))
def test_what_a_csv_writer_writes_is_read_back(
    data: st.DataObject, width: int, separator: str
) -> None:
    """Some text in some cell would be changed on the way in."""
    row = st.lists(TEXTS, min_size=width, max_size=width)
    cells = data.draw(st.lists(row, min_size=1, max_size=6))
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, quoting=csv.QUOTE_ALL)
    writer.writerows([[f"c{position}" for position in range(width)], *cells])
    if width > 1:
        # a line of nothing is no row
        cells = [row for row in cells if any(row)]
    if not cells:
        return
    frame = read(out.getvalue(), options=ReadOptions(encoding="utf-8")).frame
    for position in range(width):
        column = frame[f"c{position}"]
        if column.dtype == "str":
            assert list(column.fillna("")) == [row[position] for row in cells]
        else:
            numbers = [as_number(row[position]) for row in cells]
            np.testing.assert_array_equal(column.to_numpy(dtype=float), numbers)


def as_number(text: str) -> float:
    """What a cell of a column of numbers means, with a unit or digits of any script."""
    number = read_number(text, ".") or read_number(text, ",")
    return float(number.plain) if number else np.nan


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty; choose a table"),
        ("\ufeff", "the file is empty; choose a table"),
        (" \n \n\n", "the file is empty; choose a table"),
        ("a,b\n", "the table has no rows; choose a table"),
        ("a,b\n\n\n", "the table has no rows; choose a table"),
        (
            "a,b\n1,2\n3,secret,5\n",
            (
                "more or fewer fields than the header, which has 2; the first of them is "
                "line 3, with 3; put quotation marks"
            ),
        ),
        (
            "a,b,c\n1,2,3\n3,secret\n",
            "than the header, which has 3; the first of them is line 3, with 2; put",
        ),
        ("a\nsecret,1\n", "more or fewer fields than the header, which has 1;"),
        (
            'a,b\n1,"secret\n2,3\n',
            "a quotation mark is missing or out of place; close every quoted cell",
        ),
        ('a,b\n1,"secret" x\n', "a quotation mark is missing or out of place"),
        ("a,b,a\n1,secret,3\n", "more than one column 'a'; rename"),
        ("a, b,b\n1,secret,3\n", "more than one column 'b'; rename"),
        (
            "a,b\x07\n1,secret\n",
            (
                "name of column 2 is too long, or contains a line break or another control character; give"
            ),
        ),
        ("a,b\u202etxt\n1,secret\n", "name of column 2 is"),
    ],
)
def test_what_is_no_table_is_refused_with_a_remedy(text: str, words: str) -> None:
    """Bad input would end in a traceback, a half-read table, or a message that shows a
    cell.
    """
    with pytest.raises(ReadError, match=words) as refusal:
        read(text)
    assert refusal.value.remedy
    assert "secret" not in f"{refusal.value} {refusal.value.details}"


HOSTILE = [
    "![x](http://attacker.example/pixel.png)",
    "=cmd|' /C calc'!A0",
    "<script>alert(1)</script>",
    "@SUM(A1)",
    "'; DROP TABLE ledger; --",
    "{{7*7}}",
    "../../etc/passwd",
    "n" * 250,
]


def test_hostile_names_are_kept_as_data() -> None:
    """A name would be altered on the way in, so that no declared schema fits, or
    refused without need.
    """
    out = io.StringIO()
    csv.writer(out).writerows([HOSTILE, range(len(HOSTILE))])
    frame = read(out.getvalue()).frame
    assert list(frame.columns) == HOSTILE


def test_a_long_name_is_cut_in_a_message() -> None:
    """A message would be a page long."""
    with pytest.raises(ReadError) as refusal:
        read(f"{'n' * 900},{'n' * 900}\n1,2\n")
    assert len(str(refusal.value)) < 200


def test_empty_names_are_made_up_and_noted() -> None:
    """Files with an unnamed index column would be refused, or the made-up name come as
    a surprise.
    """
    result = read(",age,,x\n0,1,2,3\n")
    assert list(result.frame.columns) == ["column_1", "age", "column_3", "x"]
    assert result.notes == (
        "2 header cells were empty; their columns are now named column_1, column_3",
    )
    assert read(",age\n0,1\n").notes == (
        "1 header cell was empty; its column is now named column_1",
    )


def test_a_missing_header_is_noted() -> None:
    """The first person of a file without a header would silently become the column
    names.
    """
    result = read("39,State-gov,13\n50,Private,9\n")
    assert any("no header line" in note for note in result.notes)


def test_100_001_columns_are_refused() -> None:
    """A very wide file would fill the memory before it is refused."""
    header = ",".join(f"c{number}" for number in range(100_001))
    with pytest.raises(LimitError, match=r"more than .* 1,000 columns; keep only"):
        read(f"{header}\n{header}\n")


class Unreadable(bytes):
    """Bytes that claim a size and fail on any other use."""

    def __len__(self) -> int:
        return 3 * 2**30

    def decode(self, *_: object, **__: object) -> str:
        raise AssertionError("the bytes were read")

    startswith = endswith = __getitem__ = decode  # type: ignore[assignment]


def test_three_gigabytes_are_refused_unread() -> None:
    """A huge upload would be copied or decoded before its size is looked at."""
    with pytest.raises(LimitError, match=r"more than 50 MB, .*; keep only"):
        check_size(3 * 2**30)
    with pytest.raises(LimitError, match="more than 50 MB"):
        read_table(Unreadable(), "table.csv")
    check_size(50 * 2**20)


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(bytes=20), "more than"),
        (Limits(rows=3), "more than .* 3 rows"),
        (Limits(columns=1), "more than .* 1 columns"),
        (Limits(cell_length=5), "a cell has more than 5 characters"),
        (Limits(cell_length=3), "the name of column 2 is too long"),
    ],
)
def test_each_limit_is_kept(limits: Limits, words: str) -> None:
    """A stated limit would not hold."""
    text = "id,name\n1,Ann\n2,secret\n3,Bo\n4,Bo\n"
    with pytest.raises((LimitError, ReadError), match=words) as refusal:
        read(text, limits=limits)
    assert refusal.value.remedy
    assert "secret" not in f"{refusal.value} {refusal.value.details}"
    exact = Limits(bytes=len(text), rows=4, columns=2, cell_length=6)
    assert read(text, limits=exact).frame.shape == (4, 2)


def test_a_limit_below_one_is_refused() -> None:
    """A limit of nothing would refuse every file with a misleading message."""
    with pytest.raises(ParameterError, match=r"the limit of rows \(0\)"):
        Limits(rows=0)


def test_a_cell_or_a_line_without_end_is_refused_early() -> None:
    """An open quotation mark, or a file of separators only, would be gathered in memory
    first.
    """
    with pytest.raises(LimitError, match="a cell has more than 10,000 characters"):
        read('a,b\n1,"' + "x" * 200_000)
    with pytest.raises(LimitError, match="a cell has more than 10 characters"):
        read("a,b\n" + "," * 100, limits=Limits(columns=2, cell_length=10))


def test_a_result_shows_no_rows_and_cannot_be_changed() -> None:
    """A log line or traceback that prints a result would print people."""
    result = read("name,age\nsecret,4\n")
    assert "secret" not in repr(result)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.kind = "tsv"  # type: ignore[misc]


@pytest.mark.parametrize(
    "name",
    ["id", "patient_id", "person", "Kundennummer", "household", "code", "KundenNr"],
)
def test_texts_of_one_number_stay_apart_where_they_may_be_ids(name: str) -> None:
    """Else two people become one; in any other column 1.50 and 1.5 are one price."""
    frame = read(f"{name};price\n12.1;1.50\n12.10;1.5\n7;2\n").frame
    assert list(frame[name]) == ["12.1", "12.10", "7"]
    assert list(frame["price"]) == [1.5, 1.5, 2.0]


def test_numbers_that_were_two_texts_are_no_ids() -> None:
    """Else somebody who declares such a column as the person's makes one person of
    two.
    """
    frame = read("price;age\n1.50;3\n1.5;4\n").frame
    schema = dp.Schema(
        columns=(dp.Integer("age", low=0, high=99),),
        unit=dp.PrivacyUnit(max_rows=1, id_column="price"),
    )
    with pytest.raises(
        SchemaError, match="two may have become one; export them as text"
    ):
        dp.Curator.open(
            frame, schema, budget=dp.PureDP(epsilon=1.0), ledger=dp.MemoryLedger()
        )


def opened(frame: pd.DataFrame) -> dp.Curator:
    """A data set whose person is named by the column "who"."""
    schema = dp.Schema(
        columns=(dp.Categorical("age", categories=("3", "4")),),
        unit=dp.PrivacyUnit(max_rows=1, id_column="who"),
    )
    return dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon=1.0), ledger=dp.MemoryLedger()
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("01.02.2020", "1.2.2020"),
        ("2020-1-5", "2020-01-05"),
        ("2020/01/05 10:00", "2020/01/05 10:00:00"),
        ("5 \N{EURO SIGN}", "5\N{EURO SIGN}"),
        ("-5", "\N{MINUS SIGN}5"),
    ],
)
def test_texts_of_one_date_or_number_in_the_words_of_a_country_are_no_ids(
    one: str, other: str
) -> None:
    """Two people became one, who then moves a row of the other: twice what is
    charged.
    """
    frame = read(f"who,age\n{one},3\n{other},4\n").frame
    if frame["who"].nunique() < 2:
        with pytest.raises(SchemaError, match="two may have become one"):
            opened(frame)
    else:
        assert frame["who"].tolist() == [one, other]


@pytest.mark.parametrize(
    "text", ['age,who\n"3", a\n "4",a\n', 'who,age\n a,"3"\na, "4"\n']
)
def test_blanks_that_told_two_ids_apart_are_no_secret_of_quotation_marks(
    text: str,
) -> None:
    """A blank before a quotation mark anywhere in the file made one person of " a" and
    "a".
    """
    with pytest.raises(SchemaError, match="two may have become one"):
        opened(read(text).frame)


@pytest.mark.parametrize("title", ["", "Umsatz, Berlin\n\n"])
def test_a_comma_in_each_number_parts_no_cells(title: str) -> None:
    """Else the header is taken for a title, and prices fall apart into whole numbers
    and decimals.
    """
    read_as = read(
        f"{title}name;betrag;gewicht\nA;3,50;1.000,5\nB;4,25;2.000,5\n"
    ).frame
    assert list(read_as.columns) == ["name", "betrag", "gewicht"]
    assert list(read_as["betrag"]) == [3.5, 4.25]
    assert list(read_as["gewicht"]) == [1000.5, 2000.5]
