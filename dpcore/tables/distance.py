"""The total variation distance between two tables of counts."""

from typing import Any

import numpy as np
import numpy.typing as npt


def total_variation(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> float:
    """Return the total variation distance of two tables of counts, in [0, 1].

    It is the share of rows that would have to change until both agree.

    Args:
        first, second: rows, or shares of them, in the same cells; neither adds up to 0.
    """
    return float(np.abs(first / first.sum() - second / second.sum()).sum()) / 2
