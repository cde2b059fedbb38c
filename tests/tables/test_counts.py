"""Noisy marginals: intervals that hold, sums that are right, and storage that changes
nothing.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import dpcore as dp
from dpcore.mechanisms.sensitivity import noise_variance
from dpcore.schema import Domain
from dpcore.tables.counts import (
    Counts,
    Marginal,
    check_cells,
    half_width,
    pack_array,
    project,
    unpack_array,
)
from tests.statistical import laws

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0, 25.0])
def test_intervals_of_one_laplace_draw(scale: float, level: float) -> None:
    """An interval that says 95 % must hold the true count in 95 % of the cells, and not
    be wider by far.
    """
    width = half_width(noise_variance(scale, dp.PureDP(epsilon=1)), "laplace", level)
    law = laws.discrete_laplace_pmf(scale)
    assert laws.probability(law, -width, width) >= level - 1e-12
    if level >= 0.95:
        assert laws.probability(law, -(width - 1), width - 1) < level


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("scale", [0.3, 0.5, 1.0, 4.0, 25.0])
def test_intervals_of_one_gaussian_draw(scale: float, level: float) -> None:
    """Discrete Gaussian noise of a small scale has heavier steps than the normal
    law.
    """
    width = half_width(scale**2, "gaussian", level)
    assert laws.probability(laws.discrete_gaussian_pmf(scale), -width, width) >= level


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("draws", [2, 3, 10, 40])
def test_intervals_of_sums(draws: int, level: float) -> None:
    """Sums of cells are shown with intervals too: they must hold at low levels, not
    only at 95 %.
    """
    law = laws.sum_pmf(laws.discrete_laplace_pmf(2.0), draws)
    width = half_width(
        draws * noise_variance(2.0, dp.PureDP(epsilon=1)), "laplace", level
    )
    assert laws.probability(law, -width, width) >= level - 0.001


def test_intervals_at_the_ends() -> None:
    """No noise has no width; a huge noise has a huge one; a level outside (0, 1) is
    refused.
    """
    assert half_width(0.0, "laplace") == half_width(0.0, "gaussian") == 0
    assert half_width(1e-12, "laplace") == 0
    assert half_width(2e24, "laplace") == pytest.approx(1e12 * np.log(20), rel=1e-6)
    for level in (0, 1, -0.5, 95, float("nan")):
        with pytest.raises(dp.ParameterError, match="level"):
            half_width(1.0, "laplace", level)


def test_interval_is_around_the_values() -> None:
    """Lower and upper bounds are on both sides of each cell."""
    marginal = Marginal(
        clique=("a",), values=np.array([5.0, -1.0]), variance=8.0, noise="laplace"
    )
    low, high = marginal.interval(0.95)
    assert (high - marginal.values == marginal.half_width(0.95)).all()
    assert (marginal.values - low == marginal.half_width(0.95)).all()
    assert marginal.total == 4.0


def test_projection() -> None:
    """Sums over the wrong axis, or axes in the wrong order, would swap the columns of a
    release.
    """
    values = np.arange(24.0).reshape(2, 3, 4)
    marginal = Marginal(
        clique=("a", "b", "c"), values=values, variance=2.0, noise="gaussian"
    )
    projected = marginal.project(("c", "a"))
    assert projected.values.shape == (4, 2)
    assert projected.values[3, 1] == values[1, :, 3].sum()
    assert projected.variance == 2.0 * 3
    assert marginal.project(()).values == values.sum()
    assert (
        project(values, ("a", "b", "c"), ("b", "c", "a")) == values.transpose(1, 2, 0)
    ).all()
    with pytest.raises(dp.ParameterError, match="not in the marginal"):
        marginal.project(("d",))


@given(
    arrays.arrays(
        st.sampled_from(
            [
                np.dtype("int64"),
                np.dtype("float64"),
                np.dtype(">f8"),
                np.dtype("float32"),
            ]
        ),
        arrays.array_shapes(min_dims=0, max_dims=3, max_side=4),
    ).map(np.nan_to_num),
)
def test_arrays_survive_storage(values: np.ndarray) -> None:
    """A stored release must come back bit by bit."""
    again = unpack_array(pack_array(values))
    np.testing.assert_array_equal(again, values)
    assert again.shape == values.shape


def test_marginals_survive_storage() -> None:
    """The clique, noise and variance of a stored marginal must come back as they
    were.
    """
    marginal = Marginal(
        clique=("a", "b"), values=np.eye(2), variance=0.1, noise="gaussian"
    )
    again = Marginal.from_dict(marginal.to_dict())
    assert (again.clique, again.variance, again.noise) == (("a", "b"), 0.1, "gaussian")
    assert (again.values == np.eye(2)).all()


def test_cells_are_limited() -> None:
    """A clique over the limit is refused with the product that makes it too large."""
    domain = Domain(names=("a", "b"), sizes=(2_000, 1_001))
    check_cells(domain, [("a",), ("b",)])
    with pytest.raises(
        dp.LimitError, match="a, b would have 2002000 cells, more than 2000000"
    ) as caught:
        check_cells(domain, [("a",), ("a", "b")])
    details = caught.value.details
    assert (details["cells"], details["limit"]) == (2_002_000, 2_000_000)


def test_exact_counts_print_nothing() -> None:
    """Exact counts must not reach a log by being printed."""
    assert "731" not in repr(Counts(clique=("a",), values=np.array([731])))
