"""One or two columns counted exactly, beside another table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dpcore as dp
from dpcore.engines import base
from dpcore.evaluation import CountsQuestion, CountsReport, DistancesQuestion
from dpcore.evaluation.utility import counts
from dpcore.schema.domain import Clique
from dpcore.tables.distance import total_variation
from dpcore.tables.rows import PublicTable
from tests.contracts.engine_kinds import parquet_engine

SCHEMA = dp.Schema(
    columns=(
        dp.Categorical("sex", categories=("F", "M"), missing=True),
        dp.Integer("age", low=0, high=99, bin_width=50),
    ),
    unit=dp.PrivacyUnit(max_rows=1),
)
ROWS = pd.DataFrame({"sex": ["F", "F", "M", "M"], "age": [3, 4, 70, 140]})


@pytest.fixture
def curator() -> dp.Curator:
    return dp.Curator.open(
        ROWS, SCHEMA, budget=dp.PureDP(epsilon="1"), ledger=dp.MemoryLedger()
    )


def test_counts_are_exact_and_noted(curator: dp.Curator) -> None:
    """SEEDS A2: the original would be seen as shares only, or values above the bounds
    would vanish.
    """
    (found,) = curator.evaluate(CountsQuestion(cliques=(("age",),))).content
    assert found.original.tolist() == [2, 2]
    assert found.other is None
    assert found.labels == (("0 to 49", "50 to 99"),)
    last = curator.lines()[-1]
    assert (last.state, last.content["about"]) == ("outside", ["age"])
    assert curator.balance().spent == 0


@pytest.mark.parametrize("shape", [(2, 2), (2, 9), (14, 14), (20, 3)])
@pytest.mark.parametrize("rows", [300, 3_000])
def test_unrelated_tables_stay_below_their_limit(
    shape: tuple[int, int], rows: int
) -> None:
    """SEEDS A19: chance would pass for a relation, or a relation for chance.

    The limit is that of tables drawn with the same totals, by another way.
    """
    rng = np.random.default_rng(sum(shape) + rows)
    totals = [
        rng.multinomial(rows, rng.dirichlet(np.full(size, 2.0))) for size in shape
    ]
    drawn = stats.random_table(*totals, seed=1).rvs(1_000)
    distances = np.array(
        [total_variation(*pair) for pair in drawn.reshape(-1, 2, *shape)]
    )
    limit = counts.unrelated_distance_limit(drawn[0])
    assert distances.max() < limit
    assert limit < distances.mean() + 12 * distances.std()
    # the twin: rows that all agree exceed it
    same = np.diag(rng.multinomial(rows, np.full(min(shape), 1 / min(shape))))
    shuffled = stats.random_table(same.sum(axis=1), same.sum(axis=0), seed=1).rvs()
    assert total_variation(same, shuffled) > counts.unrelated_distance_limit(same)


def test_a_column_of_one_value_is_unrelated() -> None:
    """A table of one line has nothing to be related to."""
    assert counts.unrelated_distance_limit(np.array([[3, 4], [0, 0]])) == 0


def test_a_lost_link_is_seen(curator: dp.Curator) -> None:
    """SEEDS A19: Cramér's V of a table whose columns were drawn one by one falls to
    0.
    """
    apart = PublicTable(
        pd.DataFrame({"sex": ["F", "M", "F", "M"], "age": [3, 3, 70, 70]})
    )
    (found,) = curator.evaluate(
        CountsQuestion(cliques=(("sex", "age"),), table=apart)
    ).content
    assert found.original.tolist() == [[2, 0], [0, 2], [0, 0]]
    assert found.association == (pytest.approx(1.0), pytest.approx(0.0))
    assert found.expected_if_independent.tolist() == [[1, 1], [1, 1], [0, 0]]
    assert np.array_equal(found.other, [[1, 1], [1, 1], [0, 0]])


def test_the_same_rows_count_at_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figures would jump where a table no longer fits: there, each person counts with
    few rows alone.
    """
    ROWS.assign(id=[1, 1, 1, 2]).to_parquet(tmp_path / "a.parquet")
    unit = dp.PrivacyUnit(max_rows=2, id_column="id")
    schema = dp.Schema(columns=SCHEMA.columns, unit=unit)
    found = []
    for most in (4, 3):
        monkeypatch.setattr(base, "MAX_ROWS_IN_MEMORY", most)
        curator = dp.Curator.open(
            parquet_engine(tmp_path / "a.parquet", schema, key=b"k" * 32),
            schema,
            budget=dp.PureDP(epsilon="1"),
            ledger=dp.MemoryLedger(),
            identity="visits",
        )
        (sex,) = curator.evaluate(
            CountsQuestion(cliques=(("sex",),), table=PublicTable(ROWS))
        ).content
        assert sex.other is not None
        assert (sex.original.sum(), sex.other.sum()) == (3, 4)
        found.append(sex.original.tolist())
    assert found[0] == found[1]


