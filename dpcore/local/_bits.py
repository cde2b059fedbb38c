"""Random draws with exact probabilities, from the system's random bytes.

A chance is a whole number of 1 / 2^64, its threshold. A draw compares random bytes with
the bytes of the threshold, the most significant first, and stops at the first byte that
differs: one byte is enough for 255 draws of 256. The script in the respondent's browser
takes its bytes in the same order, so that both can be compared.
"""

import decimal
from decimal import Decimal
from fractions import Fraction
from os import urandom

import numpy as np
import numpy.typing as npt

from dpcore.accounting.loss import Number, exact_number
from dpcore.errors import ParameterError

Integers = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]

CHANCE_DENOMINATOR = 2**64
"""Denominator of all chances."""
SMALLEST_EPSILON = Fraction(1, 10**12)
"""Least epsilon that may be asked for."""
LARGEST_EPSILON = 100
"""Epsilon above which draws stay the same: thresholds of 64 bits have no room."""
DRAWS_PER_BLOCK = 1 << 16
"""Draws at a time, so that they stay in the processor's cache."""
WORD_TYPES = ((2**8, "<u2"), (2**24, "<u4"))
"""Largest bound and type of the words for it: at most one word of 256 is rejected."""


def draw_bernoulli(threshold: int | Words, size: int) -> Bools:
    """Return `size` booleans, each True with chance threshold / 2^64.

    Args:
        threshold: from 0 to 2^64 - 1; one for all, or an array of one per draw.
        size: of the array.
    """
    words = np.asarray(threshold, dtype=np.uint64)
    drawn = np.empty(size, dtype=np.bool_)
    ties = []
    first = (words >> np.uint64(56)).astype(np.uint8)
    # Compare the first byte of each draw with the threshold.
    for start in range(0, size, DRAWS_PER_BLOCK):
        part = slice(start, min(start + DRAWS_PER_BLOCK, size))
        level = first[part] if first.ndim else first
        taken = np.frombuffer(urandom(part.stop - start), dtype=np.uint8)
        np.less(taken, level, out=drawn[part])
        ties.append(np.flatnonzero(taken == level) + start)
    # Compare further bytes of the draws that still equal the threshold.
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


def draw_uniform(bound: int, size: int) -> Integers:
    """Return `size` integers drawn uniformly from 0 .. bound - 1.

    `bound` is at most 2^24.
    """
    width = next(width for most, width in WORD_TYPES if bound <= most)
    kind = np.dtype(width)
    # Reject words at or above the largest multiple of the bound.
    limit = (1 << 8 * kind.itemsize) // bound * bound
    words = np.frombuffer(urandom(size * kind.itemsize), dtype=kind)
    if limit < 1 << 8 * kind.itemsize:
        words = words.copy()
        rejected = np.flatnonzero(words >= kind.type(limit))
        while rejected.size:
            words[rejected] = np.frombuffer(
                urandom(rejected.size * kind.itemsize), dtype=kind
            )
            rejected = rejected[words[rejected] >= kind.type(limit)]
    drawn: Integers = (words % kind.type(bound)).astype(np.int64)
    return drawn


def draw_words(size: int) -> Words:
    """Return `size` integers drawn uniformly from 0 .. 2^64 - 1."""
    return np.frombuffer(urandom(8 * size), dtype="<u8")


def check_epsilon(epsilon: Number) -> Fraction:
    """Return `epsilon` as an exact number, at least `SMALLEST_EPSILON`.

    Raises: ParameterError for 0, below, no number, infinite.
    """
    number = exact_number("epsilon", epsilon)
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


def exp_rounded_down(epsilon: Fraction) -> Fraction:
    """Return e^epsilon rounded down, with a relative error below 1e-49.

    `LARGEST_EPSILON` caps it.
    """
    with decimal.localcontext(prec=60, rounding=decimal.ROUND_FLOOR):
        capped = min(epsilon, Fraction(LARGEST_EPSILON))
        power = (Decimal(capped.numerator) / Decimal(capped.denominator)).exp()
        return Fraction(power * (1 - Decimal("1e-50")))


def threshold_of(odds: Fraction) -> int:
    """Return the largest threshold below 1 with odds p / (1 - p) of at most `odds`."""
    return min(int(CHANCE_DENOMINATOR * odds / (1 + odds)), CHANCE_DENOMINATOR - 1)


def chance_of(threshold: int) -> Fraction:
    """Return the chance that a threshold stands for: threshold / 2^64."""
    return Fraction(threshold, CHANCE_DENOMINATOR)


def epsilon_of_ratio(ratio: Fraction, *, max_epsilon: Fraction | None = None) -> float:
    """Return the logarithm of an exact ratio of chances, which is an epsilon.

    It is cut to `max_epsilon`, for rounding.
    """
    with decimal.localcontext(prec=40):
        logarithm = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
    return (
        float(logarithm)
        if max_epsilon is None
        else min(float(logarithm), float(max_epsilon))
    )
