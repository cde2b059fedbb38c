"""Measurement of single columns, merging of rare values, and the final model."""

import functools
import itertools
import math
import statistics
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dpcore.accounting.loss import Loss, split_loss
from dpcore.errors import UsageError
from dpcore.mechanisms.measurer import Measurer
from dpcore.mechanisms.sensitivity import noise_kind, noise_scale, noise_variance
from dpcore.model import Model
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.base import ExpectedError
from dpcore.synthesis.discrete._binary_contrasts import (
    complete_contrasts,
    measure_cliques,
    merge_to_groups,
    pool_draws,
    signed_columns,
)
from dpcore.synthesis.discrete._rare_values import Grouping, cell_shares, merge_rare
from dpcore.synthesis.discrete._smoothing import smooth_table
from dpcore.synthesis.discrete._workload import split_over_columns
from dpcore.synthesis.discrete.concordance import concordance_share
from dpcore.synthesis.discrete.constraints import Constraints, FunctionalDependency
from dpcore.synthesis.discrete.copies import (
    COPIES_SHARE,
    find_copies,
    testable_candidates,
)
from dpcore.synthesis.discrete.model import SyntheticModel
from dpcore.synthesis.graph.model import GraphicalModel
from dpcore.tables.counts import Integers, Marginal, Values, check_cells

ROW_COUNT_SHARE = Fraction(1, 100)  # of the loss, for the number of rows
MAX_CANDIDATE_CELLS = 5_000_000  # of all candidate cliques, to fit in memory
# Shares of the loss for one-way counts; see `one_way_share`.
MIN_ONE_WAY_SHARE = 0.2
MAX_ONE_WAY_SHARE = 0.9
HALFWAY_CLARITY = 40.0  # clarity at which the share is halfway between these
# The same two numbers if all columns are binary and measured by contrasts.
MIN_BINARY_SHARE = 0.45
HALFWAY_BINARY_CLARITY = 10.0
TARGET_SHARE = Fraction(1, 10)  # of the loss, for a target's strongest pair
# Share of what columns leave for it if they stand out from their noise.
CLEAR_TARGET_SHARE = Fraction(1, 40)
MAX_ORDERED_SIZE = 20  # cells of an ordered column that should stand out from noise
MIN_RUNS = 5  # of a wide ordered column


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnMeasurements:
    """The measurements of single columns, and the groups of cells made from them.

    Attributes:
        grouping: which cells are counted as one.
        constraints: facts that every row keeps, with the copies that were found.
        copies: columns that repeat another one, each with that one.
        ordered: columns whose neighboring cells are similar.
        with_missing: columns whose last cell has no place in that order.
        row_count: noisy number of rows.
        one_way_counts: noisy one-way counts over the declared cells, smoothed.
        raw_measurements: the independent measurements behind `one_way_counts`: the number of rows, and
            each column or the difference of its cells.
        clarity: rows of a mean cell / noise SD, see `one_way_share`.
        concordance_share: part of the loss that is kept for `Concordances`.
        target_share: part of the loss that is kept for a target's strongest pair.
        spent_share: part of the loss spent here, including the parts that are kept.
    """

    grouping: Grouping
    constraints: Constraints
    copies: tuple[tuple[str, str], ...]
    ordered: frozenset[str]
    with_missing: frozenset[str]
    row_count: Marginal
    one_way_counts: tuple[Marginal, ...]
    raw_measurements: tuple[Marginal, ...]
    clarity: float
    concordance_share: Fraction
    target_share: Fraction
    spent_share: Fraction

    @functools.cached_property
    def measurements(self) -> list[Marginal]:
        """The independent measurements over groups of cells, smoothed."""
        return merge_to_groups(self.grouping, map(smooth_table, self.raw_measurements))

    @property
    def initial_counts(self) -> dict[str, Values]:
        """Expected rows of each group before any pair is measured, at least 1."""
        return {
            name: np.maximum(self.grouping.merge(name, single.values), 1.0)
            for single in self.one_way_counts
            for name in single.clique
        }


