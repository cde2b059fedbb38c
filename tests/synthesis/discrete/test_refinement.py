"""Rows brought closer to the pairs that are expected of them, by swaps inside
columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from benchmarks.families import FAMILIES
from dpcore.accounting.events import Event
from dpcore.accounting.loss import Loss
from dpcore.io.folder import ROWS_PER_FILE
from dpcore.mechanisms.measurer import Measurer
from dpcore.schema.domain import Domain
from dpcore.synthesis.discrete import _learner as learner
from dpcore.synthesis.discrete import _refinement as refinement
from dpcore.synthesis.discrete import model as synthetic
from dpcore.synthesis.discrete._rare_values import Grouping
from dpcore.synthesis.discrete._refinement import (
    MAX_VALUES_READ,
    MIN_PASSES,
    MIN_ROWS,
    affordable_passes,
    block_sizes,
    refine_rows,
)
from dpcore.synthesis.discrete.coarse_pairs import CoarsePairs, merge_into_runs
from dpcore.synthesis.discrete.constraints import Constraints
from dpcore.synthesis.discrete.model import SyntheticModel
from dpcore.synthesis.graph.junction_tree import JunctionTree
from dpcore.synthesis.graph.model import GraphicalModel
from dpcore.tables.counts import Marginal, Values
from tests.statistical import laws

SIZES = {"a": 3, "b": 4, "c": 2}
ROWS = 6_000


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def expected_of(joint: Values) -> dict[tuple[str, str], Values]:
    return {
        ("a", "b"): joint.sum(axis=2),
        ("a", "c"): joint.sum(axis=1),
        ("b", "c"): joint.sum(axis=0),
    }


def rows_of(codes: dict[str, np.ndarray], pair: tuple[str, str]) -> Values:
    found = np.zeros([SIZES[name] for name in pair])
    np.add.at(found, tuple(codes[name] for name in pair), 1)
    return found


def apart(
    codes: dict[str, np.ndarray], expected: dict[tuple[str, str], Values]
) -> float:
    return sum(
        float(np.abs(rows_of(codes, pair) - table).sum())
        for pair, table in expected.items()
    )


def drawn(source: np.random.Generator) -> dict[str, np.ndarray]:
    return {name: source.integers(0, size, ROWS) for name, size in SIZES.items()}


def test_pairs_come_closer_and_columns_are_rounded() -> None:
    """If swaps did not lead towards all pairs, or lost the columns, drawn rows would be
    worse than before.
    """
    joint = rng().dirichlet(np.full(24, 1.0)).reshape(3, 4, 2) * ROWS
    expected = expected_of(joint)
    codes = drawn(rng(2))
    found = refine_rows(codes, expected, rng(3), passes=40)
    assert apart(found, expected) < 0.05 * apart(codes, expected)
    for name, axes in (("a", (1, 2)), ("b", (0, 2)), ("c", (0, 1))):
        assert np.abs(np.bincount(found[name]) - joint.sum(axis=axes)).max() < 1 + 1e-9


def test_kept_columns_stay_row_by_row() -> None:
    """A column in a constraint must keep its values where they are, or rows would break
    the constraint.
    """
    joint = rng().dirichlet(np.full(24, 1.0)).reshape(3, 4, 2) * ROWS
    codes = drawn(rng(2))
    found = refine_rows(
        codes, expected_of(joint), rng(3), passes=5, fixed_columns={"a", "b"}
    )
    assert (found["a"] == codes["a"]).all()
    assert (found["b"] == codes["b"]).all()
    assert (found["c"] != codes["c"]).any()


def test_columns_are_rounded_without_bias() -> None:
    """A cell that expects .3 of a row must get one in 3 of 10 draws: else rare values
    are never drawn.
    """
    tables = {("a", "c"): np.array([[ROWS - 10.3, 0.0], [10.0, 0.0], [0.3, 0.0]])}
    codes = {"a": np.zeros(ROWS, dtype=np.int64), "c": np.zeros(ROWS, dtype=np.int64)}
    source = rng(4)
    got = [
        int((refine_rows(codes, tables, source, passes=0)["a"] == 2).sum())
        for _ in range(400)
    ]
    assert laws.share_fits(sum(got), 400, 0.3)
    # rounding to the nearest would never draw it
    assert not laws.share_fits(0, 400, 0.3)


def test_work_is_bounded() -> None:
    """Many rows and columns must not take minutes, and few rows must not lose their
    rare cells.
    """
    fourteen = [10] * 14
    # the rows of a file come in pieces, and so does a million of fifteen columns
    assert affordable_passes(ROWS_PER_FILE, fourteen, 1.0) >= MIN_PASSES
    assert affordable_passes(1_000_000, [10] * 15, 1.0) == MIN_PASSES
    # ten million rows would take minutes
    assert affordable_passes(10_000_000, fourteen, 1.0) == 0
    assert affordable_passes(100_000, [10] * 60, 1.0) == 0
    assert affordable_passes(MIN_ROWS - 1, [2, 2, 2], 1.0) == 0
    passes = affordable_passes(50_000, fourteen, 1.0)
    assert 0 < passes * 2 * 91 * 50_000 <= MAX_VALUES_READ
    assert affordable_passes(20_000, fourteen, 1e6) < affordable_passes(
        20_000, fourteen, 1.0
    )
    # a table of 25 million cells, several times over
    assert affordable_passes(20_000, [5_000, 5_000], 1.0) == 0
    assert affordable_passes(20_000, [7], 1.0) == 0
    # 11,175 tables of the model took eight seconds
    assert affordable_passes(MIN_ROWS, [4] * 150, 1.0) == 0


def test_many_rows_are_drawn_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above 200,000 rows the pairs outside the tree were lost, without a word."""
    whole = {name: np.arange(2) for name in "xy"}
    domain = Domain(names=("x", "y"), sizes=(2, 2))
    table = Marginal(
        clique=("x", "y"),
        values=np.array([[1500.0, 500], [500, 1500]]),
        variance=1.0,
        noise="gaussian",
    )
    model = SyntheticModel(
        domain=domain,
        grouping=Grouping(
            domain=domain, groups=whole, shares={name: np.ones(2) for name in "xy"}
        ),
        graph=GraphicalModel(
            tree=JunctionTree.build(domain, [("x",), ("y",)]), factors=(), total=4_000.0
        ),
        constraints=Constraints(),
        measurements=(table.project(("x",)),),
        outside_pairs=CoarsePairs(groups=whole, tables=(table,)),
    )
    monkeypatch.setattr(refinement, "BLOCK_ROWS", 1_500)
    assert block_sizes(4_001) == [1334, 1334, 1333]
    codes = model.sample_codes(4_001, rng())
    assert len(codes["x"]) == len(codes["y"]) == 4_001
    for block in np.split(np.arange(4_001), np.cumsum(block_sizes(4_001))[:-1]):
        both = ((codes["x"][block] == 0) & (codes["y"][block] == 0)).sum()
        assert abs(int(both) - 500) < 15
    monkeypatch.setattr(refinement, "MAX_WORK_FOR_MIN_PASSES", 0)
    monkeypatch.setattr(refinement, "MAX_VALUES_READ", 0)
    codes = model.sample_codes(4_001, rng())
    assert abs(int(((codes["x"] == 0) & (codes["y"] == 0)).sum()) - 1_000) < 15  # twin


