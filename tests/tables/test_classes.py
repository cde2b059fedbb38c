from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.tables import classes
from dpcore.tables.classes import (
    class_index,
    class_sizes,
    count_pairs,
    joint_classes,
    joint_keys,
    leaves_of,
)


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
    """Broken: a type of column is refused, sorted as text although it holds numbers, or
    loses its gaps.
    """
    frame = pd.DataFrame({"q": values})
    leaves = leaves_of(frame, "q")
    assert leaves.labels.tolist() == labels
    assert (leaves.codes >= 0).all()
    assert leaves.positions is None or (
        np.isfinite(leaves.positions).all() and np.isfinite(leaves.width)
    )


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 2**40), st.integers(0, 2**40)),
        min_size=1,
    )
)
def test_classes_are_the_distinct_rows(rows: list[tuple[int, int, int]]) -> None:
    """Broken: two different rows share a class, also where the codes do not fit one
    64-bit number.
    """
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    distinct = sorted(set(rows))
    assert class_index(columns).tolist() == [distinct.index(row) for row in rows]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1000)), min_size=1))
def test_pairs_are_counted(rows: list[tuple[int, int]]) -> None:
    """Broken: the sparse and the dense way of counting pairs differ."""
    groups, codes = (np.array(column) for column in zip(*rows, strict=True))
    found = list(
        zip(*(part.tolist() for part in count_pairs(groups, codes)), strict=True)
    )
    assert found == [(*pair, rows.count(pair)) for pair in sorted(set(rows))]


def test_two_tables_share_one_numbering() -> None:
    """Broken: equal values of two tables get different classes, or gaps do not meet
    gaps.
    """
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


@pytest.mark.parametrize("seed", range(8))
def test_classes_of_many_rows_are_those_of_few(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many rows are sorted and counted in parts: one that is alone could be missed, or
    counted twice.
    """
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 400))
    columns = [
        rng.integers(0, int(width), rows).astype(np.int16)
        for width in rng.integers(1, 9, 3)
    ]
    whole = pd.DataFrame(dict(enumerate(columns)))
    sizes = whole.groupby([*whole]).size()
    keys, bound = joint_keys(columns)
    expected = (
        (sizes == 1).sum() / rows,
        class_index(columns).tolist(),
        np.argsort(keys, kind="stable").tolist(),
    )
    for most in (rows, 0):
        monkeypatch.setattr(classes, "MAX_ROWS_IN_ONE_PASS", most)
        monkeypatch.setattr(classes, "_ROWS_PER_BATCH", 7 if most == 0 else 2**20)
        order = classes.sorting_order(keys, bound)
        made = np.arange(rows)[order].tolist()
        assert (
            classes.unique_row_share(columns),
            class_index(columns).tolist(),
            made,
        ) == expected
        if most == 0:
            monkeypatch.setattr(classes, "_ROWS_PER_BATCH", 70)
        pairs = count_pairs(columns[0].astype(np.int64), columns[1])
        told = dict(
            zip(
                zip(*(each.tolist() for each in pairs[:2]), strict=True),
                pairs[2].tolist(),
                strict=True,
            ),
        )
        assert told == whole.groupby([0, 1]).size().to_dict()
    assert expected[1] == whole.groupby([*whole]).ngroup().tolist()


@pytest.mark.parametrize("seed", range(4))
def test_what_is_counted_in_batches_is_what_is_counted_at_once(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pair, a code or the last row of a class at the edge of a batch would be lost."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 4, 300)
    codes = rng.integers(0, 5, 300).astype(np.uint8)
    whole = [part.tolist() for part in count_pairs(groups, codes)]
    monkeypatch.setattr(classes, "_ROWS_PER_BATCH", 7)
    assert classes.has_few_cells(20, 300)
    assert [part.tolist() for part in count_pairs(groups, codes)] == whole
    assert classes.count_codes(codes).tolist() == np.bincount(codes).tolist()
    last = [np.flatnonzero(groups == group)[-1] for group in range(4)]
    assert classes.last_rows(groups).tolist() == last
