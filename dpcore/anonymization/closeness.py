"""The distance of the sensitive values of a class from those of the whole table
(t-closeness).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpcore.anonymization.groups import ClassStatistics, SensitiveColumn
from dpcore.anonymization.models import SensitiveModel
from dpcore.anonymization.thresholds import compared
from dpcore.errors import UsageError
from dpcore.tables.classes import BoolArray, IntArray
from dpcore.tables.value_counts import ValueCounts

STEPS = 2
"""Newton's steps, each from above, by which t-closeness narrows down how many of a
class can be kept.
"""
ROUNDING = 1e-6
MOST_TRIED = 50
"""Sizes of classes that are tried, to find the smallest that can be t-close."""


Distance = Literal["equal", "hierarchical", "ordered"]


@dataclass(frozen=True, kw_only=True)
class TCloseness(SensitiveModel):
    """A bound t on the earth mover's distance of each class's sensitive values from
    those of the table.

    `equal`: all values are equally far apart (total variation). `hierarchical`: two
    values are as far apart as the level at which they meet, over the height. `ordered`:
    as far as their ranks among the values of the published rows, or of the hierarchy,
    over the number of values - 1. Source: Li, Li, Venkatasubramanian (2007), section 3.
    """

    kind = "t-closeness"
    monotone = False
    compares_with_table = True

    t: float
    distance: Distance = "equal"

    def __post_init__(self) -> None:
        if not 0 <= self.t <= 1:
            raise UsageError(
                f"t ({self.t:g}) must be between 0 and 1", remedy="take t from 0 to 1"
            )

    def __str__(self) -> str:
        return f"{self.t:g}-closeness of {self.column} ({self.distance} distance)"

    def violations(self, classes: ClassStatistics) -> BoolArray:
        counts = classes.histogram(self.column)
        secret = classes.secrets[self.column]
        if self.distance == "equal":
            moved = counts.moved(secret.counts)
            whole = 2
        elif self.distance == "ordered":
            moved = counts.moved_in_order(secret.counts)
            whole = max(secret.ranks - 1, 1)
        else:
            moved = _moved_in_tree(counts, secret)
            whole = 2 * len(secret.parents)
        return np.asarray(
            compared(moved, self.t, whole * counts.total * secret.counts.sum()) > 0
        )

    def _reach(self, secret: SensitiveColumn) -> float:
        """Return the share of people off their place at most, over all levels or
        ranks.
        """
        height = len(secret.parents) if self.distance == "hierarchical" else 1
        steps = {
            "equal": 1,
            "ordered": max(secret.ranks - 1, 1),
            "hierarchical": height,
        }
        return self.t * steps[self.distance]

    def fewest(self, secret: SensitiveColumn) -> int:
        shares = secret.counts / secret.counts.sum()
        for people in range(1, MOST_TRIED):
            expected = people * shares
            held = np.floor(expected)
            more = round(people - held.sum())
            held[np.argsort(held - expected, kind="stable")[:more]] += 1
            if (
                people - np.minimum(held, expected).sum()
                <= self._reach(secret) * people + ROUNDING
            ):
                return people
        return MOST_TRIED

    def lost(
        self, classes: ClassStatistics, marked: BoolArray, held: ValueCounts
    ) -> IntArray:
        """(classes,) people of the marked classes whom no finer ones can keep, at
        least.

        A person of several values counts for each. Those of a class that are kept, in
        whatever parts, are within t together. So many m, of whom at most c hold a
        value, can be no nearer to the shares p of the table than m - sum min(c, m p),
        at each level of the hierarchy.

        Args:
            held: people by value, each as often as all finer classes together may hold
                them.
        """
        secret = classes.secrets[self.column]
        reach = self._reach(secret)
        here = marked[held.group]
        group = held.group[here]
        code = held.value[here]
        count = held.count[here]
        levels = [(group, count, secret.counts[code] / secret.counts.sum())]
        table = secret.counts
        for parent in secret.parents[:-1] if self.distance == "hierarchical" else ():
            (group, code, count), table = (
                _coarser(group, parent[code], count),
                _summed_up(parent, table),
            )
            levels.append((group, count, table[code] / table.sum()))
        most = held.total * marked.astype(np.float64)
        whole = classes.histogram(self.column).total * marked
        for _ in range(STEPS):
            over = -reach * most
            slope = np.full(held.classes, -reach)
            for group, count, share in levels:
                expected = most[group] * share
                over += most - np.bincount(
                    group, np.minimum(count, expected), held.classes
                )
                slope += 1 - np.bincount(
                    group, share * (expected <= count), held.classes
                )
            most -= (
                (1 - ROUNDING)
                * np.maximum(over - ROUNDING, 0)
                / np.maximum(slope, ROUNDING)
            )
        return np.asarray(
            np.maximum(whole - np.floor(most + ROUNDING), 0).astype(np.int64)
        )


def _moved_in_tree(counts: ValueCounts, secret: SensitiveColumn) -> IntArray:
    """(classes,) the flow through all edges of the hierarchy, each of length 1 / (2
    height).
    """
    flow = counts.moved(secret.counts)
    table = secret.counts
    group = counts.group
    code = counts.value
    count = counts.count
    for parent in secret.parents[:-1]:
        (group, code, count), table = (
            _coarser(group, parent[code], count),
            _summed_up(parent, table),
        )
        coarser = ValueCounts(
            group=group, value=code, count=count, classes=counts.classes
        )
        flow = flow + coarser.moved(table)
    return flow


def _coarser(
    group: IntArray, code: IntArray, count: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the pairs of class and label with their counts added up."""
    cells = group * (int(code.max(initial=0)) + 1) + code
    if (cells[1:] < cells[:-1]).any():
        order = cells.argsort(kind="stable")
        cells = cells[order]
        group = group[order]
        code = code[order]
        count = count[order]
    starts = np.flatnonzero(np.diff(cells, prepend=-1))
    return (
        group[starts],
        code[starts],
        np.add.reduceat(count, starts) if len(starts) else count,
    )


def _summed_up(parent: IntArray, table: IntArray) -> IntArray:
    return np.bincount(parent, table).astype(np.int64)
