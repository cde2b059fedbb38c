"""The verdict on a release: charged, from its own noisy answer alone, and the ways on
from it.
"""

from __future__ import annotations

import re

import pytest

from dpcore.accounting.loss import UNIT
from tests.pages.tab import CSV, Tab
from workbench.ui import verdict

HEAD, *ROWS = CSV.decode().split("\n")
MANY = "\n".join([HEAD, *(row for row in ROWS for _ in range(100))]).encode()


def released(app: Tab) -> Tab:
    return app.open(MANY).go("synthesize").press("A whole table").release()


def buttons(app: Tab) -> list[str]:
    return [each.label for each in app.at.button]


def test_a_verdict_costs_a_twentieth(app):
    """A release would be chosen by what the rows say, for which nobody paid."""
    released(app)
    before = app.curator.balance().remaining_units
    label = app.button("Is it good enough?").label
    told = re.search(r"within ± ([0-9.]+)", label)
    assert told, label
    assert float(told[1]) <= 3
    app.press("Is it good enough?")
    paid = re.search(r"accurate to ± ([0-9.]+)", app.text)
    assert paid, app.text
    # the number of rows, which both are shares of, has noise of its own
    assert abs(float(paid[1]) - float(told[1])) < 0.3, "it told another error before"
    assert before - app.curator.balance().remaining_units == UNIT // 40
    boxes = [each.value for each in app.at.success]
    assert any(each.startswith("**Good enough, on average.**") for each in boxes)
    assert not [each for each in buttons(app) if each.startswith("Is it good")], (
        "it is bought once"
    )
    assert "Plan a release of" not in " ".join(buttons(app))


def test_a_verdict_stays_when_the_rows_are_gone(app, new_tab):
    """What was paid for disappeared until the file was brought again."""
    released(app).press("Is it good enough?")
    later = new_tab()
    later.session.enter(app.session.data_set)
    later.session.runs.show(app.session.runs.shown_request_id)
    later.go("synthesize")
    assert later.session.curator is None
    assert "Good enough, on average." in "".join(
        each.value for each in later.at.success
    )


def test_after_not_fit_there_is_no_second_draw(app, monkeypatch):
    """Who drew again at the same loss until the verdict was good would choose by the
    rows.
    """
    released(app)
    monkeypatch.setattr(verdict, "level_of_answer", lambda content: "poor")
    app.press("Is it good enough?")
    shown = [
        each
        for each in buttons(app)
        if each.startswith(("Spend ", "Plan a release of"))
    ]
    assert shown == [
        "Spend a third of the budget (epsilon 1)",
        "Plan a release of sex only",
    ]
    app.press("Release something else")
    assert app.button("Draw again").disabled
    assert "Release it again with a larger share" in app.text
    app.press("Show the stored release").press("Plan a release of sex only")
    assert app.button("Release for a sixth of the budget (epsilon 0.5)")
    assert next(
        each.value for each in app.at.multiselect if each.label.startswith("Columns")
    ) == ["sex"]


def test_a_verdict_of_noise_alone_is_not_sold(opened):
    """Somebody with few rows would pay for a verdict that says nothing."""
    opened.go("synthesize").press("A whole table").release()
    assert opened.button("Is it good enough?").disabled
    assert "A verdict is offered only if its error is within" in opened.text


@pytest.mark.parametrize(
    ("content", "level"),
    [
        ({"mean": 0.05, "half_width": 0.04}, "good"),
        ({"mean": 0.05, "half_width": 0.06}, "open"),
        ({"mean": 0.15, "half_width": 0.06}, "open"),
        ({"mean": 0.17, "half_width": 0.06}, "poor"),
        ({"low": 0.7, "high": 0.8, "majority": 0.6}, "good"),
        ({"low": 0.5, "high": 0.8, "majority": 0.6}, "open"),
        ({"low": 0.4, "high": 0.6, "majority": 0.6}, "poor"),
    ],
)
def test_a_verdict_is_what_its_interval_says(content, level):
    """A verdict would be given that the noise of its figure does not bear."""
    assert verdict.level_of_answer(content) == level
