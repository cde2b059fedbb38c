"""Search of the optimal node for models, a suppression limit and a metric.

Every node has a lower bound of its score before its classes are known, and one look at
a node closes many others: an infeasible node all its specializations, a node without
suppression all its generalizations, a feasible one all nodes with a worse bound. What
models without a histogram decide is looked at first.
"""

import math
from collections.abc import Sequence

import numpy as np

from dpcore.anonymization.closeness import TCloseness
from dpcore.anonymization.fulldomain.bounded import BoundedSearch
from dpcore.anonymization.fulldomain.counter import Counted, Counter
from dpcore.anonymization.fulldomain.judge import Judge, Solution
from dpcore.anonymization.fulldomain.lattice import Node
from dpcore.anonymization.fulldomain.metrics import (
    AverageClassSize,
    ClassSizeMetric,
    Discernibility,
    InformationLoss,
    Metric,
    Separable,
)
from dpcore.anonymization.fulldomain.size import MOST_NODES, too_large
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.models import KAnonymity, PrivacyModel, violations
from dpcore.anonymization.thresholds import least_limit, most_within
from dpcore.errors import InfeasibleError, UsageError
from dpcore.progress import OnProgress, silent
from dpcore.tables.classes import BoolArray, IntArray

WORTHWHILE = 6
"""Nodes that a look at one class should close; else the pause until the next such look
is doubled.
"""
LONGEST_PAUSE = 16
SELDOM = 16
"""Histograms of which a look at small classes should spare one, to be worth it."""
ROUNDING = 1e-12
"""By which a bound that is calculated otherwise may be above a score."""


def search(
    table: Tuples,
    models: Sequence[PrivacyModel],
    *,
    limit: float = 0.0,
    metric: Metric | None = None,
    on_progress: OnProgress = silent,
) -> Solution:
    """Find the node with the least information loss at which few people have a
    suppressed row.

    Of a lattice with too many nodes to look through, a good one, with a bound of what
    others lose.

    Args:
        table: the distinct tuples.
        models: all must hold in every class that is kept.
        limit: share of the published people who may have a suppressed row, 0 to 1,
            rounded down to people.
        metric: InformationLoss() where none is given.
        on_progress: gets the stage and the share done, from which the time that is left
            follows; what it raises ends the search.

    Raises: ParameterError for a limit outside 0 to 1, LimitError for too large a
        lattice under a metric that is no sum over the columns, InfeasibleError when no
        node meets the limit (the nearest feasible one is in
        `details["nearest_limit"]`).
    """
    if not 0 <= limit <= 1:
        raise UsageError(
            f"limit ({limit:g}) must be between 0 and 1",
            remedy="give a share of people",
        )
    metric = metric or InformationLoss()
    allowed = most_within(limit, table.people)
    is_large = table.lattice.size > MOST_NODES
    if is_large and not isinstance(metric, Separable):
        raise too_large(table)
    kind: type[_Search | BoundedSearch] = BoundedSearch if is_large else _Search
    run = kind(table, models, allowed, metric, on_progress)
    run.run()
    if run.best is None:
        raise _infeasible(table, models, limit, on_progress)
    return run.best


