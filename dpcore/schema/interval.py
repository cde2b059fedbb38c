"""Columns with an order of numbers: whole, real, dates. Their cells are half-open intervals."""

from __future__ import annotations

import datetime
import itertools
import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import ParameterError
from dpcore.schema.column import Codes, Column, Outside, check_cells, whole_numbers
from dpcore.schema.values import as_text

_ZONE = r"(?<=[:T ]\d\d)([.]\d+)?(Z| ?[+-]\d\d(:?\d\d)?)$"
"""A time zone at the end of a time of day: the day is taken as it is written."""
_NANOSECONDS = r"([.][0-9]{6})[0-9]+$"
"""One such value would make pandas read the whole column as nanoseconds, which reach from 1677 to 2262."""
_STEP_DAYS = {"day": 1, "week": 7, "month": 28, "quarter": 90, "year": 365}


@dataclass(frozen=True, kw_only=True)
class IntervalColumn(Column):
    """A column whose cells are half-open intervals between `edges`, the last one closed."""

    @property
    @abstractmethod
    def edges(self) -> npt.NDArray[np.float64]:
        """Bounds of the cells, one more than there are cells."""

    @property
    def values_size(self) -> int:
        return len(self.edges) - 1

    @property
    def bounds(self) -> list[float | str]:
        """Bounds of the cells as people write them, one more than there are cells; dates as ISO texts."""
        return [float(edge) if edge % 1 else int(edge) for edge in self.edges]

    def cell_of(self, bound: float | str) -> int:
        """Number of the cell that starts at `bound`; `values_size` for the end of the last one.

        Raises: ParameterError when no cell starts there.
        """
        bound = float(bound)
        index = int(np.searchsorted(self.edges, bound))
        if index < len(self.edges) and math.isclose(self.edges[index], bound, rel_tol=1e-12, abs_tol=1e-12):
            return index
        low, high = max(index - 1, 0), min(index, len(self.edges) - 1)
        near = sorted({self._text(self.edges[low]), self._text(self.edges[high])})
        raise ParameterError(
            "{text} is not a cell bound of column {column!r}",
            remedy="use a bound such as {near}",
            column=self.name,
            text=self._text(bound),
            near=" or ".join(near),
        )

    def _text(self, bound: float) -> str:
        return f"{bound:g}" if abs(bound) < 1e6 else f"{bound:.0f}"

    def _codes(
        self, numbers: npt.NDArray[np.float64], missing: npt.NDArray[np.bool_]
    ) -> tuple[Codes, Outside]:
        """Cell numbers of numeric values; NaN that is not missing is unreadable."""
        unreadable = np.isnan(numbers) & ~missing
        readable = np.where(np.isnan(numbers), self.edges[0], numbers)
        clipped = int(((readable < self._low) | (readable > self._high)).sum())
        codes = np.searchsorted(self.edges, readable, side="right").astype(np.int64) - 1
        return self._placed(np.clip(codes, 0, self.values_size - 1), missing, unreadable, clipped)

    @property
    def _low(self) -> float:
        return float(self.edges[0])

    @property
    def _high(self) -> float:
        return float(self.edges[-1])


@dataclass(frozen=True, kw_only=True)
class Integer(IntervalColumn):
    """Whole numbers from `low` to `high`, both included, in cells of `bin_width` numbers.

    Attributes:
        low, high: public bounds; values beyond are clipped to them.
        bin_width: numbers in a cell; the last cell may hold fewer.
        cuts: instead of a width: the first number of every cell but the first, rising.
    """

    kind: ClassVar[str] = "integer"

    low: int
    high: int
    bin_width: int = 1
    cuts: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for label in ("low", "high", "bin_width"):
            object.__setattr__(self, label, _whole(self.name, label, getattr(self, label)))
        object.__setattr__(self, "cuts", tuple(_whole(self.name, "a cut", cut) for cut in self.cuts))
        _check_bounds(self.name, self.low, self.high, self.cuts, equal_bounds=True)
        if self.bin_width < 1:
            raise ParameterError(
                "bin_width ({bin_width}) of column {name!r} must be at least 1",
                remedy="use 1 or more",
                bin_width=self.bin_width,
                name=self.name,
            )
        check_cells(
            self.name, len(self.cuts) + 1 if self.cuts else (self.high - self.low) // self.bin_width + 1
        )

    @cached_property
    def edges(self) -> npt.NDArray[np.float64]:
        if self.cuts:
            return np.array([self.low, *self.cuts, self.high + 1], dtype=np.float64)
        starts = np.arange(self.low, self.high + 1, self.bin_width, dtype=np.float64)
        return np.append(starts, float(self.high + 1))

    @property
    def _high(self) -> float:
        return float(self.high)

    def _value_labels(self) -> tuple[str, ...]:
        starts = self.edges[:-1].astype(np.int64)
        ends = self.edges[1:].astype(np.int64) - 1
        return tuple(str(a) if a == b else f"{a} to {b}" for a, b in zip(starts, ends, strict=True))

    def _encode(self, values: pd.Series) -> tuple[Codes, Outside]:
        missing = self._missing(values)
        return self._codes(_as_numbers(values), missing)

    def _decode(self, codes: Codes, present: npt.NDArray[np.bool_], rng: np.random.Generator) -> pd.Series:
        starts, ends = self.edges[codes].astype(np.int64), self.edges[codes + 1].astype(np.int64)
        return whole_numbers(rng.integers(starts, ends) if len(codes) else starts, present)


