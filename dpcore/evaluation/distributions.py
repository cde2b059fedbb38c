"""The distribution of each column in the original and in another table, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import ParameterError
from dpcore.evaluation.counted import CountedTable
from dpcore.evaluation.question import Evaluation, Readable
from dpcore.progress import OnProgress, silent
from dpcore.schema.column import Column
from dpcore.schema.schema import Schema
from dpcore.tables.counts import Integers, cell_counts
from dpcore.tables.rows import Microdata, PublicTable

Shares = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Distribution:
    """One column of both tables over the same cells.

    Attributes:
        labels: one text per cell, from the schema.
        original, other: shares of the rows, one per cell; each adds up to 1.
        rows: how many the original and the other table have.
    """

    column: str
    labels: tuple[str, ...]
    original: Shares
    other: Shares
    rows: tuple[int, int]

    @property
    def distance(self) -> float:
        """Total variation distance, in [0, 1]."""
        return float(np.abs(self.original - self.other).sum()) / 2


@dataclass(frozen=True, kw_only=True)
class DistributionsOf(Evaluation[tuple[Distribution, ...]]):
    """The evaluation that asks for the distributions of a public table.

    Args:
        columns: None for all that both tables have. Of a person of the original, at most as many rows count
            as the schema says.
    Raises: ParameterError for an unknown column or a table without rows.
    """

    kind = "distributions"

    other: PublicTable
    columns: tuple[str, ...] | None = None

    @property
    def about(self) -> tuple[str, ...]:
        return () if self.columns is None else tuple(self.columns)

    def read(self, table: Readable, schema: Schema) -> Microdata:
        """The counts of each column, whatever the size of the table."""
        if not len(self.other.frame):
            raise ParameterError("one of the two tables has no rows", remedy="compare tables with rows")
        names = self.columns
        if names is None:
            names = tuple(name for name in schema.domain.names if name in self.other.frame)
        return CountedTable.of(table, [schema.domain.clique((name,)) for name in names])

    def compute(
        self, original: Microdata, schema: Schema, on_progress: OnProgress = silent
    ) -> tuple[Distribution, ...]:
        """The answer."""
        assert isinstance(original, CountedTable)
        described = [(schema.column(name), values) for (name,), values in original.cells.items()]
        return tuple(_compared(each, values, _counts(each, self.other.frame)) for each, values in described)


def _compared(column: Column, original: Integers, other: Integers) -> Distribution:
    return Distribution(
        column=column.name,
        labels=column.labels,
        original=original / original.sum(),
        other=other / other.sum(),
        rows=(int(original.sum()), int(other.sum())),
    )


def _counts(column: Column, frame: pd.DataFrame) -> Integers:
    if column.name not in frame:
        raise ParameterError(
            "one of the two tables has no column {name!r}",
            remedy="choose one that both have",
            name=column.name,
        )
    return cell_counts([column.encode(frame[column.name])], (column.size,))
