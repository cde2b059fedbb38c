"""Search a lattice too large for exact search, and bound the optimum.

A feasible node is above each closed one in some column, and its projections
(`measure_projections`) together suppress no more than is allowed. The cheapest levels with this
property are found by an integer program; they lose no more than the optimum does. If
they are closed themselves, the most general closed nodes above them become further
rules, and the program is solved again. From there the search goes down to feasible
nodes. Suppressed rows add a least loss to each column, so that nodes are divided by how
many rows they suppress, with one program for each part. Source: implicit hitting sets
(Moreno-Centeno and Karp, 2013).
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpcore.anonymization.fulldomain._judge import NodeSearch
from dpcore.anonymization.fulldomain.lattice import Node
from dpcore.anonymization.fulldomain.metrics import SeparableMetric
from dpcore.anonymization.fulldomain.size import too_large_error
from dpcore.anonymization.models import mark_violations
from dpcore.tables.classes import FloatArray, IntArray

MAX_WORK = 1_000_000_000
"""Work after which a search ends, in grouped tuples: less than a minute."""
WORK_PER_NODE = 20_000
"""Fixed work of a node, in grouped tuples."""
WORK_PER_RULE = 15_000
"""Work of a branch of an integer program for each rule, in grouped tuples."""
MAX_BRANCHES = 50
"""Branches of one integer program; its dual bound holds even if it is not solved."""
SUPPRESSION_PARTS = 8
"""Integer programs, one for each range of suppressed rows."""
VARIED_COLUMNS = 3
"""Columns that a local search raises to the top and lowers again."""
SUFFICIENT_GAP = 1e-4
"""Relative gap between score and bound at which a search ends."""
MAX_PROJECTIONS = 300
"""Projections of one group of columns, at most."""


class BoundedSearch(NodeSearch):
    """Search for a good node, with a lower bound on the score of all others."""

    metric: SeparableMetric

    def run(self) -> None:
        """Search until the gap to the bound is small or the work limit is reached.

        Raises: LimitError if no feasible node was found although one may exist.
        """
        self.top = self.table.lattice.top
        shape = self.table.lattice.shape
        self.level = np.concatenate([np.arange(levels) for levels in shape])
        self.column = np.repeat(np.arange(len(shape)), shape)
        # Levels at or above the lowest allowed level of their column
        self.is_offered = self.level >= np.array(self.table.floor)[self.column]
        # Every node has exactly one level in each column
        self.rules = [self.column == column for column in range(len(shape))]
        self.decisions: dict[Node, bool | None] = {}
        self.work = self.turn = 0
        self.part_limits = sorted(
            {
                self.allowed * part // SUPPRESSION_PARTS
                for part in range(1, SUPPRESSION_PARTS + 1)
            }
        )
        self.part_bounds = [0.0] * len(self.part_limits)
        self.levels, self.min_suppressed, self.rows, self.closed = measure_projections(
            self, self.metric
        )
        gap = 1.0
        while self.work < MAX_WORK and gap > SUFFICIENT_GAP:
            node = self._find_cheapest_node(gap / 10)
            bound = min(self.part_bounds)
            if node is not None:
                self._learn_from_node(node)
                for _ in range(len(self.rules) // 10):
                    self._search_near_best()
            elif self.best is None and bound == math.inf:  # every node is decided
                return
            if self.best is not None:
                gap = (
                    1 - min(bound / self.best.score, 1.0)
                    if self.best.score > 0
                    else 0.0
                )
        if self.best is None:
            raise too_large_error(self.table)
        self.best = replace(self.best, gap=gap)

    def finished_share(self) -> float:
        return min(self.work / max(MAX_WORK, 1), 1.0)

    def _find_cheapest_node(self, tolerance: float) -> Node | None:
        """Tighten the lowest bound of a suppression range; return its cheapest node.

        The node is cheapest within a relative tolerance; None if the program has no
        solution.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp

        part = int(np.argmin(self.part_bounds))
        fewest = np.array([self.part_limits[part - 1] + 1 if part else 0])
        # The least loss of each level if at least this many rows are suppressed
        least = [
            self.metric.min_term(self.table, column, level, fewest)[0]
            for column, level in zip(
                self.column.tolist(), self.level.tolist(), strict=True
            )
        ]
        # The cost of a projection is the least loss of its levels
        has = self.levels[:, self.column] == self.level
        costs = np.where(
            has, np.maximum(self.min_suppressed[:, self.column], least), 0
        ).sum(axis=1)
        # Variables: whether the node has each level, and each projection
        levels = np.zeros(len(self.level))
        rules = np.array(self.rules, dtype=np.float64)
        # The first rules, one per column, allow exactly one level each
        most_levels = np.where(np.arange(len(rules)) < len(self.top), 1.0, np.inf)
        solved = milp(
            np.concatenate([levels, costs]),
            integrality=np.concatenate([levels + 1, 0 * costs]),
            bounds=Bounds(0, np.concatenate([self.is_offered, 1 + 0 * costs])),
            constraints=[
                LinearConstraint(
                    np.hstack([rules, np.zeros((len(rules), len(costs)))]),
                    1,
                    most_levels,
                ),
                LinearConstraint(np.hstack([-np.eye(len(levels)), has.T]), 0, 0),
                LinearConstraint(
                    np.concatenate([levels, self.rows]), -np.inf, self.part_limits[part]
                ),
            ],
            options={"node_limit": MAX_BRANCHES, "mip_rel_gap": tolerance},
        )
        self.work += (1 + (solved.mip_node_count or 0)) * WORK_PER_RULE * len(rules)
        # milp returns status 2 if no node satisfies the rules
        bound = math.inf if solved.status == 2 else solved.mip_dual_bound or 0.0
        self.part_bounds[part] = max(
            self.part_bounds[part], float(self.metric.scores_from_sums(np.array(bound)))
        )
        return (
            None
            if solved.x is None
            else tuple(self.level[solved.x[: len(levels)] > 0.5].tolist())
        )

    def _learn_from_node(self, node: Node) -> None:
        """Add rules that exclude a node, and search near it for a feasible one."""
        if self._is_feasible(node) is not False:
            self.rules.append(self.level != np.array(node)[self.column])
        above = node
        while self._is_feasible(above) is False:
            general = self._extend_closed_node(above)
            if general == self.top:
                return
            # Raising a column that is at its top in `general` cannot make the node
            # feasible
            above = tuple(
                level if closed == top else top
                for level, closed, top in zip(above, general, self.top, strict=True)
            )
        self._lower_columns(above, node)

    def _search_near_best(self) -> None:
        """Search for a better node near the best one."""
        node = np.array(self.top if self.best is None else self.best.node)
        raised = self._shuffled_columns()[:VARIED_COLUMNS]
        node[raised] = np.array(self.top)[raised]
        self._lower_columns(tuple(node.tolist()), self.table.floor)

    def _lower_columns(self, node: Node, goal: Node) -> None:
        """Lower the columns of a node towards a goal while it stays feasible.

        The columns are taken in a shuffled order.
        """
        stopped = node
        for column in self._shuffled_columns():
            while node[column] > goal[column]:
                lower = with_levels(node, [column], [node[column] - 1])
                if not self._is_feasible(lower):
                    stopped = lower
                    break
                node = lower
        if self._is_feasible(stopped) is False and not self._is_closed(stopped):
            self._extend_closed_node(stopped)

    def _shuffled_columns(self) -> list[int]:
        """Return the columns shuffled anew at each call, in a repeatable order."""
        self.turn += 1
        return sorted(
            range(len(self.top)),
            key=lambda column: (column + 1) * self.turn * math.sqrt(5) % 1,
        )

    def _extend_closed_node(self, node: Node) -> Node:
        """Raise a closed node as far as it stays closed; add its rule; return it.

        Columns with most labels are raised first.
        """
        labels = [
            self.table.label_counts[column][level] for column, level in enumerate(node)
        ]
        order = np.argsort(labels, kind="stable")[::-1].tolist()
        for column in order:
            if (
                self._is_feasible(
                    highest := with_levels(node, [column], [self.top[column]])
                )
                is False
            ):
                node = highest
        for column in order:
            while node[column] < self.top[column] and (
                self._is_feasible(
                    higher := with_levels(node, [column], [node[column] + 1])
                )
                is False
            ):
                node = higher
        self.closed = np.vstack([self.closed, node])
        self.rules.append(self.level > np.array(node)[self.column])
        return node

    def _is_closed(self, node: Node) -> bool:
        """Return whether a node and all finer ones are known to be infeasible."""
        return bool((self.closed >= node).all(axis=1).any())

    def _is_feasible(self, node: Node) -> bool | None:
        """Return whether a node is feasible, cached.

        False means that no finer node is feasible either, None that one may be.
        """
        if node not in self.decisions:
            self.decisions[node] = (
                False if self._is_closed(node) else self._check_node(node)
            )
        return self.decisions[node]

    def _check_node(self, node: Node) -> bool | None:
        self.work += len(self.counter.base.class_keys) + WORK_PER_NODE
        classes = self.count_classes(node)
        marked = mark_violations(self.plain, classes)
        if not classes.suppresses_few(marked, self.allowed):
            return False
        if self.decides_by_histogram:
            marked = mark_violations(self.models, classes)
            if not (is_feasible := self.decide_by_histogram(classes, marked)):
                return is_feasible
        self.keep_if_best(classes, marked, self.metric.score(classes, marked))
        return True


