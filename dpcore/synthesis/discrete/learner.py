"""The model of Tree and Adaptive while it grows, with its measurements and its junction
tree.
"""

import functools
import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpcore.accounting.loss import Loss, PureDP, split
from dpcore.mechanisms.measurer import Measurer
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.discrete.binary_contrasts import (
    difference_off,
    measure_cliques,
    pooled,
    signed_columns,
)
from dpcore.synthesis.discrete.coarse_pairs import CoarsePairs, coarse_cells, runs
from dpcore.synthesis.discrete.columns import MIDDLE, Columns, affordable, independent
from dpcore.synthesis.discrete.concordance import Concordances
from dpcore.synthesis.discrete.refinement import passes_for
from dpcore.synthesis.discrete.smoothing import adding_up, best_total, smoothed
from dpcore.synthesis.discrete.spanning_tree import closing, tree_pairs, triangles
from dpcore.synthesis.discrete.workload import (
    FEW,
    affordable_parts,
    believed,
    by_strength,
    choose,
    column_parts,
    expected_error,
)
from dpcore.synthesis.graph.fit import MAX_SWEEPS, MIN_SWEEPS, Fit, fit
from dpcore.synthesis.graph.junction_tree import BoundedTree
from dpcore.tables.counts import MAX_CELLS, Marginal, Values, project

SELECTION_SHARE = Fraction(7, 100)  # of a round's loss
# the same, where the answers are measurements of what would be measured next
TELLING_SHARE = Fraction(1, 2)
# weight of a triple of binary columns that is not wanted, as one number costs no cells
UNWANTED = 0.25
BEYOND_SHARES = (
    Fraction(0),
    Fraction(1, 8),
    Fraction(1, 4),
    Fraction(3, 8),
    Fraction(1, 2),
    Fraction(5, 8),
)
"""Parts of the last round that may go to pairs outside the tree."""
DROWNED = 0.15
TOLD_APART = 0.1
"""Noise of distances in parts of all rows: from which only some are told, and that
these then have.
"""
LEAST_TOLD = 4  # of these
CLEARLY = 2.25
"""Deviations of noise from which a distance counts whole and, beyond what is explained,
as a relation.
"""
# deviations of their noise that are taken off the distances of these pairs
SURELY = 2.0
# cliques a column that are asked about again; of pairs all, where they are few
ASKED_AGAIN = 3


