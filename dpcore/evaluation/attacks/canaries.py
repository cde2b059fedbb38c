"""A lower bound on the epsilon of any recipe, from one run with planted people.

Each canary is in the table with chance one half. Guesses from the release about which
ones are in are right at most as often as a coin with chance e^epsilon / (1 +
e^epsilon). Source: Steinke, Nasr, Jagielski (2023), "Privacy auditing with one (1)
training run", theorems 2.1 and 5.2.
"""

import bisect
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import UsageError
from dpcore.evaluation._records import EVALUATION_SEED, Floats, read_records
from dpcore.evaluation.attacks._rates import Rate
from dpcore.evaluation.attacks.base import nearest_rows
from dpcore.release import Release
from dpcore.schema.schema import Schema

CONFIDENCE_LEVEL = 0.95
"""Usual chance that the true epsilon is at least the bound."""

_GUESSED_SHARES = (1.0, 0.5, 0.1)
"""Shares of the canaries to guess at, the clearest ones; the error is split over them."""


@dataclass(frozen=True, kw_only=True)
class CanaryReport:
    """Lower bound on epsilon that one run with canaries proves.

    Attributes:
        epsilon: lower bound on the loss; 0 proves nothing.
        delta: at which it holds.
        canaries: people planted with chance one half each.
        guesses: right guesses among those that gave the bound; its baseline is a coin,
            one half.
    """

    epsilon: float
    delta: float
    canaries: int
    guesses: Rate

    baseline = 0.5


def audit_with_canaries(
    run: Callable[[pd.DataFrame], Release | pd.DataFrame],
    base: pd.DataFrame,
    schema: Schema,
    *,
    canaries: int = 1000,
    delta: float = 0.0,
    level: float = CONFIDENCE_LEVEL,
    seed: int = EVALUATION_SEED,
) -> CanaryReport:
    """Plant canaries in `base`, run the recipe once, and guess which were included.

    A canary is one person with all the rows that the privacy unit allows, all alike,
    with values drawn evenly from the declared cells. For a release, its counts are
    compared with those of `base`, which the attacker knows; for a table, the distance
    of its rows to a canary decides.

    Args:
        run: from a table to what would be published; it is called once.
        base: public or invented rows, at least one.
        schema: of `base`, with the privacy unit.
        canaries: 20 or more. What they prove depends on the recipe. Of a histogram with
            more cells than canaries at epsilon 1 a thousand prove about 0.7, a hundred
            thousand 1. Of a synthetic table over several columns a thousand prove about
            0.1 of 1: one run shows each of them once, and noise of many tables hides
            that. `audit_loss` proves far more, by many runs on an invented table.
        delta: at which the epsilon holds.
        level: chance that the true epsilon is at least the bound.
        seed: of the canaries, not of the run.

    Raises: ParameterError; errors of `run`.
    """
    if canaries < 20:
        raise UsageError(
            f"canaries ({canaries}) must be at least 20", remedy="plant 1,000"
        )
    rng = np.random.default_rng(seed)
    planted = _make_canaries(base, schema, canaries, rng)
    inside = rng.random(canaries) < 0.5
    rows = planted[inside].loc[planted[inside].index.repeat(schema.unit.max_rows)]
    released = run(pd.concat([base, rows], ignore_index=True))
    scores = (
        _score_by_counts(released, base, planted, schema)
        if isinstance(released, Release) and released.marginals
        else _score_by_distance(_released_rows(released), planted, schema, rng)
    )
    return epsilon_of_guesses(scores, inside, delta=delta, level=level, rng=rng)


