"""How many rows fit some conditions: answered from a release alone, with an interval. Free post-processing.

The interval comes from noisy tables that were published, never from a model's assumptions. Where one table
holds every column that is asked about, it is the noise of a sum of its cells. Where none does, two facts
about any table hold: no more rows fit all conditions than fit some of them (the upper end), and at least
the rows that fit each, less those counted twice, fit all (the lower end; Frechet 1935). The tables
used share the chance of error evenly (Bonferroni). The work is that of the tables and of one pass over the
model, whatever is asked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpcore.errors import InfeasibleError, LimitError, ParameterError
from dpcore.release import Release
from dpcore.schema.column import Column
from dpcore.schema.interval import IntervalColumn
from dpcore.synthesis.chain import ChainModel
from dpcore.synthesis.consistency import Contrast
from dpcore.synthesis.constraints import Determines
from dpcore.synthesis.sampling import Integers
from dpcore.synthesis.synthetic import SyntheticModel
from dpcore.tables.counts import Marginal

Asked = tuple[float | str, float | str] | Sequence[str] | str
Mask = npt.NDArray[np.bool_]
MAX_CONDITIONS = 20


@dataclass(frozen=True, kw_only=True)
class RowCount:
    """An answer, in rows.

    Attributes:
        value: the best guess, inside the interval.
        low, high: hold the true count with the chance that was asked for.
        measured: whether one noisy table held all columns asked about. Where none did, the value rests on the
            model's assumptions and the interval is wide.
    """

    value: float
    low: float
    high: float
    measured: bool


@dataclass(frozen=True, kw_only=True)
class _Piece:
    """What one noisy table says about those conditions that it knows of: rows, and cells added up."""

    columns: frozenset[str]
    table: Marginal
    full: tuple[float, int]
    touched: tuple[float, int]

    def bounds(self, level: float) -> tuple[float, float]:
        low, high = (
            self._half(cells, level) * sign + rows
            for (rows, cells), sign in ((self.full, -1), (self.touched, 1))
        )
        return max(0.0, low), max(0.0, high)

    def _half(self, cells: int, level: float) -> float:
        table = Marginal(
            clique=(),
            values=np.zeros(()),
            variance=self.table.variance * cells,
            noise=self.table.noise,
            pooled=self.table.pooled,
        )
        return table.half_width(level)


def askable(release: Release) -> tuple[str, ...]:
    """Columns that `count_rows` takes conditions on; none where a release holds no noisy table."""
    held = {name for table, _ in _tables(release) for name in table.clique}
    held |= {f.target for f in _determined(release).values() if f.column in held}
    return tuple(name for name in release.schema.domain.names if name in held)


def count_rows(release: Release, where: Mapping[str, Asked], *, level: float = 0.95) -> RowCount:
    """Rows that fit all conditions, with an interval that holds the true count with chance `level`.

    Args:
        where: column -> (low, high) for numbers and dates, with low <= value < high at bounds of cells; for
            others one label, or several of which a row has one. Empty for all rows.
    Raises: ParameterError for what the release cannot be asked; LimitError for too many conditions.
    """
    if len(where) > MAX_CONDITIONS:
        raise LimitError(
            "{count} conditions are more than {limit}",
            remedy="ask about fewer columns",
            count=len(where),
            limit=MAX_CONDITIONS,
        )
    known = askable(release)
    if not _tables(release):
        raise ParameterError(
            "the release holds no counts that can be asked about",
            remedy="look at the figures that it publishes",
        )
    for name in where:
        if name not in known:
            raise ParameterError(
                "the release cannot be asked about column {column!r}",
                remedy="choose among {columns}",
                column=name,
                columns=", ".join(map(repr, known)) or "no columns",
            )
    cells = {name: cells_of(release.schema.column(name), asked) for name, asked in where.items()}
    pieces = _cover(release, cells)
    whole = min((_piece(*each, {}) for each in _tables(release)), key=_variance)
    single = len(pieces) == 1
    each = 1 - (1 - level) / (1 if single else len(pieces) + 1)
    bounds = [piece.bounds(each) for piece in pieces]
    low, high = max(low for low, _ in bounds), min(high for _, high in bounds)
    if not single:
        rows = whole.bounds(each)[1]
        low = max(0.0, sum(low for low, _ in bounds) - (len(pieces) - 1) * rows)
    value = _estimate(release, cells, pieces)
    return RowCount(value=min(max(value, low), high), low=low, high=high, measured=single)


def cells_of(column: Column, asked: Asked) -> list[int]:
    """Numbers of the cells that a condition names, at least one.

    Raises: ParameterError for a range that is none, or beyond the column's bounds; for unknown labels.
    """
    if not isinstance(column, IntervalColumn):
        labels = [asked] if isinstance(asked, str) else [str(label) for label in asked]
        places = {label: i for i, label in enumerate(column.labels)}
        unknown = [label for label in labels if label not in places]
        if unknown or not labels:
            raise ParameterError(
                "column {column!r} has no such category", remedy="choose one of its own", column=column.name
            )
        return sorted({places[label] for label in labels})
    try:
        low, high = tuple(asked)
        first, last = column.cell_of(low), column.cell_of(high)
    except ParameterError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(
            "a range of column {column!r} needs two bounds",
            remedy="write them like {low} and {high}",
            column=column.name,
            low=column.bounds[0],
            high=column.bounds[-1],
        ) from error
    if first >= last:
        raise ParameterError(
            "the range of column {column!r} must rise", remedy="put the lower bound first", column=column.name
        )
    return list(range(first, last))


def _tables(release: Release) -> list[tuple[Marginal, Mapping[str, Integers] | None]]:
    """The noisy tables, each with the group of every cell where it counts groups of cells."""
    model, domain = release.model, release.schema.domain
    if not isinstance(model, SyntheticModel):
        return [(table, None) for table in release.marginals.values()]
    groups = model.grouping.groups
    return [
        (table, None if table.values.shape == domain.shape(table.clique) else groups)
        for table in model.tables
    ]


def _determined(release: Release) -> dict[str, Determines]:
    model = release.model
    return {f.target: f for f in model.constraints.determines} if isinstance(model, SyntheticModel) else {}


def _cover(release: Release, cells: Mapping[str, Sequence[int]]) -> list[_Piece]:
    """The fewest tables that hold all columns asked about, found greedily; of equals the most precise."""
    masks: dict[str, Mask] = {}
    determined = _determined(release)
    for name, numbers in cells.items():
        mask = np.zeros(release.schema.domain.size(name), dtype=np.bool_)
        mask[list(numbers)] = True
        if (function := determined.get(name)) is not None:  # asked of the column that decides it
            name, mask = function.column, mask[np.array(function.cells)]
        masks[name] = masks[name] & mask if name in masks else mask
    candidates = [_piece(table, groups, masks) for table, groups in _tables(release)]
    pieces: list[_Piece] = []
    left = set(masks)
    while left or not pieces:
        best = min(candidates, key=lambda piece: (-len(piece.columns & left), _variance(piece)))
        pieces.append(best)
        left -= best.columns
    return pieces


def _piece(table: Marginal, groups: Mapping[str, Integers] | None, masks: Mapping[str, Mask]) -> _Piece:
    """The table's sums over cells that surely fit, and over those that may."""
    asked = tuple(name for name in table.clique if name in masks)
    full = touched = table.project(asked).values
    cells = [1, 1]
    signed = table.signed if isinstance(table, Contrast) else ()  # their two cells err together
    for name in asked:
        some = every = masks[name]
        if groups is not None:
            members = np.bincount(groups[name])
            inside = np.bincount(groups[name], weights=masks[name])
            some, every = inside > 0, inside == members
        full, touched = full[every].sum(axis=0), touched[some].sum(axis=0)
        times = 2 if name in signed else 1
        cells = [cells[0] * int(every.sum()) ** times, cells[1] * int(some.sum()) ** times]
    summed = table.values.size // max(1, math.prod(table.project(asked).values.shape))
    summed *= math.prod(2 for name in signed if name not in masks)
    return _Piece(
        columns=frozenset(asked),
        table=table,
        full=(float(full), cells[0] * summed),
        touched=(float(touched), cells[1] * summed),
    )


def _variance(piece: _Piece) -> float:
    return piece.table.variance * piece.touched[1]


def _estimate(release: Release, cells: Mapping[str, Sequence[int]], pieces: Sequence[_Piece]) -> float:
    model = release.model
    if isinstance(model, SyntheticModel):
        try:
            return model.given({name: list(each) for name, each in cells.items()}).total
        except InfeasibleError:
            return 0.0
    if len(pieces) == 1:
        return pieces[0].touched[0]
    if isinstance(model, ChainModel):
        return model.count(cells)
    raise ParameterError(
        "no noisy table of this release holds all of these columns", remedy="ask about fewer columns"
    )
