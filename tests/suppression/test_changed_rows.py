"""Tables of people of whom some came, left, or have other values by now."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import LinearConstraint, milp

import dpcore as dp
from benchmarks.exact import invented_table, let_people_come
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.curator import Curator
from dpcore.errors import InfeasibleError
from dpcore.schema.source import Source
from dpcore.suppression import (
    PRESETS,
    HidingRule,
    PublishedTable,
    ShownColumn,
    TablePlan,
)
from dpcore.suppression import _reasons as reasoning
from dpcore.suppression import protect as protecting
from dpcore.suppression.attack import attack, drop_occupied_cells, find_known_bounds
from dpcore.suppression.attacked import AttackedTable
from dpcore.suppression.layout import Layout
from dpcore.suppression.outcome import AttackOutcome
from dpcore.suppression.plan import ExceptedCell
from dpcore.suppression.protect import protect_table
from dpcore.suppression.versions import (
    find_changed_cells,
    find_moved_cells,
    see_past,
)
from tests.suppression.accounts import (
    Cells,
    count_of,
    name_account,
    open_account,
    plan_by,
    publish,
    rows_of,
)
from tests.suppression.fits import Fits, regions_of
from tests.suppression.tables import Ints, attack_one, count, groups, plan_of, show

CMS = PRESETS["cms"]
TOWNS = {
    ("A", "f"): 3,
    ("A", "m"): 40,
    ("B", "f"): 20,
    ("B", "m"): 30,
    ("C", "f"): 22,
    ("C", "m"): 24,
    ("E", "f"): 60,
    ("E", "m"): 55,
}
BY_TOWN = plan_by(CMS, "town", "sex")


class File:
    """A file whose rows change under one account."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "people.parquet"
        self.ledger = dp.MemoryLedger()

    def open(self, cells: Cells) -> Curator:
        rows_of(cells, "town", "sex").to_parquet(self.path)
        columns = (
            dp.Categorical("town", categories=("A", "B", "C", "E")),
            dp.Categorical("sex", categories=("f", "m")),
        )
        return Curator.open(
            Source(name="people", kind="parquet", location=str(self.path)),
            dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1)),
            budget=dp.PureDP(epsilon=3),
            ledger=self.ledger,
        )


def change(cells: Cells, **people: int) -> dict[tuple[str, ...], int]:
    """Return other people: `Af=2` stands for two women more in A."""
    more = dict(cells)
    for place, number in people.items():
        more[tuple(place)] = more.get(tuple(place), 0) + number
    return more


def test_one_who_left_a_file_is_not_told_by_its_second_table(tmp_path: Path) -> None:
    """The account is the same; its rows are not, and nobody had compared them."""
    file = File(tmp_path)
    cells = change(TOWNS, Af=10)
    first = publish(file.open(cells), BY_TOWN)
    assert None not in first.counts
    with pytest.raises(InfeasibleError, match="the total is within 11"):
        file.open(change(cells, Af=-1)).exact_table(BY_TOWN)


def test_a_table_of_changed_rows_is_compared_and_not_taken_as_an_equation(
    tmp_path: Path,
) -> None:
    file = File(tmp_path)
    first = publish(file.open(TOWNS), BY_TOWN)
    later = publish(file.open(change(TOWNS, Cf=25, Cm=25)), BY_TOWN)
    assert (later.attacked, later.compared) == (0, 1)
    assert count_of(first, "A", "f") is None
    assert count_of(later, "A", "f") is None
    for before, now in zip(first.counts, later.counts, strict=True):
        if None not in (before, now):
            assert before == now or abs(before - now) >= CMS.threshold


def test_a_contradiction_is_refused_and_never_passes() -> None:
    """Counts that nobody can have: bounds that cross each other told nothing."""
    plan = plan_of(HidingRule(threshold=3), a=groups("a", 1, 1, 1))
    first = show(plan, count(plan, [9, 9, 9]), [1])
    other = show(plan, count(plan, [9, 20, 1]), [1])
    seen = [table.as_attacked(frozenset(), {}) for table in (first, other)]
    with pytest.raises(InfeasibleError, match="contradict each other"):
        attack(seen)


def tree_of(towns: list[str], shires: dict[str, str]) -> Hierarchy:
    return Hierarchy(
        values=tuple(towns),
        levels=(
            tuple(towns),
            tuple(shires[town] for town in towns),
            ("*",) * len(towns),
        ),
    )


