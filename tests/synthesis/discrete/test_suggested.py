"""Facts proposed from public knowledge, and kept in every row once confirmed."""

from __future__ import annotations

import pandas as pd
import pytest

import dpcore as dp
from dpcore.synthesis import Adaptive
from dpcore.synthesis.discrete.constraints import (
    Constraints,
    FunctionalDependency,
    ImpossibleCombination,
)
from dpcore.synthesis.discrete.suggested import suggest_facts


def test_public_knowledge_reads_no_rows() -> None:
    """A fact would come from the table at hand, and tell of it."""
    schema = dp.Schema(
        columns=(
            dp.Integer("age", low=0, high=99, bin_width=5),
            dp.Categorical("education", categories=("HS-grad", "Doctorate", "1st-4th")),
            dp.Integer("education-num", low=1, high=16),
            dp.Categorical(
                "marital-status",
                categories=("Never-married", "Married-civ-spouse", "Widowed"),
            ),
            dp.Categorical("relationship", categories=("Husband", "Wife", "Own-child")),
            dp.Categorical("sex", categories=("Female", "Male")),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    found = suggest_facts(schema)
    assert [each.fact for each in found] == [
        ImpossibleCombination(
            columns=("age", "marital-status"), cells=((0, 1, 2), (1, 2))
        ),
        FunctionalDependency(
            column="education", target="education-num", cells=(8, 15, 1)
        ),
        ImpossibleCombination(columns=("relationship", "sex"), cells=((0,), (0,))),
        ImpossibleCombination(columns=("relationship", "sex"), cells=((1,), (1,))),
    ]
    assert all(each.reason for each in found)
    other = dp.Schema(
        columns=(
            dp.Categorical("education", categories=("A", "B")),
            dp.Integer("education-num", low=1, high=2),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    assert suggest_facts(other) == ()


def test_adult_keeps_education_in_step(adult_columns: pd.DataFrame) -> None:
    """7 of 100 synthetic people would have the years of another degree."""
    schema = dp.suggest_schema(adult_columns)
    facts = [each.fact for each in suggest_facts(schema)]
    determines = tuple(fact for fact in facts if isinstance(fact, FunctionalDependency))
    impossible = tuple(
        fact for fact in facts if isinstance(fact, ImpossibleCombination)
    )
    assert len(determines) == 1
    loss = dp.ApproxDP(epsilon=1, delta="1e-9")
    curator = dp.Curator.open(
        adult_columns, schema, budget=loss, ledger=dp.MemoryLedger()
    )
    recipe = Adaptive(
        constraints=Constraints(determines=determines, impossible=impossible)
    )
    drawn = curator.run(recipe, loss).sample()
    years = dict(
        zip(adult_columns["education"], adult_columns["education-num"], strict=True)
    )
    assert (drawn["education"].map(years) == drawn["education-num"]).all()
    assert not ((drawn["relationship"] == "Husband") & (drawn["sex"] == "Female")).any()
    assert not ((drawn["relationship"] == "Wife") & (drawn["sex"] == "Male")).any()


@pytest.fixture
def adult_columns(shared) -> pd.DataFrame:
    frame = pd.read_csv(shared / "data" / "adult.csv")
    return frame[
        ["age", "education", "education-num", "marital-status", "relationship", "sex"]
    ]
