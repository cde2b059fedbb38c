"""The similarity of a release and the original.

It is measured in columns, pairs, triples and random questions.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.evaluation._records import EVALUATION_SEED, Floats, read_numbers
from dpcore.evaluation.base import RowsEvaluation
from dpcore.evaluation.declared import LabeledColumn
from dpcore.evaluation.utility import measures
from dpcore.evaluation.utility._cells import CodedTables
from dpcore.evaluation.utility.counts import (
    cramers_v,
    independent_counts,
    unrelated_distance_limit,
)
from dpcore.evaluation.utility.marginal_error import (
    MarginalErrorReport,
    measure_marginal_error,
)
from dpcore.evaluation.utility.measures import MeasureScore
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.schema.interval import IntervalColumn
from dpcore.schema.schema import Schema
from dpcore.tables.distance import total_variation
from dpcore.tables.rows import Microdata, PublicTable

RANDOM_QUESTION_COUNT = 300
"""Random questions."""
MIN_QUESTION_SHARE = 0.005
"""Least share of rows by which an error is divided to make it relative."""
RARE_BELOW_SHARE = 0.01
"""Share of the rows below which a value is rare."""
MIN_EXPECTED_ROWS = 20
"""Expected rows of a pair of values from which its absence counts as impossible."""
_DECILES = np.arange(1, 10) / 10  # quantile orders


@dataclass(frozen=True, kw_only=True)
class ColumnSimilarity:
    """Similarity of one column in the original and in the release.

    Pairs of numbers are (original, release).

    Attributes:
        distance: total variation distance over the declared cells, in [0, 1].
        unexplained_distance: the part of it that no choice of values for the labels of several values
            takes away; the rest is detail that the labels do not give. The same as
            `distance` for a column without labels.
        floor: the same for a bootstrap of the original, by chance alone.
        wasserstein, deciles: as shares of the declared range; None for a column without
            an order.
        mean, median: in the column's own unit; days since 1970-01-01 for dates. None
            without an order.
        zeros: shares of rows with the number 0; None if 0 is not within the declared
            bounds.
        missing: shares of rows without a value.
        rare_values: number of rare values of the original, and of those in the release.
    """

    column: str
    distance: float
    unexplained_distance: float
    floor: float
    wasserstein: float | None
    deciles: float | None
    mean: tuple[float, float] | None
    median: tuple[float, float] | None
    zeros: tuple[float, float] | None
    missing: tuple[float, float]
    rare_values: tuple[int, int]


@dataclass(frozen=True, kw_only=True, eq=False)
class SimilarityReport:
    """All similarity figures that are quick to compute.

    Attributes:
        columns: one entry per column, worst first.
        marginals: total variation distances of single columns, pairs and triples.
        association: Cramér's V of every pair, (columns, columns), in the original and
            in the release.
        correlation: Pearson's correlation likewise; NaN for columns without an order.
        pair_distances: for each pair of columns in the order of `marginals`, the
            distance in wide cells, (columns, columns): of the release, of a bootstrap
            and of independent columns.
        unrelated_limits: (columns, columns): distances of independent columns that
            chance seldom exceeds if there is no relation.
        impossible_pairs: (first column, its value, second column, its value, share of the
            released rows): pairs of values in no row of the original although some are
            expected by chance; worst first.
        scores: one entry per measure that applies.
    """

    columns: tuple[ColumnSimilarity, ...]
    marginals: MarginalErrorReport
    association: tuple[Floats, Floats]
    correlation: tuple[Floats, Floats]
    pair_distances: tuple[Floats, Floats, Floats]
    unrelated_limits: Floats
    impossible_pairs: tuple[tuple[str, str, str, str, float], ...]
    scores: tuple[MeasureScore, ...]

    @property
    def relations(self) -> tuple[Floats, Floats, Floats]:
        """For each column the mean of its `pair_distances` with all others."""
        others = max(1, len(self.marginals.columns) - 1)
        of_release, by_chance, independent = (
            distances.sum(axis=1) / others for distances in self.pair_distances
        )
        return of_release, by_chance, independent

    def distances_of_pair(
        self, first: str, second: str
    ) -> tuple[float, float, float, float]:
        """Return the `pair_distances` of two compared columns, and their limit."""
        place = tuple(map(self.marginals.columns.index, (first, second)))
        of_release, by_chance, independent, limit = (
            float(distances[place])
            for distances in (*self.pair_distances, self.unrelated_limits)
        )
        return of_release, by_chance, independent, limit

    def score(self, measure: measures.Measure) -> MeasureScore | None:
        """Return the score of a measure, or None if the measure does not apply."""
        return next((score for score in self.scores if score.measure == measure), None)


def measure_similarity(
    original: pd.DataFrame,
    release: pd.DataFrame,
    schema: Schema,
    on_progress: OnProgress = ignore_stage_progress,
    labels: Mapping[str, LabeledColumn] | None = None,
) -> SimilarityReport:
    """Compare a release with the original, and return all similarity figures.

    Internal, as it reads the original.

    Args:
        labels: the columns of the release with labels that were read as several values.

    Raises: ParameterError for tables without rows or columns in common; SchemaError for
        a value without a cell.
    """
    names = [
        name for name in schema.domain.names if name in original and name in release
    ]
    ways = tuple(range(1, min(3, len(names)) + 1))
    marginals = measure_marginal_error(
        original,
        release,
        schema,
        ways,
        max_cliques=500,
        on_share=lambda share: on_progress("comparing columns and pairs", 0.6 * share),
    )
    on_progress("comparing single values", 0.6)
    cells = CodedTables.encode(original, release, schema, tuple(names))
    columns = _compare_columns(original, release, schema, cells, labels or {})
    scores = [
        _column_score(columns, "distance", measures.COLUMN_DISTANCE, floor="floor")
    ]
    for key, measure in (
        ("wasserstein", measures.WASSERSTEIN),
        ("deciles", measures.DECILE_DIFFERENCE),
    ):
        ordered = [column for column in columns if getattr(column, key) is not None]
        if ordered:
            scores.append(_column_score(ordered, key, measure))
    for way, measure in ((2, measures.PAIR_DISTANCE), (3, measures.TRIPLE_DISTANCE)):
        if way in ways:
            error = marginals.ways[ways.index(way)]
            scores.append(
                MeasureScore(
                    measure=measure,
                    value=error.mean,
                    floor=error.floor,
                    independent=error.independent,
                    worst=error.worst_clique,
                ),
            )
    on_progress("comparing how columns go together", 0.7)
    association, relations, limits = _measure_pairs(cells)
    correlation = _correlations(cells)
    impossible, share = _find_impossible_pairs(cells)
    if len(names) > 1:
        scores.append(
            _score_pair_matrices(measures.COARSE_PAIR_DISTANCE, relations, names)
        )
        scores.append(_score_pair_matrices(measures.ASSOCIATION, association, names))
        scores.append(
            MeasureScore(
                measure=measures.IMPOSSIBLE_PAIRS, value=share[0], independent=share[1]
            )
        )
        if np.isfinite(correlation["release"]).any():
            scores.append(
                _score_pair_matrices(measures.CORRELATION, correlation, names)
            )
    errors = _question_errors(
        cells,
        lambda share: on_progress("asking 300 random questions", 0.8 + 0.2 * share),
    )
    means = {
        table: float(np.minimum(errors_of_table, 1).mean())
        for table, errors_of_table in errors.items()
    }
    scores.append(_score_of_measure(measures.QUERY_ERROR, means))
    return SimilarityReport(
        columns=columns,
        marginals=marginals,
        association=(association["original"], association["release"]),
        correlation=(correlation["original"], correlation["release"]),
        pair_distances=(
            relations["release"],
            relations["bootstrap"],
            relations["shuffled"],
        ),
        unrelated_limits=limits,
        impossible_pairs=impossible,
        scores=tuple(scores),
    )


@dataclass(frozen=True, kw_only=True)
class SimilarityQuestion(RowsEvaluation[SimilarityReport]):
    """Evaluation that calls `measure_similarity`."""

    kind = "similarity"
    counted_rows_only = True

    table: PublicTable
    labels: Mapping[str, LabeledColumn] = field(default_factory=dict)

    def compute(
        self,
        original: Microdata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> SimilarityReport:
        """Return the similarity report."""
        return measure_similarity(
            original.frame, self.table.frame, schema, on_progress, self.labels
        )


def _compare_columns(
    original: pd.DataFrame,
    release: pd.DataFrame,
    schema: Schema,
    cells: CodedTables,
    labels: Mapping[str, LabeledColumn],
) -> tuple[ColumnSimilarity, ...]:
    columns = []
    for place, name in enumerate(cells.names):
        column = schema.column(name)
        counts = {
            table: np.bincount(codes[place], minlength=column.size)
            for table, codes in cells.codes.items()
        }
        numbers: dict[str, tuple[float, float] | float | None] = dict.fromkeys(
            ("wasserstein", "deciles", "mean", "median", "zeros"),
        )
        missing = (
            float(column.values_of(original).isna().mean()),
            float(column.values_of(release).isna().mean()),
        )
        if isinstance(column, IntervalColumn):
            own = read_numbers(column, column.values_of(original))
            other = read_numbers(column, column.values_of(release))
            missing = (float(np.isnan(own).mean()), float(np.isnan(other).mean()))
            numbers |= _number_figures(
                column, own[~np.isnan(own)], other[~np.isnan(other)]
            )
        few = (counts["original"] > 0) & (
            counts["original"] / len(original) < RARE_BELOW_SHARE
        )
        distance = total_variation(counts["original"], counts["release"])
        wrong = distance
        if name in labels:
            wrong = labels[name].least_distance(counts["original"])
        columns.append(
            ColumnSimilarity(
                column=name,
                distance=distance,
                unexplained_distance=wrong,
                floor=total_variation(counts["original"], counts["bootstrap"]),
                missing=missing,
                rare_values=(
                    int(few.sum()),
                    int((few & (counts["release"] > 0)).sum()),
                ),
                **numbers,  # type: ignore[arg-type]
            ),
        )
    return tuple(sorted(columns, key=lambda column: column.distance, reverse=True))


def _number_figures(
    column: IntervalColumn,
    own: Floats,
    other: Floats,
) -> dict[str, tuple[float, float] | float | None]:
    if not len(own) or not len(other):
        return {}
    low = float(column.edges[0])
    high = float(column.edges[-1])
    levels = (np.arange(1000) + 0.5) / 1000
    distances = np.abs(np.quantile(own, levels) - np.quantile(other, levels))
    deciles = np.abs(np.quantile(own, _DECILES) - np.quantile(other, _DECILES))
    counts_zero = low <= 0 <= high and not column.holds_days
    return {
        "wasserstein": min(1.0, float(distances.mean()) / (high - low)),
        "deciles": min(1.0, float(deciles.max()) / (high - low)),
        "mean": (float(own.mean()), float(other.mean())),
        "median": (float(np.median(own)), float(np.median(other))),
        "zeros": (float((own == 0).mean()), float((other == 0).mean()))
        if counts_zero
        else None,
    }


def _column_score(
    columns: Sequence[ColumnSimilarity],
    key: str,
    measure: measures.Measure,
    floor: str = "",
) -> MeasureScore:
    """Return the score of the worst column; an average would hide it."""
    worst = max(columns, key=lambda column: float(getattr(column, key)))
    return MeasureScore(
        measure=measure,
        value=float(getattr(worst, key)),
        floor=max(float(getattr(column, floor)) for column in columns)
        if floor
        else None,
        worst=(worst.column,),
    )


def _score_pair_matrices(
    measure: measures.Measure, tables: dict[str, Floats], names: Sequence[str]
) -> MeasureScore:
    above = np.triu_indices(len(names), 1)
    off = {
        table: np.abs(tables["original"] - matrix)[above]
        for table, matrix in tables.items()
    }
    place = int(np.nanargmax(off["release"]))
    means = {
        table: float(np.nanmean(differences)) for table, differences in off.items()
    }
    return _score_of_measure(
        measure, means, (names[above[0][place]], names[above[1][place]])
    )


def _score_of_measure(
    measure: measures.Measure, figures: dict[str, float], worst: tuple[str, ...] = ()
) -> MeasureScore:
    """Return the score of a measure, given its figure for each table."""
    floor = figures["bootstrap"]
    independent = figures["shuffled"]
    return MeasureScore(
        measure=measure,
        value=figures["release"],
        floor=floor,
        independent=independent,
        worst=worst,
    )


def _measure_pairs(
    cells: CodedTables,
) -> tuple[dict[str, Floats], dict[str, Floats], Floats]:
    """Return Cramér's V of every pair of columns, its distance from the original, and
    the limit of that distance for unrelated columns.

    All are over coarse cells.
    """
    size = len(cells.names)
    limits = np.zeros((size, size))
    association = {table: np.eye(size) for table in cells.codes}
    distance = {table: np.zeros((size, size)) for table in cells.codes}
    for i, j in itertools.combinations(range(size), 2):
        own = cells.coarse_counts("original", i, j)
        limits[[i, j], [j, i]] = unrelated_distance_limit(own)
        for table in cells.codes:
            counts = cells.coarse_counts(table, i, j)
            association[table][[i, j], [j, i]] = cramers_v(counts)
            distance[table][[i, j], [j, i]] = total_variation(own, counts)
    return association, distance, limits


def _correlations(cells: CodedTables) -> dict[str, Floats]:
    """Return Pearson's correlation of each pair of ordered columns, for each table.

    Only rows with a value in both columns count.
    """
    size = len(cells.names)
    ordered = [place for place in range(size) if cells.ordered[place]]
    tables = {}
    for table in cells.codes:
        values = np.full((size, size), np.nan)
        if len(ordered) > 1:
            numbers = pd.DataFrame(
                {place: cells.cell_numbers(table, place) for place in ordered}
            )
            values[np.ix_(ordered, ordered)] = np.nan_to_num(numbers.corr().to_numpy())
        tables[table] = values
    return tables


def _find_impossible_pairs(
    cells: CodedTables,
) -> tuple[tuple[tuple[str, str, str, str, float], ...], tuple[float, float]]:
    """Return pairs of values that never occur together, and shares of rows with one.

    The shares are of the release and of independent columns.
    """
    pairs: list[tuple[str, str, str, str, float]] = []
    hit = {
        table: np.zeros(len(cells.codes[table][0]), dtype=bool)
        for table in ("release", "shuffled")
    }
    for i, j in itertools.combinations(range(len(cells.names)), 2):
        counts = cells.coarse_counts("original", i, j)
        never = (counts == 0) & (independent_counts(counts) >= MIN_EXPECTED_ROWS)
        if not never.any():
            continue
        for table, rows in hit.items():
            rows |= never[cells.coarse_cells(table, i), cells.coarse_cells(table, j)]
        released = cells.coarse_counts("release", i, j) * never
        for a, b in zip(*np.nonzero(released), strict=True):
            share = float(released[a, b] / len(hit["release"]))
            pairs.append(
                (
                    cells.names[i],
                    cells.coarse_label(i, a),
                    cells.names[j],
                    cells.coarse_label(j, b),
                    share,
                )
            )
    pairs.sort(key=lambda pair: pair[-1], reverse=True)
    return tuple(pairs[:20]), (
        float(hit["release"].mean()),
        float(hit["shuffled"].mean()),
    )


def _question_errors(
    cells: CodedTables, on_share: Callable[[float], None]
) -> dict[str, Floats]:
    """Return the relative errors of the same random questions in every table.

    A question names two or three columns, or the only one: a range of cells of a column
    with an order, up to a third of the values of another one.
    """
    rng = np.random.default_rng(EVALUATION_SEED)
    errors: dict[str, list[float]] = {table: [] for table in cells.codes}
    narrow = {
        table: [
            column.astype(np.min_scalar_type(size))
            for column, size in zip(codes, cells.sizes, strict=True)
        ]
        for table, codes in cells.codes.items()
    }
    for number in range(RANDOM_QUESTION_COUNT):
        on_share(number / RANDOM_QUESTION_COUNT)
        columns = rng.choice(
            len(cells.names),
            min(len(cells.names), int(rng.integers(2, 4))),
            replace=False,
        )
        chosen = {
            int(column): _random_values(cells, int(column), rng) for column in columns
        }
        shares = {}
        for table, codes in narrow.items():
            fits = np.logical_and.reduce(
                [
                    _mark_rows_with_values(codes[column], chosen[column])
                    for column in chosen
                ]
            )
            shares[table] = np.count_nonzero(fits) / len(fits)
        true = shares["original"]
        for table, share in shares.items():
            errors[table].append(abs(share - true) / max(true, MIN_QUESTION_SHARE))
    return {table: np.array(values) for table, values in errors.items()}


def _mark_rows_with_values(
    codes: npt.NDArray[Any], values: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Return a mask of the rows with one of these values.

    For a range its ends are enough, and quicker.
    """
    places = np.flatnonzero(values)
    if len(places) and places[-1] - places[0] + 1 == len(places):
        return (codes >= int(places[0])) & (codes <= int(places[-1]))
    fits: npt.NDArray[np.bool_] = values[codes]
    return fits


def _random_values(
    cells: CodedTables, column: int, rng: np.random.Generator
) -> npt.NDArray[np.bool_]:
    size = cells.sizes[column]
    if cells.ordered[column]:
        low, high = np.sort(rng.integers(0, size + 1, 2))
        values = np.zeros(size, dtype=bool)
        values[low : max(high, low + 1)] = True
        return values
    values = np.zeros(size, dtype=bool)
    values[rng.permutation(size)[: rng.integers(1, max(2, size // 3 + 1))]] = True
    return values
