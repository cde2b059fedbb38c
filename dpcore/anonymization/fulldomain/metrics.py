"""Measures of the information that a node loses, for searches to minimize.

There are two kinds. Loss and non-uniform entropy are separable: without suppression
they are a sum over the columns that depends on the marginals alone, and suppression
only adds to it. So every node has a lower bound before any class is counted, and a
better one from the number of suppressed rows. Discernibility and average class size
depend on the class sizes alone. Sums are of integers, so that the order of rows changes
nothing. Definitions are those of ARX 3.9.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from dpcore.anonymization.fulldomain.counter import CountedClasses
from dpcore.anonymization.fulldomain.tuples import Tuples, n_log_n
from dpcore.errors import UsageError
from dpcore.registry import Registered
from dpcore.tables.classes import BoolArray, FloatArray, IntArray


class Metric(Registered, ABC, home="dpcore.anonymization"):
    """A measure of information loss with its parameters, registered by `kind`."""

    kind: ClassVar[str]
    """The name under which plans are stored."""

    @abstractmethod
    def bounds(self, table: Tuples) -> FloatArray:
        """Return a lower bound of every node's score, shape (nodes,)."""

    @abstractmethod
    def score(self, classes: CountedClasses, suppressed: BoolArray) -> float:
        """Return the score of a node with some classes suppressed.

        Args:
            suppressed: (classes,) flags.
        """


class SeparableMetric(Metric):
    """A metric that sums one term per column; without suppression, marginals
    suffice.
    """

    weights: Mapping[str, float]
    """Weight of each column, by name; 1 if none is given."""

    def __post_init__(self) -> None:
        for name, weight in self.weights.items():
            if not 0 < weight < float("inf"):
                raise UsageError(
                    f"the weight of {name} ({weight:g}) must be above 0",
                    remedy="give a positive weight",
                )

    @abstractmethod
    def terms(self, table: Tuples, column: int, added: float = 0) -> FloatArray:
        """Return a column's term of the score at each level, shape (levels,)."""

    @abstractmethod
    def added_by_suppression(
        self,
        classes: CountedClasses,
        column: int,
        class_numbers: IntArray,
        rows: IntArray,
    ) -> float:
        """Return how much suppressed rows add to a column's term.

        Specializations that suppress the same rows add no less.

        Args:
            classes: of a node.
            column: its number.
            class_numbers: numbers of classes.
            rows: suppressed rows of each.
        """

    @abstractmethod
    def min_term(
        self, table: Tuples, column: int, level: int, suppressed: IntArray
    ) -> FloatArray:
        """Return a column's smallest term for each number of suppressed rows."""

    def scores_from_sums(self, total: FloatArray) -> FloatArray:
        """Convert sums over the columns to scores."""
        return total

    def bounds(self, table: Tuples) -> FloatArray:
        columns = range(len(table.names))
        return self.scores_from_sums(
            table.lattice.outer_sum([self.terms(table, column) for column in columns])
        )

    def bounds_given_suppression(
        self, table: Tuples, nodes: IntArray, suppressed: IntArray
    ) -> FloatArray:
        """Return lower bounds of nodes' scores, given their suppressed rows.

        Args:
            table: the distinct tuples.
            nodes: by index.
            suppressed: (nodes,) rows.
        """
        total = np.zeros(len(nodes))
        for column, levels in enumerate(table.lattice.levels(nodes)):
            for level in np.unique(levels).tolist():
                here = levels == level
                total[here] += self.min_term(table, column, level, suppressed[here])
        return self.scores_from_sums(total)

    def terms_up_to_node(
        self, classes: CountedClasses, class_numbers: IntArray, rows: IntArray
    ) -> list[FloatArray]:
        """Return each column's terms at its levels up to that of the node.

        Args:
            class_numbers: numbers of classes.
            rows: suppressed rows of each.
        """
        return [
            self.terms(
                classes.table,
                column,
                self.added_by_suppression(classes, column, class_numbers, rows),
            )[: level + 1]
            for column, level in enumerate(classes.node)
        ]

    def score(self, classes: CountedClasses, suppressed: BoolArray) -> float:
        marked = suppressed.nonzero()[0]
        terms = self.terms_up_to_node(classes, marked, classes.sizes[marked])
        return float(self.scores_from_sums(np.asarray(sum(term[-1] for term in terms))))


@dataclass(frozen=True, kw_only=True)
class InformationLoss(SeparableMetric):
    """Mean over columns of the share of a column's domain that a label covers.

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
            table,
            column,
            np.asarray(table.covered_leaves[column] + added, dtype=np.float64),
        )

    def added_by_suppression(
        self,
        classes: CountedClasses,
        column: int,
        class_numbers: IntArray,
        rows: IntArray,
    ) -> float:
        leaves = classes.table.leaf_counts[column][classes.node[column]]
        more = len(classes.table.hierarchies[column].values) - leaves
        return int(more.take(classes.labels(column, class_numbers)) @ rows)

    def min_term(
        self, table: Tuples, column: int, level: int, suppressed: IntArray
    ) -> FloatArray:
        added = np.interp(suppressed, *table.least_suppression_cost[column][level])
        return self._term(table, column, table.covered_leaves[column][level] + added)

    def _term(
        self, table: Tuples, column: int, covered: IntArray | FloatArray
    ) -> FloatArray:
        """Return a column's term from the covered leaves, summed over the rows."""
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

    def scores_from_sums(self, total: FloatArray) -> FloatArray:
        return np.expm1(total) if self.mean == "geometric" else total


