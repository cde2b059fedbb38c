"""Draws of every mechanism against its exact law, each with a twin that must be
rejected.
"""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.mechanisms._noise import add_discrete_gaussian, add_discrete_laplace
from tests.statistical import laws

WIDE_TAILS = np.zeros(38_000, dtype=np.int64)
THIN_TAILS = np.zeros(17_000, dtype=np.int64)
"""As many draws as reject a scale that is a tenth off by 6.6 deviations, for every
scale below.
"""


@pytest.mark.parametrize("scale", [0.4, 1.0, 7.3])
def test_discrete_laplace_law(scale: float) -> None:
    """Noise of another shape or width would keep another loss than the ledger says."""
    draws = add_discrete_laplace(WIDE_TAILS, noise_scale=scale)
    assert laws.chi_square_p(draws, laws.discrete_laplace_pmf(scale)) > laws.FALSE_ALARM
    # twin
    assert (
        laws.chi_square_p(draws, laws.discrete_laplace_pmf(scale * 1.1))
        < laws.FALSE_ALARM
    )


@pytest.mark.parametrize("scale", [0.6, 5.0])
def test_discrete_gaussian_law(scale: float) -> None:
    """Noise of another shape or width would keep another rho than the ledger says."""
    draws = add_discrete_gaussian(THIN_TAILS, noise_scale=scale)
    assert (
        laws.chi_square_p(draws, laws.discrete_gaussian_pmf(scale)) > laws.FALSE_ALARM
    )
    # twin
    assert (
        laws.chi_square_p(draws, laws.discrete_gaussian_pmf(scale * 1.1))
        < laws.FALSE_ALARM
    )


@pytest.mark.parametrize("draw", [add_discrete_laplace, add_discrete_gaussian])
def test_cells_are_independent(draw: object) -> None:
    """A draw that two cells share would release their difference exactly."""
    noise = draw(np.zeros((5_000, 10), dtype=np.int64), noise_scale=3.0)
    assert laws.uncorrelated(noise)
    twin = noise.copy()
    twin[:, 1] = twin[:, 0]
    assert not laws.uncorrelated(twin)


@pytest.mark.parametrize("draw", [add_discrete_laplace, add_discrete_gaussian])
def test_calls_are_independent(draw: object) -> None:
    """Noise that repeats from call to call could be subtracted."""
    calls = np.array(
        [draw(np.zeros(500, dtype=np.int64), noise_scale=3.0) for _ in range(2)]
    )
    assert laws.uncorrelated(calls.T)


@pytest.mark.parametrize("draw", [add_discrete_laplace, add_discrete_gaussian])
def test_noise_is_centered_on_the_counts(draw: object) -> None:
    """Noise that depends on the count, or shifts it, would bias every release and
    leak.
    """
    counts = np.array([0, 1, -5, 10**12], dtype=np.int64)
    noise = draw(np.tile(counts, (5_000, 1)), noise_scale=2.0) - counts
    pmf = (
        laws.discrete_laplace_pmf
        if draw is add_discrete_laplace
        else laws.discrete_gaussian_pmf
    )
    _, variance = laws.moments(pmf(2.0))
    assert all(laws.mean_fits(column, 0.0, variance) for column in noise.T)
    assert all(
        laws.same_law_p(noise[:, 0], column) > laws.FALSE_ALARM
        for column in noise.T[1:]
    )
