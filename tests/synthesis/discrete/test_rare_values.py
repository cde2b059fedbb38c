"""Rare values: merged, counted anew and spread again."""

from __future__ import annotations

import json

import numpy as np

from dpcore.schema import Domain
from dpcore.synthesis.discrete._rare_values import Grouping, cell_shares, merge_rare

COUNTS = np.array([500.0, 3.0, -4.0, 400.0, 1.0, 9.0, 2.0, 300.0])


def test_rare_values_form_one_group() -> None:
    """Values below two deviations of noise must not cost cells of their own."""
    np.testing.assert_array_equal(merge_rare(COUNTS, 5.0), [0, 1, 1, 2, 1, 1, 1, 3])


def test_common_values_stay_alone_in_loud_noise() -> None:
    """In 2,000 rows half of the table would be merged where noise is loud, and come out
    as first counted.
    """
    few = np.array([700.0, 300.0, 150.0, -80.0, 90.0, -20.0, 50.0])
    np.testing.assert_array_equal(merge_rare(few, 180.0), [0, 1, 2, 3, 4, 3, 3])
    np.testing.assert_array_equal(
        merge_rare(few, 180.0, ordered=True), [0, 1, 2, 3, 4, 5, 5]
    )
    many = np.append(few, 100_000.0)  # the same values in a large table are rare
    np.testing.assert_array_equal(merge_rare(many, 180.0), [0, 1, 1, 1, 1, 1, 1, 2])
    # in a column of many cells noise alone lifts some so high
    large = np.append(few, np.zeros(14))
    assert merge_rare(large, 180.0).max() == 1


def test_ordered_runs_are_neighbors_only() -> None:
    """Merging the youngest with the oldest would tear an ordered column apart."""
    groups = merge_rare(COUNTS, 5.0, ordered=True)
    assert all(
        np.ptp(np.flatnonzero(groups == group)) == np.sum(groups == group) - 1
        for group in groups
    )
    assert groups[1] == groups[2] != groups[4]


def test_runs_of_a_wide_column_hold_about_equal_rows() -> None:
    """A pair of two wide numbers would have so many cells that it drowns, and is never
    measured.
    """
    rows = np.random.default_rng(1).uniform(50, 150, 90)
    rows[30] = 5000.0  # a spike stays alone
    groups = merge_rare(rows, 1.0, ordered=True, min_run_rows=600.0)
    held = np.bincount(groups, weights=rows)
    assert np.sum(groups == groups[30]) == 1
    assert np.sum(held < 600) <= 2  # before the spike, and at the end
    assert np.sort(held)[-2] < 750
    assert (np.diff(groups) >= 0).all()
    # the twin: no rows are wanted
    assert merge_rare(rows, 1.0, ordered=True).max() == 89
    # cells without an order are nobody's neighbors
    assert merge_rare(rows, 1.0, min_run_rows=600.0).max() == 89


def test_values_of_two_kinds_are_never_merged() -> None:
    """A constraint must be able to tell all members of a group alike."""
    kinds = np.array([0, 0, 1, 0, 1, 0, 1, 0])
    for ordered in (False, True):
        groups = merge_rare(COUNTS, 1e6, kinds=kinds, ordered=ordered, min_run_rows=1e9)
        for group in np.unique(groups):
            assert len(set(kinds[groups == group])) == 1


def test_shares_follow_the_noisy_counts_and_add_up() -> None:
    """Rows of a merged group belong where the paid-for counts saw them, and none may be
    lost.
    """
    groups = np.array([0, 0, 0, 1])
    shares = cell_shares(np.array([30.0, 10.0, -5.0, 7.0]), groups)
    np.testing.assert_allclose(np.bincount(groups, weights=shares), 1.0)
    assert shares[0] > shares[1] > shares[2] == 0
    assert shares[3] == 1


def test_merge_and_split_keep_the_total() -> None:
    """A table spread over cells and summed again must be the same table."""
    domain = Domain(names=("a", "b"), sizes=(4, 3))
    grouping = Grouping(
        domain=domain,
        groups={"a": np.array([0, 1, 1, 0]), "b": np.array([0, 1, 2])},
        shares={"a": np.array([0.2, 0.5, 0.5, 0.8]), "b": np.ones(3)},
    )
    coarse = np.arange(6.0).reshape(2, 3)
    fine = grouping.split(("a", "b"), coarse)
    np.testing.assert_allclose(
        np.stack([fine[[0, 3]].sum(0), fine[[1, 2]].sum(0)]), coarse
    )
    again = Grouping.from_dict(json.loads(json.dumps(grouping.to_dict())))
    np.testing.assert_allclose(again.split(("b", "a"), coarse.T), fine.T)


def test_drawn_cells_follow_the_shares() -> None:
    """Rows of a group must be spread by its shares, and never into another group."""
    domain = Domain(names=("a",), sizes=(5,))
    groups = np.array([0, 1, 1, 0, 2])
    shares = np.array([0.25, 1.0, 0.0, 0.75, 1.0])
    grouping = Grouping(domain=domain, groups={"a": groups}, shares={"a": shares})
    codes = np.repeat([0, 1, 2], [4000, 1000, 10])
    cells = grouping.split_codes({"a": codes}, np.random.default_rng(1))[0]["a"]
    np.testing.assert_array_equal(groups[cells], codes)
    np.testing.assert_allclose(
        np.bincount(cells, minlength=5), [1000, 1000, 0, 3000, 10], atol=1
    )


def test_places_in_a_group_go_on_inside_its_cells() -> None:
    """Values would lie in their cells in another order than that of their scores."""
    domain = Domain(names=("a",), sizes=(4,))
    grouping = Grouping(
        domain=domain,
        groups={"a": np.array([0, 1, 1, 1])},
        shares={"a": np.array([1.0, 0.25, 0.0, 0.75])},
    )
    places = np.array([0.9, 0.0, 0.2, 0.25, 0.55, 0.999999])
    cells, ranks = grouping.split_codes(
        {"a": np.array([0, 1, 1, 1, 1, 1])},
        np.random.default_rng(1),
        {"a": places},
    )
    assert cells["a"].tolist() == [0, 1, 1, 3, 3, 3]
    np.testing.assert_allclose(ranks["a"], [0.9, 0, 0.8, 0, 0.4, 1], atol=1e-5)
    assert ranks["a"].max() < 1
    assert (
        grouping.split_codes({"a": np.zeros(3, int)}, np.random.default_rng(1))[1] == {}
    )