@dataclass(frozen=True, kw_only=True)
class Real(IntervalColumn):
    """Real numbers from `low` to `high`, in cells of width `bin_width` or between `cuts`."""

    kind: ClassVar[str] = "real"

    low: float
    high: float
    bin_width: float | None = None
    cuts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "cuts", tuple(float(cut) for cut in self.cuts))
        _check_bounds(self.name, self.low, self.high, self.cuts, equal_bounds=False)
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))
        if (self.bin_width is None) == (not self.cuts):
            raise ParameterError(
                "column {name!r} needs bin_width or cuts, one of the two",
                remedy="give one of them",
                name=self.name,
            )
        if self.bin_width is not None:
            if not (math.isfinite(self.bin_width) and self.bin_width > 0):
                raise ParameterError(
                    "bin_width ({bin_width}) of column {name!r} must be above 0",
                    remedy="use a number above 0",
                    bin_width=self.bin_width,
                    name=self.name,
                )
            check_cells(self.name, (self.high - self.low) / self.bin_width)
        if (np.diff(self.edges) <= 0).any():
            raise ParameterError(
                "the cells of column {name!r} are too narrow for numbers of this size",
                remedy="use a wider step",
                name=self.name,
            )

    @cached_property
    def edges(self) -> npt.NDArray[np.float64]:
        if self.bin_width is None:
            return np.array([self.low, *self.cuts, self.high], dtype=np.float64)
        cells = max(1, math.ceil((self.high - self.low) / self.bin_width - 1e-9))
        starts = self.low + self.bin_width * np.arange(cells)
        return np.append(starts[starts < self.high], self.high)

    def _value_labels(self) -> tuple[str, ...]:
        return tuple(
            f"{self._text(a)} to {self._text(b)}"
            for a, b in zip(self.edges[:-1], self.edges[1:], strict=True)
        )

    def _encode(self, values: pd.Series) -> tuple[Codes, Outside]:
        missing = self._missing(values)
        return self._codes(_as_numbers(values), missing)

    def _decode(self, codes: Codes, present: npt.NDArray[np.bool_], rng: np.random.Generator) -> pd.Series:
        starts, ends = self.edges[codes], self.edges[codes + 1]
        # rounding may reach the end, which is in the next cell
        drawn = np.minimum(rng.uniform(starts, ends), np.nextafter(ends, starts))
        return pd.Series(np.where(present, drawn, np.nan))


