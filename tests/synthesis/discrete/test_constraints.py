"""Facts from outside hold in every drawn row, whatever the noise says."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore as dp
from dpcore.errors import InfeasibleError, LimitError, ParameterError, UsageError
from dpcore.progress import ignore_stage_progress
from dpcore.schema import Domain, IntervalColumn
from dpcore.synthesis import Adaptive, Recipe, Tree, load_recipe
from dpcore.synthesis.discrete.constraints import (
    Constraints,
    FunctionalDependency,
    ImpossibleCombination,
    never_above_rules,
)
from tests.synthesis.standin import Table
from tests.tiers import examples

DOMAIN = Domain(names=("age", "married", "school", "years"), sizes=(20, 3, 8, 4))
YEARS = (0, 0, 1, 1, 2, 2, 3, 3)
RULES = Constraints(
    impossible=(
        ImpossibleCombination(
            columns=("age", "married"), cells=(tuple(range(6)), (1, 2))
        ),
    ),
    determines=(FunctionalDependency(column="school", target="years", cells=YEARS),),
)


def people(rows: int, seed: int) -> Table:
    """Rows that keep the rules; most cells are rare."""
    rng = np.random.default_rng(seed)
    age = np.minimum(rng.geometric(0.12, rows) - 1, 19)
    school = np.minimum(age // 3 + rng.integers(0, 3, rows), 7)
    married = np.where(age < 6, 0, rng.integers(0, 3, rows))
    return Table(
        {
            "age": age,
            "married": married,
            "school": school,
            "years": np.array(YEARS)[school],
        },
        DOMAIN,
    )


@pytest.mark.parametrize(
    "recipe", [Tree(constraints=RULES), Adaptive(constraints=RULES)]
)
@pytest.mark.parametrize("epsilon", ["0.01", 1, 100])
@pytest.mark.parametrize("rows", [1, 5000])
def test_constraints_hold_in_every_row(
    recipe: Recipe, epsilon: str | int, rows: int
) -> None:
    """One child that is married, or one degree with the wrong years, and nobody trusts
    the table.
    """
    recipe.check(DOMAIN)
    measurer = people(rows, 1).measurer(dp.PureDP(epsilon=epsilon))
    _, model = recipe.fit(measurer, ignore_stage_progress)
    codes = model.sample_codes(20_000, np.random.default_rng(2))
    assert not np.any((codes["age"] < 6) & (codes["married"] > 0))
    np.testing.assert_array_equal(codes["years"], np.array(YEARS)[codes["school"]])


def test_determined_column_is_never_read() -> None:
    """Measuring what another column decides would pay twice for one fact."""
    table = people(2000, 3)
    Adaptive(constraints=RULES).fit(
        table.measurer(dp.ZCDP(rho=1)), ignore_stage_progress
    )
    assert not any("years" in clique for cliques in table.read for clique in cliques)


def test_without_the_rules_noise_breaks_them() -> None:
    """The twin: the same table without constraints must show rows that break them, or
    nothing was tested.
    """

    def breaks_them() -> bool:
        _, model = Adaptive().fit(
            people(500, 1).measurer(dp.PureDP(epsilon="0.05")), ignore_stage_progress
        )
        codes = model.sample_codes(20_000, np.random.default_rng(2))
        return bool(np.any((codes["age"] < 6) & (codes["married"] > 0)))

    # One fit in four happens to keep them; that sixteen do is rarer than one in a
    # billion.
    assert any(breaks_them() for _ in range(16))


@pytest.mark.parametrize(
    ("rules", "error"),
    [
        (
            Constraints(
                impossible=(ImpossibleCombination(columns=("age",), cells=((20,),)),)
            ),
            ParameterError,
        ),
        (
            Constraints(
                impossible=(
                    ImpossibleCombination(columns=("age",), cells=(tuple(range(20)),)),
                )
            ),
            InfeasibleError,
        ),
        (
            Constraints(
                determines=(
                    FunctionalDependency(column="school", target="years", cells=(0, 1)),
                )
            ),
            ParameterError,
        ),
        (
            Constraints(
                determines=(
                    FunctionalDependency(column="school", target="years", cells=YEARS),
                    FunctionalDependency(
                        column="years", target="married", cells=(0, 1, 2, 0)
                    ),
                ),
            ),
            ParameterError,
        ),
    ],
)
def test_wrong_rules_are_refused_before_any_charge(
    rules: Constraints, error: type[Exception]
) -> None:
    """A rule that cannot be kept must be refused by `check`, which runs before the
    ledger is touched.
    """
    with pytest.raises(error):
        Tree(constraints=rules).check(DOMAIN)


def test_rules_that_need_too_large_a_tree_are_refused() -> None:
    """A clique of constraints that cannot fit must be a clear refusal, not a crash for
    want of memory.
    """
    names = tuple(f"c{i}" for i in range(9))
    domain = Domain(names=names, sizes=(10,) * 9)
    rule = ImpossibleCombination(columns=names, cells=((0,),) * 9)
    with pytest.raises(LimitError):
        Adaptive(constraints=Constraints(impossible=(rule,))).check(domain)


def test_json_keeps_the_rules() -> None:
    """A stored model must keep the rules when rows are drawn again."""
    assert Constraints.from_dict(json.loads(json.dumps(RULES.to_dict()))) == RULES


few = st.integers(-6, 6)
special = st.lists(st.integers(-9, 9), max_size=2)


@st.composite
def number_columns(draw: st.DrawFn, name: str) -> IntervalColumn:
    """Whole or real numbers between small bounds, with special values inside, at and
    beyond them.
    """
    low = draw(few)
    span = draw(st.integers(1, 9))
    width = draw(st.integers(1, 4))
    codes = draw(special)
    cuts = tuple(range(low + 1, low + span, width)) if draw(st.booleans()) else ()
    missing = draw(st.booleans())
    if draw(st.booleans()):
        return dp.Integer(
            name,
            low=low,
            high=low + span,
            bin_width=width,
            cuts=cuts,
            special=tuple(codes),
            missing=missing,
        )
    return dp.Real(
        name,
        low=low,
        high=low + span,
        bin_width=None if cuts else width / 2,
        cuts=cuts,
        special=tuple(each / 2 for each in codes),
        missing=missing,
    )


@st.composite
def day_columns(draw: st.DrawFn, name: str) -> IntervalColumn:
    """Days of about one year, in cells of any step."""
    low = pd.Timestamp("2020-01-01") + pd.Timedelta(days=draw(st.integers(0, 200)))
    high = low + pd.Timedelta(days=draw(st.integers(0, 120)))
    step = draw(st.sampled_from(["day", "week", "month", "quarter", "year"]))
    return dp.Date(
        name,
        low=str(low.date()),
        high=str(high.date()),
        step=step,
        missing=draw(st.booleans()),
    )


def ends_of_cells(column: IntervalColumn) -> pd.DataFrame:
    """The least and the largest value of each cell, of all values worth a look, told
    apart by `encode`.
    """
    if isinstance(column, dp.Date):
        values = np.arange(
            np.datetime64(column.low), np.datetime64(column.high) + 1
        ).astype(str)
        numbers = pd.to_datetime(values).to_numpy()
    elif isinstance(column, dp.Integer):
        values = numbers = np.array(
            [*range(column.low, column.high + 1), *column.special]
        )
    else:
        near = [*column.edges, column.high, *column.special]
        all_of_them = np.array(
            [*near, *np.nextafter(near, np.inf), *np.nextafter(near, -np.inf)]
        )
        inside = (column.low <= all_of_them) & (all_of_them <= column.high)
        values = numbers = all_of_them[inside | np.isin(all_of_them, column.special)]
    return (
        pd.Series(numbers).groupby(column.encode(pd.Series(values))).agg(["min", "max"])
    )


@pytest.mark.parametrize("columns", [number_columns, day_columns])
@examples(400, deadline=None)
@given(data=st.data())
def test_never_above_is_what_brute_force_finds(columns, data: st.DataObject) -> None:
    """A pair of cells too many forbids rows that people have; one too few draws a start
    after its end.
    """
    one = data.draw(columns("start"))
    other = data.draw(columns("end"))
    expected = {
        (i, j)
        for i, least in ends_of_cells(one)["min"].items()
        for j, most in ends_of_cells(other)["max"].items()
        if least > most
    }
    rules = never_above_rules(one, other)
    pairs = Counter(
        (i, j) for rule in rules for i in rule.cells[0] for j in rule.cells[1]
    )
    assert set(pairs) == expected
    assert set(pairs.values()) <= {1}
    rows = {
        j: frozenset(i for i, other_j in expected if other_j == j) for _, j in expected
    }
    assert len(rules) == len(set(rows.values())), (
        "cells of the second column, each with others above it"
    )
    assert all(rule.columns == ("start", "end") for rule in rules)


def test_never_above_takes_few_numbers() -> None:
    """The ledger keeps the recipe: pair by pair, days of a year would take 67,000
    numbers of it.
    """
    year = dp.Date("start", low="2021-01-01", high="2021-12-31", step="day")
    rules = never_above_rules(year, year)
    assert len(rules) == 364
    assert sum(len(cells) for rule in rules for cells in rule.cells) < 4_000


def test_numbers_and_days_have_no_order() -> None:
    """Numbers would be compared with days since 1970."""
    with pytest.raises(UsageError):
        never_above_rules(
            dp.Integer("n", low=0, high=9),
            dp.Date("day", low="2020-01-01", high="2020-12-31"),
        )


@pytest.mark.parametrize("recipe", [Tree, Adaptive])
@pytest.mark.parametrize("epsilon", ["0.05", 10])
def test_no_row_is_drawn_with_a_start_in_a_cell_above_its_end(
    recipe: type[Recipe],
    epsilon: str | int,
) -> None:
    """A stay that ends in a month before it began, or rows without an end that are
    lost.
    """
    start = dp.Date("start", low="2020-01-01", high="2021-12-31")
    end = dp.Date("end", low="2020-01-01", high="2021-12-31", missing=True)
    rules = Constraints(impossible=never_above_rules(start, end))
    domain = Domain(names=("start", "end", "ward"), sizes=(24, 25, 3))
    rng = np.random.default_rng(1)
    begins = rng.integers(0, 24, 3000)
    ward = rng.integers(0, 3, 3000)
    ends = np.where(
        rng.random(3000) < 0.2,
        24,
        np.minimum(begins + rng.geometric(0.3, 3000) - 1, 23),
    )
    table = Table({"start": begins, "end": ends, "ward": ward}, domain)
    asked = recipe(ordered=frozenset(["start", "end"]), constraints=rules)
    assert load_recipe(json.loads(json.dumps(asked.to_dict()))) == asked
    asked.check(domain)
    _, model = asked.fit(
        table.measurer(dp.PureDP(epsilon=epsilon)), ignore_stage_progress
    )
    codes = model.sample_codes(20_000, rng)
    assert not np.any((codes["start"] > codes["end"]) & (codes["end"] < 24))
    assert np.any((codes["start"] > 0) & (codes["end"] == 24))


@pytest.mark.proof
def test_tree_that_constraints_would_make_huge_is_cut() -> None:
    """Edges that close loops with constraints must find room, or memory has no
    bound.
    """
    names = tuple(f"c{i}" for i in range(8))
    domain = Domain(names=names, sizes=(60,) * 8)
    rng = np.random.default_rng(1)
    base = rng.integers(0, 60, 50_000)
    table = Table(
        {name: (base + rng.integers(0, 3, 50_000)) % 60 for name in names}, domain
    )
    rules = Constraints(
        impossible=tuple(
            ImpossibleCombination(columns=pair, cells=((0,), (30,)))
            for pair in zip(names, names[1:] + names[:1], strict=True)
        ),
    )
    for recipe in (Tree(constraints=rules), Adaptive(constraints=rules)):
        recipe.check(domain)
        _, model = recipe.fit(table.measurer(dp.ZCDP(rho=10)), ignore_stage_progress)
        assert model.graph.tree.cells <= 4_000_000


@pytest.mark.parametrize("rows", [310, 20_000])
def test_a_fact_that_rows_break_ends_no_run(rows: int) -> None:
    """A run that is paid would fail, or not, by whether rows break the fact: at next to
    no noise.
    """
    sizes = {"a": 10, "b": 10, "c": 101}
    rng = np.random.default_rng(rows)
    codes = {name: rng.integers(0, size, rows) for name, size in sizes.items()}
    table = Table(codes, Domain(names=tuple(sizes), sizes=tuple(sizes.values())))
    rules = Constraints(
        impossible=tuple(
            ImpossibleCombination(
                columns=("a", "b"), cells=(tuple(range(cell + 1, 10)), (cell,))
            )
            for cell in range(9)
        ),
    )
    recipe = Adaptive(ordered=frozenset(sizes), constraints=rules)
    for rho in (5, 10_000, 100_000):
        _, model = recipe.fit(table.measurer(dp.ZCDP(rho=rho)), ignore_stage_progress)
        drawn = model.sample_codes(rows, rng)
        assert (drawn["a"] <= drawn["b"]).all()
