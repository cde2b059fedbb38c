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

    A cell with a column that is unknown today changed if its total in it did. A rounded
    count changed if no rounding of today's makes it. If the number of all people is
    another one, all rounded counts are of other people.
    """
    shown = np.array([-1 if count is None else count for count in table.counts])
    off = max(0, table.rounding_base - 1)
    changed = (shown >= 0) & (people != UNKNOWN) & (np.abs(shown - people) > off)
    if table.rounding_base and people[0] != table.people:
        return np.ones(len(shown), dtype=bool)
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

    Rounded counts of other people are refused altogether.

    Returns: {cell: that count}.
    """
    if table.rounding_base:
        return {}
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
    for table, people in earlier:
        close = find_close_counts(table, people, threshold)
        cells = match_cells(table.layout, layout)
        for there, count in close.items():
            cell = int(cells[there])
            if cell >= 0:
                wanted[cell] = max(wanted.get(cell, 0), count)
    return wanted


def match_cells(layout: Layout, other: Layout) -> Ints:
    """Return the cell of another layout that selects the same values as each cell.

    Returns: (cells,) of the first layout; -1 for none.
    """
    shape = tuple(layout.shape)
    matched = np.zeros(shape, dtype=np.int64)
    is_matched = np.ones(shape, dtype=bool)
    known = {axis.column: axis for axis in other.axes}
    steps = dict(zip(other.columns, _list_steps(other.shape), strict=True))
    for at, axis in enumerate(layout.axes):
        places = np.full(len(axis.groups), -1)
        places[0] = 0
        if axis.column in known:
            there = {
                group.values: number
                for number, group in enumerate(known[axis.column].groups)
                if number
            }
            for number, group in enumerate(axis.groups):
                if number:
                    places[number] = there.get(group.values, -1)
        line = [len(axis.groups) if own == at else 1 for own in range(len(shape))]
        is_matched &= (places >= 0).reshape(line)
        matched += (places * steps.get(axis.column, 0)).reshape(line)
    return np.where(is_matched, matched, -1).ravel()


