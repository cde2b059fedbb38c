"""The Learn page: every control of every lesson, and no trace in any ledger."""

from __future__ import annotations

import pytest

from tests.pages.tab import Tab
from workbench.learn import figures


@pytest.fixture
def learn(app: Tab) -> Tab:
    """The page, without any table."""
    return app.go("learn")


def test_nine_lessons_stand_in_order(learn: Tab) -> None:
    """A lesson would be missing, or a newcomer would meet composition before noise."""
    heads = [each.value for each in learn.at.header]
    assert [head.split(" · ")[0] for head in heads] == [str(number) for number in range(1, 10)]
    assert learn.errors == ""


def test_every_control_moves_and_nothing_is_charged(learn: Tab) -> None:
    """A control would end in an error at one of its ends, or a lesson would spend somebody's budget."""
    assert len(_controls(learn)) >= 8
    for end in (0, -1):  # every lesson has its own controls, so that all may move at once
        for widget in _controls(learn):
            ends = (
                [*map(float, widget.options)] if widget.type == "select_slider" else [widget.min, widget.max]
            )
            widget.set_value(ends[end])
        learn.at.run()
        assert learn.errors == ""
    assert learn.session.curators == {}


def _controls(learn: Tab) -> list:
    return [each for kind in ("slider", "select_slider") for each in learn.at.get(kind)]


def test_the_bound_is_the_stated_one() -> None:
    """The first picture would show another promise than e^epsilon."""
    for epsilon in (0.1, 1.0, 5.0):
        frame, ratio = figures.neighbors(100, epsilon)
        assert ratio == pytest.approx(2.718281828459045**epsilon, rel=1e-6)
        assert frame.groupby("table")["chance"].sum().min() > 0.9


def test_two_answers_reach_their_sum() -> None:
    """C1, C5: the bound on two answers is tight, not a precaution."""
    assert 1.8 < figures.loss_of_two() <= 2.0


def test_parts_and_sums() -> None:
    """C6: sixteen groups that share nobody cost once; overlapping ones sixteen times."""
    assert figures.parts(16, 1.0) == (1.0, 16.0)


def test_afterwards_nothing_grows() -> None:
    """C10: an attack on the answer would seem to learn more than the answer."""
    losses = figures.afterwards(1.0)["epsilon"]
    assert losses.iloc[0] == pytest.approx(1.0)
    assert losses.max() <= 1.0 + 1e-9
    assert losses.iloc[-1] == 0


def test_wide_ranges_err_less_in_percent() -> None:
    """A9, A10: asked directly, one noise is spread over more people."""
    frame = figures.by_width(1.0).pivot(index="ages", columns="way", values="percent")
    assert (frame["added up from a histogram"] >= 0).all()
    direct = frame["asked directly"]
    assert direct.iloc[-1] < direct.iloc[0] / 10


def test_more_columns_cost_accuracy() -> None:
    """A24, C9: four columns together lose the ages that one column keeps; the signal of a cell drowns."""
    frame = figures.by_columns(1.0)
    assert frame["error"].is_monotonic_increasing
    assert frame["error"].iloc[0] < 10 < 100 < frame["error"].iloc[-1]
    distances = frame["distance"].tolist()
    assert distances[0] < 0.02
    assert distances[3] > 5 * distances[0]


def test_local_errs_more_than_central() -> None:
    """Trusting nobody would look free."""
    frame = figures.local_and_central(1.0, 4).pivot(index="people", columns="trust", values="error")
    assert (frame["trust nobody"] > 5 * frame["trust a curator"]).all()
