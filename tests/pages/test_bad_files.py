"""Bad files through the Data page: a clear sentence, no traceback, nothing lost."""

from __future__ import annotations

import io
import pickle
import zipfile

import pandas as pd
import pytest

from dpcore.io.checks import Limits
from tests.pages.tab import CSV, Tab
from workbench.anonymize.state import AnonymizeState
from workbench.server.workers import reading

HOSTILE = (
    "![x](http://127.0.0.1:9/beacon.png)",
    "=cmd|' /C calc'!A0",
    "<script>alert(1)</script>",
)

PERSON = "![x](http://127.0.0.1:9/person.png) person_id"


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("people.csv", CSV)
    return file.getvalue()


REFUSED = {
    "empty": (b"", "empty"),
    "blank": (b"\n\n  \n", "file is empty"),
    "header only": (b"age,sex\n", "no rows"),
    "a zip": (zipped(), "looks like"),
    "a pickle": (pickle.dumps({"age": [1, 2]}), "looks like"),
    "an image": (b"\x89PNG\r\n\x1a\n" + bytes(100), "looks like"),
    "a workbook": (b"PK\x03\x04" + bytes(100), "looks like"),
    "bytes that are no text": (b"age,sex\n" + bytes(range(256)), ""),
    "ragged rows": (
        b"age,sex\n30,F\n31,M,extra\n32\n",
        "fewer fields than the header, which has 2",
    ),
    "duplicate names": (b"age,age\n30,31\n", "age"),
    "an open quotation mark": (b'age,sex\n30,"F\n31,M\n', "quot"),
    "a cut Parquet file": (b"PAR1" + bytes(50), ""),
    "every value missing": (b"age,sex\n,\n,\n", "The table has no rows"),
}


@pytest.mark.parametrize(("content", "said"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_is_no_table_is_refused(app, content, said):
    """A slip with the file would end in a traceback."""
    app.upload(content)
    assert said in app.errors.replace("\\", "")
    assert "What to do" in app.errors
    assert app.session.draft is None
    app.upload(CSV)
    assert app.errors == ""
    assert app.session.draft is not None


def test_an_open_data_set_outlasts_a_bad_file(opened):
    """A second, bad, upload would close the data set that is open."""
    opened.press("Open another table").upload(b"")
    assert "empty" in opened.errors
    assert opened.curator.name == "people.csv"
    opened.press("Back to people")
    assert opened.errors == ""
    assert opened.at.title[0].value == "What you can do now"


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(bytes=1000), "MB"),
        (Limits(rows=100), " 100 rows"),
        (Limits(columns=2), " 2 columns"),
        (Limits(cell_length=4), "more than 4 characters"),
    ],
)
def test_a_table_over_the_limits_is_refused(app, monkeypatch, limits, said):
    """A huge file would take the server down."""
    read = reading.read
    monkeypatch.setattr(
        reading, "read", lambda *given, **named: read(*given, limits=limits, **named)
    )
    app.upload(b"a,b,c,name\n" + b"1,2,3,texts\n" * 200)
    assert said in app.errors.replace("\\", "")
    assert app.session.draft is None


def test_too_many_columns(app):
    """A table of 100,001 columns would freeze the page."""
    app.upload(",".join(f"c{i}" for i in range(100_001)).encode() + b"\n1")
    assert " 1,000 columns" in app.errors.replace("\\", "")


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16", "utf-8-sig", "latin-1"])
def test_other_encodings_are_read(app, encoding):
    """Letters that are no ASCII would be refused or garbled without a word."""
    word = "Zürich" if encoding == "latin-1" else "北京市"
    rows = "\n".join(f"{20 + i % 50},{word}" for i in range(100))
    app.upload(f"age,city\n{rows}".encode(encoding))
    assert app.errors == ""
    assert app.session.draft.frame["city"].iloc[0] == word


def test_empty_names_are_made_up_and_said(app):
    """A column without a name could not be declared."""
    app.upload(b"age,\n" + b"30,x\n31,y\n" * 20)
    assert list(app.session.draft.frame.columns) == ["age", "column_2"]
    assert "column_2" in app.text.replace("\\", "")


def hostile(app: Tab) -> Tab:
    rows = "\n".join(
        # as many people as outweigh the noise of a whole table
        f'{i % 9},"{HOSTILE[i % 3]}",{i % 5},p{i % 1_500}'
        for i in range(3_000)
    )
    header = ",".join(f'"{name}"' for name in (*HOSTILE, PERSON))
    app.upload(f"{header}\n{rows}".encode(), "![x](http://127.0.0.1:9/name).csv")
    assert_no_markup(app)
    return app.open_draft()


