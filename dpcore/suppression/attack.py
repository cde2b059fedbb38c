"""Attack published tables: find how closely they reveal their hidden counts.

It reads nothing but what is published and what attackers are said to know, and it
shares no code with the choice of hidden cells. The people of all tables are cut into
atoms, the smallest sets that the tables tell apart (see `atoms`). A published count is
an equation over the atoms of its cell. If people came or left since, the people of
then have variables of their own. Hidden counts are bounded in three steps: propagation
of intervals over the equations, linear programs for what is open, and integer programs
if a linear solution is not whole.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dpcore.errors import InfeasibleError
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.suppression.atoms import AtomBlocks, Families, RareGroup
from dpcore.suppression.attacked import AttackedTable, KnownMap

MAX_PROPAGATION_PASSES = 100  # of propagation
INTEGER_TOLERANCE = (
    1e-6  # distance from a whole number that the solver's tolerance explains
)
MAX_SECONDS_PER_PROGRAM = 20.0  # of an integer program; then the cell counts as told
MAX_EXACT_INTERVALS = 1_000  # hidden cells that are bounded exactly for the report

FAMILIES_OF_READER = 10_000  # numbers of families that one kind of readers uses at most
MAX_OPEN_SHARE_TO_RETRY = (
    0.95  # open cells left by a spread solution, to try another one
)
LINPROG_INFEASIBLE = 2  # status of scipy's linprog and milp
LINPROG_UNBOUNDED = 3

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Place = tuple[int, int]
"""A table and a cell of it. Groups that no table shows have numbers beyond those."""
CellPlaces = tuple[Place, ...]
Target = tuple[Place, int | None]
"""A cell, and a group around it or None: then people outside the cell."""
KnownBounds = Mapping[Target, tuple[float, float] | None]


@dataclass(frozen=True, kw_only=True)
class RevealedCell:
    """A hidden cell whose count the published tables reveal too closely.

    Attributes:
        table, cell: its place; groups that no table shows come after the tables.
        filled_group: the group that it is known to fill; None if its count is told.
        proof: shown cells (table, cell) that the bound stands on.
        is_certain: whether the bound is proved; else the attack ran out of time.
        bounds: the fewest and most people of the cell, or of the group outside it; None
            if they were not asked for.
    """

    table: int
    cell: int
    filled_group: int | None = None
    proof: CellPlaces = ()
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
        known_cells: cells that were told as closely without the new table.
        bounds: of hidden cells, by cell.
        programs: linear and integer programs that were solved.
        blamed: names of the tables that tell the revealed cells.
        told_nestings: inner and outer columns of which rare pairs are told.
    """

    revealed_cells: tuple[RevealedCell, ...] = ()
    known_cells: tuple[RevealedCell, ...] = ()
    bounds: Mapping[int, CountBounds] = field(default_factory=dict)
    programs: int = 0
    blamed: tuple[str, ...] = ()
    told_nestings: tuple[tuple[str, str], ...] = ()


def attack(
    tables: Sequence[AttackedTable],
    *,
    maps: Sequence[KnownMap] = (),
    known: KnownBounds | None = None,
    bounded_table: int | None = None,
    on_progress: OnProgress = ignore_stage_progress,
) -> AttackOutcome:
    """Try to find the hidden counts of tables about the same people.

    What readers know besides the tables, such as that nobody of a town is in another
    district, is asked again of readers who know less. It may be a secret of these
    people after all. If rare pairs are errors of coding, some readers take them to be
    as few as the tables allow. Doubtful maps are those of a second kind of readers.

    Args:
        tables: all that was published.
        maps: what readers know of pairs of columns.
        known: what was told before, see `find_known_bounds`.
        bounded_table: a table whose hidden cells are bounded too, for the report.
        on_progress: called with the share of decided cells.

    Raises: LimitError for too many combinations; InfeasibleError if no people fit all
        counts.
    """
    known = {} if known is None else known
    usual_maps = [one for one in maps if not one.is_doubtful]
    outcomes = _attack_as_reader(
        tables, usual_maps, known, bounded_table=bounded_table, on_progress=on_progress
    )
    if len(usual_maps) < len(maps):
        outcomes += _attack_as_reader(
            tables,
            maps,
            known,
            first_group=len(tables) + FAMILIES_OF_READER,
            skipped=_list_told(outcomes),
            on_progress=on_progress,
        )
    return AttackOutcome(
        revealed_cells=tuple(one for own in outcomes for one in own.revealed_cells),
        known_cells=tuple(one for own in outcomes for one in own.known_cells),
        bounds={cell: bound for own in outcomes for cell, bound in own.bounds.items()},
        programs=sum(own.programs for own in outcomes),
        blamed=tuple(sorted({name for own in outcomes for name in own.blamed})),
        told_nestings=tuple(
            sorted({pair for own in outcomes for pair in own.told_nestings})
        ),
    )


