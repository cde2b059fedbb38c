"""What every protocol must do, and refuse."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore.local as dl
from dpcore.errors import LimitError, ParameterError
from tests.local.oracle import at_most_exp
from tests.statistical import laws

KINDS = list(dl.Protocol.kinds().values())
every = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)


@every
@pytest.mark.parametrize("epsilon", ["1e-6", "0.1", "1", "5", "20"])
@pytest.mark.parametrize("categories", [2, 3, 16, 1_000])
def test_the_real_loss_is_never_above(
    kind: type[dl.Protocol], epsilon: str, categories: int
) -> None:
    """The chances that are used must keep the epsilon that is printed, with nothing to
    spare but rounding.
    """
    protocol = kind(categories=categories, epsilon=epsilon)
    assert at_most_exp(protocol.odds, protocol.epsilon)
    assert protocol.real_epsilon <= float(protocol.epsilon)
    assert protocol.real_epsilon == pytest.approx(float(epsilon), rel=1e-6)


@every
def test_a_huge_epsilon_does_not_overflow(kind: type[dl.Protocol]) -> None:
    """The source crashed at 710 (SEEDS D1): here the draws keep the largest loss that
    64 bits allow.
    """
    protocol = kind(categories=5, epsilon=800)
    assert 40 < protocol.real_epsilon < 100
    found = protocol.estimate(protocol.perturb(np.arange(5).repeat(4_000))).frequencies
    assert found == pytest.approx([0.2] * 5, abs=0.05)  # at least 6 standard deviations


@every
@pytest.mark.parametrize(
    "epsilon", [0, -1, "0", "x", float("nan"), float("inf"), "1e-30"]
)
def test_epsilon_is_checked(kind: type[dl.Protocol], epsilon: Any) -> None:
    """At epsilon 0 nothing can be learned: that is said, not divided by."""
    with pytest.raises(ParameterError, match="epsilon"):
        kind(categories=4, epsilon=epsilon)


@every
@pytest.mark.parametrize("categories", [0, 1, -3, 2.5, "four", True, None])
def test_categories_are_checked(kind: type[dl.Protocol], categories: Any) -> None:
    """One category tells nothing, and a fraction of one does not exist."""
    with pytest.raises((LimitError, ParameterError), match=r"categories|from 2 to"):
        kind(categories=categories, epsilon=1)


@every
def test_too_many_categories(kind: type[dl.Protocol]) -> None:
    """Past the limit nothing is allocated."""
    with pytest.raises(LimitError, match="65536"):
        kind(categories=65_537, epsilon=1)
    assert kind(categories=65_536, epsilon=8).perturb([0, 65_535]).shape[0] == 2


@pytest.mark.parametrize(
    "kind", [dl.OptimizedUnary, dl.SymmetricUnary, dl.SubsetSelection]
)
def test_too_many_bits(kind: type[dl.Protocol]) -> None:
    """A matrix of people times categories is refused before it takes all memory."""
    with pytest.raises(LimitError, match="hashing"):
        kind(categories=65_536, epsilon=1).perturb(np.zeros(10_000, dtype=np.int64))


@every
@pytest.mark.parametrize(
    "codes",
    [[0, 4], [-1], [0.5], ["a"], [None], [[0, 1]], [np.nan], pd.Series(["x"]), 7],
    ids=str,
)
def test_answers_outside_are_refused(kind: type[dl.Protocol], codes: Any) -> None:
    """A value outside the categories must be refused: as an index it would pass for
    another one.
    """
    with pytest.raises(ParameterError):
        kind(categories=4, epsilon=1).perturb(codes)


@every
def test_many_kinds_of_input(kind: type[dl.Protocol]) -> None:
    """Whole numbers of any type are answers; D3: the source crashed on a numpy
    integer.
    """
    protocol = kind(categories=2, epsilon=1)
    for codes in (
        np.int64(1),
        1,
        True,
        np.bool_(True),
        [1],
        (1,),
        [True],
        np.array([1], dtype=np.uint8),
        pd.Series([1], dtype="Int64"),
        pd.Categorical([1], categories=[0, 1]),
        pd.Series([True]),
    ):
        assert len(protocol.perturb(codes)) == 1
    assert len(protocol.perturb([])) == 0


@every
def test_the_callers_objects_stay(kind: type[dl.Protocol]) -> None:
    """D6: the source removed the true answer from its caller's list."""
    protocol = kind(categories=4, epsilon="0.1")
    codes = [0, 1, 2, 3] * 50
    array = np.arange(4).repeat(50)
    before = array.copy()
    for _ in range(5):
        protocol.perturb(codes)
        reports = protocol.perturb(array)
        kept = reports.copy()
        protocol.estimate(reports)
        assert (reports == kept).all()
    assert codes == [0, 1, 2, 3] * 50
    assert (array == before).all()


