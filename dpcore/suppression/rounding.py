"""Round all counts of tables to multiples of a base, so that all sums still hold.

Each count is drawn up or down by chance. Of all ways to round whose sums hold, the one
is taken that differs from these draws in the fewest counts. It is controlled rounding
(Cox and Ernst, 1982) with draws as of random rounding (Fellegi, 1975). A whole table of
people, over the atoms of all tables, must have the rounded counts as its sums; it may
hold more people with rare pairs of values than there are. Why this protects small counts
is in `docs/decisions/0062-rounded-tables.md`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpcore.errors import InfeasibleError
from dpcore.suppression.atoms import AtomBlocks
from dpcore.suppression.attacked import AttackedTable

MAX_SECONDS_TO_ROUND = 60.0  # of the integer program; then its best rounding is taken
MAX_ROUNDING_GAP = 1e-3  # share of the fewest differences that it may miss
TIE_STEPS = 1_000  # weights by which ties between roundings are broken
TIE_SHARE = 0.01  # of a count, by which its weight is larger at most

Ints = npt.NDArray[np.int64]
DrawBelow = Callable[[int, int], Ints]
"""Draws so many whole numbers from 0 to below a limit, all equally likely."""


def draw_below(number: int, limit: int) -> Ints:
    """Draw whole numbers from 0 to below a limit from the system's randomness."""
    return np.array([secrets.randbelow(limit) for _ in range(number)], dtype=np.int64)


def expected_error(base: int) -> float:
    """Return the mean distance of rounded counts, in people.

    It is that of random rounding, if all rests below the base are equally likely.
    """
    return (base**2 - 1) / (3 * base)


@dataclass(frozen=True, kw_only=True, eq=False)
class TableToRound:
    """A table whose counts are to be rounded.

    Attributes:
        seen: the table as attackers know it; its counts are not used.
        counts: (cells,) people.
    """

    seen: AttackedTable
    counts: Ints