def _list_told(outcomes: Iterable[AttackOutcome]) -> frozenset[Target]:
    """Return what is told, by the new table or before."""
    return frozenset(
        one.target
        for own in outcomes
        for one in (*own.revealed_cells, *own.known_cells)
    )


def _attack_as_reader(
    tables: Sequence[AttackedTable],
    maps: Sequence[KnownMap],
    known: KnownBounds,
    *,
    on_progress: OnProgress,
    first_group: int | None = None,
    skipped: frozenset[Target] = frozenset(),
    bounded_table: int | None = None,
) -> list[AttackOutcome]:
    """Attack as readers who have some maps, and as those who know less of them.

    Args:
        first_group: number of the first families whose groups no table shows.
        skipped: demands that are told anyway.
    """
    blocks = AtomBlocks(tables, maps)
    errors = blocks.find_errors()
    outcomes: list[AttackOutcome] = []
    settled: set[Target] | None = None

    def ask(
        system: _EquationSystem, demands: Sequence[_Demand], told: frozenset[Target]
    ) -> None:
        asked = [
            one
            for one in demands
            if one.target not in told and not system.is_settled(one)
        ]
        outcomes.append(system.decide(asked, on_progress))

    # 1. Readers with maps: they know how few people have a rare pair, or they do not
    for knows_numbers in [True, False] if blocks.find_rare_groups() else [False]:
        system = _EquationSystem(
            tables, blocks, known, knows_numbers=knows_numbers, first_group=first_group
        )
        demands = [
            one
            for one in system.list_demands()
            if settled is None or one.target in settled
        ]
        ask(system, demands, skipped)
        if settled is None:
            outcomes.append(system.find_told_changes())
        if not knows_numbers and bounded_table is not None:
            bounds = system.bound_hidden_cells(bounded_table, on_progress)
            outcomes.append(AttackOutcome(bounds=bounds))
        settled = {one.target for one in demands if system.is_settled(one)}
        outcomes.append(AttackOutcome(programs=system.programs))
        if len(errors):
            trusting = _EquationSystem(
                tables,
                blocks,
                known,
                knows_numbers=knows_numbers,
                most_errors=system.find_fewest(errors),
                first_group=first_group,
            )
            ask(trusting, trusting.list_demands(), skipped | _list_told(outcomes))
            outcomes.append(AttackOutcome(programs=trusting.programs))
    # 2. Readers without maps
    if settled and blocks.maps:
        system = _EquationSystem(
            tables, AtomBlocks(tables, ()), known, first_group=first_group
        )
        demands = [one for one in system.list_demands() if one.target in settled]
        ask(system, demands, skipped)
        outcomes.append(AttackOutcome(programs=system.programs))
    return outcomes


def find_known_bounds(
    tables: Sequence[AttackedTable], new: int, maps: Sequence[KnownMap] = ()
) -> KnownBounds:
    """Return the bounds of what all tables but the new one tell too closely.

    A table that leaves these bounds as they are adds nothing.
    """
    blank = replace(tables[new], counts=(None,) * len(tables[new].counts))
    without = [*tables[:new], blank, *tables[new + 1 :]]
    # Whatever an asked target is compared with, its bounds are found
    outcome = attack(without, maps=maps, known=_AskForAll())
    return {told.target: told.bounds for told in outcome.revealed_cells}


class _AskForAll(dict[Target, tuple[float, float] | None]):
    """Known bounds that ask for those of every target, and equal none."""

    def __contains__(self, target: object) -> bool:
        return True

    def __missing__(self, target: Target) -> None:
        return None


@dataclass(frozen=True, kw_only=True, eq=False)
class _Demand:
    """A number of people that must be possible.

    Attributes:
        atoms: whose people are counted.
        needed: people.
        may_be_empty: whether it may be known that nobody is there.
        around: atoms of a group of which nobody may be known to be in one cell; if
            nobody is in it, that is no secret. None for a plain count.
    """

    target: Target
    atoms: Ints
    needed: int
    may_be_empty: bool = False
    around: Ints | None = None


