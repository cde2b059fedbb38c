"""Columns of whole and real numbers; their cells are half-open intervals."""

import math
import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import ParameterError, UsageError
from dpcore.schema._slope import estimate_slopes, place_in_cells
from dpcore.schema.bounds import (
    check_bounds,
    check_special_values,
    check_whole_number,
    invalid_number_error,
)
from dpcore.schema.column import (
    Codes,
    Column,
    DrawRanks,
    OutsideCounts,
    check_column_cells,
    whole_numbers,
)
from dpcore.schema.origin import AGES_RULE, CENSORED_RULE, MISSING_WORDS_RULE
from dpcore.schema.values import is_arrow_decimal, largest_float_at_most

MAX_DECIMALS = 12
"""Digits behind the point that may be declared."""
BLOCK_ROWS = 100_000  # rows whose places in their cells are worked out at a time
CONVENTIONAL_AGES = ((0, 99), (0, 119))
_AGE_NAME = re.compile(r"(^|[_\-. ])age([_\-. ]|$)", re.IGNORECASE)


def is_age_name(name: str) -> bool:
    """Return whether a column's name says that it holds ages."""
    return _AGE_NAME.search(name) is not None


@dataclass(frozen=True, kw_only=True)
class IntervalColumn(Column):
    """A column whose cells are half-open intervals; the last one is closed.

    Cells follow each other in the order of `edges`: cell i begins at `edges[i]`. It
    ends at the beginning of the next one, or at a bound of the column if special values
    lie beyond that bound.

    Attributes:
        unreadable_is_missing: whether a value that is no number, or no day, counts as
            missing; it is refused otherwise.
    """

    is_interval: ClassVar[bool] = True

    unreadable_is_missing: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unreadable_is_missing and not self.missing:
            raise ParameterError(
                (
                    "unreadable values of column {name!r} would count as missing, "
                    "but the column does not allow missing values"
                ),
                remedy=(
                    "declare a cell for missing or other values, or change the "
                    "declaration"
                ),
                name=self.name,
            )

    @property
    @abstractmethod
    def edges(self) -> npt.NDArray[np.float64]:
        """Starts of the cells, and the end of the last one."""

    @property
    def ends(self) -> npt.NDArray[np.float64]:
        """Ends of the cells, one per cell."""
        return self.edges[1:]

    @property
    def last_values(self) -> npt.NDArray[np.float64]:
        """Largest value in each cell, for a column of whole numbers."""
        return self.ends - 1

    @property
    def single_value_cells(self) -> npt.NDArray[np.bool_]:
        """Mask of the cells that hold a single special value."""
        return np.zeros(self.values_size, dtype=np.bool_)

    @property
    def values_size(self) -> int:
        return len(self.edges) - 1

    @property
    def bounds(self) -> list[float | str]:
        """Bounds of the cells as people write them; one more than there are cells.

        Dates are ISO texts.
        """
        return [float(edge) if edge % 1 else int(edge) for edge in self.edges]

    def cell_of(self, bound: float | str) -> int:
        """Return the cell that starts at `bound`; at the last end, `values_size`.

        Raises: ParameterError if no cell starts there.
        """
        bound = float(bound)
        index = int(np.searchsorted(self.edges, bound))
        if index < len(self.edges) and math.isclose(
            self.edges[index], bound, rel_tol=1e-12, abs_tol=1e-12
        ):
            return index
        low = max(index - 1, 0)
        high = min(index, len(self.edges) - 1)
        near = sorted(
            {self._bound_text(self.edges[low]), self._bound_text(self.edges[high])}
        )
        raise ParameterError(
            "{text} is not a boundary between cells of column {column!r}",
            remedy="use a boundary such as {near}",
            column=self.name,
            text=self._bound_text(bound),
            near=" or ".join(near),
        )

    def _bound_text(self, bound: float) -> str:
        return f"{bound:g}" if abs(bound) < 1e6 else f"{bound:.0f}"

    def _cells_of_numbers(
        self,
        numbers: npt.NDArray[np.float64],
        missing: npt.NDArray[np.bool_],
    ) -> tuple[Codes, OutsideCounts]:
        """Return the cell of each number; a NaN that is not missing is unreadable."""
        unreadable = np.isnan(numbers) & ~missing
        if self.unreadable_is_missing:
            missing, unreadable = missing | unreadable, np.zeros_like(missing)
        readable = np.where(np.isnan(numbers), self.edges[0], numbers)
        bounded = np.clip(readable, self._low, self._high)
        placed = np.where(
            np.isin(readable, self.edges[:-1][self.single_value_cells]),
            readable,
            bounded,
        )
        codes = np.searchsorted(self.edges, placed, side="right").astype(np.int64) - 1
        codes = np.clip(codes, 0, self.values_size - 1)
        return self._place_missing(
            codes, missing, unreadable, int((placed != readable).sum())
        )

    def _to_floats(self, values: pd.Series) -> npt.NDArray[np.float64]:
        """Return each value as a float that lies in the same cell as the value.

        Decimals are compared in all their digits.
        """
        if is_arrow_decimal(values.dtype):
            codes, distinct = pd.factorize(values)
            return np.array([*map(self._float_in_same_cell, distinct), np.nan])[codes]
        if pd.api.types.is_numeric_dtype(
            values.dtype
        ) and not pd.api.types.is_bool_dtype(values.dtype):
            return values.to_numpy(dtype=np.float64, na_value=np.nan)
        numbers = pd.to_numeric(values, errors="coerce").to_numpy(
            dtype=np.float64, na_value=np.nan
        )
        if not pd.api.types.is_object_dtype(values.dtype):
            return numbers
        decimals = [isinstance(value, Decimal) for value in values]
        numbers = numbers.copy()
        numbers[decimals] = [
            self._float_in_same_cell(value) for value in values[decimals]
        ]
        return numbers

    def _float_in_same_cell(self, number: Decimal) -> float:
        """Return the largest float that is not above a decimal.

        If that float is a special value, return the next one.
        """
        if number.is_nan():
            return math.nan
        low, is_same = largest_float_at_most(number)
        return (
            low
            if is_same or low not in self.edges[:-1][self.single_value_cells]
            else math.nextafter(low, math.inf)
        )

    def _draw_positions(
        self,
        codes: Codes,
        present: npt.NDArray[np.bool_],
        draw_ranks: DrawRanks,
    ) -> npt.NDArray[np.float64]:
        """Draw the position of each value in its cell, in [0, 1).

        Positions follow the slope of the drawn cells.
        """
        drawn = np.bincount(codes[present], minlength=self.values_size)
        slope = estimate_slopes(
            drawn, self.edges[:-1], self.ends, has_single_value=self.single_value_cells
        )
        places = draw_ranks()
        # In blocks: the formula holds five numbers of each row at a time.
        for first in range(0, len(places), BLOCK_ROWS):
            block = slice(first, first + BLOCK_ROWS)
            places[block] = place_in_cells(places[block], slope[codes[block]])
        return places

    def _draw_whole_numbers(
        self,
        codes: Codes,
        present: npt.NDArray[np.bool_],
        draw_ranks: DrawRanks,
    ) -> npt.NDArray[np.int64]:
        """Draw a whole number from each cell."""
        first = self.edges[:-1].astype(np.int64)
        widths = self.ends.astype(np.int64) - first
        if (widths == 1).all():
            # draw all the same, so that this column's cells do not change what a seed
            # gives other columns
            draw_ranks()
            starts: npt.NDArray[np.int64] = first[codes]
            return starts
        # positions first: they need memory of their own, several times a column
        places = self._draw_positions(codes, present, draw_ranks)
        places *= widths[codes]
        drawn: npt.NDArray[np.int64] = np.minimum(
            places.astype(np.int64), (widths - 1)[codes]
        )
        drawn += first[codes]
        return drawn

    @property
    def _low(self) -> float:
        return float(self.edges[0])

    @property
    def _high(self) -> float:
        return float(self.edges[-1])


