"""The class of one tuple at every node of the lattice at once.

Two tuples fall into one class from that node on at which, column by column, their labels first meet. So one
count of the tuples by their meeting node, summed up along every axis of the lattice, is the class of the
tuple at all nodes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property

import numpy as np

from dpcore.anonymize.classes import Classes
from dpcore.anonymize.encoding import FloatArray, IntArray
from dpcore.anonymize.lattice import Node
from dpcore.anonymize.tuples import Sensitive


class Neighborhoods:
    """Makes neighborhoods of tuples over all generalizations of one node, the floor."""

    def __init__(self, classes: Classes) -> None:
        """Args: classes: those of the floor; the fewer they are, the less a neighborhood costs."""
        self.classes = classes
        table, floor = classes.table, classes.node
        self.shape = tuple(levels - level for levels, level in zip(table.lattice.shape, floor, strict=True))
        self._codes = [table.digits(classes.keys, column) for column in range(len(floor))]

    def of(self, key: int, node: Node) -> Neighborhood:
        """The neighborhood of a member of the class with this key at `node`, which is above the floor."""
        table, floor = self.classes.table, self.classes.node
        members = table.generalize(self.classes.keys, floor, node) >> table.tail == key >> table.tail
        witness = int(members.argmax())
        meeting = np.zeros(len(self.classes.keys), dtype=np.int64)
        for column, codes in enumerate(self._codes):
            upward = table.upward[column][floor[column]]
            levels = (upward != upward[:, codes[witness], None]).sum(axis=0)
            meeting = meeting * self.shape[column] + levels[codes]
        return Neighborhood(self.classes, self.shape, meeting)


class Neighborhood:
    """The class of one tuple at every node from the floor up, flat: what a privacy model looks at."""

    def __init__(self, classes: Classes, shape: tuple[int, ...], meeting: IntArray) -> None:
        self._classes, self._shape, self._meeting = classes, shape, meeting

    @property
    def sensitive(self) -> Mapping[str, Sensitive]:
        """The sensitive columns of the table."""
        return self._classes.sensitive

    @cached_property
    def population(self) -> IntArray:
        """Rows of the table."""
        return np.asarray(self._sum(self._meeting, self._classes.counts, 1)[0], dtype=np.int64)

    @cached_property
    def sizes(self) -> IntArray:
        """Published rows."""
        if not self._classes.table.has_subset:
            return self.population
        return np.asarray(self._sum(self._meeting, self._classes.published, 1)[0], dtype=np.int64)

    def histogram(self, column: str) -> FloatArray:
        """Published rows by value of a sensitive column: values x nodes."""
        secret = self.sensitive[column]
        values = (self._classes.keys >> secret.shift) & secret.mask
        cells = values * math.prod(self._shape) + self._meeting
        return self._sum(cells, self._classes.published, len(secret.values))

    def _sum(self, cells: IntArray, rows: IntArray, values: int) -> FloatArray:
        """Count the rows by cell and add up each axis of the lattice from below; values x nodes."""
        nodes = math.prod(self._shape)
        counts = np.asarray(np.bincount(cells, rows, values * nodes), dtype=np.float64)
        inner = nodes
        for levels in self._shape:
            inner //= levels
            view = counts.reshape(-1, levels, inner)
            for level in range(1, levels):
                view[:, level] += view[:, level - 1]
        return counts.reshape(values, nodes)
