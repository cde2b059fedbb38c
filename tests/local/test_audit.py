"""An audit: what draws of reports prove is below a true label, and above a false
one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import dpcore.local as dl
from dpcore.local._unary import UnaryEncoding
from tests.statistical import laws

DRAWS = 2_000_000
"""Under each of two answers: 4 million in all."""


def proved(events: Callable[[int], np.ndarray]) -> float:
    """The largest loss that the draws prove, at one in a million.

    Args:
        events: for an answer, 0 or 1, counts of events that are fixed in advance, among
            `DRAWS` reports.
    """
    first = events(0)
    second = events(1)
    error = laws.FALSE_ALARM / (2 * len(first))
    best = 0.0
    for one, other in zip(first, second, strict=True):
        low, _ = laws.clopper_pearson(int(one), DRAWS, error)
        _, high = laws.clopper_pearson(int(other), DRAWS, error)
        best = max(best, math.log(low / high) if low > 0 else 0.0)
    return best


def reported(protocol: dl.Protocol) -> Callable[[int], np.ndarray]:
    """Events: the report speaks for category 0 and against 1."""

    def events(answer: int) -> np.ndarray:
        reports = protocol.perturb(np.full(DRAWS, answer))
        if isinstance(protocol, dl.RandomizedResponse):
            return np.array([(reports == 0).sum()])
        if isinstance(protocol, dl.HadamardResponse):
            return np.array([((reports & 3) == 2).sum()])  # even with 1, odd with 2
        if isinstance(protocol, dl.LocalHashing):
            apart = [
                protocol._cells_of_words(
                    reports[:, 0] * np.uint64(code) + reports[:, 1]
                )
                for code in (0, 1)
            ]
            return np.array(
                [((reports[:, 2] == apart[0]) & (apart[0] != apart[1])).sum()]
            )
        return np.array([(reports[:, 0] & ~reports[:, 1]).sum()])

    return events


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 2.0])
@pytest.mark.parametrize(
    "kind", dl.Protocol.kinds().values(), ids=lambda kind: kind.kind
)
def test_no_audit_proves_more_than_the_label(
    kind: type[dl.Protocol], epsilon: float
) -> None:
    """More than epsilon in a proof would mean that the chances are not what the label
    says.
    """
    found = proved(reported(kind(categories=4, epsilon=epsilon)))
    assert found <= epsilon
    assert found > 0.9 * epsilon  # the audit is not blind


def of_the_source(nominal: float, *, optimized: bool) -> UnaryEncoding:
    """A unary encoding with the chances that the source computes: p below q."""

    def two(epsilon: float) -> float:
        return math.exp(epsilon) / (math.exp(epsilon) + 1)

    own = 0.5 if optimized else two(nominal / 2) / (two(nominal / 2) + 1)
    other = 1 / (two(nominal) + 1) if optimized else 1 - own

    class Source(dl.SymmetricUnary):
        own_bit_threshold = int(own * 2**64)
        other_bit_threshold = int(other * 2**64)
        # not looked at: its label is wrong
        p = 0.9
        q = 0.1

    return Source(categories=2, epsilon="1")


def reversed_events(protocol: UnaryEncoding) -> Callable[[int], np.ndarray]:
    def events(answer: int) -> np.ndarray:
        reports = protocol.perturb(np.full(DRAWS, answer))
        return np.array([(~reports[:, 0] & reports[:, 1]).sum()])

    return events


@pytest.mark.parametrize(
    ("nominal", "optimized", "real"),
    [(0, False, 1.386), (0.5, False, 1.152), (0, True, 0.693)],
)
def test_d11_the_sources_labels_are_rejected(
    nominal: float, optimized: bool, real: float
) -> None:
    """D11: the audit must reject the source's SUE at nominal 0 and 0.5, and its OUE at
    nominal 0.
    """
    found = proved(reversed_events(of_the_source(nominal, optimized=optimized)))
    assert found > nominal
    assert real - 0.04 < found < real


@pytest.mark.parametrize(
    ("nominal", "optimized"), [(1, False), (2, False), (5, False), (1, True), (5, True)]
)
def test_d11_above_that_they_are_private_but_useless(
    nominal: float, optimized: bool
) -> None:
    """D11: at these labels the source spends less than it says; the audit has nothing
    to reject.
    """
    assert (
        proved(reversed_events(of_the_source(nominal, optimized=optimized))) <= nominal
    )
