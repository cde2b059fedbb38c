"""k-anonymity of two linked tables: groups by brute force, and what is published."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.anonymization.hierarchies.suggest import suggest_hierarchy
from dpcore.anonymization.linked import (
    LinkedPlan,
    LinkedRecoding,
    _Groups,
    recode_linked,
)
from dpcore.errors import DpcoreError, InfeasibleError, SchemaError, UsageError
from dpcore.evaluation.table.linked_proposals import LinkedRolesQuestion
from dpcore.tables.rows import LinkedMicrodata
from tests.linked_tables import KnownPeople, linked_rows, linked_schema

KNOWN = ("sex", "age", "ward", "nights")


def plan_for(rows: LinkedMicrodata, **changes: object) -> LinkedPlan:
    """2-anonymity by two events; a fifth of the people may be left out."""
    hierarchies = {
        name: suggest_hierarchy(
            (rows.events if name in rows.events else rows.frame)[name]
        )
        for name in KNOWN
    }
    plan = LinkedPlan(hierarchies=hierarchies, k=2, limit=0.2)
    plan = replace(plan, unchanged_columns=("illness", "drug"))
    return replace(plan, **changes)


def published(made: LinkedRecoding) -> LinkedMicrodata:
    return LinkedMicrodata(
        made.people, events=made.events, parents=made.parents, left_out_rows=0
    )


def smallest(made: LinkedRecoding, known_events: int) -> int:
    """People of the smallest group, over all that somebody may know."""
    people = KnownPeople(published(made), KNOWN)
    return min(
        len(people.alike(person, events))
        for person in range(len(people.of_person))
        for events in people.knowledge(person, known_events)
    )


def who_stays(
    rows: LinkedMicrodata, plan: LinkedPlan, levels: dict[str, int]
) -> set[int]:
    """Who is left if small groups go, one after the other, without arrays."""

    def coarse(table: pd.DataFrame) -> pd.DataFrame:
        labels = {}
        for name in KNOWN:
            if name in table:
                hierarchy, leaf = plan.hierarchies[name].read_column(table[name])
                labels[name] = [hierarchy.levels[levels[name]][i] for i in leaf]
        return table.assign(**labels)

    left = set(range(len(rows.frame)))
    people = KnownPeople(
        LinkedMicrodata(
            coarse(rows.frame),
            events=coarse(rows.events),
            parents=rows.parents,
            left_out_rows=0,
        ),
        KNOWN,
    )
    while True:
        small = {
            person
            for person in left
            if any(
                len(left & set(people.alike(person, events))) < plan.k
                for events in people.knowledge(person, plan.known_events)
            )
        }
        if not small:
            return left
        left -= small


@pytest.mark.parametrize("known_events", [1, 2])
@pytest.mark.parametrize("seed", range(8))
def test_no_group_is_too_small_and_no_level_too_high(
    seed: int, known_events: int
) -> None:
    """Two events would give a person away; or values be coarser than they have to be."""
    rows = linked_rows(seed, people=16, most=3)
    plan = plan_for(rows, known_events=known_events)
    made = recode_linked(rows, plan)
    assert smallest(made, known_events) >= plan.k
    assert made.smallest_group(known_events) == smallest(made, known_events)
    assert made.left_out_people <= 0.2 * 16
    assert len(made.people) == 16 - made.left_out_people
    stays = who_stays(rows, plan, dict(made.levels))
    assert len(stays) == len(made.people)
    for name, level in made.levels.items():
        if level:
            lower = {**made.levels, name: level - 1}
            assert 16 - len(who_stays(rows, plan, lower)) > 0.2 * 16
    # everybody who stays has all events, and the other columns as they were
    place = sorted(stays)
    assert list(made.people["illness"]) == list(rows.frame["illness"].iloc[place])
    kept = np.isin(rows.parents, place)
    assert list(made.events["drug"]) == list(rows.events["drug"][kept])
    assert [place[parent] for parent in made.parents] == list(rows.parents[kept])
    assert "id" not in made.people


def test_a_small_group_is_found_among_published_rows() -> None:
    """The second way to count would let through what the first one missed."""
    rows = linked_rows(3, people=16, most=3)
    fine = LinkedRecoding(
        people=rows.frame,
        events=rows.events,
        parents=rows.parents,
        levels=dict.fromkeys(KNOWN, 0),
        left_out_people=0,
    )
    for known_events in (1, 2):
        assert fine.smallest_group(known_events) == smallest(fine, known_events) == 1


def test_two_events_need_coarser_values_than_one() -> None:
    """The number of known events would change nothing."""
    rng = np.random.default_rng(1)
    parents = np.repeat(np.arange(300), 3)
    rows = LinkedMicrodata(
        pd.DataFrame({"id": range(300), "sex": ["F", "M"] * 150}),
        events=pd.DataFrame({"day": rng.integers(0, 8, 900)}),
        parents=parents,
        left_out_rows=0,
    )
    hierarchies = {
        "sex": suggest_hierarchy(rows.frame["sex"]),
        "day": suggest_hierarchy(rows.events["day"]),
    }
    levels = [
        recode_linked(
            rows,
            LinkedPlan(hierarchies=hierarchies, k=20, known_events=number, limit=0.0),
        ).levels
        for number in (1, 2)
    ]
    assert levels[0] == {"sex": 0, "day": 0}
    assert levels[1] != levels[0]


def test_what_it_refuses() -> None:
    """It would promise what it does not keep, or end in a traceback."""
    rows = linked_rows(1)
    plan = plan_for(rows)
    for changes in ({"k": 1}, {"known_events": 3}, {"limit": 1.5}, {"hierarchies": {}}):
        with pytest.raises(DpcoreError):
            replace(plan, **changes)
    with pytest.raises(SchemaError, match="two roles"):
        replace(plan, unchanged_columns=("sex",))
    with pytest.raises(SchemaError, match="ilness"):
        recode_linked(rows, replace(plan, unchanged_columns=("ilness",)))
    with pytest.raises(InfeasibleError, match="people than may be left out"):
        recode_linked(rows, replace(plan, k=10, limit=0.0))
    nowhere = {"nowhere": suggest_hierarchy(rows.frame["sex"])}
    with pytest.raises(SchemaError, match="nowhere"):
        recode_linked(rows, replace(plan, hierarchies=nowhere))
    with pytest.raises(UsageError):
        replace(plan, k=0)


@pytest.fixture
def curator() -> dp.LinkedCurator:
    rng = np.random.default_rng(2)
    people = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(80)],
            "age": rng.integers(0, 20, 80),
            "sex": rng.choice(["F", "M"], 80),
            "mail": [f"p{i}@example.org" for i in range(80)],
        }
    )
    owners = np.repeat([*people["id"], "stranger"], 3)
    events = pd.DataFrame(
        {
            "person": owners,
            "town": rng.choice([*"abc"], len(owners)),
            "pay": rng.integers(0, 10, len(owners)),
        }
    )
    return dp.LinkedCurator.open(
        people,
        events,
        linked_schema(1),
        budget=dp.PureDP(epsilon=1),
        ledger=dp.MemoryLedger(),
    )


@pytest.fixture
def plan(curator: dp.LinkedCurator) -> LinkedPlan:
    values = {"sex": ["F", "M"], "age": range(20), "town": [*"abc"]}
    return LinkedPlan(
        hierarchies={
            name: suggest_hierarchy(pd.Series(own, name=name))
            for name, own in values.items()
        },
        k=3,
        limit=0.1,
    )


def test_a_pair_leaves_with_a_line_and_without_names(
    curator: dp.LinkedCurator, plan: LinkedPlan
) -> None:
    """Tables would leave without a line, with keys, or in the order of the files."""
    made = curator.anonymize(plan)
    people, events = made.people.frame, made.events.frame
    assert list(people) == ["id", "age", "sex"]
    assert list(events) == ["person", "town"]
    assert people["id"].is_unique
    assert not people["id"].str.startswith("p").any()
    assert set(events["person"]) == set(people["id"])
    assert (events["person"].value_counts() == 3).all()  # not one, as in releases
    assert people["id"].is_monotonic_increasing
    assert len(people) == 80 - made.left_out_people >= 72
    both = people.merge(events, left_on="id", right_on="person").reset_index()
    two = both.merge(both, on="id")
    two = two[two["index_x"] != two["index_y"]]
    groups = two.groupby(["age_x", "sex_x", "town_x", "town_y"])["id"].nunique()
    assert groups.min() >= 3
    (line,) = [line for line in curator.people.lines() if "anonymized" in line.content]
    assert line.content["about"] == ["3-anonymity against 2 known events"]
    assert made.guarantee.models == ("3-anonymity against 2 known events",)
    assert made.guarantee.kind == "syntactic"
    assert curator.balance().spent == 0
    # another draw of names
    again = curator.anonymize(plan).people.frame
    assert not set(again["id"]) & set(people["id"])


def test_only_columns_of_the_plan_leave(
    curator: dp.LinkedCurator, plan: LinkedPlan
) -> None:
    """Names that nobody thought of, in either file, would be published."""
    made = curator.anonymize(replace(plan, unchanged_columns=("pay",)))
    assert list(made.people.frame) == ["id", "age", "sex"]
    assert list(made.events.frame) == ["person", "town", "pay"]
    noted = len(curator.people.lines())
    hierarchy = suggest_hierarchy(pd.Series(["p1", "p2"], name="id"))
    for key in (
        replace(plan, unchanged_columns=("id",)),
        replace(plan, hierarchies={**plan.hierarchies, "id": hierarchy}),
    ):
        with pytest.raises(SchemaError, match="id is the key"):
            curator.anonymize(key)
    assert len(curator.people.lines()) == noted


@pytest.mark.parametrize("of_people", [["age"], ["age", "age (events)"]])
def test_columns_of_one_name_are_told_apart(of_people: list[str]) -> None:
    """The ages of events would leave as they are because those of people are coarser."""
    rng = np.random.default_rng(3)
    people = pd.DataFrame({"id": range(60), "sex": ["F", "M"] * 30})
    people = people.assign(**{name: rng.integers(0, 20, 60) for name in of_people})
    events = pd.DataFrame({"person": range(60), "town": "a", "pay": 1})
    for name in ("age", "age (events)"):
        events[name] = rng.integers(0, 20, 60)
    curator = dp.LinkedCurator.open(
        people,
        events,
        linked_schema(1),
        budget=dp.PureDP(epsilon=1),
        ledger=dp.MemoryLedger(),
    )
    roles = curator.people.evaluate(LinkedRolesQuestion()).content
    names = [role.column for role in roles.both]
    assert len({*names}) == len(names)
    plan = LinkedPlan(hierarchies={"age": suggest_hierarchy(people["age"])}, k=3)
    made = curator.anonymize(plan)
    assert list(made.people.frame) == ["id", "age"]
    assert list(made.events.frame) == ["person"]


def test_tables_are_judged_again_before_they_leave(
    curator: dp.LinkedCurator, plan: LinkedPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault in the choice of levels would publish small groups; a server's smallest
    group would not hold.
    """
    with pytest.raises(InfeasibleError, match="fewer than 50"):
        curator.anonymize(plan, smallest_group=50)

    def keep_everybody(self: _Groups, levels: object) -> object:
        return np.ones(self.people, dtype=np.bool_)

    monkeypatch.setattr(_Groups, "find_kept_people", keep_everybody)
    with pytest.raises(InfeasibleError, match="fewer than 3"):
        curator.anonymize(plan)
