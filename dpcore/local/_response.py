"""Randomized response: the truth with a certain chance, else another category."""

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dpcore.local._bits import (
    Integers,
    chance_of,
    draw_bernoulli,
    draw_uniform,
    exp_rounded_down,
    threshold_of,
)
from dpcore.local.base import OneNumberProtocol, Reports, check_codes


class RandomizedResponse(OneNumberProtocol):
    """k-ary randomized response: the truth with chance e^eps / (e^eps + k - 1).

    >>> protocol = RandomizedResponse(categories=3, epsilon="1.5")
    >>> reports = protocol.perturb([0] * 6_000 + [1] * 3_000 + [2] * 1_000)  # each person's browser does this
    >>> low, high = protocol.estimate(reports).interval(0.999999)
    >>> bool(low[0] < 0.6 < high[0])
    True
    >>> round(protocol.real_epsilon, 6)
    1.5

    The report is a category, each false one equally likely. With two categories it is
    Warner's coin. Best if k < 3 e^epsilon + 2. Source: Kairouz, Bonawitz, Ramage (ICML
    2016), section 3; Warner (1965).
    """

    kind = "randomized response"
    place = 1

    @cached_property
    def keep_threshold(self) -> int:
        """Threshold for reporting the true category."""
        return threshold_of(exp_rounded_down(self.epsilon) / (self.categories - 1))

    @property
    def p(self) -> Fraction:
        return chance_of(self.keep_threshold)

    @property
    def q(self) -> Fraction:
        return (1 - self.p) / (self.categories - 1)

    @property
    def odds(self) -> Fraction:
        return self.p / self.q

    def perturb(self, codes: Any) -> Reports:
        reports = check_codes(codes, self.categories)
        false = np.flatnonzero(~draw_bernoulli(self.keep_threshold, len(reports)))
        moved = reports[false] + 1 + draw_uniform(self.categories - 1, false.size)
        reports[false] = np.where(
            moved < self.categories, moved, moved - self.categories
        )
        return reports

    def count_support(self, reports: Any) -> Integers:
        return np.bincount(self.check_reports(reports), minlength=self.categories)

    @property
    def possible_reports(self) -> int:
        return self.categories

    def script_parameters(self) -> dict[str, Any]:
        return {"keep": f"{self.keep_threshold:016x}"}
