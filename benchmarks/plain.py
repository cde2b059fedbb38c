"""Each task as one would write it first, with pandas and plain loops: what the work is
measured against.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy


def class_sizes(
    frame: pd.DataFrame,
    hierarchies: Mapping[str, Hierarchy],
    levels: Sequence[int],
) -> pd.Series:
    """Rows of every class at a node: each cell replaced by its label, then grouped."""
    labels = {
        name: frame[name]
        .astype(str)
        .map(dict(zip(hierarchy.values, hierarchy.levels[level], strict=True)))
        for (name, hierarchy), level in zip(hierarchies.items(), levels, strict=True)
    }
    return pd.DataFrame(labels).groupby(list(labels)).size()


def models_of(frame: pd.DataFrame, known: list[str], secret: str) -> dict[str, float]:
    """k, l, entropy l and t of a table, group by group."""
    prior = frame[secret].value_counts(normalize=True)
    groups = [group for _key, group in frame.groupby(known)[secret]]
    shares = [group.value_counts(normalize=True) for group in groups]
    return {
        "k": min(len(group) for group in groups),
        "l": min(len(share) for share in shares),
        "entropy l": min(math.exp(-(share * np.log(share)).sum()) for share in shares),
        "t": max(share.sub(prior, fill_value=0).abs().sum() / 2 for share in shares),
    }


def mdav(points: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """(rows,) MDAV cluster of each of the (rows, columns) points, the rest copied after
    every cluster.
    """
    rest = np.arange(len(points))
    clusters = np.zeros(len(points), dtype=np.int64)
    found = 0

    def farthest(point: NDArray[np.float64]) -> NDArray[np.float64]:
        return points[rest[((points[rest] - point) ** 2).sum(axis=1).argmax()]]

    def take(point: NDArray[np.float64]) -> None:
        nonlocal rest, found
        near = ((points[rest] - point) ** 2).sum(axis=1).argsort(kind="stable")[:k]
        clusters[rest[near]] = found
        rest = np.delete(rest, near)
        found = found + 1

    while len(rest) >= 3 * k:
        first = farthest(points[rest].mean(axis=0))
        second = farthest(first)
        take(first)
        take(second)
    if len(rest) >= 2 * k:
        take(farthest(points[rest].mean(axis=0)))
    clusters[rest] = found
    return clusters


def information_loss(points: NDArray[np.float64], clusters: NDArray[np.int64]) -> float:
    """Sum of squares within the clusters over the total one, of (columns, rows) points;
    0 where all agree.
    """
    sizes = np.bincount(clusters)
    within = sum(
        float(((column - (np.bincount(clusters, column) / sizes)[clusters]) ** 2).sum())
        for column in points
    )
    total = sum(float(((column - column.mean()) ** 2).sum()) for column in points)
    return within / total if total else 0.0
