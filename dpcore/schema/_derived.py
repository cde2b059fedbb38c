"""Columns computed from other values of a row: times of day and differences.

A time of day is a part of a time stamp; a difference says how long after its begin
something ends. In drawn rows both are put together with the column they belong to.
"""

import itertools
import math
from collections.abc import MutableMapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import ParameterError, UsageError
from dpcore.schema.bounds import check_bounds
from dpcore.schema.column import (
    Codes,
    DrawRanks,
    OutsideCounts,
    check_column_cells,
    whole_numbers,
)
from dpcore.schema.date import parse_moments
from dpcore.schema.interval import IntervalColumn
from dpcore.schema.values import as_text

MINUTES_PER_DAY = 24 * 60
DIFFERENCE_STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
"""First values of the cells of a difference, times powers of ten: each is a fifth to a
half wider than the one before, whatever the unit.
"""
DIFFERENCE_UNITS = {
    "minute": 60.0,
    "day": 24 * 60 * 60.0,
    "whole": 1.0,
    "hundredth": 0.01,
}
"""The smallest step of a difference: of moments in seconds, of numbers as such."""
_MOMENT_UNITS = ("minute", "day")
_CLOCK_PATTERN = r"(\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d+)?)?"
_TIME_FORMS = ("clock", "hhmm")


@dataclass(frozen=True, kw_only=True)
class DerivedColumn(IntervalColumn):
    """A column of numbers that are computed from other values of the same row."""

    def values_of(self, frame: pd.DataFrame) -> pd.Series:
        return pd.Series(self._derive(frame), index=frame.index)

    def _derive(self, frame: pd.DataFrame) -> npt.NDArray[np.float64]:
        """Return the number of each row, NaN if a value needed for it is missing."""
        raise NotImplementedError

    def _encode(self, values: pd.Series) -> tuple[Codes, OutsideCounts]:
        return self._cells_of_numbers(self._to_floats(values), self.is_missing(values))