@pytest.mark.parametrize("town_comes", [True, False])
def test_a_town_that_comes_or_goes_does_not_hide_who_came(town_comes: bool) -> None:
    """Its shire has one person more; the groups have other values, but one name."""
    shires = dict(zip("abcpq", ("North",) * 3 + ("South",) * 2, strict=True))
    old = {
        ("a", "f"): 20,
        ("a", "m"): 21,
        ("b", "f"): 30,
        ("b", "m"): 33,
        ("p", "f"): 40,
        ("p", "m"): 45,
        ("q", "f"): 50,
        ("q", "m"): 52,
    }
    new = change(old, cf=1, pm=65)
    files = [old, new] if town_comes else [new, old]
    plans = [
        plan_by(
            CMS,
            ShownColumn(
                column="town",
                hierarchy=tree_of(sorted({town for town, _ in cells}), shires),
                levels=(1,),
            ),
            "sex",
        )
        for cells in files
    ]
    first, later = (open_account(rows_of(cells, "town", "sex")) for cells in files)
    other = name_account(publish(first, plans[0]))
    try:
        table = publish(later, plans[1], [other])
    except InfeasibleError as refused:
        assert "town × sex (last year)" in str(refused)  # noqa: PT017 - also safe
        return
    for labels in (("North", "f"), ("North", "Total")):
        pair = (count_of(other, *labels), count_of(table, *labels))
        assert None in pair
    # nor by the cells around it
    assert None in (count_of(table, "Total", "f"), count_of(table, "South", "f"))


def test_one_changed_row_does_not_free_the_rest_of_a_table() -> None:
    """Ages cut at 18 and at 19: the three of 18 stay told by all counts that agree."""
    ages = np.repeat(["10", "17", "18", "19", "40"], [60, 60, 3, 60, 90])
    sexes = np.where(np.random.default_rng(1).random(len(ages)) < 0.5, "f", "m")
    frame = pd.DataFrame({"age": ages, "sex": sexes}, dtype=object)
    corrected = frame.copy()
    corrected.loc[0, "sex"] = "m" if frame.loc[0, "sex"] == "f" else "f"
    values = ["10", "17", "18", "19", "40"]

    def cut(age: int) -> TablePlan:
        halves = {value: "young" if int(value) < age else "old" for value in values}
        tree = tree_of(values, halves)
        return plan_by(
            CMS, ShownColumn(column="age", hierarchy=tree, levels=(1,)), "sex"
        )

    other = name_account(publish(open_account(frame), cut(18)))
    assert (count_of(other, "young", "Total"), count_of(other, "Total", "Total")) == (
        120,
        273,
    )
    # 123 under 19, or 150 of 19 and more, would leave three of 18, all of them men
    try:
        table = publish(open_account(corrected), cut(19), [other])
    except InfeasibleError as refused:
        assert "age × sex (last year)" in str(refused)  # noqa: PT017 - also safe
        return
    for age, sex in itertools.product(("young", "old"), ("Total", "m")):
        assert count_of(table, age, sex) is None
    fits = Fits([table])
    men = fits.weigh({"age": frozenset(("19", "40")), "sex": frozenset("m")})
    assert fits.find_end(men, -1) <= 71 - CMS.threshold


def find_told_changes(table: PublishedTable, counts: Ints, old: PublishedTable) -> set:
    """Return the cells of an earlier table whose small changes the tables tell."""
    outcome = attack_one(table, counts, [(old, counts)])
    return {one.cell for one in outcome.revealed_cells}


def test_the_changes_of_a_line_may_not_leave_a_small_rest() -> None:
    """25 came in a row and 22 in one cell of it: 3 came into the hidden rest."""
    plan = plan_of(HidingRule(threshold=5), a=groups("a", 1, 1), b=groups("b", 1, 1, 1))
    before = count(plan, [[2, 12, 30], [20, 30, 40]])
    after = count(plan, [[3, 14, 52], [20, 30, 40]])
    hidden = [1, 2, 5, 6, 9, 10]
    old = show(plan, before, hidden)
    assert find_told_changes(show(plan, after, hidden), after, old)
    made = protect_table(plan, after, [(old, after)]).published
    assert not find_told_changes(made, after, old)
    # with people who left elsewhere, the rest of the line is compared
    mixed = count(plan, [[3, 14, 52], [20, 30, 10]])
    assert find_told_changes(show(plan, mixed, hidden), mixed, old)
    made = protect_table(plan, mixed, [(old, mixed)]).published
    assert not find_told_changes(made, mixed, old)
    # the twin: a rest of 8 is told to nobody's harm
    many = count(plan, [[4, 18, 52], [20, 30, 40]])
    assert not find_told_changes(show(plan, many, hidden), many, old)


