"""The distribution of each column in the original and in another table, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import ParameterError, RowsError
from dpcore.evaluation.counted import CountedTable
from dpcore.evaluation.question import Evaluation, Readable
from dpcore.schema.column import Column
from dpcore.schema.schema import Schema
from dpcore.tables.rows import Microdata, PublicTable

Shares = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


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


def distributions(
    original: pd.DataFrame, other: pd.DataFrame, schema: Schema, columns: tuple[str, ...] | None = None
) -> tuple[Distribution, ...]:
    """The distributions of `columns`; None for all that both tables have. Reads the original: internal.

    Raises: ParameterError for an unknown column or a table without rows.
    """
    if columns is None:
        columns = tuple(name for name in schema.domain.names if name in original and name in other)
    if not len(original) or not len(other):
        raise ParameterError("one of the two tables has no rows", remedy="compare tables with rows")
    described = [schema.column(name) for name in columns]
    return tuple(_compared(each, _counts(each, original), _counts(each, other)) for each in described)


@dataclass(frozen=True, kw_only=True)
class DistributionsOf(Evaluation[tuple[Distribution, ...]]):
    """The evaluation that asks for the `distributions` of a public table."""

    kind = "distributions"

    other: PublicTable
    columns: tuple[str, ...] | None = None

    @property
    def about(self) -> tuple[str, ...]:
        return () if self.columns is None else tuple(self.columns)

    def read(self, table: Readable, schema: Schema) -> Microdata:
        """The rows; of a table that does not fit, the counts of each column."""
        try:
            return table.rows()
        except RowsError:
            names = self.columns or [name for name in schema.domain.names if name in self.other.frame]
            return CountedTable.of(table, [(name,) for name in names])

    def compute(self, original: Microdata, schema: Schema) -> tuple[Distribution, ...]:
        """The answer."""
        if not isinstance(original, CountedTable):
            return distributions(original.frame, self.other.frame, schema, self.columns)
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
    return np.bincount(column.encode(frame[column.name]), minlength=column.size)
