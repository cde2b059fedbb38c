"""Cuts of a column at noisy quantiles: free post-processing of a histogram that was paid for."""

from __future__ import annotations

import numpy as np

from dpcore.errors import ParameterError
from dpcore.schema.interval import IntervalColumn
from dpcore.tables.counts import Marginal
from dpcore.tables.nearest import nearest_distribution


def quantile_cuts(marginal: Marginal, cells: int) -> tuple[float, ...]:
    """Inner bounds that part a column into at most `cells` cells of about equally many rows.

    Reads noisy counts only. A release under a schema with these cuts stands on the release they come from,
    which it cannot name by itself: add the loss of that one to what is claimed.

    Args:
        marginal: of one ordered column, from a release; its own cells are the finest cuts there can be.
        cells: wanted, at least 2.
    Returns: rising bounds, to be given as `cuts` of the column; fewer where cells are crowded.
    Raises: ParameterError for another kind of marginal.
    """
    if len(marginal.columns) != 1 or not isinstance(marginal.columns[0], IntervalColumn):
        raise ParameterError(
            "quantile cuts need the marginal of one column of numbers or dates",
            remedy="release its histogram",
        )
    if cells < 2:
        raise ParameterError("cells ({cells}) must be at least 2", remedy="ask for 2 or more", cells=cells)
    column = marginal.columns[0]
    counts = marginal.values[: column.values_size]
    shares = np.cumsum(nearest_distribution(counts, max(1.0, float(counts.sum()))))
    goals = shares[-1] * np.arange(1, cells) / cells
    ends = np.unique(np.searchsorted(shares, goals - 1e-9 * shares[-1]) + 1)
    return tuple(
        float(column.edges[end]) for end in ends if end < column.values_size and not column.single[end]
    )
