"""The model that Tree and Adaptive build up, round by round.

A round asks how far the model is from the wanted cliques, chooses the cliques whose
measurement gains most (`workload`), measures them, and fits again.
"""

import functools
import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpcore.accounting.loss import Loss, PureDP, split_loss
from dpcore.mechanisms.measurer import Measurer
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.discrete._binary_contrasts import (
    contrast_error,
    measure_cliques,
    pool_draws,
    signed_columns,
)
from dpcore.synthesis.discrete._columns import (
    ColumnMeasurements,
    affordable_cliques,
    independent_tables,
)
from dpcore.synthesis.discrete._interactions import affordable_sets, find_interactions
from dpcore.synthesis.discrete._refinement import affordable_passes
from dpcore.synthesis.discrete._smoothing import best_total, match_total, smooth_table
from dpcore.synthesis.discrete._spanning_tree import (
    measure_tree_pairs,
    triangle_closing_pairs,
    triangles,
)
from dpcore.synthesis.discrete._workload import (
    FIT_NOISE_FACTOR,
    MAX_SEARCHED_CLIQUES,
    choose_cliques,
    denoise_errors,
    expected_error,
    split_over_best,
    split_over_columns,
)
from dpcore.synthesis.discrete.coarse_pairs import (
    CoarsePairs,
    coarse_cell_count,
    merge_into_runs,
)
from dpcore.synthesis.discrete.concordance import Concordances
from dpcore.synthesis.graph.fit import MAX_SWEEPS, MIN_SWEEPS, FittedModel, fit
from dpcore.synthesis.graph.junction_tree import (
    BoundedTree,
    clique_to_mask,
    mask_to_clique,
)
from dpcore.tables.counts import MAX_CELLS, Marginal, Values, project

SELECTION_SHARE = Fraction(7, 100)  # of a round's loss, for noisy distances
# The same if this brings their noise below LOUD_DISTANCE_NOISE.
RAISED_SELECTION_SHARE = Fraction(1, 5)
LOUD_DISTANCE_NOISE = 0.2  # noise SD of a distance, as a fraction of the table's rows
TARGET_CHOICE_SHARE = Fraction(1, 2)  # of a target's loss, for choosing its pair
# A pair is uninformative about the target up to this distance from independence, as a
# fraction of the largest possible distance.
UNINFORMATIVE_DISTANCE = 0.1
INTERACTION_CHOICE_SHARE = Fraction(1, 3)  # of their loss, for finding interactions
# Share of a round's loss for contrasts, which are also kept as measurements.
CONTRAST_SHARE = Fraction(1, 2)
# Weight of a triple of binary columns outside the workload; measuring it takes one
# number.
DEFAULT_TRIPLE_WEIGHT = 0.25
# Shares of the last round's loss to try for pairs outside the tree.
OUTSIDE_SHARES = (
    Fraction(0),
    Fraction(1, 8),
    Fraction(1, 4),
    Fraction(3, 8),
    Fraction(1, 2),
    Fraction(5, 8),
)
# Noise SDs subtracted from the distances of pairs outside the tree before their gain is
# computed.
CORRECTION_SDS = 2.0
# Candidates per column that are kept for the next round if there are many.
CANDIDATES_PER_COLUMN = 3