def test_coarse_cells_are_runs() -> None:
    """Runs must be neighbors, and a cell of many rows must stay alone: else peaks are
    smeared.
    """
    groups = merge_into_runs(np.array([5.0, 5, 5, 90, 5, 5, 5, 5]), 4)
    assert groups[3] not in np.delete(groups, 3)
    assert set(np.diff(groups)) <= {0, 1}
    assert (merge_into_runs(np.ones(3), 4) == np.arange(3)).all()


def test_what_was_measured_moves_the_pair() -> None:
    """A clear measurement must be met with the model's columns kept; one of mere noise
    must change little.
    """
    model = np.outer([100.0, 300, 200, 400], [0.5, 0.3, 0.2])
    truth = model.copy()
    truth[:2, 0] += [40, -40]
    truth[:2, 1] += [-40, 40]
    groups = {"x": np.array([0, 1, 2, 2]), "y": np.array([0, 1, 1])}
    empty = CoarsePairs(groups=groups, tables=())
    goal = empty.merge(("x", "y"), truth)

    def moved(variance: float) -> Values:
        table = Marginal(
            clique=("x", "y"), values=goal, variance=variance, noise="gaussian"
        )
        return CoarsePairs(groups=groups, tables=(table,)).adjust_table(
            ("x", "y"), model
        )

    clear = moved(1e-4)
    drowned = moved(1e12)
    assert np.allclose(empty.merge(("x", "y"), clear), goal, atol=0.1)
    assert np.allclose(clear.sum(axis=1), model.sum(axis=1), rtol=1e-2)
    assert np.allclose(clear.sum(axis=0).sum(), 1000, rtol=1e-6)
    assert np.allclose(drowned, model, rtol=1e-2)
    table = Marginal(clique=("x", "y"), values=goal, variance=1e-4, noise="gaussian")
    both = CoarsePairs(groups=groups, tables=(table,))
    assert np.allclose(both.adjust_table(("y", "x"), model.T), clear.T)
    assert np.allclose(
        CoarsePairs.from_dict(both.to_dict()).adjust_table(("x", "y"), model), clear
    )


