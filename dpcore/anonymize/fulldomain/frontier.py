"""The frontier: one pass over the lattice that answers every k, suppression limit and metric at once.

Every node is grouped once and counted: classes, rows and squared sizes between neighbouring values of k.
Whether a node is feasible, its discernibility and its average class size follow from these numbers. For the
separable metrics, the nodes are looked at again in the order of their lower bounds, until the next bound is
no better than the best score.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.anonymize.fulldomain.grouper import Grouper
from dpcore.anonymize.fulldomain.lattice import Node
from dpcore.anonymize.fulldomain.metrics import Metric, Separable
from dpcore.anonymize.fulldomain.size import check_size
from dpcore.anonymize.fulldomain.tuples import Tuples
from dpcore.anonymize.models import KAnonymity, Model, violations
from dpcore.tables.classes import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class Point:
    """The best node for one k, limit and metric."""

    k: int
    limit: float
    metric: Metric
    node: Node
    score: float
    suppressed: int
    """Rows."""
    classes: int
    """Classes that are kept."""


class Frontier:
    """The counts of one pass over the lattice: answers each of its k under any limit and any metric."""

    def __init__(
        self,
        table: Tuples,
        ks: Sequence[int],
        models: Sequence[Model] = (),
        *,
        on_progress: Callable[[float], None] | None = None,
    ) -> None:
        """Group and count every node; `models` hold beside every k, `on_progress` gets the share done.

        Raises: LimitError when the lattice is too large (see `size.predict`).
        """
        check_size(table)
        self.table = table
        self.ks = tuple(sorted({KAnonymity(k=int(k)).k for k in ks}))
        self.models = tuple(models)
        shape = (table.lattice.size, len(self.ks) + 1)
        self._classes = np.zeros(shape, dtype=np.int64)
        self._rows = np.zeros(shape, dtype=np.int64)
        self._squares = np.zeros(shape)
        self._blocked = np.zeros(table.lattice.size, dtype=bool)
        self._grouper = Grouper(table)
        self._count(on_progress)

    def best(self, k: int, limit: float, metric: Metric) -> Point | None:
        """The optimal node for one of the `ks`, of equal ones the least general; None if none is feasible."""
        band = self.ks.index(k) + 1
        suppressed = self._rows[:, :band].sum(axis=1)
        kept = self._classes[:, band:].sum(axis=1)
        feasible = ~self._blocked & (suppressed <= math.floor(limit * self.table.rows))
        candidates = feasible.nonzero()[0]
        if not len(candidates):
            return None
        if isinstance(metric, Separable):
            scores = self._scores(k, metric, candidates, suppressed[candidates])
        else:
            squares = self._squares[candidates, band:].sum(axis=1)
            scores = metric.of(self.table.rows, kept[candidates], squares, suppressed[candidates])
        index = candidates[np.lexsort((self.table.lattice.total_levels[candidates], scores))[0]]
        return Point(
            k=k,
            limit=limit,
            metric=metric,
            node=self.table.lattice.node(int(index)),
            score=float(scores.min()),
            suppressed=int(suppressed[index]),
            classes=int(kept[index]),
        )

    def _scores(self, k: int, metric: Separable, candidates: IntArray, suppressed: IntArray) -> FloatArray:
        """The scores of the candidates; infinite where the lower bound already rules a node out."""
        bounds = metric.bounds_given(self.table, candidates, suppressed)
        scores = np.full(len(candidates), np.inf)
        best = np.inf
        models = (KAnonymity(k=k), *self.models)
        for position in bounds.argsort(kind="stable"):
            if bounds[position] > best:
                break
            if suppressed[position]:
                classes = self._grouper.classes(self.table.lattice.node(int(candidates[position])))
                scores[position] = metric.score(classes, violations(models, classes))
            else:
                scores[position] = bounds[position]
            best = min(best, scores[position])
        return scores

    def points(self, limits: Sequence[float], metrics: Sequence[Metric]) -> list[Point]:
        """Every feasible combination of k, limit and metric."""
        found = (self.best(k, limit, metric) for metric in metrics for k in self.ks for limit in limits)
        return [point for point in found if point is not None]

    def _count(self, on_progress: Callable[[float], None] | None) -> None:
        """Fill classes, rows and squares, nodes x bands; band b holds the classes of ks[b-1] <= size < ks[b].

        Classes that violate one of the models are in band 0, which every k suppresses.
        """
        lattice, bands = self.table.lattice, len(self.ks) + 1
        ks = np.array(self.ks)
        for done, classes in enumerate(self._grouper.walk()):
            index = lattice.index(classes.node)
            sizes = classes.sizes
            band = np.searchsorted(ks, sizes, side="right")
            if self.models:
                suppressed = violations(self.models, classes)
                band[suppressed] = 0
                self._blocked[index] = not sizes[suppressed].all()
            self._classes[index] = np.bincount(band, sizes > 0, bands)
            self._rows[index] = np.bincount(band, sizes, bands)
            self._squares[index] = np.bincount(band, sizes * sizes, bands)
            if on_progress and done % 500 == 0:
                on_progress(done / lattice.size)
