"""Every protocol against its law: brute force in fractions, and draws by chi-square
with twins to reject.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable

import numpy as np
import pytest

import dpcore.local as dl
from dpcore.local import _hadamard as hadamard
from dpcore.local import _unary as unary
from tests.local import oracle
from tests.statistical import laws
from tests.tiers import but_first

DRAWS = 100_000
FINITE = [kind for name, kind in dl.Protocol.kinds().items() if name != "local hashing"]


def observed(
    protocol: dl.Protocol, value: int, draws: int = DRAWS
) -> Counter[Hashable]:
    plain = protocol.to_plain(protocol.perturb(np.full(draws, value)))
    if isinstance(protocol, unary.UnaryEncoding):
        return Counter(tuple(map(int, each)) for each in plain)
    return Counter(tuple(each) if isinstance(each, list) else each for each in plain)


def fit(protocol: dl.Protocol, value: int, law: oracle.Law) -> float:
    seen = observed(protocol, value)
    assert set(seen) <= set(law)
    return laws.chi_square_of_counts(
        np.array([seen[each] for each in law]),
        np.array([DRAWS * float(chance) for chance in law.values()]),
    )


@pytest.mark.parametrize("kind", FINITE, ids=lambda kind: kind.kind)
@pytest.mark.parametrize(
    ("categories", "epsilon"), [(2, "1/10"), (3, "1"), (5, "2"), (6, "1/2"), (4, "15")]
)
def test_the_law_in_fractions(
    kind: type[dl.Protocol], categories: int, epsilon: str
) -> None:
    """If p, q or the largest ratio were another, the estimates or the promise would be
    wrong.
    """
    protocol = kind(categories=categories, epsilon=epsilon)
    found = [oracle.law(protocol, value) for value in range(categories)]
    assert all(sum(law.values()) == 1 for law in found)
    ratio = max(
        one[report] / other[report]
        for one, other in itertools.permutations(found, 2)
        for report in one
    )
    assert ratio == protocol.odds
    assert oracle.at_most_exp(ratio, protocol.epsilon)
    assert not oracle.at_most_exp(
        ratio * (1 + 10 ** -(11 if epsilon != "15" else 5)), protocol.epsilon
    )
    for own, other in itertools.product(range(categories), repeat=2):
        chance = sum(
            p
            for report, p in found[own].items()
            if oracle.supports(protocol, report, other)
        )
        assert chance == (protocol.p if own == other else protocol.q)


@pytest.mark.parametrize("value", but_first(1, [4, 0]))
@pytest.mark.parametrize("kind", FINITE, ids=lambda kind: kind.kind)
def test_draws_have_the_law(kind: type[dl.Protocol], value: int) -> None:
    """Draws of another law would keep another epsilon than is written on the report."""
    protocol = kind(categories=5, epsilon=1)
    assert fit(protocol, value, oracle.law(protocol, value)) > laws.FALSE_ALARM
    twin = oracle.law(kind(categories=5, epsilon="11/10"), value)
    assert fit(protocol, value, twin) < laws.FALSE_ALARM
    assert fit(protocol, value, oracle.law(protocol, 2)) < laws.FALSE_ALARM


def test_larger_subsets_have_the_law() -> None:
    """Others that are drawn unevenly, or with replacement, would bias every
    estimate.
    """
    protocol = dl.SubsetSelection(categories=7, epsilon="1/2")
    assert protocol.size == 3
    assert fit(protocol, 3, oracle.law(protocol, 3)) > laws.FALSE_ALARM


def test_people_are_independent() -> None:
    """A draw that two people share would give their answers away together."""
    for kind in dl.Protocol.kinds().values():
        protocol = kind(categories=4, epsilon=1)
        pairs = protocol.perturb(np.zeros(2 * DRAWS, dtype=np.int64))
        own = np.array([supported(protocol, pairs, start) for start in (0, 1)]).T
        noise = own - float(protocol.p)
        assert laws.uncorrelated(noise)
        noise[:, 1] = noise[:, 0]
        assert not laws.uncorrelated(noise)


def supported(protocol: dl.Protocol, reports: np.ndarray, start: int) -> np.ndarray:
    """Whether each second report supports category 0."""
    chosen = reports[start::2]
    if isinstance(protocol, dl.RandomizedResponse):
        return chosen == 0
    if isinstance(protocol, dl.HadamardResponse):
        return (chosen & 1) == 0
    if isinstance(protocol, dl.LocalHashing):
        return protocol._cells_of_words(chosen[:, 1].copy()) == chosen[:, 2]
    return chosen[:, 0]


def hashed(
    protocol: dl.LocalHashing, value: int, draws: int = DRAWS
) -> tuple[np.ndarray, np.ndarray]:
    """True cells and reported cells, with Python's whole numbers in place of
    numpy's.
    """
    reports = protocol.perturb(np.full(draws, value)).tolist()
    cells = [
        ((a * value + b) % 2**64 >> 32) * protocol.cells >> 32 for a, b, _ in reports
    ]
    return np.array(cells), np.array([cell for _, _, cell in reports])


@pytest.mark.parametrize("epsilon", ["1/2", "1", "2"])
def test_local_hashing_has_the_law(epsilon: str) -> None:
    """The cell must be kept with chance e^eps / (e^eps + g - 1), and any other taken
    alike.
    """
    protocol = dl.LocalHashing(categories=9, epsilon=epsilon)
    cells, reported = hashed(protocol, 7)
    moved = np.bincount((reported - cells) % protocol.cells, minlength=protocol.cells)
    keep = float(protocol.p)
    expected = np.array(
        [keep] + [(1 - keep) / (protocol.cells - 1)] * (protocol.cells - 1)
    )
    assert laws.chi_square_of_counts(moved, DRAWS * expected) > laws.FALSE_ALARM
    even = np.full(protocol.cells, 1 / protocol.cells)
    assert (
        laws.chi_square_of_counts(
            np.bincount(cells, minlength=protocol.cells), DRAWS * even
        )
        > 1e-6
    )
    # twin: no answer at all
    assert laws.chi_square_of_counts(moved, DRAWS * even) < laws.FALSE_ALARM
    assert oracle.at_most_exp(protocol.odds, protocol.epsilon)
    assert not oracle.at_most_exp(protocol.odds * (1 + 10**-11), protocol.epsilon)


def test_local_hashing_supports_others_as_often_as_it_says() -> None:
    """A hash whose cells of two categories depend on each other would bias the estimate
    of rare answers.
    """
    protocol = dl.LocalHashing(categories=5, epsilon=1)
    people = 400_000
    counts = protocol.count_support(protocol.perturb(np.full(people, 2)))
    for value in range(5):
        chance = float(protocol.p if value == 2 else protocol.q)
        assert laws.share_fits(int(counts[value]), people, chance)
        assert not laws.share_fits(int(counts[value]), people, chance * 1.05)


def test_multiply_shift_is_pairwise_independent() -> None:
    """The theorem behind q, by counting everything: words of 8 bits, keys of 4, results
    of 5.
    """
    a, b = np.meshgrid(np.arange(256), np.arange(256))
    cells = {key: ((a * key + b) % 256 >> 3).ravel() for key in range(16)}
    for first, second in itertools.combinations(cells, 2):
        pairs = np.bincount(cells[first] * 32 + cells[second], minlength=1024)
        assert (pairs == 64).all()


def test_uneven_cells_are_counted_exactly() -> None:
    """g does not divide 2^32: q must come from the real sizes of the cells, here of a
    hash of 4 bits.
    """
    small = type("Small", (dl.LocalHashing,), {"cells": 3})(categories=3, epsilon=1)
    from fractions import Fraction

    # a word of 16 bits stands in for 32
    sizes = np.bincount(np.arange(2**16, dtype=np.int64) * 3 >> 16)
    assert sorted(sizes) == [2**16 // 3, 2**16 // 3, 2**16 // 3 + 1]
    shares = [Fraction(2**32 // 3 + (place == 0), 2**32) for place in range(3)]
    q = sum(mine * (small.p * mine + (1 - small.p) / 2 * (1 - mine)) for mine in shares)
    assert small.q == q


@pytest.mark.parametrize(
    "kind", list(dl.Protocol.kinds().values()), ids=lambda kind: kind.kind
)
def test_variance_is_as_stated(kind: type[dl.Protocol]) -> None:
    """Intervals and recommendations rest on the variance: observed and stated must
    agree.
    """
    protocol = kind(categories=8, epsilon=1)
    people = 2_000
    repeats = 2_000
    codes = np.repeat(np.arange(8), people // 8)
    codes[: people // 8] = 1  # nobody has 0, many have 1
    truth = np.bincount(codes, minlength=8) / people
    reports = protocol.perturb(np.tile(codes, repeats))
    shares = np.array(
        [
            protocol.estimate(reports[start : start + people]).frequencies
            for start in range(0, len(reports), people)
        ],
    )
    for value in range(8):
        stated = protocol.variance(truth[value], people)
        assert laws.mean_fits(shares[:, value], truth[value], stated)
        assert laws.variance_fits(shares[:, value], truth[value], stated)
        # twin
        assert not laws.variance_fits(shares[:, value], truth[value], stated / 1.6)
    average = np.mean([protocol.variance(share, people) for share in truth])
    assert protocol.mean_variance(people) == pytest.approx(average)
    assert 0.9 < shares.var(axis=0).mean() / average < 1.1


def test_hadamard_transform_is_the_plain_sum() -> None:
    """The fast transform must count what a loop over reports and categories counts."""
    protocol = hadamard.HadamardResponse(categories=11, epsilon=1)
    reports = protocol.perturb(np.arange(11).repeat(20))
    plain = [
        sum(oracle.agrees(int(report), value) for report in reports)
        for value in range(11)
    ]
    assert protocol.count_support(reports).tolist() == plain
