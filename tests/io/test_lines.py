"""Lines that are no rows are left out, and files that other programs write are read."""

from __future__ import annotations

import pytest

from dpcore.errors import ReadError
from dpcore.io import ReadOptions, ReadResult, read_table
from dpcore.io._lines import find_reason_to_skip

PEOPLE = "region,age,n\nR0,20,0\nR1,21,1\nR0,22,2\n"


def read(text: str, name: str = "table.csv") -> ReadResult:
    return read_table(text.encode("utf-8"), name)


@pytest.mark.parametrize(
    "line",
    [
        "Total,,150",
        ",Total,150",
        "Grand total:,61,3",
        "合计,,3",
        "ΣΥΝΟΛΟ,,3",
        "Iš viso,,3",
        "Tổng cộng,,3",
        "कुल,,3",
        "Sursa: un oficiu,,",
        '"2 - Adjusted for age, and sex"',
        "* New councils",
        "=======",
        "Footnotes",
        '"Source: an office, 2024",,',
        "Source: an office",
        "Quelle: Amt,,",
        "region,age,n",
        ",,",
    ],
)
@pytest.mark.parametrize("place", [4, 2])
def test_a_line_that_is_no_row_is_left_out_and_said(line: str, place: int) -> None:
    """A total, a footnote or the header again became a person, unique in the table."""
    lines = PEOPLE.splitlines()
    lines.insert(place, line)
    result = read("\n".join(lines))
    assert result.frame.equals(read(PEOPLE).frame)
    assert any(note.startswith("1 line was left out: ") for note in result.notes)


@pytest.mark.parametrize(
    "line",
    [
        "Totally,20,1",
        "Tong,20,1",
        "計,20,1",
        "Soma,20,1",
        "R0,,",
        "R1,20,total",
        "Source,20,1",
        "Notes,1,",
        "R0,age,n",
    ],
)
def test_a_row_that_only_resembles_one_stays(line: str) -> None:
    """A person whose answers are missing, or who lives in Source, would be lost."""
    result = read(f"{PEOPLE}{line}\n")
    assert len(result.frame) == 4
    assert not any("left out" in note for note in result.notes)


def test_each_line_is_judged_by_itself() -> None:
    """One person's line would decide whether another one is a row."""
    names = ["region", "age", "n"]
    for cells in (["Total", "", "1"], ["R0", "", ""], ["Source: x", "", ""]):
        alone = find_reason_to_skip(cells, names)
        text = PEOPLE + ",".join(cells) + "\n"
        for others in (0, 5):
            rows = read(text + ",".join(cells) + "\n" * others).frame
            assert (len(rows) == 3) == (alone is not None)


def test_row_names_of_r_are_a_column() -> None:
    """R writes no name above its row names, so that the file was refused."""
    frame = read('"age","sex"\n"1",20,"F"\n"2",21,"M"\n').frame
    assert list(frame) == ["row_name", "age", "sex"]
    assert frame["age"].tolist() == [20, 21]


@pytest.mark.parametrize(
    "text",
    [
        "age,sex,city,\n20,F,A\n21,M,B\n",
        "age,sex,city\n20,F,A,\n21,M,B,\n",
    ],
)
def test_a_comma_at_the_end_of_all_lines_is_no_column(text: str) -> None:
    """Files of statistics offices were refused."""
    assert list(read(text).frame) == ["age", "sex", "city"]


@pytest.mark.parametrize(
    "text",
    [
        "AGE SEX CITY  \n 20 F   A     \n 21 M   B     \n 22 F   C     \n",
        "AGE   SEX CITY\n20 F A\n21 M B\n22 F C\n",
        '"AGE" "SEX" "CITY"\n"1" 20 "F" "A b"\n"2" 21 "M" "B"\n"3" 22 "F" "C"\n',
    ],
)
def test_blanks_part_cells_where_all_lines_agree(text: str) -> None:
    """R and statistics programs part cells by blanks; the file was one column."""
    frame = read(text, "table.txt").frame
    assert frame["AGE"].tolist() == [20, 21, 22]
    assert frame["SEX"].tolist() == ["F", "M", "F"]


def test_a_list_of_names_is_one_column() -> None:
    """First and last names of a list would become two columns."""
    assert list(read("Full name\nAda Bell\nBo Carr\nCy Dorn\n").frame) == ["Full name"]


def test_a_block_of_titles_with_cells_is_above_the_table() -> None:
    """Files of the World Bank and of censuses were refused."""
    titles = '"Data Source","An office",\n\n"Last Updated","2024-01-01",\n\n'
    rows = "".join(f'"C{row}","K{row}","{row}.5","",\n' for row in range(9))
    result = read(f'{titles}"Country","Code","2019","2020",\n{rows}')
    assert list(result.frame) == ["Country", "Code", "2019", "2020", "column_5"]
    assert result.frame["2019"].tolist() == [row + 0.5 for row in range(9)]
    assert any("above the table" in note and "4" in note for note in result.notes)


