"""Attack published tables: find how closely they reveal their hidden counts.

It reads nothing but what is published and what attackers are said to know, and it
shares no code with the choice of hidden cells. The people of all tables are cut into
atoms, the smallest sets that the groups tell apart. If a column decides another one, as
a town decides its district, no atom has a town and a district that it is not in. A
published count is an equation over the atoms of its cell. Hidden counts are bounded in
three steps: propagation of intervals over the equations, linear programs for what is
open, and integer programs where a linear solution is not whole.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dpcore.errors import InfeasibleError, LimitError
from dpcore.progress import OnProgress, ignore_stage_progress

MAX_ATOMS = 60_000
MAX_PROPAGATION_PASSES = 100  # of propagation
INTEGER_TOLERANCE = (
    1e-6  # distance from a whole number that the solver's tolerance explains
)
MAX_PROOFS = 30  # cells told by propagation whose proof is looked for in one attack
MAX_SECONDS_PER_PROGRAM = 20.0  # of an integer program; then the cell counts as told
MAX_EXACT_INTERVALS = 1_000  # hidden cells that are bounded exactly for the report

MAX_OPEN_SHARE_TO_RETRY = (
    0.95  # open cells left by a spread solution, to try another one
)
LINPROG_INFEASIBLE = 2  # status of scipy's linprog and milp
LINPROG_UNBOUNDED = 3
UNLISTED = "\0"  # stands for all values that no published table lists

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
CellPlaces = tuple[tuple[int, int], ...]
Target = tuple[tuple[int, int], int | None]
"""A cell (table, cell), and a group around it or None: then people outside the cell."""
KnownBounds = Mapping[Target, tuple[float, float] | None]


@dataclass(frozen=True, kw_only=True)
class AttackedTable:
    """A published table, as an attacker sees it.

    Attributes:
        columns: of its one or two axes.
        groups: for each axis, the values in each of its groups; None for everybody.
        counts: (cells,) in the order of the groups, the last axis fastest; None is
            hidden.
        threshold: the rule's.
        secret_pairs: pairs (cell, group of cells around it) that must not be known to be equal.
        excepted_cells: cells that may be told.
        occupied_cells: cells that attackers know to hold people.
        complete_columns: columns of which nobody has a value outside the groups.
        hide_zeros, hide_full: the rule's, for what it implies together with others.
        may_be_empty: whether a cell may be known to hold nobody.
        wanted: counts that must be possible for some hidden cells, beyond the
            threshold.
        name: of the table.
    """

    columns: tuple[str, ...]
    groups: tuple[tuple[frozenset[str] | None, ...], ...]
    counts: tuple[int | None, ...]
    threshold: int
    secret_pairs: tuple[tuple[int, int], ...] = ()
    excepted_cells: frozenset[int] = frozenset()
    occupied_cells: frozenset[int] = frozenset()
    complete_columns: frozenset[str] = frozenset()
    hide_zeros: bool = False
    hide_full: bool = False
    may_be_empty: bool = False
    wanted: Mapping[int, int] = field(default_factory=dict)
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class DecidedColumn:
    """A column whose value follows from that of another one, as attackers may know.

    Attributes:
        values: of the column, by the value of the other one.
    """

    column: str
    by: str
    values: Mapping[str, str]

    def find_deciding_values(self, group: frozenset[str]) -> frozenset[str]:
        """Return the values of the other column that lead into a group."""
        return frozenset(
            fine for fine, coarse in self.values.items() if coarse in group
        )


@dataclass(frozen=True, kw_only=True)
class RevealedCell:
    """A hidden cell whose count the published tables reveal too closely.

    Attributes:
        table, cell: its place; tables that are implied by two others come last.
        filled_group: the group that it is known to fill; None if its count is told.
        proof: shown cells (table, cell) that the bound stands on.
        is_certain: whether the bound is proved; else the attack ran out of time.
        bounds: the fewest and most people of the cell, or of the group outside it; None
            if they were not asked for.
    """

    table: int
    cell: int
    filled_group: int | None = None
    proof: tuple[tuple[int, int], ...] = ()
    is_certain: bool = True
    bounds: tuple[float, float] | None = None

    @property
    def target(self) -> Target:
        """What is told: of a cell, or of a group outside the cell."""
        return (self.table, self.cell), self.filled_group


@dataclass(frozen=True, kw_only=True)
class CountBounds:
    """The counts that are possible for a hidden cell.

    Attributes:
        is_exact: whether low and high are the ends; else the interval is at least this.
    """

    low: int
    high: int
    is_exact: bool


@dataclass(frozen=True, kw_only=True)
class AttackOutcome:
    """What an attack found.

    Attributes:
        revealed_cells: cells that are told too closely.
        known_cells: cells that were told as closely without the last table.
        bounds: of hidden cells, by (table, cell).
        programs: linear and integer programs that were solved.
    """

    revealed_cells: tuple[RevealedCell, ...]
    known_cells: tuple[RevealedCell, ...] = ()
    bounds: Mapping[tuple[int, int], CountBounds] = field(default_factory=dict)
    programs: int = 0


def attack(
    tables: Sequence[AttackedTable],
    *,
    decided: Sequence[DecidedColumn] = (),
    known: KnownBounds | None = None,
    with_bounds: bool = False,
    on_progress: OnProgress = ignore_stage_progress,
) -> AttackOutcome:
    """Try to find the hidden counts of tables about the same people.

    What the decided columns alone tell, such as that no town is in another district, is
    asked once more without them: then it is a secret of these people.

    Args:
        tables: all that was published.
        decided: columns that others decide.
        known: what was told before, see `find_known_bounds`.
        with_bounds: whether hidden cells are bounded too, for the report.
        on_progress: called with the share of decided cells.

    Raises: LimitError for too many combinations; InfeasibleError if no people fit all
        counts.
    """
    whole = [*tables, *derive_implied_tables(tables, decided)]
    system = _EquationSystem(whole, decided, {} if known is None else known)
    outcome = system.run(system.find_demands(), with_bounds, on_progress)
    settled = system.find_settled_targets() if decided else set()
    if not settled:
        return outcome
    naive = _EquationSystem(whole, (), {} if known is None else known)
    demands = [demand for demand in naive.find_demands() if demand[0] in settled]
    more = naive.run(demands, with_bounds, on_progress)
    return AttackOutcome(
        revealed_cells=(*outcome.revealed_cells, *more.revealed_cells),
        known_cells=(*outcome.known_cells, *more.known_cells),
        bounds={**outcome.bounds, **more.bounds},
        programs=outcome.programs + more.programs,
    )


def find_known_bounds(
    tables: Sequence[AttackedTable], decided: Sequence[DecidedColumn] = ()
) -> KnownBounds:
    """Return the bounds of what all tables but the last one tell too closely.

    A table that leaves these bounds as they are adds nothing.
    """
    *earlier, last = tables
    blank = replace(last, counts=(None,) * len(last.counts))
    # Whatever an asked target is compared with, its bounds are found
    outcome = attack([*earlier, blank], decided=decided, known=_AskForAll())
    return {told.target: told.bounds for told in outcome.revealed_cells}


class _AskForAll(dict[Target, tuple[float, float] | None]):
    """Known bounds that ask for those of every target, and equal none."""

    def __contains__(self, target: object) -> bool:
        return True

    def __missing__(self, target: Target) -> None:
        return None


def derive_implied_tables(
    tables: Sequence[AttackedTable], decided: Sequence[DecidedColumn] = ()
) -> list[AttackedTable]:
    """Return unpublished tables that differences of two tables may reveal.

    Two tables that cut a column at different places have common smaller groups, such
    as the people of 18 between "up to 17" and "up to 18".
    """
    implied = []
    for first, second in itertools.combinations(tables, 2):
        right = _express_in(second, first.columns, decided)
        left = _express_in(first, right.columns, decided)
        shared = tuple(name for name in left.columns if name in right.columns)
        if not shared:
            continue
        own = [_groups_by_column(table) for table in (left, right)]
        parts = _split_groups(
            {
                name: [group for groups in own for group in groups[name]]
                for name in shared
            }
        )
        cells = {name: set(parts[name]) for name in shared}
        if any(
            all(cells[name] <= set(groups[name]) for name in shared) for groups in own
        ):
            continue  # one of both has these groups
        hide_full = left.hide_full or right.hide_full
        totals = (None,) if hide_full else ()
        groups = tuple((*totals, *parts[name]) for name in shared)
        shown = _shown_regions(left) | _shown_regions(right)
        counts = tuple(
            shown.get(
                frozenset(
                    (name, group)
                    for name, group in zip(shared, cell, strict=True)
                    if group is not None
                )
            )
            for cell in itertools.product(*groups)
        )
        implied.append(
            AttackedTable(
                columns=shared,
                groups=groups,
                counts=counts,
                threshold=max(left.threshold, right.threshold),
                secret_pairs=_pair_with_totals(groups, counts) if hide_full else (),
                may_be_empty=not (left.hide_zeros or right.hide_zeros),
                name=f"{left.name}, {right.name}",
            )
        )
    return implied


def _pair_with_totals(
    groups: tuple[tuple[frozenset[str] | None, ...], ...],
    counts: tuple[int | None, ...],
) -> tuple[tuple[int, int], ...]:
    """Return pairs of a cell and a total of its line that must not be known as equal."""
    shape = [len(own) for own in groups]
    numbers = np.arange(len(counts)).reshape(shape)
    pairs = []
    for at in range(len(shape)):
        lines = np.moveaxis(numbers, at, 0)
        for cell, total in zip(
            lines[1:].ravel().tolist(),
            np.broadcast_to(lines[:1], lines[1:].shape).ravel().tolist(),
            strict=True,
        ):
            inside, around = counts[cell], counts[total]
            differ = None not in (inside, around) and inside != around
            if around != 0 and inside != 0 and not differ:
                pairs.append((cell, total))
    return tuple(pairs)


def _express_in(
    table: AttackedTable, columns: Sequence[str], decided: Sequence[DecidedColumn]
) -> AttackedTable:
    """Return the table in terms of the given columns, where these decide its own."""
    axes = dict(zip(table.columns, table.groups, strict=True))
    for one in decided:
        replaces = one.column in axes and one.column not in columns
        if replaces and one.by in columns and one.by not in axes:
            # the new column takes the place of the old one
            axes = {
                one.by if name == one.column else name: groups
                if name != one.column
                else tuple(
                    None if group is None else one.find_deciding_values(group)
                    for group in groups
                )
                for name, groups in axes.items()
            }
    return replace(table, columns=tuple(axes), groups=tuple(axes.values()))


def _groups_by_column(table: AttackedTable) -> dict[str, list[frozenset[str]]]:
    """Return the groups of each column but the one of everybody."""
    return {
        name: [group for group in groups if group is not None]
        for name, groups in zip(table.columns, table.groups, strict=True)
    }


def _shown_regions(
    table: AttackedTable,
) -> dict[frozenset[tuple[str, frozenset[str]]], int]:
    """Return the shown counts by the values they select."""
    return {
        frozenset(
            (name, group)
            for name, group in zip(table.columns, cell, strict=True)
            if group is not None
        ): count
        for cell, count in zip(
            itertools.product(*table.groups), table.counts, strict=True
        )
        if count is not None
    }


class _EquationSystem:
    """The equations of the published tables over atoms, with the atoms' bounds."""

    def __init__(
        self,
        tables: Sequence[AttackedTable],
        decided: Sequence[DecidedColumn],
        known: KnownBounds,
    ) -> None:
        from scipy import sparse

        self.tables = tables
        self.known = known
        self.programs = 0
        blocks = _AtomBlocks(tables, decided)
        self.places = {
            (number, cell): atoms
            for number, table in enumerate(tables)
            for cell, atoms in enumerate(blocks.cells_of(table))
        }
        rows: list[Ints] = []
        signs: list[Floats] = []
        sums: list[int] = []
        self.owners: list[tuple[int, int] | None] = []
        for place, atoms in self.places.items():
            count = tables[place[0]].counts[place[1]]
            if count is not None:
                if count and not len(atoms):
                    raise _contradiction_error()
                rows.append(atoms)
                signs.append(np.ones(len(atoms)))
                sums.append(count)
                self.owners.append(place)
        for left, right in blocks.find_linked_atoms():
            rows.append(np.concatenate([left, right]))
            signs.append(np.repeat([1.0, -1.0], [len(left), len(right)]))
            sums.append(0)
            self.owners.append(None)
        least: list[Ints] = []
        for number, table in enumerate(tables):
            least += [
                self.places[number, cell]
                for cell in sorted(table.occupied_cells)
                if table.counts[cell] is None
            ]
        self.size = blocks.size
        self.low = np.zeros(self.size)
        self.high = np.full(self.size, np.inf)
        matrix = sparse.csr_array(
            (
                np.concatenate(signs) if signs else np.zeros(0),
                np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64),
                np.cumsum([0, *map(len, rows)]),
            ),
            shape=(len(rows), self.size),
        )
        self.matrix = matrix
        self.sums = np.array(sums, dtype=np.float64)
        self.least = sparse.csr_array(
            (
                np.ones(sum(map(len, least))),
                np.concatenate(least) if least else np.zeros(0, dtype=np.int64),
                np.cumsum([0, *map(len, least)]),
            ),
            shape=(len(least), self.size),
        )
        for atoms in least:
            if len(atoms) == 1:
                self.low[atoms[0]] = 1
        self.known_low = self.low.copy()
        self.propagate()
        self.drop_decided_atoms()

    def propagate(self) -> None:
        """Tighten the bounds of atoms over the equations, until nothing changes."""
        matrix = self.matrix
        if not matrix.shape[0]:
            return
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
            np.minimum.at(high, column, np.where(sign > 0, top, -bottom))
            np.maximum.at(low, column, np.where(sign > 0, bottom, -top))
            if (high >= self.high).all() and (low <= self.low).all():
                return
            self.high = np.minimum(high, self.high)
            self.low = np.maximum(low, self.low)
            if (self.low > self.high + INTEGER_TOLERANCE).any():
                raise _contradiction_error()

    def drop_decided_atoms(self) -> None:
        """Remove decided atoms, and equations that contain no others."""
        self.free = np.flatnonzero(self.high > self.low)
        self.new = np.full(self.size, -1)
        self.new[self.free] = np.arange(len(self.free))
        # Solutions hold what each atom has above its lower bound
        small = self.matrix[:, self.free]
        self.used = np.flatnonzero(np.diff(small.indptr) > 0)
        self.equations = small[self.used]
        self.right = np.round(self.sums - self.matrix @ self.low)[self.used]
        self.room = (self.high - self.low)[self.free]
        lacks = 1 - self.least @ self.low
        demanded = np.flatnonzero(lacks > 0)
        self.demands = self.least[demanded][:, self.free]
        self.lacks = lacks[demanded]
        self.part = self._components()

    def _components(self) -> Ints:
        from scipy import sparse
        from scipy.sparse.csgraph import connected_components

        stacked = sparse.vstack([abs(self.equations), abs(self.demands)]).tocsr()
        lines = stacked.shape[0]
        graph = sparse.block_array([[None, stacked], [stacked.T, None]])
        if graph.shape[0] == 0 or not lines:
            return np.arange(len(self.free))
        parts: Ints = connected_components(graph, directed=False)[1]
        return parts[lines:]

    def weigh_targets(self, targets: Sequence[Target]) -> tuple[Any, Ints]:
        """Return target sums as weights of free atoms, and their values at low bounds.

        The sum is over a cell, or over a group around it less the cell.
        """
        from scipy import sparse

        members = [self.atoms_of(place, around) for place, around in targets]
        weights = sparse.csr_array(
            (
                np.ones(sum(map(len, members))),
                np.concatenate([np.zeros(0, dtype=np.int64), *members]),
                np.cumsum([0, *map(len, members)]),
            ),
            shape=(len(members), self.size),
        )
        base = np.round(weights @ self.low).astype(np.int64)
        return weights[:, self.free].tocsr(), base

    def atoms_of(self, place: tuple[int, int], containing_group: int | None) -> Ints:
        """Return the atoms of a cell, or those of a group around it but not in it."""
        if containing_group is None:
            return self.places[place]
        return np.setdiff1d(self.places[place[0], containing_group], self.places[place])

    def list_demands(self) -> list[tuple[Target, int]]:
        """Return what must be possible: a target, and how many people."""
        counts: list[tuple[Target, int]] = [
            (((number, cell), None), max(table.threshold, table.wanted.get(cell, 0)))
            for number, table in enumerate(self.tables)
            for cell, count in enumerate(table.counts)
            if count is None and cell not in table.excepted_cells
        ]
        pairs: list[tuple[Target, int]] = [
            (((number, cell), around), 1)
            for number, table in enumerate(self.tables)
            for cell, around in table.secret_pairs
            if cell not in table.excepted_cells
        ]
        return [*counts, *pairs]

    def find_demands(self) -> list[tuple[Target, int]]:
        """Return the demands about cells that can hold anybody."""
        return [
            demand for demand in self.list_demands() if len(self.atoms_of(*demand[0]))
        ]

    def find_settled_targets(self) -> set[Target]:
        """Return the targets of which it is clear without counts that nobody is there."""
        return {
            target
            for target, _ in self.list_demands()
            if not len(self.atoms_of(*target))
        }

    def run(
        self,
        demands: Sequence[tuple[Target, int]],
        with_bounds: bool,
        on_progress: OnProgress,
    ) -> AttackOutcome:
        """Decide every demand, and bound the hidden cells on request."""
        targets = [target for target, _ in demands]
        needed = np.array([least for *_, least in demands], dtype=np.int64)
        weights, base = self.weigh_targets(targets)
        seen = _KnownSolutions(weights, base, needed)
        told: list[RevealedCell] = []
        known: list[RevealedCell] = []

        def give_away(
            number: int, proof: CellPlaces, *, most: float = 1, certain: bool = True
        ) -> None:
            seen.is_open[number] = False
            (table, cell), around = targets[number]
            if around is None:
                is_empty = most < 1 - INTEGER_TOLERANCE
                if is_empty and self.tables[table].may_be_empty:
                    return
            elif self._find_ends(((table, around), None))[1] < 1:
                return  # nobody is in the group
            one = RevealedCell(
                table=table,
                cell=cell,
                filled_group=around,
                proof=proof or self.shown_cells_sharing_atoms(*targets[number]),
                is_certain=certain,
                bounds=self._find_ends(targets[number])
                if targets[number] in self.known
                else None,
            )
            is_known = one.bounds is not None and one.bounds == self.known[one.target]
            (known if is_known and certain else told).append(one)

        # 1. Decide demands by the bounds of the atoms
        top = base + _multiply(weights, self.room)
        for place, number in enumerate(np.flatnonzero(top < needed).tolist()):
            proof = self.find_proof(*targets[number]) if place < MAX_PROOFS else ()
            give_away(number, proof, most=top[number])
        # 2. Look for integer solutions that are large in many open cells at once
        while seen.is_open.any():
            before = int(seen.is_open.sum())
            solution = self._find_spread_solution(
                weights[seen.is_open], (needed - base)[seen.is_open]
            )
            if solution is None:
                break
            seen.record(solution)
            on_progress("attacking", seen.decided_share)
            if seen.is_open.sum() > MAX_OPEN_SHARE_TO_RETRY * before:
                break
        # 3. Decide the remaining cells one by one
        for number in range(len(targets)):
            if not seen.is_open[number]:
                continue
            value, solution, proof = self._maximize(_dense_row(weights, number))
            if base[number] + value + INTEGER_TOLERANCE < needed[number]:
                give_away(number, proof, most=base[number] + value)
            else:
                if solution is None:
                    value, solution = self._maximize_over_integers(
                        _dense_row(weights, number)
                    )
                if solution is not None:
                    seen.record(solution)
                if seen.is_open[number]:
                    give_away(number, (), certain=not math.isnan(value))
            on_progress("attacking", seen.decided_share)
        cells = [number for number, (_, around) in enumerate(targets) if around is None]
        found = {
            targets[number][0]: bound
            for number, bound in (
                self._bound_cells(cells, weights, base, top, seen, on_progress)
                if with_bounds
                else {}
            ).items()
        }
        return AttackOutcome(
            revealed_cells=tuple(told),
            known_cells=tuple(known),
            bounds=found,
            programs=self.programs,
        )

    def _find_ends(self, target: Target) -> tuple[float, float]:
        """Return the fewest and most people of a target."""
        weights, base = self.weigh_targets([target])
        line = _dense_row(weights, 0)
        low, high = (sign * self._bound_whole_sum(sign * line) for sign in (-1, 1))
        return base[0] + low, base[0] + high

    def _bound_cells(
        self,
        cells: Sequence[int],
        weights: Any,
        base: Ints,
        top: Floats,
        seen: _KnownSolutions,
        on_progress: OnProgress,
    ) -> dict[int, CountBounds]:
        """Bound the hidden cells: exactly if they are few, else by known solutions."""
        found = {}
        by_program = len(cells) <= MAX_EXACT_INTERVALS
        for done, number in enumerate(cells):
            low, high = seen.low[number], seen.high[number]
            exact = bool(low == base[number] and high == top[number])
            if by_program and not exact:
                ends = [
                    sign * self._bound_whole_sum(sign * _dense_row(weights, number))
                    for sign in (-1, 1)
                ]
                low, high = (base[number] + end for end in ends)
                exact = True
                on_progress("bounding", (done + 1) / len(cells))
            if math.isfinite(low) and math.isfinite(high):
                found[number] = CountBounds(
                    low=int(low), high=int(high), is_exact=exact
                )
        return found

    def _bound_whole_sum(self, weights: Floats) -> float:
        """Return a sum's largest whole value, or an upper bound if time ran out."""
        value, solution, _ = self._maximize(weights)
        if solution is None and math.isfinite(value):
            whole, solution = self._maximize_over_integers(weights)
            value = value if math.isnan(whole) else whole
        return math.floor(value + INTEGER_TOLERANCE) if math.isfinite(value) else value

    def _reduce_to_components(self, weights: Floats) -> _PartialSystem:
        """Return the equations of the components that contain atoms of a sum."""
        inside = np.isin(self.part, np.unique(self.part[weights != 0]))
        equations = self.equations[:, inside]
        lines = np.diff(equations.indptr) > 0
        demands = self.demands[:, inside]
        asked = np.diff(demands.indptr) > 0
        return _PartialSystem(
            uses_atom=inside,
            uses_equation=lines,
            equations=equations[lines],
            sums=self.right[lines],
            demands=demands[asked],
            min_demand_sums=self.lacks[asked],
            max_rise=self.room[inside],
        )

    def _maximize(self, weights: Floats) -> tuple[float, Floats | None, CellPlaces]:
        """Maximize a sum; return its value, a solution, and the shown cells that bound
        it.

        The solution is None if it is not whole; the value is not a number if there is
        no answer.
        """
        from scipy.optimize import linprog

        if not (weights != 0).any():
            return 0.0, np.full(len(self.free), np.nan), ()
        program = self._reduce_to_components(weights)
        has_demands = program.demands.shape[0] > 0
        self.programs += 1
        result = linprog(
            -weights[program.uses_atom],
            A_eq=program.equations,
            b_eq=program.sums,
            A_ub=-program.demands if has_demands else None,
            b_ub=-program.min_demand_sums if has_demands else None,
            bounds=np.column_stack([np.zeros(len(program.max_rise)), program.max_rise]),
            method="highs-ds",
        )
        if result.status == LINPROG_UNBOUNDED:
            return math.inf, None, ()
        if result.status == LINPROG_INFEASIBLE:
            raise _contradiction_error()
        if result.status != 0:
            return math.nan, None, ()
        owners = [self.owners[line] for line in self.used[program.uses_equation]]
        proof = self._name_priced_cells(owners, result.eqlin.marginals)
        return float(-result.fun), program.round_solution(result.x), proof

    def _maximize_over_integers(self, weights: Floats) -> tuple[float, Floats | None]:
        """Maximize a sum over integers; return NaN and None if time ran out."""
        from scipy.optimize import Bounds as Box
        from scipy.optimize import LinearConstraint, milp

        program = self._reduce_to_components(weights)
        limits = [LinearConstraint(program.equations, program.sums, program.sums)]
        if program.demands.shape[0]:
            limits.append(
                LinearConstraint(program.demands, program.min_demand_sums, np.inf)
            )
        self.programs += 1
        result = milp(
            -weights[program.uses_atom],
            constraints=limits,
            integrality=np.ones(len(program.max_rise)),
            bounds=Box(np.zeros(len(program.max_rise)), program.max_rise),
            options={"time_limit": MAX_SECONDS_PER_PROGRAM, "mip_rel_gap": 0.0},
        )
        if result.status == LINPROG_INFEASIBLE:
            raise _contradiction_error()
        if result.status != 0 or result.x is None:
            return math.nan, None
        return float(round(-result.fun)), program.round_solution(result.x)

    def _find_spread_solution(self, weights: Any, needed: Ints) -> Floats | None:
        """Return an integer solution that raises many cells towards their demands.

        No cell counts for more than the change that is demanded of it.
        """
        from scipy import sparse
        from scipy.optimize import linprog

        atoms, cells = len(self.free), weights.shape[0]
        program = self._reduce_to_components(np.ones(atoms))
        none = sparse.csr_array((self.demands.shape[0], cells))
        upper = sparse.vstack(
            [
                sparse.hstack([-weights, sparse.eye_array(cells)]),
                sparse.hstack([-self.demands, none]),
            ]
        )
        none = sparse.csr_array((self.equations.shape[0], cells))
        most = np.concatenate([self.room, np.maximum(needed, 0)])
        self.programs += 1
        result = linprog(
            -np.repeat([0.0, 1.0], [atoms, cells]),
            A_ub=upper.tocsr(),
            b_ub=np.concatenate([np.zeros(cells), -self.lacks]),
            A_eq=sparse.hstack([self.equations, none]).tocsr(),
            b_eq=self.right,
            bounds=np.column_stack([np.zeros(atoms + cells), most]),
            method="highs-ds",
        )
        return program.round_solution(result.x[:atoms]) if result.status == 0 else None

    def find_proof(
        self, place: tuple[int, int], containing_group: int | None
    ) -> CellPlaces:
        """Return shown cells that bound a cell in a linear program over all atoms."""
        from scipy.optimize import linprog

        weights = np.zeros(self.size)
        weights[self.atoms_of(place, containing_group)] = 1
        self.programs += 1
        result = linprog(
            -weights,
            A_eq=self.matrix,
            b_eq=self.sums,
            bounds=np.column_stack([self.known_low, np.full(self.size, np.inf)]),
            method="highs-ds",
        )
        if result.status != 0:
            return ()
        return self._name_priced_cells(self.owners, result.eqlin.marginals)

    @staticmethod
    def _name_priced_cells(
        owners: Sequence[tuple[int, int] | None], prices: Floats
    ) -> CellPlaces:
        """Return the shown cells whose equations a linear program leans on."""
        return tuple(
            owner
            for owner, price in zip(owners, prices, strict=True)
            if owner is not None and abs(price) > INTEGER_TOLERANCE
        )

    def shown_cells_sharing_atoms(
        self, place: tuple[int, int], containing_group: int | None
    ) -> CellPlaces:
        """Return the shown cells that share atoms with a cell."""
        atoms = self.atoms_of(place, containing_group)
        lines = np.unique(self.matrix[:, atoms].tocoo().row)
        owners = (self.owners[line] for line in lines)
        return tuple(owner for owner in owners if owner is not None)


