"""The record of a release: a click is paid once and its result is kept, whatever is
clicked meanwhile.
"""

from __future__ import annotations

import contextlib
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pandas as pd
import pytest
from streamlit.runtime.scriptrunner_utils.exceptions import StopException

import dpcore as dp
from dpcore.accounting.loss import UNIT
from dpcore.errors import ReadError
from dpcore.mechanisms.rehearsal import Rehearsal
from dpcore.synthesis import Closeness, Independent
from workbench import session
from workbench.server.workers import drawing
from workbench.synthesize import record_view
from workbench.ui import epsilon_view, progress_view, widgets


class Page:
    """The record in one tab, as Streamlit runs it: a run that another click has
    overtaken ends where it next asks for something of the page.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        frame = pd.DataFrame({"a": np.arange(500) % 3, "b": np.arange(500) % 5})
        self.curator = dp.Curator.open(
            frame,
            dp.suggest_schema(frame),
            budget=dp.PureDP(epsilon=10),
            ledger=dp.MemoryLedger(),
        )
        self.release = self.curator.run(
            Independent(columns=("a", "b")), dp.PureDP(epsilon=1)
        )
        self.held = session.Session()
        self.drawn = self.pressed = ""
        self.is_overtaken = False
        self.waits: list[Any] = []
        self.table = pd.DataFrame()
        page = MagicMock()
        page.toggle.return_value = False
        page.multiselect.return_value = ["a", "b"]
        page.button.side_effect = self._button
        page.dataframe.side_effect = self._dataframe
        page.rerun.side_effect = self._yields
        asked = drawing.closeness_recipe(self.release, 500, 0, ["a", "b"])
        for place, name, value in (
            (record_view, "st", page),
            (record_view, "say_computing", self.waits.append),
            (session, "session", self._session),
            (widgets, "fold", lambda *given, **named: contextlib.nullcontext(True)),
            (progress_view, "compute_in_worker", lambda *given: asked),
            (epsilon_view, "remaining_epsilon", lambda curator: 9.0),
            (epsilon_view, "ask_share", lambda *given, **named: 0.1),
            (
                epsilon_view,
                "loss_of_epsilon",
                lambda curator, epsilon: dp.PureDP(epsilon=epsilon),
            ),
        ):
            monkeypatch.setattr(place, name, value)

    def _yields(self) -> None:
        if self.is_overtaken:
            raise StopException

    def _session(self) -> session.Session:
        self._yields()
        return self.held

    def _button(self, label: str, *, disabled: bool, key: str) -> bool:
        self._yields()
        self.drawn = "" if disabled else key
        return bool(self.pressed) and key == self.pressed

    def _dataframe(self, table: pd.DataFrame, **named: Any) -> None:
        self._yields()
        self.table = table

    def draw(self, pressed: str = "") -> None:
        """One run of the page after a click on a button that was drawn before."""
        self.pressed = pressed
        record_view.show(self.curator, self.release, 500, 0, ())

    @property
    def spent(self) -> float:
        return self.curator.balance().spent / UNIT - 1

    @property
    def answers(self) -> int:
        return list(self.table["cost"]).count("epsilon 0.1")


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    return Page(monkeypatch)


def while_it_is_computed(monkeypatch: pytest.MonkeyPatch, happens: Any) -> None:
    """Let something happen once, after the first charge."""
    left = [happens]
    right = Closeness.fit

    def fit(self: Closeness, measurer: Any, on_progress: Any) -> Any:
        if left and not isinstance(measurer, Rehearsal):
            left.pop()()
        return right(self, measurer, on_progress)

    monkeypatch.setattr(Closeness, "fit", fit)


def test_a_second_click_is_the_same_test(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same test would be charged twice, and one of its answers lost."""
    page.draw()
    button = page.drawn

    def again() -> None:
        page.draw(button)
        seen.append((page.drawn, page.waits and page.waits[-1]()))
        page.is_overtaken = True

    seen: list[Any] = []

    while_it_is_computed(monkeypatch, again)
    with pytest.raises(StopException):
        page.draw(button)
    page.is_overtaken = False
    page.draw(button)  # that came late
    assert page.spent == pytest.approx(0.1)
    assert page.answers == 1
    assert seen == [("", False)], "no button while it is computed, and words instead"
    assert page.waits[-1]()
    page.draw(page.drawn)  # on purpose, by the button that was drawn since
    page.draw()
    assert page.spent == pytest.approx(0.2)
    assert page.answers == 2


def test_what_was_paid_is_there_after_another_click(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer would be paid and shown nowhere, and be none of the attempts."""

    def overtaken() -> None:
        page.is_overtaken = True

    page.draw()
    while_it_is_computed(monkeypatch, overtaken)
    with pytest.raises(StopException):
        page.draw(page.drawn)
    page.is_overtaken = False
    page.draw()
    assert page.spent == pytest.approx(0.1)
    assert page.answers == 1
    assert not page.waits


def test_after_a_failure_it_can_be_asked_again(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that failed is refused for ever: its button would be dead."""

    def breaks() -> None:
        raise ReadError("the source is gone", remedy="wait")

    shown: list[Exception] = []
    monkeypatch.setattr(widgets, "error_box", shown.append)
    page.draw()
    while_it_is_computed(monkeypatch, breaks)
    page.draw(page.drawn)
    page.draw()
    assert [str(each) for each in shown] == ["the source is gone; wait."]
    assert page.answers == 0
    page.draw(page.drawn)
    page.draw()
    assert page.answers == 1
    assert len(shown) == 1
