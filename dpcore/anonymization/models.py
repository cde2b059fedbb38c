"""Privacy models: requirements on every published equivalence class.

A model gets the people of each class and the histogram of a sensitive column, and says
which classes violate it; these are suppressed. It counts people: five rows of one
person are one. If every row is a person, every model here is monotone under
generalization: merging two classes that meet it gives one that does. `monotone` says
that this also holds for the number of suppressed people, and for people with several
rows, who may be in both classes. If a model is not monotone, `relaxation` is a weaker
model that is, by which a search may prune.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcore.anonymization._groups import ClassStatistics, SensitiveColumn
from dpcore.anonymization._thresholds import compare_exactly
from dpcore.errors import UsageError
from dpcore.registry import Registered
from dpcore.tables.classes import BoolArray


class PrivacyModel(Registered, ABC, home="dpcore.anonymization"):
    """A privacy model with its parameters, registered by `kind`."""

    kind: ClassVar[str]
    """The name in stored plans."""
    monotone: ClassVar[bool]
    """Whether generalizing further never suppresses more people."""
    joint: ClassVar[bool] = False
    """Whether it is a figure of all classes together, without those suppressed."""
    compares_with_table: ClassVar[bool] = False
    """Whether it compares classes with the whole table.

    Such a model may break when other rows are left out.
    """

    @abstractmethod
    def violations(self, classes: ClassStatistics) -> BoolArray:
        """Return which classes violate the model, shape (classes,).

        A class without a published person violates nothing but delta-presence.
        """

    def violations_among(
        self, classes: ClassStatistics, is_kept: BoolArray
    ) -> BoolArray:
        """Return which of the classes not yet suppressed violate the model.

        Args:
            is_kept: (classes,) those not yet suppressed.
        """
        return self.violations(classes) & is_kept

    @property
    def relaxation(self) -> PrivacyModel | None:
        """A monotone model implied by this one; itself if it is monotone."""
        return self if self.monotone else None


@dataclass(frozen=True, kw_only=True)
class SensitiveModel(PrivacyModel):
    """A model of one sensitive column."""

    column: str

    @abstractmethod
    def min_class_size(self, secret: SensitiveColumn) -> int:
        """Return a lower bound of the people of a class, if every row is a person."""


@dataclass(frozen=True, kw_only=True)
class SizeModel(PrivacyModel):
    """A model of the number of people in a class."""

    monotone = True
    k: int

    def __post_init__(self) -> None:
        _check_at_least("k", self.k, 1)


@dataclass(frozen=True, kw_only=True)
class KAnonymity(SizeModel):
    """Every class has at least k published people (Samarati and Sweeney, 1998)."""

    kind = "k-anonymity"

    def __str__(self) -> str:
        return f"{self.k}-anonymity"

    def violations(self, classes: ClassStatistics) -> BoolArray:
        return (classes.people < self.k) & (classes.people > 0)


@dataclass(frozen=True, kw_only=True)
class KMap(SizeModel):
    """Every class has at least k people of the population table (Sweeney, 2002)."""

    kind = "k-map"

    def __str__(self) -> str:
        return f"{self.k}-map"

    def violations(self, classes: ClassStatistics) -> BoolArray:
        return (classes.population < self.k) & (classes.people > 0)


@dataclass(frozen=True, kw_only=True)
class DeltaPresence(PrivacyModel):
    """In every class, the published share of the population is between two bounds.

    Source: Nergiz, Atzori, Clifton (2007). A class without a published row cannot be
    suppressed: if it violates the model, the node is infeasible.
    """

    kind = "delta-presence"
    monotone = False
    lowest: float
    highest: float

    def __post_init__(self) -> None:
        if not 0 <= self.lowest <= self.highest <= 1:
            raise UsageError(
                (
                    f"the bounds ({self.lowest:g}, {self.highest:g}) must be ascending "
                    "and between 0 and 1"
                ),
                remedy="lower the first or raise the second",
            )

    def __str__(self) -> str:
        return f"({self.lowest:g}, {self.highest:g})-presence"

    def violations(self, classes: ClassStatistics) -> BoolArray:
        share = classes.people / np.maximum(classes.population, 1)
        return (share < self.lowest) | (share > self.highest)


class Diversity(SensitiveModel):
    """A model that requires a diversity of at least l of the sensitive values.

    A class has at least l different ones.
    """

    l: float  # noqa: E741

    def __post_init__(self) -> None:
        _check_at_least("l", self.l, 1)

    def min_class_size(self, secret: SensitiveColumn) -> int:
        return math.ceil(self.l)

    @property
    def relaxation(self) -> PrivacyModel:
        return (
            self
            if self.monotone
            else DistinctL(column=self.column, l=math.ceil(self.l))
        )


@dataclass(frozen=True, kw_only=True)
class DistinctL(Diversity):
    """Every class holds at least l distinct sensitive values.

    Source: Machanavajjhala et al. (2007).
    """

    kind = "distinct l-diversity"
    monotone = True
    l: int  # noqa: E741

    def __str__(self) -> str:
        return f"distinct {self.l}-diversity of {self.column}"

    def violations(self, classes: ClassStatistics) -> BoolArray:
        distinct = classes.histogram(self.column).distinct
        return np.asarray((distinct < self.l) & (distinct > 0))


@dataclass(frozen=True, kw_only=True)
class EntropyL(Diversity):
    """The Shannon entropy of the sensitive values in every class is at least ln l.

    Source: Machanavajjhala et al. (2007), in the form sum r ln r <= n (ln n - ln l),
    compared without a tolerance: classes exactly at the threshold are common, and this
    is how ARX decides them. Rounding closes a third of those; it lets none pass that is
    below. A class also needs ceil(l) distinct values.
    """

    kind = "entropy l-diversity"
    monotone = False
    l: float  # noqa: E741

    def __str__(self) -> str:
        return f"entropy {self.l:g}-diversity of {self.column}"

    def violations(self, classes: ClassStatistics) -> BoolArray:
        counts = classes.histogram(self.column)
        logs = classes.secrets[self.column].log_table
        weighted = counts.sum_by_class(counts.count * logs[counts.count])
        spread = counts.total * (logs[counts.total] - math.log(self.l))
        too_few = counts.distinct < math.ceil(self.l)
        return np.asarray(((weighted > spread) | too_few) & (counts.distinct > 0))


@dataclass(frozen=True, kw_only=True)
class RecursiveCL(Diversity):
    """In each class, r1 < c (r_l + ... + r_m) for value counts r1 >= ... >= r_m.

    The counts are those of the sensitive values. Source: Machanavajjhala et al. (2007),
    definition 4.3.
    """

    kind = "recursive (c, l)-diversity"
    monotone = False
    c: float
    l: int  # noqa: E741

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.c > 0:
            raise UsageError(f"c ({self.c:g}) must be above 0", remedy="raise c")

    def __str__(self) -> str:
        return f"recursive ({self.c:g}, {self.l})-diversity of {self.column}"

    def violations(self, classes: ClassStatistics) -> BoolArray:
        largest, tail = classes.histogram(self.column).largest_and_rest(self.l)
        return np.asarray((compare_exactly(largest, self.c, tail) >= 0) & (largest > 0))


@dataclass(frozen=True, kw_only=True)
class BetaLikeness(SensitiveModel):
    """In each class, a value is at most 1 + beta times as common as in the table.

    The excess is at most beta times the share in the table. Source: Cao, Karras (2012),
    Proc. VLDB Endow. 5:1388, definition 2.
    """

    kind = "beta-likeness"
    monotone = False
    compares_with_table = True
    beta: float

    def __post_init__(self) -> None:
        if not self.beta > 0:
            raise UsageError(
                f"beta ({self.beta:g}) must be above 0", remedy="raise beta"
            )

    def __str__(self) -> str:
        return f"{self.beta:g}-likeness of {self.column}"

    def violations(self, classes: ClassStatistics) -> BoolArray:
        counts = classes.histogram(self.column)
        table = classes.secrets[self.column].counts
        expected = counts.total[counts.group] * table[counts.value]
        more = (
            compare_exactly(counts.count * table.sum(), 1 + self.beta, expected) > 0
        ).astype(np.int64)
        return np.asarray(counts.sum_by_class(more) > 0)

    def min_class_size(self, secret: SensitiveColumn) -> int:
        return 1


@dataclass(frozen=True, kw_only=True)
class AverageRisk(PrivacyModel):
    """The mean prosecutor risk of all people is at most `most`.

    The risk of a person is 1 over the people of their class. It is a figure of all
    classes
    together: the smallest ones are suppressed until the others keep to it. A person in
    several classes counts in each. Together with k-anonymity it is the strict average
    risk.
    Source: El Emam (2013), Guide to the De-Identification of Personal Health
    Information.
    """

    kind = "average risk"
    monotone = False
    joint = True
    most: float

    def __post_init__(self) -> None:
        if not 0 < self.most <= 1:
            raise UsageError(
                f"the risk ({self.most:g}) must be above 0 and at most 1",
                remedy="take 0.1",
            )

    def __str__(self) -> str:
        return f"average risk of at most {self.most:g}"

    def violations(self, classes: ClassStatistics) -> BoolArray:
        return self.violations_among(classes, np.ones(len(classes.people), dtype=bool))

    def violations_among(
        self, classes: ClassStatistics, is_kept: BoolArray
    ) -> BoolArray:
        """Mark the smallest classes to suppress in order to meet the mean risk.

        Classes of one size share their fate.

        Args:
            is_kept: (classes,) those not yet suppressed.
        """
        is_kept = is_kept & (classes.people > 0)
        sizes, number = np.unique(classes.people[is_kept], return_counts=True)
        # Classes and people that remain if classes below each size are suppressed
        groups = np.cumsum(number[::-1])[::-1]
        people = np.cumsum((number * sizes)[::-1])[::-1]
        is_low_enough = compare_exactly(groups, self.most, people) <= 0
        if not is_low_enough.any():
            return is_kept
        return np.asarray(is_kept & (classes.people < sizes[is_low_enough.argmax()]))


def mark_violations(
    models: Sequence[PrivacyModel], classes: ClassStatistics
) -> BoolArray:
    """Return which classes violate any of the models, shape (classes,).

    If a class without a published person is (under delta-presence), no suppression can
    make the node feasible.
    """
    result = np.zeros(len(classes.people), dtype=bool)
    for model in sorted(models, key=lambda model: model.joint):
        result |= model.violations_among(classes, ~result)
    return result


def _check_at_least(name: str, value: float, lowest: int) -> None:
    if not value >= lowest:
        raise UsageError(
            "{name} ({value:g}) must be at least {lowest}",
            remedy="raise {name}",
            **{name: value},
            name=name,
            value=value,
            lowest=lowest,
        )