@dataclass(frozen=True, kw_only=True, eq=False)
class _PartialSystem:
    """The equations and demands of the components that a sum reaches.

    Attributes:
        uses_atom: (free atoms,) which of them take part.
        uses_equation: which equations do.
        equations, sums: weights of the atoms, and what they add up to.
        demands, lacks: sums of atoms, and how large they are at least.
        max_rise: largest value of each atom above its low bound.
    """

    uses_atom: npt.NDArray[np.bool_]
    uses_equation: npt.NDArray[np.bool_]
    equations: Any
    sums: Floats
    demands: Any
    min_demand_sums: Floats
    max_rise: Floats

    def round_solution(self, solution: Floats) -> Floats | None:
        """Return a solution rounded to integers, NaN for atoms outside the program.

        None unless the rounded solution meets every equation exactly, so that no
        tolerance of a solver makes a table safe.
        """
        whole = np.round(solution)
        meets = (
            (whole >= 0).all()
            and (whole <= self.max_rise).all()
            and (_multiply(self.equations, whole) == self.sums).all()
            and (_multiply(self.demands, whole) >= self.min_demand_sums).all()
        )
        if not meets:
            return None
        found = np.full(len(self.uses_atom), np.nan)
        found[self.uses_atom] = whole
        return found


class _KnownSolutions:
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

    def record(self, solution: Floats) -> None:
        """Record the counts in a solution, which is NaN for atoms it leaves out."""
        lacks = np.isnan(solution)
        has_all = _multiply(self.weights, lacks.astype(np.float64)) == 0
        counts = self.base + _multiply(self.weights, np.where(lacks, 0.0, solution))
        self.low[has_all] = np.minimum(self.low, counts)[has_all]
        self.high[has_all] = np.maximum(self.high, counts)[has_all]
        self.is_open &= ~(has_all & (counts >= self.needed))


