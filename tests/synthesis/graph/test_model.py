"""The graphical model against the whole table, multiplied out."""

from __future__ import annotations

import dataclasses
import itertools
import json

import numpy as np
import pytest

from dpcore.errors import InfeasibleError
from dpcore.schema import Domain
from dpcore.synthesis.graph import model as graph_model
from dpcore.synthesis.graph.junction_tree import JunctionTree
from dpcore.synthesis.graph.model import GraphicalModel
from dpcore.tables.counts import project
from tests.statistical import laws
from tests.synthesis.standin import (
    brute_force,
    counted,
    random_cliques,
    random_domain,
    random_model,
    total_variation,
)


@pytest.mark.parametrize("seed", range(60))
def test_marginals_equal_brute_force(seed: int) -> None:
    """Every answer, in a node or across nodes, must be that of the whole table: trees,
    loops, singletons.
    """
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, int(rng.integers(1, 7)))
    model = random_model(rng, domain, random_cliques(rng, domain))
    whole = brute_force(domain, model.factors, model.total)
    for size in range(len(domain.names) + 1):
        for clique in itertools.permutations(domain.names, size):
            if size < 3 or rng.random() < 0.05:
                expected = project(whole, domain.names, clique)
                np.testing.assert_allclose(
                    model.marginal(clique), expected, atol=1e-9, rtol=1e-9
                )


