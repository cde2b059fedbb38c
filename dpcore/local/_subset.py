"""Subset selection: a report names a few categories, often with the true one."""

import math
from collections.abc import Sequence
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
from dpcore.local._estimate import frequency_variance
from dpcore.local.base import (
    BitVectorProtocol,
    Reports,
    check_bits,
    check_codes,
    wrong_reports_error,
)


class SubsetSelection(BitVectorProtocol):
    """Report a set of `size` categories that contains the true one more often.

    The others are drawn with equal chances. It has the least variance of all protocols;
    with sets of one it is k-ary randomized response. Source: Ye, Barg (IEEE Trans. Inf.
    Theory 2018), section IV; Wang et al. (2016).
    """

    kind = "subset selection"
    place = 2

    @cached_property
    def size(self) -> int:
        """The number of categories in a report: k / (e^eps + 1), rounded.

        It is rounded up or down, to the lesser variance.
        """
        wanted = self.categories / (exp_rounded_down(self.epsilon) + 1)
        near = {max(1, math.floor(wanted)), max(1, math.ceil(wanted))}
        return min(sorted(near), key=self._variance_at)

    @cached_property
    def keep_threshold(self) -> int:
        """The threshold for naming the true category."""
        return self._keep_threshold_at(self.size)

    @property
    def p(self) -> Fraction:
        return chance_of(self.keep_threshold)

    @property
    def q(self) -> Fraction:
        return self._q_at(self.size, self.p)

    @property
    def odds(self) -> Fraction:
        """The likelihood ratio of sets with and without the true category.

        All sets of each kind have the same chance.
        """
        return self.p * (self.categories - self.size) / ((1 - self.p) * self.size)

    @property
    def report_bits(self) -> int:
        return math.ceil(math.log2(math.comb(self.categories, self.size)))

    def _keep_threshold_at(self, size: int) -> int:
        return threshold_of(
            exp_rounded_down(self.epsilon) * size / (self.categories - size)
        )

    def _q_at(self, size: int, p: Fraction) -> Fraction:
        return (size - p) / (self.categories - 1)

    def _variance_at(self, size: int) -> float:
        p = chance_of(self._keep_threshold_at(size))
        return frequency_variance(1 / self.categories, 1, p, self._q_at(size, p))

    def perturb(self, codes: Any) -> Reports:
        """Return each person's set; its categories are drawn without replacement.

        By Floyd's algorithm (Bentley, Floyd 1987), one per step.
        """
        own = check_codes(codes, self.categories)
        people = len(own)
        check_bits(people, self.categories)
        others = self.categories - 1
        named = np.zeros((people, self.categories), dtype=np.bool_)
        with_own = draw_bernoulli(self.keep_threshold, people)
        named[with_own, own[with_own]] = True
        everybody = np.arange(people)
        for last in range(others - self.size, others):
            # People whose set omits their own category draw one more category.
            first = last == others - self.size
            rows = np.flatnonzero(~with_own) if first else everybody
            start = own[rows] + 1
            place = _wrap_around(
                start + draw_uniform(last + 1, rows.size), self.categories
            )
            taken = named[rows, place]
            named[
                rows,
                np.where(taken, _wrap_around(start + last, self.categories), place),
            ] = True
        return named

    def check_reports(self, reports: Any) -> Reports:
        named = super().check_reports(reports)
        if (named.sum(axis=1) != self.size).any():
            raise wrong_reports_error(self.kind)
        return named

    def to_plain(self, reports: Reports) -> list[Any]:
        return [np.flatnonzero(report).tolist() for report in reports]

    def from_plain(self, plain: Sequence[Any]) -> Reports:
        check_bits(len(plain), self.categories)
        named = np.zeros((len(plain), self.categories), dtype=np.bool_)
        for report, numbers in zip(named, plain, strict=True):
            are_categories = isinstance(numbers, list) and all(
                type(number) is int and 0 <= number < self.categories
                for number in numbers
            )
            if not are_categories or not (
                len(numbers) == len(set(numbers)) == self.size
            ):
                raise wrong_reports_error(self.kind)
            report[numbers] = True
        return named

    def script_parameters(self) -> dict[str, Any]:
        return {"keep": f"{self.keep_threshold:016x}", "size": self.size}


def _wrap_around(positions: Integers, categories: int) -> Integers:
    return np.where(positions < categories, positions, positions - categories)
