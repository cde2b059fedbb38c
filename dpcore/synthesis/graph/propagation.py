"""Message passing on a junction tree, in plain probabilities.

A state holds one table per node. It is calibrated when neighbors agree on their separator; then each table
is the exact marginal of the product of all potentials. A change of one table is carried to a neighbor by
multiplying the neighbor by (new separator) / (old separator). No logarithms are taken of the large tables,
which is what makes numpy fast enough.

Source: Jensen, Lauritzen, Olesen (1990), the HUGIN scheme; Koller, Friedman (2009), section 10.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.graph.junction_tree import JunctionTree
from dpcore.tables.counts import Values, aligned


class State:
    """Tables of the nodes of a tree, in the order of the tree, and of their separators.

    Attributes:
        tables: one array per node with the node's shape, changed in place; not normalized.
        separators: one array per node, over the columns it shares with its parent.
        log_mass: logarithm of the sum of the product of all potentials, minus infinity when it is 0.
    """

    def __init__(self, tree: JunctionTree, potentials: Sequence[Values]) -> None:
        """Calibrate the product of `potentials`, one array per node, which are taken over and changed."""
        self.tree = tree
        self.tables = list(potentials)
        domain = tree.domain
        self._own = [
            (sum_axes(node, part), broadcast_shape(domain, node, part))
            for node, part in zip(tree.nodes, tree.separators, strict=True)
        ]
        self._above = [
            (sum_axes(tree.nodes[parent], part), broadcast_shape(domain, tree.nodes[parent], part))
            for parent, part in zip(tree.parents, tree.separators, strict=True)
        ]
        self.separators = [np.ones(domain.shape(part)) for part in tree.separators]
        self.log_mass = 0.0
        for i in range(len(self.tables) - 1, -1, -1):
            # Scaled on the way, because a product over many nodes leaves the range of floats.
            mass = float(self.tables[i].sum())
            self.log_mass += math.log(mass) if mass > 0 else -math.inf
            self.tables[i] *= 1 / mass if mass > 0 else 0.0
            if i:
                self.up(i)
        for i in range(1, len(self.tables)):
            self.down(i)

    def up(self, i: int) -> None:
        """Tell the parent of node i what node i holds."""
        axes, _ = self._own[i]
        _, shape = self._above[i]
        self._carry(i, np.asarray(self.tables[i].sum(axis=axes)), self.tree.parents[i], shape)

    def down(self, i: int) -> None:
        """Tell node i what its parent holds."""
        axes, _ = self._above[i]
        _, shape = self._own[i]
        self._carry(i, np.asarray(self.tables[self.tree.parents[i]].sum(axis=axes)), i, shape)

    def _carry(self, i: int, new: Values, to: int, shape: tuple[int, ...]) -> None:
        self.tables[to] *= divide(new, self.separators[i]).reshape(shape)
        self.separators[i] = new


def product_potentials(tree: JunctionTree, factors: Iterable[tuple[Clique, Values]]) -> list[Values]:
    """One potential per node: the product of the factors it holds, each put into the smallest fitting node.

    Args:
        factors: (clique, table) with axes in the clique's order; each clique fits into a node.
    """
    potentials = [np.ones(tree.domain.shape(node)) for node in tree.nodes]
    for clique, table in factors:
        i = tree.node_of(clique)
        assert i is not None
        potentials[i] *= aligned(table, clique, tree.nodes[i])
    return potentials


def divide(above: Values, below: Values) -> Values:
    """above / below, and 0 where below is 0 (then above is 0 too)."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def sum_axes(node: Clique, part: Clique) -> tuple[int, ...]:
    """Axes of a table over `node` that a marginal over `part` sums away."""
    return tuple(i for i, name in enumerate(node) if name not in part)


def broadcast_shape(domain: Domain, node: Clique, part: Clique) -> tuple[int, ...]:
    """Shape in which a table over `part`, in the node's order, multiplies with a table over `node`."""
    return tuple(domain.size(name) if name in part else 1 for name in node)