def test_hostile_names_are_shown_to_the_letter(app):
    """A column name would load a picture from elsewhere in the viewer's browser, or be
    read as a formula.
    """
    hostile(app)
    assert app.errors == ""
    assert app.curator.schema.unit.id_column == PERSON
    for kind in ("One column", "A few columns", "A whole table"):
        app.go("synthesize")
        if app.session.runs.shown_request_id:
            app.press("Release something else")
        app.press(kind)
        if kind == "A few columns":
            app.set("multiselect", "Columns", list(HOSTILE[:2]))
        if kind == "A whole table":
            app.set("radio", "Relations", "joint")
        assert_no_markup(app)
        app.press("Release for")
        assert_no_markup(app)
        app.press("Pay and release").settle()
        assert_no_markup(app)
    app.go("evaluate")
    for tab in ("Columns", "Pairs of columns", "Questions"):
        app.set("button_group", "Show", tab)
        assert_no_markup(app)
    app.go("ledger")
    assert_no_markup(app)


def test_a_hostile_name_labels_the_box_of_its_weight(app):
    """A column that matters more would load a picture from elsewhere, as the label of
    its weight.
    """
    hostile(app).go("anonymize")
    app.session.own(AnonymizeState).roles |= dict.fromkeys(HOSTILE, "quasi-identifier")
    app.at.run()
    app.set("multiselect", "Weights of columns that matter more", list(HOSTILE))
    assert sum(each.value == 3.0 for each in app.at.number_input) == len(HOSTILE)
    assert app.errors == ""
    assert_no_markup(app)


def assert_no_markup(app: Tab) -> None:
    kinds = (
        "button",
        "metric",
        "expander",
        "number_input",
        "slider",
        "checkbox",
        "radio",
    )
    labels = [each.label for kind in kinds for each in app.at.get(kind)]
    options = [
        option
        for kind in ("radio", "button_group")
        for each in app.at.get(kind)
        for option in each.options
    ]
    for text in (app.text, app.errors, *labels, *options):
        assert "![x](" not in text
        assert "<script>" not in text


def test_one_row(app):
    """The smallest table would divide by zero somewhere."""
    app.upload(b"age,sex\n30,F\n")
    assert app.errors == ""
    app.open_draft().go("synthesize").release().go("evaluate").go("ledger")
    assert app.errors == ""


def test_a_column_without_any_value(app):
    """An empty column would keep the rest of the table out."""
    app.upload(b"age,nothing\n" + b"30,\n31,\n" * 20)
    assert app.errors == ""
    app.open_draft()
    assert app.curator.schema.domain.names == ("age",)


def test_fifty_thousand_categories(app):
    """A column of names would fill the page with 50,000 categories."""
    rows = "\n".join(f"{i % 90},name {i}" for i in range(50_000))
    app.upload(f"age,name\n{rows}".encode())
    assert app.errors == ""
    assert app.session.draft.edited_grid["kind"].tolist() == ["integer", "leave out"]
    app.open_draft()
    assert app.curator.schema.domain.names == ("age",)


def test_a_category_of_many_words_by_hand(app):
    """Taking in a left-out column without naming its categories would break the
    page.
    """
    rows = "\n".join(f"{i % 90},name {i}" for i in range(500))
    app.upload(f"age,name\n{rows}".encode())
    draft = app.session.draft
    key = f"grid-{draft.dataset}-{draft.version}"
    app.at.session_state[key] = {
        "edited_rows": {
            1: {"kind": "categorical", "other": True, "categories": "name 1 | name 2"}
        },
        "added_rows": [],
        "deleted_rows": [],
    }
    app.at.run()
    app.open_draft().go("synthesize").set("selectbox", "Column", "name").release()
    assert app.errors == ""


def test_parquet_with_dates_and_booleans(app):
    """Kinds that only Parquet knows would break the grid."""
    frame = pd.DataFrame(
        {
            "day": pd.date_range("2020-01-01", periods=300),
            "ill": [True, False, True] * 100,
            "cost": [None if day % 3 == 1 else 1.5 + day / 4 for day in range(300)],
        },
    )
    file = io.BytesIO()
    frame.to_parquet(file)
    app.open(file.getvalue(), "visits.parquet")
    assert app.errors == ""
    assert [column.kind for column in app.curator.schema.columns] == [
        "date",
        "boolean",
        "real",
    ]
    app.go("synthesize").press("A whole table").release().go("evaluate")
    assert app.errors == ""
