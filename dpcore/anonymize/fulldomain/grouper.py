"""Equivalence classes of a node, made from those of a finer node: recode one group of bits, sort, add up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpcore.anonymize.fulldomain.lattice import Node
from dpcore.anonymize.fulldomain.tuples import WORD, Sensitive, Tuples, run_starts
from dpcore.tables.classes import FloatArray, IntArray

REMEMBERED = 20_000_000
"""Keys that a Grouper keeps at most: 320 MB."""


@dataclass(frozen=True, eq=False)
class Classes:
    """The equivalence classes of one node.

    `keys` and `counts` are the distinct keys at this node with their rows; keys that differ in the tail only
    (the sensitive values and the subset bit) belong to one class.
    """

    table: Tuples
    node: Node
    keys: IntArray
    counts: IntArray

    @property
    def sensitive(self) -> Mapping[str, Sensitive]:
        """The sensitive columns of the table."""
        return self.table.sensitive

    @cached_property
    def starts(self) -> IntArray:
        """Where each class starts in `keys`."""
        return run_starts(self.keys >> self.table.tail)

    @cached_property
    def class_keys(self) -> IntArray:
        """One key of each class."""
        return self.keys[self.starts] if self.table.tail else self.keys

    @cached_property
    def published(self) -> IntArray:
        """Published rows of each key; int64."""
        return self.counts * (self.keys & 1) if self.table.has_subset else self.counts

    @cached_property
    def population(self) -> IntArray:
        """Rows of the table in each class; int64."""
        return np.add.reduceat(self.counts, self.starts) if self.table.tail else self.counts

    @cached_property
    def sizes(self) -> IntArray:
        """Published rows of each class: of the research subset, or of the table if there is none; int64."""
        if not self.table.has_subset:
            return self.population
        return np.add.reduceat(self.published, self.starts)

    def histogram(self, column: str) -> FloatArray:
        """Published rows: values of a sensitive column x classes; float64 that holds integers."""
        secret = self.table.sensitive[column]
        values, classes = len(secret.values), len(self.starts)
        cells = ((self.keys >> secret.shift) & secret.mask) * classes
        cells += np.repeat(np.arange(classes), np.diff(self.starts, append=len(self.keys)))
        counts = np.bincount(cells, self.published, values * classes)
        return np.asarray(counts, dtype=np.float64).reshape(values, classes)


class Grouper:
    """Finds the classes of nodes; remembers the groupings on the way to a node, column by column."""

    def __init__(self, table: Tuples) -> None:
        self.table = table
        self._bottom = (0,) * len(table.names)
        self._known: dict[Node, Classes] = {}
        self._size = 0
        self._count_bits = int(table.counts.sum()).bit_length()
        key_bits = table.shifts[0] + table.masks[0].bit_length()
        self._packs = key_bits + self._count_bits <= WORD

    def classes(self, node: Node) -> Classes:
        """The classes of a node; the path to it generalizes the columns with most values first."""
        levels = list(self._bottom)
        current = Classes(self.table, self._bottom, self.table.keys, self.table.counts)
        for column in self.table.priority:
            if node[column]:
                levels[column] = node[column]
                step = tuple(levels)
                known = self._known.get(step)
                if known is None:
                    known = self.generalized(current, step)
                    self._remember(known)
                current = known
        return current

    def walk(self) -> Iterator[Classes]:
        """The classes of every node of the lattice, each made from a neighbour one level below it."""
        return self._walk(Classes(self.table, self._bottom, self.table.keys, self.table.counts), 0)

    def _walk(self, current: Classes, depth: int) -> Iterator[Classes]:
        if depth == len(self.table.priority):
            yield current
            return
        column = self.table.priority[depth]
        yield from self._walk(current, depth + 1)
        for level in range(1, self.table.lattice.shape[column]):
            current = self.generalized(current, (*current.node[:column], level, *current.node[column + 1 :]))
            yield from self._walk(current, depth + 1)

    def generalized(self, classes: Classes, node: Node) -> Classes:
        """The classes of a coarser node from those of a finer one."""
        keys = self.table.generalize(classes.keys, classes.node, node)
        return Classes(self.table, node, *self._merge(keys, classes.counts))

    def _merge(self, keys: IntArray, counts: IntArray) -> tuple[IntArray, IntArray]:
        """Distinct keys, ascending, with the sums of their counts."""
        if self._packs:
            packed = (keys << self._count_bits) | counts
            packed.sort()
            keys, counts = packed >> self._count_bits, packed & ((1 << self._count_bits) - 1)
        else:
            order = keys.argsort()
            keys, counts = keys[order], counts[order]
        starts = run_starts(keys)
        return keys[starts], np.add.reduceat(counts, starts)

    def _remember(self, classes: Classes) -> None:
        self._size += len(classes.keys)
        if self._size > REMEMBERED:
            self._known.clear()
            self._size = len(classes.keys)
        self._known[classes.node] = classes
