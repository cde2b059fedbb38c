"""Readers with a map, such as the district of each town, are told no more than others."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.curator import curator as curating
from dpcore.errors import InfeasibleError, LimitError
from dpcore.suppression import PRESETS, HidingRule, PublishedTable, ShownColumn
from dpcore.suppression import maps as mapping
from dpcore.suppression import protect as protecting
from dpcore.suppression._reader import Reader
from dpcore.suppression._reasons import find_hidden_components
from dpcore.suppression.attack import attack, find_known_bounds
from dpcore.suppression.attacked import AttackedTable, KnownMap
from dpcore.suppression.maps import find_map
from tests.suppression.accounts import (
    count_of,
    name_account,
    open_account,
    plan_by,
    publish,
    rows_of,
)
from tests.suppression.fits import Fits, find_ends, find_extreme
from tests.suppression.groupings import group_values
from tests.suppression.tables import count, groups, plan_of, show
from workbench.report.of_exact_table import list_checks

CMS = PRESETS["cms"]
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


def forget_maps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack as readers without any map."""
    attack = protecting.attack

    def forget(tables, *, maps=(), **more):  # type: ignore[no-untyped-def]
        return attack(tables, **more)

    monkeypatch.setattr(protecting, "attack", forget)


def publish_all(
    cells: dict[tuple[str | None, ...], int],
    names: tuple[str, ...],
    plans: tuple[tuple[str | ShownColumn, ...], ...],
    rule: HidingRule = CMS,
) -> list[PublishedTable]:
    """Publish tables from one account, without those that are refused."""
    curator = open_account(rows_of(cells, *names))  # type: ignore[arg-type]
    tables = []
    for columns in plans:
        try:
            tables.append(publish(curator, plan_by(rule, *columns)))
        except InfeasibleError as refused:
            assert refused.details["tables"]  # noqa: PT017 - safe as well
    return tables


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
    towns = plan_by(
        CMS,
        ShownColumn(column="town", within=within, values_are_public=bool(within)),
        "sex",
    )
    tables = [publish(curator, towns)]
    tables.append(publish(curator, plan_by(CMS, "district", "sex")))
    assert find_highest(tables, "A", "f") >= CMS.threshold


