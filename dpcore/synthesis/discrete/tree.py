"""Tree: the private spanning tree of the strongest pairs, measured and fitted.

Source: the MST mechanism (McKenna, Miklau, Sheldon 2021, "Winning the NIST contest", section 4): one-way
counts, rare values merged, a maximum spanning tree of the pairs by their distance from independence, and
its edges measured. Ours asks for all distances in one release where Gaussian noise makes that cheap.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from dpcore.accounting.loss import Loss, PureDP, split
from dpcore.mechanisms.measurer import Measurer
from dpcore.progress import OnProgress
from dpcore.release import Model
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.base import Expected, Recipe
from dpcore.synthesis.discrete.columns import (
    affordable,
    check_keepable,
    expect_columns,
    independent,
    measure_columns,
    publish,
)
from dpcore.synthesis.discrete.constraints import Constraints
from dpcore.synthesis.discrete.workload import LEFT_NOISE, even_split, expected_error
from dpcore.synthesis.graph.fit import fit
from dpcore.synthesis.graph.junction_tree import Room
from dpcore.tables.counts import MAX_CELLS, Marginal, Values
from dpcore.text import Text

SELECTION_SHARE = Fraction(7, 100)  # of what the one-way counts leave


@dataclass(frozen=True, kw_only=True)
class Tree(Recipe):
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
        check_keepable(domain, self.constraints, self.ordered)

    def expect(self, domain: Domain, loss: Loss, rows: int) -> tuple[Expected, ...]:
        """The error of the one-way counts at most; that of pairs depends on what is found."""
        return expect_columns(domain, self.constraints, loss, rows)

    def fit(self, measurer: Measurer, on_progress: OnProgress) -> tuple[dict[Clique, Marginal], Model]:
        """Measure the columns, choose the tree, measure its edges, fit."""
        on_progress("measure columns", 0.0)
        columns = measure_columns(measurer, self.constraints, self.ordered)
        view = measurer.coarsen(columns.grouping.groups)
        domain = columns.grouping.coarse
        factors = self.constraints.factors(measurer.domain, columns.grouping.groups)
        room = Room(domain, MAX_CELLS, [clique for clique, _ in factors])
        pairs = affordable(domain, itertools.combinations(domain.names, 2), MAX_CELLS)
        on_progress("choose and measure pairs", 0.3)
        left = measurer.loss.share(1 - columns.spent)
        joint = tree_pairs(view, independent(columns, pairs), left, room)
        on_progress("fit", 0.6)
        measurements = [*columns.measurements, *joint]
        fitted = fit(domain, measurements, start=columns.start, factors=factors, nodes=room.cliques)
        losses = (measurer.loss,)
        return publish(measurer.domain, columns, self.constraints, fitted.model, joint, losses)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with `kind`."""
        return {
            "kind": self.kind,
            "ordered": sorted(self.ordered),
            "constraints": self.constraints.to_dict(),
        }

    @property
    def choosing(self) -> Text:
        return Text("well under a second")

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Its name; its columns are those of the view that it gets."""
        return Text("Synthetic table (Tree)")

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Tree:
        """Read what `to_dict` wrote."""
        return cls(
            ordered=frozenset(fields["ordered"]), constraints=Constraints.from_dict(fields["constraints"])
        )


def tree_pairs(
    measurer: Measurer, estimates: Mapping[Clique, Values], loss: Loss, room: Room
) -> tuple[Marginal, ...]:
    """Choose a spanning tree and measure its edges that find room. Costs `loss`, all of it.

    A pair that is large for what it tells is held back: what the fit will leave of its noise is taken off
    its distance.

    Args:
        estimates: pairs -> what they would be if columns were independent. Without any, all goes to the
            columns alone.
        room: the junction tree as it is, which takes in the edges; only constraints can fill it.
    """
    domain = room.domain
    if not estimates:
        return measurer.measure([(name,) for name in domain.names], loss)
    spend = loss.share(1 - SELECTION_SHARE)
    edges = len({name for pair in estimates for name in pair}) - 1
    penalties = {
        pair: LEFT_NOISE * expected_error(domain.cells(pair), spend.share(Fraction(1, edges)), measurer.rows)
        for pair in estimates
    }
    found = spanning_tree(measurer, estimates, penalties, loss.share(SELECTION_SHARE))
    chosen = [edge for edge in found if room.add(edge)] or [(name,) for name in domain.names]
    return measurer.measure(chosen, spend, even_split(domain, chosen, spend))


def spanning_tree(
    measurer: Measurer, estimates: Mapping[Clique, Values], penalties: Mapping[Clique, float], loss: Loss
) -> list[Clique]:
    """Pairs that join all columns: those with the largest noisy distance from their estimates.

    Gaussian noise: all distances in one release, then the maximum spanning tree, which is free. Laplace
    noise on so many distances would cost more than the d - 1 private choices that Prim's algorithm needs.

    Args:
        estimates: pairs -> their estimates.
        penalties: pairs -> rows taken off the distance.
        loss: spent whole when the pairs join all columns.
    """
    columns = {name: frozenset({name}) for pair in estimates for name in pair}
    edges: list[Clique] = []
    if not isinstance(loss, PureDP):
        gaps = measurer.gaps(estimates, loss)
        for pair in sorted(gaps, key=lambda each: gaps[each] - penalties[each], reverse=True):
            a, b = (columns[name] for name in pair)
            if a != b:
                edges.append(pair)
                columns.update(dict.fromkeys(a | b, a | b))
        return edges
    joined = {next(iter(columns))}
    for step in split(loss, len(columns) - 1):
        across = {pair: table for pair, table in estimates.items() if len(joined & set(pair)) == 1}
        if across:
            edges.append(measurer.select(across, step, penalties))
            joined |= set(edges[-1])
    return edges
