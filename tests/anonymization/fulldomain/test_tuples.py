"""Distinct tuples, classes and their generalization, against pandas."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dpcore.anonymization.fulldomain import counter as counter_module
from dpcore.anonymization.fulldomain import tuples
from dpcore.anonymization.fulldomain._grouper import Grouper
from dpcore.anonymization.fulldomain.counter import Counter
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.models import KAnonymity
from dpcore.errors import HierarchyError, SchemaError
from tests.anonymization.oracle import SECRET, SECRET_HIERARCHY, Case, cases, classes_at
from tests.tiers import examples

often = examples(60, suppress_health_check=list(HealthCheck))
GROUPS = Hierarchy(
    values=tuple("abcd"), levels=(tuple("abcd"), ("x", "x", "y", "y"), ("*",) * 4)
)


def tuples_of(case: Case) -> Tuples:
    """The tuples of a case, with its sensitive column and subset."""
    subset = None if case.subset is None else np.array(case.subset)
    return Tuples.build(
        case.frame,
        case.hierarchies,
        sensitive={SECRET: SECRET_HIERARCHY},
        subset=subset,
    )


@often
@given(case=cases(with_subset=True))
def test_classes_of_every_node(case: Case) -> None:
    """Else sizes, published rows or histograms of some node are wrong, on either way to
    it.
    """
    table = tuples_of(case)
    grouper = Grouper(table)
    walked = {classes.node: classes for classes in grouper.walk()}
    assert len(walked) == table.lattice.size
    for node in itertools.product(*map(range, table.lattice.shape)):
        expected = sorted(
            (len(rows), sum(case.subset[row] for row in rows))
            for rows in classes_at(case, node).values()
        )
        for classes in (walked[node], grouper.group_node(node)):
            assert (
                sorted(zip(classes.population, classes.sizes, strict=True)) == expected
            )
            assert (classes.histogram(SECRET).total == classes.sizes).all()


@often
@given(case=cases())
def test_generalizing_further_never_shrinks_the_smallest_class(case: Case) -> None:
    """Else k-anonymity would not be monotone, and pruning by it would be wrong."""
    table = tuples_of(case)
    smallest = {classes.node: classes.sizes.min() for classes in Grouper(table).walk()}
    for node, size in smallest.items():
        for column in range(len(node)):
            if node[column] < table.lattice.top[column]:
                above = (*node[:column], node[column] + 1, *node[column + 1 :])
                assert smallest[above] >= size


@often
@given(data=st.data(), with_subset=st.booleans(), with_people=st.booleans())
def test_counted_classes_are_the_sorted_ones(
    data: st.DataObject,
    with_subset: bool,
    with_people: bool,
) -> None:
    """Else the search sees other classes than the rows are in, once its floor has
    risen.
    """
    table = data.draw(cases(with_subset=with_subset, with_people=with_people)).tuples()
    counter = Counter(table)
    grouper = Grouper(table)
    floor = (0,) * len(table.names)
    for _ in range(3):
        nodes = itertools.product(
            *(
                range(low, top + 1)
                for low, top in zip(floor, table.lattice.top, strict=True)
            ),
        )
        for node in nodes:
            counted = counter.count_classes(node)
            found = grouper.group_node(node)
            for figures in ("people", "sizes", "population", "entry_classes"):
                assert (
                    getattr(counted, figures).tolist()
                    == getattr(found, figures).tolist()
                )
            near = counted.histogram(SECRET)
            own = found.histogram(SECRET)
            for figures in ("group", "value", "count"):
                assert getattr(near, figures).tolist() == getattr(own, figures).tolist()
            everything = np.ones(len(found.sizes), dtype=bool)
            for column in range(len(node)):
                labels = table.digits(found.class_keys, column)
                assert counted.labels(column, everything).tolist() == labels.tolist()
        column = data.draw(st.integers(0, len(floor) - 1))
        floor = (
            *floor[:column],
            min(floor[column] + 1, table.lattice.top[column]),
            *floor[column + 1 :],
        )
        counter.raise_floor(floor)


def test_wide_keys_are_grouped_without_packing() -> None:
    """Else keys that leave no room for counts lose their highest bits."""
    leaves = tuple(f"v{i}" for i in range(1024))
    wide = Hierarchy(values=leaves, levels=(leaves, ("*",) * 1024))
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({f"q{j}": rng.choice(leaves[-3:], 400) for j in range(6)})
    table = Tuples.build(frame, dict.fromkeys(frame, wide))
    sizes = Grouper(table).group_node((0, 0, 1, 1, 1, 1)).sizes
    assert sorted(sizes) == sorted(frame.groupby(["q0", "q1"]).size())


def test_forgetting_groupings_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a large table, whose groupings do not all fit into memory, gives other
    classes.
    """
    table = Tuples.build(
        pd.DataFrame({"q": list("abcdab"), "r": list("aabbcc")}),
        {"q": GROUPS, "r": GROUPS},
    )
    nodes = list(itertools.product(range(3), repeat=2))
    remembered = [Grouper(table).group_node(node).sizes.tolist() for node in nodes]
    monkeypatch.setattr(counter_module, "MAX_CACHED_LABELS", 3)
    forgetful = Counter(table)
    assert [
        forgetful.count_classes(node).sizes.tolist() for node in nodes
    ] == remembered


