"""Why cells are hidden tells no count: of groups, of later versions, of other accounts.

Something small must be the reason that a table hides cells. Each test looks by whole
numbers, in code of its own, whether what must stay secret can still be large while
something else is the reason.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import csr_array

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.curator import Curator
from dpcore.errors import InfeasibleError
from dpcore.suppression import PRESETS, PublishedTable, ShownColumn
from dpcore.suppression import _reader as reading
from dpcore.suppression._equations import EquationSystem
from dpcore.suppression._programs import count_in_solution
from dpcore.suppression._reasons import find_reasons_to_hide
from dpcore.suppression.atoms import AtomBlocks
from dpcore.suppression.attacked import AttackedTable, KnownMap
from tests.suppression.accounts import (
    count_of,
    name_account,
    open_account,
    plan_by,
    publish,
    rows_of,
)
from tests.suppression.fits import regions_of

AGES = ("0-17", "18", "19-30", "31-40", "41-64", "65+")
CUTS = (
    ("<=17", "18-64", "18-64", "18-64", "18-64", "65+"),
    ("<=18", "<=18", "19-40", "19-40", "41-64", "65+"),
    ("<=30", "<=30", "<=30", "31-40", "41+", "41+"),
)


def cut(column: str, values: Sequence[str], labels: Sequence[str]) -> ShownColumn:
    """Return a column whose values are shown in groups alone."""
    levels = (tuple(values), tuple(labels), ("*",) * len(values))
    tree = Hierarchy(values=tuple(values), levels=levels)
    return ShownColumn(column=column, hierarchy=tree, levels=(1,))


def publish_ages(preset: str, aged_18: int) -> list[PublishedTable]:
    """Publish three tables of the age, cut at other places."""
    people = (50, aged_18, 25, 32, 40, 60)
    cells = {(age,): number for age, number in zip(AGES, people, strict=True)}
    curator = open_account(rows_of(cells, "age"))
    tables = []
    for labels in CUTS:
        plan = plan_by(PRESETS[preset], cut("age", AGES, labels))
        tables.append(publish(curator, plan))
    return tables


def find_most_aged_18(tables: list[PublishedTable], preset: str) -> float:
    """Return the most people of 18, if another group is why the second table hides.

    The other ones are all that the first two tables show, hide, or tell apart.
    """
    rule = PRESETS[preset]
    lines: list[list[float]] = []
    sums: list[int] = []
    for table in tables:
        for region, count in zip(regions_of(table), table.counts, strict=True):
            if count is not None:
                inside = region.get("age", frozenset(AGES))
                lines.append([float(age in inside) for age in AGES])
                sums.append(count)
    most = -np.inf
    reasons = (("0-17",), ("0-17", "18"), ("19-30", "31-40"), ("41-64",), ("65+",))
    for reason in reasons:
        small = [float(age in reason) for age in AGES]
        found = milp(
            [-float(age == "18") for age in AGES],
            constraints=[
                LinearConstraint(np.array(lines), sums, sums),
                LinearConstraint(
                    [small], 0 if rule.hide_zeros else 1, rule.threshold - 1
                ),
            ],
            integrality=np.ones(len(AGES)),
        )
        if found.status == 0:
            most = max(most, round(-found.fun))
    return most


AGED_18 = {"nhs": 3, "cms": 4, "acro": 4}


@pytest.mark.parametrize("preset", [*AGED_18])
def test_a_group_that_no_table_shows_is_not_told_by_the_reason(preset: str) -> None:
    """The third table showed that nothing but the people of 18 could be the reason."""
    tables = publish_ages(preset, AGED_18[preset])
    assert None in tables[1].counts
    assert find_most_aged_18(tables, preset) >= PRESETS[preset].threshold


@pytest.mark.parametrize("preset", [*AGED_18])
def test_who_asks_for_cells_alone_tells_the_group(
    preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin."""
    right = reading.Reader._is_told_by_reason

    def forget(self: Any, reasons: Any, place: int, known: Any) -> bool:
        return place < reasons.cells and right(self, reasons, place, known)

    monkeypatch.setattr(reading.Reader, "_is_told_by_reason", forget)
    tables = publish_ages(preset, AGED_18[preset])
    assert find_most_aged_18(tables, preset) == -np.inf


def test_with_many_people_of_18_nothing_is_hidden() -> None:
    """The rule would hide no count of these three tables."""
    assert not any(None in table.counts for table in publish_ages("nhs", 30))


DISTRICTS = {"A": "D1", "B": "D2", "C": "D2", "E": "D2"} | {
    **dict.fromkeys("GH", "D3"),
    **dict.fromkeys("IJK", "D4"),
}
TOWNS = dict(zip(DISTRICTS, (3, 30, 8, 25, 60, 45, 80, 2, 30), strict=True))
LAST_MONTH = {**TOWNS, "A": 20, "B": 45, "C": 10, "J": 12}


def open_towns(people: Mapping[str, int]) -> Curator:
    cells = {
        (town, DISTRICTS[town], sex): number // 2 + (sex == "m") * (number % 2)
        for town, number in people.items()
        for sex in "fm"
    }
    return open_account(rows_of(cells, "town", "district", "sex"))


def find_least_in_d2(districts: PublishedTable, towns: PublishedTable) -> int:
    """Return the fewest people of D2; D1 is hidden, so D2 must be small if D1 is not."""
    assert [count_of(districts, name) for name in ("D1", "D2")] == [None, None]
    assert all(count_of(districts, name) is not None for name in ("D3", "D4"))
    return sum(count_of(towns, town) or 1 for town in "BCE")