@dataclass(frozen=True, kw_only=True)
class Time(DerivedColumn):
    """A column of times of day, in minutes since midnight.

    Attributes:
        of: the column of time stamps whose time this is; empty for a column that holds
            nothing but times.
        written: how drawn times are written: "clock" for texts such as 20:21:09, "hhmm"
            for numbers such as 2021. Both are read.
        step: minutes in a cell.
    """

    kind: ClassVar[str] = "time"

    of: str = ""
    written: str = "clock"
    step: int = 60

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.written not in _TIME_FORMS:
            raise UsageError(
                f"times of column {self.name!r} cannot be written as {self.written!r}",
                remedy=f"take one of: {', '.join(_TIME_FORMS)}",
            )
        if not 1 <= self.step <= MINUTES_PER_DAY or MINUTES_PER_DAY % self.step:
            raise ParameterError(
                "step ({step}) of column {name!r} must be one of {step_days}",
                remedy="choose one from the list",
                step=self.step,
                name=self.name,
                step_days="15, 30, 60, 120, 180, 240, 360",
            )

    @property
    def source_columns(self) -> tuple[str, ...]:
        return (self.of or self.name,)

    @cached_property
    def edges(self) -> npt.NDArray[np.float64]:
        return np.arange(0, MINUTES_PER_DAY + 1, self.step, dtype=np.float64)

    def _bound_text(self, bound: float) -> str:
        return f"{int(bound) // 60:02}:{int(bound) % 60:02}"

    def _value_labels(self) -> tuple[str, ...]:
        return tuple(map(self._bound_text, self.edges[:-1]))

    def _derive(self, frame: pd.DataFrame) -> npt.NDArray[np.float64]:
        values = frame[self.source_columns[0]]
        if self.of:
            moments = parse_moments(values)
            seconds = (moments - moments.astype("datetime64[D]")).astype(np.float64)
            return np.where(np.isnat(moments), np.nan, seconds / 60)
        clock = parse_minutes(values, "clock")
        # read each cell by itself, as a clock time or as hhmm
        return np.where(np.isnan(clock), parse_minutes(values, "hhmm"), clock)

    def _decode(
        self, codes: Codes, present: npt.NDArray[np.bool_], draw_ranks: DrawRanks
    ) -> pd.Series:
        places = self._draw_positions(codes, present, draw_ranks)
        minutes = self.edges[codes] + self.step * places
        if self.written == "hhmm":
            whole = minutes.astype(np.int64)
            return whole_numbers(whole // 60 * 100 + whole % 60, present)
        seconds = (minutes * 60).astype(np.int64)
        if self.of:
            return pd.Series(np.where(present, seconds, np.nan))
        texts = [
            f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
            for second in seconds.tolist()
        ]
        return pd.Series(pd.array(texts, dtype="str")).where(present)

    def combine_drawn(
        self, drawn: MutableMapping[str, pd.Series], rng: np.random.Generator
    ) -> None:
        """Add drawn times to the drawn days; a missing time is taken from another
        row.
        """
        if not self.of or self.name not in drawn:
            return
        seconds = drawn.pop(self.name).to_numpy(dtype=np.float64, copy=True)
        if self.of not in drawn:
            drawn[self.name] = pd.Series(seconds / 60)
            return
        lacks = np.isnan(seconds)
        known = seconds[~lacks]
        seconds[lacks] = rng.choice(known, int(lacks.sum())) if len(known) else 0
        drawn[self.of] = drawn[self.of] + pd.to_timedelta(seconds, unit="s")


@dataclass(frozen=True, kw_only=True)
class Difference(DerivedColumn):
    """A column of end values, stored as the distance from a start in the same row.

    A row whose end lies before its begin is in a cell of its own, and so is one in
    which either is missing. Of the first, drawn ends are equal to their begins.

    Attributes:
        start: the column that holds the begin.
        unit: "minute" or "day" for moments, "whole" or "hundredth" for numbers.
        high: the largest difference, in minutes, days, or as a number; larger ones are
            clipped to it.
    """

    kind: ClassVar[str] = "difference"

    start: str
    unit: str = "day"
    high: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unit not in DIFFERENCE_UNITS:
            raise UsageError(
                f"column {self.name!r} cannot be a difference in {self.unit!r}",
                remedy=f"take one of: {', '.join(DIFFERENCE_UNITS)}",
            )
        if not self.start or self.start == self.name:
            raise ParameterError(
                "column {name!r} needs another column that holds its start",
                remedy="name the column that holds the start",
                name=self.name,
            )
        object.__setattr__(self, "high", float(self.high))
        check_bounds(self.name, 0.0, self.high, (), equal_bounds=False)
        check_column_cells(self.name, len(self.edges))

    @property
    def source_columns(self) -> tuple[str, ...]:
        return (self.start, self.name)

    @property
    def _smallest_step(self) -> float:
        return 0.01 if self.unit == "hundredth" else 1.0

    @cached_property
    def edges(self) -> npt.NDArray[np.float64]:
        """Edges of the cells: -1, 0, and growing steps up to the largest difference."""
        powers = range(
            max(0, math.ceil(math.log10(self.high / self._smallest_step))) + 1
        )
        steps = [
            self._smallest_step * step * 10.0**power
            for power in powers
            for step in DIFFERENCE_STEPS
        ]
        if self.unit != "minute":  # whole steps
            steps = [
                step
                for step in steps
                if math.isclose(step % self._smallest_step, 0, abs_tol=1e-9)
            ]
        inside = [step for step in steps if step < self.high]
        return np.array([-1.0, 0.0, *inside, self.high + self._smallest_step])

    @cached_property
    def single_value_cells(self) -> npt.NDArray[np.bool_]:
        marks = np.zeros(self.values_size, dtype=np.bool_)
        marks[:2] = True
        return marks

    def _value_labels(self) -> tuple[str, ...]:
        texts = [self._bound_text(edge) for edge in self.edges]
        between = [f"{a} to {b}" for a, b in itertools.pairwise(texts[1:])]
        return ("below 0", *between)

    def _derive(self, frame: pd.DataFrame) -> npt.NDArray[np.float64]:
        if self.unit not in _MOMENT_UNITS:
            begin, end = (_to_finite(frame[name]) for name in self.source_columns)
            distance: npt.NDArray[np.float64] = end - begin
            return distance
        first, last = (parse_moments(frame[name]) for name in self.source_columns)
        if self.unit == "day":
            first, last = first.astype("datetime64[D]"), last.astype("datetime64[D]")
        gap = (last.astype("datetime64[s]") - first.astype("datetime64[s]")).astype(
            np.float64
        )
        gap[np.isnat(first) | np.isnat(last)] = np.nan
        minutes_or_days: npt.NDArray[np.float64] = gap / DIFFERENCE_UNITS[self.unit]
        return minutes_or_days

    def _cells_of_numbers(
        self, numbers: npt.NDArray[np.float64], missing: npt.NDArray[np.bool_]
    ) -> tuple[Codes, OutsideCounts]:
        # amounts with decimals are not exact floats, so remove the rounding error
        near = np.round(numbers, 6)
        return super()._cells_of_numbers(near, missing)

    def _decode(
        self, codes: Codes, present: npt.NDArray[np.bool_], draw_ranks: DrawRanks
    ) -> pd.Series:
        starts = self.edges[codes]
        widths = np.diff(self.edges)[codes]
        gaps = starts + widths * self._draw_positions(codes, present, draw_ranks)
        gaps = (
            np.floor(gaps / self._smallest_step + 1e-9) * self._smallest_step
            if (self.unit != "minute")
            else np.floor(gaps * 60) / 60
        )
        return pd.Series(np.where(present, np.clip(gaps, 0, self.high), np.nan))

    def combine_drawn(
        self, drawn: MutableMapping[str, pd.Series], rng: np.random.Generator
    ) -> None:
        """Turn drawn differences into end values, from the starts of the same rows."""
        if self.start not in drawn or self.name not in drawn:
            return
        begin = drawn[self.start]
        gap = drawn[self.name]
        if self.unit in _MOMENT_UNITS:
            seconds = np.round(gap.to_numpy() * DIFFERENCE_UNITS[self.unit])
            drawn[self.name] = begin + pd.to_timedelta(seconds, unit="s")
            return
        end = pd.Series(begin.to_numpy(dtype=np.float64, na_value=np.nan) + gap)
        if self.unit == "whole":
            present = end.notna().to_numpy()
            drawn[self.name] = whole_numbers(
                np.where(present, end, 0).round().astype(np.int64), present
            )
        else:
            # rounding alone could move an end before its start
            drawn[self.name] = end.round(6).clip(lower=begin.astype("float64"))


def parse_minutes(values: pd.Series, form: str) -> npt.NDArray[np.float64]:
    """Return each value as minutes since midnight, NaN if it is not a time of day."""
    if form == "hhmm":
        numbers = _to_finite(values)
        hours = np.floor(numbers / 100)
        minutes = numbers - 100 * hours
        fits = (numbers >= 0) & (numbers <= 2400) & (minutes < 60)
        return np.where(fits, (60 * hours + minutes) % MINUTES_PER_DAY, np.nan)
    parts = as_text(values).str.extract(rf"^{_CLOCK_PATTERN}$").astype("float64")
    hours, minutes, seconds = (parts[place].to_numpy() for place in range(3))
    fits = (hours < 24) & (minutes < 60)
    return np.where(fits, 60 * hours + minutes + np.nan_to_num(seconds) / 60, np.nan)


def _to_finite(values: pd.Series) -> npt.NDArray[np.float64]:
    """Return each value as a finite float, NaN if it is not a number."""
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(
        dtype=np.float64, na_value=np.nan
    )
    return np.where(np.isfinite(numbers), numbers, np.nan)
