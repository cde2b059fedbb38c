"""Pseudonyms in place of an identifier: keyed, of one series each, and undone by their
owner alone.
"""

from __future__ import annotations

import dataclasses
import json
from hashlib import blake2b

import pandas as pd
import pytest

import dpcore as dp
from dpcore.anonymization import KAnonymity, Plan, apply, build_intervals
from dpcore.anonymization.streamed import check_can_stream
from dpcore.errors import RowsError, SchemaError
from dpcore.release import AnonymizedTable
from dpcore.tables.digests import pseudonyms

AGES = [31, 34, 38, 39, 33, 61, 62, 64, 67, 68]
NAMES = [f"P{place // 2}" for place in range(10)]
VISITS = pd.DataFrame({"who": NAMES, "age": AGES, "visits": range(10)})
COSTS = pd.DataFrame({"who": NAMES[::-1], "age": AGES[::-1], "cost": range(10)})


def planned(frame: pd.DataFrame, **choices: object) -> Plan:
    return Plan(
        roles={
            "who": "identifier",
            "age": "quasi-identifier",
            str(frame.columns[2]): "insensitive",
        },
        hierarchies={"age": build_intervals(AGES, [10])},
        models=(KAnonymity(k=2),),
        pseudonym="who",
        **choices,  # type: ignore[arg-type]
    )


def opened(frame: pd.DataFrame, ledger: dp.MemoryLedger) -> dp.Curator:
    schema = dp.suggest_schema(frame[["age", frame.columns[2]]])
    schema = dp.Schema(
        columns=schema.columns, unit=dp.PrivacyUnit(max_rows=2, id_column="who")
    )
    return dp.Curator.open(frame, schema, budget=dp.PureDP(epsilon=1), ledger=ledger)


def made(
    frame: pd.DataFrame, ledger: dp.MemoryLedger, series: str = ""
) -> AnonymizedTable:
    return opened(frame, ledger).anonymize(planned(frame, series=series))


def names_of(table: AnonymizedTable) -> list[str]:
    """The names behind the pseudonyms, by the owner's table for follow-up."""
    values = json.loads(table.follow_up)["values"]
    return [values[each] for each in table.table.frame["who"]]


def test_the_owner_alone_finds_the_people_again() -> None:
    """Nobody could be asked again after five years, or everybody could ask."""
    table = made(VISITS, dp.MemoryLedger())
    assert not {*NAMES} & {*table.table.frame["who"]}
    assert not any(name in table.guarantee.as_metadata().values() for name in NAMES)
    back = dict(zip(table.table.frame["visits"], names_of(table), strict=True))
    assert back == dict(zip(VISITS["visits"], NAMES, strict=True))
    assert "P0" not in repr(table)


def test_tables_of_a_series_stay_linked_and_others_do_not() -> None:
    """Two tables of one study could not be joined, or those of two studies could."""
    ledger = dp.MemoryLedger()
    visits, costs = (made(frame, ledger, "study") for frame in (VISITS, COSTS))
    both = visits.table.frame.merge(costs.table.frame, on="who")
    assert len(both) == 20
    own = dict(zip(names_of(visits), visits.table.frame["who"], strict=True))
    other = dict(zip(names_of(costs), costs.table.frame["who"], strict=True))
    assert own == other
    for stranger in (
        made(VISITS, ledger, "another"),
        made(VISITS, dp.MemoryLedger(), "study"),
    ):
        assert {*visits.table.frame["who"]}.isdisjoint(stranger.table.frame["who"])


def test_households_of_a_series_stay_linked() -> None:
    """A table of people and one of their homes could not be joined, or groups would
    count people.
    """
    ledger = dp.MemoryLedger()
    homes = [f"H{place // 4}" for place in range(10)]
    both = []
    for frame in (VISITS, COSTS):
        plan = planned(frame, series="study", household="home")
        roles = {**plan.roles, "who": "insensitive", "home": "identifier"}
        plan = dataclasses.replace(plan, roles=roles, pseudonym="home")
        of_people = dict(zip(NAMES, homes, strict=True))
        table = opened(
            frame.assign(home=frame["who"].map(of_people)), ledger
        ).anonymize(plan)
        values = json.loads(table.follow_up)["values"]
        both.append({values[each]: each for each in table.table.frame["home"]})
    assert both[0] == both[1]
    assert set(both[0]) == set(homes)


def test_without_a_series_every_table_has_its_own() -> None:
    """Two recipients could join what they got; and a table could not be made again by
    its plan.
    """
    curator = opened(VISITS, dp.MemoryLedger())
    first, second = (curator.anonymize(planned(VISITS)) for _ in range(2))
    assert {*first.table.frame["who"]}.isdisjoint(second.table.frame["who"])
    again = curator.anonymize(Plan.from_json(first.plan))
    pd.testing.assert_frame_equal(again.table.frame, first.table.frame)


def test_pseudonyms_are_what_their_page_says() -> None:
    """A change of the library would break the follow-up of every table that was handed
    out.
    """
    column = pd.Series(["P1", None, "7", "P1"])
    values = pseudonyms(column, b"key" * 8, "study")
    own = blake2b(
        b"study", digest_size=32, key=b"key" * 8, person=b"pseudonyms"
    ).digest()
    expected = [
        blake2b(text, digest_size=12, key=own).hexdigest() for text in (b"P1", b"7")
    ]
    assert values.dropna().tolist() == [expected[0], expected[1], expected[0]]
    assert values.isna().tolist() == [False, True, False, False]
    assert pseudonyms(pd.Series([7]), b"key" * 8, "study").tolist() == [expected[1]]


def test_the_library_alone_drops_the_column() -> None:
    """Without a key there is no pseudonym: the names themselves would leave."""
    assert "who" not in apply(VISITS, planned(VISITS))


def test_what_cannot_be_is_refused() -> None:
    """A column would leave as it is, or names would leave in the files of a large
    table.
    """
    with pytest.raises(SchemaError, match="two roles at once"):
        Plan(
            roles={"who": "insensitive", "age": "quasi-identifier"},
            hierarchies={"age": build_intervals(AGES, [10])},
            models=(KAnonymity(k=2),),
            pseudonym="who",
        )
    with pytest.raises(RowsError, match="a pseudonym or PRAM needs all rows"):
        check_can_stream(planned(VISITS))


def test_a_plan_of_before_has_the_digest_of_before() -> None:
    """Tables that were made before would count as other versions."""
    plan = planned(VISITS)
    without = Plan(**{**vars(plan), "pseudonym": None})
    assert "pseudonym" not in without.to_json()
    assert Plan.from_json(plan.to_json()) == plan
