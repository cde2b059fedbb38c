from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.tables.classes import class_index, class_sizes, counted_pairs, joint_classes, leaves_of


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([3, 1, 10], ["1", "3", "10"]),
        ([3.0, None, 1.5], ["1.5", "3", "(missing)"]),
        (pd.array([3, None], dtype="Int64"), ["3", "(missing)"]),
        (["b", None, "a"], ["a", "b", "(missing)"]),
        ([True, False, True], ["False", "True"]),
        (["x", 2, 1.0, None], ["1", "2", "x", "(missing)"]),
        (pd.Categorical(["b", "a"], categories=["b", "a", "c"]), ["a", "b"]),
        (pd.to_datetime(["2001-02-03", None]), ["2001-02-03", "(missing)"]),
        ([np.inf, 1.0], ["1", "inf"]),
        ([None, None], ["(missing)"]),
        ([np.nan], ["(missing)"]),
    ],
)
def test_labels_of_all_types(values: object, labels: list[str]) -> None:
    """Broken: a type of column is refused, sorted as text although it holds numbers, or loses its gaps."""
    frame = pd.DataFrame({"q": values})
    leaves = leaves_of(frame, "q")
    assert leaves.labels.tolist() == labels
    assert (leaves.codes >= 0).all()
    assert leaves.positions is None or (np.isfinite(leaves.positions).all() and np.isfinite(leaves.width))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2**40), st.integers(0, 2**40)), min_size=1))
def test_classes_are_the_distinct_rows(rows: list[tuple[int, int, int]]) -> None:
    """Broken: two different rows share a class, also where the codes do not fit one 64-bit number."""
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    distinct = sorted(set(rows))
    assert class_index(columns).tolist() == [distinct.index(row) for row in rows]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1000)), min_size=1))
def test_pairs_are_counted(rows: list[tuple[int, int]]) -> None:
    """Broken: the sparse and the dense way of counting pairs differ."""
    groups, codes = (np.array(column) for column in zip(*rows, strict=True))
    found = list(zip(*(part.tolist() for part in counted_pairs(groups, codes)), strict=True))
    assert found == [(*pair, rows.count(pair)) for pair in sorted(set(rows))]


def test_two_tables_share_one_numbering() -> None:
    """Broken: equal values of two tables get different classes, or gaps do not meet gaps."""
    left = pd.DataFrame({"zip": [1, 2], "sex": ["f", None]})
    right = pd.DataFrame({"zip": ["2", "1", "3"], "sex": [None, "f", "f"]})
    ours, theirs = joint_classes(left, right, ["zip", "sex"])
    assert ours.tolist() == theirs[[1, 0]].tolist()
    assert theirs[2] not in ours


@given(st.lists(st.integers(0, 9) | st.integers(0, 2**61), min_size=1))
def test_rows_of_each_key_are_counted(keys: list[int]) -> None:
    """Broken: a person who is unique is not counted as one, or one who is not is."""
    assert class_sizes(np.array(keys, dtype=np.int64)).tolist() == [
        keys.count(key) for key in sorted(set(keys))
    ]
