"""Decisions about single nodes, which every search makes alike."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.anonymization.closeness import TCloseness
from dpcore.anonymization.fulldomain.counter import Counted, Counter
from dpcore.anonymization.fulldomain.lattice import Node
from dpcore.anonymization.fulldomain.metrics import Metric
from dpcore.anonymization.fulldomain.size import progress_each
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.models import (
    KAnonymity,
    PrivacyModel,
    SensitiveModel,
    violations,
)
from dpcore.progress import OnProgress, silent
from dpcore.tables.classes import BoolArray


@dataclass(frozen=True, kw_only=True)
class Solution:
    """The best node, of the lowest score and, among equal scores, of the lowest sum of
    levels.
    """

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
    gap: float = 0.0
    """The share of the score, at most, by which another node may be better; 0 where
    none is.
    """


class Judge:
    """Decisions whether nodes meet models while few people are suppressed, and the best
    node so far.
    """

    def __init__(
        self,
        table: Tuples,
        models: Sequence[PrivacyModel],
        allowed: int,
        metric: Metric,
        on_progress: OnProgress = silent,
    ) -> None:
        self.table = table
        self.models = tuple(models)
        self.allowed = allowed
        self.metric = metric
        self.on_progress = on_progress
        self.each = progress_each(table)
        self.best: Solution | None = None
        self.checks = 0
        self.relaxations = tuple(
            model.relaxation for model in models if model.relaxation is not None
        )
        self.counter = Counter(table)
        # without histograms of sensitive values, and monotone: what decides most nodes
        plain = [
            each
            for each in models
            if each.monotone and not isinstance(each, SensitiveModel)
        ]
        if table.members is None:
            least = [
                each.fewest(table.secrets[each.column])
                for each in models
                if isinstance(each, SensitiveModel)
            ]
            plain += [KAnonymity(k=max(least))] if least else []
        self.plain = tuple(plain)
        self.decides_by_histogram = not set(models) <= set(plain)

    def share(self) -> float:
        """Estimate the part of the search that is done."""
        return 0.0

    def counted(self, node: Node) -> Counted:
        """Count the classes of a node, and tell from time to time how far the search
        is.
        """
        self.checks += 1
        if self.checks % self.each == 1 % self.each:
            self.on_progress("searching", self.share())
        return self.counter.classes(node)

    def by_histogram(self, classes: Counted, marked: BoolArray) -> bool | None:
        """Return whether a node is feasible, False where no finer one is either, and
        None where one may be.

        Args:
            marked: (classes,) those that violate a model.
        """
        if (classes.people[marked] == 0).any():
            return False
        if classes.suppresses_few(marked, self.allowed):
            return True
        return None if self._may_suppress_few(classes, marked) else False

    def _may_suppress_few(self, classes: Counted, marked: BoolArray) -> bool:
        """Return whether some specialization of an infeasible node could be
        feasible.
        """
        if all(model.monotone for model in self.models) or (
            # without suppression every model is monotone
            self.allowed == 0 and self.table.members is None
        ):
            return False
        if not classes.suppresses_few(
            violations(self.relaxations, classes), self.allowed
        ):
            return False
        for model in self.models:
            if isinstance(model, TCloseness):
                lost = model.lost(
                    classes, marked, classes.most_held(model.column)
                ).sum()
                if int(self.table.fewest_people(np.array(lost))) > self.allowed:
                    return False
        return True

    def keep(self, classes: Counted, suppressed: BoolArray, score: float) -> bool:
        """Keep a feasible node of this score if it is the best so far, and return
        whether it is.
        """
        best = self.best
        if best is not None and (score, sum(classes.node)) >= (
            best.score,
            sum(best.node),
        ):
            return False
        self.best = Solution(
            node=classes.node,
            score=score,
            suppressed=int(classes.sizes[suppressed].sum()),
            people=classes.people_in(suppressed),
            classes=int(np.count_nonzero(classes.sizes[~suppressed])),
            checks=self.checks,
        )
        return True
