"""The audit of people and their events: every figure by brute force over multisets."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.errors import LimitError, ParameterError, SchemaError, UsageError
from dpcore.evaluation.table import verdict
from dpcore.evaluation.table.audit import AuditReport
from dpcore.evaluation.table.linked_audit import (
    LinkedAuditQuestion,
    LinkedAuditReport,
)
from dpcore.evaluation.table.linked_proposals import LinkedRoles, LinkedRolesQuestion
from dpcore.schema import PrivacyUnit, Schema
from dpcore.tables import events
from dpcore.tables.rows import LinkedMicrodata
from tests.linked_tables import KnownPeople, linked_rows, linked_schema

SCHEMA = Schema(columns=(), unit=PrivacyUnit(max_rows=1, id_column="id"))
NO_ROLES = LinkedRoles(people=(), events=())


def audit(
    rows: LinkedMicrodata, known: tuple[str, ...], known_events: int, **asked: object
) -> LinkedAuditReport:
    fields = {"sensitive": (), "others": (), "threshold": 0.2, "roles": NO_ROLES}
    question = LinkedAuditQuestion(
        quasi_identifiers=known, known_events=known_events, **fields | asked
    )
    return question.compute(rows, SCHEMA)


KNOWN = [
    ("sex", "ward", "nights"),
    ("sex", "age", "ward"),
    ("ward", "nights"),
    ("sex", "age"),
    ("nights",),
]


@pytest.mark.parametrize("known_events", [1, 2])
@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("seed", range(6))
def test_risk_is_that_of_the_worst_events(
    seed: int, known: tuple[str, ...], known_events: int
) -> None:
    """A person whom two events give away would pass for hidden, or the other way."""
    rows = linked_rows(seed)
    groups = KnownPeople(rows, known).smallest_groups(known_events)
    report = audit(rows, known, known_events).report
    assert report.people == len(rows.frame)
    assert report.risk.k == min(groups)
    assert report.risk.uniques == pytest.approx(np.mean([g == 1 for g in groups]))
    assert report.risk.average == pytest.approx(np.mean([1 / g for g in groups]))
    assert report.risk.above == pytest.approx(np.mean([1 / g > 0.2 for g in groups]))
    # every smaller set of columns likewise
    for column_set in report.column_sets:
        some = KnownPeople(rows, column_set.columns).smallest_groups(known_events)
        assert column_set.uniques == pytest.approx(np.mean([g == 1 for g in some]))


@pytest.mark.parametrize("known_events", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_what_one_column_more_or_less_tells(seed: int, known_events: int) -> None:
    """The bars would show another question than the one that was asked."""
    rows = linked_rows(seed)
    known = ("sex", "ward")
    report = audit(rows, known, known_events, others=("age", "nights")).report
    for name in ("age", "nights", "sex", "ward"):
        columns = tuple(n for n in known if n != name) + (
            () if name in known else (name,)
        )
        groups = KnownPeople(rows, columns).smallest_groups(known_events)
        share = np.mean([g == 1 for g in groups])
        assert report.uniques_after_change[name] == pytest.approx(share)


@pytest.mark.parametrize("known_events", [1, 2])
@pytest.mark.parametrize("seed", range(8))
def test_what_groups_give_away(seed: int, known_events: int) -> None:
    """An illness, or what an event says, would be called unknown and be known."""
    rows = linked_rows(seed, people=7)
    known = ("sex", "ward")
    people = KnownPeople(rows, known)
    report = audit(
        rows, known, known_events, sensitive=("illness", "drug"), others=()
    ).report
    # of the person: one group for each set of events that may be known
    groups = {
        (people.of_person[i], frozenset(events.items())): people.alike(i, events)
        for i in range(len(people.of_person))
        for events in people.knowledge(i, known_events)
    }
    illness = people.frame["illness"]
    giving = [who for who in groups.values() if len({illness[i] for i in who}) == 1]
    assert report.secrets["illness"].homogeneous_classes == len(giving)
    assert report.secrets["illness"].homogeneous_people == pytest.approx(
        len({i for who in giving for i in who}) / len(people.of_person)
    )
    # of events: everybody of a group had the same drug, in the known event or another
    giving = [
        who
        for who in groups.values()
        if set.intersection(*(set(people.secrets[i]) for i in who))
    ]
    secret = report.secrets["drug"]
    assert secret.homogeneous_classes == len(giving)
    assert secret.homogeneous_people == pytest.approx(
        len({i for who in giving for i in who}) / len(people.of_person)
    )
    assert report.verdict.reveals_secret == any(
        each.homogeneous_classes for each in report.secrets.values()
    )


@pytest.mark.parametrize("seed", range(3))
def test_many_values_of_events_are_all_looked_at(seed: int) -> None:
    """A value that everybody of a group has would be overlooked among many others."""
    rng = np.random.default_rng(seed)
    towns = np.repeat([*"abcde"], [30, 30, 30, 30, 2])
    number = len(towns)
    parents = np.repeat(np.arange(number), 30)
    drugs = rng.integers(0, 300, len(parents))
    drugs[::30] = np.repeat([7, 141, 299, 300, 301], [30, 30, 30, 30, 2])
    drugs[90 * 30] = 302  # somebody of town d
    rows = LinkedMicrodata(
        pd.DataFrame({"id": range(number), "town": towns}),
        events=pd.DataFrame({"drug": drugs}),
        parents=parents,
        left_out_rows=0,
    )
    shared = {
        town: set.intersection(*(set(drugs[parents == i]) for i in who.index))
        for town, who in rows.frame.groupby("town")
    }
    assert [*map(bool, shared.values())] == [True, True, True, False, True]
    assert shared["c"] == {299}
    secret = audit(rows, ("town",), 1, sensitive=("drug",)).report.secrets["drug"]
    assert secret.homogeneous_classes == 4
    assert secret.homogeneous_people == pytest.approx(92 / 122)


def test_who_has_had_it_is_known_without_the_event() -> None:
    """Each woman had HIV in some stay, and the answer was yes: nothing is given away."""
    frame = pd.DataFrame({"id": range(40), "sex": ["F", "M"] * 20})
    stays = [*np.where(frame["sex"] == "F", "HIV", "flu"), *[*"abcde"] * 8]

    def judge(diagnoses: list[str]) -> AuditReport:
        rows = LinkedMicrodata(
            frame,
            events=pd.DataFrame({"diagnosis": diagnoses}),
            parents=np.tile(np.arange(40), 2),
            left_out_rows=0,
        )
        return audit(rows, ("sex",), 2, sensitive=("diagnosis",)).report

    report = judge(stays)
    assert report.verdict.reveals_secret
    assert report.verdict.answer == "hardly"
    assert report.secrets["diagnosis"].homogeneous_people == 1
    # one man has not had the flu; one woman has not had HIV either
    report = judge([stays[0], "a", *stays[2:]])
    assert report.secrets["diagnosis"].homogeneous_people == 1 / 2
    report = judge(["a", "a", *stays[2:]])
    assert not report.verdict.reveals_secret
    assert report.verdict.answer == "yes"


def test_coarser_values_are_coarser_in_both_events() -> None:
    """A change would be proposed that leaves the second event as fine as it was."""
    rng = np.random.default_rng(1)
    parents = np.repeat(np.arange(200), 2)
    rows = LinkedMicrodata(
        pd.DataFrame({"id": range(200), "sex": ["F", "M"] * 100}),
        events=pd.DataFrame({"day": rng.integers(0, 60, 400)}),
        parents=parents,
        left_out_rows=0,
    )
    given = audit(rows, ("sex", "day"), 2).report.verdict
    assert given.answer == "no"
    checked = 0
    for way in given.improvements:
        for step in way.steps:
            if step.column == "day" and step.values_after == 1 and len(way.steps) == 1:
                checked += 1
                groups = KnownPeople(rows, ("sex",)).smallest_groups(2)
                assert way.unique_share == np.mean([g == 1 for g in groups])
            if step.column == "day" and step.values_after > 1 and len(way.steps) == 1:
                checked += 1
                wide = rows.events.assign(
                    day=pd.cut(rows.events["day"], step.values_after, labels=False)
                )
                like = LinkedMicrodata(
                    rows.frame, events=wide, parents=parents, left_out_rows=0
                )
                share = audit(like, ("sex", "day"), 2).report.risk.uniques
                assert way.unique_share == pytest.approx(share, abs=0.05)
    assert checked


def test_more_knowledge_never_tells_less() -> None:
    """Who knows two events would be told to know less than who knows one."""
    for seed in range(20):
        rows = linked_rows(seed, people=12)
        one, two = (
            audit(rows, ("sex", "ward", "nights"), number).report.risk
            for number in (1, 2)
        )
        assert two.average >= one.average
        assert two.uniques >= one.uniques


def test_people_without_events_are_audited() -> None:
    """Whoever has no event would be in no figure."""
    rows = LinkedMicrodata(
        pd.DataFrame({"id": range(5), "sex": ["F", "F", "F", "F", "M"]}),
        events=pd.DataFrame({"ward": ["A", "A", "B"]}),
        parents=np.array([0, 0, 1]),
        left_out_rows=0,
    )
    report = audit(rows, ("sex", "ward"), 2).report
    assert report.people == 5
    # two with events, and the only man; to have no event is not known
    assert report.risk.uniques == pytest.approx(3 / 5)
    assert audit(rows, ("ward",), 2).report.risk.average == pytest.approx(
        (1 + 1 + 3 / 5) / 5
    )


def test_suppressed_rows_count_nowhere() -> None:
    """An anonymized pair would be judged by its stars."""
    rows = LinkedMicrodata(
        pd.DataFrame({"id": range(4), "sex": ["F", "F", "*", "*"]}),
        events=pd.DataFrame({"ward": ["A", "A", "*"]}),
        parents=np.array([0, 1, 2]),
        left_out_rows=0,
    )
    report = audit(rows, ("sex", "ward"), 2).report
    assert report.people == 2
    assert report.risk.k == 2
    assert report.suppressed == pytest.approx(1 / 2)
    stars = LinkedMicrodata(
        rows.frame.assign(sex="*"),
        events=rows.events.assign(ward="*"),
        parents=rows.parents,
        left_out_rows=0,
    )
    with pytest.raises(SchemaError, match="suppressed"):
        audit(stars, ("sex", "ward"), 2)


@pytest.mark.parametrize("known_events", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_the_coarsest_value_is_a_value(seed: int, known_events: int) -> None:
    """An anonymized pair whose columns end at `*` would be called suppressed, or those
    without events be taken for everybody.
    """
    rows = linked_rows(seed)
    for starred in (("sex",), ("ward", "nights"), ("sex", "ward", "nights")):
        stars = LinkedMicrodata(
            rows.frame.assign(**{n: "*" for n in starred if n in rows.frame}),
            events=rows.events.assign(**{n: "*" for n in starred if n in rows.events}),
            parents=rows.parents,
            left_out_rows=0,
        )
        for known in (("sex", "ward", "nights"), ("ward", "nights"), ("sex",)):
            report = audit(
                stars,
                known,
                known_events,
                sensitive=("drug",),
                hides_suppressed=False,
            ).report
            groups = KnownPeople(stars, known).smallest_groups(known_events)
            assert report.people == len(groups)
            assert report.risk.k == min(groups)
            assert report.risk.average == pytest.approx(
                np.mean([1 / g for g in groups])
            )


def test_events_that_nobody_knows_give_nothing_away() -> None:
    """The audit would end in a traceback."""
    rows = LinkedMicrodata(
        pd.DataFrame({"id": range(6), "sex": ["F", "M"] * 3}),
        events=pd.DataFrame({"ward": ["*"] * 3, "drug": ["x", "y", "x"]}),
        parents=np.array([0, 1, 2]),
        left_out_rows=0,
    )
    report = audit(rows, ("ward",), 2, sensitive=("drug",)).report
    assert report.people == 3
    assert report.secrets["drug"].homogeneous_people == 0


def test_what_it_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would answer another question, or never end."""
    rows = linked_rows(1)
    with pytest.raises(UsageError, match="1 or 2"):
        audit(rows, ("sex",), 3)
    with pytest.raises(ParameterError, match="no quasi-identifier"):
        audit(rows, (), 1)
    with pytest.raises(SchemaError, match="two roles"):
        audit(rows, ("sex",), 1, sensitive=("sex",))
    with pytest.raises(SchemaError, match="nowhere"):
        audit(rows, ("nowhere",), 1)
    monkeypatch.setattr(events, "MAX_EVENT_PAIRS", 5)
    with pytest.raises(LimitError, match="pairs of different events"):
        audit(rows, ("ward", "nights"), 2)
    audit(rows, ("ward", "nights"), 1)


