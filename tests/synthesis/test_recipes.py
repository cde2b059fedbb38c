"""Tree and Adaptive: what they read, what they pay, and what comes out, also at the
edges.
"""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest

import dpcore as dp
from dpcore.accounting.loss import Loss
from dpcore.errors import InfeasibleError, ParameterError
from dpcore.progress import ignore_stage_progress
from dpcore.schema import Domain
from dpcore.synthesis import Adaptive, Recipe, SyntheticModel, Tree, load_model
from tests.statistical import laws
from tests.synthesis.standin import (
    Table,
    as_release,
    counted,
    models_equal,
    random_table,
    total_variation,
)

RECIPES: list[Recipe] = [Tree(), Adaptive(), Adaptive(degree=3, rounds=3)]
LOSSES: list[Loss] = [dp.PureDP(epsilon=2), dp.ZCDP(rho="0.1")]
SIZES = (6, 3, 12, 2, 9, 5)


def fitted(recipe: Recipe, table: Table, loss: Loss) -> SyntheticModel:
    """The model of one run."""
    recipe.check(table.domain)
    _, model = recipe.fit(table.measurer(loss), ignore_stage_progress)
    assert isinstance(model, SyntheticModel)
    return model


def error(model: SyntheticModel, table: Table) -> float:
    """Mean distance of the model's pairs from the table's."""
    pairs = itertools.combinations(table.domain.names, 2)
    return float(
        np.mean([total_variation(model.marginal(p), table.count(p, {})) for p in pairs])
    )


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("loss", LOSSES)
def test_charges_equal_what_was_read(recipe: Recipe, loss: Loss) -> None:
    """Every read of exact counts must be in the events, in order, and all events
    together fit the loss.
    """
    table = random_table(np.random.default_rng(1), 3000, SIZES)
    measurer = table.measurer(loss, rows=2)
    recipe.fit(measurer, ignore_stage_progress)
    paid = [clique for event in measurer.events for clique in event.reads]
    read = [clique for cliques in table.read for clique in cliques]
    assert paid == read
    cost = Fraction(0)
    for event in measurer.events:
        queries = len(event.reads)
        scale = Fraction(event.noise_scale)
        if event.mechanism == "discrete gaussian":
            cost += Fraction(4 * queries) / (2 * scale**2)
        elif event.mechanism == "discrete laplace":
            cost += Fraction(2 * queries) / scale
        else:
            assert event.mechanism == "permute and flip"
            cost += Fraction(4) / scale
    assert cost <= loss.amount
    assert cost >= loss.amount * Fraction(999, 1000)


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("loss", [dp.PureDP(epsilon=1_000_000), dp.ZCDP(rho=1_000_000)])
def test_without_noise_relations_come_out(recipe: Recipe, loss: Loss) -> None:
    """With hardly any noise the model must be far closer to the table than independent
    columns are.
    """
    table = random_table(np.random.default_rng(2), 20_000, SIZES)
    model = fitted(recipe, table, loss)
    alone = [
        total_variation(
            np.multiply.outer(
                *(table.count((name,), {}).astype(float) for name in pair)
            ),
            table.count(pair, {}),
        )
        for pair in itertools.combinations(table.domain.names, 2)
    ]
    assert error(model, table) < 0.35 * float(np.mean(alone))
    for clique in model.cliques:
        assert total_variation(model.marginal(clique), table.count(clique, {})) < 0.02


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("loss", LOSSES)
def test_drawn_rows_follow_the_model(recipe: Recipe, loss: Loss) -> None:
    """What is drawn must be what the model answers, merged values included."""
    table = random_table(np.random.default_rng(3), 2000, (6, 30, 12, 2))
    model = fitted(recipe, table, loss)
    codes = model.sample_codes(100_000, np.random.default_rng(4))
    for pair in itertools.combinations(table.domain.names, 2):
        assert (
            total_variation(counted(codes, table.domain, pair), model.marginal(pair))
            < 0.03
        )


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize(
    "loss", [dp.PureDP(epsilon="0.001"), dp.ZCDP(rho="1e-9"), dp.ZCDP(rho=1000)]
)
@pytest.mark.parametrize(
    ("rows", "sizes"),
    [
        (1, (3, 4)),
        (50, (7,)),
        (50, (1,)),
        (50, (1, 1, 1)),
        (200, (1, 5, 2)),
        (300, (50, 40, 2)),
    ],
    ids=[
        "one row",
        "one column",
        "one cell",
        "constant columns",
        "one constant column",
        "sparse",
    ],
)
def test_edges(recipe: Recipe, loss: Loss, rows: int, sizes: tuple[int, ...]) -> None:
    """The smallest tables and losses must give a table of possible rows, not an error
    or NaN.
    """
    table = random_table(np.random.default_rng(5), rows, sizes)
    model = fitted(recipe, table, loss)
    assert np.isfinite(model.total)
    assert model.total >= 1
    codes = model.sample_codes(100, np.random.default_rng(6))
    for name, size in zip(table.domain.names, sizes, strict=True):
        assert codes[name].shape == (100,)
        assert 0 <= codes[name].min() <= codes[name].max() < size
    assert model.sample_codes(0, np.random.default_rng(6))[
        table.domain.names[0]
    ].shape == (0,)