def test_people_who_left_one_town_do_not_tell_of_another_one() -> None:
    """Only people of C left: what is left of the sums of then holds for the others."""
    many = dict(TOWNS) | {("C", "f"): 220, ("C", "m"): 240}
    fewer = many | {("C", "f"): 14, ("C", "m"): 12}
    values = {"town": ("A", "B", "C", "E"), "sex": ("f", "m")}
    old = open_account(rows_of(many, "town", "sex"), values)
    new = open_account(rows_of(fewer, "town", "sex"), values)
    first = name_account(publish(old, BY_TOWN))
    assert find_moved(first, fewer) == {("C", "f"), ("C", "m")}
    try:
        tables = [first, publish(new, BY_TOWN, [first])]
    except InfeasibleError as refused:
        assert refused.details["tables"] == first.name  # noqa: PT017 - also safe
        tables = [first]
    assert find_most_today(tables) >= CMS.threshold
    # the twin: the same table, made without the one before it
    alone = [
        first,
        publish(open_account(rows_of(fewer, "town", "sex"), values), BY_TOWN),
    ]
    assert find_most_today(alone) < CMS.threshold


def find_moved(table: PublishedTable, cells: Cells) -> set[tuple[str, ...]]:
    """Return the cells in which people may have left."""
    layout = table.layout
    people = [
        sum(
            number
            for key, number in cells.items()
            if all(
                label in ("Total", own) for label, own in zip(labels, key, strict=True)
            )
        )
        for labels in map(layout.labels, range(layout.size))
    ]
    return {layout.labels(cell) for cell in find_moved_cells(table, np.array(people))}


def find_most_today(tables: list[PublishedTable]) -> float:
    """Return the most women of A today, for readers who know that only C lost people."""
    people = list(TOWNS)
    lines = []
    counts = []
    for today, table in enumerate(tables):
        for region, shown in zip(regions_of(table), table.counts, strict=True):
            if shown is not None:
                inside = [
                    float(
                        town in region.get("town", {town})
                        and sex in region.get("sex", {sex})
                    )
                    for town, sex in people
                ]
                left = [
                    -own * today * (town == "C")
                    for own, (town, _) in zip(inside, people, strict=True)
                ]
                lines.append([*inside, *left])
                counts.append(shown)
    weights = np.zeros(2 * len(people))
    weights[0] = -1
    found = milp(
        weights,
        constraints=LinearConstraint(np.array(lines), counts, counts),
        integrality=np.ones(2 * len(people)),
    )
    assert found.success
    return -found.fun


def publish_before_and_after_one_town_changed() -> list[PublishedTable]:
    """Publish a table, and one with a pair of towns after people came to and left C."""
    people = [(8, 1, 3), (14, 40, 40), (3, 1, 25), (25, 2, 1)]
    before = {
        (town, ill): number
        for town, line in zip("ABCE", people, strict=True)
        for ill, number in zip("fmd", line, strict=True)
    }
    after = before | {("C", "f"): 17, ("C", "m"): 31, ("C", "d"): 18}
    values = {"town": ("A", "B", "C", "E"), "ill": ("f", "m", "d")}
    then, today = (
        open_account(rows_of(cells, "town", "ill"), values) for cells in (before, after)
    )
    nhs = PRESETS["nhs"]
    first = name_account(publish(then, plan_by(nhs, "town", "ill")))
    # nobody came or left in A, B and E, whose totals are shown
    assert {town for town, _ in find_moved(first, after)} == {"C"}
    tree = Hierarchy(
        values=("A", "B", "C", "E"),
        levels=(("A", "B", "C", "E"), ("AB", "AB", "C", "E"), ("*",) * 4),
    )
    pairs = ShownColumn(column="town", hierarchy=tree)
    return [first, publish(today, plan_by(nhs, pairs, "ill"), [first])]


def find_most_if_only_c_changed(
    tables: list[PublishedTable], town: str, ill: str
) -> float:
    """Return the most people of then, for readers who know that only C changed."""
    people = [
        (own_town, own_ill, when)
        for own_town in "ABCE"
        for own_ill in "fmd"
        for when in ((0, 1) if own_town == "C" else (None,))
    ]
    lines = [
        [
            float(
                own_town in region.get("town", {own_town})
                and own_ill in region.get("ill", {own_ill})
                and when in (None, today)
            )
            for own_town, own_ill, when in people
        ]
        for today, table in enumerate(tables)
        for region, shown in zip(regions_of(table), table.counts, strict=True)
        if shown is not None
    ]
    counts = [shown for table in tables for shown in table.counts if shown is not None]
    found = milp(
        [-float(own[:2] == (town, ill) and own[2] != 1) for own in people],
        constraints=LinearConstraint(np.array(lines), counts, counts),
        integrality=np.ones(len(people)),
    )
    assert found.success
    return -found.fun


