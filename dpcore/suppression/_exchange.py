"""Exchange people between atoms, so that more demands are met and no count changes.

Two people of the atoms a and b become people of c and d if both pairs are in the same
shown cells. Such exchanges are found by a code of each atom: the sum of scrambled
numbers of its equations. The codes of both pairs then have the same sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

SCRAMBLED_BITS = 48  # of scrambled numbers; sums of 2**13 of them are exact
SLOTS_PER_ATOM = 32  # of the table in which codes are looked up, at least
MAX_FAILURES = 2  # of a demand, before programs are asked for it
MAX_TRIED_ATOMS = 30  # of a demand, into which people are moved
MAX_COMPARED_PAIRS = 200_000  # pairs of atoms that people may leave, for one exchange
MAX_TRIED_EXCHANGES = 20  # which may break what readers know besides the counts
NO_LIMIT = 2**40  # people

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class PeopleExchange:
    """Exchanges of people between the free atoms of equations.

    Args:
        equations: (equations, atoms) weights.
        known_sums, min_known_sums: other sums of atoms, and how large they are at least.
        room: (atoms,) most people.
        weights: (demands, atoms) whose people are demanded.
        needed: (demands,) people.
    """

    def __init__(
        self,
        equations: Any,
        known_sums: Any,
        min_known_sums: Floats,
        room: Floats,
        weights: Any,
        needed: Ints,
    ) -> None:
        self._rounds = 0
        self._atoms = equations.shape[1]
        self._known_sums = known_sums
        self._known_columns = known_sums.tocsc()
        self._min_known_sums = min_known_sums
        self._room = np.minimum(room, NO_LIMIT).astype(np.int64)
        self._weights = weights
        self._needed = needed
        self._failures = np.zeros(len(needed), dtype=np.int64)
        # 1. The code of each atom, and where it is looked up
        numbers = scramble(equations.shape[0], 0)
        codes: Ints = equations.T.astype(np.int64) @ numbers
        bits = (SLOTS_PER_ATOM * self._atoms).bit_length()
        self._mask = (1 << bits) - 1
        self._atom_in_slot = np.full(1 << bits, self._atoms, dtype=np.int64)
        self._atom_in_slot[codes & self._mask] = np.arange(self._atoms)
        self._codes = np.append(codes, -1)  # no sum of two codes without another one
        # 2. Different equations that only add people up
        is_plain = (equations < 0).sum(axis=1) == 0
        _, firsts = np.unique(equations @ scramble(self._atoms, 1), return_index=True)
        kept = np.zeros(len(is_plain), dtype=bool)
        kept[firsts] = True
        self._lines = equations[kept & is_plain].tocsr()
        self._columns = self._lines.tocsc()
        # 3. Those that contain all atoms of a demand
        sizes = np.diff(weights.indptr)
        shared = (weights @ self._lines.T).tocoo()
        is_common = shared.data == sizes[shared.row]
        self._common_lines = _group(
            shared.col[is_common], shared.row[is_common], len(needed)
        )

    def allow_failures(self) -> None:
        """Try demands once more for which no exchange was found."""
        self._failures = np.maximum(self._failures - 1, 0)

    def meet_demands(self, people: Floats, is_open: Bools) -> Floats:
        """Return other people with the same counts, who meet more demands.

        People who meet a demand stay. A demand is left out if too few people may leave
        the cells around it.

        Args:
            people: (atoms,) whole numbers.
            is_open: (demands,) which are asked for.
        """
        self._people = people.astype(np.int64)
        self._movable = self._people.copy()
        self._movable_in_line = self._lines @ self._movable
        self._slack = self._known_sums @ people - self._min_known_sums
        lacks = self._needed - self._weights @ people
        asked = np.flatnonzero(is_open & (self._failures < MAX_FAILURES))
        asked = self._shuffle(asked)
        for demand in asked[np.argsort(lacks[asked], kind="stable")].tolist():
            first, last = self._weights.indptr[demand : demand + 2]
            atoms = self._weights.indices[first:last]
            missing = int(self._needed[demand] - self._people[atoms].sum())
            if missing > 0:
                if self._count_places(demand, atoms) < missing:
                    continue
                missing = self._move_into(atoms, missing)
            if missing > 0:
                self._failures[demand] += 1
            else:
                for atom in atoms[self._movable[atoms] > 0].tolist():
                    self._set_movable(atom, 0)
        return self._people.astype(np.float64)

    def _shuffle(self, numbers: Ints) -> Ints:
        self._rounds += 1
        shuffled: Ints = numbers[np.argsort(scramble(len(numbers), self._rounds))]
        return shuffled

    def _lines_of(self, atom: int) -> Ints:
        first, last = self._columns.indptr[atom : atom + 2]
        lines: Ints = self._columns.indices[first:last]
        return lines

    def _set_movable(self, atom: int, number: int) -> None:
        self._movable_in_line[self._lines_of(atom)] += number - self._movable[atom]
        self._movable[atom] = number

    def _count_places(self, demand: int, atoms: Ints) -> int:
        """Return how many people could come into a demand at most, by each equation."""
        lines = self._common_lines[demand]
        most = int(self._movable_in_line[lines].min(initial=NO_LIMIT))
        if len(atoms) > MAX_TRIED_ATOMS:
            return most
        return min(most, sum(self._count_places_in(atom) for atom in atoms.tolist()))

    def _count_places_in(self, atom: int) -> int:
        movable = self._movable_in_line[self._lines_of(atom)].min(initial=NO_LIMIT)
        return min(int(movable), int(self._room[atom] - self._people[atom]))

    def _move_into(self, atoms: Ints, missing: int) -> int:
        """Move people into some atoms; return how many are still missing."""
        is_inside = np.zeros(self._atoms, dtype=bool)
        is_inside[atoms] = True
        atoms = self._shuffle(atoms)[:MAX_TRIED_ATOMS]
        for atom in atoms[np.argsort(-self._people[atoms], kind="stable")].tolist():
            while missing > 0:
                most = min(missing, self._count_places_in(atom))
                moved = self._exchange(atom, is_inside, most) if most > 0 else 0
                if not moved:
                    break
                missing -= moved
            if missing <= 0:
                break
        return missing

    def _exchange(self, atom: int, is_inside: Bools, most: int) -> int:
        """Move people into an atom by one exchange; return how many.

        Args:
            is_inside: (atoms,) which must not lose people.
            most: people to be moved.
        """
        # 1. Atoms to be left: one of both shares half of the equations
        left = np.flatnonzero((self._movable > 0) & ~is_inside)
        lines = self._lines_of(atom)
        members = [
            self._lines.indices[self._lines.indptr[line] : self._lines.indptr[line + 1]]
            for line in lines.tolist()
        ]
        shared = np.bincount(
            np.concatenate([np.zeros(0, dtype=np.int64), *members]),
            minlength=self._atoms,
        )
        near = left[2 * shared[left] >= len(lines)]
        near = near[: max(1, MAX_COMPARED_PAIRS // max(1, len(left)))]
        # 2. The fourth atom, if there is one
        sums = (self._codes[near] - self._codes[atom])[:, np.newaxis] + self._codes[
            left
        ]
        found = self._atom_in_slot[sums & self._mask]
        rows, columns = np.nonzero(self._codes[found] == sums)
        first = near[rows]
        second = left[columns]
        other = found[rows, columns]
        # 3. How many people can be exchanged
        number = np.minimum(self._movable[first], self._movable[second])
        number = np.where(first == second, number // 2, number)
        number = np.minimum(number, self._room[other] - self._people[other])
        number[(other == first) | (other == second) | (other == atom)] = 0
        number = np.minimum(number, most)
        for best in np.argsort(-number, kind="stable")[:MAX_TRIED_EXCHANGES].tolist():
            moved = int(number[best])
            if moved <= 0:
                break
            into = [atom, int(other[best])]
            out = [int(first[best]), int(second[best])]
            if self._keeps_known_sums(into, out, moved):
                for one in into:
                    self._people[one] += moved
                for one in out:
                    self._people[one] -= moved
                    self._set_movable(one, int(self._movable[one]) - moved)
                self._set_movable(into[1], int(self._movable[into[1]]) + moved)
                return moved
        return 0

    def _keeps_known_sums(self, into: list[int], out: list[int], moved: int) -> bool:
        """Return whether an exchange fits what readers know; if so, note it."""
        slack = self._slack.copy()
        for atoms, sign in ((into, moved), (out, -moved)):
            for atom in atoms:
                own = slice(*self._known_columns.indptr[atom : atom + 2])
                slack[self._known_columns.indices[own]] += (
                    sign * self._known_columns.data[own]
                )
        if (slack < 0).any():
            return False
        self._slack = slack
        return True


def scramble(count: int, seed: int) -> Ints:
    """Return different numbers without an order that matters, the same each time.

    The mixing function is that of SplitMix64 (Steele, Lea, Flood 2014).
    """
    mixed = np.arange(1, count + 1, dtype=np.uint64) + np.uint64(seed << 32)
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(64 - SCRAMBLED_BITS)).astype(np.int64)


def _group(values: Ints, keys: Ints, kinds: int) -> list[Ints]:
    """Return the values of each key."""
    order = np.argsort(keys, kind="stable")
    ends = np.cumsum(np.bincount(keys, minlength=kinds))
    return np.split(values[order], ends[:-1])
