"""The measurer, through which a recipe sees the private table.

It turns exact counts into noisy numbers under one reserved loss, refuses to go beyond
it, and records every event in the order in which it was paid.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.accounting.events import Event, Mechanism
from dpcore.accounting.loss import Loss, PureDP, split
from dpcore.errors import UsageError, too_little_left
from dpcore.mechanisms.max_norm import check_entries, max_norm_noise
from dpcore.mechanisms.noise import discrete_gaussian, discrete_laplace, unheeded
from dpcore.mechanisms.selection import noisy_max, thresholded_counts
from dpcore.mechanisms.sensitivity import (
    at_least,
    epsilon_within,
    laplace_scale,
    noise_of,
    noise_scale,
    noise_variance,
    selection_scale,
    sums_deviation,
    sums_scale,
)
from dpcore.schema.domain import Clique, Domain
from dpcore.tables.counts import Counts, Marginal, Noise, Values, check_cells
from dpcore.tables.sums import GRID, Entry, Integers, NoisySums

GRAIN = 1024
"""Public estimates are rounded to 1 / GRAIN of a row, so that distances to counts are
whole numbers.
"""
FARTHEST = 2.0**51
"""Rows that an estimate or penalty may reach; beyond, int64 would wrap, and one row
could flip a distance.
"""
Groups = npt.NDArray[np.int64]
Assign = Callable[[pd.DataFrame], npt.NDArray[np.int64]]
"""A public rule: the cell of each row."""
SumsOf = Callable[[Clique, Sequence[Entry]], Integers]
"""Exact sums of entries over the rows of each cell of a clique, in units of 1 / GRID
rows.
"""


class CountSource(Protocol):
    """Exact counts over cliques, of cells merged by `groups`."""

    def __call__(
        self,
        cliques: Sequence[Clique],
        *,
        groups: Mapping[str, Groups] | None = None,
    ) -> list[Counts]: ...


@dataclass(kw_only=True)
class Purse:
    """The loss left to spend, shared by all views of one measurer."""

    loss: Fraction
    delta: Fraction


class Measurer:
    """A source of noisy measurements and private choices under one reserved loss.

    Attributes:
        domain: names and sizes of the columns. Public; `declared` are those before
            cells were merged.
        loss: all that was reserved: epsilon buys Laplace noise, rho Gaussian noise.
        rows: rows a person may have. Public.
        part: (column, category) when only one part of the table is read.
        events: what was paid for so far, in order.
        on_draw: called again and again while noise is drawn; what it raises ends the
            run.
    """

    def __init__(
        self,
        counts: CountSource,
        *,
        domain: Domain,
        loss: Loss,
        rows: int,
        part: tuple[str, str] | None = None,
        texts: Callable[[str], dict[str, int]] | None = None,
        sums: SumsOf | None = None,
        delta: Fraction = Fraction(0),
        assigned: Callable[[Assign, int, Clique], Counts] | None = None,
    ) -> None:
        self._counts = counts
        self._groups: dict[str, Groups] = {}
        self._texts = texts
        self._assigned = assigned
        self._sums = sums
        self.part = part
        self._purse = Purse(loss=loss.amount, delta=delta)
        self.domain = self.declared = domain
        self.loss = loss
        self.rows = rows
        self.events: list[Event] = []
        self.on_draw: Callable[[], object] = unheeded

    def only(self, columns: Clique) -> Measurer:
        """Return a view of some of the columns, which spends from the same loss."""
        view = copy.copy(self)
        view.domain = self.domain.project(columns)
        return view

    def coarsen(self, groups: Mapping[str, Groups]) -> Measurer:
        """Return a view with cells merged before they are counted, which spends from
        the same loss.

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
        """Whether the loss was spent whole, on noise that is drawn by now."""
        return not self._purse.loss

    @property
    def noise(self) -> Noise:
        """The law of the noise that the loss buys."""
        return noise_of(self.loss)

    def measure(
        self,
        cliques: Sequence[Clique],
        loss: Loss,
        weights: Sequence[Fraction | float] | None = None,
    ) -> tuple[Marginal, ...]:
        """Measure noisy counts of each clique, with `loss` split evenly or by
        `weights`.

        Costs `loss`.

        Raises: BudgetExceeded beyond what was reserved; LimitError for too many cells.
        """
        parts = split(loss, len(cliques), weights)
        scales = [noise_scale(rows=self.rows, queries=1, loss=part) for part in parts]
        check_cells(self.domain, cliques)
        self._spend(
            loss,
            [
                self._event(self._additive, (clique,), scale)
                for clique, scale in zip(cliques, scales, strict=True)
            ],
        )
        return tuple(
            self._noisy(table, scale)
            for table, scale in zip(self._exact(cliques), scales, strict=True)
        )

    def gaps(
        self, estimates: Mapping[Clique, Values], loss: Loss
    ) -> dict[Clique, float]:
        """Measure L1 distances, in rows, between the counts and public estimates, in
        one release.

        A person's rows change each distance by at most `rows`. Costs `loss`.
        """
        cliques = self._estimated(estimates)
        scale = noise_scale(rows=self.rows, queries=len(cliques), loss=loss)
        self._spend(loss, [self._event(self._additive, cliques, scale)])
        noisy = self._draw(self._distances(estimates), scale * GRAIN)
        return {
            clique: float(distance) / GRAIN
            for clique, distance in zip(cliques, noisy, strict=True)
        }

    def gap_deviation(self, queries: int, loss: Loss) -> float:
        """Return the public standard deviation of each of `queries` noisy distances, in
        rows.
        """
        scale = noise_scale(rows=self.rows, queries=queries, loss=loss)
        return float(noise_variance(scale, loss) ** 0.5)

    def select(
        self,
        estimates: Mapping[Clique, Values],
        loss: Loss,
        penalties: Mapping[Clique, float] | None = None,
        *,
        count: int = 1,
    ) -> tuple[Clique, ...]:
        """Choose cliques with counts far from their estimates, scored by distance less
        penalty in rows.

        One after the other, each among those left, for an even part of `loss`. A
        person's rows change each score by at most `rows`. Costs `loss`.

        Source: peeling, as in Durfee and Rogers (2019), "Practical differentially
        private top-k selection".
        """
        left = list(self._estimated(estimates))
        scale = selection_scale(rows=self.rows, loss=loss.share(Fraction(1, count)))
        pure = isinstance(loss, PureDP)
        mechanism: Mechanism = "permute and flip" if pure else "exponential"
        self._spend(
            loss, [replace(self._event(mechanism, tuple(left), scale), times=count)]
        )
        scores = self._distances(estimates)
        if penalties:
            scores -= _grains(
                np.array([penalties.get(clique, 0.0) for clique in left]), FARTHEST
            )
        chosen = []
        for _ in range(count):
            place = noisy_max(scores, noise_scale=scale * GRAIN, pure=pure)
            chosen.append(left.pop(place))
            scores = np.delete(scores, place)
        return tuple(chosen)

    def sums(self, by: Clique, entries: Sequence[Entry], loss: Loss) -> NoisySums:
        """Measure sums of public numbers over the rows of each cell of `by`, one draw
        per cell.

        Cells are disjoint, so that a person's rows change the lines by at most `rows`
        together, in every entry. Costs `loss`: max-norm noise for epsilon, Gaussian
        noise for rho.

        Args:
            loss: spent whole.
            by: columns whose cells tell the lines apart; empty for one line.
            entries: what to add up, at least one; levels are of whole units, see
                `dpcore.tables.sums`.

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
            {name: self._levels(name, scores) for name, scores in entry.items()}
            for entry in entries
        ]
        scale = sums_scale(rows=self.rows, entries=len(entries), loss=loss)
        mechanism: Mechanism = (
            "max norm" if isinstance(loss, PureDP) else "discrete gaussian"
        )
        reads = tuple(tuple(dict.fromkeys((*by, *entry))) for entry in entries)
        self._spend(loss, [self._event(mechanism, reads, scale)])
        exact = self._lines(by, self._sums(by, declared))
        if isinstance(loss, PureDP):
            noisy = max_norm_noise(exact, scale=round(scale * GRID))
        else:
            noisy = discrete_gaussian(exact, noise_scale=scale * GRID)
        deviation = sums_deviation(rows=self.rows, entries=len(entries), loss=loss)
        return NoisySums(by=by, values=noisy / GRID, deviation=deviation)

    def quantile(self, column: str, order: Fraction, loss: Loss, *, cells: int) -> int:
        """Choose a cell with nearly the part `order` of the rows below it, among the
        first `cells` cells.

        The score of a cell is minus the number of rows by which the quantile lies
        outside it; a person's rows change it by at most `rows`. Costs `loss`.

        Args:
            column: whose cells are chosen from.
            loss: spent whole.
            order: above 0 and below 1, with a denominator up to 1,000; 1/2 for the
                median.
            cells: how many cells are in the order of values; rows in later ones are
                left out.
        """
        if not 0 < order < 1 or order.denominator > 1000:
            raise UsageError(
                f"the order of a quantile ({order!s}) must be between 0 and 1, with "
                "a denominator up to "
                "1,000",
                remedy="use an order such as 1/2",
            )
        scale = selection_scale(rows=self.rows, loss=loss)
        pure = isinstance(loss, PureDP)
        mechanism: Mechanism = "permute and flip" if pure else "exponential"
        check_cells(self.domain, [(column,)])
        self._spend(loss, [self._event(mechanism, ((column,),), scale)])
        (exact,) = self._exact([(column,)])
        counts = exact.values[:cells]
        part = order.numerator
        whole = order.denominator
        upto = np.cumsum(counts)
        goal = part * int(upto[-1])
        below = whole * (upto - counts)
        reached = whole * upto
        # in units of 1 / whole rows, of which a row changes every score by at most
        # whole
        scores = -np.maximum(np.maximum(below - goal, goal - reached), 0)
        return noisy_max(
            scores, noise_scale=at_least(Fraction(scale) * whole), pure=pure
        )

    def name_texts(self, column: str, loss: Loss, delta: Fraction) -> dict[str, int]:
        """Return the texts of a column with a noisy count above a threshold, and that
        count.

        Costs `loss` and `delta`. A rho pays for the epsilon whose square is at most 2
        rho.
        """
        if self._texts is None:
            raise UsageError(
                "this measurer reads no texts",
                remedy="run the recipe through a curator",
            )
        self.domain.size(column)  # refuses a column that is not in this view
        epsilon = loss.epsilon if isinstance(loss, PureDP) else epsilon_within(loss.rho)
        scale = laplace_scale(rows=self.rows, queries=1, epsilon=epsilon)
        event = Event(
            mechanism="threshold",
            reads=((column,),),
            rows=self.rows,
            noise_scale=scale,
            delta=delta,
            part=self.part,
        )
        if delta > self._purse.delta:
            raise too_little_left("delta", float(delta), float(self._purse.delta))
        self._spend(loss, [event])
        self._purse.delta -= delta
        return thresholded_counts(
            self._texts(column), rows=self.rows, epsilon=epsilon, delta=delta
        )

    def assigned(
        self, assign: Assign, cells: int, reads: Clique, loss: Loss
    ) -> Marginal:
        """Measure the number of rows that a public rule puts into each of `cells`
        cells.

        A person's rows change these counts by at most `rows` in all. Costs `loss`.

        Args:
            cells: of the rule.
            loss: spent whole.
            assign: from rows to the cell of each, from 0; must look at each row for
                itself, and follow from public or already noisy facts alone.
            reads: the columns that it looks at; it is given no others.
        """
        if self._assigned is None:
            raise UsageError(
                "this measurer applies no rules", remedy="ask through a curator"
            )
        reads = self.domain.clique(reads)
        scale = noise_scale(rows=self.rows, queries=1, loss=loss)
        self._spend(loss, [self._event(self._additive, (reads,), scale)])
        return self._noisy(self._assigned(assign, cells, reads), scale)

    @property
    def _additive(self) -> Mechanism:
        return "discrete laplace" if self.noise == "laplace" else "discrete gaussian"

    def _event(
        self, mechanism: Mechanism, reads: tuple[Clique, ...], scale: float
    ) -> Event:
        return Event(
            mechanism=mechanism,
            reads=reads,
            rows=self.rows,
            noise_scale=scale,
            part=self.part,
        )

    def _levels(self, name: str, levels: Integers) -> Integers:
        """Return levels of the declared cells, none of which counts a row for more than
        one.
        """
        whole = np.asarray(levels)
        size = (self.domain.size(name),)
        if (
            whole.dtype != np.int64
            or whole.shape != size
            or whole.min() < -GRID
            or whole.max() > GRID
        ):
            raise UsageError(
                (
                    f"the levels of column {name!r} must be one per cell, from -{GRID} "
                    f"to {GRID}"
                ),
                remedy="make them by tables.sums.levels",
            )
        return whole[self._groups[name]] if name in self._groups else whole

    def _lines(self, by: Clique, sums: Integers) -> Integers:
        """Sum the lines of declared cells to the cells of this view."""
        cell = np.zeros(1, dtype=np.int64)
        for name in by:
            size = self.domain.size(name)
            cell = (
                cell[:, None] * size + self._groups.get(name, np.arange(size))
            ).ravel()
        lines = np.zeros((self.domain.cells(by), sums.shape[1]), dtype=np.int64)
        np.add.at(lines, cell, sums)
        return lines

    def _exact(self, cliques: Sequence[Clique]) -> list[Counts]:
        """Return the private exact counts of this view."""
        return (
            self._counts(cliques, groups=self._groups)
            if self._groups
            else self._counts(cliques)
        )

    def _spend(self, loss: Loss, events: Sequence[Event]) -> None:
        """Take `loss` off what is left, before anything is read."""
        if type(loss) is not type(self.loss):
            raise UsageError(
                f"this run spends {self.loss.name}, not {loss.name}",
                remedy="take shares of its own loss",
            )
        if loss.amount > self._purse.loss:
            raise too_little_left(
                loss.name, float(loss.amount), float(self._purse.loss)
            )
        self._purse.loss -= loss.amount
        self.events.extend(events)

    def _noisy(self, counts: Counts, scale: float) -> Marginal:
        return Marginal(
            clique=counts.clique,
            values=self._draw(counts.values, scale).astype(np.float64),
            variance=noise_variance(scale, self.loss),
            noise=self.noise,
        )

    def _draw(
        self, values: npt.NDArray[np.int64], scale: float
    ) -> npt.NDArray[np.int64]:
        draw = discrete_laplace if self.noise == "laplace" else discrete_gaussian
        return draw(values, noise_scale=scale, on_draw=self.on_draw)

    def _estimated(self, estimates: Mapping[Clique, Values]) -> tuple[Clique, ...]:
        """Return the cliques, and refuse estimates of another shape, where a row would
        count often.
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
        counts = self._exact(tuple(estimates))
        return np.array(
            [
                np.abs(
                    count.values * GRAIN
                    - _grains(estimates[count.clique], FARTHEST / count.values.size),
                ).sum()
                for count in counts
            ],
            dtype=np.int64,
        )


def _grains(rows: Values, limit: float) -> npt.NDArray[np.int64]:
    """Public numbers of rows in whole units of 1 / GRAIN, none beyond `limit` rows."""
    return np.rint(np.nan_to_num(np.clip(rows, -limit, limit)) * GRAIN).astype(np.int64)
