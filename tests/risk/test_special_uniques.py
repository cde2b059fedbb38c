"""Minimal unique sets and their scores: brute force, printed tables, people instead of
rows.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.errors import ParameterError
from dpcore.risk.column_sets import max_set_size
from dpcore.risk.special_uniques import (
    MAX_COLUMN_SETS,
    dis_scores,
    score_special_uniques,
)
from tests.tiers import examples

ROWS = st.lists(
    st.tuples(*[st.integers(0, 2)] * 4, st.integers(0, 5)), min_size=1, max_size=20
)
TEN = pd.DataFrame(
    {
        "residence": ["Urban"] * 4 + ["Rural"] + ["Urban"] * 5,
        "gender": ["F", "F", "F", "M", "F", "M", "F", "M", "F", "F"],
        "education": [
            "some",
            "some",
            "primary",
            "full",
            "full",
            "full",
            "school",
            "higher",
            "some",
            "some",
        ],
        "labor": [
            "job",
            "job",
            "none",
            "job",
            "seeks",
            "job",
            "none",
            "seeks",
            "none",
            "none",
        ],
    },
)
"""Ten people of the guide of the International Household Survey Network, tables 4.4 and
4.5, with values of our own; the same rows are equal in the same columns.
"""


def brute_force(
    rows: list[tuple[int, ...]], person: list[int] | None, largest: int
) -> list[list[tuple]]:
    """The minimal unique sets of each row, from looking at all pairs of rows."""

    def unique(row: int, chosen: tuple[int, ...]) -> bool:
        same = [
            i
            for i, other in enumerate(rows)
            if all(other[c] == rows[row][c] for c in chosen)
        ]
        return len({i if person is None else person[i] for i in same}) == 1

    columns = range(len(rows[0]))
    sets = [
        chosen
        for size in range(1, largest + 1)
        for chosen in combinations(columns, size)
    ]
    return [
        [
            chosen
            for chosen in sets
            if unique(row, chosen)
            and not any(
                unique(row, part)
                for size in range(1, len(chosen))
                for part in combinations(chosen, size)
            )
        ]
        for row in range(len(rows))
    ]


@examples(60)
@given(rows=ROWS, several=st.booleans(), largest=st.integers(1, 4))
def test_against_brute_force(
    rows: list[tuple[int, ...]], several: bool, largest: int
) -> None:
    """Broken: a row's sets, score or parts differ from looking at all pairs of rows, or
    rows are counted where people should be.
    """
    names = list("abcd")
    cells = [row[:4] for row in rows]
    person = (
        np.unique([row[4] for row in rows], return_inverse=True)[1] if several else None
    )
    found = score_special_uniques(
        pd.DataFrame(cells, columns=names), names, max_columns=largest, person=person
    )
    expected = brute_force(cells, None if person is None else list(person), largest)
    last = min(largest, 3)

    def worth(chosen: tuple[int, ...]) -> int:
        return math.prod(4 - i for i in range(len(chosen), last + 1))

    for row, sets in enumerate(expected):
        total = sum(map(worth, sets))
        assert found.score[row] == total
        assert found.set_count[row] == len(sets)
        assert found.smallest_set_size[row] == min(map(len, sets), default=0)
        for place, name in enumerate(names):
            share = (
                sum(worth(chosen) for chosen in sets if place in chosen) / total
                if total
                else 0
            )
            assert found.score_parts[name][row] == pytest.approx(share)


def test_the_printed_table() -> None:
    """Broken: the scores of the guide's table 4.5, which sdcMicro's tests repeat, come
    out otherwise.
    """
    found = score_special_uniques(TEN, list(TEN))
    assert found.score.tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    assert found.set_count.tolist() == [0, 0, 1, 0, 4, 0, 1, 3, 0, 0]
    assert found.smallest_set_size.tolist() == [0, 0, 1, 0, 1, 0, 1, 1, 0, 0]
    # row 5 has {Rural} with 6, and {full, seeks}, {F, seeks}, {F, full} with 2 each
    assert [found.score_parts[name][4] for name in TEN] == pytest.approx(
        [6 / 12, 4 / 12, 4 / 12, 4 / 12]
    )


def test_the_parts_of_sdcmicro() -> None:
    """Broken: the contributions 50, 37.5 and 37.5 % of sdcMicro's own test
    (test_suda2.R) come out otherwise, or follow the order of the columns.
    """
    rows = pd.DataFrame({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]})
    for names in (["a", "b", "c"], ["c", "b", "a"]):
        assert score_special_uniques(rows, names).score_share == {
            "a": 0.5,
            "b": 0.375,
            "c": 0.375,
        }


def test_dis_of_the_guide() -> None:
    """Broken: the DIS-SUDA scores printed in the guide (example 4.7, from the scores
    there) differ.
    """
    score = np.array([0, 0, 1.75, 0, 3.25, 0, 1.75, 2.75, 0, 0])
    found = dis_scores(score, uniques=4, paired=6, columns=4, fraction=0.01)
    printed = [0, 0, 0.005120313, 0, 0.010702061, 0, 0.005120313, 0.008775093, 0, 0]
    assert found == pytest.approx(printed, abs=1e-9)
    # the mean over unique rows is near the figure of the whole file: 4 of 4 + 6 * 99
    # matches are right
    assert score_special_uniques(TEN, list(TEN)).dis.sum() / 4 == pytest.approx(
        4 / (4 + 6 * 99), rel=0.2
    )


def test_dis_where_nobody_or_everybody_is_unique() -> None:
    """Broken: a division by zero, or a chance outside 0 to 1."""
    same = pd.DataFrame({"a": [1] * 4})
    assert score_special_uniques(same, ["a"]).dis.tolist() == [0] * 4
    apart = pd.DataFrame({"a": range(4)})
    assert score_special_uniques(apart, ["a"]).dis.tolist() == [1] * 4


def test_five_rows_of_one_person_are_one() -> None:
    """Broken: a person's own rows hide the person (PEOPLE D1)."""
    rows = pd.DataFrame({"a": [1] * 5 + [2, 2]})
    assert score_special_uniques(rows, ["a"]).score.tolist() == [0] * 7
    person = np.array([0] * 5 + [1, 2])
    assert score_special_uniques(rows, ["a"], person=person).score.tolist() == [
        1
    ] * 5 + [
        0,
        0,
    ]


def test_many_columns_and_bad_input() -> None:
    """Broken: thirty columns take all their sets, or nonsense is answered."""
    wide = pd.DataFrame({f"c{i}": [0, 1, i] for i in range(30)})
    assert (
        score_special_uniques(wide, list(wide)).max_columns
        == max_set_size(30, 30, MAX_COLUMN_SETS)
        == 2
    )
    assert [
        max_set_size(columns, columns, MAX_COLUMN_SETS)
        for columns in (1, 8, 9, 10, 200, 5000)
    ] == [
        1,
        8,
        9,
        4,
        1,
        1,
    ]
    for asked in ({"fraction": 0}, {"fraction": 1}, {"max_columns": 0}):
        with pytest.raises(ParameterError):
            score_special_uniques(wide, ["c1"], **asked)
    with pytest.raises(ParameterError):
        score_special_uniques(wide, [])
