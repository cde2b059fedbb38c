"""Cells of columns of numbers, found privately before anything else is read.

A column is counted in public cells that grow with the numbers; then cells that hold
many rows are split at round numbers and counted again, a few times. What is split
follows from noisy counts alone. A row has one cell in each count, so that a person
changes a count by at most their rows, and losses of the counts add up.
"""

import dataclasses
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.accounting.loss import (
    ZCDP,
    AnyLoss,
    ApproxDP,
    Loss,
    PureDP,
    loss_fields,
)
from dpcore.errors import UsageError
from dpcore.evaluation.base import PrivateEvaluation
from dpcore.mechanisms.measurer import Measurer
from dpcore.mechanisms.sensitivity import noise_of, noise_scale, noise_variance
from dpcore.schema.column import Codes, Column
from dpcore.schema.interval import Integer, NumberColumn
from dpcore.schema.numbers import TARGET_CELLS, multiple, round_width
from dpcore.schema.origin import (
    AGES,
    CENSORED,
    MISSING_FACTS,
    WORDS,
    CellSearch,
)
from dpcore.schema.schema import Schema
from dpcore.tables.counts import half_width
from dpcore.text import Text

Floats = npt.NDArray[np.float64]
Marks = npt.NDArray[np.bool_]

SEARCH_SHARE = Fraction(1, 20)
"""Part of the loss of a release at epsilon 1, or of the whole budget where that is
less.
"""
COUNT_SHARES = tuple(Fraction(tenths, 10) for tenths in (4, 5, 4, 5, 5, 10))
"""Of what is left, what each count spends; the last one, and one with nothing more to
split, spends all.
"""
MIN_POWER = -6
MAX_POWER = 12
"""Powers of ten between which public cells grow."""
CELLS_PER_SPLIT = 100
"""Cells that a cell is split into, about."""
MIN_SPLIT_SHARE = 0.025
MAX_RUN_SHARE = 0.02
MIN_SPIKE_SHARE = 0.01
MAX_TAIL_SHARE = 0.005
"""Parts of all rows: at least in a cell that is split, in a run of neighbors that
becomes one cell, and of a number that has a cell of its own; and what is not left
beyond the last cell, even if noise is larger.
"""
SPLIT_CELL_LEVEL = 0.9973
PUBLIC_CELL_LEVEL = 0.99994
NEIGHBOR_LEVEL = 0.68
"""Chances that noise alone is less than what is in a part of a split cell that is told
from the others, in a public cell or in some beside each other, and in what lies beside
those or is left of a split cell.
"""
WINDOWS = (1, 3, 9)
"""Public cells that may stand out together."""


def with_public_cells(column: Column) -> Column:
    """Return the column in cells for any numbers: ..., -1, 0, 1, 2, 5, 10, ...

    Of what was read of the table, the kind stays, whole numbers or not, and a marked
    cell for missing values: without what was read, there may be none. The rest gives
    way to the public rules. No text stays, for the report of the search holds the
    declaration.
    """
    whole = isinstance(column, Integer)
    powers = range(0 if whole else MIN_POWER, MAX_POWER)
    rising = [float(f"{step}e{power}") for power in powers for step in (1, 2, 5)]
    starts = [-(10.0**MAX_POWER), *(-edge for edge in reversed(rising)), 0.0, *rising]
    kept = ("kind", "missing") if column.missing else ("kind",)
    plain = dataclasses.replace(
        column.without_texts(),
        rules=tuple(rule for rule in column.rules if rule != AGES),
        from_data=tuple(fact for fact in column.from_data if fact in kept),
        known_from="",
    )
    if set(MISSING_FACTS).intersection(column.from_data):
        rules = tuple(dict.fromkeys([WORDS, CENSORED, *plain.rules]))
        plain = dataclasses.replace(
            plain,
            missing=True,
            unreadable_is_missing=True,
            rules=rules,  # type: ignore[call-arg]
        )
    return _with_cells(plain, starts, 10.0**MAX_POWER, () if whole else (0.0,))


def loss_of_search(budget: AnyLoss) -> Loss:
    """Return what finding the cells of a table with this budget costs."""
    if isinstance(budget, PureDP):
        return PureDP(epsilon=min(budget.epsilon, Fraction(1))).share(SEARCH_SHARE)
    one = ApproxDP(
        epsilon=1, delta=budget.delta if isinstance(budget, ApproxDP) else "1e-9"
    )
    return ZCDP(rho=min(budget.rho, one.rho)).share(SEARCH_SHARE)


def search_of(loss: Loss, request_id: str) -> CellSearch:
    """Return the search that a request paid for."""
    digest = hashlib.sha256(request_id.encode()).hexdigest()
    ((measure, amount),) = loss_fields(loss).items()
    return CellSearch(measure=measure, amount=amount, id=digest[:16])


