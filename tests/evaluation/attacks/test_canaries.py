"""The audit with canaries: its bound by brute force, and mechanisms that are right,
broken and absent.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dpcore as dp
from dpcore.errors import ParameterError
from dpcore.evaluation.attacks._rates import Rate
from dpcore.evaluation.attacks.canaries import (
    audit_with_canaries,
    chance_of_guesses,
    epsilon_of_guesses,
)
from tests.evaluation.people import SCHEMA as PEOPLE
from tests.evaluation.people import independent, people
from tests.statistical import laws

CELLS = 20_000
SURE = 1 - laws.FALSE_ALARM
SCHEMA = dp.Schema(
    columns=(dp.Integer("v", low=0, high=CELLS - 1),), unit=dp.PrivacyUnit(max_rows=1)
)
BASE = pd.DataFrame({"v": [5, 6, 6]})


def histogram(schema: dp.Schema, loss: dp.PureDP | dp.ApproxDP):
    def run(frame: pd.DataFrame) -> dp.Release:
        curator = dp.Curator.open(frame, schema, budget=loss, ledger=dp.MemoryLedger())
        return curator.run(dp.Histogram("v"), loss)

    return run


def test_chance_by_brute_force() -> None:
    """Against a pure mechanism the best guesser is a coin of e^epsilon / (1 +
    e^epsilon).
    """
    coin = math.e / (1 + math.e)
    for right in range(7):
        by_hand = sum(
            coin ** sum(each) * (1 - coin) ** (6 - sum(each))
            for each in itertools.product((0, 1), repeat=6)
            if sum(each) >= right
        )
        guesses = Rate(successes=right, attempts=6)
        assert chance_of_guesses(100, guesses, epsilon=1, delta=0) == pytest.approx(
            by_hand
        )


def test_delta_only_weakens_the_proof() -> None:
    """With a delta of 1 anything is allowed; with a tiny one next to nothing more than
    without.
    """
    guesses = Rate(successes=80, attempts=100)
    without = chance_of_guesses(100, guesses, epsilon=0.5, delta=0)
    assert without == pytest.approx(stats.binom.sf(79, 100, 1 / (1 + math.exp(-0.5))))
    assert (
        without
        <= chance_of_guesses(100, guesses, epsilon=0.5, delta=1e-9)
        <= without * 1.01
    )
    assert chance_of_guesses(100, guesses, epsilon=0.5, delta=1) == 1


def test_delta_by_its_definition() -> None:
    """beta + 2 m delta max over i of P(v > W >= v - i) / i, summed term by term."""
    m = 50
    r = 40
    v = 30
    epsilon = 0.4
    delta = 1e-3
    coin = stats.binom(r, 1 / (1 + math.exp(-epsilon)))
    terms = [sum(coin.pmf(k) for k in range(v - i, v)) / i for i in range(1, v + 1)]
    expected = coin.sf(v - 1) + 2 * m * delta * max(terms)
    assert chance_of_guesses(
        m, Rate(successes=v, attempts=r), epsilon=epsilon, delta=delta
    ) == pytest.approx(
        expected,
    )


@pytest.mark.parametrize("epsilon", [1, 2])
def test_our_noise_keeps_its_promise_and_the_audit_is_not_blind(epsilon: int) -> None:
    """A bound above epsilon would be a broken promise, one near 0 an audit that sees
    nothing.
    """
    found = audit_with_canaries(
        histogram(SCHEMA, dp.PureDP(epsilon=epsilon)),
        BASE,
        SCHEMA,
        canaries=4_000,
        level=SURE,
        seed=1,
    )
    assert 0.4 * epsilon < found.epsilon <= epsilon
    assert found.guesses.value > found.baseline


def test_half_the_noise_is_caught() -> None:
    """Noise for epsilon 1 that is half of what it should be must be proved to cost
    more.
    """
    rng = np.random.default_rng(1)
    with laws.broken_noise(
        lambda counts, scale: counts + laws.fast_laplace(counts.shape, scale / 2, rng)
    ):
        found = audit_with_canaries(
            histogram(SCHEMA, dp.PureDP(epsilon=1)),
            BASE,
            SCHEMA,
            canaries=4_000,
            level=SURE,
            seed=1,
        )
    assert found.epsilon > 1.2


def test_a_canary_is_a_person_with_all_rows() -> None:
    """Noise for one row where a person has three must be caught."""
    honest = dp.Schema(columns=SCHEMA.columns, unit=dp.PrivacyUnit(max_rows=3))
    run = histogram(honest, dp.PureDP(epsilon=1))
    assert (
        audit_with_canaries(
            run, BASE, honest, canaries=4_000, level=SURE, seed=1
        ).epsilon
        <= 1
    )
    forgetful = histogram(SCHEMA, dp.PureDP(epsilon=1))
    assert (
        audit_with_canaries(
            forgetful, BASE, honest, canaries=4_000, level=SURE, seed=1
        ).epsilon
        > 1.5
    )


def test_named_people() -> None:
    """With an id column, two canaries would be one person."""
    schema = dp.Schema(
        columns=SCHEMA.columns, unit=dp.PrivacyUnit(max_rows=2, id_column="person")
    )
    base = BASE.assign(person=["a", "b", "b"])
    found = audit_with_canaries(
        histogram(schema, dp.PureDP(epsilon=2)),
        base,
        schema,
        canaries=4_000,
        level=SURE,
        seed=1,
    )
    assert 0.8 < found.epsilon <= 2


def test_gaussian_noise_at_its_delta() -> None:
    """zCDP noise must keep its epsilon at the delta that belongs to it."""
    loss = dp.ApproxDP(epsilon=2, delta=1e-6)
    found = audit_with_canaries(
        histogram(SCHEMA, loss),
        BASE,
        SCHEMA,
        canaries=4_000,
        delta=1e-6,
        level=SURE,
        seed=1,
    )
    assert found.epsilon <= 2
    assert found.guesses.value > 0.53  # 0.57 is to be expected


def test_any_recipe_by_its_rows() -> None:
    """A synthesizer made elsewhere hands out rows only: a copy must be caught,
    independent columns not.
    """
    base = people(500, 1)
    copy = audit_with_canaries(
        lambda frame: frame.sample(frac=1, random_state=1), base, PEOPLE, seed=1
    )
    assert copy.epsilon > 4
    drawn = audit_with_canaries(
        lambda frame: independent(frame, 1_000, 3), base, PEOPLE, seed=1
    )
    assert drawn.epsilon < 0.2


@pytest.mark.proof
def test_blind_guesses_prove_nothing() -> None:
    """At 95 %, guesses that have nothing to do with the canaries prove something in few
    of 200 runs.
    """
    rng = np.random.default_rng(1)
    proved = [
        epsilon_of_guesses(rng.random(200), rng.random(200) < 0.5, rng=rng).epsilon > 0
        for _ in range(200)
    ]
    assert sum(proved) <= stats.binom.isf(1e-6, 200, 0.05)


def test_too_few_canaries() -> None:
    """Ten canaries cannot prove anything; the person is told."""
    with pytest.raises(ParameterError, match="at least 20"):
        audit_with_canaries(lambda frame: frame, BASE, SCHEMA, canaries=10)
