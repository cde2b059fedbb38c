"""The lattice of nodes: one level for every quasi-identifier.

A node is a tuple of levels; its index is the position in C order, so that whole up- and
down-sets are slices of an array of the lattice's shape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.tables.classes import FloatArray, IntArray

Node = tuple[int, ...]


@dataclass(frozen=True)
class Lattice:
    """All nodes, from the original values (level 0) to the top of every hierarchy."""

    shape: tuple[int, ...]
    """The number of levels of every quasi-identifier."""

    @classmethod
    def from_hierarchies(cls, hierarchies: Sequence[Hierarchy]) -> Lattice:
        """Return the lattice of these hierarchies."""
        return cls(tuple(hierarchy.height + 1 for hierarchy in hierarchies))

    @property
    def size(self) -> int:
        """The number of nodes."""
        return math.prod(self.shape)

    @property
    def top(self) -> Node:
        """The node with every column at its last level."""
        return tuple(levels - 1 for levels in self.shape)

    @cached_property
    def strides(self) -> Node:
        """How much a node's index grows for one level more, for each column."""
        return tuple(
            math.prod(self.shape[column + 1 :]) for column in range(len(self.shape))
        )

    @cached_property
    def total_levels(self) -> IntArray:
        """Sum of the levels of each node, int64, shape (nodes,)."""
        return self.outer_sum(
            [np.arange(levels, dtype=np.float64) for levels in self.shape]
        ).astype(np.int64)

    def node(self, index: int) -> Node:
        """Return the levels of the node at an index."""
        return tuple(
            index // stride % levels
            for stride, levels in zip(self.strides, self.shape, strict=True)
        )

    def levels(self, indices: IntArray) -> list[IntArray]:
        """Return the levels of the nodes at these indices, one array per column."""
        return [
            indices // stride % levels
            for stride, levels in zip(self.strides, self.shape, strict=True)
        ]

    def index(self, node: Node) -> int:
        """Return the index of a node."""
        return sum(
            level * stride for level, stride in zip(node, self.strides, strict=True)
        )

    def slices_below(self, node: Node) -> tuple[slice, ...]:
        """Return slices that select a node and all finer ones from a lattice array."""
        return tuple(slice(level + 1) for level in node)

    def slices_above(self, node: Node) -> tuple[slice, ...]:
        """Return slices that select a node and all coarser ones from a lattice
        array.
        """
        return tuple(slice(level, None) for level in node)

    def outer_sum(self, terms: Sequence[FloatArray]) -> FloatArray:
        """Add up, for every node, one term per column, chosen by the column's level.

        terms[j] has one number per level of column j.
        """
        total = np.zeros(1)
        for term in terms:
            total = (total[:, None] + term).ravel()
        return total

    def sum_specializations(self, figures: FloatArray) -> FloatArray:
        """Sum values over each node and all finer ones; the result has `shape`."""
        # Each pass sums along the first axis, and moves it to the end
        for levels in self.shape:
            rows = figures.reshape(levels, -1)
            turned = np.empty((rows.shape[1], levels))
            turned[:, 0] = rows[0]
            for level in range(1, levels):
                np.add(rows[level], turned[:, level - 1], out=turned[:, level])
            figures = turned.ravel()
        return figures.reshape(self.shape)