def largest_hidden_rows(columns: int, rows: int, loss: Loss) -> float:
    """Return about how many rows the noise hides in a cell of so many columns. Public.

    Args:
        rows: of a person, at most.
    """
    part = loss.share(COUNT_SHARES[0] / columns)
    variance = noise_variance(noise_scale(rows=rows, queries=1, loss=part), part)
    return half_width(variance, noise_of(part), PUBLIC_CELL_LEVEL)


def check_numbers(schema: Schema, columns: Sequence[str]) -> None:
    """Refuse columns that hold no numbers, or none at all. Raises: ParameterError."""
    if not columns or not all(
        isinstance(schema.column(name), NumberColumn) for name in columns
    ):
        raise UsageError(
            "cells are found of columns of numbers", remedy="name such columns"
        )


@dataclass(frozen=True, kw_only=True)
class NumberCellsQuestion(PrivateEvaluation):
    """Bounds, cuts and single values of columns that are declared in public cells, such
    as `widest` ones.

    Attributes:
        columns: names of the columns.
    """

    kind = "cells of numbers"

    columns: tuple[str, ...]

    @property
    def about(self) -> tuple[str, ...]:
        return self.columns

    @property
    def stands_on(self) -> tuple[Loss, ...]:
        return ()

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "columns": list(self.columns)}

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Describe the question by its columns."""
        return Text(
            "Cells of {columns}, found privately", columns=", ".join(fields["columns"])
        )

    def check(self, schema: Schema) -> None:
        """Refuse columns that hold no numbers, or whose declared cells no search can
        split.

        Raises: ParameterError.
        """
        check_numbers(schema, self.columns)
        for name in self.columns:
            column = cast(Any, schema.column(name))
            if not column.cuts or column.values_size < max(WINDOWS):
                raise UsageError(
                    (
                        f"the declared cells of column {name!r} are too wide or too "
                        "few "
                        "to find others in"
                    ),
                    remedy="open the table by open_with_cells, which declares such cells",
                )

    def measure(self, measurer: Measurer, schema: Schema) -> dict[str, Any]:
        """Return {"columns": declarations of the columns, in the cells that were
        found}.
        """
        searches = [_Search(column=schema.column(name)) for name in self.columns]
        left = Fraction(1)
        for part in COUNT_SHARES:
            split = [
                search
                for search in searches
                if not len(search.starts) or search.split()
            ]
            counted, share = (split, left * part) if split else (searches, left)
            for unfinished in counted:
                unfinished.count(measurer, measurer.loss.share(share / len(counted)))
            left -= share
            if not left:
                break
        return {"columns": [search.cells().to_dict() for search in searches]}


@dataclass(kw_only=True)
class _Search:
    """What is known of one column so far, from public facts and noisy counts.

    Attributes:
        column: in the cells that are counted next.
        starts: of the cells that were counted last.
        rows: in each of them, about. Rows of a cell that was split are spread evenly
            over its parts, but for those that stand out.
        out: which ones stood out.
        deviation: of the noise in each.
        least: rows of each that is split.
    """

    column: Any
    starts: Floats = field(default_factory=lambda: np.empty(0))
    rows: Floats = field(default_factory=lambda: np.empty(0))
    out: Marks = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    deviation: Floats = field(default_factory=lambda: np.empty(0))
    least: Floats = field(default_factory=lambda: np.empty(0))

    def count(self, measurer: Measurer, loss: Loss) -> None:
        """Count the rows in each cell. Costs `loss`."""
        column = self.column

        def cells(rows: pd.DataFrame) -> Codes:
            """Return the cell of each row, by its own value alone."""
            codes: Codes = column.encode(rows[column.name])
            return codes

        noisy = measurer.count_by_rule(cells, column.size, (column.name,), loss)
        one = math.sqrt(noisy.variance)
        near, clear, first = (
            noisy.half_width(level) / one
            for level in (NEIGHBOR_LEVEL, SPLIT_CELL_LEVEL, PUBLIC_CELL_LEVEL)
        )
        values = noisy.values[: column.values_size]
        starts = column.edges[:-1]
        deviation = np.full(len(values), one)
        sure = (
            self.rows.sum() if len(self.starts) else values[values > first * one].sum()
        )
        near = min(near, MAX_TAIL_SHARE * sure / one)
        if not len(self.starts):
            out = _mark_occupied(values / one, starts, near, clear, first)
            rows = np.where(out, values, 0.0)
        else:
            whole = np.searchsorted(self.starts, starts, side="right") - 1
            before = self.deviation[whole]
            # was not split, and is counted better
            again = self.out[whole] & (np.bincount(whole)[whole] == 1)
            weight = np.where(again, before**2 / (before**2 + deviation**2), 1.0)
            values = weight * values + (1 - weight) * self.rows[whole]
            deviation = np.sqrt(weight) * deviation
            out = (values > clear * deviation) & (self.rows[whole] > 0)
            rows = np.where(out, values, 0.0)
            left = np.maximum(self.rows - np.bincount(whole, weights=rows), 0.0)
            noise = np.sqrt(
                self.deviation**2 + np.bincount(whole, weights=out * deviation**2)
            )
            left[(np.bincount(whole, weights=out) > 0) & (left < near * noise)] = 0.0
            width = np.where(out, 0.0, column.ends - starts)
            widths = np.bincount(whole, weights=width)[whole]
            rows += left[whole] * np.divide(
                width, widths, out=np.zeros_like(width), where=widths > 0
            )
        self.starts = starts
        self.rows = rows
        self.out = out
        self.deviation = deviation
        self.least = np.maximum(MIN_SPLIT_SHARE * rows.sum(), clear * deviation)

    def split(self) -> bool:
        """Split the cells that hold many rows; return whether there are any."""
        column = self.column
        whole = isinstance(self.column, Integer)
        cuts = {column.low, *column.cuts}
        special = {*column.special}
        for cell in np.flatnonzero((self.rows > self.least) & ~column.single):
            inner = _round_numbers(self.starts[cell], column.ends[cell], whole=whole)
            cuts.update(inner)
            special.update(() if whole else inner)
        self.column = _with_cells(
            column, sorted(cuts), column.high + whole, sorted(special)
        )
        return bool(self.column.values_size > len(self.starts))

    def cells(self) -> Column:
        """Return the column in the cells that were found; in those that were counted
        where none stood out.
        """
        column = self.column
        rows = self.rows
        starts = self.starts
        ends = self.column.ends
        whole = isinstance(column, Integer)
        single = self.column.single
        held = np.flatnonzero(rows > 0)
        if not len(held):
            return cast(Column, column)
        first = int(held[0])
        last = int(held[-1])
        if whole and ends[last] - starts[first] <= TARGET_CELLS:
            return _with_cells(
                column, np.arange(starts[first], ends[last]).tolist(), ends[last]
            )
        alone = (
            ((ends - starts == 1) if whole else single)
            & self.out
            & (rows > MIN_SPIKE_SHARE * rows.sum())
        )
        begins = [starts[first]]
        total = rows[first]
        for cell in range(first + 1, last + 1):
            if (
                alone[cell]
                or alone[cell - 1]
                or max(total, rows[cell]) >= MAX_RUN_SHARE * rows.sum()
            ):
                begins.append(starts[cell])
                total = 0.0
            total += rows[cell]
        special = (
            [] if whole else starts[first : last + 1][alone[first : last + 1]].tolist()
        )
        after = {ends[cell]: starts[cell] for cell in np.flatnonzero(single)}
        edges = sorted({after.get(begin, begin) for begin in begins})
        end = starts[last] if single[last] else ends[last]
        return _with_cells(
            column, edges, end if end > edges[0] else column.edges[last + 2], special
        )


def _with_cells(
    column: Any, starts: Sequence[float], end: float, special: Sequence[float] = ()
) -> Column:
    """Return the column in cells that begin at `starts`; the last one ends at `end`."""
    whole = isinstance(column, Integer)
    number: Any = int if whole else float
    low, *cuts = (number(start) for start in starts if start < end)
    width = 1 if whole else None
    if not cuts or (whole and end - low == len(cuts) + 1):
        cuts, width = [], number(end) - low if not cuts else 1
    declared: Column = dataclasses.replace(
        column,
        low=low,
        high=number(end) - whole,
        cuts=tuple(cuts),
        bin_width=width,
        special=tuple(map(number, special)),
    )
    return declared


def _mark_occupied(
    scores: Floats, starts: Floats, near: float, clear: float, first: float
) -> Marks:
    """Mark public cells that stand out, alone or together, and those near them that may
    hold rows.

    Args:
        scores: noisy counts in deviations of their noise.
        starts: beginnings of the cells.
        near: deviations for the chance `NEAR`.
        clear: the same for `STANDS_OUT`.
        first: the same for `FIRST`.
    """
    # a 0 that many have may lie far from other numbers
    out: Marks = (starts == 0) & (scores > clear)
    for width in WINDOWS:
        window = np.ones(width)
        rest = np.convolve(np.where(out, 0.0, scores), window, "same") / math.sqrt(
            width
        )
        out |= (scores > near) & (np.convolve(rest > first, window, "same") > 0)
    for _ in scores:
        beside = np.convolve(out, np.ones(3), "same") > 0
        out |= beside & (scores > np.where(starts < 0, clear, near))
        out |= (np.convolve(out, np.ones(WINDOWS[-1]), "same") > 0) & (scores > clear)
    return out


def _round_numbers(start: float, end: float, *, whole: bool) -> list[float]:
    """Return the round numbers from `start` to below `end`, about as many as
    `SUBCELLS`.
    """
    step = max(round_width((end - start) / CELLS_PER_SPLIT), float(whole))
    if step < 1e-12 * max(abs(start), abs(end)):  # floats tell no more numbers apart
        return []
    first = math.floor(start / step)
    last = math.ceil(end / step)
    multiples = (multiple(place, step) for place in range(first, last + 1))
    return [multiple for multiple in multiples if start <= multiple < end]