@dataclass(frozen=True, kw_only=True)
class NonUniformEntropy(SeparableMetric):
    """Bits lost by merging values, over all rows, plus the entropy of suppressed cells.

    Per column: -sum over rows of log2 (n(original value) / n(label)), and over the
    suppressed rows of log2 (n_s(label) / n_s). Source: De Waal and Willenborg (1999),
    Gionis and Tassa (2009), in ARX's form.
    """

    kind = "non-uniform entropy"

    weights: Mapping[str, float] = field(default_factory=dict, hash=False)

    def terms(self, table: Tuples, column: int, added: float = 0) -> FloatArray:
        sums = table.n_log_n_sums[column]
        return np.asarray(self._weight(table, column) * (sums - sums[0] + added))

    def added_by_suppression(
        self,
        classes: CountedClasses,
        column: int,
        class_numbers: IntArray,
        rows: IntArray,
    ) -> float:
        counts = np.bincount(classes.labels(column, class_numbers), rows)
        return float(n_log_n(rows.sum()) - n_log_n(counts).sum())

    def min_term(
        self, table: Tuples, column: int, level: int, suppressed: IntArray
    ) -> FloatArray:
        # The entropy is smallest if the most frequent labels are suppressed first
        reached, bits = table.most_frequent_labels[column][level]
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
    """A metric that depends on the class sizes alone."""

    @abstractmethod
    def bound_generalizations(
        self, classes: CountedClasses, min_class_rows: int
    ) -> float:
        """Return a lower bound of the scores of all generalizations.

        Args:
            classes: of a node.
            min_class_rows: rows of each class that a generalization publishes, at least.
        """

    @abstractmethod
    def max_suppressed(self, table: Tuples, score: float) -> float:
        """Return the most rows suppressed by a node with at most this score."""

    @abstractmethod
    def score_counts(
        self, rows: int, classes: IntArray, squares: FloatArray, suppressed: IntArray
    ) -> FloatArray:
        """Compute scores from counts of classes and rows, shape (nodes,).

        Args:
            rows: of the table.
            classes: that are published.
            squares: sums of their squared sizes.
            suppressed: rows.
        """

    def score(self, classes: CountedClasses, suppressed: BoolArray) -> float:
        kept = classes.sizes[~suppressed].astype(np.float64)
        gone = classes.sizes[suppressed].sum()
        return float(
            self.score_counts(
                classes.table.rows, np.array(np.count_nonzero(kept)), kept @ kept, gone
            )
        )


@dataclass(frozen=True, kw_only=True)
class Discernibility(ClassSizeMetric):
    """Sum of squared class sizes, plus the table's size for each suppressed row.

    Source: Bayardo and Agrawal (2005).
    """

    kind = "discernibility"

    def bounds(self, table: Tuples) -> FloatArray:
        return table.rows**2 / _max_classes(table)

    def bound_generalizations(
        self, classes: CountedClasses, min_class_rows: int
    ) -> float:
        sizes = classes.sizes.astype(np.float64)
        return float(sizes @ np.maximum(sizes, min_class_rows))

    def max_suppressed(self, table: Tuples, score: float) -> float:
        return score / table.rows

    def score_counts(
        self, rows: int, classes: IntArray, squares: FloatArray, suppressed: IntArray
    ) -> FloatArray:
        return squares + rows * suppressed.astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class AverageClassSize(ClassSizeMetric):
    """Rows per class (LeFevre, DeWitt, Ramakrishnan, 2006).

    All suppressed rows are one class.
    """

    kind = "average class size"

    def bounds(self, table: Tuples) -> FloatArray:
        return table.rows / _max_classes(table)

    def bound_generalizations(
        self, classes: CountedClasses, min_class_rows: int
    ) -> float:
        small = classes.sizes < min_class_rows
        most = (
            np.count_nonzero(~small)
            + int(classes.sizes[small].sum()) // min_class_rows
            + 1
        )
        return classes.table.rows / most

    def max_suppressed(self, table: Tuples, score: float) -> float:
        return float(table.rows)

    def score_counts(
        self, rows: int, classes: IntArray, squares: FloatArray, suppressed: IntArray
    ) -> FloatArray:
        return rows / np.maximum(classes + (suppressed > 0), 1)


def _max_classes(table: Tuples) -> FloatArray:
    """Return an upper bound of each node's number of classes, shape (nodes,).

    The bounds are combinations of labels, or rows, and a little more for rounding.
    """
    log_widths = [
        np.array([np.log(len(labels)) for labels in levels])
        for levels in table.leaf_counts
    ]
    combinations = np.exp(np.minimum(table.lattice.outer_sum(log_widths), 60)) * (
        1 + 1e-9
    )
    return np.minimum(combinations, table.rows)
