"""The card "A table for learning" before and after paying: figures by draws of the law,
and from the file.

What each class is like is worked out again from the normal laws of the file: many
places of each, far into the tails, put into the cells that were declared, with the
middle of each cell, and weighed by their density.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpcore as dp
from tests.truth.figures import agrees
from tests.truth.released import array
from tests.truth.test_synthesize import (
    DRAWS,
    EPSILON,
    FACTS,
    TITLE,
    WITHIN,
    Walk,
    begun,
    compared,
    covers,
    near,
    nearest,
    of_release,
    of_tables,
    one_digit,
    paid,
    shown_of,
)
from workbench.synthesize import figures_view
from workbench.ui.reopening import RowCounts

CARD = "A table for learning"
HERE = "Table for learning {column}"
SIZE = "{rows:,} rows: ± {error}, {ratio} to 1|"
FEWER = (
    "Noise hides the differences between classes of fewer than about {rows} rows "
    "(the ratio is below 1 to 1). Choose fewer columns or a larger share of the "
    "budget.|rows"
)
USUAL = 0.3  # how far values usually lie from their mean, between the bounds -1 and 1
LEFT = 0.98  # of the loss, once the rows are counted
DETAIL = (1.0, 0.8, 0.6)  # of what is left, for the means
# deviations from the center; a far cell may hold the largest numbers
PLACES = np.linspace(-9, 9, 400_001)
WEIGHTS = stats.norm.pdf(PLACES) / stats.norm.pdf(PLACES).sum()


class Sums:
    """The noise of the sums of each class: rows, features, and cells of categories, of
    one draw.
    """

    def __init__(self, walk: Walk, label: str, part: float) -> None:
        schema = walk.tab.curator.schema
        self.label = label
        self.classes = schema.column(label).size
        self.features = [
            each.name for each in schema.columns if each.size > 1 and each.name != label
        ]
        cells = [
            schema.column(name).size
            for name in self.features
            if schema.column(name).kind == "categorical"
            and schema.column(name).size > 2
        ]
        entries = 1 + len(self.features) - len(cells) + sum(cells)
        self.scale = walk.odd.cap / (EPSILON * LEFT * part)
        self.radius = stats.gamma(entries + 1, scale=self.scale)
        radius = self.radius.rvs((DRAWS, self.classes), random_state=walk.rng)
        self.drawn = radius * walk.rng.uniform(-1, 1, radius.shape)

    @property
    def deviation(self) -> float:
        """An entry is uniform up to the radius."""
        return math.sqrt(self.radius.moment(2) / 3)


def before(walk: Walk, marking: Any, label: str) -> set[str]:
    """As long as the detail is open, the error is that of the richest one."""
    walk.tab.press(CARD)
    features = len(walk.tab.curator.schema.columns) - 1
    # inside cells of one feature lie others
    sums = Sums(walk, label, DETAIL[2 if features > 1 else 1])
    half = float(shown_of(walk, marking, f"{FACTS}|half"))
    assert covers(sums.drawn[:, 0])(half)
    facts = of_tables(
        walk, {label: (sums.classes, half)}, covers(sums.drawn.sum(axis=1), most=4)
    )
    flat = np.full(sums.classes, walk.about / sums.classes)
    sizes = np.array([100, 1_000, 10_000])

    def each_of(true: Any) -> Any:
        left = list(true)
        # in the order of the sentence
        return lambda shown: bool(left) and agrees(shown, left.pop(0))

    facts |= {
        f"{TITLE} > {label}": lambda shown: len(set(shown)) == sums.classes,
        f"{TITLE} > cell": lambda shown: len(set(shown)) == sums.classes,
        # both ends of a line have this title
        f"{TITLE} > rows": near(flat, np.maximum(0, flat - half)),
        f"{TITLE} > low": near(np.maximum(0, flat - half)),
        f"{TITLE} > high": near(flat + half),
        f"{SIZE}rows": each_of(sizes),
        f"{SIZE}error": each_of(sums.deviation / sizes / 2),  # of a range of 2
        f"{SIZE}ratio": each_of(USUAL * sizes / sums.deviation),
        FEWER: sums.deviation / USUAL,
    }
    return compared(walk, marking, facts)


def middles(column: Any) -> np.ndarray:
    """The middle of each declared cell, between its first and its last number."""
    edges = np.array(column.bounds, dtype=float)
    return (edges[:-1] + edges[1:] - isinstance(column, dp.Integer)) / 2


def of_classes(walk: Walk, model: dict[str, Any]) -> dict[str, Any]:
    """Mean and standard deviation of every feature of each class, by the laws of the
    file.
    """
    schema = walk.release.schema
    centers = array(model["centers"])
    covariances = array(model["covariances"])
    facts: dict[str, Any] = {}
    for code, label in enumerate(schema.column(model["label"]).labels):
        true = []
        for place, name in enumerate(model["features"]):
            column = schema.column(name)
            drawn = np.clip(
                centers[code, place] + covariances[code, place, place] ** 0.5 * PLACES,
                -1,
                1,
            )
            if isinstance(column, (dp.Integer, dp.Real)):
                drawn = middles(column)[
                    np.rint((drawn + 1) / 2 * (column.size - 1)).astype(int)
                ]
            mean = WEIGHTS @ drawn
            true.append((mean, math.sqrt(WEIGHTS @ (drawn - mean) ** 2)))

        def holds(shown: Any, true: Any = tuple(true)) -> bool:
            told = [
                [float(each.replace(",", "")) for each in cell.split(" ± ")]
                for cell in shown
            ]
            return np.allclose(told, true, rtol=6e-3, atol=2e-3)

        facts[f"{HERE} > {label}"] = holds
    return facts


def after(walk: Walk, marking: Any, label: str) -> set[str]:
    file = paid(walk)
    ((table,), model) = file["marginals"], file["model"]
    assert table["clique"] == [label]
    measured = array(table["values"])
    parts = [Sums(walk, label, part) for part in DETAIL]
    sums = next(
        each
        for each in parts
        if math.isclose(each.deviation**2, table["variance"], rel_tol=1e-6)
    )
    told = walk.release.table((label,))
    half = float((told["high"] - told["as measured"]).max())
    assert covers(sums.drawn[:, 0])(half)
    total = float(measured.sum())
    values = nearest(measured, total)
    low = np.minimum(np.maximum(0, measured - half), values)
    high = np.maximum(measured + half, values)
    facts = of_release(
        walk, float(array(model["counts"]).sum()), sums.drawn.sum(axis=1)
    )
    facts |= {
        f"{WITHIN}|cells": sums.classes,
        f"{WITHIN}|half": near([max((values - low).max(), (high - values).max())]),
        f"{HERE} > {label}": lambda shown: len(set(shown)) == sums.classes,
        f"{HERE} > cell": lambda shown: len(set(shown)) == sums.classes,
        f"{HERE} > rows (noisy)": near(values, low),
        f"{HERE} > rows": near(values),
        f"{HERE} > low": near(low),
        f"{HERE} > high": near(high),
        **of_classes(walk, model),
    }
    return compared(walk, marking, facts)


LABELS = {"visits": "ward", "heavy tail": "sex"}


@pytest.mark.parametrize("name", LABELS)
def test_every_figure_is_of_the_classes(marking, name: str) -> None:
    """A release would be bought by another error than its sums get, or classes be told
    by other numbers.
    """
    walk = begun(name)
    assert before(walk, marking, LABELS[name]) >= {
        f"{FACTS}|rows",
        f"{SIZE}ratio",
        FEWER,
    }
    assert after(walk, marking, LABELS[name]) >= {f"{WITHIN}|half", f"{HERE} > rows"}


def test_before_paying_rows_that_do_not_count_are_caught(marking) -> None:
    """The test above would not see the rows of the file where a cap counts fewer of
    them.
    """
    walk = begun("visits")
    about = walk.tab.session.own(RowCounts).rows_by_dataset
    about.update(dict.fromkeys(about, one_digit(len(walk.odd.frame))))
    walk.tab.at.run()
    with pytest.raises(AssertionError, match="not true"):
        before(walk, marking, "ward")


def test_after_paying_other_laws_are_caught(
    marking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above would not see classes that lie elsewhere than those that rows are
    drawn from.
    """
    right = figures_view.show_classes

    def wrong(release: Any, model: Any) -> None:
        centers = model.moments.centers
        moved = np.where(centers > 0, centers - 0.5, centers + 0.5)
        right(release, replace(model, moments=replace(model.moments, centers=moved)))

    monkeypatch.setattr(figures_view, "show_classes", wrong)
    walk = begun("visits")
    walk.tab.press(CARD)
    with pytest.raises(AssertionError, match="not true"):
        after(walk, marking, "ward")