def test_towns_whose_totals_are_the_same_do_not_count_as_changed() -> None:
    """Some came to a town and some left it: that looked like moves in other towns.

    The more cells may have changed, the less does a reader know. So hidden counts of
    the other towns were told by what is the same in both tables.
    """
    tables = publish_before_and_after_one_town_changed()
    for town, ill in (("C", "m"), ("E", "m"), ("A", "m")):
        assert find_most_if_only_c_changed(tables, town, ill) >= 5


def test_readers_see_which_lines_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: if hidden cells of such lines may have changed, two counts are told."""
    find_moved_there = find_moved_cells

    def move_everywhere(table: PublishedTable, people: Ints) -> tuple[int, ...]:
        hidden = [
            cell
            for cell in range(table.layout.size)
            if table.counts[cell] is None and table.layout.labels(cell)[0] != "B"
        ]
        return tuple(sorted({*find_moved_there(table, people), *hidden}))

    monkeypatch.setattr(protecting, "find_moved_cells", move_everywhere)
    tables = publish_before_and_after_one_town_changed()
    assert find_most_if_only_c_changed(tables, "C", "m") < 5
    assert find_most_if_only_c_changed(tables, "E", "m") < 5


def test_hidden_cells_together_do_not_tell_how_few_came() -> None:
    """Two hidden districts had 19 people and have 21: both are shown by now."""
    plan = plan_of(HidingRule(threshold=5), d=groups("d", 1, 1, 1))
    old = show(plan, count(plan, [4, 130, 15]), [1, 3])
    after = count(plan, [5, 160, 16])
    assert find_told_changes(show(plan, after, [0, 2]), after, old)
    table = protect_table(plan, after, [(old, after)]).published
    assert exact_sum(old, [1, 3]) == 19
    assert exact_sum(table, [1, 3]) is None
    # the twin: eight more people are told to nobody's harm
    more = count(plan, [9, 160, 18])
    assert not find_told_changes(show(plan, more, [0, 2]), more, old)


def exact_sum(table: PublishedTable, cells: list[int]) -> int | None:
    """Return the sum of some cells if a table alone tells it exactly."""
    lines = []
    counts = []
    for parent, children in table.layout.equations:
        line = np.zeros(table.layout.size)
        line[parent] = -1
        line[children] = 1
        lines.append(line)
        counts.append(0)
    for cell, shown in enumerate(table.counts):
        if shown is not None:
            lines.append(np.eye(table.layout.size)[cell])
            counts.append(shown)
    weights = np.zeros(table.layout.size)
    weights[cells] = 1
    ends = []
    for sign in (1, -1):
        found = milp(
            sign * weights,
            constraints=LinearConstraint(np.array(lines), counts, counts),
            integrality=np.ones(table.layout.size),
        )
        ends.append(sign * round(found.fun) if found.status == 0 else None)
    return ends[0] if ends[0] == ends[1] else None


@pytest.mark.proof
@pytest.mark.parametrize("first", range(0, 80, 20))
def test_no_sum_of_a_line_changes_by_few(first: int) -> None:
    """Two tables of one plan, with people who came or left, by arithmetic on each."""
    pairs = 0
    for seed in range(first, first + 20):
        draw = np.random.default_rng([66, seed])
        rule = HidingRule(threshold=5)
        plan = plan_of(rule, a=groups("a", *[1] * int(draw.integers(3, 6))))
        if draw.random() < 0.6:
            sizes = (int(draw.integers(3, 5)), int(draw.integers(2, 4)))
            a, b = (
                groups(name, *[1] * size)
                for name, size in zip("ab", sizes, strict=True)
            )
            plan = plan_of(rule, a=a, b=b)
        shape = tuple(len(axis.groups) - 1 for axis in plan.build_layout().axes)
        people = draw.choice([1, 3, 4, 8, 12, 15, 30, 60], shape)
        change = draw.choice([0, 0, 0, 1, 2, 10, 25], shape)
        if draw.random() < 0.4:
            change = change * draw.choice([-1, 1], shape)
        before = count(plan, people.tolist())
        after = count(plan, np.maximum(people + change, 0).tolist())
        try:
            old = protect_table(plan, before).published
            new = protect_table(plan, after, [(old, after)]).published
        except InfeasibleError:
            continue
        pairs += 1
        for parent, children in old.layout.equations:
            hidden = [child for child in children if old.counts[child] is None]
            today = [child for child in children if new.counts[child] is None]
            both = sorted({*hidden, *today})
            for cells in (hidden, today, both, [parent], *([one] for one in children)):
                change_of_sum = abs(int(before[cells].sum() - after[cells].sum()))
                if cells and 0 < change_of_sum < rule.threshold:
                    told = (exact_sum(old, cells), exact_sum(new, cells))
                    assert None in told, (seed, cells)
    assert pairs


def test_an_exception_for_a_cell_that_an_earlier_table_hides_is_refused() -> None:
    """It was dropped and announced all the same; now the earlier table is named."""
    curator = open_account(rows_of(TOWNS, "town", "sex"))
    table = publish(curator, BY_TOWN)
    assert count_of(table, "A", "f") is None
    excepted = TablePlan(
        columns=BY_TOWN.columns,
        rule=CMS,
        exceptions=(ExceptedCell(labels=("A", "f"), reason="because of the law"),),
    )
    with pytest.raises(InfeasibleError, match="earlier exact table hides") as refused:
        curator.exact_table(excepted)
    assert refused.value.details["tables"] == "town × sex"
    fresh = open_account(rows_of(TOWNS, "town", "sex"))
    assert count_of(publish(fresh, excepted), "A", "f") == 3


def test_a_value_that_an_earlier_table_does_not_list_is_in_its_total() -> None:
    """Each plan was refused as soon as a second file had one value more."""
    cells = {key: people for key, people in TOWNS.items() if key[0] != "E"}
    cells = change(cells, Af=20)
    other = name_account(publish(open_account(rows_of(cells, "town", "sex")), BY_TOWN))
    later = open_account(rows_of(change(cells, Ef=20, Em=20), "town", "sex"))
    made = later.exact_table(BY_TOWN, others=[other]).content
    assert made.unlisted == ("town × sex (last year)",)
    assert count_of(made.published, "E", "f") == 20
    # the rows of towns that are in both tables still hold, the totals do not
    changed = find_changed_cells(other, np.array(later_counts(later, other)))
    assert np.flatnonzero(changed).tolist() == [0, 1, 2]
    few = open_account(rows_of(change(cells, Ef=2, Em=2), "town", "sex"))
    with pytest.raises(InfeasibleError, match="the total is within 11"):
        few.exact_table(BY_TOWN, others=[other])


@pytest.mark.parametrize("name", ["acro", ""])
def test_a_hidden_empty_value_must_stay_listed(name: str) -> None:
    rule = PRESETS[name] if name else HidingRule(threshold=5, hide_zeros=True)
    people = {("a",): 3, ("c",): 40, ("d",): 20, ("e",): 50}
    first = open_account(rows_of(people, "kind"), {"kind": list("abcde")})
    old = name_account(publish(first, plan_by(rule, "kind")))
    assert count_of(old, "b") is None
    rows = rows_of({**people, ("c",): 60}, "kind")
    with pytest.raises(InfeasibleError, match="no longer lists") as refused:
        publish(open_account(rows), plan_by(rule, "kind"), [old])
    assert "kind in kind (last year)" in str(refused.value)
    assert "list all values" in str(refused.value)
    # the remedy helps
    again = open_account(rows, {"kind": list("abcde")})
    assert count_of(publish(again, plan_by(rule, "kind"), [old]), "b") is None


def later_counts(curator: Curator, other: object) -> list[int]:
    """Return the people of today in the cells of another table, by hand."""
    made = curator.exact_table(BY_TOWN).content
    layout = made.published.layout
    old = other.layout  # type: ignore[attr-defined]
    return [
        made.true_counts[layout.find_cell(old.labels(cell))] for cell in range(old.size)
    ]


def test_today_alone_does_not_tell_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: without the people of then, the table above would leave."""
    plan = plan_of(HidingRule(threshold=5), d=groups("d", 1, 1, 1))
    old = show(plan, count(plan, [4, 130, 15]), [1, 3])
    after = count(plan, [5, 160, 16])
    table = show(plan, after, [0, 2])
    assert find_told_changes(table, after, old)

    def see_nothing(
        table: PublishedTable, *more: object, threshold: int
    ) -> AttackedTable:
        return dataclasses.replace(
            see_past(table, *more, threshold=threshold),  # type: ignore[arg-type]
            counts=(None,) * len(table.counts),
            changes=(),
        )

    monkeypatch.setattr(protecting, "see_past", see_nothing)
    assert not find_told_changes(table, after, old)


