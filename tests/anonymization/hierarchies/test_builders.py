"""Builders and suggestions: what each rule makes of a column."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.anonymization.hierarchies.builders import (
    OTHER_LABEL,
    build_cuts,
    build_dates,
    build_flat,
    build_intervals,
    build_masks,
    build_order,
    build_rare_groups,
)
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.hierarchies.suggest import (
    MAX_SUGGESTED_NODES,
    suggest_hierarchy,
    suggest_together,
)
from dpcore.errors import ParameterError
from dpcore.schema.values import MISSING


def path(hierarchy: Hierarchy, value: str) -> list[str]:
    """The labels of a value from the leaf up."""
    return [level[hierarchy.values.index(value)] for level in hierarchy.levels]


def test_intervals_nest_and_end_open() -> None:
    """Else widths cross, or the rarest ages stay visible at the edges."""
    ages = build_intervals(range(10, 100), (5, 10, 20), low=17, high=90)
    assert path(ages, "41") == ["41", "40-44", "40-49", "40-59", "*"]
    assert path(ages, "16") == ["16", "<17", "<17", "<17", "*"]
    assert path(ages, "18") == ["18", "17-19", "17-19", "17-19", "*"]
    assert path(ages, "93") == ["93", "≥90", "≥90", "≥90", "*"]
    assert path(ages, "88") == ["88", "85-89", "80-89", "80-89", "*"]


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30),
    st.sampled_from([0.1, 0.25, 3.0]),
)
def test_intervals_of_any_numbers_nest(numbers: list[float], width: float) -> None:
    """Else rounding puts a number into crossing intervals (the hierarchy would refuse
    itself).
    """
    built = build_intervals(numbers, (width, 2 * width, 10 * width))
    assert built.levels[-1][0] == "*"


@pytest.mark.parametrize("widths", [(), (0, 5), (5, 12), (10, 5), (5, 5)])
def test_intervals_that_do_not_nest_are_refused(widths: tuple[float, ...]) -> None:
    """Else the hierarchy breaks later, with a worse message."""
    with pytest.raises(ParameterError, match="multiple"):
        build_intervals([1, 2, 3], widths)


def test_intervals_of_text_are_refused() -> None:
    """Else words become intervals of nothing."""
    with pytest.raises(ParameterError, match="numbers"):
        build_intervals(["a", "b"], (5,))


def test_mask_from_the_right() -> None:
    """SEEDS B6: 33617 -> 3361* -> 336** -> *."""
    assert path(build_masks(["33617", "336"], (1, 2)), "33617") == [
        "33617",
        "3361*",
        "336**",
        "*",
    ]
    with pytest.raises(ParameterError, match="steps must rise"):
        build_masks(["33617"], (2, 1))


def test_dates_up_to_decades() -> None:
    """Else day and month stay visible where only the year was meant to."""
    built = build_dates(["1997-03-09", "2001-12-31"])
    assert path(built, "1997-03-09") == [
        "1997-03-09",
        "1997-03",
        "1997-Q1",
        "1997",
        "1990s",
        "*",
    ]
    assert path(build_dates(["1997-03-09", "2001-12-31"], ("year",)), "2001-12-31") == [
        "2001-12-31",
        "2001",
        "*",
    ]
    with pytest.raises(ParameterError, match="order"):
        build_dates(["1997-03-09"], ("year", "month"))
    with pytest.raises(ParameterError, match="dates"):
        build_dates(["soon"])


def test_cut_at_separators() -> None:
    """Else paths and places generalize at the wrong end."""
    assert path(build_cuts(["a/b/c", "a/d", "x"], "/"), "a/b/c") == [
        "a/b/c",
        "a/b",
        "a",
        "*",
    ]
    assert path(
        build_cuts(
            ["Tampa, Florida", "Miami, Florida", "Reno, Nevada"], ", ", keep="end"
        ),
        "Tampa, Florida",
    ) == [
        "Tampa, Florida",
        "Florida",
        "*",
    ]
    with pytest.raises(ParameterError):
        build_cuts(["a"], "")


def test_order_joins_neighbors() -> None:
    """Else ordered categories are joined with distant ones."""
    assert path(build_order(list("abcde"), (2, 4)), "c") == [
        "c",
        "{c, d}",
        "{a, b, c, d}",
        "*",
    ]
    with pytest.raises(ParameterError, match="multiple"):
        build_order(list("abc"), (2, 3))


def test_rare_values_are_merged_first() -> None:
    """Else the rarest value keeps its own label longest and decides the node."""
    built = build_rare_groups(
        {"red": 50, "blue": 40, "green": 30, "mauve": 2, "teal": 1}, 5
    )
    assert path(built, "teal") == ["teal", OTHER_LABEL, OTHER_LABEL, "*"]
    assert path(built, "blue") == ["blue", "blue", "{red, blue}", "*"]


def test_levels_that_change_nothing_are_left_out() -> None:
    """Else the lattice doubles for nothing."""
    assert build_flat(["a"]).height == 1
    assert build_intervals([1, 11], (10,)).height == 2
    assert build_intervals([1, 2], (10, 100)).height == 1


@pytest.mark.parametrize(
    ("column", "example", "expected"),
    [
        (
            pd.Series(range(17, 95), name="age"),
            "41",
            ["41", "40-44", "40-49", "40-59", "*"],
        ),
        (
            pd.Series(["33617", "23620", "23622"], name="zip"),
            "33617",
            ["33617", "3361*", "336**", "33***", "3****", "*"],
        ),
        (
            pd.Series([33617, 23620, 23622], name="zip"),
            "33617",
            ["33617", "3361*", "336**", "33***", "3****", "*"],
        ),
        (pd.Series([True, False, None]), "True", ["True", "*"]),
        (
            pd.Series(["2020-01-01", "2020-02-01", "2021-01-01"]),
            "2020-01-01",
            ["2020-01-01", "2020-01"],
        ),
        (
            pd.Series(pd.to_datetime(["2020-01-01", "2020-02-01", "2021-01-01"])),
            "2020-01-01",
            ["2020-01-01"],
        ),
        (pd.Series(["a/b", "a/c", "d/e"]), "a/b", ["a/b", "a", "*"]),
        (pd.Series([1, 2, 3, 4, 5]), "3", ["3", "{3, 4}", "{1, 2, 3, 4}", "*"]),
        (pd.Series([f"name {i}" for i in range(40)]), "name 3", ["name 3", "*"]),
        (pd.Series([None, None]), MISSING, [MISSING, "*"]),
        (pd.Series(["*", "x", "y", "z"]), "*", ["*", "*"]),
        (
            pd.Series(["2020-99-99", "2020-01-01", "2021-01-01"]),
            "2020-99-99",
            ["2020-99-99"],
        ),
        (pd.Series([1.5, float("inf"), -2.0, 7.0]), "inf", ["inf"]),
        (pd.Series([1, "a", None, 2.0], dtype=object), "a", ["a"]),
    ],
    ids=[
        "age",
        "zip",
        "zip as number",
        "boolean",
        "date text",
        "date",
        "parts",
        "few",
        "names",
        "empty",
        "stars",
        "no date",
        "infinite",
        "mixed",
    ],
)
def test_suggestions(column: pd.Series, example: str, expected: list[str]) -> None:
    """Else the first result needs handwork that the column's look already answers."""
    built = suggest_hierarchy(column)
    assert path(built, example)[: len(expected)] == expected
    assert built.cover_special_cells(column).encode(column).min() >= 0
    assert (built.encode(column) >= 0).all()


def test_suggested_intervals_are_round_and_cover_every_number() -> None:
    """Else a long tail makes thousands of labels, or falls off the end."""
    income = pd.Series(
        np.random.default_rng(3).lognormal(10, 1, 5_000).round(), name="income"
    )
    built = suggest_hierarchy(income)
    widths = [len(built.labels(level)) for level in range(1, built.height)]
    assert widths == sorted(widths, reverse=True)
    assert 5 < widths[0] < 300
    assert (built.encode(income) >= 0).all()


def test_suggested_hierarchies_can_be_searched_together() -> None:
    """A first run over many columns would be refused for its number of combinations."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {f"c{i}": rng.choice(list("abcdefghijklmnop"), 2_000) for i in range(9)}
    )
    alone = [suggest_hierarchy(frame[name]).height + 1 for name in frame]
    together = suggest_together(frame, list(frame.columns))
    assert math.prod(alone) > MAX_SUGGESTED_NODES
    assert (
        math.prod(each.height + 1 for each in together.values()) <= MAX_SUGGESTED_NODES
    )
    assert all(
        each.levels[-1][0] == "*" and each.levels[0] == each.values
        for each in together.values()
    )