def test_without_this_knowledge_the_districts_would_tell_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin: columns that are taken as independent give the three women away."""
    forget_maps(monkeypatch)
    tables = publish_all(
        TOWNS, ("town", "district", "sex"), (("town", "sex"), ("district", "sex"))
    )
    assert find_highest(tables, "A", "f") == 3


UNTIDY = {
    "one man of E coded in D1": {("E", "D1", "m"): 1},
    "men without a town": {(None, "D1", "m"): 12, (None, "D2", "m"): 15},
    "a new town in both districts": {("N", "D1", "m"): 20, ("N", "D2", "m"): 14},
    "a man without a district": {("A", None, "m"): 1},
    "a woman of A coded in D2": {("A", "D2", "f"): 1},
}


@pytest.mark.parametrize("case", UNTIDY)
def test_untidy_rows_do_not_switch_the_map_off(case: str) -> None:
    """One row that was coded wrong gave the three women of a town away."""
    tables, highest = attack_untidy_rows(case)
    assert len(tables) < 2 or highest >= CMS.threshold


def test_without_the_map_untidy_rows_give_a_town_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forget_maps(monkeypatch)
    assert [attack_untidy_rows(case)[1] for case in UNTIDY] == [3, 3, 3, 3, 4]


def attack_untidy_rows(case: str) -> tuple[list[PublishedTable], float]:
    """Return the tables, and the most women of A for readers who know the errors."""
    more = UNTIDY[case]
    cells = {**TOWNS, **more}
    tables = publish_all(
        cells, ("town", "district", "sex"), (("town", "sex"), ("district", "sex"))
    )
    usual = {(town, district) for town, district, _ in TOWNS}
    places = {
        (town or "(missing)", district or "(missing)") for town, district, _ in cells
    }
    atoms = [
        {"town": town, "district": district, "sex": sex}
        for town, district in sorted(places)
        for sex in "fm"
        if (town, district) in usual
        or any(
            (own or "(missing)", near or "(missing)", own_sex) == (town, district, sex)
            for own, near, own_sex in more
        )
    ]
    target = {"town": "A", "sex": "f"}
    return tables, find_ends(tables, atoms, target)[1]


ZONES = {"x": ("H1", "P1"), "a": ("H1", "P2"), "b": ("H2", "P1")}
ZONE_PEOPLE = {
    ("x", "f"): 3,
    ("x", "m"): 2,
    ("a", "f"): 50,
    ("a", "m"): 40,
    ("b", "f"): 60,
    ("b", "m"): 70,
}


@pytest.mark.parametrize("more", [("sex",), ()])
def test_people_where_two_areas_cross_are_not_told(more: tuple[str, ...]) -> None:
    """A reader with a map sees the town between a health area and a police area."""
    tables = publish_zones(more)
    assert len(tables) == 1


def test_without_the_map_two_areas_tell_who_lives_in_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forget_maps(monkeypatch)
    tables = publish_zones(())
    atoms = [
        {"town": town, "health": health, "police": police}
        for town, (health, police) in ZONES.items()
    ]
    assert find_ends(tables, atoms, {"town": "x"}) == (5, 5)


def publish_zones(more: tuple[str, ...]) -> list[PublishedTable]:
    cells = {(*ZONES[town], sex): people for (town, sex), people in ZONE_PEOPLE.items()}
    return publish_all(
        cells, ("health", "police", "sex"), (("health", *more), ("police", *more))
    )


@pytest.mark.parametrize("people", [5, 10])
@pytest.mark.parametrize("around", [80, 2_000])
def test_a_small_crossing_of_large_areas_is_not_told(people: int, around: int) -> None:
    """However large the areas are: readers may know that somebody lives in both."""
    cells = {
        ("H1", "P1", "f"): 3,
        ("H1", "P1", "m"): people - 3,
        ("H1", "P2", "f"): around,
        ("H1", "P2", "m"): around + 10,
        ("H2", "P1", "f"): around + 20,
        ("H2", "P1", "m"): around + 30,
    }
    plans = (("health", "sex"), ("police", "sex"))
    tables = publish_all(cells, ("health", "police", "sex"), plans)
    assert tables
    atoms = [dict(zip(("health", "police", "sex"), own, strict=True)) for own in cells]
    for sex in ({"sex": "f"}, {}):
        target = {"health": "H1", "police": "P1", **sex}
        assert find_ends(tables, atoms, target)[1] >= CMS.threshold


CROSSINGS = {
    "x": ("H1", "P1"),
    "a": ("H1", "P2"),
    "b": ("H2", "P1"),
    "y": ("H2", "P3"),
    "c": ("H3", "P3"),
}
CROSSING_PEOPLE = {
    ("x", "f"): 2,
    ("x", "m"): 2,
    ("a", "f"): 50,
    ("a", "m"): 40,
    ("b", "f"): 60,
    ("b", "m"): 70,
    ("y", "f"): 2,
    ("y", "m"): 1,
    ("c", "f"): 80,
    ("c", "m"): 90,
}


@pytest.mark.parametrize("preset", ["cms", "nhs", "acro"])
@pytest.mark.parametrize(
    "plans",
    [
        (("town",), ("health",), ("police",)),
        (("health",), ("police",), ("town",)),
        (("town", "sex"), ("health", "sex"), ("police", "sex")),
        (("town",), ("health", "police")),
    ],
)
def test_a_hidden_town_is_not_told_by_two_areas(
    preset: str, plans: tuple[tuple[str, ...], ...]
) -> None:
    """Few people live where both areas cross, and readers with a map know the town."""
    rule = PRESETS[preset]
    cells = {
        (town, *CROSSINGS[town], sex): people
        for (town, sex), people in CROSSING_PEOPLE.items()
    }
    tables = publish_all(cells, ("town", "health", "police", "sex"), plans, rule)
    assert len(tables) >= 2
    atoms = [
        {"town": town, "health": health, "police": police, "sex": sex}
        for town, (health, police) in CROSSINGS.items()
        for sex in "fm"
    ]
    for town in "xy":
        assert find_ends(tables, atoms, {"town": town})[1] >= rule.threshold


@pytest.mark.parametrize("first", ["cms", "nhs"])
def test_a_small_cell_of_one_rule_does_not_open_what_another_rule_protects(
    first: str,
) -> None:
    """Eight women are shown for a threshold of 5; three of them are still protected."""
    people = {
        ("H1", "P1", "f"): 3,
        ("H1", "P1", "m"): 30,
        ("H1", "P2", "f"): 5,
        ("H1", "P2", "m"): 40,
        ("H2", "P1", "f"): 60,
        ("H2", "P1", "m"): 70,
        ("H3", "P2", "f"): 40,
        ("H3", "P2", "m"): 44,
    }
    plans = [
        plan_by(PRESETS["nhs"], "health", "sex"),
        plan_by(CMS, "police", "sex"),
    ]
    curator = open_account(rows_of(people, "health", "police", "sex"))
    tables = [
        publish(curator, plan)
        for plan in (plans if first == "nhs" else reversed(plans))
    ]
    atoms = [dict(zip(("health", "police", "sex"), own, strict=True)) for own in people]
    women = {"health": "H1", "police": "P1", "sex": "f"}
    assert find_ends(tables, atoms, women)[1] >= PRESETS["nhs"].threshold


AGES = {"1": "A", "2": "B", "3": "A", "4": "B"}
WOMEN = {"1": (33, 8), "2": (7, 193), "3": (17, 3), "4": (53, 147)}


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_circle_of_three_tables_does_not_tell_finer_parts(
    order: tuple[int, ...],
) -> None:
    """The table of ages and sexes groups ages, and only the others tell them apart."""
    cells = {
        (age, town, sex): people
        for age, town in AGES.items()
        for sex, people in zip("fm", WOMEN[age], strict=True)
    }
    cells |= dict.fromkeys(itertools.product("56", "CD", "fm"), 125)
    ages = tuple("123456")
    tree = Hierarchy(
        values=ages, levels=(ages, ("12", "12", "34", "34", "56", "56"), ("*",) * 6)
    )
    pairs = ShownColumn(column="age", hierarchy=tree, levels=(1,))
    plans = ((pairs, "sex"), ("age", "town"), ("town", "sex"))
    tables = publish_all(
        cells, ("age", "town", "sex"), tuple(plans[number] for number in order)
    )
    assert len(tables) >= 2
    atoms = [
        dict(zip(("age", "town", "sex"), own, strict=True))
        for own in itertools.product("123456", "ABCD", "fm")
    ]
    for age, sex in (("2", "f"), ("3", "m")):
        highest = find_ends(tables, atoms, {"age": age, "sex": sex})[1]
        assert highest >= CMS.threshold


@pytest.mark.parametrize("more", [("sex",), ()])
def test_three_groupings_do_not_isolate_a_value(more: tuple[str, ...]) -> None:
    """No two of the tables tell the town x alone, all three do."""
    people = ZONE_PEOPLE | {("c", "f"): 33, ("c", "m"): 44}
    plans = tuple(
        (group_values("town", "abcx", lambda town, own=own: town == own), *more)
        for own in "abc"
    )
    tables = publish_all(people, ("town", "sex"), plans)
    assert len(tables) >= 2
    atoms = [{"town": town, "sex": sex} for town in "abcx" for sex in "fm"]
    assert find_ends(tables, atoms, {"town": "x"})[1] >= CMS.threshold


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
    rule = HidingRule(threshold=25)
    names = ("town", "school", "district", "sex")
    plans = (("town", "sex"), ("school", "sex"), ("district", "sex"))
    tables = publish_all(cells, names, plans, rule)
    schools = {"s1": "D1", "s2": "D1", "s3": "D2", "s4": "D2"}
    frame = rows_of(cells, *names)
    for table in tables:
        for cell, shown in enumerate(table.counts):
            column, (value, sex) = table.layout.columns[0], table.layout.labels(cell)
            if "Total" in (value, sex) or column == "district":
                continue
            people = int(((frame[column] == value) & (frame["sex"] == sex)).sum())
            if shown is None and people < 25:
                highest = find_extreme(
                    tables,
                    decided={"district": ("town", DISTRICTS)},
                    target={column: frozenset({value}), "sex": frozenset({sex})},
                    sign=1,
                    also={"district": ("school", schools)},
                )
                assert highest >= 25


def test_columns_of_one_table_may_decide_each_other() -> None:
    """Town by district: cells that cannot be are shown as empty, and nothing is told."""
    curator = open_account(rows_of(TOWNS, "town", "district", "sex"))
    table = publish(curator, plan_by(CMS, "town", "district"))
    assert np.count_nonzero([count == 0 for count in table.counts]) == 4


def test_a_table_that_wrong_rows_block_is_free_when_they_are_corrected() -> None:
    """As the refusal says: the man of E in D1 would be told by both tables."""
    people = {own: 50 + number for own, number in TOWNS.items()}
    names = ("town", "district", "sex")
    wrong = {**people, ("E", "D1", "m"): 1}
    curator = open_account(rows_of(wrong, *names))
    towns = publish(curator, plan_by(CMS, "town"))
    with pytest.raises(InfeasibleError, match="errors of coding") as refused:
        curator.exact_table(plan_by(CMS, "district"))
    assert "correct the rows" in str(refused.value)
    right = {**people, ("E", "D2", "m"): people["E", "D2", "m"] + 1}
    districts = publish(
        open_account(rows_of(right, *names)),
        plan_by(CMS, "district"),
        [name_account(towns)],
    )
    assert None not in districts.counts


def test_the_report_bounds_counts_for_readers_with_the_map() -> None:
    """Bounds for readers without a map stood beside narrower ones that they contradict."""
    cells = {**TOWNS, ("E", "D1", "m"): 1}
    curator = open_account(rows_of(cells, "town", "district", "sex"))
    made = curator.exact_table(plan_by(PRESETS["acro"], "town", "district")).content
    atoms = [
        {"town": town, "district": district}
        for town, district in sorted({own[:2] for own in cells})
    ]
    known_to_be_empty = 0
    assert made.bounds
    for cell, bound in made.bounds.items():
        labels = zip(
            ("town", "district"), made.published.layout.labels(cell), strict=True
        )
        target = {name: label for name, label in labels if label != "Total"}
        ends = find_ends([made.published], atoms, target)
        # members of the rule know besides who is in which cell
        assert bound.high <= ends[1]
        assert max(bound.low, 1) >= ends[0]
        assert bound.low <= made.true_counts[cell] <= bound.high
        known_to_be_empty += bound.high == 0
    assert known_to_be_empty
    sentences = [check.sentence for check in list_checks(made)]
    assert any("known to be zero by readers" in one for one in sentences)
    assert not any("none of the hidden counts" in one for one in sentences)


def publish_towns_and_zones(women: int, *, towns_first: bool) -> list[PublishedTable]:
    """Publish towns and zones by sex; town A is in zone Z, town B is in both zones."""
    cells = {
        ("A", "Z", "f"): women,
        ("A", "Z", "m"): 100 - women,
        ("B", "Z", "f"): 14 - women,
        ("B", "Z", "m"): 27 + women,
        ("B", "N", "f"): 86,
        ("B", "N", "m"): 23,
        ("C", "N", "f"): 300,
        ("C", "N", "m"): 400,
    }
    plans = (("zone", "sex"), ("town", "sex"))
    return publish_all(
        cells, ("town", "zone", "sex"), plans[::-1] if towns_first else plans
    )


def test_the_same_tables_may_come_from_a_large_count() -> None:
    """Of four hidden counts one alone can be small, and yet it may be above the rule's.

    The limit of that count comes from an earlier table. If the count is just below its
    limit, the few others of that table are the reason to hide it.
    """
    few = [table.counts for table in publish_towns_and_zones(3, towns_first=False)]
    assert None in few[1]
    for women in (12, 13):
        tables = publish_towns_and_zones(women, towns_first=False)
        assert [table.counts for table in tables] == few


def test_a_later_limit_does_not_tell_why_counts_were_hidden() -> None:
    """The zone has 14 women, so of four hidden counts only those of A can be small.

    The first table had no other reason to hide four counts, so A has few women. With 12
    of them, it hides nothing.
    """
    first, *more = publish_towns_and_zones(3, towns_first=True)
    hidden = [cell for cell, count in enumerate(first.counts) if count is None]
    assert len(hidden) == 4
    assert all(count_of(table, "Z", "f") is None for table in more)
    assert None not in publish_towns_and_zones(12, towns_first=True)[0].counts


@pytest.mark.parametrize("preset", ["nhs", "cms", "acro"])
def test_a_table_of_other_columns_gives_no_reason_to_hide_a_count(preset: str) -> None:
    """A first table by sex is no reason to hide a district: one of both is small.

    The towns of D2 show that D2 is large; that told D1.
    """
    towns = {
        **{("A", "D1"): 3, ("B", "D2"): 30, ("C", "D2"): 8, ("E", "D2"): 25},
        **{("G", "D3"): 60, ("H", "D3"): 45, ("I", "D4"): 80, ("K", "D4"): 32},
    }
    cells = {
        (*town, sex): people // 2 + (sex == "m") * (people % 2)
        for town, people in towns.items()
        for sex in "fm"
    }
    rule = PRESETS[preset]
    plans = (("sex",), ("district",), ("town",))
    tables = publish_all(cells, ("town", "district", "sex"), plans, rule)
    by_district = tables[1]
    assert [count_of(by_district, "D1"), count_of(by_district, "D2")] == [None, None]
    least = sum(count_of(table, town) or 1 for table in tables[2:] for town in "BCE")
    assert least < rule.threshold  # D2 may be small


def test_lines_that_other_columns_group_hold_somebody() -> None:
    """They are read from the rows. Five people in five towns were one in each."""
    rule = HidingRule(threshold=5, hide_zeros=True)
    cells = {(f"r{at}", "D1"): 1 for at in range(5)}
    cells |= {("c1", "D2"): 40, ("c2", "D2"): 30, ("c3", "D3"): 25, ("c4", "D3"): 45}
    curator = open_account(rows_of(cells, "town", "district"))
    nested = ShownColumn(column="town", within=("district",), values_are_public=True)
    table = publish(curator, plan_by(rule, nested))
    assert count_of(table, "r0") is None
    assert count_of(table, "D1") is None
    assert {*range(1, len(table.counts))} == {*table.occupied}


def test_bounds_alone_do_not_show_why_counts_were_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin: from 0 to 14 women seem possible, and the zones are published."""
    monkeypatch.setattr(
        "dpcore.suppression._reader.find_hidden_components", lambda table: []
    )
    _, zones = publish_towns_and_zones(3, towns_first=True)
    assert count_of(zones, "Z", "f") == 14


