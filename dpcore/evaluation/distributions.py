"""The distribution of each column in the original and in another table, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import ParameterError
from dpcore.evaluation.question import Evaluation
from dpcore.schema.column import Column
from dpcore.schema.schema import Schema
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
    found = []
    for name in columns:
        column = schema.column(name)
        found.append(
            Distribution(
                column=name,
                labels=column.labels,
                original=_shares(column, original),
                other=_shares(column, other),
                rows=(len(original), len(other)),
            )
        )
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class DistributionsOf(Evaluation[tuple[Distribution, ...]]):
    """The evaluation that asks for the `distributions` of a public table."""

    kind = "distributions"

    other: PublicTable
    columns: tuple[str, ...] | None = None

    @property
    def about(self) -> tuple[str, ...]:
        return () if self.columns is None else tuple(self.columns)

    def compute(self, original: Microdata, schema: Schema) -> tuple[Distribution, ...]:
        """The answer."""
        return distributions(original.frame, self.other.frame, schema, self.columns)


def _shares(column: Column, frame: pd.DataFrame) -> Shares:
    if column.name not in frame:
        raise ParameterError(
            "one of the two tables has no column {name!r}",
            remedy="choose one that both have",
            name=column.name,
        )
    counts = np.bincount(column.encode(frame[column.name]), minlength=column.size)
    shares: Shares = counts / len(frame)
    return shares
