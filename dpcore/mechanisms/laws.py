"""Exact distributions (laws) of noisy answers, computed without drawing.

A law is a finite list of outcomes with their chances; tails below 1e-18 are cut off. It
shows the effect of noise and of a neighboring table, and that nothing computed from
an answer reveals more than the answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpcore.errors import UsageError

Values = npt.NDArray[np.float64]

_CUT_CHANCE = 1e-18  # of the tails that are cut off
_MIN_COMPARED_CHANCE = (
    1e-10  # of outcomes; the cut tails would change the ratio of rarer
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Law:
    """A probability distribution: distinct outcomes in ascending order, with chances.

    Both are float64 arrays of one length.
    """

    outcomes: Values
    chances: Values

    @property
    def mean(self) -> float:
        """The expected outcome."""
        return float(self.outcomes @ self.chances)

    @property
    def variance(self) -> float:
        """The expected squared distance from the mean."""
        return float((self.outcomes - self.mean) ** 2 @ self.chances)

    def map(self, function: Callable[[Values], Values]) -> Law:
        """Return the law of a function of the outcome."""
        outcomes, place = np.unique(function(self.outcomes), return_inverse=True)
        return Law(outcomes=outcomes, chances=_add_chances(self.chances, place))

    def add(self, other: Law) -> Law:
        """Return the law of the sum of two independent outcomes."""
        sums = np.add.outer(self.outcomes, other.outcomes).ravel()
        outcomes, place = np.unique(sums, return_inverse=True)
        chances = np.multiply.outer(self.chances, other.chances).ravel()
        return Law(outcomes=outcomes, chances=_add_chances(chances, place))


def _add_chances(chances: Values, outcome_index: npt.NDArray[np.int64]) -> Values:
    sums: Values = np.bincount(outcome_index.ravel(), weights=chances).astype(
        np.float64
    )
    return sums


def laplace_law(count: int, *, noise_scale: float) -> Law:
    """Return the law of `count` plus discrete Laplace noise.

    With q = exp(-1 / noise_scale), it is the law from which `discrete_laplace` draws
    (Ghosh, Roughgarden, Sundararajan 2009).

    Args:
        count: rows.
        noise_scale: above 0, in rows.
    """
    if not (math.isfinite(noise_scale) and noise_scale > 0):
        raise UsageError(
            f"noise_scale ({noise_scale}) must be above 0",
            remedy="use a positive number of rows",
        )
    reach = math.ceil(-math.log(_CUT_CHANCE) * noise_scale)
    steps = np.arange(-reach, reach + 1)
    chances = np.exp(-np.abs(steps) / noise_scale) * math.tanh(1 / (2 * noise_scale))
    return Law(outcomes=(count + steps).astype(np.float64), chances=chances)


def largest_loss(law: Law, neighbor: Law) -> float:
    """Return the largest absolute log-ratio of an outcome's chances in two laws.

    It is the epsilon of the pair of tables. Outcomes with a chance below 1e-10 are left
    out, as cutting the tails would change their ratio.
    """
    _shared, ours, theirs = np.intersect1d(
        law.outcomes, neighbor.outcomes, return_indices=True
    )
    likely = (
        np.minimum(law.chances[ours], neighbor.chances[theirs]) > _MIN_COMPARED_CHANCE
    )
    ratio = np.log(law.chances[ours[likely]]) - np.log(neighbor.chances[theirs[likely]])
    return float(np.abs(ratio).max(initial=0.0))
