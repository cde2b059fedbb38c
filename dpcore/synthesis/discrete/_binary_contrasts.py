"""Contrasts of binary columns: one difference is measured instead of two cells.

The table of two binary columns has four numbers, of which three are known from the
columns alone. A row adds 1 to one of the four; it adds 1 or -1 to the difference of
differences, (n00 + n11) - (n01 + n10), too. So the same noise on that one number leaves
a quarter of the variance on what the pair adds to its columns, and half of it if one
column is binary. The rest of the table is computed from the number of rows and the
columns.

Source: the residual basis of Xiao, He, Zhang, Kifer (2023), "An optimal and scalable
matrix mechanism for noisy marginals", section 4, in the one case in which a residual is
a sum of plus and minus ones.
"""

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpcore.accounting.loss import Loss, PureDP
from dpcore.mechanisms.max_norm import MAX_ENTRIES
from dpcore.mechanisms.measurer import Measurer
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis._consistency import make_consistent
from dpcore.synthesis.discrete._rare_values import Grouping
from dpcore.tables import counts
from dpcore.tables.counts import Marginal, Values, align_axes
from dpcore.tables.sums import Entry, to_levels

NOISE_CORRECTION = 2.0
"""Noise variances subtracted from a squared error of a contrast."""
CONTRAST_SIGNS = np.array([1.0, -1.0])


def signed_columns(domain: Domain, clique: Clique, loss: Loss) -> Clique:
    """Return the binary columns of a clique to measure by differences of cells."""
    if isinstance(loss, PureDP):
        return ()
    signed = tuple(name for name in clique if domain.size(name) == 2)
    return signed if len(clique) < 3 or len(signed) == len(clique) == 3 else ()


def effective_cells(domain: Domain, clique: Clique, loss: Loss) -> float:
    """Return a clique's number of cells, fewer if contrasts save noise."""
    return float(
        domain.cells(clique) / 2 ** (len(signed_columns(domain, clique, loss)) / 2)
    )


