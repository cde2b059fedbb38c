"""Columns of days; their cells are days, weeks, months, quarters or years."""

import datetime
import re
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import ParameterError
from dpcore.schema.bounds import check_bounds
from dpcore.schema.column import Codes, DrawRanks, OutsideCounts, check_column_cells
from dpcore.schema.interval import IntervalColumn
from dpcore.schema.values import as_text

_TIME_ZONE = r"([T ]\d\d(?::?\d\d){0,2})(?:[.]\d+)?(?: ?Z| ?[+-]\d\d(?::?\d\d)?)$"
"""A time zone at the end of a time of day: the day is taken as it is written."""
_DATE_CHARACTERS = r"\d[\d./-]*(?:[T ][\d:.]*)?"
"""Of what else a day may be written: "now", or one more zone, would change how the
whole column is read.
"""
_NANOSECONDS = r"([.][0-9]{6})[0-9]+$"
"""One such value would make pandas read the whole column as nanoseconds, which reach
from 1677 to 2262.
"""
_FREQUENCIES = {"day": "D", "week": "W-SUN", "month": "M", "quarter": "Q", "year": "Y"}
_STEP_DAYS = {
    "day": 1,
    "week": 7,
    "month": 28,
    "quarter": 90,
    "year": 365,
    "decade": 3652,
}
DATE_STEPS = tuple(_STEP_DAYS)
"""All steps, the finest first."""
MAX_SUGGESTED_CELLS = 60
_BIRTH_WORDS = re.compile(
    r"birth|born|\bdob\b|geburt|geboren|naissance|nacimiento|nascita|出生|生日",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Date(IntervalColumn):
    """A column of days from `low` to `high`, both included, in cells of one `step`.

    Bounds are ISO texts such as "1990-01-31".

    Attributes:
        step: "day", "week", "month", "quarter", "year" or "decade"; cells start at whole
            steps, weeks on Mondays, decades in years such as 1990.
    """

    kind: ClassVar[str] = "date"
    holds_days: ClassVar[bool] = True

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
        check_bounds(
            self.name,
            _day_number(self.low),
            _day_number(self.high),
            (),
            equal_bounds=True,
        )
        if self.step not in _STEP_DAYS:
            raise ParameterError(
                "step ({step}) of column {name!r} must be one of {step_days}",
                remedy="choose one from the list",
                step=self.step,
                name=self.name,
                step_days=", ".join(_STEP_DAYS),
            )
        check_column_cells(
            self.name,
            (_day_number(self.high) - _day_number(self.low)) / _STEP_DAYS[self.step],
        )

    @cached_property
    def edges(self) -> npt.NDArray[np.float64]:
        """Starts of the cells and the end of the last one, in days since 1970-01-01."""
        low = pd.Period(self.low, "D")
        high = pd.Period(self.high, "D")
        steps = pd.period_range(
            low, high, freq=_FREQUENCIES["year" if self.step == "decade" else self.step]
        )
        if self.step == "decade":
            steps = steps[(steps.year % 10 == 0) | (steps.year == low.year)]
        starts = steps.asfreq("D", how="START").astype("int64")
        return np.array([low.ordinal, *starts[1:], high.ordinal + 1], dtype=np.float64)

    @property
    def _high(self) -> float:
        return float(_day_number(self.high))

    def _bound_text(self, bound: float) -> str:
        return str(np.datetime64(int(bound), "D"))

    def _value_labels(self) -> tuple[str, ...]:
        digits = {"decade": 4, "year": 4, "month": 7}.get(self.step, 10)
        return tuple(self._bound_text(start)[:digits] for start in self.edges[:-1])

    @property
    def bounds(self) -> list[float | str]:
        return [self._bound_text(edge) for edge in self.edges]

    def cell_of(self, bound: float | str) -> int:
        return super().cell_of(_day_number(bound) if isinstance(bound, str) else bound)

    def _encode(self, values: pd.Series) -> tuple[Codes, OutsideCounts]:
        missing = self.is_missing(values)
        days = parse_days(values)
        return self._cells_of_numbers(
            np.where(np.isnat(days), np.nan, days.astype(np.float64)), missing
        )

    def _decode(
        self, codes: Codes, present: npt.NDArray[np.bool_], draw_ranks: DrawRanks
    ) -> pd.Series:
        days = self._draw_whole_numbers(codes, present, draw_ranks).astype(
            "datetime64[D]"
        )
        return pd.Series(days.astype("datetime64[s]")).where(present)


def parse_moments(values: pd.Series) -> npt.NDArray[np.datetime64]:
    """Return each value as a time stamp in whole seconds, NaT if it is not a date.

    A text's moment is read as written, an instant's in UTC.
    """
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        stamps = values
    else:
        local = as_text(values).str.replace(_TIME_ZONE, r"\1", regex=True)
        local = local.str.replace(_NANOSECONDS, r"\1", regex=True)
        local = local.where(
            local.str.fullmatch(_DATE_CHARACTERS).fillna(False).astype(bool)
        )
        stamps = pd.to_datetime(local, errors="coerce", format="ISO8601")
    if getattr(stamps.dt, "tz", None) is not None:
        stamps = stamps.dt.tz_convert(None)
    return stamps.to_numpy(dtype="datetime64[s]")


def parse_days(values: pd.Series) -> npt.NDArray[np.datetime64]:
    """Return the day of each value, NaT for a value that is not a date."""
    return parse_moments(values).astype("datetime64[D]")


def mask_days(values: pd.Series) -> npt.NDArray[np.bool_]:
    """Return a mask of the values that are days in the years 1 to 9999."""
    days = parse_days(values)
    first = np.datetime64("0001-01-01")
    last = np.datetime64("9999-12-31")
    return np.asarray(~np.isnat(days) & (days >= first) & (days <= last))


def are_all_days(values: pd.Series) -> bool:
    """Return whether every value is a day in the years 1 to 9999."""
    return bool(mask_days(values).all())


def _day_number(text: str) -> int:
    return int(np.datetime64(text, "D").astype(np.int64))


def find_finest_step(low: str, high: str) -> str:
    """Return the finest step that divides the bounds into few enough cells.

    >>> find_finest_step("2019-01-01", "2019-12-31"), find_finest_step("1950-01-01", "2019-12-31")
    ('week', 'decade')
    """
    days = _day_number(high) - _day_number(low)
    return next(
        step
        for step, width in _STEP_DAYS.items()
        if days / width <= MAX_SUGGESTED_CELLS or step == "decade"
    )


def propose_last_year(name: str, year: int) -> int:
    """Return the last year to propose for a date column whose values reach `year`.

    Birth dates, by the name of the column, do not lie in the future: a drawn person
    would be born in it.
    """
    words = name.replace("_", " ")
    return min(year, datetime.date.today().year) if _BIRTH_WORDS.search(words) else year
