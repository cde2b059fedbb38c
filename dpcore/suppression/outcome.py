"""What an attack found, and how closely it bounds hidden counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Place = tuple[int, int]
"""A table and a cell of it. Groups that no table shows have numbers beyond those."""
CellPlaces = tuple[Place, ...]
Target = tuple[Place, int | None]
"""A cell, and a group around it or None: then people outside the cell."""
KnownBounds = Mapping[tuple[str, Target], tuple[float, float] | None]
"""The fewest and most people, by the kind of readers who know it, and what is told."""


@dataclass(frozen=True, kw_only=True)
class RevealedCell:
    """A hidden cell whose count the published tables reveal too closely.

    Attributes:
        table, cell: its place; groups that no table shows come after the tables.
        filled_group: the group that it is known to fill; None if its count is told, and
            -1 if it is told by the reason for which cells are hidden.
        proof: shown cells (table, cell) that the bound stands on.
        is_certain: whether the bound is proved; else the attack ran out of time.
        bounds: the fewest and most people of the cell, or of the group outside it; None
            if they were not asked for.
        reader: the kind of readers who can tell it.
    """

    table: int
    cell: int
    filled_group: int | None = None
    proof: CellPlaces = ()
    is_certain: bool = True
    bounds: tuple[float, float] | None = None
    reader: str = ""

    @property
    def target(self) -> Target:
        """What is told: of a cell, or of a group outside the cell."""
        return (self.table, self.cell), self.filled_group


@dataclass(frozen=True, kw_only=True)
class CountBounds:
    """The counts that are possible for a hidden cell.

    Attributes:
        is_exact: whether low and high are the ends; else the interval is at least this.
    """

    low: int
    high: int
    is_exact: bool


@dataclass(frozen=True, kw_only=True)
class AttackOutcome:
    """What an attack found.

    Attributes:
        revealed_cells: cells that are told too closely.
        known_cells: cells that were told as closely without the new table.
        bounds: of hidden cells, by place.
        programs: linear and integer programs that were solved.
        blamed: names of the tables that tell the revealed cells.
        told_nestings: inner and outer columns of which rare pairs are told.
    """

    revealed_cells: tuple[RevealedCell, ...] = ()
    known_cells: tuple[RevealedCell, ...] = ()
    bounds: Mapping[Place, CountBounds] = field(default_factory=dict)
    programs: int = 0
    blamed: tuple[str, ...] = ()
    told_nestings: tuple[tuple[str, str], ...] = ()


def combine_outcomes(outcomes: Sequence[AttackOutcome]) -> AttackOutcome:
    """Return what several kinds of readers found together."""
    return AttackOutcome(
        revealed_cells=tuple(one for own in outcomes for one in own.revealed_cells),
        known_cells=tuple(one for own in outcomes for one in own.known_cells),
        bounds={at: bound for own in outcomes for at, bound in own.bounds.items()},
        programs=sum(own.programs for own in outcomes),
        blamed=tuple(sorted({name for own in outcomes for name in own.blamed})),
        told_nestings=tuple(
            sorted({pair for own in outcomes for pair in own.told_nestings})
        ),
    )
