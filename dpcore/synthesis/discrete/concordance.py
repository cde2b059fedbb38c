"""Concordances: one number per pair that says whether two columns rise together.

A row counts 1 if it lies on the same side of both medians, -1 if on different sides.
Of all scores from -1 to 1 these estimate a weak correlation of normal variables best,
and the number takes as much noise as a single cell of the pair's table. The denoised
number moves the table of the model: along the products of normal scores, with its
columns kept. So a pair of which the model knows nothing gets a normal relation, and one
that was measured over runs of cells gets back what noise and merging took.

Source: Blomqvist (1950), "On a measure of dependence between two random variables", for
the number; Goodman (1979), linear-by-linear association, for the move, with the scores
of van der Waerden.
"""

from __future__ import annotations

import functools
import itertools
import math
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
from dpcore.synthesis.discrete._refinement import affordable_passes
from dpcore.synthesis.discrete._workload import denoise_errors
from dpcore.tables.counts import Marginal, Values, pack_array, unpack_array
from dpcore.tables.sums import Entry, to_levels

MAX_CONCORDANCE_SHARE = Fraction(10, 100)  # of the loss of a release
MAX_LOUD_CONCORDANCE_SHARE = Fraction(
    20, 100
)  # the same while noise is above LOUD_NOISE
# The next five constants are noise SDs of a concordance, as fractions of the table's
# rows.
USEFUL_NOISE = 0.0075  # less noise is not worth more loss
LOUD_NOISE = 0.03
# Noise that stays above this is not lowered by the larger share: columns would lose more.
MAX_LOWERED_NOISE = 0.1
MAX_USEFUL_NOISE = 0.25  # with more noise many concordances together tell nothing
MAX_USEFUL_NOISE_OF_ONE_PAIR = (
    0.05  # a single one: its noise can hardly be told from a relation
)
# Largest strength of an adjustment, about that of two normal variables that share 9/10
# of their variance.
MAX_STRENGTH = 5.0
BISECTION_STEPS = 12  # steps of the bisection for the strength
SCALING_SWEEPS = 6  # of proportional fitting in each step
LAST_SCALING_SWEEPS = 40  # in the last step
FACTOR_COUNT = 2  # of which all concordances of a table are told
FACTOR_SWEEPS = 20  # of their fit
UNIQUE_DEVIATION = 0.1  # of a pair's correlation, from what factors tell
# The table of normal correlations: the largest correlation in it, and the number of
# steps on each side of 0.
MAX_TABULATED_CORRELATION = 0.99
TABULATED_STEPS = 200
ADJUSTED_VARIANCE_RATIO = (
    0.2  # variance of a moved table / variance of the measured table
)


def concordance_share(
    sizes: Sequence[int],
    ordered: int,
    loss: Loss,
    max_rows: int,
    table_rows: float,
) -> Fraction:
    """Return the part of the loss for concordances, or 0 if they are useless.

    They are useless if noise exceeds them, or if drawn rows are not refined. Under pure
    epsilon, whose noise grows with their number, they were not tried.

    Args:
        sizes: approximate cells of each column.
        ordered: how many columns have an order.
        loss: of the release.
        max_rows: most rows of a person.
        table_rows: approximate number of rows.
    """
    pairs = ordered * (ordered - 1) // 2
    if (
        isinstance(loss, PureDP)
        or not pairs
        or not affordable_passes(round(table_rows), sizes, 0.0)
    ):
        return Fraction(0)
    scale = noise_scale(max_rows=max_rows, queries=pairs, loss=loss)
    # Share of the loss at which the noise SD equals the number of rows in the table.
    unit = noise_variance(scale, loss) / table_rows**2
    wanted = min(MAX_CONCORDANCE_SHARE, _round_share(unit / USEFUL_NOISE**2))
    loud = min(MAX_LOUD_CONCORDANCE_SHARE, _round_share(unit / LOUD_NOISE**2))
    if unit <= loud * MAX_LOWERED_NOISE**2:
        wanted = max(wanted, loud)
    # The share is at most half of the fraction of all pairs that are ordered.
    share = min(wanted, Fraction(pairs, len(sizes) * (len(sizes) - 1)))
    useful = min(MAX_USEFUL_NOISE**2, MAX_USEFUL_NOISE_OF_ONE_PAIR**2 * pairs)
    return share if unit <= share * useful else Fraction(0)


