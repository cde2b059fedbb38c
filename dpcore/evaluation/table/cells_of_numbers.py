"""Private search for cells of number columns, before anything else is read.

A column is counted in public cells that grow with the numbers; then cells with many
rows are split at round numbers and counted again, a few times. The splits follow from
noisy counts alone. A row has one cell in each count, so that a person changes a count
by at most their rows, and losses of the counts add up.
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
from dpcore.mechanisms.sensitivity import noise_kind, noise_scale, noise_variance
from dpcore.release import Guarantee
from dpcore.schema.coarsening import MIN_VISIBLE_CELLS
from dpcore.schema.column import Codes, Column
from dpcore.schema.numbers import TARGET_CELLS, multiply_rounded, round_up_width
from dpcore.schema.origin import (
    AGES_RULE,
    CENSORED_RULE,
    MISSING_FACTS,
    MISSING_WORDS_RULE,
    CellSearch,
)
from dpcore.schema.schema import Schema
from dpcore.tables.counts import half_width
from dpcore.text import Text

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

SEARCH_SHARE = Fraction(1, 20)
"""Share of the loss of a release at epsilon 1, or of the whole budget if it is less."""
COUNT_SHARES = tuple(Fraction(tenths, 10) for tenths in (4, 5, 4, 5, 5, 10))
"""Share of the rest that each count spends; the last one, and one with nothing more to
split, spends all.
"""
MIN_POWER = -6
MAX_POWER = 12
"""Powers of ten between which public cells grow."""
CELLS_PER_SPLIT = 100
"""Approximate number of parts of a split cell."""
MIN_SPLIT_SHARE = 0.025
"""Share of all rows from which a cell is split."""
RUN_SHARES = (0.02, 0.01, 0.005, 0.0025)
"""Shares of all rows at which a run of neighbors is closed as one cell: the first with
enough cells, as most rows may hold one number.
"""
MIN_SPIKE_SHARE = 0.01
"""Share of all rows from which a single number gets a cell of its own."""
MAX_TAIL_SHARE = 0.005
"""Largest share of all rows that may be lost beyond the last cell, whatever the noise."""
SPLIT_CELL_LEVEL = 0.9973
PUBLIC_CELL_LEVEL = 0.99994
NEIGHBOR_LEVEL = 0.68
"""Chances that noise alone stays below a count that stands out: of a part of a split
cell; of a public cell, or several side by side; and of a cell beside these, or the rest
of a split cell.
"""
CELLS_TESTED_TOGETHER = (1, 3, 9)
"""Numbers of public cells that may stand out together."""


def with_public_cells(column: Column) -> Column:
    """Return the column with public cells that suit any numbers: 0, 1, 2, 5, 10, ...

    Two facts read from the table stay: the kind, whole numbers or not, and a marked
    cell for missing values. All other facts are replaced by the public rules. No text
    stays, as the report of the search contains the declaration.
    """
    whole = column.is_whole
    powers = range(0 if whole else MIN_POWER, MAX_POWER)
    rising = [float(f"{step}e{power}") for power in powers for step in (1, 2, 5)]
    starts = [-(10.0**MAX_POWER), *(-edge for edge in reversed(rising)), 0.0, *rising]
    kept = ("kind", "missing") if column.missing else ("kind",)
    plain = dataclasses.replace(
        column.without_texts(),
        rules=tuple(rule for rule in column.rules if rule != AGES_RULE),
        from_data=tuple(fact for fact in column.from_data if fact in kept),
        known_from="",
    )
    if set(MISSING_FACTS).intersection(column.from_data):
        rules = tuple(dict.fromkeys([MISSING_WORDS_RULE, CENSORED_RULE, *plain.rules]))
        plain = dataclasses.replace(
            plain,
            missing=True,
            unreadable_is_missing=True,
            rules=rules,  # type: ignore[call-arg]
        )
    return _with_cells(plain, starts, 10.0**MAX_POWER, () if whole else (0.0,))


def search_loss(budget: AnyLoss) -> Loss:
    """Return the loss that a search for cells costs under this budget."""
    if isinstance(budget, PureDP):
        return PureDP(epsilon=min(budget.epsilon, Fraction(1))).share(SEARCH_SHARE)
    one = ApproxDP(
        epsilon=1, delta=budget.delta if isinstance(budget, ApproxDP) else "1e-9"
    )
    return ZCDP(rho=min(budget.rho, one.rho)).share(SEARCH_SHARE)


def make_cell_search(loss: Loss, request_id: str, columns: Sequence[str]) -> CellSearch:
    """Return the record of a cell search that a request has paid for."""
    digest = hashlib.sha256(request_id.encode()).hexdigest()
    ((measure, amount),) = loss_fields(loss).items()
    return CellSearch(
        measure=measure, amount=amount, id=digest[:16], columns=tuple(columns)
    )


def largest_hidden_rows(columns: int, rows: int, loss: Loss) -> float:
    """Return roughly how many rows of one cell the noise can hide. Public.

    Args:
        columns: that share the loss.
        rows: most rows of a person.
        loss: of the search.
    """
    part = loss.share(COUNT_SHARES[0] / columns)
    variance = noise_variance(noise_scale(max_rows=rows, queries=1, loss=part), part)
    return half_width(variance, noise_kind(part), PUBLIC_CELL_LEVEL)


def check_numbers(schema: Schema, columns: Sequence[str]) -> None:
    """Refuse columns without numbers, or an empty list. Raises: ParameterError."""
    if not columns or not all(schema.column(name).holds_numbers for name in columns):
        raise UsageError(
            "cells are found of columns of numbers", remedy="name such columns"
        )


@dataclass(frozen=True, kw_only=True)
class NumberCellsQuestion(PrivateEvaluation):
    """Private search for bounds, cuts and single values of number columns.

    See `with_public_cells`.

    Attributes:
        columns: names of the columns.
    """

    kind = "cells of numbers"

    columns: tuple[str, ...]

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return self.columns

    @property
    def source_guarantees(self) -> tuple[Guarantee, ...]:
        return ()

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "columns": list(self.columns)}

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Describe the question by the names of its columns."""
        return Text(
            "Cells of {columns}, found privately", columns=", ".join(fields["columns"])
        )

    def check(self, schema: Schema) -> None:
        """Refuse columns without numbers, or whose cells the search cannot split.

        Raises: ParameterError.
        """
        check_numbers(schema, self.columns)
        for name in self.columns:
            column = cast(Any, schema.column(name))
            if not column.cuts or column.values_size < max(CELLS_TESTED_TOGETHER):
                raise UsageError(
                    (
                        f"the declared cells of column {name!r} are too wide or too "
                        "few "
                        "to find others in"
                    ),
                    remedy="open the table by open_with_cells, which declares such cells",
                )

    def measure(self, measurer: Measurer, schema: Schema) -> dict[str, Any]:
        """Return {"columns": declarations of the columns in the cells found}."""
        searches = [_ColumnSearch(column=schema.column(name)) for name in self.columns]
        remaining = Fraction(1)
        for part in COUNT_SHARES:
            split = [
                search
                for search in searches
                if not len(search.starts) or search.split_large_cells()
            ]
            counted, share = (
                (split, remaining * part) if split else (searches, remaining)
            )
            for unfinished in counted:
                unfinished.count_rows(
                    measurer, measurer.loss.share(share / len(counted))
                )
            remaining -= share
            if not remaining:
                break
        return {"columns": [search.declare_cells().to_dict() for search in searches]}


