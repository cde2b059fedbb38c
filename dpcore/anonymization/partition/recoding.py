"""Local recoding, which gives each class the lowest hierarchy labels under which it is
large enough.

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

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.partition.admission import Gate
from dpcore.anonymization.recoded import Recoded, leaf_codes, recode
from dpcore.anonymization.thresholds import most_within
from dpcore.tables.classes import FloatArray, IntArray, class_index

Levels = tuple[int, ...]
"""One level of every hierarchy."""

EFFORT = 1_000_000_000
"""Cells read before nodes are no longer visited one by one; nine columns of Adult need
half of it.
"""
VISIT = 20_000
"""Cells that could be read in the time that a visit takes, however few rows wait."""


def local_recoding(
    frame: pd.DataFrame,
    hierarchies: Mapping[str, Hierarchy],
    *,
    gate: Gate,
    limit: float = 0.0,
) -> Recoded:
    """Recode the hierarchies' columns so that every class may be released by the gate
    of the table.

    Rows that no node releases join the classes where that costs least, or are
    suppressed where that costs less and the limit allows it.

    Args:
        limit: share of the people who may have a row that is suppressed so.

    Raises: HierarchyError for a value without a path.
    """
    covering, leaf = leaf_codes(frame, hierarchies)
    people = int(gate.rows.together(np.ones(len(frame), dtype=bool)).people[0])
    tuple_of = class_index([*leaf.values(), *gate.rows.codes])
    _, first, weights = np.unique(tuple_of, return_index=True, return_counts=True)
    trees = [Tree.of(covering[name], leaf[name][first], weights) for name in leaf]
    table = Table(trees, weights, gate.of_tuples(first, weights))
    classes, levels = settle(table, release(table), most_within(limit, people))
    return recode(covering, leaf, classes=classes[tuple_of], levels=levels)


@dataclass(frozen=True)
class Tree:
    """One column's labels, as codes, for every tuple at every level, and what they
    cost.

    Attributes:
        codes: (levels, tuples). penalty: (levels, tuples), NCP. cost: (levels,), mean
            NCP over the rows.
    """

    codes: IntArray
    penalty: FloatArray
    cost: FloatArray

    @classmethod
    def of(cls, hierarchy: Hierarchy, leaf: IntArray, weights: IntArray) -> Tree:
        """Take the labels of a hierarchy, for tuples of these leaves that stand for so
        many rows each.
        """
        of_leaf = np.stack(
            [hierarchy.codes(level) for level in range(hierarchy.height + 1)]
        )
        observed = np.bincount(leaf, minlength=of_leaf.shape[1]) > 0
        below = np.stack([np.bincount(codes, observed)[codes] for codes in of_leaf])
        penalty = (below[:, leaf] - 1) / max(1, observed.sum() - 1)
        return cls(of_leaf[:, leaf], penalty, penalty @ weights / weights.sum())


@dataclass(frozen=True)
class Table:
    """The distinct tuples of the table, with their labels, their rows, and what a class
    of them needs.
    """

    trees: Sequence[Tree]
    weights: IntArray
    gate: Gate


def release(table: Table) -> IntArray:
    """Return the class in which each tuple is released, -1 for those that no node
    releases.
    """
    released = np.full(len(table.weights), -1)
    waiting = np.arange(len(released))
    top = tuple(len(tree.cost) - 1 for tree in table.trees)
    nodes = nodes_by_cost([tree.cost for tree in table.trees])
    node: Levels = ()
    number = effort = 0
    while len(waiting) and node != top:
        node = (
            next(nodes) if effort <= EFFORT else _raise_cheapest(node, table, waiting)
        )
        effort += len(waiting) * len(node) + VISIT
        classes = class_index(
            [tree.codes[j, waiting] for tree, j in zip(table.trees, node, strict=True)]
        )
        fine = table.gate.satisfied(waiting, classes)
        leaves = fine[classes]
        released[waiting[leaves]] = number + (np.cumsum(fine) - 1)[classes[leaves]]
        number += int(fine.sum())
        waiting = waiting[~leaves]
    return released


def nodes_by_cost(costs: Sequence[FloatArray]) -> Iterator[Levels]:
    """Every lattice node once, in order of the sum of its levels' costs, which never
    fall with the level.
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


