"""Message passing on a junction tree, with probabilities instead of logarithms.

A state holds one table per node. It is calibrated when neighbors agree on their
separator; then each table is the exact marginal of the product of all potentials. A
change of one table is carried to a neighbor by multiplying the neighbor by (new
separator) / (old separator). No logarithms are taken of the large tables, which makes
numpy fast enough.

Source: Jensen, Lauritzen, Olesen (1990), the HUGIN scheme; Koller, Friedman (2009),
section 10.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.graph.junction_tree import JunctionTree
from dpcore.tables.counts import Values, align_axes

MAX_TAIL_CELLS = 64
"""Most cells of the innermost axes, which a matrix product sums."""


class TreeState:
    """The tables of a tree's nodes and of their separators, in the tree's order.

    Attributes:
        tables: one array per node with the node's shape, changed in place; not
            normalized.
        separators: one array per node, over the columns it shares with its parent.
        log_mass: logarithm of the sum of the product of all potentials, minus infinity
            when it is 0.
    """

    def __init__(self, tree: JunctionTree, potentials: Sequence[Values]) -> None:
        """Calibrate the product of `potentials`, one array per node.

        The arrays are reused and changed.
        """
        self.tree = tree
        self.tables = [np.ascontiguousarray(potential) for potential in potentials]
        domain = tree.domain
        self._in_node = [
            NodeSubset(domain, node, part)
            for node, part in zip(tree.nodes, tree.separators, strict=True)
        ]
        self._in_parent = [
            NodeSubset(domain, tree.nodes[parent], part)
            for parent, part in zip(tree.parents, tree.separators, strict=True)
        ]
        self.separators = [np.ones(domain.shape(part)) for part in tree.separators]
        self.log_mass = 0.0
        for i in range(len(self.tables) - 1, -1, -1):
            # Rescale along the way, because a product over many nodes would leave the
            # range of floats.
            mass = float(self.tables[i].sum())
            self.log_mass += math.log(mass) if mass > 0 else -math.inf
            self.tables[i] *= 1 / mass if mass > 0 else 0.0
            if i:
                self.pass_up(i)
        for i in range(1, len(self.tables)):
            self.pass_down(i)

    def pass_up(self, i: int) -> None:
        """Pass the marginal of node i up to its parent."""
        self._carry(
            i,
            self._in_node[i].sum(self.tables[i]),
            self.tree.parents[i],
            self._in_parent[i],
        )

    def pass_down(self, i: int) -> None:
        """Pass the marginal of the parent down to node i."""
        self._carry(
            i,
            self._in_parent[i].sum(self.tables[self.tree.parents[i]]),
            i,
            self._in_node[i],
        )

    def _carry(self, i: int, new: Values, receiver: int, part: NodeSubset) -> None:
        part.multiply(self.tables[receiver], divide_or_zero(new, self.separators[i]))
        self.separators[i] = new


def product_potentials(
    tree: JunctionTree, factors: Iterable[tuple[Clique, Values]]
) -> list[Values]:
    """Return one potential per node, the product of its factors.

    Args:
        tree: with a node around each clique.
        factors: (clique, table) with axes in the clique's order.
    """
    potentials = [np.ones(tree.domain.shape(node)) for node in tree.nodes]
    for clique, table in factors:
        i = tree.find_node(clique)
        assert i is not None
        potentials[i] *= align_axes(table, clique, tree.nodes[i])
    return potentials


def divide_or_zero(numerator: Values, denominator: Values) -> Values:
    """Divide elementwise; the result is 0 where the denominator is 0."""
    return np.divide(
        numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0
    )


class NodeSubset:
    """Fast marginals and products of a node's table over some of its columns.

    numpy is slow if the innermost axes are short, as those of binary columns are. So
    axes that are all kept or all summed are taken together; outer ones are summed
    first, which are long runs of memory; and the last ones, up to MAX_TAIL_CELLS cells,
    by a product with a matrix of zeros and ones.
    """

    def __init__(self, domain: Domain, node: Clique, part: Clique) -> None:
        sizes = domain.shape(node)
        kept = [name in part for name in node]
        self._size = domain.shape(tuple(name for name in node if name in part))
        first = max(0, len(node) - 1)
        while first and math.prod(sizes[first - 1 :]) <= MAX_TAIL_CELLS:
            first -= 1
        # Merged outer axes, each with its number of cells and whether it is kept.
        self._outer: list[tuple[int, bool]] = []
        for size, keep in zip(sizes[:first], kept[:first], strict=True):
            if self._outer and self._outer[-1][1] == keep:
                size *= self._outer.pop()[0]
            self._outer.append((size, keep))
        self._tail = math.prod(sizes[first:])
        self._table_shape = (*(size for size, _ in self._outer), self._tail)
        self._factor_shape = (
            *(size if keep else 1 for size, keep in self._outer),
            self._tail,
        )
        self._outer_size = math.prod(size for size, keep in self._outer if keep)
        self._tail_matrix = None
        if not all(kept[first:]):
            places = np.indices(sizes[first:]).reshape(len(node) - first, -1)
            inner = [axis for axis in range(len(node) - first) if kept[first + axis]]
            shape = tuple(sizes[first + axis] for axis in inner)
            cells = (
                np.ravel_multi_index(tuple(places[axis] for axis in inner), shape)
                if inner
                else 0
            )
            self._tail_matrix = np.zeros((self._tail, math.prod(shape)))
            self._tail_matrix[np.arange(self._tail), cells] = 1.0

    def sum(self, table: Values) -> Values:
        """Return the marginal of a node's table over these columns."""
        before = 1
        below = table.size
        for size, keep in self._outer:
            below //= size
            if keep:
                before *= size
            else:
                table = np.add.reduce(table.reshape(before, size, below), axis=1)
        if self._tail_matrix is not None:
            table = table.reshape(-1, self._tail) @ self._tail_matrix
        return table.reshape(self._size)

    def multiply(self, table: Values, factor: Values) -> None:
        """Multiply a node's table in place by a factor over these columns."""
        if self._tail_matrix is not None:
            factor = factor.reshape(self._outer_size, -1) @ self._tail_matrix.T
        view = table.reshape(self._table_shape)
        view *= factor.reshape(self._factor_shape)
