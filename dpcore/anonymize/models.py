"""Privacy models: what every published equivalence class must fulfil.

A model looks at classes (their sizes, the histogram of a sensitive column) and says which of them violate
it; a violating class is suppressed. Every model here is monotone under generalization: joining two classes
that fulfil it gives one that does. `monotone` says that this also holds for the number of suppressed rows;
where it does not, `relaxation` names a weaker model with that property, by which a search may prune.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np

from dpcore.anonymize.fulldomain.tuples import Sensitive
from dpcore.errors import ParameterError
from dpcore.tables.classes import BoolArray, FloatArray, IntArray


class ClassStatistics(Protocol):
    """What a model may look at: one entry a class."""

    @property
    def sensitive(self) -> Mapping[str, Sensitive]:
        """The sensitive columns, as they are in the whole table."""

    @property
    def sizes(self) -> IntArray:
        """Published rows."""

    @property
    def population(self) -> IntArray:
        """Rows of the whole table."""

    def histogram(self, column: str) -> FloatArray:
        """Published rows by value of a sensitive column: values x classes."""


class Model(Protocol):
    """One privacy model."""

    monotone: ClassVar[bool]
    """Generalizing further never suppresses more rows."""

    def violations(self, classes: ClassStatistics) -> BoolArray:
        """Which classes violate the model; boolean, one a class.

        A class without a published row violates nothing but delta-presence.
        """

    @property
    def relaxation(self) -> Model | None:
        """A monotone model that every class fulfilling this one fulfils too; itself if it is monotone."""


@dataclass(frozen=True, kw_only=True)
class KAnonymity:
    """Every class has at least k published rows (Samarati and Sweeney, 1998)."""

    k: int
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _at_least("k", self.k, 1)

    def __str__(self) -> str:
        return f"{self.k}-anonymity"

    def violations(self, classes: ClassStatistics) -> BoolArray:
        return (classes.sizes < self.k) & (classes.sizes > 0)

    @property
    def relaxation(self) -> Model:
        return self


@dataclass(frozen=True, kw_only=True)
class KMap:
    """Every class has at least k rows of the population table (Sweeney, 2002)."""

    k: int
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _at_least("k", self.k, 1)

    def __str__(self) -> str:
        return f"{self.k}-map"

    def violations(self, classes: ClassStatistics) -> BoolArray:
        return (classes.population < self.k) & (classes.sizes > 0)

    @property
    def relaxation(self) -> Model:
        return self


@dataclass(frozen=True, kw_only=True)
class DeltaPresence:
    """In every class the share of the population that was published lies between two bounds.

    Source: Nergiz, Atzori, Clifton (2007). A class without a published row cannot be suppressed: if it
    violates the model, the node is infeasible.
    """

    lowest: float
    highest: float
    monotone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 <= self.lowest <= self.highest <= 1:
            raise ParameterError(
                "the bounds ({lowest:g}, {highest:g}) must be ascending and between 0 and 1",
                remedy="lower the first or raise the second",
                lowest=self.lowest,
                highest=self.highest,
            )

    def __str__(self) -> str:
        return f"({self.lowest:g}, {self.highest:g})-presence"

    def violations(self, classes: ClassStatistics) -> BoolArray:
        share = classes.sizes / classes.population
        return (share < self.lowest) | (share > self.highest)

    @property
    def relaxation(self) -> None:
        return None


@dataclass(frozen=True, kw_only=True)
class DistinctL:
    """Every class holds at least l distinct sensitive values (Machanavajjhala et al., 2007)."""

    column: str
    l: int  # noqa: E741
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _at_least("l", self.l, 1)

    def __str__(self) -> str:
        return f"distinct {self.l}-diversity of {self.column}"

    def violations(self, classes: ClassStatistics) -> BoolArray:
        distinct = np.count_nonzero(classes.histogram(self.column), axis=0)
        return np.asarray((distinct < self.l) & (distinct > 0))

    @property
    def relaxation(self) -> Model:
        return self


@dataclass(frozen=True, kw_only=True)
class EntropyL:
    """The Shannon entropy of the sensitive values in every class is at least ln l (Machanavajjhala et al.,
    2007).

    In the form sum r ln r <= n (ln n - ln l), compared without a tolerance: classes exactly at the threshold
    are common, and this is how ARX decides them. A class also needs ceil(l) distinct values.
    """

    column: str
    l: float  # noqa: E741
    monotone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _at_least("l", self.l, 1)

    def __str__(self) -> str:
        return f"entropy {self.l:g}-diversity of {self.column}"

    def violations(self, classes: ClassStatistics) -> BoolArray:
        counts = classes.histogram(self.column)
        logs = classes.sensitive[self.column].logs
        size = counts.sum(axis=0)
        weighted = (counts * logs[counts.astype(np.int64)]).sum(axis=0)
        spread = size * (logs[size.astype(np.int64)] - math.log(self.l))
        distinct = np.count_nonzero(counts, axis=0)
        return np.asarray(((weighted > spread) | (distinct < math.ceil(self.l))) & (distinct > 0))

    @property
    def relaxation(self) -> Model:
        return DistinctL(column=self.column, l=math.ceil(self.l))


@dataclass(frozen=True, kw_only=True)
class RecursiveCL:
    """r1 < c (r_l + ... + r_m) for the counts r1 >= r2 >= ... of the sensitive values in every class.

    Source: Machanavajjhala et al. (2007), definition 4.3.
    """

    column: str
    c: float
    l: int  # noqa: E741
    monotone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _at_least("l", self.l, 1)
        if not self.c > 0:
            raise ParameterError("c ({c:g}) must be above 0", remedy="raise c", c=self.c)

    def __str__(self) -> str:
        return f"recursive ({self.c:g}, {self.l})-diversity of {self.column}"

    def violations(self, classes: ClassStatistics) -> BoolArray:
        counts = np.sort(classes.histogram(self.column), axis=0)[::-1]
        return np.asarray((counts[0] >= self.c * counts[self.l - 1 :].sum(axis=0)) & (counts[0] > 0))

    @property
    def relaxation(self) -> Model:
        return DistinctL(column=self.column, l=self.l)


Distance = Literal["equal", "hierarchical", "ordered"]


@dataclass(frozen=True, kw_only=True)
class TCloseness:
    """The sensitive values of every class are within t of those of the whole table, in earth mover's
    distance.

    `equal`: all values are equally far apart (total variation). `hierarchical`: two values are as far apart
    as the level at which they meet, over the height. `ordered`: as far as their ranks, over the number of
    values - 1.
    Source: Li, Li, Venkatasubramanian (2007), section 3.
    """

    column: str
    t: float
    distance: Distance = "equal"
    monotone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 <= self.t <= 1:
            raise ParameterError("t ({t:g}) must be between 0 and 1", remedy="take t from 0 to 1", t=self.t)

    def __str__(self) -> str:
        return f"{self.t:g}-closeness of {self.column} ({self.distance} distance)"

    def violations(self, classes: ClassStatistics) -> BoolArray:
        secret = classes.sensitive[self.column]
        counts = classes.histogram(self.column)
        whole = secret.counts / max(secret.counts.sum(), 1)
        size = counts.sum(axis=0)
        excess = counts / np.maximum(size, 1) - whole[:, None]
        if self.distance == "equal":
            distance = np.abs(excess).sum(axis=0) / 2
        elif self.distance == "ordered":
            distance = np.abs(excess.cumsum(axis=0)).sum(axis=0) / max(len(whole) - 1, 1)
        else:
            distance = _tree_distance(excess, secret.parents)
        return np.asarray((distance > self.t) & (size > 0))

    @property
    def relaxation(self) -> None:
        return None


SensitiveModel = DistinctL | EntropyL | RecursiveCL | TCloseness
"""The models of one sensitive column."""


def violations(models: Sequence[Model], classes: ClassStatistics) -> BoolArray:
    """Which classes violate at least one of the models; boolean, one a class.

    Where one without a published row does (under delta-presence), no suppression can mend the node.
    """
    result = np.zeros(len(classes.sizes), dtype=bool)
    for model in models:
        result |= model.violations(classes)
    return result


def _tree_distance(excess: FloatArray, parents: Sequence[IntArray]) -> FloatArray:
    """Earth mover's distance over a tree with edges of length 1 / (2 height): the flow through all edges."""
    flow = np.abs(excess).sum(axis=0)
    for parent in parents[:-1]:
        excess = np.array([excess[parent == code].sum(axis=0) for code in range(parent.max() + 1)])
        flow += np.abs(excess).sum(axis=0)
    return np.asarray(flow / (2 * len(parents)))


def _at_least(name: str, value: float, lowest: int) -> None:
    if not value >= lowest:
        raise ParameterError(
            "{name} ({value:g}) must be at least {lowest}",
            remedy="raise {name}",
            **{name: value},
            name=name,
            value=value,
            lowest=lowest,
        )
