"""The Ledger page: every charge, what is left, and what the total does not cover."""

from __future__ import annotations

import json
import sqlite3
import threading
from pathlib import Path

from dpcore.mechanisms.measurer import Measurer
from tests.pages.tab import CSV, PATIENCE
from workbench.records import lines


def test_without_a_data_set_it_says_what_it_would_do(app):
    """A newcomer would meet an empty table."""
    app.go("ledger")
    assert app.at.title[0].value == "Ledger"
    assert "This page lists everything that was spent" in app.text


def test_before_the_first_charge(opened):
    """An empty ledger would look broken."""
    opened.go("ledger")
    assert opened.errors == ""
    assert [each.value for each in opened.at.metric] == [
        "0\u202f%",
        "0\u202f%",
        "100\u202f%",
    ]
    assert "Nothing has been spent yet" in opened.text
    # and not to a source
    assert "This account belongs to these rows" in opened.text


def test_a_charge_is_shown_with_what_it_read(opened):
    """Nobody could see what the budget went to."""
    opened.go("synthesize").release().go("ledger")
    assert [each.value for each in opened.at.metric] == [
        "16.67\u202f%",
        "0\u202f%",
        "83.33\u202f%",
    ]
    charges = opened.at.dataframe[0].value
    assert charges.iloc[0][
        ["asked", "read", "share of the budget", "state"]
    ].tolist() == [
        "Histogram of age",
        "age",
        "16.67\u202f%",
        "released",
    ]


def test_evaluations_stand_outside_the_total(opened):
    """Looking at the original would leave no line."""
    opened.go("synthesize").release().go("evaluate").go("ledger")
    assert opened.at.metric[0].value == "16.67\u202f%"
    charges, notes = (each.value for each in opened.at.dataframe[:2])
    assert charges["state"].tolist() == ["released"], "notes would bury the charges"
    assert "a release compared with the original" in notes["note"].tolist()
    opened.set("text_input", "Show only lines with", "similarity")
    assert len(opened.at.dataframe[0].value) == 0
    assert "(2 so far)" in opened.text


def test_facts_from_the_data_are_not_covered(app):
    """The total would seem to cover bounds that were read from the data."""
    app.upload(CSV).press("Open the data set").go("ledger")
    words = "age (kind); sex (kind, categories, order); city (kind, categories, order)"
    assert f"taken from the data itself: {words}" in app.text.replace("\\", "")


def test_other_rules_are_information(opened):
    """The comparison of composition rules would be missing."""
    opened.go("synthesize").release().go("ledger")
    rules = opened.at.dataframe[2].value
    assert rules["epsilon"].tolist()[0] == "0.5"


def test_verify_finds_a_changed_line(opened, own_ledger: Path):
    """Someone with the database could lower what was spent."""
    opened.go("synthesize").release().go("ledger").press(
        "Check that no line was changed"
    )
    assert "All 5 lines are unchanged" in opened.text
    with sqlite3.connect(own_ledger / "workbench.sqlite") as database:
        database.execute(
            "UPDATE ledger_lines SET units = 1000 WHERE state = 'reserved'"
        )
    opened.press("Check that no line was changed")
    assert "altered" in opened.errors


def test_export_is_complete_and_holds_no_values(opened):
    """The exported ledger would lack lines, or give away the table."""
    opened.go("synthesize").release()
    exported = json.loads(lines.export_lines(opened.curator))
    assert [line["state"] for line in exported["lines"]] == [
        "opened",
        "outside",
        "outside",
        "reserved",
        "committed",
    ]
    assert exported["account"]["rule"] == "basic"


def test_zcdp_says_what_was_spent_as_epsilon(app):
    """Rho alone tells nobody how strong the promise is."""
    app.upload(CSV).open_draft("zcdp")
    app.go("synthesize").release().go("ledger")
    assert app.errors == ""
    assert "In total, epsilon 1.17 is spent." in app.text


def test_a_run_of_another_tab_is_said(opened, new_tab, monkeypatch):
    """Whoever loads the page again in mid-run would see a budget that is held, and no
    word why.
    """
    goes_on = threading.Event()
    draw = Measurer._draw_noise

    def slow(self, values, scale):
        assert goes_on.wait(PATIENCE)
        return draw(self, values, scale)

    monkeypatch.setattr(Measurer, "_draw_noise", slow)
    opened.go("synthesize").press("Release for").press("Pay and release")
    again = new_tab().open()
    for page in ("synthesize", "ledger"):
        assert "In progress: Histogram of age." in again.go(page).text
    assert again.at.metric[1].value == "16.67\u202f%"
    goes_on.set()
    opened.settle()
    again.go("synthesize")
    assert "In progress" not in again.text
    assert "Open Histogram of age" in [each.label for each in again.at.button]


def test_reload_finds_what_was_spent(new_tab):
    """F5 would give a fresh budget."""
    new_tab().open().go("synthesize").release()
    again = new_tab()
    assert again.session.curator is None
    again.open().go("ledger")
    assert again.at.metric[0].value == "16.67\u202f%"
