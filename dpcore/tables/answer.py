"""Counts of a release with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dpcore.errors import ParameterError
from dpcore.schema.domain import Clique
from dpcore.tables.counts import Marginal, Values


@dataclass(frozen=True, kw_only=True, eq=False)
class CliqueCounts:
    """Expected counts of one clique under a model, with intervals.

    Attributes:
        values: expected rows of each cell, at least 0. Rows are drawn from them, so
            that all answers of one release add up to the same total.
        low, high: interval of each cell that holds the true count, and the value, in
            rows.
        counted_alone: which cells were counted by themselves. The others were measured as part
            of a merged group; their interval is a bound from 0 on, with a higher
            confidence.
        table: all measurements of the clique combined, unbiased, with their noise; None
            if no measurement held the whole clique. Then the values follow from the
            model alone, and the bounds are what the counts of single columns allow,
            which is no interval.
    """

    clique: Clique
    values: Values
    low: Values
    high: Values
    counted_alone: npt.NDArray[np.bool_]
    table: Marginal | None = None

    @classmethod
    def from_marginal(
        cls, values: Values, measured: Marginal, level: float = 0.95
    ) -> CliqueCounts:
        """Combine values with the intervals of a measured table of the same cells.

        Fitting moves values, mostly towards the truth, but by an unknown amount, so it
        moves no interval; an interval is extended to include its value. A count is at
        least 0.
        """
        low, high = (np.maximum(0.0, bound) for bound in measured.interval(level))
        return cls(
            clique=measured.clique,
            values=values,
            low=np.minimum(low, values),
            high=np.maximum(high, values),
            counted_alone=np.ones(values.shape, dtype=np.bool_),
            table=measured,
        )

    @property
    def is_measured(self) -> bool:
        """Whether a single noisy table holds all columns of the clique."""
        return self.table is not None

    def merge_cells(self, width: int) -> CliqueCounts:
        """Merge every `width` neighboring cells of a single column's counts."""
        starts = np.arange(0, self.values.size, width)
        values = np.add.reduceat(self.values, starts)
        low = np.add.reduceat(self.low, starts)
        high = np.add.reduceat(self.high, starts)
        if self.table is None or not self.counted_alone.all():
            return replace(
                self,
                values=values,
                low=low,
                high=high,
                counted_alone=np.zeros(values.shape, dtype=np.bool_),
            )
        sums = np.add.reduceat(self.table.values, starts)
        return CliqueCounts.from_marginal(
            values,
            replace(self.table, values=sums, variance=self.table.variance * width),
        )

    def first_cells(self, cells: Sequence[int]) -> CliqueCounts:
        """Return the first `cells[i]` cells of the i-th column."""
        part = tuple(map(slice, cells))
        return replace(
            self,
            values=self.values[part],
            low=self.low[part],
            high=self.high[part],
            counted_alone=self.counted_alone[part],
            table=self.table and replace(self.table, values=self.table.values[part]),
        )

    @property
    def max_distance_to_bound(self) -> float:
        """The largest distance from a value to the end of its interval, in rows."""
        return float(
            np.maximum(self.values - self.low, self.high - self.values).max(initial=0.0)
        )


def find_most_precise(tables: Iterable[Marginal], clique: Clique) -> Marginal | None:
    """Return the table with the least variance for a clique, None if none holds it."""
    holders = [table for table in tables if set(clique) <= set(table.clique)]
    return min(holders, key=lambda table: table.project(clique).variance, default=None)


def get_most_precise(tables: Iterable[Marginal], clique: Clique) -> Marginal:
    """Return the most precise table that holds a clique.

    Raises: ParameterError if none does.
    """
    table = find_most_precise(tables, clique)
    if table is None:
        raise ParameterError(
            "these columns were not counted together",
            remedy="use fewer columns, wider steps or fewer categories",
        )
    return table
