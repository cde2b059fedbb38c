"""Compare published tables with the people of today, of whom some came or left.

A count that still holds is an equation over today's people. A count that changed by
fewer people than a rule wants must not be told of today, since both together would tell
who came or left. The counts of then are attacked as well: readers may know where people
came or left, and that all others are the same. They are taken to know the places where
the fewest people can have come or left.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dpcore.errors import InfeasibleError
from dpcore.suppression.attacked import AttackedTable
from dpcore.suppression.layout import Axis, Layout
from dpcore.suppression.published import PublishedTable, find_secret_pairs

MOVED_SHARE = 1e-3  # of a person, that marks a cell as one where somebody may move
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
        # of people who are others by now, nobody knows that the rule hid few
        needed=0 if changed.any() else table.rule.possible_count,
        secret_pairs=pairs,
        excepted_cells=frozenset(excepted),
        complete_columns=find_complete_columns(table, people),
    )


def see_past(
    table: PublishedTable, moved: tuple[int, ...], today: Sequence[PublishedTable]
) -> AttackedTable:
    """Return an earlier table as attackers use it to tell who came or left.

    Only cells in which somebody may have moved are asked for.

    Args:
        moved: finest cells in which people may have come or left.
        today: tables that count the people of today; the new one is the last.
    """
    seen = table.as_attacked(frozenset(), {})
    layout = table.layout
    around = _count_leaves(layout, moved) > 0
    excepted = {*np.flatnonzero(~around).tolist(), *table.exceptions}
    return replace(
        seen,
        groups=tuple(
            tuple(group.values for group in axis.groups) for axis in layout.axes
        ),
        threshold=max(table.rule.threshold, today[-1].rule.threshold),
        needed=table.rule.possible_count,
        secret_pairs=(),
        excepted_cells=frozenset(excepted),
        complete_columns=frozenset(),
        is_past=True,
        moved_cells=moved,
        changes=_list_changes(table, around, today),
    )


def _list_changes(
    table: PublishedTable, around: Bools, today: Sequence[PublishedTable]
) -> tuple[tuple[int, ...], ...]:
    """Return sets of cells whose change must not be told.

    These are the cells and the rests of lines of this table and of those of today. A
    cell of today may be several cells of then.

    Args:
        around: (cells,) whether somebody may have moved in a cell.
    """
    hidden_today = {
        one.layout.selected_values(cell)
        for one in today
        for cell, count in enumerate(one.counts)
        if count is None
    }
    changes: dict[tuple[int, ...], None] = {}
    for layout in dict.fromkeys([table.layout, *(one.layout for one in today)]):
        cells = _match_cells(table.layout, layout)
        before = {
            cell
            for cell, own in enumerate(cells)
            if any(table.counts[one] is None for one in own)
        }
        now = {
            cell
            for cell in range(layout.size)
            if layout.selected_values(cell) in hidden_today
        }
        for parent, children in layout.equations:
            sets = [[parent], *([child] for child in children)]
            if all(cells[child] for child in children):
                sets += [
                    [child for child in children if child in hidden]
                    for hidden in (before, now, before | now)
                ]
            for chosen in sets:
                own = sorted(itertools.chain(*(cells[cell] for cell in chosen)))
                # a single count that is shown is compared by itself
                is_compared = len(own) == 1 and table.counts[own[0]] is not None
                if own and around[own].any() and not is_compared:
                    changes[tuple(own)] = None
    return tuple(changes)


def _match_cells(then: Layout, today: Layout) -> list[list[int]]:
    """Return the cells of then that make up each cell of today; none if they do not."""
    numbers = np.arange(then.size).reshape(then.shape)
    covers = {
        axis.column: [
            _cover_group(own, group.values) if at else [0]
            for own in then.axes
            if own.column == axis.column
            for at, group in enumerate(axis.groups)
        ]
        # the total of a column that was not there then is everybody
        or [[0], *([[]] * (len(axis.groups) - 1))]
        for axis in today.axes
    }
    found = []
    for places in itertools.product(*(range(size) for size in today.shape)):
        groups = {
            axis.column: covers[axis.column][place]
            for axis, place in zip(today.axes, places, strict=True)
        }
        chosen = [groups.get(name, [0]) for name in then.columns]
        is_whole = all(groups.values())
        found.append(numbers[np.ix_(*chosen)].ravel().tolist() if is_whole else [])
    return found


def _cover_group(axis: Axis, values: frozenset[str]) -> list[int]:
    """Return the widest groups of an axis that make up some values; none if none do."""
    inside = {
        number
        for number, group in enumerate(axis.groups)
        if number and group.values and group.values <= values
    }
    widest = [
        number for number in sorted(inside) if axis.groups[number].parent not in inside
    ]
    covered = frozenset[str]().union(*(axis.groups[number].values for number in widest))
    return widest if covered == values else []


def find_moved_cells(table: PublishedTable, people: Ints) -> tuple[int, ...]:
    """Return the finest cells in which people may have come or left.

    They are all cells that change in some explanation of the shown counts with the
    fewest people who came or left.

    Raises: InfeasibleError if some counts of today are unknown.
    """
    from scipy import sparse
    from scipy.optimize import linprog

    if (people == UNKNOWN).any():
        raise InfeasibleError(
            "people came or left since an exact table with columns that this file "
            "lacks: {tables}",
            remedy="open a file with all columns of that table",
            tables=table.name,
        )
    layout = table.layout
    leaves = _list_leaves(layout)
    inside = _leaf_matrix(layout, leaves)
    listed = inside @ people[leaves]
    shown = np.array([-1 if count is None else count for count in table.counts])
    # 1. A shown cell changed by a known number; a hidden cell may have changed
    is_open = shown[leaves] < 0
    change_of_leaf = np.where(is_open, 0, people[leaves] - shown[leaves])
    moved = leaves[change_of_leaf != 0].tolist()
    is_line = (shown >= 0) & (inside[:, is_open].sum(axis=1) > 0)
    change = (listed - shown - inside @ change_of_leaf)[is_line].astype(np.float64)
    if not change.any():
        return tuple(moved)
    # 2. Explain the other counts with the fewest people
    hidden = leaves[is_open]
    size = len(hidden)
    sums = inside[is_line][:, is_open]
    equations = sparse.hstack([sums, -sums]).tocsr()
    highest = np.concatenate([people[hidden], np.full(size, np.inf)])
    fewest = linprog(
        np.ones(2 * size),
        A_eq=equations,
        b_eq=change,
        bounds=np.column_stack([np.zeros(2 * size), highest]),
        method="highs-ds",
    )
    if fewest.status != 0:
        return tuple(sorted([*moved, *hidden.tolist()]))
    # 3. Of all such solutions, find the one in which people move in most cells
    eye = sparse.eye_array(size)
    widest = linprog(
        np.repeat([0.0, -1.0], [2 * size, size]),
        A_eq=sparse.hstack([equations, sparse.csr_array((len(change), size))]).tocsr(),
        b_eq=change,
        A_ub=sparse.vstack(
            [
                sparse.hstack([-eye, -eye, eye]),
                sparse.csr_array(np.repeat([1.0, 0.0], [2 * size, size])[np.newaxis]),
            ]
        ).tocsr(),
        b_ub=np.concatenate([np.zeros(size), [fewest.fun + MOVED_SHARE / 10]]),
        bounds=np.column_stack(
            [
                np.zeros(3 * size),
                np.concatenate([highest, np.full(size, MOVED_SHARE)]),
            ]
        ),
        method="highs-ds",
    )
    found = widest if widest.status == 0 else fewest
    moves = found.x[:size] + found.x[size : 2 * size]
    return tuple(sorted([*moved, *hidden[moves > MOVED_SHARE / 2].tolist()]))


def _list_leaves(layout: Layout) -> Ints:
    """Return the finest cells of a layout."""
    numbers = np.arange(layout.size).reshape(layout.shape)
    return numbers[np.ix_(*map(_list_finest_groups, layout.axes))].ravel()


def _list_finest_groups(axis: Axis) -> list[int]:
    """Return the groups of an axis without groups inside them."""
    return [number for number in range(len(axis.groups)) if number not in axis.children]


def _leaf_matrix(layout: Layout, leaves: Ints) -> Any:
    """Return (cells, leaves) which of the finest cells each cell contains."""
    from scipy import sparse

    whole = None
    for axis in layout.axes:
        finest = _list_finest_groups(axis)
        inside = np.zeros((len(axis.groups), len(finest)))
        for column, number in enumerate(finest):
            around: int | None = number
            while around is not None:
                inside[around, column] = 1
                around = axis.groups[around].parent
        own = sparse.csr_array(inside)
        whole = own if whole is None else sparse.kron(whole, own, format="csr")
    assert whole is not None
    assert whole.shape == (layout.size, len(leaves))
    return whole


def _count_leaves(layout: Layout, cells: Sequence[int]) -> Ints:
    """Return (cells,) how many of some finest cells each cell contains."""
    leaves = _list_leaves(layout)
    counted: Ints = _leaf_matrix(layout, leaves) @ np.isin(leaves, cells)
    return counted
