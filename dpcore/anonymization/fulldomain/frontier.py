"""The frontier: the best node for every k, limit and metric, from one pass.

Every node is grouped once. Its classes, rows, people and squared class sizes are
counted in bands between neighboring values of k. Whether a node is feasible, its
discernibility and its average class size follow from these counts. (A person may have
rows in several suppressed classes; if that decides, people are counted again at the
node.) Nodes are then taken in the order of their lower bounds, until the next bound is
no better than the best score.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.anonymization._thresholds import max_people_in_share
from dpcore.anonymization.fulldomain._grouper import Classes, Grouper
from dpcore.anonymization.fulldomain._judge import Solution
from dpcore.anonymization.fulldomain.counter import CountedClasses, Counter
from dpcore.anonymization.fulldomain.metrics import (
    ClassSizeMetric,
    Metric,
    SeparableMetric,
)
from dpcore.anonymization.fulldomain.size import check_feasible, walk_with_progress
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.models import KAnonymity, PrivacyModel, mark_violations
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.tables.classes import BoolArray


@dataclass(frozen=True, kw_only=True)
class FrontierPoint(Solution):
    """The best node for one combination of k, limit and metric."""

    k: int
    limit: float
    metric: Metric


class Frontier:
    """Counts of every node by class size, from which the best nodes are found.

    It is found for any limit of suppression and any metric without another pass.
    """

    def __init__(
        self,
        table: Tuples,
        ks: Sequence[int],
        models: Sequence[PrivacyModel] = (),
        *,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> None:
        """Group the table at every node, and count the classes by size.

        Args:
            table: the distinct tuples.
            ks: every k that can be asked for.
            models: further models that must hold.
            on_progress: gets the stage and the share done; an exception that it raises
                ends the pass.

        Raises: LimitError when the lattice is too large (see `size.predict`).
        """
        check_feasible(table)
        self.table = table
        self.ks = tuple(sorted({KAnonymity(k=int(k)).k for k in ks}))
        self.models = tuple(models)
        shape = (table.lattice.size, len(self.ks) + 1)
        self._classes = np.zeros(shape, dtype=np.int64)
        self._rows = np.zeros(shape, dtype=np.int64)
        self._people = np.zeros(shape, dtype=np.int64)
        self._squares = np.zeros(shape)
        self._blocked = np.zeros(table.lattice.size, dtype=bool)
        self._counter = Counter(table)
        for classes in walk_with_progress(
            Grouper(table), "looking at all combinations", on_progress
        ):
            self._add_node(classes)

    def find_best(self, k: int, limit: float, metric: Metric) -> FrontierPoint | None:
        """Find the optimal node for one of the `ks`, None if no node is feasible.

        Among equal nodes it is the least general one.
        """
        band = self.ks.index(k) + 1
        suppressed = self._rows[:, :band].sum(axis=1)
        kept = self._classes[:, band:].sum(axis=1)
        # This sum counts a person once in each of their suppressed classes
        people = self._people[:, :band].sum(axis=1)
        allowed = max_people_in_share(limit, self.table.people)
        is_offered = np.zeros(self.table.lattice.shape, dtype=bool)
        is_offered[self.table.lattice.slices_above(self.table.floor)] = True
        candidates = (
            is_offered.ravel()
            & ~self._blocked
            & (self.table.fewest_people(people) <= allowed)
        ).nonzero()[0]
        # Bound the candidates' scores from the number of rows they suppress
        if isinstance(metric, SeparableMetric):
            bounds = metric.bounds_given_suppression(
                self.table, candidates, suppressed[candidates]
            )
        else:
            assert isinstance(metric, ClassSizeMetric)
            squares = self._squares[candidates, band:].sum(axis=1)
            bounds = metric.score_counts(
                self.table.rows, kept[candidates], squares, suppressed[candidates]
            )
        levels = self.table.lattice.total_levels[candidates]
        # Score nodes in order of their bounds until no other can be better
        best: tuple[float, int, int] | None = None
        for place in np.lexsort((levels, bounds)).tolist():
            if best is not None and bounds[place] > best[0]:
                break
            index = int(candidates[place])
            score = float(bounds[place])
            if (
                people[index] > allowed
                and self._count_suppressed_people(index, k) > allowed
            ):
                continue
            if isinstance(metric, SeparableMetric) and suppressed[index]:
                score = metric.score(*self._suppressed_classes(index, k))
            if best is None or (score, int(levels[place])) < best[:2]:
                best = score, int(levels[place]), index
        if best is None:
            return None
        index = best[2]
        return FrontierPoint(
            k=k,
            limit=limit,
            metric=metric,
            node=self.table.lattice.node(index),
            score=best[0],
            suppressed_rows=int(suppressed[index]),
            suppressed_people=self._count_suppressed_people(index, k)
            if self.table.members
            else int(suppressed[index]),
            published_classes=int(kept[index]),
        )

    def _suppressed_classes(
        self, index: int, k: int
    ) -> tuple[CountedClasses, BoolArray]:
        """Return the classes of a node, and whether each is suppressed."""
        classes = self._counter.count_classes(self.table.lattice.node(index))
        return classes, mark_violations((KAnonymity(k=k), *self.models), classes)

    def _count_suppressed_people(self, index: int, k: int) -> int:
        classes, suppressed = self._suppressed_classes(index, k)
        return classes.count_people_in(suppressed)

    def find_points(
        self, limits: Sequence[float], metrics: Sequence[Metric]
    ) -> list[FrontierPoint]:
        """Return the best node of each feasible combination of k, limit and metric."""
        points = (
            self.find_best(k, limit, metric)
            for metric in metrics
            for k in self.ks
            for limit in limits
        )
        return [point for point in points if point is not None]

    def _add_node(self, classes: Classes) -> None:
        """Store the node's classes, rows, people and squared sizes, by band.

        Band b holds the classes with ks[b-1] <= people < ks[b]. Classes that violate
        one of the models are in band 0, which every k suppresses.
        """
        index = self.table.lattice.index(classes.node)
        bands = len(self.ks) + 1
        sizes = classes.sizes
        people = classes.people
        band = np.searchsorted(self.ks, people, side="right")
        if self.models:
            suppressed = mark_violations(self.models, classes)
            band[suppressed] = 0
            self._blocked[index] = not people[suppressed].all()
        self._classes[index] = np.bincount(band, sizes > 0, bands)
        self._rows[index] = np.bincount(band, sizes, bands)
        self._squares[index] = np.bincount(band, sizes * sizes, bands)
        self._people[index] = np.bincount(band, people, bands)