class NumberColumn(IntervalColumn):
    """A column of numbers in cells of equal width, or between cuts.

    Special values have cells of their own.

    Attributes:
        low, high: public bounds; values beyond are clipped to them.
        cuts: the first number of every cell but the first, rising.
        special: numbers with a cell each.
    """

    readable_by: ClassVar[tuple[str, ...]] = (MISSING_WORDS_RULE, CENSORED_RULE)
    holds_numbers: ClassVar[bool] = True

    low: float
    high: float
    cuts: tuple[float, ...]
    special: tuple[float, ...]

    @cached_property
    def single_value_cells(self) -> npt.NDArray[np.bool_]:
        return np.isin(self.edges[:-1], self.special)

    @property
    def _low(self) -> float:
        return float(self.low)

    @property
    def _high(self) -> float:
        return float(self.high)

    def _encode(self, values: pd.Series) -> tuple[Codes, OutsideCounts]:
        return self._cells_of_numbers(self._to_floats(values), self.is_missing(values))


@dataclass(frozen=True, kw_only=True)
class Integer(NumberColumn):
    """A column of whole numbers from `low` to `high`, both included.

    Attributes:
        low, high: public bounds; values beyond are clipped to them.
        bin_width: numbers in a cell; the last cell may hold fewer.
        cuts: instead of a width: the first number of every cell but the first, rising.
        special: numbers that are cells of their own, such as a 0 that most people have;
            they may lie beyond the bounds, as the code 99999 does.
    """

    kind: ClassVar[str] = "integer"
    is_whole: ClassVar[bool] = True
    readable_by: ClassVar[tuple[str, ...]] = (*NumberColumn.readable_by, AGES_RULE)

    low: int
    high: int
    bin_width: int = 1
    cuts: tuple[int, ...] = ()
    special: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for label in ("low", "high", "bin_width"):
            object.__setattr__(
                self, label, check_whole_number(self.name, label, getattr(self, label))
            )
        object.__setattr__(
            self,
            "cuts",
            tuple(check_whole_number(self.name, "a cut", cut) for cut in self.cuts),
        )
        special = {
            check_whole_number(self.name, "a special value", value)
            for value in self.special
        }
        object.__setattr__(self, "special", tuple(sorted(special)))
        check_bounds(self.name, self.low, self.high, self.cuts, equal_bounds=True)
        if AGES_RULE in self.rules and not self.has_conventional_ages:
            raise ParameterError(
                (
                    "the name or the bounds of column {name!r} do not fit the "
                    "public rule for ages"
                ),
                remedy="use 0 to 99 or 0 to 119 in steps of 1, or remove the rule",
                name=self.name,
            )
        if self.bin_width < 1:
            raise invalid_number_error(self.name, "bin_width", self.bin_width)
        cells = (
            len(self.cuts) + 1
            if self.cuts
            else (self.high - self.low) // self.bin_width + 1
        )
        check_column_cells(self.name, cells + 2 * len(self.special))

    @property
    def has_conventional_ages(self) -> bool:
        """Whether this is a column of ages with the bounds of the public rule."""
        return (
            is_age_name(self.name)
            and (self.low, self.high) in CONVENTIONAL_AGES
            and self.bin_width == 1
            and not self.cuts
        )

    @cached_property
    def edges(self) -> npt.NDArray[np.float64]:
        if self.cuts:
            starts = np.array([self.low, *self.cuts], dtype=np.float64)
        else:
            starts = np.arange(
                self.low, self.high + 1, self.bin_width, dtype=np.float64
            )
        return _add_special_cells(
            starts,
            self.special,
            [value + 1 for value in self.special],
            float(self.high + 1),
        )

    @cached_property
    def ends(self) -> npt.NDArray[np.float64]:
        return np.where(
            self.single_value_cells,
            self.edges[:-1] + 1,
            np.minimum(self.edges[1:], self.high + 1),
        )

    def _value_labels(self) -> tuple[str, ...]:
        starts = self.edges[:-1].astype(np.int64)
        ends = self.ends.astype(np.int64) - 1
        return tuple(
            str(a) if a == b else f"{a} to {b}"
            for a, b in zip(starts, ends, strict=True)
        )

    def _decode(
        self, codes: Codes, present: npt.NDArray[np.bool_], draw_ranks: DrawRanks
    ) -> pd.Series:
        return whole_numbers(
            self._draw_whole_numbers(codes, present, draw_ranks), present
        )


