"""Files of other programs: read through well-kept libraries, and then as any other
text.
"""

from __future__ import annotations

import datetime
import io
import zipfile

import pandas as pd
import pytest

from dpcore.errors import LimitError, ReadError
from dpcore.io import Limits, ReadOptions, read_table
from dpcore.schema.values import MERGED_COLUMNS

HIDDEN = ' state="hidden"'


def sheet_xml(rows: list[list[object]], merged: str = "") -> str:
    """One sheet of the smallest workbook that Excel would open."""
    lines = []
    for number, row in enumerate(rows, 1):
        cells = []
        for column, cell in zip("ABCDEFG", row, strict=False):
            if isinstance(cell, str):
                text = (
                    f'<c r="{column}{number}" t="inlineStr"><is><t '
                    f'xml:space="preserve">{cell}</t></is></c>'
                )
            elif isinstance(cell, bool):
                text = f'<c r="{column}{number}" t="b"><v>{int(cell)}</v></c>'
            elif isinstance(cell, datetime.date):
                days = (cell - datetime.date(1899, 12, 30)).days
                text = f'<c r="{column}{number}" s="1"><v>{days}</v></c>'
            elif cell is None:
                continue
            else:
                text = f'<c r="{column}{number}"><v>{cell}</v></c>'
            cells.append(text)
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    ranges = "".join(f'<mergeCell ref="{part}"/>' for part in merged.split())
    after = f"<mergeCells>{ranges}</mergeCells>" if ranges else ""
    return (
        f'<worksheet xmlns="{main}"><sheetData>{"".join(lines)}</sheetData>{after}'
        "</worksheet>"
    )


def workbook(
    *sheets: list[list[object]], merged: str = "", hidden: tuple[int, ...] = ()
) -> bytes:
    """A workbook, written by hand so that no library reads what it wrote itself.

    Args:
        sheets: their rows.
        merged: ranges of merged cells of all sheets, with blanks between.
        hidden: numbers of hidden sheets, from 1.
    """
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    named = "".join(
        f'<sheet name="S{i}" sheetId="{i}" r:id="r{i}"{HIDDEN if i in hidden else ""}/>'
        for i in range(1, len(sheets) + 1)
    )
    linked = "".join(
        (
            f'<Relationship Id="r{i}" Type="{office}/worksheet" '
            f'Target="worksheets/s{i}.xml"/>'
        )
        for i in range(1, len(sheets) + 1)
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types">'
            '<Default Extension="xml" ContentType="application/xml"/></Types>',
        )
        file.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r0" '
            f'Type="{office}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        file.writestr(
            "xl/workbook.xml",
            (
                f'<workbook xmlns="{main}" '
                f'xmlns:r="{office}"><sheets>{named}</sheets></workbook>'
            ),
        )
        file.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}/relationships">{linked}<Relationship '
            'Id="rs" '
            f'Type="{office}/styles" Target="styles.xml"/></Relationships>',
        )
        file.writestr(
            "xl/styles.xml",
            f'<styleSheet xmlns="{main}"><cellXfs><xf numFmtId="0"/><xf '
            'numFmtId="14"/></cellXfs>'
            "</styleSheet>",
        )
        for i, sheet in enumerate(sheets, 1):
            file.writestr(f"xl/worksheets/s{i}.xml", sheet_xml(sheet, merged))
    return out.getvalue()


ROWS: list[list[object]] = [
    ["name", "age", "height", "born", "member"],
    ["Ada", 36, 1.7, datetime.date(1990, 4, 6), True],
    ["Bo, jr", 41, 1.85, datetime.date(1985, 12, 1), False],
    ["Cy", None, 1.6, datetime.date(2001, 1, 31), True],
]


def test_a_workbook_is_read_as_its_table():
    """Half of all offices keep their tables in Excel."""
    read = read_table(workbook(ROWS), "people.xlsx")
    assert read.kind == "workbook"
    assert list(read.frame.columns) == ["name", "age", "height", "born", "member"]
    assert read.frame["name"].tolist() == ["Ada", "Bo, jr", "Cy"]
    assert read.frame["age"].tolist()[:2] == [36, 41]
    assert read.frame["age"].isna().tolist() == [False, False, True]
    assert read.frame["born"].astype(str).tolist() == [
        "1990-04-06",
        "1985-12-01",
        "2001-01-31",
    ]


def test_titles_above_the_table_and_other_sheets_are_said():
    """A title line would become the header, and a second sheet would be missed in
    silence.
    """
    titled = [["Members of the club"], *ROWS]
    read = read_table(workbook(titled, ROWS), "people.xlsx")
    assert list(read.frame.columns)[:2] == ["name", "age"]
    assert any("'S1'" in note and "2 sheets" in note for note in read.notes)
    again = read_table(workbook(titled, ROWS), "people.xlsx", options=read.options)
    assert again.frame.equals(read.frame)