def measure_cliques(
    view: Measurer, parts: Mapping[Clique, float], loss: Loss
) -> list[Marginal]:
    """Measure cliques at their shares of `loss`, using contrasts for binary columns.

    Costs `loss`, all of it. The contrasts hold the differences alone:
    `complete_contrasts` makes tables of them. Those tables depend on each other; to
    measure again, or to fit, use the contrasts.
    """
    weights = {clique: Fraction(part) for clique, part in parts.items()}
    signed = {clique: signed_columns(view.domain, clique, loss) for clique in parts}

    def share(cliques: Iterable[Clique]) -> Loss:
        return loss.share(
            sum((weights[clique] for clique in cliques), Fraction(0))
            / sum(weights.values())
        )

    whole = [clique for clique in parts if not signed[clique]]
    measured = (
        list(view.measure(whole, share(whole), [weights[clique] for clique in whole]))
        if whole
        else []
    )
    # Contrasts over the same other columns and with the same weight share one draw.
    batches: dict[tuple[Clique, Fraction], list[Clique]] = {}
    for clique in parts:
        if signed[clique]:
            by = tuple(name for name in clique if name not in signed[clique])
            batches.setdefault((by, weights[clique]), []).append(clique)
    for (by, _), cliques in batches.items():
        # An engine sums over the declared cells of `by`; `most` contrasts fit into one
        # request.
        most = min(MAX_ENTRIES, counts.MAX_TOTAL_CELLS // view.declared.cells(by))
        for first in range(0, len(cliques), most):
            batch = cliques[first : first + most]
            entries: list[Entry] = [
                dict.fromkeys(signed[clique], to_levels(CONTRAST_SIGNS))
                for clique in batch
            ]
            sums = view.measure_sums(by, entries, share(batch))
            measured += [
                _make_contrast(
                    view.domain,
                    clique,
                    signed[clique],
                    sums.values[:, i],
                    sums.deviation**2,
                )
                for i, clique in enumerate(batch)
            ]
    return measured


def pool_draws(measured: Iterable[Marginal]) -> list[Marginal]:
    """Average repeated draws of the same table or contrast by inverse variance."""
    means: dict[tuple[Clique, Clique, tuple[int, ...]], Marginal] = {}
    for marginal in measured:
        key = (marginal.clique, marginal.signed, marginal.values.shape)
        means[key] = _average_draws(means[key], marginal) if key in means else marginal
    return list(means.values())


def merge_to_groups(grouping: Grouping, measured: Iterable[Marginal]) -> list[Marginal]:
    """Merge the cells of each table into groups of cells.

    A contrast whose two cells are merged is left out.

    Args:
        grouping: of the cells.
        measured: of one column over its declared cells or over groups, of several over
            groups.
    """
    tables = []
    for marginal in measured:
        if marginal.values.shape == grouping.group_domain.shape(marginal.clique):
            tables.append(marginal)
        elif not marginal.signed:  # of two cells in one group a contrast tells nothing
            values = grouping.merge(marginal.clique[0], marginal.values)
            variance = marginal.variance * marginal.values.size / values.size
            tables.append(replace(marginal, values=values, variance=variance))
    return tables


def complete_contrasts(domain: Domain, measured: Sequence[Marginal]) -> list[Marginal]:
    """Return one full table per clique, completing contrasts from all measurements.

    Args:
        domain: of the columns.
        measured: one draw each (`pool_draws`), with the number of rows, the columns and
            the pairs of triples among them.
    """
    tables = {marginal.clique: marginal for marginal in measured}
    contrasts = [marginal for marginal in measured if marginal.signed]
    agreed = (
        {marginal.clique: marginal for marginal in make_consistent(domain, measured)}
        if contrasts
        else {}
    )
    for contrast in contrasts:
        table = agreed[contrast.clique]
        tables[contrast.clique] = replace(
            contrast, values=table.values, variance=table.variance, pooled=True
        )
    return list(tables.values())


def complete_tables(grouping: Grouping, measured: Sequence[Marginal]) -> list[Marginal]:
    """Return one full table per clique, over declared cells where possible.

    Others are over groups.
    """
    whole = [
        marginal
        for marginal in measured
        if marginal.values.shape == grouping.domain.shape(marginal.clique)
    ]
    tables = complete_contrasts(grouping.domain, whole)
    if len(whole) == len(measured):
        return tables
    known = {table.clique for table in tables}
    merged = complete_contrasts(
        grouping.group_domain, pool_draws(merge_to_groups(grouping, measured))
    )
    return tables + [table for table in merged if table.clique not in known]


def contrast_error(contrasts: Sequence[Marginal], estimate: Values) -> float:
    """Return the error of the estimate's contrast beyond noise, in rows."""
    signs = functools.reduce(np.multiply.outer, [CONTRAST_SIGNS] * estimate.ndim)
    weights = [1 / max(contrast.variance, 1e-12) for contrast in contrasts]
    sums = [float((contrast.values * signs).sum()) for contrast in contrasts]
    off = float(np.dot(sums, weights)) / sum(weights) - float((estimate * signs).sum())
    return math.sqrt(max(0.0, off**2 - NOISE_CORRECTION * signs.size**2 / sum(weights)))


def _make_contrast(
    domain: Domain, clique: Clique, signed: Clique, sums: Values, variance: float
) -> Marginal:
    by = tuple(name for name in clique if name not in signed)
    values = sums.reshape(domain.shape(by)) / 2 ** len(signed)
    for _ in signed:
        values = np.multiply.outer(values, CONTRAST_SIGNS)
    return Marginal(
        clique=clique,
        values=align_axes(values, (*by, *signed), clique),
        variance=variance / 4 ** len(signed),
        noise="gaussian",
        pooled=True,
        signed=signed,
        own=variance / 2 ** len(signed),
    )


def _average_draws(first: Marginal, second: Marginal) -> Marginal:
    """Return the inverse-variance mean of two independent draws of one table."""
    part = second.variance / max(first.variance + second.variance, 1e-12)
    return replace(
        first,
        values=part * first.values + (1 - part) * second.values,
        variance=first.variance * part,
        own=None if first.own is None else first.own * part,
        pooled=True,
    )
