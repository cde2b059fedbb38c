"""Local privacy for bounded numbers: integer reports, and an estimate of the mean."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpcore.accounting.loss import Number
from dpcore.errors import ParameterError, UsageError, falling_bounds_error
from dpcore.local._bits import (
    CHANCE_DENOMINATOR,
    Bools,
    Integers,
    Words,
    chance_of,
    check_epsilon,
    draw_bernoulli,
    draw_uniform,
    epsilon_of_ratio,
    exp_rounded_down,
    threshold_of,
)
from dpcore.local._estimate import Values, normal_quantile
from dpcore.local.base import check_number_reports


@dataclass(frozen=True, kw_only=True)
class MeanEstimate:
    """An unbiased estimate of the mean of those who answered.

    Attributes:
        mean: in the unit of the numbers; noise may take it outside the bounds.
        standard_error: from the variance of the reports, which includes that of the
            people; at least the least possible one of the noise.
        people: number of reports.
        ends: the two decoded values of reports, if there are only two; None otherwise.
    """

    mean: float
    standard_error: float
    people: int
    ends: tuple[float, float] | None = None

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the lower and upper bound of an approximate confidence interval.

        For two-valued reports it is the score interval of their share (Wilson 1927),
        which keeps its confidence if nearly all reports are equal.
        """
        z = normal_quantile(confidence)
        if self.ends is None:
            return (
                self.mean - z * self.standard_error,
                self.mean + z * self.standard_error,
            )
        low, high = self.ends
        share = (self.mean - low) / (high - low)
        part = z * z / self.people
        center = (share + part / 2) / (1 + part)
        reach = math.sqrt(max(share * (1 - share), 0.0) * part + part * part / 4) / (
            1 + part
        )
        return low + (center - reach) * (high - low), low + (center + reach) * (
            high - low
        )


@dataclass(frozen=True, init=False)
class NumericMechanism(ABC):
    """A way to report a number between two public bounds, at a loss of `epsilon`."""

    name: ClassVar[str]

    low: float
    high: float
    epsilon: Fraction

    def __init__(self, *, low: float, high: float, epsilon: Number) -> None:
        check_number_bounds(low, high)
        object.__setattr__(self, "low", float(low))
        object.__setattr__(self, "high", float(high))
        object.__setattr__(self, "epsilon", check_epsilon(epsilon))

    @property
    @abstractmethod
    def odds(self) -> Fraction:
        """The largest ratio of a report's probabilities under two numbers.

        It is e to the real epsilon.
        """

    @property
    @abstractmethod
    def report_values(self) -> int:
        """The number of possible reports, which are whole numbers from 0."""

    @property
    @abstractmethod
    def gain(self) -> Fraction:
        """The expected report at `high` minus the expected report at `low`."""

    @property
    @abstractmethod
    def offset(self) -> Fraction:
        """The expected report of a person whose number is `low`."""

    @abstractmethod
    def perturb(self, values: Any) -> Integers:
        """Return one report per person. Costs each of them `epsilon`.

        Args:
            values: numbers within the bounds; one or many; is not changed.

        Raises: ParameterError for numbers outside the bounds, or none.
        """

    @abstractmethod
    def variance(self, value: float) -> float:
        """Return the variance of the decoded report of a person with this number."""

    @cached_property
    def real_epsilon(self) -> float:
        """Exact loss of one report after rounding its chances; at most `epsilon`."""
        return epsilon_of_ratio(self.odds, max_epsilon=self.epsilon)

    def decode(self, reports: Any) -> Values:
        """Decode each report to an unbiased number, which may exceed the bounds.

        Raises: ParameterError for reports that this mechanism cannot have made.
        """
        checked = check_number_reports(reports, self.report_values, self.name)
        width = self.high - self.low
        return np.asarray(
            self.low + (checked - float(self.offset)) * (width / float(self.gain))
        )

    def estimate(self, reports: Any) -> MeanEstimate:
        """Return an unbiased estimate of the mean.

        Free, as it reads reports only.

        Raises: ParameterError for no reports, or reports of another mechanism.
        """
        decoded = self.decode(reports)
        if not decoded.size:
            raise ParameterError(
                "there are no reports", remedy="collect at least one answer"
            )
        noise = [
            self.variance(value)
            for value in (self.low, (self.low + self.high) / 2, self.high)
        ]
        spread = (
            max(float(decoded.var(ddof=1)), min(noise))
            if decoded.size > 1
            else max(noise)
        )
        ends = self.decode(np.arange(2)) if self.report_values == 2 else None
        return MeanEstimate(
            mean=float(decoded.mean()),
            standard_error=math.sqrt(spread / decoded.size),
            people=decoded.size,
            ends=None if ends is None else (float(ends[0]), float(ends[1])),
        )