def test_rows_suppressed_before_stay_out_of_every_class() -> None:
    """Else the stars of an earlier run count as a class of their own, and k looks
    better than it is.
    """
    frame = pd.DataFrame(
        {"q": ["a", "a", "*", "*", "*"], "r": ["b", "b", "*", "*", "c"]}
    )
    table = Tuples.build(frame, {"q": GROUPS, "r": GROUPS})
    assert table.rows == 3
    assert sorted(Grouper(table).group_node((0, 0)).sizes) == [1, 2]


def test_missing_cells_form_a_class_of_their_own() -> None:
    """Else people with a gap are counted among those with a value."""
    table = Tuples.build(pd.DataFrame({"q": ["a", None, None, "b"]}), {"q": GROUPS})
    assert sorted(Grouper(table).group_node((0,)).sizes) == [1, 1, 2]
    assert sorted(Grouper(table).group_node((1,)).sizes) == [2, 2]


def test_constant_column_and_single_row() -> None:
    """Else a division by a domain of one value, or a class of one row, fails."""
    one = Hierarchy(values=("a",), levels=(("a",),))
    table = Tuples.build(pd.DataFrame({"q": ["a"]}), {"q": one})
    assert Grouper(table).group_node((0,)).sizes.tolist() == [1]
    assert KAnonymity(k=2).violations(Grouper(table).group_node((0,))).tolist() == [
        True
    ]


def test_a_value_without_a_path_is_named_by_its_column() -> None:
    """Else the first error comes from deep inside, and may show a cell."""
    with pytest.raises(HierarchyError, match="hierarchy of r") as caught:
        Tuples.build(pd.DataFrame({"r": ["a", "hidden"]}), {"r": GROUPS})
    assert "hidden" not in str(caught.value)


def test_tables_without_rows_to_publish_are_refused() -> None:
    """Else everything after divides by nothing."""
    with pytest.raises(SchemaError, match="every row is suppressed"):
        Tuples.build(pd.DataFrame({"q": []}), {"q": GROUPS})
    with pytest.raises(SchemaError, match="every row is suppressed"):
        Tuples.build(pd.DataFrame({"q": ["*", "*"]}), {"q": GROUPS})
    with pytest.raises(SchemaError, match="every row is suppressed"):
        Tuples.build(
            pd.DataFrame({"q": ["a", "b"]}),
            {"q": GROUPS},
            subset=np.array([False, False]),
        )


def test_many_values_together_are_told_apart() -> None:
    """Else keys overflow and unequal rows fall into one class."""
    leaves = tuple(f"v{i}" for i in range(30_000))
    wide = Hierarchy(values=leaves, levels=(leaves, ("*",) * 30_000))
    frame = pd.DataFrame({f"q{j}": leaves for j in range(5)})
    table = Tuples.build(frame, dict.fromkeys(frame, wide))
    assert (
        len(table.keys)
        == len(Grouper(table).group_node((0, 0, 1, 1, 0)).keys)
        == 30_000
    )


def test_key_bits_hold_every_leaf() -> None:
    """Else the last leaf of a column whose size is a power of two overlaps its
    neighbor.
    """
    frame = pd.DataFrame(
        [list(pair) for pair in itertools.product("abcd", repeat=2)], columns=["q", "r"]
    )
    table = Tuples.build(frame, {"q": GROUPS, "r": GROUPS})
    assert len(table.keys) == 16


@pytest.mark.parametrize("word", [63, 6])
@often
@given(data=st.data())
def test_keys_of_several_words_tell_the_same_classes_apart(
    word: int, data: st.DataObject
) -> None:
    """Else a table of many columns is refused, or two tuples of it become one."""
    case = data.draw(cases(with_subset=True, with_people=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuples, "KEY_BITS", word)
        table = case.tuples()
        leaves = table.find_leaves(case.frame)
        for node in itertools.product(*map(range, table.lattice.shape)):
            classes = Grouper(table).group_node(node)
            keys = (
                table.generalize(table.row_keys(leaves)[0], (0,) * len(node), node)
                >> table.tail_bits
            )
            own = np.searchsorted(classes.class_keys >> table.tail_bits, keys)
            sizes = np.zeros(len(keys), dtype=int)
            people = np.zeros(len(keys), dtype=int)
            for rows in classes_at(case, node).values():
                sizes[rows] = sum(case.flags[row] for row in rows)
                people[rows] = len(case.whose([row for row in rows if case.flags[row]]))
            assert classes.sizes[own].tolist() == sizes.tolist()
            assert classes.people[own].tolist() == people.tolist()
            counted = Counter(table).count_classes(node)
            own_keys = classes.class_keys >> table.tail_bits
            assert (counted.class_keys >> table.tail_bits).tolist() == own_keys.tolist()
            assert counted.people.tolist() == classes.people.tolist()
