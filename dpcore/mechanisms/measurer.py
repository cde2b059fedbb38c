"""The measurer, the only access of a recipe to the private table.

It turns exact counts into noisy numbers under one reserved loss, refuses to exceed
it, and records every event in the order in which it was paid.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.accounting.events import Event, Mechanism
from dpcore.accounting.loss import Loss, PureDP, split_loss
from dpcore.errors import UsageError, budget_exceeded_error
from dpcore.mechanisms._noise import (
    add_discrete_gaussian,
    add_discrete_laplace,
    ignore_progress,
)
from dpcore.mechanisms._selection import select_high_score, thresholded_counts
from dpcore.mechanisms.max_norm import add_max_norm_noise, check_entries
from dpcore.mechanisms.sensitivity import (
    epsilon_within,
    laplace_scale,
    noise_kind,
    noise_scale,
    noise_variance,
    round_up_to_float,
    selection_scale,
    sums_deviation,
    sums_scale,
)
from dpcore.schema.domain import Clique, Domain
from dpcore.tables.counts import Counts, Marginal, Noise, Values, check_cells
from dpcore.tables.sums import UNITS_PER_ROW, Entry, Integers, NoisySums

GRAIN = 1024
"""Parts of a row: public estimates are rounded to 1 / GRAIN, so that distances to
counts are whole numbers.
"""
MAX_ESTIMATE = 2.0**51
"""Largest estimate or penalty, in rows; beyond, int64 would wrap, and one row could
flip a distance.
"""
Groups = npt.NDArray[np.int64]
CellRule = Callable[[pd.DataFrame], npt.NDArray[np.int64]]
"""A public rule: the cell of each row."""
SumSource = Callable[[Clique, Sequence[Entry]], Integers]
"""Exact sums of entries over the rows of each cell of a clique, in units of 1 / GRID
rows.
"""


class CountSource(Protocol):
    """A function that returns exact counts, with cells merged by `groups`."""

    def __call__(
        self,
        cliques: Sequence[Clique],
        *,
        groups: Mapping[str, Groups] | None = None,
    ) -> list[Counts]: ...


@dataclass(kw_only=True)
class UnspentLoss:
    """The unspent privacy loss that a measurer shares with its views."""

    loss: Fraction
    delta: Fraction


class Measurer:
    """A source of noisy measurements and private choices up to a reserved loss.

    Attributes:
        domain: names and sizes of the columns. Public; `declared` is the domain before
            cells were merged.
        loss: reserved in all: epsilon buys Laplace noise, rho Gaussian noise.
        rows: most rows of a person. Public.
        part: (column, category) if only one part of the table is read.
        events: paid for so far, in order.
        on_draw: called again and again while noise is drawn; an error that it raises
            ends the run.
    """

    def __init__(
        self,
        counts: CountSource,
        *,
        domain: Domain,
        loss: Loss,
        max_rows: int,
        part: tuple[str, str] | None = None,
        texts: Callable[[str], dict[str, int]] | None = None,
        sums: SumSource | None = None,
        delta: Fraction = Fraction(0),
        count_rule: Callable[[CellRule, int, Clique], Counts] | None = None,
    ) -> None:
        self._counts = counts
        self._groups: dict[str, Groups] = {}
        self._texts = texts
        self._count_rule = count_rule
        self._sums = sums
        self.part = part
        self._purse = UnspentLoss(loss=loss.amount, delta=delta)
        self.domain = self.declared = domain
        self.loss = loss
        self.rows = max_rows
        self.events: list[Event] = []
        self.on_draw: Callable[[], object] = ignore_progress

    def project(self, columns: Clique) -> Measurer:
        """Return a view of some columns that spends from the same loss."""
        view = copy.copy(self)
        view.domain = self.domain.project(columns)
        return view

    def coarsen(self, groups: Mapping[str, Groups]) -> Measurer:
        """Return a view with merged cells that spends from the same loss.

        Args:
            groups: column -> int64 array, the new cell of each cell, numbered from 0
                without gaps. Must follow from public or already noisy facts alone.
        """
        sizes = {name: int(group.max()) + 1 for name, group in groups.items()}
        coarse = copy.copy(self)
        coarse.domain = Domain(
            names=self.domain.names,
            sizes=tuple(
                sizes.get(name, size)
                for name, size in zip(self.domain.names, self.domain.sizes, strict=True)
            ),
        )
        coarse._groups = dict(self._groups)
        for name, group in groups.items():
            coarse._groups[name] = (
                group[self._groups[name]] if name in self._groups else group
            )
        return coarse

    @property
    def is_spent(self) -> bool:
        """Whether the whole loss has been spent and its noise drawn."""
        return not self._purse.loss

    @property
    def noise(self) -> Noise:
        """The kind of additive noise: Laplace for epsilon, Gaussian for rho."""
        return noise_kind(self.loss)

    def measure(
        self,
        cliques: Sequence[Clique],
        loss: Loss,
        weights: Sequence[Fraction | float] | None = None,
    ) -> tuple[Marginal, ...]:
        """Measure noisy counts of each clique. Costs `loss`.

        It is split evenly or by `weights`.

        Raises: BudgetExceeded beyond the reserved loss; LimitError for too many cells.
        """
        parts = split_loss(loss, len(cliques), weights)
        scales = [
            noise_scale(max_rows=self.rows, queries=1, loss=part) for part in parts
        ]
        check_cells(self.domain, cliques)
        self._spend(
            loss,
            [
                self._make_event(self._additive_mechanism, (clique,), scale)
                for clique, scale in zip(cliques, scales, strict=True)
            ],
        )
        return tuple(
            self._add_noise(table, scale)
            for table, scale in zip(self._exact_counts(cliques), scales, strict=True)
        )

    def measure_gaps(
        self, estimates: Mapping[Clique, Values], loss: Loss
    ) -> dict[Clique, float]:
        """Measure the noisy L1 distance of counts from each public estimate, in rows.

        All are in one release. A person's rows change each distance by at most `rows`.
        Costs `loss`.
        """
        cliques = self._check_estimates(estimates)
        scale = noise_scale(max_rows=self.rows, queries=len(cliques), loss=loss)
        self._spend(loss, [self._make_event(self._additive_mechanism, cliques, scale)])
        noisy = self._draw_noise(self._distances(estimates), scale * GRAIN)
        return {
            clique: float(distance) / GRAIN
            for clique, distance in zip(cliques, noisy, strict=True)
        }

    def gap_deviation(self, queries: int, loss: Loss) -> float:
        """Return the noise SD of each of `queries` distances, in rows.

        Public.
        """
        scale = noise_scale(max_rows=self.rows, queries=queries, loss=loss)
        return float(noise_variance(scale, loss) ** 0.5)

    def select_clique(
        self,
        estimates: Mapping[Clique, Values],
        loss: Loss,
        penalties: Mapping[Clique, float] | None = None,
    ) -> Clique:
        """Privately choose a clique whose counts are far from their estimate.

        The score is the distance minus the penalty, in rows. A person's rows change
        each score by at most `rows`. Costs `loss`.
        """
        candidates = self._check_estimates(estimates)
        scale = selection_scale(max_rows=self.rows, loss=loss)
        pure = isinstance(loss, PureDP)
        mechanism: Mechanism = "permute and flip" if pure else "exponential"
        self._spend(loss, [self._make_event(mechanism, candidates, scale)])
        scores = self._distances(estimates)
        if penalties:
            scores -= _to_grains(
                np.array([penalties.get(clique, 0.0) for clique in candidates]),
                MAX_ESTIMATE,
            )
        return candidates[
            select_high_score(scores, noise_scale=scale * GRAIN, is_pure=pure)
        ]

    def measure_sums(
        self, by: Clique, entries: Sequence[Entry], loss: Loss
    ) -> NoisySums:
        """Measure sums of public numbers over the rows of each cell of `by`.

        Cells are disjoint, so that a person's rows change the lines by at most `rows`
        together, in every entry. Costs `loss`: max-norm noise for epsilon, Gaussian
        noise for rho, one draw per cell.

        Args:
            by: columns; each of their cells is a line; empty for one line.
            entries: numbers to add up, at least one; levels are whole units, see
                `dpcore.tables.sums`.
            loss: spent whole.

        Raises: ParameterError for levels of another shape or size; LimitError for too
            many cells or entries.
        """
        if self._sums is None:
            raise UsageError(
                "this measurer adds up no sums",
                remedy="run the recipe through a curator",
            )
        check_entries(len(entries))
        check_cells(self.domain, [by] * len(entries))
        declared = [
            {
                name: self._declared_levels(name, scores)
                for name, scores in entry.items()
            }
            for entry in entries
        ]
        scale = sums_scale(max_rows=self.rows, entries=len(entries), loss=loss)
        mechanism: Mechanism = (
            "max norm" if isinstance(loss, PureDP) else "discrete gaussian"
        )
        reads = tuple(tuple(dict.fromkeys((*by, *entry))) for entry in entries)
        self._spend(loss, [self._make_event(mechanism, reads, scale)])
        exact = self._merge_lines(by, self._sums(by, declared))
        if isinstance(loss, PureDP):
            noisy = add_max_norm_noise(exact, scale=round(scale * UNITS_PER_ROW))
        else:
            noisy = add_discrete_gaussian(exact, noise_scale=scale * UNITS_PER_ROW)
        deviation = sums_deviation(max_rows=self.rows, entries=len(entries), loss=loss)
        return NoisySums(by=by, values=noisy / UNITS_PER_ROW, deviation=deviation)

    def choose_quantile_cell(
        self, column: str, order: Fraction, loss: Loss, *, cells: int
    ) -> int:
        """Privately choose the cell of a column that contains the quantile `order`.

        The score of a cell is minus the number of rows by which the quantile lies
        outside it; a person's rows change it by at most `rows`. Costs `loss`.

        Args:
            column: whose cells are chosen from.
            order: above 0 and below 1, with a denominator up to 1,000; 1/2 for the
                median.
            loss: spent whole.
            cells: number of first cells in the order of values; rows in later ones are
                left out.
        """
        if not 0 < order < 1 or order.denominator > 1000:
            raise UsageError(
                f"the order of a quantile ({order!s}) must be between 0 and 1, with "
                "a denominator up to "
                "1,000",
                remedy="use an order such as 1/2",
            )
        scale = selection_scale(max_rows=self.rows, loss=loss)
        pure = isinstance(loss, PureDP)
        mechanism: Mechanism = "permute and flip" if pure else "exponential"
        check_cells(self.domain, [(column,)])
        self._spend(loss, [self._make_event(mechanism, ((column,),), scale)])
        (exact,) = self._exact_counts([(column,)])
        counts = exact.values[:cells]
        # Count in units of 1 / denominator rows, so that the quantile is a whole
        # number. One row changes every score by at most `denominator` units.
        denominator = order.denominator
        up_to_cell = np.cumsum(counts)
        quantile = order.numerator * int(up_to_cell[-1])
        before = denominator * (up_to_cell - counts)
        after = denominator * up_to_cell
        scores = -np.maximum(np.maximum(before - quantile, quantile - after), 0)
        return select_high_score(
            scores,
            noise_scale=round_up_to_float(Fraction(scale) * denominator),
            is_pure=pure,
        )

    def find_common_texts(
        self, column: str, loss: Loss, delta: Fraction
    ) -> dict[str, int]:
        """Return the texts of a column whose noisy counts exceed a threshold.

        Costs `loss` and `delta`. A rho pays for the epsilon whose square is at most 2
        rho.

        Returns: text -> noisy count.
        """
        if self._texts is None:
            raise UsageError(
                "this measurer reads no texts",
                remedy="run the recipe through a curator",
            )
        self.domain.size(column)  # refuses a column that is not in this view
        epsilon = loss.epsilon if isinstance(loss, PureDP) else epsilon_within(loss.rho)
        scale = laplace_scale(max_rows=self.rows, queries=1, epsilon=epsilon)
        event = Event(
            mechanism="threshold",
            reads=((column,),),
            rows=self.rows,
            noise_scale=scale,
            delta=delta,
            part=self.part,
        )
        if delta > self._purse.delta:
            raise budget_exceeded_error("delta", float(delta), float(self._purse.delta))
        self._spend(loss, [event])
        self._purse.delta -= delta
        return thresholded_counts(
            self._texts(column), max_rows=self.rows, epsilon=epsilon, delta=delta
        )

    def count_by_rule(
        self, rule: CellRule, cells: int, reads: Clique, loss: Loss
    ) -> Marginal:
        """Measure how many rows a public rule assigns to each of `cells` cells.

        A person's rows change these counts by at most `rows` in all. Costs `loss`.

        Args:
            rule: from rows to the cell of each, from 0; must treat each row on its own,
                and follow from public or already noisy facts alone.
            cells: of the rule.
            reads: the columns that the rule reads; it is given no others.
            loss: spent whole.
        """
        if self._count_rule is None:
            raise UsageError(
                "this measurer applies no rules", remedy="ask through a curator"
            )
        reads = self.domain.clique(reads)
        scale = noise_scale(max_rows=self.rows, queries=1, loss=loss)
        self._spend(loss, [self._make_event(self._additive_mechanism, (reads,), scale)])
        return self._add_noise(self._count_rule(rule, cells, reads), scale)

    @property
    def _additive_mechanism(self) -> Mechanism:
        return "discrete laplace" if self.noise == "laplace" else "discrete gaussian"

    def _make_event(
        self, mechanism: Mechanism, reads: tuple[Clique, ...], scale: float
    ) -> Event:
        return Event(
            mechanism=mechanism,
            reads=reads,
            rows=self.rows,
            noise_scale=scale,
            part=self.part,
        )

    def _declared_levels(self, name: str, levels: Integers) -> Integers:
        """Expand levels to the declared cells; refuse levels beyond one row."""
        whole = np.asarray(levels)
        size = (self.domain.size(name),)
        if (
            whole.dtype != np.int64
            or whole.shape != size
            or whole.min() < -UNITS_PER_ROW
            or whole.max() > UNITS_PER_ROW
        ):
            raise UsageError(
                (
                    f"the levels of column {name!r} must be one per cell, from -{UNITS_PER_ROW} "
                    f"to {UNITS_PER_ROW}"
                ),
                remedy="make them by tables.sums.levels",
            )
        return whole[self._groups[name]] if name in self._groups else whole

    def _merge_lines(self, by: Clique, sums: Integers) -> Integers:
        """Add up the sums of those declared cells that this view merges."""
        cell = np.zeros(1, dtype=np.int64)
        for name in by:
            size = self.domain.size(name)
            cell = (
                cell[:, None] * size + self._groups.get(name, np.arange(size))
            ).ravel()
        lines = np.zeros((self.domain.cells(by), sums.shape[1]), dtype=np.int64)
        np.add.at(lines, cell, sums)
        return lines

    def _exact_counts(self, cliques: Sequence[Clique]) -> list[Counts]:
        """Return the private exact counts of this view."""
        return (
            self._counts(cliques, groups=self._groups)
            if self._groups
            else self._counts(cliques)
        )

    def _spend(self, loss: Loss, events: Sequence[Event]) -> None:
        """Subtract `loss` from the unspent loss, before anything is read."""
        if type(loss) is not type(self.loss):
            raise UsageError(
                f"this run spends {self.loss.name}, not {loss.name}",
                remedy="take shares of its own loss",
            )
        if loss.amount > self._purse.loss:
            raise budget_exceeded_error(
                loss.name, float(loss.amount), float(self._purse.loss)
            )
        self._purse.loss -= loss.amount
        self.events.extend(events)

    def _add_noise(self, counts: Counts, scale: float) -> Marginal:
        return Marginal(
            clique=counts.clique,
            values=self._draw_noise(counts.values, scale).astype(np.float64),
            variance=noise_variance(scale, self.loss),
            noise=self.noise,
        )

    def _draw_noise(
        self, values: npt.NDArray[np.int64], scale: float
    ) -> npt.NDArray[np.int64]:
        draw = (
            add_discrete_laplace if self.noise == "laplace" else add_discrete_gaussian
        )
        return draw(values, noise_scale=scale, on_draw=self.on_draw)

    def _check_estimates(
        self, estimates: Mapping[Clique, Values]
    ) -> tuple[Clique, ...]:
        """Return the cliques; refuse an estimate whose shape differs from its table.

        Broadcast, such an estimate would count a row several times.
        """
        for clique, estimate in estimates.items():
            if np.shape(estimate) != self.domain.shape(clique):
                raise UsageError(
                    (
                        f"the estimate of {clique} must have the shape "
                        f"{self.domain.shape(clique)}"
                    ),
                    remedy="estimate every cell once",
                )
        return tuple(estimates)

    def _distances(self, estimates: Mapping[Clique, Values]) -> npt.NDArray[np.int64]:
        """Return the private exact L1 distances in units of 1 / GRAIN rows."""
        counts = self._exact_counts(tuple(estimates))
        return np.array(
            [
                np.abs(
                    count.values * GRAIN
                    - _to_grains(
                        estimates[count.clique], MAX_ESTIMATE / count.values.size
                    ),
                ).sum()
                for count in counts
            ],
            dtype=np.int64,
        )


def _to_grains(rows: Values, limit: float) -> npt.NDArray[np.int64]:
    """Round public row counts to units of 1 / GRAIN, after cutting them at `limit`."""
    return np.rint(np.nan_to_num(np.clip(rows, -limit, limit)) * GRAIN).astype(np.int64)
