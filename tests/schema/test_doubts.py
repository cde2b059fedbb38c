"""Doubts about values: words for missing that may be answers, numbers that may mean
missing, and two spellings of one answer.
"""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

import dpcore as dp
from dpcore.schema.column import Categorical, Column
from dpcore.schema.doubts import Doubt, confirm_doubt, find_doubts


def doubts_of(cells: list[object], name: str = "x") -> tuple[Column, tuple[Doubt, ...]]:
    frame = pd.DataFrame({name: cells})
    (column,) = dp.suggest_schema(frame).columns
    return column, find_doubts(frame[name], column)


@pytest.mark.parametrize(
    ("cells", "kind", "text"),
    [
        (["None", "Peanut", "Latex"] * 20, "answer", "None"),
        (["NA", "DE", "US"] * 20, "answer", "NA"),
        ([20.5, 21.25, 104.0, 999.0] * 20, "missing", "999"),
        ([0, 3, 7, -1, 12] * 20, "missing", "-1"),
        ([1, 2, 3, 4, 99] * 20, "missing", "99"),
        (["m", "W", "männlich", "weiblich"] * 20, "same", "m"),
        (["F", "female", "male"] * 20, "same", "F"),
        (["y", "yes", "no"] * 20, "same", "y"),
    ],
)
def test_what_only_the_owner_knows_is_asked(
    cells: list[object], kind: str, text: str
) -> None:
    """Half of all allergies were missing, -1 days were counted, m and männlich were two
    sexes.
    """
    doubts = doubts_of(cells)[1]
    found = [doubt for doubt in doubts if (doubt.kind, doubt.text) == (kind, text)]
    assert [doubt.rows for doubt in found] == [20]


@pytest.mark.parametrize(
    "cells",
    [
        ["None", *["Peanut", "Latex"] * 20],  # one row of 41
        ["?", "Peanut", "Latex"] * 20,
        [95, 97, 99, 30] * 20,
        [-5, -1, 3, 7] * 20,
        ["M", "F", "D"] * 20,
        ["M", "m", "F", "f"] * 20,  # joined by the rule of spellings
        ["yes", "no"] * 20,
        [10, 20, 30, 250] * 20,
    ],
)
def test_what_is_plain_is_not_asked(cells: list[object]) -> None:
    """Every table would begin with questions."""
    assert doubts_of(cells)[1] == ()


def test_answers_change_the_declaration_and_stay_marked() -> None:
    """A declaration would follow the rows without a word in the guarantee."""
    cells: list[object] = ["None", "Peanut", "Latex"] * 20
    column, (doubt,) = doubts_of(cells)
    settled = confirm_doubt(doubt, pd.Series(cells), column)
    assert isinstance(settled, Categorical)
    assert settled.categories == ("Latex", "Peanut", "None")
    assert settled.check(pd.Series(cells)).missing == 0
    assert "categories" in settled.from_data

    numbers: list[object] = [20.5, 21.25, 104.0, 999.0] * 20
    column, (doubt,) = doubts_of(numbers)
    settled = confirm_doubt(doubt, pd.Series(numbers), column)
    assert settled.missing_tokens == ("999",)
    assert settled.check(pd.Series(numbers)).missing == 20
    assert getattr(settled, "high", 104) <= 104
    assert {"kind", "missing_tokens"} <= set(settled.from_data)
    assert find_doubts(pd.Series(numbers), settled) == ()

    spelled: list[object] = ["m", "W", "männlich", "weiblich"] * 20
    column, doubts = doubts_of(spelled)
    for doubt in doubts:
        column = confirm_doubt(doubt, pd.Series(spelled), column)
    assert isinstance(column, Categorical)
    assert column.categories == ("männlich", "weiblich")
    assert set(column.synonyms) == {("m", "männlich"), ("W", "weiblich")}
    assert {"categories", "synonyms"} <= set(column.from_data)


def test_a_declared_word_is_no_doubt() -> None:
    """The owner would be asked again what the declaration says."""
    column = Categorical("x", categories=("None", "Peanut"))
    cells = pd.Series(["None", "Peanut"] * 20)
    assert find_doubts(cells, column) == ()
    without = dataclasses.replace(column, categories=("Peanut",), other=True)
    assert find_doubts(cells, without) == ()