@dataclass(kw_only=True)
class _ColumnSearch:
    """State of the search in one column, from public facts and noisy counts.

    Attributes:
        column: in the cells to count next.
        starts: of the cells counted last.
        rows: in each of them, about. Rows of a cell that was split are spread evenly
            over its parts, except those that stand out.
        stands_out: which ones stood out.
        noise_sd: of the noise in each.
        min_rows_to_split: rows from which each is split.
    """

    column: Any
    starts: Floats = field(default_factory=lambda: np.empty(0))
    rows: Floats = field(default_factory=lambda: np.empty(0))
    stands_out: Bools = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    noise_sd: Floats = field(default_factory=lambda: np.empty(0))
    min_rows_to_split: Floats = field(default_factory=lambda: np.empty(0))

    def count_rows(self, measurer: Measurer, loss: Loss) -> None:
        """Count the rows in each cell with noise, at the cost of `loss`."""
        column = self.column

        def cells(rows: pd.DataFrame) -> Codes:
            """Return the cell of each row, by its own value alone."""
            codes: Codes = column.encode(column.values_of(rows))
            return codes

        noisy = measurer.count_by_rule(cells, column.size, (column.name,), loss)
        noise_sd = math.sqrt(noisy.variance)
        neighbor_sds, split_sds, public_sds = (
            noisy.half_width(level) / noise_sd
            for level in (NEIGHBOR_LEVEL, SPLIT_CELL_LEVEL, PUBLIC_CELL_LEVEL)
        )
        values = noisy.values[: column.values_size]
        starts = column.edges[:-1]
        deviation = np.full(len(values), noise_sd)
        surely_found = (
            self.rows.sum()
            if len(self.starts)
            else values[values > public_sds * noise_sd].sum()
        )
        neighbor_sds = min(neighbor_sds, MAX_TAIL_SHARE * surely_found / noise_sd)
        if not len(self.starts):
            out = _mark_occupied(
                values / noise_sd, starts, neighbor_sds, split_sds, public_sds
            )
            rows = np.where(out, values, 0.0)
        else:
            whole = np.searchsorted(self.starts, starts, side="right") - 1
            before = self.noise_sd[whole]
            # Average a cell that was not split with its earlier count
            again = self.stands_out[whole] & (np.bincount(whole)[whole] == 1)
            weight = np.where(again, before**2 / (before**2 + deviation**2), 1.0)
            values = weight * values + (1 - weight) * self.rows[whole]
            deviation = np.sqrt(weight) * deviation
            out = (values > split_sds * deviation) & (self.rows[whole] > 0)
            rows = np.where(out, values, 0.0)
            # Spread the rows of a split cell that stand out nowhere evenly over its
            # parts
            remaining = np.maximum(self.rows - np.bincount(whole, weights=rows), 0.0)
            noise = np.sqrt(
                self.noise_sd**2 + np.bincount(whole, weights=out * deviation**2)
            )
            remaining[
                (np.bincount(whole, weights=out) > 0)
                & (remaining < neighbor_sds * noise)
            ] = 0.0
            width = np.where(out, 0.0, column.ends - starts)
            widths = np.bincount(whole, weights=width)[whole]
            rows += remaining[whole] * np.divide(
                width, widths, out=np.zeros_like(width), where=widths > 0
            )
        self.starts = starts
        self.rows = rows
        self.stands_out = out
        self.noise_sd = deviation
        self.min_rows_to_split = np.maximum(
            MIN_SPLIT_SHARE * rows.sum(), split_sds * deviation
        )

    def split_large_cells(self) -> bool:
        """Split the cells with many rows; return whether there are any."""
        column = self.column
        whole = self.column.is_whole
        cuts = {column.low, *column.cuts}
        special = {*column.special}
        for cell in np.flatnonzero(
            (self.rows > self.min_rows_to_split) & ~column.single_value_cells
        ):
            inner = _round_numbers(self.starts[cell], column.ends[cell], whole=whole)
            cuts.update(inner)
            special.update(() if whole else inner)
        self.column = _with_cells(
            column, sorted(cuts), column.high + whole, sorted(special)
        )
        return bool(self.column.values_size > len(self.starts))

    def declare_cells(self) -> Column:
        """Return the column with the cells found, or public ones if none stood out.

        The latter if none stood out.
        """
        column = self.column
        rows = self.rows
        starts = self.starts
        ends = self.column.ends
        whole = column.is_whole
        single = self.column.single_value_cells
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
            & self.stands_out
            & (rows > MIN_SPIKE_SHARE * rows.sum())
        )
        begins = next(
            (
                begins
                for share in RUN_SHARES
                if len(begins := self._close_runs(first, last, alone, share))
                >= MIN_VISIBLE_CELLS
            ),
            self._close_runs(first, last, alone, RUN_SHARES[-1]),
        )
        special = (
            [] if whole else starts[first : last + 1][alone[first : last + 1]].tolist()
        )
        after = {ends[cell]: starts[cell] for cell in np.flatnonzero(single)}
        edges = sorted({after.get(begin, begin) for begin in begins})
        end = starts[last] if single[last] else ends[last]
        return _with_cells(
            column, edges, end if end > edges[0] else column.edges[last + 2], special
        )

    def _close_runs(
        self, first: int, last: int, alone: Bools, share: float
    ) -> list[float]:
        """Return where runs of neighbors begin, each with a share of all rows."""
        rows = self.rows
        begins = [float(self.starts[first])]
        total = rows[first]
        for cell in range(first + 1, last + 1):
            if (
                alone[cell]
                or alone[cell - 1]
                or max(total, rows[cell]) >= share * rows.sum()
            ):
                begins.append(float(self.starts[cell]))
                total = 0.0
            total += rows[cell]
        return begins


