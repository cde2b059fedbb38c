"""Search of the optimal node for models, a suppression limit and a metric.

Every node has a lower bound of its score before its classes are known, and one look at a node closes many
others: an infeasible node all its specializations, a node without suppression all its generalizations, a
feasible one all nodes with a worse bound. What models without a histogram decide is looked at first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.anonymize.closeness import TCloseness
from dpcore.anonymize.fulldomain.counter import Counted, Counter, NodeFigures
from dpcore.anonymize.fulldomain.grouper import Classes, ClassesOfNode, Grouper
from dpcore.anonymize.fulldomain.lattice import Node
from dpcore.anonymize.fulldomain.metrics import (
    AverageClassSize,
    ClassSizeMetric,
    Discernibility,
    InformationLoss,
    Metric,
    Separable,
)
from dpcore.anonymize.fulldomain.size import check_nodes, progress_each, walked
from dpcore.anonymize.fulldomain.tuples import Tuples
from dpcore.anonymize.models import KAnonymity, PrivacyModel, SensitiveModel, violations
from dpcore.anonymize.thresholds import least_limit, most_within
from dpcore.errors import InfeasibleError, UsageError
from dpcore.progress import OnProgress, silent
from dpcore.tables.classes import BoolArray, FloatArray, IntArray

WORTHWHILE = 6
"""Nodes that a look at one class should close; else the pause until the next such look is doubled."""
LONGEST_PAUSE = 16
ROUNDING = 1e-12
"""By which a bound that is calculated otherwise may be above a score."""


@dataclass(frozen=True, kw_only=True)
class Solution:
    """The optimal node, of the lowest score and, among equal scores, of the lowest sum of levels."""

    node: Node
    score: float
    suppressed: int
    """Rows."""
    people: int
    """People who have a suppressed row."""
    classes: int
    """Classes that are kept."""
    checks: int = 0
    """Nodes that were grouped until it was found."""


def search(
    table: Tuples,
    models: Sequence[PrivacyModel],
    *,
    limit: float = 0.0,
    metric: Metric | None = None,
    on_progress: OnProgress = silent,
) -> Solution:
    """Find the node with the least information loss at which few people have a suppressed row.

    Args:
        table: the distinct tuples.
        models: all must hold in every class that is kept.
        limit: share of the published people who may have a suppressed row, 0 to 1, rounded down to people.
        metric: InformationLoss() where none is given.
        on_progress: gets the stage and the share done, from which the time that is left follows; what it
            raises ends the search.

    Raises: ParameterError for a limit outside 0 to 1, LimitError for too large a lattice, InfeasibleError
        when no node meets the limit (the nearest feasible one is in `details["nearest_limit"]`).
    """
    if not 0 <= limit <= 1:
        raise UsageError(f"limit ({limit:g}) must be between 0 and 1", remedy="give a share of people")
    check_nodes(table)
    metric = metric or InformationLoss()
    allowed = most_within(limit, table.people)
    run = _Search(table, tuple(models), allowed, metric, on_progress)
    run.bisect()
    if isinstance(metric, Discernibility):
        run.close_in()
    run.descend()
    if run.best is None:
        raise _infeasible(table, models, limit, on_progress)
    return run.best


class _Search:
    def __init__(
        self,
        table: Tuples,
        models: tuple[PrivacyModel, ...],
        allowed: int,
        metric: Metric,
        on_progress: OnProgress,
    ) -> None:
        self.on_progress = on_progress
        self.table, self.models, self.allowed, self.metric = table, models, allowed, metric
        self.relaxations = tuple(model.relaxation for model in models if model.relaxation is not None)
        self.counter = Counter(table)
        # without histograms of sensitive values, and monotone: what decides most nodes
        plain = [each for each in models if each.monotone and not isinstance(each, SensitiveModel)]
        if table.members is None:
            least = [
                each.fewest(table.secrets[each.column]) for each in models if isinstance(each, SensitiveModel)
            ]
            plain += [KAnonymity(k=max(least))] if least else []
        self.plain = tuple(plain)
        self._decides_by_histogram = not set(models) <= set(plain)
        self.bounds = metric.bounds(table)
        self.guesses = table.collisions if isinstance(metric, Discernibility) else self.bounds
        self.open = np.ones(table.lattice.size, dtype=bool)
        self.grid = self.open.reshape(table.lattice.shape)
        self.best: Solution | None = None
        self.checks = self.histograms = self.refused = 0
        self.suppressed = np.zeros(table.lattice.shape, dtype=np.int64)  # of each node, at least
        self.each = progress_each(table)
        self.left: list[int] = []  # nodes that were open each time that progress was reported
        self.is_bounding = isinstance(metric, ClassSizeMetric)
        self.waits, self.pause = 0, 1  # until one class is looked at again
        self.least = max([1, *(each.k for each in plain if isinstance(each, KAnonymity))])

    def bisect(self) -> None:
        """Find a good feasible node early, by halving the nodes by bound, as if feasibility followed it."""
        order = np.lexsort((self.table.lattice.total_levels, self.guesses))
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            index = int(order[middle])
            if self.open[index]:
                feasible = self._check(index)
            else:
                feasible = self.best is not None and self.bounds[index] > self.best.score
            low, high = (low, middle) if feasible else (middle + 1, high)

    def descend(self) -> None:
        """Check what is still open, the most general nodes first.

        Nodes of one sum of levels are not below each other.
        """
        left, total = self.open.nonzero()[0], self.table.lattice.total_levels
        self.is_bounding = False  # the generalizations of an open node are closed by now
        ordered = left[np.lexsort((self.bounds[left], -total[left]))]
        for antichain in np.split(ordered, np.flatnonzero(np.diff(total[ordered])) + 1):
            self._check_all(antichain)

    def _check_all(self, indices: IntArray) -> None:
        """Check what is open of nodes that are not below each other, some together where that is faster."""
        # where nothing may be suppressed, one class decides more than a node by itself
        sifts = self.allowed > 0 and self.table.members is None
        indices, place = indices[self.open[indices]], 0
        while place < len(indices):
            some = indices[place : place + (self.counter.at_once if sifts else 1)]
            place += len(some)
            if len(some) > 1:
                self._sift(some[self.open[some]])
            for index in some.tolist():
                if self.open[index]:
                    self._check(index)

    def _sift(self, indices: IntArray) -> None:
        """Close some nodes that suppress too much, or score too much, by the rows of their classes alone.

        Rows are people.
        """
        lattice = self.table.lattice
        nodes = [(index, lattice.node(index)) for index in indices.tolist()]
        counted = [(index, node) for index, node in nodes if self.counter.is_counted(node)]
        if not counted:
            return
        self._tell(len(counted), lattice.top)
        figures = self.counter.figures([node for _, node in counted], self.least)
        fits = figures.suppressed <= self.allowed
        for place in np.flatnonzero(~fits).tolist():
            self.grid[lattice.below(counted[place][1])] = False
        if self.best is not None and fits.any():
            kept = np.array([index for index, _ in counted])[fits]
            worse = self._least(kept, figures.taken(fits)) > self.best.score * (1 + ROUNDING)
            self.open[kept[worse]] = False

    def _least(self, indices: IntArray, figures: NodeFigures) -> FloatArray:
        """(nodes,) what nodes with these figures score at least."""
        if isinstance(self.metric, Separable):
            return self.metric.bounds_given(self.table, indices, figures.suppressed)
        if self._decides_by_histogram and 4 * self.refused > self.histograms:
            return np.zeros(len(indices))  # to look may close others
        # the classes that other models suppress are one more, where classes are what is counted
        more = self._decides_by_histogram and isinstance(self.metric, AverageClassSize)
        assert isinstance(self.metric, ClassSizeMetric)
        return self.metric.of(self.table.rows, figures.kept, figures.squares, figures.suppressed + more)

    def close_in(self) -> None:
        """Check what is still open, the nodes most similar to the best one first.

        Most others are then closed as too general, or not general enough.
        """
        while self.best is not None and self.open.any():
            best, left = self.best, self.open.nonzero()[0]
            away = np.abs(self.guesses[left] - self.guesses[self.table.lattice.index(best.node)])
            for index in left[np.lexsort((self.bounds[left], away))].tolist():
                if self.open[index]:
                    self._check(index)
                if self.best is not best:
                    break

    def _check(self, index: int) -> bool:
        """Group one node, close what that decides, and say whether it is feasible."""
        lattice = self.table.lattice
        node = lattice.node(index)
        self.open[index] = False
        if self._is_worse(index, node):
            return False
        classes = self._look(node)
        if self.is_bounding:
            self._raise_bounds(classes)
        marked = violations(self.plain, classes)
        if not classes.suppresses_few(marked, self.allowed):
            self.grid[lattice.below(node)] = False
            if not self.allowed:
                self._close_around(classes, marked)
            return False
        self._suppresses(classes, marked)
        if self._decides_by_histogram:
            if self._is_not_worth_it(classes, marked):
                return True
            marked = violations(self.models, classes)
            blocked = bool((classes.people[marked] == 0).any())
            self.histograms += 1
            if blocked or not classes.suppresses_few(marked, self.allowed):
                self.refused += 1
                if blocked or not self._may_suppress_few(classes, marked):
                    self.grid[lattice.below(node)] = False
                return False
        if not marked.any():
            self.grid[lattice.above(node)] = False
        self._accept(classes, marked)
        return True

    def _close_around(self, classes: Counted | Classes, marked: BoolArray) -> None:
        """Close nodes by the smallest class where nothing may be suppressed, which decides many of them."""
        people = classes.people[marked]
        self.waits -= 1
        if self.waits > 0 or people.min() >= self.least:
            return
        smallest = int(marked.nonzero()[0][people.argmin()])
        before = np.count_nonzero(self.open)
        self.grid &= self.counter.around(classes, smallest) >= self.least
        few = before - np.count_nonzero(self.open) < WORTHWHILE
        self.pause = min(2 * self.pause, LONGEST_PAUSE) if few else 1
        self.waits = self.pause

    def _suppresses(self, classes: ClassesOfNode, marked: BoolArray) -> None:
        """Remember what specializations suppress at least."""
        rows = int(classes.sizes[marked].sum())
        if rows and isinstance(self.metric, Separable):
            below = self.suppressed[self.table.lattice.below(classes.node)]
            np.maximum(below, rows, out=below)

    def _is_not_worth_it(self, classes: ClassesOfNode, marked: BoolArray) -> bool:
        """Return whether histograms could not make a node the best, and seldom close others."""
        if self.best is None or 4 * self.refused > self.histograms:
            return False
        score = self.metric.score(classes, marked)
        if isinstance(self.metric, AverageClassSize):  # what is suppressed is one class more
            score = 1 / (1 / score + 1 / self.table.rows)
        return score > self.best.score * (1 + ROUNDING)

    def _is_worse(self, index: int, node: Node) -> bool:
        """Return whether the rows that a generalization suppresses alone make a node worse than the best."""
        suppressed = int(self.suppressed.flat[index])
        if self.best is None or not suppressed:
            return False
        assert isinstance(self.metric, Separable)
        return self.metric.bound_given(self.table, node, suppressed) > self.best.score + ROUNDING * abs(
            self.best.score
        )

    def _raise_bounds(self, classes: ClassesOfNode) -> None:
        """Raise the bounds of the generalizations of these classes, where class sizes are the score."""
        assert isinstance(self.metric, ClassSizeMetric)
        lowest = self.metric.above(classes, self.least)
        above = self.bounds.reshape(self.table.lattice.shape)[self.table.lattice.above(classes.node)]
        np.maximum(above, lowest, out=above)
        if self.best is not None:
            self.open &= self.bounds <= self.best.score

    def _look(self, node: Node) -> Counted | Classes:
        self._tell(1, node)
        return self.counter.classes(node)

    def _tell(self, looks: int, node: Node) -> None:
        """Report that this node, or some open nodes, are looked at."""
        before, self.checks = self.checks, self.checks + looks
        if before.bit_length() < self.checks.bit_length():  # 1, 2, 4, 8, ...
            self._raise_floor(node)
        for _ in range((before - 1) // self.each, (self.checks - 1) // self.each):
            self.on_progress("searching", self._share())

    def _share(self) -> float:
        """Estimate the part of all looks that was taken.

        Nodes close slower towards the end: each look to come closes about the root of what those since the
        first third did.
        """
        self.left.append(int(np.count_nonzero(self.open)))
        reports = len(self.left) - 1
        since = min(1 + 3 * reports // 10, reports)
        closed = (self.left[since] - self.left[-1]) / (self.each * max(reports - since, 1))
        return self.checks / (self.checks + self.left[-1] / math.sqrt(max(closed, 1)))

    def _raise_floor(self, node: Node) -> None:
        """Nothing below the lowest levels of the open nodes and of this one is looked at any more."""
        axes = range(len(self.table.lattice.shape))
        others = [tuple(other for other in axes if other != axis) for axis in axes]
        lowest = [int(self.grid.any(axis=axis).argmax()) for axis in others]
        self.counter.raise_floor(tuple(map(max, map(min, lowest, node), self.counter.base.node)))

    def _may_suppress_few(self, classes: ClassesOfNode, marked: BoolArray) -> bool:
        """Return whether some specialization of an infeasible node could be feasible."""
        if all(model.monotone for model in self.models) or (
            self.allowed == 0 and self.table.members is None  # without suppression every model is monotone
        ):
            return False
        if not classes.suppresses_few(violations(self.relaxations, classes), self.allowed):
            return False
        for model in self.models:
            if isinstance(model, TCloseness) and (held := classes.most_held(model.column)) is not None:
                lost = model.lost(classes, marked, held).sum()
                if int(self.table.fewest_people(np.array(lost))) > self.allowed:
                    return False
        return True

    def _accept(self, classes: ClassesOfNode, suppressed: BoolArray) -> None:
        """Keep a feasible node if it is the best so far, and close all nodes with a worse bound."""
        score = self.metric.score(classes, suppressed)
        best = self.best
        if best is None or (score, sum(classes.node)) < (best.score, sum(best.node)):
            self.best = Solution(
                node=classes.node,
                score=score,
                suppressed=int(classes.sizes[suppressed].sum()),
                people=classes.people_in(suppressed),
                classes=int(np.count_nonzero(classes.sizes[~suppressed])),
                checks=self.checks,
            )
            self.open &= self.bounds <= score
            if isinstance(self.metric, ClassSizeMetric):
                self.allowed = min(self.allowed, math.floor(self.metric.most_suppressed(self.table, score)))


def _infeasible(
    table: Tuples, models: Sequence[PrivacyModel], limit: float, on_progress: OnProgress
) -> InfeasibleError:
    """Return the error for a limit that no node meets.

    The nearest feasible one is rounded up to a tenth of a percent.

    Where all models are monotone it is that of the most general node.
    """
    least, grouper = table.people + 1, Grouper(table)
    top = [grouper.classes(table.lattice.top)] if all(model.monotone for model in models) else None
    for classes in top or walked(grouper, "finding the nearest limit", on_progress):
        suppressed = violations(models, classes)
        if classes.people[suppressed].all():
            least = min(least, classes.people_in(suppressed))
    if least > table.people:
        return InfeasibleError(
            "no generalization meets delta-presence, whatever is suppressed", remedy="widen its bounds"
        )
    return InfeasibleError(
        "no generalization meets the models while suppressing at most {limit:.1%} of the people",
        remedy="allow {nearest_limit:.1%}, or choose less",
        limit=limit,
        nearest_limit=least_limit(least, table.people),
    )