@every
def test_reports_survive_json(kind: type[dl.Protocol]) -> None:
    """A report that changes on its way would be counted for another category."""
    protocol = kind(categories=5, epsilon="1/3")
    reports = protocol.perturb(np.arange(5).repeat(40))
    again = protocol.from_plain(json.loads(json.dumps(protocol.to_plain(reports))))
    assert (again == reports).all()
    assert (protocol.count_support(again) == protocol.count_support(reports)).all()
    assert len(protocol.from_plain([])) == 0


BAD_PLAIN = [
    None,
    True,
    1.0,
    -1,
    2**70,
    "0101",
    "012 4",
    "01é10",
    "0" * 5 + "\n",
    [0],
    [0, 0],
    [0, 9],
    [0.0],
    [True],
    ["0" * 32, 99],
    ["G" * 32, 0],
    ["0" * 31, 0],
    ["0" * 32, True],
    ["0" * 32],
    {"a": 1},
    [[0]],
    "",
    [0, 1, 2, 3, 4],
    [None],
]


@every
@pytest.mark.parametrize("plain", BAD_PLAIN, ids=str)
def test_what_is_no_report_is_refused(kind: type[dl.Protocol], plain: Any) -> None:
    """Reports come from strangers: whatever this protocol cannot have made is refused
    with a sentence.
    """
    protocol = kind(categories=5, epsilon="1/3")
    if kind is dl.SubsetSelection and plain == [0, 9]:
        assert protocol.size == 2
    with pytest.raises(ParameterError, match="no reports of the protocol"):
        protocol.from_plain([plain])


@every
def test_reports_of_other_protocols_are_refused(kind: type[dl.Protocol]) -> None:
    """Reports decoded by another protocol, or for other categories, give numbers that
    mean nothing.
    """
    protocol = kind(categories=5, epsilon="1/3")
    for other in KINDS:
        if other is kind is dl.LocalHashing:
            continue  # a hash and a cell are the same for any categories
        reports = other(categories=70, epsilon="1/3").perturb(np.full(300, 69))
        with pytest.raises(ParameterError):
            protocol.estimate(reports)
    for nothing in (None, [["a"]], "text", [[1, 2], [3, 4]], np.zeros((2, 5)), [0.5]):
        with pytest.raises(ParameterError):
            protocol.estimate(nothing)


@every
def test_no_reports(kind: type[dl.Protocol]) -> None:
    """Nothing collected is a sentence, not a division by zero."""
    protocol = kind(categories=3, epsilon=1)
    with pytest.raises(ParameterError, match="no reports"):
        protocol.estimate(protocol.perturb([]))
    with pytest.raises(ParameterError, match="at least one person"):
        protocol.variance(0.5, 0)


@every
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
@pytest.mark.proof
def test_intervals_cover(kind: type[dl.Protocol], share: float) -> None:
    """A 95 % interval must hold the truth in 95 % of surveys, of rare and common
    answers alike.
    """
    people = 500
    repeats = 2_000
    codes = np.zeros(people, dtype=np.int64)
    codes[: round(share * people)] = 2
    protocol = kind(categories=4, epsilon=2)
    reports = protocol.perturb(np.tile(codes, repeats))
    held = 0
    for start in range(0, len(reports), people):
        low, high = protocol.estimate(reports[start : start + people]).interval(0.95)
        held += bool(low[2] <= share <= high[2])
    assert laws.at_least(held, repeats, 0.94)
    assert not laws.at_least(held, repeats, 0.995) or share in (0.0, 1.0)
    # at the ends of 0 .. 1 one side of the interval cannot miss


def test_the_projection_is_a_distribution() -> None:
    """What is shown as a distribution must be one, and not lie further from the truth
    than the estimates.
    """
    protocol = dl.RandomizedResponse(categories=60, epsilon="0.5")
    codes = np.zeros(3_000, dtype=np.int64)
    estimate = protocol.estimate(protocol.perturb(codes))
    truth = np.eye(60)[0]
    assert estimate.frequencies.min() < 0
    assert estimate.distribution.min() >= 0
    assert estimate.distribution.sum() == pytest.approx(1)
    assert (
        np.square(estimate.distribution - truth).sum()
        <= np.square(estimate.frequencies - truth).sum()
    )


@pytest.mark.parametrize("confidence", [0, 1, -1, 2])
def test_confidence_is_checked(confidence: float) -> None:
    """An interval of 100 % is the whole line."""
    estimate = dl.RandomizedResponse(categories=2, epsilon=1).estimate([0, 1])
    with pytest.raises(ParameterError, match="confidence"):
        estimate.interval(confidence)
