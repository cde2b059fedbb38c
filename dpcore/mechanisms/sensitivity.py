"""Noise scales for a privacy loss, rounded so that the loss is never exceeded."""

import math
from fractions import Fraction

from dpcore.accounting.loss import Loss, PureDP
from dpcore.mechanisms.max_norm import max_norm_scale, max_norm_variance
from dpcore.tables.counts import Noise
from dpcore.tables.sums import UNITS_PER_ROW


def laplace_scale(*, max_rows: int, queries: int, epsilon: Fraction) -> float:
    """Return the smallest Laplace scale for `queries` tables, in rows.

    A person changes each by `max_rows` in L1. Costs rows * queries / scale <= epsilon,
    compared as exact fractions. Source: Dwork et al. (2006).
    """
    return round_up_to_float(Fraction(max_rows * queries) / epsilon)


def gaussian_scale(*, max_rows: int, queries: int, rho: Fraction) -> float:
    """Return the smallest Gaussian scale for `queries` tables, in rows.

    A person changes each by `max_rows` in L2. Costs rows^2 * queries / (2 scale^2) <= rho,
    compared as exact fractions. Source: Canonne, Kamath, Steinke (2020), theorem 4.
    """
    square = Fraction(max_rows**2 * queries) / (2 * rho)
    scale = math.sqrt(square)
    while Fraction(scale) ** 2 < square:
        scale = math.nextafter(scale, math.inf)
    return scale


def noise_kind(loss: Loss) -> Noise:
    """Return the kind of additive noise: Laplace for epsilon, Gaussian for rho."""
    return "laplace" if isinstance(loss, PureDP) else "gaussian"


def noise_scale(*, max_rows: int, queries: int, loss: Loss) -> float:
    """Return the scale of additive Laplace or Gaussian noise at this loss, in rows."""
    if isinstance(loss, PureDP):
        return laplace_scale(max_rows=max_rows, queries=queries, epsilon=loss.epsilon)
    return gaussian_scale(max_rows=max_rows, queries=queries, rho=loss.rho)


def selection_scale(*, max_rows: int, loss: Loss) -> float:
    """Return the scale of a private choice, in the unit of the scores.

    One person changes each score by at most `max_rows`. Permute and flip for epsilon: 2
    rows / scale <= epsilon. Exponential mechanism for rho, with (2 rows / scale)^2 / 8
    <= rho. Source: McKenna, Sheldon (2020); Cesar, Rogers (2021).
    """
    if isinstance(loss, PureDP):
        return round_up_to_float(Fraction(2 * max_rows) / loss.epsilon)
    return gaussian_scale(max_rows=max_rows, queries=1, rho=loss.rho)


def sums_noise_kind(loss: Loss) -> Noise:
    """Return the kind of noise on sums: max-norm for epsilon, Gaussian for rho."""
    return "max norm" if isinstance(loss, PureDP) else "gaussian"


def sums_scale(*, max_rows: int, entries: int, loss: Loss) -> float:
    """Return the scale of the noise on sums, in rows.

    A person changes the sums by `max_rows` in every entry. Max-norm noise for epsilon,
    Gaussian noise for rho, where the entries are as many queries.
    """
    if isinstance(loss, PureDP):
        return (
            max_norm_scale(max_rows=max_rows, entries=entries, epsilon=loss.epsilon)
            / UNITS_PER_ROW
        )
    return gaussian_scale(max_rows=max_rows, queries=entries, rho=loss.rho)


def sums_deviation(*, max_rows: int, entries: int, loss: Loss) -> float:
    """Return the standard deviation of the noise on each of `entries` sums, in rows."""
    scale = sums_scale(max_rows=max_rows, entries=entries, loss=loss)
    return (
        math.sqrt(max_norm_variance(entries, scale))
        if isinstance(loss, PureDP)
        else scale
    )


def noise_variance(noise_scale: float, loss: Loss) -> float:
    """Return the variance of one draw, in rows squared.

    Discrete Laplace: 1 / (2 sinh(1 / (2 scale))^2), from P(k) ~ exp(-|k| / scale).
    Discrete Gaussian: scale^2, an upper bound (Canonne, Kamath, Steinke 2020, corollary
    9).
    """
    if isinstance(loss, PureDP):
        return 0.5 / math.sinh(0.5 / noise_scale) ** 2 if noise_scale > 1e-2 else 0.0
    return noise_scale**2


def round_up_to_float(number: Fraction) -> float:
    """Return the smallest float that is at least `number`."""
    scale = float(number)
    while Fraction(scale) < number:
        scale = math.nextafter(scale, math.inf)
    return scale


def epsilon_within(rho: Fraction) -> Fraction:
    """Return nearly the largest epsilon with epsilon^2 / 2 <= rho."""
    return Fraction(math.isqrt(int(2 * rho * 10**24)), 10**12)