def measure_columns(
    measurer: Measurer,
    constraints: Constraints,
    ordered: Collection[str],
    earlier: SyntheticModel | None = None,
    *,
    with_missing: Collection[str] = (),
    with_concordances: bool = False,
    with_target: bool = False,
    copies: Sequence[FunctionalDependency] = (),
) -> ColumnMeasurements:
    """Measure the number of rows and every column not determined by another.

    With an earlier model its groups are kept and its one-way counts are averaged in.

    Args:
        with_concordances: whether a part of the loss is kept for `Concordances`.
        with_target: whether a part is kept for a target's strongest pair.
        copies: columns that may repeat another one.
    """
    # 1. Measure the number of rows, find copied columns, and then split the loss.
    loss = measurer.loss
    (count,) = measurer.measure([()], loss.share(ROW_COUNT_SHARE))
    asked = (
        []
        if earlier or measurer.part
        else testable_candidates(
            copies, measurer.domain.names, constraints, loss, measurer.rows, count.total
        )
    )
    spent = COPIES_SHARE if asked else Fraction(0)
    found: tuple[FunctionalDependency, ...] = ()
    if asked:
        found = find_copies(measurer, asked, loss.share(spent), count.total)
        constraints = constraints.add_copies(found)
    names = constraints.columns_to_measure(measurer.domain.names)
    domain = measurer.domain.project(names)
    split = _split_loss(
        domain,
        ordered,
        loss,
        measurer.rows,
        count.total,
        spent=ROW_COUNT_SHARE + spent,
        with_concordances=with_concordances,
        with_target=with_target,
    )
    # 2. Measure the columns, and average in the counts of an earlier release.
    measured = [count, *_measure_singles(measurer, names, loss.share(split.columns))]
    if earlier is not None:
        measured += [
            marginal
            for marginal in earlier.measurements
            if len(marginal.clique) < 2
            and marginal.values.shape == domain.shape(marginal.clique)
        ]
    measured = pool_draws(measured)
    tables = {
        marginal.clique: marginal for marginal in complete_contrasts(domain, measured)
    }
    singles = [smooth_table(tables[name,]) for name in names]
    # 3. Merge rare values. Runs of an ordered column get enough rows for a pair to
    # stand out from noise if one pair per column is measured.
    rows = max(1.0, tables[()].total)
    pair_noise = measurer.gap_deviation(
        1, loss.share((split.rest + split.concordances) / len(names))
    )
    least = rows / _run_count(domain, ordered, rows / max(pair_noise, 1e-9))
    groups = {}
    shares = {}
    for single in singles:
        (name,) = single.clique
        groups[name] = (
            earlier.grouping.groups[name]
            if earlier is not None
            else merge_rare(
                single.values,
                single.variance**0.5,
                kinds=_mergeable_kinds(constraints, domain, name, name in with_missing),
                ordered=name in ordered,
                min_run_rows=least,
            )
        )
        shares[name] = cell_shares(single.values, groups[name])
    return ColumnMeasurements(
        grouping=Grouping(domain=domain, groups=groups, shares=shares),
        constraints=constraints,
        copies=earlier.copies
        if earlier
        else tuple((each.target, each.column) for each in found),
        ordered=frozenset(ordered),
        with_missing=frozenset(with_missing),
        row_count=tables[()],
        one_way_counts=tuple(singles),
        raw_measurements=tuple(measured),
        clarity=split.clarity,
        concordance_share=split.concordances,
        target_share=split.target,
        spent_share=1 - split.rest,
    )


def _measure_singles(
    measurer: Measurer, names: Sequence[str], loss: Loss
) -> list[Marginal]:
    """Measure each column, and the number of rows again if contrasts need it.

    The difference of two cells does not tell the number of rows, which both cells then
    depend on: if most columns are measured so, it is measured again. A share that
    grows with the root of their number makes the error of a cell smallest.
    """
    parts = split_over_columns(measurer.domain, names, loss)
    signed = [
        part
        for clique, part in parts.items()
        if signed_columns(measurer.domain, clique, loss)
    ]
    if 2 * len(signed) > len(names):
        parts[()] = math.sqrt(len(signed)) / 2 * signed[0]
    return measure_cliques(measurer, parts, loss)


