"""Nobody gets lost: data sets and releases are there after F5, in another tab, without
the file.
"""

from __future__ import annotations

import json

import dpcore as dp
from tests.contracts.ledger_kinds import account
from tests.pages.tab import CSV, Tab
from workbench.store import start
from workbench.store.ledger.sql_ledger import SqlLedger
from workbench.ui.address import SHORT_ID_LENGTH


def release_of(tab: Tab) -> str:
    """The id of the only release."""
    return next(
        line.request_id
        for line in tab.session.data_set.lines()
        if line.state == "committed"
    )


def test_d6_a_new_tab_lists_data_sets_and_shows_a_release_without_the_file(new_tab):
    """After F5 what was paid for could be seen only by whoever uploads the private
    table again.
    """
    new_tab().open().go("synthesize").release()
    later = new_tab()
    assert "My data sets" in later.text
    facts = next(each.value for each in later.at.markdown if "**people" in each.value)
    for fact in (
        "each row is one person",
        "spent 16.67",
        "left 83.33",
        "1 release",
        "last used",
    ):
        assert fact.replace(".", "\\.") in facts
    later.press("Continue with people")
    assert later.session.curator is None
    assert "rows not loaded" in later.text
    later.press("Open Histogram of age")
    assert later.errors == ""
    assert "taken by itself, is within" in later.text
    names = [each.label for each in later.at.get("download_button")]
    assert {"Counts with their intervals (CSV)", "Drawn rows (CSV)", "Notebook"} <= set(
        names
    )
    for page in ("ledger", "codebook"):
        assert later.go(page).errors == ""
        assert "Open a data set first" not in later.text


def test_the_list_reads_those_data_sets_that_it_shows(new_tab, monkeypatch):
    """Each first page read the ledger of all that a person ever opened: half an hour of
    40 people's work made it take 40 seconds, and everybody's pages with it.
    """
    new_tab().open()
    unit = dp.PrivacyUnit(max_rows=1).to_account()
    for number in range(12):
        start.ledger().open(account(dataset=f"{number:064x}", unit=unit))
    read = set()
    standing = SqlLedger.standing
    monkeypatch.setattr(
        SqlLedger, "standing", lambda self, name: read.add(name) or standing(self, name)
    )
    tab = new_tab()
    assert (
        len(read)
        == sum(each.label.startswith("Continue") for each in tab.at.button)
        == 5
    )
    tab.press("8 more")
    assert tab.errors == ""
    assert tab.button("Continue with people")
    assert len(read) == 13
    assert not any(each.label.endswith(" more") for each in tab.at.button)


def test_d6_only_what_needs_rows_asks_for_the_file_and_recognizes_it(new_tab):
    """People would not know which file is meant, and would describe it all over
    again.
    """
    first = new_tab().open()
    later = new_tab().press("Continue with people").go("audit")
    assert "these 3 columns: age, sex and city" in later.text
    assert "Its file was called **people" in later.text
    later.at.file_uploader[0].upload(
        "other.csv", b"age,sex\n30,F\n40,M", "text/csv"
    ).run()
    assert "its columns differ, for example city" in later.errors
    later.at.file_uploader[0].upload("other.csv", CSV + b"\n33,F,A", "text/csv").run()
    assert "not the same rows" in later.errors
    later.at.file_uploader[0].upload("renamed.csv", CSV, "text/csv").run()
    assert later.errors == ""
    assert "unique" in later.text
    assert later.curator.schema == first.curator.schema
    assert later.curator.account == first.curator.account


def test_a_sample_is_brought_back_by_a_button(new_tab):
    """The rows of a sample would have to be looked for in a file that nobody has."""
    new_tab().press("Open this sample: Census").press("Open the data set")
    later = new_tab().press("Continue with Census").go("synthesize")
    later.press("Load the rows of Census again")
    assert later.errors == ""
    assert "What you would get" in later.text


def test_an_address_leads_to_a_data_set_and_a_release(new_tab):
    """A release could not be bookmarked, and F5 would lead back to the first page."""
    first = new_tab().open().go("synthesize").release()
    request = release_of(first)
    dataset = first.session.current_dataset
    address = {**first.at.query_params}
    assert set(address) == {"data", "release"}
    assert address["release"] == request[:SHORT_ID_LENGTH]
    # links of earlier versions held the beginning of the fingerprint
    for data in (address["data"], dataset[:SHORT_ID_LENGTH]):
        later = Tab()
        later.at.query_params["data"] = data
        later.at.query_params["release"] = address["release"]
        later.at.run()
        assert later.session.current_dataset == dataset
        assert later.session.runs.shown_request_id == request
        assert later.at.query_params["data"] == address["data"]
    for wrong in ("0" * SHORT_ID_LENGTH, dataset[:4], "%"):
        stranger = Tab()
        stranger.at.query_params["data"] = wrong
        stranger.at.run()
        assert stranger.errors == ""
        assert stranger.session.data_set is None


