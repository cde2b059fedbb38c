"""Exact search for the node with the lowest score that meets all models.

Every node has a lower bound of its score before its classes are counted, and counting
one node closes many others: an infeasible node closes all its specializations, a node
without suppression all its generalizations, a feasible one all nodes with a worse
bound. Models that need no histogram are checked first.
"""

import math
from collections.abc import Sequence

import numpy as np

from dpcore.anonymization._thresholds import max_people_in_share, min_limit
from dpcore.anonymization.closeness import TCloseness
from dpcore.anonymization.fulldomain._bounded import BoundedSearch
from dpcore.anonymization.fulldomain._judge import NodeSearch, Solution
from dpcore.anonymization.fulldomain.counter import CountedClasses, Counter
from dpcore.anonymization.fulldomain.lattice import Node
from dpcore.anonymization.fulldomain.metrics import (
    AverageClassSize,
    ClassSizeMetric,
    Discernibility,
    InformationLoss,
    Metric,
    SeparableMetric,
)
from dpcore.anonymization.fulldomain.size import MAX_NODES, too_large_error
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.models import KAnonymity, PrivacyModel, mark_violations
from dpcore.errors import InfeasibleError, UsageError
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.tables.classes import BoolArray, IntArray

MIN_CLOSED_NODES = 6
"""Nodes that a look at the smallest class should close, at least.

If it closes fewer, the pause until the next such look is doubled.
"""
MAX_PAUSE_NODES = 16
"""Infeasible nodes between two looks at a smallest class, at most."""
HISTOGRAMS_PER_SPARED_HISTOGRAM = 16
"""A check by score alone must spare one of so many histograms, to be continued."""
SCORE_TOLERANCE = 1e-12
"""Relative rounding error by which a bound may exceed the score that it bounds."""