def _raise_cheapest(node: Levels, table: Table, waiting: IntArray) -> Levels:
    """Go one level up in the column where that costs the waiting rows least."""

    def price(column: int) -> float:
        penalty = table.trees[column].penalty
        level = node[column]
        return float(
            (penalty[level + 1, waiting] - penalty[level, waiting])
            @ table.weights[waiting]
        )

    below_top = [
        column
        for column, tree in enumerate(table.trees)
        if node[column] + 1 < len(tree.cost)
    ]
    cheapest = min(below_top, key=price)
    return (*node[:cheapest], node[cheapest] + 1, *node[cheapest + 1 :])


def settle(table: Table, released: IntArray, allowed: int) -> tuple[IntArray, IntArray]:
    """Suppress the unreleased rest, or unite it with the cheapest classes, until it may
    be released.

    Returns: (tuples,) class, and (classes, columns) the lowest level at which each
        class has one label, or

    the one above all where it is suppressed.
    """
    rest = np.flatnonzero(released < 0)
    hidden = _is_better_hidden(table, released, rest, allowed)
    while len(rest) and not hidden and not _may_be_released(table, rest):
        released[released == _cheapest_partner(table, released)[0]] = -1
        rest = np.flatnonzero(released < 0)
    return labelled(table, released, hidden)


def labelled(
    table: Table, released: IntArray, hidden: bool
) -> tuple[IntArray, IntArray]:
    """Return the classes and levels of tuples that are all in a class, -1 the one that
    may be suppressed.
    """
    _, classes = np.unique(released, return_inverse=True)
    levels = _common_levels(table.trees, classes)
    if hidden:
        levels[0] = [len(tree.cost) for tree in table.trees]
    return classes, levels


def _is_better_hidden(
    table: Table, released: IntArray, rest: IntArray, allowed: int
) -> bool:
    """Return whether the rest is of few people, and costs less suppressed than with its
    best partner.
    """
    if not len(rest) or _may_be_released(table, rest):
        return False
    people = table.gate.rows.taken(rest).groups(np.zeros_like(rest)).people[0]
    cost = table.weights[rest].sum() * len(table.trees)
    return bool(people <= allowed and cost <= _cheapest_partner(table, released)[1])


def _may_be_released(table: Table, rest: IntArray) -> bool:
    return bool(table.gate.satisfied(rest, np.zeros(len(rest), dtype=np.int64)).all())


def _common_levels(trees: Sequence[Tree], classes: IntArray) -> IntArray:
    """(classes, columns) the lowest level at which all tuples of a class share a
    label.
    """
    _, first = np.unique(classes, return_index=True)
    levels = np.zeros((len(first), len(trees)), dtype=np.int64)
    for column, tree in enumerate(trees):
        for level, codes in enumerate(tree.codes[:-1]):
            differs = np.bincount(classes, codes != codes[first][classes]) > 0
            levels[differs, column] = level + 1
    return levels


def _cheapest_partner(table: Table, released: IntArray) -> tuple[int, float]:
    """Find the class that the rest, numbered -1, joins at the least cost, and that
    cost.
    """
    numbers, first, index = np.unique(released, return_index=True, return_inverse=True)
    levels = _common_levels(table.trees, index)
    sizes = np.bincount(index, table.weights)
    price = np.zeros(len(numbers))
    for column, tree in enumerate(table.trees):
        meet = (tree.codes[:, first] == tree.codes[:, first[:1]]).argmax(axis=0)
        joint = np.maximum(np.maximum(levels[:, column], levels[0, column]), meet)
        before = sizes * tree.penalty[levels[:, column], first]
        price += (sizes + sizes[0]) * tree.penalty[joint, first] - before
    return int(numbers[1:][price[1:].argmin()]), float(price[1:].min())
