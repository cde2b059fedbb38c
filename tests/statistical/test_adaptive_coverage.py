"""The tables of an Adaptive release of binary columns err by as much as their variance
says.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import dpcore as dp
from dpcore.progress import ignore_stage_progress
from dpcore.synthesis._consistency import make_consistent
from dpcore.synthesis.discrete import _columns as columns
from dpcore.synthesis.discrete import _learner as learner
from dpcore.synthesis.discrete import model as synthetic
from dpcore.synthesis.discrete._binary_contrasts import complete_contrasts, pool_draws
from dpcore.synthesis.discrete._learner import Learner
from dpcore.synthesis.discrete._rare_values import Grouping
from dpcore.synthesis.discrete.model import SyntheticModel
from dpcore.synthesis.discrete.recipes import Adaptive
from dpcore.tables.counts import Marginal
from tests.synthesis.standin import as_release, random_table

LOSS = dp.ZCDP(rho="0.02")
TABLE = random_table(np.random.default_rng(4), 3000, (2, 2, 2))
EXACT = {
    clique: TABLE.count(clique, {})
    for size in range(4)
    for clique in itertools.combinations(TABLE.domain.names, size)
}
RUNS = 100


def squares(rounds: int, runs: int = RUNS) -> dict[int, np.ndarray]:
    """Columns a table -> of each run the mean of error^2 / variance over cells and
    tables; its mean is 1.
    """
    found: dict[int, list[float]] = {}
    for _ in range(runs):
        tables, _ = Adaptive(rounds=rounds).fit(
            TABLE.measurer(LOSS), ignore_stage_progress
        )
        run: dict[int, list[float]] = {}
        for clique, table in tables.items():
            off = table.values - EXACT[clique]
            run.setdefault(len(clique), []).append(
                float((off**2).mean()) / table.variance
            )
        for size, each in run.items():
            found.setdefault(size, []).append(float(np.mean(each)))
    return {size: np.array(each) for size, each in found.items()}


def too_large(found: np.ndarray) -> bool:
    """Whether errors are larger than stated, at one in a million: by Student's law,
    which skew to the right, as squares have it, passes less often on this side.
    """
    off = float(found.mean() - 1) / float(found.std(ddof=1) / found.size**0.5)
    return bool(off > stats.t.ppf(1 - 1e-6, found.size - 1))


@pytest.fixture
def few_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hasty fit: what is published does not rest on it."""
    monkeypatch.setattr(learner, "MAX_SWEEPS", 1)
    monkeypatch.setattr(learner, "MIN_SWEEPS", 1)


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.usefixtures("few_sweeps")
@pytest.mark.proof
def test_tables_err_as_their_variance_says(rounds: int) -> None:
    """Intervals of published tables would hold less often than they say."""
    for size, found in squares(rounds).items():
        assert not too_large(found), (size, found.mean())
        # nor far wider than need be
        assert size > 2 or found.mean() > 0.4, (size, found.mean())


@pytest.mark.usefixtures("few_sweeps")
@pytest.mark.proof
def test_tables_with_an_earlier_release_err_as_their_variance_says() -> None:
    """What an earlier release measured would be counted twice in the next one."""
    runs = []
    for _ in range(RUNS // 2):
        _, earlier = Adaptive(rounds=2).fit(TABLE.measurer(LOSS), ignore_stage_progress)
        assert isinstance(earlier, SyntheticModel)
        tables, _ = Adaptive(rounds=2, earlier=as_release(earlier)).fit(
            TABLE.measurer(LOSS), ignore_stage_progress
        )
        runs.append(
            np.mean(
                [
                    ((t.values - EXACT[c]) ** 2).mean() / t.variance
                    for c, t in tables.items()
                    if len(c) == 2
                ],
            ),
        )
    assert not too_large(np.array(runs)), np.mean(runs)


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.usefixtures("few_sweeps")
@pytest.mark.proof
def test_completed_tables_taken_for_draws_are_found_out(
    monkeypatch: pytest.MonkeyPatch, rounds: int
) -> None:
    """The twin: contrasts are completed as they come, with all that is known, and the
    tables averaged.
    """

    def take(self: Learner, measured: list[Marginal]) -> None:
        held = {each.clique for each in (*self.joint, *measured)}
        for pair in [pair for pair in self._contrasts if pair in held]:
            measured += self._contrasts.pop(pair)
        known = [*self._columns.measurements, *self.joint]
        agreed = make_consistent(self._domain, [*known, *measured])[len(known) :]
        self.joint += [
            replace(each, values=table.values, variance=table.variance)
            for each, table in zip(measured, agreed, strict=True)
        ]

    def averaged(grouping: Grouping, measured: Sequence[Marginal]) -> list[Marginal]:
        alone = [each for each in measured if len(each.clique) < 2]
        return complete_contrasts(grouping.domain, alone) + pool_draws(
            each for each in measured if len(each.clique) > 1
        )

    monkeypatch.setattr(Learner, "_add_measurements", take)
    monkeypatch.setattr(columns, "pool_draws", list)
    monkeypatch.setattr(synthetic, "complete_tables", averaged)
    assert too_large(squares(rounds, 5 * RUNS // (2 * rounds))[2])
