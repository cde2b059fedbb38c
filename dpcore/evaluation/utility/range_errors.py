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
from dpcore.errors import no_column
from dpcore.evaluation.base import Evaluation, OriginalTable
from dpcore.evaluation.records import EVALUATION_SEED
from dpcore.evaluation.utility.range_queries import (
    Bound,
    cell_range,
    interval_column,
    percent_error,
    released_cells,
)
from dpcore.progress import OnProgress, silent
from dpcore.release import Release
from dpcore.roots import crossing
from dpcore.schema.interval import IntervalColumn
from dpcore.schema.schema import Schema
from dpcore.tables.counts import Integers, Values
from dpcore.tables.rows import PublicTable


@dataclass(frozen=True, kw_only=True)
class ErrorQuantiles:
    """The median and 95 % quantile of the error, in percent of the true count."""

    median: float
    high: float


@dataclass(frozen=True, kw_only=True)
class WidthError:
    """Errors of random ranges with the same width.

    Attributes:
        width: cells in a range.
        ranges: number of ranges.
        undefined: number of ranges without rows in the original, for which a percentage
            has no meaning.
        answered: errors of the answers; None if all are undefined.
        direct: expected errors if each range is asked directly; None without a loss to
            compare with.
    """

    width: int
    ranges: int
    undefined: int
    answered: ErrorQuantiles | None
    direct: ErrorQuantiles | None


@dataclass(frozen=True, kw_only=True)
class NamedError:
    """Error of one range.

    Attributes:
        true: rows of the original.
        answer: rows, from the release or the table.
        percent: error of the answer; None, "undefined", if the original has no such
            row.
        direct: expected error if it is asked directly.
    """

    low: Bound
    high: Bound
    true: int
    answer: float
    percent: float | None
    direct: ErrorQuantiles | None


@dataclass(frozen=True, kw_only=True)
class RangeErrorsReport:
    """Errors by range width, narrowest first, and of the given ranges."""

    column: str
    widths: tuple[WidthError, ...]
    named: tuple[NamedError, ...]


@dataclass(frozen=True, kw_only=True)
class RangeErrorsQuestion(Evaluation[Integers, RangeErrorsReport]):
    """Evaluation of range queries on one column, answered from `source`.

    Attributes:
        source: a release with a marginal over the column, or a public table; None
            for the original itself, whose answers have no error, to check a chart of
            errors.
        column: of whole or real numbers, or dates.
        named: (low, high) ranges to show one by one; their bounds are bounds of cells.
        loss: cost of one direct question; None for no comparison.
        ranges_per_width: most random ranges of each width.
    """

    kind = "range query errors"

    source: Release | PublicTable | None
    column: str
    named: tuple[tuple[Bound, Bound], ...] = ()
    loss: PureDP | None = None
    ranges_per_width: int = 200

    @property
    def about(self) -> tuple[str, ...]:
        return (self.column,)

    def read(self, table: OriginalTable, schema: Schema) -> Integers:
        """Count the rows in each cell of the column, over the rows that count."""
        (counts,) = table.counts([(self.column,)])
        return counts.values

    def compute(
        self, original: Integers, schema: Schema, on_progress: OnProgress = silent
    ) -> RangeErrorsReport:
        """Return the errors of all ranges.

        Values outside the column's bounds count in its first and last cell.

        Raises: ParameterError for a column without an order, or bounds that are not
            bounds of cells.
        """
        declared = interval_column(schema, self.column)
        places = [cell_range(declared, low, high) for low, high in self.named]
        # Leave out the cell of missing values, which no range contains
        cells = original[: declared.values_size].astype(np.float64)
        true = _rows_before(cells)
        answers = (
            true
            if self.source is None
            else _rows_before(_count_cells(self.source, declared))
        )
        scale = (
            None
            if self.loss is None
            else float(schema.unit.max_rows / self.loss.epsilon)
        )
        named = []
        for (low, high), (start, end) in zip(self.named, places, strict=True):
            count = true[end] - true[start]
            answer = float(answers[end] - answers[start])
            direct = _direct_errors(np.array([count]), scale) if count > 0 else None
            percent = percent_error(float(count), answer)
            named.append(
                NamedError(
                    low=low,
                    high=high,
                    true=round(count),
                    answer=answer,
                    percent=percent,
                    direct=direct,
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
                    undefined=int((~has_rows).sum()),
                    answered=_quantiles(errors[has_rows] / counts[has_rows] * 100)
                    if has_rows.any()
                    else None,
                    direct=_direct_errors(counts[has_rows], scale)
                    if has_rows.any()
                    else None,
                ),
            )
        return RangeErrorsReport(
            column=self.column, widths=tuple(widths), named=tuple(named)
        )


def _count_cells(source: Release | PublicTable, column: IntervalColumn) -> Values:
    """Return the number of rows in each interval of the column.

    Missing ones are in none.
    """
    if isinstance(source, Release):
        return released_cells(source, column.name)[: column.values_size]
    if column.name not in source.frame:
        raise no_column(column.name)
    counts = np.bincount(
        column.encode(column.values_of(source.frame)), minlength=column.size
    )
    return counts[: column.values_size].astype(np.float64)


def _rows_before(cells: Values) -> Values:
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


def _quantiles(percents: Values) -> ErrorQuantiles:
    median, high = np.quantile(percents, [0.5, 0.95])
    return ErrorQuantiles(median=float(median), high=float(high))


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
        median=_solve_rising(chance_below, 0.5), high=_solve_rising(chance_below, 0.95)
    )


def _solve_rising(rising: Callable[[float], float], level: float) -> float:
    """Return where an increasing function of [0, inf) reaches `level`."""
    high = 1.0
    while rising(high) < level:
        high *= 2
    return crossing(lambda percent: rising(percent) - level, 0.0, high)
