"""Population uniqueness, estimated from a sample.

Three models of how class sizes continue beyond the sample. All are estimates, and they
differ.
"""

import math

import numpy as np

from dpcore.errors import UsageError
from dpcore.roots import find_root
from dpcore.tables.classes import FloatArray, IntArray

MIN_EXPECTED_COUNT = 1e-300
LARGE_POPULATION_FACTOR = 10
"""A population of so many times theta counts as far above it."""


def pitman_uniqueness(classes: IntArray, *, population: int) -> float:
    """Estimate the unique share of the population by Pitman's sampling formula.

    Args:
        classes: (rows,) class of each row of the sample.
        population: people, at least as many as rows.

    Raises: ParameterError for a population smaller than the sample.

    Source: Hoshino (2001), J. Official Statistics 17, maximum likelihood: expected
    uniques among N people are Gamma(theta + 1) / Gamma(theta + alpha) * N ** alpha. If
    theta is not far below N, as when nearly all rows are unique, the exact Gamma(theta
    + N + alpha - 1) / Gamma(theta + N) replaces N ** (alpha - 1).
    """
    sizes = _count_class_sizes(classes, population)
    if not (sizes == 1).any():
        return 0.0
    if (sizes == 1).all():
        return 1.0
    from scipy.special import poch

    theta, alpha = _fit_pitman(sizes)
    rest = 1 - alpha
    whole = population**rest
    if (
        theta >= population / LARGE_POPULATION_FACTOR
    ):  # the power of N is what this tends to
        whole = poch(theta + population - rest, rest)
    return min(1.0, float(poch(theta + alpha, rest) / whole))


def zayatz_uniqueness(classes: IntArray, *, population: int) -> float:
    """Estimate the unique share of the population from the sample's class sizes.

    These are taken for the population's. Args and raises as `pitman_uniqueness`.

    Source: Zayatz (1991), US Census Bureau CENSUS/SRD/RR-91/08: of the classes seen
    once, those of size 1 make up P(1) h(1) / sum_i P(i) h(i), with h(i) the
    hypergeometric probability that a class of size i is seen once.
    """
    sizes = _count_class_sizes(classes, population)
    rows = int(sizes.sum())
    size, classes_of_size = np.unique(sizes, return_counts=True)
    if size[0] > 1:
        return 0.0
    seen_once = size * np.exp(
        _log_choose(population - size, rows - 1) - _log_choose(population, rows)
    )
    truly_unique = seen_once[0] * classes_of_size[0] / (seen_once @ classes_of_size)
    return float(classes_of_size[0] / rows * truly_unique)


def shifted_binomial_uniqueness(classes: IntArray, *, population: int) -> float:
    """Estimate the unique share by a shifted negative binomial law of class sizes.

    Args and raises as `pitman_uniqueness`. It is 0 if no such law has the sample's
    classes of one and two. Source: Chen, McNulty (1998), J. Official Statistics 14.
    """
    size, number = np.unique(
        _count_class_sizes(classes, population), return_counts=True
    )
    share = len(classes) / population
    if size[:2].tolist() != [1, 2] or share == 1:
        return 0.0
    all_classes, power, chance = _fit_shifted_binomial(size, number, share)
    return min(1.0, float(all_classes * chance**power / population))


def _count_class_sizes(classes: IntArray, population: int) -> IntArray:
    if population < len(classes):
        raise UsageError(
            (
                f"population ({population}) must be at least the number of rows of the "
                "sample"
            ),
            remedy="give the number of people the sample was drawn from",
        )
    sizes = np.bincount(classes)
    return sizes[sizes > 0]


def _log_choose(n: IntArray | int, m: int) -> FloatArray:
    """Return the log of the binomial coefficient; minus infinity if n < m."""
    from scipy.special import betaln

    return np.asarray(-np.log1p(n) - betaln(n - np.float64(m) + 1, m + 1))


def _fit_pitman(sizes: IntArray) -> tuple[float, float]:
    """Fit theta and alpha of Pitman's formula to u classes with n rows.

    Some of the classes, but not all, have size 1. The log likelihood is sum_{i<u}
    log(theta + i alpha) - sum_{i<n} log(theta + i) + sum_j m_j log(j - alpha), with m_j
    the number of classes of more than j rows. Its slopes slope through 0 once: bisection
    on theta inside bisection on alpha finds the maximum, or the edge alpha = 0 (Ewens'
    formula) if the slope is negative there.
    """
    classes = len(sizes)
    rows = int(sizes.sum())
    inside = np.arange(1, sizes.max(), dtype=np.float64)
    larger = classes - np.cumsum(np.bincount(sizes))[1:-1]

    def best_theta(alpha: float) -> float:
        def slope(logarithm: float) -> float:
            theta = math.exp(logarithm) - alpha
            of_classes = _digamma_step(theta / alpha + 1, classes - 1)
            return _harmonic(theta, rows) - of_classes / alpha

        return math.exp(find_root(slope, -40.0, 60.0)) - alpha

    def slope(alpha: float) -> float:
        theta = best_theta(alpha)
        of_classes = (classes - 1 - theta * _harmonic(theta, rows)) / alpha
        return float(larger @ (1 / (inside - alpha))) - of_classes

    alpha = find_root(slope, 1e-6, 1 - 1e-9)
    return best_theta(alpha), alpha


def _harmonic(theta: float, rows: int) -> float:
    """Return the sum of 1 / (theta + i) for i = 1 .. rows - 1."""
    return _digamma_step(theta + 1, rows - 1)


def _digamma_step(x: float, step: float) -> float:
    """Return digamma(x + step) - digamma(x) without cancellation for large x."""
    from scipy.special import psi

    if x < 1e4:
        return float(psi(x + step) - psi(x))
    y = x + step
    squares = (1 / x - 1 / y) * (1 / x + 1 / y)
    return math.log1p(step / x) + (1 / x - 1 / y) / 2 + squares / 12


def _fit_shifted_binomial(
    size: IntArray, number: IntArray, share: float
) -> tuple[float, float, float]:
    """Fit the population's number K of classes, and the law (a, p) of their sizes.

    K is 0 if there is no such law. With the generating function G(z) = z (p / (1 - (1 -
    p) z))^a of the sizes, a sample of a share f has K f G'(1 - f) classes of one and K
    f^2 / 2 G''(1 - f) of two on average, which are those that were seen. K is
    Shlosser's estimate as modified by Haas, Stokes (1998), J. Am. Stat. Association 93.
    """
    from scipy.optimize import root
    from scipy.special import expit

    rest = 1 - share
    double = 1 - share**2
    unseen = number @ rest**size / (number @ (size * share * rest ** (size - 1)))
    twice = (
        number
        @ (size * share**2 * double ** (size - 1))
        / (number @ (double**size - rest**size))
    )
    classes = number.sum() + number[0] * twice * unseen**2

    def misses(law: FloatArray) -> FloatArray:
        power = np.exp(law[0])
        failure = expit(-law[1])
        left = 1 - failure * rest
        common = classes * share * ((1 - failure) / left) ** power
        twos = (
            common
            * share
            / 2
            * power
            * failure
            * (2 + (power - 1) * failure * rest)
            / left**2
        )
        expected = np.array([common * (1 + power * failure * rest / left), twos])
        return np.asarray(np.log(np.maximum(expected, MIN_EXPECTED_COUNT) / number[:2]))

    fit = root(misses, np.zeros(2))
    return float(classes * fit.success), float(np.exp(fit.x[0])), float(expit(fit.x[1]))