def _list_steps(shape: Sequence[int]) -> list[int]:
    """Return how far apart two neighbours along each axis are numbered."""
    return [int(np.prod(shape[at + 1 :])) for at in range(len(shape))]


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
        threshold: of the new tables, the largest.
    """
    changed = find_changed_cells(table, people)
    wanted = find_close_counts(table, people, threshold)
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
    occupied = people > 0
    if not members:
        occupied &= np.isin(np.arange(len(people)), table.occupied)
    seen = table.as_attacked(frozenset(np.flatnonzero(occupied).tolist()), wanted)
    counts = tuple(
        None if is_changed else count
        for count, is_changed in zip(seen.counts, changed.tolist(), strict=True)
    )
    return replace(
        seen,
        counts=counts,
        # of people who are others by now, nobody knows that the rule hid few
        needed=0 if changed.any() else table.possible_count,
        counts_then=table.counts if changed.any() else (),
        secret_pairs=seen.secret_pairs if table.rounding_base else pairs,
        excepted_cells=frozenset(excepted),
        complete_columns=find_complete_columns(table, people),
    )


def see_past(
    table: PublishedTable,
    moved: tuple[int, ...],
    today: Sequence[PublishedTable],
    *,
    threshold: int,
) -> AttackedTable:
    """Return an earlier table as attackers use it to tell who came or left.

    Only cells in which somebody may have moved are asked for.

    Args:
        moved: finest cells in which people may have come or left.
        today: tables that count the people of today.
        threshold: of the new tables, the largest.
    """
    seen = table.as_attacked(frozenset(table.occupied), {})
    layout = table.layout
    around = _count_leaves(layout, moved) > 0
    excepted = {*np.flatnonzero(~around).tolist(), *table.exceptions}
    return replace(
        seen,
        groups=tuple(
            tuple(group.values for group in axis.groups) for axis in layout.axes
        ),
        threshold=max(table.rule.threshold, threshold),
        needed=table.possible_count,
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
    is_hidden_then = np.array([count is None for count in table.counts])
    changes: dict[tuple[int, ...], None] = {}
    for layout in dict.fromkeys([table.layout, *(one.layout for one in today)]):
        parts = _match_parts(table.layout, layout)
        sizes = np.diff(parts.indptr)
        is_moved = parts @ around > 0
        before = parts @ is_hidden_then > 0
        now = np.zeros(layout.size, dtype=bool)
        for one in today:
            there = match_cells(layout, one.layout)
            is_hidden = np.array([count is None for count in one.counts])
            now |= (there >= 0) & is_hidden[there]
        # 1. Each cell; a single count that is shown is compared by itself
        single = np.flatnonzero(is_moved)
        for cell in single.tolist():
            own = parts.indices[parts.indptr[cell] : parts.indptr[cell + 1]]
            if len(own) > 1 or is_hidden_then[own[0]]:
                changes[tuple(sorted(own.tolist()))] = None
        # 2. The rest of each line
        lines = [children for _, children in layout.equations]
        inside = _stack_sets(lines, layout.size)
        is_whole = inside @ (sizes == 0) == 0
        for hidden in (before, now, before | now):
            asked = is_whole & (inside @ (hidden & is_moved) > 0)
            for line in np.flatnonzero(asked).tolist():
                children = np.array(lines[line])
                own = parts[children[hidden[children]]].indices
                if len(own) > 1 or is_hidden_then[own[0]]:
                    changes[tuple(sorted(own.tolist()))] = None
    return tuple(changes)


def _match_parts(then: Layout, today: Layout) -> Any:
    """Return (cells of today, cells of then) which of then make up each one of today.

    A cell of today has none if it cannot be made up.
    """
    from scipy import sparse

    axes_then = {axis.column: axis for axis in then.axes}
    axes_today = {axis.column: axis for axis in today.axes}
    names = list(dict.fromkeys([*axes_today, *axes_then]))
    shape = []
    whole = sparse.csr_array(np.ones((1, 1), dtype=np.int64))
    # 1. Combine the groups of then that make up each group of today, for each column
    for name in names:
        before = axes_then.get(name)
        now = axes_today.get(name)
        covers: list[list[int]] = [[0]]  # the total is everybody
        for group in now.groups[1:] if now else ():
            covers.append(_cover_group(before, group.values) if before else [])
        shape.append(len(before.groups) if before else 1)
        whole = sparse.kron(whole, _stack_sets(covers, shape[-1]), format="csr")
    # 2. The columns come in the order of today; number the cells as then
    steps = dict(zip(then.columns, _list_steps(then.shape), strict=True))
    numbers = np.zeros(len(whole.indices), dtype=np.int64)
    for name, place in zip(names, np.unravel_index(whole.indices, shape), strict=True):
        numbers += place * steps.get(name, 0)
    return sparse.csr_array(
        (whole.data, numbers, whole.indptr), shape=(today.size, then.size)
    )


def _stack_sets(sets: Sequence[Sequence[int]], size: int) -> Any:
    """Return a sparse (sets, size) matrix of the members of sets."""
    from scipy import sparse

    members = np.fromiter(itertools.chain(*sets), dtype=np.int64)
    return sparse.csr_array(
        (
            np.ones(len(members), dtype=np.int64),
            members,
            np.cumsum([0, *map(len, sets)]),
        ),
        shape=(len(sets), size),
    )


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
    fewest people who came or left. Nobody moves in a line whose shown counts are all
    the same, its total among them, if an explanation allows that.

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
    most = np.concatenate([people[hidden], np.full(size, np.inf)])
    calm = np.isin(hidden, _find_calm_leaves(table, people))
    for highest in (np.where(np.tile(calm, 2), 0.0, most), most):
        fewest = linprog(
            np.ones(2 * size),
            A_eq=equations,
            b_eq=change,
            bounds=np.column_stack([np.zeros(2 * size), highest]),
            method="highs-ds",
        )
        if fewest.status == 0:
            break
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


def _find_calm_leaves(table: PublishedTable, people: Ints) -> list[int]:
    """Return the finest cells of lines whose shown counts are all the same today."""
    changed = find_changed_cells(table, people)
    calm: set[int] = set()
    for parent, children in table.layout.equations:
        is_known = table.counts[parent] is not None or parent in calm
        if is_known and not changed[[parent, *children]].any():
            calm.update(child for child in children if table.counts[child] is None)
    leaves = _list_leaves(table.layout)
    return [leaf for leaf in leaves.tolist() if leaf in calm]


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
