"""Normal distributions clipped to [-1, 1]: moments, and parameters from moments.

A column between public bounds often sits at one of them. Drawn from a normal law and
clipped, its mean and variance change; so the law is chosen such that the clipped values
have the measured moments. Every variance from 0 to 1 - mean^2, that of values at the
two bounds alone, has its law. Source: Rosett and Nelson (1975), of whose regression
with two limits these are the moments.
"""

import math

import numpy as np

from dpcore.tables.counts import Values

MIN_LOG_SCALE = -6.0
MAX_LOG_SCALE = 14.0
"""Least and largest logarithm of a scale."""
BISECTION_STEPS = 32
"""Steps of each bisection."""
MAX_ABSOLUTE_MEAN = 0.999
"""Means are clipped to this distance from the middle."""


def clipped_moments(center: Values, scale: Values) -> tuple[Values, Values]:
    """Return mean and variance of normal variables clipped to [-1, 1], elementwise."""
    from scipy.special import ndtr

    low = (-1 - center) / scale
    high = (1 - center) / scale
    at_low = ndtr(low)
    at_high = ndtr(-high)
    between = np.maximum(1 - at_low - at_high, 0.0)
    start = _normal_density(low)
    end = _normal_density(high)
    mean = at_high - at_low + center * between + scale * (start - end)
    square = at_low + at_high + (center**2 + scale**2) * between
    square += 2 * center * scale * (start - end) + scale**2 * (low * start - high * end)
    return mean, np.maximum(square - mean**2, 0.0)


def find_centers(means: Values, scale: Values) -> Values:
    """Return the normal means that give these means after clipping."""
    wanted, scale = np.broadcast_arrays(
        np.clip(means, -MAX_ABSOLUTE_MEAN, MAX_ABSOLUTE_MEAN), scale
    )
    low = -1 - 6 * scale
    high = 1 + 6 * scale
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        below = clipped_moments(middle, scale)[0] < wanted
        low = np.where(below, middle, low)
        high = np.where(below, high, middle)
    return (low + high) / 2


def find_scales(means: Values, variances: Values, weights: Values) -> Values:
    """Return, per column, the normal SD that gives these variances after clipping.

    The variances are means over the lines, of which one scale is common to a column.

    Args:
        means: (lines, columns), in [-1, 1].
        variances: (columns,); an impossible one is replaced by the nearest possible.
        weights: (lines,), adding up to 1.
    """
    low = np.full(variances.shape, MIN_LOG_SCALE)
    high = np.full(variances.shape, MAX_LOG_SCALE)
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        scale = np.broadcast_to(np.exp(middle), means.shape)
        below = (
            weights @ clipped_moments(find_centers(means, scale), scale)[1] < variances
        )
        low = np.where(below, middle, low)
        high = np.where(below, high, middle)
    scales: Values = np.exp((low + high) / 2)
    return scales


def _normal_density(points: Values) -> Values:
    """Return the density of the standard normal distribution."""
    density: Values = np.exp(-np.minimum(points**2, 1400.0) / 2) / math.sqrt(
        2 * math.pi
    )
    return density
