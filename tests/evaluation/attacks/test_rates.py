"""Intervals of rates and of their differences, against SciPy and a published table."""

from __future__ import annotations

import pytest
from scipy import stats

from dpcore.errors import ParameterError
from dpcore.evaluation.attacks._rates import Rate, rate_difference


@pytest.mark.parametrize(
    ("successes", "attempts"), [(0, 10), (10, 10), (3, 10), (56, 70), (480, 500)]
)
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_wilson(successes: int, attempts: int, level: float) -> None:
    """An attack's interval would be too narrow, and chance would pass for a leak."""
    expected = stats.binomtest(successes, attempts).proportion_ci(
        level, method="wilson"
    )
    assert Rate(successes=successes, attempts=attempts).interval(
        level
    ) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [  # Newcombe (1998), Statistics in Medicine 17, 873-890, table II, method 10
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((5, 56), (0, 29), (-0.0381, 0.1926)),
        ((10, 10), (0, 10), (0.6075, 1.0000)),
    ],
)
def test_newcombe(
    first: tuple[int, int], second: tuple[int, int], expected: tuple[float, float]
) -> None:
    """The verdict on an attack would rest on a wrong formula."""
    rates = [Rate(successes=a, attempts=b) for a, b in (first, second)]
    gap, low, high = rate_difference(*rates, 0.95)
    assert gap == pytest.approx(rates[0].value - rates[1].value)
    assert (low, high) == pytest.approx(expected, abs=5e-5)


def test_nothing_attempted() -> None:
    """An attack that could not be tried must say nothing, not that it failed."""
    assert Rate(successes=0, attempts=0).interval() == (0.0, 1.0)
    with pytest.raises(ParameterError, match="successes"):
        Rate(successes=3, attempts=2)
