"""Rows drawn along a chain of marginals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dpcore.schema import Clique, Domain
from dpcore.synthesis import ChainModel, load_model
from dpcore.tables.counts import Marginal
from tests.statistical import laws

DOMAIN = Domain(names=("a", "b", "c", "d"), sizes=(3, 4, 2, 5))
TABLE = (
    np.random.default_rng(8).dirichlet(np.full(120, 0.3)).reshape(3, 4, 2, 5) * 30_000
)
WHOLE = Marginal(clique=DOMAIN.names, values=TABLE, variance=1.0, noise="laplace")


def model(*cliques: Clique) -> ChainModel:
    return ChainModel(
        domain=DOMAIN, marginals=tuple(WHOLE.project(clique) for clique in cliques)
    )


def drawn(
    chain: ChainModel, rows: int = 30_000, seed: int = 1
) -> dict[str, np.ndarray]:
    return chain.sample_codes(rows, np.random.default_rng(seed))


def counted(codes: dict[str, np.ndarray], clique: Clique) -> np.ndarray:
    counts = np.zeros(DOMAIN.shape(clique))
    np.add.at(counts, tuple(codes[name] for name in clique), 1)
    return counts


@pytest.mark.parametrize(
    "cliques",
    [
        (("a", "b", "c", "d"),),
        (("a", "b"), ("b", "c"), ("c", "d")),
        (("d", "a"), ("a", "b"), ("c", "a"), ("a",), ()),
        (("b", "a", "c"), ("c", "a", "d")),
        (("a", "b"), ("c", "d")),
        (("a",), ("b",), ("c",), ("d",)),
    ],
    ids=str,
)
def test_measured_marginals_are_kept(cliques: tuple[Clique, ...]) -> None:
    """Where the cliques form a tree, every measured marginal must come back in the
    rows.
    """
    codes = drawn(model(*cliques))
    assert codes.keys() == {name for clique in cliques for name in clique}
    for clique in filter(None, cliques):
        true = WHOLE.project(clique).values
        distance = np.abs(counted(codes, clique) - true).sum() / 2 / 30_000
        assert distance < 0.02 * len(clique)


def test_other_relations_are_those_of_largest_entropy() -> None:
    """Columns two steps apart must be linked through the column between them, and no
    more.
    """
    codes = drawn(model(("a", "b"), ("b", "c")))
    ab, bc, b = (
        WHOLE.project(clique).values for clique in (("a", "b"), ("b", "c"), ("b",))
    )
    expected = np.einsum("ab,bc->abc", ab, bc / b[:, None])
    distance = np.abs(counted(codes, ("a", "b", "c")) - expected).sum() / 2 / 30_000
    assert distance < 0.02


def test_loops_keep_what_they_can() -> None:
    """A loop of cliques has no exact chain: all columns are drawn, the cliques walked
    first are kept.
    """
    chain = model(("a", "b"), ("b", "c"), ("c", "a"))
    codes = drawn(chain)
    assert codes.keys() == {"a", "b", "c"}
    kept = [
        np.abs(counted(codes, clique) - WHOLE.project(clique).values).sum() / 60_000
        < 0.02
        for clique in itertools.combinations("abc", 2)
    ]
    assert sum(kept) >= 2


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_small_tables(rows: int) -> None:
    """No rows, and fewer rows than cells, are tables too."""
    codes = drawn(model(("a", "b"), ("b", "c")), rows)
    assert all(len(column) == rows for column in codes.values())
    assert all((column < DOMAIN.size(name)).all() for name, column in codes.items())


def test_impossible_combinations_do_not_appear() -> None:
    """Cells of no weight must stay empty in the rows, given the column they depend on
    as well.
    """
    values = TABLE.sum(axis=(2, 3))
    values[0, :2] = 0
    values[2, 3] = 0
    marginal = Marginal(clique=("a", "b"), values=values, variance=1.0, noise="laplace")
    codes = drawn(
        ChainModel(domain=DOMAIN, marginals=(marginal, WHOLE.project(("a",))))
    )
    assert (counted(codes, ("a", "b"))[values == 0] == 0).all()


def test_marginals_of_nothing() -> None:
    """All noisy counts at or below 0: rows can still be asked for, and none are drawn
    by themselves.
    """
    marginal = Marginal(
        clique=("a", "b"), values=np.full((3, 4), -2.0), variance=1.0, noise="laplace"
    )
    chain = ChainModel(domain=DOMAIN, marginals=(marginal,))
    assert chain.total < 0
    assert len(drawn(chain, 100)["a"]) == 100


def test_total_comes_from_the_best_marginal() -> None:
    """The number of rows must come from the total with the least noise."""
    noisy = Marginal(
        clique=("a", "b"), values=np.ones((3, 4)), variance=2.0, noise="laplace"
    )
    asked = Marginal(clique=(), values=np.array(17.0), variance=2.0, noise="laplace")
    assert ChainModel(domain=DOMAIN, marginals=(noisy, asked)).total == 17


def test_one_row_at_a_time_follows_the_law() -> None:
    """Drawing one row many times must have the chances of the table."""
    chain = model(("a", "b"), ("b", "c"))
    source = np.random.default_rng(4)
    rows = [chain.sample_codes(1, source) for _ in range(6_000)]
    counts = counted(
        {name: np.array([row[name][0] for row in rows]) for name in "ab"}, ("a", "b")
    )
    expected = WHOLE.project(("a", "b")).values / 30_000 * 6_000
    assert (
        laws.chi_square_of_counts(counts.ravel(), expected.ravel()) > laws.FALSE_ALARM
    )


def test_models_survive_storage() -> None:
    """A stored model must draw the same rows."""
    chain = model(("a", "b"), ("b", "c"))
    again = load_model(chain.to_dict())
    first = drawn(chain, 500)
    second = again.sample_codes(500, np.random.default_rng(1))
    assert all((first[name] == second[name]).all() for name in "abc")
