"""Sentences above charts, which are all true together with probability 95 %.

The remaining 5 % is shared evenly by the tables of single columns and the number of
rows, and the share of a table by all that could be named of it: its cells, and for
numbers and dates every run of neighboring cells (Bonferroni). So it does not matter
which charts are shown. Ranks and shares follow from these intervals without more error.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpcore.release import Release
from dpcore.schema.linked import NUMBER_OF_EVENTS
from dpcore.tables.answer import CliqueCounts
from dpcore.tables.counts import half_width
from workbench.language.labels import bound_text, cell_labels
from workbench.language.messages import N_, _, join
from workbench.language.wording import COUNTED_WORDS, make_printable

ERROR_CHANCE = 0.05
"""The chance that any sentence of a page is false, at most."""
MAX_NAMED_CELLS = 3
SENTENCES = {
    "largest": N_(
        "The largest is {cells}: {low} to {high} % of the {counted} counted."
    ),
    "among": N_("The largest is one of {cells}; the noise hides which."),
    "half": N_(
        "More than half of the {counted} counted ({low} to {high} %) are from "
        "{first} to below {end}."
    ),
    "none apart": N_(
        "None of the differences between these counts is larger than the noise."
    ),
    "hidden": N_("The noise hides which of these counts is the largest."),
}


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim about the counts of one column.

    Attributes:
        kind: "largest" if the cell has the largest count, "among" if one of the cells
            has it; "half" if the neighboring cells hold more than half of all; "none
            apart" if no two cells can be told apart; "hidden" if too many cells may be
            the largest.
        cells: numbers of the cells that it names.
        share: lower and upper bound of the share, in hundredths, of the first cell or
            of the half.
    """

    kind: str
    cells: tuple[int, ...] = ()
    share: tuple[int, int] = (0, 100)


def measured_columns(release: Release) -> list[str]:
    """Return the columns whose counts can be read from the release's tables."""
    return [
        name
        for name in release.schema.domain.names
        if any(name in clique for clique in release.marginals)
    ]


def joint_level(release: Release, tables: int = 0) -> float:
    """Return the joint confidence level of the intervals of one table.

    It is chosen so that all sentences of the page hold together.

    Args:
        tables: of differences to another release, each of which says as much as one of
            this.
    """
    return 1 - ERROR_CHANCE / (1 + len(measured_columns(release)) + tables)


def view_of_release(release: Release) -> Literal["people", "events", ""]:
    """Return which view of linked tables a release counts; "" for one table."""
    if NUMBER_OF_EVENTS not in release.schema.domain.names:
        return ""
    # one event a person: only the id tells the views apart
    is_of_events = release.schema.unit.max_rows > 1 or release.request_id.endswith(
        " events"
    )
    return "events" if is_of_events else "people"


def counted_noun(release: Release) -> str:
    """Return the noun of what was counted.

    Events of linked tables, else people if each has one row, else rows.
    """
    of_one_table = "people" if release.schema.unit.max_rows == 1 else "rows"
    return _(COUNTED_WORDS[view_of_release(release) or of_one_table])


def strongest_claim(release: Release, name: str, level: float) -> Claim | None:
    """Return the strongest claim about a column from measured counts alone, or None.

    Args:
        level: joint confidence of the table's intervals.
    """
    column = release.schema.column(name)
    total = release.answer((), level=level)
    runs = (
        column.values_size * (column.values_size + 1) // 2 if column.is_interval else 0
    )
    each = 1 - (1 - level) / (column.size + runs)
    counts = release.answer((name,), level=each)
    if not counts.is_measured or total.low <= 0:
        return None
    if (
        runs
        and counts.counted_alone.all()
        and (run := _shortest_majority(column.values_size, counts, total, each))
    ):
        return run
    rivals = np.flatnonzero(counts.high >= counts.low.max())
    if len(rivals) > MAX_NAMED_CELLS or len(rivals) == column.size:
        return Claim(kind="none apart" if len(rivals) == column.size else "hidden")
    share = _share_bounds(counts.low[rivals[0]], counts.high[rivals[0]], total)
    return Claim(
        kind="largest" if len(rivals) == 1 else "among",
        cells=tuple(map(int, rivals)),
        share=share,
    )


def claim_sentence(release: Release, name: str, level: float) -> str:
    """Write the claim about a column; empty if there is none.

    Args:
        level: as of `strongest_claim`.
    """
    said = strongest_claim(release, name, level)
    column = release.schema.column(name)
    if said is None:
        return ""
    names = cell_labels(column)
    labels = [make_printable(names[cell], max_length=60) for cell in said.cells]
    bounds: list[float | str] = [""]
    if said.kind == "half" and column.is_interval:
        bounds = column.bounds[said.cells[0] : said.cells[-1] + 2]
    low, high = said.share
    return _(SENTENCES[said.kind]).format(
        cells=join(labels),
        low=low,
        high=high,
        counted=counted_noun(release),
        first=make_printable(bound_text(bounds[0])),
        end=make_printable(bound_text(bounds[-1])),
    )


def _shortest_majority(
    size: int, counts: CliqueCounts, total: CliqueCounts, level: float
) -> Claim | None:
    """Return the shortest run of cells that surely holds more than half of all rows."""
    table = counts.table
    assert table is not None
    measured, fitted = (
        np.append(0.0, np.cumsum(cells[:size]))
        for cells in (table.values, counts.values)
    )
    for width in range(1, size):
        half = half_width(
            table.variance * width, table.noise, level, pooled=table.pooled
        )
        inside, value = (sums[width:] - sums[:-width] for sums in (measured, fitted))
        low = np.minimum(inside - half, value)
        high = np.maximum(inside + half, value)
        first = int(low.argmax())
        if low[first] > total.high / 2:
            cells = tuple(range(first, first + width))
            return Claim(
                kind="half",
                cells=cells,
                share=_share_bounds(low[first], high[first], total),
            )
    return None


def _share_bounds(low: float, high: float, total: CliqueCounts) -> tuple[int, int]:
    """Return bounds of a share in whole percent, rounded outwards."""
    most = min(1.0, float(high / total.low))
    return math.floor(100 * low / float(total.high) + 1e-9), math.ceil(
        100 * most - 1e-9
    )
