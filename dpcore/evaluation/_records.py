"""Conversion of rows to numbers, to compare tables from different origins.

A schema says what a column means; the values may come from anywhere. A generalized
value such as "20-29" or "[20, 30)" counts as the middle of its interval; an unreadable
one counts as missing: nothing is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import no_common_columns_error, no_rows_error, too_few_rows_error
from dpcore.schema.column import Column
from dpcore.schema.date import parse_days
from dpcore.schema.interval import IntervalColumn
from dpcore.schema.schema import Schema
from dpcore.schema.values import as_text

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]

_NUMBER_PATTERN = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
INTERVAL_PATTERN = rf"^\s*[\[(]?\s*({_NUMBER_PATTERN})\s*(?:-|–|,|to)\s*({_NUMBER_PATTERN})\s*[\])]?\s*$"
ABSENT_CODE = -1
"""Code of a missing or unreadable value of a column without an order."""
EVALUATION_SEED = 20_210_417
"""Seed of all random choices of an evaluation: the same tables get the same figures."""


def mark_random_people(
    frame: pd.DataFrame, person: str | None, one_in: int, *, seed: int, min_people: int
) -> Bools:
    """Choose one in `one_in` people at random; return a mask of their rows.

    Raises: ParameterError for fewer people than `min_people`.
    """
    people = pd.factorize(frame[person])[0] if person else np.arange(len(frame))
    count = int(people.max(initial=-1)) + 1
    if count < min_people:
        raise too_few_rows_error()
    chosen = np.zeros(count, dtype=bool)
    chosen[np.random.default_rng(seed).permutation(count)[: count // one_in]] = True
    return np.asarray(chosen[people])


@dataclass(frozen=True, kw_only=True, eq=False)
class Records:
    """Rows as numbers, with one array per column.

    Attributes:
        names: the columns.
        values: one array per column, (rows,). With an order: the place between the
            declared bounds, 0 to 1 and beyond, NaN if missing. Without: the number of
            the text, `ABSENT_CODE` if missing.
        ordered: whether a column has an order of numbers or dates.
    """

    names: tuple[str, ...]
    values: tuple[Floats, ...]
    ordered: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.values[0])

    def take(self, rows: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Records:
        """Return the rows with these indices, or under this mask."""
        return Records(
            names=self.names,
            values=tuple(column[rows] for column in self.values),
            ordered=self.ordered,
        )

    def missing(self, column: int) -> Bools:
        """Return a mask of the rows without a value in a column."""
        values = self.values[column]
        return np.isnan(values) if self.ordered[column] else values == ABSENT_CODE

    def shuffle(self, rng: np.random.Generator) -> Records:
        """Shuffle each column on its own, which removes all relations."""
        values = tuple(rng.permutation(column) for column in self.values)
        return Records(names=self.names, values=values, ordered=self.ordered)


def read_records(
    frames: Sequence[pd.DataFrame],
    schema: Schema,
    columns: Sequence[str] | None = None,
) -> list[Records]:
    """Read the same columns of several tables as numbers.

    A text has one code in all of them.

    Args:
        columns: of the schema; None for the columns that all tables have.

    Raises: ParameterError if they have no column of the schema in common, or one of
        them has no rows.
    """
    common = [
        column.name
        for column in schema.columns
        if all(source in frame for frame in frames for source in column.source_columns)
    ]
    names = tuple(
        common if columns is None else (name for name in common if name in columns)
    )
    if not names:
        raise no_common_columns_error()
    if any(not len(frame) for frame in frames):
        raise no_rows_error()
    declared = [schema.column(name) for name in names]
    by_column = [
        _scaled_values(column, [column.values_of(frame) for frame in frames])
        for column in declared
    ]
    return [
        Records(
            names=names,
            values=tuple(values[i] for values in by_column),
            ordered=tuple(column.is_interval for column in declared),
        )
        for i in range(len(frames))
    ]


def gower_distances(
    targets: Records, table: Records, columns: Sequence[int] | None = None
) -> Floats:
    """Return an array of Gower distances of shape (targets, rows).

    Columns with an order add the difference of their places between the declared
    bounds, at most 1; the others add 1 if the values differ. Missing equals missing
    only. Source: Gower (1971).
    """
    total = np.zeros((len(targets), len(table)), dtype=np.float32)
    for column in range(len(table.names)) if columns is None else columns:
        own = targets.values[column][:, None]
        other = table.values[column][None, :]
        if table.ordered[column]:
            gaps = np.abs(own.astype(np.float32) - other.astype(np.float32))
            np.minimum(gaps, 1, out=gaps)
            both = targets.missing(column)[:, None] & table.missing(column)[None, :]
            total += np.where(np.isnan(gaps), np.where(both, 0, 1), gaps).astype(
                np.float32
            )
        else:
            total += own != other
    return total.astype(np.float64)


def read_numbers(column: IntervalColumn, values: pd.Series) -> Floats:
    """Return an ordered column as numbers, or as days since 1970-01-01.

    The result is NaN for missing values. An interval written as a text counts as its
    middle. Each value is read on its own: a float of 32 or 16 bits is the number of its
    text, as it is among values of other types.
    """
    if (
        isinstance(values.dtype, np.dtype)
        and (values.dtype.kind in "iu" or values.dtype == np.float64)
        and not (column.missing_tokens or column.synonyms)
        and not column.holds_days
    ):
        numbers = values.to_numpy(np.float64, copy=True)
        numbers[~np.isfinite(numbers)] = np.nan
        return numbers
    values = column.read(values)
    missing = column.is_missing(values)
    texts = as_text(values)
    if column.holds_days:
        stamps = values if pd.api.types.is_datetime64_any_dtype(values.dtype) else texts
        whole = parse_days(stamps)
        numbers = np.where(np.isnat(whole), np.nan, whole.astype(np.float64))
    else:
        numbers = (
            pd.to_numeric(texts, errors="coerce")
            .to_numpy(np.float64, na_value=np.nan)
            .copy()
        )
        unread = np.isnan(numbers) & ~missing
        if unread.any():
            ends = (
                texts[unread]
                .astype("str")
                .str.extract(INTERVAL_PATTERN)
                .astype("float64")
            )
            numbers[unread] = ends.mean(axis=1, skipna=False).to_numpy()
    numbers[missing | ~np.isfinite(numbers)] = np.nan
    return numbers


def read_texts(column: Column, values: pd.Series) -> pd.Series:
    """Return an unordered column as texts, NA if missing.

    There is one text per value.
    """
    values = column.read(values)
    missing = column.is_missing(values)
    return column.spell_as_declared(as_text(values)).mask(missing)


def _scaled_values(column: Column, parts: Sequence[pd.Series]) -> list[Floats]:
    if isinstance(column, IntervalColumn):
        low = float(column.edges[0])
        high = float(column.edges[-1])
        return [(read_numbers(column, part) - low) / (high - low) for part in parts]
    texts = pd.concat([read_texts(column, part) for part in parts], ignore_index=True)
    codes = pd.factorize(texts)[0].astype(np.float64)  # ABSENT where missing
    ends = np.cumsum([len(part) for part in parts])[:-1]
    return list(np.split(codes, ends))
