"""Draws with exact chances from the system's random bytes, and the thresholds that keep
an epsilon.

A chance is a whole number of 1 / 2^64. A draw compares random bytes with the bytes of
that number, the most significant first, and stops at the first byte that differs: one
byte is enough for 255 draws of 256. The script in the respondent's browser takes its
bytes in the same order, so that both can be compared.
"""

import decimal
from decimal import Decimal
from fractions import Fraction
from os import urandom

import numpy as np
import numpy.typing as npt

from dpcore.accounting.loss import Number, exact
from dpcore.errors import ParameterError

Integers = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]

WORD = 2**64
SMALLEST_EPSILON = Fraction(1, 10**12)
LARGEST_EPSILON = 100
"""No threshold of 64 bits keeps a larger loss than this apart from it: beyond, the
draws stay the same.
"""
BLOCK = 1 << 16
WIDTHS = ((2**8, "<u2"), (2**24, "<u4"))
"""Number of values, and the width of the words they are drawn from: at most one word of
256 is refused.
"""


def bernoulli(threshold: int | Words, size: int) -> Bools:
    """`size` draws that are True with chance threshold / 2^64 each.

    Args:
        size: of the array.
        threshold: from 0 to 2^64 - 1; one for all, or an array of one per draw.
    """
    words = np.asarray(threshold, dtype=np.uint64)
    drawn = np.empty(size, dtype=np.bool_)
    ties = []
    first = (words >> np.uint64(56)).astype(np.uint8)
    for start in range(0, size, BLOCK):  # in the processor's cache
        part = slice(start, min(start + BLOCK, size))
        level = first[part] if first.ndim else first
        taken = np.frombuffer(urandom(part.stop - start), dtype=np.uint8)
        np.less(taken, level, out=drawn[part])
        ties.append(np.flatnonzero(taken == level) + start)
    tied = np.concatenate(ties) if ties else np.empty(0, dtype=np.intp)
    for shift in range(48, -1, -8):
        if not tied.size:
            break
        level = ((words[tied] if words.ndim else words) >> np.uint64(shift)).astype(
            np.uint8
        )
        taken = np.frombuffer(urandom(tied.size), dtype=np.uint8)
        drawn[tied] = taken < level
        tied = tied[taken == level]
    return drawn


def uniform(bound: int, size: int) -> Integers:
    """`size` draws of 0 .. bound - 1 with equal chances.

    `bound` is at most 2^24.
    """
    width = next(width for most, width in WIDTHS if bound <= most)
    kind = np.dtype(width)
    limit = (1 << 8 * kind.itemsize) // bound * bound
    words = np.frombuffer(urandom(size * kind.itemsize), dtype=kind)
    if limit < 1 << 8 * kind.itemsize:
        words = words.copy()
        refused = np.flatnonzero(words >= kind.type(limit))
        while refused.size:
            words[refused] = np.frombuffer(
                urandom(refused.size * kind.itemsize), dtype=kind
            )
            refused = refused[words[refused] >= kind.type(limit)]
    drawn: Integers = (words % kind.type(bound)).astype(np.int64)
    return drawn


def words(size: int) -> Words:
    """`size` draws of 0 .. 2^64 - 1 with equal chances."""
    return np.frombuffer(urandom(8 * size), dtype="<u8")


def checked_epsilon(epsilon: Number) -> Fraction:
    """`epsilon` as an exact number, at least `SMALLEST_EPSILON`.

    Raises: ParameterError for 0, below, no number, infinite.
    """
    number = exact("epsilon", epsilon)
    if number < SMALLEST_EPSILON:
        raise ParameterError(
            (
                "epsilon ({epsilon}) must be at least 1e-12: reports would hardly "
                "depend "
                "on the answer"
            ),
            remedy="raise epsilon",
            epsilon=float(number),
        )
    return number


def exp_below(epsilon: Fraction) -> Fraction:
    """Return a fraction just below e^epsilon (by less than 1e-49 of it).

    `LARGEST_EPSILON` caps it.
    """
    with decimal.localcontext(prec=60, rounding=decimal.ROUND_FLOOR):
        capped = min(epsilon, Fraction(LARGEST_EPSILON))
        power = (Decimal(capped.numerator) / Decimal(capped.denominator)).exp()
        return Fraction(power * (1 - Decimal("1e-50")))


def threshold_of(odds: Fraction) -> int:
    """Return the largest threshold whose chance p has p / (1 - p) at most `odds`, and
    is below 1.
    """
    return min(int(WORD * odds / (1 + odds)), WORD - 1)


def chance_of(threshold: int) -> Fraction:
    """Return the chance that a threshold keeps."""
    return Fraction(threshold, WORD)


def loss_of(odds: Fraction, *, most: Fraction | None = None) -> float:
    """Return the epsilon of an exact ratio of chances, its logarithm, shown as at most
    `most`.
    """
    with decimal.localcontext(prec=40):
        logarithm = (Decimal(odds.numerator) / Decimal(odds.denominator)).ln()
    return float(logarithm) if most is None else min(float(logarithm), float(most))