@pytest.mark.parametrize("seed", range(20))
def test_hidden_cells_that_sums_join_are_those_found_one_by_one(seed: int) -> None:
    draw = np.random.default_rng([51, seed])
    plan = plan_of(CMS, a=groups("a", 2, 2, 1), b=groups("b", 1, 2))
    layout = plan.build_layout()
    hidden = np.flatnonzero(draw.random(layout.size) < 0.3).tolist()
    table = show(plan, np.full(layout.size, 20), hidden)
    kind = {cell: cell for cell in hidden}
    for parent, children in layout.equations * len(hidden):
        inside = [cell for cell in (parent, *children) if cell in kind]
        for cell in inside:
            kind[cell] = min(kind[other] for other in inside)
    expected = {
        frozenset(cell for cell in hidden if kind[cell] == own) for own in kind.values()
    }
    found = find_hidden_components(table.as_attacked(frozenset(), {}))
    assert {frozenset(own) for own in found} == expected


def test_a_map_needs_more_than_chance() -> None:
    """Nearly all people are men: that does not tell where a town lies."""
    pair = ("town", "sex")
    by_town = {
        (town, sex): {"m": 97, "f": 3 if town == "A" else 2}[sex]
        for town, sex in itertools.product("ABCE", "fm")
    }
    asked = {"threshold": 5, "stand_together": True}
    for all_shown in (True, False):
        assert find_map(pair, by_town, all_shown=all_shown, **asked) is None
    # areas that cross: few people are where chance would put many
    pair = ("district", "zone")
    areas = dict.fromkeys(itertools.product(("D1", "D2", "D3"), ("Z1", "Z2")), 40)
    areas |= {("D1", "Z2"): 2, ("D3", "Z1"): 3}
    assert find_map(pair, areas, all_shown=True, **asked) is None
    # other tables do not undo it for all readers
    known = find_map(pair, areas, all_shown=False, **asked)
    assert known is not None
    assert known.is_doubtful
    known = find_map(pair, areas, threshold=5, stand_together=False, all_shown=False)
    assert known is not None
    assert not known.is_doubtful
    assert known.rare == {("D1", "Z2"): 2, ("D3", "Z1"): 3}
    # a district follows from the town but for few errors
    places = dict.fromkeys(DISTRICTS.items(), 60) | {("E", "D1"): 2}
    known = find_map(
        ("town", "district"), places, threshold=5, stand_together=True, all_shown=False
    )
    assert known is not None
    assert known.rare == {("E", "D1"): 2}
    # few people of a town are no error
    places["A", "D1"] = 2
    known = find_map(
        ("town", "district"), places, threshold=5, stand_together=True, all_shown=False
    )
    assert known is not None
    assert ("A", "D1") in known.usual


