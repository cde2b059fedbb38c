"""Compare published tables with the people of today, of whom some came or left.

A count that still holds is an equation over today's people. A count that changed by
fewer people than a rule wants must not be told of today, since both together would tell
who came or left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dpcore.suppression.attack import AttackedTable, RevealedCell, attack
from dpcore.suppression.layout import Layout
from dpcore.suppression.published import PublishedTable, find_secret_pairs

UNKNOWN = -1
"""Count of today in a cell with columns that the asked table lacks."""

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Region = frozenset[tuple[str, frozenset[str]]]
EarlierTables = Sequence[tuple[PublishedTable, Ints]]
"""Tables that were published before, each with the (cells,) people of today."""


def find_changed_cells(table: PublishedTable, people: Ints) -> Bools:
    """Return (cells,) whether a shown count is another one today.

    A cell with a column that is unknown today changed if its total in it did.
    """
    shown = np.array([-1 if count is None else count for count in table.counts])
    changed = (shown >= 0) & (people != UNKNOWN) & (shown != people)
    numbers = np.arange(table.layout.size).reshape(table.layout.shape)
    for at in range(len(table.layout.axes)):
        lines = np.moveaxis(people.reshape(table.layout.shape), at, 0)
        if (lines[1:] == UNKNOWN).all():
            totals = np.moveaxis(numbers, at, 0)[:1]
            shape = np.moveaxis(numbers, at, 0).shape
            numbers = np.moveaxis(np.broadcast_to(totals, shape), 0, at)
    return np.asarray((shown >= 0) & changed[numbers.ravel()])


def find_close_counts(
    table: PublishedTable, people: Ints, threshold: int
) -> dict[int, int]:
    """Return counts that must be possible today, for cells that few people changed.

    The difference of both counts tells of them. So readers must think possible a count
    that is the threshold above both.

    Returns: {cell: that count}.
    """
    least = max(threshold, table.rule.threshold)
    return {
        cell: max(count, today) + least
        for cell, (count, today) in enumerate(
            zip(table.counts, people.tolist(), strict=True)
        )
        if count is not None and today != UNKNOWN and 0 < abs(count - today) < least
    }


def match_close_counts(
    layout: Layout, threshold: int, earlier: EarlierTables
) -> dict[int, int]:
    """Return `find_close_counts` for the cells of a new table."""
    wanted: dict[int, int] = {}
    cells = find_regions(layout) if earlier else {}
    for table, people in earlier:
        for there, count in find_close_counts(table, people, threshold).items():
            cell = cells.get(table.layout.selected_values(there))
            if cell is not None:
                wanted[cell] = max(wanted.get(cell, 0), count)
    return wanted


def find_regions(layout: Layout) -> dict[Region, int]:
    """Return the cells by the values that they select."""
    return {layout.selected_values(cell): cell for cell in range(layout.size)}


def find_complete_columns(table: PublishedTable, people: Ints) -> frozenset[str]:
    """Return the columns of a table whose values of today it all lists."""
    complete = []
    counts = people.reshape(table.layout.shape)
    for at, axis in enumerate(table.layout.axes):
        line = np.moveaxis(counts, at, 0).reshape(len(axis.groups), -1)[:, 0]
        groups = line[axis.children[0]]
        if (groups == UNKNOWN).any() or groups.sum() == line[0]:
            complete.append(axis.column)
    return frozenset(complete)


def see_today(
    table: PublishedTable, people: Ints, *, members: bool, threshold: int
) -> AttackedTable:
    """Return an earlier table as attackers use it to tell the people of today.

    Args:
        people: (cells,) of today.
        members: whether attackers know which cells hold people.
        threshold: of the new table.
    """
    changed = find_changed_cells(table, people)
    wanted = find_close_counts(table, people, threshold)
    counts = tuple(
        None if is_changed else count
        for count, is_changed in zip(table.counts, changed.tolist(), strict=True)
    )
    # Of a count that changed by many, or is unknown, nothing is demanded but that it
    # is not small today
    free = changed & ((people == UNKNOWN) | (people == 0))
    excepted = {*np.flatnonzero(free).tolist(), *table.exceptions} - wanted.keys()
    pairs: tuple[tuple[int, int], ...] = ()
    if table.rule.hide_full:
        pairs = tuple(
            (cell, around)
            for cell, around in find_secret_pairs(table.layout, table.counts)
            if not changed[cell] and not changed[around]
        )
    occupied = np.flatnonzero(people > 0).tolist() if members else ()
    return replace(
        table.as_attacked(frozenset(occupied), wanted),
        counts=counts,
        secret_pairs=pairs,
        excepted_cells=frozenset(excepted),
        complete_columns=find_complete_columns(table, people),
    )


def attack_changes(
    table: PublishedTable, own_number: int, earlier: EarlierTables
) -> list[RevealedCell]:
    """Return cells of earlier tables whose small changes are told by other changes.

    The changes of shown counts add up like counts. If all have one sign, so that
    people only came or only left, they are attacked as a table of their own; otherwise
    what is left of each sum is compared with the threshold.
    """
    told: list[RevealedCell] = []
    regions = find_regions(table.layout) if earlier else {}
    for number, (before, people) in enumerate(earlier):
        changed = find_changed_cells(before, people)
        if not changed.any():
            continue
        changes: list[int | None] = []
        places: dict[int, int] = {}
        for cell, count in enumerate(before.counts):
            place = regions.get(before.layout.selected_values(cell))
            now = None if place is None else table.counts[place]
            if place is not None and now is not None:
                places[cell] = place
            if now is None and count is not None and not changed[cell]:
                now = count
            changes.append(None if now is None or count is None else now - count)
        least = max(before.rule.threshold, table.rule.threshold)
        known = [change for change in changes if change is not None]
        if min(known, default=0) >= 0 or max(known, default=0) <= 0:
            found = _attack_one_way(before, people, changes, least)
        else:
            found = _find_small_rests(before.layout, changes, least)
        told += [
            RevealedCell(
                table=number,
                cell=cell,
                proof=tuple(
                    (own_number, places[leaf]) for leaf in proof if leaf in places
                ),
            )
            for cell, proof in found.items()
        ]
    return told


def _attack_one_way(
    table: PublishedTable, people: Ints, changes: Sequence[int | None], least: int
) -> Mapping[int, list[int]]:
    """Return the cells into which few came, and the cells that tell it."""
    attacked = replace(
        table.as_attacked(frozenset(), {}),
        counts=tuple(None if change is None else abs(change) for change in changes),
        threshold=least,
        secret_pairs=(),
        excepted_cells=frozenset(),
        complete_columns=find_complete_columns(table, people),
        may_be_empty=True,
    )
    return {
        told.cell: [cell for _, cell in told.proof]
        for told in attack([attacked]).revealed_cells
    }


def _find_small_rests(
    layout: Layout, changes: Sequence[int | None], least: int
) -> Mapping[int, list[int]]:
    """Return cells that changed by few together, and the cells that tell it."""
    found = {}
    for parent, children in layout.equations:
        whole = changes[parent]
        inside = [child for child in children if changes[child] is not None]
        open_cells = [child for child in children if changes[child] is None]
        known = sum(changes[child] or 0 for child in inside)
        if whole is None and not open_cells and 0 < abs(known) < least:
            found[parent] = inside
        elif whole is not None and open_cells and 0 < abs(whole - known) < least:
            found[open_cells[0]] = [parent, *inside]
    return found