@pytest.mark.parametrize("seed", range(10))
def test_kept_shares_change_no_answer(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pair would be that of another model, or of the pair that was asked before."""
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, 6)
    model = random_model(rng, domain, [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")])
    pairs = [*itertools.permutations(domain.names, 2)]
    kept = [model.marginal(pair) for pair in pairs]
    assert model._shares
    monkeypatch.setattr(graph_model, "MAX_SHARE_CELLS", 0)
    other = dataclasses.replace(model)
    for pair, table in zip(pairs, kept, strict=True):
        np.testing.assert_array_equal(other.marginal(pair), table)
    assert not other._shares


def test_restricted_model_equals_brute_force() -> None:
    """Conditional answers and the number of rows that meet the condition must be those
    of the whole table.
    """
    rng = np.random.default_rng(3)
    for _ in range(40):
        domain = random_domain(rng, 5)
        model = random_model(rng, domain, random_cliques(rng, domain))
        weight = rng.integers(0, 2, domain.size("b")).astype(float)
        weight[rng.integers(0, domain.size("b"))] = 0.5
        chosen = model.restrict({"b": weight})
        whole = (
            brute_force(domain, model.factors, model.total)
            * weight[None, :, None, None, None]
        )
        assert chosen.total == pytest.approx(whole.sum())
        for clique in itertools.combinations(domain.names, 2):
            np.testing.assert_allclose(
                chosen.marginal(clique),
                project(whole, domain.names, clique),
                atol=1e-9,
            )


def test_restricted_to_nothing_is_refused() -> None:
    """Drawing from a condition that no row meets must fail with a reason, not divide by
    zero.
    """
    domain = Domain(names=("a", "b"), sizes=(2, 2))
    model = GraphicalModel(
        tree=JunctionTree.build(domain, [("a", "b")]),
        factors=((("a", "b"), np.eye(2)),),
        total=9.0,
    )
    with pytest.raises(InfeasibleError):
        _ = model.restrict({"a": np.array([1.0, 0.0]), "b": np.array([0.0, 1.0])})


def test_sample_converges_to_the_marginals() -> None:
    """A sample whose marginals differ from the model's would carry wrong relations into
    every table.
    """
    rng = np.random.default_rng(5)
    for _ in range(5):
        domain = random_domain(rng, 6)
        model = random_model(rng, domain, random_cliques(rng, domain))
        codes = model.sample_codes(200_000, rng)
        for clique in itertools.combinations(domain.names, 2):
            assert (
                total_variation(counted(codes, domain, clique), model.marginal(clique))
                < 0.01
            )


def siblings(seed: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """B and C drawn with parent A only, 20 cells each; and the table of B and C that
    independence expects.
    """
    domain = Domain(names=("a", "b", "c"), sizes=(3, 20, 20))
    rng = np.random.default_rng(seed)
    model = random_model(rng, domain, [("a", "b"), ("a", "c")])
    return counted(
        model.sample_codes(rows, rng), domain, ("a", "b", "c")
    ), model.marginal(("a", "b", "c"))


def test_siblings_stay_independent_given_their_parent() -> None:
    """One order of rows for all children invents correlations (mbi 1.1.0): distance 0.9
    in place of 0.05.
    """
    drawn, expected = siblings(seed=7, rows=50_000)
    scaled = (
        expected
        * drawn.sum(axis=(1, 2), keepdims=True)
        / expected.sum(axis=(1, 2), keepdims=True)
    )
    assert laws.chi_square_of_counts(drawn.ravel(), scaled.ravel()) > laws.FALSE_ALARM


def test_columns_that_share_nothing_come_out_even() -> None:
    """Pairs of 60 free columns had the noise of a sample: rows are so many that swaps
    leave them as drawn.
    """
    domain = Domain(names=("a", "b", "c", "d"), sizes=(4, 5, 6, 7))
    rng = np.random.default_rng(3)
    model = random_model(rng, domain, [(name,) for name in domain.names])
    even = model.sample_codes(20_000, rng)
    free = {name: rng.permutation(codes) for name, codes in even.items()}  # the twin
    off = [
        sum(
            total_variation(counted(codes, domain, pair), model.marginal(pair))
            for pair in itertools.combinations(domain.names, 2)
        )
        for codes in (even, free)
    ]
    assert off[0] < 0.5 * off[1]


def test_siblings_drawn_in_one_order_would_be_caught() -> None:
    """The twin: B and C handed out along one order of the same rows must be
    rejected.
    """
    drawn, expected = siblings(seed=7, rows=50_000)
    ordered = np.zeros_like(drawn)
    for a in range(len(drawn)):
        b = np.repeat(np.arange(20), drawn[a].sum(axis=1))
        c = np.repeat(np.arange(20), drawn[a].sum(axis=0))
        np.add.at(ordered[a], (b, c), 1)
    scaled = (
        expected
        * drawn.sum(axis=(1, 2), keepdims=True)
        / expected.sum(axis=(1, 2), keepdims=True)
    )
    assert laws.chi_square_of_counts(ordered.ravel(), scaled.ravel()) < laws.FALSE_ALARM


def test_json_gives_the_same_model() -> None:
    """A stored model must answer as the one that was fitted."""
    rng = np.random.default_rng(11)
    domain = random_domain(rng, 5)
    model = random_model(rng, domain, random_cliques(rng, domain))
    again = GraphicalModel.from_dict(json.loads(json.dumps(model.to_dict())))
    for clique in itertools.combinations(domain.names, 2):
        np.testing.assert_allclose(again.marginal(clique), model.marginal(clique))


def test_long_chains_stay_in_the_range_of_floats() -> None:
    """A product over 300 nodes must not overflow to infinity or vanish to 0."""
    names = tuple(f"c{i}" for i in range(300))
    domain = Domain(names=names, sizes=(2,) * 300)
    links = list(itertools.pairwise(names))
    for scale in (1e-5, 1e5):
        factors = tuple(
            (link, scale * np.array([[2.0, 1.0], [1.0, 2.0]])) for link in links
        )
        model = GraphicalModel(
            tree=JunctionTree.build(domain, links), factors=factors, total=12.0
        )
        np.testing.assert_allclose(
            model.marginal(("c0", "c1")), [[4.0, 2.0], [2.0, 4.0]]
        )
        assert model.restrict({"c7": np.array([1.0, 0.0])}).total == pytest.approx(6.0)
