"""Junction trees: they cover the cliques, hang together, and keep to their limit."""

from __future__ import annotations

import itertools

import numpy as np

from dpcore.schema import Domain
from dpcore.synthesis.graph.junction_tree import BoundedTree, JunctionTree
from tests.synthesis.standin import random_cliques, random_domain


def test_every_clique_has_a_node_and_columns_hang_together() -> None:
    """Without the running intersection property message passing gives wrong answers
    without an error.
    """
    for seed in range(300):
        rng = np.random.default_rng(seed)
        domain = random_domain(rng, int(rng.integers(1, 9)))
        cliques = random_cliques(rng, domain)
        tree = JunctionTree.build(domain, cliques)
        assert all(tree.find_node(clique) is not None for clique in cliques)
        assert set(itertools.chain(*tree.nodes)) == set(domain.names)
        for i, (node, parent, part) in enumerate(
            zip(tree.nodes, tree.parents, tree.separators, strict=True)
        ):
            before = {name for each in tree.nodes[:i] for name in each}
            assert parent < i
            assert set(part) == (before & set(node))
            assert not part or set(part) <= set(tree.nodes[parent])


def test_nodes_come_depth_first() -> None:
    """The walk of the fit carries beliefs along one branch at a time; another order
    would lose them.
    """
    rng = np.random.default_rng(1)
    for _ in range(100):
        domain = random_domain(rng, 8)
        tree = JunctionTree.build(domain, random_cliques(rng, domain))
        path: list[int] = []
        for i, parent in enumerate(tree.parents):
            while path and path[-1] != parent:
                path.pop()
            assert path or i == 0
            path.append(i)


def test_loop_is_triangulated_and_counted() -> None:
    """A limit on the cliques alone would not see the cells that a loop of pairs forces
    into the tree.
    """
    domain = Domain(names=tuple("abcd"), sizes=(10, 10, 10, 10))
    tree = JunctionTree.build(domain, [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    assert tree.cells == 2000


def test_room_refuses_what_would_pass_the_limit() -> None:
    """The limit must be on the real tree, also for a clique that closes a loop."""
    domain = Domain(names=tuple("abcd"), sizes=(10, 10, 10, 10))
    room = BoundedTree(domain, 1999)
    assert all(room.add(clique) for clique in [("a", "b"), ("b", "c"), ("c", "d")])
    assert not room.add(("d", "a"))
    assert JunctionTree.build(domain, room.cliques).cells == 300


def test_huge_domain_is_counted_without_overflow() -> None:
    """Cells are unbounded integers: 60 columns of 10 cells must be refused, not wrapped
    to a small number.
    """
    names = tuple(f"c{i}" for i in range(60))
    domain = Domain(names=names, sizes=(10,) * 60)
    assert JunctionTree.build(domain, [names]).cells == 10**60
    assert not BoundedTree(domain, 10**18).add(names)
