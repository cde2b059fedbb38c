"""Sum public numbers over private rows, with noise."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpcore.schema.domain import Clique
from dpcore.tables.counts import Values

UNITS_PER_ROW = 2**20
"""Units of a row: the addend of a row is an integer from -GRID to GRID."""

Integers = npt.NDArray[np.int64]
Entry = Mapping[str, Integers]
"""Column -> the level of each of its cells, int64 from -GRID to GRID.

A row adds the product of its levels in units of GRID, rounded down to a whole number.
The empty entry counts rows.
"""


def to_levels(numbers: Values) -> Integers:
    """Convert public numbers, one per cell, to integers; 1 becomes UNITS_PER_ROW.

    They are clipped to [-1, 1], in units of 1 / GRID.
    """
    return np.rint(np.nan_to_num(np.clip(numbers, -1.0, 1.0)) * UNITS_PER_ROW).astype(
        np.int64
    )


def multiply_levels(factors: list[Integers], rows: int) -> Integers:
    """Return the product of each row's levels, in units of 1 / UNITS_PER_ROW."""
    total = np.full(rows, UNITS_PER_ROW, dtype=np.int64)
    for factor in factors:
        total = total * factor // UNITS_PER_ROW
    return total


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisySums:
    """Public noisy sums over the rows of each cell of a clique.

    Attributes:
        by: the columns whose cells are summed separately; empty for one sum over all
            rows.
        values: float64 (cells, entries), in rows, unbiased.
        deviation: standard deviation of the noise of one entry, in rows.
    """

    by: Clique
    values: Values
    deviation: float
