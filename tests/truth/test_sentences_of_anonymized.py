"""Sentences on anonymized tables and audits, each computed anew by pandas over random
tables.

A release that is anonymized has no noise, so each sentence must hold every time.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.anonymization.apply import apply
from dpcore.anonymization.hierarchies.suggest import suggest_hierarchy
from dpcore.anonymization.models import KAnonymity
from dpcore.anonymization.plan import Plan
from dpcore.evaluation.table.proposals import NeighborsQuestion, default_plan
from dpcore.evaluation.table.trial import TrialQuestion, TrialReport
from dpcore.schema import PrivacyUnit, Schema
from dpcore.tables.rows import Microdata
from workbench.anonymize import outcomes
from workbench.ui.verdict import judge_table

TABLES = 12
KNOWN = ("age", "sex", "zip")
LOST = re.compile(r"all ([\d,]+) people with (\S+) ([^,.]+)")


def random_people(number: int) -> tuple[pd.DataFrame, Plan]:
    """People with up to three rows each, and a plan that suppresses some rows."""
    rng = np.random.default_rng([54, number])
    rows = int(rng.integers(150, 600))
    rare = rng.random(rows) < 3 / rows
    frame = pd.DataFrame(
        {
            "id": [f"p{place}" for place in rng.integers(0, rows // 2, rows)],
            "age": rng.integers(20, 80, rows),
            "sex": np.where(rare, "X", rng.choice(["F", "M"], rows)),
            "zip": rng.choice(
                [f"{33600 + place}" for place in range(8)], rows, p=_falling(8)
            ),
            "disease": rng.choice(["flu", "cold", "cancer"], rows),
        }
    )
    roles = dict.fromkeys(KNOWN, "quasi-identifier")
    plan = default_plan(
        {**roles, "id": "identifier", "disease": "sensitive"},
        {name: suggest_hierarchy(frame[name]) for name in KNOWN},
        k=int(rng.integers(3, 8)),
        limit=float(rng.choice([0.05, 0.2])),
    )
    return frame, plan


def _falling(size: int) -> np.ndarray:
    shares = 1.0 / np.arange(1, size + 1)
    return shares / shares.sum()


@cache
def tried(number: int) -> tuple[pd.DataFrame, TrialReport]:
    frame, plan = random_people(number)
    return frame, compute(TrialQuestion(plan=plan), frame)


def compute(question: Any, frame: pd.DataFrame) -> Any:
    schema = Schema(columns=(), unit=PrivacyUnit(max_rows=9, id_column="id"))
    return question.compute(Microdata(frame), schema)


def crowds(frame: pd.DataFrame, labels: pd.DataFrame) -> pd.Series:
    """People in the smallest group of each person."""
    person = frame.loc[labels.index, "id"]
    of_rows = person.groupby([labels[name] for name in KNOWN]).transform("nunique")
    return of_rows.groupby(person).min()


@pytest.mark.parametrize("number", range(TABLES))
def test_the_smallest_group_of_each_step_is_the_one_that_stays(number: int) -> None:
    """A step was offered with a smallest group of 11; the table has one of 5."""
    frame, report = tried(number)
    plan = report.plan
    asked = {model.k for model in plan.models if isinstance(model, KAnonymity)}
    for near in compute(NeighborsQuestion(plan=plan), frame):
        labels = pd.DataFrame(
            {
                name: frame[name]
                .astype(str)
                .map(
                    dict(
                        zip(
                            plan.hierarchies[name].levels[0],
                            plan.hierarchies[name].levels[level],
                            strict=True,
                        )
                    )
                )
                for name, level in zip(plan.quasi_identifiers, near.node, strict=True)
            }
        )
        groups = frame["id"].groupby([labels[name] for name in KNOWN]).nunique()
        kept = groups[groups >= max(asked)]
        assert near.k == (kept.min() if len(kept) else 0)
        assert near.published_classes == len(kept)
        assert near.suppressed_rows == len(frame) - (
            labels.groupby(list(KNOWN)).size()[kept.index].sum() if len(kept) else 0
        )


@pytest.mark.parametrize("number", range(TABLES))
def test_the_chart_of_groups_counts_people_by_their_group(number: int) -> None:
    """A chart of all groups was labelled "size of the smallest group"."""
    frame, report = tried(number)
    spec = outcomes.sizes_chart(report).spec.to_dict()
    (data,) = spec["datasets"].values()
    ends = {"1": (1, 1), "2-4": (2, 4), "5-9": (5, 9), "10-24": (10, 24)}
    ends |= {"25-99": (25, 99), "100+": (100, len(frame))}
    sides = {"before": frame, "after": apply(frame, report.plan)}
    for side, labels in sides.items():
        sizes = crowds(frame, labels)
        for line in (each for each in data if each["of"] == side):
            low, high = ends[line["group size"]]
            assert line["share"] == pytest.approx(sizes.between(low, high).mean())
    assert "smallest" not in str(spec)


@pytest.mark.parametrize("number", range(TABLES))
def test_groups_without_anybody_left_are_named(number: int) -> None:
    """All 16 people of a gender were suppressed, without a word."""
    frame, report = tried(number)
    made = apply(frame, report.plan)
    is_shown = (made[list(KNOWN)] != "*").any(axis=1)
    is_gone = ~is_shown.reindex(frame.index, fill_value=False)
    true = {
        (column, str(value)): int(rows["id"].nunique())
        for column in (*KNOWN, "disease")
        for value, rows in frame.groupby(column)
        if is_gone[rows.index].all() and rows["id"].nunique() > 1
    }
    told = {(lost.column, lost.value): lost.people for lost in report.lost_values}
    assert told == true
    said = outcomes.lost_values_sentence(report)
    assert bool(said) == bool(true)
    for people, column, value in LOST.findall(said):
        assert true[(column, value)] == int(people.replace(",", ""))


def test_the_tables_here_lose_whole_groups() -> None:
    """The test above would check nothing."""
    assert any(tried(number)[1].lost_values for number in range(TABLES))


@pytest.mark.parametrize("number", range(TABLES))
def test_prices_identify_nobody_and_numbers_of_people_do(number: int) -> None:
    """ "Kosten identifies people" was said of amounts that all differ."""
    rng = np.random.default_rng([55, number])
    rows = int(rng.integers(100, 400))
    frame = pd.DataFrame(
        {
            "member": rng.permutation(np.arange(10_000, 10_000 + rows)).astype(str),
            "cost": np.round(rng.lognormal(6, 1, rows), 2) + np.arange(rows) * 0.01,
            "age": rng.integers(20, 80, rows),
        }
    )
    assert frame["cost"].nunique() > 0.95 * rows, "all prices differ, too"
    report = dp.audit(frame, known=["age"])
    verdict = judge_table(report, ["age"])
    said = " ".join((verdict.sentence, *verdict.reasons))
    named = re.findall(r"(\S+(?:, \S+)*) identif(?:y|ies) people", said)
    assert named == ["member"]
    alone = frame["age"].value_counts() == 1
    uniques = report.risk.uniques
    assert uniques == pytest.approx(alone.sum() / rows)
