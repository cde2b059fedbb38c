"""The Synthesize page: the error and the cost first, one payment, then the result."""

from __future__ import annotations

import sqlite3
from datetime import date

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa

from dpcore.accounting.loss import UNIT
from dpcore.mechanisms.measurer import Measurer
from tests.pages.tab import CSV, PATIENCE, Tab
from workbench.server.workers import queue
from workbench.store import start
from workbench.synthesize.script import job_of, write_script


def spent(tab: Tab) -> float:
    """Epsilon (or rho) that the ledger holds against the open data set."""
    balance = tab.curator.balance()
    return (balance.spent + balance.reserved) / UNIT


def metric(tab: Tab, label: str) -> str:
    return next(each.value for each in tab.at.metric if each.label.startswith(label))


def test_without_a_data_set_it_says_what_it_would_do(app):
    """A newcomer would meet an empty form."""
    app.go("synthesize")
    assert app.at.title[0].value == "Release something"
    assert "Here you release a histogram" in app.text
    app.press("Open this sample: Census").go("upload")
    assert "20,000 rows" in app.text


def test_quote_before_paying(opened):
    """Someone would have to pay to learn the price or the error."""
    opened.go("synthesize")
    assert metric(opened, "Cost") == "16.67\u202f%"
    assert metric(opened, "Left after") == "83.33\u202f%"
    assert metric(opened, "Error (95\u202f%)") == "± 6"
    assert spent(opened) == 0
    opened.set("number_input", "epsilon", 1.0)
    assert metric(opened, "Cost") == "33.33\u202f%"
    assert opened.button("Release for a third of the budget (epsilon 1)")


def test_quote_reads_no_data(opened, monkeypatch):
    """The preview would be a release that nobody paid for."""
    monkeypatch.setattr(opened.curator, "_engine", None)
    opened.go("synthesize").press("A whole table")
    assert metric(opened, "Cost") == "16.67\u202f%"


@pytest.mark.parametrize(
    ("kind", "columns", "choice", "shown"),
    [
        ("One column", None, None, "Histogram of age"),
        ("A few columns", ["age", "city"], None, "Marginals: age × city"),
        (
            "A few columns",
            ["age", "sex", "city"],
            ("Table", "all"),
            "Marginals: age × sex × city",
        ),
        ("A few columns", ["age", "sex"], ("Table", "one"), "Marginals: age, sex"),
    ],
)
def test_release(opened, kind, columns, choice, shown):
    """One of the ways to release would not come to a result."""
    opened.go("synthesize").press(kind)
    if columns:
        opened.set("multiselect", "Columns", columns)
    if choice:
        opened.set("radio", *choice)
    opened.release()
    assert opened.errors == ""
    assert opened.at.title[0].value.replace("\\", "") == shown
    assert "in 95 of 100 cases" in opened.text
    assert "differentially private · epsilon 0.5" in opened.text
    assert spent(opened) == 0.5
    downloads = [each.label for each in opened.at.get("download_button")]
    assert {
        "Drawn rows (CSV)",
        "Drawn rows (Excel)",
        "Drawn rows (Parquet)",
        "The guarantee (JSON)",
    } <= set(downloads)
    assert any("with their intervals" in each for each in downloads)


def test_a_last_look_says_the_error_and_can_be_left(opened):
    """One would pay for an error that is out of sight by then, or find no way back but
    a small cross.
    """
    opened.go("synthesize").press("Release for")
    assert "In 95 of 100 cases, a cell is off by at most 6 rows." in opened.text
    opened.press("Back")
    assert not [each for each in opened.at.button if each.label == "Pay and release"]
    assert spent(opened) == 0


def test_drawing_rows_is_free(opened):
    """Post-processing would be charged, or would not work."""
    opened.go("synthesize").release()
    opened.set("number_input", "Rows", 7)
    assert 7 in [len(each.value) for each in opened.at.dataframe]
    assert spent(opened) == 0.5