class Learner:
    """The state of a model between rounds, all of it noisy or public.

    Attributes:
        joint: what was measured since the columns, over groups, as `pooled`; contrasts
            not completed.
        fitted: the model so far; None before the first fit, when columns count as
            independent.
    """

    def __init__(
        self,
        view: Measurer,
        columns: Columns,
        *,
        factors: Sequence[tuple[Clique, Values]],
        weights: Mapping[Clique, float],
        limit: int,
        joint: Sequence[Marginal] = (),
    ) -> None:
        """Begin with the columns alone, or with the measurements of an earlier release.

        Args:
            columns: the measurements of single columns.
            joint: measurements of an earlier release, over groups.
            view: the table over groups.
            factors: 0 where no row may be, 1 elsewhere.
            weights: pairs, and triples if they are wanted -> how much their error
                counts.
            limit: cells the junction tree may have.
        """
        self.joint = pooled(joint)
        self.fitted: Fit | None = None
        self._view = view
        self._columns = columns
        self._factors = factors
        self._weights = weights
        self._limit = limit
        # for pairs outside the tree
        self._left: tuple[Loss, list[Clique], CoarsePairs] | None = None
        # with the deviation of their noise
        self._concordances: tuple[Concordances, float] | None = None
        self._asked = 0.0  # deviation of the noise of the last distances, in rows
        # of distances so far, with its deviation
        self._excess: dict[Clique, tuple[float, float]] = {}
        # measured in place of a question, not fitted yet
        self._told: dict[Clique, list[Marginal]] = {}
        self._nodes = tuple(clique for clique, _ in factors) + tuple(
            m.clique for m in joint
        )
        pairs = [clique for clique in weights if len(clique) == 2]
        self._domain = columns.grouping.coarse
        self._candidates = affordable(self._domain, pairs, min(limit, MAX_CELLS))
        if joint:
            self.refit(quick=True)

    def measure_concordances(self, loss: Loss) -> None:
        """Spend `loss` on the numbers of all pairs of ordered columns of more than two
        cells.
        """
        inside = {
            name: rows[: len(rows) - (name in self._columns.with_missing)]
            for name, rows in self._columns.start.items()
            if name in self._columns.ordered
        }
        inside = {name: rows for name, rows in inside.items() if len(rows) > 2}
        if len(inside) < 2:
            self.measure_columns(loss)
        else:
            self._concordances = Concordances.measured(self._view, inside, loss)

    def moved(self) -> tuple[Fit, Concordances | None]:
        """Return the model fitted to measured pairs as they are by their numbers too,
        and all these.
        """
        assert self.fitted is not None
        if self._concordances is None:
            return self.fitted, None
        noisy, deviation = self._concordances
        tables = {pair: self.fitted.model.marginal(pair) for pair in noisy.rows}
        numbers = noisy.believed(
            {pair: noisy.of(pair, tables[pair]) for pair in tables}, deviation
        )
        if not numbers.rows.keys() & {each.clique for each in self.joint}:
            return self.fitted, numbers
        return self.refit(quick=True, concordances=numbers), numbers

    def measure_tree(self, loss: Loss) -> None:
        """Spend `loss` on a spanning tree, and narrow the candidates to pairs that
        close its triangles.
        """
        tree = BoundedTree(self._domain, self._limit, self._nodes)
        measured = tree_pairs(
            self._view, independent(self._columns, self._candidates), loss, tree
        )
        self.joint = pooled([*self.joint, *measured])
        self._nodes = tree.cliques
        self._candidates = closing(
            self._candidates, [m.clique for m in measured if len(m.clique) == 2]
        )

    def measure_worst(self, loss: Loss, *, last: bool = False) -> None:
        """Spend `loss` on the errors of the model, and on the measurements that gain
        most.

        The last time a part is kept for `measure_beyond` where that gains more.
        """
        if not self._candidates:
            self.measure_columns(loss)
            return
        model = self.fitted.model if self.fitted else None
        estimates = (
            {clique: model.marginal(clique) for clique in self._candidates}
            if model
            else independent(self._columns, self._candidates)
        )
        errors, asked = self._ask(estimates, loss)
        spend = loss.share(1 - asked)
        parts, share, self._nodes = choose(
            self._domain,
            errors,
            {clique: self._weights.get(clique, UNWANTED) for clique in errors},
            loss=spend,
            rows=self._view.rows,
            limit=self._limit,
            nodes=self._nodes,
            otherwise=lambda rest, measured: self._gain_of_columns(
                set(errors) - set(measured), rest
            ),
        )
        if last and share:
            spend = self._keep(errors, parts, spend)
        if share < 1:
            self.measure_columns(spend.share(1 - share))
        if share:
            self._take(measure_cliques(self._view, parts, spend.share(share)))
        self._narrow(errors, loss)

    def measure_beyond(self) -> CoarsePairs | None:
        """Spend what `measure_worst` kept on pairs outside the tree, over coarser
        cells.
        """
        if self._left is None or self.fitted is None:
            return None
        loss, outside, coarse = self._left
        view = self._view.coarsen(coarse.groups)
        estimates = {
            pair: coarse.merge(pair, self.fitted.model.marginal(pair))
            for pair in outside
        }
        errors = view.gaps(estimates, loss.share(SELECTION_SHARE))
        spend = loss.share(1 - SELECTION_SHARE)
        _, parts = affordable_parts(
            view.domain, list(errors), errors, self._weights, spend, view.rows
        )
        parts = parts or dict.fromkeys([max(errors, key=errors.__getitem__)], 1.0)
        return replace(
            coarse, tables=view.measure(list(parts), spend, list(parts.values()))
        )

    def _keep(
        self, errors: Mapping[Clique, float], parts: Mapping[Clique, float], loss: Loss
    ) -> Loss:
        """Set aside the part of `loss` that gains most on pairs outside the tree, and
        return the rest.
        """
        outside = self._outside(errors, loss)
        drawn = passes_for(round(self._columns.count.total), self._domain.sizes, 0.0)
        if isinstance(loss, PureDP) or not outside or not drawn:
            return loss

        def gain(domain: Domain, cliques: Sequence[Clique], part: Fraction) -> float:
            weights = {
                clique: self._weights.get(clique, UNWANTED) for clique in cliques
            }
            return affordable_parts(
                domain, cliques, errors, weights, loss.share(part), self._view.rows
            )[0]

        errors = {
            pair: error - SURELY * self._asked * (pair in outside)
            for pair, error in errors.items()
        }
        best = 0.0
        rest = loss
        for part in BEYOND_SHARES:
            total = gain(self._domain, list(parts), 1 - part)
            if part:
                deviation = self._view.gap_deviation(len(outside), loss.share(part))
                cells = coarse_cells(self._columns.count.total, deviation)
                groups = {
                    name: runs(rows, cells)
                    for name, rows in self._columns.start.items()
                }
                total += gain(self._view.coarsen(groups).domain, outside, part)
            if total > best:
                best = total
                rest = loss.share(1 - part)
                if part:
                    self._left = (
                        loss.share(part),
                        outside,
                        CoarsePairs(groups=groups, tables=()),
                    )
        return rest

    def _outside(self, cliques: Iterable[Clique], loss: Loss) -> list[Clique]:
        """Return the pairs in no node of the tree, without those of two binary
        columns.
        """
        return [
            clique
            for clique in cliques
            if len(clique) == 2
            and signed_columns(self._domain, clique, loss) != clique
            and not any(set(clique) <= set(node) for node in self._nodes)
        ]

    def measure_columns(self, loss: Loss) -> None:
        """Spend `loss` on the columns alone, where nothing else is worth its noise."""
        names = self._columns.grouping.domain.names
        self._take(
            measure_cliques(self._view, column_parts(self._domain, names, loss), loss)
        )

    def _ask(
        self, estimates: Mapping[Clique, Values], loss: Loss
    ) -> tuple[dict[Clique, float], Fraction]:
        """Measure the error of the estimates, and return it with the part of `loss`
        that it cost.

        A pair of binary columns is one number, its difference: asked for a distance, it
        would cost as much as the number itself. So that is measured, for half of the
        loss, and fitted where the pair is chosen.
        """
        contrasts = {
            each: 1.0
            for each in estimates
            if signed_columns(self._domain, each, loss) == each
        }
        others = {
            pair: table for pair, table in estimates.items() if pair not in contrasts
        }
        errors: dict[Clique, float] = {}
        telling = TELLING_SHARE * Fraction(len(contrasts), len(estimates))
        asking = SELECTION_SHARE * Fraction(len(others), len(estimates))
        if contrasts:
            for each in measure_cliques(self._view, contrasts, loss.share(telling)):
                self._told.setdefault(each.clique, []).append(each)
            errors |= {
                pair: difference_off(self._told[pair], estimates[pair])
                for pair in contrasts
            }
        if others:
            errors |= self._ask_distances(others, loss.share(asking))
        return errors, telling + asking

    def _ask_distances(
        self, estimates: Mapping[Clique, Values], loss: Loss
    ) -> dict[Clique, float]:
        """Spend `loss` on noisy distances, and return what is to be believed of them.

        Where the distances of all cliques would drown, half of it chooses those that
        are told, as many as can be told apart; the others count as if the model were
        right. What was told of a pair before counts again, by its noise and what the
        model holds of the pair by now.
        """
        errors = dict.fromkeys(estimates, 0.0)
        strengths = dict.fromkeys(estimates, 0.0)
        rows = max(1.0, self._columns.count.total)
        drowned = self._view.gap_deviation(len(estimates), loss) / rows
        if drowned > DROWNED and not isinstance(loss, PureDP):
            loss = loss.share(Fraction(1, 2))
            part = (TOLD_APART / drowned) ** 2 / 2
            count = min(len(estimates), max(LEAST_TOLD, round(part * len(estimates))))
            estimates = {
                each: estimates[each]
                for each in self._view.select(estimates, loss, count=count)
            }
        noisy = self._view.gaps(estimates, loss)
        self._asked = max(1e-9, self._view.gap_deviation(len(noisy), loss))
        explained = self._explained(estimates)
        deviations = dict.fromkeys(noisy, self._asked)
        for pair in self._excess.keys() & noisy.keys():
            before, deviation = self._excess[pair]
            held = float(
                np.abs(
                    estimates[pair] - _product_of_columns(pair, estimates[pair])
                ).sum()
            )
            old = 1 / (deviation**2 + held**2)
            new = 1 / self._asked**2
            noisy[pair] += (before + explained[pair] - noisy[pair]) * old / (old + new)
            deviations[pair] = (old + new) ** -0.5
        self._excess |= {
            pair: (noisy[pair] - explained[pair], deviations[pair]) for pair in noisy
        }
        for pair, excess in believed(noisy, explained, deviations).items():
            least = CLEARLY * deviations[pair]
            errors[pair] = excess + explained[pair] * (noisy[pair] > least)
            strengths[pair] = excess * (noisy[pair] > least + explained[pair])
        if self.fitted is None and self._columns.clarity < MIDDLE:
            self._weights = by_strength(self._weights, strengths)
        return errors

    def _explained(self, estimates: Mapping[Clique, Values]) -> dict[Clique, float]:
        """Return the expected distances from right estimates, by noise of their columns
        and by chance.
        """
        noise = self._column_errors()
        return {
            clique: math.hypot(
                *(noise[name] for name in clique),
                float(np.sqrt(np.maximum(table, 0) * 2 / math.pi).sum()),
            )
            for clique, table in estimates.items()
        }

    def _gain_of_columns(self, pairs: Collection[Clique], loss: Loss) -> float:
        """Return the gain for these pairs if `loss` went to columns, whose errors add
        as squares.

        0 under pure epsilon, where it was not tried.
        """
        if isinstance(loss, PureDP):
            return 0.0
        before = self._column_errors()
        after = self._column_errors(loss)
        return sum(
            self._weights.get(pair, UNWANTED)
            * (
                math.hypot(*(before[name] for name in pair))
                - math.hypot(*(after[name] for name in pair))
            )
            for pair in pairs
            if len(pair) == 2
        )

    def _column_errors(self, more: Loss | None = None) -> dict[str, float]:
        """Return the expected L1 error of each column by noise, in rows, now or after
        spending `more`.
        """
        known = dict.fromkeys(self._domain.names, 0.0)  # sum of 1 / error^2
        for each in (*self._columns.measurements, *self.joint):
            if len(each.clique) == 1:
                cells = each.values.size
                known[each.clique[0]] += math.pi / (
                    2 * cells**2 * max(each.variance, 1e-12)
                )
        if more is not None:
            parts = column_parts(self._domain, self._domain.names, more)
            for (name,), loss in zip(
                parts, split(more, len(parts), list(parts.values())), strict=True
            ):
                cells = self._domain.size(name) // (
                    1 + bool(signed_columns(self._domain, (name,), loss))
                )
                known[name] += expected_error(cells, loss, self._view.rows) ** -2
        return {
            name: each**-0.5 if self._domain.size(name) > 1 else 0.0
            for name, each in known.items()
        }

    def _take(self, measured: Sequence[Marginal]) -> None:
        """Add new measurements, with earlier contrasts of the same pairs."""
        cliques = {each.clique for each in (*self.joint, *measured)}
        pairs = [pair for pair in self._told if pair in cliques]
        known = [each for pair in pairs for each in self._told.pop(pair)]
        self.joint = pooled([*self.joint, *measured, *known])

    def refit(self, *, quick: bool, concordances: Concordances | None = None) -> Fit:
        """Fit the model to all that was measured, from where it is.

        Args:
            concordances: by which measured pairs are moved before.
        """
        warm = self.fitted.potentials if self.fitted else None
        strongest = self._strongest()
        # later draws of a column stay as they are: drawn to their neighbors they would
        # err as the first one
        products = independent(
            self._columns, {each.clique for each in self.joint if len(each.clique) > 1}
        )
        joint = [
            smoothed(m, products[m.clique]) if m.clique in products else m
            for m in self.joint
        ]
        if concordances is not None and self.fitted is not None:
            model = self.fitted.model
            joint = [
                concordances.moved(m, model.marginal(m.clique))
                if m.clique in concordances.rows
                else m
                for m in joint
            ]
        self.fitted = None  # lets go of its large tables
        self.fitted = fit(
            self._domain,
            adding_up(
                [*self._columns.measurements, *joint],
                best_total([*self._columns.measured, *self.joint]),
            ),
            start=self._columns.start,
            factors=self._factors,
            nodes=self._nodes,
            warm=warm,
            max_sweeps=MIN_SWEEPS if quick else MAX_SWEEPS,
            strongest=strongest,
        )
        return self.fitted

    def _strongest(self) -> dict[Clique, float]:
        """Return the weights against independence under which measured relations are as
        strong as usual.

        A law of density exp(-weight * KL) over tables of k cells has a KL of k / (2
        weight) on average.
        """
        weights: dict[Clique, float] = {}
        if self.fitted is None:
            return weights
        for each in self.joint:
            if len(each.clique) > 1 and self._columns.ordered.issuperset(each.clique):
                table = np.maximum(self.fitted.model.marginal(each.clique), 1e-12)
                held = float(
                    (
                        table * np.log(table / _product_of_columns(each.clique, table))
                    ).sum()
                )
                weights[each.clique] = table.size / (2 * max(held, 1e-9))
        return weights

    def _narrow(self, errors: Mapping[Clique, float], loss: Loss) -> None:
        """Narrow the candidates to the cliques that erred most, and wanted triples
        inside nodes.

        Where cliques are few all are kept, for the model may have spoiled what was
        right.
        """
        most = ASKED_AGAIN * len(self._domain.names)
        ranked = sorted(errors, key=errors.__getitem__, reverse=True)
        triples: list[Clique] = [
            clique
            for clique in self._weights
            if len(clique) == 3
            and not signed_columns(self._domain, clique, loss)
            and any(set(clique) <= set(node) for node in self._nodes)
        ]
        triples += triangles(
            self._domain.names,
            [
                m.clique
                for m in self.joint
                if signed_columns(self._domain, m.clique, loss) == m.clique
            ],
        )

        def error_of_pairs(clique: Clique) -> float:
            return sum(
                errors.get(pair, 0.0) for pair in itertools.combinations(clique, 2)
            )

        triples.sort(key=error_of_pairs, reverse=True)
        self._candidates = [
            *ranked[: max(FEW, most)],
            *affordable(self._domain, triples[:most], min(self._limit, MAX_CELLS)),
        ]


def _product_of_columns(clique: Clique, table: Values) -> Values:
    """Return the table of the same columns without a relation."""
    total = max(float(table.sum()), 1e-9)
    sums = (project(table, clique, (name,)) for name in clique)
    product: Values = total * functools.reduce(
        np.multiply.outer, (each / total for each in sums)
    )
    return product
