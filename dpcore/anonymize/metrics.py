"""Information loss of a node: what an optimal search minimizes; the lowest value is the best.

Two kinds. Loss and non-uniform entropy are separable: without suppression they are a sum over the columns that the
marginals alone decide, and suppression only adds to it. So every node has a lower bound before any class is known.
Discernibility and average class size depend on the class sizes alone. Sums are of integers, so that the order of rows
changes nothing. Definitions are those of ARX 3.9.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from dpcore.anonymize.classes import Classes
from dpcore.anonymize.tuples import Tuples
from dpcore.errors import ParameterError


class Metric(Protocol):
    """One measure of information loss."""

    def bounds(self, table: Tuples) -> np.ndarray:
        """A lower bound of the score of every node; flat, in the order of the lattice."""

    def bounds_given(self, table: Tuples, nodes: np.ndarray, suppressed: np.ndarray) -> np.ndarray:
        """A lower bound of the score of some nodes (indices) if so many rows (one number a node) are suppressed."""

    def score(self, classes: Classes, suppressed: np.ndarray) -> float:
        """The score of a node whose marked classes (boolean, one a class) are suppressed."""


@dataclass(frozen=True, kw_only=True)
class Loss:
    """How much of its domain a cell covers; a suppressed row covers all of it. Mean over the columns.

    Per column v = (covered - N / leaves) / (N - N / leaves), where covered sums, over the rows, the share of the
    hierarchy's leaves below the cell's label: 0 for original values, 1 for `*`; rounded down to 10 digits as in ARX.
    The geometric mean is prod (v + 1)^w - 1, with weights w that sum to 1.
    """

    mean: Literal["geometric", "arithmetic"] = "geometric"
    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    """By column name; 1 where none is given."""

    def __post_init__(self) -> None:
        _check_weights(self.weights)

    def bounds(self, table: Tuples) -> np.ndarray:
        shares = _shares(self.weights, table)
        terms = [self._term(table, j, covered, shares[j]) for j, covered in enumerate(table.covered)]
        return self._join(table.lattice.outer_sum(terms))

    def bounds_given(self, table: Tuples, nodes: np.ndarray, suppressed: np.ndarray) -> np.ndarray:
        shares = _shares(self.weights, table)
        total = np.zeros(len(nodes))
        for j, levels in enumerate(table.lattice.levels(nodes)):
            for level in range(table.lattice.shape[j]):
                here = levels == level
                added = _cheapest(table, j, level, suppressed[here])
                total[here] += self._term(table, j, table.covered[j][level] + added, shares[j])
        return self._join(total)

    def score(self, classes: Classes, suppressed: np.ndarray) -> float:
        table = classes.table
        shares = _shares(self.weights, table)
        keys, sizes = classes.class_keys[suppressed], classes.sizes[suppressed]
        rows = sizes.sum()
        total = np.float64(0)
        for j, level in enumerate(classes.node):
            covered = table.covered[j][level]
            if rows:
                lost = table.leaves[j][level][table.digits(keys, j)] @ sizes
                covered = covered - lost + rows * len(table.hierarchies[j].values)
            total += self._term(table, j, covered, shares[j])
        return float(self._join(total))

    def _term(self, table: Tuples, column: int, covered: np.ndarray, share: float) -> np.ndarray:
        """What a column adds, from the leaves that its rows cover (rows x leaves: integers)."""
        leaves = len(table.hierarchies[column].values)
        least, most = table.rows, table.rows * leaves
        value = np.floor((covered - least) / max(most - least, 1) * 1e10) / 1e10
        return share * (np.log1p(value) if self.mean == "geometric" else value)

    def _join(self, total: np.ndarray) -> np.ndarray:
        return np.expm1(total) if self.mean == "geometric" else total


@dataclass(frozen=True, kw_only=True)
class NonUniformEntropy:
    """Bits lost when values are joined, over all rows, plus the entropy of what is suppressed.

    Per column: -sum over rows of log2 (n(original value) / n(label)), and over the suppressed rows -log2 (n_s(label) /
    n_s). Source: De Waal and Willenborg (1999), Gionis and Tassa (2009); ARX's form.
    """

    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    """By column name; 1 where none is given."""

    def __post_init__(self) -> None:
        _check_weights(self.weights)

    def bounds(self, table: Tuples) -> np.ndarray:
        return table.lattice.outer_sum(self._terms(table))

    def bounds_given(self, table: Tuples, nodes: np.ndarray, suppressed: np.ndarray) -> np.ndarray:
        terms = self._terms(table)
        total = np.zeros(len(nodes))
        for j, levels in enumerate(table.lattice.levels(nodes)):
            weight = self.weights.get(table.names[j], 1)
            for level, lost in enumerate(terms[j]):
                here = levels == level
                total[here] += lost + weight * _least_entropy(table.marginals[j][level], suppressed[here])
        return total

    def score(self, classes: Classes, suppressed: np.ndarray) -> float:
        table = classes.table
        keys, sizes = classes.class_keys[suppressed], classes.sizes[suppressed]
        rows = sizes.sum()
        total = 0.0
        for j, (level, term) in enumerate(zip(classes.node, self._terms(table), strict=True)):
            total += term[level]
            if rows:
                counts = np.bincount(table.digits(keys, j), sizes)
                total += self.weights.get(table.names[j], 1) * _bits_apart(counts[counts > 0], rows)
        return float(total)

    def _terms(self, table: Tuples) -> list[np.ndarray]:
        terms = []
        for name, marginals, codes in zip(table.names, table.marginals, table.codes, strict=True):
            leaf = marginals[0]
            seen = leaf > 0
            lost = [
                _bits_apart(leaf[seen], marginal[code][seen])
                for marginal, code in zip(marginals, codes, strict=True)
            ]
            terms.append(self.weights.get(name, 1) * np.array(lost))
        return terms


@dataclass(frozen=True, kw_only=True)
class Discernibility:
    """Sum of the squared sizes of the classes, plus N for every suppressed row (Bayardo and Agrawal, 2005)."""

    def bounds(self, table: Tuples) -> np.ndarray:
        return np.zeros(table.lattice.size)

    def score(self, classes: Classes, suppressed: np.ndarray) -> float:
        kept = classes.sizes[~suppressed]
        return float(self.of(classes.table.rows, len(kept), kept @ kept, classes.sizes[suppressed].sum()))

    def of(self, rows: int, classes: np.ndarray, squares: np.ndarray, suppressed: np.ndarray) -> np.ndarray:
        """From the kept classes, the sum of their squared sizes and the suppressed rows."""
        return squares + rows * suppressed


@dataclass(frozen=True, kw_only=True)
class AverageClassSize:
    """N over the number of classes; the suppressed rows together are one (LeFevre, DeWitt, Ramakrishnan, 2006)."""

    def bounds(self, table: Tuples) -> np.ndarray:
        return np.ones(table.lattice.size)

    def score(self, classes: Classes, suppressed: np.ndarray) -> float:
        kept = np.count_nonzero(classes.sizes[~suppressed])
        return float(self.of(classes.table.rows, np.int64(kept), np.int64(0), classes.sizes[suppressed].sum()))

    def of(self, rows: int, classes: np.ndarray, squares: np.ndarray, suppressed: np.ndarray) -> np.ndarray:
        """From the kept classes and the suppressed rows."""
        return rows / np.maximum(classes + (suppressed > 0), 1)


def _cheapest(table: Tuples, column: int, level: int, suppressed: np.ndarray) -> np.ndarray:
    """The least leaves that suppressing so many rows adds: the rows with the most general labels cost least."""
    leaves, rows = table.leaves[column][level], table.marginals[column][level]
    order = np.argsort(-leaves, kind="stable")
    cost = len(table.hierarchies[column].values) - leaves[order]
    reached = np.concatenate(([0], rows[order].cumsum()))
    return np.interp(suppressed, reached, np.concatenate(([0], (rows[order] * cost).cumsum())))


def _least_entropy(rows: np.ndarray, suppressed: np.ndarray) -> np.ndarray:
    """The least entropy, in bits times rows, of so many rows: those with the most frequent labels."""
    ordered = -np.sort(-rows)
    reached = np.concatenate(([0], ordered.cumsum()))
    whole = np.searchsorted(reached, suppressed, side="right") - 1
    rest = suppressed - reached[whole]
    filled = np.concatenate(([0], _weighted_log(ordered).cumsum()))
    return _weighted_log(suppressed) - filled[whole] - _weighted_log(rest)


def _weighted_log(counts: np.ndarray) -> np.ndarray:
    """n log2 n, 0 for 0."""
    return counts * np.log2(np.maximum(counts, 1))


def _bits_apart(counts: np.ndarray, whole: np.ndarray) -> float:
    return float(-(counts * np.log2(counts / whole)).sum())


def _shares(weights: Mapping[str, float], table: Tuples) -> np.ndarray:
    """The weight of every column, summing to 1."""
    raw = np.array([weights.get(name, 1.0) for name in table.names])
    return raw / raw.sum()


def _check_weights(weights: Mapping[str, float]) -> None:
    for name, weight in weights.items():
        if not 0 < weight < float("inf"):
            raise ParameterError(
                f"the weight of {name} ({weight:g}) must be above 0", remedy="give a positive weight", column=name
            )
