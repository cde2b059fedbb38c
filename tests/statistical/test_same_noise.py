"""What stands in for noise in other tests has its laws, and repeats itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpcore as dp
from dpcore.mechanisms import measurer
from tests.same_noise import SAME_NOISE
from tests.statistical import laws, test_max_norm, test_selection

CELLS = np.zeros(38_000, dtype=np.int64)


@pytest.fixture(autouse=True)
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SAME_NOISE, "is_drawn", True)


@pytest.mark.parametrize(
    ("draw", "law", "scale"),
    [
        (measurer.add_discrete_laplace, laws.discrete_laplace_pmf, 0.4),
        (measurer.add_discrete_laplace, laws.discrete_laplace_pmf, 7.3),
        (measurer.add_discrete_gaussian, laws.discrete_gaussian_pmf, 0.6),
        (measurer.add_discrete_gaussian, laws.discrete_gaussian_pmf, 5.0),
    ],
)
def test_cells_follow_the_law(draw, law, scale) -> None:
    """Pages and recipes would be tested on releases that nobody gets."""
    noise = draw(CELLS, noise_scale=scale)
    assert laws.chi_square_p(noise, law(scale)) > laws.FALSE_ALARM
    assert laws.chi_square_p(noise, law(scale * 1.1)) < laws.FALSE_ALARM


@pytest.mark.parametrize(
    ("is_pure", "law"),
    [
        (True, test_selection.permute_and_flip_law),
        (False, test_selection.exponential_law),
    ],
)
def test_choices_follow_the_law(is_pure, law) -> None:
    """Recipes would be tested on choices that nobody gets."""
    scores, scale = test_selection.SCORES, test_selection.SCALE
    chosen = [
        measurer.select_high_score(scores, noise_scale=scale, is_pure=is_pure)
        for _ in range(10_000)
    ]
    counts = np.bincount(chosen, minlength=len(scores))
    expected = law(scores, scale) * len(chosen)
    assert laws.chi_square_of_counts(counts, expected) > laws.FALSE_ALARM
    twin = law(scores, scale * 1.3) * len(chosen)
    assert laws.chi_square_of_counts(counts, twin) < laws.FALSE_ALARM


def test_sums_follow_the_law() -> None:
    """Recipes would be tested on sums that nobody gets."""
    sums = np.zeros((test_max_norm.DRAWS, 2), dtype=np.int64)
    noise = measurer.add_max_norm_noise(sums, scale=3)
    law = test_max_norm.full_law(2, 3.0, laws.REACH).sum(axis=1)
    twin = test_max_norm.full_law(2, 3.3, laws.REACH).sum(axis=1)
    assert laws.chi_square_p(noise[:, 0], law / law.sum()) > laws.FALSE_ALARM
    assert laws.chi_square_p(noise[:, 0], twin / twin.sum()) < laws.FALSE_ALARM


def test_categories_of_many_are_named_alone() -> None:
    """A rare one would be named in tests of pages, or a common one be missing."""
    common = measurer.thresholded_counts(
        {"common": 10_000, "rare": 3},
        max_rows=1,
        epsilon=Fraction(1),
        delta=Fraction(1, 10**6),
    )
    assert common == {"common": pytest.approx(10_000, abs=30)}


@pytest.mark.parametrize(
    "draw",
    [
        lambda: measurer.add_discrete_laplace(CELLS, noise_scale=2.0),
        lambda: measurer.add_discrete_gaussian(CELLS, noise_scale=2.0),
        lambda: measurer.add_max_norm_noise(CELLS[:20].reshape(2, 10), scale=9),
        lambda: np.random.default_rng().random(5),
        lambda: np.frombuffer(dp.MemoryLedger().key, dtype=np.uint8),
    ],
    ids=["laplace", "gaussian", "max norm", "unseeded", "key"],
)
def test_every_run_is_the_same(draw, request) -> None:
    """A test that failed once could not be run again; the second draw of one test is
    another.
    """
    path = request.path.relative_to(request.path.parents[1])
    runs = []
    for _ in range(2):
        SAME_NOISE.begin(path)
        SAME_NOISE.is_drawn = True
        runs.append((draw(), draw()))
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0][0], runs[0][1])
