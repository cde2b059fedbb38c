"""Merging of clusters of numbers until each meets the models on sensitive columns.

Source: Soria-Comas, Domingo-Ferrer, Sanchez, Martinez (2015), IEEE TKDE 27, algorithm
1, there for t-closeness: clusters of k first, then the cluster that is farthest from
the model is joined with the one nearest to it. Here all that break a model find a
partner in one round, which takes few rounds.
"""

import numpy as np

from dpcore.anonymization.partition.admission import ReleaseGate
from dpcore.tables.classes import FloatArray, IntArray, renumber


def merge_clusters(
    points: FloatArray, clusters: IntArray, gate: ReleaseGate
) -> IntArray:
    """Merge clusters until all may be released; return each row's cluster.

    The table as one cluster may be released, as `Gate.of` has checked, so this ends.

    Args:
        points: (columns, rows), on one scale.
        clusters: (rows,) without gaps, each with k people.
    """
    everyone = np.arange(len(clusters))
    while True:
        broken = ~gate.admits(everyone, clusters)
        if not broken.any():
            return clusters
        clusters = _join_nearest(points, clusters, broken.nonzero()[0])[clusters]


def _join_nearest(points: FloatArray, clusters: IntArray, broken: IntArray) -> IntArray:
    """Join each broken cluster to its nearest neighbor; return the new numbers.

    A cluster takes part in one join, if possible. The order is that of the means, so
    that the order of the rows has no influence.
    """
    sizes = np.bincount(clusters)
    means = np.stack([np.bincount(clusters, column) / sizes for column in points])
    owner = np.arange(len(sizes))
    free = np.ones(len(sizes), dtype=bool)
    for cluster in broken[np.lexsort(means[::-1, broken])]:
        if not free[cluster]:
            continue
        distance = ((means - means[:, cluster, None]) ** 2).sum(axis=0)
        distance[cluster] = np.inf
        # Prefer a cluster that has no partner in this round
        free_distance = np.where(free, distance, np.inf)
        has_free = np.isfinite(free_distance).any()
        nearest = int((free_distance if has_free else distance).argmin())
        owner[owner == owner[cluster]] = owner[nearest]
        free[[cluster, nearest]] = False
    return renumber(owner, len(owner))
