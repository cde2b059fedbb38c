"""A table in, an answer out: the three calls of a script without a ledger."""

from __future__ import annotations

import pandas as pd
import pytest

import dpcore as dp

PEOPLE = pd.DataFrame(
    {
        "age": ["30", "30", "41", "41", "41", "50"],
        "sex": ["F", "F", "M", "M", "M", "F"],
        "ill": ["no", "yes", "no", "no", "no", "yes"],
    }
)


def test_an_audit_counts_groups() -> None:
    """The smallest of the groups (30 F twice, 41 M three times, 50 F once) is 1."""
    report = dp.audit(PEOPLE, known=["age", "sex"], sensitive=["ill"])
    assert report.risk.k == 1
    assert report.risk.uniques == pytest.approx(1 / 6)
    assert list(report.secrets) == ["ill"]


def test_a_plan_is_carried_out() -> None:
    """Every combination of the published table would occur at least twice."""
    plan = dp.Plan(
        roles={
            "age": "quasi-identifier",
            "sex": "quasi-identifier",
            "ill": "insensitive",
        },
        hierarchies={
            name: dp.suggest_hierarchy(PEOPLE[name]) for name in ("age", "sex")
        },
        models=(dp.KAnonymity(k=2),),
        limit=0,
    )
    table = dp.anonymize(PEOPLE, plan)
    assert table.table.frame.groupby(["age", "sex"]).size().min() >= 2
    assert table.guarantee.models == ("2-anonymity",)


def test_a_release_is_compared_with_its_table() -> None:
    """With next to no noise the drawn rows are like the table."""
    people = pd.DataFrame({"sex": ["F"] * 600 + ["M"] * 400})
    schema = dp.Schema(
        columns=(dp.Categorical("sex", categories=("F", "M")),),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    loud = dp.PureDP(epsilon=1_000)
    curator = dp.Curator.open(people, schema, budget=loud, ledger=dp.MemoryLedger())
    report = dp.evaluate(curator.run(dp.Histogram("sex"), loud), people, rows=1_000)
    assert report.columns[0].distance < 0.08
