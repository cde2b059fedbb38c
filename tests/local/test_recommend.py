"""Which protocol is recommended, and with which numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpcore.local as dl
from dpcore.errors import LimitError, ParameterError
from tests.statistical import laws


@pytest.mark.parametrize("categories", [2, 3, 16, 200])
@pytest.mark.parametrize("epsilon", [0.1, 1, 3, 6])
def test_the_best_has_the_least_variance(categories: int, epsilon: float) -> None:
    """Whoever follows the recommendation must not find a better protocol by trying them
    all.
    """
    options = dl.recommend_protocols(categories, epsilon, 5_000)
    assert {option.protocol.kind for option in options} == set(dl.Protocol.kinds())
    errors = [option.standard_error for option in options]
    assert errors[0] <= min(errors) * (1 + 1e-9)
    assert options[0].times_best == pytest.approx(1)
    assert errors == pytest.approx(sorted(errors))
    for option in options:
        assert option.standard_error == pytest.approx(
            math.sqrt(option.protocol.mean_variance(5_000))
        )
        assert option.times_best == pytest.approx(option.standard_error / min(errors))


def test_simple_where_it_is_as_good() -> None:
    """With two answers a coin is best; subsets of one are the same, and come after
    it.
    """
    assert dl.recommend_protocols(2, 1, 100)[0].protocol.kind == "randomized response"
    assert dl.recommend_protocols(4, 3, 100)[0].protocol.kind == "randomized response"
    assert dl.recommend_protocols(50, 1, 100)[0].protocol.kind == "subset selection"


@pytest.mark.parametrize("epsilon", [0.5, 1, 2])
def test_the_known_border(epsilon: float) -> None:
    """Wang et al. (2017): k-ary response beats optimized unary where k < 3 e^eps +
    2.
    """
    border = 3 * math.exp(epsilon) + 2
    for categories in (2, math.floor(border), math.ceil(border) + 1, 60):
        kary = dl.RandomizedResponse(categories=categories, epsilon=epsilon).variance(
            0, 1
        )
        unary = dl.OptimizedUnary(categories=categories, epsilon=epsilon).variance(0, 1)
        assert (kary < unary) == (categories < border)


def test_the_largest_error_is_that_of_no_answer_or_of_all() -> None:
    """Of 50 answers the page said +- 0.77 % where an answer of half of the people was
    off by 2.57 %.
    """
    people = 1_000
    for option in dl.recommend_protocols(50, 5, people):
        shares = np.linspace(0, 1, 21)
        errors = [
            math.sqrt(option.protocol.variance(share, people)) for share in shares
        ]
        assert option.largest_error == pytest.approx(max(errors))
    kary = dl.RandomizedResponse(categories=50, epsilon=5)
    codes = np.repeat([0, 1], people // 2)
    runs = 400
    off = np.array(
        [
            kary.estimate(kary.perturb(codes)).frequencies[0] - 0.5
            for _run in range(runs)
        ]
    )
    largest = 1.96 * math.sqrt(kary.largest_variance(people))
    average = 1.96 * math.sqrt(kary.mean_variance(people))
    assert laws.at_least(int((np.abs(off) <= largest).sum()), runs, 0.95)
    # the twin
    assert not laws.at_least(int((np.abs(off) <= average).sum()), runs, 0.95)


def test_stated_error_is_met() -> None:
    """The error that a designer is shown must be the error that the survey then has."""
    codes = np.repeat(np.arange(6), [500, 300, 100, 60, 40, 0])
    truth = np.bincount(codes, minlength=6) / codes.size
    for option in dl.recommend_protocols(6, 1, codes.size):
        squares = [
            np.square(
                option.protocol.estimate(option.protocol.perturb(codes)).frequencies
                - truth
            ).mean()
            for _ in range(400)
        ]
        assert np.sqrt(np.mean(squares)) == pytest.approx(
            option.standard_error, rel=0.15
        )


def test_refusals() -> None:
    """Impossible questions are refused in sentences."""
    for bad in ((1, 1, 10), (3, 0, 10), (3, -1, 10), (3, 1, 0)):
        with pytest.raises((LimitError, ParameterError)):
            dl.recommend_protocols(*bad)
    with pytest.raises(LimitError):
        dl.recommend_protocols(10**6, 1, 10)
