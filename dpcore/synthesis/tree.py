"""Tree: the private spanning tree of the strongest pairs, measured and fitted.

Source: the MST mechanism (McKenna, Miklau, Sheldon 2021, "Winning the NIST contest", section 4): one-way
counts, rare values merged, a maximum spanning tree of the pairs by their distance from independence, and
its edges measured. Ours asks for all distances in one release where Gaussian noise makes that cheap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from dpcore.accounting.loss import Loss, PureDP, split
from dpcore.release import Model
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.base import Expected, Measurer, OnProgress
from dpcore.synthesis.columns import (
    check_columns,
    expect_columns,
    independent_pairs,
    measure_columns,
    publish,
)
from dpcore.synthesis.constraints import Constraints
from dpcore.synthesis.fit import fit
from dpcore.synthesis.workload import LEFT_NOISE, expected_error
from dpcore.tables.counts import Marginal, Values

SELECTION_SHARE = Fraction(7, 100)  # of what the one-way counts leave


@dataclass(frozen=True, kw_only=True)
class Tree:
    """A synthetic table that keeps the strongest relations between columns: a quick preview.

    Costs the stated loss, all of it, under pure epsilon (Laplace noise) or rho (Gaussian noise).

    Attributes:
        ordered: columns whose neighboring cells are alike; rare ones are merged with neighbors only.
        constraints: facts from outside that every row keeps.
    """

    kind: ClassVar[str] = "tree"

    ordered: frozenset[str] = frozenset()
    constraints: Constraints = field(default_factory=Constraints)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ordered", frozenset(self.ordered))

    def check(self, domain: Domain) -> None:
        """Refuse unknown columns, and constraints that cannot be kept."""
        check_columns(domain, self.constraints, self.ordered)

    def expect(self, domain: Domain, loss: Loss, rows: int) -> tuple[Expected, ...]:
        """The error of the one-way counts at most; that of pairs depends on what is found."""
        return expect_columns(domain, self.constraints, loss, rows)

    def fit(self, measurer: Measurer, on_progress: OnProgress) -> tuple[dict[Clique, Marginal], Model]:
        """Measure the columns, choose the tree, measure its edges, fit."""
        on_progress("measure columns", 0.0)
        columns = measure_columns(measurer, self.constraints, self.ordered)
        coarse = measurer.coarsen(columns.grouping.groups)
        measurements = list(columns.measurements)
        left = 1 - columns.spent
        estimates = independent_pairs(columns)
        if estimates:
            on_progress("choose pairs", 0.2)
            spend = measurer.loss.share(left * (1 - SELECTION_SHARE))
            each = split(spend, len(columns.grouping.domain.names) - 1)[0]
            noise = {
                pair: float(LEFT_NOISE) * expected_error(coarse.domain.cells(pair), each, measurer.rows) for pair in estimates
            }
            edges = spanning_tree(coarse, estimates, noise, measurer.loss.share(left * SELECTION_SHARE))
            on_progress("measure pairs", 0.4)
            cells = np.array([coarse.domain.cells(edge) for edge in edges])
            power = 2.0 if isinstance(measurer.loss, PureDP) else 1.5
            measurements += coarse.measure(
                edges, spend, list(cells ** (1 / power))
            )
        on_progress("fit", 0.6)
        factors = self.constraints.factors(measurer.domain, columns.grouping.groups)
        fitted = fit(columns.grouping.coarse, measurements, start=columns.start, factors=factors)
        return publish(measurer.domain, columns, self.constraints, fitted.model, measurements)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with `kind`."""
        return {
            "kind": self.kind,
            "ordered": sorted(self.ordered),
            "constraints": self.constraints.to_dict(),
        }


def spanning_tree(
    measurer: Measurer, estimates: Mapping[Clique, Values], penalties: Mapping[Clique, float], loss: Loss
) -> list[Clique]:
    """Pairs that join all columns, chosen by noisy distance between their counts and their estimates.

    Gaussian noise: all distances in one release, then the maximum spanning tree, which is free. Laplace
    noise on so many distances would cost more than the d - 1 private choices that Prim's algorithm needs.

    Args:
        estimates: every pair of at least two columns -> its estimate.
        loss: spent whole.
    """
    names = measurer.domain.names
    if not isinstance(loss, PureDP):
        gaps = {pair: gap - penalties[pair] for pair, gap in measurer.gaps(estimates, loss).items()}
        part = {name: {name} for name in {name for pair in estimates for name in pair}}
        edges = []
        for pair in sorted(gaps, key=gaps.__getitem__, reverse=True):
            a, b = (part[name] for name in pair)
            if a is not b:
                edges.append(pair)
                a |= b
                part.update(dict.fromkeys(b, a))
        return edges
    joined = {next(name for name in names if any(name in pair for pair in estimates))}
    columns = {name for pair in estimates for name in pair}
    edges = []
    for step in split(loss, len(columns) - 1):
        across = {pair: table for pair, table in estimates.items() if len(joined & set(pair)) == 1}
        edges.append(measurer.select(across, step, penalties))
        joined |= set(edges[-1])
    return edges