def test_a_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison by brute force would pass whatever is computed."""

    def first_alone(first: object, *_: object) -> object:
        return np.asarray(first)

    monkeypatch.setattr(verdict, "join_events", first_alone)
    with pytest.raises(AssertionError):
        test_risk_is_that_of_the_worst_events(0, KNOWN[0], 2)


def opened(
    people: pd.DataFrame, events: pd.DataFrame, linked: dp.LinkedSchema
) -> dp.LinkedCurator:
    return dp.LinkedCurator.open(
        people,
        events,
        linked,
        budget=dp.PureDP(epsilon=1),
        ledger=dp.MemoryLedger(),
    )


def test_a_pair_is_audited_with_a_line_and_without_a_charge() -> None:
    """Figures of the rows would leave without a line in the ledger; columns that are
    not declared, and events beyond the number that counts, would not be looked at.
    """
    rng = np.random.default_rng(2)
    people = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(60)],
            "age": rng.integers(0, 20, 60),
            "sex": rng.choice(["F", "M"], 60),
            "mail": [f"p{i}@example.org" for i in range(60)],
            "pay": range(60),
        }
    )
    owners = np.repeat([*people["id"], "stranger"], 5)
    events = pd.DataFrame(
        {
            "person": owners,
            "town": rng.choice([*"abc"], len(owners)),
            "pay": rng.integers(0, 10, len(owners)),
        }
    )
    linked = linked_schema(1)
    curator = opened(people, events, linked)
    roles = curator.people.evaluate(LinkedRolesQuestion()).content
    assert [role.column for role in roles.people] == list(people)
    assert [role.column for role in roles.events] == ["town", "pay (events)"]
    question = LinkedAuditQuestion.of(
        roles,
        curator.people.schema,
        known=("sex", "town", "pay (events)"),
        sensitive=(),
        known_events=2,
        threshold=0.2,
    )
    assert "mail" not in question.others
    for view in (curator.people, curator.events):
        found = view.evaluate(question).content
        assert found.left_out_rows == 5
        assert found.report.people == 60
        assert found.report.verdict.naming_columns == ("id", "mail")
    known = people[["id", "sex"]].merge(events, left_on="id", right_on="person")
    sets = {
        person: [*zip(rows["sex"], rows["town"], rows["pay"], strict=True)]
        for person, rows in known.groupby("id")
    }
    unique = [
        any(
            sum(not Counter(two) - Counter(other) for other in sets.values()) == 1
            for two in combinations(rows, 2)
        )
        for rows in sets.values()
    ]
    assert found.report.risk.uniques == pytest.approx(np.mean(unique))
    assert 0 < np.mean(unique) < 1
    lines = curator.people.lines()
    kinds = [line.content.get("evaluation") for line in lines]
    assert kinds.count("re-identification risk by events") == 2
    assert curator.balance().spent == 0


def test_people_without_a_row_and_keys_are_as_linked() -> None:
    """The audit would look at other people than the release protects."""
    people = pd.DataFrame(
        {"id": ["1", "2", "2", None], "age": [1, 2, 3, 4], "sex": ["F", "M", "M", "F"]}
    )
    events = pd.DataFrame(
        {"person": ["1", "9", "9", None], "town": [*"abca"], "pay": [1, 2, 3, 4]}
    )
    rules = {"orphans": "own person", "without_key": "own person"}
    linked = linked_schema(3, with_missing=True, **rules)
    rows = opened(people, events, linked).people.evaluate(Rows()).content
    assert rows["people"] == 5  # 1, 2, nobody, 9 and the event of nobody
    assert rows["events"] == 4
    assert rows["left out"] == 1  # the second row of 2
    single = dp.Curator.open(
        people.head(2),
        linked.people,
        budget=dp.PureDP(epsilon=1),
        ledger=dp.MemoryLedger(),
    )
    with pytest.raises(UsageError, match="one table"):
        single.evaluate(LinkedRolesQuestion())


@pytest.mark.parametrize("events_of_each", [1, 3])
def test_numbers_of_a_person_are_identifiers(events_of_each: int) -> None:
    """A case number that each event of a person repeats would be published."""
    rng = np.random.default_rng(4)
    number = 200
    # the last person has no event
    parents = np.repeat(np.arange(number - 1), events_of_each)
    rng.shuffle(parents)
    cases = np.array([f"{i * 7919 % 100_000:05d}" for i in range(number)])
    insured = rng.permutation(np.arange(100_000_000, 100_000_000 + number))
    rows = LinkedMicrodata(
        pd.DataFrame({"id": [f"p{i}" for i in range(number)]}),
        events=pd.DataFrame(
            {
                "ward": rng.choice(["A", "B"], len(parents)),
                "ref": [f"p{i}" for i in parents],
                "caseno": cases[parents],
                "insured": insured[parents],
                "nights": rng.integers(1, 15, len(parents)),
                "cost": rng.integers(100, 99_999, len(parents)),
            }
        ),
        parents=parents,
        left_out_rows=0,
    )
    roles = LinkedRolesQuestion().compute(rows, SCHEMA)
    found = {role.column: role.role for role in roles.events}
    identifiers = {name for name in found if found[name] == "identifier"}
    assert identifiers == {"ref", "caseno", "insured"}


class Rows(LinkedRolesQuestion):
    """How many rows there are."""

    def compute(self, original: LinkedMicrodata, *_: object) -> dict[str, int]:  # type: ignore[override]
        return {
            "people": len(original.frame),
            "events": len(original.events),
            "left out": original.left_out_rows,
        }
