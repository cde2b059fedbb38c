"""What selection refuses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpcore as dp
from dpcore.mechanisms._selection import select_high_score, thresholded_counts


def test_no_candidates() -> None:
    """A choice among nothing must be refused with a reason."""
    with pytest.raises(dp.ParameterError, match="candidate"):
        select_high_score(np.array([], dtype=np.int64), noise_scale=1.0, is_pure=True)


@pytest.mark.parametrize("pure", [True, False])
def test_a_clear_winner_wins(pure: bool) -> None:
    """With little noise the highest score is chosen: the sign of the scores is
    right.
    """
    assert (
        select_high_score(np.array([5, -3, 80, 7]), noise_scale=0.1, is_pure=pure) == 2
    )


def test_unknown_categories_need_a_delta() -> None:
    """Without delta no category that nobody declared may be named."""
    with pytest.raises(dp.ParameterError, match="delta"):
        thresholded_counts(
            {"a": 10}, max_rows=1, epsilon=Fraction(1), delta=Fraction(0)
        )


def test_no_threshold_is_high_enough() -> None:
    """An epsilon too small for any threshold is refused, not waited for."""
    with pytest.raises(dp.InfeasibleError):
        thresholded_counts(
            {"a": 10}, max_rows=1, epsilon=Fraction(1, 10**12), delta=Fraction(1, 10**9)
        )


def test_texts_with_odd_characters_stay_apart() -> None:
    """A text cut at a NUL would take the place of another, so that one row moves a
    count by thousands.
    """
    counts = {"a": 5_000, "a\0": 3_000, "a\0b": 4_000, "\ud800": 2_000, "é": 1_000}
    named = thresholded_counts(
        counts, max_rows=1, epsilon=Fraction(1), delta=Fraction(1, 10**6)
    )
    assert named.keys() == counts.keys()
    assert all(abs(named[text] - counts[text]) < 50 for text in counts)