def _with_cells(
    column: Any, starts: Sequence[float], end: float, special: Sequence[float] = ()
) -> Column:
    """Return the column with cells that begin at `starts`; the last ends at `end`."""
    whole = column.is_whole
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
        **({} if whole else {"decimals": None}),
    )
    return declared


def _mark_occupied(
    scores: Floats,
    starts: Floats,
    neighbor_sds: float,
    split_sds: float,
    public_sds: float,
) -> Bools:
    """Return a mask of public cells that stand out from noise, and likely neighbors.

    Cells may stand out alone or together.

    Args:
        scores: noisy counts in standard deviations of their noise.
        starts: beginnings of the cells.
        neighbor_sds: score from which a cell beside others is marked, for the level
            `NEIGHBOR_LEVEL`.
        split_sds: the same for `SPLIT_CELL_LEVEL`.
        public_sds: the same for `PUBLIC_CELL_LEVEL`.
    """
    # Test the cell of 0 at a lower level, since a frequent 0 may lie far from all other
    # numbers
    out: Bools = (starts == 0) & (scores > split_sds)
    for width in CELLS_TESTED_TOGETHER:
        window = np.ones(width)
        rest = np.convolve(np.where(out, 0.0, scores), window, "same") / math.sqrt(
            width
        )
        out |= (scores > neighbor_sds) & (
            np.convolve(rest > public_sds, window, "same") > 0
        )
    for _ in scores:
        beside = np.convolve(out, np.ones(3), "same") > 0
        out |= beside & (scores > np.where(starts < 0, split_sds, neighbor_sds))
        out |= (np.convolve(out, np.ones(CELLS_TESTED_TOGETHER[-1]), "same") > 0) & (
            scores > split_sds
        )
    return out


def _round_numbers(start: float, end: float, *, whole: bool) -> list[float]:
    """Return the round numbers from `start` to below `end`.

    There are about `CELLS_PER_SPLIT` of them.
    """
    step = max(round_up_width((end - start) / CELLS_PER_SPLIT), float(whole))
    if step < 1e-12 * max(abs(start), abs(end)):  # floats tell no more numbers apart
        return []
    first = math.floor(start / step)
    last = math.ceil(end / step)
    multiples = (multiply_rounded(place, step) for place in range(first, last + 1))
    return [multiple for multiple in multiples if start <= multiple < end]
