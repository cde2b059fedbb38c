"""Attack published tables: find how closely they reveal their hidden counts.

It reads nothing but what is published and what attackers are said to know, and it
shares no code with the choice of hidden cells. The people of all tables are cut into
atoms, the smallest sets that the tables tell apart (see `atoms`). A published count is
an equation over the atoms of its cell (`_equations`). If people came or left since, the
people of then have variables of their own. What must stay possible is listed by
`_demands`, why cells may be hidden by `_reasons`, and both are decided for one kind of
readers after the other by `_reader`, with the programs of `_programs`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.suppression._demands import Demand
from dpcore.suppression._memory import AttackMemory
from dpcore.suppression._reader import Reader
from dpcore.suppression.atoms import AtomBlocks
from dpcore.suppression.attacked import AttackedTable, KnownMap
from dpcore.suppression.outcome import (
    AttackOutcome,
    CountBounds,
    KnownBounds,
    Place,
    Target,
    combine_outcomes,
)

OWN_FAMILIES = 10_000  # numbers of families that one kind of readers uses at most


def attack(
    tables: Sequence[AttackedTable],
    *,
    maps: Sequence[KnownMap] = (),
    known: KnownBounds | None = None,
    memory: AttackMemory | None = None,
    stops_at_first: bool = False,
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
        memory: of attacks on other versions of these tables.
        stops_at_first: whether the first thing that is told is enough to know. If
            nothing is told, all readers were asked as without it.
        on_progress: called with the share of decided cells.

    Raises: LimitError for too many combinations; InfeasibleError if no people fit all
        counts.
    """
    known = {} if known is None else known
    memory = AttackMemory() if memory is None else memory
    usual_maps = [one for one in maps if not one.is_doubtful]
    kinds = [("usual maps", usual_maps)]
    if len(usual_maps) < len(maps):
        kinds.append(("all maps", [*maps]))
        if stops_at_first and memory.last_told.startswith("all maps"):
            kinds.reverse()
    outcomes: list[AttackOutcome] = []
    for number, (kind, own_maps) in enumerate(kinds):
        tell = divide_progress(on_progress, number, len(kinds))
        audience = _Audience(
            tables,
            own_maps,
            known,
            kind=kind,
            first_group=None if kind == "usual maps" else len(tables) + OWN_FAMILIES,
            # what the new table tells; what was told before, it may tell to others
            skipped=_list_told(outcomes),
            memory=memory,
            stops_at_first=stops_at_first,
            on_progress=tell,
        )
        audience.ask_all()
        outcomes += audience.outcomes
        if stops_at_first and _list_told(outcomes):
            break
    return combine_outcomes(outcomes)


def divide_progress(on_progress: OnProgress, number: int, parts: int) -> OnProgress:
    """Return a callback that takes the share of one of several equal parts."""

    def tell(stage: str, share: float) -> None:
        on_progress(stage, (number + share) / parts)

    return tell


def bound_hidden_cells(
    tables: Sequence[AttackedTable],
    bounded_tables: Collection[int],
    *,
    maps: Sequence[KnownMap] = (),
    on_progress: OnProgress = ignore_stage_progress,
) -> dict[Place, CountBounds]:
    """Bound the hidden cells of some tables, for readers who know no number.

    Args:
        tables, maps, on_progress: as of `attack`.
    """
    blocks = AtomBlocks(tables, [one for one in maps if not one.is_doubtful])
    reader = Reader(tables, blocks, {}, kind="usual maps")
    bounds: dict[Place, CountBounds] = {}
    for number, table in enumerate(bounded_tables):
        tell = divide_progress(on_progress, number, len(bounded_tables))
        bounds |= reader.bound_hidden_cells(table, tell)
    return bounds


def _list_told(outcomes: Iterable[AttackOutcome]) -> frozenset[Target]:
    """Return what some readers can tell."""
    return frozenset(one.target for own in outcomes for one in own.revealed_cells)


