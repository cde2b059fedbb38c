"""Information loss of a node: what an optimal search minimizes; the lowest value is the best.

Two kinds. Loss and non-uniform entropy are separable: without suppression they are a sum over the columns
that the marginals alone decide, and suppression only adds to it. So every node has a lower bound before any
class is known, and a better one from the number of suppressed rows. Discernibility and average class size
depend on the class sizes alone. Sums are of integers, so that the order of rows changes nothing. Definitions
are those of ARX 3.9.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dpcore.anonymize.fulldomain.grouper import ClassesOfNode
from dpcore.anonymize.fulldomain.lattice import Node
from dpcore.anonymize.fulldomain.tuples import Tuples, n_log_n
from dpcore.errors import ParameterError
from dpcore.tables.classes import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class InformationLoss:
    """How much of its domain a cell covers; a suppressed row covers all of it. Mean over the columns.

    Per column v = (covered - N / leaves) / (N - N / leaves), where covered sums, over the rows, the share of
    the hierarchy's leaves below the cell's label: 0 for original values, 1 for `*`; rounded down to 10 digits
    as in ARX. The geometric mean is prod (v + 1)^w - 1, with weights w that sum to 1.
    """

    mean: Literal["geometric", "arithmetic"] = "geometric"
    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    """By column name; 1 where none is given."""

    def __post_init__(self) -> None:
        _check_weights(self.weights)

    def bounds(self, table: Tuples) -> FloatArray:
        """The score of every node without suppression, a lower bound with it; flat, by index."""
        terms = [self._term(table, j, covered) for j, covered in enumerate(table.covered)]
        return self._joined(table.lattice.outer_sum(terms))

    def bounds_given(self, table: Tuples, nodes: IntArray, suppressed: IntArray) -> FloatArray:
        """A lower bound of the score of nodes (by index) that suppress so many rows (one number per node)."""
        total = np.zeros(len(nodes))
        for j, levels in enumerate(table.lattice.levels(nodes)):
            present: set[int] = set(levels.tolist())
            for level in present:
                here = levels == level
                added = np.interp(suppressed[here], *table.cheapest[j][level])
                total[here] += self._term(table, j, table.covered[j][level] + added)
        return self._joined(total)

    def bound_given(self, table: Tuples, node: Node, suppressed: int) -> float:
        """A lower bound of the score of one node that suppresses at least so many rows, but for rounding."""
        total, weights = 0.0, [self.weights.get(name, 1.0) for name in table.names]
        for j, (level, weight) in enumerate(zip(node, weights, strict=True)):
            covered = table.covered[j][level] + float(np.interp(suppressed, *table.cheapest[j][level]))
            most = table.rows * (len(table.hierarchies[j].values) - 1)
            value = math.floor((covered - table.rows) / max(most, 1) * 1e10) / 1e10
            total += weight / sum(weights) * (math.log1p(value) if self.mean == "geometric" else value)
        return math.expm1(total) if self.mean == "geometric" else total

    def score(self, classes: ClassesOfNode, suppressed: BoolArray) -> float:
        """The score of a node whose marked classes (one flag per class) are suppressed."""
        table = classes.table
        sizes = classes.sizes[suppressed]
        total = np.zeros(1)
        for j, level in enumerate(classes.node):
            added = len(table.hierarchies[j].values) - table.leaves[j][level][classes.labels(j, suppressed)]
            total += self._term(table, j, table.covered[j][level : level + 1] + added @ sizes)
        return float(self._joined(total)[0])

    def _term(self, table: Tuples, column: int, covered: IntArray | FloatArray) -> FloatArray:
        """What a column adds, from the leaves that its rows cover together (an integer)."""
        share = self.weights.get(table.names[column], 1.0) / sum(
            self.weights.get(name, 1.0) for name in table.names
        )
        leaves = len(table.hierarchies[column].values)
        least, most = table.rows, table.rows * leaves
        value = np.floor((covered - least) / max(most - least, 1) * 1e10) / 1e10
        return np.asarray(share * (np.log1p(value) if self.mean == "geometric" else value))

    def _joined(self, total: FloatArray) -> FloatArray:
        return np.expm1(total) if self.mean == "geometric" else total


@dataclass(frozen=True, kw_only=True)
class NonUniformEntropy:
    """Bits lost when values are joined, over all rows, plus the entropy of what is suppressed.

    Per column: -sum over rows of log2 (n(original value) / n(label)), and over the suppressed rows of
    log2 (n_s(label) / n_s). Source: De Waal and Willenborg (1999), Gionis and Tassa (2009), in ARX's form.
    """

    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    """By column name; 1 where none is given."""

    def __post_init__(self) -> None:
        _check_weights(self.weights)

    def bounds(self, table: Tuples) -> FloatArray:
        """The score of every node without suppression, a lower bound with it; flat, by index."""
        return table.lattice.outer_sum([self._lost(table, j) for j in range(len(table.names))])

    def bounds_given(self, table: Tuples, nodes: IntArray, suppressed: IntArray) -> FloatArray:
        """A lower bound of the score of nodes (by index) that suppress so many rows (one number per node)."""
        total = np.zeros(len(nodes))
        for j, levels in enumerate(table.lattice.levels(nodes)):
            lost = self._lost(table, j)
            present: set[int] = set(levels.tolist())
            for level in present:
                here = levels == level
                least = _least_entropy(*table.commonest[j][level], suppressed[here])
                total[here] += lost[level] + self._weight(table, j) * least
        return total

    def bound_given(self, table: Tuples, node: Node, suppressed: int) -> float:
        """A lower bound of the score of one node that suppresses at least so many rows, but for rounding."""
        total, rows = 0.0, np.array(suppressed)
        for j, level in enumerate(node):
            least = _least_entropy(*table.commonest[j][level], rows)
            total += self._weight(table, j) * float(table.bits[j][level] - table.bits[j][0] + least)
        return total

    def score(self, classes: ClassesOfNode, suppressed: BoolArray) -> float:
        """The score of a node whose marked classes (one flag per class) are suppressed."""
        table = classes.table
        sizes = classes.sizes[suppressed]
        total = 0.0
        for j, level in enumerate(classes.node):
            counts = np.bincount(classes.labels(j, suppressed), sizes)
            entropy = n_log_n(sizes.sum()) - n_log_n(counts).sum()
            total += self._lost(table, j)[level] + self._weight(table, j) * float(entropy)
        return float(total)

    def _lost(self, table: Tuples, column: int) -> FloatArray:
        """The bits lost at each level of a column."""
        sums = table.bits[column]
        return np.asarray(self._weight(table, column) * (sums - sums[0]))

    def _weight(self, table: Tuples, column: int) -> float:
        return self.weights.get(table.names[column], 1.0)


@dataclass(frozen=True, kw_only=True)
class Discernibility:
    """Sum of the squared class sizes, plus N for every suppressed row (Bayardo and Agrawal, 2005)."""

    def bounds(self, table: Tuples) -> FloatArray:
        """A lower bound of the score of every node: N rows in so many classes, all equally large."""
        return table.rows**2 / _most_classes(table)

    def above(self, classes: ClassesOfNode, least: int) -> float:
        """A lower bound for all generalizations, whose kept classes have at least so many rows."""
        sizes = classes.sizes.astype(np.float64)
        return float(sizes @ np.maximum(sizes, least))

    def most_suppressed(self, table: Tuples, score: float) -> float:
        """The rows that a node may suppress which scores no more than this."""
        return score / table.rows

    def score(self, classes: ClassesOfNode, suppressed: BoolArray) -> float:
        """The score of a node whose marked classes (one flag per class) are suppressed."""
        kept = classes.sizes[~suppressed].astype(np.float64)
        return float(kept @ kept + classes.table.rows * classes.sizes[suppressed].sum())

    def of(self, rows: int, classes: IntArray, squares: FloatArray, suppressed: IntArray) -> FloatArray:
        """The scores from the kept classes, the sum of their squared sizes and the suppressed rows."""
        return squares + rows * suppressed.astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class AverageClassSize:
    """N over the number of classes; all suppressed rows are one (LeFevre, DeWitt, Ramakrishnan, 2006)."""

    def bounds(self, table: Tuples) -> FloatArray:
        """A lower bound of the score of every node: one class for each combination of labels."""
        return table.rows / _most_classes(table)

    def above(self, classes: ClassesOfNode, least: int) -> float:
        """A lower bound for all generalizations, whose kept classes have at least so many rows."""
        small = classes.sizes < least
        most = np.count_nonzero(~small) + int(classes.sizes[small].sum()) // least + 1
        return classes.table.rows / most

    def most_suppressed(self, table: Tuples, score: float) -> float:
        """The rows that a node may suppress which scores no more than this: all."""
        return float(table.rows)

    def score(self, classes: ClassesOfNode, suppressed: BoolArray) -> float:
        """The score of a node whose marked classes (one flag per class) are suppressed."""
        sizes = classes.sizes
        kept = int(np.count_nonzero(sizes[~suppressed])) + bool(sizes[suppressed].any())
        return classes.table.rows / max(kept, 1)

    def of(self, rows: int, classes: IntArray, squares: FloatArray, suppressed: IntArray) -> FloatArray:
        """The scores from the kept classes and the suppressed rows."""
        return rows / np.maximum(classes + (suppressed > 0), 1)


Separable = InformationLoss | NonUniformEntropy
Counting = Discernibility | AverageClassSize
Metric = Separable | Counting


def _most_classes(table: Tuples) -> FloatArray:
    """Classes of every node, at most: combinations of labels, or rows; a little more, for rounding."""
    labels = [np.array([np.log(len(each)) for each in levels]) for levels in table.leaves]
    found = np.exp(np.minimum(table.lattice.outer_sum(labels), 60)) * (1 + 1e-9)
    return np.minimum(found, table.rows)


def _least_entropy(reached: FloatArray, bits: FloatArray, suppressed: IntArray) -> FloatArray:
    """The least entropy, in bits times rows, of so many rows: those with the most frequent labels."""
    whole = np.searchsorted(reached, suppressed, side="right") - 1
    rest = suppressed - reached[whole]
    return n_log_n(suppressed) - bits[whole] - n_log_n(rest)


def _check_weights(weights: Mapping[str, float]) -> None:
    for name, weight in weights.items():
        if not 0 < weight < float("inf"):
            raise ParameterError(
                "the weight of {column} ({weight:g}) must be above 0",
                remedy="give a positive weight",
                column=name,
                weight=weight,
            )
