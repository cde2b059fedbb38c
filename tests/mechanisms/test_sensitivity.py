"""Scales of noise: exact, never too small, and as OpenDP's own maps have it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore as dp
from dpcore.mechanisms._noise import (
    add_discrete_gaussian,
    add_discrete_laplace,
    opendp_measurements,
)
from dpcore.mechanisms.sensitivity import (
    gaussian_scale,
    laplace_scale,
    noise_variance,
    selection_scale,
)
from tests.statistical import laws

amounts = st.fractions(min_value=Fraction(1, 10**9), max_value=1_000)
small = st.integers(min_value=1, max_value=50)


@given(rows=small, queries=small, amount=amounts)
def test_scales_keep_the_loss(rows: int, queries: int, amount: Fraction) -> None:
    """A scale rounded down would spend more than the loss, if only in its last bit."""
    laplace = Fraction(laplace_scale(max_rows=rows, queries=queries, epsilon=amount))
    assert rows * queries / laplace <= amount
    assert rows * queries / (laplace * (1 - Fraction(1, 2**50))) > amount
    gaussian = Fraction(gaussian_scale(max_rows=rows, queries=queries, rho=amount))
    assert Fraction(rows**2 * queries) / (2 * gaussian**2) <= amount
    assert (
        Fraction(rows**2 * queries) / (2 * (gaussian * (1 - Fraction(1, 2**48))) ** 2)
        > amount
    )
    permute = Fraction(selection_scale(max_rows=rows, loss=dp.PureDP(epsilon=amount)))
    assert 2 * rows / permute <= amount
    exponential = Fraction(selection_scale(max_rows=rows, loss=dp.ZCDP(rho=amount)))
    assert (2 * rows / exponential) ** 2 / 8 <= amount


def test_opendp_agrees_on_the_costs() -> None:
    """OpenDP's own privacy maps are the oracle: they must not ask for more than the
    ledger charges.
    """
    measurements = opendp_measurements()
    from opendp.domains import atom_domain, vector_domain
    from opendp.measures import max_divergence, zero_concentrated_divergence
    from opendp.metrics import l1_distance, l2_distance, linf_distance

    space = vector_domain(atom_domain(T="i64"))
    for rows in (1, 3):
        for amount in (Fraction("0.1"), Fraction(1), Fraction(7)):
            scale = laplace_scale(max_rows=rows, queries=2, epsilon=amount)
            laplace = measurements.make_laplace(
                space, l1_distance(T="i64"), scale=scale
            )
            assert laplace.map(2 * rows) == pytest.approx(float(amount), rel=1e-9)
            scale = gaussian_scale(max_rows=rows, queries=1, rho=amount)
            gaussian = measurements.make_gaussian(
                space, l2_distance(T="f64"), scale=scale
            )
            assert gaussian.map(float(rows)) == pytest.approx(float(amount), rel=1e-9)
            for measure, loss in (
                (max_divergence(), dp.PureDP(epsilon=amount)),
                (zero_concentrated_divergence(), dp.ZCDP(rho=amount)),
            ):
                scale = selection_scale(max_rows=rows, loss=loss)
                choice = measurements.make_noisy_max(
                    space, linf_distance(T="i64"), measure, scale=scale
                )
                assert choice.map(rows) == pytest.approx(float(amount), rel=1e-9)


@pytest.mark.parametrize("scale", [0.05, 0.5, 1.0, 20.0])
def test_laplace_variance(scale: float) -> None:
    """Error bars follow this variance."""
    exact = laws.moments(laws.discrete_laplace_pmf(scale, reach=2_000))[1]
    assert noise_variance(scale, dp.PureDP(epsilon=1)) == pytest.approx(exact, rel=1e-9)


def test_variance_at_the_ends() -> None:
    """A tiny loss must get a wide interval, and a huge one none: neither is a division
    by zero.
    """
    for scale in (1e8, 1e12, 1e20):
        assert noise_variance(scale, dp.PureDP(epsilon=1)) == pytest.approx(
            2 * scale**2, rel=1e-9
        )
    assert noise_variance(1e-3, dp.PureDP(epsilon=1)) == 0


def test_gaussian_variance_is_not_too_small() -> None:
    """Error bars of discrete Gaussian noise must not be narrower than the noise."""
    for scale in (0.3, 0.8, 2.0, 10.0):
        exact = laws.moments(laws.discrete_gaussian_pmf(scale))[1]
        assert exact <= noise_variance(scale, dp.ZCDP(rho=1)) * (1 + 1e-9)


@pytest.mark.parametrize("draw", [add_discrete_laplace, add_discrete_gaussian])
def test_noise_keeps_shape_and_kind(draw: object) -> None:
    """Counts of any shape, none at all too, come back as int64 of the same shape."""
    for shape in ((), (1,), (2, 3, 4), (0, 5)):
        noisy = draw(np.zeros(shape, dtype=np.int64), noise_scale=1.0)
        assert noisy.shape == shape
        assert noisy.dtype == np.int64


def test_tiny_noise_leaves_counts_alone() -> None:
    """At a huge epsilon the noise vanishes, which shows that the right cell gets the
    right count.
    """
    counts = np.arange(24, dtype=np.int64).reshape(2, 3, 4)
    assert (add_discrete_laplace(counts, noise_scale=1e-3) == counts).all()
    assert math.isclose(noise_variance(1e-3, dp.PureDP(epsilon=1_000)), 0.0)