def publish_months(then: Mapping[str, int] | None) -> int:
    """Publish districts in two months, and towns in the second one."""
    rule = PRESETS["nhs"]
    others = []
    if then is not None:
        first = publish(open_towns(then), plan_by(rule, "district"))
        assert None not in first.counts
        others.append(name_account(first))
    curator = open_towns(TOWNS)
    plans = [plan_by(rule, "district"), plan_by(rule, "town")]
    return find_least_in_d2(*(publish(curator, plan, others) for plan in plans))


@pytest.mark.parametrize("then", [LAST_MONTH, None])
def test_changed_counts_of_last_month_do_not_tell_the_reason(
    then: Mapping[str, int] | None,
) -> None:
    """D1 and D2 are hidden. Both changed by many, so one of them must be small."""
    assert publish_months(then) < PRESETS["nhs"].threshold


def test_who_knows_no_reason_of_later_versions_tells_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin: D2 was large by its towns, so D1 had few people."""
    right = reading.find_reasons_to_hide

    def forget(system: Any, number: int) -> Any:
        has_changed = any(table.is_changed for table in system.tables)
        return None if has_changed else right(system, number)

    monkeypatch.setattr(reading, "find_reasons_to_hide", forget)
    assert publish_months(LAST_MONTH) >= PRESETS["nhs"].threshold


def test_a_difference_is_unknown_if_both_sides_are() -> None:
    """Few who came may be a reason. A solution may leave out people of today and then."""
    weights = csr_array(np.array([[1.0, -1.0, 0.0]]))
    for solution, is_known in (([3.0, 1.0, np.nan], True), ([np.nan] * 3, False)):
        counts, has_all = count_in_solution(
            weights, np.zeros(1, dtype=np.int64), np.array(solution)
        )
        assert has_all[0] == is_known
        assert not is_known or counts[0] == 2


@pytest.mark.parametrize(
    ("known", "is_reason"),
    [({"by sex"}, False), ({"by sex", "by town"}, True), ((), True)],
)
def test_only_tables_that_were_known_give_a_reason(
    known: Sequence[str], is_reason: bool
) -> None:
    """Another account had published towns, and the districts knew a table by sex.

    A table of an earlier version of this program says only how many it knew.
    """

    def see(column: str, *groups: str, **more: Any) -> AttackedTable:
        return AttackedTable(
            columns=(column,),
            groups=((None, *(frozenset(own.split()) for own in groups)),),
            complete_columns=frozenset({column}),
            threshold=5,
            hides_small_alone=True,
            **more,
        )

    towns = see("town", "A K", "B C E J", counts=(133, 68, 65), key="by town")
    districts = see(
        "district",
        *("D1", "D2", "D4"),
        counts=(133, None, None, 67),
        tables_before=1,
        known=frozenset(known),
    )
    lies_in = {"A": "D1", **dict.fromkeys("BCE", "D2"), **dict.fromkeys("JK", "D4")}
    nested = KnownMap(
        columns=("town", "district"),
        usual=frozenset(lies_in.items()),
        rare={},
        inner="town",
    )
    tables = [towns, districts]
    system = EquationSystem(tables, AtomBlocks(tables, [nested]))
    causes = find_reasons_to_hide(system, 1)
    assert causes is not None
    assert bool(causes.groups) is is_reason


def test_a_table_has_the_same_key_in_each_account() -> None:
    """It is written into the ledger, and not into the public file."""
    curator = open_towns(TOWNS)
    plans = [plan_by(PRESETS["cms"], name) for name in ("sex", "district")]
    first, second = (publish(curator, plan) for plan in plans)
    assert second.known == (first.key,)
    assert first.key != second.key
    again = PublishedTable.from_record(json.loads(json.dumps(second.to_record())))
    assert (again.key, again.known) == (second.key, second.known)
    assert name_account(second).key == second.key
    assert first.key not in second.to_json()


def publish_ages_of_districts() -> bool:
    """Return whether (district x age) is published when both accounts know each other.

    Together, their first tables tell by the reason that D1 has few people. Four ages of
    one person each, and a shown zero, would tell that it has exactly four.
    """
    rule = PRESETS["nhs"]
    people = {**TOWNS, "A": 4, "J": 32}
    del people["K"]
    cells = {
        (town, DISTRICTS[town], f"age{age}"): number // 4 + (age < number % 4)
        for town, number in people.items()
        for age in range(4)
    }
    rows = rows_of(cells, "town", "district", "age")
    declared = {"age": [f"age{age}" for age in range(5)]}
    labels = {"B": "B and E", "E": "B and E", "G": "G", "H": "H"}
    towns = cut("town", tuple(people), [labels.get(town, "rest") for town in people])
    districts = publish(open_account(rows, declared), plan_by(rule, "district"))
    assert count_of(districts, "D1") is None
    curator = open_account(rows, declared)
    assert None not in publish(curator, plan_by(rule, towns)).counts
    others = [name_account(districts)]
    publish(curator, plan_by(rule, "age"), others)  # adds nothing, and is published
    try:
        publish(curator, plan_by(rule, "district", "age"), others)
    except InfeasibleError as refused:
        assert refused.details["tables"]  # noqa: PT017 - it names them
        return False
    return True


def test_what_the_reason_told_before_may_not_be_told_exactly() -> None:
    assert not publish_ages_of_districts()


def test_without_its_bounds_it_would_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin."""
    monkeypatch.setattr(reading.Reader, "_bound_by_reason", lambda *_: (1, 4))
    assert publish_ages_of_districts()
