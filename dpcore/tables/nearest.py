"""The distribution nearest to noisy numbers."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dpcore.tables.counts import Values


def nearest_distribution(values: npt.NDArray[Any], total: float) -> Values:
    """Return the non-negative table with sum `total` nearest to `values` in L2.

    Lowers all cells by one threshold and cuts at 0. Plain clipping would leave about
    half of the noise of every empty cell in the table and then scale the real cells
    down to make up for it; this does not.

    Args:
        values: noisy counts, any shape.
        total: the wanted sum, in rows; at 0 or below, all cells are 0.

    Source: Duchi, Shalev-Shwartz, Singer, Chandra (2008), figure 1.
    """
    if total <= 0:
        return np.zeros(values.shape)
    # A common shift changes only the rounding, and ensures that the largest cell stays
    # above 0
    values = values - values.max()
    flat = np.sort(values.ravel())[::-1]
    excess: Values = (np.cumsum(flat) - total) / np.arange(1, flat.size + 1)
    last = int(np.flatnonzero(flat > excess)[-1])
    cut: Values = np.maximum(values - excess[last], 0.0)
    cut *= total / cut.sum()
    return cut
