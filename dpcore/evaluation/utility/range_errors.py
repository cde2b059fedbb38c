"""Errors of range queries, over random ranges of growing width and given ranges.

Answers from a noisy histogram add up one draw per cell, so the absolute error grows
with the square root of the width, while the true count grows faster. Next to them is
the error of each range asked directly, with one Laplace draw per range at the same
loss; then every further range is a further charge, while ranges from a release are
free.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpcore.accounting.loss import PureDP
from dpcore.errors import missing_column_error
from dpcore.evaluation._records import EVALUATION_SEED
from dpcore.evaluation.base import Evaluation, OriginalTable
from dpcore.evaluation.utility.range_queries import (
    Bound,
    cell_range,
    interval_column,
    percent_error,
    released_cells,
)
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.release import Release
from dpcore.roots import find_root
from dpcore.schema.interval import IntervalColumn
from dpcore.schema.schema import Schema
from dpcore.tables.counts import Integers, Values
from dpcore.tables.rows import PublicTable


@dataclass(frozen=True, kw_only=True)
class ErrorQuantiles:
    """The median and 95 % quantile of the error, in percent of the true count."""

    median: float
    quantile_95: float


@dataclass(frozen=True, kw_only=True)
class WidthError:
    """Errors of random ranges with the same width.

    Attributes:
        width: cells in a range.
        ranges: number of ranges.
        undefined_ranges: number of ranges without rows in the original, for which a percentage
            has no meaning.
        answer_errors: errors of the answers; None if all are undefined.
        direct_errors: expected errors if each range is asked directly; None without a loss to
            compare with.
    """

    width: int
    ranges: int
    undefined_ranges: int
    answer_errors: ErrorQuantiles | None
    direct_errors: ErrorQuantiles | None


@dataclass(frozen=True, kw_only=True)
class RangeError:
    """Error of one range.

    Attributes:
        true_rows: rows of the original.
        answered_rows: rows, from the release or the table.
        percent_error: error of the answer; None, "undefined", if the original has no such
            row.
        direct_errors: expected error if it is asked directly.
    """

    low: Bound
    high: Bound
    true_rows: int
    answered_rows: float
    percent_error: float | None
    direct_errors: ErrorQuantiles | None


@dataclass(frozen=True, kw_only=True)
class RangeErrorsReport:
    """Errors by range width, narrowest first, and of the given ranges."""

    column: str
    widths: tuple[WidthError, ...]
    given_ranges: tuple[RangeError, ...]


@dataclass(frozen=True, kw_only=True)
class RangeErrorsQuestion(Evaluation[Integers, RangeErrorsReport]):
    """Evaluation of range queries on one column, answered from `source`.

    Attributes:
        source: a release with a marginal over the column, or a public table; None
            for the original itself, whose answers have no error, to check a chart of
            errors.
        column: of whole or real numbers, or dates.
        given_ranges: (low, high) ranges to show one by one; their bounds are bounds of cells.
        loss: cost of one direct question; None for no comparison.
        ranges_per_width: most random ranges of each width.
    """

    kind = "range query errors"

    source: Release | PublicTable | None
    column: str
    given_ranges: tuple[tuple[Bound, Bound], ...] = ()
    loss: PureDP | None = None
    ranges_per_width: int = 200

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return (self.column,)

    def read(self, table: OriginalTable, schema: Schema) -> Integers:
        """Count the rows in each cell of the column, over the rows that count."""
        (counts,) = table.counts([(self.column,)])
        return counts.values

    def compute(
        self,
        original: Integers,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> RangeErrorsReport:
        """Return the errors of all ranges.

        Values outside the column's bounds count in its first and last cell.

        Raises: ParameterError for a column without an order, or bounds that are not
            bounds of cells.
        """
        declared = interval_column(schema, self.column)
        places = [cell_range(declared, low, high) for low, high in self.given_ranges]
        # Leave out the cell of missing values, which no range contains
        cells = original[: declared.values_size].astype(np.float64)
        true = _cumulative_rows(cells)
        answers = (
            true
            if self.source is None
            else _cumulative_rows(_count_cells(self.source, declared))
        )
        scale = (
            None
            if self.loss is None
            else float(schema.unit.max_rows / self.loss.epsilon)
        )
        named = []
        for (low, high), (start, end) in zip(self.given_ranges, places, strict=True):
            count = true[end] - true[start]
            answer = float(answers[end] - answers[start])
            direct = _direct_errors(np.array([count]), scale) if count > 0 else None
            percent = percent_error(float(count), answer)
            named.append(
                RangeError(
                    low=low,
                    high=high,
                    true_rows=round(count),
                    answered_rows=answer,
                    percent_error=percent,
                    direct_errors=direct,
                ),
            )
        # Use a fixed seed, so that two releases are asked about the same ranges
        rng = np.random.default_rng(EVALUATION_SEED)
        widths = []
        for width in _range_widths(declared.values_size):
            starts = rng.permutation(declared.values_size - width + 1)[
                : self.ranges_per_width
            ]
            counts = true[starts + width] - true[starts]
            errors = np.abs(answers[starts + width] - answers[starts] - counts)
            has_rows = counts > 0
            widths.append(
                WidthError(
                    width=width,
                    ranges=len(starts),
                    undefined_ranges=int((~has_rows).sum()),
                    answer_errors=_error_quantiles(
                        errors[has_rows] / counts[has_rows] * 100
                    )
                    if has_rows.any()
                    else None,
                    direct_errors=_direct_errors(counts[has_rows], scale)
                    if has_rows.any()
                    else None,
                ),
            )
        return RangeErrorsReport(
            column=self.column, widths=tuple(widths), given_ranges=tuple(named)
        )


def _count_cells(source: Release | PublicTable, column: IntervalColumn) -> Values:
    """Return the number of rows in each interval of the column.

    Missing ones are in none.
    """
    if isinstance(source, Release):
        return released_cells(source, column.name)[: column.values_size]
    if column.name not in source.frame:
        raise missing_column_error(column.name)
    counts = np.bincount(
        column.encode(column.values_of(source.frame)), minlength=column.size
    )
    return counts[: column.values_size].astype(np.float64)


def _cumulative_rows(cells: Values) -> Values:
    """Return the number of rows before each cell, and the total as the last entry.

    A range is the difference of two entries.
    """
    return np.concatenate([[0.0], np.cumsum(cells)])


def _range_widths(cells: int) -> list[int]:
    """Return 1, 2, 5, 10, ... up to the number of cells."""
    powers = range(math.ceil(math.log10(cells)) + 1)
    return [
        step * 10**power
        for power in powers
        for step in (1, 2, 5)
        if step * 10**power <= cells
    ]


def _error_quantiles(percents: Values) -> ErrorQuantiles:
    median, high = np.quantile(percents, [0.5, 0.95])
    return ErrorQuantiles(median=float(median), quantile_95=float(high))


def _direct_errors(counts: Values, scale: float | None) -> ErrorQuantiles | None:
    """Return error quantiles if each count had one Laplace draw of its own.

    P(error <= x %) is the mean over the ranges of 1 - exp(-x * count / (100 * scale)).
    """
    if scale is None:
        return None
    rates = counts / (100 * scale)

    def chance_below(percent: float) -> float:
        return float(-np.expm1(-percent * rates).mean())

    return ErrorQuantiles(
        median=_solve_increasing(chance_below, 0.5),
        quantile_95=_solve_increasing(chance_below, 0.95),
    )


def _solve_increasing(function: Callable[[float], float], level: float) -> float:
    """Return where an increasing function of [0, inf) reaches `level`."""
    high = 1.0
    while function(high) < level:
        high *= 2
    return find_root(lambda percent: function(percent) - level, 0.0, high)
