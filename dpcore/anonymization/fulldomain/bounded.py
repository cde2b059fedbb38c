"""Search of a lattice that is too large to look through, with a bound of what all other
nodes lose.

A feasible node is above each closed one in some column, and its projections
(`projections`) together suppress no more than is allowed. The cheapest levels of which
that is true, found by an integer program, lose no more than the optimum does. Where
they are closed themselves, the most general closed nodes above them are added, and the
program is solved again; the way down from there ends at feasible nodes. Nodes that
suppress few rows and those that suppress many have a program each, since so many rows
add to what each column loses, at least. Source: implicit hitting sets (Moreno-Centeno
and Karp, 2013).
"""

import math
from dataclasses import replace

import numpy as np

from dpcore.anonymization.fulldomain.judge import Judge
from dpcore.anonymization.fulldomain.lattice import Node
from dpcore.anonymization.fulldomain.metrics import Separable
from dpcore.anonymization.fulldomain.projections import at, projections
from dpcore.anonymization.fulldomain.size import too_large
from dpcore.anonymization.models import violations

MOST_WORK = 1_000_000_000
"""Tuples that are grouped before a search ends: less than a minute."""
NODE_WORK = 20_000
"""What a node takes by itself, in tuples."""
RULE_WORK = 15_000
"""What each branch of a program takes for each of its rules, in tuples."""
BRANCHES = 50
"""Branches of one program, whose bound holds before it is solved."""
PARTS = 8
"""Programs by the number of rows that nodes suppress."""
VARIED = 3
"""Columns that are generalized and specialized again, in search of a better node."""
ENOUGH = 1e-4
"""Share of the score by which another node may be better when a search ends early."""


class BoundedSearch(Judge):
    """The best node of those that were looked at, and a bound of the others."""

    metric: Separable

    def run(self) -> None:
        """Look for the best node until no other can be much better, or the work is
        done.

        Raises: LimitError where no feasible node was seen, and there may be one.
        """
        self.top = self.table.lattice.top
        shape = self.table.lattice.shape
        self.level = np.concatenate([np.arange(levels) for levels in shape])
        self.column = np.repeat(np.arange(len(shape)), shape)
        # of one level each
        self.rules = [self.column == column for column in range(len(shape))]
        self.known: dict[Node, bool | None] = {}
        self.work = self.turn = 0
        self.most = sorted(
            {self.allowed * part // PARTS for part in range(1, PARTS + 1)}
        )
        self.least = [0.0] * len(self.most)
        self.levels, self.lost, self.rows, self.closed = projections(self, self.metric)
        gap = 1.0
        while self.work < MOST_WORK and gap > ENOUGH:
            node = self._cheapest(gap / 10)
            bound = min(self.least)
            if node is not None:
                self._learn(node)
                for _ in range(len(self.rules) // 10):
                    self._vary()
            elif self.best is None and bound == math.inf:  # every node is decided
                return
            if self.best is not None:
                gap = (
                    1 - min(bound / self.best.score, 1.0)
                    if self.best.score > 0
                    else 0.0
                )
        if self.best is None:
            raise too_large(self.table)
        self.best = replace(self.best, gap=gap)

    def share(self) -> float:
        return min(self.work / max(MOST_WORK, 1), 1.0)

    def _cheapest(self, tolerance: float) -> Node | None:
        """Raise what the nodes of one part lose at least, and return one that is cheap
        within a tolerance.
        """
        from scipy.optimize import LinearConstraint, milp

        part = int(np.argmin(self.least))
        fewest = np.array([self.most[part - 1] + 1 if part else 0])
        each = zip(self.column.tolist(), self.level.tolist(), strict=True)
        least = [
            self.metric.term_given(self.table, column, level, fewest)[0]
            for column, level in each
        ]
        # of which levels a projection is
        has = self.levels[:, self.column] == self.level
        costs = np.where(has, np.maximum(self.lost[:, self.column], least), 0).sum(
            axis=1
        )
        levels = np.zeros(len(self.level))
        rules = np.array(self.rules, dtype=np.float64)
        one = np.where(np.arange(len(rules)) < len(self.top), 1.0, np.inf)
        solved = milp(
            np.concatenate([levels, costs]),
            integrality=np.concatenate([levels + 1, 0 * costs]),
            bounds=(0, 1),
            constraints=[
                LinearConstraint(
                    np.hstack([rules, np.zeros((len(rules), len(costs)))]), 1, one
                ),
                LinearConstraint(np.hstack([-np.eye(len(levels)), has.T]), 0, 0),
                LinearConstraint(
                    np.concatenate([levels, self.rows]), -np.inf, self.most[part]
                ),
            ],
            options={"node_limit": BRANCHES, "mip_rel_gap": tolerance},
        )
        self.work += (1 + (solved.mip_node_count or 0)) * RULE_WORK * len(rules)
        # 2: without a solution
        bound = math.inf if solved.status == 2 else solved.mip_dual_bound or 0.0
        self.least[part] = max(
            self.least[part], float(self.metric.joined(np.array(bound)))
        )
        return (
            None
            if solved.x is None
            else tuple(self.level[solved.x[: len(levels)] > 0.5].tolist())
        )

    def _learn(self, node: Node) -> None:
        """Add the rules that these levels break, and look for a feasible node near
        them.
        """
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
        """Lower the columns of a node towards these levels while it is feasible, in a
        mixed order.
        """
        stopped = node
        for column in self._mixed():
            while node[column] > goal[column]:
                lower = at(node, [column], [node[column] - 1])
                if not self._decide(lower):
                    stopped = lower
                    break
                node = lower
        if self._decide(stopped) is False and not self._is_closed(stopped):
            self._close(stopped)

    def _mixed(self) -> list[int]:
        """Return the columns in another order each time, the same in each search."""
        self.turn += 1
        return sorted(
            range(len(self.top)),
            key=lambda each: (each + 1) * self.turn * math.sqrt(5) % 1,
        )

    def _close(self, node: Node) -> Node:
        """Raise a closed node while it is closed, the columns of most labels first, and
        return it.
        """
        labels = [self.table.widths[column][level] for column, level in enumerate(node)]
        order = np.argsort(labels, kind="stable")[::-1].tolist()
        for column in order:
            if self._decide(highest := at(node, [column], [self.top[column]])) is False:
                node = highest
        for column in order:
            while node[column] < self.top[column] and (
                self._decide(higher := at(node, [column], [node[column] + 1])) is False
            ):
                node = higher
        self.closed = np.vstack([self.closed, node])
        self.rules.append(self.level > np.array(node)[self.column])
        return node

    def _is_closed(self, node: Node) -> bool:
        """Return whether a rule says that nothing is feasible at or below a node."""
        return bool((self.closed >= node).all(axis=1).any())

    def _decide(self, node: Node) -> bool | None:
        """Return whether a node is feasible, False where it is closed, and None where a
        finer one may be.
        """
        if node not in self.known:
            self.known[node] = False if self._is_closed(node) else self._look(node)
        return self.known[node]

    def _look(self, node: Node) -> bool | None:
        self.work += len(self.counter.base.class_keys) + NODE_WORK
        classes = self.counted(node)
        marked = violations(self.plain, classes)
        if not classes.suppresses_few(marked, self.allowed):
            return False
        if self.decides_by_histogram:
            marked = violations(self.models, classes)
            if not (is_feasible := self.by_histogram(classes, marked)):
                return is_feasible
        self.keep(classes, marked, self.metric.score(classes, marked))
        return True
