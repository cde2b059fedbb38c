"""Cell numbers of an original, a release, and two tables for comparison."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.evaluation._records import EVALUATION_SEED, Codes
from dpcore.schema.schema import Schema

MAX_COARSE_CELLS = 20
"""Most cells of a column with an order in a table of two columns."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CodedTables:
    """Original, release, bootstrap and shuffled original as cell numbers.

    Attributes:
        sizes: declared cells of each column.
        value_cells: number of first cells that are values; others are missing or unreadable.
        ordered: whether a column has an order of numbers or dates.
        labels: one text per cell.
        codes: "original", "release", "bootstrap", "shuffled" -> one array per column.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    value_cells: tuple[int, ...]
    ordered: tuple[bool, ...]
    labels: tuple[tuple[str, ...], ...]
    codes: dict[str, list[Codes]]

    @classmethod
    def encode(
        cls,
        original: pd.DataFrame,
        release: pd.DataFrame,
        schema: Schema,
        names: tuple[str, ...],
    ) -> CodedTables:
        """Encode original and release; draw the bootstrap and the shuffled original.

        Raises: SchemaError for a value without a cell.
        """
        rng = np.random.default_rng(EVALUATION_SEED)
        columns = [schema.column(name) for name in names]
        own = [column.encode(column.values_of(original)) for column in columns]
        drawn = rng.integers(len(original), size=len(original))
        return cls(
            names=names,
            sizes=tuple(column.size for column in columns),
            value_cells=tuple(column.values_size for column in columns),
            ordered=tuple(column.is_interval for column in columns),
            labels=tuple(column.labels for column in columns),
            codes={
                "original": own,
                "release": [
                    column.encode(column.values_of(release)) for column in columns
                ],
                "bootstrap": [codes[drawn] for codes in own],
                "shuffled": [rng.permutation(codes) for codes in own],
            },
        )

    def feature_matrix(self, table: str) -> npt.NDArray[np.float64]:
        """Return the features of a table for a classifier, shape (rows, features).

        These are the cell number of each column, and for a column without an order one
        feature for each of its first `MAX_COARSE_CELLS` cells.
        """
        parts = []
        for codes, size, ordered in zip(
            self.codes[table], self.sizes, self.ordered, strict=True
        ):
            one_each = codes[:, None] == np.arange(
                0 if ordered else min(size, MAX_COARSE_CELLS)
            )
            parts += [codes[:, None].astype(np.float64), one_each.astype(np.float64)]
        return np.column_stack(parts)

    def cell_numbers(self, table: str, column: int) -> npt.NDArray[np.float64]:
        """Return the cell numbers of a column, with NaN for rows without a value."""
        codes = self.codes[table][column]
        return np.where(codes < self.value_cells[column], codes, np.nan)

    def coarse_cells(self, table: str, column: int) -> Codes:
        """Return the cells of a column, with neighbors merged if there are many."""
        return (
            self.codes[table][column]
            * self._coarse_cell_count(column)
            // self.sizes[column]
        )

    def coarse_counts(
        self, table: str, first: int, second: int
    ) -> npt.NDArray[np.int64]:
        """Return the number of rows for every pair of coarse cells of two columns."""
        shape = self._coarse_cell_count(first), self._coarse_cell_count(second)
        flat = self.coarse_cells(table, first) * shape[1] + self.coarse_cells(
            table, second
        )
        return np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape)

    def coarse_label(self, column: int, coarse: int) -> str:
        """Return the text that describes a coarse cell."""
        size = self.sizes[column]
        if not self.ordered[column] or size <= MAX_COARSE_CELLS:
            return self.labels[column][coarse]
        first = -(-coarse * size // MAX_COARSE_CELLS)
        last = max(first, -(-(coarse + 1) * size // MAX_COARSE_CELLS) - 1)
        return f"{self.labels[column][first]} … {self.labels[column][last]}"

    def _coarse_cell_count(self, column: int) -> int:
        size = self.sizes[column]
        return size if not self.ordered[column] else min(size, MAX_COARSE_CELLS)
