"""Exact laws agree with hand-made figures, and with what the sampler draws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore.errors import ParameterError
from dpcore.mechanisms._noise import add_discrete_laplace
from dpcore.mechanisms.laws import laplace_law, largest_loss
from tests.statistical.laws import chi_square_of_counts


@pytest.mark.parametrize("scale", [0.3, 0.5, 1.0, 2.0, 20.0])
def test_a_law_is_a_law(scale: float) -> None:
    """Chances would not add up to 1, or the variance would be that of another noise."""
    law = laplace_law(7, noise_scale=scale)
    q = math.exp(-1 / scale)
    assert law.chances.sum() == pytest.approx(1, abs=1e-12)
    assert law.mean == pytest.approx(7, abs=1e-9)
    assert law.variance == pytest.approx(2 * q / (1 - q) ** 2, rel=1e-9)


def test_figures_of_the_properties() -> None:
    """C3, C4, C5: variance 1.85 and 0.36 on whole numbers, where continuous noise has
    2.0 and 0.5.
    """
    first = laplace_law(0, noise_scale=1)
    third = laplace_law(0, noise_scale=0.5)
    both = first.add(first).map(lambda outcomes: outcomes / 2)
    assert first.variance == pytest.approx(1.85, abs=0.01)
    assert np.abs(first.outcomes) @ first.chances == pytest.approx(0.85, abs=0.01)
    assert third.variance == pytest.approx(0.36, abs=0.005)
    assert np.abs(third.outcomes) @ third.chances == pytest.approx(0.28, abs=0.005)
    assert both.variance == pytest.approx(0.92, abs=0.01)
    assert np.abs(both.outcomes) @ both.chances == pytest.approx(0.68, abs=0.01)


def test_the_sampler_has_this_law() -> None:
    """C2: the lesson would show another noise than the one that releases carry."""
    draws = add_discrete_laplace(np.zeros(50_000, dtype=np.int64), noise_scale=1.0)
    law = laplace_law(0, noise_scale=1.0)

    def p_value(scale: float) -> float:
        law = laplace_law(0, noise_scale=scale)
        inside = np.abs(law.outcomes) <= 6
        expected = np.append(law.chances[inside], law.chances[~inside].sum()) * len(
            draws
        )
        seen = [int((draws == value).sum()) for value in range(-6, 7)]
        return chi_square_of_counts(np.array([*seen, len(draws) - sum(seen)]), expected)

    assert law.chances[np.abs(law.outcomes) <= 6].sum() > 0.99
    assert p_value(1.0) > 1e-6
    assert p_value(1.1) < 1e-6


def test_the_loss_of_neighbors_is_the_stated_one() -> None:
    """C10: one row more changes no chance by more than e^epsilon, whatever is computed
    afterwards.
    """
    law = laplace_law(5, noise_scale=2.0)
    neighbor = laplace_law(6, noise_scale=2.0)
    assert largest_loss(law, neighbor) == pytest.approx(0.5, abs=1e-9)
    for after in (lambda x: np.maximum(x, 0), lambda x: np.round(x / 10), np.abs):
        assert largest_loss(law.map(after), neighbor.map(after)) <= 0.5 + 1e-9
    two = largest_loss(law.add(law), neighbor.add(neighbor))
    assert 0.9 < two <= 1 + 1e-9
    assert largest_loss(law, laplace_law(7, noise_scale=2.0)) == pytest.approx(
        1.0, abs=1e-9
    )


def test_bad_scales_are_refused() -> None:
    """A scale of 0 would show noise that is none."""
    for scale in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ParameterError):
            laplace_law(0, noise_scale=scale)