def measure_projections(
    search: NodeSearch, metric: SeparableMetric
) -> tuple[IntArray, FloatArray, IntArray, IntArray]:
    """Return the suppression and loss of nodes that generalize one column group.

    The columns are divided into groups. A projection is a node with all columns but
    those of one group at their top. Each class of a node is part of one class of a
    projection with the same levels in the group, and part of a class with too few
    people has too few itself. So a node suppresses at least what each of its
    projections suppresses: no node has the levels of a projection that suppresses too
    much, and no column loses less than there. Each row is counted in one group only,
    the one in which fewest rows are like it. Then the rows that the projections of a
    node suppress add up to no more than the node does.

    Returns: for projections that do not suppress too much: (projections, columns)
    levels in the group, -1 for other columns; (projections, columns) what each column
    of the group adds to the score; (projections,) suppressed rows counted in the group,
    0 if people have several rows. Last, (nodes, columns) the most general of the closed
    ones.
    """
    table = search.table
    top = search.table.lattice.top
    groups = _group_columns(search)
    closed = np.empty((0, len(top)), np.int64)
    nowhere = (-1,) * len(top)
    kept = [(nowhere, np.zeros(len(top)), 0)]  # the projection on no column
    # Count each row in the group in which its class is smallest
    finest = [
        search.count_classes(with_levels(top, group, [0] * len(group)))
        for group in groups
    ]
    fewest = np.argmin(
        [classes.sizes[classes.entry_classes] for classes in finest], axis=0
    )
    # Look at the projections of each group, the most general first
    for place, group in enumerate(groups):
        counted = np.where(
            (fewest == place) & (table.members is None), table.published, 0
        )
        for levels in itertools.product(
            *(range(top[column], -1, -1) for column in group)
        ):
            node = with_levels(top, group, levels)
            if (closed >= node).all(axis=1).any():
                continue
            classes = search.count_classes(node)
            marked = mark_violations(search.plain, classes)
            if not classes.suppresses_few(marked, search.allowed):
                closed = np.vstack([closed, node])
                continue
            places = marked.nonzero()[0]
            lost = np.zeros(len(top))
            for column, level in zip(group, levels, strict=True):
                added = metric.added_by_suppression(
                    classes, column, places, classes.sizes[places]
                )
                lost[column] = metric.terms(table, column, added)[level]
            rows = int(counted[marked[classes.entry_classes]].sum())
            kept.append((with_levels(nowhere, group, levels), lost, rows))
    all_levels, all_lost, all_rows = map(np.array, zip(*kept, strict=True))
    return all_levels, all_lost, all_rows, closed


