"""Sentences over charts that hold together: the chance that any of a page is false is at most 5 in 100.

That chance is shared evenly by the tables of single columns and the number of rows, and the share of a table
by all that could be named of it: its cells, of numbers and dates every run of neighboring cells (Bonferroni).
So it does not matter which charts are shown. Ranks and shares follow from these intervals without more error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpcore.release import Release
from dpcore.schema import IntervalColumn
from dpcore.tables.answer import Answer
from dpcore.tables.counts import half_width
from workbench.ui.language import _
from workbench.ui.wording import COUNTED_WORDS, join, printable

ERROR = 0.05
"""The chance that any sentence of a page is false, at most."""
MOST_NAMED = 3


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a sentence says of the counts of one column.

    Attributes:
        kind: "largest" if one of the cells has the largest count; "half" if the cells, neighbors of each
            other, hold more than half of all; "none apart" if no two cells can be told apart; "hidden" if too
            many cells may be the largest.
        cells: numbers of the cells that it names.
        share: hundredths of all that they hold, at least and at most; None where it is not said.
    """

    kind: Literal["largest", "half", "none apart", "hidden"]
    cells: tuple[int, ...] = ()
    share: tuple[int, int] | None = None


def singles(release: Release) -> list[str]:
    """Return the columns whose counts the tables of a release tell."""
    return [name for name in release.schema.domain.names if any(name in each for each in release.marginals)]


def level_of(release: Release, tables: int = 0) -> float:
    """Return the chance with which all intervals of one table must hold together so that all sentences do.

    Args: tables: of differences to another release, each of which says as much as one of this.
    """
    return 1 - ERROR / (1 + len(singles(release)) + tables)


def counted(release: Release) -> str:
    """Return the noun of what was counted: people where each has one row, else rows."""
    return COUNTED_WORDS["people" if release.schema.unit.max_rows == 1 else "rows"]


def claim(release: Release, name: str, level: float) -> Claim | None:
    """Return what can be said of a column, from measured counts alone, or None.

    Args: level: chance with which all intervals of the table hold together.
    """
    column, total = release.schema.column(name), release.answer((), level=level)
    runs = column.values_size * (column.values_size + 1) // 2 if isinstance(column, IntervalColumn) else 0
    each = 1 - (1 - level) / (column.size + runs)
    counts = release.answer((name,), level=each)
    if not counts.measured or total.low <= 0:
        return None
    if runs and counts.alone.all() and (run := _run(column.values_size, counts, total, each)):
        return run
    rivals = np.flatnonzero(counts.high >= counts.low.max())
    if len(rivals) == column.size:
        return Claim(kind="none apart")
    if len(rivals) > MOST_NAMED:
        return Claim(kind="hidden")
    first = rivals[0]
    share = _share(counts.low[first], counts.high[first], total) if len(rivals) == 1 else None
    return Claim(kind="largest", cells=tuple(map(int, rivals)), share=share)


def sentence(release: Release, name: str, level: float) -> str:
    """Write what can be said of a column, empty for nothing. Args: level: as of `claim`."""
    said, column = claim(release, name, level), release.schema.column(name)
    if said is None:
        return ""
    if said.kind == "none apart":
        return _("No difference between these counts can be told from noise.")
    if said.kind == "hidden":
        return _("The noise hides which of these counts is the largest.")
    low, high = said.share or (0, 0)
    if said.kind == "half" and isinstance(column, IntervalColumn):
        first, end = (printable(column.bounds[place]) for place in (said.cells[0], said.cells[-1] + 1))
        words = _("More than half of the {counted} counted, {low} to {high} %: from {first} to below {end}.")
        return words.format(counted=counted(release), low=low, high=high, first=first, end=end)
    cells = [printable(column.labels[cell], at_most=60) for cell in said.cells]
    if said.share is None:
        return _("The largest is one of {cells}; the noise hides which.").format(cells=join(cells))
    return _("The largest is {cell}: {low} to {high} % of the {counted} counted.").format(
        cell=cells[0], low=low, high=high, counted=counted(release)
    )


def _run(size: int, counts: Answer, total: Answer, level: float) -> Claim | None:
    """Return the shortest run of neighboring cells that surely holds more than half of all rows."""
    table = counts.table
    assert table is not None
    measured, fitted = (np.append(0.0, np.cumsum(each[:size])) for each in (table.values, counts.values))
    for width in range(1, size):
        half = half_width(table.variance * width, table.noise, level, pooled=table.pooled)
        inside, value = (each[width:] - each[:-width] for each in (measured, fitted))
        low, high = np.minimum(inside - half, value), np.maximum(inside + half, value)
        first = int(low.argmax())
        if low[first] > total.high / 2:
            cells = tuple(range(first, first + width))
            return Claim(kind="half", cells=cells, share=_share(low[first], high[first], total))
    return None


def _share(low: float, high: float, total: Answer) -> tuple[int, int]:
    """Return the hundredths between which a share lies, rounded outwards."""
    most = min(1.0, float(high / total.low))
    return math.floor(100 * low / float(total.high) + 1e-9), math.ceil(100 * most - 1e-9)
