"""A second table may not tell what the first one hides, nor what lies between both."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.errors import InfeasibleError
from dpcore.suppression import (
    PRESETS,
    HidingRule,
    PublishedTable,
    ShownColumn,
    TablePlan,
)
from dpcore.suppression import protect as protecting
from dpcore.suppression.plan import ExceptedCell
from dpcore.suppression.protect import protect_table
from tests.suppression.accounts import (
    name_account,
    open_account,
    plan_by,
    publish,
    rows_of,
)
from tests.suppression.completions import completions
from tests.suppression.fits import Fits, regions_of
from tests.suppression.tables import Ints, attack_one, count, groups, plan_of, show
from workbench.report.of_exact_table import rule_words

RULE = HidingRule(threshold=3)


def cut(name: str, at: int, values: int) -> Hierarchy:
    """Return two groups of ordered values, below and from one of them on."""
    leaves = tuple(f"{name}.{number}" for number in range(values))
    halves = tuple("below" if number < at else "above" for number in range(values))
    return Hierarchy(values=leaves, levels=(leaves, halves, ("*",) * values))


def coarse(plan: TablePlan) -> TablePlan:
    """Return the plan without the finest level of each column."""
    columns = [
        type(shown)(column=shown.column, hierarchy=shown.hierarchy, levels=(1,))
        for shown in plan.columns
    ]
    return TablePlan(columns=tuple(columns), rule=plan.rule)


def pairs_of_tables(seed: int) -> list[tuple[TablePlan, Ints]]:
    """Return two plans over the same random people, with their counts."""
    draw = np.random.default_rng(seed)
    people = draw.integers(0, 6, size=(3, 2, 2)) * (draw.random((3, 2, 2)) > 0.2)
    a, b, c = groups("a", 1, 1, 1), groups("b", 1, 1), groups("c", 1, 1)
    kinds = [
        (plan_of(RULE, a=a), people.sum(axis=(1, 2))),
        (plan_of(RULE, a=a, b=b), people.sum(axis=2)),
        (plan_of(RULE, a=a, c=c), people.sum(axis=1)),
        (plan_of(RULE, b=b, c=c), people.sum(axis=0)),
        (coarse(plan_of(RULE, a=cut("a", 1, 3))), people.sum(axis=(1, 2))),
        (coarse(plan_of(RULE, a=cut("a", 2, 3))), people.sum(axis=(1, 2))),
    ]
    chosen = list(itertools.permutations(range(len(kinds)), 2))[seed % 30]
    return [(kinds[at][0], count(kinds[at][0], kinds[at][1].tolist())) for at in chosen]


@pytest.mark.parametrize("seed", range(60))
def test_two_tables_together_tell_no_hidden_cell(seed: int) -> None:
    (first, counts), (second, more) = pairs_of_tables(seed)
    try:
        earlier = protect_table(first, counts).published
        table = protect_table(second, more, [(earlier, counts)]).published
    except InfeasibleError:
        return
    tables = [earlier, table]
    high = [[0] * len(each.counts) for each in tables]
    for found in completions(tables):
        high = [list(map(max, *both)) for both in zip(high, found, strict=True)]
    for each, most in zip(tables, high, strict=True):
        for shown, largest in zip(each.counts, most, strict=True):
            if shown is None:
                assert largest >= RULE.threshold


def test_a_second_table_is_suppressed_further() -> None:
    """A count that the first table hides is hidden in the second, and more with it."""
    a, b = groups("a", 1, 1, 1, 1), groups("b", 1, 1)
    by_two = plan_of(RULE, a=a, b=b)
    people = [[1, 9], [8, 7], [9, 9], [6, 8]]
    counts = count(by_two, people)
    alone = plan_of(RULE, a=a)
    totals = count(alone, np.sum(people, axis=1).tolist())
    first = protect_table(by_two, counts).published
    second = protect_table(alone, totals, [(first, counts)])
    for cell in range(1, 5):
        assert (first.counts[3 * cell] is None) == (
            second.published.counts[cell] is None
        )
    assert second.earlier_tables == ("a × b",)


def test_what_lies_between_two_cuts_is_not_told() -> None:
    """Two people are between both cuts: the second table is refused, with the first
    one named.
    """
    young = coarse(plan_of(RULE, age=cut("age", 1, 3)))
    older = coarse(plan_of(RULE, age=cut("age", 2, 3)))
    people = [20, 2, 30]
    first = protect_table(young, count(young, people)).published
    with pytest.raises(InfeasibleError, match="earlier exact table") as refused:
        protect_table(older, count(older, people), [(first, count(young, people))])
    assert refused.value.details["tables"] == "age"
    others = [20, 5, 30]
    first = protect_table(young, count(young, others)).published
    protect_table(older, count(older, others), [(first, count(young, others))])


def test_the_attack_on_one_table_alone_would_not_see_it() -> None:
    """The twin without earlier tables must not find what both together tell."""
    a = groups("a", 1, 1, 1)
    plan = plan_of(RULE, a=a)
    counts = count(plan, [2, 9, 20])
    hides = [1, 2]
    first = show(plan, counts, hides)
    shows_other = show(plan, counts, [1, 3])
    assert not attack_one(first, counts, []).revealed_cells
    assert not attack_one(shows_other, counts, []).revealed_cells
    told = attack_one(shows_other, counts, [(first, counts)]).revealed_cells
    assert {each.cell for each in told} >= {1}


def test_tables_without_a_common_column_share_their_total_only() -> None:
    a, b = groups("a", *[1] * 150), groups("b", *[1] * 150)
    first, second = plan_of(RULE, a=a), plan_of(RULE, b=b)
    counts = count(first, [1, *[8] * 149])
    more = count(second, [1, *[8] * 149])
    tables: list[tuple[PublishedTable, Ints]] = [(show(first, counts, [1, 2]), counts)]
    assert not attack_one(show(second, more, [1, 2]), more, tables).revealed_cells
    told = attack_one(show(second, more, [1]), more, tables).revealed_cells
    assert [(each.table, each.cell) for each in told] == [(1, 1)]


def cut_ages(ages: list[str], age: int) -> Hierarchy:
    halves = tuple("young" if int(value) < age else "old" for value in ages)
    return Hierarchy(
        values=tuple(ages), levels=(tuple(ages), halves, ("*",) * len(ages))
    )


AGES = ["10", "18", "40"]
WOMEN_OF_18 = {
    ("10", "f"): 60,
    ("10", "m"): 70,
    ("18", "f"): 14,
    ("40", "f"): 80,
    ("40", "m"): 90,
}


def plan_of_ages(rule: HidingRule, ages: list[str], age: int) -> TablePlan:
    shown = ShownColumn(column="age", hierarchy=cut_ages(ages, age), levels=(1,))
    return plan_by(rule, shown, "sex")


@pytest.mark.parametrize(
    "rule",
    [
        PRESETS["acro"],
        HidingRule(threshold=10, hide_zeros=True),
        HidingRule(threshold=10, hide_full=True),
    ],
)
def test_what_lies_between_two_cuts_is_not_told_to_be_empty_or_full(
    rule: HidingRule,
) -> None:
    """All 14 people of 18 are women: two cuts of the ages tell it by subtraction."""
    curator = open_account(rows_of(WOMEN_OF_18, "age", "sex"))
    tables = [publish(curator, plan_of_ages(rule, AGES, 18))]
    try:
        tables.append(publish(curator, plan_of_ages(rule, AGES, 19)))
    except InfeasibleError as refused:
        assert refused.details["tables"] == "age × sex"  # noqa: PT017 - also safe
        return
    fits = Fits(tables)
    men = fits.weigh({"age": frozenset({"18"}), "sex": frozenset("m")})
    assert fits.find_end(men, 1) >= (rule.threshold if rule.hide_zeros else 1)


AGES = ("0", "10", "18", "40")


def publish_bands_then_ages() -> PublishedTable:
    """Publish bands of ages, then the ages; all 20 people of 0-17 x are of age 0."""
    people = {
        "0": (20, 30, 22),
        "10": (0, 25, 31),
        "18": (60, 44, 51),
        "40": (50, 55, 61),
    }
    cells = {
        (age, letter): number
        for age, line in people.items()
        for letter, number in zip("xyz", line, strict=True)
    }
    curator = open_account(
        rows_of(cells, "age", "letter"), {"age": AGES, "letter": ("x", "y", "z")}
    )
    bands = ShownColumn(
        column="age",
        hierarchy=Hierarchy(
            values=AGES, levels=(AGES, ("0-17", "0-17", "18+", "18+"), ("*",) * 4)
        ),
        levels=(1,),
    )
    rule = HidingRule(threshold=5, hide_full=True)
    first = publish(curator, plan_by(rule, bands, "letter"))
    assert None not in first.counts
    return publish(curator, plan_by(rule, "age", "letter"))


def test_a_cell_that_fills_a_group_of_an_earlier_table_is_hidden() -> None:
    table = publish_bands_then_ages()
    for age in ("0", "10"):
        assert table.counts[table.layout.find_cell((age, "x"))] is None


def test_an_attack_on_whole_lines_alone_does_not_see_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin: the age 0 and the band of the first table show the same count."""
    monkeypatch.setattr("dpcore.suppression._demands._list_full_demands", lambda *_: [])
    table = publish_bands_then_ages()
    assert table.counts[table.layout.find_cell(("0", "x"))] == 20


