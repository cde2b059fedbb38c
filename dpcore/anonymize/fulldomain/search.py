"""The optimal node for one question: models, suppression limit, metric.

Every node has a lower bound of its score before its classes are known, and one look at a node closes many
others: an infeasible node all its specializations, a node without suppression all its generalizations, a
feasible one all nodes with a worse bound. Without suppression and with a separable metric the bound is the
score, so that nodes are taken in the order of their bounds; a class that violates a model then closes every
node at which it does so still.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.anonymize.fulldomain.grouper import Classes, Grouper
from dpcore.anonymize.fulldomain.lattice import Node
from dpcore.anonymize.fulldomain.metrics import InformationLoss, Metric, Separable
from dpcore.anonymize.fulldomain.neighborhood import Neighborhoods
from dpcore.anonymize.fulldomain.size import check_size
from dpcore.anonymize.fulldomain.tuples import Tuples
from dpcore.anonymize.models import PrivacyModel, SensitiveModel, violations
from dpcore.errors import InfeasibleError, ParameterError
from dpcore.tables.classes import BoolArray


@dataclass(frozen=True, kw_only=True)
class Solution:
    """The optimal node: lowest score; of equal scores, the lowest sum of levels."""

    node: Node
    score: float
    suppressed: int
    """Rows."""
    people: int
    """People who have a suppressed row."""
    classes: int
    """Classes that are kept."""
    checks: int
    """Nodes that were grouped until it was found."""


def search(
    table: Tuples, models: Sequence[PrivacyModel], *, limit: float = 0.0, metric: Metric | None = None
) -> Solution:
    """Find the node with the least information loss at which few people have a suppressed row.

    Args:
        models: all must hold in every class that is kept.
        limit: share of the published people who may have a suppressed row, 0 to 1, rounded down to people.
        metric: InformationLoss() where none is given.

    Raises: ParameterError for a limit outside 0 to 1, LimitError for too large a lattice, InfeasibleError
        when no node meets the limit (the nearest feasible one is in `details["nearest_limit"]`).
    """
    if not 0 <= limit <= 1:
        raise ParameterError(
            "limit ({limit:g}) must be between 0 and 1", remedy="give a share of people", limit=limit
        )
    check_size(table)
    metric = metric or InformationLoss()
    allowed = math.floor(limit * table.people)
    run = _Search(table, tuple(models), allowed, metric)
    if allowed == 0 and isinstance(metric, Separable):
        run.ascend()
    else:
        run.bisect()
        run.descend()
    if run.best is None:
        raise _infeasible(table, models, limit)
    return run.best


class _Search:
    def __init__(self, table: Tuples, models: tuple[PrivacyModel, ...], allowed: int, metric: Metric) -> None:
        self.table, self.models, self.allowed, self.metric = table, models, allowed, metric
        self.relaxations = tuple(model.relaxation for model in models if model.relaxation is not None)
        self.grouper = Grouper(table)
        # without histograms of sensitive values, and monotone: what decides most nodes
        self.plain = tuple(each for each in models if each.monotone and not isinstance(each, SensitiveModel))
        self.bounds = metric.bounds(table)
        self.open = np.ones(table.lattice.size, dtype=bool)
        self.grid = self.open.reshape(table.lattice.shape)
        self.best: Solution | None = None
        self.checks = 0

    def ascend(self) -> None:
        """Take the open node with the lowest bound until one is feasible, which then is optimal."""
        lattice = self.table.lattice
        neighborhoods = Neighborhoods(self.table)
        for index in np.lexsort((lattice.total_levels, self.bounds)).tolist():
            if not self.open[index]:
                continue
            node = lattice.node(index)
            classes = self._look(node)
            blocking = self._blocking(classes)
            if blocking is None:
                self._accept(classes, np.zeros(len(classes.people), dtype=bool))
                return
            model, key = blocking
            self.open &= ~model.violations(neighborhoods.of(key, node))

    def _blocking(self, classes: Classes) -> tuple[PrivacyModel, int] | None:
        """The first model that some class violates, and the key of the smallest class that does."""
        for model in self.models:
            marked = model.violations(classes).nonzero()[0]
            if len(marked):
                return model, int(classes.class_keys[marked[classes.people[marked].argmin()]])
        return None

    def bisect(self) -> None:
        """Find a good feasible node early: halve the nodes by bound, as if feasibility followed it."""
        order = np.lexsort((self.table.lattice.total_levels, self.bounds))
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
        """Check what is still open, the most general nodes first."""
        for index in np.lexsort((self.bounds, -self.table.lattice.total_levels)).tolist():
            if self.open[index]:
                self._check(index)

    def _check(self, index: int) -> bool:
        """Group one node, close what that decides, and say whether it is feasible."""
        lattice = self.table.lattice
        node = lattice.node(index)
        classes = self._look(node)
        self.open[index] = False
        self._raise_bounds(classes)
        if self.plain and len(self.plain) < len(self.models):
            few = classes.suppresses_few(violations(self.plain, classes), self.allowed)
            if not few:
                self.grid[lattice.below(node)] = False
                return False
        suppressed = violations(self.models, classes)
        blocked = bool((classes.people[suppressed] == 0).any())
        if blocked or not classes.suppresses_few(suppressed, self.allowed):
            if blocked or not self._may_suppress_few(classes):
                self.grid[lattice.below(node)] = False
            return False
        if not suppressed.any():
            self.grid[lattice.above(node)] = False
        self._accept(classes, suppressed)
        return True

    def _raise_bounds(self, classes: Classes) -> None:
        """Where class sizes are the score: no generalization scores less than these classes, all kept."""
        if not isinstance(self.metric, Separable):
            lowest = self.metric.score(classes, np.zeros(len(classes.sizes), dtype=bool))
            above = self.bounds.reshape(self.table.lattice.shape)[self.table.lattice.above(classes.node)]
            np.maximum(above, lowest, out=above)
            if self.best is not None:
                self.open &= self.bounds <= self.best.score

    def _look(self, node: Node) -> Classes:
        self.checks += 1
        return self.grouper.classes(node)

    def _may_suppress_few(self, classes: Classes) -> bool:
        """Whether some specialization of an infeasible node could be feasible."""
        if all(model.monotone for model in self.models) or (
            self.allowed == 0 and self.table.members is None  # without suppression every model is monotone
        ):
            return False
        return classes.suppresses_few(violations(self.relaxations, classes), self.allowed)

    def _accept(self, classes: Classes, suppressed: BoolArray) -> None:
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


def _infeasible(table: Tuples, models: Sequence[PrivacyModel], limit: float) -> InfeasibleError:
    """For a limit that no node meets; the nearest feasible one is rounded up to a tenth of a percent."""
    least = table.people + 1
    for classes in Grouper(table).walk():
        suppressed = violations(models, classes)
        if classes.people[suppressed].all():
            least = min(least, classes.people_in(suppressed))
    if least > table.people:
        return InfeasibleError(
            "no generalization meets delta-presence, whatever is suppressed", remedy="widen its bounds"
        )
    nearest = math.ceil(least / table.people * 1000) / 1000
    return InfeasibleError(
        "no generalization meets the models while suppressing at most {limit:.1%} of the people",
        remedy="allow {nearest_limit:.1%}, or weaken the models",
        limit=limit,
        nearest_limit=nearest,
    )
