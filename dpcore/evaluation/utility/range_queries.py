"""Number of rows in a range [low, high), from a table or a noisy marginal."""

import datetime
import math

import pandas as pd

from dpcore.errors import (
    ParameterError,
    UsageError,
    falling_range_error,
    missing_column_error,
)
from dpcore.release import Release
from dpcore.schema.column import Column
from dpcore.schema.interval import IntervalColumn
from dpcore.schema.schema import Schema
from dpcore.tables.counts import Marginal, Values

Bound = float | str


def range_query(
    source: pd.DataFrame | Marginal | Release, column: str, low: Bound, high: Bound
) -> float:
    """Return the number of rows with low <= value < high.

    Args:
        source: rows, original or synthetic; or a marginal of a release over the column;
            or the release, for its best marginal. On noisy counts the answer is a free
            sum of cells, so `low` and `high` must be bounds of cells.
        column: of whole or real numbers, or dates.
        low: included bound; of dates as an ISO text, as `high`.
        high: excluded bound, at least `low`.

    Returns: rows; exact on a table, noisy on noisy counts.

    Raises: ParameterError for bounds reversed, not finite, or not bounds of cells.
    """
    if isinstance(source, Release):
        source = best_marginal(source, column)
    if isinstance(source, Marginal):
        cells = source.project((column,))
        if not cells.columns:
            raise UsageError(
                f"the cells of column {column!r} are not known here",
                remedy="take the marginal of a release",
            )
        start, end = cell_range(_require_interval_column(cells.columns[0]), low, high)
        return float(cells.values[start:end].sum())
    if column not in source.columns:
        raise missing_column_error(column)
    values = source[column]
    dates = pd.api.types.is_datetime64_any_dtype(values.dtype)
    if not dates and not pd.api.types.is_numeric_dtype(values.dtype):
        raise no_order_error(column)
    _check_bounds(column, low, high, are_dates=dates)
    return int(((values >= low) & (values < high)).sum())


def cell_range(column: IntervalColumn, low: Bound, high: Bound) -> tuple[int, int]:
    """Return the index of the first cell in [low, high), and of the first after it.

    Args:
        low, high: of `column.bounds`, or equal to them.

    Raises: ParameterError for bounds of the wrong kind, reversed, or not bounds of
        cells.
    """
    # Some bounds of a column are named by texts, such as "above 0"
    if not {low, high} <= set(column.bounds):
        _check_bounds(column.name, low, high, are_dates=column.holds_days)
    start = column.cell_of(low)
    end = column.cell_of(high)
    if start > end:
        raise falling_range_error(column.name)
    return start, end


def percent_error(true: float, answer: float) -> float | None:
    """Return the error in percent of the true value; None if that is 0."""
    return None if true == 0 else abs(true - answer) / abs(true) * 100


def best_marginal(release: Release, column: str) -> Marginal:
    """Return the marginal of a release that is most precise for one column."""
    holders = [
        marginal for marginal in release.marginals.values() if column in marginal.clique
    ]
    if not holders:
        raise UsageError(
            f"no marginal of this release holds column {column!r}",
            remedy="release it, or sample a table",
        )
    return min(holders, key=lambda marginal: marginal.project((column,)).variance)


def released_cells(release: Release, column: str) -> Values:
    """Return the noisy number of rows in each cell of one column."""
    return best_marginal(release, column).project((column,)).values


def interval_column(schema: Schema, column: str) -> IntervalColumn:
    """Return a declared column of numbers or dates.

    Raises: ParameterError for another column.
    """
    return _require_interval_column(schema.column(column))


def _require_interval_column(column: Column) -> IntervalColumn:
    if not isinstance(column, IntervalColumn):
        raise no_order_error(column.name)
    return column


def no_order_error(column: str) -> ParameterError:
    """Return the error for a range of a column without an order."""
    return UsageError(
        f"column {column!r} has no order of numbers or dates",
        remedy="choose a column that has one",
    )


def _check_bounds(column: str, low: Bound, high: Bound, *, are_dates: bool) -> None:
    """Refuse bounds that are not two numbers, or two ISO dates, in rising order."""
    if not all(
        _is_date(bound) if are_dates else _is_number(bound) for bound in (low, high)
    ):
        kind = "dates such as 2020-01-31" if are_dates else "finite numbers"
        raise UsageError(
            f"the bounds [{low}, {high}) of column {column!r} must be {kind}",
            remedy="correct them",
        )
    if low > high:  # type: ignore[operator]
        raise falling_range_error(column)


def _is_number(bound: Bound) -> bool:
    return not isinstance(bound, str) and math.isfinite(bound)


def _is_date(bound: Bound) -> bool:
    try:
        return (
            isinstance(bound, str)
            and datetime.date.fromisoformat(bound).isoformat() == bound
        )
    except ValueError:
        return False