def test_commas_of_numbers_and_dates_are_no_columns_below_a_title() -> None:
    """The header was skipped with the title, as each row has as many commas."""
    rows = "".join(f"A{n};{n % 28 + 1} May, 2020;1.000,{n:02}\n" for n in range(30))
    result = read(f"People\n\nplace;born;pay\n{rows}")
    assert list(result.frame) == ["place", "born", "pay"]
    assert result.options.skip == 2


def test_a_title_block_as_long_as_the_table() -> None:
    """Files of the UK census and of the US labor office were refused."""
    rows = "".join(f'"Area {n}","{n}.00","{2 * n}.00",\n' for n in range(20))
    about = 'Title:,"Area, 1996"\nDescription:,"Area\n\nCompiled of others.\n\n"\n'
    facts = "".join(f"Fact {n}:,none\n" for n in range(8))
    result = read(
        f'{about}{facts}=====\n ,"Area (sq km)","Males",\n\n{rows}"1 - Of ages"\n'
    )
    assert len(result.frame) == 20
    assert list(result.frame)[1:3] == ["Area (sq km)", "Males"]
    # the header of the labor office ends in a comma, its rows do not
    rows = "".join(f"LNS14,{1959 + n},Q01,{n}.5\n" for n in range(20))
    result = read(
        f"Series Id:   LNS14\n\nAge:   16 years\n\nid,Year,Period,Value,\n{rows}"
    )
    assert list(result.frame) == ["id", "Year", "Period", "Value"]
    assert len(result.frame) == 20


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "id | age \n---+---\n a | 20\n b | 21\n(2 rows)\n",
            ["id", "age"],
        ),
        ("id|age\n:---|---:\na|20\nb|21\n", ["id", "age"]),
        ("id,age\na,20\nb,21\n\n2 rows selected.\n", ["id", "age"]),
        (
            "id,age,pay\n,(years),(EUR)\na,20,1\nb,21,2\n",
            ["id", "age (years)", "pay (EUR)"],
        ),
        ('id,"age\n(years)"\na,20\nb,21\n', ["id", "age (years)"]),
        ("id;\tage\na;20\nb;21\n", ["id", "age"]),
    ],
)
def test_lines_of_database_programs_and_units(text: str, names: list[str]) -> None:
    """A ruled line or the units were a person, and every number a text; names with line
    breaks, as spreadsheets have them, were refused.
    """
    frame = read(text).frame
    assert list(frame) == names
    assert [str(cell).strip() for cell in frame["id"]] == ["a", "b"]
    assert frame[names[1]].tolist() == [20, 21]


def test_two_lines_of_names_are_joined() -> None:
    """The second line was a person, and all columns of numbers were texts."""
    rows = "".join(f"R{n % 3},{n},{n}.5,{n},{n}.5\n" for n in range(30))
    text = f",2020,,2021,\nregion,age,pay,age,pay\n{rows}"
    result = read(text)
    names = ["region", "2020 age", "2020 pay", "2021 age", "2021 pay"]
    assert list(result.frame) == names
    assert result.frame["2020 age"].tolist() == [*range(30)]
    assert any("two header lines" in note for note in result.notes)
    # somebody may know better, and a first column without a name is no second line
    data = text.encode()
    one = read_table(data, "a.csv", options=ReadOptions(header=True))
    assert len(one.frame) == 31
    plain = read(f",age,sex\n{''.join(f'p{n},{n},F' + chr(10) for n in range(9))}")
    assert len(plain.frame) == 9
    two = read_table(
        b"a,b\nx,y\n1,2\n", "a.csv", options=ReadOptions(header=True, header_lines=2)
    )
    assert list(two.frame) == ["a x", "b y"]


def test_the_first_wrong_line_is_named() -> None:
    """A person would look for one line among thousands."""
    with pytest.raises(
        ReadError, match=r"the first of them is line 4, with 4;"
    ) as refusal:
        read("a,b,c\n1,2,3\n1,2,3\n1,2,secret,4\n1,2\n")
    assert "secret" not in f"{refusal.value} {refusal.value.details}"


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("<html><body><table></table></body></html>", "a.xls", "HTML"),
        ('{"age": 20, "sex": "F"}\n{"age": 21, "sex": "M"}\n', "a.csv", "JSON"),
        ('[{"age": 20}, {"age": 21}]', "a.csv", "JSON"),
    ],
)
def test_another_format_is_named(text: str, name: str, words: str) -> None:
    """The message spoke of quotation marks, or of a damaged file."""
    with pytest.raises(ReadError, match=f"looks like {words}"):
        read(text, name)


def test_tabs_named_xls_are_read() -> None:
    """Offices name text with tabs .xls, so that spreadsheets open it."""
    assert read("age\tsex\n20\tF\n21\tM\n", "a.xls").frame["age"].tolist() == [20, 21]