def epsilon_of_guesses(
    scores: Floats,
    inside: npt.NDArray[np.bool_],
    *,
    delta: float = 0.0,
    level: float = CONFIDENCE_LEVEL,
    rng: np.random.Generator,
) -> CanaryReport:
    """Return the best lower bound on epsilon from the clearest guesses.

    High scores are guessed "in" and low ones "out".

    Args:
        scores: one a canary; only their order matters, ties are decided by chance.
        inside: whether each canary was in the table.
    """
    order = np.lexsort((rng.random(len(scores)), scores))
    best = CanaryReport(
        epsilon=0.0,
        delta=delta,
        canaries=len(scores),
        guesses=Rate(successes=0, attempts=0),
    )
    for share in _GUESSED_SHARES:
        guessed = max(1, round(share * len(scores) / 2))  # on each side
        right = int(inside[order[-guessed:]].sum() + (~inside[order[:guessed]]).sum())
        rate = Rate(successes=right, attempts=2 * guessed)
        epsilon = epsilon_bound(
            len(scores), rate, delta=delta, error=(1 - level) / len(_GUESSED_SHARES)
        )
        if epsilon > best.epsilon or not best.guesses.attempts:
            best = CanaryReport(
                epsilon=epsilon, delta=delta, canaries=len(scores), guesses=rate
            )
    return best


def epsilon_bound(canaries: int, guesses: Rate, *, delta: float, error: float) -> float:
    """Return the largest epsilon that these right guesses refute at level `error`.

    It is in steps of 0.001 up to 20.
    """

    def chance(step: int) -> float:
        return chance_of_guesses(canaries, guesses, epsilon=step / 1000, delta=delta)

    # The chance rises with epsilon, so bisection works
    refuted = bisect.bisect_left(range(20_001), error, key=chance)
    return max(0, refuted - 1) / 1000


def chance_of_guesses(
    canaries: int, guesses: Rate, *, epsilon: float, delta: float
) -> float:
    """Return the largest chance of this many right guesses under approximate DP."""
    from scipy import stats

    right = guesses.successes
    made = guesses.attempts
    coin = stats.binom(made, 1 / (1 + math.exp(-epsilon)))
    chance = float(coin.sf(right - 1))
    if delta:
        # P(right > coin >= right - i), i = 1, 2, ...
        just_below = np.cumsum(coin.pmf(np.arange(right - 1, -1, -1)))
        alpha = float((just_below / np.arange(1, right + 1)).max(initial=0.0))
        chance += 2 * canaries * delta * alpha
    return min(1.0, chance)


def _make_canaries(
    base: pd.DataFrame, schema: Schema, canaries: int, rng: np.random.Generator
) -> pd.DataFrame:
    columns = {
        column.name: column.decode(rng.integers(column.size, size=canaries), rng)
        for column in schema.columns
    }
    for column in sorted(schema.columns, key=lambda each: len(each.source_columns)):
        column.combine_drawn(columns, rng)
    person = schema.unit.id_column
    if person is not None:
        columns[person] = pd.Series([f"canary {number}" for number in range(canaries)])
    return pd.DataFrame(columns).reindex(columns=base.columns)


def _encode_column(
    frame: pd.DataFrame, schema: Schema, name: str
) -> npt.NDArray[np.int64]:
    column = schema.column(name)
    return column.encode(column.values_of(frame))


def _score_by_counts(
    release: Release, base: pd.DataFrame, planted: pd.DataFrame, schema: Schema
) -> Floats:
    """Return for each canary the excess counts of its cells, weighted by precision.

    The excess is over the counts of `base`.
    """
    scores = np.zeros(len(planted))
    for clique, marginal in release.marginals.items():
        cells = [_encode_column(planted, schema, name) for name in clique]
        known = [_encode_column(base, schema, name) for name in clique]
        counts = np.zeros(marginal.values.shape)
        np.add.at(counts, tuple(known), 1)
        scores += (marginal.values - counts)[tuple(cells)] / max(
            marginal.variance, 1e-9
        )
    return scores


def _score_by_distance(
    table: pd.DataFrame,
    planted: pd.DataFrame,
    schema: Schema,
    rng: np.random.Generator,
) -> Floats:
    released, targets = read_records([table, planted], schema)
    return -nearest_rows(targets, released, rng)[1]


def _released_rows(released: Release | pd.DataFrame) -> pd.DataFrame:
    return released.sample() if isinstance(released, Release) else released
