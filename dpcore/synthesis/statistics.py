"""The mean, spread and quantiles of one bounded column, with intervals.

The number of rows, the sum and the sum of squares come from one noisy vector, of which
a row changes every entry by at most one on the scale of the public bounds. A quantile
comes from a private choice among the column's cells, or from a noisy histogram:
whichever has the smaller expected error in ranks. Values count as the middle of their
cell, and the intervals hold wherever in their cells the values lie.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from dpcore.accounting.loss import Loss, Number, exact_number
from dpcore.errors import UsageError
from dpcore.mechanisms.measurer import Measurer
from dpcore.mechanisms.sensitivity import (
    noise_kind,
    noise_scale,
    noise_variance,
    selection_scale,
    sums_deviation,
    sums_noise_kind,
)
from dpcore.model import Model, Summary
from dpcore.progress import OnProgress
from dpcore.schema.domain import Clique, Domain
from dpcore.schema.interval import IntervalColumn, NumberColumn
from dpcore.schema.schema import Schema
from dpcore.synthesis.base import ExpectedError, Recipe
from dpcore.tables.counts import Marginal, Values, half_width
from dpcore.tables.sums import Entry, to_levels
from dpcore.text import Text

CONFIDENCE_LEVEL = 0.95  # chance with which each interval holds


@dataclass(frozen=True, kw_only=True)
class Statistics(Recipe):
    """A recipe for the mean, variance, SD and quantiles of one column.

    Costs the stated loss. Half of it goes to the vector, half to the quantiles; all to
    one of them if only that is asked for.

    Attributes:
        centers: middle of each cell of values, rising; in the unit of the column. Cells
            after these, such as the one for missing values, are not counted.
        half_cells: largest distance of a value from the middle of its cell, in the same
            unit; empty if every cell is one value.
        moments: whether mean, variance and standard deviation are asked for.
        quantiles: orders such as "1/2" for the median, each above 0 and below 1.
    """

    kind: ClassVar[str] = "statistics"

    column: str
    centers: tuple[float, ...]
    moments: bool = True
    quantiles: tuple[Number, ...] = (Fraction(1, 2),)
    half_cells: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "centers", tuple(map(float, self.centers)))
        object.__setattr__(self, "half_cells", tuple(map(float, self.half_cells)))
        orders = tuple(
            exact_number("quantile", order, at_most=1).limit_denominator(1000)
            for order in self.quantiles
        )
        object.__setattr__(self, "quantiles", orders)
        if any(not 0 < order < 1 for order in orders):
            raise UsageError(
                "a quantile must be between 0 and 1", remedy="use a number such as 0.5"
            )
        if not (self.moments or orders):
            raise UsageError(
                "there is nothing to compute",
                remedy="ask for the mean, or for a quantile",
            )
        if not self.centers or (np.diff(self.centers) <= 0).any():
            raise UsageError(
                f"the centers of column {self.column!r} must rise",
                remedy="use Statistics.of",
            )
        halves = self.half_cells or (0.0,) * len(self.centers)
        if len(halves) != len(self.centers) or not all(
            0 <= half < math.inf for half in halves
        ):
            raise UsageError(
                (
                    f"the cells of column {self.column!r} need half a width for each "
                    "center, none below 0"
                ),
                remedy="use Statistics.of",
            )

    @classmethod
    def for_column(
        cls,
        schema: Schema,
        column: str,
        *,
        moments: bool = True,
        quantiles: Sequence[Number] = ("1/2",),
    ) -> Statistics:
        """Return the recipe for a column of numbers.

        Raises: ParameterError for a column of another kind.
        """
        declared = schema.column(column)
        if not isinstance(declared, NumberColumn):
            raise UsageError(
                f"column {column!r} holds no numbers, so it has no mean or median",
                remedy="choose a column of whole or real numbers",
            )
        return cls(
            column=column,
            centers=tuple(map(float, cell_centers(declared))),
            half_cells=tuple(
                map(float, (_highest_values(declared) - declared.edges[:-1]) / 2)
            ),
            moments=moments,
            quantiles=tuple(quantiles),
        )

    def check(self, domain: Domain) -> None:
        """Refuse an unknown column, or a column with fewer cells than `centers`."""
        if domain.size(self.column) < len(self.centers):
            raise UsageError(
                f"column {self.column!r} has {domain.size(self.column)} cells, fewer "
                "than the "
                f"{len(self.centers)} that were named",
                remedy="make the recipe from this schema",
            )

    def expect(
        self, domain: Domain, loss: Loss, max_rows: int, table_rows: float = 0
    ) -> tuple[ExpectedError, ...]:
        """Return the expected error of the number of rows.

        See `mean_error_width` and `rank_error` for the rest.
        """
        if not self.moments:
            return ()
        deviation = sums_deviation(
            max_rows=max_rows, entries=3, loss=self._half_loss(loss)
        )
        return (
            ExpectedError(
                clique=(), cells=1, variance=deviation**2, noise=sums_noise_kind(loss)
            ),
        )

    def mean_error_width(self, loss: Loss, *, max_rows: int, people: float) -> float:
        """Return the largest half-width of the mean's interval, from public facts."""
        deviation = sums_deviation(
            max_rows=max_rows, entries=3, loss=self._half_loss(loss)
        )
        width = half_width(2 * deviation**2, sums_noise_kind(loss), CONFIDENCE_LEVEL)
        return width / max(people, 1.0) * self._half_range + max(self._half_widths)

    @property
    def widest_cell(self) -> tuple[float, float]:
        """Lowest and highest value of the widest cell, all taken as its middle."""
        place = int(np.argmax(self._half_widths))
        center, half = self.centers[place], self._half_widths[place]
        return center - half, center + half

    def rank_error(self, loss: Loss, *, max_rows: int) -> tuple[float, str]:
        """Return the rank error of a quantile in rows at 0.95, and the better method.

        A choice among K cells: P(score < best - t) <= K exp(-t / scale). A histogram:
        each of K sums of up to K noisy cells within its interval at the level 1 - 0.05
        / K.
        """
        cells = len(self.centers)
        loss = self._half_loss(loss)
        quantile_loss = loss.share(Fraction(1, max(len(self.quantiles), 1)))
        choice = selection_scale(max_rows=max_rows, loss=quantile_loss) * math.log(
            cells / (1 - CONFIDENCE_LEVEL)
        )
        variance = (
            noise_variance(noise_scale(max_rows=max_rows, queries=1, loss=loss), loss)
            * cells
        )
        histogram = half_width(
            variance, noise_kind(loss), 1 - (1 - CONFIDENCE_LEVEL) / cells
        )
        return (histogram, "histogram") if histogram < choice else (choice, "choice")

    def fit(
        self, measurer: Measurer, on_progress: OnProgress
    ) -> tuple[dict[Clique, Marginal], Model]:
        """Measure the vector of sums, then the quantiles."""
        figures: list[Figure] = []
        total = 0.0
        marginals: dict[Clique, Marginal] = {}
        if self.moments:
            on_progress("measuring", 0.0)
            total, moments = self._measure_moments(measurer)
            figures += moments
        if self.quantiles:
            on_progress("measuring", 0.5)
            error, method = self.rank_error(measurer.loss, max_rows=measurer.rows)
            loss = self._half_loss(measurer.loss)
            if method == "histogram":
                (counts,) = measurer.measure([(self.column,)], loss)
                marginals[counts.clique] = counts
                cells = [
                    _quantile_cell(counts.values[: len(self.centers)], order)
                    for order in self._orders
                ]
            else:
                share = loss.share(Fraction(1, len(self._orders)))
                cells = [
                    measurer.choose_quantile_cell(
                        self.column, order, share, cells=len(self.centers)
                    )
                    for order in self._orders
                ]
            figures += [
                Figure(
                    name=f"quantile {order}",
                    value=self.centers[cell],
                    rank_error=error,
                    cell=(
                        self.centers[cell] - self._half_widths[cell],
                        self.centers[cell] + self._half_widths[cell],
                    ),
                )
                for order, cell in zip(self._orders, cells, strict=True)
            ]
        return marginals, Figures(
            column=self.column, rows=max(total, 0.0), figures=tuple(figures)
        )

    def reads(self, domain: Domain) -> Clique:
        """Return the one column that the recipe reads."""
        return (self.column,)

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Describe the recipe by its column."""
        return Text("Mean and quantiles of {column}", column=fields["column"])

    def _measure_moments(self, measurer: Measurer) -> tuple[float, list[Figure]]:
        """Return the noisy number of rows, and the moments with their intervals.

        Intervals are to first order in the noise. With q = (sum of 2 x^2 - 1) / n, m =
        (sum of x) / n and noise z: n (m' - m) = z1 - m z0, and n (v' - v) = z2 / 2 - 2
        m z1 + (2 m^2 - q / 2) z0. Values up to h from the middle of their cell move the
        mean by at most h, and the standard deviation s by at most h, so the variance by
        at most (2 s + h) h.
        """
        # 1. Measure one noisy vector: rows, sum of x and sum of 2 x^2 - 1, with x in
        # [-1, 1].
        loss = self._half_loss(measurer.loss)
        size = measurer.domain.size(self.column)
        place = np.zeros(size)
        place[: len(self.centers)] = (
            np.array(self.centers) - self._midrange
        ) / self._half_range
        counted = np.where(np.arange(size) < len(self.centers), 1.0, 0.0)
        vectors = (counted, place, (2 * place**2 - 1) * counted)
        entries: list[Entry] = [{self.column: to_levels(vector)} for vector in vectors]
        sums = measurer.measure_sums((), entries, loss)
        # 2. Compute the moments on the scale of x.
        total = float(sums.values[0, 0])
        rows = max(total, 1.0)
        mean, square = np.clip(sums.values[0, 1:] / rows, -1.0, 1.0)
        variance = max((square + 1) / 2 - mean**2, 0.0)
        deviation = math.sqrt(variance)

        def width(*factors: float) -> float:
            spread = sums.deviation**2 * sum(factor**2 for factor in factors)
            return half_width(spread, sums_noise_kind(loss), CONFIDENCE_LEVEL) / rows

        # 3. Compute half-widths. If the variance v is known to within `off`, its root
        # lies at most sqrt(v + off) - sqrt(v) above and sqrt(v) - sqrt(v - off) below
        # sqrt(v).
        off = width(0.5, 2 * mean, 2 * mean**2 - square / 2)
        reach = self._half_range
        down = deviation - math.sqrt(max(variance - off, 0.0))
        spread = max(down, math.sqrt(variance + off) - deviation)
        # 4. Convert to the unit of the column, and add the error due to wide cells.
        hidden = max(self._half_widths)
        squared = (2 * reach * (deviation + spread) + hidden) * hidden
        off_mean = reach * width(1.0, mean) + hidden
        off_spread = reach * spread + hidden
        return total, [
            Figure(
                name="mean", value=self._midrange + reach * mean, half_width=off_mean
            ),
            Figure(
                name="variance",
                value=reach**2 * variance,
                half_width=reach**2 * off + squared,
            ),
            Figure(
                name="standard deviation",
                value=reach * deviation,
                half_width=off_spread,
            ),
        ]

    @property
    def _half_widths(self) -> tuple[float, ...]:
        return self.half_cells or (0.0,) * len(self.centers)

    @property
    def _orders(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(order) for order in self.quantiles)

    @property
    def _midrange(self) -> float:
        return (self.centers[0] + self.centers[-1]) / 2

    @property
    def _half_range(self) -> float:
        return (self.centers[-1] - self.centers[0]) / 2 or 1.0

    def _half_loss(self, loss: Loss) -> Loss:
        """Return the loss for sums or quantiles: half of it if both are wanted."""
        return loss.share(Fraction(1, 2)) if self.moments and self.quantiles else loss


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One noisy statistic, in the unit of its column.

    Attributes:
        half_width: of its interval at the level 0.95 over the noise, in the same unit,
            wherever values lie in their cells; None for a quantile.
        rank_error: error of its rank in rows, with chance 0.95; None for a moment.
        cell: lowest and highest value of the quantile's cell, whose middle is the
            value; None for a moment.
    """

    name: str
    value: float
    half_width: float | None = None
    rank_error: float | None = None
    cell: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.cell is not None:
            low, high = self.cell
            object.__setattr__(self, "cell", (low, high))