def find_optimal_node(
    table: Tuples,
    models: Sequence[PrivacyModel],
    *,
    limit: float = 0.0,
    metric: Metric | None = None,
    on_progress: OnProgress = ignore_stage_progress,
) -> Solution:
    """Find the node with the lowest score within the suppression limit.

    If the lattice has too many nodes for an exact search, return a good node, with a
    bound on how much better another one can be.

    Args:
        table: the distinct tuples.
        models: all must hold in every published class.
        limit: largest share of the published people with a suppressed row, 0 to 1,
            rounded down to people.
        metric: the score; InformationLoss() by default.
        on_progress: gets the stage and the share done, from which the remaining time
            follows; an exception that it raises ends the search.

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
    allowed = max_people_in_share(limit, table.people)
    is_large = table.lattice.size > MAX_NODES
    if is_large and not isinstance(metric, SeparableMetric):
        raise too_large_error(table)
    kind: type[_ExactSearch | BoundedSearch] = (
        BoundedSearch if is_large else _ExactSearch
    )
    run = kind(table, models, allowed, metric, on_progress)
    run.run()
    if run.best is None:
        raise _infeasible_limit_error(table, models, limit, on_progress)
    return run.best


class _ExactSearch(NodeSearch):
    def run(self) -> None:
        """Find the node with the lowest score."""
        self.bounds = self.metric.bounds(self.table)
        lattice = self.table.lattice
        self.expected_scores = (
            self.table.log_collision_chances
            if isinstance(self.metric, Discernibility)
            else self.bounds
        )
        self.open = np.zeros(lattice.size, dtype=bool)
        self.grid = self.open.reshape(lattice.shape)
        self.grid[lattice.slices_above(self.table.floor)] = True
        self.histograms = self.refused = self.spared = 0
        # Number of open nodes at each progress report
        self.open_counts: list[int] = []
        self.is_bounding = isinstance(self.metric, ClassSizeMetric)
        # Infeasible nodes to skip before the size of the smallest class is checked again
        self.waits = 0
        self.pause = 1
        self.smallest_k = max(
            [1, *(model.k for model in self.plain if isinstance(model, KAnonymity))]
        )
        self.bisect_by_bound()
        if isinstance(self.metric, Discernibility):
            self.search_near_best()
        self.check_open_nodes()

    def bisect_by_bound(self) -> None:
        """Find a good feasible node early, by bisection of the nodes in order of bound.

        It treats feasibility as if it grew with the bound.
        """
        order = np.lexsort((self.table.lattice.total_levels, self.expected_scores))
        low = 0
        high = len(order)
        while low < high:
            middle = (low + high) // 2
            index = int(order[middle])
            if self.open[index]:
                feasible = self._check_node(index)
            else:
                feasible = (
                    self.best is not None and self.bounds[index] > self.best.score
                )
            low, high = (low, middle) if feasible else (middle + 1, high)

    def check_open_nodes(self) -> None:
        """Check the nodes that are still open, the most general ones first.

        If everything may be suppressed, the finest ones come first, since they bound
        the class sizes of all others.
        """
        left = self.open.nonzero()[0]
        total = self.table.lattice.total_levels
        if self.allowed < self.table.people:
            # The generalizations of all open nodes are closed at this point
            self.is_bounding = False
        ordered = left[
            np.lexsort(
                (self.bounds[left], total[left] if self.is_bounding else -total[left])
            )
        ]
        for index in ordered.tolist():
            if self.open[index]:
                self._check_node(index)

    def search_near_best(self) -> None:
        """Check open nodes in order of how close their score is to the best one's.

        Most others are then closed as too general, or not general enough.
        """
        while self.best is not None and self.open.any():
            best = self.best
            left = self.open.nonzero()[0]
            away = np.abs(
                self.expected_scores[left]
                - self.expected_scores[self.table.lattice.index(best.node)]
            )
            for index in left[np.lexsort((self.bounds[left], away))].tolist():
                if self.open[index]:
                    self._check_node(index)
                if self.best is not best:
                    break

    def _check_node(self, index: int) -> bool:
        """Check a node, close the nodes it rules out, and return whether it is
        feasible.
        """
        lattice = self.table.lattice
        node = lattice.node(index)
        self.open[index] = False
        classes = self._count_node(node)
        if self.is_bounding:
            self._raise_coarser_bounds(classes)
        # Check class sizes first; an infeasible node closes all finer ones
        marked = mark_violations(self.plain, classes)
        if not classes.suppresses_few(marked, self.allowed):
            self.grid[lattice.slices_below(node)] = False
            if not self.allowed:
                self._close_around_smallest(classes, marked)
            return False
        is_worth_a_look = (
            self.spared >= self.histograms // HISTOGRAMS_PER_SPARED_HISTOGRAM
        )
        score = (
            self._score_and_bound(classes, marked)
            if is_worth_a_look or not self.decides_by_histogram
            else 0.0
        )
        # Check the histograms of sensitive values if the score is low enough
        if self.decides_by_histogram:
            if is_worth_a_look and self._should_skip_histograms(score):
                self.spared += 1
                return True
            small = marked
            marked = mark_violations(self.models, classes)
            is_feasible = self.decide_by_histogram(classes, marked)
            self.histograms += 1
            self.refused += not is_feasible
            if is_feasible is False:
                self.grid[lattice.slices_below(node)] = False
            if not is_feasible or self._is_ruled_out_by_closeness(
                classes, small, marked
            ):
                return bool(is_feasible)
            score = self.metric.score(classes, marked)
        # If nothing is suppressed, no coarser node is better
        if not marked.any():
            self.grid[lattice.slices_above(node)] = False
        # A new best node closes all nodes with a worse bound
        if self.keep_if_best(classes, marked, score) and self.best is not None:
            score = self.best.score
            self.open &= self.bounds <= score
            if isinstance(self.metric, ClassSizeMetric):
                self.allowed = min(
                    self.allowed,
                    math.floor(self.metric.max_suppressed(self.table, score)),
                )
        return True

    def _close_around_smallest(
        self, classes: CountedClasses, is_violating: BoolArray
    ) -> None:
        """Close nodes where the smallest class, once merged, still has too few people.

        It is used if nothing may be suppressed.
        """
        people = classes.people[is_violating]
        self.waits -= 1
        if self.waits > 0 or people.min() >= self.smallest_k:
            return
        smallest = int(is_violating.nonzero()[0][people.argmin()])
        before = np.count_nonzero(self.open)
        self.grid &= (
            self.counter.bound_people_above(classes, smallest) >= self.smallest_k
        )
        few = before - np.count_nonzero(self.open) < MIN_CLOSED_NODES
        self.pause = min(2 * self.pause, MAX_PAUSE_NODES) if few else 1
        self.waits = self.pause

    def _score_and_bound(
        self, classes: CountedClasses, is_violating: BoolArray
    ) -> float:
        """Return the score of a node, and raise the bounds of its specializations.

        They suppress the same rows and more.
        """
        if not isinstance(self.metric, SeparableMetric) or not is_violating.any():
            return self.metric.score(classes, is_violating)
        places = is_violating.nonzero()[0]
        return self._raise_finer_bounds(classes, places, classes.sizes[places])

    def _raise_finer_bounds(
        self, classes: CountedClasses, class_numbers: IntArray, rows: IntArray
    ) -> float:
        """Raise the bounds of a node and all finer ones, given suppressed rows.

        Args:
            class_numbers: numbers of classes.
            rows: suppressed rows of each; specializations suppress them too.

        Returns: the bound of the node itself.
        """
        assert isinstance(self.metric, SeparableMetric)
        terms = self.metric.terms_up_to_node(classes, class_numbers, rows)
        below = self.table.lattice.slices_below(classes.node)
        least = self.metric.scores_from_sums(
            self.table.lattice.outer_sum(terms)
        ).reshape([*map(len, terms)])
        bounds = self.bounds.reshape(self.table.lattice.shape)[below]
        np.maximum(bounds, least * (1 - SCORE_TOLERANCE), out=bounds)
        if self.best is not None:
            self.grid[below] &= bounds <= self.best.score
        return float(least.flat[-1])

    def _is_ruled_out_by_closeness(
        self, classes: CountedClasses, is_small: BoolArray, is_violating: BoolArray
    ) -> bool:
        """Return whether t-closeness makes this node worse than the best one.

        Also raises the bounds on what this node and all finer ones must suppress.

        Args:
            is_small: classes that are suppressed whatever they hold.
        """
        close = [model for model in self.models if isinstance(model, TCloseness)]
        if (
            not close
            or not isinstance(self.metric, SeparableMetric)
            or self.table.members is not None
        ):
            return False
        lost = [
            model.min_suppressed(classes, is_violating, classes.histogram(model.column))
            for model in close
        ]
        rows = np.where(is_small, classes.sizes, np.max(lost, axis=0))
        places = rows.nonzero()[0]
        least = self._raise_finer_bounds(classes, places, rows[places])
        return self.best is not None and least * (1 - SCORE_TOLERANCE) > self.best.score

    def _should_skip_histograms(self, score: float) -> bool:
        """Return whether counting a node's histograms is unlikely to help the search.

        Args:
            score: a lower bound of the node's score.
        """
        if self.best is None or 4 * self.refused > self.histograms:
            return False
        # suppressed rows are one more class
        if isinstance(self.metric, AverageClassSize):
            score = 1 / (1 / score + 1 / self.table.rows)
        return score > self.best.score * (1 + SCORE_TOLERANCE)

    def _raise_coarser_bounds(self, classes: CountedClasses) -> None:
        """Raise the bounds of all coarser nodes, given this node's class sizes."""
        assert isinstance(self.metric, ClassSizeMetric)
        lowest = self.metric.bound_generalizations(classes, self.smallest_k)
        above = self.bounds.reshape(self.table.lattice.shape)[
            self.table.lattice.slices_above(classes.node)
        ]
        np.maximum(above, lowest, out=above)
        if self.best is not None:
            self.open &= self.bounds <= self.best.score

    def _count_node(self, node: Node) -> CountedClasses:
        if self.checks & (self.checks + 1) == 0:  # 0, 1, 3, 7, ...
            self._raise_floor(node)
        return self.count_classes(node)

    def finished_share(self) -> float:
        """Estimate the finished share of the search.

        Nodes close slower towards the end: each further check closes about the square
        root of the nodes that a check closed since the first third.
        """
        self.open_counts.append(int(np.count_nonzero(self.open)))
        reports = len(self.open_counts) - 1
        since = min(1 + 3 * reports // 10, reports)
        closed = (self.open_counts[since] - self.open_counts[-1]) / (
            self.nodes_per_report * max(reports - since, 1)
        )
        return self.checks / (
            self.checks + self.open_counts[-1] / math.sqrt(max(closed, 1))
        )

    def _raise_floor(self, node: Node) -> None:
        """Raise the counter's floor to the lowest level of any open node, by column."""
        axes = range(len(self.table.lattice.shape))
        other_axes = [tuple(other for other in axes if other != axis) for axis in axes]
        lowest = [int(self.grid.any(axis=others).argmax()) for others in other_axes]
        self.counter.raise_floor(
            tuple(map(max, map(min, lowest, node), self.counter.base.node))
        )


def _infeasible_limit_error(
    table: Tuples,
    models: Sequence[PrivacyModel],
    limit: float,
    on_progress: OnProgress,
) -> InfeasibleError:
    """Return the error for an infeasible limit, with the nearest feasible one.

    If all models are monotone, the nearest limit is that of the most general node; that
    node stands in for all if there are too many. It is rounded up to a tenth of a
    percent.
    """
    least = table.people + 1
    counter = Counter(table)
    size = table.lattice.size
    is_top = size > MAX_NODES or all(model.monotone for model in models)
    for index in range(size - 1 if is_top else 0, size):
        on_progress("searching", index / size)
        classes = counter.count_classes(table.lattice.node(index))
        suppressed = mark_violations(models, classes)
        if classes.people[suppressed].all():
            least = min(least, classes.count_people_in(suppressed))
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
        remedy="allow {nearest_limit:.1%}, or weaken the requirements",
        limit=limit,
        nearest_limit=min_limit(least, table.people),
    )