class _AtomBlocks:
    """The atoms into which the columns of each block of tables cut the people.

    Tables whose columns form no circle meet in shared columns only: whatever is
    consistent there is possible for all of them together. In a circle, people are cut
    by all of its columns at once. A block that has a column has those that it decides.

    Raises: LimitError for too many atoms.
    """

    def __init__(
        self, tables: Sequence[AttackedTable], decided: Sequence[DecidedColumn]
    ) -> None:
        listed = {name for table in tables for name in table.columns}
        known = [one for one in decided if {one.column, one.by} <= listed]
        self.parts = _split_columns(tables, known)
        self._decided_parts = {
            (one.by, one.column): _decide_parts(
                self.parts[one.by], self.parts[one.column], one
            )
            for one in known
        }
        columns = list(
            dict.fromkeys(
                frozenset(table.columns).union(
                    one.column for one in known if one.by in table.columns
                )
                for table in tables
            )
        )
        whole = [own for own in columns if not any(own < other for other in columns)]
        self._links: list[tuple[frozenset[str], frozenset[str]]] = []
        self.blocks = self._join_cyclic_blocks(whole)
        self._names = [self._order_names(block) for block in self.blocks]
        least = sum(map(self._count_free_combinations, self._names))
        if least > MAX_ATOMS:
            raise LimitError(
                "together with the tables published so far, this table has {number} "
                "combinations of groups, and at most {most} can be checked",
                remedy="use fewer or coarser groups",
                number=least,
                most=MAX_ATOMS,
            )
        self._combinations = [self._combine(names) for names in self._names]
        self.starts = np.cumsum([0, *map(len, self._combinations)])
        self.size = int(self.starts[-1])

    def _join_cyclic_blocks(
        self, blocks: Sequence[frozenset[str]]
    ) -> list[frozenset[str]]:
        """Split off blocks that meet all others inside a single one; join the rest."""
        left = list(blocks)
        done: list[frozenset[str]] = []
        while len(left) > 1:
            for block in left:
                others = [other for other in left if other != block]
                shared = block & frozenset[str]().union(*others)
                near = next((other for other in others if shared <= other), None)
                if near is not None:
                    self._links.append((block, near))
                    left.remove(block)
                    done.append(block)
                    break
            else:
                left = [frozenset[str]().union(*left)]
        return [*done, *left]

    def _order_names(self, block: frozenset[str]) -> tuple[str, ...]:
        """Return the columns of a block, each after those that decide it."""

        def key(name: str) -> tuple[int, str]:
            follows = sum((name, other) in self._decided_parts for other in block)
            return (-follows, name)

        return tuple(sorted(block, key=key))

    def _find_decider(self, names: Sequence[str], name: str) -> str | None:
        return next((by for by in names if (by, name) in self._decided_parts), None)

    def _count_free_combinations(self, names: tuple[str, ...]) -> int:
        return math.prod(
            len(self.parts[name])
            for at, name in enumerate(names)
            if self._find_decider(names[:at], name) is None
        )

    def _combine(self, names: tuple[str, ...]) -> Ints:
        """Return (atoms, columns) the part of each column, without what cannot be."""
        combinations = np.zeros((1, 0), dtype=np.int64)
        for at, name in enumerate(names):
            by = self._find_decider(names[:at], name)
            follows = np.full(len(combinations), -1)
            if by is not None:
                place = names.index(by)
                follows = self._decided_parts[by, name][combinations[:, place]]
            is_free = follows < 0
            free = combinations[is_free]
            number = len(self.parts[name])
            combinations = np.concatenate(
                [
                    np.column_stack([combinations[~is_free], follows[~is_free]]),
                    np.column_stack(
                        [
                            np.repeat(free, number, axis=0),
                            np.tile(np.arange(number), len(free)),
                        ]
                    ),
                ]
            )
            for other, earlier in enumerate(names[:at]):
                for pair, first, second in (
                    ((earlier, name), other, at),
                    ((name, earlier), at, other),
                ):
                    if pair in self._decided_parts:
                        must = self._decided_parts[pair][combinations[:, first]]
                        fits = (must < 0) | (must == combinations[:, second])
                        combinations = combinations[fits]
        return combinations

    def find_linked_atoms(self) -> list[tuple[Ints, Ints]]:
        """Return pairs of atom sets that must hold equal numbers of people."""
        pairs: list[tuple[Ints, Ints]] = []
        for left, right in self._links:
            number = self.blocks.index(left)
            home = next(at for at, block in enumerate(self.blocks) if right <= block)
            shared = sorted(left & self.blocks[home])
            sides = [
                self._combinations[at][:, [self._names[at].index(n) for n in shared]]
                for at in (number, home)
            ]
            keys = np.unique(np.concatenate(sides), axis=0, return_inverse=True)[1]
            keys = keys.ravel()
            cut = len(sides[0])
            kinds = int(keys.max()) + 1
            members = [
                _group_by_key(keys[:cut], kinds, int(self.starts[number])),
                _group_by_key(keys[cut:], kinds, int(self.starts[home])),
            ]
            pairs += zip(*members, strict=True)
        return pairs

    def cells_of(self, table: AttackedTable) -> list[Ints]:
        """Return the atoms of each cell of a table, in the order of its counts."""
        number = next(
            at for at, block in enumerate(self.blocks) if {*table.columns} <= block
        )
        combinations = self._combinations[number]
        start = int(self.starts[number])
        cells = [np.arange(len(combinations))]
        for name, groups in zip(table.columns, table.groups, strict=True):
            own = combinations[:, self._names[number].index(name)]
            inside = [
                np.flatnonzero(self._has_part_in(name, group)[own]) for group in groups
            ]
            finer = []
            for cell in cells:
                is_inside = np.zeros(len(combinations), dtype=bool)
                is_inside[cell] = True
                finer += [atoms[is_inside[atoms]] for atoms in inside]
            cells = finer
        return [start + atoms for atoms in cells]

    def _has_part_in(
        self, name: str, group: frozenset[str] | None
    ) -> npt.NDArray[np.bool_]:
        """Return (parts,) whether each part of a column is inside a group."""
        parts = self.parts[name]
        return np.array([group is None or part <= group for part in parts], dtype=bool)