def test_a_sheet_of_an_open_document_program_is_read(tmp_path):
    """The same table from LibreOffice would be refused."""
    office = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
    table = office.replace("office:1", "table:1")
    text = office.replace("office:1", "text:1")
    cell = (
        "<table:table-cell "
        'office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    )
    rows = [["sex", "city"], ["F", "A"], ["M", "B"]]
    lines = ["".join(cell.format(each) for each in row) for row in rows]
    cells = "".join(f"<table:table-row>{line}</table:table-row>" for line in lines)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        manifest = office.replace("office:1", "manifest:1")
        file.writestr("META-INF/manifest.xml", f'<m:manifest xmlns:m="{manifest}"/>')
        file.writestr(
            "content.xml",
            f'<office:document-content xmlns:office="{office}" xmlns:table="{table}" '
            f'xmlns:text="{text}">'
            "<office:body><office:spreadsheet><table:table "
            f'table:name="S">{cells}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    frame = read_table(out.getvalue(), "people.ods").frame
    assert frame.to_dict("list") == {"sex": ["F", "M"], "city": ["A", "B"]}


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_statistics_files_give_labels_and_missing(tmp_path, ending):
    """Codes such as 1 and 2 would be released where the file says what they mean."""
    import pyreadstat

    frame = pd.DataFrame(
        {"sex": [1.0, 2.0, None], "age": [20.0, 30.0, 40.0], "city": ["A", "B", "A"]}
    )
    path = tmp_path / f"people.{ending}"
    write = pyreadstat.write_sav if ending == "sav" else pyreadstat.write_dta
    write(frame, str(path), variable_value_labels={"sex": {1: "female", 2: "male"}})
    read = read_table(path.read_bytes(), path.name)
    assert read.frame["sex"].tolist()[:2] == ["female", "male"]
    assert read.frame["sex"].isna().sum() == 1
    assert read.frame["age"].tolist() == [20, 30, 40]
    assert any("labels" in note for note in read.notes)


@pytest.mark.parametrize(
    ("ids", "labels"),
    [
        ([1.0, 2.0], {1: "2"}),
        (["A", "B"], {"A": "B"}),
        ([1.0, 2.0], {1: "1.2.2020", 2: "01.02.2020"}),
        ([datetime.datetime(2020, 1, 1, 0, 0, 0, each) for each in (100, 200)], {}),
    ],
)
def test_a_label_that_is_the_text_of_another_value_names_nobody(tmp_path, ids, labels):
    """The value 1 with the label "2", and the value 2 without one, became one
    person.
    """
    import pyreadstat

    path = tmp_path / "people.sav"
    frame = pd.DataFrame({"who": ids, "age": [3.0, 4.0]})
    pyreadstat.write_sav(
        frame, str(path), variable_value_labels={"who": labels} if labels else None
    )
    assert "who" in read_table(path.read_bytes(), path.name).frame.attrs[MERGED_COLUMNS]


@pytest.mark.parametrize(
    "name", ["a.xlsx", "a.xls", "a.ods", "a.sav", "a.dta", "a.sas7bdat"]
)
@pytest.mark.parametrize(
    "data", [b"PK\x03\x04 broken", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" * 9, b"no table"]
)
def test_damaged_files_are_refused_in_plain_words(name, data):
    """A library's own error, which may quote a cell, would reach the page."""
    with pytest.raises(ReadError, match="damaged, encrypted or of another kind"):
        read_table(data, name)


def test_limits_hold_for_what_is_unpacked():
    """A small packed file could become a table of any size."""
    with pytest.raises(LimitError, match="rows"):
        read_table(workbook(ROWS), "a.xlsx", limits=Limits(rows=3))
    wide = workbook([["a", "b"], *[["x" * 5000, 1]] * 200])
    assert len(wide) < 100_000
    with pytest.raises(LimitError, match="MB"):
        read_table(wide, "a.xlsx", limits=Limits(bytes=100_000))
    with pytest.raises(ReadError, match="no rows"):
        read_table(workbook([]), "a.xlsx")


def test_a_workbook_under_another_name_is_named():
    """Somebody renames a workbook to .csv and sees rubbish."""
    with pytest.raises(ReadError, match="looks like Excel"):
        read_table(workbook(ROWS), "people.csv")
    assert read_table(
        workbook(ROWS), "people.XLSX", options=ReadOptions(header=False)
    ).frame.shape == (4, 5)


LIST: list[list[object]] = [["code", "label"], *([f"c{n}", f"l{n}"] for n in range(30))]
PEOPLE: list[list[object]] = [
    ["age", "sex", "city"],
    *([20 + n, "FM"[n % 2], "ABC"[n % 3]] for n in range(40)),
]


def test_the_visible_sheet_with_most_rows_of_a_table_is_read():
    """A hidden list, or a cover sheet, got a verdict that was meant for people."""
    cover: list[list[object]] = [["This workbook holds data."], ["See sheet 2"]]
    for sheets, hidden in (((LIST, PEOPLE), (1,)), ((cover, PEOPLE), ())):
        read = read_table(workbook(*sheets, hidden=hidden), "a.xlsx")
        assert list(read.frame) == ["age", "sex", "city"]
        assert read.options.sheet == "S2"
        assert any("'S2'" in note and "has 2 sheets" in note for note in read.notes)
        assert any("hidden sheets: S1" in note for note in read.notes) == bool(hidden)
        assert read.other_sheets == ()


def test_another_sheet_can_be_asked_for_and_is_named_where_it_may_be_meant():
    """A person could not read another sheet at all."""
    data = workbook(LIST, PEOPLE)
    read = read_table(data, "a.xlsx")
    assert (read.options.sheet, read.other_sheets) == ("S2", ("S1",))
    other = read_table(data, "a.xlsx", options=ReadOptions(sheet="S1"))
    assert list(other.frame) == ["code", "label"]
    with pytest.raises(ReadError, match=r"no sheet 'S9'; choose one of these: S1, S2"):
        read_table(data, "a.xlsx", options=ReadOptions(sheet="S9"))
    again = read_table(data, "a.xlsx", options=read.options)
    assert again.frame.equals(read.frame)


def test_merged_cells_are_filled():
    """36 of 40 regions were missing, and one person in ten unique by region."""
    rows: list[list[object]] = [
        ["region", "age"],
        *([f"R{n // 10}" if n % 10 == 0 else None, 20 + n] for n in range(40)),
    ]
    read = read_table(workbook(rows, merged="A2:A11 A12:A21 A22:A31 A32:A41"), "a.xlsx")
    assert read.frame["region"].tolist() == [f"R{n // 10}" for n in range(40)]
    assert any("4 ranges of merged cells" in note for note in read.notes)


def test_two_header_lines_are_joined():
    """Four of five columns were lost, and the second header was a person."""
    rows: list[list[object]] = [
        [None, "2020", None, "2021", None],
        ["sex", "age", "pay", "age", "pay"],
        *(["FM"[n % 2], 20 + n, 100 * n, 21 + n, 101 * n] for n in range(40)),
    ]
    read = read_table(workbook(rows, merged="B1:C1 D1:E1"), "a.xlsx")
    assert list(read.frame) == ["sex", "2020 age", "2020 pay", "2021 age", "2021 pay"]
    assert len(read.frame) == 40
    assert any("two header lines" in note for note in read.notes)


def test_two_header_lines_below_a_title():
    """The groups were lost, and the names were not told apart."""
    rows: list[list[object]] = [
        ["People", None, None, None],
        [None],
        ["region", "2020", None, "2021"],
        [None, "age", "pay", "age"],
        *([f"R{n % 4}", n, 100 * n, n + 1] for n in range(40)),
    ]
    merged = "A1:D1 A3:A4 B3:C3"
    read = read_table(workbook(rows, merged=merged), "a.xlsx")
    assert list(read.frame) == ["region", "2020 age", "2020 pay", "2021 age"]
    assert len(read.frame) == 40


def test_a_title_over_two_lines_and_all_columns():
    """It would be the name of each column, twice."""
    rows: list[list[object]] = [["People of 2020", None, None], [None], *PEOPLE]
    read = read_table(workbook(rows, merged="A1:C2"), "a.xlsx")
    assert list(read.frame) == ["age", "sex", "city"]
    assert len(read.frame) == 40


def test_a_merged_title_stays_above_the_table():
    """A title over all columns would become the name of each."""
    rows: list[list[object]] = [["People of 2020", None, None], *PEOPLE]
    read = read_table(workbook(rows, merged="A1:C1"), "a.xlsx")
    assert list(read.frame) == ["age", "sex", "city"]
    assert len(read.frame) == 40


def test_totals_and_sources_of_a_sheet_are_no_people():
    """A total and a source became people, and the column of ages was lost."""
    rows = [*PEOPLE, ["Total", None, None], [None], ["Source: invented", None, None]]
    read = read_table(workbook(rows), "a.xlsx")
    assert read.frame["age"].tolist() == [20 + n for n in range(40)]
    assert any("2 lines were left out: " in note for note in read.notes)
