"""Exact laws and tests of draws, at a false-alarm rate of one in a million; nothing is
ever retried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from scipy import stats

FALSE_ALARM = 1e-6
Z = stats.norm.isf(FALSE_ALARM / 2)
REACH = 400
LAMBDA = 1 / 4


def discrete_laplace_pmf(scale: float, reach: int = REACH) -> np.ndarray:
    """P(k) for k = -reach .. reach."""
    return _normalized(-np.abs(np.arange(-reach, reach + 1)) / scale)


def discrete_gaussian_pmf(scale: float, reach: int = REACH) -> np.ndarray:
    """P(k) for k = -reach .. reach."""
    return _normalized(-(np.arange(-reach, reach + 1) ** 2) / (2 * scale**2))


def sum_pmf(pmf: np.ndarray, draws: int) -> np.ndarray:
    """Law of the sum of independent draws, again over -reach .. reach (at most REACH a
    side).
    """
    total = np.array([1.0])
    for _ in range(draws):
        total = np.convolve(total, pmf)
        spare = (len(total) - (2 * REACH + 1)) // 2
        if spare > 0:
            total = total[spare:-spare]
    return total


def moments(pmf: np.ndarray) -> tuple[float, float]:
    """Mean absolute value and variance of a symmetric law over -reach .. reach."""
    k = np.arange(len(pmf)) - len(pmf) // 2
    return float((np.abs(k) * pmf).sum()), float((k**2 * pmf).sum())


def probability(pmf: np.ndarray, low: float, high: float) -> float:
    """P(low <= k <= high)."""
    k = np.arange(len(pmf)) - len(pmf) // 2
    return float(pmf[(k >= low) & (k <= high)].sum())


def chi_square_p(draws: np.ndarray, pmf: np.ndarray) -> float:
    """p-value of the draws under a law over -reach .. reach; cells expecting under 20
    draws are pooled.
    """
    reach = len(pmf) // 2
    observed = np.bincount(
        np.clip(np.asarray(draws, dtype=np.int64), -reach, reach) + reach,
        minlength=len(pmf),
    )
    return chi_square_of_counts(observed, pmf * len(draws))


def chi_square_of_counts(observed: np.ndarray, expected: np.ndarray) -> float:
    """p-value of counts against expected counts of the same sum; neighbors are pooled
    to 20 or more.

    By the power divergence of lambda = 1/4 (Cressie, Read 1984): with 20 draws a cell
    it passes its one-in-a-million value 1.1 times in a million, where Pearson's
    statistic passes it 2 to 12 times.
    """
    pooled: list[list[float]] = [[0.0, 0.0]]
    for seen, wanted in zip(observed, expected, strict=True):
        if pooled[-1][1] >= 20:
            pooled.append([0.0, 0.0])
        pooled[-1][0] += seen
        pooled[-1][1] += wanted
    if pooled[-1][1] < 20 and len(pooled) > 1:
        last = pooled.pop()
        pooled[-1] = [pooled[-1][0] + last[0], pooled[-1][1] + last[1]]
    seen, wanted = np.array(pooled).T
    terms = seen * ((seen / wanted) ** LAMBDA - 1) - LAMBDA * (seen - wanted)
    statistic = float(terms.sum()) * 2 / (LAMBDA * (LAMBDA + 1))
    return float(stats.chi2.sf(statistic, len(wanted) - 1))


def same_law_p(first: np.ndarray, second: np.ndarray) -> float:
    """Two-sample p-value on integers by the same divergence, sparse values pooled to 20
    or more of each.
    """
    values = np.union1d(first, second)
    counts = np.array(
        [[np.sum(first == value), np.sum(second == value)] for value in values]
    )
    pooled: list[np.ndarray] = [np.zeros(2)]
    for pair in counts:
        if pooled[-1].min() >= 20:
            pooled.append(np.zeros(2))
        pooled[-1] = pooled[-1] + pair
    if pooled[-1].min() < 20 and len(pooled) > 1:
        pooled[-2] = pooled[-2] + pooled.pop()
    return float(
        stats.chi2_contingency(
            np.array(pooled).T, correction=False, lambda_=LAMBDA
        ).pvalue
    )


def share_fits(successes: int, trials: int, chance: float) -> bool:
    """Whether a count of successes is credible under `chance`, two-sided, at one in a
    million.
    """
    low = stats.binom.cdf(successes, trials, chance)
    high = stats.binom.sf(successes - 1, trials, chance)
    return bool(min(low, high) > FALSE_ALARM / 2)


def at_least(successes: int, trials: int, chance: float) -> bool:
    """Whether a count of successes is credible under `chance` or more, at one in a
    million.
    """
    return bool(stats.binom.cdf(successes, trials, chance) > FALSE_ALARM)


def mean_fits(values: np.ndarray, mean: float, variance: float) -> bool:
    """Whether the average of many independent values is credible, at one in a million.

    The variance is that of the law: the one of the draws moves along with their
    average, which a twin then misses by chance. Squares are too skew for this test;
    `variance_fits` is for them.
    """
    assert variance not in (np.var(values), np.var(values, ddof=1)), (
        "give the variance of the law"
    )
    deviation = np.sqrt(variance / np.size(values))
    return bool(abs(np.mean(values) - mean) <= Z * deviation)


def variance_fits(values: np.ndarray, mean: float, variance: float) -> bool:
    """Whether normal values spread as their law says, at one in a million: by the
    chi-square law.
    """
    total = float(((np.asarray(values) - mean) ** 2).sum()) / variance
    tails = (
        stats.chi2.cdf(total, np.size(values)),
        stats.chi2.sf(total, np.size(values)),
    )
    return bool(min(tails) > FALSE_ALARM / 2)


def uncorrelated(noise: np.ndarray) -> bool:
    """Whether the columns of (repetitions, cells) noise are uncorrelated, neighbors two
    by two.
    """
    pairs = noise[:, 0 : noise.shape[1] // 2 * 2].reshape(len(noise), -1, 2)
    products = pairs.prod(axis=2).ravel()
    return bool(abs(products.sum()) <= Z * np.sqrt((products**2).sum()))


def clopper_pearson(successes: int, trials: int, error: float) -> tuple[float, float]:
    """Lower and upper bounds of a chance, each wrong with chance at most `error`."""
    low = stats.beta.ppf(error, successes, trials - successes + 1) if successes else 0.0
    high = (
        stats.beta.isf(error, successes + 1, trials - successes)
        if successes < trials
        else 1.0
    )
    return float(low), float(high)


@contextmanager
def broken_noise(draw: Callable[[np.ndarray, float], np.ndarray]) -> Iterator[None]:
    """The curator with planted noise instead of discrete Laplace: for twins that must
    be rejected.
    """

    def planted(
        counts: np.ndarray, *, noise_scale: float, **given: object
    ) -> np.ndarray:
        return draw(np.asarray(counts), noise_scale)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpcore.mechanisms.measurer.add_discrete_laplace", planted)
        yield


def fast_laplace(
    shape: tuple[int, ...], scale: float, rng: np.random.Generator
) -> np.ndarray:
    """The right law from numpy, for building twins that are wrong in one other way
    only.
    """
    return rng.geometric(-np.expm1(-1 / scale), shape) - rng.geometric(
        -np.expm1(-1 / scale), shape
    )


def _normalized(logarithms: np.ndarray) -> np.ndarray:
    weights = np.exp(logarithms - logarithms.max())
    return weights / weights.sum()