class _Search(Judge):
    def run(self) -> None:
        """Find the optimum."""
        self.bounds = self.metric.bounds(self.table)
        lattice = self.table.lattice
        self.guesses = (
            self.table.collisions
            if isinstance(self.metric, Discernibility)
            else self.bounds
        )
        self.open = np.ones(lattice.size, dtype=bool)
        self.grid = self.open.reshape(lattice.shape)
        self.histograms = self.refused = self.spared = 0
        # nodes that were open each time that progress was reported
        self.left: list[int] = []
        self.is_bounding = isinstance(self.metric, ClassSizeMetric)
        # until one class is looked at again
        self.waits = 0
        self.pause = 1
        self.least = max(
            [1, *(each.k for each in self.plain if isinstance(each, KAnonymity))]
        )
        self.bisect()
        if isinstance(self.metric, Discernibility):
            self.close_in()
        self.descend()

    def bisect(self) -> None:
        """Find a good feasible node early, by halving the nodes by bound, as if
        feasibility followed it.
        """
        order = np.lexsort((self.table.lattice.total_levels, self.guesses))
        low = 0
        high = len(order)
        while low < high:
            middle = (low + high) // 2
            index = int(order[middle])
            if self.open[index]:
                feasible = self._check(index)
            else:
                feasible = (
                    self.best is not None and self.bounds[index] > self.best.score
                )
            low, high = (low, middle) if feasible else (middle + 1, high)

    def descend(self) -> None:
        """Check what is still open, the most general nodes first.

        Where everything may be suppressed, the finest ones bound the class sizes of all
        others.
        """
        left = self.open.nonzero()[0]
        total = self.table.lattice.total_levels
        if self.allowed < self.table.people:
            # the generalizations of an open node are closed by now
            self.is_bounding = False
        ordered = left[
            np.lexsort(
                (self.bounds[left], total[left] if self.is_bounding else -total[left])
            )
        ]
        for index in ordered.tolist():
            if self.open[index]:
                self._check(index)

    def close_in(self) -> None:
        """Check what is still open, the nodes most similar to the best one first.

        Most others are then closed as too general, or not general enough.
        """
        while self.best is not None and self.open.any():
            best = self.best
            left = self.open.nonzero()[0]
            away = np.abs(
                self.guesses[left] - self.guesses[self.table.lattice.index(best.node)]
            )
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
        classes = self._look(node)
        if self.is_bounding:
            self._raise_bounds(classes)
        marked = violations(self.plain, classes)
        if not classes.suppresses_few(marked, self.allowed):
            self.grid[lattice.below(node)] = False
            if not self.allowed:
                self._close_around(classes, marked)
            return False
        is_worth_a_look = self.spared >= self.histograms // SELDOM
        score = (
            self._score(classes, marked)
            if is_worth_a_look or not self.decides_by_histogram
            else 0.0
        )
        if self.decides_by_histogram:
            if is_worth_a_look and self._is_not_worth_it(score):
                self.spared += 1
                return True
            small = marked
            marked = violations(self.models, classes)
            is_feasible = self.by_histogram(classes, marked)
            self.histograms += 1
            self.refused += not is_feasible
            if is_feasible is False:
                self.grid[lattice.below(node)] = False
            if not is_feasible or self._is_bounded(classes, small, marked):
                return bool(is_feasible)
            score = self.metric.score(classes, marked)
        if not marked.any():
            self.grid[lattice.above(node)] = False
        if self.keep(classes, marked, score) and self.best is not None:
            score = self.best.score
            self.open &= self.bounds <= score
            if isinstance(self.metric, ClassSizeMetric):
                self.allowed = min(
                    self.allowed,
                    math.floor(self.metric.most_suppressed(self.table, score)),
                )
        return True

    def _close_around(self, classes: Counted, marked: BoolArray) -> None:
        """Close nodes by the smallest class where nothing may be suppressed, which
        decides many of them.
        """
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

    def _score(self, classes: Counted, marked: BoolArray) -> float:
        """Return the score of a node, and bound those of its specializations, which
        suppress these too.
        """
        if not isinstance(self.metric, Separable) or not marked.any():
            return self.metric.score(classes, marked)
        places = marked.nonzero()[0]
        return self._bound(classes, places, classes.sizes[places])

    def _bound(self, classes: Counted, marked: IntArray, rows: IntArray) -> float:
        """Bound a node and its specializations, which suppress so many rows of some of
        its classes.
        """
        assert isinstance(self.metric, Separable)
        terms = self.metric.terms_above(classes, marked, rows)
        below = self.table.lattice.below(classes.node)
        least = self.metric.joined(self.table.lattice.outer_sum(terms)).reshape(
            [*map(len, terms)]
        )
        bounds = self.bounds.reshape(self.table.lattice.shape)[below]
        np.maximum(bounds, least * (1 - ROUNDING), out=bounds)
        if self.best is not None:
            self.grid[below] &= bounds <= self.best.score
        return float(least.flat[-1])

    def _is_bounded(
        self, classes: Counted, small: BoolArray, marked: BoolArray
    ) -> bool:
        """Bound specializations by what t-closeness suppresses there too, and say if
        the node is worse.

        Args:
            small: classes that are suppressed whatever they hold.
        """
        close = [model for model in self.models if isinstance(model, TCloseness)]
        if (
            not close
            or not isinstance(self.metric, Separable)
            or self.table.members is not None
        ):
            return False
        lost = [
            model.lost(classes, marked, classes.histogram(model.column))
            for model in close
        ]
        rows = np.where(small, classes.sizes, np.max(lost, axis=0))
        places = rows.nonzero()[0]
        least = self._bound(classes, places, rows[places])
        return self.best is not None and least * (1 - ROUNDING) > self.best.score

    def _is_not_worth_it(self, score: float) -> bool:
        """Return whether histograms could not make a node the best, and seldom close
        others.

        Args:
            score: at least.
        """
        if self.best is None or 4 * self.refused > self.histograms:
            return False
        # what is suppressed is one class more
        if isinstance(self.metric, AverageClassSize):
            score = 1 / (1 / score + 1 / self.table.rows)
        return score > self.best.score * (1 + ROUNDING)

    def _raise_bounds(self, classes: Counted) -> None:
        """Raise the bounds of the generalizations of these classes, where class sizes
        are the score.
        """
        assert isinstance(self.metric, ClassSizeMetric)
        lowest = self.metric.above(classes, self.least)
        above = self.bounds.reshape(self.table.lattice.shape)[
            self.table.lattice.above(classes.node)
        ]
        np.maximum(above, lowest, out=above)
        if self.best is not None:
            self.open &= self.bounds <= self.best.score

    def _look(self, node: Node) -> Counted:
        if self.checks & (self.checks + 1) == 0:  # 0, 1, 3, 7, ...
            self._raise_floor(node)
        return self.counted(node)

    def share(self) -> float:
        """Estimate the part of all looks that was taken.

        Nodes close slower towards the end: each look to come closes about the root of
        what those since the first third did.
        """
        self.left.append(int(np.count_nonzero(self.open)))
        reports = len(self.left) - 1
        since = min(1 + 3 * reports // 10, reports)
        closed = (self.left[since] - self.left[-1]) / (
            self.each * max(reports - since, 1)
        )
        return self.checks / (self.checks + self.left[-1] / math.sqrt(max(closed, 1)))

    def _raise_floor(self, node: Node) -> None:
        """Nothing below the lowest levels of the open nodes and of this one is looked
        at any more.
        """
        axes = range(len(self.table.lattice.shape))
        others = [tuple(other for other in axes if other != axis) for axis in axes]
        lowest = [int(self.grid.any(axis=axis).argmax()) for axis in others]
        self.counter.raise_floor(
            tuple(map(max, map(min, lowest, node), self.counter.base.node))
        )


def _infeasible(
    table: Tuples,
    models: Sequence[PrivacyModel],
    limit: float,
    on_progress: OnProgress,
) -> InfeasibleError:
    """Return the error for a limit that no node meets.

    The nearest feasible one is rounded up to a tenth of a percent.

    Where all models are monotone it is that of the most general node, which stands for
    it where nodes are too many.
    """
    least = table.people + 1
    counter = Counter(table)
    size = table.lattice.size
    is_top = size > MOST_NODES or all(model.monotone for model in models)
    for index in range(size - 1 if is_top else 0, size):
        on_progress("searching", index / size)
        classes = counter.classes(table.lattice.node(index))
        suppressed = violations(models, classes)
        if classes.people[suppressed].all():
            least = min(least, classes.people_in(suppressed))
    if least > table.people:
        return InfeasibleError(
            "no generalization meets delta-presence, whatever is suppressed",
            remedy="widen its bounds",
        )
    return InfeasibleError(
        (
            "no generalization meets the models while suppressing at most "
            "{limit:.1%} of "
            "the people"
        ),
        remedy="allow {nearest_limit:.1%}, or choose less",
        limit=limit,
        nearest_limit=least_limit(least, table.people),
    )
