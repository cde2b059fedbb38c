"""Decide whether single nodes are feasible, for all searches."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.anonymization.closeness import TCloseness
from dpcore.anonymization.fulldomain.counter import CountedClasses, Counter
from dpcore.anonymization.fulldomain.lattice import Node
from dpcore.anonymization.fulldomain.metrics import Metric
from dpcore.anonymization.fulldomain.size import nodes_per_report
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.models import (
    KAnonymity,
    PrivacyModel,
    SensitiveModel,
    mark_violations,
)
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.tables.classes import BoolArray


@dataclass(frozen=True, kw_only=True)
class Solution:
    """The best node: lowest score, then lowest sum of levels."""

    node: Node
    score: float
    suppressed_rows: int
    """Rows."""
    suppressed_people: int
    """People who have a suppressed row."""
    published_classes: int
    """Classes that are published."""
    checked_nodes: int = 0
    """Nodes that were grouped until it was found."""
    gap: float = 0.0
    """Relative gap to the bound: 0 if no other node is better."""


class NodeSearch:
    """Base class of the searches: checks single nodes and keeps the best so far.

    A node is feasible if the models hold while few people are suppressed.
    """

    def __init__(
        self,
        table: Tuples,
        models: Sequence[PrivacyModel],
        max_suppressed_people: int,
        metric: Metric,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> None:
        self.table = table
        self.models = tuple(models)
        self.allowed = max_suppressed_people
        self.metric = metric
        self.on_progress = on_progress
        self.nodes_per_report = nodes_per_report(table)
        self.best: Solution | None = None
        self.checks = 0
        self.relaxations = tuple(
            model.relaxation for model in models if model.relaxation is not None
        )
        self.counter = Counter(table)
        # monotone models that need no histogram decide most nodes
        plain = [
            model
            for model in models
            if model.monotone and not isinstance(model, SensitiveModel)
        ]
        if table.members is None:
            least = [
                model.min_class_size(table.secrets[model.column])
                for model in models
                if isinstance(model, SensitiveModel)
            ]
            plain += [KAnonymity(k=max(least))] if least else []
        self.plain = tuple(plain)
        self.decides_by_histogram = not set(models) <= set(plain)

    def finished_share(self) -> float:
        """Estimate the finished share of the search."""
        return 0.0

    def count_classes(self, node: Node) -> CountedClasses:
        """Count the classes of a node, and report progress from time to time."""
        self.checks += 1
        if self.checks % self.nodes_per_report == 1 % self.nodes_per_report:
            self.on_progress("searching", self.finished_share())
        return self.counter.count_classes(node)

    def decide_by_histogram(
        self, classes: CountedClasses, is_violating: BoolArray
    ) -> bool | None:
        """Return whether a node is feasible, None if only a finer node may be.

        False means that no finer node is feasible either.

        Args:
            is_violating: (classes,) those that violate a model.
        """
        if (classes.people[is_violating] == 0).any():
            return False
        if classes.suppresses_few(is_violating, self.allowed):
            return True
        return None if self._may_suppress_few(classes, is_violating) else False

    def _may_suppress_few(
        self, classes: CountedClasses, is_violating: BoolArray
    ) -> bool:
        """Return whether a specialization of an infeasible node can be feasible."""
        if all(model.monotone for model in self.models) or (
            # Every model is monotone if nothing may be suppressed
            self.allowed == 0 and self.table.members is None
        ):
            return False
        if not classes.suppresses_few(
            mark_violations(self.relaxations, classes), self.allowed
        ):
            return False
        for model in self.models:
            if isinstance(model, TCloseness):
                lost = model.min_suppressed(
                    classes, is_violating, classes.upper_histogram(model.column)
                ).sum()
                if int(self.table.fewest_people(np.array(lost))) > self.allowed:
                    return False
        return True

    def keep_if_best(
        self, classes: CountedClasses, suppressed: BoolArray, score: float
    ) -> bool:
        """Keep a feasible node if it is the best so far, and return whether it is."""
        best = self.best
        if best is not None and (score, sum(classes.node)) >= (
            best.score,
            sum(best.node),
        ):
            return False
        self.best = Solution(
            node=classes.node,
            score=score,
            suppressed_rows=int(classes.sizes[suppressed].sum()),
            suppressed_people=classes.count_people_in(suppressed),
            published_classes=int(np.count_nonzero(classes.sizes[~suppressed])),
            checked_nodes=self.checks,
        )
        return True
