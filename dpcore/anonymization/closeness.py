"""t-closeness: a class has nearly the same sensitive values as the whole table."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpcore.anonymization._groups import ClassStatistics, SensitiveColumn
from dpcore.anonymization._thresholds import compare_exactly
from dpcore.anonymization.models import SensitiveModel
from dpcore.errors import UsageError
from dpcore.tables.classes import BoolArray, IntArray
from dpcore.tables.value_counts import ValueCounts

NEWTON_STEPS = 2
"""Newton steps towards the people of a class that can be kept, each from above."""
COUNT_TOLERANCE = 1e-6
"""Rounding error allowed in these counts of people, towards keeping more."""
MAX_TRIED_CLASS_SIZE = 50
"""Largest class size that is tried as the smallest one that can be t-close."""

Distance = Literal["equal", "hierarchical", "ordered"]


@dataclass(frozen=True, kw_only=True)
class TCloseness(SensitiveModel):
    """A bound t on the earth mover's distance between a class and the table.

    Compared are the distributions of a sensitive column. `equal`: all values are
    equally far apart (total variation). `hierarchical`: the distance of two values is
    the level at which they meet, over the height. `ordered`: it is the difference of
    their ranks among the values of the published rows, or of the hierarchy, over the
    number of values - 1. Source: Li, Li, Venkatasubramanian (2007), section 3.
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
            moved = counts.scaled_distance(secret.counts)
            whole = 2
        elif self.distance == "ordered":
            moved = counts.scaled_ordered_distance(secret.counts)
            whole = max(secret.rank_count - 1, 1)
        else:
            moved = _tree_flow(counts, secret)
            whole = 2 * len(secret.parents)
        return np.asarray(
            compare_exactly(moved, self.t, whole * counts.total * secret.counts.sum())
            > 0
        )

    def _max_displacement(self, secret: SensitiveColumn) -> float:
        """Return the displaced share that t allows, summed over levels or ranks."""
        height = len(secret.parents) if self.distance == "hierarchical" else 1
        steps = {
            "equal": 1,
            "ordered": max(secret.rank_count - 1, 1),
            "hierarchical": height,
        }
        return self.t * steps[self.distance]

    def min_class_size(self, secret: SensitiveColumn) -> int:
        shares = secret.counts / secret.counts.sum()
        for people in range(1, MAX_TRIED_CLASS_SIZE):
            # Round the expected counts to whole numbers that add up to `people`
            expected = people * shares
            rounded = np.floor(expected)
            more = round(people - rounded.sum())
            rounded[np.argsort(rounded - expected, kind="stable")[:more]] += 1
            if (
                people - np.minimum(rounded, expected).sum()
                <= self._max_displacement(secret) * people + COUNT_TOLERANCE
            ):
                return people
        return MAX_TRIED_CLASS_SIZE

    def min_suppressed(
        self, classes: ClassStatistics, class_mask: BoolArray, upper_counts: ValueCounts
    ) -> IntArray:
        """Return lower bounds, shape (classes,), of people that finer classes suppress.

        It is 0 for classes that are not marked. A person with several values counts for
        each. The people of a class that are kept, in whatever parts, are within t
        together. If m of them are kept, of whom at most c hold a value, their distance
        from the shares p of the table is at least m - sum min(c, m p), at each level of
        the hierarchy.

        Args:
            upper_counts: people by value, each counted as often as all finer classes
                together may hold them.
        """
        secret = classes.secrets[self.column]
        reach = self._max_displacement(secret)
        here = class_mask[upper_counts.group]
        group = upper_counts.group[here]
        code = upper_counts.value[here]
        count = upper_counts.count[here]
        # Class, count and table share of the labels at each level of the hierarchy
        levels = [(group, count, secret.counts[code] / secret.counts.sum())]
        table = secret.counts
        for parent in secret.parents[:-1] if self.distance == "hierarchical" else ():
            group, code, count = _merge_pairs(group, parent[code], count)
            table = _sum_by_parent(parent, table)
            levels.append((group, count, table[code] / table.sum()))
        # Find by Newton steps the largest number m of people that stays within t
        most = upper_counts.total * class_mask.astype(np.float64)
        whole = classes.histogram(self.column).total * class_mask
        for _ in range(NEWTON_STEPS):
            over = -reach * most
            slope = np.full(upper_counts.class_count, -reach)
            for group, count, share in levels:
                expected = most[group] * share
                over += most - np.bincount(
                    group, np.minimum(count, expected), upper_counts.class_count
                )
                slope += 1 - np.bincount(
                    group, share * (expected <= count), upper_counts.class_count
                )
            most -= (
                (1 - COUNT_TOLERANCE)
                * np.maximum(over - COUNT_TOLERANCE, 0)
                / np.maximum(slope, COUNT_TOLERANCE)
            )
        return np.asarray(
            np.maximum(whole - np.floor(most + COUNT_TOLERANCE), 0).astype(np.int64)
        )


def _tree_flow(counts: ValueCounts, secret: SensitiveColumn) -> IntArray:
    """Return the scaled earth mover's distance of each class along the hierarchy."""
    flow = counts.scaled_distance(secret.counts)
    table = secret.counts
    group = counts.group
    code = counts.value
    count = counts.count
    for parent in secret.parents[:-1]:
        group, code, count = _merge_pairs(group, parent[code], count)
        table = _sum_by_parent(parent, table)
        coarser = ValueCounts(
            group=group, value=code, count=count, class_count=counts.class_count
        )
        flow = flow + coarser.scaled_distance(table)
    return flow


def _merge_pairs(
    group: IntArray, code: IntArray, count: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Merge equal pairs of class and label, and add up their counts."""
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


def _sum_by_parent(parent: IntArray, table: IntArray) -> IntArray:
    return np.bincount(parent, table).astype(np.int64)