def test_an_address_holds_no_digest_of_the_rows(new_tab):
    """The address kept the beginning of the table's fingerprint, in every history of
    browsers and log of proxies.
    """
    tab = new_tab().open()
    address = {**tab.at.query_params}
    kept = tab.session.data_set.lines()[0]
    assert address == {"data": kept.content["address"]}
    everything = [
        tab.session.current_dataset,
        kept.digest,
        kept.standing,
        kept.previous,
    ]
    everything += [
        str(value) for key, value in kept.content.items() if key != "address"
    ]
    assert not any(address["data"] in text for text in everything)


def test_a_late_click_is_for_the_table_that_it_was_made_on(new_tab):
    """A click that brings the address of the table before would open its dialog, and
    charge it.
    """
    tab = new_tab().open()
    first = tab.session.current_dataset
    of_first = tab.at.query_params["data"]
    other = "pay,sex\n" + "\n".join(f"{1000 + 7 * i},{'FM'[i % 2]}" for i in range(150))
    tab.go("upload").press("Open another table").upload(
        other.encode(), "next.csv"
    ).open_draft()
    of_second = tab.at.query_params["data"]
    second = tab.go("synthesize").session.current_dataset
    assert second != first
    assert of_second != of_first
    for button in ("Release for", "Pay and release"):
        # Streamlit sends the one that its page knows
        tab.at.query_params["data"] = of_first
        tab.press(button)
        assert tab.session.current_dataset == second
    tab.settle()
    assert tab.session.current_dataset == second
    states = {
        each: [line.state for line in tab.session.data_sets[each].lines()]
        for each in (first, second)
    }
    assert "reserved" not in states[first]
    assert states[second].count("reserved") == 1
    assert tab.at.query_params["data"] == of_second


def test_d7_a_codebook_is_saved_and_loaded(app, new_tab):
    """What was typed into the grid for one delivery would be typed again for the
    next.
    """
    app.upload(CSV)
    key = f"grid-{app.session.draft.dataset}-{app.session.draft.version}"
    edits = {"edited_rows": {0: {"high": "99"}}, "added_rows": [], "deleted_rows": []}
    app.at.session_state[key] = edits
    app.at.run()
    app.open_draft()
    codebook = app.curator.schema.to_json()
    assert json.loads(codebook)["columns"][0]["high"] == 99
    other = new_tab().upload(CSV.replace(b"\n20,", b"\n21,"), "next.csv")
    field = next(each for each in other.at.file_uploader if "codebook" in each.label)
    field.upload("codebook.json", codebook.encode(), "application/json").run()
    assert other.errors == ""
    assert other.session.draft.edited_grid["high"].tolist()[0] == "99"
    field = next(each for each in other.at.file_uploader if "codebook" in each.label)
    field.upload("codebook.json", b"[]", "application/json").run()
    assert "another kind of file" in other.errors
    assert other.session.draft.edited_grid["high"].tolist()[0] == "99"


def test_d14_each_data_set_has_a_share_of_its_own(app):
    """After one budget is used up, the first thing offered for the next table was a
    useless release.
    """
    app.open().go("synthesize")
    app.set("number_input", "epsilon", 0.3)
    assert [each.value for each in app.at.select_slider] == [0.3], (
        "slider and box disagree"
    )
    assert app.button("Release for")
    app.go("upload").press("Open another table").press(
        "Open this sample: Census"
    ).press("Open the data set")
    app.go("synthesize")
    assert app.button("Release for a sixth of the budget")


def test_d20_columns_are_described_one_at_a_time(app):
    """One click laundered every bound, and whoever uses no mouse had to walk a grid of
    twelve columns.
    """
    app.upload(CSV).set("segmented_control", "Describe the columns", "one")
    assert "Why suggested" in app.text
    app.set("text_input", "High", "99")
    app.set("text_input", "Known from", "a questionnaire")
    assert app.session.draft.edited_grid["known from"].tolist() == [
        "a questionnaire",
        "",
        "",
    ]
    app.press("Next column")
    assert app.errors == ""
    assert (
        next(each.value for each in app.at.selectbox if each.label == "Column") == "sex"
    )
    assert app.session.draft.edited_grid["high"].tolist() == ["99", "", ""]
    app.press("Yes, this is plainly public").press("Undo")
    assert app.session.draft.edited_grid["known from"].tolist() == [
        "a questionnaire",
        "",
        "",
    ]
    app.press("Open the data set")
    assert set(app.curator.schema.from_data) == {"sex", "city"}
    assert app.curator.schema.column("age").high == 99


def test_d19_a_table_is_audited_before_it_has_a_budget(app):
    """An auditor had to choose unit, bounds and epsilon before asking whether a table
    is anonymous.
    """
    app.upload(CSV).go("audit")
    assert app.errors == ""
    assert "unique" in app.text
    assert "people" in app.text
    assert app.session.current_dataset is None
