"""Floating-point noise gives the count away, and the check accuses nobody falsely."""

from __future__ import annotations

import numpy as np

from dpcore.evaluation.attacks.float_noise import (
    add_textbook_noise,
    is_possible_release,
    share_ruled_out,
)


def test_most_releases_rule_the_neighbor_out() -> None:
    """The lesson would claim a leak that is not there; 80 % of the releases of 1 cannot
    be of 0.
    """
    share = share_ruled_out(
        count=1.0, neighbor=0.0, draws=4_000, rng=np.random.default_rng(1)
    )
    assert 0.6 < share < 0.95


def test_the_true_count_is_never_ruled_out() -> None:
    """The attack would accuse every count alike, and show nothing."""
    for count in (0.0, 1.0, 100.0):
        releases = add_textbook_noise(count, 1_000, np.random.default_rng(2))
        assert all(is_possible_release(float(each), count) for each in releases)
