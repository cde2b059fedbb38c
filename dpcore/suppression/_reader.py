"""One kind of readers: what they know, and what they can tell.

Hidden counts are bounded in three steps: by the bounds of the atoms, by solutions of
linear programs that are large in many cells at once, and cell by cell. Of rounded
counts, one integer program that leaves people to be anywhere decides most.
"""

from __future__ import annotations

import copy
import functools
import itertools
import math
from collections.abc import Collection, Iterable, Sequence, Set
from typing import Any

import numpy as np
import numpy.typing as npt

from dpcore.progress import OnProgress
from dpcore.suppression._demands import Demand, list_demands
from dpcore.suppression._equations import (
    INTEGER_TOLERANCE,
    EquationSystem,
    Prices,
    stack_sums,
)
from dpcore.suppression._exchange import PeopleExchange
from dpcore.suppression._memory import AttackMemory
from dpcore.suppression._programs import (
    MIN_MET,
    KnownSolutions,
    Programs,
    SumRange,
    count_in_solution,
    dense_row,
    multiply,
)
from dpcore.suppression._reasons import (
    CountRange,
    ReasonsToHide,
    find_hidden_components,
    find_reasons_to_hide,
)
from dpcore.suppression.atoms import AtomBlocks, RareGroup
from dpcore.suppression.attacked import AttackedTable
from dpcore.suppression.outcome import (
    AttackOutcome,
    CellPlaces,
    CountBounds,
    KnownBounds,
    Place,
    RevealedCell,
)

