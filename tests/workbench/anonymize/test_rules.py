"""Hierarchies by a rule: what fits which values, and what the groups are."""

from __future__ import annotations

import pandas as pd
import pytest

from dpcore.anonymization.hierarchies.suggest import suggest_hierarchy
from dpcore.errors import ParameterError
from workbench.anonymize import rules

ZIPS = ["33617", "33620", "23620"]


def test_post_codes_are_masked_to_one_digit() -> None:
    """A German PLZ lost everything after three digits, and every row was suppressed."""
    for made in (
        rules.make_masks(ZIPS, [4, 1, 2, 3]),
        suggest_hierarchy(pd.Series(ZIPS * 3, name="plz")),
    ):
        assert made.height == 5
        assert {level[made.values.index("33617")] for level in made.levels} == {
            "33617",
            "3361*",
            "336**",
            "33***",
            "3****",
            "*",
        }


@pytest.mark.parametrize(
    ("values", "first"),
    [
        (ZIPS, "masking"),
        (["1", "20", "300"], "intervals"),
        (["low", "high"], "order"),
        (["2020-01-31"], "dates"),
    ],
)
def test_the_likeliest_rule_is_offered_first(values: list[str], first: str) -> None:
    """Masking would be offered for ages, or intervals for names."""
    assert rules.fitting_rules(values)[0] == first
    assert rules.fitting_rules([]) == []


def test_the_groups_of_a_rule_by_hand() -> None:
    """The preview would show other groups than the table gets."""
    ages = [str(age) for age in range(20, 40)]
    found = rules.describe_levels(rules.make_intervals(ages, "5, 10", None, 35.0))
    assert found["groups"].tolist() == [20, 4, 3, 1]
    assert found["values in the largest"].tolist() == [1, 5, 10, 20]
    assert found["such as"].iloc[2] == "20-29 · 30-34 · ≥35"
    grades = rules.join_neighbors(
        ["good", "bad", "fair", "poor"], "poor\nbad\nfair", "2"
    )
    assert set(grades.levels[1]) == {"{poor, bad}", "{fair, good}"}
    assert rules.make_periods(["2020-01-31", "2021-05-01"], ["year", "month"]).levels[
        1
    ] == ("2020-01", "2021-05")


def test_intervals_begin_where_a_person_says() -> None:
    """SEEDS B7: the ages of the book become 10-49, which intervals counted from 0 never
    are.
    """
    made = rules.make_intervals(
        ["12", "24", "29", "41", "43"], "10, 40", None, None, start=10
    )
    assert made.levels[1] == ("10-19", "20-29", "20-29", "40-49", "40-49")
    assert set(made.levels[2]) == {"10-49"}
    assert made.levels[3] == ("*",) * 5
    halves = rules.make_intervals(["0.5", "1.4", "2.6"], "1", None, None, start=0.5)
    assert halves.levels[1] == ("[0.5, 1.5)", "[0.5, 1.5)", "[2.5, 3.5)")


def test_what_makes_no_rule() -> None:
    """A typing error would end in a traceback."""
    for wrong in (
        lambda: rules.make_intervals(["1", "2"], "wide", None, None),
        lambda: rules.make_intervals(["1", "2"], "2, 3", None, None),
        lambda: rules.join_neighbors(["a", "b"], "a\nc", "2"),
        lambda: rules.make_masks(ZIPS, [0]),
    ):
        with pytest.raises(ParameterError):
            wrong()
