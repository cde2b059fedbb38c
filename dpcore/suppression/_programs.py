"""Linear and integer programs over the equations: how large can a sum be?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dpcore.suppression._equations import (
    INTEGER_TOLERANCE,
    EquationSystem,
    Prices,
    contradiction_error,
    stack_sums,
)
from dpcore.suppression._exchange import (
    SCRAMBLED_BITS,
    PeopleExchange,
    scramble,
)

MAX_SECONDS_PER_PROGRAM = 20.0  # of an integer program; then the cell counts as told
MAX_SECONDS_TO_FLOAT = 120.0  # of one that meets nearly all demands of rounded tables
MAX_SECONDS_TO_SPREAD = 5.0  # of an integer program that raises many cells at once
MAX_SPREAD_GAP = 0.05  # share of the best sum that such a program may miss
MAX_NEARBY_GAP = 0.2  # the same, of a program near a known solution
MIN_MET = 3  # demands that one step meets, to try it again
MAX_DRAWN_SUMS = 200  # whose atoms may change, if a solution is not whole
LINPROG_INFEASIBLE = 2  # status of scipy's linprog and milp
LINPROG_UNBOUNDED = 3

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
SumRange = tuple[Floats, float, float]
"""Weights of free atoms, and the first and last value of their sum."""


class Programs:
    """The programs of an equation system over its free atoms.

    An atom is free if its bounds differ. A solution holds what each free atom has above
    its lower bound.

    Attributes:
        room: (free atoms,) largest value of each one.
        solved: linear and integer programs so far.
    """

    def __init__(self, system: EquationSystem) -> None:
        self.solved = 0
        self._system = system
        self._free = np.flatnonzero(system.high > system.low)
        self.room = (system.high - system.low)[self._free]
        # 1. The equations that contain free atoms
        small = system.matrix[:, self._free]
        used = np.flatnonzero(np.diff(small.indptr) > 0)
        self._equations = small[used]
        self._equation_lines = used
        self._sums = np.round(system.sums - system.matrix @ system.low)[used]
        # 2. The other known sums, if they say more than the bounds
        lacks = system.min_known_sums - system.known_sums @ system.low
        small = system.known_sums[:, self._free]
        # a sum that must stay small may still grow
        can_fail = lacks > multiply(small.minimum(0), self.room)
        self._known_sum_lines = np.flatnonzero(can_fail)
        self._known_sums = small[self._known_sum_lines]
        self._min_known_sums = lacks[can_fail]
        self._component = self._find_components()
        self._draws = 0

    def _find_components(self) -> Ints:
        """Return (free atoms,) the number of the component of each one."""
        from scipy import sparse
        from scipy.sparse.csgraph import connected_components

        stacked = sparse.vstack([abs(self._equations), abs(self._known_sums)]).tocsr()
        lines = stacked.shape[0]
        graph = sparse.block_array([[None, stacked], [stacked.T, None]])
        if graph.shape[0] == 0 or not lines:
            return np.arange(len(self._free))
        parts: Ints = connected_components(graph, directed=False)[1]
        return parts[lines:]

    def find_components(self, weights: Any) -> Any:
        """Return a sparse (sums, components) matrix of the free atoms of sums."""
        size = int(self._component.max(initial=-1)) + 1
        return abs(weights) @ stack_sums(
            [np.array([own]) for own in self._component], size
        )

    def weigh(
        self, atoms: Sequence[Ints], signs: Sequence[Floats] | None = None
    ) -> tuple[Any, Ints]:
        """Return sums of atoms as weights of free atoms, and their values at low bounds.

        Args:
            signs: of the atoms of each sum; None if all are 1.
        """
        weights = stack_sums(atoms, self._system.size, signs)
        base = np.round(weights @ self._system.low).astype(np.int64)
        return weights[:, self._free].tocsr(), base

    def find_ends(self, atoms: Ints) -> tuple[float, float]:
        """Return the fewest and most people of some atoms."""
        return self._find_end(atoms, -1), self.find_most(atoms)

    def find_most(self, atoms: Ints) -> float:
        """Return the most people of some atoms."""
        return self._find_end(atoms, 1)

    def _find_end(self, atoms: Ints, sign: int) -> float:
        weights, base = self.weigh([atoms])
        line = dense_row(weights, 0)
        return float(base[0] + sign * self.bound_whole_sum(sign * line)[0])

    def bound_whole_sum(
        self, weights: Floats, reached: float = -math.inf
    ) -> tuple[float, Floats | None]:
        """Return a sum's largest whole value and a solution that has it.

        It is an upper bound if time ran out.

        Args:
            reached: a value that a known solution has.
        """
        value, solution, _ = self.maximize(weights)
        if not math.isfinite(value):
            return value, None
        most = math.floor(value + INTEGER_TOLERANCE)
        if solution is None and most > reached:
            whole, solution = self.maximize_over_integers(weights)
            most = most if math.isnan(whole) else int(whole)
        return most, solution

    def _reduce_to_components(self, weights: Floats) -> _PartialSystem:
        """Return the equations of the components that contain atoms of a sum."""
        inside = np.isin(self._component, np.unique(self._component[weights != 0]))
        return self._reduce_to(inside, np.zeros(len(inside)))

    @cached_property
    def _whole_program(self) -> _PartialSystem:
        """The equations of all free atoms."""
        return self._reduce_to_components(np.ones(len(self._free)))

    def _reduce_to(self, uses_atom: Bools, others: Floats) -> _PartialSystem:
        """Return the equations of some atoms.

        Args:
            uses_atom: (free atoms,)
            others: (free atoms,) the people of all other atoms.
        """
        equations = self._equations[:, uses_atom]
        lines = np.diff(equations.indptr) > 0
        known_sums = self._known_sums[:, uses_atom]
        asked = np.diff(known_sums.indptr) > 0
        sums = self._sums - self._equations @ others
        min_known_sums = self._min_known_sums - self._known_sums @ others
        return _PartialSystem(
            uses_atom=uses_atom,
            equation_lines=self._equation_lines[lines],
            equations=equations[lines],
            sums=sums[lines],
            known_sum_lines=self._known_sum_lines[asked],
            known_sums=known_sums[asked],
            min_known_sums=min_known_sums[asked],
            max_rise=self.room[uses_atom],
        )

    def maximize(
        self, weights: Floats, known: Floats | None = None, enough: float = math.inf
    ) -> tuple[float, Floats | None, Prices | None]:
        """Maximize a sum; return its value, a solution, and the prices of the program.

        The solution is None if it is not whole; the value is not a number if there is
        no answer. The prices are None if the bounds of the atoms are the answer.

        Args:
            known: (free atoms,) a solution. If the best one is not whole, one near both
                is returned, with a smaller sum.
            enough: people; no more are asked of such a solution.
        """
        from scipy.optimize import linprog
        from scipy.sparse import csr_array

        if not (weights != 0).any():
            return 0.0, np.full(len(self._free), np.nan), None
        program = self._reduce_to_components(weights)
        has_known_sums = program.known_sums.shape[0] > 0
        self.solved += 1
        result = linprog(
            -weights[program.uses_atom],
            A_eq=program.equations,
            b_eq=program.sums,
            A_ub=-program.known_sums if has_known_sums else None,
            b_ub=-program.min_known_sums if has_known_sums else None,
            bounds=np.column_stack([np.zeros(len(program.max_rise)), program.max_rise]),
            method="highs-ds",
        )
        if result.status == LINPROG_UNBOUNDED:
            return math.inf, None, None
        if result.status == LINPROG_INFEASIBLE:
            raise contradiction_error()
        if result.status != 0:
            return math.nan, None, None
        prices = Prices(
            of_equations=_spread_prices(
                result.eqlin.marginals, program.equation_lines, self._system.matrix
            ),
            # the program holds these sums with the other sign
            of_known_sums=-_spread_prices(
                result.ineqlin.marginals,
                program.known_sum_lines,
                self._system.known_sums,
            ),
        )
        solution = program.round_solution(result.x)
        if solution is None and known is not None:
            is_near = (known > 0) | (weights != 0)
            is_near[program.uses_atom] |= result.x > INTEGER_TOLERANCE
            solution = self.find_nearby_solution(
                known, is_near, csr_array(weights[np.newaxis]), np.array([enough])
            )
        return float(-result.fun), solution, prices

    def maximize_over_integers(self, weights: Floats) -> tuple[float, Floats | None]:
        """Maximize a sum over integers; return NaN and None if time ran out."""
        value, solution = self._solve_over_integers(weights, ())
        if value == -math.inf:
            raise contradiction_error()
        return value, solution

    def find_within(self, ranges: Sequence[SumRange]) -> tuple[bool, Floats | None]:
        """Look for integers with which sums are in some ranges.

        Returns: whether there are any, and such a solution if it is exact. If time ran
            out, there are none.
        """
        value, solution = self._solve_over_integers(np.zeros(len(self._free)), ranges)
        return math.isfinite(value), solution

    def _solve_over_integers(
        self, weights: Floats, ranges: Sequence[SumRange]
    ) -> tuple[float, Floats | None]:
        """Maximize a sum over integers with which other sums are in some ranges.

        Returns: its largest value and a solution that has it; NaN and None if time ran
            out, minus infinity and None if there is none.
        """
        from scipy.optimize import Bounds as Box
        from scipy.optimize import LinearConstraint, milp

        reached = np.abs(weights) + sum(np.abs(own) for own, *_ in ranges)
        if not reached.any():
            is_met = all(first <= 0 <= last for _, first, last in ranges)
            return (0.0 if is_met else -math.inf), None
        program = self._reduce_to_components(reached)
        limits = [LinearConstraint(program.equations, program.sums, program.sums)]
        if program.known_sums.shape[0]:
            limits.append(
                LinearConstraint(program.known_sums, program.min_known_sums, np.inf)
            )
        limits += [
            LinearConstraint(own[program.uses_atom], first, last)
            for own, first, last in ranges
        ]
        self.solved += 1
        result = milp(
            -weights[program.uses_atom],
            constraints=limits,
            integrality=np.ones(len(program.max_rise)),
            bounds=Box(np.zeros(len(program.max_rise)), program.max_rise),
            options={"time_limit": MAX_SECONDS_PER_PROGRAM, "mip_rel_gap": 0.0},
        )
        if result.status == LINPROG_INFEASIBLE:
            return -math.inf, None
        if result.status != 0 or result.x is None:
            return math.nan, None
        return float(round(-result.fun)), program.round_solution(result.x)

    def find_spread_solution(
        self, weights: Any, needed: Ints, known: Floats | None = None
    ) -> Floats | None:
        """Return an integer solution that raises many cells towards their demands.

        No cell counts for more than the change that is demanded of it. If the solution
        of the linear program is not whole, the same program is solved over integers:
        first for atoms that have people in it and some others, then for all.

        Args:
            known: (free atoms,) another solution; its people may stay.
        """
        from scipy.optimize import linprog

        atoms, cells = len(self._free), weights.shape[0]
        program = self._whole_program
        lower, least, equations = program.add_demands(weights)
        first = np.repeat([0.0, -np.inf], [atoms, cells])
        last = np.concatenate([self.room, np.maximum(needed, 0)])
        self.solved += 1
        result = linprog(
            -np.repeat([0.0, 1.0], [atoms, cells]),
            A_ub=-lower,
            b_ub=-least,
            A_eq=equations,
            b_eq=program.sums,
            bounds=np.column_stack([first, last]),
            method="highs-ds",
        )
        if result.status != 0:
            return None
        people = result.x[:atoms]
        solution = program.round_solution(people)
        if solution is not None:
            return solution
        nobody = np.zeros(atoms)
        is_near = (people > INTEGER_TOLERANCE) | self._draw_atoms(weights)
        if known is not None:
            is_near |= known > 0
        solution = self.find_nearby_solution(nobody, is_near, weights, needed)
        if solution is not None or known is not None:
            return solution
        return self.find_nearby_solution(nobody, nobody == 0, weights, needed)

    def mark_near(self, people: Floats, weights: Any, share: float = 0.0) -> Bools:
        """Return the free atoms with people, those of some sums, and a random share.

        Args:
            people: (free atoms,) a solution.
            weights: (sums, free atoms); of many, some are drawn.
        """
        is_near = (people > 0) | self._draw_atoms(weights)
        return is_near | (self._draw(len(people)) < share)

    def _draw(self, count: int) -> Floats:
        """Return numbers from 0 to 1 without an order, other ones each time."""
        self._draws += 1
        return scramble(count, self._draws) / 2.0**SCRAMBLED_BITS

    def _draw_atoms(self, weights: Any) -> Bools:
        """Return which free atoms some sums have, chosen at random."""
        cells = weights.shape[0]
        drawn = np.argsort(self._draw(cells))[:MAX_DRAWN_SUMS]
        has_one: Bools = np.asarray(abs(weights[drawn]).sum(axis=0)).ravel() > 0
        return has_one

    def find_nearby_solution(
        self,
        people: Floats,
        uses_atom: Bools,
        weights: Any,
        needed: Ints,
        max_gap: float = MAX_SPREAD_GAP,
    ) -> Floats | None:
        """Return an integer solution that raises many cells and changes some atoms.

        Args:
            people: (free atoms,) of the atoms that stay.
            uses_atom: (free atoms,) which may change.
            weights, needed: as of `find_spread_solution`.
        """
        from scipy.optimize import Bounds as Box
        from scipy.optimize import LinearConstraint, milp

        stays = np.where(uses_atom, 0.0, people)
        program = self._reduce_to(uses_atom, stays)
        fixed = multiply(weights, stays)
        weights = weights[:, uses_atom]
        can_grow = np.diff(weights.indptr) > 0
        weights = weights[can_grow]
        missing = np.maximum(needed, 0)[can_grow] - fixed[can_grow]
        atoms, cells = int(uses_atom.sum()), weights.shape[0]
        if not atoms or not cells:
            return None
        lower, least, equations = program.add_demands(weights)
        self.solved += 1
        result = milp(
            -np.repeat([0.0, 1.0], [atoms, cells]),
            constraints=[
                LinearConstraint(lower, least, np.inf),
                LinearConstraint(equations, program.sums, program.sums),
            ],
            integrality=np.repeat([1, 0], [atoms, cells]),
            bounds=Box(
                np.repeat([0.0, -np.inf], [atoms, cells]),
                np.concatenate([program.max_rise, missing]),
            ),
            options={
                "time_limit": MAX_SECONDS_TO_SPREAD,
                "mip_rel_gap": max_gap,
            },
        )
        if result.x is None:
            return None
        # what was found when time ran out is a solution all the same
        found = stays.copy()
        found[uses_atom] = np.round(result.x[:atoms])
        return self.check_whole(found)

    def check_whole(self, people: Floats) -> Floats | None:
        """Return whole people if they meet every equation exactly, else None."""
        return self._whole_program.round_solution(people)

    def list_better_solutions(
        self, people: Floats, seen: KnownSolutions, exchange: PeopleExchange
    ) -> Iterator[Floats]:
        """Find solutions near a known one that meet more open demands.

        Args:
            people: (free atoms,) a solution.
            seen: the demands; which are still open is read before each step.
            exchange: of their people.
        """
        while True:
            # 1. Exchange people as long as that meets several demands
            is_met = True
            while is_met:
                before = int(seen.is_open.sum())
                exchanged = self.check_whole(
                    exchange.meet_demands(people, seen.is_open)
                )
                if exchanged is None:
                    return
                people = exchanged
                yield people
                is_met = before - int(seen.is_open.sum()) >= MIN_MET
            # 2. Look for a solution with few other people
            before = int(seen.is_open.sum())
            weights = seen.weights[seen.is_open]
            nearby = self.find_nearby_solution(
                people,
                self.mark_near(people, weights),
                weights,
                (seen.needed - seen.base)[seen.is_open],
                MAX_NEARBY_GAP,
            )
            if nearby is None:
                return
            people = nearby
            yield people
            exchange.allow_failures()
            if int(seen.is_open.sum()) == before or not before:
                return

    def prepare_exchange(self, weights: Any, needed: Ints) -> PeopleExchange:
        """Return exchanges of people that meet demands.

        Args:
            weights, needed: as of `find_spread_solution`.
        """
        return PeopleExchange(
            self._equations,
            self._known_sums,
            self._min_known_sums,
            self.room,
            weights,
            needed,
        )

    def find_floating_solution(self, people: int) -> tuple[Floats, Bools] | None:
        """Place all people but some, so that these may be anywhere.

        Returns: an integer solution without them, and (free atoms,) where all of them
            may be added; None if none was found. If an atom is in one block of several,
            some atoms of the others are added to as well.
        """
        from scipy.optimize import Bounds as Box
        from scipy.optimize import LinearConstraint, milp

        can_rise, sums, least = self._make_room(people)
        if not can_rise.any():
            return None
        room = np.where(can_rise, self.room - people, self.room)
        program = _PartialSystem(
            uses_atom=np.ones(len(room), dtype=bool),
            equation_lines=self._equation_lines,
            equations=self._equations,
            sums=sums,
            known_sum_lines=self._known_sum_lines,
            known_sums=self._known_sums,
            min_known_sums=least,
            max_rise=room,
        )
        limits = [LinearConstraint(program.equations, sums, sums)]
        if len(least):
            limits.append(LinearConstraint(program.known_sums, least, np.inf))
        self.solved += 1
        result = milp(
            np.zeros(len(room)),
            constraints=limits,
            integrality=np.ones(len(room)),
            bounds=Box(np.zeros(len(room)), room),
            options={"time_limit": MAX_SECONDS_TO_FLOAT},
        )
        solution = None if result.x is None else program.round_solution(result.x)
        return None if solution is None else (solution, can_rise)

    def _make_room(self, people: int) -> tuple[Bools, Floats, Floats]:
        """Return where people may be added, and the sums of all others.

        Returns: (free atoms,) of which atoms; (equations,) the sums, and (known sums,)
            the smallest values of the other sums.
        """
        system = self._system
        starts = system.blocks.starts
        can_rise = self.room >= people
        can_rise &= self._free < system.blocks.size
        # 1. Everybody is in a sum over a whole block; another shown count has no room
        sums = self._sums.copy()
        links = []
        for row, line in enumerate(self._equation_lines.tolist()):
            own = self._equations.indices[
                self._equations.indptr[row] : self._equations.indptr[row + 1]
            ]
            if system.owners[line] is None:
                links.append((row, own))
            elif _is_block(system.matrix[[line]].indices, starts):
                sums[row] -= people
            else:
                can_rise[own] = False
        # 2. Other sums may grow by these people if their limit leaves room for them
        least = self._min_known_sums.copy()
        known = self._known_sums
        for row, line in enumerate(self._known_sum_lines.tolist()):
            own = known.indices[known.indptr[row] : known.indptr[row + 1]]
            if not len(own) or known.data[known.indptr[row]] > 0:
                continue
            atoms = system.known_sums[[line]].indices
            blocks = np.searchsorted(starts, atoms, side="right")
            if -least[row] < people or blocks.min() < blocks.max():
                can_rise[own] = False
            elif not _is_block(atoms, starts):
                least[row] += people
        # 3. Who is added in one block is added in all that are linked with it
        rises_before = -1
        while rises_before != can_rise.sum():
            rises_before = int(can_rise.sum())
            for row, own in links:
                signs = self._equations.data[
                    self._equations.indptr[row] : self._equations.indptr[row + 1]
                ]
                for sign in (1, -1):
                    if not can_rise[own[signs == sign]].any():
                        can_rise[own[signs == -sign]] = False
        return can_rise, sums, least

    def spell_out(self, solution: Floats) -> Floats:
        """Return (atoms,) the people of a solution, NaN for atoms that it leaves out."""
        people = self._system.low.copy()
        people[self._free] += solution
        return people

    def keep_met_components(self, people: Floats) -> Floats:
        """Return (ways, free atoms) people as solutions of the components that they fit.

        Components have no equation in common, so each one that is met counts by itself.
        All others are NaN.

        Args:
            people: (atoms, ways) whole numbers; NaN fits nothing.
        """
        above = people[self._free] - self._system.low[self._free, np.newaxis]
        fails = ~((above >= 0) & (above <= self.room[:, np.newaxis]))
        sums = self._sums[:, np.newaxis]
        least = self._min_known_sums[:, np.newaxis]
        in_failing = abs(self._equations).T @ (self._equations @ above != sums)
        in_failing += abs(self._known_sums).T @ ~(self._known_sums @ above >= least)
        fails |= in_failing > 0
        inside = stack_sums(
            [np.array([own]) for own in self._component],
            int(self._component.max(initial=-1)) + 1,
        )
        failing = inside.T @ fails.astype(np.float64) > 0
        above[inside @ failing.astype(np.float64) > 0] = np.nan
        solutions: Floats = above.T
        return solutions


def _is_block(atoms: Ints, starts: Ints) -> bool:
    """Return whether atoms are all those of one block.

    Args:
        starts: of all blocks, and the end of the last one.
    """
    at = int(np.searchsorted(starts, atoms.min(), side="right")) - 1
    end = int(starts[at + 1])
    return len(atoms) == end - int(starts[at]) and int(atoms.max()) < end


@dataclass(frozen=True, kw_only=True, eq=False)
class _PartialSystem:
    """The equations and other known sums of the components that a sum reaches.

    Attributes:
        uses_atom: (free atoms,) which of them take part.
        equation_lines, known_sum_lines: the numbers of both in the whole system.
        equations, sums: weights of the atoms, and what they add up to.
        known_sums, min_known_sums: other sums, and how large they are at least.
        max_rise: largest value of each atom above its low bound.
    """

    uses_atom: npt.NDArray[np.bool_]
    equation_lines: Ints
    known_sum_lines: Ints
    equations: Any
    sums: Floats
    known_sums: Any
    min_known_sums: Floats
    max_rise: Floats

    def add_demands(self, weights: Any) -> tuple[Any, Floats, Any]:
        """Return limits of atoms and of further numbers, each at most a sum.

        Args:
            weights: (sums, atoms)

        Returns: sums that are not too small with what they are at least, and equations.
        """
        from scipy import sparse

        cells = weights.shape[0]
        none = sparse.csr_array((self.known_sums.shape[0], cells))
        lower = sparse.vstack(
            [
                sparse.hstack([weights, -sparse.eye_array(cells)]),
                sparse.hstack([self.known_sums, none]),
            ]
        ).tocsr()
        least = np.concatenate([np.zeros(cells), self.min_known_sums])
        none = sparse.csr_array((self.equations.shape[0], cells))
        return lower, least, sparse.hstack([self.equations, none]).tocsr()

    def round_solution(self, solution: Floats) -> Floats | None:
        """Return a solution rounded to integers, NaN for atoms outside the program.

        None unless the rounded solution meets every equation exactly, so that no
        tolerance of a solver makes a table safe.
        """
        whole = np.round(solution)
        meets = (
            (whole >= 0).all()
            and (whole <= self.max_rise).all()
            and (multiply(self.equations, whole) == self.sums).all()
            and (multiply(self.known_sums, whole) >= self.min_known_sums).all()
        )
        if not meets:
            return None
        found = np.full(len(self.uses_atom), np.nan)
        found[self.uses_atom] = whole
        return found


class KnownSolutions:
    """The range of each cell's counts in known solutions, and the open demands."""

    def __init__(self, weights: Any, base: Ints, needed: Ints) -> None:
        self.weights = weights
        self.base = base
        self.needed = needed
        self.low = np.full(len(base), np.inf)
        self.high = np.full(len(base), -np.inf)
        self.is_open = np.ones(len(base), dtype=bool)

    @property
    def decided_share(self) -> float:
        """The share of demands that are decided."""
        return 1 - float(self.is_open.mean()) if len(self.is_open) else 1.0

    def record(self, solution: Floats) -> bool:
        """Record the counts in a solution, which is NaN for atoms it leaves out.

        Returns: whether it decides open demands.
        """
        counts, has_all = count_in_solution(self.weights, self.base, solution)
        self.low[has_all] = np.minimum(self.low, counts)[has_all]
        self.high[has_all] = np.maximum(self.high, counts)[has_all]
        is_met = has_all & (counts >= self.needed)
        decides: bool = bool((self.is_open & is_met).any())
        self.is_open &= ~is_met
        return decides

    def record_floating(self, solution: Floats, can_rise: Bools, people: int) -> None:
        """Close demands that are met if some people are added to one of their atoms.

        Args:
            solution, can_rise: see `Programs.find_floating_solution`.
        """
        has_room = multiply(self.weights, can_rise.astype(np.float64)) > 0
        counts = self.base + multiply(self.weights, solution) + people
        self.is_open &= ~(has_room & (counts >= self.needed))


def count_in_solution(
    weights: Any, base: Ints, solution: Floats
) -> tuple[Floats, Bools]:
    """Return the sums in a solution, and whether it has all atoms of each one."""
    lacks = np.isnan(solution)
    has_all = multiply(abs(weights), lacks.astype(np.float64)) == 0
    return base + multiply(weights, np.where(lacks, 0.0, solution)), has_all


def _spread_prices(marginals: Floats, lines: Ints, matrix: Any) -> Floats:
    """Return the prices of all lines of a matrix in a sum that is maximized.

    Args:
        marginals: of some lines in a program that minimizes the negative sum.
    """
    prices = np.zeros(matrix.shape[0])
    prices[lines] = np.where(np.abs(marginals) > INTEGER_TOLERANCE, -marginals, 0.0)
    return prices


def dense_row(weights: Any, number: int) -> Floats:
    """Return a row of a sparse matrix."""
    line: Floats = weights[[number]].toarray()[0]
    return line


def multiply(matrix: Any, vector: npt.NDArray[Any]) -> Floats:
    """Multiply a matrix by a vector that may hold infinity where it has no weight."""
    product: Floats = matrix @ np.asarray(vector, dtype=np.float64)
    return product
