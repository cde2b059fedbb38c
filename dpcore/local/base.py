"""Base classes of the protocols for categorical answers, and their estimates.

A report supports its sender's category with chance p, and any other category with
chance q. All estimates of the collector follow from p and q (Wang, Blocki, Li, Jha,
USENIX Security 2017, section 3).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dpcore.accounting.loss import Number
from dpcore.errors import LimitError, ParameterError, UsageError
from dpcore.local._bits import Integers, check_epsilon, epsilon_of_ratio
from dpcore.local._estimate import Estimate, frequency_variance
from dpcore.registry import Registered

Reports = npt.NDArray[Any]

MAX_CATEGORIES = 65_536
"""Possible answers of a question, at most."""
MAX_BITS = 400_000_000
"""Bits of all reports in memory, people times categories, at most: 400 MB."""


@dataclass(frozen=True, init=False)
class Protocol(Registered, ABC, home="dpcore.local"):
    """A randomized way to report one of `categories` answers, at loss `epsilon`.

    Reports are arrays with one report per person along the first axis; categories are
    numbers from 0. The chances are whole numbers of 1 / 2^64, rounded so that the loss
    stays at or below `epsilon`.
    """

    kind: ClassVar[str]
    """The name in stored questions."""
    place: ClassVar[int]
    """Position in lists: of two with equal errors the simpler one comes first."""

    categories: int
    epsilon: Fraction

    def __init__(self, *, categories: int, epsilon: Number) -> None:
        object.__setattr__(self, "categories", check_categories(categories))
        object.__setattr__(self, "epsilon", check_epsilon(epsilon))

    @property
    @abstractmethod
    def p(self) -> Fraction:
        """Chance that a report supports its sender's category."""

    @property
    @abstractmethod
    def q(self) -> Fraction:
        """Chance that a report supports a given other category."""

    @property
    @abstractmethod
    def odds(self) -> Fraction:
        """The largest ratio of a report's probabilities under two answers.

        It is e to the real epsilon.
        """

    @property
    @abstractmethod
    def report_bits(self) -> int:
        """Size of one report, in bits."""

    @abstractmethod
    def perturb(self, codes: Any) -> Reports:
        """Return one report per person. Costs each of them `epsilon`.

        Args:
            codes: the categories of the people, as whole numbers from 0; is not
                changed.

        Raises: ParameterError for a category that does not exist.
        """

    @abstractmethod
    def check_reports(self, reports: Any) -> Reports:
        """Validate reports and convert them to the array type of `perturb`.

        Raises: ParameterError for reports that this protocol cannot have made.
        """

    @abstractmethod
    def count_support(self, reports: Any) -> Integers:
        """Count the reports that support each category; int64, (categories,)."""

    @abstractmethod
    def to_plain(self, reports: Reports) -> list[Any]:
        """Convert each report to plain data for JSON."""

    @abstractmethod
    def from_plain(self, plain: Sequence[Any]) -> Reports:
        """Read the output of `to_plain`.

        Raises: ParameterError for plain data of no report.
        """

    @abstractmethod
    def script_parameters(self) -> dict[str, Any]:
        """Return the parameters that the script in a respondent's browser needs.

        Thresholds are written as 16 hexadecimal digits.
        """

    @cached_property
    def real_epsilon(self) -> float:
        """Exact loss of one report after rounding its chances; at most `epsilon`."""
        return epsilon_of_ratio(self.odds, max_epsilon=self.epsilon)

    def estimate(self, reports: Any) -> Estimate:
        """Return unbiased frequencies of all categories.

        Free, as it reads reports only.

        Raises: ParameterError for no reports, or reports of another protocol.
        """
        checked = self.check_reports(reports)
        return Estimate(
            support=self.count_support(checked), people=len(checked), p=self.p, q=self.q
        )

    def variance(self, share: float, people: int) -> float:
        """Return the variance of a category's estimate, given its true share."""
        return frequency_variance(share, people, self.p, self.q)

    def mean_variance(self, people: int) -> float:
        """Return the variance of an estimated share, averaged over the categories.

        It is the same whatever the people answer, since the variance is linear in the
        share, and the shares add up to 1.
        """
        return self.variance(1 / self.categories, people)

    def largest_variance(self, people: int) -> float:
        """Return the largest variance of an estimate over all true shares.

        It is linear in the share.
        """
        return max(self.variance(0, people), self.variance(1, people))


