"""Adaptive: measure the best pairs in one shot, fit, and spend the rest where the fitted model errs most.

The steps: number of rows and one-way counts; rare values merged; then, a round at a time, noisy distances
between the model and the wanted cliques, the set of cliques whose measurement gains most under a limit on
junction-tree cells, their measurement with the optimal split of the loss, and a warm-started fit.

Source: the one-shot choice follows SWIFT (Google dpsynth, 2026), the rounds AIM (McKenna, Mullins, Sheldon,
Miklau 2022). What differs, and why, is written in docs/decisions/0010.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from dpcore.accounting.loss import Loss, PureDP, split
from dpcore.errors import ParameterError
from dpcore.release import Model
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.base import Expected, Measurer, OnProgress, silent
from dpcore.synthesis.columns import (
    Columns,
    affordable,
    check_columns,
    expect_columns,
    independent,
    measure_columns,
    publish,
)
from dpcore.synthesis.constraints import Constraints
from dpcore.synthesis.fit import MAX_SWEEPS, MIN_SWEEPS, Fit, fit
from dpcore.synthesis.synthetic import SyntheticModel
from dpcore.synthesis.tree import tree_pairs
from dpcore.synthesis.workload import choose, pair_weights, workload
from dpcore.tables.counts import MAX_CELLS, Marginal, Values

SELECTION_SHARE = Fraction(7, 100)  # of a round's loss
RESCORED = 3  # cliques a column whose error is asked again after the first round
CELLS_PER_CLARITY = 8000
SMALLEST_LIMIT = 50_000


@dataclass(frozen=True, kw_only=True)
class Adaptive:
    """A synthetic table that keeps the relations between columns as well as the loss allows.

    Costs the stated loss, all of it, under pure epsilon (Laplace noise) or rho (Gaussian noise).

    Attributes:
        degree: 2 when all pairs of columns should come out right, 3 for all triples.
        weights: clique -> how much its error counts, where it is not 1.
        rounds: how often the fitted model is asked where it errs, at least 1.
        ordered: columns whose neighboring cells are alike; rare ones are merged with neighbors only.
        constraints: facts from outside that every row keeps.
        max_cells: most cells of the junction tree; memory and time grow with it.
        earlier: a model of an earlier release of the same table under the same schema; its measurements
            are used again.
    """

    kind: ClassVar[str] = "adaptive"

    degree: int = 2
    weights: Mapping[Clique, float] = field(default_factory=dict)
    rounds: int = 2
    ordered: frozenset[str] = frozenset()
    constraints: Constraints = field(default_factory=Constraints)
    max_cells: int = 4_000_000
    earlier: SyntheticModel | None = None

    def __post_init__(self) -> None:
        if self.degree not in (2, 3):
            raise ParameterError(f"degree ({self.degree}) must be 2 or 3", remedy="ask for pairs or triples")
        if not 1 <= self.rounds <= 10:
            raise ParameterError(f"rounds ({self.rounds}) must be 1 to 10", remedy="ask for 2")
        if self.max_cells < 1:
            raise ParameterError(f"max_cells ({self.max_cells}) must be at least 1", remedy="raise max_cells")

    def check(self, domain: Domain) -> None:
        """Refuse unknown columns, constraints that contradict each other, and trees that cannot fit."""
        check_columns(domain, self.constraints, self.ordered)
        for clique in self.weights:
            domain.clique(clique)

    def expect(self, domain: Domain, loss: Loss, rows: int) -> tuple[Expected, ...]:
        """The error of the one-way counts at most; that of pairs depends on what is found."""
        return expect_columns(domain, self.constraints, loss, rows)

    def fit(self, measurer: Measurer, on_progress: OnProgress) -> tuple[dict[Clique, Marginal], Model]:
        """Measure the columns; then choose, measure and fit, a round at a time."""
        on_progress("measure columns", 0.0)
        columns = measure_columns(measurer, self.constraints, self.ordered, self.earlier)
        coarse = measurer.coarsen(columns.grouping.groups)
        domain = columns.grouping.coarse
        limit = min(self.max_cells, max(SMALLEST_LIMIT, round(CELLS_PER_CLARITY * columns.clarity)))
        weights = pair_weights(workload(domain.names, self.degree, self.weights))
        joint = [m for m in self.earlier.measurements if len(m.clique) > 1] if self.earlier else []
        factors = self.constraints.factors(measurer.domain, columns.grouping.groups)
        nodes = tuple(clique for clique, _ in factors) + tuple(m.clique for m in joint)

        def learn(**options: Any) -> Fit:
            return fit(
                domain,
                [*columns.measurements, *joint],
                start=columns.start,
                factors=factors,
                nodes=nodes,
                **options,
            )

        pairs = affordable(domain, weights, min(limit, MAX_CELLS))
        estimates = independent(columns, pairs)
        fitted = None
        if joint:
            fitted = learn(max_sweeps=MIN_SWEEPS)
            estimates = {pair: fitted.model.marginal(pair) for pair in pairs}
        rounds = split(measurer.loss.share(1 - columns.spent), self.rounds) if pairs else ()
        for turn, loss in enumerate(rounds):
            last = turn == self.rounds - 1
            on_progress("choose and measure", (turn + 0.2) / (self.rounds + 1))
            if isinstance(loss, PureDP) and turn == 0 and not joint:
                joint += tree_pairs(coarse, estimates, loss, silent)
                nodes = (*nodes, *(m.clique for m in joint))
                errors = closers(estimates, [m.clique for m in joint])
            else:
                errors = coarse.gaps(estimates, loss.share(SELECTION_SHARE))
                spend = loss.share(1 - SELECTION_SHARE)
                parts, nodes = choose(
                    domain,
                    errors,
                    weights,
                    loss=spend,
                    rows=measurer.rows,
                    limit=limit,
                    nodes=nodes,
                )
                parts = parts or {(name,): 1.0 for name in domain.names}
                joint += coarse.measure(list(parts), spend, list(parts.values()))
            on_progress("fit", (turn + 0.6) / (self.rounds + 1))
            fitted = learn(
                warm=fitted.potentials if fitted else None, max_sweeps=MAX_SWEEPS if last else MIN_SWEEPS
            )
            if not last:
                again = sorted(errors, key=errors.__getitem__, reverse=True)[: RESCORED * len(domain.names)]
                estimates = {clique: fitted.model.marginal(clique) for clique in again}
        fitted = fitted or learn()
        return publish(measurer.domain, columns, self.constraints, fitted.model, joint)


def closers(pairs: Iterable[Clique], edges: Sequence[Clique]) -> dict[Clique, float]:
    """Pairs that share a neighbor along the edges."""
    near={n:set() for e in edges for n in e}
    for a,b in edges:
        near[a].add(b); near[b].add(a)
    return {p:1.0 for p in pairs if near.get(p[0],set())&near.get(p[1],set())}
