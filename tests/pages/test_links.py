"""The Links page: a look at what will be seen, a link, and the list of links."""

from __future__ import annotations

import json

import pytest

import dpcore as dp
from workbench import session
from workbench.store.links import shares
from workbench.store.links.surveys import links_work
from workbench.store.people import roles
from workbench.store.settings import Settings
from workbench.ui import link_addresses


@pytest.fixture
def answering():
    """The server that answers links is there."""
    links_work.set()
    yield
    links_work.clear()


def test_without_a_data_set_or_a_release(app, opened):
    """A newcomer would meet an empty form, or a button that makes nothing."""
    app.go("links")
    assert "Nothing was released" in app.text
    assert not any(each.label == "Make the link" for each in app.at.button)


def test_links_need_the_server(opened):
    """`streamlit run app.py` would make links that nobody answers."""
    links_work.clear()
    opened.go("synthesize").release().press("Show it to somebody").go("links")
    assert "Links do not work" in opened.text
    assert opened.button("Make the link").disabled


@pytest.mark.parametrize(
    ("address", "here"),
    [("http://127.0.0.1:8501", True), ("https://bench.example.org/~/+", False)],
)
def test_a_link_that_nobody_else_can_open_says_so(
    opened, answering, monkeypatch, address, here
):
    """A green box would hand out an address that leads to the reader's own computer."""
    monkeypatch.setattr(
        link_addresses, "read_settings", lambda: Settings(address=address)
    )
    opened.go("synthesize").release().press("Show it to somebody").go("links")
    opened.set("text_input", "Title", "Who lives here?").press("Make the link")
    assert opened.at.code[0].value.startswith(f"{address}/share/")
    warned, ready = (
        [each.value for each in opened.at.get(kind)] for kind in ("warning", "success")
    )
    assert any("Copy it now" in each for each in (warned if here else ready))
    assert (
        any(
            "work only on this computer" in each and "docs/hosting.md" in each
            for each in warned
        )
        is here
    )
    assert any("Copy it now" in each for each in ready) is not here


def test_a_release_too_large_for_a_link_says_so_before_the_click(
    opened, answering, monkeypatch
):
    """Somebody would write a note and choose charts, and only then be refused."""
    monkeypatch.setattr(shares, "MAX_TEXT_LENGTH", 1_000)
    opened.go("synthesize").release().press("Show it to somebody").go("links")
    assert "but a page behind a link can hold at most" in opened.errors
    assert "Download the release as one HTML file" in opened.errors
    assert opened.button("Make the link").disabled


def test_from_a_shown_release_to_a_link(opened, answering):
    """Somebody shares another release than the one they look at, or cannot take a link
    back.
    """
    opened.go("synthesize").release()
    downloads = [each.label for each in opened.at.get("download_button")]
    assert "Download as one HTML file" in downloads
    opened.press("Show it to somebody").go("links")
    assert opened.errors == ""
    assert opened.at.text_input[0].value == ""
    assert opened.at.text_input[0].proto.max_chars == 80
    assert opened.button("Make the link").disabled, "a page without a title of its own"
    assert "Give the page a title first" in opened.text
    seen = opened.framed
    assert "What is promised" in seen
    assert "How many people are" in seen
    opened.set("text_input", "Title", "Ages <b>").set("text_area", "Note", "hello")
    seen = opened.framed
    assert "Ages &lt;b&gt;" in seen
    assert "hello" in seen
    opened.press("Make the link")
    token = opened.at.code[0].value.rpartition("/share/")[2]
    assert len(token) == 43
    assert "never opened" in opened.text
    shares = session.shares()
    share = shares.open(token, None)
    assert share is not None
    shown = shares.page_of(share)
    assert (shown.title, shown.note) == ("Ages <b>", "hello")
    assert (
        json.loads(shown.text)["request_id"]
        == opened.session.open_tables[opened.session.current_dataset]
        .curator.lines()[-1]
        .request_id
    )
    opened.press("Make again")
    again = opened.at.code[0].value.rpartition("/share/")[2]
    assert shares.open(token, None) is None
    assert shares.open(again, None) == share
    opened.press("Revoke")
    assert shares.open(again, None) is None
    assert "revoked" in opened.text
    opened.set("text_input", "Title", " ")
    assert "Give the page a title first" in opened.text
    assert opened.button("Make the link").disabled


def test_charts_and_an_earlier_release(opened, answering):
    """The owner picks what is first and what is compared, and the link shows something
    else.
    """
    curator = opened.session.open_tables[opened.session.current_dataset].curator
    first = curator.run(dp.Histogram("age"), dp.PureDP(epsilon="1/4")).request_id
    opened.go("synthesize").release().press("Show it to somebody").go("links")
    assert opened.errors == ""
    assert "preview" not in opened.at.multiselect(key="links-contents-5").value
    others = next(
        each for each in opened.at.selectbox if each.label.startswith("Compare")
    )
    others.select_index(0).run()
    assert opened.errors == ""
    assert "now and earlier" in opened.framed
    opened.set("text_input", "Title", "Who lives here?")
    opened.set("multiselect", "Charts", [])
    assert "each count is within" not in opened.framed
    opened.press("Make the link")
    token = opened.at.code[0].value.rpartition("/share/")[2]
    shares = session.shares()
    release, earlier, pictures = shares.page_of(
        shares.open(token, None) or ""
    ).releases()
    assert earlier is not None
    last = curator.lines()[-1].request_id
    assert {earlier.request_id, release.request_id} == {first, last}
    assert pictures == ()


