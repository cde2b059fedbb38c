"""The equations of published tables over atoms, and bounds of the atoms.

Bounds are tightened by propagation of intervals over the equations.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpcore.errors import InfeasibleError
from dpcore.suppression.atoms import AtomBlocks, RareGroup
from dpcore.suppression.attacked import AttackedTable
from dpcore.suppression.outcome import CellPlaces, Place

MAX_PROPAGATION_PASSES = 100
INTEGER_TOLERANCE = (
    1e-6  # distance from a whole number that the solver's tolerance explains
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class EquationSystem:
    """The equations of the published tables over atoms, with the atoms' bounds.

    Args:
        counted_pairs: rare pairs of values of which readers know how many people have
            each at most.
        most_errors: people with errors of coding, as readers take them to be few; None
            if they do not.

    Attributes:
        places: the atoms of each cell; of a past table, those of then.
        today: the atoms of each cell, as people of today.
        matrix, sums: weights of the atoms in each equation, and what they add up to.
        owners: the shown cell of each equation; None if it links atoms.
        low, high: (atoms,) fewest and most people.
        has_ranges: whether some tables are rounded.
        known_sums, min_known_sums: other sums of atoms, and how large they are at
            least.

    Raises: InfeasibleError if no people fit all counts.
    """

    def __init__(
        self,
        tables: Sequence[AttackedTable],
        blocks: AtomBlocks,
        *,
        counted_pairs: Collection[int] = (),
        most_errors: int | None = None,
    ) -> None:
        self.tables = tables
        self.blocks = blocks
        self.rare_groups = blocks.find_rare_groups()
        self._pairs_of_atom = _list_pairs_of_atoms(self.rare_groups)
        self.has_ranges = any(table.ranges for table in tables)
        self.today: dict[Place, Ints] = {}
        self.places: dict[Place, Ints] = {}
        self.size = self.blocks.size
        for number in range(len(tables)):
            self._place_cells(number)
        rows: list[Ints] = []
        signs: list[Floats] = []
        sums: list[int] = []
        self.owners: list[Place | None] = []
        for place, atoms in self.places.items():
            count = tables[place[0]].counts[place[1]]
            if count is not None:
                if count and not len(atoms):
                    raise contradiction_error()
                rows.append(atoms)
                signs.append(np.ones(len(atoms)))
                sums.append(count)
                self.owners.append(place)
        for left, right in self.blocks.find_linked_atoms():
            rows.append(np.concatenate([left, right]))
            signs.append(np.repeat([1.0, -1.0], [len(left), len(right)]))
            sums.append(0)
            self.owners.append(None)
        self.matrix = stack_sums(rows, self.size, signs)
        self.sums = np.array(sums, dtype=np.float64)
        self._set_limits(counted_pairs, most_errors)
        self.tighten_bounds()

    def with_limits(
        self, counted_pairs: Collection[int], most_errors: int | None = None
    ) -> EquationSystem:
        """Return the equations of readers who know other limits of rare pairs.

        The bounds of its atoms are not tightened yet.
        """
        other = copy.copy(self)
        other._set_limits(counted_pairs, most_errors)
        return other

    def _set_limits(
        self, counted_pairs: Collection[int], most_errors: int | None
    ) -> None:
        """Take in what readers know besides the shown counts."""
        self.limits = [
            (group.atoms, group.most)
            for group in self.rare_groups
            if group.pair in counted_pairs
        ]
        if most_errors is not None:
            self.limits.append((self.blocks.find_errors(), most_errors))
        self.low = np.zeros(self.size)
        self.high = np.full(self.size, np.inf)
        self.is_rare = np.zeros(self.size, dtype=bool)
        self._set_known_sums()
        self.known_low = self.low.copy()
        self.known_high = self.high.copy()
        self._steps: list[_PropagationStep] = []
        self._is_tight = False

    def _place_cells(self, number: int) -> None:
        """Find the atoms of each cell of a table.

        The people of moved cells of a past table have atoms of their own.
        """
        table = self.tables[number]
        cells = self.blocks.cells_of(table)
        for cell, atoms in enumerate(cells):
            self.today[number, cell] = atoms
        if table.moved_cells:
            moved = np.zeros(self.size, dtype=bool)
            for cell in table.moved_cells:
                moved[cells[cell]] = True
            past: list[list[int]] = [[] for _ in cells]
            for atom, cell in enumerate(table.moved_cells, start=self.size):
                for around in _find_cells_around(table, cell):
                    past[around].append(atom)
            cells = [
                np.concatenate([atoms[~moved[atoms]], np.array(own, dtype=np.int64)])
                for atoms, own in zip(cells, past, strict=True)
            ]
            self.size += len(table.moved_cells)
        for cell, atoms in enumerate(cells):
            self.places[number, cell] = atoms

    def _set_known_sums(self) -> None:
        """Take in what attackers know besides: occupied and rounded cells, rare pairs."""
        known_sums: list[tuple[Ints, float, int]] = []
        for number, table in enumerate(self.tables):
            known_sums += [
                (self.places[number, cell], 1.0, 1)
                for cell in sorted(table.occupied_cells)
                if table.counts[cell] is None
            ]
            for cell, (least, most) in table.ranges.items():
                atoms = self.places[number, cell]
                known_sums.append((atoms, -1.0, -most))
                if least:
                    known_sums.append((atoms, 1.0, least))
        for atoms, most in self.limits:
            known_sums.append((atoms, -1.0, -most))
            self.is_rare[atoms] = True
            self.high[atoms] = np.minimum(self.high[atoms], most)
        for atoms, sign, least in known_sums:
            if len(atoms) == 1 and sign > 0:
                self.low[atoms[0]] = max(self.low[atoms[0]], least)
            elif len(atoms) == 1:
                self.high[atoms[0]] = min(self.high[atoms[0]], -least)
        self.known_sums = stack_sums(
            [atoms for atoms, *_ in known_sums],
            self.size,
            [np.full(len(atoms), sign) for atoms, sign, _ in known_sums],
        )
        self.min_known_sums = np.array([least for *_, least in known_sums], dtype=float)

    def tighten_bounds(self) -> None:
        """Tighten the bounds of atoms over the equations, until nothing changes.

        Raises: InfeasibleError if no people fit all counts.
        """
        matrix = self.matrix
        if self._is_tight or not matrix.shape[0]:
            return
        self._is_tight = True
        positive = matrix.maximum(0)
        negative = (-matrix).maximum(0)
        entries = matrix.tocoo()
        row, column, sign = entries.row, entries.col, entries.data
        for _ in range(MAX_PROPAGATION_PASSES):
            endless = np.isinf(self.high)
            finite = np.where(endless, 0.0, self.high)
            least = positive @ self.low - negative @ finite
            most = positive @ finite - negative @ self.low
            free_above = (positive @ endless.astype(float)).astype(int)
            free_below = (negative @ endless.astype(float)).astype(int)
            low_part = np.where(sign > 0, self.low[column], -finite[column])
            high_part = np.where(sign > 0, finite[column], -self.low[column])
            own = endless[column].astype(int)
            open_low = free_below[row] - own * (sign < 0)
            open_high = free_above[row] - own * (sign > 0)
            # A signed term is at most the sum minus the least of all other terms
            top = np.where(
                open_low == 0, self.sums[row] - (least[row] - low_part), np.inf
            )
            bottom = np.where(
                open_high == 0, self.sums[row] - (most[row] - high_part), -np.inf
            )
            high = self.high.copy()
            low = self.low.copy()
            upper = np.where(sign > 0, top, -bottom)
            lower = np.where(sign > 0, bottom, -top)
            np.minimum.at(high, column, upper)
            np.maximum.at(low, column, lower)
            if (high >= self.high).all() and (low <= self.low).all():
                return
            self._steps.append(
                _PropagationStep(
                    low=self.low,
                    high=self.high,
                    low_line=_find_lines(
                        row,
                        column,
                        (lower >= low[column]) & (low > self.low)[column],
                        self.size,
                    ),
                    high_line=_find_lines(
                        row,
                        column,
                        (upper <= high[column]) & (high < self.high)[column],
                        self.size,
                    ),
                )
            )
            self.high = np.minimum(high, self.high)
            self.low = np.maximum(low, self.low)
            if (self.low > self.high + INTEGER_TOLERANCE).any():
                raise contradiction_error()

    def is_settled(self, atoms: Ints) -> bool:
        """Return whether a map tells, without counts, that hardly anybody is there.

        Readers without maps know of no such atoms. If a cell has none, its values are
        no longer listed.
        """
        return bool(self.blocks.maps) and bool(self.is_rare[atoms].all())

    def find_rare_pairs(self, atoms: Ints) -> frozenset[int]:
        """Return the rare pairs of values that people of some atoms have."""
        return frozenset(
            pair
            for atom in atoms.tolist()
            for pair in self._pairs_of_atom.get(atom, ())
        )

    def find_met(self, people: Floats) -> Bools:
        """Return (ways,) whether people fit all equations and all that readers know.

        Args:
            people: (atoms, ways) whole numbers from 0; NaN fits nothing.
        """
        meets_counts = (self.matrix @ people == self.sums[:, np.newaxis]).all(axis=0)
        least = self.min_known_sums[:, np.newaxis]
        is_met: Bools = meets_counts & (self.known_sums @ people >= least).all(axis=0)
        return is_met & (people >= 0).all(axis=0)

    def mark_rare(self, groups: Iterable[RareGroup]) -> Bools:
        """Return which atoms are in some rare groups."""
        marked = np.zeros(self.size, dtype=bool)
        for group in groups:
            marked[group.atoms] = True
        return marked

    def find_proof(self, weights: Floats, prices: Prices | None = None) -> CellPlaces:
        """Return shown cells that suffice to prove the largest value of a sum.

        By duality, these are the equations that have a price, and those from which
        propagation found the bounds of atoms with a reduced cost.

        Args:
            weights: (atoms,) of the sum.
            prices: of the linear program that found it; None if the bounds did.
        """
        reduced = weights
        is_priced = np.zeros(self.matrix.shape[0], dtype=bool)
        if prices is not None:
            reduced = weights - self.matrix.T @ prices.of_equations
            reduced -= self.known_sums.T @ prices.of_known_sums
            is_priced = prices.of_equations != 0
        used = is_priced | self._trace_bounds(
            needs_high=(reduced > INTEGER_TOLERANCE) & (self.high < self.known_high),
            needs_low=(reduced < -INTEGER_TOLERANCE) & (self.low > self.known_low),
        )
        owners = (self.owners[line] for line in np.flatnonzero(used))
        return tuple(owner for owner in owners if owner is not None)

    def _trace_bounds(self, needs_high: Bools, needs_low: Bools) -> Bools:
        """Return (equations,) which of them propagation used for some bounds of atoms."""
        used = np.zeros(self.matrix.shape[0], dtype=bool)
        for step in reversed(self._steps):
            # 1. Equations from which this pass found a bound that is needed
            by_high = step.high_line[needs_high & (step.high_line >= 0)]
            by_low = step.low_line[needs_low & (step.low_line >= 0)]
            needs_high &= step.high_line < 0
            needs_low &= step.low_line < 0
            lines = np.unique(np.concatenate([by_high, by_low]))
            if not len(lines):
                continue
            used[lines] = True
            # 2. The bounds of their atoms before this pass; those known at first need none
            inside = np.unique(self.matrix[lines].indices)
            is_inside = np.zeros(self.size, dtype=bool)
            is_inside[inside] = True
            needs_low |= is_inside & (step.low > self.known_low)
            needs_high |= is_inside & (step.high < self.known_high)
        return used

    def find_cells_sharing_atoms(self, atoms: Ints) -> CellPlaces:
        """Return the shown cells that share atoms with a sum."""
        lines = np.unique(self.matrix[:, atoms].tocoo().row)
        owners = (self.owners[line] for line in lines)
        return tuple(owner for owner in owners if owner is not None)


@dataclass(frozen=True, kw_only=True, eq=False)
class Prices:
    """How much the optimum of a linear program grows with each sum.

    Attributes:
        of_equations: (equations,) of a system.
        of_known_sums: (known sums,) of a system.
    """

    of_equations: Floats
    of_known_sums: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class _PropagationStep:
    """One pass of propagation.

    Attributes:
        low, high: (atoms,) the bounds before it.
        low_line, high_line: (atoms,) the equation that tightened each bound; -1 for none.
    """

    low: Floats
    high: Floats
    low_line: Ints
    high_line: Ints


def _find_lines(row: Ints, column: Ints, is_used: Bools, size: int) -> Ints:
    """Return (atoms,) an equation that is used for each atom; -1 for none.

    Args:
        row, column: (entries,) the equation and the atom of each entry.
        is_used: (entries,)
    """
    lines = np.full(size, -1, dtype=np.int64)
    lines[column[is_used]] = row[is_used]
    return lines


def stack_sums(
    atoms: Sequence[Ints], size: int, signs: Sequence[Floats] | None = None
) -> Any:
    """Return a sparse (sums, size) matrix of the signs of the atoms of each sum.

    Args:
        signs: of the atoms of each sum; None if all are 1.
    """
    from scipy import sparse

    if signs is None:
        signs = [np.ones(len(own)) for own in atoms]
    return sparse.csr_array(
        (
            np.concatenate([np.zeros(0), *signs]),
            np.concatenate([np.zeros(0, dtype=np.int64), *atoms]),
            np.cumsum([0, *map(len, atoms)]),
        ),
        shape=(len(atoms), size),
    )


def _list_pairs_of_atoms(groups: Iterable[RareGroup]) -> dict[int, list[int]]:
    """Return the rare pairs of values that people of each atom have."""
    pairs: dict[int, list[int]] = {}
    for group in groups:
        for atom in group.atoms.tolist():
            pairs.setdefault(atom, []).append(group.pair)
    return pairs


def _find_cells_around(table: AttackedTable, cell: int) -> list[int]:
    """Return a cell of a table with all cells around it."""
    shape = [len(axis) for axis in table.groups]
    wider = [
        [
            number
            for number, other in enumerate(axis)
            if other is None or (own is not None and own <= other)
        ]
        for axis, own in zip(
            table.groups,
            (
                axis[int(place)]
                for axis, place in zip(
                    table.groups, np.unravel_index(cell, shape), strict=True
                )
            ),
            strict=True,
        )
    ]
    return [
        int(np.ravel_multi_index(places, shape)) for places in itertools.product(*wider)
    ]


def contradiction_error() -> InfeasibleError:
    return InfeasibleError(
        "the exact tables on file and this one contradict each other: their counts "
        "cannot be of the same people",
        remedy="publish from the file of the earlier tables, or open this file as a "
        "data set of its own",
    )
