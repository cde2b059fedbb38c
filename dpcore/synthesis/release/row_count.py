"""Numbers of rows under conditions, from a release alone, with intervals.

The interval comes from published noisy tables, never from a model's assumptions. If one
table covers every column asked about, it is the noise of a sum of its cells. Otherwise,
two facts about any table hold: at most as many rows meet all conditions as meet some of
them (the upper end), and at least the rows that meet each, minus those counted twice,
meet all (the lower end; Frechet 1935). The tables used share the chance of error evenly
(Bonferroni). The work is that of the tables and of one pass over the model, whatever is
asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dpcore.errors import (
    InfeasibleError,
    ParameterError,
    UsageError,
    falling_range_error,
    missing_column_error,
    too_many_columns_error,
)
from dpcore.release import Release
from dpcore.schema.column import Column
from dpcore.schema.domain import Clique
from dpcore.schema.interval import IntervalColumn
from dpcore.synthesis.chain import ChainModel
from dpcore.synthesis.discrete.constraints import FunctionalDependency
from dpcore.synthesis.discrete.model import SyntheticModel
from dpcore.tables.answer import find_most_precise
from dpcore.tables.counts import MAX_CELLS, Marginal, cell_mask

Condition = tuple[float | str, float | str] | Sequence[str] | str
Mask = npt.NDArray[np.bool_]
MAX_CONDITIONS = 20


@dataclass(frozen=True, kw_only=True)
class RowCount:
    """A number of rows with its interval.

    Attributes:
        value: the best guess, inside the interval.
        low, high: contain the true count with the requested chance.
        is_measured: whether one noisy table covers all columns asked about. If none does,
            the value depends on the model's assumptions and the interval is wide.
    """

    value: float
    low: float
    high: float
    is_measured: bool


@dataclass(frozen=True, kw_only=True)
class _ConditionCounts:
    """Noisy counts for the conditions on some of the columns.

    Attributes:
        certain_rows: noisy rows of the cells that surely meet the conditions, without columns.
        possible_rows: noisy rows of the cells that may meet them.
    """

    columns: frozenset[str]
    certain_rows: Marginal
    possible_rows: Marginal

    def bounds(self, level: float) -> tuple[float, float]:
        low = float(self.certain_rows.values) - self.certain_rows.half_width(level)
        high = float(self.possible_rows.values) + self.possible_rows.half_width(level)
        return max(0.0, low), max(0.0, high)


def queryable_columns(release: Release) -> tuple[str, ...]:
    """Return the columns on which `count_rows` takes conditions."""
    names = {name for clique in _measured_cliques(release) for name in clique}
    names |= {
        f.target for f in _determined_columns(release).values() if f.column in names
    }
    return tuple(name for name in release.schema.domain.names if name in names)


def count_rows(
    release: Release, where: Mapping[str, Condition], *, level: float = 0.95
) -> RowCount:
    """Estimate the rows that meet all conditions, with an interval at `level`.

    Args:
        release: of the table.
        where: column -> (low, high) for numbers and dates, with low <= value < high at
            bounds of cells; for others one label, or several labels of which a row has
            one. Empty for all rows.
        level: chance that the interval contains the true count.

    Raises: ParameterError for conditions that the release cannot answer; LimitError for
        too many conditions.
    """
    if len(where) > MAX_CONDITIONS:
        raise too_many_columns_error()
    known = queryable_columns(release)
    if not _measured_cliques(release):
        raise UsageError(
            "the release holds no counts that can be asked about",
            remedy="look at its figures",
        )
    for name in where:
        if name not in known:
            raise missing_column_error(name)
    cells = {
        name: cells_meeting(release.schema.column(name), asked)
        for name, asked in where.items()
    }
    pieces = _cover_conditions(release, cells)
    single = len(pieces) == 1
    # Bonferroni correction: the pieces and the number of rows share the chance of
    # error.
    piece_level = 1 - (1 - level) / (1 if single else len(pieces) + 1)
    bounds = [piece.bounds(piece_level) for piece in pieces]
    low = max(low for low, _ in bounds)
    high = min(high for _, high in bounds)
    if not single and (whole := _sum_evidence(release, (), {})) is not None:
        # Lower end of the Frechet bounds.
        rows = whole.bounds(piece_level)[1]
        low = max(0.0, sum(low for low, _ in bounds) - (len(pieces) - 1) * rows)
    value = _estimate_rows(release, cells)
    return RowCount(
        value=value, low=min(low, value), high=max(high, value), is_measured=single
    )


def cells_meeting(column: Column, condition: Condition) -> list[int]:
    """Return the cell numbers that meet a condition, at least one.

    Raises: ParameterError for a range that is empty or beyond the column's bounds, and
        for unknown labels.
    """
    if not isinstance(column, IntervalColumn):
        labels = (
            [condition]
            if isinstance(condition, str)
            else [str(label) for label in condition]
        )
        places = {label: i for i, label in enumerate(column.labels)}
        unknown = [label for label in labels if label not in places]
        if unknown or not labels:
            raise ParameterError(
                "column {column!r} has no such category",
                remedy="choose one from the list",
                column=column.name,
            )
        return sorted({places[label] for label in labels})
    try:
        low, high = tuple(condition)
        first = column.cell_of(low)
        last = column.cell_of(high)
    except ParameterError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise range_ends_error(column) from error
    if first >= last:
        raise falling_range_error(column.name)
    return list(range(first, last))


def range_ends_error(column: IntervalColumn) -> ParameterError:
    """Return the error for a range whose ends are not bounds of the column's cells."""
    return ParameterError(
        "a range of column {column!r} needs numbers as its two ends",
        remedy="write them like {low} and {high}",
        column=column.name,
        low=column.bounds[0],
        high=column.bounds[-1],
    )