class OneNumberProtocol(Protocol):
    """A protocol in which each report is one whole number from 0."""

    @property
    @abstractmethod
    def possible_reports(self) -> int:
        """The number of possible reports."""

    @property
    def report_bits(self) -> int:
        return (self.possible_reports - 1).bit_length()

    def check_reports(self, reports: Any) -> Reports:
        return check_number_reports(reports, self.possible_reports, self.kind)

    def to_plain(self, reports: Reports) -> list[Any]:
        return [int(report) for report in reports]

    def from_plain(self, plain: Sequence[Any]) -> Reports:
        # `isinstance` would also accept True, which is not a valid report.
        if not all(
            type(report) is int and 0 <= report < self.possible_reports
            for report in plain
        ):
            raise wrong_reports_error(self.kind)
        return np.array(plain, dtype=np.int64)


class BitVectorProtocol(Protocol):
    """A protocol whose reports have one bit per category: (people, categories)."""

    def check_reports(self, reports: Any) -> Reports:
        array = np.asarray(reports)
        if array.ndim != 2 or array.shape[1] != self.categories:
            raise wrong_reports_error(self.kind)
        if array.dtype != np.bool_:
            if array.dtype.kind not in "iu" or (
                array.size and not 0 <= array.min() <= array.max() <= 1
            ):
                raise wrong_reports_error(self.kind)
            array = array.astype(np.bool_)
        return array

    def count_support(self, reports: Any) -> Integers:
        return np.array(
            [np.count_nonzero(bits) for bits in self.check_reports(reports).T],
            dtype=np.int64,
        )


def wrong_number_of_answers_error(max_answers: int) -> LimitError:
    """Return the error for a question with too few or too many answers."""
    return LimitError(
        "a question has from 2 to {most} answers",
        remedy="name all answers that people may give, and join rare ones",
        most=max_answers,
    )


def check_categories(categories: Any) -> int:
    """Check that a number of categories is from 2 to `MAX_CATEGORIES`.

    Raises: LimitError for fewer or more.
    """
    if isinstance(categories, (bool, np.bool_)) or not isinstance(
        categories, (int, np.integer)
    ):
        raise UsageError(
            "categories must be a whole number", remedy="count the possible answers"
        )
    if not 2 <= categories <= MAX_CATEGORIES:
        raise wrong_number_of_answers_error(MAX_CATEGORIES)
    return int(categories)


def check_codes(codes: Any, categories: int) -> Integers:
    """Validate category numbers and return them as an int64 array.

    The caller's object is not changed.

    Raises: ParameterError for anything but whole numbers or booleans in 0 .. categories
        - 1.
    """
    values = np.atleast_1d(np.asarray(codes))
    if values.ndim != 1 or (values.size and values.dtype.kind not in "biu"):
        raise UsageError(
            "answers must be a list of whole numbers, one per person",
            remedy="give the number of each category, from 0",
        )
    if values.size and (values.min() < 0 or values.max() >= categories):
        raise UsageError(
            f"an answer is outside the {categories} categories",
            remedy=f"give numbers from 0 to {categories - 1}",
        )
    return values.astype(np.int64)


def check_bits(people: int, categories: int) -> None:
    """Refuse reports of one bit per category that exceed memory.

    Raises: LimitError.
    """
    if people * categories > MAX_BITS:
        raise LimitError(
            "{people} reports with {categories} bits each are more than {most} bits",
            remedy="use local hashing, or split the people into parts",
            people=people,
            categories=categories,
            most=MAX_BITS,
        )


def wrong_reports_error(name: str) -> ParameterError:
    """Return the error for reports that a protocol cannot have made."""
    return UsageError(
        f"these are no reports of the protocol {name}",
        remedy="use the file as it was saved",
    )


def check_number_reports(reports: Any, upper_bound: int, name: str) -> Integers:
    """Validate reports of one whole number each, up to an exclusive bound.

    Raises: ParameterError.
    """
    array = np.asarray(reports)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise wrong_reports_error(name)
    if array.size and (array.min() < 0 or array.max() >= upper_bound):
        raise wrong_reports_error(name)
    return array.astype(np.int64, copy=False)
