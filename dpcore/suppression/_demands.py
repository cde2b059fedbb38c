"""What must stay possible, so that nothing is told."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpcore.suppression._equations import EquationSystem, stack_sums
from dpcore.suppression.atoms import Families
from dpcore.suppression.attacked import AttackedTable
from dpcore.suppression.outcome import Target

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class Demand:
    """A number of people that must be possible.

    Attributes:
        atoms: whose people are counted.
        needed: people.
        may_be_empty: whether it may be known that nobody is there.
        around: atoms of a group of which nobody may be known to be in one cell; if
            nobody is in it, that is no secret. None for a plain count.
    """

    target: Target
    atoms: Ints
    needed: int
    may_be_empty: bool = False
    around: Ints | None = None


def list_demands(system: EquationSystem, first_group: int) -> list[Demand]:
    """Return all that must be possible.

    Args:
        first_group: number of the first families whose groups no table shows.
    """
    demands = [
        Demand(
            target=((number, cell), None),
            atoms=system.places[number, cell],
            needed=table.needed_in(cell),
            # a cell whose values nobody has any more, a cell of then, or one that is
            # rounded and that another table may show to be empty
            may_be_empty=not table.hide_zeros
            and (
                table.is_past
                or bool(table.ranges)
                or not len(system.places[number, cell])
            ),
        )
        for number, table in enumerate(system.tables)
        for cell, count in enumerate(table.counts)
        if count is None and cell not in table.excepted_cells
    ]
    demands += [
        Demand(
            target=((number, cell), around),
            atoms=np.setdiff1d(
                system.places[number, around], system.places[number, cell]
            ),
            needed=1,
            around=system.places[number, around],
        )
        for number, table in enumerate(system.tables)
        for cell, around in table.secret_pairs
        if cell not in table.excepted_cells
    ]
    present = [table for table in system.tables if not table.is_past]
    return demands + _list_all_unshown_demands(system, first_group, present)


def _list_all_unshown_demands(
    system: EquationSystem, first_group: int, tables: Sequence[AttackedTable]
) -> list[Demand]:
    """Return the demands for all groups that several tables tell apart."""
    demands: list[Demand] = []
    asked = list_asked_families(system, tables)
    for number, own in enumerate(asked, start=first_group):
        demands += list_unshown_demands(system, number, own, tables)
        # if empty cells are hidden too, somebody may be in each other group
        if any(table.hide_full and not table.hide_zeros for table in tables):
            demands += _list_full_demands(system, number, own, tables)
    return demands


def list_asked_families(
    system: EquationSystem, tables: Sequence[AttackedTable]
) -> list[Families]:
    """Return the families of each table, and those that two tables share."""
    if len(tables) < 2:
        return []
    families = [system.blocks.families_of(table.columns) for table in tables]
    shared = {
        tuple(sorted({*first} & {*second}))
        for first, second in itertools.combinations(families, 2)
    }
    return sorted(({*families} | shared) - {()})


def list_unshown_demands(
    system: EquationSystem,
    number: int,
    families: Families,
    tables: Sequence[AttackedTable],
    *,
    told_by_others: bool = True,
) -> Iterable[Demand]:
    """Return the demands for the smallest groups that several tables tell apart.

    Two tables that cut a column at different places tell the people between both
    cuts, and two areas that cross tell those in both. Of a group inside a cell that
    is shown to be small, no more people can be demanded than are in that cell: then
    the largest threshold counts that the cell meets. If it meets none, the cell is an
    exception. Of a group inside it, nothing may be told: all people of the cell must be
    possible there. A group of people with errors of coding is asked for together with
    those of the same inner value.

    Args:
        told_by_others: whether other tables of the system may tell groups apart too.
    """
    own = [
        table
        for table in tables
        if {*families} <= {*system.blocks.families_of(table.columns)}
    ]
    thresholds = sorted({table.threshold for table in own})
    groups = system.blocks.split(families)
    is_error = system.mark_rare(group for group in system.rare_groups if group.is_error)
    unions = system.blocks.find_miscoded_unions(families) if told_by_others else []
    firsts = np.arange(len(groups))
    if not told_by_others:
        firsts, kinds = _find_kinds(system, families, tables)
        order = np.argsort(kinds, kind="stable")
        groups = [
            np.sort(np.concatenate([groups[at] for at in kind]))
            for kind in np.split(order, np.cumsum(np.bincount(kinds))[:-1])
        ]
    union_matrix = stack_sums(unions, len(groups))
    is_asked = np.array([not is_error[atoms].all() for atoms in groups])
    is_asked = np.concatenate([is_asked, np.ones(len(unions), dtype=bool)])
    room = np.full(len(is_asked), thresholds[-1])
    sizes = np.concatenate([np.ones(len(groups)), [len(own) for own in unions]])
    for table in tables:
        for marked, count in _mark_cells(system, families, table):
            inside = marked[firsts]
            width = inside.sum()
            has_union = union_matrix @ inside == sizes[len(groups) :]
            inside = np.concatenate([inside, has_union])
            if count is not None:
                room[inside] = np.minimum(room[inside], count)
            is_strict = count is not None or table.threshold == thresholds[-1]
            if is_strict:
                is_asked &= ~(inside & (sizes == width))
    is_asked &= room > 0
    met = np.searchsorted(thresholds, room, "right")
    needed = np.where(met > 0, np.array(thresholds)[met - 1], room)
    hide_zeros = any(table.hide_zeros for table in own)
    hide_full = any(table.hide_full for table in own)
    groups += [
        np.sort(np.concatenate([groups[cell] for cell in own])) for own in unions
    ]
    for cell in np.flatnonzero(is_asked).tolist():
        yield Demand(
            target=((number, cell), None),
            atoms=groups[cell],
            needed=int(needed[cell]),
            may_be_empty=not hide_zeros,
        )
        is_union = cell >= len(groups) - len(unions)
        has_lines = hide_full and told_by_others and not is_union
        lines = system.blocks.find_lines(families, cell) if has_lines else []
        for at, line in enumerate(lines):
            around = np.sort(np.concatenate([groups[other] for other in line]))
            yield Demand(
                target=((number, cell), at),
                atoms=np.setdiff1d(around, groups[cell]),
                needed=1,
                around=around,
            )


def _find_kinds(
    system: EquationSystem, families: Families, tables: Sequence[AttackedTable]
) -> tuple[Ints, Ints]:
    """Return which groups of `split` some tables do not tell apart.

    Returns: the first group of each kind, and (groups,) the kind of each one.
    """
    marks = [
        system.blocks.mark_inside(families, name, group)
        for table in tables
        for name, axis in zip(table.columns, table.groups, strict=True)
        for group in axis
    ]
    _, firsts, kinds = np.unique(
        np.array(marks), axis=1, return_index=True, return_inverse=True
    )
    return firsts, kinds.ravel()


def _list_full_demands(
    system: EquationSystem,
    number: int,
    families: Families,
    tables: Sequence[AttackedTable],
) -> Iterable[Demand]:
    """Return the demands that nobody knows all people of a cell to be in one group.

    The group is one of the smallest that the tables tell apart, the cell the smallest
    one around it of a table that does not have the group as a cell. If all people of a
    wider cell are in the group, so are those of this one.
    """
    groups = system.blocks.split(families)
    for at, table in enumerate(tables, start=len(families)):
        width_around = np.full(len(groups), len(groups) + 1)
        cell_around = np.full(len(groups), -1)
        cells = [
            inside
            for inside, count in _mark_cells(system, families, table)
            if count != 0
        ]
        for place, inside in enumerate(cells):
            width = int(inside.sum())
            is_smaller = inside & (width < width_around)
            width_around[is_smaller] = width
            cell_around[is_smaller] = place
        for place in np.unique(cell_around[(cell_around >= 0) & (width_around > 1)]):
            around = np.sort(
                np.concatenate([groups[one] for one in np.flatnonzero(cells[place])])
            )
            for group in np.flatnonzero(cell_around == place).tolist():
                yield Demand(
                    target=((number, group), at),
                    atoms=np.setdiff1d(around, groups[group]),
                    needed=1,
                    around=around,
                )


def _mark_cells(
    system: EquationSystem, families: Families, table: AttackedTable
) -> Iterable[tuple[Bools, int | None]]:
    """Return which groups of `split` lie in each cell of a table, and its count."""
    marks = [
        [system.blocks.mark_inside(families, name, group) for group in axis]
        for name, axis in zip(table.columns, table.groups, strict=True)
    ]
    for chosen, count in zip(itertools.product(*marks), table.counts, strict=True):
        yield np.logical_and.reduce(chosen), count
