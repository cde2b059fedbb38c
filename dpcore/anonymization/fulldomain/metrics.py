"""Information loss of a node, which an optimal search minimizes.

Two kinds. Loss and non-uniform entropy are separable: without suppression they are a
sum over the columns that the marginals alone decide, and suppression only adds to it.
So every node has a lower bound before any class is known, and a better one from the
number of suppressed rows. Discernibility and average class size depend on the class
sizes alone. Sums are of integers, so that the order of rows changes nothing.
Definitions are those of ARX 3.9.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from dpcore.anonymization.fulldomain.counter import Counted
from dpcore.anonymization.fulldomain.tuples import Tuples, n_log_n
from dpcore.errors import UsageError
from dpcore.registry import Registered
from dpcore.tables.classes import BoolArray, FloatArray, IntArray


class Metric(Registered, ABC, home="dpcore.anonymization"):
    """A measure of what a node loses, a frozen class of its parameters that is
    registered by its `kind`.
    """

    kind: ClassVar[str]
    """The name under which plans are stored."""

    @abstractmethod
    def bounds(self, table: Tuples) -> FloatArray:
        """(nodes,) a lower bound of the score of every node, by index."""

    @abstractmethod
    def score(self, classes: Counted, suppressed: BoolArray) -> float:
        """Return the score of a node of which some classes are suppressed.

        Args:
            suppressed: (classes,).
        """


class Separable(Metric):
    """A sum over the columns. Without suppression the marginals alone decide it."""

    weights: Mapping[str, float]
    """By column name; 1 where none is given."""

    def __post_init__(self) -> None:
        for name, weight in self.weights.items():
            if not 0 < weight < float("inf"):
                raise UsageError(
                    f"the weight of {name} ({weight:g}) must be above 0",
                    remedy="give a positive weight",
                )

    @abstractmethod
    def terms(self, table: Tuples, column: int, added: float = 0) -> FloatArray:
        """(levels,) what a column adds at each of its levels, where suppression adds so
        much to it.
        """

    @abstractmethod
    def added(
        self, classes: Counted, column: int, marked: IntArray, rows: IntArray
    ) -> float:
        """Return what suppressing so many rows of some classes adds to a column.

        Specializations that suppress them too add no less.
        """

    @abstractmethod
    def term_given(
        self, table: Tuples, column: int, level: int, suppressed: IntArray
    ) -> FloatArray:
        """Return the least that a column adds, one for each number of rows in
        `suppressed`.
        """

    def joined(self, total: FloatArray) -> FloatArray:
        """Return the scores from the sums over the columns."""
        return total

    def bounds(self, table: Tuples) -> FloatArray:
        columns = range(len(table.names))
        return self.joined(
            table.lattice.outer_sum([self.terms(table, column) for column in columns])
        )

    def bounds_given(
        self, table: Tuples, nodes: IntArray, suppressed: IntArray
    ) -> FloatArray:
        """(nodes,) lower bounds of the scores of nodes, by index, that suppress so many
        rows.
        """
        total = np.zeros(len(nodes))
        for column, levels in enumerate(table.lattice.levels(nodes)):
            for level in np.unique(levels).tolist():
                here = levels == level
                total[here] += self.term_given(table, column, level, suppressed[here])
        return self.joined(total)

    def terms_above(
        self, classes: Counted, marked: IntArray, rows: IntArray
    ) -> list[FloatArray]:
        """Return what each column adds from its finest level to its own, where these
        rows are suppressed.

        Args:
            marked: numbers of classes.
            rows: to be suppressed of each.
        """
        return [
            self.terms(
                classes.table, column, self.added(classes, column, marked, rows)
            )[: level + 1]
            for column, level in enumerate(classes.node)
        ]

    def score(self, classes: Counted, suppressed: BoolArray) -> float:
        marked = suppressed.nonzero()[0]
        terms = self.terms_above(classes, marked, classes.sizes[marked])
        return float(self.joined(np.asarray(sum(term[-1] for term in terms))))


@dataclass(frozen=True, kw_only=True)
class InformationLoss(Separable):
    """The share of its domain that a cell covers, mean over the columns.

    A suppressed row covers all of it.

    Per column v = (covered - N / leaves) / (N - N / leaves), where covered sums, over
    the rows, the share of the hierarchy's leaves below the cell's label: 0 for original
    values, 1 for `*`; rounded down to 10 digits as in ARX. The geometric mean is prod
    (v + 1)^w - 1, with weights w that sum to 1.
    """

    kind = "loss"

    mean: Literal["geometric", "arithmetic"] = "geometric"
    weights: Mapping[str, float] = field(default_factory=dict, hash=False)

    def terms(self, table: Tuples, column: int, added: float = 0) -> FloatArray:
        return self._term(
            table, column, np.asarray(table.covered[column] + added, dtype=np.float64)
        )

    def added(
        self, classes: Counted, column: int, marked: IntArray, rows: IntArray
    ) -> float:
        leaves = classes.table.leaves[column][classes.node[column]]
        more = len(classes.table.hierarchies[column].values) - leaves
        return int(more.take(classes.labels(column, marked)) @ rows)

    def term_given(
        self, table: Tuples, column: int, level: int, suppressed: IntArray
    ) -> FloatArray:
        added = np.interp(suppressed, *table.cheapest[column][level])
        return self._term(table, column, table.covered[column][level] + added)

    def _term(
        self, table: Tuples, column: int, covered: IntArray | FloatArray
    ) -> FloatArray:
        """Return what a column adds, from the leaves that its rows cover together (an
        integer).
        """
        weights = (
            [self.weights.get(name, 1.0) for name in table.names]
            if self.weights
            else ()
        )
        most = table.rows * (len(table.hierarchies[column].values) - 1)
        value = np.floor((covered - table.rows) / max(most, 1) * 1e10) / 1e10
        share = weights[column] / sum(weights) if weights else 1 / len(table.names)
        return np.asarray(
            share * (np.log1p(value) if self.mean == "geometric" else value)
        )

    def joined(self, total: FloatArray) -> FloatArray:
        return np.expm1(total) if self.mean == "geometric" else total


@dataclass(frozen=True, kw_only=True)
class NonUniformEntropy(Separable):
    """Bits lost when values are joined, over all rows, plus the entropy of what is
    suppressed.

    Per column: -sum over rows of log2 (n(original value) / n(label)), and over the
    suppressed rows of log2 (n_s(label) / n_s). Source: De Waal and Willenborg (1999),
    Gionis and Tassa (2009), in ARX's form.
    """

    kind = "non-uniform entropy"

    weights: Mapping[str, float] = field(default_factory=dict, hash=False)

    def terms(self, table: Tuples, column: int, added: float = 0) -> FloatArray:
        sums = table.bits[column]
        return np.asarray(self._weight(table, column) * (sums - sums[0] + added))

    def added(
        self, classes: Counted, column: int, marked: IntArray, rows: IntArray
    ) -> float:
        counts = np.bincount(classes.labels(column, marked), rows)
        return float(n_log_n(rows.sum()) - n_log_n(counts).sum())

    def term_given(
        self, table: Tuples, column: int, level: int, suppressed: IntArray
    ) -> FloatArray:
        reached, bits = table.commonest[column][level]
        # of the most frequent labels
        whole = np.searchsorted(reached, suppressed, side="right") - 1
        entropy = (
            n_log_n(suppressed) - bits[whole] - n_log_n(suppressed - reached[whole])
        )
        return np.asarray(
            self.terms(table, column)[level] + self._weight(table, column) * entropy
        )

    def _weight(self, table: Tuples, column: int) -> float:
        return self.weights.get(table.names[column], 1.0)


class ClassSizeMetric(Metric):
    """A figure that the class sizes alone decide."""

    @abstractmethod
    def above(self, classes: Counted, least: int) -> float:
        """Return a lower bound for all generalizations, whose kept classes have at
        least so many rows.
        """

    @abstractmethod
    def most_suppressed(self, table: Tuples, score: float) -> float:
        """Return the rows, at most, that a node suppresses which scores no more than
        this.
        """

    @abstractmethod
    def of(
        self, rows: int, classes: IntArray, squares: FloatArray, suppressed: IntArray
    ) -> FloatArray:
        """(nodes,) the scores from the kept classes, the sum of their squared sizes,
        the suppressed rows.
        """

    def score(self, classes: Counted, suppressed: BoolArray) -> float:
        kept = classes.sizes[~suppressed].astype(np.float64)
        gone = classes.sizes[suppressed].sum()
        return float(
            self.of(
                classes.table.rows, np.array(np.count_nonzero(kept)), kept @ kept, gone
            )
        )


@dataclass(frozen=True, kw_only=True)
class Discernibility(ClassSizeMetric):
    """Sum of the squared class sizes, plus N for every suppressed row (Bayardo and
    Agrawal, 2005).
    """

    kind = "discernibility"

    def bounds(self, table: Tuples) -> FloatArray:
        return table.rows**2 / _most_classes(table)

    def above(self, classes: Counted, least: int) -> float:
        sizes = classes.sizes.astype(np.float64)
        return float(sizes @ np.maximum(sizes, least))

    def most_suppressed(self, table: Tuples, score: float) -> float:
        return score / table.rows

    def of(
        self, rows: int, classes: IntArray, squares: FloatArray, suppressed: IntArray
    ) -> FloatArray:
        return squares + rows * suppressed.astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class AverageClassSize(ClassSizeMetric):
    """N over the number of classes (LeFevre, DeWitt, Ramakrishnan, 2006).

    All suppressed rows are one class.
    """

    kind = "average class size"

    def bounds(self, table: Tuples) -> FloatArray:
        return table.rows / _most_classes(table)

    def above(self, classes: Counted, least: int) -> float:
        small = classes.sizes < least
        most = np.count_nonzero(~small) + int(classes.sizes[small].sum()) // least + 1
        return classes.table.rows / most

    def most_suppressed(self, table: Tuples, score: float) -> float:
        return float(table.rows)

    def of(
        self, rows: int, classes: IntArray, squares: FloatArray, suppressed: IntArray
    ) -> FloatArray:
        return rows / np.maximum(classes + (suppressed > 0), 1)


def _most_classes(table: Tuples) -> FloatArray:
    """Upper bounds of the classes of every node.

    The bounds are combinations of labels, or rows, and a little more for rounding.
    """
    labels = [
        np.array([np.log(len(each)) for each in levels]) for levels in table.leaves
    ]
    combinations = np.exp(np.minimum(table.lattice.outer_sum(labels), 60)) * (1 + 1e-9)
    return np.minimum(combinations, table.rows)