def test_a_value_that_an_earlier_table_lacks_is_still_protected() -> None:
    """Nobody is in Z today, and a rule hides empty cells: the earlier lines say nothing
    of today.
    """
    cells = {("A", "f"): 20, ("A", "m"): 30, ("B", "f"): 25, ("B", "m"): 35}
    other = name_account(publish(open_account(rows_of(cells, "town", "sex")), BY_TOWN))
    later = open_account(
        rows_of(change(cells, Af=40, Am=50), "town", "sex"), {"town": ("A", "B", "Z")}
    )
    rule = HidingRule(threshold=5, hide_zeros=True)
    table = publish(later, plan_by(rule, "town", "sex"), [other])
    fits = Fits([table])
    for sex in "fm":
        weights = fits.weigh({"town": frozenset("Z"), "sex": frozenset(sex)})
        assert count_of(table, "Z", sex) is None
        assert fits.find_end(weights, 1) >= rule.threshold


def test_a_union_of_cells_of_then_does_not_tell_how_few_came() -> None:
    """Today's district is two towns of then, whose 300 women have become 303."""
    then = {
        ("A", "f"): 100,
        ("A", "m"): 90,
        ("B", "f"): 200,
        ("B", "m"): 110,
        ("C", "f"): 300,
        ("C", "m"): 310,
    }
    today = change(then, Af=2, Bf=1, Cf=60, Cm=60)
    before = name_account(publish(open_account(rows_of(then, "town", "sex")), BY_TOWN))
    assert None not in before.counts
    districts = tree_of(["A", "B", "C"], {"A": "D1", "B": "D1", "C": "D2"})
    column = ShownColumn(column="town", hierarchy=districts, levels=(1,))
    later = publish(
        open_account(rows_of(today, "town", "sex")),
        plan_by(CMS, column, "sex"),
        [before],
    )
    atoms = Fits([later])
    women = atoms.weigh({"town": frozenset("AB"), "sex": frozenset("f")})
    assert atoms.find_end(women, 1) >= 300 + CMS.threshold


