"""How many rows lie in [low, high): on a table of rows, or on a noisy marginal."""

from __future__ import annotations

import math

import pandas as pd

from dpcore.errors import ParameterError
from dpcore.release import Release
from dpcore.schema.column import Column
from dpcore.schema.interval import IntervalColumn
from dpcore.schema.schema import Schema
from dpcore.tables.counts import Marginal, Values

Bound = float | str


def range_query(source: pd.DataFrame | Marginal | Release, column: str, low: Bound, high: Bound) -> float:
    """Number of rows with low <= value < high.

    Args:
        source: rows, original or synthetic; or a marginal of a release that holds the column; or the
            release, for its best marginal. On noisy counts the answer is a free sum of cells, so `low` and
            `high` must be bounds of cells.
        low, high: half-open bounds, low at most high; for dates as ISO texts.
    Returns: rows; exact on a table, noisy on noisy counts.
    Raises: ParameterError for bounds reversed, not finite, or not bounds of cells.
    """
    finite = all(isinstance(bound, str) or math.isfinite(bound) for bound in (low, high))
    if isinstance(low, str) != isinstance(high, str) or not finite or low > high:  # type: ignore[operator]
        raise ParameterError(
            f"the bounds [{low}, {high}) must be finite and rise", remedy="swap or correct them"
        )
    if isinstance(source, Release):
        source = best_marginal(source, column)
    if isinstance(source, Marginal):
        cells = source.project((column,))
        declared = _interval(cells.columns[0])
        return float(cells.values[declared.cell_of(low) : declared.cell_of(high)].sum())
    if column not in source.columns:
        raise ParameterError(f"the table has no column {column!r}", remedy="choose one of its columns")
    values = source[column]
    if not pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_datetime64_any_dtype(
        values.dtype
    ):
        raise no_order(column)
    return int(((values >= low) & (values < high)).sum())


def percent_error(true: float, answer: float) -> float | None:
    """|true - answer| / true in percent; None, "undefined", when the true value is 0."""
    return None if true == 0 else abs(true - answer) / abs(true) * 100


def best_marginal(release: Release, column: str) -> Marginal:
    """The marginal of a release that says most precisely how many rows a column's cells have."""
    holders = [marginal for marginal in release.marginals.values() if column in marginal.clique]
    if not holders:
        raise ParameterError(
            f"no marginal of this release holds column {column!r}", remedy="release it, or sample a table"
        )
    return min(holders, key=lambda marginal: marginal.project((column,)).variance)


def released_cells(release: Release, column: str) -> Values:
    """Noisy rows of each cell of one column."""
    return best_marginal(release, column).project((column,)).values


def interval_column(schema: Schema, column: str) -> IntervalColumn:
    """The declaration of a column whose cells are intervals; ParameterError for another."""
    return _interval(schema.column(column))


def _interval(column: Column) -> IntervalColumn:
    if not isinstance(column, IntervalColumn):
        raise no_order(column.name)
    return column


def no_order(column: str) -> ParameterError:
    """The error for a range of a column that has none."""
    return ParameterError(
        f"column {column!r} has no order of numbers or dates", remedy="choose a column that has one"
    )