def test_trees_without_the_pair_draw_it() -> None:
    """Rows of a model must follow a pair that only `CoarsePairs` knows."""
    tree = JunctionTree.build(Domain(names=("x", "y"), sizes=(2, 2)), [("x",), ("y",)])
    graph = GraphicalModel(tree=tree, factors=(), total=4_000.0)
    table = Marginal(
        clique=("x", "y"),
        values=np.array([[1500.0, 500], [500, 1500]]),
        variance=1.0,
        noise="gaussian",
    )
    whole = {name: np.arange(2) for name in "xy"}
    beyond = CoarsePairs(groups=whole, tables=(table,))
    expected = {("x", "y"): beyond.adjust_table(("x", "y"), graph.marginal(("x", "y")))}
    codes = refine_rows(graph.sample_codes(4_000, rng()), expected, rng(2), passes=40)
    assert abs(int(((codes["x"] == 0) & (codes["y"] == 0)).sum()) - 1500) < 20


def test_pairs_outside_the_tree_are_not_chosen_by_chance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of independent columns every pair is as far from its product as a sample is.
    Taken for an error, that made the default worse than `Tree` on such tables.
    """
    (family,) = (family for family in FAMILIES if family.name == "independent")
    frame = family.make(3)
    schema = dp.Schema(
        columns=tuple(
            dp.Categorical(name, categories=tuple(range(size)))
            for name, size in family.sizes.items()
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    loss = dp.ZCDP(rho="0.015")
    asked: list[dict[tuple[str, ...], float]] = []
    split = learner.split_over_best

    def record(domain, cliques, errors, *given):
        asked.append(dict(errors))
        return split(domain, cliques, errors, *given)

    monkeypatch.setattr(learner, "split_over_best", record)

    def share_of_errors() -> float:
        """Errors of the pairs outside the tree over what a sample explains."""
        outside = None
        while outside is None:  # now and then nothing is left for them
            curator = dp.Curator.open(
                frame, schema, budget=loss, ledger=dp.MemoryLedger()
            )
            release = curator.run(dp.Adaptive(), loss)
            outside = release.model.outside_pairs
        explained = sum(
            float(
                np.sqrt(outside.merge(pair, release.model.graph.marginal(pair))).sum()
            )
            for pair in asked[-1]
        )
        return sum(max(0.0, error) for error in asked[-1].values()) / explained

    # one run lies at 0 to .27, or at .31 to .9 in the twin
    assert np.mean([share_of_errors() for _ in range(8)]) < 0.2
    monkeypatch.setattr(learner, "_sampling_distance", lambda table: 0.0)
    assert np.mean([share_of_errors() for _ in range(8)]) > 0.4  # twin


def test_a_run_measures_pairs_outside_its_tree_and_spends_exactly_its_loss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The part that is kept for them would be lost, spent twice, or counted over other
    cells.
    """
    source = rng(3)
    base = source.integers(0, 40, ROWS)
    frame = pd.DataFrame(
        {
            f"x{i}": np.where(
                source.random(ROWS) < 0.6,
                (base + 3 * i) % 40,
                source.integers(0, 40, ROWS),
            )
            for i in range(8)
        },
    )
    schema = dp.Schema(
        columns=tuple(dp.Integer(name, low=0, high=39) for name in frame),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    # by the purse of a run; the first is on made-up rows
    runs_of: dict[int, list[Event]] = {}
    purses = []
    spend = Measurer._spend

    def seen(self: Measurer, loss: Loss, events: Sequence[Event]) -> None:
        purses.append(self._purse)
        runs_of.setdefault(id(self._purse), []).extend(events)
        spend(self, loss, events)

    monkeypatch.setattr(Measurer, "_spend", seen)
    curator = dp.Curator.open(
        frame, schema, budget=dp.ZCDP(rho="9"), ledger=dp.MemoryLedger()
    )
    release = curator.run(dp.Adaptive(max_cells=10_000), dp.ZCDP(rho="5"))

    model = release.model
    assert model.outside_pairs is not None
    outside = [set(table.clique) for table in model.outside_pairs.tables]
    assert outside
    assert not any(
        pair <= set(node) for pair in outside for node in model.graph.tree.nodes
    )
    paid = runs_of[id(purses[-1])]
    spent = sum(
        Fraction(len(one.reads) * one.rows**2) / (2 * Fraction(one.noise_scale) ** 2)
        for one in paid
    )
    assert Fraction(999, 1000) * 5 < spent <= 5
    read = dp.read_release(release.to_json().encode())
    assert read.sample(ROWS, seed=1).equals(release.sample(ROWS, seed=1))

    def off(values: Values, pair: tuple[str, ...]) -> float:
        wrong = values - pd.crosstab(*(frame[name] for name in pair)).to_numpy()
        return float(np.abs(model.outside_pairs.merge(pair, wrong)).sum())

    pairs = [table.clique for table in model.outside_pairs.tables]
    moved, alone = (
        sum(off(of.marginal(pair), pair) for pair in pairs)
        for of in (model, model.graph)
    )
    assert moved < 0.5 * alone


def test_columns_of_measured_triples_stay_row_by_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Swaps look at pairs: a triple that was wanted and paid for would be shuffled
    away.
    """
    source = rng(5)
    one = source.integers(0, 8, ROWS)
    two = source.integers(0, 8, ROWS)
    columns = {
        "one": one,
        "two": two,
        "sum": (one + two) % 8,
        "other": source.integers(0, 8, ROWS),
    }
    schema = dp.Schema(
        columns=tuple(dp.Integer(name, low=0, high=7) for name in columns),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    curator = dp.Curator.open(
        pd.DataFrame(columns),
        schema,
        budget=dp.ZCDP(rho="9"),
        ledger=dp.MemoryLedger(),
    )
    weights = {("one", "two", "sum"): 30.0}
    model = curator.run(dp.Adaptive(degree=3, weights=weights), dp.ZCDP(rho="5")).model

    def share(codes: Mapping[str, np.ndarray]) -> float:
        return float((codes["sum"] == (codes["one"] + codes["two"]) % 8).mean())

    assert ("one", "two", "sum") in {
        tuple(sorted(each, key=list(columns).index)) for each in model.cliques
    }
    swapped = share(model.sample_codes(ROWS, rng()))
    monkeypatch.setattr(
        synthetic, "refine_rows", lambda codes, expected, source, **given: codes
    )
    assert swapped == share(model.sample_codes(ROWS, rng())) > 0.9
    monkeypatch.setattr(synthetic, "refine_rows", refine_rows)
    monkeypatch.setattr(type(model), "_fixed_columns", lambda model, known: frozenset())
    assert share(model.sample_codes(ROWS, rng())) < swapped - 0.005  # twin
