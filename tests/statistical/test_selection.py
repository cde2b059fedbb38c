"""Private choices against their exact laws, and categories that must not be named."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from dpcore.mechanisms._selection import select_high_score, thresholded_counts
from tests.statistical import laws

SCORES = np.array([0, 3, 5, 5, 9], dtype=np.int64)
SCALE = 4.0
DRAWS = 50_000


def exponential_law(scores: np.ndarray, scale: float) -> np.ndarray:
    """P(i) ~ exp(score / scale)."""
    weights = np.exp((scores - scores.max()) / scale)
    return weights / weights.sum()


def permute_and_flip_law(scores: np.ndarray, scale: float) -> np.ndarray:
    """McKenna, Sheldon (2020), algorithm 1: the first of a random order whose coin
    falls on heads.
    """
    heads = np.exp((scores - scores.max()) / scale)
    law = np.zeros(len(scores))
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        still = 1.0
        for i in order:
            law[i] += still * heads[i] / len(orders)
            still *= 1 - heads[i]
    return law


@pytest.mark.parametrize(
    ("pure", "law"), [(True, permute_and_flip_law), (False, exponential_law)]
)
def test_noisy_max_law(
    pure: bool, law: Callable[[np.ndarray, float], np.ndarray]
) -> None:
    """A choice by another law would cost another loss than the ledger says."""
    counts = np.bincount(
        [
            select_high_score(SCORES, noise_scale=SCALE, is_pure=pure)
            for _ in range(DRAWS // 5)
        ],
        minlength=len(SCORES),
    )
    expected = law(SCORES, SCALE) * counts.sum()
    assert laws.chi_square_of_counts(counts, expected) > laws.FALSE_ALARM
    twin = law(SCORES, SCALE * 1.3) * counts.sum()
    assert laws.chi_square_of_counts(counts, twin) < laws.FALSE_ALARM


@pytest.mark.parametrize("delta", [Fraction(1, 50), Fraction(1, 10)])
def test_rare_categories_are_named_as_rarely_as_delta_says(delta: Fraction) -> None:
    """A category of one person must be named with chance delta at most."""
    people = {f"only person {i}": 1 for i in range(DRAWS)}
    named = thresholded_counts(people, max_rows=1, epsilon=Fraction(1), delta=delta)
    assert laws.clopper_pearson(len(named), DRAWS, laws.FALSE_ALARM)[0] <= delta
    # twin: a threshold one lower, which is what OpenDP 0.16 says is enough
    lower = math.floor(1 + math.log(1 / (delta * (1 + math.exp(-1)))))
    lax = laws.fast_laplace((DRAWS,), 1.0, np.random.default_rng(1)) + 1 >= lower
    assert laws.clopper_pearson(int(lax.sum()), DRAWS, laws.FALSE_ALARM)[0] > delta


def test_named_categories_carry_laplace_noise() -> None:
    """Counts of common categories must carry the noise that epsilon asks for, and stay
    in their order.
    """
    common = {f"c{i}": 10_000 for i in range(5_000)}
    found = thresholded_counts(
        common, max_rows=2, epsilon=Fraction(1, 2), delta=Fraction(1, 10**6)
    )
    assert found.keys() == common.keys()
    noise = np.array(list(found.values())) - 10_000
    assert laws.chi_square_p(noise, laws.discrete_laplace_pmf(4.0)) > laws.FALSE_ALARM
    # twin: one row
    assert laws.chi_square_p(noise, laws.discrete_laplace_pmf(2.0)) < laws.FALSE_ALARM
