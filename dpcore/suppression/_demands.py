"""What must stay possible, so that nothing is told."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
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
            # a cell whose values nobody has any more, or a cell of then
            may_be_empty=not table.hide_zeros
            and (table.is_past or not len(system.places[number, cell])),
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
    asked = _list_asked_families(system, tables)
    for number, own in enumerate(asked, start=first_group):
        demands += _list_unshown_demands(system, number, own, tables)
        # if empty cells are hidden too, somebody may be in each other group
        if any(table.hide_full and not table.hide_zeros for table in tables):
            demands += _list_full_demands(system, number, own, tables)
    return demands


def _list_asked_families(
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


@dataclass(frozen=True, kw_only=True, eq=False)
class CountRange:
    """Counts of a group, from the first to the last."""

    atoms: Ints
    first: float
    last: float


@dataclass(frozen=True, kw_only=True, eq=False)
class ReasonsToHide:
    """Why a table may hide cells.

    Attributes:
        threshold: people of a cell that is not small.
        others: counts of groups, besides its own cells, that it may protect.
        hidden_before: atoms of cells that earlier tables hide.
        counts_then: counts of another time by atoms of a cell, each with the change
            that is not small.
        asked: atoms of the cells that may be told; None for all.
    """

    threshold: int
    others: list[CountRange]
    hidden_before: frozenset[bytes]
    counts_then: Mapping[bytes, list[tuple[int, int]]]
    asked: frozenset[bytes] | None

    def list_reasons(self, atoms: Ints) -> list[CountRange]:
        """Return the counts for which a cell is hidden: few people, or few changed."""
        then = self.counts_then.get(atoms.tobytes(), ())
        return [
            CountRange(atoms=atoms, first=first, last=last)
            for first, last in _list_reason_ranges(self.threshold, then)
        ]

    def list_harmless(self, atoms: Ints) -> list[CountRange]:
        """Return the counts for which a cell is no reason to hide anything.

        A cell whose count of then is shown has changed by many.
        """
        near = sorted(
            (count - least + 1, count + least - 1)
            for count, least in self.counts_then.get(atoms.tobytes(), ())
        )
        ranges: list[CountRange] = []
        first = self.threshold
        for low, high in near:
            if first < low:
                ranges.append(CountRange(atoms=atoms, first=first, last=low - 1))
            first = max(first, high + 1)
        return [*ranges, CountRange(atoms=atoms, first=first, last=math.inf)]


def _list_reason_ranges(
    threshold: int, counts_then: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return the first and last counts that are small, or that few people changed."""
    ranges = [(0, threshold - 1)]
    for count, least in counts_then:
        ranges += [(count - least + 1, count - 1), (count + 1, count + least - 1)]
    return ranges


def find_reasons_to_hide(system: EquationSystem, number: int) -> ReasonsToHide | None:
    """Return the reasons of a table to hide cells; None if they are not known.

    Tables before it have some if readers know that their columns belong together. They
    are not known if a full cell may be the reason, or if people came or left since. If
    they came or left before, only cells that few changed are asked for.
    """
    table = system.tables[number]
    own = {*system.blocks.families_of(table.columns)}
    before = [
        at
        for at, other in enumerate(system.tables)
        if other.tables_before < table.tables_before
        and not other.is_past
        and not own.isdisjoint(system.blocks.families_of(other.columns))
    ]
    if not table.hides_small_alone or table.is_changed:
        return None
    # 1. Counts of then that are others today
    counts_then: dict[bytes, list[tuple[int, int]]] = {}
    asked: set[bytes] = set()
    for at in before:
        other = system.tables[at]
        least = max(table.threshold, other.threshold)
        for cell, count in enumerate(other.counts_then):
            if count is not None and other.counts[cell] is None:
                own_atoms = system.places[at, cell].tobytes()
                counts_then.setdefault(own_atoms, []).append((count, least))
                if cell in other.wanted:
                    asked.add(own_atoms)
    people_moved = any(system.tables[at].is_changed for at in before)
    if people_moved and not asked:
        return None
    # 2. Cells that these tables hide, and groups that they tell apart
    hidden = [
        (system.places[at, cell], system.tables[at].threshold)
        for at in before
        for cell, count in enumerate(system.tables[at].counts)
        if count is None
    ]
    known_tables = [system.tables[at] for at in (*before, number)]
    groups = hidden + [
        (one.atoms, one.needed)
        for own_families in _list_asked_families(system, known_tables)
        for one in _list_unshown_demands(
            system, number, own_families, known_tables, told_by_others=False
        )
        if one.around is None and not system.is_settled(one.atoms)
    ]
    return ReasonsToHide(
        threshold=table.threshold,
        others=[
            CountRange(atoms=atoms, first=first, last=last)
            for atoms, least in groups
            for first, last in _list_reason_ranges(
                least, counts_then.get(atoms.tobytes(), ())
            )
        ],
        hidden_before=frozenset(
            system.places[at, cell].tobytes()
            for at in before
            if not system.tables[at].is_changed
            for cell, count in enumerate(system.tables[at].counts)
            if count is None
        ),
        counts_then=counts_then,
        asked=frozenset(asked) if people_moved else None,
    )


def find_hidden_components(table: AttackedTable) -> list[list[int]]:
    """Return the hidden cells that sums of a table join, directly or through others."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    hidden = [cell for cell, count in enumerate(table.counts) if count is None]
    shape = [len(axis) for axis in table.groups]
    around = [_find_next_coarser(axis) for axis in table.groups]
    sums: dict[tuple[int, ...], list[int]] = {}
    for number, cell in enumerate(hidden):
        places = [int(place) for place in np.unravel_index(cell, shape)]
        for at, own in enumerate(places):
            rest = (*places[:at], *places[at + 1 :])
            # the sum of the groups around it, and the sum that it is itself
            for whole in (around[at][own], own):
                if whole is not None:
                    sums.setdefault((at, whole, *rest), []).append(number)
    joined = stack_sums([np.array(own) for own in sums.values()], len(hidden))
    kinds = connected_components(sparse.csr_array(joined.T @ joined), directed=False)[1]
    found: dict[int, list[int]] = {}
    for cell, kind in zip(hidden, kinds.tolist(), strict=True):
        found.setdefault(kind, []).append(cell)
    return list(found.values())


def _find_next_coarser(
    axis: Sequence[frozenset[str] | None],
) -> list[int | None]:
    """Return the number of the smallest group around each one; None for everybody."""
    sizes = [math.inf if group is None else len(group) for group in axis]
    coarser: list[int | None] = []
    for own in axis:
        wider = [
            number
            for number, other in enumerate(axis)
            if own is not None and (other is None or own < other)
        ]
        coarser.append(min(wider, key=lambda number: sizes[number], default=None))
    return coarser


def _list_unshown_demands(
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