def check_number_bounds(low: float, high: float) -> None:
    """Refuse bounds that are not finite and increasing.

    Raises: ParameterError.
    """
    if not (
        math.isfinite(low)
        and math.isfinite(high)
        and low < high
        and math.isfinite(high - low)
    ):
        raise falling_bounds_error(low, high)


def relative_positions(values: Any, low: float, high: float) -> Values:
    """Return the relative positions of numbers between the bounds, from 0 to 1.

    The caller's object is not changed.

    Raises: ParameterError for numbers outside the bounds, not a number, or texts.
    """
    array = np.atleast_1d(np.asarray(values))
    if array.ndim != 1 or (array.size and array.dtype.kind not in "biuf"):
        raise UsageError(
            "answers must be a list of numbers, one per person",
            remedy="leave texts out",
        )
    array = array.astype(np.float64)
    if not ((array >= low) & (array <= high)).all():
        raise ParameterError(
            "a number is missing, or outside the bounds {low} to {high}",
            remedy=(
                "clip the numbers or widen the bounds, in either case without "
                "looking at the data"
            ),
            low=low,
            high=high,
        )
    return np.clip((array - low) / (high - low), 0.0, 1.0)


def discretize(values: Any, *, low: float, high: float) -> Bools:
    """Round each number at random to a bound, True for `high`, without bias.

    Not private alone: a report of `high` excludes the number `low`.

    Raises: ParameterError for numbers outside the bounds, and for equal bounds.
    """
    check_number_bounds(low, high)
    place = relative_positions(values, low, high)
    drawn = draw_bernoulli(
        _interpolate_thresholds(place, 0, CHANCE_DENOMINATOR - 1), place.size
    )
    drawn[place == 1.0] = True
    return drawn


def _interpolate_thresholds(positions: Values, low: int, high: int) -> Words:
    """Interpolate linearly between two thresholds, without leaving their range."""
    raised = np.minimum(positions * float(high - low), 2.0**64 - 2048).astype(np.uint64)
    return np.uint64(low) + np.minimum(raised, np.uint64(high - low))


class RoundedResponse(NumericMechanism):
    """Random rounding to the bounds, then Warner's randomized response on the bound.

    A report is 0 or 1.
    """

    name: ClassVar[str] = "rounded response"

    @cached_property
    def keep_threshold(self) -> int:
        """The threshold for reporting the drawn bound."""
        return threshold_of(exp_rounded_down(self.epsilon))

    @property
    def odds(self) -> Fraction:
        return chance_of(self.keep_threshold) / (1 - chance_of(self.keep_threshold))

    @property
    def report_values(self) -> int:
        return 2

    @property
    def gain(self) -> Fraction:
        return 2 * chance_of(self.keep_threshold) - 1

    @property
    def offset(self) -> Fraction:
        return 1 - chance_of(self.keep_threshold)

    def perturb(self, values: Any) -> Integers:
        ends = discretize(values, low=self.low, high=self.high)
        return np.equal(ends, draw_bernoulli(self.keep_threshold, ends.size)).astype(
            np.int64
        )

    def variance(self, value: float) -> float:
        place = float(relative_positions(value, self.low, self.high)[0])
        yes = float(self.offset) + place * float(self.gain)
        return yes * (1 - yes) * ((self.high - self.low) / float(self.gain)) ** 2


