"""The class of one tuple at every node of the lattice at once.

Two tuples fall into one class from that node on at which, column by column, their labels first meet. So one
count of the tuples by their meeting node, summed up along every axis of the lattice, is the class of the
tuple at all nodes. Corrections for people of several rows (see `Folded`) are summed alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from dpcore.anonymize.fulldomain.lattice import Node
from dpcore.anonymize.fulldomain.tuples import Tuples
from dpcore.anonymize.groups import Histogram, Secret
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
            code = table.columns[column].of(np.array(key))
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
    def secrets(self) -> Mapping[str, Secret]:
        """The sensitive columns of the table."""
        return self._table.secrets

    @cached_property
    def people(self) -> IntArray:
        """Published people."""
        return self._people(self._table.published, 0)

    @cached_property
    def population(self) -> IntArray:
        """People of the table."""
        return self._people(self._table.counts, -1) if self._table.has_subset else self.people

    def _people(self, rows: IntArray, view: int) -> IntArray:
        nothing = np.zeros(len(self._meeting), dtype=np.int64)
        return np.asarray(self._sum(nothing, rows, 1, view)[0], dtype=np.int64)

    def histogram(self, column: str) -> Histogram:
        """Published people by value of a sensitive column."""
        value = self._table.fields[column].of(self._table.keys)
        view = 1 + list(self.secrets).index(column)
        counts = self._sum(value, self._table.published, len(self.secrets[column].values), view).T
        group, value = counts.nonzero()
        return Histogram(
            group=group, value=value, count=counts[group, value].astype(np.int64), classes=len(counts)
        )

    def _sum(self, value: IntArray, rows: IntArray, values: int, view: int) -> FloatArray:
        """Rows, or people of a view, by value, added up along each axis of the lattice from below; values x
        nodes."""
        lattice, folded = self._table.lattice, self._table.folded
        cells, figures = value * lattice.size + self._meeting, rows
        if folded is not None:
            these = (folded.view == view % len(folded.counts)).nonzero()[0]
            entry = folded.entry[these]
            met = lattice.levels(self._meeting[entry])
            node = np.zeros(len(these), dtype=np.int64)
            for own, other, step in zip(met, folded.levels, lattice.strides, strict=True):
                node += np.maximum(own, other[these]) * step
            cells = np.concatenate([cells, value[entry] * lattice.size + node])
            figures = np.concatenate([folded.counts[view], folded.count[these]])
        counts = np.asarray(np.bincount(cells, figures, values * lattice.size), dtype=np.float64)
        for levels, stride in zip(lattice.shape, lattice.strides, strict=True):
            table = counts.reshape(-1, levels, stride)
            for level in range(1, levels):
                table[:, level] += table[:, level - 1]
        return counts.reshape(values, lattice.size)
