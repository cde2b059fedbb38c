"""Unary encodings: one bit per category, each perturbed independently.

Source: Wang, Blocki, Li, Jha (USENIX Security 2017), section 4; Erlingsson, Pihur,
Korolova (2014).
"""

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dpcore.local._bits import (
    CHANCE_DENOMINATOR,
    chance_of,
    draw_bernoulli,
    exp_rounded_down,
    threshold_of,
)
from dpcore.local.base import (
    BitVectorProtocol,
    Reports,
    check_bits,
    check_codes,
    wrong_reports_error,
)


class UnaryEncoding(BitVectorProtocol):
    """One bit per category, set with chance p if it is the true one, else with q."""

    @property
    @abstractmethod
    def own_bit_threshold(self) -> int:
        """Threshold for setting the bit of the true category to 1."""

    @property
    @abstractmethod
    def other_bit_threshold(self) -> int:
        """Threshold for setting the bit of any other category to 1."""

    @property
    def p(self) -> Fraction:
        return chance_of(self.own_bit_threshold)

    @property
    def q(self) -> Fraction:
        return chance_of(self.other_bit_threshold)

    @property
    def odds(self) -> Fraction:
        return self.p * (1 - self.q) / (self.q * (1 - self.p))

    @property
    def report_bits(self) -> int:
        return self.categories

    def perturb(self, codes: Any) -> Reports:
        own = check_codes(codes, self.categories)
        people = len(own)
        check_bits(people, self.categories)
        bits = draw_bernoulli(
            self.other_bit_threshold, people * self.categories
        ).reshape(self.categories, people)
        bits[own, np.arange(people)] = draw_bernoulli(self.own_bit_threshold, people)
        return bits.T

    def to_plain(self, reports: Reports) -> list[Any]:
        return ["".join("01"[bit] for bit in report) for report in reports.tolist()]

    def from_plain(self, plain: Sequence[Any]) -> Reports:
        if not all(
            isinstance(bits, str) and len(bits) == self.categories for bits in plain
        ):
            raise wrong_reports_error(self.kind)
        check_bits(len(plain), self.categories)
        digits = np.frombuffer("".join(plain).encode("utf-8"), dtype=np.uint8)
        if digits.size != len(plain) * self.categories:
            raise wrong_reports_error(self.kind)
        return self.check_reports((digits - ord("0")).reshape(-1, self.categories))

    def script_parameters(self) -> dict[str, Any]:
        return {
            "yes": f"{self.own_bit_threshold:016x}",
            "no": f"{self.other_bit_threshold:016x}",
        }


class SymmetricUnary(UnaryEncoding):
    """Symmetric unary encoding: p = e^(eps / 2) / (e^(eps / 2) + 1), q = 1 - p."""

    kind = "symmetric unary"
    place = 4

    @cached_property
    def own_bit_threshold(self) -> int:
        return threshold_of(exp_rounded_down(self.epsilon / 2))

    @property
    def other_bit_threshold(self) -> int:
        return CHANCE_DENOMINATOR - self.own_bit_threshold


class OptimizedUnary(UnaryEncoding):
    """Optimized unary encoding: p = 1/2, q = 1 / (e^eps + 1).

    It has the least variance of all unary encodings.
    """

    kind = "optimized unary"
    place = 3

    @property
    def own_bit_threshold(self) -> int:
        return CHANCE_DENOMINATOR // 2

    @cached_property
    def other_bit_threshold(self) -> int:
        return CHANCE_DENOMINATOR - threshold_of(exp_rounded_down(self.epsilon))
