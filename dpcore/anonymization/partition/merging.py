"""Clusters of numbers that break a model on a sensitive column are united with the
nearest, until none does.

Source: Soria-Comas, Domingo-Ferrer, Sanchez, Martinez (2015), IEEE TKDE 27, algorithm
1, there for t-closeness: clusters of k first, then the cluster that is farthest from
the model is joined with the one nearest to it. Here all that break a model find a
partner in one round, which costs few rounds.
"""

import numpy as np

from dpcore.anonymization.partition.admission import Gate
from dpcore.tables.classes import FloatArray, IntArray, dense


def merged(points: FloatArray, clusters: IntArray, gate: Gate) -> IntArray:
    """Return (rows,) clusters that all may be released, each made of one or several of
    those given.

    The table as one cluster may be released: `Gate.of` has seen to that, so this ends.

    Args:
        points: (columns, rows), on one scale.
        clusters: (rows,) without gaps, each with k people.
    """
    everyone = np.arange(len(clusters))
    while True:
        broken = ~gate.satisfied(everyone, clusters)
        if not broken.any():
            return clusters
        clusters = _united(points, clusters, broken.nonzero()[0])[clusters]


def _united(points: FloatArray, clusters: IntArray, broken: IntArray) -> IntArray:
    """Return the new cluster of each, the broken ones joined with the nearest that is
    not yet taken.

    They are taken in the order of their means, so that the order of the rows decides
    nothing.
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
        open_to = np.where(free, distance, np.inf)
        nearest = int((open_to if np.isfinite(open_to).any() else distance).argmin())
        owner[owner == owner[cluster]] = owner[nearest]
        free[[cluster, nearest]] = False
    return dense(owner, len(owner))