@pytest.mark.parametrize("preset", ["cms", "nhs"])
def test_a_third_table_does_not_tell_how_few_came_into_hidden_cells(
    preset: str,
) -> None:
    """The total that the second table hides is the sum of another table of today."""
    rule = PRESETS[preset]
    then = dict(
        zip(
            [*TOWNS, ("G", "f"), ("G", "m")],
            [12, 10, 90, 90, 55, 50, 4, 3, 70, 60],
            strict=True,
        )
    )
    today = change(then, Af=1, Am=1, Bf=30, Bm=10, Cf=30, Cm=10, Ef=1, Gf=-10, Gm=-10)
    first = open_account(rows_of(then, "town", "sex"))
    before = name_account(publish(first, plan_by(rule, "town")))
    second = open_account(rows_of(today, "town", "sex"))
    tables = [publish(second, plan_by(rule, "town"), [before])]
    try:
        tables.append(publish(second, plan_by(rule, "sex"), [before]))
    except InfeasibleError as refused:
        assert "last year" in refused.details["tables"]  # noqa: PT017 - safe as well
    fits = Fits(tables)
    rest = fits.weigh({"town": frozenset("AE")})
    assert fits.find_end(rest, 1) >= 22 + 7 + rule.threshold


People = frozenset[tuple[str, str]]
"""Values of both columns."""


def list_changes_cell_by_cell(
    table: PublishedTable, moved: set[tuple[str, str]], today: PublishedTable
) -> set[People]:
    """Return the people of each set whose change must not be told, by the values.

    Every cell and every hidden rest of a line of both tables, if it can be made of
    groups of then and somebody may have moved in it.
    """
    values = [axis.groups[0].values for axis in table.layout.axes]

    def find_people(layout: Layout, cell: int) -> People:
        places = np.unravel_index(cell, layout.shape)
        sides = [
            axis.groups[place].values if place else own
            for axis, place, own in zip(layout.axes, places, values, strict=True)
        ]
        return frozenset(itertools.product(*sides))

    then = table.layout
    finest = [find_people(then, cell) for cell in range(then.size)]

    hidden_then = {
        own for own, count in zip(finest, table.counts, strict=True) if count is None
    }

    def find_parts(people: People) -> list[People]:
        """Return the widest cells of then that make up some people; none if none do."""
        inside = [own for own in finest if own <= people]
        widest = [own for own in inside if not any(own < other for other in inside)]
        return widest if frozenset[tuple[str, str]]().union(*widest) == people else []

    hidden_today = {
        find_people(today.layout, cell)
        for cell, count in enumerate(today.counts)
        if count is None
    }
    found: set[People] = set()
    for layout in (then, today.layout):
        for parent, children in layout.equations:
            cells = [find_people(layout, cell) for cell in (parent, *children)]
            parts = [find_parts(own) for own in cells]
            for own, made in zip(cells, parts, strict=True):
                if len(made) > 1 or not hidden_then.isdisjoint(made):
                    found.add(own)
            if not all(parts[1:]):
                continue
            before = {
                own
                for own, made in zip(cells[1:], parts[1:], strict=True)
                if not hidden_then.isdisjoint(made)
            }
            now = hidden_today.intersection(cells[1:])
            for rest in (before, now, before | now):
                if len(rest) > 1:
                    found.add(frozenset[tuple[str, str]]().union(*rest))
    return {own for own in found if own & moved}


