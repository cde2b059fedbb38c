"""What counts alone can tell about a table: the original of any size beside a release, column by column."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.evaluation.question import Evaluation, Readable
from dpcore.schema.domain import Clique
from dpcore.schema.schema import Schema
from dpcore.tables.counts import MAX_CELLS
from dpcore.tables.rows import Microdata, PublicTable

Integers = npt.NDArray[np.int64]


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
class DistancesOf(Evaluation[tuple[Distance, ...]]):
    """The evaluation that asks how far each column and each pair of a public table is from the original.

    It reads counts alone, so that the original may be of any size. Pairs of too many cells are left out.
    """

    kind = "distances of counts"

    other: PublicTable

    def read(self, table: Readable, schema: Schema) -> Microdata:
        """The counts of each column and pair."""
        names = [name for name in schema.domain.names if name in self.other.frame]
        pairs = (pair for pair in itertools.combinations(names, 2) if schema.domain.cells(pair) <= MAX_CELLS)
        return CountedTable.of(table, [*((name,) for name in names), *pairs])

    def compute(self, original: Microdata, schema: Schema) -> tuple[Distance, ...]:
        """The farthest first, columns before pairs."""
        assert isinstance(original, CountedTable)
        names = dict.fromkeys(name for clique in original.cells for name in clique)
        cells = {name: schema.column(name).encode(self.other.frame[name]) for name in names}
        found = [
            Distance(columns=clique, share=_distance(values, [cells[name] for name in clique]))
            for clique, values in original.cells.items()
        ]
        return tuple(sorted(found, key=lambda each: (len(each.columns), -each.share)))


def _distance(original: Integers, other: Iterable[Integers]) -> float:
    """Total variation distance, in [0, 1]."""
    places = np.ravel_multi_index(tuple(other), original.shape)
    counts = np.bincount(places, minlength=original.size).reshape(original.shape)
    return float(np.abs(original / original.sum() - counts / counts.sum()).sum()) / 2