class _Audience:
    """Readers who have some maps, and those who know less of them.

    Args:
        kind: name of their maps.
        first_group: number of the first families whose groups no table shows.
        skipped: demands that are told anyway.

    Attributes:
        outcomes: what was found by now.
    """

    def __init__(
        self,
        tables: Sequence[AttackedTable],
        maps: Sequence[KnownMap],
        known: KnownBounds,
        *,
        kind: str,
        first_group: int | None,
        skipped: frozenset[Target],
        memory: AttackMemory,
        stops_at_first: bool,
        on_progress: OnProgress,
    ) -> None:
        self.outcomes: list[AttackOutcome] = []
        self._tables = tables
        self._known = known
        self._kind = kind
        self._first_group = first_group
        self._skipped = skipped
        self._memory = memory
        self._stops_at_first = stops_at_first
        self._on_progress = on_progress
        self._blocks = AtomBlocks(tables, maps)
        self._errors = self._blocks.find_errors()
        groups = self._blocks.find_rare_groups()
        self._every_pair = frozenset(group.pair for group in groups)
        self._informed = self._make_reader(
            self._blocks, "all numbers", self._every_pair
        )
        self._demands = self._informed.list_demands()
        self._settled = [one for one in self._demands if self._informed.is_settled(one)]

    def _make_reader(
        self, blocks: AtomBlocks, name: str, counted_pairs: Collection[int] = ()
    ) -> Reader:
        return Reader(
            self._tables,
            blocks,
            self._known,
            kind=f"{self._kind}, {name}",
            counted_pairs=counted_pairs,
            first_group=self._first_group,
            memory=self._memory,
            stops_at_first=self._stops_at_first,
        )

    def ask_all(self) -> None:
        """Ask all kinds of readers; if one thing told is enough, until it is found."""
        questions = self._list_questions()
        if self._stops_at_first:
            # those who told something the last time are asked first
            questions.sort(key=lambda one: one[0] != self._memory.last_told)
        for number, (name, ask) in enumerate(questions):
            ask(divide_progress(self._on_progress, number, len(questions)))
            if self._stops_at_first and _list_told(self.outcomes):
                self._memory.last_told = name
                return

    def _list_questions(self) -> list[tuple[str, Callable[[OnProgress], None]]]:
        """Return the questions to readers, with their names."""
        all_numbers = f"{self._kind}, all numbers"
        no_number = f"{self._kind}, no number"
        informed = self._informed
        # 1. Readers with maps: they know how few people have each rare pair
        questions: list[tuple[str, Callable[[OnProgress], None]]] = [
            (all_numbers, lambda tell: self._ask(informed, self._demands, tell)),
            (f"{self._kind}, changes", self._ask_for_changes),
        ]
        if len(self._errors):
            questions.append(
                (
                    f"{all_numbers}, few errors",
                    lambda tell: self._ask_trusting(informed, self._every_pair, tell),
                )
            )
        # 2. Readers who know these numbers of all pairs but those of a group
        by_pairs: dict[frozenset[int], list[Demand]] = {}
        for one in self._settled:
            by_pairs.setdefault(informed.find_rare_pairs(one), []).append(one)
        for pairs, own in by_pairs.items():
            if pairs and pairs != self._every_pair:
                name = f"{self._kind}, but {sorted(pairs)}"
                ask = functools.partial(self._ask_less_aware, pairs, own)
                questions.append((name, ask))
        # 3. Readers who know no number
        unaware = informed
        if self._every_pair:
            unaware = informed.with_limits(no_number, ())
            questions.append(
                (no_number, lambda tell: self._ask(unaware, self._settled, tell))
            )
            if len(self._errors):
                questions.append(
                    (
                        f"{no_number}, few errors",
                        lambda tell: self._ask_trusting(unaware, frozenset(), tell),
                    )
                )
        # 4. Readers without maps
        targets = {one.target for one in self._settled if unaware.is_settled(one)}
        if targets and self._blocks.maps:
            ask = functools.partial(self._ask_without_maps, targets)
            questions.append((f"{self._kind}, not known", ask))
        return questions

    def _ask(
        self,
        reader: Reader,
        demands: Sequence[Demand],
        on_progress: OnProgress,
    ) -> None:
        """Ask readers for all demands that are not told to others."""
        told = self._skipped | _list_told(self.outcomes)
        asked = [
            one
            for one in demands
            if one.target not in told and not reader.is_settled(one)
        ]
        before = reader.solved_programs
        outcome = reader.decide(asked, on_progress)
        self.outcomes.append(replace(outcome, programs=reader.solved_programs - before))

    def _ask_for_changes(self, on_progress: OnProgress) -> None:
        before = self._informed.solved_programs
        outcome = self._informed.find_told_changes()
        programs = self._informed.solved_programs - before
        self.outcomes.append(replace(outcome, programs=programs))

    def _ask_trusting(
        self, reader: Reader, counted_pairs: frozenset[int], on_progress: OnProgress
    ) -> None:
        """Ask readers who take errors to be as few as others think possible."""
        before = reader.solved_programs
        fewest = reader.find_fewest(self._errors)
        programs = reader.solved_programs - before
        self.outcomes.append(AttackOutcome(programs=programs))
        name = f"{reader.kind}, few errors"
        trusting = reader.with_limits(name, counted_pairs, fewest)
        self._ask(trusting, trusting.list_demands(), on_progress)

    def _ask_less_aware(
        self,
        pairs: frozenset[int],
        demands: Sequence[Demand],
        on_progress: OnProgress,
    ) -> None:
        """Ask readers who do not know how many people have some rare pairs."""
        reader = self._informed.with_limits(
            f"{self._kind}, other numbers", self._every_pair - pairs
        )
        self._ask(reader, demands, on_progress)

    def _ask_without_maps(
        self, targets: Collection[Target], on_progress: OnProgress
    ) -> None:
        reader = self._make_reader(AtomBlocks(self._tables, ()), "not known")
        asked = [
            one
            for one in reader.list_demands()
            if one.target in targets and one.target not in self._skipped
        ]
        outcome = reader.decide(asked, on_progress)
        self.outcomes.append(replace(outcome, programs=reader.solved_programs))


