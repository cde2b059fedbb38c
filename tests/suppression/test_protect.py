"""No hidden cell is told more closely than its rule allows, by any completion."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.errors import InfeasibleError, LimitError, ParameterError
from dpcore.suppression import (
    PRESETS,
    HidingRule,
    PublishedTable,
    TablePlan,
)
from dpcore.suppression.hide import find_risky_cells
from dpcore.suppression.plan import ExceptedCell
from dpcore.suppression.protect import protect_table
from tests.suppression.completions import completions
from tests.suppression.tables import Ints, attack_one, count, groups, plan_of, show

ROOT = Path(__file__).resolve().parents[2]

RULES = (
    HidingRule(threshold=3),
    HidingRule(threshold=3, hide_zeros=True),
    HidingRule(threshold=2, members=True),
    HidingRule(threshold=3, hide_full=True),
    HidingRule(threshold=3, hide_zeros=True, hide_full=True, members=True),
)
SHAPES = (
    {"a": (1, 1, 1, 1, 1, 1)},
    {"a": (2, 1, 2)},
    {"a": (1, 1, 1), "b": (1, 1, 1)},
    {"a": (2, 2), "b": (1, 1)},
    {"a": (2, 1), "b": (1, 2)},
    {"a": (1, 1), "b": (1, 1), "c": (1, 1)},
    {"a": (1, 1, 1), "b": (1, 1), "c": (1, 1)},
)


def random_table(seed: int) -> tuple[TablePlan, Ints]:
    """Return a table that is small enough to fill in every way."""
    draw = np.random.default_rng(seed)
    rule = RULES[seed % len(RULES)]
    shape = SHAPES[seed // len(RULES) % len(SHAPES)]
    trees = {name: groups(name, *sizes) for name, sizes in shape.items()}
    leaves = [len(tree.values) for tree in trees.values()]
    most = 6 if np.prod(leaves) < 12 else 3  # more could not be filled in every way
    finest = draw.integers(0, most + 1, size=leaves) * (draw.random(leaves) > 0.2)
    plan = plan_of(rule, **trees)
    return plan, count(plan, finest.tolist())


def find_filled(table: PublishedTable) -> set[int]:
    """Return the hidden cells that are not empty, as readers of the rule know.

    If the rule hides full cells, it hides empty ones beside these alone.
    """
    if table.rule.hide_zeros:
        return set()
    filled = {cell for cell, shown in enumerate(table.counts) if shown is None}
    if table.rule.hide_full:
        for _, children in table.layout.equations:
            if not any(table.counts[cell] for cell in children):
                filled -= {*children}
    return filled


def possible(
    table: PublishedTable, counts: Ints
) -> tuple[list[int], list[int], set[tuple[int, int]]]:
    """Return the least and most of each cell, and pairs of cells that may differ."""
    filled = find_filled(table)
    known = frozenset(
        (0, cell)
        for cell, shown in enumerate(table.counts)
        if shown is None and (cell in filled or (table.rule.members and counts[cell]))
    )
    low = [10**6] * len(counts)
    high = [-1] * len(counts)
    differ = set()
    pairs = [
        (child, parent)
        for parent, children in table.layout.equations
        for child in children
    ]
    for (found,) in completions([table], known):
        low = list(map(min, low, found))
        high = list(map(max, high, found))
        differ |= {
            (child, parent) for child, parent in pairs if found[child] < found[parent]
        }
    return low, high, differ


def show_as_known(
    plan: TablePlan, counts: Ints, hidden: Sequence[int]
) -> PublishedTable:
    """Return a table with these cells hidden, and what readers know by its rule."""
    table = show(plan, counts, hidden)
    known = np.flatnonzero(counts > 0) if plan.rule.members else find_filled(table)
    occupied = tuple(sorted(int(cell) for cell in known))
    return dataclasses.replace(table, occupied=occupied)


def show_total(plan: TablePlan, counts: Ints) -> PublishedTable:
    """Return a table that hides all that may be hidden."""
    beside_full = {
        cell
        for _, children in plan.build_layout().equations
        for cell in children
        if plan.rule.hide_full and np.count_nonzero(counts[children]) == 1
    }
    hidden = [
        cell
        for cell, people in enumerate(counts.tolist())
        if cell and (people or plan.rule.hide_zeros or cell in beside_full)
    ]
    return show_as_known(plan, counts, hidden)


@pytest.mark.parametrize("seed", range(200))
def test_no_completion_tells_a_hidden_cell(seed: int) -> None:
    """For every hidden small count, one below and one at the threshold is possible."""
    plan, counts = random_table(seed)
    try:
        table = protect_table(plan, counts)
    except InfeasibleError:
        # then a table that shows its total alone would tell too much as well
        rest = show_total(plan, counts)
        _, high, _ = possible(rest, counts)
        assert any(
            high[cell] < plan.rule.find_possible_count(is_first=True)
            for cell, people in enumerate(counts)
            if people < plan.rule.find_possible_count(is_first=True)
        )
        return
    rule = plan.rule
    needed = table.published.possible_count
    low, high, differ = possible(table.published, counts)
    for cell, people in enumerate(counts.tolist()):
        shown = table.published.counts[cell]
        if shown is not None:
            assert shown == people
            assert not rule.hides(people)
        elif people < rule.threshold:
            assert low[cell] < needed <= high[cell]
            assert people or cell not in find_filled(table.published)
        bound = table.bounds.get(cell)
        if bound is not None and bound.is_exact:
            assert (bound.low, bound.high) == (low[cell], high[cell])
    if rule.hide_full:
        for parent, children in table.published.layout.equations:
            for child in children:
                if counts[parent] and counts[child] == counts[parent]:
                    assert (child, parent) in differ


def test_hiding_small_cells_alone_is_refused_by_the_attack() -> None:
    """The twin without secondary suppression must not pass."""
    told = 0
    tables = 0
    for seed in range(0, 200, 5):
        plan, counts = random_table(seed)
        risky = find_risky_cells(plan.build_layout(), counts, plan.rule)
        table = show_as_known(plan, counts, list(risky))
        _, high, _ = possible(table, counts)
        exposed = {
            cell
            for cell in risky
            if high[cell] < plan.rule.find_possible_count(is_first=True)
        }
        outcome = attack_one(table, counts, [])
        assert {each.cell for each in outcome.revealed_cells} == exposed
        tables += bool(risky)
        told += bool(exposed)
    assert told > tables / 2


def test_the_worked_table_of_six_by_five() -> None:
    """All five small counts come back from the totals; with five more they do not."""
    plan = plan_of(
        PRESETS["acro"], district=groups("d", *[1] * 6), benefit=groups("b", *[1] * 5)
    )
    counts = count(
        plan,
        [
            [120, 45, 33, 4, 61],
            [98, 37, 28, 19, 52],
            [143, 7, 41, 22, 70],
            [88, 31, 24, 15, 3],
            [110, 42, 6, 18, 57],
            [9, 29, 35, 21, 48],
        ],
    )
    small = [cell for cell, people in enumerate(counts) if people < 10]
    assert len(small) == 5
    naive = attack_one(show(plan, counts, small), counts, [], with_bounds=True)
    assert [
        (naive.bounds[0, cell].low, naive.bounds[0, cell].high) for cell in small
    ] == [(counts[cell], counts[cell]) for cell in small]
    table = protect_table(plan, counts)
    hidden = [
        cell for cell, people in enumerate(table.published.counts) if people is None
    ]
    assert len(hidden) <= 10
    assert all(table.bounds[cell].high >= 10 for cell in hidden)
    assert all(table.bounds[cell].low < 10 for cell in hidden if counts[cell] < 10)


def test_whole_numbers_say_more_than_linear_programs() -> None:
    """Three published pairs of three values: half a person is no person."""
    a, b, c = (groups(name, 1, 1) for name in "abc")
    rule = HidingRule(threshold=2)
    # people at odd corners of a cube: margins that a table of halves fits too
    cube = np.zeros((2, 2, 2), dtype=np.int64)
    cube[0, 0, 1] = cube[0, 1, 0] = cube[1, 0, 0] = cube[1, 1, 1] = 1
    ab = plan_of(rule, a=a, b=b)
    bc = plan_of(rule, b=b, c=c)
    ac = plan_of(rule, a=a, c=c)
    tables = []
    for plan, axis in ((ab, 2), (bc, 0), (ac, 1)):
        counts = count(plan, cube.sum(axis=axis).tolist())
        hidden = [4] if plan is ab else []
        tables.append((show(plan, counts, hidden), counts))
    *earlier, (table, counts) = tables
    outcome = attack_one(table, counts, earlier)
    full = list(completions([each for each, _ in tables]))
    assert {found[0][4] for found in full} == {1}
    # the first table tells it alone, so that it is no fault of the last one
    told = (*outcome.revealed_cells, *outcome.known_cells)
    assert [(one.table, one.cell) for one in told] == [(0, 4)]


def test_a_rule_that_hides_everything_is_refused() -> None:
    plan = plan_of(HidingRule(threshold=50), a=groups("a", 1, 1, 1))
    with pytest.raises(InfeasibleError, match="fewer people than the rule"):
        protect_table(plan, count(plan, [3, 4, 5]))


def test_an_exception_needs_a_reason_and_a_hidden_cell() -> None:
    with pytest.raises(ParameterError, match="needs a reason"):
        ExceptedCell(labels=("a.0",), reason="no")
    plan = plan_of(HidingRule(threshold=3, hide_zeros=True), a=groups("a", 1, 1, 1, 1))
    reason = "nobody can be in this group by law"
    excepted = TablePlan(
        columns=plan.columns,
        rule=plan.rule,
        exceptions=(ExceptedCell(labels=("a.0",), reason=reason),),
    )
    assert TablePlan.from_json(excepted.to_json()) == excepted
    table = protect_table(excepted, count(plan, [0, 2, 6, 9])).published
    assert table.counts[1] == 0
    assert table.exceptions == {1: reason}
    with pytest.raises(ParameterError, match="shows anyway"):
        protect_table(excepted, count(plan, [5, 2, 6, 9]))


def test_a_published_table_goes_to_a_record_and_back() -> None:
    plan, counts = random_table(12)
    table = protect_table(plan, counts).published
    again = PublishedTable.from_record(table.to_record())
    assert again == table
    assert "values" not in table.to_json()
    assert {"small", "full", "empty"}.isdisjoint(table.to_csv().split())


def test_names_of_columns_are_different() -> None:
    """A column called people, or a category called Total, would end the page."""
    plan = plan_of(HidingRule(threshold=3), people=groups("a", 1, 1))
    table = show(plan, count(plan, [5, 7]), [])
    assert table.crosstab()[0] == ["people", "people (2)"]


def test_the_attack_shares_no_code_with_the_suppression() -> None:
    """A mistake in how cells add up would hide itself from an attack that repeats it."""
    found = {"dpcore.suppression.attack"}
    for name in (waiting := list(found)):
        path = Path(*name.split(".")).with_suffix(".py")
        for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
            assert not isinstance(node, ast.Import) or "dpcore" not in node.names
            if isinstance(node, ast.ImportFrom) and (node.module or "") not in found:
                imported = node.module or ""
                if imported.startswith("dpcore.suppression"):
                    found.add(imported)
                    waiting.append(imported)
                assert imported not in {
                    f"dpcore.suppression.{other}"
                    for other in ("hide", "layout", "protect", "published", "plan")
                }
    assert "dpcore.suppression._programs" in found  # it was followed


def test_most_tables_of_the_two_hundred_are_published() -> None:
    """The proof above would be empty if nearly all of them were refused."""
    published = 0
    for seed in range(0, 200, 4):
        plan, counts = random_table(seed)
        with contextlib.suppress(InfeasibleError):
            protect_table(plan, counts)
            published += 1
    assert published > 25


def test_too_many_cells_are_refused_before_anything_is_counted() -> None:
    wide = {name: groups(name, *[1] * 200) for name in "ab"}
    with pytest.raises(LimitError, match="40401 cells, and at most 20000"):
        plan_of(HidingRule(threshold=3), **wide)


def test_the_grand_total_is_shown() -> None:
    """Whoever knows the number of people from elsewhere would tell what it protects."""
    shown = []
    for seed in range(0, 200, 2):
        with contextlib.suppress(InfeasibleError):
            shown.append(protect_table(*random_table(seed)).published.counts[0])
    assert None not in shown
    assert len(shown) > 30


@pytest.mark.parametrize("hide_full", [False, True])
def test_two_hidden_cells_leave_room_for_one_at_the_threshold(hide_full: bool) -> None:
    """Of two hidden cells that sum to the threshold, readers know that both are small.

    One of both is small, or nothing would be hidden; and neither is empty, or the
    empty one is no reason to hide anything.
    """
    for threshold in (5, 11):
        rule = HidingRule(threshold=threshold, hide_full=hide_full)
        plan = plan_of(rule, a=groups("a", 1, 1, 1, 1))
        counts = count(plan, [40, 25, 2, rule.threshold - 2])
        table = protect_table(plan, counts).published
        hidden = [cell for cell, shown in enumerate(table.counts) if shown is None]
        assert counts[hidden].sum() > rule.threshold
        # the twin: both may not leave
        outcome = attack_one(show_as_known(plan, counts, [3, 4]), counts, [])
        assert {one.cell for one in outcome.revealed_cells} == {3, 4}


def test_a_rule_with_full_cells_hides_empty_cells_beside_these_alone() -> None:
    """Six lines of one person sum to six: readers know that none of them is empty."""
    rule = HidingRule(threshold=5, hide_full=True)
    plan = plan_of(rule, a=groups("a", *[1] * 10))
    counts = count(plan, [40, 40, 1, 1, 1, 1, 1, 1, 0, 0])
    made = protect_table(plan, counts)
    hidden = [cell for cell, shown in enumerate(made.published.counts) if shown is None]
    assert counts[hidden].min() > 0
    assert counts[hidden].sum() - (len(hidden) - 1) >= rule.threshold
    assert all(made.bounds[cell].low == 1 for cell in hidden)
    # the twin: the six alone may not be hidden
    alone = show_as_known(plan, counts, range(3, 9))
    told = {one.cell for one in attack_one(alone, counts, []).revealed_cells}
    assert told == {*range(3, 9)}
    # beside a full cell, an empty one is hidden, and readers know nothing of it
    plan = plan_of(rule, a=groups("a", 1, 1, 1), b=groups("b", 1, 1, 1))
    counts = count(plan, [[40, 0, 0], [50, 60, 70], [80, 90, 60]])
    made = protect_table(plan, counts)
    empty = [cell for cell in made.reasons if not counts[cell]]
    assert empty
    assert all(made.bounds[cell].low == 0 for cell in empty)


PEOPLE_IN_THREE_COLUMNS = [[2, 2, 2], [40, 60, 80], [90, 70, 50]]


def test_readers_believe_that_empty_cells_are_shown() -> None:
    """Three hidden counts that sum to six are each at most four, as none is empty."""
    plan = plan_of(PRESETS["nhs"], a=groups("a", 1, 1, 1), b=groups("b", 1, 1, 1))
    counts = count(plan, PEOPLE_IN_THREE_COLUMNS)
    layout = plan.build_layout()
    small = [cell for cell, people in enumerate(counts) if people == 2]
    hidden = [*small, *(cell + layout.shape[1] for cell in small)]
    table = show_as_known(plan, counts, hidden)
    assert {one.cell for one in attack_one(table, counts, []).revealed_cells} == {
        *small
    }
    # the twin: readers who think that some of them may be empty do not know it
    unaware = dataclasses.replace(table, occupied=())
    assert not attack_one(unaware, counts, []).revealed_cells
    made = protect_table(plan, counts)
    assert len(made.reasons) > len(hidden)
    assert all(made.bounds[cell].low >= 1 for cell in made.reasons)
    assert all(made.bounds[cell].high >= 5 for cell in small)


def test_readers_believe_it_of_earlier_tables_too() -> None:
    """The sum of three hidden counts of the first table stands in the second one."""
    by_both = plan_of(PRESETS["nhs"], a=groups("a", 1, 1, 1), b=groups("b", 1, 1, 1))
    by_first = dataclasses.replace(by_both, columns=by_both.columns[:1])
    counts = count(by_both, PEOPLE_IN_THREE_COLUMNS)
    sums = count(by_first, [sum(line) for line in PEOPLE_IN_THREE_COLUMNS])
    first = protect_table(by_both, counts).published
    assert first.counts[by_both.build_layout().find_cell(("a.0", "Total"))] is None
    with contextlib.suppress(InfeasibleError):
        table = protect_table(by_first, sums, [(first, counts)]).published
        assert table.counts[1] is None
    # the twin: it is shown if the first table's readers think nothing of empty cells
    unaware = dataclasses.replace(first, occupied=())
    told = attack_one(show(by_first, sums, []), sums, [(first, counts)])
    assert told.revealed_cells
    told = attack_one(show(by_first, sums, []), sums, [(unaware, counts)])
    assert not told.revealed_cells


@pytest.mark.parametrize("label", [1, None, 2.5])
def test_a_label_that_is_no_text_is_refused_when_the_plan_is_read(
    label: object,
) -> None:
    """The table was published, and its page ended with a traceback."""
    levels = [["A", "B"], [label, "x"], ["*", "*"]]
    column = {"column": "town", "hierarchy": levels, "levels": [1]}
    plan = {"columns": [column], "rule": {"threshold": 5}}
    with pytest.raises(ParameterError, match="label of the plan"):
        TablePlan.from_json(json.dumps(plan))
    levels[1] = ["y", "x"]  # type: ignore[list-item]
    assert TablePlan.from_json(json.dumps(plan)).column_names == ("town",)


def test_two_exceptions_for_a_cell_are_refused() -> None:
    """The first reason was lost without a word."""
    plan = plan_of(HidingRule(threshold=5), a=groups("a", 1, 1, 1))
    exceptions = tuple(
        ExceptedCell(labels=("a.0",), reason=f"because of law number {at}")
        for at in range(2)
    )
    with pytest.raises(ParameterError, match="same cell"):
        TablePlan(columns=plan.columns, rule=plan.rule, exceptions=exceptions)


def test_an_exception_for_an_empty_cell_makes_it_no_protection() -> None:
    """Everybody knows that children are not married: their empty cells hide nothing."""
    status = Hierarchy(
        values=("single", "married", "widowed"),
        levels=(("single", "married", "widowed"), ("*",) * 3),
    )
    plan = plan_of(PRESETS["acro"], age=groups("age", 1, 1, 1), status=status)
    counts = count(plan, [[300, 0, 0], [250, 60, 2], [120, 400, 15]])
    layout = plan.build_layout()
    empty = [("age.0", "married"), ("age.0", "widowed")]
    widowed = layout.find_cell(("age.1", "widowed"))

    def find_most(table: PublishedTable) -> float:
        """Return the most widowed people of age 1, for readers who know the empty cells."""
        known = list(table.counts)
        for labels in empty:
            known[layout.find_cell(labels)] = 0
        exposed = dataclasses.replace(table, counts=tuple(known))
        return attack_one(exposed, counts, [], with_bounds=True).bounds[0, widowed].high

    # the twin: without exceptions, two empty cells are all that protects it
    assert find_most(protect_table(plan, counts).published) == 2
    reason = "nobody of this age can be married by law"
    # it is no secret either that all children are single
    shown = [*empty, ("age.0", "single")]
    exceptions = tuple(ExceptedCell(labels=one, reason=reason) for one in shown)
    excepted = dataclasses.replace(plan, exceptions=exceptions)
    table = protect_table(excepted, counts).published
    assert [table.counts[layout.find_cell(one)] for one in empty] == [0, 0]
    assert find_most(table) >= 10


def test_a_changed_preset_loses_its_name() -> None:
    """A table would say "acro" though two people are enough for it."""
    changed = HidingRule.from_dict({**PRESETS["acro"].to_dict(), "threshold": 2})
    assert (changed.name, changed.threshold) == ("", 2)
    assert HidingRule.from_dict(PRESETS["acro"].to_dict()) == PRESETS["acro"]
