"""The Data page reads files of other countries as they are meant, asks what it cannot
know, obeys.
"""

from __future__ import annotations

import pytest
from streamlit.runtime.scriptrunner import RerunException
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

from dpcore.accounting.loss import UNIT
from tests.io.test_workbooks import LIST, PEOPLE, workbook
from tests.pages.tab import CSV
from tests.workbench.store.test_opened_files import KEY, MONTHS, load
from workbench import session
from workbench.server.workers import reading
from workbench.store import settings

GERMAN = (
    "Kunde;Umsatz;Geburt\n"
    + "".join(
        f"{'ABC'[i % 3]};{i + 1}.461,{i % 10}1;{i % 28 + 1:02d}.04.2002\n"
        for i in range(60)
    )
).encode("cp1252")
SLASHES = (
    "born,x\n" + "".join(f"0{i % 9 + 1}/0{i % 8 + 1}/2002,{i % 5}\n" for i in range(60))
).encode()
HEADERLESS = ("39, State-gov, 7\n50, Private, 8\n38, State-gov, 9\n" * 20).encode()


def read_again(app, kind: str, label: str, value: object) -> None:
    """Fill in a field of the form, and send it."""
    next(each for each in app.at.get(kind) if each.label.startswith(label)).set_value(
        value
    )
    app.press("Read it again")


def kinds(app) -> dict[str, str]:
    return dict(
        zip(
            app.session.draft.grid["column"],
            app.session.draft.grid["kind"],
            strict=True,
        )
    )


def test_decimal_commas_and_dates_with_points_are_shown_as_understood(app):
    """They would be left out, or accepted without a look at what was understood."""
    app.upload(GERMAN)
    assert not app.at.exception
    assert kinds(app) == {"Kunde": "categorical", "Umsatz": "real", "Geburt": "date"}
    shown = next(each.value for each in app.at.dataframe if "written as" in each.value)
    assert list(shown.iloc[:, 1]) == ["1.234,5", "dd.mm.yyyy"]
    assert "1.461,01 → 1461.01" in shown.iloc[0, 2]


def test_the_order_of_day_and_month_is_asked(app):
    """06/04/2002 would silently be another day."""
    app.upload(SLASHES)
    assert any("two ways" in each.value for each in app.at.warning)
    app.press("06/04/2002 = 2002-06-04")
    assert not app.at.exception
    assert kinds(app)["born"] == "date"
    assert app.session.draft.frame["born"].iloc[0] == "2002-01-01"
    assert app.session.draft.frame["born"].iloc[1] == "2002-02-02"
    assert not any("two ways" in each.value for each in app.at.warning)


def test_a_file_can_be_read_again_with_names_for_its_columns(app):
    """SEEDS E7: the first person of a file without a header would be its names, and
    nobody could say so.

    The advice to choose another encoding or header has its control here.
    """
    app.upload(HEADERLESS)
    assert len(app.session.draft.frame) == 60
    assert app.session.draft.read_result.options.given_options == {}
    read_again(
        app, "text_input", "Column names separated by commas", "age, workclass, n"
    )
    assert not app.at.exception
    assert list(app.session.draft.frame) == ["age", "workclass", "n"]
    assert set(app.session.draft.read_result.options.given_options) == {"names"}
    read_again(app, "selectbox", "Column names", "one")
    assert list(app.session.draft.frame) == ["39", "State-gov", "7"]


def test_options_that_do_not_fit_leave_the_draft(app):
    """A wrong separator would lose the table that was read."""
    app.upload(HEADERLESS)
    read_again(app, "number_input", "Lines above", 90)
    assert not app.at.exception
    assert app.at.error
    assert len(app.session.draft.frame) == 60


def test_the_bytes_go_with_the_draft(app):
    """The file would stay in memory after it was opened."""
    app.upload(GERMAN)
    app.open_draft()
    assert app.session.draft is None


def test_a_reading_that_was_stopped_is_said(app, monkeypatch):
    """Whoever pressed Stop, or went elsewhere, while a file was read would find no word
    of it.
    """

    def stopped(*given, **named):
        raise RerunException(RerunData())

    with monkeypatch.context() as patched:
        patched.setattr(reading, "read", stopped)
        app.upload(CSV)
    assert "This was stopped before it was finished" in app.errors
    assert app.session.draft is None
    app.upload(CSV)
    assert app.errors == ""
    assert app.session.draft is not None


def expanders(app) -> list[str]:
    return [each.label for each in app.at.expander]


def test_what_was_read_is_said_before_a_verdict(app):
    """A hidden list got a verdict, and the word "sheet" stood nowhere on the page."""
    app.upload(workbook(LIST, PEOPLE, hidden=(1,)), "people.xlsx")
    assert not app.at.exception
    assert any("sheet S2" in label for label in expanders(app))
    app.press("Audit: is it anonymous?")
    assert not app.at.exception
    assert any("sheet S2" in label for label in expanders(app))
    assert any("Hidden sheets" in each.value for each in app.at.caption)


def test_another_sheet_is_chosen_on_the_page(app):
    """No control chose another sheet."""
    smaller = [["pay", "sex", "town"], *PEOPLE[1:31]]
    app.upload(workbook(smaller, PEOPLE), "people.xlsx")
    assert list(app.session.draft.frame) == ["age", "sex", "city"]
    read_again(app, "selectbox", "Sheet", "S1")
    assert not app.at.exception
    assert list(app.session.draft.frame) == ["pay", "sex", "town"]
    assert set(app.session.draft.read_result.options.given_options) == {"sheet"}


