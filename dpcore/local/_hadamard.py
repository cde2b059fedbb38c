"""Hadamard response: each report is one number, matched to categories by parity."""

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


class HadamardResponse(OneNumberProtocol):
    """Hadamard response: a number below K, the smallest power of two above k.

    A number y supports v if y and v + 1 share an even number of bits. Half of all
    numbers support a category, and a quarter any two, so q = 1/2; a report supports its
    sender's category with chance e^eps / (e^eps + 1) and is otherwise uniform. It is
    decoded by one fast transform. Source: Acharya, Sun, Zhang (AISTATS 2019), section
    4.
    """

    kind = "Hadamard response"
    place = 6

    @cached_property
    def keep_threshold(self) -> int:
        """Threshold for reporting a number that supports the true category."""
        return threshold_of(exp_rounded_down(self.epsilon))

    @property
    def possible_reports(self) -> int:
        return 1 << self.categories.bit_length()

    @property
    def p(self) -> Fraction:
        return chance_of(self.keep_threshold)

    @property
    def q(self) -> Fraction:
        return Fraction(1, 2)

    @property
    def odds(self) -> Fraction:
        return self.p / (1 - self.p)

    def perturb(self, codes: Any) -> Reports:
        pattern = check_codes(codes, self.categories) + 1
        agrees = draw_bernoulli(self.keep_threshold, len(pattern))
        reports = draw_uniform(self.possible_reports, len(pattern))
        odd = (np.bitwise_count(reports & pattern) & 1).astype(np.bool_)
        # Flipping this bit maps numbers that support the category to those that do not.
        lowest = pattern & -pattern
        return np.where(odd == agrees, reports ^ lowest, reports)

    def count_support(self, reports: Any) -> Integers:
        """Count supporting reports: (n + transform of the histogram) / 2.

        The transform is the fast Walsh-Hadamard transform.
        """
        checked = self.check_reports(reports)
        sums = np.bincount(checked, minlength=self.possible_reports)
        width = 1
        while width < self.possible_reports:
            pairs = sums.reshape(-1, 2, width)
            sums = np.stack(
                [pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1
            ).ravel()
            width *= 2
        return (len(checked) + sums[1 : self.categories + 1]) // 2

    def script_parameters(self) -> dict[str, Any]:
        return {"keep": f"{self.keep_threshold:016x}", "numbers": self.possible_reports}