def test_the_same_again_is_free_and_drawing_again_has_a_price(opened):
    """The same question would be paid twice without a word, or paying be the first
    thing offered.
    """
    opened.go("synthesize").release().press("Release something else")
    assert (
        opened.button("Draw again for a sixth of the budget (epsilon 0.5)").proto.type
        == "secondary"
    )
    assert opened.button("Show the stored release").proto.type == "primary"
    opened.press("Show the stored release, free")
    assert opened.at.title[0].value == "Histogram of age"
    assert spent(opened) == 0.5
    opened.press("Release something else").press("Draw again").press(
        "Pay and release"
    ).settle()
    assert spent(opened) == 1.0


def test_the_same_click_twice_pays_once(opened):
    """A double click would pay twice."""
    opened.go("synthesize").press("Release for")
    pay = opened.button("Pay and release")
    pay.click().run()
    opened.settle()
    pay.click().run()
    opened.settle()
    assert spent(opened) == 0.5


def test_earlier_releases_can_be_opened(opened):
    """What was paid for would be lost."""
    opened.go("synthesize").release().press("Release something else")
    opened.go("ledger").go("synthesize")
    assert "UTC · a sixth of the budget (epsilon 0.5)" in opened.text
    opened.press("Open Histogram of age")
    assert opened.at.title[0].value == "Histogram of age"
    # SEEDS A17
    opened.press("Release something else").set("selectbox", "Column", "").release()
    # one in a million: 28
    assert abs(float(metric(opened, "Number of rows").split()[0]) - 200) < 40
    assert spent(opened) == 1.0
    opened.go("evaluate")
    assert opened.errors == ""
    assert "no columns to compare" in opened.text


def test_epsilon_0_is_refused(opened):
    """A release without noise, or a traceback."""
    opened.go("synthesize").set("number_input", "epsilon", 0.0)
    assert "must be a number above 0" in opened.errors
    assert not any(each.label.startswith("Release for") for each in opened.at.button)
    assert spent(opened) == 0


@pytest.mark.parametrize("epsilon", [3.5, 1e12, float("inf"), float("nan")])
def test_more_than_is_left_cannot_be_pressed(opened, epsilon):
    """The page would offer what the ledger refuses, or break on a silly number."""
    opened.go("synthesize").set("number_input", "epsilon", epsilon)
    buttons = [
        each for each in opened.at.button if each.label.startswith("Release for")
    ]
    assert (
        buttons
        and buttons[0].disabled
        and "more than the rest of the budget" in opened.text
    ) or opened.errors
    assert spent(opened) == 0


def test_what_another_tab_spent_is_refused_with_the_reason(new_tab):
    """Two tabs could spend the same remainder."""
    first = new_tab().open()
    second = new_tab().open()
    for tab in (first, second):
        tab.go("synthesize").set("number_input", "epsilon", 2.0).press("Release for")
    first.press("Pay and release").settle()
    second.press("Pay and release").settle()
    assert "left" in second.errors
    assert spent(first) == spent(second) == 2.0
    second.press("Back")
    assert "What you would get" in second.text


def test_a_clique_too_large_is_refused(app):
    """The server would run out of memory, or the page break."""
    wide = "a,b,c,d,e,f\n" + "\n".join(
        ",".join(str((i * k) % 99) for k in (1, 2, 3, 5, 7, 11)) for i in range(200)
    )
    app.open(wide.encode()).go("synthesize").press("A whole table").set(
        "radio", "Relations", "joint"
    )
    assert "cells" in app.errors
    assert "What to do" in app.errors
    assert spent(app) == 0


def test_pairs_with_the_column_to_predict_count_four_times(opened):
    """A table to learn from would spend as much on pairs that say nothing about the
    target.
    """
    opened.go("synthesize").press("A whole table").set(
        "selectbox", "Column to predict", "sex"
    )
    opened.release()
    asked = next(
        line.content for line in opened.curator.lines() if line.state == "reserved"
    )
    weights = asked["recipe"]["recipe"]["weights"]
    assert {tuple(pair) for pair, weight in weights if weight == 4} == {
        ("age", "sex"),
        ("sex", "city"),
    }