def test_without_these_rules_both_cuts_are_shown() -> None:
    """The twin: 14 people of 18 are enough for a rule of small counts alone."""
    curator = open_account(rows_of(WOMEN_OF_18, "age", "sex"))
    tables = [
        publish(curator, plan_of_ages(HidingRule(threshold=10), AGES, cut))
        for cut in (18, 19)
    ]
    fits = Fits(tables)
    men = fits.weigh({"age": frozenset({"18"}), "sex": frozenset("m")})
    assert fits.find_end(men, 1) == 0


def test_what_two_tables_tell_already_does_not_shut_the_account(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two accounts told the three of 18 before they were said to be the same people."""
    cms = PRESETS["cms"]
    ages = ["10", "17", "18", "19", "40"]
    cells = {
        (age, sex): people
        for age, both in zip(
            ages, [(30, 30), (4, 3), (2, 1), (29, 31), (45, 45)], strict=True
        )
        for sex, people in zip("fm", both, strict=True)
    }
    frame = rows_of(cells, "age", "sex")
    first, second = open_account(frame), open_account(frame)
    other = name_account(publish(first, plan_of_ages(cms, ages, 18)))
    publish(second, plan_of_ages(cms, ages, 19))
    # a table that adds nothing is published, and says what is told
    made = second.exact_table(plan_by(cms, "sex"), others=[other])
    assert made.content.told_before > 0
    assert None not in second.publish_table(made, others=[other]).counts
    # one that tells those of 17 as well is not
    with pytest.raises(InfeasibleError, match="earlier exact table"):
        publish(second, plan_of_ages(cms, ages, 17), [other])
    # the twin: without a look at what was told before, nothing could be published
    monkeypatch.setattr(protecting, "find_known_bounds", lambda *_: {})
    with pytest.raises(InfeasibleError, match="earlier exact table"):
        second.exact_table(plan_by(cms, "sex"), others=[other])


@pytest.mark.parametrize("preset", ["nhs", "cms", "acro"])
def test_what_members_are_taken_to_know_excuses_no_table(preset: str) -> None:
    """Ten people stand in a first table; ten hidden cells of one person made them up."""
    ages = [f"age {number}" for number in range(10)]
    people = {("A", age): 1 for age in ages}
    people["A", ages[0]] += PRESETS[preset].threshold > 10
    people |= {(town, age): 20 for town in "BC" for age in ages}
    curator = open_account(rows_of(people, "town", "age"))
    publish(curator, plan_by(PRESETS["acro"], "town"))
    with pytest.raises(InfeasibleError, match=r"shows totals .*: town;") as refused:
        publish(curator, plan_by(PRESETS[preset], "town", "age"))
    assert "publish the detailed table together with its totals" in str(refused.value)
    # the remedy, for a first table of an account
    detailed = open_account(rows_of(people, "town", "age"))
    publish(detailed, plan_by(PRESETS[preset], "town", "age"))


def test_empty_cells_are_shown_if_the_page_says_so() -> None:
    """Readers who believe it take no hidden cell to be empty."""
    counts = {("a", "x"): 3, ("a", "y"): 40, ("b", "x"): 50, ("b", "y"): 60}
    curator = open_account(
        rows_of(counts, "place", "kind"),
        {"place": ("a", "b", "c"), "kind": ("x", "y", "z")},
    )
    table = publish(curator, plan_by(PRESETS["nhs"], "place", "kind"))
    assert "empty cells are shown." in rule_words(table.rule, is_first=table.is_first)
    layout = table.layout
    for labels in (("c", "x"), ("a", "z"), ("c", "Total"), ("Total", "z")):
        assert table.counts[layout.find_cell(labels)] == 0
    # an empty cell that an earlier table hides stays hidden, and the page says so
    again = publish(curator, plan_by(PRESETS["nhs"], "place"))
    assert "unless they are hidden" in rule_words(again.rule, is_first=again.is_first)
    # of a group in one cell, an empty cell may be hidden, too
    full = HidingRule(threshold=5, hide_full=True)
    assert "unless they are hidden" in rule_words(full, is_first=True)


@pytest.mark.parametrize(("preset", "few"), [("nhs", (1, 1, 1, 1, 1)), ("cms", (2, 9))])
def test_what_a_new_table_tells_was_not_told_before(
    preset: str, few: tuple[int, ...]
) -> None:
    """The first rule hides empty cells too, and the second one shows them.

    So the second table tells that somebody is in each of its hidden cells.
    """
    rule = PRESETS[preset]
    first = HidingRule(threshold=rule.threshold, hide_zeros=True)
    codes = [f"r{number}" for number in range(len(few))]
    cells = {("c1", "f"): 40, ("c1", "m"): 30, ("c2", "f"): 20, ("c2", "m"): 25}
    for number, (code, people) in enumerate(zip(codes, few, strict=True)):
        cells[code, "fm"[number % 2]] = people
    frame = rows_of(cells, "code", "sex")
    curator = open_account(frame)
    tables = [publish(curator, plan_by(first, "code"))]
    with contextlib.suppress(InfeasibleError):
        tables.append(publish(curator, plan_by(rule, "code", "sex")))

    def find_most(shown: Sequence[PublishedTable]) -> list[float]:
        """Return the most people of each small code, for readers of both rules."""
        occupied = [
            region
            for table in shown
            for region, count in zip(regions_of(table), table.counts, strict=True)
            if count is None and table.rule.shows_zeros
        ]
        fits = Fits(shown, occupied=occupied)
        return [fits.find_end(fits.weigh({"code": frozenset({r})}), 1) for r in codes]

    assert min(find_most(tables)) >= rule.threshold
    # the twin: a second table that ignores the first one
    ignoring = publish(open_account(frame), plan_by(rule, "code", "sex"))
    assert max(find_most([tables[0], ignoring])) < rule.threshold


@pytest.mark.parametrize("preset", ["nhs", "cms", "acro"])
def test_an_exception_for_a_group_is_none_for_its_parts(preset: str) -> None:
    """Three people may be shown as one group, and a second table cuts it in two."""
    ages = ("10", "20", "21", "30")
    frame = rows_of({("10",): 20, ("20",): 2, ("21",): 1, ("30",): 30}, "age")
    plans = [
        plan_by(
            PRESETS[preset],
            ShownColumn(
                column="age",
                hierarchy=Hierarchy(values=ages, levels=(ages, labels, ("*",) * 4)),
                levels=(1,),
            ),
        )
        for labels in (("low", "middle", "middle", "high"), ("x", "x", "y", "y"))
    ]
    excepted = ExceptedCell(labels=("middle",), reason="the three people agreed")
    plans[0] = dataclasses.replace(plans[0], exceptions=(excepted,))
    curator = open_account(frame)
    tables = [publish(curator, plans[0])]
    with contextlib.suppress(InfeasibleError):
        tables.append(publish(curator, plans[1]))

    def find_bounds(shown: Sequence[PublishedTable], age: str) -> list[float]:
        """Return the fewest and most people of an age."""
        fits = Fits(shown)
        weights = fits.weigh({"age": frozenset({age})})
        return [fits.find_end(weights, sign) for sign in (-1, 1)]

    assert find_bounds(tables, "20") == find_bounds(tables, "21") == [0, 3]
    # the twin: a second table that ignores the first one
    ignoring = publish(open_account(frame), plans[1])
    assert find_bounds([tables[0], ignoring], "20") == [2, 2]
    assert find_bounds([tables[0], ignoring], "21") == [1, 1]


@pytest.mark.parametrize("preset", ["acro", "own"])
def test_a_hidden_empty_value_is_not_told_by_a_table_without_it(preset: str) -> None:
    """The second table covers everybody, so nobody has the value that it leaves out."""
    rule = PRESETS.get(preset, HidingRule(threshold=5, hide_zeros=True))
    codes = ("c1", "c2", "r1", "r2")
    people = dict(zip(codes, (40, 45, 2, 11), strict=True))
    frame = rows_of({(code,): number for code, number in people.items()}, "code")
    curator = open_account(frame, {"code": (*codes, "empty")})
    first = publish(curator, plan_by(rule, "code"))
    assert first.counts[first.layout.find_cell(("empty",))] is None
    listed = ShownColumn(
        column="code", hierarchy=Hierarchy(values=codes, levels=(codes, ("*",) * 4))
    )
    with pytest.raises(InfeasibleError, match="earlier exact table"):
        publish(curator, plan_by(rule, listed))
    # the twin: a rule that shows empty cells does not protect them
    curator = open_account(frame, {"code": (*codes, "empty")})
    publish(curator, plan_by(PRESETS["nhs"], "code"))
    assert len(publish(curator, plan_by(PRESETS["nhs"], listed)).counts) == 5


@pytest.mark.parametrize("preset", ["nhs", "cms"])
def test_details_do_not_tell_which_total_was_hidden_for_being_small(
    preset: str,
) -> None:
    """Of two hidden districts one is small, and the ages show that the other is not."""
    rule = PRESETS[preset]
    ages = ("0-17", "18-39", "40-64", "65+")
    people = {
        "D1": (2, 1, 0, 0),
        "D2": (30, 27, 25, 40),
        "D3": (60, 45, 50, 55),
        "D4": (70, 80, 66, 71),
    }
    cells = {
        (district, age): number
        for district, line in people.items()
        for age, number in zip(ages, line, strict=True)
    }
    frame = rows_of(cells, "district", "age")
    curator = open_account(frame)
    tables = [publish(curator, plan_by(rule, "district"))]
    assert [count is None for count in tables[0].counts] == [0, 1, 1, 0, 0]
    with contextlib.suppress(InfeasibleError):
        tables.append(publish(curator, plan_by(rule, "district", "age")))

    def find_fewest(shown: Sequence[PublishedTable]) -> float:
        """Return the fewest people of the large one of both districts."""
        fits = Fits(shown)
        return fits.find_end(fits.weigh({"district": frozenset({"D2"})}), -1)

    assert find_fewest(tables) < rule.threshold
    # the twin: a second table that ignores the first one
    ignoring = publish(open_account(frame), plan_by(rule, "district", "age"))
    assert find_fewest([tables[0], ignoring]) >= rule.threshold
