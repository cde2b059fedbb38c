"""The rows D1 to D11 of the acceptance table: local differential privacy as the source
documents it.

Formulas in the tests are those of the rows; the figures beside them are the rows' own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import dpcore.local as dl
from dpcore.errors import ParameterError
from dpcore.local._bits import CHANCE_DENOMINATOR
from dpcore.local._unary import UnaryEncoding
from tests.statistical import laws

ROW_D6 = {2: (0.731, 0.269), 5: (0.405, 0.149), 10: (0.232, 0.085)}


@pytest.mark.parametrize(
    ("epsilon", "categories", "chance"),
    [("1e-9", 2, 0.5), (math.log(3), 2, 0.75), (1, 5, 0.40461), (1, 10, 0.23197)],
)
def test_d1_chance_of_the_truth(epsilon: float, categories: int, chance: float) -> None:
    """D1: e^eps / (e^eps + n - 1); at epsilon 0 itself there is nothing to report."""
    assert float(
        dl.RandomizedResponse(categories=categories, epsilon=epsilon).p
    ) == pytest.approx(
        chance,
        abs=5e-6,
    )
    with pytest.raises(ParameterError):
        dl.RandomizedResponse(categories=categories, epsilon=0)


def test_d1_grows_and_inverts() -> None:
    """D1: monotone in epsilon, and ln(p / (1 - p)) is the way back for two answers."""
    chances = [
        float(dl.RandomizedResponse(categories=2, epsilon=eps / 10).p)
        for eps in range(1, 200)
    ]
    assert chances == sorted(chances)
    for eps, p in enumerate(chances[:100], start=1):
        assert math.log(p / (1 - p)) == pytest.approx(eps / 10)
        coin = dl.RandomizedResponse(categories=2, epsilon=f"{eps / 10}")
        assert coin.real_epsilon == pytest.approx(eps / 10)


@pytest.mark.parametrize(("value", "low", "high"), [(0.8, 0, 1), (2, -5, 5)])
def test_d2_discretization(value: float, low: float, high: float) -> None:
    """D2: rounding at random to the ends keeps the mean; a value outside, or equal
    ends, is an error.
    """
    ends = dl.discretize(np.full(200_000, value), low=low, high=high)
    assert laws.share_fits(int(ends.sum()), ends.size, (value - low) / (high - low))
    assert dl.discretize([low, high], low=low, high=high).tolist() == [False, True]
    for bad in (
        (high + 1, low, high),
        (value, high, high),
        (float("nan"), low, high),
        (value, high, low),
    ):
        with pytest.raises(ParameterError):
            dl.discretize(bad[0], low=bad[1], high=bad[2])


def warner(p: float) -> dl.Protocol:
    """Warner's coin, which keeps the truth with this chance."""
    return dl.RandomizedResponse(categories=2, epsilon=f"{math.log(p / (1 - p)):.15f}")


def test_d3_yes_or_no() -> None:
    """D3: 200,000 ones at p = 0.75 have a mean of 0.75 +- 0.004; q turns zeros into
    ones.
    """
    coin = warner(0.75)
    assert float(coin.p) == pytest.approx(0.75)
    # 4.9 deviations
    assert abs(coin.perturb(np.ones(200_000, dtype=int)).mean() - 0.75) < 0.00475
    assert coin.q == 1 - coin.p
    zeros = coin.perturb(np.zeros(200_000, dtype=int))
    assert laws.share_fits(int(zeros.sum()), 200_000, 0.25)
    assert coin.perturb(np.int64(1)).shape == (1,)


def test_d4_adjusted_count() -> None:
    """D4: (s + pN - N) / (2p - 1); N 10,000, x 3,000, p 0.75: mean 3,000, sd 86.6 over
    2,000 repetitions.
    """
    coin = warner(0.75)
    people = 10_000
    yes = 3_000
    reports = coin.perturb(np.tile(np.arange(people) < yes, 2_000))
    estimates = [
        people * coin.estimate(reports[start : start + people]).frequencies[1]
        for start in range(0, len(reports), people)
    ]
    assert laws.mean_fits(np.array(estimates), yes, 86.6**2)
    assert 79 < np.std(estimates) < 94  # 86.6 +- 4.9 deviations of it
    assert people * math.sqrt(coin.variance(yes / people, people)) == pytest.approx(
        86.6, abs=0.05
    )


def test_d4_half_says_nothing() -> None:
    """D4: at p = 1/2 the source divided by zero."""
    half = Fraction(1, 2)
    with pytest.raises(ParameterError, match="differ"):
        dl.Estimate(support=np.array([1, 1]), people=2, p=half, q=half)


@pytest.mark.parametrize("yes", [0, 1, 2_500, 6_000, 10_000])
def test_d5_maximum_likelihood_is_the_same(yes: int) -> None:
    """D5: (p - 1) / (2p - 1) n + n1 / (2p - 1) is the estimate of D4, to 1e-9."""
    p = 0.75
    people = 10_000
    ours = (
        people
        * warner(p).estimate((np.arange(people) < yes).astype(int)).frequencies[1]
    )
    assert ours == pytest.approx(
        (p - 1) / (2 * p - 1) * people + yes / (2 * p - 1), abs=1e-9 * people
    )
    assert ours == pytest.approx(
        (yes + p * people - people) / (2 * p - 1), abs=1e-9 * people
    )


