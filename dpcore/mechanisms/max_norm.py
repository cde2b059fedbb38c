"""The K-norm mechanism of the max norm, for vectors of sums with bounded entries.

Release s + z with P(z) ~ q^max|z_i|, q = exp(-1 / scale), over the whole numbers. A row
that changes s by at most c in every entry changes every probability by a factor of at
most exp(c / scale): epsilon = c / scale, however many entries there are (Hardt, Talwar
2010, "On the geometry of differential privacy", section 4). For p entries the noise of
one has the standard deviation scale * sqrt((p + 1)(p + 2) / 3), where independent
Laplace noise of the same loss has scale * p * sqrt(2): up to 2.45 times more.

z is drawn exactly, without a floating-point number. Given R it is uniform on the cube
{-R .. R}^p, with P(R = r) ~ (2r + 1)^p q^r. These weights have the generating function
B_p(q) / (1 - q)^(p + 1) with the type-B Eulerian polynomial B_p (Brenti 1994, section
3), whose coefficients are above 0. So R = J + the sum of p + 1 geometric numbers, with
P(J = j) ~ B(p, j) q^j.
"""

import bisect
import functools
import itertools
import math
import secrets
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpcore.errors import too_many_cells_error
from dpcore.tables.sums import UNITS_PER_ROW, Integers

MAX_ENTRIES = 1_000  # of one vector, for which drawing stays fast
_MAX_SUM = 2**62  # in units of 1 / GRID rows, to fit int64


def add_max_norm_noise(sums: Integers, *, scale: int) -> Integers:
    """Add to each line of sums its own draw z with P(z) ~ exp(-max|z_i| / scale).

    Costs (change of a line in the max norm) / scale in epsilon, summed over the lines
    that a person changes.

    Args:
        sums: int64 (lines, entries), in units of 1 / GRID rows.
        scale: whole number from 1, in the same units.

    Returns: int64 of the same shape. Sums beyond 2^62 are cut there, which is
        post-processing.

    Raises: LimitError for more than 1,000 entries.
    """
    lines, entries = sums.shape
    check_entries(entries)
    noisy = np.empty(sums.shape, dtype=np.int64)
    for line in range(lines):
        radius = _draw_radius(entries, scale)
        for entry in range(entries):
            total = int(sums[line, entry]) + secrets.randbelow(2 * radius + 1) - radius
            noisy[line, entry] = max(-_MAX_SUM, min(_MAX_SUM, total))
    return noisy


def max_norm_scale(*, max_rows: int, entries: int, epsilon: Fraction) -> int:
    """Return the smallest scale for this epsilon, in units of 1 / GRID rows.

    A person changes the lines by `max_rows` in every entry: this costs rows * GRID / scale
    <= epsilon, exactly. Never below the number of entries, where drawing would be slow;
    so much noise is far less than a row. Large scales are whole multiples of what a
    float can hold.
    """
    scale = max(math.ceil(max_rows * UNITS_PER_ROW / epsilon), entries)
    spare = max(0, scale.bit_length() - 53)
    return -(-scale >> spare) << spare


def max_norm_variance(entries: int, scale: float) -> float:
    """Return a tight upper bound on the noise variance of one entry.

    The unit is that of the scale, squared. E[R (R + 1)] / 3 with R ~ Gamma(p + 1) in
    units of the scale. Source: Hardt, Talwar (2010), section 4.
    """
    return (entries + 1) * (entries + 2) / 3 * scale**2


def max_norm_density(
    noise: npt.NDArray[np.float64], entries: int, scale: float
) -> npt.NDArray[np.float64]:
    """Return the approximate density of one entry's noise at these values.

    The numbers are in the unit of the scale. Given the radius, an entry is uniform on
    [-R, R], and R ~ Gamma(p + 1): so the density is that of E[1 / (2 R); R >= |z|] =
    Q(p, |z|) / (2 p), with the regularized upper incomplete gamma function Q.
    """
    from scipy.special import gammaincc

    density: npt.NDArray[np.float64] = gammaincc(entries, np.abs(noise) / scale) / (
        2 * entries * scale
    )
    return density


def check_entries(entries: int) -> None:
    """Refuse a vector too long to draw noise for."""
    if entries > MAX_ENTRIES:
        raise too_many_cells_error(entries, MAX_ENTRIES)


def _draw_radius(entries: int, scale: int) -> int:
    """Draw R with P(R = r) ~ (2r + 1)^entries exp(-r / scale)."""
    sums = _eulerian_sums(entries)
    while True:
        # 1. Draw J from the Eulerian numbers and accept it with chance q^J.
        offset = bisect.bisect_right(sums, secrets.randbelow(sums[-1]))
        if draw_bernoulli_exp(offset, scale):
            # 2. Return R = J + the sum of p + 1 geometric variables.
            return offset + sum(_draw_geometric(scale) for _ in range(entries + 1))


@functools.lru_cache(maxsize=64)
def _eulerian_sums(entries: int) -> tuple[int, ...]:
    """Return the cumulative sums of type-B Eulerian numbers.

    These are B(p, 0), B(p, 0) + B(p, 1), ... for p = entries.
    """
    return tuple(itertools.accumulate(eulerian_numbers(entries)))


def eulerian_numbers(entries: int) -> list[int]:
    """Return the coefficients of the type-B Eulerian polynomial B_p.

    They satisfy: the sum of (2r + 1)^p x^r is B_p(x) / (1 - x)^(p + 1). B(n, k) = (2k +
    1) B(n - 1, k) + (2n - 2k + 1) B(n - 1, k - 1). Source: Brenti (1994), section 3.
    """
    row = [1]
    for n in range(1, entries + 1):
        left = [*row, 0]
        above = [0, *row]
        row = [
            (2 * k + 1) * left[k] + (2 * n - 2 * k + 1) * above[k] for k in range(n + 1)
        ]
    return row


def _draw_geometric(scale: int) -> int:
    """Draw k with P(k) ~ exp(-k / scale).

    Source: Canonne, Kamath, Steinke (2020), algorithm 2.
    """
    # k = remainder + scale * quotient; the two are drawn independently.
    while True:
        remainder = secrets.randbelow(scale)
        if draw_bernoulli_exp(remainder, scale):
            break
    quotient = 0
    while draw_bernoulli_exp(1, 1):
        quotient += 1
    return remainder + scale * quotient


def draw_bernoulli_exp(numerator: int, denominator: int) -> bool:
    """Draw True with chance exp(-numerator / denominator).

    It uses random whole numbers alone. Source: Canonne, Kamath, Steinke (2020),
    algorithm 1.
    """
    while numerator > denominator:
        if not draw_bernoulli_exp(1, 1):
            return False
        numerator -= denominator
    # If numerator = denominator, the first coin always succeeds, so it is skipped.
    tries = 1 if numerator < denominator else 2
    while secrets.randbelow(denominator * tries) < numerator:
        tries += 1
    return tries % 2 == 1
