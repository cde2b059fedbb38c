"""Local recoding: each class gets the lowest labels at which it is large enough.

Lattice nodes are visited from the cheapest up. At each node, the rows still waiting are
grouped by their labels there, and the classes that are admissible are released at once;
the others wait for a more general node. So common combinations keep their values, and
only rare ones are generalized. Everything is counted on distinct tuples, never on rows.

The best published local recoding (ARX: a full-domain optimum, again and again, on the
rows that remain) visits a few dozen nodes; visiting nearly all of them, in order, costs
less time and less information.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
import pandas as pd

from dpcore.anonymization._thresholds import max_people_in_share
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.partition.admission import ReleaseGate
from dpcore.anonymization.recoded import Recoded, read_leaves, recode
from dpcore.tables.classes import FloatArray, IntArray, class_index

Levels = tuple[int, ...]
"""One level of every hierarchy."""

MAX_CELLS_READ = 1_000_000_000
"""Cells read until nodes are no longer visited one by one.

Nine columns of Adult need half of it.
"""
CELLS_PER_VISIT = 20_000
"""Fixed work of a visit, in cells that could be read in its time."""


def recode_locally(
    frame: pd.DataFrame,
    hierarchies: Mapping[str, Hierarchy],
    *,
    gate: ReleaseGate,
    limit: float = 0.0,
) -> Recoded:
    """Recode columns by their hierarchies so that the gate admits every class.

    Rows that no node releases join the class with the least additional loss. They are
    suppressed if that costs less and the limit allows it.

    Args:
        limit: largest share of the people with a row suppressed in this way.

    Raises: HierarchyError for a value without a path.
    """
    covering, leaf = read_leaves(frame, hierarchies)
    people = int(
        gate.rows.group_as_one_class(np.ones(len(frame), dtype=bool)).people[0]
    )
    tuple_of = class_index([*leaf.values(), *gate.rows.codes])
    _, first, weights = np.unique(tuple_of, return_index=True, return_counts=True)
    trees = [
        LabelCosts.from_hierarchy(covering[name], leaf[name][first], weights)
        for name in leaf
    ]
    table = TupleTable(trees, weights, gate.for_tuples(first, weights))
    classes, levels = settle_unreleased(
        table, release_by_node(table), max_people_in_share(limit, people)
    )
    return recode(covering, leaf, classes=classes[tuple_of], levels=levels)


@dataclass(frozen=True)
class LabelCosts:
    """One column's label codes by level and tuple, with their costs.

    Attributes:
        codes: (levels, tuples).
        penalty: (levels, tuples), NCP.
        cost: (levels,), mean NCP over the rows.
    """

    codes: IntArray
    penalty: FloatArray
    cost: FloatArray

    @classmethod
    def from_hierarchy(
        cls, hierarchy: Hierarchy, leaf: IntArray, weights: IntArray
    ) -> LabelCosts:
        """Read the labels of a hierarchy for tuples with these leaves.

        Args:
            weights: (tuples,) rows that each stands for.
        """
        leaf_codes = np.stack(
            [hierarchy.codes(level) for level in range(hierarchy.height + 1)]
        )
        observed = np.bincount(leaf, minlength=leaf_codes.shape[1]) > 0
        below = np.stack([np.bincount(codes, observed)[codes] for codes in leaf_codes])
        penalty = (below[:, leaf] - 1) / max(1, observed.sum() - 1)
        return cls(leaf_codes[:, leaf], penalty, penalty @ weights / weights.sum())


@dataclass(frozen=True)
class TupleTable:
    """The distinct tuples of a table: labels, rows, and conditions on classes."""

    trees: Sequence[LabelCosts]
    weights: IntArray
    gate: ReleaseGate


def release_by_node(table: TupleTable) -> IntArray:
    """Release classes node by node; return each tuple's class, -1 if it has none."""
    released = np.full(len(table.weights), -1)
    waiting = np.arange(len(released))
    top = tuple(len(tree.cost) - 1 for tree in table.trees)
    nodes = nodes_by_cost([tree.cost for tree in table.trees])
    node: Levels = ()
    number = effort = 0
    while len(waiting) and node != top:
        node = (
            next(nodes)
            if effort <= MAX_CELLS_READ
            else _raise_cheapest(node, table, waiting)
        )
        effort += len(waiting) * len(node) + CELLS_PER_VISIT
        classes = class_index(
            [tree.codes[j, waiting] for tree, j in zip(table.trees, node, strict=True)]
        )
        admitted = table.gate.admits(waiting, classes)
        leaves = admitted[classes]
        new_numbers = number + np.cumsum(admitted) - 1
        released[waiting[leaves]] = new_numbers[classes[leaves]]
        number += int(admitted.sum())
        waiting = waiting[~leaves]
    return released


