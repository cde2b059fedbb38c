"""Columns that others decide, such as the district of a town, are no news to readers."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.errors import DpcoreError
from dpcore.suppression import PRESETS, HidingRule, PublishedTable, ShownColumn
from dpcore.suppression import protect as protecting
from tests.suppression.accounts import open_account, plan_by, publish, rows_of
from tests.suppression.fits import find_extreme

DISTRICTS = {"A": "D1", "B": "D1", "C": "D2", "E": "D2"}
TOWNS = {
    ("A", "D1", "f"): 3,
    ("A", "D1", "m"): 40,
    ("B", "D1", "f"): 25,
    ("B", "D1", "m"): 38,
    ("C", "D2", "f"): 22,
    ("C", "D2", "m"): 31,
    ("E", "D2", "f"): 45,
    ("E", "D2", "m"): 60,
}


def find_highest(tables: list[PublishedTable], town: str, sex: str) -> float:
    """Return the most people of a town and a sex that fit, by whole numbers."""
    return find_extreme(
        tables,
        decided={"district": ("town", DISTRICTS)},
        target={"town": frozenset({town}), "sex": frozenset({sex})},
        sign=1,
    )


@pytest.mark.parametrize("within", [(), ("district",)])
def test_the_districts_of_towns_do_not_tell_a_town(within: tuple[str, ...]) -> None:
    """The table by district would give back the three women of a town."""
    curator = open_account(rows_of(TOWNS, "town", "district", "sex"))
    towns = plan_by(PRESETS["cms"], ShownColumn(column="town", within=within), "sex")
    tables = [publish(curator, towns)]
    tables.append(publish(curator, plan_by(PRESETS["cms"], "district", "sex")))
    assert find_highest(tables, "A", "f") >= PRESETS["cms"].threshold


def test_without_this_knowledge_the_districts_would_tell_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin: columns that are taken as independent give the three women away."""
    attack = protecting.attack

    def forget(tables, *, decided=(), **more):  # type: ignore[no-untyped-def]
        return attack(tables, **more)

    monkeypatch.setattr(protecting, "attack", forget)
    curator = open_account(rows_of(TOWNS, "town", "district", "sex"))
    tables = [
        publish(curator, plan_by(PRESETS["cms"], name, "sex"))
        for name in ("town", "district")
    ]
    assert find_highest(tables, "A", "f") == 3


def test_two_columns_that_decide_a_third_meet_in_it() -> None:
    """Town and school decide the district: its table is told with those of both."""
    cells = {
        (town, school, DISTRICTS[town], sex): people
        for (town, school, sex), people in {
            ("A", "s1", "f"): 20,
            ("A", "s2", "f"): 3,
            ("B", "s1", "f"): 30,
            ("B", "s2", "m"): 44,
            ("C", "s3", "f"): 31,
            ("E", "s4", "f"): 26,
            ("C", "s4", "m"): 52,
            ("E", "s3", "m"): 47,
            ("A", "s1", "m"): 33,
        }.items()
    }
    curator = open_account(rows_of(cells, "town", "school", "district", "sex"))
    rule = HidingRule(threshold=25)
    tables = [
        publish(curator, plan_by(rule, name, "sex")) for name in ("town", "school")
    ]
    schools = {"s1": "D1", "s2": "D1", "s3": "D2", "s4": "D2"}
    try:
        tables.append(publish(curator, plan_by(rule, "district", "sex")))
    except DpcoreError as refused:
        assert refused.details["tables"]  # noqa: PT017 - both outcomes are safe
    for column, place in (("town", 0), ("school", 1)):
        frame = rows_of(cells, "town", "school", "district", "sex")
        for value in sorted(set(frame[column])):
            for sex in "fm":
                people = int(((frame[column] == value) & (frame["sex"] == sex)).sum())
                cell = tables[place].layout.find_cell((value, sex))
                if tables[place].counts[cell] is None and people < 25:
                    highest = find_extreme(
                        tables,
                        decided={"district": ("town", DISTRICTS)},
                        target={
                            column: frozenset({value}),
                            "sex": frozenset({sex}),
                        },
                        sign=1,
                        also={"district": ("school", schools)},
                    )
                    assert highest >= 25


def test_columns_of_one_table_may_decide_each_other() -> None:
    """Town by district: cells that cannot be are shown as empty, and nothing is told."""
    curator = open_account(rows_of(TOWNS, "town", "district", "sex"))
    table = publish(curator, plan_by(PRESETS["cms"], "town", "district"))
    assert np.count_nonzero([count == 0 for count in table.counts]) == 4