def _group_by_key(keys: Ints, kinds: int, start: int) -> list[Ints]:
    """Return the places of each key, counted from a start."""
    order = np.argsort(keys, kind="stable")
    ends = np.searchsorted(keys[order], np.arange(kinds + 1))
    return [start + order[low:high] for low, high in itertools.pairwise(ends.tolist())]


def _split_columns(
    tables: Sequence[AttackedTable], decided: Sequence[DecidedColumn]
) -> dict[str, list[frozenset[str]]]:
    """Cut each column's values into the largest sets that no group splits.

    One part more stands for the values that no table lists, unless nobody has any.
    """
    groups: dict[str, list[frozenset[str]]] = {}
    complete: dict[str, frozenset[str]] = {}
    newest = max(
        (at for at, one in enumerate(tables) if one.complete_columns), default=0
    )
    for at, table in enumerate(tables):
        for name, own in _groups_by_column(table).items():
            groups.setdefault(name, []).extend(own)
            if name in table.complete_columns:
                values = frozenset[str]().union(*own)
                # the newest table lists the values of today, earlier ones those of then
                earlier = complete.get(name, frozenset())
                complete[name] = values if at == newest else values | earlier
    listed = {
        name: complete.get(name, frozenset[str]().union(*own))
        for name, own in groups.items()
    }
    cuts = {name: list(own) for name, own in groups.items()}
    for one in decided:
        cuts[one.by] += [
            one.find_deciding_values(group) for group in groups[one.column]
        ]
    parts = _split_groups(
        {name: [group & listed[name] for group in own] for name, own in cuts.items()}
    )
    for name, own_parts in parts.items():
        if name not in complete:
            own_parts.append(frozenset({UNLISTED}))
    return parts