def test_who_may_open_it(opened, answering, monkeypatch):
    """Where people sign in, a link for some would be one for anybody."""
    monkeypatch.setattr("workbench.records.link_form.sign_in_needed", lambda: True)
    opened.go("synthesize").release().press("Show it to somebody").go("links")
    opened.set("radio", "Who may open it", "listed")
    assert opened.button("Make the link").disabled
    opened.set("text_area", "Addresses", "ada@example.org")
    opened.set("text_input", "Title", "Who lives here?")
    opened.press("Make the link")
    token = opened.at.code[0].value.rpartition("/share/")[2]
    shares = session.shares()
    assert shares.open(token, None) is None
    assert shares.open(token, "bob@example.org") is None
    assert shares.open(token, "ada@example.org") is not None
    assert roles.sign_in_needed() is False


def test_an_interactive_page_is_off_until_its_owner_turns_it_on(opened, answering):
    """Drawn rows would be given away by somebody who did not mean to, or could not be
    given at all.
    """
    opened.go("synthesize").release().press("Show it to somebody").go("links")
    assert not opened.at.toggle  # a release of one column has nothing to filter
    opened.go("synthesize").press("Release something else").press(
        "A whole table"
    ).release()
    labels = [each.label for each in opened.at.get("download_button")]
    assert "Interactive page (an HTML file that cannot be revoked)" in labels
    opened.press("Show it to somebody").go("links")
    shares = session.shares()
    for turned_on in (False, True):
        assert opened.at.toggle[0].value is False
        opened.set("text_input", "Title", "Who lives here?")
        if turned_on:
            opened.set("toggle", "Also an interactive page", True)
        seen = opened.framed
        assert ("explore.html" in seen) == turned_on
        opened.press("Make the link")
        token = opened.at.code[0].value.rpartition("/share/")[2]
        shown = shares.page_of(shares.open(token, None) or "")
        assert ("explore" in shown.contents) == turned_on


def test_an_anonymized_table_is_a_second_choice(opened, answering):
    """A table without epsilon would be shared before anybody read what it does not
    promise.
    """
    opened.go("anonymize").press("Make the anonymized table")
    assert "Download as one HTML file" in [
        each.label for each in opened.at.get("download_button")
    ]
    opened.press("Show it to somebody").go("links")
    assert "What this does not promise" in opened.text
    assert not opened.at.toggle  # no interactive page of rows without epsilon
    assert opened.button("Make the link").disabled
    opened.at.checkbox(key="links-understood").check().run()
    opened.set("text_input", "Title", "Who lives here?")
    opened.press("Make the link")
    token = opened.at.code[0].value.rpartition("/share/")[2]
    shares = session.shares()
    found = shares.page_of(shares.open(token, None) or "").syntactic()
    assert found is not None
    assert found[2]


def test_a_release_file_is_opened_without_a_database(new_tab, monkeypatch, tmp_path):
    """SEEDS E5: the second company has the file alone, and asks it range queries."""
    import numpy as np
    import pandas as pd

    import dpcore as dp

    schema = dp.Schema(
        columns=(
            dp.Integer("age", low=0, high=99, bin_width=10),
            dp.Categorical("sex", categories=("F", "M")),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    frame = pd.DataFrame({"age": np.arange(500) % 90, "sex": ["F", "M"] * 250})
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon="1"), ledger=dp.MemoryLedger()
    )
    release = curator.run(dp.Joint(["age", "sex"]), dp.PureDP(epsilon="1"))
    (tmp_path / "does not write tables to folders").write_text("")
    monkeypatch.setenv(
        "WORKBENCH_DATA_DIR",
        str(tmp_path / "does not write tables to folders" / "below"),
    )
    tab = new_tab().go("ledger")
    tab.at.file_uploader[0].upload(
        "r.json", release.to_json().encode(), "application/json"
    ).run()
    assert "ledger" in tab.errors  # which has nothing to do with the file
    assert "does not show who made the file" in tab.text
    assert "About " in tab.text
    tab.set("multiselect", "Columns", ["age", "sex"])
    tab.set("select_slider", "age", (20, 50))
    tab.set("multiselect", "sex", ["M"])
    expected = dp.count_rows(release, {"age": (20, 50), "sex": "M"})
    assert f"About {round(expected.value):,} rows" in tab.text.replace("\\", "")
    tab.set("multiselect", "sex", [])
    assert (
        f"About {round(dp.count_rows(release, {'age': (20, 50)}).value):,}"
        in tab.text.replace("\\", "")
    )
    for content, says in (
        (b"[" * 100_000, "another kind of file"),
        (
            release.to_json().replace('"created": "2', '"created": "1').encode(),
            "altered",
        ),
        (
            release.to_json()
            .replace('"version": 1, "request', '"version": 2, "request')
            .encode(),
            "version 2",
        ),
    ):
        tab.at.file_uploader[0].upload("r.json", content, "application/json").run()
        assert says in tab.errors
        assert not tab.at.get("iframe")