@pytest.mark.parametrize("seed", range(20))
def test_changes_that_must_not_be_told_are_those_found_cell_by_cell(seed: int) -> None:
    draw = np.random.default_rng([67, seed])
    rule = HidingRule(threshold=5)
    sizes = [(1, 1, 1, 1), (2, 1, 1), (2, 2), (1, 2, 1)]
    plans = [
        plan_of(rule, a=groups("a", *sizes[draw.integers(4)]), b=groups("b", 1, 1, 1))
        for _ in range(2)
    ]
    for at, plan in enumerate(plans):
        hide_finest = draw.random() < 0.5
        if (
            max(len(axis.groups) for axis in plan.build_layout().axes) > 5
            and hide_finest
        ):
            shown = dataclasses.replace(plan.columns[0], levels=(1,))
            plans[at] = dataclasses.replace(plan, columns=(shown, plan.columns[1]))
    tables = []
    for plan in plans:
        size = plan.build_layout().size
        hidden = np.flatnonzero(draw.random(size) < 0.4).tolist()
        tables.append(
            show(plan, np.arange(size) + 20, [cell for cell in hidden if cell])
        )
    then, today = tables
    leaves = [
        cell
        for cell in range(then.layout.size)
        if cell not in {parent for parent, _ in then.layout.equations}
    ]
    moved = [cell for cell in leaves if draw.random() < 0.4]
    axes = then.layout.axes

    def find_people(cell: int) -> set[tuple[str, str]]:
        places = np.unravel_index(cell, then.layout.shape)
        sides = [axis.groups[at].values for axis, at in zip(axes, places, strict=True)]
        return {*itertools.product(*sides)}

    changes = see_past(then, tuple(moved), [today], threshold=2).changes
    regions = {
        frozenset[tuple[str, str]]().union(*map(find_people, own)) for own in changes
    }
    people = set[tuple[str, str]]().union(*map(find_people, moved))
    assert regions == list_changes_cell_by_cell(then, people, today)


@pytest.mark.parametrize("seed", range(6))
def test_a_file_that_grows_hides_nothing_that_the_attack_does_not_need(
    seed: int,
) -> None:
    draw = np.random.default_rng([68, seed])
    plan = plan_of(
        HidingRule(threshold=5), a=groups("a", *[1] * 5), b=groups("b", *[1] * 4)
    )
    people = draw.poisson(draw.lognormal(3.5, 0.6, (5, 4)))
    before = count(plan, people.tolist())
    after = count(plan, (people + draw.poisson(0.2 * people)).tolist())
    old = protect_table(plan, before).published
    made = protect_table(plan, after, [(old, after)])
    assert made.reasons
    for cell, reason in made.reasons.items():
        if reason in ("small", "earlier table"):
            continue  # the rule itself
        counts = list(made.published.counts)
        counts[cell] = int(after[cell])
        table = dataclasses.replace(made.published, counts=tuple(counts))
        assert attack_one(table, after, [(old, after)]).revealed_cells, cell


