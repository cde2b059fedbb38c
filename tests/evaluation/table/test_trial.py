"""Trials, frontiers and sizes: the same figures as the table that is made, and every
bad input refused.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpcore.anonymization.apply import apply
from dpcore.anonymization.hierarchies.builders import build_flat
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.hierarchies.suggest import suggest_hierarchy
from dpcore.anonymization.models import DistinctL, EntropyL, KAnonymity, PrivacyModel
from dpcore.anonymization.plan import Plan
from dpcore.errors import DpcoreError, HierarchyError, InfeasibleError, SchemaError
from dpcore.evaluation.table.proposals import (
    FrontierQuestion,
    HierarchiesQuestion,
    RolesQuestion,
    SearchSizeQuestion,
    default_plan,
)
from dpcore.evaluation.table.trial import (
    MAX_LINKABLE_SHARE,
    TrialQuestion,
    _count_values,
)
from dpcore.schema import Categorical, Integer, PrivacyUnit, Schema
from dpcore.tables.rows import Microdata

KNOWN = ("age", "sex", "zip")
METHODS = ("full-domain", "local recoding", "mondrian")


def people(rows: int = 300) -> pd.DataFrame:
    """Invented people, some with two rows."""
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "id": [f"p{i * 3 // 4}" for i in range(rows)],
            "age": rng.integers(20, 80, rows),
            "sex": rng.choice(["F", "M"], rows),
            "zip": rng.choice(["33617", "33620", "23620", "23622"], rows),
            "disease": rng.choice(["flu", "cold", "cancer"], rows),
            "visit": np.arange(rows),
        },
    )


def plan_for(frame: pd.DataFrame, **changes: object) -> Plan:
    roles = dict.fromkeys(KNOWN, "quasi-identifier")
    roles |= {"id": "identifier", "disease": "sensitive", "visit": "insensitive"}
    used = {name: roles[name] for name in frame.columns}
    plan = default_plan(
        used, {name: suggest_hierarchy(frame[name]) for name in KNOWN}, k=5, limit=0.05
    )
    return replace(plan, **changes)


def run(question: object, frame: pd.DataFrame, person: str | None = None) -> object:
    unit = PrivacyUnit(max_rows=2, id_column=person)
    schema = Schema(columns=(Integer("age", low=0, high=99, bin_width=1),), unit=unit)
    return question.compute(Microdata(frame), schema)


@pytest.mark.parametrize("method", METHODS)
def test_a_trial_tells_what_the_table_will_be(method: str) -> None:
    """A person would decide by figures of another table than the one that leaves."""
    frame = people()
    report = run(TrialQuestion(plan=plan_for(frame, method=method)), frame, "id")
    made = apply(frame, report.plan)
    kept = made[(made[list(KNOWN)] != "*").any(axis=1)]
    groups = frame.loc[made.index, "id"].groupby([made[name] for name in KNOWN])
    sizes = groups.nunique()
    of_rows = groups.transform("nunique")
    assert sorted(report.after.crowd_sizes) == sorted(
        of_rows.groupby(frame["id"]).min()
    )
    assert report.after.risk.k == sizes.min() >= 5
    assert report.quality.k >= 5
    assert report.quality.suppressed_row_share == pytest.approx(
        1 - len(kept) / len(frame)
    )
    assert report.after.uniques_with_others == 1.0
    reveals = made.groupby(list(KNOWN))["disease"].nunique() == 1
    assert report.after.secret_risks["disease"].homogeneous_classes == reveals.sum()
    holders = frame.groupby(list(KNOWN))["id"].unique()
    alone = {each[0] for each in holders if len(each) == 1}
    assert report.before.risk.uniques == pytest.approx(
        len(alone) / frame["id"].nunique()
    )
    assert report.seconds >= 0


def test_columns_that_single_people_out_are_found_with_their_shares() -> None:
    """A column would have to go that singles nobody out, one that does would stay, or
    people would decide by a wrong share.
    """
    frame = people().assign(
        ward=lambda rows: np.where(rows.index < 150, "A", "B"),
        twin=lambda rows: rows["disease"],
        rare=lambda rows: np.where(rows.index % 40 == 0, rows.index, -1),
    )
    plan = plan_for(frame.drop(columns=["ward", "twin", "rare"]))
    others = dict.fromkeys(("ward", "twin", "rare"), "insensitive")
    plan = replace(plan, roles={**plan.roles, **others}, models=(KAnonymity(k=60),))
    report = run(TrialQuestion(plan=plan), frame, "id")
    made = apply(frame, report.plan)
    person = frame.loc[made.index, "id"]

    def unique(*columns: str) -> float:
        groups = person.groupby([made[name] for name in (*KNOWN, *columns)])
        alone = person[groups.transform("nunique") == 1]
        return alone.nunique() / person.nunique()

    going = report.singling_columns
    kept = {"disease", "ward", "twin", "rare", "visit"} - {*going}
    assert unique(*kept) <= MAX_LINKABLE_SHARE < report.linkable
    assert {"visit", "rare"} <= {*going}, "no two rows share a visit"
    assert {"disease", "twin"} <= kept, "a second column of the same values is free"
    shares = list(going.values())
    assert shares == sorted(shares, reverse=True)
    for name, share in going.items():
        # the columns that stay single nobody out alone, and were taken in before
        assert share == pytest.approx(unique(*kept, name))


def test_no_column_goes_if_nobody_is_singled_out() -> None:
    """A table that may be published would lose columns."""
    frame = people().drop(columns="visit")
    plan = plan_for(frame, models=(KAnonymity(k=100),))
    assert run(TrialQuestion(plan=plan), frame).singling_columns == {}


def test_the_plan_of_a_trial_makes_the_same_table_again() -> None:
    """The file that is kept with a table would not reproduce it."""
    frame = people()
    report = run(TrialQuestion(plan=plan_for(frame)), frame)
    again = Plan.from_json(report.plan.to_json())
    assert again.node is not None
    pd.testing.assert_frame_equal(apply(frame, again), apply(frame, plan_for(frame)))


def test_every_point_of_a_frontier_is_what_a_search_of_its_own_finds() -> None:
    """A click on a point would bring another result than the point promised."""
    frame = people()
    plan = plan_for(
        people(), models=(KAnonymity(k=2), DistinctL(column="disease", l=2))
    )
    whole = run(FrontierQuestion(plan=plan, ks=(2, 5, 20), limits=(0.0, 0.05)), frame)
    assert len(whole) == 6
    for limit in (0.0, 0.05):
        one = run(FrontierQuestion(plan=plan, ks=(2, 5, 20), limits=(limit,)), frame)
        assert [(p.k, p.score) for p in one] == [
            (p.k, p.score) for p in whole if p.limit == limit
        ]
    for point in whole:
        asked = replace(
            plan, models=(KAnonymity(k=point.k), *plan.models[1:]), limit=point.limit
        )
        report = run(TrialQuestion(plan=asked), frame)
        assert report.quality.loss == pytest.approx(point.score)
        assert report.quality.suppressed_row_share == pytest.approx(
            point.suppressed_rows / len(frame)
        )


def test_a_local_frontier_has_the_loss_of_its_tables() -> None:
    """Mondrian and full-domain would be drawn on different scales."""
    frame = people()
    plan = plan_for(people(), method="mondrian")
    points = run(FrontierQuestion(plan=plan, ks=(2, 20, 1000)), frame)
    assert [point.k for point in points] == [2, 20]
    for point in points:
        report = run(
            TrialQuestion(plan=replace(plan, models=(KAnonymity(k=point.k),))), frame
        )
        assert report.quality.loss == point.score


def test_no_point_where_nothing_is_feasible() -> None:
    """An impossible demand would end in an error instead of an empty frontier."""
    frame = people()
    demand = (KAnonymity(k=2), DistinctL(column="disease", l=9))
    for method, limits in (
        ("full-domain", (0.0, 0.05)),
        ("full-domain", (0.0,)),
        ("mondrian", ()),
    ):
        plan = plan_for(frame, method=method, models=demand)
        assert run(FrontierQuestion(plan=plan, ks=(2, 5), limits=limits), frame) == ()


def test_size_is_told_before_the_search() -> None:
    """A search that takes minutes would begin without a word."""
    frame = people()
    plan = plan_for(frame)
    found = run(SearchSizeQuestion(plan=plan), frame)
    assert found.nodes == math.prod(plan.hierarchies[name].height + 1 for name in KNOWN)
    assert found.is_feasible


def test_proposals_cover_every_column() -> None:
    """A column would be left without a role or a hierarchy, and a first run would
    fail.
    """
    frame = people().assign(empty=None)
    roles = run(RolesQuestion(), frame)
    assert [each.column for each in roles] == list(frame.columns)
    found = run(HierarchiesQuestion(columns=tuple(frame.columns)), frame)
    assert all(
        found[name].cover_special_cells(frame[name]).encode(frame[name]).min() >= 0
        for name in frame
    )


def odd(**cells: object) -> pd.DataFrame:
    return people(40).assign(**cells)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "frame",
    [
        odd(zip="33617"),
        odd(zip=None),
        odd(zip=["33617", None] * 20),
        odd(age=[30.0, np.nan] * 20),
        odd(zip=["336**"] * 30 + ["*"] * 10, age="*", sex="*"),
        odd(zip=[f"{i:05}" for i in range(40)]),
    ],
    ids=[
        "constant",
        "empty",
        "missing text",
        "missing number",
        "suppressed before",
        "all different",
    ],
)
def test_odd_columns_are_anonymized_all_the_same(
    method: str, frame: pd.DataFrame
) -> None:
    """A table as people have them would be refused, or a class below k would be
    published.
    """
    report = run(TrialQuestion(plan=plan_for(frame, method=method)), frame)
    assert report.after.risk.k >= 5


def test_one_row_cannot_hide() -> None:
    """A table of one person would end in a traceback."""
    with pytest.raises(InfeasibleError, match="larger than the number of rows"):
        run(TrialQuestion(plan=plan_for(people(1))), people(1))
    assert (
        run(
            FrontierQuestion(plan=plan_for(people(1)), ks=(2, 5), limits=(0.0, 0.1)),
            people(1),
        )
        == ()
    )


def test_30000_values_in_a_quasi_identifier() -> None:
    """A column of names that somebody calls a quasi-identifier would take all
    memory.
    """
    frame = pd.DataFrame(
        {
            "zip": [f"v{i}" for i in range(30_000)],
            "age": np.arange(30_000) % 70,
            "sex": "F",
        }
    )
    for method in METHODS:
        assert (
            run(TrialQuestion(plan=plan_for(frame, method=method)), frame).after.risk.k
            >= 5
        )


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        (
            {"models": (KAnonymity(k=301),)},
            InfeasibleError,
            "larger than the number of rows",
        ),
        (
            {"models": (KAnonymity(k=5), DistinctL(column="disease", l=9))},
            InfeasibleError,
            "allow",
        ),
        (
            {
                "models": (KAnonymity(k=2), DistinctL(column="disease", l=9)),
                "limit": 1.0,
            },
            InfeasibleError,
            "every",
        ),
        ({"method": "microaggregation"}, SchemaError, "numbers only"),
    ],
    ids=["k", "infeasible", "nothing left", "microaggregation of text"],
)
def test_demands_that_cannot_be_met_are_refused(
    changes: dict[str, object],
    error: type[DpcoreError],
    said: str,
) -> None:
    """A person would get a table that does not keep what was asked, or no word why."""
    frame = people()
    with pytest.raises(error, match=said):
        run(TrialQuestion(plan=plan_for(frame, **changes)), frame)


def test_an_infeasible_limit_names_the_nearest_feasible_one() -> None:
    """A person would have to guess how much must be suppressed: here the 30 % whose zip
    has one disease.
    """
    frame = people(100).assign(
        zip=["1"] * 70 + ["2"] * 30, disease=["flu", "cold"] * 35 + ["flu"] * 30
    )
    models: tuple[PrivacyModel, ...] = (
        KAnonymity(k=5),
        EntropyL(column="disease", l=1.97),
    )
    with pytest.raises(InfeasibleError, match=r"allow 30\.0%") as caught:
        run(TrialQuestion(plan=plan_for(frame, models=models)), frame)
    assert caught.value.details["nearest_limit"] == 0.3
    assert (
        run(
            TrialQuestion(plan=plan_for(frame, models=models, limit=0.3)), frame
        ).quality.suppressed_row_share
        <= 0.3
    )


def _used(frame: pd.DataFrame) -> dict[str, Hierarchy]:
    return {name: suggest_hierarchy(frame[name]) for name in KNOWN}


def test_a_value_without_a_path_is_refused_without_showing_it() -> None:
    """A name would leave in an error message."""
    frame = people()
    short = Hierarchy.from_csv("33617;*\n")
    with pytest.raises(HierarchyError, match="zip lacks some values") as caught:
        run(
            TrialQuestion(
                plan=plan_for(frame, hierarchies={**_used(frame), "zip": short})
            ),
            frame,
        )
    assert "33620" not in str(caught.value)
    assert "33620" not in str(caught.value.details)


def test_shapes_and_values_that_are_gone_follow_from_the_rows() -> None:
    """All 16 people of one gender were suppressed without a word; and nobody saw what
    the labels do to a column.
    """
    frame = pd.DataFrame(
        {
            "sex": ["F"] * 40 + ["M"] * 40 + ["X"] * 3,
            "age": [20 + place % 4 for place in range(80)] + [50, 51, 52],
        }
    )
    plan = Plan(
        roles={"sex": "quasi-identifier", "age": "quasi-identifier"},
        hierarchies={
            "sex": build_flat(["F", "M", "X"]),
            "age": build_flat([str(age) for age in range(20, 53)]),
        },
        models=(KAnonymity(k=5),),
        limit=0.1,
        node={"sex": 0, "age": 0},
    )
    report = TrialQuestion(plan=plan).compute(Microdata(frame), SHAPE_SCHEMA)
    gone = [(each.column, each.value, each.people) for each in report.lost_values]
    assert gone == [("sex", "X", 3)]
    before, after = report.bar_counts["sex"]
    assert before.to_dict() == {"F": 40, "M": 40, "X": 3}
    assert after.to_dict() == {"F": 40, "M": 40}
    before, after = report.bar_counts["age"]
    assert before.sum() == 83
    assert list(after.index) == ["20", "21", "22", "23"]
    coarse = replace(plan, node={"sex": 0, "age": 1})
    report = TrialQuestion(plan=coarse).compute(Microdata(frame), SHAPE_SCHEMA)
    assert report.bar_counts["age"][1].to_dict() == {"*": 80}, "values as they were"


def test_many_numbers_are_put_together_in_round_runs() -> None:
    """Ages stood below a chart as "17 - 20.33"."""
    ages = pd.Series(range(17, 95))
    before, _after = _count_values(ages, ages.astype(str))
    assert before.sum() == len(ages)
    assert set(before) <= {1, 4, 5, 3, 2}
    for run in before.index:
        low, high = map(int, run.split(" – "))
        assert ages.between(low, high).sum() == before[run]
    pay = pd.Series(np.linspace(0.5, 99.5, 400))
    before, _after = _count_values(pay, pay.astype(str))
    assert before.sum() == 400
    assert before.index[0] == "0 – 5"


SHAPE_SCHEMA = Schema(
    columns=(
        Categorical("sex", categories=("F", "M", "X")),
        Integer("age", low=0, high=99),
    ),
    unit=PrivacyUnit(max_rows=1),
)
