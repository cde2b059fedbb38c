"""Why a table may hide cells: what readers know of the rule alone.

Something small must be the reason that cells are hidden. If all but one of the possible
reasons are ruled out, that one is told.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpcore.suppression._demands import list_asked_families, list_unshown_demands
from dpcore.suppression._equations import EquationSystem, stack_sums
from dpcore.suppression.attacked import AttackedTable

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class CountRange:
    """Counts of a group, from the first to the last.

    Attributes:
        signs: of its atoms, if it is a difference of people of today and of then.
    """

    atoms: Ints
    first: float
    last: float
    signs: Floats | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class ReasonsToHide:
    """Why a table may hide cells.

    Attributes:
        threshold: people of a cell that is not small.
        groups: others, of people of today, that it may protect: their atoms, and how
            many people are not few.
        past: counts of groups of then, and changes since, that it may protect.
        hidden_before: atoms of cells that earlier tables hide.
        counts_then: counts of another time by atoms of a cell, each with the change
            that is not small.
    """

    threshold: int
    groups: list[tuple[Ints, int]]
    past: list[CountRange]
    hidden_before: frozenset[bytes]
    counts_then: Mapping[bytes, list[tuple[int, int]]]

    @property
    def others(self) -> list[CountRange]:
        """Counts of groups, besides its own cells, that it may protect."""
        return [
            *itertools.chain(*(self.list_reasons(*group) for group in self.groups)),
            *self.past,
        ]

    def list_reasons(self, atoms: Ints, least: int) -> list[CountRange]:
        """Return the counts for which a group is hidden: few people, or few changed."""
        then = self.counts_then.get(atoms.tobytes(), ())
        return [
            CountRange(atoms=atoms, first=first, last=last)
            for first, last in _list_reason_ranges(least, then)
        ]

    def list_harmless(self, atoms: Ints, least: int) -> list[CountRange]:
        """Return the counts for which a group is no reason to hide anything.

        A cell whose count of then is shown has changed by many.
        """
        near = sorted(
            (count - many + 1, count + many - 1)
            for count, many in self.counts_then.get(atoms.tobytes(), ())
        )
        ranges: list[CountRange] = []
        first: float = least
        for low, high in near:
            if first < low:
                ranges.append(CountRange(atoms=atoms, first=first, last=low - 1))
            first = max(first, high + 1)
        return [*ranges, CountRange(atoms=atoms, first=first, last=math.inf)]


def _list_reason_ranges(
    threshold: int, counts_then: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return the ranges of counts that are small or few people changed."""
    ranges = [(0, threshold - 1)]
    for count, least in counts_then:
        ranges += [(count - least + 1, count - 1), (count + 1, count + least - 1)]
    return ranges


def find_reasons_to_hide(system: EquationSystem, number: int) -> ReasonsToHide | None:
    """Return the reasons of a table to hide cells; None if they are not known.

    Tables before it, and those published with it, have some if readers know that their
    columns belong together. They are not known if a full cell may be the reason, or if
    people came or left since. If they came or left before, few of them may be the reason.
    """
    table = system.tables[number]
    own = {*system.blocks.families_of(table.columns)}

    def is_beside(other: AttackedTable) -> bool:
        """Return whether a table was published together with it, about its people."""
        is_of_today = not table.is_past and not other.is_changed
        return is_of_today and other.is_published_with(table)

    before = [
        at
        for at, other in enumerate(system.tables)
        if at != number
        and not other.ranges  # a rounded table hides nothing
        and (other.was_known_to(table) or is_beside(other))
        and not other.is_past
        and not own.isdisjoint(system.blocks.families_of(other.columns))
    ]
    if not table.hides_small_alone or table.is_changed:
        return None
    # 1. Counts of then that are others today
    counts_then: dict[bytes, list[tuple[int, int]]] = {}
    for at in before:
        other = system.tables[at]
        least = max(table.threshold, other.threshold)
        for cell, count in enumerate(other.counts_then):
            if count is not None and other.counts[cell] is None:
                own_atoms = system.places[at, cell].tobytes()
                counts_then.setdefault(own_atoms, []).append((count, least))
    # 2. Hidden cells of these tables, and groups told apart by them
    hidden = [
        (system.places[at, cell], system.tables[at].threshold)
        for at in before
        for cell, count in enumerate(system.tables[at].counts)
        if count is None
    ]
    known_tables = [system.tables[at] for at in (*before, number)]
    groups = hidden + [
        (one.atoms, one.needed)
        for own_families in list_asked_families(system, known_tables)
        for one in list_unshown_demands(
            system, number, own_families, known_tables, told_by_others=False
        )
        if one.around is None and not system.is_settled(one.atoms)
    ]
    return ReasonsToHide(
        threshold=table.threshold,
        groups=groups,
        past=list(_list_past_reasons(system, before)),
        hidden_before=frozenset(
            system.places[at, cell].tobytes()
            for at in before
            if not system.tables[at].is_changed
            # of two tables that hide a cell together, none is the reason of the other
            and not system.tables[at].is_published_with(table)
            for cell, count in enumerate(system.tables[at].counts)
            if count is None
        ),
        counts_then=counts_then,
    )


def _list_past_reasons(
    system: EquationSystem, before: Sequence[int]
) -> Iterable[CountRange]:
    """Return the counts of then that are small, and the changes of few people.

    Args:
        before: numbers of tables, some of whose people came or left since.
    """
    changed = [at for at, table in enumerate(system.tables) if table.is_changed]
    past = [at for at, table in enumerate(system.tables) if table.is_past]
    for at, then in zip(changed, past, strict=False):
        if at not in before:
            continue
        table = system.tables[then]
        few = table.threshold - 1
        for cell, count in enumerate(table.counts):
            if count is None:
                yield CountRange(atoms=system.places[then, cell], first=0, last=few)
        for cells in table.changes:
            today = np.concatenate([system.today[then, cell] for cell in cells])
            earlier = np.concatenate([system.places[then, cell] for cell in cells])
            for first, last in ((1, few), (-few, -1)):
                yield CountRange(
                    atoms=np.concatenate([today, earlier]),
                    signs=np.repeat([1.0, -1.0], [len(today), len(earlier)]),
                    first=first,
                    last=last,
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