def _split_groups(
    groups: Mapping[str, Sequence[frozenset[str]]],
) -> dict[str, list[frozenset[str]]]:
    """Cut the values of each column into the largest sets that no group splits."""
    parts = {}
    for name, listed in groups.items():
        unique = list(dict.fromkeys(listed))
        memberships: dict[str, list[int]] = {}
        for number, group in enumerate(unique):
            for value in sorted(group):
                memberships.setdefault(value, []).append(number)
        together: dict[tuple[int, ...], set[str]] = {}
        for value, inside in memberships.items():
            together.setdefault(tuple(inside), set()).add(value)
        parts[name] = [frozenset(values) for values in together.values()]
    return parts


def _decide_parts(
    fine: Sequence[frozenset[str]],
    coarse: Sequence[frozenset[str]],
    decided: DecidedColumn,
) -> Ints:
    """Return (fine parts,) the coarse part that each one is in, -1 if none is known."""
    places = {value: at for at, part in enumerate(coarse) for value in part}
    unlisted = places.get(UNLISTED, -1)
    found = np.full(len(fine), -1)
    for at, part in enumerate(fine):
        seen = sorted(part & decided.values.keys())
        if seen:
            found[at] = places.get(decided.values[seen[0]], unlisted)
    return found


def _contradiction_error() -> InfeasibleError:
    return InfeasibleError(
        "the exact tables on file and this one contradict each other: their counts "
        "cannot be of the same people",
        remedy="publish from the file of the earlier tables, or open this file as a "
        "data set of its own",
    )


def _dense_row(weights: Any, number: int) -> Floats:
    line: Floats = weights[[number]].toarray()[0]
    return line


def _multiply(matrix: Any, vector: npt.NDArray[Any]) -> Floats:
    """Multiply a matrix by a vector that may hold infinity where it has no weight."""
    product: Floats = matrix @ np.asarray(vector, dtype=np.float64)
    return product
