"""Comparison of exact counts of the original with counts of another table.

Internal.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpcore.errors import missing_column_error, no_rows_error
from dpcore.evaluation.base import Evaluation, OriginalTable, Result
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.schema.domain import Clique, Domain
from dpcore.schema.schema import Schema
from dpcore.tables.counts import MAX_CELLS, Integers, cell_counts
from dpcore.tables.distance import total_variation
from dpcore.tables.rows import PublicTable

MAX_PAIRS_CELLS = 5_000_000
"""Most cells of all pairs together: each thread of an engine holds as many."""

SIGNIFICANT_SDS = 6
"""Standard deviations of a distance from which two columns are taken as related."""

ExactCounts = Mapping[Clique, Integers]
"""Rows that count in each cell, int64, by clique: private."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CountsReport:
    """Row counts of the original and of another table over some columns.

    Attributes:
        labels: of each column, from the schema.
        original, other: rows per cell, one axis per column; None without another table.
            Of each person of the original, at most as many rows count as the schema
            says.
    """

    columns: Clique
    labels: tuple[tuple[str, ...], ...]
    original: Integers
    other: Integers | None

    @property
    def distance(self) -> float:
        """Total variation distance between the two tables, in [0, 1].

        Raises: ParameterError without rows of both.
        """
        if self.other is None or not self.other.any():
            raise no_rows_error()
        return total_variation(self.original, self.other)

    @property
    def association(self) -> tuple[float, float | None]:
        """Cramér's V of the two columns in each table, over the values that occur."""
        return cramers_v(self.original), None if self.other is None else cramers_v(
            self.other
        )

    @property
    def expected_if_independent(self) -> npt.NDArray[np.float64]:
        """Expected rows of the original per cell if the columns were independent."""
        return independent_counts(self.original)


@dataclass(frozen=True, kw_only=True)
class _CountsComparison(Evaluation[ExactCounts, Result]):
    """Base class of evaluations that read only counts of an original of any size.

    Args:
        cliques: sets of columns to count.
        table: a table with these columns; None for the original alone.

    Raises: ParameterError for an unknown column; LimitError for more cells than fit.
    """

    cliques: tuple[Clique, ...]
    table: PublicTable | None = None

    def read(self, table: OriginalTable, schema: Schema) -> ExactCounts:
        """Return the exact counts over the rows that count."""
        cliques = [schema.domain.clique(clique) for clique in self.cliques]
        if self.table is not None:
            for name in itertools.chain.from_iterable(cliques):
                for source in schema.source_columns((name,)):
                    if source not in self.table.frame:
                        raise missing_column_error(name)
        return {marginal.clique: marginal.values for marginal in table.counts(cliques)}

    def _compare_counts(
        self, original: ExactCounts, schema: Schema
    ) -> Iterator[CountsReport]:
        cells = {}
        if self.table is not None:
            names = dict.fromkeys(itertools.chain.from_iterable(original))
            cells = {
                name: schema.column(name).encode(
                    schema.column(name).values_of(self.table.frame)
                )
                for name in names
            }
        for clique, values in original.items():
            yield CountsReport(
                columns=clique,
                labels=tuple(schema.column(name).labels for name in clique),
                original=values,
                other=cell_counts([cells[name] for name in clique], values.shape)
                if cells
                else None,
            )