def _mergeable_kinds(
    constraints: Constraints, domain: Domain, name: str, with_missing: bool
) -> Integers:
    """Return a kind per cell: only cells of one kind may be merged.

    The last cell has a kind of its own if it holds missing values.
    """
    kinds = constraints.cell_kinds(domain, name).copy()
    kinds[-1] += with_missing * (kinds.max() + 1)
    return kinds


class LossSplit(NamedTuple):
    """How the loss is divided: shares of single columns, of what is kept, and the rest.

    Attributes:
        clarity: rows of a mean cell / noise SD, see `one_way_share`.
        columns: for single columns.
        concordances: kept for `Concordances`.
        target: kept for a target's strongest pair.
        rest: for everything after them.
    """

    clarity: float
    columns: Fraction
    concordances: Fraction
    target: Fraction
    rest: Fraction


def _split_loss(
    domain: Domain,
    ordered: Collection[str],
    loss: Loss,
    max_rows: int,
    table_rows: float,
    *,
    spent: Fraction,
    with_concordances: bool,
    with_target: bool,
) -> LossSplit:
    """Divide the loss by how far columns stand out from their noise.

    Args:
        spent: share of the loss that is spent before, for the number of rows and for
            copies.
    """
    cells = _effective_sizes(domain, ordered)
    deviation = (
        noise_variance(
            noise_scale(max_rows=max_rows, queries=len(cells), loss=loss), loss
        )
        ** 0.5
    )
    clarity = max(1.0, table_rows) * len(cells) / sum(cells) / max(deviation, 1e-9)
    is_clear = clarity >= HALFWAY_CLARITY
    pairs = len(set(ordered).intersection(domain.names)) * with_concordances
    concordances = concordance_share(cells, pairs, loss, max_rows, table_rows)
    columns = (
        one_way_share(clarity, _binary_share(domain, loss))
        * (1 - concordances)
        * (1 - (spent - ROW_COUNT_SHARE))
    )
    target = Fraction(0)
    if with_target and not is_clear:
        # Taken from all others: what unclear columns leave would not find the pair.
        target = TARGET_SHARE
        columns *= 1 - target
        concordances *= 1 - target
    rest = 1 - spent - columns - concordances - target
    if with_target and is_clear:
        target = rest * CLEAR_TARGET_SHARE
        rest -= target
    return LossSplit(clarity, columns, concordances, target, rest)


def one_way_share(clarity: float, signed_share: float = 0.0) -> Fraction:
    """Return the share of the loss for one-way counts.

    Every pair depends on its two columns, so if noise exceeds one-way counts, pairs are
    worth little. The clarity r is the number of rows of a mean cell over the standard
    deviation of its noise, if the whole loss went to one-way counts. The share falls
    from nine tenths at r = 0, by half of the way at r = 40, to a fifth for large r;
    errors are flat around it (docs/decisions/0010).

    Pairs of binary columns measured by contrasts say nothing about the columns. With d
    columns and K pairs of one number each, the error of a pair has the variance of two
    of d numbers and one of K: it is smallest if the columns get sqrt(2 d / K) times
    what the pairs get, about half if some pairs per column are worth measuring.

    Args:
        clarity: rows of a mean cell over the standard deviation of its noise.
        signed_share: share of the columns measured by contrasts.
    """
    flattest = MIN_ONE_WAY_SHARE + (MIN_BINARY_SHARE - MIN_ONE_WAY_SHARE) * signed_share
    middle = HALFWAY_CLARITY + (HALFWAY_BINARY_CLARITY - HALFWAY_CLARITY) * signed_share
    return Fraction(
        round(
            1000
            * (flattest + (MAX_ONE_WAY_SHARE - flattest) * middle / (middle + clarity))
        ),
        1000,
    )


