"""Answers of a release about one table of counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dpcore.errors import ParameterError
from dpcore.schema.domain import Clique
from dpcore.tables.counts import Marginal, Values


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """The counts of one clique by a model, with intervals.

    Attributes:
        values: expected rows of each cell, at least 0: those that rows are drawn by, so
            that all answers of one release add up to the same total.
        low, high: of an interval that holds the true count of each cell, and its value,
            in rows.
        alone: which cells were counted by themselves; of the others a measurement tells
            the rows of a merged group only, so that their interval is a bound, from 0
            on, and holds more often.
        table: what all measurements together say of the clique, unbiased, with its
            noise; None where no measurement held the whole clique. There the values
            follow from the model alone, and the ends are what the counts of single
            columns allow, which is no interval.
    """

    clique: Clique
    values: Values
    low: Values
    high: Values
    alone: npt.NDArray[np.bool_]
    table: Marginal | None = None

    @classmethod
    def of(cls, values: Values, measured: Marginal, level: float = 0.95) -> Answer:
        """Return the values with intervals from a table of the same cells, by the law
        of its noise.

        The fit moves values, mostly towards the truth, but no law says how far, so it
        moves no interval; where a value leaves its interval, that reaches as far as the
        value. A count is at least 0.
        """
        low, high = (np.maximum(0.0, side) for side in measured.interval(level))
        return cls(
            clique=measured.clique,
            values=values,
            low=np.minimum(low, values),
            high=np.maximum(high, values),
            alone=np.ones(values.shape, dtype=np.bool_),
            table=measured,
        )

    @property
    def measured(self) -> bool:
        """True if one measurement held the whole clique."""
        return self.table is not None

    def folded(self, width: int) -> Answer:
        """Sum every `width` neighboring cells of the counts of one column."""
        starts = np.arange(0, self.values.size, width)
        values, low, high = (
            np.add.reduceat(each, starts) for each in (self.values, self.low, self.high)
        )
        if self.table is None or not self.alone.all():
            return replace(
                self,
                values=values,
                low=low,
                high=high,
                alone=np.zeros(values.shape, dtype=np.bool_),
            )
        sums = np.add.reduceat(self.table.values, starts)
        return Answer.of(
            values,
            replace(self.table, values=sums, variance=self.table.variance * width),
        )

    def first(self, cells: Sequence[int]) -> Answer:
        """Return the first cells of each column. Args: cells: how many, by column."""
        part = tuple(map(slice, cells))
        return replace(
            self,
            values=self.values[part],
            low=self.low[part],
            high=self.high[part],
            alone=self.alone[part],
            table=self.table and replace(self.table, values=self.table.values[part]),
        )

    @property
    def reach(self) -> float:
        """The largest distance from a value to the end of its interval, in rows."""
        return float(
            np.maximum(self.values - self.low, self.high - self.values).max(initial=0.0)
        )


def most_precise(tables: Iterable[Marginal], clique: Clique) -> Marginal | None:
    """Return the table with the least variance for a clique, or None where none holds
    its columns.
    """
    holders = [table for table in tables if set(clique) <= set(table.clique)]
    return min(holders, key=lambda table: table.project(clique).variance, default=None)


def table_of(tables: Iterable[Marginal], clique: Clique) -> Marginal:
    """Return the most precise table that holds a clique.

    Raises: ParameterError where none does.
    """
    table = most_precise(tables, clique)
    if table is None:
        raise ParameterError(
            "these columns were not counted together",
            remedy="take fewer columns, or a wider step or fewer categories",
        )
    return table