def find_known_bounds(
    tables: Sequence[AttackedTable],
    new: Collection[int],
    maps: Sequence[KnownMap] = (),
) -> KnownBounds:
    """Return the bounds of what all tables but the new ones tell too closely.

    New tables that leave these bounds as they are, for each kind of readers, add
    nothing. Nobody is taken to know who is in their cells: what is assumed may refuse a
    table, but never excuse one.
    """
    dropped = _find_dropped_columns(tables, new)
    without = [
        replace(
            table,
            counts=(None,) * len(table.counts),
            ranges={},
            occupied_cells=frozenset(),
            complete_columns=table.complete_columns - dropped,
            hides_small_alone=False,  # nobody knows yet which cells it hides
        )
        if number in new
        else table
        for number, table in enumerate(tables)
    ]
    # Whatever is told counts as known, so all kinds of readers are asked of it
    outcome = attack(without, maps=maps, known=_AskForAll())
    return {
        (told.reader, told.target): told.bounds
        for told in (*outcome.known_cells, *outcome.revealed_cells)
        # with other values, groups that no table shows have other numbers
        if told.table < len(tables) or not dropped
    }


def drop_occupied_cells(tables: Sequence[AttackedTable]) -> list[AttackedTable]:
    """Return the tables; of those that people left or joined since, nobody knows which
    cells hold somebody today.
    """
    return [
        replace(table, occupied_cells=frozenset()) if table.is_changed else table
        for table in tables
    ]


def _find_dropped_columns(
    tables: Sequence[AttackedTable], new: Collection[int]
) -> frozenset[str]:
    """Return the columns of which a new table does not list a value of others."""
    listed: dict[str, set[str]] = {}
    for name, axis in _list_axes(tables):
        listed.setdefault(name, set()).update(*axis)
    return frozenset(
        name
        for name, axis in _list_axes(tables[number] for number in new)
        if set[str]().union(*axis) < listed[name]
    )


def _list_axes(
    tables: Iterable[AttackedTable],
) -> Iterable[tuple[str, list[frozenset[str]]]]:
    """Return the column and the groups of each axis."""
    for table in tables:
        for name, axis in zip(table.columns, table.groups, strict=True):
            yield name, [group for group in axis if group is not None]


class _AskForAll(dict[tuple[str, Target], tuple[float, float] | None]):
    """Known bounds that ask for those of every target, and lie within all."""

    def __contains__(self, target: object) -> bool:
        return True

    def __missing__(self, target: object) -> tuple[float, float]:
        return math.inf, -math.inf