def with_levels(node: Node, columns: Sequence[int], levels: Sequence[int]) -> Node:
    """Return the node with the levels of some columns replaced."""
    changed = dict(zip(columns, levels, strict=True))
    return tuple(changed.get(column, level) for column, level in enumerate(node))


def _group_columns(search: NodeSearch) -> list[list[int]]:
    """Group columns whose combined values form many classes."""
    top = search.table.lattice.top
    widths = search.table.label_counts
    # Extra classes of two columns together, beyond those of each column alone
    more = np.zeros((len(top), len(top)))
    for left, right in itertools.combinations(range(len(top)), 2):
        classes = len(
            search.count_classes(with_levels(top, (left, right), (0, 0))).sizes
        )
        more[left, right] = more[right, left] = (
            classes - widths[left][0] - widths[right][0]
        )
    # Put each column into the group with which it forms most extra classes, if it fits
    groups: list[list[int]] = []
    for column in np.argsort(-more.sum(axis=1)).tolist():
        shapes = (
            (group, math.prod(top[member] + 1 for member in (*group, column)))
            for group in groups
        )
        fit = {
            more[column, group].sum(): group
            for group, size in shapes
            if size <= MAX_PROJECTIONS
        }
        if max(fit, default=0) > 0:
            fit[max(fit)].append(column)
        else:
            groups.append([column])
    return groups