class Duchi(RoundedResponse):
    """Duchi's mechanism: one draw, with a chance linear in the number.

    Reports are distributed as those of `RoundedResponse`, with one draw in place of
    two.
    Source: Duchi, Jordan, Wainwright (JASA 2018), section 3.2; Wang et al. (ICDE 2019),
    algorithm 1.
    """

    name: ClassVar[str] = "Duchi"

    def perturb(self, values: Any) -> Integers:
        place = relative_positions(values, self.low, self.high)
        return draw_bernoulli(
            _interpolate_thresholds(
                place, CHANCE_DENOMINATOR - self.keep_threshold, self.keep_threshold
            ),
            place.size,
        ).astype(np.int64)


class Piecewise(NumericMechanism):
    """The piecewise mechanism on a grid: near reports are e^epsilon times likelier.

    The number is rounded at random to one of `STEPS` + 1 points i of the line from
    `low` to `high`. A report is one of STEPS + w places; those from i to i + w - 1 are
    near. With w = STEPS e^(-eps / 2) this is the mechanism of Wang et al. (ICDE 2019),
    algorithm 2, cut into places. The expected report is linear in i, so that decoding
    is exact.
    """

    name: ClassVar[str] = "piecewise"
    STEPS: ClassVar[int] = 65_536
    """Steps of the grid between the bounds."""

    @cached_property
    def window(self) -> int:
        """The number of report values that count as near, w."""
        return max(1, math.ceil(self.STEPS / exp_rounded_down(self.epsilon / 2)))

    @cached_property
    def keep_threshold(self) -> int:
        """The threshold for a near report."""
        return threshold_of(exp_rounded_down(self.epsilon) * self.window / self.STEPS)

    @property
    def near_chance(self) -> Fraction:
        """Probability of each near report value."""
        return chance_of(self.keep_threshold) / self.window

    @property
    def far_chance(self) -> Fraction:
        """Probability of each report value that is not near."""
        return (1 - chance_of(self.keep_threshold)) / self.STEPS

    @property
    def odds(self) -> Fraction:
        return self.near_chance / self.far_chance

    @property
    def report_values(self) -> int:
        return self.STEPS + self.window

    @property
    def gain(self) -> Fraction:
        return (self.near_chance - self.far_chance) * self.window * self.STEPS

    @property
    def offset(self) -> Fraction:
        places = self.report_values
        window = self.window
        return (self.near_chance - self.far_chance) * _sum_below(
            window
        ) + self.far_chance * _sum_below(places)

    def perturb(self, values: Any) -> Integers:
        start = self._round_to_grid(relative_positions(values, self.low, self.high))
        is_near = draw_bernoulli(self.keep_threshold, start.size)
        reports = start.copy()
        reports[is_near] += draw_uniform(self.window, int(is_near.sum()))
        far = ~is_near
        places = draw_uniform(self.STEPS, int(far.sum()))
        reports[far] = np.where(places < start[far], places, places + self.window)
        return reports

    def _round_to_grid(self, positions: Values) -> Integers:
        scaled = positions * self.STEPS
        below = np.floor(scaled)
        up = draw_bernoulli(
            ((scaled - below) * 2.0**53).astype(np.uint64) << np.uint64(11), scaled.size
        )
        return below.astype(np.int64) + up

    def variance(self, value: float) -> float:
        scaled = float(relative_positions(value, self.low, self.high)[0]) * self.STEPS
        point = math.floor(scaled)
        share = Fraction(scaled) - point
        first = second = Fraction(0)
        for start, weight in ((point, 1 - share), (point + 1, share)):
            if weight:
                square = (self.near_chance - self.far_chance) * (
                    _sum_of_squares_below(start + self.window)
                    - _sum_of_squares_below(start)
                )
                second += weight * (
                    square + self.far_chance * _sum_of_squares_below(self.report_values)
                )
                first += weight * (self.offset + self.gain * start / self.STEPS)
        return (
            float(second - first**2) * ((self.high - self.low) / float(self.gain)) ** 2
        )


def _sum_below(count: int) -> int:
    """Return 0 + 1 + ... + (count - 1)."""
    return count * (count - 1) // 2


def _sum_of_squares_below(count: int) -> int:
    """Return the sum of the squares of 0 .. count - 1."""
    return (count - 1) * count * (2 * count - 1) // 6
