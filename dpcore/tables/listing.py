"""A noisy table as rows: one per cell, with what it may be off by."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from dpcore.errors import ParameterError
from dpcore.tables.counts import Marginal
from dpcore.tables.rows import PublicTable

FIGURES = ("noisy rows", "low", "high")


def listed(marginal: Marginal, *, level: float = 0.95) -> PublicTable:
    """One row per cell: its labels, its noisy count, and the interval of the true count. Free.

    Counts are never below 0, so neither is an interval. The figures come under `FIGURES`; where a column has
    such a name, "count: " is put before them.

    Args:
        marginal: that knows its columns, as those of a release do.
        level: chance with which each interval holds its own count.
    Raises: ParameterError when the columns are not known.
    """
    if tuple(column.name for column in marginal.columns) != marginal.clique:
        raise ParameterError("the labels of this table are not known", remedy="take it from a release")
    low, high = marginal.interval(level)
    cells = list(itertools.product(*(column.labels for column in marginal.columns)))
    frame = pd.DataFrame(cells, columns=list(marginal.clique)) if marginal.clique else pd.DataFrame(index=[0])
    taken = set(FIGURES) & set(marginal.clique)
    for name, values in zip(FIGURES, (marginal.values, np.maximum(low, 0), np.maximum(high, 0)), strict=True):
        frame[f"count: {name}" if taken else name] = np.ravel(values)
    return PublicTable(frame)
