"""Microaggregation: numbers become the means of clusters of k to 2k - 1 similar rows.

The clusters are those of MDAV: around the row farthest from the mean of the remaining
rows, and around the row farthest from that one, again and again. If people have several
rows, people are clustered by the means of their rows, and a person's rows stay
together. Ties are decided by the content of the rows, never by their order. Source:
Domingo-Ferrer, Mateo-Sanz (2002), IEEE TKDE 14; Domingo-Ferrer, Torra (2005), Algorithm
MDAV-generic. Distances are Euclidean on columns scaled to variance 1.

Rows in which the same numbers are missing are clustered apart. Where they are fewer than
k, a missing number lies far from all others, and a cluster that holds one is published
without a number in this column.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpcore.anonymization.partition._merging import merge_clusters
from dpcore.anonymization.partition.admission import ReleaseGate
from dpcore.anonymization.recoded import PublishedColumn, Recoded
from dpcore.errors import not_numeric_error
from dpcore.tables.classes import (
    BoolArray,
    FloatArray,
    IntArray,
    class_index,
    leaves_of,
)

MAX_UNBLOCKED_ROWS = 100_000
"""Rows above which a table is clustered in blocks."""

MAX_BLOCK_ROWS = 4_000
"""Rows of a block, at most."""

MAX_K_ONE_BY_ONE = 12
"""Largest k for which the nearest rows are found one by one, which is faster."""
MISSING_DISTANCE = 10.0
"""Distance of missing numbers from the largest one, in ranges of the column."""

QUALITY_BINS = 20
"""Bins of equal shares in which the change of a distribution is measured."""


def microaggregate(
    frame: pd.DataFrame, columns: Sequence[str], *, gate: ReleaseGate
) -> IntArray:
    """Cluster the rows by the numbers in these columns.

    Args:
        gate: conditions on a cluster; those that break a model are merged.

    Returns: (rows,) the cluster of each.

    Raises: SchemaError for a column that holds something else than numbers.
    """
    points = np.stack([_scaled_column(frame, name) for name in sorted(columns)])
    whose = gate.rows.person
    centers = points
    if whose is not None:
        rows = np.bincount(whose)
        centers = np.stack([np.bincount(whose, column) / rows for column in points])
    order = (
        _order_by_content(frame, columns)
        if whose is None
        else np.lexsort(centers[::-1])
    )
    centers = centers[:, order]
    blocks = _group_by_missing(
        _missing_by_unit(frame, columns, whose)[:, order], gate.k
    )
    if len(order) > MAX_UNBLOCKED_ROWS:
        blocks = _split_into_blocks(centers, blocks, max(MAX_BLOCK_ROWS, 2 * gate.k))
    clusters = np.empty(len(order), dtype=np.int64)
    clusters[order] = _cluster_blocks(centers, blocks, gate.k)
    clusters = clusters if whose is None else clusters[whose]
    return merge_clusters(points, clusters, gate) if gate.models else clusters


def _missing_by_unit(
    frame: pd.DataFrame, columns: Sequence[str], person: IntArray | None
) -> BoolArray:
    """Return which numbers each row, or any row of each person, lacks."""
    rows = np.stack([np.isnan(_read_numbers(frame, name)) for name in sorted(columns)])
    if person is None:
        return np.asarray(rows)
    people = int(person.max()) + 1
    return np.stack([np.bincount(person, row, people) > 0 for row in rows])


def _group_by_missing(is_missing: BoolArray, k: int) -> list[IntArray]:
    """Group units by which numbers they lack, with at least k units per group.

    Those with rarer gaps are together in one group, or in the largest one if they are
    too few for that.
    """
    if not is_missing.any():
        return [np.arange(is_missing.shape[1])]
    pattern = np.unique(is_missing, axis=1, return_inverse=True)[1].reshape(-1)
    groups = [np.flatnonzero(pattern == place) for place in range(pattern.max() + 1)]
    large = [group for group in groups if len(group) >= k]
    rare = [group for group in groups if len(group) < k]
    if not rare:
        return large
    together = np.sort(np.concatenate(rare))
    if len(together) < k:
        largest = max(large, key=len)
        large = [group for group in large if group is not largest]
        together = np.sort(np.concatenate([together, largest]))
    return [*large, together]


def _order_by_content(frame: pd.DataFrame, columns: Sequence[str]) -> IntArray:
    """Sort the rows by content: the clustered columns first, then all others."""
    first = sorted(columns)
    names = [*first, *(name for name in frame.columns if name not in first)]
    return np.lexsort([leaves_of(frame, name).codes for name in reversed(names)])


def mdav(points: FloatArray, k: int) -> IntArray:
    """Return the MDAV cluster of each row, shape (rows,).

    Args:
        points: (columns, rows), at least k rows. Rows not yet in a cluster stay side by
            side at the front of the working arrays, each column for itself, so that a
            pass reads nothing else.
    """
    rest = _UnclusteredRows(points, k)
    while rest.rows >= 3 * k:
        first = rest.farthest_from(rest.mean())
        second = rest.farthest_from(first)
        rest.take_around(first)
        rest.take_around(second)
    if rest.rows >= 2 * k:
        rest.take_around(rest.farthest_from(rest.mean()))
    rest.clusters[rest.row[: rest.rows]] = rest.number
    return rest.clusters


class _UnclusteredRows:
    """The rows not yet in a cluster."""

    def __init__(self, points: FloatArray, k: int) -> None:
        self.points = points.copy()
        self.k = k
        self.rows = points.shape[1]
        self.row = np.arange(self.rows)
        self.clusters = np.empty(self.rows, dtype=np.int64)
        self.number = 0
        self._sum = points.sum(axis=1)
        self._distance, self._square = np.empty(self.rows), np.empty(self.rows)

    def mean(self) -> FloatArray:
        """Return the mean of the unclustered rows, shape (columns,)."""
        return np.asarray(self._sum / self.rows)

    def farthest_from(self, point: FloatArray) -> FloatArray:
        """Return the values of the row farthest from a point, shape (columns,)."""
        return self.points[:, self._distances(point).argmax()].copy()

    def take_around(self, point: FloatArray) -> None:
        """Make a cluster of the k rows nearest to the point, and remove them."""
        distance = self._distances(point)
        near = self._nearest(distance)
        self.clusters[self.row[near]] = self.number
        self.number += 1
        self._sum -= self.points[:, near].sum(axis=1)
        self.rows -= self.k
        # Fill the places of the cluster with the last rows
        holes = near[near < self.rows]
        stay = self.rows + np.flatnonzero(distance[self.rows :] != np.inf)
        self.points[:, holes] = self.points[:, stay]
        self.row[holes] = self.row[stay]

    def _nearest(self, distance: FloatArray) -> IntArray:
        """Return the indices of the k smallest distances, and set these to infinity."""
        if self.k > MAX_K_ONE_BY_ONE:
            near = np.argpartition(distance, self.k - 1)[: self.k]
            distance[near] = np.inf
            return near
        near = np.empty(self.k, dtype=np.int64)
        for place in range(self.k):
            near[place] = distance.argmin()
            distance[near[place]] = np.inf
        return near

    def _distances(self, point: FloatArray) -> FloatArray:
        """Return the squared distance of each row from a point, in a reused array."""
        distance = self._distance[: self.rows]
        square = self._square[: self.rows]
        distance[:] = 0.0
        for column, center in zip(self.points, point, strict=True):
            np.subtract(column[: self.rows], center, out=square)
            np.multiply(square, square, out=square)
            np.add(distance, square, out=distance)
        return distance


def publish_means(
    frame: pd.DataFrame, columns: Sequence[str], clusters: IntArray
) -> Recoded:
    """Replace each number by its cluster's mean, and measure the loss.

    The NCP of a cluster is its range over the column's, and 1 if only some of its
    numbers are missing. The change of a column's distribution is measured on bins with
    equal shares of the original, and one for missing numbers.
    """
    values = {name: _read_numbers(frame, name) for name in sorted(columns)}
    sizes = np.bincount(clusters)
    means = [np.bincount(clusters, column) / sizes for column in values.values()]
    classes = class_index([np.unique(mean, return_inverse=True)[1] for mean in means])[
        clusters
    ]
    _, first = np.unique(classes, return_index=True)
    label = np.arange(len(first))
    parts = []
    for (name, column), mean in zip(values.items(), means, strict=True):
        center = mean[clusters[first]]
        present = ~np.isnan(column)
        numbers = column[present]
        low = np.full(len(first), np.inf)
        high = np.full(len(first), -np.inf)
        np.minimum.at(low, classes[present], numbers)
        np.maximum.at(high, classes[present], numbers)
        has_numbers = low <= high
        width = float(np.ptp(numbers)) if len(numbers) else 0.0
        penalty = np.where(np.isnan(center) & has_numbers, 1.0, 0.0)
        is_whole = ~np.isnan(center)
        penalty[is_whole] = (high - low)[is_whole] / (width or 1.0)
        edges = _quality_edges(numbers)
        # Missing numbers have their own bin, after the last one
        bins = np.where(
            np.isnan(center), len(edges) + 1, np.searchsorted(edges, center)
        )
        bins_before = np.where(present, np.searchsorted(edges, column), len(edges) + 1)
        parts.append(
            PublishedColumn(
                name=name,
                label=label,
                text=center.astype(object),
                ncp=penalty,
                loss=penalty,
                rows_before=np.bincount(bins_before, minlength=len(edges) + 2),
                expected_rows_after=np.bincount(
                    bins, np.bincount(classes), len(edges) + 2
                ).astype(np.float64),
            ),
        )
    return Recoded(columns=tuple(parts), classes=classes)


def _quality_edges(numbers: FloatArray) -> FloatArray:
    """Return the inner edges of bins with equal shares of the numbers."""
    if not len(numbers):
        return np.empty(0)
    shares = np.linspace(0, 1, QUALITY_BINS + 1)[1:-1]
    return np.unique(np.quantile(numbers, shares, method="inverted_cdf"))


def _read_numbers(frame: pd.DataFrame, name: str) -> FloatArray:
    """Return the numbers of a column, NaN for missing ones, shape (rows,)."""
    if not pd.api.types.is_numeric_dtype(frame[name]):
        raise not_numeric_error(name)
    values: FloatArray = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
    if np.isinf(values).any():
        raise not_numeric_error(name)
    return values


def _scaled_column(frame: pd.DataFrame, name: str) -> FloatArray:
    """Scale a column to mean 0 and variance 1, or to 0 when it is constant.

    Missing numbers get a place far behind the largest one.
    """
    values = _read_numbers(frame, name)
    is_missing = np.isnan(values)
    # sorted, so that rounding does not depend on the order of the rows
    ordered = np.sort(values[~is_missing])
    if not len(ordered):
        return np.zeros(len(values))
    scaled = (values - ordered.mean()) / (ordered.std() or 1.0)
    largest = float(np.nanmax(scaled))
    width = largest - float(np.nanmin(scaled))
    scaled[is_missing] = largest + MISSING_DISTANCE * (width or 1.0)
    return np.asarray(scaled)


def _split_into_blocks(
    points: FloatArray, groups: Sequence[IntArray], largest: int
) -> list[IntArray]:
    """Halve groups of rows until they are small enough, and return these.

    A block is halved at the median of its column with most variance.
    """
    finished = []
    open_blocks = list(groups)
    while open_blocks:
        block = open_blocks.pop()
        if len(block) <= largest:
            finished.append(block)
            continue
        inside = points[:, block]
        order = inside[inside.var(axis=1).argmax()].argsort(kind="stable")
        half = len(block) // 2
        open_blocks += [block[np.sort(order[half:])], block[np.sort(order[:half])]]
    return finished


def _cluster_blocks(points: FloatArray, blocks: Sequence[IntArray], k: int) -> IntArray:
    """Run MDAV inside each block."""
    clusters = np.empty(points.shape[1], dtype=np.int64)
    number = 0
    for block in blocks:
        clusters[block] = number + mdav(points[:, block], k)
        number = int(clusters[block].max()) + 1
    return clusters
