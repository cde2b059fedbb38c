"""An attack on the measurer's private choices, on neighboring tables: it proves no more
than epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.engines.frame import FrameEngine
from dpcore.engines.remembered import CountCache
from dpcore.mechanisms import measurer
from dpcore.mechanisms.measurer import Measurer
from tests.statistical import laws

EPSILON = 1.0
WITH_HER = pd.DataFrame({"a": ["x", "x", "y"], "b": ["x", "y", "y"]})
WITHOUT = WITH_HER.iloc[1:]
SCHEMA = dp.Schema(
    columns=tuple(dp.Categorical(name, categories=("x", "y")) for name in ("a", "b")),
    unit=dp.PrivacyUnit(max_rows=1),
)
# One more row raises the distance of `a` by one and lowers that of `b` by one: the
# worst case.
ESTIMATES = {("a",): np.array([0.0, 1.0]), ("b",): np.array([2.0, 2.0])}


COUNTS = {
    id(frame): CountCache(FrameEngine(frame, SCHEMA, key=b"k" * 32).counts)
    for frame in (WITH_HER, WITHOUT)
}


def fresh(frame: pd.DataFrame, loss: dp.PureDP | dp.ZCDP) -> Measurer:
    return Measurer(COUNTS[id(frame)], domain=SCHEMA.domain, loss=loss, max_rows=1)


def share(events: np.ndarray, other: np.ndarray) -> float:
    """The loss that these two frequencies prove: at one in a million over 20 such
    pairs.
    """
    low, _ = laws.clopper_pearson(int(events.sum()), len(events), laws.FALSE_ALARM / 40)
    _, high = laws.clopper_pearson(int(other.sum()), len(other), laws.FALSE_ALARM / 40)
    return math.log(low / high) if low > 0 else 0.0


def proved(draw: Callable[[pd.DataFrame], int], repeats: int = 2_000) -> float:
    """The largest loss that any of the events proves, in both directions."""
    with_her, without = (
        np.array([draw(frame) for _ in range(repeats)]) for frame in (WITH_HER, WITHOUT)
    )
    best = 0.0
    for event in np.unique(with_her):
        for a, b in ((with_her, without), (without, with_her)):
            best = max(
                best, share(a == event, b == event), share(a >= event, b >= event)
            )
    return best


def chosen(frame: pd.DataFrame) -> int:
    loss = dp.PureDP(epsilon=1)
    return int(fresh(frame, loss).select_clique(ESTIMATES, loss) == ("a",))


def gap(frame: pd.DataFrame) -> int:
    loss = dp.PureDP(epsilon=1)
    gaps = fresh(frame, loss).measure_gaps(ESTIMATES, loss)
    return int(np.clip(round(gaps["a",] - gaps["b",]), -2, 2))


@pytest.mark.parametrize(("draw", "repeats"), [(chosen, 2_000), (gap, 4_000)])
@pytest.mark.proof
def test_no_attack_on_a_choice_proves_more_than_epsilon(
    draw: Callable[[pd.DataFrame], int],
    repeats: int,
) -> None:
    """More than epsilon in a proof would mean a wrong sensitivity or scale of the
    scores.

    So many draws prove 0.57 and 0.39 of a loss of 1: 12 and 7 deviations above 0.2.
    """
    loss = proved(draw, repeats)
    assert loss <= EPSILON
    assert loss > 0.2  # the attack is not blind


@pytest.mark.proof
def test_a_choice_with_a_quarter_of_the_noise_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The audit must catch a choice whose noise is far too small: 2,000 draws prove
    2.2.
    """
    right = measurer.select_high_score

    def quartered(scores: np.ndarray, *, noise_scale: float, is_pure: bool) -> int:
        return right(scores, noise_scale=noise_scale / 4, is_pure=is_pure)

    monkeypatch.setattr(measurer, "select_high_score", quartered)
    assert proved(chosen) > EPSILON


@pytest.mark.proof
def test_distances_with_noise_for_one_query_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The audit must catch two distances that share the noise scale of one: 2,000 draws
    prove 2.
    """
    right = measurer.noise_scale

    def forgetful(*, max_rows: int, queries: int, loss: dp.PureDP) -> float:
        return right(max_rows=max_rows, queries=1, loss=loss) / queries

    monkeypatch.setattr(measurer, "noise_scale", forgetful)
    assert proved(gap) > EPSILON
