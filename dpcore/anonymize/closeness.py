"""t-closeness: how far the sensitive values of a class are from those of the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpcore.anonymize.groups import ClassStatistics, SensitiveColumn, ValueCounts
from dpcore.anonymize.models import SensitiveModel
from dpcore.anonymize.thresholds import compared
from dpcore.errors import ParameterError
from dpcore.tables.classes import BoolArray, IntArray

HALVINGS = 6
"""Steps by which t-closeness narrows down how many of a class can be kept."""
ROUNDING = 1e-6
MOST_TRIED = 50
"""Sizes of classes that are tried, to find the smallest that can be t-close."""


Distance = Literal["equal", "hierarchical", "ordered"]


@dataclass(frozen=True, kw_only=True)
class TCloseness(SensitiveModel):
    """A bound t on the earth mover's distance of each class's sensitive values from those of the table.

    `equal`: all values are equally far apart (total variation). `hierarchical`: two values are as far apart
    as the level at which they meet, over the height. `ordered`: as far as their ranks, over the number of
    values - 1.
    Source: Li, Li, Venkatasubramanian (2007), section 3.
    """

    kind = "t-closeness"
    monotone = False

    t: float
    distance: Distance = "equal"

    def __post_init__(self) -> None:
        if not 0 <= self.t <= 1:
            raise ParameterError("t ({t:g}) must be between 0 and 1", remedy="take t from 0 to 1", t=self.t)

    def __str__(self) -> str:
        return f"{self.t:g}-closeness of {self.column} ({self.distance} distance)"

    def violations(self, classes: ClassStatistics) -> BoolArray:
        found, secret = classes.histogram(self.column), classes.secrets[self.column]
        if self.distance == "equal":
            moved, whole = _apart(found, secret.counts), 2
        elif self.distance == "ordered":
            moved, whole = _moved_in_order(found, secret.counts), max(len(secret.values) - 1, 1)
        else:
            moved, whole = _moved_in_tree(found, secret), 2 * len(secret.parents)
        return np.asarray(compared(moved, self.t, whole * found.total * secret.counts.sum()) > 0)

    def _reach(self, secret: SensitiveColumn) -> float:
        """Return the share of people off their place at most, over all levels or ranks."""
        height = len(secret.parents) if self.distance == "hierarchical" else 1
        steps = {"equal": 1, "ordered": max(len(secret.values) - 1, 1), "hierarchical": height}
        return self.t * steps[self.distance]

    def fewest(self, secret: SensitiveColumn) -> int:
        shares = secret.counts / secret.counts.sum()
        for people in range(1, MOST_TRIED):
            expected = people * shares
            held = np.floor(expected)
            more = round(people - held.sum())
            held[np.argsort(held - expected, kind="stable")[:more]] += 1
            if people - np.minimum(held, expected).sum() <= self._reach(secret) * people + ROUNDING:
                return people
        return MOST_TRIED

    def lost(self, classes: ClassStatistics, marked: BoolArray, held: ValueCounts) -> IntArray:
        """(classes,) people of the marked classes whom no finer ones can keep, at least.

        A person of several values counts for each. Those of a class that are kept, in whatever parts, are
        within t together. So many m, of whom at most c
        hold a value, can be no nearer to the shares p of the table than m - sum min(c, m p), at each level of
        the hierarchy.

        Args: held: people by value, each as often as all finer classes together may hold them.
        """
        secret = classes.secrets[self.column]
        reach = self._reach(secret)
        here = marked[held.group]
        group, code, count = held.group[here], held.value[here], held.count[here]
        levels, table = [(group, count, secret.counts[code] / secret.counts.sum())], secret.counts
        for parent in secret.parents[:-1] if self.distance == "hierarchical" else ():
            (group, code, count), table = _coarser(group, parent[code], count), _summed_up(parent, table)
            levels.append((group, count, table[code] / table.sum()))
        most, least = held.total * marked.astype(np.float64), np.zeros(held.classes)
        whole = classes.histogram(self.column).total * marked
        for _ in range(HALVINGS):
            middle = (most + least) / 2
            moved = np.zeros(held.classes)
            for group, count, share in levels:
                moved += middle - np.bincount(group, np.minimum(count, middle[group] * share), held.classes)
            near = moved <= reach * middle + ROUNDING
            most, least = np.where(near, most, middle), np.where(near, middle, least)
        return np.asarray(np.maximum(whole - np.floor(most + ROUNDING), 0).astype(np.int64))


# The distances of a class of n from a table of N, times n N, so that they are whole numbers: classes exactly
# at the threshold are common, and rounding must not decide them.


def _apart(found: ValueCounts, table: IntArray) -> IntArray:
    """(classes,) sum over the values of |N count in the class - n count in the table|."""
    whole, size = table.sum(), found.total
    expected = size[found.group] * table[found.value]
    # a value that the class lacks adds n times its count in the table: all of them, less those it has
    present = np.abs(found.count * whole - expected) - expected
    return np.asarray(_summed(found, present) + size * whole)


def _moved_in_order(found: ValueCounts, table: IntArray) -> IntArray:
    """(classes,) sum over the values of the same for all values up to it.

    What a class holds so far is constant between the values it has, so each stretch [x, y) is summed at once.
    """
    whole, size = table.sum(), found.total[found.group]
    reached = np.cumsum(table)
    summed = np.concatenate(([0], np.cumsum(reached)))
    first = np.zeros(len(found.group), dtype=bool)
    first[found.starts] = True
    held = np.cumsum(found.count)
    held = held - (held - found.count)[found.starts][np.cumsum(first) - 1]
    end = np.full(len(found.group), len(table))
    end[:-1] = np.where(first[1:], len(table), found.value[1:])
    level = held * whole
    turn = np.clip(np.searchsorted(reached, level // np.maximum(size, 1), side="right"), found.value, end)
    stretch = level * (2 * turn - found.value - end)
    stretch += size * (summed[found.value] + summed[end] - 2 * summed[turn])
    stretch[first] += size[first] * summed[found.value[first]]
    return _summed(found, stretch)


def _moved_in_tree(found: ValueCounts, secret: SensitiveColumn) -> IntArray:
    """(classes,) the flow through all edges of the hierarchy, each of length 1 / (2 height)."""
    flow, table = _apart(found, secret.counts), secret.counts
    group, code, count = found.group, found.value, found.count
    for parent in secret.parents[:-1]:
        (group, code, count), table = _coarser(group, parent[code], count), _summed_up(parent, table)
        flow = flow + _apart(ValueCounts(group=group, value=code, count=count, classes=found.classes), table)
    return flow


def _summed(found: ValueCounts, figures: IntArray) -> IntArray:
    """(classes,) the sums of whole numbers, exactly."""
    result = np.zeros(found.classes, dtype=np.int64)
    if len(found.starts):
        result[found.group[found.starts]] = np.add.reduceat(figures, found.starts)
    return result


def _coarser(group: IntArray, code: IntArray, count: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the pairs of class and label with their counts added up."""
    cells = group * (int(code.max(initial=0)) + 1) + code
    if (cells[1:] < cells[:-1]).any():
        order = cells.argsort(kind="stable")
        cells, group, code, count = cells[order], group[order], code[order], count[order]
    starts = np.flatnonzero(np.diff(cells, prepend=-1))
    return group[starts], code[starts], np.add.reduceat(count, starts) if len(starts) else count


def _summed_up(parent: IntArray, table: IntArray) -> IntArray:
    return np.bincount(parent, table).astype(np.int64)
