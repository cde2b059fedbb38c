"""Plans that count people, over sources that do not fit."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import dpcore as dp
from dpcore.anonymization import KAnonymity, Plan
from dpcore.anonymization.hierarchies.suggest import suggest_together
from dpcore.engines import base
from dpcore.evaluation import FrontierQuestion
from dpcore.schema.source import Source


@pytest.mark.parametrize(
    "columns", [(), ("age", "sex", "id")], ids=["parquet", "duckdb"]
)
def test_a_plan_that_counts_people_where_rows_do_not_fit(
    tmp_path: Path,
    columns: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Groups of k rows of one person would be written as k-anonymous; such plans were
    refused before.
    """
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 3, 600),
            "sex": rng.choice(["F", "M"], 600),
            "id": rng.integers(0, 150, 600),
        },
    )
    frame.loc[:30, ["age", "id"]] = [9, 7]  # 31 rows in one group, of one person
    (tmp_path / "table").mkdir()
    frame.to_parquet(tmp_path / "table" / "a.parquet", row_group_size=100)
    schema = dp.Schema(
        columns=(
            dp.Integer("age", low=0, high=9),
            dp.Categorical("sex", categories=("F", "M")),
        ),
        unit=dp.PrivacyUnit(max_rows=2, id_column="id"),
    )
    source = Source(
        name="visits", kind="parquet", location=str(tmp_path / "table"), columns=columns
    )
    plan = Plan(
        roles={"age": "quasi-identifier", "sex": "insensitive", "id": "identifier"},
        hierarchies=suggest_together(frame, ["age"]),
        models=(KAnonymity(k=20),),
        limit=0.02,
    )
    tables = []
    for most in (600, 599):
        monkeypatch.setattr(base, "MAX_ROWS_IN_MEMORY", most)
        ledger = dp.MemoryLedger()
        curator = dp.Curator.open(
            source, schema, budget=dp.PureDP(epsilon="1"), ledger=ledger
        )
        curator.anonymize_to(tmp_path / str(most), plan)
        tables.append(pq.read_table(tmp_path / str(most)))
    counts = [table.to_pandas().value_counts().to_dict() for table in tables]
    assert counts[0] == counts[1]
    assert tables[0].schema.metadata == tables[1].schema.metadata
    assert len({*tables[1]["age"].to_pylist()}) > 1
    assert {*tables[1].column_names} == {"age", "sex"}
    points = [
        curator.evaluate(
            FrontierQuestion(plan=plan, ks=(20, 140, 151), limits=(0.02,))
        ).content
    ]
    monkeypatch.setattr(base, "MAX_ROWS_IN_MEMORY", 600)
    points.append(
        curator.evaluate(
            FrontierQuestion(plan=plan, ks=(20, 140, 151), limits=(0.02,))
        ).content
    )
    assert [point.k for point in points[0]] == [20, 140]
    assert points[0] == points[1]
    monkeypatch.setattr(base, "MAX_ROWS_IN_MEMORY", 599)
    with pytest.raises(dp.SchemaError, match="two households"):
        curator.anonymize_to(
            tmp_path / "other", dataclasses.replace(plan, household="sex")
        )
    with pytest.raises(dp.RowsError, match="all rows in memory"):
        curator.anonymize_to(
            tmp_path / "other", dataclasses.replace(plan, method="mondrian")
        )
