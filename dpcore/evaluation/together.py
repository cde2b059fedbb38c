"""One or two columns counted exactly, in the original and in another table. Internal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpcore.evaluation.counted import CountedTable
from dpcore.evaluation.question import Evaluation, Readable
from dpcore.evaluation.similarity import cramers_v
from dpcore.progress import OnProgress, silent
from dpcore.schema.domain import Clique
from dpcore.schema.schema import Schema
from dpcore.tables.counts import Integers, cell_counts
from dpcore.tables.rows import Microdata, PublicTable


@dataclass(frozen=True, kw_only=True, eq=False)
class Together:
    """How many rows of two tables are in each cell.

    Attributes:
        labels: of each column, from the schema.
        original, other: rows per cell, one axis per column; None without another table. Of a person of the
            original, at most as many rows count as the schema says.
    """

    columns: Clique
    labels: tuple[tuple[str, ...], ...]
    original: Integers
    other: Integers | None

    @property
    def association(self) -> tuple[float, float | None]:
        """Cramér's V of two columns in both tables, over the values that occur."""
        return cramers_v(self.original), None if self.other is None else cramers_v(self.other)

    @property
    def unrelated(self) -> npt.NDArray[np.float64]:
        """Rows per cell to expect if the columns of the original had nothing to do with each other."""
        sides = [self.original.sum(axis=1 - axis) for axis in (0, 1)]
        found: npt.NDArray[np.float64] = np.multiply.outer(sides[0], sides[1]) / max(1, self.original.sum())
        return found


@dataclass(frozen=True, kw_only=True)
class TogetherOf(Evaluation[Together]):
    """The evaluation that counts one or two columns.

    Args:
        other: a table with these columns; None for the original alone.

    Raises: ParameterError for an unknown column; LimitError for more cells than fit.
    """

    kind = "counts together"

    columns: Clique
    other: PublicTable | None = None

    @property
    def about(self) -> tuple[str, ...]:
        return self.columns

    def read(self, table: Readable, schema: Schema) -> Microdata:
        """The counts of these columns, whatever the size of the table."""
        return CountedTable.of(table, [schema.domain.clique(self.columns)])

    def compute(self, original: Microdata, schema: Schema, on_progress: OnProgress = silent) -> Together:
        """The answer."""
        assert isinstance(original, CountedTable)
        clique = schema.domain.clique(self.columns)
        other = None
        if self.other is not None:
            cells = [schema.column(name).encode(self.other.frame[name]) for name in clique]
            other = cell_counts(cells, schema.domain.shape(clique))
        return Together(
            columns=clique,
            labels=tuple(schema.column(name).labels for name in clique),
            original=original.cells[clique],
            other=other,
        )
