"""Randomized response: tell the truth with a chance, and something else otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpcore.accounting.loss import Number
from dpcore.errors import ParameterError
from dpcore.local.base import Protocol, Reports, checked_codes, numbers, refuse
from dpcore.local.bits import (
    Bools,
    Integers,
    bernoulli,
    chance,
    chance_of,
    exp_below,
    loss_of,
    threshold_of,
    uniform,
)
from dpcore.local.estimate import Estimate


class RandomizedResponse(Protocol):
    """k-ary randomized response: the true category with chance e^eps / (e^eps + k - 1), else any other alike.

    The report is a category. With two categories it is Warner's coin. Best where k < 3 e^epsilon + 2.
    Source: Kairouz, Bonawitz, Ramage (ICML 2016), section 3; Warner (1965).
    """

    name: ClassVar[str] = "randomized response"

    @cached_property
    def keep(self) -> int:
        """Threshold of telling the truth."""
        return threshold_of(exp_below(self.epsilon) / (self.categories - 1))

    @property
    def p(self) -> Fraction:
        return chance_of(self.keep)

    @property
    def q(self) -> Fraction:
        return (1 - self.p) / (self.categories - 1)

    @property
    def odds(self) -> Fraction:
        return self.p / self.q

    @property
    def report_bits(self) -> int:
        return (self.categories - 1).bit_length()

    def perturb(self, codes: Any) -> Reports:
        reports = checked_codes(codes, self.categories)
        false = np.flatnonzero(~bernoulli(self.keep, len(reports)))
        moved = reports[false] + 1 + uniform(self.categories - 1, false.size)
        reports[false] = np.where(moved < self.categories, moved, moved - self.categories)
        return reports

    def check(self, reports: Any) -> Reports:
        return numbers(reports, self.categories, self.name)

    def support(self, reports: Any) -> Integers:
        return np.bincount(self.check(reports), minlength=self.categories)

    def to_plain(self, reports: Reports) -> list[Any]:
        return [int(report) for report in reports]

    def from_plain(self, plain: Sequence[Any]) -> Reports:
        return self.check(whole_numbers(plain, self.name))

    def script(self) -> dict[str, Any]:
        return {"keep": f"{self.keep:016x}"}


def whole_numbers(plain: Sequence[Any], name: str) -> Integers:
    """Whole numbers of JSON as an array; `true`, 1.0 and numbers beyond 2^32 are none.

    Raises: ParameterError.
    """
    if not all(type(each) is int and 0 <= each < 2**32 for each in plain):
        raise refuse(name)
    return np.array(plain, dtype=np.int64)


@dataclass(frozen=True, init=False)
class BinaryResponse:
    """Yes or no by two chances: a true yes stays yes with chance p, a true no becomes yes with chance q.

    With q = 1 - p it is Warner's coin; with others, forced or unrelated answers.

    Attributes:
        p, q: chances strictly between 0 and 1, as whole numbers of 1 / 2^64; not equal.
    """

    p: Fraction
    q: Fraction

    def __init__(self, *, p: Number, q: Number | None = None) -> None:
        first = chance("p", p)
        second = 1 - first if q is None else chance("q", q)
        for name, value in (("p", first), ("q", second)):
            object.__setattr__(self, name, chance_of(max(1, int(value * 2**64))))
        if self.p == self.q:
            raise ParameterError(
                "p and q ({p}) must differ: such answers do not depend on the truth",
                remedy="choose p above q",
                p=float(self.p),
            )

    @property
    def real_epsilon(self) -> float:
        """The loss of one report: the largest ratio of the chances of yes, or of no."""
        ratios = (self.p / self.q, (1 - self.p) / (1 - self.q))
        return loss_of(max(max(ratio, 1 / ratio) for ratio in ratios))

    def perturb(self, answers: Any) -> Bools:
        """One report per person: True for yes.

        Args:
            answers: booleans, or 0 and 1; one or many; is not changed.
        """
        truth = checked_codes(answers, 2)
        thresholds = np.array([int(self.q * 2**64), int(self.p * 2**64)], dtype=np.uint64)
        return bernoulli(thresholds[truth], len(truth))

    def estimate(self, reports: Any) -> Estimate:
        """The share of true yes: the one frequency of the estimate.

        Source: Warner (1965), equation 4, (p - 1) / (2p - 1) + yes / (n (2p - 1)), is the case q = 1 - p.
        """
        yes = checked_codes(reports, 2)
        return Estimate(support=np.array([yes.sum()]), people=len(yes), p=self.p, q=self.q)
