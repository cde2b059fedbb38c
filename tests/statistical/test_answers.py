"""Intervals of what a release answers hold 95 times in 100, adaptive choice and all
measurements included.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

import dpcore as dp
from dpcore.progress import ignore_stage_progress
from dpcore.synthesis.discrete import _learner as learner
from dpcore.synthesis.discrete.model import SyntheticModel
from dpcore.tables.counts import Marginal
from tests.synthesis.standin import random_table

RUNS = 150
TABLES = {
    "few rows": random_table(np.random.default_rng(11), 300, (2, 3, 4, 2)),
    "many rows": random_table(np.random.default_rng(12), 5_000, (5, 2, 8)),
}
LOSSES = {"epsilon": dp.PureDP(epsilon="1"), "rho": dp.ZCDP(rho="0.02")}


@pytest.fixture(autouse=True)
def few_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hasty fit: no interval rests on it."""
    monkeypatch.setattr(learner, "MAX_SWEEPS", 1)
    monkeypatch.setattr(learner, "MIN_SWEEPS", 1)


def coverage(table: str, loss: str, *, width: float = 1.0) -> tuple[float, int]:
    """The least chance with which any cell's interval held, in runs of `Adaptive`, and
    how many cells.
    """
    source = TABLES[table]
    names = source.domain.names
    cliques = [(), *((name,) for name in names), *itertools.combinations(names, 2)]
    exact = {clique: source.count(clique, {}) for clique in cliques}
    held: dict[tuple[str, ...], np.ndarray] = {
        each: np.zeros(exact[each].shape) for each in cliques
    }
    tried = dict.fromkeys(cliques, 0)
    for _ in range(RUNS):
        _, model = dp.Adaptive().fit(
            source.measurer(LOSSES[loss]), ignore_stage_progress
        )
        assert isinstance(model, SyntheticModel)
        for clique in cliques:
            answer = model.answer(clique)
            if answer.table is None or not answer.counted_alone.all():
                continue
            table_of: Marginal = answer.table
            half = width * table_of.half_width()
            held[clique] += np.abs(table_of.values - exact[clique]) <= half
            tried[clique] += 1
    shares = [
        stats.binom.cdf(inside, tried[clique], 0.95)
        for clique in cliques
        if tried[clique] > RUNS // 2
        for inside in held[clique].ravel()
    ]
    return float(min(shares)), len(shares)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.proof
def test_every_cell_is_inside_its_interval(table: str, loss: str) -> None:
    """A number would be called sure within an interval that it leaves more often than 5
    times in 100.
    """
    least, cells = coverage(table, loss)
    assert least > 1e-6 / cells / 4


@pytest.mark.proof
def test_intervals_of_half_the_width_are_found_out() -> None:
    """The twin: the same, too narrow."""
    least, cells = coverage("many rows", "rho", width=0.5)
    assert least < 1e-6 / cells / 4