def test_a_start_is_never_above_its_end(app):
    """A column of numbers would be offered for one of days, or drawn stays end before
    they begin.
    """
    days = pd.date_range("2020-01-01", "2021-12-31").strftime("%Y-%m-%d")
    stays = "\n".join(
        f"{days[i % 600]},{days[i % 600 + i % 90]},{i % 50}" for i in range(900)
    )
    app.open(f"came,left,age\n{stays}".encode()).go("synthesize").press("A whole table")
    app.set("radio", "Add", "≤")
    (end,) = (each for each in app.at.selectbox if each.label == "≤")
    assert end.options == ["left"]
    assert app.at.selectbox(key=end.key.replace("second", "first")).options == [
        "came",
        "left",
        "age",
    ]
    app.button("Add").click().run()
    assert "came ≤ left" in app.text
    app.release()
    release = app.curator.release(app.curator.lines()[-1].request_id)
    codes = release.model.sample_codes(2_000, np.random.default_rng(1))
    sizes = {name: release.schema.column(name).values_size for name in ("came", "left")}
    present = (codes["came"] < sizes["came"]) & (codes["left"] < sizes["left"])
    assert present.any()
    assert (codes["came"] <= codes["left"])[present].all()
    job, reading = job_of(app.session.data_set, release)
    assert 'columns=("came", "left")' in write_script(job, reading)
    app.press("Release something else").press("Remove")
    assert "came ≤ left" not in app.text


def test_copies_by_name_are_one_line_with_a_tick(app):
    """Whoever knows better would pay for questions with one answer."""
    rows = "\n".join(f"{i % 7},{i % 7},{'ab'[i % 2]}" for i in range(900))
    app.open(f"score,score.1,group\n{rows}".encode())
    app.go("synthesize").press("A whole table")
    (tick,) = (each for each in app.at.checkbox if "repeat" in each.label)
    assert "score = score.1" in tick.label.replace("\\", "")
    app.release()
    release = app.curator.release(app.curator.lines()[-1].request_id)
    assert [copy["target"] for copy in release.recipe["recipe"]["copies"]] == [
        "score.1"
    ]
    app.press("Release something else")
    next(each for each in app.at.checkbox if "repeat" in each.label).uncheck().run()
    app.release()
    release = app.curator.release(app.curator.lines()[-1].request_id)
    assert "copies" not in release.recipe["recipe"]


def test_no_column_chosen(opened):
    """An empty choice would break the page."""
    opened.go("synthesize").press("A few columns")
    assert "Choose at least one column" in opened.text


def test_the_slider_and_the_number_agree_when_less_is_left(opened):
    """After a release the slider would show another epsilon than the one that is
    charged.
    """
    opened.go("synthesize").set("number_input", "epsilon", 2.0).release()
    opened.press("Release something else")
    assert opened.at.select_slider[0].value == opened.at.number_input[0].value == 2.0
    opened.set("selectbox", "Column", "sex")
    # its share is rounded so that it adds up with what was spent and what is left
    assert opened.button(
        "Release for 66.66\u202f% of the budget (epsilon 2)"
    ).disabled, "an amount that nobody chose would be offered"
    assert "more than the rest of the budget" in opened.text
    assert "all that is left" in opened.at.select_slider[0].options


def test_nothing_left(opened):
    """A spent budget would break the page."""
    opened.go("synthesize").set("number_input", "epsilon", 3.0).release()
    opened.press("Release something else")
    assert opened.errors == ""
    assert "The budget is spent" in opened.text
    opened.set("selectbox", "Column", "sex")
    assert opened.button("Release for").disabled


def test_the_loss_for_a_wanted_error(opened):
    """People think in rows, not in epsilon."""
    opened.go("synthesize").set(
        "number_input", "Or type the error you can accept", 10.0
    )
    assert "An error of at most ±10 rows in every cell costs" in opened.text