@dataclass(frozen=True, kw_only=True, eq=False)
class Figures(Summary):
    """Noisy statistics of one column; no rows can be drawn from them."""

    kind: ClassVar[str] = "figures"

    column: str
    rows: float
    figures: tuple[Figure, ...]

    @property
    def total(self) -> float:
        return self.rows

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with `kind`."""
        figures = [vars(figure) for figure in self.figures]
        return {
            "kind": self.kind,
            "column": self.column,
            "total": self.total,
            "figures": figures,
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Figures:
        """Read the output of `to_dict`."""
        figures = tuple(Figure(**figure) for figure in fields["figures"])
        return cls(column=fields["column"], rows=fields["total"], figures=figures)


def cell_centers(column: IntervalColumn) -> Values:
    """Return the middle of each cell that holds values.

    For whole numbers, it is the middle between the first and the last in the cell.
    """
    middle: Values = (column.edges[:-1] + _highest_values(column)) / 2
    return middle


def _highest_values(column: IntervalColumn) -> Values:
    """Return the highest value of each cell."""
    return column.ends - 1 if column.is_whole else column.ends


def _quantile_cell(counts: Values, order: Fraction) -> int:
    """Return the first cell at which the cumulative counts reach a quantile."""
    reached = np.cumsum(counts)
    return int(np.argmax(reached >= float(order) * reached[-1]))
