"""What counts alone can tell about a table: the original of any size beside a release, column by column."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.errors import ParameterError
from dpcore.evaluation.question import Evaluation, Readable
from dpcore.progress import OnProgress, silent
from dpcore.schema.domain import Clique
from dpcore.schema.schema import Schema
from dpcore.tables.counts import MAX_CELLS, Integers, cell_counts
from dpcore.tables.rows import Microdata, PublicTable

MOST_CELLS = 5_000_000
"""Cells of all pairs together, at most: each thread of an engine holds as many."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CountedTable(Microdata):
    """Exact counts in place of rows: private, as rows are.

    Attributes:
        cells: rows that count in each cell, int64, by clique.
    """

    cells: Mapping[Clique, Integers]

    @classmethod
    def of(cls, table: Readable, cliques: Sequence[Clique]) -> CountedTable:
        """Count a table over these cliques."""
        return cls(frame=pd.DataFrame(), cells={each.clique: each.values for each in table.counts(cliques)})


@dataclass(frozen=True, kw_only=True)
class Distance:
    """How many rows would have to change, as a share, until the tables agree over some columns."""

    columns: Clique
    share: float


@dataclass(frozen=True, kw_only=True)
class Distances:
    """How far the columns and pairs of two tables are from each other.

    Attributes:
        found: the farthest first, columns before pairs.
        left_out: how many pairs were not counted, since their tables are too large together.
    """

    found: tuple[Distance, ...]
    left_out: int


@dataclass(frozen=True, kw_only=True)
class DistancesOf(Evaluation[Distances]):
    """The evaluation that asks how far each column and each pair of a public table is from the original.

    It reads counts alone, so that the original may be of any size: of each pair, the smallest ones first
    while all of them fit. Raises: ParameterError for a table without rows.
    """

    kind = "distances of counts"

    other: PublicTable

    def read(self, table: Readable, schema: Schema) -> Microdata:
        """The counts of each column, and of the pairs that fit."""
        if not len(self.other.frame):
            raise ParameterError("one of the two tables has no rows", remedy="compare tables with rows")
        names = [name for name in schema.domain.names if name in self.other.frame]
        pairs = sorted(itertools.combinations(names, 2), key=schema.domain.cells)
        sums = itertools.accumulate(schema.domain.cells(pair) for pair in pairs)
        fitting = [
            pair
            for pair, cells in zip(pairs, sums, strict=True)
            if cells <= MOST_CELLS and schema.domain.cells(pair) <= MAX_CELLS
        ]
        return CountedTable.of(table, [*((name,) for name in names), *fitting])

    def compute(self, original: Microdata, schema: Schema, on_progress: OnProgress = silent) -> Distances:
        """The answer."""
        assert isinstance(original, CountedTable)
        names = dict.fromkeys(name for clique in original.cells for name in clique)
        cells = {name: schema.column(name).encode(self.other.frame[name]) for name in names}
        found = [
            Distance(columns=clique, share=_distance(values, [cells[name] for name in clique]))
            for clique, values in original.cells.items()
        ]
        return Distances(
            found=tuple(sorted(found, key=lambda each: (len(each.columns), -each.share))),
            left_out=math.comb(len(names) + 1, 2) - len(found),
        )


def _distance(original: Integers, other: Sequence[Integers]) -> float:
    """Total variation distance, in [0, 1]."""
    counts = cell_counts(other, original.shape)
    return float(np.abs(original / original.sum() - counts / counts.sum()).sum()) / 2