POLISH = "miasto,plec\n" + "Łódź,K\nKraków,M\nGdańsk,K\n" * 20


def test_the_same_bytes_read_in_another_way_find_their_account(app):
    """One file read with two encodings had two accounts, each with its whole budget."""
    data = POLISH.encode("cp1250")
    app.open(data)
    first = app.session.curator.account.dataset
    app.go("upload").press("Open another table").upload(data)
    assert not app.at.exception
    assert app.session.draft is None
    assert app.session.curator.account.dataset == first


def test_a_second_reading_of_a_file_gets_no_budget(app):
    """The draft of another reading, made before the first one was opened, was opened
    too.
    """
    data = POLISH.encode("cp1250")
    app.upload(data)
    read_again(app, "selectbox", "Encoding", "cp1252")
    assert "£ódŸ" in set(app.session.draft.frame["miasto"])
    app.open_draft()
    first = app.session.curator.account.dataset
    app.go("upload").press("Open another table").upload(data)
    assert app.session.curator.account.dataset == first
    assert app.session.draft is None


@pytest.mark.parametrize("commit", ["b28e24a", "fa2511dd"])
def test_a_file_of_an_earlier_version_opens_its_account(
    new_tab, own_ledger, monkeypatch, commit: str
) -> None:
    """It was read in another way, as another table with a whole budget."""
    load(own_ledger, commit)
    monkeypatch.setenv("WORKBENCH_KEY", KEY.hex())
    settings.read_settings.cache_clear()
    app = new_tab()
    app.upload(MONTHS, "months.csv")
    assert not app.at.exception
    assert app.session.draft is None
    balance = app.session.data_set.balance()
    assert balance.remaining_units == 2 * UNIT
    # a second reading is refused, and the first one found by the bytes alone
    app.go("upload").press("Open another table").upload(MONTHS, "copy.csv")
    assert app.session.data_set.name == "months.csv"


@pytest.mark.parametrize("commit", ["8902e83"])
def test_a_ledger_of_the_first_version_is_asked_about(
    new_tab, own_ledger, monkeypatch, commit: str
) -> None:
    """The same table got a new, whole budget, and no page said so."""
    load(own_ledger, commit)
    monkeypatch.setenv("WORKBENCH_KEY", KEY.hex())
    settings.read_settings.cache_clear()
    app = new_tab()
    app.upload(MONTHS, "months.csv")
    assert not app.at.exception
    assert any(
        "which an earlier version opened" in each.value for each in app.at.warning
    )
    assert app.button("Open the data set").disabled


def test_a_file_is_read_anew_on_the_audit_page(app):
    """A wrong encoding was seen beside the verdict, and changed on another page."""
    app.upload(POLISH.encode("cp1250"))
    app.press("Audit: is it anonymous?")
    assert not app.at.exception
    read_again(app, "selectbox", "Encoding", "cp1252")
    assert not app.at.exception
    assert app.at.title[0].value == "Is this anonymous?"
    assert "£ódŸ" in set(app.session.draft.frame["miasto"])
    assert app.session.draft.read_result.options.given_options == {"encoding": "cp1252"}
    # what was seen and is left open again is seen again
    read_again(app, "selectbox", "Encoding", "")
    assert "Łódź" in set(app.session.draft.frame["miasto"])
    assert app.session.draft.read_result.options.given_options == {}


RAGGED = b"Made by us;\nfor you; and you;\na;b\n" + b"1;2\n" * 30


def test_a_file_that_was_refused_is_read_with_other_options(app):
    """The chooser stood behind the draft, which a refused file does not have."""
    app.at.file_uploader[0].upload("ragged.csv", RAGGED, "text/csv").run()
    assert app.session.draft is None
    assert app.errors
    assert app.session.table_sizes() == [len(RAGGED)]
    read_again(app, "number_input", "Lines above", 7)
    assert app.errors or app.session.draft is not None


NOISE = b"\xe2\xeb\x8a\xc2\xfc\xe7\xcd\xfa\xdb\xb7\xa3\xc8,1\n"


def test_a_refused_file_keeps_its_chooser_and_what_was_typed(app):
    """Whoever tried one encoding had to choose the file again for the next one."""
    data = b"stadt,x\n" + NOISE * 30
    app.upload(data)
    assert app.session.draft is None
    assert "encoding" in app.errors
    read_again(app, "selectbox", "Encoding", "utf-8")
    assert "encoding" in app.errors
    chosen = next(box for box in app.at.selectbox if box.label == "Encoding")
    assert chosen.value == "utf-8"
    read_again(app, "selectbox", "Encoding", "utf-8-damaged")
    assert app.errors == ""
    assert app.session.draft.read_result.options.given_options == {
        "encoding": "utf-8-damaged"
    }
    assert session.UnreadFile not in app.session.slots


def test_the_bytes_of_a_refused_file_do_not_stay(app):
    """They would be in memory while another table is worked on."""
    app.upload(b"age,sex\n30,F\n31,M,extra\n32\n")
    assert session.UnreadFile in app.session.slots
    app.upload(CSV)
    assert session.UnreadFile not in app.session.slots
    # no option reads a picture
    app.press("Open another table").upload(b"\x89PNG\r\n\x1a\n" + bytes(100))
    assert "looks like" in app.errors
    assert session.UnreadFile not in app.session.slots