@dataclass(frozen=True, kw_only=True)
class Real(NumberColumn):
    """A column of real numbers from `low` to `high`, in equal cells or between cuts.

    Attributes:
        special: numbers that are cells of their own, such as a 0.0 that most people
            have; they may lie beyond the bounds.
        decimals: digits behind the point of its numbers, which drawn ones keep to; None
            for as many as there are.
    """

    kind: ClassVar[str] = "real"

    low: float
    high: float
    bin_width: float | None = None
    cuts: tuple[float, ...] = ()
    special: tuple[float, ...] = ()
    decimals: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.decimals is not None:
            digits = check_whole_number(self.name, "decimals", self.decimals)
            if not 0 <= digits <= MAX_DECIMALS:
                raise invalid_number_error(self.name, "decimals", digits)
            object.__setattr__(self, "decimals", digits)
        object.__setattr__(self, "cuts", tuple(float(cut) for cut in self.cuts))
        check_bounds(self.name, self.low, self.high, self.cuts, equal_bounds=False)
        check_special_values(self.name, self.special)
        object.__setattr__(
            self,
            "special",
            tuple(sorted({float(value) + 0.0 for value in self.special})),
        )
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))
        if (self.bin_width is None) == (not self.cuts):
            raise UsageError(
                f"column {self.name!r} needs bin_width or cuts, one of the two",
                remedy="give one of them",
            )
        if self.bin_width is not None:
            if not (math.isfinite(self.bin_width) and self.bin_width > 0):
                raise invalid_number_error(self.name, "bin_width", self.bin_width)
            check_column_cells(
                self.name,
                (self.high - self.low) / self.bin_width + 2 * len(self.special),
            )
        if (np.diff(self._plain_edges) <= 0).any():
            raise ParameterError(
                "the cells of column {name!r} are too narrow for numbers of this size",
                remedy="use fewer columns, wider steps or fewer categories",
                name=self.name,
            )

    @cached_property
    def edges(self) -> npt.NDArray[np.float64]:
        plain = self._plain_edges
        return _add_special_cells(
            plain[:-1], self.special, self._next_floats(self.special), plain[-1]
        )

    @cached_property
    def ends(self) -> npt.NDArray[np.float64]:
        starts = self.edges[:-1]
        return np.where(
            self.single_value_cells,
            self._next_floats(starts),
            np.minimum(self.edges[1:], self.high),
        )

    @property
    def last_values(self) -> npt.NDArray[np.float64]:
        is_closed = (self.ends == self.high) & (self.high not in self.special)
        return np.where(is_closed, self.ends, np.nextafter(self.ends, -np.inf))

    @staticmethod
    def _next_floats(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the next float64 after each number: the end of a single value's cell."""
        return np.nextafter(values, np.inf)

    @property
    def _plain_edges(self) -> npt.NDArray[np.float64]:
        if self.bin_width is None:
            return np.array([self.low, *self.cuts, self.high], dtype=np.float64)
        cells = max(1, math.ceil((self.high - self.low) / self.bin_width - 1e-9))
        starts = self.low + self.bin_width * np.arange(cells)
        return np.append(starts[starts < self.high], self.high)

    @property
    def bounds(self) -> list[float | str]:
        return [
            edge
            if isinstance(edge, str)
            else self._labels_above_special.get(edge, edge)
            for edge in super().bounds
        ]

    def cell_of(self, bound: float | str) -> int:
        exact = {text: edge for edge, text in self._labels_above_special.items()}
        return super().cell_of(
            exact.get(bound, bound) if isinstance(bound, str) else bound
        )

    @cached_property
    def _labels_above_special(self) -> dict[float, str]:
        """Labels of the edges right after special values, such as "above 0"."""
        texts = (
            f"above {super(Real, self)._bound_text(value)}" for value in self.special
        )
        return dict(zip(self._next_floats(self.special).tolist(), texts, strict=True))

    def _bound_text(self, bound: float) -> str:
        return self._labels_above_special.get(bound) or super()._bound_text(bound)

    def _value_labels(self) -> tuple[str, ...]:
        cells = zip(
            self.edges[:-1].tolist(),
            self.ends.tolist(),
            self.single_value_cells,
            strict=True,
        )
        return tuple(
            self._bound_text(a)
            if single
            else f"{self._bound_text(a)} to {self._bound_text(b)}"
            for a, b, single in cells
        )

    def _decode(
        self, codes: Codes, present: npt.NDArray[np.bool_], draw_ranks: DrawRanks
    ) -> pd.Series:
        places = self._draw_positions(codes, present, draw_ranks)
        starts = self.edges[codes]
        ends = self.ends[codes]
        drawn = starts + (ends - starts) * places
        # floating-point rounding may reach the end, which belongs to the next cell
        drawn = np.minimum(drawn, np.nextafter(ends, starts))
        if self.decimals is not None:
            drawn = _round_within(drawn, starts, ends, self.decimals)
        return pd.Series(np.where(present, drawn, np.nan))


def _round_within(
    values: npt.NDArray[np.float64],
    starts: npt.NDArray[np.float64],
    ends: npt.NDArray[np.float64],
    decimals: int,
) -> npt.NDArray[np.float64]:
    """Round values to decimals without leaving their cells.

    A value stays as it is if its cell has no such number.
    """
    scale = 10.0**decimals
    first = np.round(np.ceil(starts * scale) / scale, decimals)
    last = np.round((np.ceil(ends * scale) - 1) / scale, decimals)
    near = np.round(values, decimals)
    near = np.where(near < starts, first, near)
    near = np.where(near >= ends, last, near)
    is_inside = (near >= starts) & (near < ends)
    return np.where(is_inside, near, values)


def _add_special_cells(
    starts: npt.NDArray[np.float64],
    special: Sequence[float],
    after: npt.ArrayLike,
    end: float,
) -> npt.NDArray[np.float64]:
    """Return the edges of the cells, with extra cells for special values.

    Those beyond the bounds leave a gap without cells.
    """
    low = starts[0]
    following = np.array(
        [edge for edge in np.asarray(after) if low < edge < end], dtype=np.float64
    )
    last = max([end, *np.asarray(after)])
    return np.unique(
        np.concatenate([starts, np.array(special, dtype=np.float64), following, [last]])
    )