@pytest.mark.parametrize("loss", LOSSES)
def test_huge_domain(loss: Loss) -> None:
    """1e18 cells in all must be no trouble: nothing larger than the limit may be
    allocated.
    """
    table = random_table(np.random.default_rng(7), 1000, (1000,) * 6)
    model = fitted(Adaptive(max_cells=100_000), table, loss)
    assert model.graph.tree.cells <= 100_000
    assert len(model.sample_codes(10, np.random.default_rng(8))["c5"]) == 10


@pytest.mark.parametrize("recipe", [Tree(), Adaptive(rounds=1)])
@pytest.mark.proof
def test_two_hundred_columns(recipe: Recipe) -> None:
    """A wide table must come out with all its columns."""
    table = random_table(np.random.default_rng(9), 300, (2, 3) * 100)
    model = fitted(recipe, table, dp.ZCDP(rho=1))
    assert len(model.sample_codes(50, np.random.default_rng(10))) == 200


def test_every_pair_is_asked_about_again() -> None:
    """A pair that was right before the model came, and is wrong in it, would stay
    wrong.
    """
    table = random_table(np.random.default_rng(15), 2000, (3,) * 8)
    fitted(Adaptive(), table, dp.ZCDP(rho=1))
    pairs = set(itertools.combinations(table.domain.names, 2))
    _rows, _columns, asked, _measured, again, *_ = table.read
    assert set(asked) == set(again) == pairs


def test_binary_pairs_are_told_and_their_triangles_asked_about() -> None:
    """Loss would go to distances that cost as much as the numbers, and triples would be
    left to chance.
    """
    table = random_table(np.random.default_rng(16), 5000, (2,) * 6)
    model = fitted(Adaptive(), table, dp.ZCDP(rho=1))
    pairs = set(itertools.combinations(table.domain.names, 2))
    _rows, _columns, _again, told, _measured, asked, *_ = (
        set(each) for each in table.read
    )
    assert told == pairs
    assert asked > pairs
    held = set(map(frozenset, model.cliques))
    for triple in asked - pairs:
        assert all(
            frozenset(pair) in held for pair in itertools.combinations(triple, 2)
        )


@pytest.mark.parametrize(("epsilon", "looks_again"), [("0.01", False), (100, True)])
def test_pure_epsilon_looks_again_where_columns_are_clear(
    epsilon: str | int, looks_again: bool
) -> None:
    """Two rounds would be worse than one where Laplace noise drowns the columns."""
    table = random_table(np.random.default_rng(17), 2000, SIZES)
    reads = []
    for rounds in (1, 2):
        table.read.clear()
        fitted(Adaptive(rounds=rounds), table, dp.PureDP(epsilon=epsilon))
        reads.append(len(table.read))
    assert (reads[1] > reads[0]) == looks_again


def test_cell_limit_holds() -> None:
    """The limit a person sets bounds memory only if the tree that is built keeps to
    it.
    """
    table = random_table(np.random.default_rng(11), 5000, (20,) * 8)
    for limit in (500, 5000, 50_000):
        assert fitted(
            Adaptive(max_cells=limit), table, dp.ZCDP(rho=10)
        ).graph.tree.cells <= max(limit, 160)


def test_weights_decide_what_is_measured() -> None:
    """A pair that a person says matters must be measured before one that does not."""
    rng = np.random.default_rng(12)
    base = rng.integers(0, 8, 4000)
    names = ("a", "b", "c", "d")
    codes = {
        name: np.where(rng.random(4000) < 0.5, base, rng.integers(0, 8, 4000))
        for name in names
    }
    table = Table(codes, Domain(names=names, sizes=(8,) * 4))
    model = fitted(
        Adaptive(weights={("d", "a"): 1e6}, rounds=1, max_cells=90),
        table,
        dp.ZCDP(rho=1),
    )
    assert model.cliques == (("a", "d"),)


def test_stored_model_is_the_same_model() -> None:
    """A model that was saved and loaded must answer, draw and continue as before."""
    table = random_table(np.random.default_rng(13), 3000, SIZES)
    model = fitted(Adaptive(), table, dp.ZCDP(rho="0.1"))
    again = load_model(json.loads(json.dumps(model.to_dict())))
    assert isinstance(again, SyntheticModel)
    pairs = list(itertools.combinations(table.domain.names, 2))
    assert models_equal(model, again, pairs)
    first, second = (
        each.sample_codes(500, np.random.default_rng(14)) for each in (model, again)
    )
    for name in table.domain.names:
        np.testing.assert_array_equal(first[name], second[name])