def _effective_sizes(
    domain: Domain, ordered: Collection[str], max_ordered_size: int = MAX_ORDERED_SIZE
) -> list[int]:
    """Return each column's number of cells, capped if the column is ordered.

    Pairs of ordered columns are measured over runs of cells.
    """
    return [
        min(size, max_ordered_size) if name in ordered else size
        for name, size in zip(domain.names, domain.sizes, strict=True)
    ]


def _run_count(domain: Domain, ordered: Collection[str], cells: float) -> int:
    """Return the runs per ordered column that give a pair about `cells` cells.

    The caller gives as many cells as leave about as many rows in each as its noise SD,
    if one pair per column is measured.
    """
    runs = max(domain.sizes)
    while (
        runs > MIN_RUNS
        and runs * statistics.fmean(_effective_sizes(domain, ordered, runs)) > cells
    ):
        runs -= 1
    return runs


def _binary_share(domain: Domain, loss: Loss) -> float:
    return sum(
        bool(signed_columns(domain, (name,), loss)) for name in domain.names
    ) / len(domain.names)


def independent_tables(
    columns: ColumnMeasurements, cliques: Iterable[Clique]
) -> dict[Clique, Values]:
    """Return the expected counts of each clique if columns were independent."""
    total = max(1.0, columns.row_count.total)
    shares = {
        name: values / values.sum() for name, values in columns.initial_counts.items()
    }
    return {
        clique: total
        * functools.reduce(np.multiply.outer, (shares[name] for name in clique))
        for clique in cliques
    }


def affordable_cliques(
    domain: Domain, cliques: Iterable[Clique], limit: int
) -> list[Clique]:
    """Return the cliques of at most `limit` cells, smallest first.

    Together they have at most MAX_CANDIDATE_CELLS cells, to fit in memory.
    """
    small = sorted(
        (clique for clique in cliques if domain.cells(clique) <= limit),
        key=domain.cells,
    )
    sums = itertools.accumulate(domain.cells(clique) for clique in small)
    return [
        clique
        for clique, cells in zip(small, sums, strict=True)
        if cells <= MAX_CANDIDATE_CELLS
    ]


def check_columns_and_constraints(
    domain: Domain, constraints: Constraints, ordered: Collection[str]
) -> None:
    """Refuse unknown columns, too many cells, and impossible constraints."""
    domain.clique(tuple(ordered))
    check_cells(domain, [(name,) for name in domain.names])
    constraints.check(domain)


def check_earlier_model(
    domain: Domain, constraints: Constraints, earlier: Model
) -> None:
    """Refuse an earlier model whose columns or groups do not fit this table.

    Its groups may not merge cells that a constraint tells apart.
    """
    # The release of another recipe may hold another kind of model.
    if isinstance(earlier, SyntheticModel):
        constraints = earlier.add_found_copies(constraints)
        constraints.check(domain)
    names = constraints.columns_to_measure(domain.names)
    if (
        not isinstance(earlier, SyntheticModel)
        or earlier.domain != domain
        or earlier.grouping.domain.names != names
    ):
        raise UsageError(
            "the earlier model has other columns or cells than this table",
            remedy="use a model of the same table under the same schema and constraints",
        )
    for name in names:
        kinds = constraints.cell_kinds(domain, name)
        groups = earlier.grouping.groups[name]
        if len(np.unique(np.stack([groups, kinds]), axis=1).T) != len(
            np.unique(groups)
        ):
            raise UsageError(
                (
                    f"the earlier model counts cells of column {name!r} as one that a "
                    "constraint tells apart"
                ),
                remedy="drop the constraint, or start without the earlier model",
            )


