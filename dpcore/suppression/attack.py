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

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.suppression._demands import Demand
from dpcore.suppression._reader import Reader
from dpcore.suppression.atoms import AtomBlocks
from dpcore.suppression.attacked import AttackedTable, KnownMap
from dpcore.suppression.outcome import (
    AttackOutcome,
    KnownBounds,
    Target,
    combine_outcomes,
)

FAMILIES_OF_READER = 10_000  # numbers of families that one kind of readers uses at most


def attack(
    tables: Sequence[AttackedTable],
    *,
    maps: Sequence[KnownMap] = (),
    known: KnownBounds | None = None,
    bounded_tables: Collection[int] = (),
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
        bounded_tables: tables whose hidden cells are bounded too, for the report.
        on_progress: called with the share of decided cells.

    Raises: LimitError for too many combinations; InfeasibleError if no people fit all
        counts.
    """
    known = {} if known is None else known
    usual_maps = [one for one in maps if not one.is_doubtful]
    outcomes = _attack_as_reader(
        tables,
        usual_maps,
        known,
        kind="usual maps",
        bounded_tables=bounded_tables,
        on_progress=on_progress,
    )
    if len(usual_maps) < len(maps):
        outcomes += _attack_as_reader(
            tables,
            maps,
            known,
            kind="all maps",
            first_group=len(tables) + FAMILIES_OF_READER,
            skipped=_list_told(outcomes),
            on_progress=on_progress,
        )
    return combine_outcomes(outcomes)


def _list_told(outcomes: Iterable[AttackOutcome]) -> frozenset[Target]:
    """Return what the new table tells; what was told before, it may tell to others."""
    return frozenset(one.target for own in outcomes for one in own.revealed_cells)


def _attack_as_reader(
    tables: Sequence[AttackedTable],
    maps: Sequence[KnownMap],
    known: KnownBounds,
    *,
    kind: str,
    on_progress: OnProgress,
    first_group: int | None = None,
    skipped: frozenset[Target] = frozenset(),
    bounded_tables: Collection[int] = (),
) -> list[AttackOutcome]:
    """Attack as readers who have some maps, and as those who know less of them.

    Args:
        kind: name of their maps.
        first_group: number of the first families whose groups no table shows.
        skipped: demands that are told anyway.
    """
    blocks = AtomBlocks(tables, maps)
    errors = blocks.find_errors()
    every_pair = frozenset(group.pair for group in blocks.find_rare_groups())
    outcomes: list[AttackOutcome] = []

    def make_reader(
        numbers: str, counted_pairs: frozenset[int], most_errors: int | None = None
    ) -> Reader:
        return Reader(
            tables,
            blocks,
            known,
            kind=f"{kind}, {numbers}",
            counted_pairs=counted_pairs,
            most_errors=most_errors,
            first_group=first_group,
        )

    def ask(reader: Reader, demands: Sequence[Demand], told: frozenset[Target]) -> None:
        asked = [
            one
            for one in demands
            if one.target not in told and not reader.is_settled(one)
        ]
        outcomes.append(reader.decide(asked, on_progress))

    def ask_trusting(
        reader: Reader, numbers: str, counted_pairs: frozenset[int]
    ) -> None:
        if len(errors):
            fewest = reader.find_fewest(errors)
            trusting = make_reader(f"{numbers}, few errors", counted_pairs, fewest)
            ask(trusting, trusting.list_demands(), skipped | _list_told(outcomes))
            outcomes.append(AttackOutcome(programs=trusting.solved_programs))

    # 1. Readers with maps: they know how few people have each rare pair
    reader = make_reader("all numbers", every_pair)
    demands = reader.list_demands()
    ask(reader, demands, skipped)
    outcomes.append(reader.find_told_changes())
    demands = [one for one in demands if reader.is_settled(one)]
    outcomes.append(AttackOutcome(programs=reader.solved_programs))
    ask_trusting(reader, "all numbers", every_pair)
    # 2. Readers who know these numbers of all pairs but those of a group
    by_pairs: dict[frozenset[int], list[Demand]] = {}
    for one in demands:
        by_pairs.setdefault(reader.find_rare_pairs(one), []).append(one)
    for pairs, own in by_pairs.items():
        if pairs and pairs != every_pair:
            less_aware = make_reader("other numbers", every_pair - pairs)
            ask(less_aware, own, skipped | _list_told(outcomes))
            outcomes.append(AttackOutcome(programs=less_aware.solved_programs))
    # 3. Readers who know no number
    if every_pair:
        reader = make_reader("no number", frozenset())
        ask(reader, demands, skipped | _list_told(outcomes))
        ask_trusting(reader, "no number", frozenset())
        demands = [one for one in demands if reader.is_settled(one)]
    for table in bounded_tables:
        bounds = reader.bound_hidden_cells(table, on_progress)
        outcomes.append(AttackOutcome(bounds=bounds))
    outcomes.append(AttackOutcome(programs=reader.solved_programs))
    # 4. Readers without maps
    targets = {one.target for one in demands}
    if targets and blocks.maps:
        reader = Reader(
            tables,
            AtomBlocks(tables, ()),
            known,
            kind=f"{kind}, not known",
            first_group=first_group,
        )
        demands = [one for one in reader.list_demands() if one.target in targets]
        ask(reader, demands, skipped)
        outcomes.append(AttackOutcome(programs=reader.solved_programs))
    return outcomes


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
            occupied_cells=frozenset(),
            complete_columns=table.complete_columns - dropped,
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
