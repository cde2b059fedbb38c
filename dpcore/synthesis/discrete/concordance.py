"""Whether two ordered columns rise together, told by one number for each pair.

A row counts 1 where it lies on one side of both medians, -1 where it lies on different
ones. Of all scores from -1 to 1 these tell a weak relation of normal numbers best, and
the number takes as much noise as a single cell of the pair's table. What is believed of
it moves the table of the model: along the products of normal scores, with its columns
kept, so that a pair of which the model knows nothing gets a normal relation, and one
that it measured over runs gets back what noise and runs took.

Source: Blomqvist (1950), "On a measure of dependence between two random variables", for
the number; Goodman (1979), linear-by-linear association, for the move, with the scores
of van der Waerden.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpcore.accounting.loss import Loss, PureDP
from dpcore.mechanisms.max_norm import MAX_ENTRIES
from dpcore.mechanisms.measurer import Measurer
from dpcore.mechanisms.sensitivity import noise_scale, noise_variance
from dpcore.schema.domain import Clique
from dpcore.synthesis.discrete.refinement import passes_for
from dpcore.synthesis.discrete.workload import denoise_errors
from dpcore.tables.counts import Marginal, Values, pack, unpack
from dpcore.tables.sums import Entry, levels

MAX_SHARE = Fraction(10, 100)  # of the loss of a release
USEFUL_NOISE = 0.0075
MAX_NOISE = 0.25
MAX_NOISE_OF_ONE = 0.05
"""Deviations of a number, in parts of all rows: one that is not worth more, and those
that tell nothing, of many pairs and of a single one, whose noise is hardly told from a
relation.
"""
# a relation of normal numbers of which nine tenths of the variance are one
MAX_STRENGTH = 5.0
HALVINGS = 12
SWEEPS = 6
LAST_SWEEPS = 40
MOVED_VARIANCE = 0.2  # variance of a moved table in parts of that of the measured one


def concordance_share(
    sizes: Sequence[int],
    ordered: int,
    loss: Loss,
    rows: int,
    table_rows: float,
) -> Fraction:
    """Return the part of the loss for these numbers: 0 where they drown, or rows stay
    as they are drawn.

    Under pure epsilon, whose noise grows with their number, it was not tried.

    Args:
        sizes: cells of each column, about.
        ordered: how many of them have an order.
        loss: of the release.
        rows: that a person may hold.
        table_rows: about how many rows there are.
    """
    pairs = ordered * (ordered - 1) // 2
    if (
        isinstance(loss, PureDP)
        or not pairs
        or not passes_for(round(table_rows), sizes, 0.0)
    ):
        return Fraction(0)
    scale = noise_scale(rows=rows, queries=pairs, loss=loss)
    part = noise_variance(scale, loss) / (USEFUL_NOISE * table_rows) ** 2
    # of what they are of all pairs
    half = Fraction(pairs, len(sizes) * (len(sizes) - 1))
    share = min(MAX_SHARE, half, Fraction(max(1, round(1000 * min(part, 1.0))), 1000))
    loud = min(MAX_NOISE**2, MAX_NOISE_OF_ONE**2 * pairs)
    return share if part * USEFUL_NOISE**2 <= share * loud else Fraction(0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Concordances:
    """Numbers of pairs of ordered columns.

    Attributes:
        sides: column -> -1, 0 or 1 of each cell, 0 of what has no order.
        rows: pair -> rows on one side of both medians less those on different ones,
            noisy or believed.
    """

    sides: Mapping[str, Values]
    rows: Mapping[Clique, float]

    @classmethod
    def measure(
        cls, view: Measurer, counts: Mapping[str, Values], loss: Loss
    ) -> tuple[Concordances, float]:
        """Spend `loss` on all pairs, and return them with the deviation of their noise,
        in rows.

        Args:
            view: the table over groups.
            counts: column -> noisy rows, above 0, of those of its cells that have an
                order, the first ones.
            loss: spent whole.
        """
        sides = {
            name: _median_sides(rows, view.domain.size(name))
            for name, rows in counts.items()
        }
        pairs = list(itertools.combinations(sides, 2))
        entries: list[Entry] = [
            {name: levels(sides[name]) for name in pair} for pair in pairs
        ]
        rows: dict[Clique, float] = {}
        for first in range(0, len(pairs), MAX_ENTRIES):
            some = slice(first, first + MAX_ENTRIES)
            sums = view.sums(
                (), entries[some], loss.share(Fraction(len(pairs[some]), len(pairs)))
            )
            rows |= dict(zip(pairs[some], sums.values[0].tolist(), strict=True))
        return cls(sides=sides, rows=rows), sums.deviation

    def number_of(self, pair: Clique, table: Values) -> float:
        """Return the number that a table has."""
        first, second = pair
        return float(self.sides[first] @ table @ self.sides[second])

    def denoise(self, held: Mapping[Clique, float], deviation: float) -> Concordances:
        """Return what is to be believed of noisy numbers beside those that the model
        holds.
        """
        beyond = denoise_errors(self.rows, held, dict.fromkeys(held, deviation))
        return replace(self, rows={pair: held[pair] + beyond[pair] for pair in held})

    def adjust_table(self, pair: Clique, model: Values) -> Values:
        """Return the model's table of a clique, moved where it is a pair with a number.

        Sweeps that have not settled may lead astray in tables with few cells that hold
        rows: a table that is farther from its number than before stays as it was.

        Args:
            model: expected rows, axes in the order of the pair.
        """
        if pair[::-1] in self.rows:
            return self.adjust_table(pair[::-1], model.T).T
        if pair not in self.rows:
            return model
        down = model.sum(axis=1)
        across = model.sum(axis=0)
        scores = [
            _normal_scores(self.sides[n], rows)
            for n, rows in zip(pair, (down, across), strict=True)
        ]
        low = -MAX_STRENGTH
        high = MAX_STRENGTH
        right = np.ones(len(across))
        for halving in range(HALVINGS):
            strength = (low + high) / 2
            table = model * np.exp(strength * np.outer(*scores))
            for _ in range(SWEEPS if halving + 1 < HALVINGS else LAST_SWEEPS):
                left = down / np.maximum(table @ right, 1e-200)
                right = across / np.maximum(left @ table, 1e-200)
            table *= np.outer(left, right)
            if self.number_of(pair, table) < self.rows[pair]:
                low = strength
            else:
                high = strength

        def distance(rows: Values) -> float:
            return abs(self.number_of(pair, rows) - self.rows[pair])

        return table if distance(table) <= distance(model) else model

    def adjust_marginal(self, measured: Marginal, model: Values) -> Marginal:
        """Return a measured table as the model and the number of its pair say."""
        values = self.adjust_table(measured.clique, model)
        return replace(
            measured, values=values, variance=MOVED_VARIANCE * measured.variance
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "sides": {name: pack(sides) for name, sides in self.sides.items()},
            "rows": [[*pair, number] for pair, number in self.rows.items()],
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Concordances:
        """Read what `to_dict` wrote."""
        return cls(
            sides={name: unpack(sides) for name, sides in fields["sides"].items()},
            rows={
                (first, second): float(number)
                for first, second, number in fields["rows"]
            },
        )


def _median_sides(rows: Values, size: int) -> Values:
    """Return -1 for the cells up to the median, 1 for those above, and 0 for the others
    of so many.
    """
    middle = np.cumsum(rows) - rows / 2
    return np.pad(np.where(middle < rows.sum() / 2, -1.0, 1.0), (0, size - len(rows)))


def _normal_scores(sides: Values, rows: Values) -> Values:
    """Return the normal score of the middle of each cell, and 0 for what has no
    order.
    """
    from scipy.special import ndtri

    counted = np.abs(sides) * np.maximum(rows, 1e-9)
    middle = (np.cumsum(counted) - counted / 2) / counted.sum()
    scores: Values = np.abs(sides) * ndtri(np.clip(middle, 1e-6, 1 - 1e-6))
    return scores
