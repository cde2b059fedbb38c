"""Counts of a column's values in each class, and distances from the whole table."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpcore.tables.classes import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class ValueCounts:
    """Counts of the (class, sensitive value) pairs that occur, sorted by both.

    All three arrays are (pairs,).

    Attributes:
        group: number of the class.
        value: number of the value.
        count: people of the class with this value, above 0.
        class_count: number of classes, those without a pair among them.
    """

    group: IntArray
    value: IntArray
    count: IntArray
    class_count: int

    @cached_property
    def starts(self) -> IntArray:
        """The index of the first pair of each class that has any."""
        return np.flatnonzero(np.diff(self.group, prepend=-1))

    @cached_property
    def total(self) -> IntArray:
        """Sum of the counts of each class, shape (classes,)."""
        return self.sum_by_class(self.count).astype(np.int64)

    @cached_property
    def distinct(self) -> IntArray:
        """Number of distinct values in each class, shape (classes,)."""
        return np.bincount(self.group, minlength=self.class_count)

    def sum_by_class(self, figures: IntArray | FloatArray) -> FloatArray:
        """Sum an array with one entry per pair by class, shape (classes,)."""
        return np.asarray(
            np.bincount(self.group, figures, self.class_count), dtype=np.float64
        )

    def largest_and_rest(self, l: int) -> tuple[IntArray, IntArray]:  # noqa: E741
        """Return each class's largest count, and its sum without the l - 1 largest."""
        falling = self.count[np.lexsort((-self.count, self.group))]
        rank = np.arange(len(falling)) - np.repeat(
            self.starts, self.distinct[self.distinct > 0]
        )
        rest = self.sum_by_class(np.where(rank >= l - 1, falling, 0)).astype(np.int64)
        return self.sum_by_class(np.where(rank == 0, falling, 0)).astype(np.int64), rest

    # Distances of a class of n from a table of N are multiplied by n N, so that they
    # are whole numbers: classes are often exactly at a threshold, and rounding must not
    # decide them.

    def scaled_distance(self, table: IntArray) -> IntArray:
        """Return each class's sum over values of |N class count - n table count|.

        Args:
            table: (values,) counts of the whole table.
        """
        whole = table.sum()
        size = self.total
        expected = size[self.group] * table[self.value]
        # a value that the class lacks adds n times its count in the table; their sum is
        # n N less the terms of the values that it has
        present = np.abs(self.count * whole - expected) - expected
        return np.asarray(self._sum_exactly(present) + size * whole)

    def scaled_ordered_distance(self, table: IntArray) -> IntArray:
        """Return each class's `scaled_distance`, computed on cumulative counts.

        The cumulated count of a class is constant between its values, so each stretch
        [x, y) is summed at once.

        Args:
            table: (values,) counts of the whole table, in the order of the values.
        """
        whole = table.sum()
        size = self.total[self.group]
        # Cumulated counts of the table, and their cumulated sums
        reached = np.cumsum(table)
        summed = np.concatenate(([0], np.cumsum(reached)))
        first = np.zeros(len(self.group), dtype=bool)
        first[self.starts] = True
        # Cumulated counts of each class
        so_far = np.cumsum(self.count)
        so_far = so_far - (so_far - self.count)[self.starts][np.cumsum(first) - 1]
        # Find where each pair's stretch ends, and where the difference changes sign in
        # it
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
        return self._sum_exactly(stretch)

    def _sum_exactly(self, figures: IntArray) -> IntArray:
        """Sum integers by class without rounding, shape (classes,)."""
        result = np.zeros(self.class_count, dtype=np.int64)
        if len(self.starts):
            result[self.group[self.starts]] = np.add.reduceat(figures, self.starts)
        return result