@dataclass(frozen=True, kw_only=True)
class Date(IntervalColumn):
    """Days from `low` to `high` (ISO texts such as "1990-01-31", both included), in cells of one `step`.

    Attributes:
        step: "day", "week", "month", "quarter" or "year"; cells start at whole steps, weeks on Mondays.
    """

    kind: ClassVar[str] = "date"

    low: str
    high: str
    step: str = "month"

    def __post_init__(self) -> None:
        super().__post_init__()
        for label in ("low", "high"):
            try:
                day = datetime.date.fromisoformat(str(getattr(self, label))[:10])
            except ValueError:
                raise ParameterError(
                    "{label} of column {name!r} must be a date such as 1990-01-31",
                    remedy="write year-month-day",
                    label=label,
                    name=self.name,
                ) from None
            object.__setattr__(self, label, day.isoformat())
        _check_bounds(self.name, _days(self.low), _days(self.high), (), equal_bounds=True)
        if self.step not in _STEP_DAYS:
            raise ParameterError(
                "step ({step}) of column {name!r} must be one of {step_days}",
                remedy="choose one of them",
                step=self.step,
                name=self.name,
                step_days=", ".join(_STEP_DAYS),
            )
        check_cells(self.name, (_days(self.high) - _days(self.low)) / _STEP_DAYS[self.step])

    @cached_property
    def edges(self) -> npt.NDArray[np.float64]:
        """Bounds in days since 1970-01-01."""
        low, high = _days(self.low), _days(self.high)
        if self.step in ("day", "week"):
            width = _STEP_DAYS[self.step]
            first = low if self.step == "day" else low - (low + 3) % 7  # day -3, a Monday, starts week 0
            starts = np.arange(first, high + 1, width)
        else:
            months = {"month": 1, "quarter": 3, "year": 12}[self.step]
            first_month = int(np.datetime64(self.low, "M").astype(np.int64)) // months * months
            last_month = int(np.datetime64(self.high, "M").astype(np.int64))
            grid = np.arange(first_month, last_month + 1, months).astype("datetime64[M]")
            starts = grid.astype("datetime64[D]").astype(np.int64)
        edges = np.append(starts, high + 1).astype(np.float64)
        edges[0] = max(edges[0], low)
        return edges

    @property
    def _high(self) -> float:
        return float(_days(self.high))

    def _text(self, bound: float) -> str:
        return str(np.datetime64(int(bound), "D"))

    def _value_labels(self) -> tuple[str, ...]:
        digits = {"year": 4, "month": 7}.get(self.step, 10)
        return tuple(self._text(start)[:digits] for start in self.edges[:-1])

    @property
    def bounds(self) -> list[float | str]:
        return [self._text(edge) for edge in self.edges]

    def cell_of(self, bound: float | str) -> int:
        return super().cell_of(_days(bound) if isinstance(bound, str) else bound)

    def _encode(self, values: pd.Series) -> tuple[Codes, Outside]:
        missing = self._missing(values)
        if pd.api.types.is_datetime64_any_dtype(values.dtype):
            stamps = values
        else:
            local = as_text(values).str.replace(_ZONE, "", regex=True)
            local = local.str.replace(_NANOSECONDS, r"\1", regex=True)
            stamps = pd.to_datetime(local, errors="coerce", format="ISO8601")
        if getattr(stamps.dt, "tz", None) is not None:
            stamps = stamps.dt.tz_localize(None)
        days = stamps.to_numpy(dtype="datetime64[D]")
        return self._codes(np.where(np.isnat(days), np.nan, days.astype(np.float64)), missing)

    def _decode(self, codes: Codes, present: npt.NDArray[np.bool_], rng: np.random.Generator) -> pd.Series:
        starts, ends = self.edges[codes].astype(np.int64), self.edges[codes + 1].astype(np.int64)
        days = (rng.integers(starts, ends) if len(codes) else starts).astype("datetime64[D]")
        return pd.Series(days.astype("datetime64[s]")).where(present)


def _as_numbers(values: pd.Series) -> npt.NDArray[np.float64]:
    if not pd.api.types.is_numeric_dtype(values.dtype) or pd.api.types.is_bool_dtype(values.dtype):
        values = pd.to_numeric(values, errors="coerce")
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def _whole(name: str, label: str, value: object) -> int:
    """`value` as a whole number that a float64 holds exactly."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or abs(int(value)) > 2**53:
        raise ParameterError(
            "{label} ({value}) of column {name!r} must be a whole number within 2^53 of 0",
            remedy="use a whole number, or declare the column Real",
            label=label,
            value=value,
            name=name,
        )
    return int(value)


def _days(text: str) -> int:
    return int(np.datetime64(text, "D").astype(np.int64))


def _check_bounds(name: str, low: float, high: float, cuts: Sequence[float], *, equal_bounds: bool) -> None:
    for label, value in (("low", low), ("high", high), *(("a cut", cut) for cut in cuts)):
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float, np.number))
            or not math.isfinite(value)
        ):
            raise ParameterError(
                "{label} ({value}) of column {name!r} must be a finite number",
                remedy="use a finite number",
                label=label,
                value=value,
                name=name,
            )
    if high < low or (high == low and not equal_bounds):
        raise ParameterError(
            "low ({low}) of column {column!r} must be below high ({high})",
            remedy="swap or correct the bounds",
            column=name,
            low=low,
            high=high,
        )
    points = [low, *cuts, high + 1 if equal_bounds else high]
    if any(a >= b for a, b in itertools.pairwise(points)):
        raise ParameterError(
            "the cuts of column {column!r} must rise strictly and lie between its bounds",
            remedy="sort the cuts and drop those outside",
            column=name,
        )