def test_two_women_in_a_district_are_no_map() -> None:
    """Chance alone would put five of 48 people there."""
    people = {("f", "D1"): 2, ("f", "D2"): 11, ("m", "D1"): 16, ("m", "D2"): 19}
    asked = {"threshold": 3, "stand_together": False, "all_shown": False}
    assert find_map(("sex", "district"), people, **asked) is None
    # the twin: in a file ten times as large, chance would put 60 there
    known = find_map(
        ("sex", "district"), {**people, ("f", "D2"): 110, ("m", "D1"): 160}, **asked
    )
    assert known is not None


@pytest.mark.parametrize(("preset", "least"), [("cms", 8), ("acro", 8), ("nhs", 3)])
def test_areas_of_few_people_cross_as_those_of_many(preset: str, least: int) -> None:
    """Small crossings spoke against the map that told them exactly."""
    cells = {}
    for at in range(6):
        cells[f"D{at}", f"Z{at}"] = 2 * least - at % 2
        if at < 5:
            cells[f"D{at}", f"Z{at + 1}"] = least + at % 2
    names = ("district", "zone")
    tables = publish_all(cells, names, (("district",), ("zone",)), PRESETS[preset])
    for pair, people in cells.items():
        if people < PRESETS[preset].threshold:
            most = find_most_of_pair(tables, dict.fromkeys(cells, np.inf), pair)
            assert most >= PRESETS[preset].threshold, pair