def make_two_versions(seed: int) -> list[tuple[list[AttackedTable], AttackOutcome]]:
    """Return all attacks on a random table and on its second version."""
    draw = np.random.default_rng([69, seed])
    plan = plan_of(
        PRESETS[["cms", "acro", "nhs"][seed % 3]],
        a=groups("a", 3, 3),
        b=groups("b", *[1] * 5),
    )
    people = draw.lognormal(3, 1.2, (6, 5)).astype(int) * (draw.random((6, 5)) > 0.15)
    came = draw.integers(12, 60, (6, 5)) * (draw.random((6, 5)) < 0.15)
    attacks = []

    def remember(tables: list[AttackedTable], **more: Any) -> AttackOutcome:
        attacks.append((tables, attack(tables, **more)))
        return attacks[-1][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(protecting, "attack", remember)
        old = protect_table(plan, count(plan, people.tolist())).published
        later = count(plan, (people + came).tolist())
        with contextlib.suppress(InfeasibleError):
            protect_table(plan, later, [(old, later)])
    return attacks


def test_the_proof_of_a_told_count_suffices_to_tell_it() -> None:
    """Hiding what a proof leaves out would not help, so it is never blamed."""
    tried = 0
    for seed in range(3):
        for tables, outcome in make_two_versions(seed):
            for told in outcome.revealed_cells[:8]:
                if told.table >= len(tables) or told.filled_group is not None:
                    continue
                proven = [
                    dataclasses.replace(
                        table,
                        counts=tuple(
                            shown if (number, cell) in told.proof else None
                            for cell, shown in enumerate(table.counts)
                        ),
                    )
                    for number, table in enumerate(tables)
                ]
                again = attack(proven)
                assert told.target in {one.target for one in again.revealed_cells}
                tried += 1
    assert tried > 20


@pytest.mark.proof
def test_a_large_table_is_published_again_after_a_few_cells_changed() -> None:
    plan, counts = invented_table(2_000, "cms", seed=1)
    old = protect_table(plan, counts).published
    later = let_people_come(plan, counts, 0.01, 80, seed=2)
    made = protect_table(plan, later, [(old, later)])
    assert not attack_one(made.published, later, [(old, later)]).revealed_cells
    assert len(made.reasons) <= 1.1 * sum(shown is None for shown in old.counts)


FEW_CHANGED = {"D1": (20, 22), "D3": (44, 57)}


def publish_two_months() -> list[PublishedTable]:
    """Publish districts in two months, and the towns of the second one.

    Two more people live in D1, and thirteen in D3; no other district changed.
    """
    now = {("A", "D1"): 14, ("B", "D1"): 8, ("C", "D2"): 30, ("E", "D2"): 25}
    now |= {("K", "D3"): 48, ("L", "D3"): 9, ("N", "D4"): 60}
    then = {**now, ("A", "D1"): 12, ("K", "D3"): 38, ("L", "D3"): 6}
    rule = PRESETS["nhs"]
    by_district = plan_by(rule, "district")
    first = publish(open_account(rows_of(then, "town", "district")), by_district)
    curator = open_account(rows_of(now, "town", "district"))
    others = [name_account(first)]
    plans = (by_district, plan_by(rule, "town"))
    return [publish(curator, plan, others) for plan in plans]


def may_have_changed_by_many(district: str) -> bool:
    """Return whether another district can be why both are hidden, by all counts."""
    by_district, by_town = publish_two_months()
    assert [count_of(by_district, name) for name in FEW_CHANGED] == [None, None]
    towns = {"D1": ("A", "B"), "D3": ("K", "L")}
    least = {name: [count_of(by_town, town) for town in towns[name]] for name in towns}
    people = sum(today for _, today in FEW_CHANGED.values())
    own, other = sorted(FEW_CHANGED, key=lambda name: name != district)

    def can_be(name: str, count: int) -> bool:
        known = sum(shown or 1 for shown in least[name])
        return count == known if None not in least[name] else count >= known

    return any(
        can_be(own, count)
        and can_be(other, people - count)
        and count >= 5
        and abs(count - FEW_CHANGED[own][0]) >= 5
        and (people - count < 5 or 0 < abs(people - count - FEW_CHANGED[other][0]) < 5)
        for count in range(people)
    )


def test_a_third_table_does_not_tell_which_district_few_changed() -> None:
    """Two districts are hidden, as few changed one. The towns told which one it is."""
    assert may_have_changed_by_many("D1")


@pytest.mark.parametrize("part", ["reasons", "groups of other tables"])
def test_without_this_reason_the_towns_tell_it(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin: nobody asks why they are hidden, or towns count as a reason."""
    if part == "reasons":
        find = reasoning.find_reasons_to_hide

        def forget(system: Any, number: int) -> Any:
            has_changed = any(table.is_changed for table in system.tables)
            return None if has_changed else find(system, number)

        monkeypatch.setattr("dpcore.suppression._reader.find_reasons_to_hide", forget)
    else:

        def split(system: Any, families: Any, tables: Any) -> Any:
            groups = np.arange(len(system.blocks.split(families)))
            return groups, groups

        monkeypatch.setattr("dpcore.suppression._demands._find_kinds", split)
    assert not may_have_changed_by_many("D1")


@pytest.mark.parametrize("people_moved", [True, False])
def test_a_new_table_may_tell_that_cells_of_then_hold_somebody(
    people_moved: bool,
) -> None:
    """Five people are in two cells. By the rule of the new table, both hold somebody.

    If people moved, the earlier table did not say so of the people of today.
    """
    earlier = AttackedTable(
        columns=("town",),
        groups=((None, frozenset("A"), frozenset("B")),),
        counts=(5, None, None),
        threshold=5,
        occupied_cells=frozenset({1, 2}),
        complete_columns=frozenset({"town"}),
        counts_then=(5, 5, None) if people_moved else (),
    )
    tables = [earlier, dataclasses.replace(earlier, counts_then=())]
    assert attack(tables, known=find_known_bounds(tables, [1])).known_cells
    tables = drop_occupied_cells(tables)
    outcome = attack(tables, known=find_known_bounds(tables, [1]))
    assert bool(outcome.revealed_cells) is people_moved
    assert bool(outcome.known_cells) is not people_moved
