"""What some columns of a node suppress and lose by themselves, which bounds all nodes
with these levels.

The columns are split into groups. A projection is a node at which all columns but those
of one group are at their top. Each class of a node is a part of one class of a
projection that has the same levels in the group, and a part of a class with too few
people has too few. So a node suppresses at least what each of its projections
suppresses: none has the levels of a projection that suppresses too much, and a column
loses no less than there. Where each row is counted in one group only, what the
projections of a node suppress adds up to no more than the node does, whatever group it
is counted in; that is the one in which fewest are like it.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np

from dpcore.anonymization.fulldomain.judge import Judge
from dpcore.anonymization.fulldomain.lattice import Node
from dpcore.anonymization.fulldomain.metrics import Separable
from dpcore.anonymization.models import violations
from dpcore.tables.classes import FloatArray, IntArray

MOST_COMBINATIONS = 300
"""Projections of one group of columns."""


def projections(
    judge: Judge, metric: Separable
) -> tuple[IntArray, FloatArray, IntArray, IntArray]:
    """Look at the projections of a table.

    Returns: of those that do not suppress too much (projections, columns) levels in the
        group, -1 for other columns, (projections, columns) what each column of the
        group adds to the score, and (projections,) rows counted in the group that are
        suppressed, 0 where people have several rows; then (nodes, columns) the most
        general of the others.
    """
    table = judge.table
    top = judge.table.lattice.top
    groups = _groups(judge)
    closed = np.empty((0, len(top)), np.int64)
    nowhere = (-1,) * len(top)
    kept = [(nowhere, np.zeros(len(top)), 0)]  # of no column
    finest = [judge.counted(at(top, group, [0] * len(group))) for group in groups]
    fewest = np.argmin(
        [classes.sizes[classes.of_entries] for classes in finest], axis=0
    )
    for place, group in enumerate(groups):
        counted = np.where(
            (fewest == place) & (table.members is None), table.published, 0
        )
        for levels in itertools.product(
            *(range(top[column], -1, -1) for column in group)
        ):
            node = at(top, group, levels)
            if (closed >= node).all(axis=1).any():
                continue
            classes = judge.counted(node)
            marked = violations(judge.plain, classes)
            if not classes.suppresses_few(marked, judge.allowed):
                closed = np.vstack([closed, node])
                continue
            places = marked.nonzero()[0]
            lost = np.zeros(len(top))
            for column, level in zip(group, levels, strict=True):
                added = metric.added(classes, column, places, classes.sizes[places])
                lost[column] = metric.terms(table, column, added)[level]
            rows = int(counted[marked[classes.of_entries]].sum())
            kept.append((at(nowhere, group, levels), lost, rows))
    all_levels, all_lost, all_rows = map(np.array, zip(*kept, strict=True))
    return all_levels, all_lost, all_rows, closed


def at(node: Node, columns: Sequence[int], levels: Sequence[int]) -> Node:
    """Return a node with other levels of some columns."""
    changed = dict(zip(columns, levels, strict=True))
    return tuple(changed.get(column, level) for column, level in enumerate(node))


def _groups(judge: Judge) -> list[list[int]]:
    """Split the columns, those together of which two have many more classes than each
    by itself.
    """
    top = judge.table.lattice.top
    widths = judge.table.widths
    more = np.zeros((len(top), len(top)))
    for left, right in itertools.combinations(range(len(top)), 2):
        classes = len(judge.counted(at(top, (left, right), (0, 0))).sizes)
        more[left, right] = more[right, left] = (
            classes - widths[left][0] - widths[right][0]
        )
    groups: list[list[int]] = []
    for column in np.argsort(-more.sum(axis=1)).tolist():
        shapes = (
            (group, math.prod(top[each] + 1 for each in (*group, column)))
            for group in groups
        )
        fit = {
            more[column, group].sum(): group
            for group, size in shapes
            if size <= MOST_COMBINATIONS
        }
        if max(fit, default=0) > 0:
            fit[max(fit)].append(column)
        else:
            groups.append([column])
    return groups
