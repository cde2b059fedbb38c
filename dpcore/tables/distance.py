"""The distance between two tables of counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def total_variation(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> float:
    """Return half the sum of absolute differences of the cells' shares, from 0 to 1.

    >>> total_variation(np.array([1, 1]), np.array([30, 10]))
    0.25

    Args:
        first, second: counts or shares of one shape, at least 0; each is divided by its sum, if above 0.
    """
    one, other = (table / (table.sum() or 1) for table in (first, second))
    return float(np.abs(one - other).sum()) / 2