def test_each_data_set_has_its_own_columns(opened):
    """The columns chosen for one table would be asked of another."""
    opened.go("synthesize").set("selectbox", "Column", "city")
    other = "x,y\n" + "\n".join(f"{i % 7},{i % 5}" for i in range(100))
    opened.go("upload").press("Open another table").upload(
        other.encode(), "other.csv"
    ).open_draft()
    opened.go("synthesize").press("A whole table")
    assert opened.at.multiselect[0].value == ["x", "y"]
    first = next(iter(opened.session.open_tables))
    opened.set("selectbox", "Data set", first).press("One column")
    assert (
        next(each.value for each in opened.at.selectbox if each.label == "Column")
        == "city"
    )


def test_zcdp(app):
    """A budget kept in rho would not be usable from the page."""
    app.upload(CSV).open_draft("zcdp")
    app.go("synthesize")
    assert app.button("Release for a sixth of the budget (epsilon 1.17)"), (
        "people would be told rho"
    )
    app.release()
    assert app.errors == ""
    assert 0 < spent(app) < 0.1
    assert "epsilon 1.17 with delta 1 in a billion" in app.text


def test_a_release_without_rows_is_shown(opened, monkeypatch):
    """Noise that takes all rows of a small table would end in an error, as nothing is
    left to judge.
    """
    monkeypatch.setattr(
        Measurer, "_draw_noise", lambda self, values, scale: values * 0 - 2
    )
    opened.go("synthesize").release()
    assert opened.errors == ""
    assert "About 0 rows" in opened.text


def test_a_failed_run_is_said_and_its_charge_stays(opened, monkeypatch):
    """A run that broke off would vanish, with what it cost."""

    def broken(self, values, scale):
        raise RuntimeError("a cell value")

    monkeypatch.setattr(Measurer, "_draw_noise", broken)  # the rehearsal draws nothing
    opened.go("synthesize").release()
    assert "An unexpected error occurred" in opened.errors
    assert "cell value" not in opened.errors
    assert spent(opened) == 0.5
    opened.press("Back")
    assert "What you would get" in opened.text


def test_unconfirmed_facts_are_named_before_paying(app):
    """Someone would publish bounds that reveal the table without knowing."""
    app.upload(CSV).press("Open the data set").go("synthesize")
    app.set("selectbox", "Column", "sex").press("Release for")
    assert any(
        "taken from the data itself: sex (kind, categories, order)" in each.value
        for each in app.at.warning
    )


def test_a_run_waits_in_line_and_can_be_stopped_for_free(opened, monkeypatch):
    """Somebody behind long runs would see nothing, could not step back, or would pay
    for nothing.
    """
    one = queue.RunQueue(1)
    monkeypatch.setattr(queue, "run_queue", lambda: one)
    opened.go("synthesize")
    with one.wait_for_turn(lambda place: None):
        opened.press("Release for").press("Pay and release")
        assert "Nothing is charged yet" in opened.text
        assert opened.session.runs.current.queue_place == 1
        opened.press("Stop")
        assert opened.session.runs.current.has_ended.wait(PATIENCE)
        opened.at.run()
    assert "was stopped before it was finished" in opened.errors
    assert "Nothing was charged." in opened.text
    assert spent(opened) == 0
    opened.press("Back").release()
    assert spent(opened) == 0.5