def _round_share(part: float) -> Fraction:
    return Fraction(max(1, round(1000 * min(part, 1.0))), 1000)


@dataclass(frozen=True, kw_only=True, eq=False)
class Concordances:
    """For each pair of ordered columns, how much they rise together, in rows.

    Attributes:
        sides: column -> -1, 0 or 1 for each cell, 0 for cells without an order.
        rows: pair -> rows on the same side of both medians minus rows on different
            sides, noisy or denoised.
    """

    sides: Mapping[str, Values]
    rows: Mapping[Clique, float]

    @classmethod
    def measure(
        cls, view: Measurer, counts: Mapping[str, Values], loss: Loss
    ) -> tuple[Concordances, float]:
        """Spend `loss` on all pairs; return their concordances and the noise SD.

        Args:
            view: the table over groups.
            counts: column -> noisy rows, above 0, of its cells with an order, which
                come first.
            loss: spent whole.
        """
        sides = {
            name: _median_sides(rows, view.domain.size(name))
            for name, rows in counts.items()
        }
        pairs = list(itertools.combinations(sides, 2))
        entries: list[Entry] = [
            {name: to_levels(sides[name]) for name in pair} for pair in pairs
        ]
        rows: dict[Clique, float] = {}
        for first in range(0, len(pairs), MAX_ENTRIES):
            batch = slice(first, first + MAX_ENTRIES)
            sums = view.measure_sums(
                (), entries[batch], loss.share(Fraction(len(pairs[batch]), len(pairs)))
            )
            rows |= dict(zip(pairs[batch], sums.values[0].tolist(), strict=True))
        return cls(sides=sides, rows=rows), sums.deviation

    @property
    def ranked(self) -> tuple[str, ...]:
        """The columns of the pairs, whose values are placed by them in drawn rows."""
        return tuple(sorted({name for pair in self.rows for name in pair}))

    def concordance_of(self, pair: Clique, table: Values) -> float:
        """Return the concordance that a pair's table has, in rows."""
        first, second = pair
        return float(self.sides[first] @ table @ self.sides[second])

    def denoise(
        self,
        tables: Mapping[Clique, Values],
        deviation: float,
        measured: Mapping[Clique, float],
    ) -> Concordances:
        """Return the posterior means of all concordances.

        They are compared as correlations of normal variables, because few rows have
        both values where many are missing. A pair that was measured is averaged with
        what the model has of it; another one is expected to be as a few common factors
        of all columns tell it.

        Args:
            tables: pair -> the model's table.
            deviation: of the noise of a number, in rows.
            measured: pairs that were measured -> deviation of the noise of their
                number in the model, in rows.
        """
        sides = {pair: self._pair_sides(pair, table) for pair, table in tables.items()}
        known = {
            pair: side.normal_correlation(self.rows[pair])
            for pair, side in sides.items()
        }
        deviations = {pair: deviation * side.slope for pair, side in sides.items()}
        # 1. For measured pairs, average in the model's value by inverse variances.
        for pair, noise in measured.items():
            held = sides[pair].normal_correlation(
                self.concordance_of(pair, tables[pair])
            )
            part = deviation**2 / max(noise**2 + deviation**2, 1e-9)
            known[pair] += part * (held - known[pair])
            deviations[pair] *= (1 - part) ** 0.5
        # 2. Fit common factors, and denoise what they do not explain of the other
        # pairs.
        factors = _fit_factors(known, deviations)
        told: dict[Clique, float] = {
            pair: float(factors[pair[0]] @ factors[pair[1]])
            for pair in known
            if pair not in measured
        }
        if told:
            noisy: dict[Clique, float] = {pair: known[pair] for pair in told}
            beyond = denoise_errors(noisy, told, deviations)
            known |= {pair: told[pair] + beyond[pair] for pair in told}
        return replace(
            self,
            rows={
                pair: side.concordance_at(known[pair]) for pair, side in sides.items()
            },
        )

    def correlations(self, tables: Mapping[Clique, Values]) -> dict[Clique, float]:
        """Return the normal correlation that corresponds to each concordance."""
        return {
            pair: self._pair_sides(pair, table).normal_correlation(self.rows[pair])
            for pair, table in tables.items()
        }

    def _pair_sides(self, pair: Clique, table: Values) -> _PairSides:
        first, second = (self.sides[name] for name in pair)
        rows = max(float(np.abs(first) @ table @ np.abs(second)), 1.0)
        low = float((first < 0) @ table @ np.abs(second)) / rows
        other_low = float(np.abs(first) @ table @ (second < 0)) / rows
        return _PairSides(
            rows=rows,
            low_share=float(np.clip(low, 0.01, 0.99)),
            other_low_share=float(np.clip(other_low, 0.01, 0.99)),
        )

    def adjust_table(self, pair: Clique, model: Values) -> Values:
        """Return the model's table, adjusted to the concordance of its pair if known.

        The table is multiplied by exp(strength * products of normal scores) and scaled
        back to its columns; bisection finds the strength. Scaling that has not settled
        may go astray if few cells hold rows: a table farther from its concordance than
        before is dropped.

        Args:
            model: expected rows, axes in the order of the pair.
        """
        if pair[::-1] in self.rows:
            return self.adjust_table(pair[::-1], model.T).T
        if pair not in self.rows:
            return model
        row_sums = model.sum(axis=1)
        column_sums = model.sum(axis=0)
        scores = [
            _normal_scores(self.sides[name], rows)
            for name, rows in zip(pair, (row_sums, column_sums), strict=True)
        ]
        # Find by bisection the strength at which the table has the concordance.
        low = -MAX_STRENGTH
        high = MAX_STRENGTH
        right = np.ones(len(column_sums))
        for halving in range(BISECTION_STEPS):
            strength = (low + high) / 2
            table = model * np.exp(strength * np.outer(*scores))
            # Scale rows and columns back to their sums by proportional fitting.
            for _ in range(
                SCALING_SWEEPS if halving + 1 < BISECTION_STEPS else LAST_SCALING_SWEEPS
            ):
                left = row_sums / np.maximum(table @ right, 1e-200)
                right = column_sums / np.maximum(left @ table, 1e-200)
            table *= np.outer(left, right)
            if self.concordance_of(pair, table) < self.rows[pair]:
                low = strength
            else:
                high = strength

        def distance(rows: Values) -> float:
            return abs(self.concordance_of(pair, rows) - self.rows[pair])

        return table if distance(table) <= distance(model) else model

    def adjust_marginal(self, measured: Marginal, model: Values) -> Marginal:
        """Replace a measured table by the model's, adjusted to its concordance."""
        values = self.adjust_table(measured.clique, model)
        return replace(
            measured,
            values=values,
            variance=ADJUSTED_VARIANCE_RATIO * measured.variance,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the sides and concordances as plain data."""
        return {
            "sides": {name: pack_array(sides) for name, sides in self.sides.items()},
            "rows": [[*pair, number] for pair, number in self.rows.items()],
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Concordances:
        """Read the output of `to_dict`."""
        return cls(
            sides={
                name: unpack_array(sides) for name, sides in fields["sides"].items()
            },
            rows={
                (first, second): float(number)
                for first, second, number in fields["rows"]
            },
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _PairSides:
    """For a pair: rows where both values have an order, and each column's low share."""

    rows: float
    low_share: float
    other_low_share: float

    @property
    def slope(self) -> float:
        """Increase of a weak normal correlation per row of concordance."""
        # scipy.stats would take 40 MB
        from scipy.special import ndtri

        ends = ndtri([self.low_share, self.other_low_share])
        density = math.exp(-float((ends**2).sum()) / 2) / (2 * math.pi)
        return 1 / (4 * self.rows * density)

    def normal_correlation(self, number: float) -> float:
        """Return the correlation of two normal variables with this concordance."""
        correlations, numbers = self._concordance_curve
        return float(np.interp(number, numbers, correlations))

    def concordance_at(self, correlation: float) -> float:
        """Return the concordance of normal variables at this correlation, in rows."""
        correlations, numbers = self._concordance_curve
        return float(np.interp(correlation, correlations, numbers))

    @functools.cached_property
    def _concordance_curve(self) -> tuple[Values, Values]:
        """A grid of correlations, and the concordance of normal variables at each.

        The chance that both are low is the integral of the normal density over the
        correlation, from 0 on.
        """
        from scipy.special import ndtri

        first = float(ndtri(self.low_share))
        second = float(ndtri(self.other_low_share))
        at = np.linspace(
            -MAX_TABULATED_CORRELATION,
            MAX_TABULATED_CORRELATION,
            2 * TABULATED_STEPS + 1,
        )
        rest = 1 - at**2
        density = np.exp(
            -(first**2 - 2 * first * second * at + second**2) / (2 * rest)
        ) / (2 * math.pi * np.sqrt(rest))
        steps = (density[1:] + density[:-1]) / 2 * (at[1] - at[0])
        both = np.append(0.0, np.cumsum(steps))
        both += self.low_share * self.other_low_share - both[TABULATED_STEPS]
        same = 1 - self.low_share - self.other_low_share + 2 * both
        return at, self.rows * (2 * same - 1)


def _fit_factors(
    correlations: Mapping[Clique, float], deviations: Mapping[Clique, float]
) -> dict[str, Values]:
    """Return each column's loadings on a few common factors.

    Alternating least squares by inverse variances: each column given the others. A
    factor that noise alone could make is left out.
    """
    names = list(dict.fromkeys(name for pair in correlations for name in pair))
    place = {name: number for number, name in enumerate(names)}
    values = np.zeros((len(names), len(names)))
    noise = np.zeros_like(values)
    for (first, second), correlation in correlations.items():
        i = place[first]
        j = place[second]
        values[i, j] = values[j, i] = correlation
        noise[i, j] = noise[j, i] = deviations[first, second]
    weights = 1 / (noise**2 + UNIQUE_DEVIATION**2)
    np.fill_diagonal(weights, 0.0)
    # 1. Start from the largest eigenvectors that stand out from noise; noisy
    # correlations count less.
    trust = weights / (weights + 1)
    eigenvalues, vectors = np.linalg.eigh(values * trust)
    stands_out = eigenvalues > _largest_eigenvalue_of_noise(trust * noise)
    count = min(FACTOR_COUNT, int(stands_out.sum()))
    first_kept = len(names) - count
    loadings = vectors[:, first_kept:] * np.sqrt(eigenvalues[first_kept:])
    # 2. Fit each column to the others, with loadings of norm 1 at most.
    for _ in range(FACTOR_SWEEPS):
        for i in range(len(names)):
            weighted = loadings * weights[i][:, None]
            precision = weighted.T @ loadings + np.eye(count)
            loadings[i] = np.linalg.solve(precision, weighted.T @ values[i])
            loadings[i] /= max(1.0, float(np.linalg.norm(loadings[i])))
    return dict(zip(names, loadings, strict=True))


def _largest_eigenvalue_of_noise(deviations: Values) -> float:
    """Return about the largest eigenvalue of a symmetric matrix of independent noise.

    Of unequal deviations the mean over the rows counts: a few loud columns alone leave
    the factors of the others.

    Source: Wigner (1955), "Characteristic vectors of bordered matrices with infinite
    dimensions".
    """
    return 2 * math.sqrt(float((deviations**2).sum(axis=1).mean()))


def _median_sides(rows: Values, size: int) -> Values:
    """Return each cell's side: -1 up to the median, 1 above, 0 without an order."""
    middle = np.cumsum(rows) - rows / 2
    return np.pad(np.where(middle < rows.sum() / 2, -1.0, 1.0), (0, size - len(rows)))


def _normal_scores(sides: Values, rows: Values) -> Values:
    """Return the normal score of each cell's middle rank; 0 without an order."""
    from scipy.special import ndtri

    counted = np.abs(sides) * np.maximum(rows, 1e-9)
    middle = (np.cumsum(counted) - counted / 2) / counted.sum()
    scores: Values = np.abs(sides) * ndtri(np.clip(middle, 1e-6, 1 - 1e-6))
    return scores
