"""Pairs outside the junction tree, measured over coarser cells.

The tree answers such a pair as if its columns were independent given the rest. One
measurement of few coarse cells, runs of neighboring cells of about equal rows, shows
how far that is off; inside a coarse cell the model's own pattern stays. Noise is taken
off as in the fit: the table is the one with the least

    sum over coarse cells of (table - noisy)^2 / (2 variance)  +  strength * KL(table ||
    the model's)

with the model's columns, where strength = 1 / (noise standard deviation).

Source: the same likelihood and prior as `graph/fit`, for a single pair, by Newton's
method in each cell and proportional fitting of the columns in turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.schema.domain import Clique
from dpcore.synthesis._sampling import Integers
from dpcore.tables.counts import Marginal, Values, pack_array, unpack_array

FIT_SWEEPS = 20  # of Newton's method and proportional fitting in turn
MIN_COARSE_CELLS = 4  # per column
MAX_COARSE_CELLS = 40
ROWS_PER_NOISE_SD = 4.0  # approximate target for a coarse cell of a pair


@dataclass(frozen=True, kw_only=True, eq=False)
class CoarsePairs:
    """Noisy pairs outside the junction tree, over coarse cells.

    Attributes:
        groups: column -> int64 array, the coarse cell of each cell of the model.
        tables: noisy pairs over coarse cells.
    """

    groups: Mapping[str, Integers]
    tables: tuple[Marginal, ...]

    def adjust_table(self, clique: Clique, model: Values) -> Values:
        """Return the model's table, adjusted to the noisy pair if it was measured.

        Args:
            clique: of two columns or more.
            model: expected rows over the model's cells, axes in the order of the
                clique.
        """
        for table in self.tables:
            if set(table.clique) == set(clique):
                if table.clique != clique:
                    return self.adjust_table(table.clique, model.T).T
                merged = self.merge(clique, model)
                factor = np.divide(
                    _fit_pair(table, merged),
                    merged,
                    out=np.ones_like(merged),
                    where=merged > 0,
                )
                moved: Values = (
                    model * factor[np.ix_(*(self.groups[name] for name in clique))]
                )
                return moved
        return model

    def merge(self, clique: Clique, values: Values) -> Values:
        """Merge a table over the model's cells into a table over coarse cells."""
        for axis, name in enumerate(clique):
            turned = np.moveaxis(values, axis, 0)
            merged = np.zeros((int(self.groups[name].max()) + 1, *turned.shape[1:]))
            np.add.at(merged, self.groups[name], turned)
            values = np.moveaxis(merged, 0, axis)
        return values

    def to_dict(self) -> dict[str, Any]:
        """Return groups and noisy tables as plain data."""
        return {
            "groups": {name: pack_array(group) for name, group in self.groups.items()},
            "tables": [table.to_dict() for table in self.tables],
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> CoarsePairs:
        """Read the output of `to_dict`."""
        return cls(
            groups={
                name: unpack_array(group) for name, group in fields["groups"].items()
            },
            tables=tuple(Marginal.from_dict(table) for table in fields["tables"]),
        )


def coarse_cell_count(rows: float, deviation: float) -> int:
    """Return how many coarse cells a column may have, given the noise of a pair.

    Args:
        rows: of the table.
        deviation: of the noise of a cell, in rows.
    """
    return int(
        np.clip(
            np.sqrt(max(rows, 0.0) / (ROWS_PER_NOISE_SD * max(deviation, 1e-9))),
            MIN_COARSE_CELLS,
            MAX_COARSE_CELLS,
        )
    )


def merge_into_runs(rows: Values, cells: int) -> Integers:
    """Merge neighboring cells into runs of about equal rows.

    Args:
        cells: approximate number wanted.
        rows: expected or noisy rows of each cell, at least 0.

    Returns: int64, the run of each cell, numbered from 0 without gaps; a column of few
        cells stays as it is.
    """
    labels = np.arange(len(rows))
    if len(rows) <= cells:
        return labels
    most = float(rows.sum()) / cells
    label = -1
    total = np.inf
    for cell, count in enumerate(rows):
        if total + count > most:
            label = label + 1
            total = 0.0
        labels[cell] = label
        total += float(count)
    return labels


def _fit_pair(table: Marginal, model: Values) -> Values:
    """Fit the noisy table of a pair, keeping the model's one-way counts."""
    variance = max(table.variance, 1e-12)
    pull = variance**0.5  # strength * variance
    start = np.maximum(model, 1e-9)
    row_sums = start.sum(axis=1)
    column_sums = start.sum(axis=0)
    theta = np.zeros_like(start)
    fitted = start
    for _ in range(FIT_SWEEPS):
        # 1. Apply Newton's method in each cell, as in `graph/fit`.
        before = np.log(np.maximum(fitted, 1e-250)) - theta
        right = table.values + pull * before
        above = np.minimum(right / pull, np.log(np.maximum(right, 1.0)))
        after = np.minimum(before + theta, above)
        for _ in range(5):
            counts = np.exp(after)
            after = np.minimum(
                after - (pull * after + counts - right) / (pull + counts), above
            )
        theta = after - before
        fitted = np.exp(after)
        # 2. Scale rows and columns back to the model's sums. Very negative noisy counts
        # may have emptied a whole row.
        fitted = np.maximum(fitted, 1e-200)
        fitted = fitted * (row_sums / fitted.sum(axis=1))[:, None]
        fitted = fitted * (column_sums / fitted.sum(axis=0))
    return fitted
