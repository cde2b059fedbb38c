"""Junction trees: trees of larger tables that cover a set of cliques.

The columns of a clique must all be in one node, and the nodes with a given column must
be connected. Then exact answers need no table larger than a node. Finding the smallest
tree is NP-hard; columns are eliminated greedily, the one whose node has the fewest
cells first.

Source: Lauritzen, Spiegelhalter (1988); Koller, Friedman (2009), sections 9.4 and 10.4.
"""

from __future__ import annotations

import functools
import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dpcore.schema.domain import Clique, Domain


@dataclass(frozen=True, kw_only=True)
class JunctionTree:
    """A junction tree; its nodes are in depth-first order.

    Attributes:
        domain: of all columns; each is in at least one node.
        nodes: cliques with their columns in ascending size, so that the longest axis is
            the last.
        parents: position of each node's parent, -1 for the first node.
        separators: the columns a node shares with its parent; () for the first node and
            between parts of the tree without common columns.
    """

    domain: Domain
    nodes: tuple[Clique, ...]
    parents: tuple[int, ...]
    separators: tuple[Clique, ...]

    @classmethod
    def build(cls, domain: Domain, cliques: Iterable[Clique]) -> JunctionTree:
        """Build a junction tree in which some node contains each clique."""
        masks = eliminate_columns(
            domain.sizes, [clique_to_mask(domain, clique) for clique in cliques]
        )
        order, parents = _join_nodes(masks)
        ranked = sorted(range(len(domain.names)), key=lambda i: (domain.sizes[i], i))
        nodes = [_mask_to_names(domain, masks[i], ranked) for i in order]
        return cls(
            domain=domain,
            nodes=tuple(nodes),
            parents=tuple(parents),
            separators=tuple(
                tuple(name for name in node if parent >= 0 and name in nodes[parent])
                for node, parent in zip(nodes, parents, strict=True)
            ),
        )

    @property
    def cells(self) -> int:
        """Cells of all nodes together; memory and time grow with them."""
        return sum(self.domain.cells(node) for node in self.nodes)

    def find_node(self, clique: Iterable[str]) -> int | None:
        """Return the index of the smallest node that contains the clique, or None."""
        columns = set(clique)
        around = [i for i, node in enumerate(self.nodes) if columns.issubset(node)]
        return min(around, key=lambda i: self.domain.cells(self.nodes[i]), default=None)


class BoundedTree:
    """A growing set of cliques with a junction tree of at most `limit` cells.

    Attributes:
        nodes: bit masks of the present nodes.
    """

    def __init__(
        self, domain: Domain, limit: int, nodes: Iterable[Clique] = ()
    ) -> None:
        """Start with a tree of these nodes, even if they exceed the limit."""
        self.domain = domain
        self.limit = limit
        self.nodes = eliminate_columns(
            domain.sizes, [clique_to_mask(domain, node) for node in nodes]
        )

    def add(self, clique: Clique) -> bool:
        """Add the clique if the tree stays within the limit; return whether it did."""
        mask = clique_to_mask(self.domain, clique)
        if any(mask & node == mask for node in self.nodes):
            return True
        nodes = eliminate_columns(self.domain.sizes, [*self.nodes, mask])
        if tree_cells(self.domain.sizes, nodes) > self.limit:
            return False
        self.nodes = nodes
        return True

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """The nodes as tuples of columns."""
        return tuple(mask_to_clique(self.domain, node) for node in self.nodes)

    def keep_only(self, cliques: Iterable[Clique]) -> None:
        """Drop all cliques except these, if that makes the tree smaller.

        Args:
            cliques: added before.
        """
        nodes_of_these = eliminate_columns(
            self.domain.sizes,
            [clique_to_mask(self.domain, clique) for clique in cliques],
        )
        self.nodes = min(
            nodes_of_these,
            self.nodes,
            key=lambda nodes: tree_cells(self.domain.sizes, nodes),
        )


