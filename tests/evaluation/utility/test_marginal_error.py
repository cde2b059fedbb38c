"""Total variation distances of all small marginals, against counting by hand."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.evaluation import measure_marginal_error

SCHEMA = dp.Schema(
    columns=(
        dp.Integer("a", low=0, high=9),
        dp.Categorical("b", categories=("x", "y"), missing=True),
        dp.Real("c", low=0, high=1, bin_width=0.25),
        dp.Categorical("d", categories=("p", "q"), other=True),
    ),
    unit=dp.PrivacyUnit(max_rows=1),
)
NAMES = SCHEMA.domain.names


def table(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 10, rows)
    return pd.DataFrame(
        {
            "a": a,
            "b": np.where(
                a > rng.integers(0, 10, rows), "x", rng.choice(["x", "y", None], rows)
            ),
            "c": rng.random(rows),
            "d": rng.choice(["p", "q", "r", "s"], rows),
        },
    )


def by_hand(
    first: pd.DataFrame, second: pd.DataFrame, clique: tuple[str, ...]
) -> float:
    shares = []
    for frame in (first, second):
        codes = SCHEMA.encode(frame)
        shares.append(
            Counter(zip(*(codes[name].tolist() for name in clique), strict=True))
        )
    cells = shares[0].keys() | shares[1].keys()
    return (
        sum(abs(shares[0][c] / len(first) - shares[1][c] / len(second)) for c in cells)
        / 2
    )


def test_against_counting_by_hand() -> None:
    """Every mean, worst and pair must be the distance that counting cell by cell
    gives.
    """
    first = table(500, 1)
    second = table(300, 2)
    found = measure_marginal_error(first, second, SCHEMA, ways=(1, 2, 3, 4))
    assert found.columns == NAMES
    for way in found.ways:
        distances = {
            c: by_hand(first, second, c) for c in itertools.combinations(NAMES, way.way)
        }
        assert way.cliques == len(distances)
        assert way.mean == pytest.approx(np.mean(list(distances.values())), abs=1e-12)
        assert way.worst == pytest.approx(max(distances.values()), abs=1e-12)
        assert distances[way.worst_clique] == pytest.approx(way.worst, abs=1e-12)
    for i, j in itertools.product(range(4), repeat=2):
        clique = tuple(dict.fromkeys((NAMES[i], NAMES[j])))
        assert found.pairs[i, j] == pytest.approx(
            by_hand(first, second, clique), abs=1e-12
        )


def test_sparse_marginals_are_sorted_not_allocated() -> None:
    """Cliques of more cells than fit in memory must give the same distances."""
    columns = tuple(dp.Integer(name, low=0, high=99_999) for name in "abcde")
    schema = dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1))
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.integers(0, 100_000, 4_000) for name in "abcde"})
    assert (
        measure_marginal_error(frame, frame.iloc[::-1], schema, ways=(3, 5))
        .ways[1]
        .worst
        == 0
    )
    half = pd.concat([frame.iloc[:2_000], frame.iloc[:2_000]])
    assert measure_marginal_error(frame, half, schema, ways=(5,)).ways[
        0
    ].mean == pytest.approx(0.5)


def test_baselines() -> None:
    """The floor is what sampling does; independent columns are what losing all
    relations does.
    """
    first = table(5_000, 1)
    other = table(5_000, 2)
    one, two = measure_marginal_error(first, other, SCHEMA, ways=(1, 2)).ways
    # a second sample of the same law
    assert two.floor == pytest.approx(two.mean, rel=0.5)
    assert two.independent > 1.5 * two.floor
    assert one.independent == pytest.approx(0, abs=1e-12)
    rng = np.random.default_rng(3)
    shuffled = pd.DataFrame(
        {name: first[name].iloc[rng.permutation(5_000)].to_numpy() for name in NAMES}
    )
    lost = measure_marginal_error(first, shuffled, SCHEMA, ways=(2,)).ways[0]
    assert lost.worst_clique == ("a", "b")
    assert lost.mean == pytest.approx(two.independent, abs=0.03)


def test_figures_are_repeatable() -> None:
    """The same two tables must get the same figures, the floor and a choice of cliques
    too.
    """
    first = table(300, 1)
    second = table(300, 2)
    runs = [
        measure_marginal_error(first, second, SCHEMA, ways=(2, 3), max_cliques=2)
        for _ in range(2)
    ]
    assert runs[0].ways == runs[1].ways
    assert [way.cliques for way in runs[0].ways] == [2, 2]
    assert np.isnan(runs[0].pairs).any()


def test_some_columns_only() -> None:
    """A release of some columns is compared on these."""
    found = measure_marginal_error(
        table(100, 1), table(100, 2)[["c", "a"]], SCHEMA, ways=(1, 2)
    )
    assert found.columns == ("a", "c")
    assert found.ways[1].cliques == 1


@pytest.mark.parametrize("ways", [(), (0,), (5,), (1, 9)])
def test_ways_are_checked(ways: tuple[int, ...]) -> None:
    """Marginals of no or too many columns are refused."""
    with pytest.raises(dp.ParameterError, match="ways"):
        measure_marginal_error(table(10, 1), table(10, 2), SCHEMA, ways=ways)


def test_nothing_to_compare() -> None:
    """Tables without rows, or without a column in common, have no distance."""
    with pytest.raises(dp.SchemaError, match="no rows"):
        measure_marginal_error(table(10, 1), table(0, 1), SCHEMA)
    with pytest.raises(dp.ParameterError, match="in common"):
        measure_marginal_error(table(10, 1), pd.DataFrame({"z": [1]}), SCHEMA)


def test_on_adult(shared: Path) -> None:
    """On Adult: all 1-, 2- and 3-way marginals of 15 columns; independent columns fail
    on pairs alone.
    """
    frame = pd.read_csv(shared / "data" / "adult.csv")
    schema = dp.suggest_schema(frame)
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon=15), ledger=dp.MemoryLedger()
    )
    release = curator.run(
        dp.Independent(columns=schema.domain.names), dp.PureDP(epsilon=15)
    )
    error = measure_marginal_error(frame, release.sample(seed=1), schema)
    assert [way.cliques for way in error.ways] == [15, 105, 455]
    one, two, three = error.ways
    assert one.mean < 0.003
    assert two.mean == pytest.approx(two.independent, abs=0.01)
    assert two.worst_clique == ("education", "education-num")
    assert three.mean > two.mean > 5 * one.floor
