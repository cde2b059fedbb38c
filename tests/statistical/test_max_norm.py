"""The K-norm mechanism of the max norm: its full law, its sampler, and an attack on
it.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad

from dpcore.errors import LimitError
from dpcore.mechanisms import max_norm
from dpcore.mechanisms.max_norm import (
    add_max_norm_noise,
    draw_bernoulli_exp,
    eulerian_numbers,
    max_norm_density,
    max_norm_scale,
    max_norm_variance,
)
from dpcore.tables.counts import half_width
from dpcore.tables.sums import UNITS_PER_ROW
from tests.statistical import laws
from tests.tiers import but_first

DRAWS = 36_000
"""A scale that is a tenth off is rejected by 6.6 deviations at 26,000 to 35,000
draws.
"""
Draw = Callable[[int, int], np.ndarray]


def draws(entries: int, scale: int, lines: int = DRAWS) -> np.ndarray:
    return add_max_norm_noise(np.zeros((lines, entries), dtype=np.int64), scale=scale)


WIDE = 300
LINES = {1: 17_000, 2: 8_500, 3: 3_000, 9: 10_000, 45: 600}
"""Entries -> lines at which both twins of wide draws are rejected by 6.6 deviations."""


@functools.cache
def wide_draws(entries: int) -> np.ndarray:
    """Draws at a scale that is nearly continuous, looked at by two tests."""
    return add_max_norm_noise(
        np.zeros((LINES[entries], entries), dtype=np.int64), scale=WIDE
    )


def full_law(entries: int, scale: float, reach: int) -> np.ndarray:
    """P(z) over the cube from -reach to reach, multiplied out; what is beyond is left
    out.
    """
    axes = np.abs(np.indices((2 * reach + 1,) * entries) - reach)
    weights = np.exp(-axes.max(axis=0) / scale)
    far = np.arange(reach + 1, reach + 4000)
    beyond = (
        ((2 * far + 1.0) ** entries - (2 * far - 1.0) ** entries) * np.exp(-far / scale)
    ).sum()
    law: np.ndarray = weights / (weights.sum() + beyond)
    return law


def p_value(noise: np.ndarray, law: np.ndarray) -> float:
    """p-value of whole vectors under their joint law, all vectors beyond the cube as
    one cell.
    """
    reach = law.shape[0] // 2
    inside = (np.abs(noise) <= reach).all(axis=1)
    places = tuple((noise[inside] + reach).T)
    observed = np.zeros(law.shape)
    np.add.at(observed, places, 1)
    # neighbors in the order of their distance are alike, so that pooling small cells
    # keeps the shape
    order = np.argsort(
        np.abs(np.indices(law.shape) - reach).max(axis=0), axis=None, kind="stable"
    )
    seen = np.append(observed.ravel()[order], (~inside).sum())
    wanted = np.append(law.ravel()[order], 1 - law.sum()) * len(noise)
    return laws.chi_square_of_counts(seen, wanted)


def clipped_laplace(entries: int, scale: int) -> np.ndarray:
    """Independent Laplace noise of the deviation of the right law."""
    wide = math.sqrt(max_norm_variance(entries, scale) / 2)
    return laws.fast_laplace((DRAWS, entries), wide, np.random.default_rng(1))


def rounded_continuous(entries: int, scale: int) -> np.ndarray:
    """The continuous mechanism, rounded: what floating-point noise would give."""
    rng = np.random.default_rng(2)
    radius = rng.gamma(entries + 1, scale, (DRAWS, 1))
    return np.rint(radius * rng.uniform(-1, 1, (DRAWS, entries))).astype(np.int64)


def without_skew(entries: int, scale: int) -> np.ndarray:
    """The geometric part of the radius only."""
    rng = np.random.default_rng(3)
    radius = (rng.geometric(-np.expm1(-1 / scale), (DRAWS, entries + 1)) - 1).sum(
        axis=1, keepdims=True
    )
    return rng.integers(-radius, radius + 1, (DRAWS, entries))


@pytest.mark.parametrize(
    "shape", but_first(1, [(2, 2, 10), (1, 3, 30), (3, 2, 6)]), ids=str
)
def test_full_law(shape: tuple[int, int, int]) -> None:
    """Noise of another joint law would keep another epsilon than the ledger says."""
    entries, scale, reach = shape
    noise = draws(entries, scale)
    law = full_law(entries, scale, reach)
    assert p_value(noise, law) > laws.FALSE_ALARM
    # twin: a tenth off
    assert p_value(noise, full_law(entries, scale * 1.1, reach)) < laws.FALSE_ALARM
    assert p_value(noise, full_law(entries, scale / 1.1, reach)) < laws.FALSE_ALARM


@pytest.mark.parametrize("planted", [clipped_laplace, rounded_continuous, without_skew])
def test_other_laws_are_rejected(planted: Draw) -> None:
    """Twins: the right width with another shape, and both short cuts of the sampler,
    must be noticed.
    """
    assert p_value(planted(2, 1), full_law(2, 1, 8)) < laws.FALSE_ALARM


def test_lines_are_independent() -> None:
    """A draw that two classes share would release the difference of their sums
    exactly.
    """
    noise = add_max_norm_noise(np.zeros((4_000, 2), dtype=np.int64), scale=5)[
        :, 0
    ].reshape(-1, 2)
    assert laws.uncorrelated(noise)
    twin = noise.copy()
    twin[:, 1] = twin[:, 0]
    assert not laws.uncorrelated(twin)


def test_noise_is_added_to_the_sums() -> None:
    """Sums that shift their noise, or wrap, would leak or ruin the release."""
    sums = np.array([[0, 10**15], [-(2**62), 2**62]], dtype=np.int64)
    noisy = add_max_norm_noise(sums, scale=2)
    assert np.abs(noisy - sums).max() < 200
    assert noisy.max() <= 2**62
    huge = add_max_norm_noise(sums, scale=10**30)
    assert (np.abs(huge) <= 2**62).all()


@pytest.mark.parametrize("entries", range(7))
def test_eulerian_polynomial(entries: int) -> None:
    """The weights of the radius: sum of (2r + 1)^p x^r = B_p(x) / (1 - x)^(p + 1), by
    adding up.
    """
    x = Fraction(1, 7)
    direct = sum((2 * r + 1) ** entries * x**r for r in range(80))
    coefficients = eulerian_numbers(entries)
    assert all(each > 0 for each in coefficients)
    assert sum(coefficients) == 2**entries * math.factorial(entries)
    closed = sum(c * x**k for k, c in enumerate(coefficients)) / (1 - x) ** (
        entries + 1
    )
    assert abs(direct - closed) < Fraction(1, 10**30)


@pytest.mark.parametrize(("numerator", "denominator"), [(0, 1), (1, 3), (1, 1), (7, 3)])
def test_bernoulli(numerator: int, denominator: int) -> None:
    """Every draw rests on these chances."""
    found = sum(draw_bernoulli_exp(numerator, denominator) for _ in range(DRAWS))
    assert laws.share_fits(found, DRAWS, math.exp(-numerator / denominator))
    if numerator:
        # twin
        assert not laws.share_fits(
            found, DRAWS, math.exp(-numerator / denominator) * 1.2
        )


def farthest_law(entries: int, scale: float) -> np.ndarray:
    """P(max |z_i| = r) for r = 0, 1, ...: so many places has a cube that the cube in it
    has not.
    """
    r = np.arange(1, int(scale * (12 * entries + 40)))
    places = entries * np.log(2 * r + 1) + np.log1p(
        -(((2 * r - 1) / (2 * r + 1)) ** entries)
    )
    logarithms = np.append(0.0, places - r / scale)
    weights = np.exp(logarithms - logarithms.max())
    law: np.ndarray = weights / weights.sum()
    return law


@pytest.mark.parametrize("entries", but_first(2, [1, 2, 9, 45]))
def test_stated_variance(entries: int) -> None:
    """Intervals and the rule for covariances rest on it: exactly, of the law that the
    draws keep.
    """
    scale = WIDE
    r = np.arange(int(scale * (12 * entries + 40)))
    cubes = np.exp(
        entries * np.log((2 * r + 1) / (2 * scale * entries)) - (r / scale - entries)
    )
    exact = float((cubes * r * (r + 1) / 3).sum() / cubes.sum())
    stated = max_norm_variance(entries, scale)
    assert stated * 0.9999 <= exact <= stated
    # Laplace of the same loss
    assert ((2 * (entries * scale) ** 2) / stated) ** 0.5 <= math.sqrt(6)

    noise = wide_draws(entries)
    law = farthest_law(entries, scale)
    edges = np.searchsorted(law.cumsum(), np.linspace(0.05, 0.95, 19))
    observed = np.bincount(
        np.searchsorted(edges, np.abs(noise).max(axis=1)), minlength=20
    )

    def fit(law: np.ndarray) -> float:
        reached = law.cumsum()[edges]
        return laws.chi_square_of_counts(
            observed, np.diff(reached, prepend=0, append=1) * len(noise)
        )

    assert fit(law) > laws.FALSE_ALARM
    # twin: a variance 1.3 off
    assert fit(farthest_law(entries, scale * math.sqrt(1.3))) < laws.FALSE_ALARM


@pytest.mark.parametrize("entries", [1, 3, 9])
def test_density_of_one_entry(entries: int) -> None:
    """What is believed of class means rests on it: its shares must be those of drawn
    noise.
    """
    scale = WIDE
    reach = entries * WIDE
    total, _ = quad(
        lambda z: max_norm_density(np.array([z]), entries, scale)[0], 0, np.inf
    )
    assert total == pytest.approx(0.5, abs=1e-6)
    inside, _ = quad(
        lambda z: max_norm_density(np.array([z]), entries, scale)[0], 0, reach
    )
    first = wide_draws(entries)[:, 0]
    found = int((np.abs(first) < reach).sum())
    assert laws.share_fits(found, len(first), 2 * inside)
    wrong, _ = quad(
        lambda z: max_norm_density(np.array([z]), entries + 1, scale)[0], 0, reach
    )
    assert not laws.share_fits(found, len(first), 2 * wrong)  # twin: of one entry more


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 10), Fraction(1, 3), Fraction(10**6), Fraction(1, 10**40)]
)
@pytest.mark.parametrize("rows", [1, 3])
def test_the_scale_keeps_the_loss(epsilon: Fraction, rows: int) -> None:
    """A scale rounded down would spend more than the ledger says."""
    for entries in (1, 50):
        scale = max_norm_scale(max_rows=rows, entries=entries, epsilon=epsilon)
        assert Fraction(rows * UNITS_PER_ROW, scale) <= epsilon
        assert scale >= entries
        # the float on file is exact
        assert Fraction(scale / UNITS_PER_ROW) == Fraction(scale, UNITS_PER_ROW)
        if epsilon < 10:
            assert Fraction(rows * UNITS_PER_ROW, scale) > epsilon * Fraction(999, 1000)


@pytest.mark.parametrize("level", [0.3, 0.5, 0.8, 0.88, 0.9, 0.95, 0.99, 0.999])
def test_intervals_hold_for_every_number_of_entries(level: float) -> None:
    """An interval must hold its level whether one sum was measured or a hundred."""
    from scipy.special import gammaincc

    for p in (1, 2, 3, 5, 9, 20, 100, 1000):
        scale = 1000.0
        width = half_width(max_norm_variance(p, scale), "max norm", level) / scale
        beyond = gammaincc(p + 1, width) - width / p * gammaincc(p, width)
        assert beyond <= 1 - level + 1e-9


def test_too_many_entries() -> None:
    """A vector that would take minutes to draw noise for must be refused by a
    sentence.
    """
    with pytest.raises(LimitError, match="have 2000 cells, more than 1000"):
        add_max_norm_noise(np.zeros((1, 2000), dtype=np.int64), scale=5)


def proved(noise: Callable[[np.ndarray], np.ndarray]) -> float:
    """The largest epsilon that the draws on two neighboring sums prove, at one in a
    million in all.

    8,000 draws prove 0.74 of a loss of 1, and 1.64 of twice the loss: 8 and 12
    deviations from the bars.
    """
    repeats = 8_000
    here, there = (
        noise(np.tile(np.array(each, dtype=np.int64), (repeats, 1)))
        for each in ((0, 0), (UNITS_PER_ROW, -UNITS_PER_ROW))
    )
    best = 0.0
    cuts = [k * UNITS_PER_ROW // 2 for k in range(-2, 5)]
    error = laws.FALSE_ALARM / (2 * len(cuts) ** 2)
    for first, second in itertools.product(cuts, cuts):
        hits = [
            int(((each[:, 0] < first) & (each[:, 1] > -second)).sum())
            for each in (here, there)
        ]
        for a, b in (hits, hits[::-1]):
            low, _ = laws.clopper_pearson(a, repeats, error)
            _, high = laws.clopper_pearson(b, repeats, error)
            best = max(best, math.log(low / high) if low > 0 else 0.0)
    return best


def test_audit() -> None:
    """A row that moves both sums as far as it can must not be told by more than
    epsilon.
    """
    scale = max_norm_scale(max_rows=1, entries=2, epsilon=Fraction(1))
    assert 0.5 < proved(lambda sums: add_max_norm_noise(sums, scale=scale)) <= 1
    # twin: half the noise
    assert proved(lambda sums: add_max_norm_noise(sums, scale=scale // 2)) > 1


def test_audit_catches_a_shared_radius(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twin: a radius drawn for one entry fewer than there are must be caught by the
    law, by 900 draws.
    """
    right = max_norm._draw_radius
    monkeypatch.setattr(
        max_norm, "_draw_radius", lambda entries, scale: right(entries - 1, scale)
    )
    assert p_value(draws(2, 2, 1_500), full_law(2, 2, 10)) < laws.FALSE_ALARM