class Learner:
    """The state of a model between rounds, all of it noisy or public.

    Attributes:
        joint: measurements made after the columns, over groups, repeated draws averaged
            (`pool_draws`); contrasts are not completed.
        fitted: the model so far; None before the first fit, when columns count as
            independent.
    """

    def __init__(
        self,
        view: Measurer,
        columns: ColumnMeasurements,
        *,
        factors: Sequence[tuple[Clique, Values]],
        weights: Mapping[Clique, float],
        limit: int,
        joint: Sequence[Marginal] = (),
    ) -> None:
        """Begin with the columns alone, or with the measurements of an earlier release.

        Args:
            view: the table over groups.
            columns: the measurements of single columns.
            factors: 0 in impossible cells, 1 elsewhere.
            weights: pairs, and triples if they are wanted -> how much their error
                counts.
            limit: most cells of the junction tree.
            joint: measurements of an earlier release, over groups.
        """
        self.joint = pool_draws(joint)
        self.fitted: FittedModel | None = None
        self._view = view
        self._columns = columns
        self._factors = factors
        self._weights = weights
        self._limit = limit
        # The loss reserved for pairs outside the tree, these pairs, and their coarse
        # cells.
        self._outside_plan: tuple[Loss, list[Clique], CoarsePairs] | None = None
        # The noisy concordances and the SD of their noise, in rows.
        self._noisy_concordances: tuple[Concordances, float] | None = None
        self._distance_noise = 0.0  # noise SD of the last distances, in rows
        # For each clique, the excess over its expected distance in earlier rounds, and
        # the SD of that excess.
        self._earlier_excess: dict[Clique, tuple[float, float]] = {}
        # Contrasts that were measured to learn an error and are not yet used in a fit.
        self._contrasts: dict[Clique, list[Marginal]] = {}
        self._nodes = tuple(clique for clique, _ in factors) + tuple(
            m.clique for m in joint
        )
        pairs = [clique for clique in weights if len(clique) == 2]
        self._domain = columns.grouping.group_domain
        self._candidates = affordable_cliques(
            self._domain, pairs, min(limit, MAX_CELLS)
        )
        if joint:
            self.refit(quick=True)

    def measure_concordances(self, loss: Loss) -> None:
        """Spend `loss` on the concordances of all pairs of ordered columns.

        Columns of two declared cells are left out, not those in which most rows have
        one value: the others may still rise together. If fewer than two columns remain, the loss
        goes to single columns.
        """
        # The cell of missing values has no place in a column's order.
        ordered_cells = {
            name: rows[: len(rows) - (name in self._columns.with_missing)]
            for name, rows in self._columns.initial_counts.items()
            if name in self._columns.ordered
        }
        ordered_cells = {
            name: rows
            for name, rows in ordered_cells.items()
            if len(rows) >= 2
            and self._columns.grouping.domain.size(name)
            > 2 + (name in self._columns.with_missing)
        }
        if len(ordered_cells) < 2:
            self.measure_columns(loss)
        else:
            self._noisy_concordances = Concordances.measure(
                self._view, ordered_cells, loss
            )

    def fit_concordances(self) -> tuple[FittedModel, Concordances | None]:
        """Return the model refitted to the concordances, and the denoised concordances.

        A measured pair is first moved to agree with its concordance. Without such a
        pair the model stays as it is.
        """
        assert self.fitted is not None
        if self._noisy_concordances is None:
            return self.fitted, None
        noisy, deviation = self._noisy_concordances
        # A concordance computed from a measured table has the noise of all its cells.
        measured = {
            marginal.clique: math.sqrt(marginal.variance * marginal.values.size)
            for marginal in self.joint
            if marginal.clique in noisy.rows
        }
        numbers = noisy.denoise(
            {pair: self.fitted.model.marginal(pair) for pair in noisy.rows},
            deviation,
            measured,
        )
        if not numbers.rows.keys() & {marginal.clique for marginal in self.joint}:
            return self.fitted, numbers
        return self.refit(quick=True, concordances=numbers), numbers

    def measure_tree(self, loss: Loss) -> None:
        """Spend `loss` on choosing and measuring the edges of a spanning tree.

        Afterwards the candidates are the pairs that close a triangle of its edges.
        """
        tree = BoundedTree(self._domain, self._limit, self._nodes)
        measured = measure_tree_pairs(
            self._view, independent_tables(self._columns, self._candidates), loss, tree
        )
        self.joint = pool_draws([*self.joint, *measured])
        self._nodes = tree.cliques
        self._candidates = triangle_closing_pairs(
            self._candidates, [m.clique for m in measured if len(m.clique) == 2]
        )

    def measure_target(self, target: str, loss: Loss) -> None:
        """Spend `loss` on the target's strongest pair, found by one private choice.

        The score of a pair is its distance from independence less the noise that its
        measurement would leave; a person's rows change it by at most their number
        (`Measurer.select`). Without a pair that fits, the columns get the loss.
        """
        spend = loss.share(1 - TARGET_CHOICE_SHARE)
        pairs = [pair for pair in self._candidates if target in pair and len(pair) == 2]
        if not pairs:
            self.measure_columns(loss)
            return
        noise: dict[Clique, float] = {
            pair: FIT_NOISE_FACTOR
            * expected_error(self._domain.cells(pair), spend, self._view.rows)
            for pair in pairs
        }
        best = self._view.select_clique(
            {pair: self.fitted.model.marginal(pair) for pair in pairs}
            if self.fitted
            else independent_tables(self._columns, pairs),
            loss.share(TARGET_CHOICE_SHARE),
            noise,
        )
        tree = BoundedTree(self._domain, self._limit, self._nodes)
        if not tree.add(best):
            self.measure_columns(spend)
            return
        self._nodes = tree.cliques
        self._add_measurements(measure_cliques(self._view, {best: 1.0}, spend))
        self.refit(quick=True)

    def has_informative_pair(self, target: str) -> bool:
        """Return whether a measured pair is informative about the target.

        It is judged by the fitted model, which leaves out what noise explains.
        """
        if self.fitted is None:
            return True
        parts = (
            self._columns.initial_counts[target]
            / self._columns.initial_counts[target].sum()
        )
        largest = 2 * max(1e-9, 1 - float((parts**2).sum()))
        tables = [
            self.fitted.model.marginal(marginal.clique)
            for marginal in self.joint
            if len(marginal.clique) == 2 and target in marginal.clique
        ]
        distances = [
            float(np.abs(table - _product_of_columns(("first", "second"), table)).sum())
            / max(1.0, float(table.sum()))
            for table in tables
        ]
        return not distances or max(distances) > UNINFORMATIVE_DISTANCE * largest

    def measure_interactions(self, target: str, loss: Loss) -> Fraction:
        """Find columns that predict a target only jointly, and measure them with it.

        Returns: the part of `loss` that was spent: none if noise would hide them, that
            of the search if there are none.
        """
        search = loss.share(INTERACTION_CHOICE_SHARE)
        counts = self._columns.initial_counts
        if not affordable_sets(counts, target, search, self._view.rows):
            return Fraction(0)
        tree = BoundedTree(self._domain, self._limit, self._nodes)
        found = [
            mask_to_clique(
                self._domain, clique_to_mask(self._domain, (*columns, target))
            )
            for columns in find_interactions(self._view, counts, target, search)
        ]
        found = [
            clique
            for clique in found
            if self._domain.cells(clique) <= MAX_CELLS and tree.add(clique)
        ]
        if not found:
            return INTERACTION_CHOICE_SHARE
        self._nodes = tree.cliques
        # Measure whole tables, because contrasts of triples would need all of their
        # pairs.
        self._add_measurements(
            self._view.measure(found, loss.share(1 - INTERACTION_CHOICE_SHARE))
        )
        self.refit(quick=True)
        return Fraction(1)

    def measure_most_useful(self, loss: Loss, *, is_last: bool = False) -> None:
        """Spend `loss` on measuring the model's errors, then the most useful cliques.

        In the last round a part is reserved for `measure_outside_pairs` if it gains
        more there.
        """
        if not self._candidates:
            self.measure_columns(loss)
            return
        model = self.fitted.model if self.fitted else None
        estimates = (
            {clique: model.marginal(clique) for clique in self._candidates}
            if model
            else independent_tables(self._columns, self._candidates)
        )
        # 1. Measure how far the model is from each candidate.
        is_raised = self._raises_selection(loss)
        errors, asked_share = self._measure_errors(estimates, loss, is_raised=is_raised)
        spend = loss.share(1 - asked_share)
        # 2. Choose what to measure with the remaining loss, within the limit of the
        # tree.
        parts, share, self._nodes = choose_cliques(
            self._domain,
            errors,
            {
                clique: self._weights.get(clique, DEFAULT_TRIPLE_WEIGHT)
                for clique in errors
            },
            loss=spend,
            max_rows=self._view.rows,
            limit=self._limit,
            nodes=self._nodes,
            gain_elsewhere=lambda rest, measured: (
                0.0
                if is_raised
                else self._gain_of_columns(set(errors) - set(measured), rest)
            ),
        )
        if is_last and share:
            spend = self._reserve_for_outside_pairs(errors, parts, spend)
        # 3. Measure the chosen cliques; spend the rest of the loss on single columns.
        if share < 1:
            self.measure_columns(spend.share(1 - share))
        if share:
            self._add_measurements(
                measure_cliques(self._view, parts, spend.share(share))
            )
        self._narrow_candidates(errors, loss)

    def measure_outside_pairs(self) -> CoarsePairs | None:
        """Spend the reserved loss on pairs outside the tree, over coarser cells.

        Returns: None if `measure_most_useful` reserved nothing.
        """
        if self._outside_plan is None or self.fitted is None:
            return None
        loss, outside, coarse = self._outside_plan
        view = self._view.coarsen(coarse.groups)
        # Measure how far the model is from each pair, over coarse cells.
        estimates = {
            pair: coarse.merge(pair, self.fitted.model.marginal(pair))
            for pair in outside
        }
        asked = loss.share(SELECTION_SHARE)
        noise = max(1e-9, view.gap_deviation(len(estimates), asked))
        # Only what sampling and noise do not explain is worth a measurement.
        errors = denoise_errors(
            view.measure_gaps(estimates, asked),
            {pair: _sampling_distance(table) for pair, table in estimates.items()},
            dict.fromkeys(estimates, noise),
        )
        spend = loss.share(1 - SELECTION_SHARE)
        # Measure the best pairs, or at least the pair with the largest error.
        _, parts = split_over_best(
            view.domain, list(errors), errors, self._weights, spend, view.rows
        )
        parts = parts or dict.fromkeys([max(errors, key=errors.__getitem__)], 1.0)
        return replace(
            coarse, tables=view.measure(list(parts), spend, list(parts.values()))
        )

    def _reserve_for_outside_pairs(
        self, errors: Mapping[Clique, float], parts: Mapping[Clique, float], loss: Loss
    ) -> Loss:
        """Reserve loss for pairs outside the tree; return what remains for the tree.

        The part reserved is the one with the largest total gain, 0 under pure epsilon.
        """
        outside = self._outside_pairs(errors, loss)
        # These measurements only serve the refinement of drawn rows, so skip them if
        # the table is not refined.
        refined = affordable_passes(
            round(self._columns.row_count.total), self._domain.sizes, 0.0
        )
        if isinstance(loss, PureDP) or not outside or not refined:
            return loss

        def gain(domain: Domain, cliques: Sequence[Clique], part: Fraction) -> float:
            weights = {
                clique: self._weights.get(clique, DEFAULT_TRIPLE_WEIGHT)
                for clique in cliques
            }
            return split_over_best(
                domain, cliques, errors, weights, loss.share(part), self._view.rows
            )[0]

        errors = {
            pair: error - CORRECTION_SDS * self._distance_noise * (pair in outside)
            for pair, error in errors.items()
        }
        best = 0.0
        rest = loss
        for part in OUTSIDE_SHARES:
            total = gain(self._domain, list(parts), 1 - part)
            if part:
                deviation = self._view.gap_deviation(len(outside), loss.share(part))
                cells = coarse_cell_count(self._columns.row_count.total, deviation)
                groups = {
                    name: merge_into_runs(rows, cells)
                    for name, rows in self._columns.initial_counts.items()
                }
                total += gain(self._view.coarsen(groups).domain, outside, part)
            if total > best:
                best = total
                rest = loss.share(1 - part)
                if part:
                    self._outside_plan = (
                        loss.share(part),
                        outside,
                        CoarsePairs(groups=groups, tables=()),
                    )
        return rest

    def _outside_pairs(self, cliques: Iterable[Clique], loss: Loss) -> list[Clique]:
        """Return pairs in no node of the tree, except those of two binary columns."""
        return [
            clique
            for clique in cliques
            if len(clique) == 2
            and signed_columns(self._domain, clique, loss) != clique
            and not any(set(clique) <= set(node) for node in self._nodes)
        ]

    def measure_columns(self, loss: Loss) -> None:
        """Spend `loss` on single columns."""
        names = self._columns.grouping.domain.names
        self._add_measurements(
            measure_cliques(
                self._view, split_over_columns(self._domain, names, loss), loss
            )
        )

    def _measure_errors(
        self, estimates: Mapping[Clique, Values], loss: Loss, *, is_raised: bool
    ) -> tuple[dict[Clique, float], Fraction]:
        """Return the noisy errors of the estimates, and the share of `loss` spent.

        The error of a pair of binary columns is one number, the error of its contrast.
        A noisy distance would cost as much as measuring the contrast itself. So the
        contrast is measured, for half of the loss, and used in the fit if the pair is
        chosen later.
        """
        contrasts = {
            clique: 1.0
            for clique in estimates
            if signed_columns(self._domain, clique, loss) == clique
        }
        others = {
            pair: table for pair, table in estimates.items() if pair not in contrasts
        }
        errors: dict[Clique, float] = {}
        telling = CONTRAST_SHARE * Fraction(len(contrasts), len(estimates))
        share = RAISED_SELECTION_SHARE if is_raised else SELECTION_SHARE
        asking = share * Fraction(len(others), len(estimates))
        if contrasts:
            for contrast in measure_cliques(self._view, contrasts, loss.share(telling)):
                self._contrasts.setdefault(contrast.clique, []).append(contrast)
            errors |= {
                pair: contrast_error(self._contrasts[pair], estimates[pair])
                for pair in contrasts
            }
        if others:
            errors |= self._measure_distances(others, loss.share(asking))
        return errors, telling + asking

    def _raises_selection(self, loss: Loss) -> bool:
        """Return whether a larger share of a round makes its distances legible.

        Distances that stay loud all the same are not worth it. Under pure epsilon,
        whose noise grows with their number, it was not tried.
        """
        asked = [
            clique
            for clique in self._candidates
            if signed_columns(self._domain, clique, loss) != clique
        ]
        if isinstance(loss, PureDP) or not asked:
            return False
        part = Fraction(len(asked), len(self._candidates))
        usual, raised = (
            self._view.gap_deviation(len(asked), loss.share(part * share))
            for share in (SELECTION_SHARE, RAISED_SELECTION_SHARE)
        )
        loud = LOUD_DISTANCE_NOISE * self._columns.row_count.total
        return raised <= loud < usual

    def _measure_distances(
        self, estimates: Mapping[Clique, Values], loss: Loss
    ) -> dict[Clique, float]:
        """Spend `loss` on noisy L1 distances, and return them denoised, in rows.

        A distance measured in an earlier round is averaged in, weighted by its noise
        and by the size of the relation that the model now has of the pair.
        """
        # 1. Measure the distances.
        noisy = self._view.measure_gaps(estimates, loss)
        self._distance_noise = max(1e-9, self._view.gap_deviation(len(noisy), loss))
        expected = self._expected_distances(estimates)
        deviations = dict.fromkeys(noisy, self._distance_noise)
        # 2. Average with the distances of earlier rounds, weighted by inverse variance.
        # Because the model has changed since then, the squared size of the relation is
        # added to the variance of the earlier distance.
        for pair in self._earlier_excess.keys() & noisy.keys():
            earlier, deviation = self._earlier_excess[pair]
            relation = float(
                np.abs(
                    estimates[pair] - _product_of_columns(pair, estimates[pair])
                ).sum()
            )
            old = 1 / (deviation**2 + relation**2)
            new = 1 / self._distance_noise**2
            noisy[pair] += (earlier + expected[pair] - noisy[pair]) * old / (old + new)
            deviations[pair] = (old + new) ** -0.5
        self._earlier_excess |= {
            pair: (noisy[pair] - expected[pair], deviations[pair]) for pair in noisy
        }
        # 3. Denoise the distances.
        excess = denoise_errors(noisy, expected, deviations)
        return {pair: excess[pair] + expected[pair] for pair in noisy}

    def _expected_distances(
        self, estimates: Mapping[Clique, Values]
    ) -> dict[Clique, float]:
        """Return the distance that each clique would show in a correct model, in rows.

        It comes from the noise of the single columns and from sampling.
        """
        noise = self._column_errors()
        return {
            clique: math.hypot(
                *(noise[name] for name in clique),
                _sampling_distance(table),
            )
            for clique, table in estimates.items()
        }

    def _gain_of_columns(self, pairs: Collection[Clique], loss: Loss) -> float:
        """Return how much less these pairs would err if `loss` went to single columns.

        Errors of columns add as squares. The gain is 0 under pure epsilon, which was
        not tried.
        """
        if isinstance(loss, PureDP):
            return 0.0
        pairs = [pair for pair in pairs if len(pair) == 2]
        weights = [self._weights.get(pair, DEFAULT_TRIPLE_WEIGHT) for pair in pairs]
        before, after = (
            np.hypot(
                [errors[first] for first, _ in pairs],
                [errors[second] for _, second in pairs],
            )
            for errors in (self._column_errors(), self._column_errors(loss))
        )
        return float(np.dot(weights, before - after))

    def _column_errors(self, extra_loss: Loss | None = None) -> dict[str, float]:
        """Return each column's expected L1 error, counting extra loss as spent."""
        # The precisions of independent estimates, 1 / error^2, add up.
        precisions = dict.fromkeys(self._domain.names, 0.0)
        for marginal in (*self._columns.measurements, *self.joint):
            if len(marginal.clique) == 1:
                cells = marginal.values.size
                precisions[marginal.clique[0]] += math.pi / (
                    2 * cells**2 * max(marginal.variance, 1e-12)
                )
        if extra_loss is not None:
            parts = split_over_columns(self._domain, self._domain.names, extra_loss)
            for (name,), loss in zip(
                parts,
                split_loss(extra_loss, len(parts), list(parts.values())),
                strict=True,
            ):
                cells = self._domain.size(name) // (
                    1 + bool(signed_columns(self._domain, (name,), loss))
                )
                precisions[name] += expected_error(cells, loss, self._view.rows) ** -2
        return {
            name: precision**-0.5 if self._domain.size(name) > 1 else 0.0
            for name, precision in precisions.items()
        }

    def _add_measurements(self, measured: Sequence[Marginal]) -> None:
        """Add new measurements, together with earlier contrasts of the same pairs."""
        cliques = {marginal.clique for marginal in (*self.joint, *measured)}
        pairs = [pair for pair in self._contrasts if pair in cliques]
        known = [contrast for pair in pairs for contrast in self._contrasts.pop(pair)]
        self.joint = pool_draws([*self.joint, *measured, *known])

    def refit(
        self, *, quick: bool, concordances: Concordances | None = None
    ) -> FittedModel:
        """Fit the model to all measurements, starting from its present potentials.

        Args:
            quick: stop after the fewest sweeps.
            concordances: move measured pairs to agree with these first.
        """
        warm = self.fitted.potentials if self.fitted else None
        # Smooth tables of several columns. Do not smooth later draws of a single
        # column: they would repeat the error of the first draw.
        products = independent_tables(
            self._columns,
            {marginal.clique for marginal in self.joint if len(marginal.clique) > 1},
        )
        joint = [
            smooth_table(m, products[m.clique]) if m.clique in products else m
            for m in self.joint
        ]
        if concordances is not None and self.fitted is not None:
            model = self.fitted.model
            joint = [
                concordances.adjust_marginal(m, model.marginal(m.clique))
                if m.clique in concordances.rows
                else m
                for m in joint
            ]
        self.fitted = None  # lets go of its large tables
        self.fitted = fit(
            self._domain,
            match_total(
                [*self._columns.measurements, *joint],
                best_total([*self._columns.raw_measurements, *self.joint]),
            ),
            start=self._columns.initial_counts,
            factors=self._factors,
            nodes=self._nodes,
            warm_start=warm,
            max_sweeps=MIN_SWEEPS if quick else MAX_SWEEPS,
        )
        return self.fitted

    def _narrow_candidates(self, errors: Mapping[Clique, float], loss: Loss) -> None:
        """Keep the cliques with the largest errors; add wanted triples inside nodes.

        Few cliques are all kept, as the model may have spoiled pairs that were right.
        """
        most = CANDIDATES_PER_COLUMN * len(self._domain.names)
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
            *ranked[: max(MAX_SEARCHED_CLIQUES, most)],
            *affordable_cliques(
                self._domain, triples[:most], min(self._limit, MAX_CELLS)
            ),
        ]


def _sampling_distance(table: Values) -> float:
    """Return the expected L1 distance of a sample from a table of expected rows."""
    return float(np.sqrt(np.maximum(table, 0) * 2 / math.pi).sum())


def _product_of_columns(clique: Clique, table: Values) -> Values:
    """Return the table expected under independence, with the same one-way counts."""
    total = max(float(table.sum()), 1e-9)
    sums = (project(table, clique, (name,)) for name in clique)
    product: Values = total * functools.reduce(
        np.multiply.outer, (counts / total for counts in sums)
    )
    return product