def round_counts(
    tables: Sequence[TableToRound],
    earlier: Sequence[tuple[AttackedTable, Sequence[int | None]]],
    blocks: AtomBlocks,
    base: int,
    draw: DrawBelow = draw_below,
) -> list[Ints]:
    """Round the counts of tables to multiples of a base.

    The number of all people is rounded down. A count that is a multiple stays.

    Args:
        earlier: rounded tables, with the counts that they show.
        blocks: the atoms of all tables.

    Returns: of each table, (cells,) rounded counts.

    Raises: InfeasibleError if no rounding is found with which all sums hold.
    """
    program = _Program(blocks, base)
    for seen, shown in earlier:
        for atoms, count in zip(blocks.cells_of(seen), shown, strict=True):
            assert count is not None
            program.fix(atoms, count)
    cells = [blocks.cells_of(table.seen) for table in tables]
    for table, own in zip(tables, cells, strict=True):
        must_rise = _find_cells_to_raise(table, base)
        for cell, atoms in enumerate(own):
            count = int(table.counts[cell])
            if not cell:
                program.fix(atoms, count // base * base)
            else:
                program.add(atoms, count, must_rise=bool(must_rise[cell]))
    rounded = program.solve(draw)
    if rounded is None:
        raise _no_rounding_error([seen.name for seen, _ in earlier], len(tables))
    return [
        np.array([rounded[atoms.tobytes()] for atoms in own], dtype=np.int64)
        for own in cells
    ]


def _find_cells_to_raise(table: TableToRound, base: int) -> npt.NDArray[np.bool_]:
    """Return (cells,) whether a count must be rounded up.

    Readers know that somebody is in some cells. If the range of a rounded count leaves
    too little room beside these people, it would tell where others are not. A cell that
    may be empty needs room for one person more than a cell with one of these people.
    """
    seen = table.seen
    shape = tuple(map(len, seen.groups))
    fewest = np.zeros(shape, dtype=np.int64)
    fewest.flat[list(seen.occupied_cells)] = 1
    is_unknown = np.ones(shape, dtype=np.int64) - fewest
    nested = [_list_children(axis) for axis in seen.groups]
    for at, own in enumerate(nested):
        # sums follow from the cells in them
        np.moveaxis(is_unknown, at, 0)[[around for around, _ in own]] = 0
    before = -1
    while before != fewest.sum() + is_unknown.sum():
        before = int(fewest.sum() + is_unknown.sum())
        for at, own in enumerate(nested):
            lines = np.moveaxis(fewest, at, 0)
            unknown = np.moveaxis(is_unknown, at, 0)
            for around, children in own:
                inside = lines[children].sum(axis=0)
                lines[around] = np.maximum(lines[around], inside)
                unknown[around] = np.maximum(
                    unknown[around], unknown[children].max(axis=0)
                )
    down = table.counts // base * base
    needed = fewest + is_unknown + seen.threshold - base
    must_rise: npt.NDArray[np.bool_] = (down < needed.ravel()) & (
        table.counts % base > 0
    )
    return must_rise


def _list_children(
    axis: Sequence[frozenset[str] | None],
) -> list[tuple[int, list[int]]]:
    """Return each group of an axis with the groups directly inside it, inner ones first."""
    everybody = frozenset[str]().union(*(group for group in axis if group is not None))
    groups = [everybody if group is None else group for group in axis]
    sizes = np.array([len(group) for group in groups])
    children: dict[int, list[int]] = {}
    for number, group in enumerate(groups[1:], start=1):
        larger = np.flatnonzero(sizes > sizes[number]).tolist()
        around = [other for other in larger if group < groups[other]]
        children.setdefault(min(around, key=lambda at: sizes[at]), []).append(number)
    return sorted(children.items(), key=lambda one: sizes[one[0]])


class _Program:
    """The integer program: which counts are rounded up, and people who fit.

    Cells with the same atoms are one count.
    """

    def __init__(self, blocks: AtomBlocks, base: int) -> None:
        self._blocks = blocks
        self._base = base
        self._atoms: dict[bytes, Ints] = {}
        self._down: dict[bytes, int] = {}
        self._rest: dict[bytes, int] = {}
        self._must_rise: set[bytes] = set()

    def fix(self, atoms: Ints, count: int) -> None:
        """Add a rounded count that cannot be chosen."""
        key = atoms.tobytes()
        self._atoms[key] = atoms
        self._down[key] = count
        self._rest[key] = 0

    def add(self, atoms: Ints, count: int, *, must_rise: bool) -> None:
        """Add a count that is rounded up or down, unless it is a multiple or fixed."""
        key = atoms.tobytes()
        if must_rise:
            self._must_rise.add(key)
        if key not in self._atoms:
            self._atoms[key] = atoms
            self._down[key] = count // self._base * self._base
            self._rest[key] = count % self._base

    def solve(self, draw: DrawBelow) -> dict[bytes, int] | None:
        """Draw a rounding; return the rounded count of each cell by its atoms."""
        from scipy import sparse
        from scipy.optimize import Bounds, LinearConstraint, milp

        keys = [*self._atoms]
        down = np.array([self._down[key] for key in keys])
        rest = np.array([self._rest[key] for key in keys])
        # 1. Draw for each count whether it is rounded up
        wants_up = draw(len(keys), self._base) < rest
        weights = 1 + TIE_SHARE * draw(len(keys), TIE_STEPS) / TIE_STEPS
        costs = np.where(wants_up, -weights, weights)
        least = np.array([key in self._must_rise for key in keys]) & (rest > 0)
        # 2. People by atoms have the rounded counts as their sums
        size = self._blocks.size
        sums = _stack([self._atoms[key] for key in keys], size)
        rises = sparse.diags_array(np.full(len(keys), -float(self._base)))
        limits = [LinearConstraint(sparse.hstack([sums, rises]).tocsr(), down, down)]
        links = self._blocks.find_linked_atoms()
        if links:
            linked = _stack([left for left, _ in links], size)
            linked -= _stack([right for _, right in links], size)
            no_counts = sparse.csr_array((len(links), len(keys)))
            whole = sparse.hstack([linked, no_counts]).tocsr()
            limits.append(LinearConstraint(whole, 0, 0))
        # 3. Atoms that are cells are multiples by themselves
        is_cell = np.zeros(size, dtype=bool)
        for atoms in self._atoms.values():
            if len(atoms) == 1:
                is_cell[atoms] = True
        result = milp(
            np.concatenate([np.zeros(size), np.where(rest > 0, costs, 0.0)]),
            constraints=limits,
            integrality=np.concatenate([~is_cell, np.ones(len(keys))]),
            bounds=Bounds(
                np.concatenate([np.zeros(size), least]),
                np.concatenate([np.full(size, np.inf), rest > 0]),
            ),
            options={
                "time_limit": MAX_SECONDS_TO_ROUND,
                "mip_rel_gap": MAX_ROUNDING_GAP,
            },
        )
        if result.x is None:
            return None
        # 4. What is returned holds exactly, whatever the solver's tolerance
        people = np.round(result.x[:size])
        rounded = down + self._base * np.round(result.x[size:]).astype(np.int64)
        if (people < 0).any() or (sums @ people != rounded).any():
            return None
        return dict(zip(keys, rounded.tolist(), strict=True))


def _stack(atoms: Sequence[Ints], size: int) -> Any:
    """Return a sparse (sums, atoms) matrix of the atoms of each sum."""
    from scipy import sparse

    members = np.concatenate([np.zeros(0, dtype=np.int64), *atoms])
    ends = np.cumsum([0, *map(len, atoms)])
    return sparse.csr_array(
        (np.ones(len(members)), members, ends), shape=(len(atoms), size)
    )


def _no_rounding_error(names: Sequence[str], tables: int) -> InfeasibleError:
    """Return the error if sums cannot hold."""
    if names:
        return InfeasibleError(
            "no rounding was found whose sums agree with these rounded tables: {tables}",
            remedy="use other groups, or coarser ones; next time, publish the tables "
            "together",
            tables=", ".join(names),
        )
    if tables > 1:
        return InfeasibleError(
            "no rounding of these tables was found with which all their sums hold",
            remedy="leave one out, use coarser groups, or hide small counts in place of "
            "rounding",
        )
    return InfeasibleError(
        "no rounding of this table was found with which all its sums hold",
        remedy="use coarser groups, fewer columns or a larger number to round to, or hide "
        "small counts in place of rounding",
    )
