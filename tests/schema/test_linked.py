"""The description of two linked tables: views without rows, and what is refused."""

from __future__ import annotations

import dataclasses
import json

import pytest

import dpcore as dp
from dpcore.schema.schema import ExcludedColumn
from tests.linked_tables import RULES, linked_schema


def test_the_views_are_known_without_rows() -> None:
    """A plan would need the tables."""
    linked = linked_schema(4, order_by="pay")
    assert linked.people_view.domain.names == ("age", "sex", "number of events")
    assert linked.people_view.domain.sizes == (20, 2, 5)
    assert linked.events_view.domain.names == (
        *linked.people_view.domain.names,
        "event number",
        "town",
        "pay",
    )
    assert linked.events_view.domain.size("event number") == 4
    assert linked.people_view.unit.max_rows == 1
    assert linked.events_view.unit.max_rows == 4


def test_one_event_a_person_has_no_number() -> None:
    """A column of numbers from 1 to 1 is no column."""
    linked = linked_schema(1, order_by="pay")
    assert "event number" not in linked.events_view.domain.names
    assert linked.people_view.domain.size("number of events") == 2


def test_a_maximum_from_the_data_marks_both_views() -> None:
    """A guarantee would hide that the largest number of events was looked up."""
    told = linked_schema(3, order_by="pay")
    assert told.people_view.from_data == told.events_view.from_data == {}
    looked_up = told.with_unit(dataclasses.replace(told.events.unit, from_data=True))
    assert looked_up.people_view.from_data == {"number of events": ("high",)}
    assert looked_up.events_view.from_data == {
        "number of events": ("high",),
        "event number": ("high",),
    }


@pytest.mark.parametrize("rule", RULES)
def test_json_keeps_everything(rule: str) -> None:
    """A plan would mean something else once it was saved."""
    linked = linked_schema(
        7, with_missing=True, order_by="pay", **{rule: RULES[rule][1]}
    )
    read = dp.LinkedSchema.from_json(linked.to_json())
    assert read == linked
    assert read.rules == linked.rules
    assert read.order_by == "pay"


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_stated(rule: str) -> None:
    """A default would decide in silence about the rows of people."""
    stated = {name: choices[0] for name, choices in RULES.items() if name != rule}
    with pytest.raises(TypeError, match=rule):
        dp.LinkRules(**stated)
    with pytest.raises(dp.ParameterError, match=f"the rule {rule} must be one of"):
        dp.LinkRules(**stated, **{rule: "guess"})
    content = json.loads(linked_schema().to_json())
    del content["rules"][rule]
    with pytest.raises(dp.ReadError):
        dp.LinkedSchema.from_json(json.dumps(content))


def test_a_third_table_is_refused_by_name() -> None:
    """A third table would be left out in silence."""
    content = json.loads(linked_schema().to_json()) | {"drugs": {}}
    with pytest.raises(dp.ParameterError, match=r"two tables can be linked.*drugs"):
        dp.LinkedSchema.from_json(json.dumps(content))


def test_an_event_of_several_people_is_refused() -> None:
    """One person could change the rows of another."""
    content = json.loads(linked_schema().to_json())
    content["events"]["unit"]["id_column"] = ["doctor", "patient"]
    with pytest.raises(dp.ParameterError, match="identified by one column"):
        dp.LinkedSchema.from_json(json.dumps(content))


def changed(**fields: object) -> dict[str, object]:
    linked = linked_schema()
    return {
        "people": linked.people,
        "events": linked.events,
        "rules": linked.rules,
        **fields,
    }


PEOPLE = linked_schema().people
EVENTS = linked_schema().events
REFUSED: dict[str, tuple[dict[str, object], str]] = {
    "no key": (
        {"people": dataclasses.replace(PEOPLE, unit=dp.PrivacyUnit(max_rows=1))},
        "one of them names none",
    ),
    "several rows of people": (
        {
            "people": dataclasses.replace(
                PEOPLE, unit=dp.PrivacyUnit(max_rows=2, id_column="id")
            )
        },
        "one row a person",
    ),
    "too many events": (
        {
            "events": dataclasses.replace(
                EVENTS, unit=dp.PrivacyUnit(max_rows=1_001, id_column="person")
            )
        },
        "at most 1000 events",
    ),
    "a name twice": (
        {
            "events": dataclasses.replace(
                EVENTS, columns=(*EVENTS.columns, dp.Boolean("age"))
            )
        },
        "two columns of one name: age",
    ),
    "a name that a view adds": (
        {
            "people": dataclasses.replace(
                PEOPLE, columns=(*PEOPLE.columns, dp.Boolean("number of events"))
            )
        },
        "two columns of one name: number of events",
    ),
    "a released key": (
        {
            "people": dataclasses.replace(
                PEOPLE, columns=(*PEOPLE.columns, dp.Boolean("id"))
            )
        },
        "the key is declared",
    ),
    "no order": ({"order_by": "town"}, "column 'town' has no order"),
    "people without values": (
        {"rules": dataclasses.replace(linked_schema().rules, orphans="own person")},
        "no cell for missing values: age, sex",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_linked_is_refused(name: str) -> None:
    """A view would count something else than what its owner thinks."""
    fields, words = REFUSED[name]
    with pytest.raises(dp.DpcoreError, match=words):
        dp.LinkedSchema(**changed(**fields))  # type: ignore[arg-type]


def test_left_out_columns_mark_both_views() -> None:
    """A column that the data left out of one table would be forgotten."""
    marked = ExcludedColumn(name="name", reason="names", from_data=("left out",))
    plain = ExcludedColumn(name="name", reason="names")
    linked = dp.LinkedSchema(
        people=dataclasses.replace(PEOPLE, excluded=(plain,)),
        events=dataclasses.replace(EVENTS, excluded=(marked,)),
        rules=linked_schema().rules,
    )
    for view in (linked.people_view, linked.events_view):
        assert view.excluded == (marked,)