@pytest.mark.parametrize("categories", ROW_D6)
def test_d6_k_ary_response(categories: int) -> None:
    """D6: the chances of the row at epsilon 1, likelihood ratio e^eps, the caller's
    list unchanged.
    """
    truth, other = ROW_D6[categories]
    protocol = dl.RandomizedResponse(categories=categories, epsilon=1)
    assert float(protocol.p) == pytest.approx(truth, abs=5e-4)
    assert float(protocol.q) == pytest.approx(other, abs=5e-4)
    assert float(protocol.p / protocol.q) == pytest.approx(math.e)
    question = dl.Question(
        text="",
        categories=map(str, range(categories)),
        protocol="randomized response",
        epsilon=1,
    )
    asked = list(question.categories)
    codes = list(range(categories))
    for _ in range(1_000):
        protocol.perturb(codes)
    question.encode(asked)
    assert asked == [str(code) for code in range(categories)]
    assert codes == list(range(categories))


def test_d7_symmetric_unary() -> None:
    """D7: p = e^(eps/2) / (e^(eps/2) + 1), q = 1 - p: 0.6225, 0.3775, variance 3.918 at
    epsilon 1.
    """
    protocol = dl.SymmetricUnary(categories=4, epsilon=1)
    assert float(protocol.p) == pytest.approx(0.6225, abs=5e-5)
    assert protocol.p + protocol.q == 1
    assert protocol.variance(0, 1) == pytest.approx(3.918, abs=5e-4)


def test_d8_optimized_unary() -> None:
    """D8: p = 1/2, q = 1 / (e^eps + 1): 0.2689, variance 3.683 at epsilon 1, below SUE
    for every epsilon.
    """
    protocol = dl.OptimizedUnary(categories=4, epsilon=1)
    assert protocol.p == 0.5
    assert float(protocol.q) == pytest.approx(0.2689, abs=5e-5)
    assert protocol.variance(0, 1) == pytest.approx(3.683, abs=1e-3)
    for tenths in range(1, 80):
        both = [
            kind(categories=4, epsilon=tenths / 10)
            for kind in (dl.OptimizedUnary, dl.SymmetricUnary)
        ]
        assert both[0].variance(0, 1) < both[1].variance(0, 1)


def test_d9_unary_takes_lists() -> None:
    """D9: SUE has the law of D7; a list is an answer too, a list of texts is a clear
    error.
    """
    protocol = dl.SymmetricUnary(categories=3, epsilon=1)
    reports = protocol.perturb([1] * 100_000)
    for place, chance in enumerate([protocol.q, protocol.p, protocol.q]):
        assert laws.share_fits(int(reports[:, place].sum()), 100_000, float(chance))
    with pytest.raises(ParameterError, match="whole numbers"):
        protocol.perturb(["a", "b"])


@pytest.mark.parametrize(
    "kind", dl.Protocol.kinds().values(), ids=lambda kind: kind.kind
)
def test_d10_frequency_estimate(kind: type[dl.Protocol]) -> None:
    """D10: (count - nq) / (p - q) is unbiased over 500 repetitions, for every
    protocol.
    """
    protocol = kind(categories=4, epsilon=1)
    codes = np.repeat([0, 1, 3], [500, 300, 200])
    reports = protocol.perturb(np.tile(codes, 500))
    counts = np.array(
        [
            protocol.count_support(reports[start : start + 1_000])
            for start in range(0, len(reports), 1_000)
        ],
    )
    people = (counts - 1_000 * float(protocol.q)) / float(protocol.p - protocol.q)
    for place, truth in enumerate([500, 300, 0, 200]):
        assert laws.mean_fits(
            people[:, place], truth, 1_000**2 * protocol.variance(truth / 1_000, 1_000)
        )
    assert protocol.estimate(reports[:1_000]).frequencies == pytest.approx(
        people[0] / 1_000
    )


@dataclass(frozen=True, init=False)
class Formula(UnaryEncoding):
    """A unary encoding by the chances of a formula, whatever epsilon it is said to
    have.
    """

    def __init__(self, p: float, q: float) -> None:
        super().__init__(categories=4, epsilon=100)
        object.__setattr__(self, "chances", (p, q))

    @property
    def own_bit_threshold(self) -> int:
        return int(self.chances[0] * CHANCE_DENOMINATOR)

    @property
    def other_bit_threshold(self) -> int:
        return int(self.chances[1] * CHANCE_DENOMINATOR)


def test_d11_labels_of_the_source() -> None:
    """D11: the real epsilons of the source's encodings, which its labels 0, 1, 2, 5 do
    not tell.
    """

    def two(epsilon: float) -> float:
        return math.exp(epsilon) / (math.exp(epsilon) + 1)

    for nominal, real in ((0, 1.386), (0.5, 1.152), (1, 0.948), (2, 0.627), (5, 0.158)):
        p = two(nominal / 2) / (two(nominal / 2) + 1)
        assert abs(Formula(p, 1 - p).real_epsilon) == pytest.approx(real, abs=6e-4)
    for nominal, real in ((0, 0.693), (1, 0.313), (2, 0.127), (5, 0.007)):
        assert abs(Formula(0.5, 1 / (two(nominal) + 1)).real_epsilon) == pytest.approx(
            real, abs=6e-4
        )
