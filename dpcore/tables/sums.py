"""Sums of public numbers over rows."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpcore.schema.domain import Clique
from dpcore.tables.counts import Values

GRID = 2**20
"""Units of a row: what a row adds to a sum is a whole number of units, from -GRID to
GRID.
"""

Integers = npt.NDArray[np.int64]
Entry = Mapping[str, Integers]
"""Column -> the level of each of its cells, int64 from -GRID to GRID; the empty entry
counts rows.

A row adds the product of its levels in units of GRID, cut to a whole number of units.
"""


def levels(numbers: Values) -> Integers:
    """Return public numbers, one per cell, clipped to [-1, 1] in whole units of 1 /
    GRID.
    """
    return np.rint(np.nan_to_num(np.clip(numbers, -1.0, 1.0)) * GRID).astype(np.int64)


def product(factors: list[Integers], rows: int) -> Integers:
    """Return the addend of each row, int64 from -GRID to GRID, which is GRID without
    factors.
    """
    total = np.full(rows, GRID, dtype=np.int64)
    for factor in factors:
        total = total * factor // GRID
    return total


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisySums:
    """Public noisy sums over the rows of each cell of a clique.

    Attributes:
        by: the columns whose cells tell the lines apart; empty for one line over all
            rows.
        values: float64 (cells, entries), in rows, unbiased.
        deviation: of the noise of one entry, in rows.
    """

    by: Clique
    values: Values
    deviation: float