class _EquationSystem:
    """The equations of the published tables over atoms, with the atoms' bounds.

    Args:
        knows_numbers: whether readers know how many people have a rare pair at most.
        most_errors: people with errors of coding, as readers take them to be few; None
            if they do not.
        first_group: number of the first families whose groups no table shows.
    """

    def __init__(
        self,
        tables: Sequence[AttackedTable],
        blocks: AtomBlocks,
        known: KnownBounds,
        *,
        knows_numbers: bool = False,
        most_errors: int | None = None,
        first_group: int | None = None,
    ) -> None:
        self.tables = tables
        self.known = known
        self.programs = 0
        self.first_group = len(tables) if first_group is None else first_group
        self.blocks = blocks
        self.rare_groups = blocks.find_rare_groups()
        self.limits = [
            (group.atoms, group.most) for group in self.rare_groups if knows_numbers
        ]
        if most_errors is not None:
            self.limits.append((blocks.find_errors(), most_errors))
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
                    raise _contradiction_error()
                rows.append(atoms)
                signs.append(np.ones(len(atoms)))
                sums.append(count)
                self.owners.append(place)
        for left, right in self.blocks.find_linked_atoms():
            rows.append(np.concatenate([left, right]))
            signs.append(np.repeat([1.0, -1.0], [len(left), len(right)]))
            sums.append(0)
            self.owners.append(None)
        self.matrix = self._stack(rows, signs)
        self.sums = np.array(sums, dtype=np.float64)
        self.low = np.zeros(self.size)
        self.high = np.full(self.size, np.inf)
        self.is_rare = np.zeros(self.size, dtype=bool)
        self._set_known_sums()
        self.known_low = self.low.copy()
        self.known_high = self.high.copy()
        self.steps: list[_PropagationStep] = []
        self.propagate()
        self.drop_decided_atoms()

    def _stack(self, rows: Sequence[Ints], signs: Sequence[Floats]) -> Any:
        """Return a sparse matrix of rows of signed atoms."""
        from scipy import sparse

        return sparse.csr_array(
            (
                np.concatenate([np.zeros(0), *signs]),
                np.concatenate([np.zeros(0, dtype=np.int64), *rows]),
                np.cumsum([0, *map(len, rows)]),
            ),
            shape=(len(rows), self.size),
        )

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
        """Take in what attackers know besides: occupied cells, and rare pairs."""
        known_sums: list[tuple[Ints, float, int]] = []
        for number, table in enumerate(self.tables):
            known_sums += [
                (self.places[number, cell], 1.0, 1)
                for cell in sorted(table.occupied_cells)
                if table.counts[cell] is None
            ]
        for atoms, most in self.limits:
            known_sums.append((atoms, -1.0, -most))
            self.is_rare[atoms] = True
            self.high[atoms] = np.minimum(self.high[atoms], most)
        for atoms, sign, _ in known_sums:
            if sign > 0 and len(atoms) == 1:
                self.low[atoms[0]] = 1
        self.known_sums = self._stack(
            [atoms for atoms, *_ in known_sums],
            [np.full(len(atoms), sign) for atoms, sign, _ in known_sums],
        )
        self.min_known_sums = np.array([least for *_, least in known_sums], dtype=float)

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
            upper = np.where(sign > 0, top, -bottom)
            lower = np.where(sign > 0, bottom, -top)
            np.minimum.at(high, column, upper)
            np.maximum.at(low, column, lower)
            if (high >= self.high).all() and (low <= self.low).all():
                return
            self.steps.append(
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
        lacks = self.min_known_sums - self.known_sums @ self.low
        small = self.known_sums[:, self.free]
        # a sum that must stay small may still grow
        can_fail = (lacks > 0) | (small.sum(axis=1) < 0)
        self.demands = small[np.flatnonzero(can_fail)]
        self.lacks = lacks[can_fail]
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

    def _weigh(self, atoms: Sequence[Ints]) -> tuple[Any, Ints]:
        """Return sums of atoms as weights of free atoms, and their values at low bounds."""
        weights = self._stack(atoms, [np.ones(len(own)) for own in atoms])
        base = np.round(weights @ self.low).astype(np.int64)
        return weights[:, self.free].tocsr(), base

    def is_settled(self, demand: _Demand) -> bool:
        """Return whether it is clear without counts that hardly anybody is there."""
        return bool(self.is_rare[demand.atoms].all())

    def list_demands(self) -> list[_Demand]:
        """Return all that must be possible."""
        demands = [
            _Demand(
                target=((number, cell), None),
                atoms=self.places[number, cell],
                needed=table.needed_in(cell),
                may_be_empty=table.is_past and not table.hide_zeros,
            )
            for number, table in enumerate(self.tables)
            for cell, count in enumerate(table.counts)
            if count is None and cell not in table.excepted_cells
        ]
        demands += [
            _Demand(
                target=((number, cell), around),
                atoms=np.setdiff1d(
                    self.places[number, around], self.places[number, cell]
                ),
                needed=1,
                around=self.places[number, around],
            )
            for number, table in enumerate(self.tables)
            for cell, around in table.secret_pairs
            if cell not in table.excepted_cells
        ]
        present = [table for table in self.tables if not table.is_past]
        own = {self.blocks.families_of(table.columns) for table in present}
        shared = {
            tuple(sorted({*first} & {*second}))
            for first, second in itertools.combinations(
                [self.blocks.families_of(table.columns) for table in present], 2
            )
        }
        asked = (own | shared) - {()} if len(present) > 1 else set()
        for number, families in enumerate(sorted(asked), start=self.first_group):
            demands += self._list_unshown_demands(number, families, present)
        return demands

    def _list_unshown_demands(
        self, number: int, families: Families, tables: Sequence[AttackedTable]
    ) -> Iterable[_Demand]:
        """Return the demands for the smallest groups that several tables tell apart.

        Two tables that cut a column at different places tell the people between both
        cuts, and two areas that cross tell those in both. Of a group inside a cell that
        is shown to be small, no more people can be demanded than are in that cell: then
        the largest threshold counts that the cell meets. A group of people with errors
        of coding is asked for together with those of the same inner value.
        """
        own = [
            table
            for table in tables
            if {*families} <= {*self.blocks.families_of(table.columns)}
        ]
        thresholds = sorted({table.threshold for table in own})
        groups = self.blocks.split(families)
        is_error = self._mark_atoms(
            group for group in self.rare_groups if group.is_error
        )
        unions = self.blocks.find_miscoded_unions(families)
        union_matrix = _mark_members(unions, len(groups))
        is_asked = np.array([not is_error[atoms].all() for atoms in groups])
        is_asked = np.concatenate([is_asked, np.ones(len(unions), dtype=bool)])
        room = np.full(len(is_asked), thresholds[-1])
        sizes = np.concatenate([np.ones(len(groups)), [len(own) for own in unions]])
        for table in tables:
            marks = [
                [self.blocks.mark_inside(families, name, group) for group in axis]
                for name, axis in zip(table.columns, table.groups, strict=True)
            ]
            for chosen, count in zip(
                itertools.product(*marks), table.counts, strict=True
            ):
                inside = np.logical_and.reduce(chosen)
                width = inside.sum()
                has_union = union_matrix @ inside == sizes[len(groups) :]
                inside = np.concatenate([inside, has_union])
                if count is not None:
                    room[inside] = np.minimum(room[inside], count)
                is_strict = count is not None or table.threshold == thresholds[-1]
                if is_strict:
                    is_asked &= ~(inside & (sizes == width))
        is_asked &= room >= thresholds[0]
        needed = np.array(thresholds)[np.searchsorted(thresholds, room, "right") - 1]
        hide_zeros = any(table.hide_zeros for table in own)
        hide_full = any(table.hide_full for table in own)
        groups += [
            np.sort(np.concatenate([groups[cell] for cell in own])) for own in unions
        ]
        for cell in np.flatnonzero(is_asked).tolist():
            yield _Demand(
                target=((number, cell), None),
                atoms=groups[cell],
                needed=int(needed[cell]),
                may_be_empty=not hide_zeros,
            )
            is_union = cell >= len(groups) - len(unions)
            has_lines = hide_full and not is_union
            lines = self.blocks.find_lines(families, cell) if has_lines else []
            for at, line in enumerate(lines):
                around = np.sort(np.concatenate([groups[other] for other in line]))
                yield _Demand(
                    target=((number, cell), at),
                    atoms=np.setdiff1d(around, groups[cell]),
                    needed=1,
                    around=around,
                )

    def decide(
        self, demands: Sequence[_Demand], on_progress: OnProgress
    ) -> AttackOutcome:
        """Decide every demand."""
        needed = np.array([demand.needed for demand in demands], dtype=np.int64)
        weights, base = self._weigh([demand.atoms for demand in demands])
        seen = _KnownSolutions(weights, base, needed)
        told: list[RevealedCell] = []
        known: list[RevealedCell] = []
        nestings: set[tuple[str, str]] = set()

        def give_away(
            number: int, proof: CellPlaces, *, most: float = 1, certain: bool = True
        ) -> None:
            seen.is_open[number] = False
            demand = demands[number]
            if demand.around is not None:
                if self._find_ends(demand.around)[1] < 1:
                    return  # nobody is in the group
            elif demand.may_be_empty and most < 1 - INTEGER_TOLERANCE:
                return
            (table, cell), around = demand.target
            one = RevealedCell(
                table=table,
                cell=cell,
                filled_group=around,
                proof=proof or self._find_cells_sharing_atoms(demand.atoms),
                is_certain=certain,
                bounds=self._find_ends(demand.atoms)
                if demand.target in self.known
                else None,
            )
            is_known = one.bounds is not None and _is_inside(
                self.known[one.target], one.bounds
            )
            if is_known and certain:
                known.append(one)
                return
            told.append(one)
            if table >= len(self.tables):
                nestings.update(self._find_nestings(demand.atoms))

        # 1. Decide demands by the bounds of the atoms
        top = base + _multiply(weights, self.room)
        for number in np.flatnonzero(top < needed).tolist():
            proof = self._find_proof(demands[number].atoms)
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
        for number in range(len(demands)):
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
        return AttackOutcome(
            revealed_cells=tuple(told),
            known_cells=tuple(known),
            blamed=self._name_tables(told),
            told_nestings=tuple(nestings),
        )

    def _mark_atoms(self, groups: Iterable[RareGroup]) -> Bools:
        """Return which atoms are in some groups."""
        marked = np.zeros(self.size, dtype=bool)
        for group in groups:
            marked[group.atoms] = True
        return marked

    def _find_nestings(self, atoms: Ints) -> Iterable[tuple[str, str]]:
        """Return the inner and outer columns of which all these atoms are rare pairs."""
        by_nesting: dict[tuple[str, str], list[RareGroup]] = {}
        for group in self.rare_groups:
            if group.nesting is not None and not group.is_error:
                by_nesting.setdefault(group.nesting, []).append(group)
        for nesting, groups in by_nesting.items():
            if self._mark_atoms(groups)[atoms].all():
                yield nesting

    def find_fewest(self, atoms: Ints) -> int:
        """Return the fewest people of some atoms; 0 if that took too long."""
        fewest = self._find_ends(atoms)[0]
        return int(fewest) if math.isfinite(fewest) else 0

    def _name_tables(self, told: Sequence[RevealedCell]) -> tuple[str, ...]:
        """Return the names of earlier tables that give cells away."""
        numbers = {
            number
            for one in told
            for number in (one.table, *(number for number, _ in one.proof))
            if number < len(self.tables)
        }
        return tuple(sorted({self.tables[number].name for number in numbers} - {""}))

    def find_told_changes(self) -> AttackOutcome:
        """Find the sets of cells with few newcomers or few leavers."""
        told = tuple(self._list_told_changes())
        return AttackOutcome(revealed_cells=told, blamed=self._name_tables(told))

    def _list_told_changes(self) -> Iterable[RevealedCell]:
        sets = [
            (number, cells)
            for number, table in enumerate(self.tables)
            for cells in table.changes
        ]
        if not sets:
            return
        atoms = []
        signs = []
        for number, cells in sets:
            today = np.concatenate([self.today[number, cell] for cell in cells])
            past = np.concatenate([self.places[number, cell] for cell in cells])
            atoms.append(np.concatenate([today, past]))
            signs.append(np.repeat([1.0, -1.0], [len(today), len(past)]))
        matrix = self._stack(atoms, signs)
        base = np.round(matrix @ self.low).astype(np.int64)
        weights = matrix[:, self.free].tocsr()
        least = np.array([self.tables[number].threshold for number, _ in sets])
        is_open = np.ones(len(sets), dtype=bool)
        # 1. Look for solutions in which many people come, or leave, in many sets
        for sign in (1, -1):
            rows = np.flatnonzero(is_open)
            if not len(rows):
                break
            seen = _KnownSolutions(sign * weights[rows], sign * base[rows], least[rows])
            solution = self._find_spread_solution(
                sign * weights[rows], (least - sign * base)[rows]
            )
            if solution is not None:
                seen.record(solution)
            is_open[rows] = seen.is_open
        # 2. Decide the remaining sets one by one
        for row in np.flatnonzero(is_open).tolist():
            line = _dense_row(weights, row)
            highest, _, proof = self._maximize(line)
            top = base[row] + highest
            if math.isnan(top) or top >= least[row] - INTEGER_TOLERANCE:
                continue
            bottom = base[row] - self._maximize(-line)[0]
            is_few = bottom > INTEGER_TOLERANCE - least[row]
            if is_few and max(top, -bottom) > INTEGER_TOLERANCE:
                number, cells = sets[row]
                yield RevealedCell(
                    table=number,
                    cell=cells[0],
                    # decided atoms are in no equation of the program
                    proof=(*proof, *self._find_cells_sharing_atoms(atoms[row])),
                )

    def _find_ends(self, atoms: Ints) -> tuple[float, float]:
        """Return the fewest and most people of some atoms."""
        weights, base = self._weigh([atoms])
        line = _dense_row(weights, 0)
        low, high = (sign * self._bound_whole_sum(sign * line) for sign in (-1, 1))
        return base[0] + low, base[0] + high

    def bound_hidden_cells(
        self, table: int, on_progress: OnProgress
    ) -> dict[int, CountBounds]:
        """Bound the hidden cells of a table: exactly if they are few.

        Otherwise the bounds are the smallest and largest counts in two solutions.
        """
        counts = self.tables[table].counts
        cells = [cell for cell, count in enumerate(counts) if count is None]
        weights, base = self._weigh([self.places[table, cell] for cell in cells])
        found = {}
        if len(cells) <= MAX_EXACT_INTERVALS:
            for number, cell in enumerate(cells):
                low, high = self._find_ends(self.places[table, cell])
                on_progress("bounding", (number + 1) / len(cells))
                if math.isfinite(low) and math.isfinite(high):
                    found[cell] = CountBounds(
                        low=int(low), high=int(high), is_exact=True
                    )
            return found
        needed = np.array([self.tables[table].needed_in(cell) for cell in cells])
        seen = _KnownSolutions(weights, base, needed)
        for sign in (1, -1):
            solution = self._find_spread_solution(
                sign * weights, np.maximum(sign * (needed - base), 0)
            )
            if solution is not None:
                seen.record(solution)
        for number, cell in enumerate(cells):
            low, high = seen.low[number], seen.high[number]
            if math.isfinite(low) and math.isfinite(high):
                found[cell] = CountBounds(low=int(low), high=int(high), is_exact=False)
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
            bounds=np.column_stack([np.repeat([0.0, -np.inf], [atoms, cells]), most]),
            method="highs-ds",
        )
        return program.round_solution(result.x[:atoms]) if result.status == 0 else None

    def _find_proof(self, atoms: Ints) -> CellPlaces:
        """Return shown cells from which propagation found the most people of atoms."""
        needs_high = np.zeros(self.size, dtype=bool)
        needs_high[atoms] = True
        needs_low = np.zeros(self.size, dtype=bool)
        used = np.zeros(self.matrix.shape[0], dtype=bool)
        for step in reversed(self.steps):
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
        owners = (self.owners[line] for line in np.flatnonzero(used))
        return tuple(owner for owner in owners if owner is not None)

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

    def _find_cells_sharing_atoms(self, atoms: Ints) -> CellPlaces:
        """Return the shown cells that share atoms with a sum."""
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


def _mark_members(sets: Sequence[Ints], size: int) -> Any:
    """Return a sparse (sets, size) matrix of the members of sets."""
    from scipy import sparse

    return sparse.csr_array(
        (
            np.ones(sum(map(len, sets))),
            np.concatenate([np.zeros(0, dtype=np.int64), *sets]),
            np.cumsum([0, *map(len, sets)]),
        ),
        shape=(len(sets), size),
    )


def _is_inside(before: tuple[float, float] | None, bounds: tuple[float, float]) -> bool:
    """Return whether bounds tell no more than those of before."""
    return before is not None and bounds[0] <= before[0] and bounds[1] >= before[1]


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