MAX_TRIED_REASONS = 50  # other cells; then a cell counts as told
BY_REASON = (
    -1
)  # in place of a filled group: a cell that is told by why cells are hidden
SHARES_OF_OTHERS = (0.0, 0.1)
"""Of all atoms, that may change too while one demand is tried near a solution."""
MAX_EXACT_INTERVALS = 1_000  # hidden cells that are bounded exactly for the report

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Reader:
    """One kind of readers of the published tables.

    Args:
        known: what was told before, see `find_known_bounds`.
        kind: name of this kind of readers. They are compared with what readers of the
            same kind were told before.
        counted_pairs: rare pairs of values of which they know how many people have each
            at most.
        most_errors: people with errors of coding, if they take them to be few.
        first_group: number of the first families whose groups no table shows; None
            for the number of tables.
        memory: of ways to place the people.
        stops_at_first: whether the first thing that is told is enough to know.

    Raises: InfeasibleError if no people fit all counts.
    """

    def __init__(
        self,
        tables: Sequence[AttackedTable],
        blocks: AtomBlocks,
        known: KnownBounds,
        *,
        kind: str,
        counted_pairs: Collection[int] = (),
        most_errors: int | None = None,
        first_group: int | None = None,
        memory: AttackMemory | None = None,
        stops_at_first: bool = False,
    ) -> None:
        self._tables = tables
        self._known = known
        self._kind = kind
        self._memory = AttackMemory() if memory is None else memory
        self._memory_kind = kind
        self._counted_pairs = frozenset(counted_pairs)
        self._stops_at_first = stops_at_first
        self._reasons_of_tables: dict[int, ReasonsToHide | None] = {}
        self._first_group = len(tables) if first_group is None else first_group
        self._system = EquationSystem(
            tables, blocks, counted_pairs=counted_pairs, most_errors=most_errors
        )

    def with_limits(
        self, kind: str, counted_pairs: Collection[int], most_errors: int | None = None
    ) -> Reader:
        """Return readers of the same tables who know other limits of rare pairs.

        Args:
            kind, counted_pairs, most_errors: as of a reader.
        """
        other = copy.copy(self)
        vars(other).pop("_programs", None)
        other._kind = kind
        other._counted_pairs = frozenset(counted_pairs)
        other._system = self._system.with_limits(counted_pairs, most_errors)
        other._reasons_of_tables = {}  # which groups are settled depends on the limits
        return other

    @property
    def kind(self) -> str:
        """Name of this kind of readers."""
        return self._kind

    @functools.cached_property
    def _programs(self) -> Programs:
        self._system.tighten_bounds()
        return Programs(self._system)

    @property
    def solved_programs(self) -> int:
        """Linear and integer programs so far."""
        return self._programs.solved if "_programs" in vars(self) else 0

    def list_demands(self) -> list[Demand]:
        """Return all that must be possible."""
        return list_demands(self._system, self._first_group)

    def is_settled(self, demand: Demand) -> bool:
        """Return whether it is clear without counts that hardly anybody is there."""
        return self._system.is_settled(demand.atoms)

    def find_rare_pairs(self, demand: Demand) -> frozenset[int]:
        """Return the rare pairs of values that people of a demand have."""
        return self._system.find_rare_pairs(demand.atoms)

    def decide(
        self, demands: Sequence[Demand], on_progress: OnProgress
    ) -> AttackOutcome:
        """Decide every demand, or look for one that is told if that is enough."""
        open_cells = {demand.target[0] for demand in demands if demand.around is None}
        people = self._memory.recall(
            self._memory_kind, self._counted_pairs, self._system.size
        )
        if not self._is_asked_for_reasons(open_cells) and self._are_all_met(
            demands, people[:, self._system.find_met(people)]
        ):
            return AttackOutcome()
        needed = np.array([demand.needed for demand in demands], dtype=np.int64)
        weights, base = self._programs.weigh([demand.atoms for demand in demands])
        seen = KnownSolutions(weights, base, needed)
        told: list[RevealedCell] = []
        known: list[RevealedCell] = []
        nestings: set[tuple[str, str]] = set()
        solutions: list[Floats] = []

        def record(solution: Floats) -> None:
            if seen.record(solution):
                solutions.append(solution)
                self._memory.keep(
                    self._memory_kind,
                    self._counted_pairs,
                    self._programs.spell_out(solution),
                )

        def finish() -> AttackOutcome:
            return AttackOutcome(
                revealed_cells=tuple(told),
                known_cells=tuple(known),
                blamed=self._name_tables(told),
                told_nestings=tuple(nestings),
            )

        def is_enough() -> bool:
            return bool(told) and self._stops_at_first

        def give_away(
            number: int,
            *,
            proof: CellPlaces = (),
            most: float = 1,
            certain: bool = True,
        ) -> None:
            seen.is_open[number] = False
            demand = demands[number]
            if demand.around is not None:
                if self._programs.find_most(demand.around) < 1:
                    return  # nobody is in the group
            elif demand.may_be_empty and most < 1 - INTEGER_TOLERANCE:
                return
            (table, cell), around = demand.target
            key = (self._kind, demand.target)
            one = RevealedCell(
                table=table,
                cell=cell,
                filled_group=around,
                proof=proof or self._system.find_cells_sharing_atoms(demand.atoms),
                is_certain=certain,
                bounds=self._programs.find_ends(demand.atoms)
                if key in self._known
                else None,
                reader=self._kind,
            )
            is_known = one.bounds is not None and _is_inside(
                self._known[key], one.bounds
            )
            if is_known and certain:
                known.append(one)
                return
            told.append(one)
            if table >= len(self._tables):
                nestings.update(self._find_nestings(demand.atoms))

        # 1. Decide demands by the bounds of the atoms
        top = base + multiply(weights, self._programs.room)
        for number in np.flatnonzero(top < needed).tolist():
            proof = self._find_proof(demands[number])
            give_away(number, proof=proof, most=top[number])
            if is_enough():
                return finish()
        # 2. If counts are rounded, look for a way to leave enough people to be anywhere
        most = int(needed.max(initial=0)) if self._system.has_ranges else 0
        for floating in range(most, max(0, most - 2), -1):
            # one person less is enough where somebody is known to be
            found = self._programs.find_floating_solution(floating)
            if found is not None:
                seen.record_floating(*found, floating)
            if not seen.is_open.any():
                break
        # 3. Remember solutions; look for integer ones that are large in many open cells at once
        exchange: PeopleExchange | None = None
        placed: Floats | None = None

        def record_better(people: Floats) -> None:
            nonlocal exchange, placed
            if np.isnan(people).any():
                return
            placed = people
            if seen.is_open.any():
                exchange = exchange or self._programs.prepare_exchange(
                    weights, needed - base
                )
                for better in self._programs.list_better_solutions(
                    people, seen, exchange
                ):
                    placed = better
                    record(better)
                    on_progress("attacking", seen.decided_share)

        remembered = self._programs.keep_met_components(people)
        for solution in remembered:
            seen.record(solution)
            solutions.append(solution)
        for solution in remembered[-1:]:
            record_better(solution)
        while seen.is_open.any():
            before = int(seen.is_open.sum())
            solution = self._programs.find_spread_solution(
                weights[seen.is_open], (needed - base)[seen.is_open], placed
            )
            if solution is None:
                break
            record(solution)
            on_progress("attacking", seen.decided_share)
            record_better(solution)
            if before - int(seen.is_open.sum()) < MIN_MET:
                break
        # 4. Decide the remaining cells one by one
        for number in range(len(demands)):
            for share in SHARES_OF_OTHERS:
                if not seen.is_open[number] or placed is None:
                    break
                nearby = self._programs.find_nearby_solution(
                    placed,
                    self._programs.mark_near(placed, weights[[number]], share),
                    weights[[number]],
                    (needed - base)[[number]],
                )
                if nearby is not None:
                    record(nearby)
                    record_better(nearby)
            if not seen.is_open[number]:
                continue
            value, solution, prices = self._programs.maximize(
                dense_row(weights, number), placed, needed[number] - base[number]
            )
            if base[number] + value + INTEGER_TOLERANCE < needed[number]:
                proof = self._find_proof(demands[number], prices)
                give_away(number, proof=proof, most=base[number] + value)
            else:
                if solution is not None:
                    record(solution)
                if seen.is_open[number]:
                    value, solution = self._programs.maximize_over_integers(
                        dense_row(weights, number)
                    )
                    if solution is not None:
                        record(solution)
                if seen.is_open[number]:
                    give_away(number, certain=not math.isnan(value))
            if is_enough():
                return finish()
            on_progress("attacking", seen.decided_share)
        # 5. Something small must be the reason that cells are hidden
        open_cells -= {(one.table, one.cell) for one in (*told, *known)}
        for one in self._list_told_by_reason(open_cells, solutions):
            key = (self._kind, one.target)
            is_known = one.bounds is not None and _is_inside(
                self._known[key], one.bounds
            )
            (known if is_known else told).append(one)
            if is_enough():
                break
        return finish()

    def _is_asked_for_reasons(self, cells: Set[Place]) -> bool:
        """Return whether cells, or groups, may be told by the reason to hide them."""
        asked_tables = {number for number, _ in cells}
        reasons = map(self._find_reasons, range(len(self._tables)))
        return any(
            causes is not None and (number in asked_tables or causes.groups)
            for number, causes in enumerate(reasons)
        )

    def _find_reasons(self, number: int) -> ReasonsToHide | None:
        """Return the reasons of a table to hide cells."""
        if number not in self._reasons_of_tables:
            causes = find_reasons_to_hide(self._system, number)
            self._reasons_of_tables[number] = causes
        return self._reasons_of_tables[number]

    def _are_all_met(self, demands: Sequence[Demand], people: Floats) -> bool:
        """Return whether each demand is met by some way to place the people.

        Args:
            people: (atoms, ways) that fit all that these readers know.
        """
        weights = stack_sums([demand.atoms for demand in demands], self._system.size)
        needed = np.array([demand.needed for demand in demands])
        counts = weights @ people
        return bool((counts >= needed[:, np.newaxis]).any(axis=1).all())

    def _find_proof(self, demand: Demand, prices: Prices | None = None) -> CellPlaces:
        """Return shown cells that suffice to prove the most people of a demand."""
        weights = np.zeros(self._system.size)
        weights[demand.atoms] = 1
        return self._system.find_proof(weights, prices)

    def _list_told_by_reason(
        self, cells: Set[Place], solutions: Sequence[Floats]
    ) -> Iterable[RevealedCell]:
        """Find cells that are small for sure, or nothing would have been hidden.

        If a cell is large, another one must be small that the same sums join, or a group
        that it protects. Such a group may not be told either. If people came or left,
        few of them may have changed a cell: that is another reason.

        Args:
            cells: that are asked for.
            solutions: ways to place people.
        """
        for number, table in enumerate(self._tables):
            causes = self._find_reasons(number)
            if causes is None:
                continue
            near = _RangesOfGroups(causes.others, self._programs)
            marks = [near.find_components(solution) for solution in solutions]
            components = self._find_components([own for own, _ in causes.groups])
            whole = [one for one in solutions if not np.isnan(one).any()]
            known = whole[-1] if whole else None
            for joined in find_hidden_components(table):
                atoms = [self._system.places[number, cell] for cell in joined]
                keys = [own.tobytes() for own in atoms]
                if not causes.hidden_before.isdisjoint(keys):
                    continue  # an earlier table hides it
                # 1. Its cells that are asked for, and the groups that it may protect
                members = [(own, table.threshold) for own in atoms]
                asked = [
                    (place, BY_REASON)
                    for place, cell in enumerate(joined)
                    if (number, cell) in cells
                ]
                inside = self._find_components(atoms).sum(axis=0) > 0
                for group in np.flatnonzero(components @ inside).tolist():
                    if causes.groups[group][0].tobytes() not in keys:
                        asked.append((len(members), BY_REASON - 1 - group))
                        members.append(causes.groups[group])
                if not asked:
                    continue
                reasons = _Reasons(members, len(joined), causes, near, self._programs)
                for solution, is_near in zip(solutions, marks, strict=True):
                    reasons.record(solution, is_near)
                # 2. Any of these cells may be hidden to give another reason
                for place, how in asked:
                    if not self._is_told_by_reason(reasons, place, known):
                        continue
                    shared = [*atoms, members[place][0]]
                    target = (number, joined[min(place, len(joined) - 1)]), how
                    yield RevealedCell(
                        table=number,
                        cell=target[0][1],
                        filled_group=how,
                        proof=self._system.find_cells_sharing_atoms(
                            np.unique(np.concatenate(shared))
                        ),
                        bounds=self._bound_by_reason(causes, *members[place])
                        if (self._kind, target) in self._known
                        else None,
                        reader=self._kind,
                    )
                    if how != BY_REASON and (self._kind, target) not in self._known:
                        break  # nothing excuses it: other groups need no answer

    def _find_components(self, atoms: Sequence[Ints]) -> Any:
        """Return a sparse (sums, components) matrix of the free atoms of sums."""
        return self._programs.find_components(self._programs.weigh(atoms)[0])

    def _is_told_by_reason(
        self, reasons: _Reasons, place: int, known: Floats | None
    ) -> bool:
        """Return whether a cell or group that may be large must be a reason to hide.

        Args:
            known: (free atoms,) a solution.
        """
        if reasons.has_reason[place]:
            return False
        if known is not None and self._has_reason_nearby(reasons, place, known):
            return False
        atoms, least = reasons.members[place]
        if place >= reasons.cells and self._programs.find_most(atoms) < least:
            return False  # its bounds tell it, or nobody is there
        return not self._find_reason(reasons, place)

    def _has_reason_nearby(self, reasons: _Reasons, place: int, known: Floats) -> bool:
        """Return whether a cell or group may be large in people near a solution."""
        atoms, least = reasons.members[place]
        weights, base = self._programs.weigh([atoms])
        is_near = self._programs.mark_near(known, weights)
        solution = self._programs.find_nearby_solution(
            known, is_near, weights, least - base
        )
        if solution is not None:
            reasons.record(solution, reasons.near.find_components(solution))
        return bool(reasons.has_reason[place])

    def _bound_by_reason(
        self, causes: ReasonsToHide, atoms: Ints, least: int
    ) -> tuple[float, float]:
        """Return the fewest and most people of a group that is a reason to hide."""
        low, high = self._programs.find_ends(atoms)
        last = max(one.last for one in causes.list_reasons(atoms, least))
        return low, min(high, last)

    def _find_reason(self, reasons: _Reasons, place: int) -> bool:
        """Look for a solution with a harmless cell and a reason to hide another one."""
        tried = itertools.islice(reasons.list_ranges(place), MAX_TRIED_REASONS)
        for ranges in tried:
            is_possible, solution = self._programs.find_within(ranges)
            if solution is not None:
                reasons.record(solution, reasons.near.find_components(solution))
            if is_possible:
                return True
        return False

    def _find_nestings(self, atoms: Ints) -> Iterable[tuple[str, str]]:
        """Return the inner and outer columns of which all these atoms are rare pairs."""
        by_nesting: dict[tuple[str, str], list[RareGroup]] = {}
        for group in self._system.rare_groups:
            if group.nesting is not None and not group.is_error:
                by_nesting.setdefault(group.nesting, []).append(group)
        for nesting, groups in by_nesting.items():
            if self._system.mark_rare(groups)[atoms].all():
                yield nesting

    def find_fewest(self, atoms: Ints) -> int:
        """Return the fewest people of some atoms; 0 if that took too long."""
        fewest = self._programs.find_ends(atoms)[0]
        return int(fewest) if math.isfinite(fewest) else 0

    def _name_tables(self, told: Sequence[RevealedCell]) -> tuple[str, ...]:
        """Return the names of earlier tables that give cells away."""
        numbers = {
            number
            for one in told
            for number in (one.table, *(number for number, _ in one.proof))
            if number < len(self._tables)
        }
        return tuple(sorted({self._tables[number].name for number in numbers} - {""}))

    def find_told_changes(self) -> AttackOutcome:
        """Find the sets of cells with few newcomers or few leavers."""
        told = tuple(self._list_told_changes())
        return AttackOutcome(revealed_cells=told, blamed=self._name_tables(told))

    def _list_told_changes(self) -> Iterable[RevealedCell]:
        sets = [
            (number, cells)
            for number, table in enumerate(self._tables)
            for cells in table.changes
        ]
        if not sets:
            return
        atoms = []
        signs = []
        for number, cells in sets:
            today = np.concatenate([self._system.today[number, cell] for cell in cells])
            past = np.concatenate([self._system.places[number, cell] for cell in cells])
            atoms.append(np.concatenate([today, past]))
            signs.append(np.repeat([1.0, -1.0], [len(today), len(past)]))
        weights, base = self._programs.weigh(atoms, signs)
        least = np.array([self._tables[number].threshold for number, _ in sets])
        is_open = np.ones(len(sets), dtype=bool)
        # 1. Look for solutions in which many people come, or leave, in many sets
        for sign in (1, -1):
            rows = np.flatnonzero(is_open)
            if not len(rows):
                break
            seen = KnownSolutions(sign * weights[rows], sign * base[rows], least[rows])
            solution = self._programs.find_spread_solution(
                sign * weights[rows], (least - sign * base)[rows]
            )
            if solution is not None:
                seen.record(solution)
            is_open[rows] = seen.is_open
        # 2. Decide the remaining sets one by one
        for row in np.flatnonzero(is_open).tolist():
            line = dense_row(weights, row)
            highest, _, prices_of_highest = self._programs.maximize(line)
            top = base[row] + highest
            if math.isnan(top) or top >= least[row] - INTEGER_TOLERANCE:
                continue
            fall, _, prices_of_lowest = self._programs.maximize(-line)
            bottom = base[row] - fall
            is_few = bottom > INTEGER_TOLERANCE - least[row]
            if is_few and max(top, -bottom) > INTEGER_TOLERANCE:
                number, cells = sets[row]
                change = np.zeros(self._system.size)
                np.add.at(change, atoms[row], signs[row])
                proof = {
                    *self._system.find_proof(change, prices_of_highest),
                    *self._system.find_proof(-change, prices_of_lowest),
                }
                yield RevealedCell(
                    table=number, cell=cells[0], proof=tuple(sorted(proof))
                )

    def bound_hidden_cells(
        self, table: int, on_progress: OnProgress
    ) -> dict[Place, CountBounds]:
        """Bound the hidden cells of a table: exactly if they are few.

        Otherwise the bounds are the smallest and largest counts in two solutions.
        """
        counts = self._tables[table].counts
        cells = [cell for cell, count in enumerate(counts) if count is None]
        if not cells:
            return {}
        weights, base = self._programs.weigh(
            [self._system.places[table, cell] for cell in cells]
        )
        needed = np.array([self._tables[table].needed_in(cell) for cell in cells])
        seen = KnownSolutions(weights, base, needed)
        for sign in (1, -1):
            solution = self._programs.find_spread_solution(
                sign * weights, np.maximum(sign * (needed - base), 0)
            )
            if solution is not None:
                seen.record(solution)
        is_exact = len(cells) <= MAX_EXACT_INTERVALS
        found: dict[Place, CountBounds] = {}
        for number, cell in enumerate(cells):
            low, high = seen.low[number], seen.high[number]
            if is_exact:
                low, high = self._find_whole_ends(seen, number)
                on_progress("bounding", (number + 1) / len(cells))
            if math.isfinite(low) and math.isfinite(high):
                found[table, cell] = CountBounds(
                    low=int(low), high=int(high), is_exact=is_exact
                )
        return found

    def _find_whole_ends(
        self, seen: KnownSolutions, number: int
    ) -> tuple[float, float]:
        """Return the fewest and most people of a sum; record the solutions found."""
        line = dense_row(seen.weights, number)
        base = seen.base[number]
        ends = []
        for sign, reached in ((-1, seen.low[number]), (1, seen.high[number])):
            rise, solution = self._programs.bound_whole_sum(
                sign * line, sign * (reached - base)
            )
            if solution is not None:
                seen.record(solution)
            ends.append(base + sign * rise)
        return ends[0], ends[1]