def expect_columns(
    domain: Domain,
    constraints: Constraints,
    ordered: Collection[str],
    loss: Loss,
    max_rows: int,
    table_rows: float = 0,
    *,
    with_concordances: bool = False,
    with_target: bool = False,
    copies: Sequence[FunctionalDependency] = (),
) -> tuple[ExpectedError, ...]:
    """Return the expected error of one-way counts at their share of the loss.

    That share depends on the noisy number of rows. Without a number of rows from public
    knowledge it is the smallest share, which is up to 4.5 times too pessimistic for
    small tables.

    Args:
        domain: of all columns.
        constraints: facts that every row keeps.
        ordered: columns whose neighboring cells are similar.
        loss: of the run.
        max_rows: most rows of a person.
        table_rows: approximate number of rows; 0 if it is not known.
        with_concordances: whether a part of the loss is kept for `Concordances`.
        with_target: whether a part is kept for a target's strongest pair.
        copies: columns that may repeat another one.
    """
    names = constraints.columns_to_measure(domain.names)
    copied = _copies_share(domain, constraints, loss, max_rows, table_rows, copies)
    share = Fraction(round(1000 * MIN_ONE_WAY_SHARE), 1000) * (1 - copied)
    if table_rows:
        share = _split_loss(
            domain.project(names),
            ordered,
            loss,
            max_rows,
            table_rows,
            spent=ROW_COUNT_SHARE + copied,
            with_concordances=with_concordances,
            with_target=with_target,
        ).columns
    parts = split_over_columns(domain, names, loss)
    losses = split_loss(loss.share(share), len(parts), list(parts.values()))
    return tuple(
        ExpectedError(
            clique=clique,
            cells=domain.cells(clique),
            variance=noise_variance(
                noise_scale(max_rows=max_rows, queries=1, loss=part), part
            ),
            noise=noise_kind(loss),
        )
        for clique, part in zip(parts, losses, strict=True)
    )


def expect_target_share(
    domain: Domain,
    constraints: Constraints,
    ordered: Collection[str],
    loss: Loss,
    max_rows: int,
    table_rows: float,
    *,
    with_concordances: bool = False,
    copies: Sequence[FunctionalDependency] = (),
) -> Fraction:
    """Return the expected share of the loss for a target's strongest pair.

    The arguments are those of `expect_columns`; the number of rows must be known.
    """
    copied = _copies_share(domain, constraints, loss, max_rows, table_rows, copies)
    return _split_loss(
        domain.project(constraints.columns_to_measure(domain.names)),
        ordered,
        loss,
        max_rows,
        table_rows,
        spent=ROW_COUNT_SHARE + copied,
        with_concordances=with_concordances,
        with_target=True,
    ).target


def _copies_share(
    domain: Domain,
    constraints: Constraints,
    loss: Loss,
    max_rows: int,
    table_rows: float,
    copies: Sequence[FunctionalDependency],
) -> Fraction:
    asked = testable_candidates(
        copies, domain.names, constraints, loss, max_rows, table_rows or 1e9
    )
    return COPIES_SHARE if asked else Fraction(0)


def publish_model(
    domain: Domain,
    columns: ColumnMeasurements,
    graph: GraphicalModel,
    joint: Sequence[Marginal],
    losses: tuple[Loss, ...],
) -> tuple[dict[Clique, Marginal], SyntheticModel]:
    """Return the noisy tables over declared cells, and the published model.

    The model also holds the tables over groups. A table that was measured several times
    is published once.

    Args:
        domain: of all columns, as declared.
        columns: the measurements of single columns.
        graph: the fitted model over groups.
        joint: measurements of several columns, over groups.
        losses: paid for these measurements, in this release and in earlier ones.
    """
    model = SyntheticModel(
        domain=domain,
        grouping=columns.grouping,
        graph=graph,
        constraints=columns.constraints,
        copies=columns.copies,
        measurements=tuple(pool_draws([*columns.raw_measurements, *joint])),
        losses=losses,
    )
    declared = [
        table
        for table in model.tables
        if table.values.shape == domain.shape(table.clique)
    ]
    return {table.clique: table for table in declared}, model
