"""Bounded numbers at the source: laws, exact unbiasedness, variances, and what is
refused.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore.local as dl
from dpcore.errors import ParameterError
from dpcore.local._numeric import NumericMechanism
from tests.local.oracle import at_most_exp
from tests.statistical import laws

KINDS: list[type[NumericMechanism]] = [dl.RoundedResponse, dl.Duchi, dl.Piecewise]
every = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


class Coarse(dl.Piecewise):
    """The piecewise mechanism with so few places that its law can be written down."""

    STEPS = 8


def piecewise_law(mechanism: dl.Piecewise, point: int) -> list[Fraction]:
    """Chance of every report of a number at one of the points, from the definition."""
    keep = Fraction(mechanism.keep_threshold, 2**64)
    near = range(point, point + mechanism.window)
    return [
        keep / mechanism.window if report in near else (1 - keep) / mechanism.STEPS
        for report in range(mechanism.STEPS + mechanism.window)
    ]


@pytest.mark.parametrize("epsilon", ["1/2", "1", "3"])
def test_piecewise_by_brute_force(epsilon: str) -> None:
    """The ratio of chances, the mean and the variance must be what the law gives, point
    by point.
    """
    mechanism = Coarse(low=-1, high=1, epsilon=epsilon)
    found = [piecewise_law(mechanism, point) for point in range(mechanism.STEPS + 1)]
    assert all(sum(law) == 1 for law in found)
    ratio = max(
        a / b
        for one, two in itertools.permutations(found, 2)
        for a, b in zip(one, two, strict=True)
    )
    assert ratio == mechanism.odds
    assert at_most_exp(ratio, mechanism.epsilon)
    for point, law in enumerate(found):
        decoded = mechanism.decode(np.arange(len(law)))
        value = -1 + 2 * point / mechanism.STEPS
        mean = sum(float(p) * each for p, each in zip(law, decoded, strict=True))
        assert mean == pytest.approx(value, abs=1e-9)
        variance = sum(
            float(p) * (each - value) ** 2 for p, each in zip(law, decoded, strict=True)
        )
        assert mechanism.variance(value) == pytest.approx(variance)


def test_piecewise_draws() -> None:
    """Draws of another law would keep another epsilon."""
    mechanism = Coarse(low=0, high=8, epsilon=1)
    draws = 100_000
    for point in (0, 3, 8):
        seen = np.bincount(
            mechanism.perturb(np.full(draws, point)), minlength=mechanism.report_values
        )
        law = np.array(piecewise_law(mechanism, point), dtype=float)
        assert laws.chi_square_of_counts(seen, draws * law) > laws.FALSE_ALARM
        assert (
            laws.chi_square_of_counts(seen, draws * np.roll(law, 1)) < laws.FALSE_ALARM
        )


def law_of(mechanism: NumericMechanism, value: float) -> tuple[np.ndarray, np.ndarray]:
    """What reports of one number are decoded to, and with which chances."""
    decoded = mechanism.decode(np.arange(mechanism.report_values))
    # two reports, and a mean that is the number
    if not isinstance(mechanism, dl.Piecewise):
        yes = (value - decoded[0]) / (decoded[1] - decoded[0])
        return decoded, np.array([1 - yes, yes])
    place = (value - mechanism.low) / (mechanism.high - mechanism.low) * mechanism.STEPS
    point = min(math.floor(place), mechanism.STEPS - 1)
    keep = mechanism.keep_threshold / 2**64
    law = np.full(decoded.size, (1 - keep) / mechanism.STEPS)
    for start, share in ((point, point + 1 - place), (point + 1, place - point)):
        near = slice(start, start + mechanism.window)
        law[near] += share * (keep / mechanism.window - (1 - keep) / mechanism.STEPS)
    return decoded, law


@every
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize("value", [-5.0, -1.234567, 4.9, 5.0])
def test_unbiased_with_the_stated_variance(
    kind: type[NumericMechanism], epsilon: str, value: float
) -> None:
    """A biased mean, or another variance than stated, would mislead whoever reads the
    answers.
    """
    mechanism = kind(low=-5, high=5, epsilon=epsilon)
    decoded = mechanism.decode(mechanism.perturb(np.full(100_000, value)))
    stated = mechanism.variance(value)
    assert laws.mean_fits(decoded, value, stated)
    assert not laws.mean_fits(decoded, value + 0.05 * math.sqrt(stated), stated)
    outcomes, chances = law_of(mechanism, value)
    assert ((outcomes - value) ** 2 @ chances) == pytest.approx(stated, rel=1e-6)
    of_squares = float((outcomes - value) ** 4 @ chances) - stated**2
    assert laws.mean_fits((decoded - value) ** 2, stated, of_squares)
    assert not laws.mean_fits((decoded - value) ** 2, 1.4 * stated, of_squares)


def test_rounding_then_response_is_duchi() -> None:
    """One draw or two must have the same law, whatever the number."""
    both = [
        kind(low=0, high=1, epsilon="1.5") for kind in (dl.RoundedResponse, dl.Duchi)
    ]
    for value in (0.0, 0.3, 1.0):
        counts = [int(each.perturb(np.full(200_000, value)).sum()) for each in both]
        chance = (math.exp(1.5) * value + 1 - value) / (math.exp(1.5) + 1)
        assert all(laws.share_fits(count, 200_000, chance) for count in counts)
        assert not laws.share_fits(counts[0], 200_000, chance * 1.1)
        assert both[0].variance(value) == both[1].variance(value)


def test_piecewise_is_the_continuous_one() -> None:
    """On its fine grid the variance must be that of Wang et al. (ICDE 2019), lemma 1,
    for bounds -1 and 1.
    """
    for epsilon in (0.5, 1.0, 2.0):
        half = math.exp(epsilon / 2)
        for value in (0.0, 0.5, 1.0):
            stated = value**2 / (half - 1) + (half + 3) / (3 * (half - 1) ** 2)
            ours = dl.Piecewise(low=-1, high=1, epsilon=epsilon).variance(value)
            assert ours == pytest.approx(stated, rel=1e-3)


@every
@pytest.mark.parametrize("epsilon", ["1e-6", "1", "20", 800])
def test_the_real_loss_is_never_above(
    kind: type[NumericMechanism], epsilon: Any
) -> None:
    """The chances that are used keep the epsilon that is printed, without overflow."""
    mechanism = kind(low=0, high=1, epsilon=epsilon)
    assert mechanism.real_epsilon <= float(mechanism.epsilon)
    if epsilon != 800:
        assert at_most_exp(mechanism.odds, mechanism.epsilon)
        assert mechanism.real_epsilon == pytest.approx(float(epsilon), rel=1e-6)
    assert mechanism.perturb([0, 0.5, 1]).shape == (3,)


def test_duchis_thresholds_stay_inside() -> None:
    """A chance outside those of the two ends would raise the loss of the people near
    them.
    """
    from dpcore.local._numeric import _interpolate_thresholds

    mechanism = dl.Duchi(low=0, high=1, epsilon="1")
    places = np.array([0, 5e-324, 1e-300, 0.1, 0.5, 1 - 2**-53, 1.0])
    found = _interpolate_thresholds(
        places, 2**64 - mechanism.keep_threshold, mechanism.keep_threshold
    ).tolist()
    assert found == sorted(found)
    assert found[0] == 2**64 - mechanism.keep_threshold
    assert found[-1] <= mechanism.keep_threshold
    assert found[-1] == pytest.approx(mechanism.keep_threshold, rel=1e-12)


@every
def test_intervals_cover(kind: type[NumericMechanism]) -> None:
    """A 95 % interval must hold the true mean in about 95 % of surveys."""
    values = np.linspace(20, 60, 400)
    mechanism = kind(low=0, high=100, epsilon=2)
    reports = mechanism.perturb(np.tile(values, 1_000)).reshape(1_000, 400)
    held = 0
    for each in reports:
        low, high = mechanism.estimate(each).interval(0.95)
        held += low <= values.mean() <= high
    assert laws.at_least(held, 1_000, 0.94)
    assert mechanism.estimate(reports[0][:1]).standard_error > 0


@pytest.mark.parametrize(("epsilon", "people"), [(5, 2), (6, 100)])
@pytest.mark.parametrize(
    "kind", [dl.RoundedResponse, dl.Duchi], ids=lambda kind: kind.name
)
@pytest.mark.parametrize("value", [0, 100])
def test_intervals_cover_where_all_reports_are_equal(
    kind: type[NumericMechanism],
    epsilon: int,
    people: int,
    value: int,
) -> None:
    """With everybody at a bound the interval was one point, off the bound: it held in 1
    to 18 of 100.
    """
    mechanism = kind(low=0, high=100, epsilon=epsilon)
    surveys = 1_000
    reports = mechanism.perturb(np.full(surveys * people, value)).reshape(
        surveys, people
    )
    held = twin = 0
    for each in reports:
        estimate = mechanism.estimate(each)
        low, high = estimate.interval(0.95)
        held += low <= value <= high
        spread = mechanism.decode(each).std(ddof=1) / math.sqrt(people)
        twin += abs(estimate.mean - value) <= 1.96 * spread
    assert laws.at_least(held, surveys, 0.95)
    # the twin: the spread of the reports alone
    assert not laws.at_least(twin, surveys, 0.95)


def test_two_equal_reports_are_not_certain() -> None:
    """Two reports that happen to be alike had an interval of no width."""
    mechanism = dl.Piecewise(low=0, high=100, epsilon=1)
    least = math.sqrt(mechanism.variance(50) / 2)
    assert mechanism.estimate([40_000, 40_000]).standard_error == pytest.approx(least)


@every
@pytest.mark.parametrize(
    "values",
    [
        [101],
        [-1],
        [float("nan")],
        [None],
        ["a"],
        [[1, 2]],
        [float("inf")],
        pd.Series([1, None]),
    ],
)
def test_numbers_outside_are_refused(kind: type[NumericMechanism], values: Any) -> None:
    """D2: outside the bounds is an error; clipping is a decision that somebody must
    take.
    """
    with pytest.raises(ParameterError):
        kind(low=0, high=100, epsilon=1).perturb(values)


@every
@pytest.mark.parametrize(
    ("low", "high"),
    [(1, 1), (2, 1), (0, float("inf")), (float("nan"), 1), (-1e308, 1e308)],
)
def test_bounds_are_checked(
    kind: type[NumericMechanism], low: float, high: float
) -> None:
    """D2: equal bounds divided by zero in the source."""
    with pytest.raises(ParameterError, match="low"):
        kind(low=low, high=high, epsilon=1)


@every
def test_other_refusals(kind: type[NumericMechanism]) -> None:
    """No reports, reports that cannot be, epsilon 0, impossible confidence:
    sentences.
    """
    mechanism = kind(low=0, high=1, epsilon=1)
    for reports in ([], [-1], [2**40], [0.5], ["a"], None):
        with pytest.raises(ParameterError):
            mechanism.estimate(reports)
    with pytest.raises(ParameterError):
        kind(low=0, high=1, epsilon=0)
    with pytest.raises(ParameterError, match="confidence"):
        mechanism.estimate([0, 1]).interval(1)


@every
def test_inputs_stay(kind: type[NumericMechanism]) -> None:
    """The caller's objects never change; whole numbers, booleans and series are numbers
    too.
    """
    mechanism = kind(low=0, high=1, epsilon=1)
    values = np.array([0.0, 0.25, 1.0])
    mechanism.perturb(values)
    assert values.tolist() == [0.0, 0.25, 1.0]
    for each in (1, np.int64(1), True, [0, 1], pd.Series([0.5]), pd.Series([True])):
        assert mechanism.perturb(each).ndim == 1
    assert mechanism.perturb([]).size == 0