class _RangesOfGroups:
    """Ranges of the counts of groups, and how near known solutions come to them.

    Attributes:
        gaps: (ranges,) people between a range and the nearest count.
        components: (ranges, components) how many free atoms of a group are in one.
    """

    def __init__(self, ranges: Sequence[CountRange], programs: Programs) -> None:
        self.weights, self.base = programs.weigh(
            [one.atoms for one in ranges],
            [
                np.ones(len(one.atoms)) if one.signs is None else one.signs
                for one in ranges
            ],
        )
        self.first = np.array([one.first for one in ranges], dtype=np.float64)
        self.last = np.array([one.last for one in ranges], dtype=np.float64)
        self.components = programs.find_components(self.weights)
        self.gaps = np.full(len(ranges), np.inf)

    def record(self, solution: Floats) -> Bools:
        """Record the counts in a solution, which is NaN for atoms it leaves out.

        Returns: (ranges,) whether the count of the group is inside.
        """
        counts, has_all = count_in_solution(self.weights, self.base, solution)
        gaps = np.maximum(np.maximum(self.first - counts, counts - self.last), 0)
        self.gaps[has_all] = np.minimum(self.gaps, gaps)[has_all]
        is_inside: Bools = has_all & (gaps == 0)
        return is_inside

    def find_components(self, solution: Floats) -> Bools:
        """Record a solution; return (components,) which have a group in its range."""
        has_one: Bools = self.record(solution) @ self.components > 0
        return has_one

    def limit(self, number: int) -> SumRange:
        """Return a range for the sum of the free atoms of its group."""
        base = int(self.base[number])
        weights = dense_row(self.weights, number)
        return weights, self.first[number] - base, self.last[number] - base


