"""What Tree and Adaptive share: every column measured alone, rare values merged, and the model published."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpcore.accounting.loss import Loss, PureDP
from dpcore.mechanisms.sensitivity import noise_scale, noise_variance
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.base import Expected, Measurer
from dpcore.synthesis.constraints import Constraints
from dpcore.synthesis.graphical import GraphicalModel
from dpcore.synthesis.grouping import Grouping, merge_rare, shares_of
from dpcore.synthesis.sampling import Integers
from dpcore.synthesis.synthetic import SyntheticModel
from dpcore.tables.counts import Marginal, Noise, Values, check_cells

TOTAL_SHARE = Fraction(1, 100)
FLATTEST, STEEPEST, MIDDLE = 0.2, 0.9, 40.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Columns:
    """What is known of the columns one by one.

    Attributes:
        grouping: which cells are counted as one.
        singles: noisy one-way counts as they were measured, over the declared cells.
        measurements: the number of rows and the one-way counts over groups.
        start: expected rows of each group, above 0.
        spent: part of the loss that this took.
    """

    grouping: Grouping
    singles: tuple[Marginal, ...]
    measurements: tuple[Marginal, ...]
    start: dict[str, Values]
    spent: Fraction


def measure_columns(
    measurer: Measurer, constraints: Constraints, ordered: Collection[str], share: Fraction | None = None
) -> Columns:
    """Measure the number of rows and every column that is not determined by another."""
    loss = measurer.loss
    names = tuple(name for name in measurer.domain.names if name not in constraints.decided)
    domain = measurer.domain.project(names)
    (count,) = measurer.measure([()], loss.share(TOTAL_SHARE))
    rows = max(1.0, float(count.values))
    share = share or one_way_share(domain, rows, measurer.gap_deviation(len(names), loss))
    singles = measurer.measure([(name,) for name in names], loss.share(share))
    deviation = singles[0].variance ** 0.5
    groups = {
        single.clique[0]: merge_rare(
            single.values,
            deviation,
            kinds=constraints.kinds(domain, single.clique[0]),
            ordered=single.clique[0] in ordered,
        )
        for single in singles
    }
    merged = tuple(_merge(single, groups[single.clique[0]]) for single in singles)
    start = {m.clique[0]: np.maximum(m.values, 1.0) for m in merged}
    shares = {s.clique[0]: shares_of(s.values, groups[s.clique[0]], start[s.clique[0]]) for s in singles}
    return Columns(
        grouping=Grouping(domain=domain, groups=groups, shares=shares),
        singles=singles,
        measurements=(count, *merged),
        start=start,
        spent=TOTAL_SHARE + share,
    )


def one_way_share(domain: Domain, rows: float, deviation: float) -> Fraction:
    """What part of the loss the one-way counts get.

    Every pair rests on its two columns, so where one-way counts drown in noise pairs are worth little.
    The clarity r is the number of rows of a mean cell over the deviation of its noise, if the whole loss
    went to one-way counts. The share falls from nine tenths at r = 0, by half of the way at r = 40, to a
    fifth where r is large; errors are flat around it (docs/decisions/0010).

    Args:
        rows: noisy number of rows.
        deviation: of one-way counts measured with the whole loss, in rows.
    """
    clarity = rows * len(domain.names) / sum(domain.sizes) / max(deviation, 1e-12)
    return Fraction(round(1000 * (FLATTEST + (STEEPEST - FLATTEST) * MIDDLE / (MIDDLE + clarity))), 1000)


def _merge(single: Marginal, groups: Integers) -> Marginal:
    """One-way counts over groups, with the mean variance of their cells."""
    values = np.bincount(groups, weights=single.values)
    variance = single.variance * single.values.size / values.size
    return Marginal(clique=single.clique, values=values, variance=variance, noise=single.noise)


def independent_pairs(columns: Columns, cliques: Sequence[Clique] | None = None) -> dict[Clique, Values]:
    """Expected counts of pairs of groups, or of other cliques, if columns had nothing to do with each other."""
    names = columns.grouping.domain.names
    total = float(columns.measurements[0].values)
    shares = {name: values / values.sum() for name, values in columns.start.items()}
    return {
        clique: max(1.0, total) * functools.reduce(np.multiply.outer, (shares[name] for name in clique))
        for clique in cliques or list(itertools.combinations(names, 2))
    }


def check_columns(domain: Domain, constraints: Constraints, ordered: Collection[str]) -> None:
    """Refuse unknown columns, columns with too many cells, and constraints that cannot be kept."""
    domain.clique(tuple(ordered))
    check_cells(domain, [(name,) for name in domain.names])
    constraints.check(domain)


def expect_columns(
    domain: Domain, constraints: Constraints, loss: Loss, rows: int
) -> tuple[Expected, ...]:
    """The largest error that one-way counts can have, whatever is found: at their smallest share."""
    names = [name for name in domain.names if name not in constraints.decided]
    part = loss.share(Fraction(round(1000 * FLATTEST), 1000) / len(names))
    variance = noise_variance(noise_scale(rows=rows, queries=1, loss=part), part)
    noise: Noise = "laplace" if isinstance(loss, PureDP) else "gaussian"
    return tuple(
        Expected(clique=(name,), cells=domain.size(name), variance=variance, noise=noise) for name in names
    )


def publish(
    domain: Domain,
    columns: Columns,
    constraints: Constraints,
    graph: GraphicalModel,
    measurements: Sequence[Marginal],
) -> tuple[dict[Clique, Marginal], SyntheticModel]:
    """The noisy tables over declared cells, and the model, which also holds those over groups."""
    model = SyntheticModel(
        domain=domain,
        grouping=columns.grouping,
        graph=graph,
        constraints=constraints,
        measurements=tuple(measurements),
    )
    declared = [m for m in measurements if m.values.shape == domain.shape(m.clique)]
    return {m.clique: m for m in (*declared, *columns.singles)}, model