def find_most_of_pair(
    tables: list[PublishedTable],
    limits: dict[tuple[str, str], float],
    pair: tuple[str, str],
) -> float:
    """Return the most people of a pair of values of two columns, by whole numbers.

    Args:
        tables: of one column each.
        limits: people at most of each pair that can occur.
    """
    pairs = list(limits)
    weights = [
        [float(group.values <= {*own} or not place) for own in pairs]
        for table in tables
        for place, group in enumerate(table.layout.axes[0].groups)
        if table.counts[place] is not None
    ]
    sums = [shown for table in tables for shown in table.counts if shown is not None]
    found = milp(
        [-float(own == pair) for own in pairs],
        constraints=LinearConstraint(np.array(weights), sums, sums),
        integrality=np.ones(len(pairs)),
        bounds=Bounds(0, list(limits.values())),
    )
    return float(-found.fun)


SMALL_AREA = ("D2", "Z1")
AREAS_WITH_AN_ERROR = {
    "nhs": {("D1", "Z1"): 52, SMALL_AREA: 2, ("D2", "Z2"): 58},
    "cms": {("D1", "Z1"): 119, SMALL_AREA: 4, ("D2", "Z2"): 146},
    "acro": {("D1", "Z1"): 119, SMALL_AREA: 4, ("D2", "Z2"): 146},
}


def find_most_of_small_area(preset: str) -> float:
    """Return the most people of an area, if one row of another one is coded wrong."""
    others = {("D1", "Z2"): 1, ("D3", "Z3"): 80, ("D4", "Z3"): 70}
    cells = AREAS_WITH_AN_ERROR[preset] | others
    names = ("district", "zone")
    tables = publish_all(cells, names, (("district",), ("zone",)), PRESETS[preset])
    limits = dict.fromkeys(cells, np.inf) | {("D1", "Z2"): 1}
    return find_most_of_pair(tables, limits, SMALL_AREA)


@pytest.mark.parametrize("preset", [*AREAS_WITH_AN_ERROR])
def test_readers_may_know_of_an_error_and_not_of_a_small_area(preset: str) -> None:
    """One row coded wrong told a small area, whose pair is of the same two columns."""
    assert find_most_of_small_area(preset) >= PRESETS[preset].threshold


