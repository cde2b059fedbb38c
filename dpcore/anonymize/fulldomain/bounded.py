"""Search of a lattice that is too large to look through, with a bound of what all other nodes lose.

A feasible node is above each closed one in some column. The cheapest levels of which that is true, found by
an integer program, lose no more than the optimum does. Where they are closed themselves, the most general
closed nodes above them are added, and the program is solved again; the way down from there ends at feasible
nodes. Source: implicit hitting sets (Moreno-Centeno and Karp, 2013).
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpcore.anonymize.fulldomain.judge import Judge
from dpcore.anonymize.fulldomain.lattice import Node
from dpcore.anonymize.fulldomain.metrics import Separable
from dpcore.anonymize.fulldomain.size import progress_each, too_large
from dpcore.anonymize.fulldomain.tuples import Tuples
from dpcore.anonymize.models import PrivacyModel, violations
from dpcore.progress import OnProgress

MOST_WORK = 1_000_000_000
"""Tuples that are grouped before a search ends: less than a minute."""
NODE_WORK = 20_000
"""What a node takes by itself, in tuples."""
RULE_WORK = 800
"""What a program takes for each pair of its rules, in tuples."""
BRANCHES = 50
"""Branches of one program, whose bound holds before it is solved."""
VARIED = 3
"""Columns that are generalized and specialized again, in search of a better node."""
ENOUGH = 1e-4
"""Share of the score by which another node may be better when a search ends early."""


class BoundedSearch(Judge):
    """The best node of those that were looked at, and a bound of the others."""

    def __init__(
        self,
        table: Tuples,
        models: Sequence[PrivacyModel],
        allowed: int,
        metric: Separable,
        on_progress: OnProgress,
    ) -> None:
        super().__init__(table, models, allowed, metric)
        self.joined, self.on_progress, self.top = metric.joined, on_progress, table.lattice.top
        terms = [metric.terms(table, column) for column in range(len(self.top))]
        self.costs = np.concatenate(terms)
        self.level = np.concatenate([np.arange(len(term)) for term in terms])
        self.column = np.repeat(np.arange(len(terms)), [len(term) for term in terms])
        self.rules = [self.column == column for column in range(len(terms))]  # of one level each
        self.closed = np.empty((0, len(terms)), dtype=np.int64)
        self.known: dict[Node, bool | None] = {}
        self.work = self.turn = 0
        self.each = progress_each(table)

    def run(self) -> None:
        """Look for the best node until no other can be much better, or the work is done.

        Raises: LimitError where no feasible node was seen, and there may be one.
        """
        bound, gap = -math.inf, 1.0
        while self.work < MOST_WORK and gap > ENOUGH:
            self.work += RULE_WORK * len(self.rules) ** 2
            node, least = self._cheapest(gap / 10)
            bound = max(bound, least)
            if node is not None:
                self._learn(node)
                for _ in range(len(self.rules) // 10):
                    self._vary()
            elif self.best is None:
                return
            if self.best is not None:
                gap = 1 - min(bound / self.best.score, 1.0) if self.best.score > 0 else 0.0
        if self.best is None:
            raise too_large(self.table)
        self.best = replace(self.best, gap=gap)

    def _cheapest(self, tolerance: float) -> tuple[Node | None, float]:
        """Return a node that is cheap within a tolerance, and what all others lose at least."""
        from scipy.optimize import LinearConstraint, milp

        most = np.where(np.arange(len(self.rules)) < len(self.top), 1.0, np.inf)
        solved = milp(
            self.costs,
            integrality=np.ones(len(self.costs)),
            bounds=(0, 1),
            constraints=LinearConstraint(np.array(self.rules, dtype=np.float64), 1, most),
            options={"node_limit": BRANCHES, "mip_rel_gap": tolerance},
        )
        if solved.x is None:  # every node is decided
            return None, math.inf
        node = tuple(self.level[solved.x > 0.5].tolist())
        return node, float(self.joined(np.array(solved.mip_dual_bound)))

    def _learn(self, node: Node) -> None:
        """Add the rules that these levels break, and look for a feasible node near them."""
        if self._decide(node) is not False:
            self.rules.append(self.level != np.array(node)[self.column])
        above = node
        while self._decide(above) is False:
            general = self._close(above)
            if general == self.top:
                return
            reached = zip(above, general, self.top, strict=True)
            above = tuple(level if far == top else top for level, far, top in reached)
        self._descend(above, node)

    def _vary(self) -> None:
        """Look for a better node near the best one."""
        node = np.array(self.top if self.best is None else self.best.node)
        some = self._mixed()[:VARIED]
        node[some] = np.array(self.top)[some]
        self._descend(tuple(node.tolist()), (0,) * len(node))

    def _descend(self, node: Node, goal: Node) -> None:
        """Lower the columns of a node towards these levels while it is feasible, in a mixed order."""
        stopped = node
        for column in self._mixed():
            while node[column] > goal[column]:
                lower = _at(node, column, node[column] - 1)
                if not self._decide(lower):
                    stopped = lower
                    break
                node = lower
        if self._decide(stopped) is False and not self._is_closed(stopped):
            self._close(stopped)

    def _mixed(self) -> list[int]:
        """Return the columns in another order each time, the same in each search."""
        self.turn += 1
        return sorted(range(len(self.top)), key=lambda each: (each + 1) * self.turn * math.sqrt(5) % 1)

    def _close(self, node: Node) -> Node:
        """Raise a closed node while it is closed, the columns of most labels first, and return it."""
        labels = [self.table.widths[column][level] for column, level in enumerate(node)]
        order = np.argsort(labels, kind="stable")[::-1].tolist()
        for column in order:
            if self._decide(highest := _at(node, column, self.top[column])) is False:
                node = highest
        for column in order:
            while node[column] < self.top[column] and (
                self._decide(higher := _at(node, column, node[column] + 1)) is False
            ):
                node = higher
        self.closed = np.vstack([self.closed, node])
        self.rules.append(self.level > np.array(node)[self.column])
        return node

    def _is_closed(self, node: Node) -> bool:
        """Return whether a rule says that nothing is feasible at or below a node."""
        return bool((self.closed >= node).all(axis=1).any())

    def _decide(self, node: Node) -> bool | None:
        """Return whether a node is feasible, False where it is closed, and None where a finer one may be."""
        if node not in self.known:
            self.known[node] = False if self._is_closed(node) else self._look(node)
        return self.known[node]

    def _look(self, node: Node) -> bool | None:
        if self.checks % self.each == 0:
            self.on_progress("searching", min(self.work / MOST_WORK, 1.0))
        self.checks += 1
        self.work += len(self.counter.base.class_keys) + NODE_WORK
        classes = self.counter.classes(node)
        marked = violations(self.plain, classes)
        if not classes.suppresses_few(marked, self.allowed):
            return False
        if self.decides_by_histogram:
            marked = violations(self.models, classes)
            if not (is_feasible := self.by_histogram(classes, marked)):
                return is_feasible
        self.keep(classes, marked, self.metric.score(classes, marked))
        return True


def _at(node: Node, column: int, level: int) -> Node:
    return (*node[:column], level, *node[column + 1 :])