def _measured_cliques(release: Release) -> list[Clique]:
    """Return the cliques of all noisy tables of the release."""
    model = release.model
    if isinstance(model, SyntheticModel):
        return [marginal.clique for marginal in model.measurements]
    return list(release.marginals)


def _determined_columns(release: Release) -> dict[str, FunctionalDependency]:
    model = release.model
    return (
        {f.target: f for f in model.constraints.determines}
        if isinstance(model, SyntheticModel)
        else {}
    )


def _cover_conditions(
    release: Release, cells: Mapping[str, Sequence[int]]
) -> list[_ConditionCounts]:
    """Choose few tables that cover all columns of the conditions, greedily."""
    masks: dict[str, Mask] = {}
    determined = _determined_columns(release)
    for name, numbers in cells.items():
        mask = cell_mask(release.schema.domain, name, numbers)
        # Replace the condition by one on the column that determines this column.
        if (function := determined.get(name)) is not None:
            name = function.column
            mask = mask[np.array(function.cells)]
        masks[name] = masks[name] & mask if name in masks else mask
    cliques = {
        tuple(name for name in masks if name in clique)
        for clique in _measured_cliques(release)
    }
    candidates = [
        piece
        for clique in sorted(cliques)
        if (piece := _sum_evidence(release, clique, masks)) is not None
    ]
    pieces: list[_ConditionCounts] = []
    uncovered = set(masks)
    while uncovered or not pieces:
        best = min(
            candidates,
            key=lambda piece: (
                -len(piece.columns & uncovered),
                piece.possible_rows.variance,
            ),
        )
        pieces.append(best)
        uncovered -= best.columns
    return pieces


def _sum_evidence(
    release: Release, columns: Clique, masks: Mapping[str, Mask]
) -> _ConditionCounts | None:
    """Sum the cells that surely meet the conditions, and those that may.

    Returns: None if no table covers these columns.
    """
    model = release.model
    if isinstance(model, SyntheticModel):
        evidence = model.evidence(columns)
        if evidence is None:
            return None
        touched: dict[str, Mask] = {}
        full: dict[str, Mask] = {}
        for name, size in zip(evidence.clique, evidence.shape, strict=True):
            touched[name] = full[name] = masks[name]
            if size != len(masks[name]):  # evidence over groups of cells
                groups = model.grouping.groups[name]
                marked = np.bincount(groups, weights=masks[name])
                touched[name] = marked > 0
                full[name] = marked == np.bincount(groups)
        return _ConditionCounts(
            columns=frozenset(columns),
            certain_rows=evidence.sum(full),
            possible_rows=evidence.sum(touched),
        )
    table = find_most_precise(release.marginals.values(), columns)
    if table is None:
        return None
    part = table.project(columns)
    inside = part.values[np.ix_(*(masks[name] for name in columns))]
    rows = replace(
        part,
        clique=(),
        values=np.array(inside.sum()),
        variance=part.variance * inside.size,
    )
    return _ConditionCounts(
        columns=frozenset(columns), certain_rows=rows, possible_rows=rows
    )


def _estimate_rows(release: Release, cells: Mapping[str, Sequence[int]]) -> float:
    """Return the model's expected rows in these cells, as `Release.answer` does."""
    model = release.model
    columns = tuple(cells)
    if (
        isinstance(model, SyntheticModel)
        and release.schema.domain.cells(columns) <= MAX_CELLS
    ):
        return float(model.marginal(columns)[np.ix_(*cells.values())].sum())
    if isinstance(model, SyntheticModel):
        try:
            return model.given(
                {name: list(cells_of_column) for name, cells_of_column in cells.items()}
            ).total
        except InfeasibleError:
            return 0.0
    if (
        isinstance(model, ChainModel)
        and find_most_precise(model.marginals, columns) is None
    ):
        return model.count_rows(cells)
    return float(release.answer(columns).values[np.ix_(*cells.values())].sum())