@pytest.mark.parametrize("preset", [*AREAS_WITH_AN_ERROR])
def test_readers_of_all_numbers_or_none_do_not_see_it(
    preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin."""
    monkeypatch.setattr(Reader, "find_rare_pairs", lambda *_: frozenset())
    most = AREAS_WITH_AN_ERROR[preset][SMALL_AREA]
    assert find_most_of_small_area(preset) == most


@pytest.mark.parametrize(("preset", "size"), [("nhs", 1), ("cms", 2)])
def test_a_town_alone_in_two_crossings_is_not_told_by_an_error(
    preset: str, size: int
) -> None:
    cells = {
        ("A", "D1", "Z1", "H1"): 12 * size,
        ("B", "D1", "Z2", "H2"): 40 * size,
        ("C", "D2", "Z1", "H1"): 2 * size,
        ("E", "D2", "Z2", "H3"): 20 * size - 1,
        ("E", "D1", "Z2", "H3"): 1,
    }
    names = ("town", "district", "zone", "health")
    rule = PRESETS[preset]
    plans = (("district",), ("town",), ("zone", "health"))
    tables = publish_all(cells, names, plans, rule)
    assert len(tables) > 1
    maps = [
        (name, "town", {own[0]: own[at] for own in cells if own[:2] != ("E", "D1")})
        for at, name in enumerate(names[1:], start=1)
    ]
    fits = Fits(tables, maps, errors={("district", "D1", "town", "E"): 1})
    assert fits.find_end(fits.weigh({"town": frozenset("C")}), 1) >= rule.threshold


def test_too_many_combinations_are_refused_with_their_number() -> None:
    def see(*names: str) -> AttackedTable:
        groups = [frozenset({str(at)}) for at in range(100)]
        return AttackedTable(
            columns=names,
            groups=((None, *groups), (None, *groups)),
            counts=(None,) * 101**2,
            threshold=3,
            complete_columns=frozenset(names),
        )

    with pytest.raises(LimitError, match="1000000 combinations"):
        protecting.attack([see("a", "b"), see("b", "c"), see("c", "a")])


def test_tables_that_ignore_each_other_tell_who_lives_in_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin: without the earlier table, both areas are published."""
    right = curating.tabulate

    def ignore(engine, plan, schema, earlier, others):  # type: ignore[no-untyped-def]
        return right(engine, plan, schema, [], [])

    monkeypatch.setattr(curating, "tabulate", ignore)
    assert len(publish_zones(("sex",))) == 2


LARGE_ZONES = {
    ("H1", "P1", "f"): 3,
    ("H1", "P1", "m"): 2,
    **{
        (f"H{health}", f"P{police}", sex): 110
        for health, police in ((1, 2), (2, 1), (3, 3), (4, 4), (3, 4))
        for sex in "fm"
    },
}


STAIRS = {
    **{("D1", "Z1", "f"): 30, ("D1", "Z1", "m"): 34, ("D2", "Z1", "f"): 3},
    **{("D2", "Z1", "m"): 41, ("D2", "Z2", "f"): 26, ("D2", "Z2", "m"): 22},
    **{("D3", "Z2", "f"): 25, ("D3", "Z2", "m"): 24, ("D3", "Z3", "f"): 20},
    **{("D3", "Z3", "m"): 22, ("D4", "Z3", "f"): 31, ("D4", "Z3", "m"): 39},
}
GRADES = {
    (age, grade, support): people
    for age, grade, *both in (
        *(("6", "1", 60, 8), ("7", "1", 52, 3), ("7", "2", 58, 9), ("8", "2", 50, 6)),
        *(("8", "3", 61, 10), ("9", "3", 49, 7), ("9", "4", 57, 12)),
    )
    for support, people in zip(("no", "yes"), both, strict=True)
}


def find_most_where_all_pairs_are_shown(
    preset: str, cells: Mapping[tuple[str, str, str], int], order: Sequence[int]
) -> float:
    """Return the most people of a crossing, after tables of each two of three columns."""
    names = ("first", "second", "third")
    pairs = (names[:2], names[::2], names[1:])
    plans = [pairs[at] for at in order]
    tables = publish_all(cells, names, plans, PRESETS[preset])
    atoms = [dict(zip(names, own, strict=True)) for own in cells]
    smallest = min(cells, key=lambda own: cells[own])
    assert cells[smallest] == 3
    return find_ends(tables, atoms, dict(zip(names, smallest, strict=True)))[1]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("preset", ["nhs", "cms", "acro"])
def test_a_table_of_all_pairs_does_not_switch_their_map_off(
    preset: str, order: Sequence[int]
) -> None:
    """It proves the map: its zeros show where areas cross, or readers know them."""
    most = find_most_where_all_pairs_are_shown(preset, STAIRS, order)
    assert most >= PRESETS[preset].threshold


def test_ages_and_grades_cross_like_areas() -> None:
    assert find_most_where_all_pairs_are_shown("nhs", GRADES, (0, 1, 2)) >= 5


@pytest.mark.parametrize(
    ("preset", "cells"), [("nhs", STAIRS), ("acro", STAIRS), ("nhs", GRADES)]
)
def test_if_it_did_two_plain_tables_would_tell_a_group(
    preset: str,
    cells: Mapping[tuple[str, str, str], int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin: no map for columns that stand together in a table."""

    def forget(*args: Any, stand_together: bool, **asked: Any) -> Any:
        if stand_together:
            return None
        return find_map(*args, stand_together=stand_together, **asked)

    monkeypatch.setattr("dpcore.curator.tabulating.find_map", forget)
    assert find_most_where_all_pairs_are_shown(preset, cells, (0, 1, 2)) == 3


FEW_AREAS = {
    "nhs": (12, 4, 16, 15),
    "cms": (30, 8, 30, 32),
    "acro": (30, 9, 30, 32),
}


def find_most_in_two_zones(preset: str, *, districts: int = 3) -> float:
    """Return the most people of a small crossing, in a small file of two zones."""
    pairs = [("D1", "Z1"), ("D2", "Z1"), ("D2", "Z2"), ("D3", "Z2")]
    cells = dict(zip(pairs, FEW_AREAS[preset], strict=True))
    if districts == 2:
        cells["D2", "Z2"] += cells.pop(("D3", "Z2"))
    names = ("district", "zone")
    tables = publish_all(cells, names, (("district",), ("zone",)), PRESETS[preset])
    return find_most_of_pair(tables, dict.fromkeys(cells, np.inf), ("D2", "Z1"))


@pytest.mark.parametrize("districts", [2, 3])
@pytest.mark.parametrize("preset", [*FEW_AREAS])
def test_two_zones_of_a_small_file_are_areas_that_cross(
    preset: str, districts: int
) -> None:
    most = find_most_in_two_zones(preset, districts=districts)
    assert most >= PRESETS[preset].threshold


@pytest.mark.parametrize("preset", [*FEW_AREAS])
def test_with_more_rows_by_chance_their_sums_tell_the_crossing(
    preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin: no pair is seen to lack people."""
    monkeypatch.setattr(mapping, "MAX_SPARSE_PAIRS", 0)
    monkeypatch.setattr(mapping, "MAX_CHANCE_OF_TREE", 0)
    assert find_most_in_two_zones(preset) == FEW_AREAS[preset][1]


def count_maps_of_skewed_columns() -> int:
    """Return how many of 300 pairs of independent columns have a map."""
    draw = np.random.default_rng([51, 12])
    found = 0
    for _ in range(300):
        people = int(draw.choice([300, 2_000]))
        sides = []
        for _ in range(2):
            shares = np.arange(1, draw.integers(3, 22)) ** -draw.choice([0, 0.7, 2])
            own = draw.choice(len(shares), people, p=shares / shares.sum())
            sides.append(own.astype(str).tolist())
        known = find_map(
            ("first", "second"),
            Counter(zip(*sides, strict=True)),
            threshold=5,
            stand_together=False,
            all_shown=False,
        )
        found += known is not None
    return found


def test_independent_columns_with_a_long_tail_do_not_cross() -> None:
    """Nationality was a map of districts, since rare nations are in few of them."""
    assert count_maps_of_skewed_columns() == 0


def test_as_many_pairs_as_by_chance_would_say_that_they_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin."""
    monkeypatch.setattr(mapping, "MAX_SPARSE_PAIRS", 1)
    assert count_maps_of_skewed_columns() > 30


@pytest.mark.parametrize("first", ["coarse", "other rule", "none"])
def test_a_coarse_table_of_both_areas_does_not_switch_their_map_off(first: str) -> None:
    """Nor does a table with a larger threshold, by which more pairs are rare."""
    curator = open_account(rows_of(LARGE_ZONES, "health", "police", "sex"))
    if first == "coarse":
        halves = [
            group_values(name, values, lambda own, half=half: own in half)
            for name, values, half in (
                ("health", ["H1", "H2", "H3", "H4"], ("H1", "H2")),
                ("police", ["P1", "P2", "P3", "P4"], ("P1", "P2")),
            )
        ]
        publish(curator, plan_by(CMS, *halves))
    elif first == "other rule":
        publish(curator, plan_by(HidingRule(threshold=200), "sex"))
    tables = []
    for name in ("health", "police"):
        try:
            tables.append(publish(curator, plan_by(CMS, name, "sex")))
        except InfeasibleError as refused:
            assert refused.details["tables"]  # noqa: PT017 - safe as well
    atoms = [
        dict(zip(("health", "police", "sex"), own, strict=True)) for own in LARGE_ZONES
    ]
    women = {"health": "H1", "police": "P1", "sex": "f"}
    assert find_ends(tables, atoms, women)[1] >= CMS.threshold


def test_more_rare_crossings_do_not_end_their_protection() -> None:
    """A twentieth of the people were in rare pairs, and no map was seen any more."""
    cells = {
        (f"H{health}", f"P{police}"): 33 + 2 * health
        for health in range(4)
        for police in (health, (health + 1) % 5)
    }
    cells |= {("H0", "P3"): 8, ("H2", "P0"): 8}
    curator = open_account(rows_of(cells, "health", "police"))
    tables = [publish(curator, plan_by(CMS, "health"))]
    try:
        tables.append(publish(curator, plan_by(CMS, "police")))
    except InfeasibleError as refused:
        assert refused.details["tables"]  # noqa: PT017 - safe as well
    atoms = [dict(zip(("health", "police"), own, strict=True)) for own in cells]
    for health, police in (("H0", "P3"), ("H2", "P0")):
        most = find_ends(tables, atoms, {"health": health, "police": police})[1]
        assert most >= CMS.threshold


@pytest.mark.parametrize("preset", ["cms", "acro"])
def test_a_town_without_people_protects_nobody(preset: str) -> None:
    """Readers with a map know its district, and that its hidden counts are none."""
    rule = PRESETS[preset]
    places = DISTRICTS | {"Z": "D1", "Y": "D2"}
    curator = open_account(
        rows_of(TOWNS, "town", "district", "sex"), {"town": sorted(places)}
    )
    tables = []
    for names in (("district", "sex"), ("town", "sex")):
        try:
            tables.append(publish(curator, plan_by(rule, *names)))
        except InfeasibleError as refused:
            assert refused.details["tables"]  # noqa: PT017 - safe as well
    atoms = [
        {"town": town, "district": district, "sex": sex}
        for town, district in DISTRICTS.items()
        for sex in "fm"
    ]
    assert find_ends(tables, atoms, {"town": "A", "sex": "f"})[1] >= rule.threshold


@pytest.mark.parametrize("preset", ["cms", "nhs"])
def test_lines_that_are_read_from_the_rows_are_known_to_hold_somebody(
    preset: str,
) -> None:
    """Twelve rare ages with twelve people in all: each of them was known to have one."""
    rule = PRESETS[preset]
    cells = {(age,): 40 for age in ("60", "61", "62")}
    cells |= {(str(age),): 1 for age in range(70, 71 + rule.threshold)}
    curator = open_account(rows_of(cells, "age"))
    column = ShownColumn(column="age", values_are_public=True)
    table = publish(curator, plan_by(rule, column))
    shown = [count for count in table.counts[1:] if count is not None]
    hidden = len(table.counts) - 1 - len(shown)
    assert hidden > rule.threshold
    in_hidden = sum(cells.values()) - sum(shown)
    assert table.counts[0] is None or in_hidden - (hidden - 1) >= rule.threshold
    assert PublishedTable.from_record(table.to_record()).occupied == table.occupied
    assert "occupied" not in table.to_json()


def test_what_some_readers_knew_may_not_be_told_to_those_who_know_less() -> None:
    """An exception shows that at most three people of D1 are in Z2.

    Who knew that one is there, knew that the small area (D2, Z1) has one or two people.
    Others learn that it has at most four.
    """

    def see(
        axes: Mapping[str, Sequence[str | None]], *counts: int | None
    ) -> AttackedTable:
        return AttackedTable(
            columns=tuple(axes),
            groups=tuple(
                tuple(None if own is None else frozenset(own.split()) for own in axis)
                for axis in axes.values()
            ),
            counts=counts,
            threshold=5,
            complete_columns=frozenset(axes),
            excepted_cells=frozenset(range(len(counts))),
        )

    tables = [
        see({"district": ("D1", "D2", "D5")}, 53, None, None),
        see({"zone": ("Z1", "Z2")}, 54, None),
        see(
            {"district": ("D1 D5", "D2"), "zone": ("Z2", "Z1 Z2")}, 3, None, None, None
        ),
    ]
    areas = KnownMap(
        columns=("district", "zone"),
        usual=frozenset({("D1", "Z1"), ("D2", "Z2"), ("D5", "Z2")}),
        rare={("D2", "Z1"): 2, ("D1", "Z2"): 1},
    )
    known = find_known_bounds(tables, [2], [areas])
    small_area = {
        target: bounds for (_, target), bounds in known.items() if bounds == (1, 2)
    }
    assert len(small_area) == 1
    outcome = attack(tables, maps=[areas], known=known)
    assert [one.target for one in outcome.revealed_cells] == [*small_area]


def test_the_number_of_a_rare_pair_limits_all_its_people_together() -> None:
    """Town A has 10 people in D1 at most, and 2 women and men in D2 together: 12."""
    sexes = groups("sex", 1, 1)
    towns = plan_of(HidingRule(threshold=13), town=groups("town", 1, 1, 1), sex=sexes)
    districts = plan_of(HidingRule(threshold=13), district=groups("district", 1, 1))
    finest = [[5, 4], [2, 1], [20, 20]]
    people = count(towns, finest)
    tables = [
        show(towns, people, range(1, len(people))),
        show(districts, count(districts, [10, 42]), ()),
    ]
    known_map = KnownMap(
        columns=("town", "district"),
        usual=frozenset(
            {
                ("town.0", "district.0"),
                ("town.1", "district.0"),
                ("town.2", "district.1"),
            }
        ),
        rare={("town.0", "district.1"): 2},
        inner="town",
    )
    seen = [table.as_attacked(frozenset(), {}) for table in tables]
    whole_town = tables[0].layout.find_cell(["town.0", "Total"])
    outcome = attack(seen, maps=[known_map])
    assert (0, whole_town) in {(one.table, one.cell) for one in outcome.revealed_cells}
    of_three = dataclasses.replace(known_map, rare={("town.0", "district.1"): 3})
    outcome = attack(seen, maps=[of_three])
    told = {(one.table, one.cell) for one in outcome.revealed_cells}
    assert (0, whole_town) not in told


def count_maps_of_chance() -> int:
    """Return how many pairs of independent columns with rare values have a map."""
    draw = np.random.default_rng([51, 11])
    values = [
        np.minimum(draw.geometric(0.35, 3_000), most).astype(str).tolist()
        for most in (8, 6, 5, 7, 4, 9)
    ]
    return sum(
        find_map(
            ("first", "second"),
            Counter(zip(first, second, strict=True)),
            threshold=5,
            stand_together=False,
            all_shown=False,
        )
        is not None
        for first, second in itertools.combinations(values, 2)
    )


def test_independent_columns_with_rare_values_do_not_cross() -> None:
    """Each map multiplied the combinations, and the sixth table took minutes."""
    assert count_maps_of_chance() == 0


def test_the_share_of_people_in_large_pairs_would_say_that_they_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin."""
    monkeypatch.setattr(mapping, "MAX_RARE_BY_CHANCE", np.inf)
    assert count_maps_of_chance() > 3
