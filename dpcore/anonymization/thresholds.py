"""Exact decisions at a threshold, which is often met exactly, where floats are too
close.
"""

import math
from fractions import Fraction

import numpy as np

from dpcore.tables.classes import IntArray

NEAR = 1e-9
"""Figures that differ by a larger share of them are compared as floats."""
DENOMINATOR = 10**9
"""Of the fraction that a float stands for: 1.1 is eleven tenths, as it was written."""


def written(number: float) -> Fraction:
    """Return the fraction that a float was written as."""
    return Fraction(number).limit_denominator(DENOMINATOR)


def most_within(limit: float, people: int) -> int:
    """Return the most of so many people who are within a share of them, exactly (29 of
    100 for .29).
    """
    return math.floor(written(limit) * people)


def least_limit(some: int, people: int) -> float:
    """Return the least tenth of a percent of so many people that some of them are
    within.
    """
    return -(-1000 * some // people) / 1000


def compared(figures: IntArray, factor: float, units: IntArray) -> IntArray:
    """Return -1, 0 or 1 for whole numbers below, at or above `factor` times others,
    (classes,) int64.
    """
    bounds = factor * units
    signs = np.sign(figures - bounds).astype(np.int64)
    near = np.flatnonzero(np.abs(figures - bounds) < NEAR * bounds)
    if len(near):
        exact = written(factor)
        left = figures[near].astype(object)
        right = units[near].astype(object)
        signs[near] = np.sign(
            left * exact.denominator - right * exact.numerator
        ).astype(np.int64)
    return signs
