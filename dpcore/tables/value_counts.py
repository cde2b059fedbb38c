"""Counts of the values of one column in each class, and how far they are from those of
the whole table.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpcore.tables.classes import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class ValueCounts:
    """The pairs of class and sensitive value that occur, sorted by both.

    All three arrays are (pairs,).

    Attributes:
        group: number of the class.
        value: number of the value.
        count: people of the class who hold it, above 0.
        classes: number of classes, those without a pair among them.
    """

    group: IntArray
    value: IntArray
    count: IntArray
    classes: int

    @cached_property
    def starts(self) -> IntArray:
        """The place at which each class that has a pair starts."""
        return np.flatnonzero(np.diff(self.group, prepend=-1))

    @cached_property
    def total(self) -> IntArray:
        """(classes,) the sum of the counts of each class."""
        return self.summed(self.count).astype(np.int64)

    @cached_property
    def distinct(self) -> IntArray:
        """(classes,) the values that each class holds."""
        return np.bincount(self.group, minlength=self.classes)

    def summed(self, figures: IntArray | FloatArray) -> FloatArray:
        """(classes,) the sum of a figure per pair, added in the order of the values."""
        return np.asarray(
            np.bincount(self.group, figures, self.classes), dtype=np.float64
        )

    def largest_and_rest(self, l: int) -> tuple[IntArray, IntArray]:  # noqa: E741
        """(classes,) the largest count of each class, and the sum of all but its l - 1
        largest.
        """
        falling = self.count[np.lexsort((-self.count, self.group))]
        rank = np.arange(len(falling)) - np.repeat(
            self.starts, self.distinct[self.distinct > 0]
        )
        rest = self.summed(np.where(rank >= l - 1, falling, 0)).astype(np.int64)
        return self.summed(np.where(rank == 0, falling, 0)).astype(np.int64), rest

    # Distances of a class of n from a table of N are multiplied by n N, so that they
    # are whole numbers: classes are often exactly at a threshold, and rounding must not
    # decide them.

    def moved(self, table: IntArray) -> IntArray:
        """(classes,) sum over the values of |N count in the class - n count in the
        table|.

        Args:
            table: (values,) counts of the whole table.
        """
        whole = table.sum()
        size = self.total
        expected = size[self.group] * table[self.value]
        # a value that the class lacks adds n times its count in the table: all of them,
        # less those it has
        present = np.abs(self.count * whole - expected) - expected
        return np.asarray(self._added(present) + size * whole)

    def moved_in_order(self, table: IntArray) -> IntArray:
        """(classes,) sum over the values of the same for all values up to it.

        The sum of a class so far is constant between the values it has, so each stretch
        [x, y) is summed at once.

        Args:
            table: (values,) counts of the whole table, in the order of the values.
        """
        whole = table.sum()
        size = self.total[self.group]
        reached = np.cumsum(table)
        summed = np.concatenate(([0], np.cumsum(reached)))
        first = np.zeros(len(self.group), dtype=bool)
        first[self.starts] = True
        so_far = np.cumsum(self.count)
        so_far = so_far - (so_far - self.count)[self.starts][np.cumsum(first) - 1]
        end = np.full(len(self.group), len(table))
        end[:-1] = np.where(first[1:], len(table), self.value[1:])
        level = so_far * whole
        turn = np.clip(
            np.searchsorted(reached, level // np.maximum(size, 1), side="right"),
            self.value,
            end,
        )
        stretch = level * (2 * turn - self.value - end)
        stretch += size * (summed[self.value] + summed[end] - 2 * summed[turn])
        stretch[first] += size[first] * summed[self.value[first]]
        return self._added(stretch)

    def _added(self, figures: IntArray) -> IntArray:
        """(classes,) the sums of whole numbers, exactly."""
        result = np.zeros(self.classes, dtype=np.int64)
        if len(self.starts):
            result[self.group[self.starts]] = np.add.reduceat(figures, self.starts)
        return result
