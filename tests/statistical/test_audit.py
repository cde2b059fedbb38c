"""An attack on neighboring tables: what it can prove about the loss stays below the
stated loss.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.mechanisms import measurer
from dpcore.synthesis import _marginals as marginals
from tests.statistical import laws

EPSILON = 1.0
REPEATS = 2_500
OF_TWINS = 1_500
"""They prove 0.73 of a loss of 1, and 1.54 of one of 2: 6.9 and 9.5 deviations from the
bars.
"""
COLUMNS = tuple(f"group{number}" for number in range(100))
"""All with the same values: a run measures each of them under its own even share of the
loss.
"""
PEOPLE = pd.DataFrame({"person": ["p", "p", *"qrs"], "group": [0, 0, 1, 1, 0]})


@pytest.fixture(autouse=True)
def as_they_were_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Marginals that were made to agree share their noise; each must be a draw of its
    own.
    """
    monkeypatch.setattr(
        marginals, "make_consistent", lambda domain, measured: tuple(measured)
    )


def noisy_counts(
    frame: pd.DataFrame, unit: dp.PrivacyUnit, loss: dp.PureDP, repeats: int
) -> np.ndarray:
    schema = dp.Schema(
        columns=tuple(dp.Integer(name, low=0, high=1) for name in COLUMNS), unit=unit
    )
    wide = frame[["person"]].assign(**dict.fromkeys(COLUMNS, frame["group"]))
    asked = dp.Marginals(cliques=tuple((name,) for name in COLUMNS))
    together, budget = (
        dp.PureDP(epsilon=loss.epsilon * times) for times in (len(COLUMNS), repeats)
    )
    curator = dp.Curator.open(wide, schema, budget=budget, ledger=dp.MemoryLedger())
    runs = [
        curator.run(asked, together, request_id=str(i))
        for i in range(repeats // len(COLUMNS))
    ]
    return np.array(
        [float(run.marginals[(name,)].values[0]) for run in runs for name in COLUMNS]
    )


def proved_epsilon(with_her: np.ndarray, without: np.ndarray) -> float:
    """The largest loss that the draws prove over thresholds fixed in advance, at one in
    a million in all.
    """
    best = 0.0
    thresholds = range(-2, 6)
    error = laws.FALSE_ALARM / (4 * len(thresholds))
    for threshold in thresholds:
        for p, q in (
            (with_her > threshold, without > threshold),
            (without <= threshold, with_her <= threshold),
        ):
            low, _ = laws.clopper_pearson(int(p.sum()), len(p), error)
            _, high = laws.clopper_pearson(int(q.sum()), len(q), error)
            best = max(best, math.log(low / high) if low > 0 else 0.0)
    return best


@pytest.mark.parametrize(
    "unit",
    [dp.PrivacyUnit(max_rows=2), dp.PrivacyUnit(max_rows=1, id_column="person")],
    ids=str,
)
@pytest.mark.proof
def test_no_attack_proves_more_than_epsilon(unit: dp.PrivacyUnit) -> None:
    """More than epsilon in a proof would mean that the noise, the unit or the bounding
    is wrong.
    """
    loss = dp.PureDP(epsilon=int(EPSILON))
    without = PEOPLE[PEOPLE["person"] != "p"]
    proved = proved_epsilon(
        noisy_counts(PEOPLE, unit, loss, REPEATS),
        noisy_counts(without, unit, loss, REPEATS),
    )
    assert proved <= EPSILON
    assert proved > 0.5  # the attack is not blind


@pytest.mark.proof
def test_half_the_noise_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The audit must catch a mechanism whose noise is half of what it should be."""
    right = measurer.add_discrete_laplace

    def halved(
        counts: np.ndarray, *, noise_scale: float, **given: object
    ) -> np.ndarray:
        return right(counts, noise_scale=noise_scale / 2)

    monkeypatch.setattr(measurer, "add_discrete_laplace", halved)
    unit = dp.PrivacyUnit(max_rows=2)
    loss = dp.PureDP(epsilon=int(EPSILON))
    without = PEOPLE[PEOPLE["person"] != "p"]
    assert (
        proved_epsilon(
            noisy_counts(PEOPLE, unit, loss, OF_TWINS),
            noisy_counts(without, unit, loss, OF_TWINS),
        )
        > EPSILON
    )


def test_a_forgotten_unit_is_caught() -> None:
    """The audit must catch noise for one row on a table where a person has two."""
    unit = dp.PrivacyUnit(max_rows=1)
    loss = dp.PureDP(epsilon=int(EPSILON))
    without = PEOPLE[PEOPLE["person"] != "p"]
    assert (
        proved_epsilon(
            noisy_counts(PEOPLE, unit, loss, OF_TWINS),
            noisy_counts(without, unit, loss, OF_TWINS),
        )
        > EPSILON
    )
