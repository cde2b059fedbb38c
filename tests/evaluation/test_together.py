"""One or two columns counted exactly, beside another table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.engines.streaming import base
from dpcore.engines.streaming.parquet import ParquetEngine
from dpcore.evaluation import Distances, DistancesOf, DistributionsOf, TogetherOf, counted
from dpcore.tables.rows import PublicTable

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
    return dp.Curator.open(ROWS, SCHEMA, budget=dp.PureDP(epsilon="1"), ledger=dp.MemoryLedger())


def test_counts_are_exact_and_noted(curator: dp.Curator) -> None:
    """SEEDS A2: the original would be seen as shares only, or values above the bounds would vanish."""
    found = curator.evaluate(TogetherOf(columns=("age",))).content
    assert found.original.tolist() == [2, 2]
    assert found.other is None
    assert found.labels == (("0 to 49", "50 to 99"),)
    last = curator.lines()[-1]
    assert (last.state, last.content["about"]) == ("outside", ["age"])
    assert curator.balance().spent == 0


def test_a_lost_link_is_seen(curator: dp.Curator) -> None:
    """SEEDS A19: Cramér's V of a table whose columns were drawn one by one falls to 0."""
    apart = PublicTable(pd.DataFrame({"sex": ["F", "M", "F", "M"], "age": [3, 3, 70, 70]}))
    found = curator.evaluate(TogetherOf(columns=("sex", "age"), other=apart)).content
    assert found.original.tolist() == [[2, 0], [0, 2], [0, 0]]
    assert found.association == (pytest.approx(1.0), pytest.approx(0.0))
    assert found.unrelated.tolist() == [[1, 1], [1, 1], [0, 0]]
    assert np.array_equal(found.other, [[1, 1], [1, 1], [0, 0]])


def test_the_same_rows_count_at_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures would jump where a table no longer fits: there, each person counts with few rows alone."""
    ROWS.assign(id=[1, 1, 1, 2]).to_parquet(tmp_path / "a.parquet")
    unit = dp.PrivacyUnit(max_rows=2, id_column="id")
    schema = dp.Schema(columns=SCHEMA.columns, unit=unit)
    found = []
    for most in (4, 3):
        monkeypatch.setattr(base, "MOST_ROWS", most)
        curator = dp.Curator.open(
            ParquetEngine(tmp_path / "a.parquet", schema, key=b"k" * 32),
            schema,
            budget=dp.PureDP(epsilon="1"),
            ledger=dp.MemoryLedger(),
            identity="visits",
        )
        original = curator.evaluate(TogetherOf(columns=("sex",))).content.original.tolist()
        (sex,) = curator.evaluate(DistributionsOf(other=PublicTable(ROWS), columns=("sex",))).content
        assert (sum(original), sex.rows) == (3, (3, 4))
        found.append((original, sex.original.tolist()))
    assert found[0] == found[1]


def test_distances_of_as_many_pairs_as_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """One pair too many would leave a page without any figure; or with none that says what is missing."""
    wide = dp.Integer("wide", low=0, high=99)
    schema = dp.Schema(columns=(*SCHEMA.columns, wide), unit=SCHEMA.unit)
    rows = ROWS.assign(wide=[1, 2, 3, 4])
    curator = dp.Curator.open(rows, schema, budget=dp.PureDP(epsilon="1"), ledger=dp.MemoryLedger())

    def distances(most: int, other: pd.DataFrame) -> Distances:
        monkeypatch.setattr(counted, "MOST_CELLS", most)
        return curator.evaluate(DistancesOf(other=PublicTable(other))).content

    sizes = {name: schema.domain.size(name) for name in schema.domain.names}
    small = sizes["sex"] * sizes["age"]
    middle = small + sizes["age"] * sizes["wide"]
    for most, pairs in ((small - 1, 0), (small, 1), (middle - 1, 1), (middle, 2), (10**6, 3)):
        found = distances(most, rows)
        assert [len(each.columns) for each in found.found] == [1] * 3 + [2] * pairs
        assert found.left_out == 3 - pairs
        assert {each.share for each in found.found} == {0}
    assert distances(small, rows).found[3].columns == ("sex", "age")
    with pytest.raises(dp.ParameterError, match="has no rows"):
        distances(10**6, rows[:0])