def test_distances_of_as_many_pairs_as_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """One pair too many would leave a page without any figure; or with none that says
    what is missing.
    """
    wide = dp.Integer("wide", low=0, high=99)
    schema = dp.Schema(columns=(*SCHEMA.columns, wide), unit=SCHEMA.unit)
    rows = ROWS.assign(wide=[1, 2, 3, 4])
    curator = dp.Curator.open(
        rows, schema, budget=dp.PureDP(epsilon="1"), ledger=dp.MemoryLedger()
    )

    def pairs(most: int) -> list[Clique]:
        monkeypatch.setattr(counts, "MAX_PAIRS_CELLS", most)
        return counts.choose_pairs_to_count(schema.domain)

    def distances(other: pd.DataFrame) -> dict[Clique, float]:
        cliques = (("sex",), *pairs(10**6))
        return curator.evaluate(
            DistancesQuestion(cliques=cliques, table=PublicTable(other))
        ).content

    sizes = {name: schema.domain.size(name) for name in schema.domain.names}
    small = sizes["sex"] * sizes["age"]
    middle = small + sizes["age"] * sizes["wide"]
    for most, number in (
        (small - 1, 0),
        (small, 1),
        (middle - 1, 1),
        (middle, 2),
        (10**6, 3),
    ):
        assert len(pairs(most)) == number
    assert pairs(small) == [("sex", "age")]
    same = distances(rows)
    other = distances(rows.assign(age=3))
    assert list(same) == list(other) == [("sex",), *pairs(10**6)]
    assert set(same.values()) == {0}
    assert (other["sex",], other["sex", "age"]) == (0, 0.5)
    with pytest.raises(dp.SchemaError, match="has no rows"):
        distances(rows[:0])


# Both tables are counted over the cells of the schema.
FIRST = pd.DataFrame({"sex": ["F", "F", "M", None], "age": [3, 60, 70, 80]})
SECOND = pd.DataFrame({"sex": ["M"], "age": [10]})


def compared(other: pd.DataFrame, *columns: str) -> tuple[CountsReport, ...]:
    curator = dp.Curator.open(
        FIRST, SCHEMA, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    cliques = tuple((name,) for name in columns)
    return curator.evaluate(
        CountsQuestion(cliques=cliques, table=PublicTable(other))
    ).content


def test_both_tables_have_the_same_cells() -> None:
    """Both tables must be counted over the schema's cells, or the charts would overlay
    different things.
    """
    sex, age = compared(SECOND, "sex", "age")
    assert (sex.columns, sex.labels) == (("sex",), (("F", "M", "(missing)"),))
    assert (sex.original.tolist(), sex.distance) == ([2, 1, 1], 0.75)
    assert sex.other is not None
    assert sex.other.tolist() == [0, 1, 0]
    assert age.labels == (("0 to 49", "50 to 99"),)
    assert age.other is not None
    assert (age.original.tolist(), age.other.tolist()) == ([1, 3], [1, 0])


def test_columns_that_one_table_lacks_are_refused() -> None:
    """A missing column would end in an error of pandas that names it, and a row of
    nothing in a division.
    """
    with pytest.raises(dp.SchemaError, match="no column 'sex'"):
        compared(SECOND[["age"]], "sex")
    (age,) = compared(SECOND.iloc[:0], "age")
    with pytest.raises(dp.SchemaError, match="no rows"):
        age.distance  # noqa: B018


def test_a_report_prints_no_figure() -> None:
    """The distance of the original from a release would be in a log."""
    curator = dp.Curator.open(
        FIRST, SCHEMA, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    report = curator.evaluate(
        DistancesQuestion(cliques=(("age",),), table=PublicTable(SECOND))
    )
    assert report.content == {("age",): 0.75}
    assert "0.75" not in repr(report)