@dataclass(frozen=True, kw_only=True)
class CountsQuestion(_CountsComparison[tuple[CountsReport, ...]]):
    """Evaluation that returns the counts of column sets in every cell.

    >>> import pandas as pd
    >>> import dpcore as dp
    >>> sex = dp.Categorical("sex", categories=("F", "M"))
    >>> age = dp.Integer("age", low=0, high=99, bin_width=50)
    >>> schema = dp.Schema(columns=(sex, age), unit=dp.PrivacyUnit(max_rows=1))
    >>> table = pd.DataFrame({"sex": ["F", "F", "M"], "age": [20, 30, 70]})
    >>> curator = dp.Curator.open(table, schema, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger())
    >>> report = curator.evaluate(CountsQuestion(cliques=(("sex",), ("sex", "age"))))
    >>> [(each.columns, each.original.tolist()) for each in report.content]
    [(('sex',), [2, 1]), (('sex', 'age'), [[2, 0], [0, 1]])]
    """

    kind = "counts together"

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(itertools.chain.from_iterable(self.cliques)))

    def compute(
        self,
        original: ExactCounts,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> tuple[CountsReport, ...]:
        """Return the counts of each clique."""
        return tuple(self._compare_counts(original, schema))


@dataclass(frozen=True, kw_only=True)
class DistancesQuestion(_CountsComparison[dict[Clique, float]]):
    """Evaluation that returns only the distance of each column set from the original.

    Their counts are not kept.
    """

    kind = "distances of counts"

    def compute(
        self,
        original: ExactCounts,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> dict[Clique, float]:
        """Return the total variation distance of each clique."""
        return {
            comparison.columns: comparison.distance
            for comparison in self._compare_counts(original, schema)
        }


def choose_pairs_to_count(domain: Domain) -> list[Clique]:
    """Return as many pairs of columns as can be counted at once, smallest first.

    There are as many as fit together.
    """
    pairs = sorted(itertools.combinations(domain.names, 2), key=domain.cells)
    sums = itertools.accumulate(map(domain.cells, pairs))
    return [
        pair
        for pair, cells in zip(pairs, sums, strict=True)
        if cells <= MAX_PAIRS_CELLS and domain.cells(pair) <= MAX_CELLS
    ]


def independent_counts(
    counts: npt.NDArray[np.int64] | npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Return the counts that two columns would have if they were independent."""
    expected: npt.NDArray[np.float64] = (
        counts.sum(axis=1, keepdims=True)
        * counts.sum(axis=0, keepdims=True)
        / max(1, counts.sum())
    )
    return expected


def cramers_v(counts: npt.NDArray[np.int64] | npt.NDArray[np.float64]) -> float:
    """Return Cramér's V of two columns, from 0 to 1.

    It is over the rows and columns of the table that occur, and 0 if one of them has a
    single value. Source: Cramér (1946).
    """
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    if min(counts.shape) < 2:
        return 0.0
    expected = independent_counts(counts)
    chi_square = float(((counts - expected) ** 2 / expected).sum())
    return float(np.sqrt(chi_square / counts.sum() / (min(counts.shape) - 1)))


def unrelated_distance_limit(counts: npt.NDArray[np.int64]) -> float:
    """Return the distance of two unrelated tables that chance seldom exceeds, in [0, 1].

    Both tables have the totals of `counts` and no relation between rows and columns. A
    cell is taken as a Poisson number whose mean is reduced by the known totals (the
    variance of the hypergeometric distribution). The expected difference of two such
    numbers is that of Skellam (1946).

    Args:
        counts: (rows, columns) of two columns; not all 0.
    """
    from scipy.special import ive

    total = counts.sum()
    shares = [counts.sum(axis=axis) / total for axis in (1, 0)]
    row_shares, column_shares = (share[share > 0] for share in shares)
    freedom = (len(row_shares) - 1) * (len(column_shares) - 1)
    if not freedom:
        return 0.0
    # 1. The variance of each cell, and the expected difference of both tables.
    variances = total * np.outer(
        row_shares * (1 - row_shares), column_shares * (1 - column_shares)
    )
    doubled = 2 * variances
    differences = doubled * (ive(0, doubled) + ive(1, doubled))
    # 2. Cells that follow from others by the totals vary with them.
    spread = (doubled - differences**2).sum() * differences.size / freedom
    limit = float(differences.sum() + SIGNIFICANT_SDS * np.sqrt(spread))
    return min(1.0, limit / (2 * int(total)))
