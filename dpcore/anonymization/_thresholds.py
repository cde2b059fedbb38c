"""Compare counts with thresholds exactly, as many lie exactly on one."""

import math
from fractions import Fraction

import numpy as np

from dpcore.tables.classes import IntArray

FLOAT_TOLERANCE = 1e-9
"""Relative difference below which figures are compared as exact fractions."""
MAX_DENOMINATOR = 10**9
"""Largest denominator when a float is read as a fraction: 1.1 is 11/10."""


def as_fraction(number: float) -> Fraction:
    """Return the simple fraction that a float was probably written as."""
    return Fraction(number).limit_denominator(MAX_DENOMINATOR)


def max_people_in_share(limit: float, people: int) -> int:
    """Return the most people within a share, exactly (29 of 100 for .29)."""
    return math.floor(as_fraction(limit) * people)


def min_limit(suppressed: int, people: int) -> float:
    """Return the smallest limit, in steps of 0.1 %, that allows `suppressed` people."""
    return -(-1000 * suppressed // people) / 1000


def compare_exactly(figures: IntArray, factor: float, units: IntArray) -> IntArray:
    """Return -1, 0 or 1 for figures below, at or above `factor` times `units`."""
    bounds = factor * units
    signs = np.sign(figures - bounds).astype(np.int64)
    near = np.flatnonzero(np.abs(figures - bounds) < FLOAT_TOLERANCE * bounds)
    if len(near):
        exact = as_fraction(factor)
        left = figures[near].astype(object)
        right = units[near].astype(object)
        signs[near] = np.sign(
            left * exact.denominator - right * exact.numerator
        ).astype(np.int64)
    return signs