def test_a_release_that_could_not_be_stored_has_a_button(opened, monkeypatch):
    """What was paid for would wait in memory, and the person would not know how to get
    it.
    """
    ledger = start.ledger()
    append = ledger._append_line
    down = sa.exc.OperationalError("", {}, sqlite3.OperationalError("down"))

    def fail(connection, standing, last, request_id, state, *given):
        if state == "committed":
            raise down
        return append(connection, standing, last, request_id, state, *given)

    opened.go("synthesize")
    with monkeypatch.context() as database:
        database.setattr(ledger, "_append_line", fail)
        opened.release()
        assert "could not be stored yet" in opened.errors
        opened.press("Store it now")  # it is still down
        assert "could not be stored yet" in opened.errors
        assert "Download it now" in [
            each.label for each in opened.at.get("download_button")
        ]
        opened.go("ledger")
        assert "the ledger cannot store it yet" in opened.text
        labels = [each.label for each in opened.at.get("download_button")]
        assert labels[0] == "Download it now"
        opened.go("synthesize")
    opened.press("Store it now")
    assert "Histogram of age" in opened.at.title[0].value
    assert opened.curator.lines()[-1].state == "committed"
    assert spent(opened) == 0.5


def test_a_release_becomes_an_entry_of_the_registry(app: Tab) -> None:
    """The entry could be fetched without what only a person knows, or not at all."""
    tab = (
        app.open()
        .go("synthesize")
        .release()
        .unfold("List this release in a public registry")
    )

    def button():
        return next(
            each
            for each in tab.at.get("download_button")
            if each.proto.label == "Deployment entry (YAML)"
        )

    assert button().proto.disabled
    request = tab.session.runs.shown_request_id
    for field in ("name", "data_product_region"):
        tab.at.text_input(key=f"entry-{field}-{request}").set_value("Νέα")
    for field in ("data_curators", "intended_use", "justification", "registry_authors"):
        tab.at.text_area(key=f"entry-{field}-{request}").set_value("Νέα")
    tab.at.run()
    assert "Still empty: Day of publication" in tab.text
    assert button().proto.disabled
    day = tab.at.date_input(key=f"entry-publication_date-{request}")
    day.set_value(date(2026, 11, 26)).run()
    assert "Still empty" not in tab.text
    assert not button().proto.disabled
    assert tab.errors == ""


def test_mean_and_median_lead_with_their_own_error(app: Tab) -> None:
    """A person would read the error of the number of rows, which nobody asked for, and
    find that of the mean last.
    """
    tab = app.open().go("synthesize")
    tab.at.button(key="kind-statistics").click().run()
    said = [str(getattr(each, "value", "")) for each in tab.at.main]
    of_the_mean = [i for i, text in enumerate(said) if "The mean of" in text]
    of_rows = [i for i, text in enumerate(said) if "rows, of about" in text]
    assert len(of_the_mean) == 1
    assert of_rows
    assert of_the_mean[0] < of_rows[0]
    assert "A quantile is off by at most" in said[of_the_mean[0]]
    tab.press("Release for")
    assert "a cell is off by at most" not in tab.text
    assert tab.text.count("The mean of") == 2


def test_rows_of_single_columns_are_said_to_be_independent(opened):
    """A drawn row had appendicitis in gynaecology, by chance and without a word."""
    opened.go("synthesize").press("A few columns together")
    opened.set("multiselect", "Columns that should", ["age", "sex"])
    opened.set("radio", "Table", "one").release()
    assert "columns of drawn rows are independent" in opened.text
    opened.press("Release something else").set("radio", "Table", "pairs").release()
    assert "columns of drawn rows are independent" not in opened.text


def test_a_table_with_columns_that_repeat_others_is_released(app: Tab) -> None:
    """Whether nearly all rows agree could not be asked from a worker: a table with
    `score` and `score.1` had no synthetic table, only an error without a reason.
    """
    rows = [f"{i % 20},{i % 20},{'ABCD'[i % 4]}" for i in range(20_000)]
    table = "\n".join(["score,score.1,ward", *rows]).encode()
    tab = app.open(table, "scores.csv").go("synthesize").press("A whole table")
    assert "Look for columns that repeat" in "".join(
        each.label for each in tab.at.checkbox
    )
    tab.release()
    assert tab.errors == ""
    release = tab.session.data_set.release(tab.session.runs.shown_request_id)
    assert release.model.copies == (("score.1", "score"),)
    assert tab.curator.lines()[-1].state == "committed"
