"""Normal laws clipped to [-1, 1], their moments, and the law with given moments.

A column between public bounds often sits at one of them. Drawn from a normal law and
clipped, its mean and variance move; so the law is chosen such that the clipped values
have the moments that were measured. Between no spread and values at the two bounds
alone every variance below 1 - mean^2 has its law. Source: Rosett and Nelson (1975), of
whose regression with two limits these are the moments.
"""

import math

import numpy as np

from dpcore.tables.counts import Values

NARROWEST = -6.0
WIDEST = 14.0
"""Logarithm of the scale, at least and at most."""
STEPS = 32
"""Halvings of an interval."""
NEAREST = 0.999
"""A mean is taken to lie at most this far from the middle."""


def clipped_moments(center: Values, scale: Values) -> tuple[Values, Values]:
    """Return mean and variance of normal numbers clipped to [-1, 1], elementwise."""
    from scipy.special import ndtr

    low = (-1 - center) / scale
    high = (1 - center) / scale
    at_low = ndtr(low)
    at_high = ndtr(-high)
    between = np.maximum(1 - at_low - at_high, 0.0)
    start = _bell(low)
    end = _bell(high)
    mean = at_high - at_low + center * between + scale * (start - end)
    square = at_low + at_high + (center**2 + scale**2) * between
    square += 2 * center * scale * (start - end) + scale**2 * (low * start - high * end)
    return mean, np.maximum(square - mean**2, 0.0)


def centers_for(means: Values, scale: Values) -> Values:
    """Return the centers whose clipped numbers have these means, for a given scale."""
    wanted, scale = np.broadcast_arrays(np.clip(means, -NEAREST, NEAREST), scale)
    low = -1 - 6 * scale
    high = 1 + 6 * scale
    for _ in range(STEPS):
        middle = (low + high) / 2
        below = clipped_moments(middle, scale)[0] < wanted
        low = np.where(below, middle, low)
        high = np.where(below, high, middle)
    return (low + high) / 2


def scales_for(means: Values, variances: Values, weights: Values) -> Values:
    """Return the common scale of each column at which clipped numbers have these mean
    variances.

    Args:
        means: (lines, columns), in [-1, 1].
        variances: (columns,); what no law has becomes the nearest that one has.
        weights: (lines,), adding up to 1.
    """
    low = np.full(variances.shape, NARROWEST)
    high = np.full(variances.shape, WIDEST)
    for _ in range(STEPS):
        middle = (low + high) / 2
        scale = np.broadcast_to(np.exp(middle), means.shape)
        below = (
            weights @ clipped_moments(centers_for(means, scale), scale)[1] < variances
        )
        low = np.where(below, middle, low)
        high = np.where(below, high, middle)
    scales: Values = np.exp((low + high) / 2)
    return scales


def _bell(at: Values) -> Values:
    """Return the density of the standard normal law."""
    density: Values = np.exp(-np.minimum(at**2, 1400.0) / 2) / math.sqrt(2 * math.pi)
    return density