class _Reasons:
    """Which hidden cells can be harmless while another group is a reason to hide.

    Attributes:
        members: atoms of the cells that sums join, then of groups that they may
            protect, each with how many people are not few.
        cells: number of these cells.
        has_reason: (members,) whether such a solution is known.
    """

    def __init__(
        self,
        members: Sequence[tuple[Ints, int]],
        cells: int,
        causes: ReasonsToHide,
        near: _RangesOfGroups,
        programs: Programs,
    ) -> None:
        own = [
            (at, r)
            for at, one in enumerate(members[:cells])
            for r in causes.list_reasons(*one)
        ]
        harmless = [
            (at, r)
            for at, one in enumerate(members)
            for r in causes.list_harmless(*one)
        ]
        self.near = near
        self.members = members
        self.cells = cells
        self.has_reason = np.zeros(len(members), dtype=bool)
        self._own = _RangesOfGroups([one for _, one in own], programs)
        self._cell_of_own = np.array([at for at, _ in own])
        self._harmless = _RangesOfGroups([one for _, one in harmless], programs)
        self._cell_of_harmless = np.array([at for at, _ in harmless])
        self._components = self._own.components.sum(axis=0) > 0

    def record(self, solution: Floats, is_near: Bools) -> None:
        """Record the counts in a solution, which is NaN for atoms it leaves out.

        Args:
            is_near: (components,) whether other groups there are a reason in it.
        """
        is_reason = self._own.record(solution).any()
        is_harmless = self._harmless.record(solution)
        if is_reason or (is_near & self._components).any():
            self.has_reason[self._cell_of_harmless[is_harmless]] = True

    def list_ranges(self, place: int) -> Iterable[tuple[SumRange, SumRange]]:
        """List ranges in which a cell is harmless, each with one of a possible reason.

        Reasons to which known solutions come near are first, those of other cells
        before those of other groups.
        """
        harmless = [
            self._harmless.limit(number)
            for number in np.flatnonzero(self._cell_of_harmless == place).tolist()
        ]
        own = np.argsort(self._own.gaps, kind="stable")
        inside = self.near.components @ self._components > 0
        others = np.argsort(np.where(inside, self.near.gaps, np.inf), kind="stable")
        for groups, numbers in (
            (self._own, own[self._cell_of_own[own] != place]),
            (self.near, others[: inside.sum()]),
        ):
            for number in numbers.tolist():
                reason = groups.limit(number)
                yield from ((one, reason) for one in harmless)


def _is_inside(before: tuple[float, float] | None, bounds: tuple[float, float]) -> bool:
    """Return whether bounds tell no more than those of before."""
    return before is not None and bounds[0] <= before[0] and bounds[1] >= before[1]
