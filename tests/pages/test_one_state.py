"""A page shows one state of the ledger, and what is charged is what it showed."""

from __future__ import annotations

from collections import Counter

import pytest

from dpcore.accounting.loss import UNIT
from tests.pages.tab import Tab
from workbench.store.ledger.sql_ledger import SqlLedger

KINDS = ("One column", "A few columns", "A whole table")


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the ledger was asked for the standing of each data set."""
    asked: Counter[str] = Counter()
    real = SqlLedger.standing

    def standing(ledger: SqlLedger, dataset: str):
        asked[dataset] += 1
        return real(ledger, dataset)

    monkeypatch.setattr(SqlLedger, "standing", standing)
    return asked


def test_the_standing_is_read_once_a_run(opened: Tab, readings: Counter[str]) -> None:
    """Header, price and button each asked the ledger, four times in a run, and could
    show different budgets.
    """
    dataset = opened.curator.account.dataset
    opened.go("synthesize").release()
    for page in ("synthesize", "evaluate", "ledger", "links", "codebook", "anonymize"):
        readings.clear()
        opened.go(page)
        assert opened.errors == ""
        assert readings[dataset] == 1, page
    opened.go("synthesize").press("Release something else")
    readings.clear()
    opened.set("number_input", "epsilon", 0.25)
    assert readings[dataset] == 1


def test_the_next_run_reads_it_anew(opened: Tab, new_tab) -> None:
    """A page would show a budget of before, after another tab has spent."""
    other = new_tab().open()
    opened.go("ledger")
    other.go("synthesize").release()
    spent = opened.go("ledger").at.metric[0].value
    assert spent == "16.67\u202f%"


def planned(tab: Tab, kind: str) -> Tab:
    """A plan of this kind that can be paid."""
    tab.go("synthesize").press(kind)
    if kind == "A few columns":
        tab.set("multiselect", "Columns", ["age", "sex"])
    return tab


def another_value(widget) -> object:
    """A value that a control does not have now; None if it has but one."""
    if widget.type == "number_input":
        return widget.value / 2 if widget.value else None
    if widget.type == "multiselect":
        return widget.value[:-1] if len(widget.value) > 1 else None
    if widget.type in ("toggle", "checkbox"):
        return not widget.value
    others = [each for each in widget.options if each != widget.value]
    return others[-1] if others else None


def controls(tab: Tab) -> list:
    """The controls on which a price, an error or a name on the page may depend."""
    kinds = ("number_input", "selectbox", "multiselect", "radio", "toggle", "checkbox")
    found = [each for kind in kinds for each in tab.at.main.get(kind)]
    return [
        each
        for each in found
        if each.key != "wanted" and another_value(each) is not None
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_charged_is_what_was_shown(new_tab, kind: str) -> None:
    """A control that was changed just before *Pay and release* would change what is
    bought, behind the last question.
    """
    start = planned(new_tab().open(), kind)
    changed = 0
    for place in range(len(controls(start))):
        tab = planned(new_tab().open(), kind)
        # a price of its own, as the same again is stored
        tab.set("number_input", "epsilon", 0.1 + place / 50).press("Release for")
        shown = tab.text
        control = controls(tab)[place]
        control.set_value(another_value(control))
        before = tab.curator.balance().spent
        tab.press("Pay and release").settle()
        assert tab.errors == "", control.label
        release = tab.session.data_set.release(tab.session.runs.shown_request_id)
        charged = (tab.curator.balance().spent - before) / UNIT
        assert f"(epsilon {charged:g})" in shown, control.label
        assert all(name in shown for name in release.model_columns), (
            control.label,
            release.recipe,
        )
        changed += 1
        tab.go("ledger")
    assert changed >= 2


@pytest.mark.parametrize("kind", KINDS)
def test_the_last_question_has_the_values_of_now(opened: Tab, kind: str) -> None:
    """A control that was changed just before *Release for ...* would not be in the last
    question.
    """
    planned(opened, kind)
    field = next(
        each for each in opened.at.number_input if each.label.startswith("epsilon")
    )
    field.set_value(0.25)
    opened.press("Release for")
    assert "(epsilon 0.25)" in opened.text
    opened.press("Pay and release").settle()
    assert opened.curator.balance().spent / UNIT == 0.25