def eliminate_columns(sizes: Sequence[int], cliques: Iterable[int]) -> list[int]:
    """Return the maximal cliques made by eliminating columns, as bit masks.

    Args:
        sizes: cells of each column.
        cliques: bit masks of columns that must meet.
    """
    weights = [math.log(size) for size in sizes]
    weight = weights.__getitem__
    neighbors = [0] * len(sizes)
    for clique in cliques:
        for i in _mask_to_indices(clique):
            neighbors[i] |= clique & ~(1 << i)
    # Maps each column to the log of the number of cells in the node that its
    # elimination would make.
    costs = {
        i: weights[i] + sum(map(weight, _mask_to_indices(near)))
        for i, near in enumerate(neighbors)
    }
    nodes: list[int] = []
    nodes_with: list[list[int]] = [[] for _ in sizes]  # for each column
    cheapest = [(cost, i) for i, cost in costs.items()]
    heapq.heapify(cheapest)
    while costs:
        cost, i = heapq.heappop(cheapest)
        if costs.get(i) != cost:
            continue  # an outdated entry
        del costs[i]
        near = neighbors[i]
        node = near | 1 << i
        # A node inside an earlier node is not needed.
        if new := not any(node & other == node for other in nodes_with[i]):
            nodes.append(node)
        for j in _mask_to_indices(near):
            neighbors[j] = (neighbors[j] | near) & ~(1 << j | 1 << i)
            costs[j] = weights[j] + sum(map(weight, _mask_to_indices(neighbors[j])))
            heapq.heappush(cheapest, (costs[j], j))
            if new:
                nodes_with[j].append(node)
    return nodes


def tree_cells(sizes: Sequence[int], nodes: Iterable[int]) -> int:
    """Return the cells of all nodes together."""
    return sum(
        math.prod(map(sizes.__getitem__, _mask_to_indices(node))) for node in nodes
    )


def _join_nodes(nodes: Sequence[int]) -> tuple[list[int], list[int]]:
    """Join the nodes into a tree with the largest overlaps, in depth-first order.

    It is the spanning tree with the most shared columns. For the nodes of an
    elimination it is a junction tree: Koller, Friedman (2009), theorem 10.4.

    Returns: the nodes in order; and for each, its parent's place in that order, or -1.
    """
    children: list[list[int]] = [[] for _ in nodes]
    # Prim's algorithm. Maps each node outside the tree to the node inside that shares
    # the most columns with it.
    nearest = dict.fromkeys(range(1, len(nodes)), 0)

    def overlap(i: int) -> int:
        return (nodes[i] & nodes[nearest[i]]).bit_count()

    while nearest:
        new = max(nearest, key=overlap)
        children[nearest.pop(new)].append(new)
        for i in nearest:
            if (nodes[i] & nodes[new]).bit_count() > overlap(i):
                nearest[i] = new
    # Number the nodes in depth-first order.
    order: list[int] = []
    parents: list[int] = []
    waiting = [(0, -1)]
    while waiting:
        node, parent = waiting.pop()
        waiting += [(child, len(order)) for child in reversed(children[node])]
        order.append(node)
        parents.append(parent)
    return order, parents


def clique_to_mask(domain: Domain, clique: Iterable[str]) -> int:
    """Return the clique as a bit mask over the columns of the domain."""
    return sum(1 << domain.names.index(name) for name in clique)


def mask_to_clique(domain: Domain, mask: int) -> Clique:
    """Return the columns of a bit mask, in the order of the domain."""
    return _mask_to_names(domain, mask, range(len(domain.names)))


def _mask_to_names(domain: Domain, mask: int, ranked: Sequence[int]) -> Clique:
    return tuple(domain.names[i] for i in ranked if mask >> i & 1)


@functools.lru_cache(maxsize=1 << 16)
def _mask_to_indices(mask: int) -> tuple[int, ...]:
    """Return the indices of the columns in a bit mask."""
    columns = []
    while mask:
        low = mask & -mask
        columns.append(low.bit_length() - 1)
        mask ^= low
    return tuple(columns)
