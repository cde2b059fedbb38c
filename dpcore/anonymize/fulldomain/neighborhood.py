"""The class of one tuple at every node of the lattice at once.

Two tuples fall into one class from that node on at which, column by column, their labels first meet. So one
count of the tuples by their meeting node, summed up along every axis of the lattice, is the class of the
tuple at all nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from dpcore.anonymize.fulldomain.lattice import Node
from dpcore.anonymize.fulldomain.tuples import Sensitive, Tuples
from dpcore.tables.classes import FloatArray, IntArray


class Neighborhoods:
    """Makes the neighborhoods of a table's tuples."""

    def __init__(self, table: Tuples) -> None:
        self._table = table
        self._leaves = [table.digits(table.keys, column) for column in range(len(table.names))]

    def of(self, key: int, node: Node) -> Neighborhood:
        """The neighborhood of a member of the class with this key at a node."""
        table = self._table
        members = np.arange(len(table.keys))
        for column in table.priority:
            labels = table.codes[column][node[column]]
            code = (key >> table.shifts[column]) & table.masks[column]
            members = members[labels[self._leaves[column][members]] == code]
        meeting = np.zeros(len(table.keys), dtype=np.int64)
        for codes, leaves, stride in zip(table.codes, self._leaves, table.lattice.strides, strict=True):
            levels = (codes != codes[:, leaves[members[0]], None]).sum(axis=0)
            meeting += (levels * stride)[leaves]
        return Neighborhood(table, meeting)


class Neighborhood:
    """The class of one tuple at every node, flat by index: what a privacy model looks at."""

    def __init__(self, table: Tuples, meeting: IntArray) -> None:
        """Args: meeting: for every key of the table, the lowest node at which it joins the tuple."""
        self._table, self._meeting = table, meeting

    @property
    def sensitive(self) -> Mapping[str, Sensitive]:
        """The sensitive columns of the table."""
        return self._table.sensitive

    @cached_property
    def population(self) -> IntArray:
        """Rows of the table."""
        return np.asarray(self._sum(self._meeting, self._table.counts, 1)[0], dtype=np.int64)

    @cached_property
    def sizes(self) -> IntArray:
        """Published rows."""
        if not self._table.has_subset:
            return self.population
        return np.asarray(self._sum(self._meeting, self._table.published, 1)[0], dtype=np.int64)

    def histogram(self, column: str) -> FloatArray:
        """Published rows by value of a sensitive column: values x nodes."""
        secret = self.sensitive[column]
        values = (self._table.keys >> secret.shift) & secret.mask
        cells = values * self._table.lattice.size + self._meeting
        return self._sum(cells, self._table.published, len(secret.values))

    def _sum(self, cells: IntArray, rows: IntArray, values: int) -> FloatArray:
        """Count the rows by cell and add up each axis of the lattice from below; values x nodes."""
        lattice = self._table.lattice
        counts = np.asarray(np.bincount(cells, rows, values * lattice.size), dtype=np.float64)
        for levels, stride in zip(lattice.shape, lattice.strides, strict=True):
            view = counts.reshape(-1, levels, stride)
            for level in range(1, levels):
                view[:, level] += view[:, level - 1]
        return counts.reshape(values, lattice.size)