def test_condition_holds_in_every_row_and_answers_agree() -> None:
    """Rows drawn under a condition must all meet it and follow the model's own
    conditional counts.
    """
    table = random_table(np.random.default_rng(15), 3000, SIZES)
    model = fitted(Adaptive(), table, dp.ZCDP(rho=1))
    chosen = model.given({"c2": [4, 5, 7], "c0": 1})
    codes = chosen.sample_codes(20_000, np.random.default_rng(16))
    assert set(codes["c2"]) <= {4, 5, 7}
    assert set(codes["c0"]) == {1}
    expected = model.marginal(("c0", "c2", "c4"))[1][[4, 5, 7]]
    np.testing.assert_allclose(
        chosen.marginal(("c2", "c4"))[[4, 5, 7]], expected, atol=1e-6
    )
    assert chosen.total == pytest.approx(expected.sum())
    assert (
        total_variation(counted(codes, table.domain, ("c2", "c4"))[[4, 5, 7]], expected)
        < 0.02
    )
    with pytest.raises(ParameterError):
        model.given({"c0": 6})


def test_impossible_condition_is_refused() -> None:
    """A condition that the model has no rows for must say so."""
    codes = {"a": np.zeros(1000, dtype=np.int64), "b": np.zeros(1000, dtype=np.int64)}
    table = Table(codes, Domain(names=("a", "b"), sizes=(2, 2)))
    model = fitted(Tree(), table, dp.ZCDP(rho=100))
    if not model.marginal(("a",))[1] > 0:
        with pytest.raises(InfeasibleError):
            model.given({"a": 1})


@pytest.mark.proof
def test_earlier_release_makes_the_next_one_better() -> None:
    """Measurements that were paid for before must count: two releases together beat the
    second alone.
    """
    table = random_table(np.random.default_rng(17), 5000, (10, 10, 8, 6, 9))
    loss = dp.ZCDP(rho="0.01")
    alone = []
    helped = []
    for _ in range(6):
        first = fitted(Adaptive(), table, dp.ZCDP(rho="0.05"))
        alone.append(error(fitted(Adaptive(), table, loss), table))
        helped.append(
            error(fitted(Adaptive(earlier=as_release(first)), table, loss), table)
        )
    assert np.mean(helped) < 0.8 * np.mean(alone)


def test_earlier_model_of_another_table_is_refused() -> None:
    """Measurements of other columns would be read as if they were of these."""
    model = fitted(
        Tree(), random_table(np.random.default_rng(1), 100, (3, 3)), dp.ZCDP(rho=1)
    )
    with pytest.raises(ParameterError):
        Adaptive(earlier=as_release(model)).check(
            Domain(names=("c0", "c1"), sizes=(3, 4))
        )


def test_intervals_hold_the_true_counts() -> None:
    """Nine cells in ten must lie within the nine-in-ten interval of a column that was
    measured.
    """
    table = random_table(np.random.default_rng(19), 20_000, (30, 20, 10))
    held = 0
    cells = 0
    for _ in range(30):
        model = fitted(Tree(), table, dp.ZCDP(rho="0.1"))
        for name in table.domain.names:
            answer = model.answer((name,), level=0.9)
            assert answer.is_measured
            truth = table.count((name,), {})
            held += int(np.sum((answer.low <= truth) & (truth <= answer.high)))
            cells += answer.values.size
    assert laws.at_least(held, cells, 0.9)
    assert held / cells < 0.97, "wider than its noise says"
    assert not model.answer(("c0", "c1", "c2")).is_measured


@pytest.mark.parametrize(
    "make",
    [
        lambda: Adaptive(degree=4),
        lambda: Adaptive(rounds=0),
        lambda: Adaptive(max_cells=0),
        lambda: Adaptive(weights={("c0", "nobody"): 1.0}).check(
            Domain(names=("c0", "c1"), sizes=(2, 2))
        ),
        lambda: Adaptive(weights={("c0", "c1"): 0.0}).check(
            Domain(names=("c0", "c1"), sizes=(2, 2))
        ),
        lambda: Tree(ordered=frozenset({"nobody"})).check(
            Domain(names=("c0", "c1"), sizes=(2, 2))
        ),
    ],
)
def test_wrong_parameters_are_refused(make: object) -> None:
    """A wrong parameter must be refused before anything is charged."""
    assert callable(make)
    with pytest.raises(ParameterError):
        make()


def test_intervals_hold_where_nothing_was_measured() -> None:
    """An unmeasured clique and merged values must get intervals that hold too, however
    wide.
    """
    table = random_table(np.random.default_rng(20), 3000, (30, 20, 10, 15))
    held = 0
    cells = 0
    for _ in range(10):
        model = fitted(Tree(), table, dp.ZCDP(rho="0.02"))
        for pair in itertools.combinations(table.domain.names, 2):
            answer = model.answer(pair, level=0.9)
            truth = table.count(pair, {})
            held += int(np.sum((answer.low <= truth) & (truth <= answer.high)))
            cells += answer.values.size
    assert held / cells > 0.9


def test_chosen_rows_have_no_interval_of_their_own() -> None:
    """The noise interval of the whole table says nothing about the rows that meet a
    condition.
    """
    table = random_table(np.random.default_rng(21), 3000, (5, 4))
    answer = fitted(Tree(), table, dp.ZCDP(rho=1)).given({"c0": 1}).answer(("c1",))
    assert np.all(np.isinf(answer.high))
    assert not answer.is_measured
