"""Figures about a release are about the rows that count, whatever the size of the
table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpcore as dp
from dpcore.engines import base
from dpcore.evaluation import (
    AttacksQuestion,
    HeldOutAttacksQuestion,
    LearningQuestion,
    PropensityQuestion,
    RowsEvaluation,
    SimilarityQuestion,
)
from dpcore.evaluation.first_rows import FirstRows
from dpcore.tables.rows import PublicTable
from tests.contracts.engine_kinds import parquet_engine

SCHEMA = dp.Schema(
    columns=(
        dp.Integer("age", low=0, high=99),
        dp.Categorical("sex", categories=("F", "M")),
    ),
    unit=dp.PrivacyUnit(max_rows=2, id_column="id"),
)
PEOPLE = 30
OF_EACH = 4
ROWS = pd.DataFrame(
    {"id": [place // OF_EACH for place in range(PEOPLE * OF_EACH)]}
).assign(
    age=lambda rows: rows.index % 100,
    sex="F",
)
RELEASE = PublicTable(ROWS[["age", "sex"]])
ABOUT_A_RELEASE: list[RowsEvaluation[Any]] = [
    SimilarityQuestion(table=RELEASE),
    PropensityQuestion(table=RELEASE),
    LearningQuestion(table=RELEASE, target="sex"),
    AttacksQuestion(table=RELEASE),
    HeldOutAttacksQuestion(make_release=lambda frame: frame),
]


@pytest.mark.parametrize("evaluation", ABOUT_A_RELEASE, ids=lambda each: each.kind)
def test_what_is_compared_with_a_release_is_what_it_counted(
    evaluation: RowsEvaluation[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A release that is right would look wrong to a learner, or safe from attacks."""
    ROWS.to_parquet(tmp_path / "a.parquet")
    engine = parquet_engine(tmp_path / "a.parquet", SCHEMA, key=b"k" * 32)
    whole = evaluation.read(engine, SCHEMA).frame
    assert whole["id"].value_counts().tolist() == [2] * PEOPLE
    monkeypatch.setattr(base, "MAX_ROWS_IN_MEMORY", len(ROWS) - 1)
    some = evaluation.read(FirstRows(engine, 10 * OF_EACH), SCHEMA).frame
    assert some["id"].value_counts().tolist() == [2] * 10