def nodes_by_cost(costs: Sequence[FloatArray]) -> Iterator[Levels]:
    """Yield every lattice node once, in order of the sum of its levels' costs.

    Costs never fall with the level.
    """
    heap: list[tuple[float, Levels, int]] = [(0.0, (0,) * len(costs), 0)]
    while heap:
        _, node, last = heappop(heap)
        yield node
        for column in range(last, len(costs)):
            if node[column] + 1 < len(costs[column]):
                above = (*node[:column], node[column] + 1, *node[column + 1 :])
                cost = sum(float(costs[q][level]) for q, level in enumerate(above))
                heappush(heap, (cost, above, column))


def _raise_cheapest(
    node: Levels, table: TupleTable, waiting_tuples: IntArray
) -> Levels:
    """Raise by one level the column that costs the waiting rows least."""

    def price(column: int) -> float:
        penalty = table.trees[column].penalty
        level = node[column]
        return float(
            (penalty[level + 1, waiting_tuples] - penalty[level, waiting_tuples])
            @ table.weights[waiting_tuples]
        )

    below_top = [
        column
        for column, tree in enumerate(table.trees)
        if node[column] + 1 < len(tree.cost)
    ]
    cheapest = min(below_top, key=price)
    return (*node[:cheapest], node[cheapest] + 1, *node[cheapest + 1 :])


def settle_unreleased(
    table: TupleTable, release_classes: IntArray, max_suppressed_people: int
) -> tuple[IntArray, IntArray]:
    """Suppress the unreleased tuples, or merge them with the cheapest classes.

    Returns: (tuples,) class, and (classes, columns) the lowest level at which each
    class has one label, or the one above all if it is suppressed.
    """
    rest = np.flatnonzero(release_classes < 0)
    hidden = _should_suppress(table, release_classes, rest, max_suppressed_people)
    while len(rest) and not hidden and not _may_be_released(table, rest):
        release_classes[
            release_classes == _find_cheapest_partner(table, release_classes)[0]
        ] = -1
        rest = np.flatnonzero(release_classes < 0)
    return renumber_classes(table, release_classes, hidden)


def renumber_classes(
    table: TupleTable, release_classes: IntArray, is_suppressed: bool
) -> tuple[IntArray, IntArray]:
    """Renumber the classes without gaps, and return the levels of each.

    Args:
        release_classes: (tuples,) class of each, -1 for one class that may be suppressed.
        is_suppressed: whether that class is suppressed.
    """
    _, classes = np.unique(release_classes, return_inverse=True)
    levels = _find_common_levels(table.trees, classes)
    if is_suppressed:
        levels[0] = [len(tree.cost) for tree in table.trees]
    return classes, levels


def _should_suppress(
    table: TupleTable,
    release_classes: IntArray,
    rest: IntArray,
    max_suppressed_people: int,
) -> bool:
    """Return whether suppressing the rest is allowed and cheaper than merging it."""
    if not len(rest) or _may_be_released(table, rest):
        return False
    people = table.gate.rows.select(rest).group_by_class(np.zeros_like(rest)).people[0]
    cost = table.weights[rest].sum() * len(table.trees)
    return bool(
        people <= max_suppressed_people
        and cost <= _find_cheapest_partner(table, release_classes)[1]
    )


def _may_be_released(table: TupleTable, rest: IntArray) -> bool:
    return bool(table.gate.admits(rest, np.zeros(len(rest), dtype=np.int64)).all())


def _find_common_levels(trees: Sequence[LabelCosts], classes: IntArray) -> IntArray:
    """Return the lowest levels at which all tuples of a class share a label."""
    _, first = np.unique(classes, return_index=True)
    levels = np.zeros((len(first), len(trees)), dtype=np.int64)
    for column, tree in enumerate(trees):
        for level, codes in enumerate(tree.codes[:-1]):
            differs = np.bincount(classes, codes != codes[first][classes]) > 0
            levels[differs, column] = level + 1
    return levels


def _find_cheapest_partner(
    table: TupleTable, release_classes: IntArray
) -> tuple[int, float]:
    """Return the class that the rest can join at the lowest cost, and the cost."""
    numbers, first, index = np.unique(
        release_classes, return_index=True, return_inverse=True
    )
    levels = _find_common_levels(table.trees, index)
    sizes = np.bincount(index, table.weights)
    price = np.zeros(len(numbers))
    for column, tree in enumerate(table.trees):
        meet = (tree.codes[:, first] == tree.codes[:, first[:1]]).argmax(axis=0)
        joint = np.maximum(np.maximum(levels[:, column], levels[0, column]), meet)
        before = sizes * tree.penalty[levels[:, column], first]
        price += (sizes + sizes[0]) * tree.penalty[joint, first] - before
    return int(numbers[1:][price[1:].argmin()]), float(price[1:].min())
