"""What facts about a person and one or two events give away, by brute force."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from dpcore.errors import SchemaError, UsageError
from dpcore.evaluation.table.linked_one_person import LinkedOnePersonQuestion
from dpcore.evaluation.table.one_person import KnownFact, OnePersonReport
from dpcore.schema import PrivacyUnit, Schema
from dpcore.tables.rows import LinkedMicrodata
from tests.linked_tables import linked_rows

SCHEMA = Schema(columns=(), unit=PrivacyUnit(max_rows=1, id_column="id"))


def ask(
    rows: LinkedMicrodata,
    known: dict[str, str],
    *events: dict[str, str],
    sensitive: tuple[str, ...] = ("illness", "drug"),
) -> OnePersonReport:
    def facts(values: dict[str, str]) -> tuple[KnownFact, ...]:
        return tuple(KnownFact(column=name, value=own) for name, own in values.items())

    return LinkedOnePersonQuestion(
        known=facts(known), events=tuple(map(facts, events)), sensitive=sensitive
    ).compute(rows, SCHEMA)


@pytest.mark.parametrize("seed", range(12))
def test_the_group_and_its_secrets_one_by_one(seed: int) -> None:
    """Two facts about one event would pass for two events, or the other way."""
    rows = linked_rows(seed, people=20)
    rng = np.random.default_rng(seed)
    known = {"sex": str(rng.choice(["F", "M"]))}
    events = [
        {"ward": str(rng.choice(["A", "B"])), "nights": str(rng.integers(1, 3))}
        for _ in range(rng.integers(1, 3))
    ]
    if seed % 3 == 0:  # facts that one event may fit twice
        events = [{"ward": "A"}, {"nights": "1"}]
    own = [
        rows.events[rows.parents == place].to_dict("records")
        for place in range(len(rows.frame))
    ]

    def fits(event: dict[str, object], facts: dict[str, str]) -> bool:
        return all(str(event[name]) == value for name, value in facts.items())

    group = [
        place
        for place in range(len(rows.frame))
        if rows.frame["sex"][place] == known["sex"]
        and any(
            all(fits(event, facts) for event, facts in zip(some, events, strict=True))
            for some in permutations(own[place], len(events))
        )
    ]
    report = ask(rows, known, *events)
    assert report.people == len(group)
    illness = [{rows.frame["illness"][place]} for place in range(len(rows.frame))]
    drugs = [{event["drug"] for event in events_of} for events_of in own]
    assert report.repeated == {"drug"}
    for name, values_of in (("illness", illness), ("drug", drugs)):
        shown = {
            secret.value: (secret.group_chance, secret.table_chance)
            for secret in report.secrets[name]
        }
        assert shown == {
            value: (
                sum(value in values_of[place] for place in group) / len(group),
                sum(value in values for values in values_of) / len(values_of),
            )
            for value in set().union(*(values_of[place] for place in group))
        }
        chances = [secret.group_chance for secret in report.secrets[name]]
        assert chances == sorted(chances, reverse=True)


def test_a_value_that_everybody_has_among_others_is_certain() -> None:
    """An illness of everybody would show as a half if each had another one too."""
    rows = linked_rows(1, people=20)
    everybody = np.tile(np.arange(20), 2)
    both = LinkedMicrodata(
        rows.frame,
        events=pd.DataFrame({"drug": ["x"] * 20 + [*"yz"] * 10}),
        parents=everybody,
        left_out_rows=0,
    )
    (first, *others) = ask(both, {"sex": "F"}).secrets["drug"]
    assert (first.value, first.group_chance, first.table_chance) == ("x", 1.0, 1.0)
    assert sum(secret.group_chance for secret in others) == pytest.approx(1)


def test_who_has_no_event_keeps_a_value_open() -> None:
    """A group would be said to share a drug that half of it never took."""
    rows = linked_rows(1, people=20)
    without = np.bincount(rows.parents, minlength=20) == 0
    rows.events["drug"] = "x"
    for sex in ("F", "M"):
        (drug,) = ask(rows, {"sex": sex}).secrets["drug"]
        share = (~without[rows.frame["sex"] == sex]).mean()
        assert drug.group_chance == pytest.approx(share)
        assert share < 1
    (drug,) = ask(rows, {}, {"ward": "A"}).secrets["drug"]
    assert drug.group_chance == 1


def test_what_cannot_be_asked() -> None:
    """It would answer something else."""
    rows = linked_rows(1)
    with pytest.raises(UsageError, match="nothing is known"):
        ask(rows, {})
    with pytest.raises(UsageError, match="nothing is known"):
        ask(rows, {"sex": "F"}, {})
    with pytest.raises(UsageError, match="1 or 2"):
        ask(rows, {}, *[{"ward": "A"}] * 3)
    with pytest.raises(SchemaError, match="two roles"):
        ask(rows, {}, {"drug": "x"})
    with pytest.raises(SchemaError, match="nowhere"):
        ask(rows, {"nowhere": "x"})
