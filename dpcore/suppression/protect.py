"""Hide cells of tables until attacks on them and all earlier tables fail.

Tables that are published together are protected together: where they tell something, a
cell of any of them may be hidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from dpcore.errors import InfeasibleError, ParameterError
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.suppression._draft import (
    Draft,
    find_occupied_cells,
    find_unrelated_columns,
)
from dpcore.suppression._memory import AttackMemory
from dpcore.suppression.atoms import AtomBlocks
from dpcore.suppression.attack import (
    attack,
    bound_hidden_cells,
    drop_occupied_cells,
    find_known_bounds,
)
from dpcore.suppression.attacked import AttackedTable, KnownMap
from dpcore.suppression.outcome import (
    AttackOutcome,
    CountBounds,
    KnownBounds,
    Place,
    combine_outcomes,
)
from dpcore.suppression.plan import TablePlan
from dpcore.suppression.published import ExactTable, PublishedTable
from dpcore.suppression.rounding import TableToRound, round_counts
from dpcore.suppression.versions import (
    EarlierTables,
    find_changed_cells,
    find_complete_columns,
    find_moved_cells,
    match_cells,
    match_close_counts,
    see_past,
    see_today,
)

MAX_REPAIR_ROUNDS = 200  # rounds of attack and suppression
MAX_DRAWN_ROUNDINGS = 5  # of which the first that tells nothing is taken

MAX_CELLS_SHOWN_AGAIN = 1_000  # of tables whose cells are shown again after repairs
MAX_CELLS_OF_ORDERS = 1_000  # of tables of which each one is tried as the first
MAX_ATTACKS_TO_SHOW = 100  # attacks, each with some hidden cells shown
COST_OF_TWIN = 2.0
"""Cost of hiding a cell of another table too, which then hides further cells."""
SHARE_TO_CHOOSE = 0.1  # of the progress that is left, for choosing cells of one table
SHARE_OF_ROUND = 0.15  # of the progress that is left, for one round of attacks
SHARE_TO_SHOW = 0.8  # of the progress that is left, for showing cells again
NEW_BUNDLE = "new"  # mark of tables that are not published yet

Ints = npt.NDArray[np.int64]


def protect_table(
    plan: TablePlan,
    counts: Ints,
    earlier_tables: EarlierTables = (),
    maps: Sequence[KnownMap] = (),
    on_progress: OnProgress = ignore_stage_progress,
) -> ExactTable:
    """Protect a single table, see `protect_tables`."""
    return protect_tables([plan], [counts], earlier_tables, maps, on_progress)[0]


def protect_tables(
    plans: Sequence[TablePlan],
    counts: Sequence[Ints],
    earlier_tables: EarlierTables = (),
    maps: Sequence[KnownMap] = (),
    on_progress: OnProgress = ignore_stage_progress,
) -> list[ExactTable]:
    """Hide cells until an attack reveals no count of these or of earlier tables.

    One table comes first; each further one shows no cell that another one hides. Where
    they tell something together, the attack chooses a cell of any of them. Of small
    tables, each one is tried as the first, and the fewest hidden people are best; of
    others, the most detailed one is. If the plans have a rounding base, all counts are
    rounded in place of that.

    Args:
        plans: with hierarchies, of tables that are published together.
        counts: of each table, (cells,) people in each cell of its layout.
        earlier_tables: tables that were published about the same people, with the
            people of today; some may have come or left.
        maps: what readers know of pairs of columns of all these tables.
        on_progress: called with the stage and the share done, which never falls. The
            stages are "suppressing", "attacking" with the round and how many more
            cells are hidden by now, "showing" with how many cells are left to be shown
            again, and "bounding"; of rounded tables, "rounding" and "checking".

    Returns: the tables in the order of their plans.

    Raises: InfeasibleError if the tables cannot be published together; ParameterError
        for an exception that names no cell or is not needed.
    """
    _check_different(plans)
    check_rounding([plan.rounding_base for plan in plans], earlier_tables)
    if plans[0].rounding_base:
        return _round_tables(plans, counts, earlier_tables, maps, on_progress)
    threshold = max(plan.rule.threshold for plan in plans)
    prepared = _Bundle(
        drafts=[
            Draft.prepare(
                plan,
                own,
                earlier_tables,
                maps,
                threshold=threshold,
                is_first=not earlier_tables and len(plans) == 1,
            )
            for plan, own in zip(plans, counts, strict=True)
        ],
        earlier_tables=earlier_tables,
        maps=maps,
        progress=_Progress(on_progress),
    )
    prepared.share_reasons()
    order = sorted(range(len(plans)), key=lambda at: -prepared.drafts[at].layout.size)
    is_small = prepared.size <= MAX_CELLS_OF_ORDERS
    best: _Bundle | None = None
    refusal: InfeasibleError | None = None
    for first in order if is_small else order[:1]:
        bundle = prepared.copy()
        try:
            bundle.add_tables([first, *(at for at in order if at != first)])
        except InfeasibleError as error:
            refusal = refusal or error
            continue
        if best is None or bundle.hidden_people < best.hidden_people:
            best = bundle
    if best is None:
        assert refusal is not None
        raise refusal
    return best.finish()


def check_rounding(bases: Sequence[int], earlier_tables: EarlierTables) -> None:
    """Refuse rounded tables that cannot be checked together with others.

    Args:
        bases: of new tables, 0 if counts are hidden.

    Raises: InfeasibleError; ParameterError for a list of tables of both kinds.
    """
    before = {table.rounding_base for table, _ in earlier_tables} - {0}
    rounded = before.union(bases) - {0}
    if not rounded:
        return
    if 0 in bases and max(bases) > 0:
        raise ParameterError(
            "some tables of the list are rounded, and others hide counts",
            remedy="round all of them, or none",
        )
    if len(rounded) > 1:
        raise InfeasibleError(
            "the counts of all rounded tables about the same people must be multiples of "
            "the same number: {base}",
            remedy="round to multiples of this number, by a rule that allows it",
            base=max(before, default=max(bases)),
        )
    changed = [
        table.name
        for table, people in earlier_tables
        if find_changed_cells(table, people).any()
    ]
    if changed:
        raise InfeasibleError(
            "people came or left since an exact table, and rounded counts of different "
            "people cannot be checked together: {tables}",
            remedy="open the file of that table, or hide small counts if no rounded "
            "table was published",
            tables=", ".join(changed),
        )


def _round_tables(
    plans: Sequence[TablePlan],
    counts: Sequence[Ints],
    earlier_tables: EarlierTables,
    maps: Sequence[KnownMap],
    on_progress: OnProgress,
) -> list[ExactTable]:
    """Round the counts of tables until an attack tells no small count.

    Args:
        plans, counts, earlier_tables, maps, on_progress: as of `protect_tables`.

    Raises: InfeasibleError if the tables cannot be published together.
    """
    base = plans[0].rounding_base
    if counts[0][0] < base:
        raise InfeasibleError(
            "the file has fewer people than the number to whose multiples counts are "
            "rounded, {base}",
            remedy="round to multiples of a smaller number, or open a larger file",
            base=base,
        )
    layouts = [plan.build_layout() for plan in plans]
    unrounded = [
        PublishedTable(
            layout=layout,
            counts=tuple(own.tolist()),
            rule=plan.rule,
            unrelated=find_unrelated_columns(plan, earlier_tables),
            occupied=tuple(find_occupied_cells(plan, layout, own).tolist()),
            miscoded=tuple(
                known.nesting for known in maps if known.errors and known.nesting
            ),
            rounding_base=base,
            people=int(own[0]),
        )
        for plan, layout, own in zip(plans, layouts, counts, strict=True)
    ]
    progress = _Progress(on_progress)
    attacker = _Attacker(
        counts=counts,
        earlier_tables=earlier_tables,
        maps=maps,
        on_progress=progress.tell,
    )
    outcome = AttackOutcome()
    for _ in range(MAX_DRAWN_ROUNDINGS):
        progress.begin("rounding", SHARE_TO_CHOOSE)
        tables = [
            replace(table, counts=tuple(own.tolist()))
            for table, own in zip(
                unrounded, attacker.round_counts(unrounded, base), strict=True
            )
        ]
        progress.begin("checking", SHARE_OF_ROUND)
        outcome = attacker.attack(tables, stops_at_first=True)
        if not outcome.revealed_cells:
            break
    else:
        raise _rounded_refusal_error(outcome)
    names = tuple(before.name for before, _ in earlier_tables)
    return [
        ExactTable(
            plan=plan,
            published=count_versions(table, earlier_tables, len(plans), maps),
            true_counts=tuple(own.tolist()),
            reasons={},
            bounds={},
            earlier_tables=names,
            solved_programs=outcome.programs,
            bundle_tables=tuple(other.title for other in tables if other is not table),
            told_before=len({one.target for one in outcome.known_cells}),
            unlisted=_list_incomplete(earlier_tables),
            miscoded_people=_count_miscoded(maps),
        )
        for plan, table, own in zip(plans, tables, counts, strict=True)
    ]


def _rounded_refusal_error(outcome: AttackOutcome) -> InfeasibleError:
    """Return the error for rounded tables that tell something."""
    if outcome.blamed:
        return InfeasibleError(
            "together with an earlier exact table, the rounded counts would tell that "
            "some counts are small: {tables}",
            remedy="publish other groups, or coarser ones, or round to multiples of a "
            "larger number",
            tables=", ".join(outcome.blamed),
        )
    return InfeasibleError(
        "the rounded counts would tell that some counts are small",
        remedy="use coarser groups, or round to multiples of a larger number",
    )


def _list_incomplete(earlier_tables: EarlierTables) -> tuple[str, ...]:
    """Return the names of the earlier tables that lack values of today."""
    return tuple(
        before.name
        for before, people in earlier_tables
        if len(find_complete_columns(before, people)) < len(before.layout.axes)
    )


def _count_miscoded(maps: Sequence[KnownMap]) -> int:
    """Count the people whose rare pairs of values are errors of coding."""
    return sum(known.rare[pair] for known in maps for pair in known.errors)


def _check_different(plans: Sequence[TablePlan]) -> None:
    """Refuse a bundle without tables, or with the same table twice."""
    layouts = [frozenset(plan.build_layout().axes) for plan in plans]
    if not plans or len({*layouts}) < len(plans):
        raise ParameterError(
            "two tables of a list have the same columns and groups",
            remedy="name each table once",
        )


class _Progress:
    """Tells stages and rounds, with a share that never falls.

    Nobody knows before how many rounds there will be, so each stage takes a part of
    what is left.
    """

    def __init__(self, on_progress: OnProgress) -> None:
        self._on_progress = on_progress
        self._stage = ""
        self._rounds = 0
        self._start = self._end = self._reached = 0.0

    def begin(self, stage: str, part: float) -> None:
        """Begin a stage.

        Args:
            part: of the progress that is left.
        """
        self._stage = stage
        self._start = self._reached
        self._end = self._start + part * (1 - self._start)
        self.tell(stage, 0)

    def begin_round(self, more_hidden: int) -> None:
        """Begin a round of attacks, after which more cells may be hidden."""
        self._rounds += 1
        self.begin(f"attacking {self._rounds} {more_hidden}", SHARE_OF_ROUND)

    def tell(self, _: str, share: float) -> None:
        """Tell the share done of the present stage."""
        done = self._start + share * (self._end - self._start)
        self._reached = max(self._reached, done)
        self._on_progress(self._stage, self._reached)

    def tell_left(self, left: int, *, of: int) -> None:
        """Tell how many cells are left to be shown again."""
        self._stage = f"showing {left}"
        self.tell(self._stage, 1 - left / max(1, of))


@dataclass(kw_only=True, eq=False)
class _Bundle:
    """Tables that are published together, while cells of each may still be hidden.

    A cell is one of several twins if other tables of the bundle have a cell of the same
    people. Twins are shown or hidden together.

    Attributes:
        drafts: the tables.
        earlier_tables, maps: as of `protect_tables`.
        progress: of all tables, and of all orders that are tried.
        added: the tables that were attacked by now.
        blamed: names of earlier tables that told something.
        nestings: pairs of columns of which rare pairs were told.
        experience: of attacks on all versions.
        withstood: the last tables that withstood an attack, with its outcome.
    """

    drafts: list[Draft]
    earlier_tables: EarlierTables
    maps: Sequence[KnownMap]
    progress: _Progress
    added: Sequence[int] = ()
    blamed: set[str] = field(default_factory=set)
    nestings: set[tuple[str, str]] = field(default_factory=set)
    experience: _Experience = field(default_factory=lambda: _Experience())
    withstood: tuple[list[PublishedTable], AttackOutcome] | None = None

    def __post_init__(self) -> None:
        self._twins = {
            (one, other): match_cells(first.layout, second.layout)
            for one, first in enumerate(self.drafts)
            for other, second in enumerate(self.drafts)
            if one != other
        }

    def _list_twins(self, place: Place) -> list[Place]:
        """Return a cell and its twins in the other tables."""
        table, cell = place
        return [
            place,
            *(
                (other, int(cells[cell]))
                for (one, other), cells in self._twins.items()
                if one == table and cells[cell] >= 0
            ),
        ]

    def copy(self) -> _Bundle:
        """Return a bundle of which other cells can be hidden."""
        drafts = [
            replace(draft, hidden=draft.hidden.copy(), chosen=draft.chosen.copy())
            for draft in self.drafts
        ]
        return replace(
            self,
            drafts=drafts,
            blamed=set(),
            nestings=set(),
            experience=_Experience(),
            withstood=None,
        )

    @property
    def size(self) -> int:
        """Number of cells of all tables."""
        return sum(draft.layout.size for draft in self.drafts)

    @property
    def hidden_people(self) -> int:
        """Sum of the hidden counts."""
        return sum(int(draft.counts[draft.hidden].sum()) for draft in self.drafts)

    def share_reasons(self) -> None:
        """Hide in each table what the rule of another one hides, and show what it shows.

        Raises: InfeasibleError for an exception that another table would hide.
        """
        own = [list(draft.reasons) for draft in self.drafts]
        for table, cells in enumerate(own):
            for cell in cells:
                for other, twin in self._list_twins((table, cell))[1:]:
                    if twin in self.drafts[other].unhidden.exceptions:
                        raise InfeasibleError(
                            "an exception is for a cell that another table of the list "
                            "hides: {tables}",
                            remedy="leave this exception out, or give it for both tables",
                            tables=self.drafts[table].unhidden.title,
                        )
                    self.drafts[other].must_hide(twin, "other table")
        for (one, other), twins in self._twins.items():
            is_kept = (twins >= 0) & self.drafts[one].is_kept
            self.drafts[other].is_kept[twins[is_kept]] = True

    def _hide(self, places: Iterable[Place]) -> None:
        """Hide cells and their twins."""
        for place in places:
            for table, cell in self._list_twins(place):
                self.drafts[table].hidden[cell] = True

    def add_tables(self, order: Sequence[int]) -> None:
        """Hide cells of one table after the other, until attacks on all fail.

        Raises: InfeasibleError if that is impossible, or a table shows nothing new.
        """
        for number in range(len(order)):
            self._add_table(order[: number + 1])
        self._show_unneeded()
        self._check_shown()

    def _add_table(self, added: Sequence[int]) -> None:
        """Hide cells of a further table, then of all added ones until attacks fail.

        Args:
            added: all tables by now, the further one is the last.

        Raises: InfeasibleError if that is impossible.
        """
        self.added = added
        new = added[-1]
        draft = self.drafts[new]
        shown = []
        for other in added[:-1]:
            cells = self._twins[other, new]
            is_hidden = self.drafts[other].hidden
            draft.hidden[cells[(cells >= 0) & is_hidden]] = True
            shown += cells[(cells >= 0) & ~is_hidden].tolist()
        weights = np.ones(draft.layout.size)
        for other in range(len(self.drafts)):
            if other != new:
                weights[self._twins[new, other] >= 0] += COST_OF_TWIN
        self.progress.begin("suppressing", SHARE_TO_CHOOSE)
        draft.choose_hidden(shown, weights, self.progress.tell)
        self._hide((new, cell) for cell in np.flatnonzero(draft.hidden).tolist())
        attacker = self._make_attacker()
        for _ in range(MAX_REPAIR_ROUNDS):
            self.progress.begin_round(self._count_more_hidden())
            outcome = self._attack(attacker)
            if not outcome.revealed_cells:
                return
            self.blamed.update(outcome.blamed)
            self.nestings.update(outcome.told_nestings)
            more = self._choose_repairs(outcome)
            if not more:
                raise self._explain_refusal(outcome)
            self._hide(more)
        raise self._refusal_error()

    def _make_attacker(self) -> _Attacker:
        return _Attacker(
            counts=[self.drafts[at].counts for at in self.added],
            earlier_tables=self.earlier_tables,
            maps=self.maps,
            on_progress=self.progress.tell,
            experience=self.experience,
        )

    def _count_more_hidden(self) -> int:
        """Return how many cells are hidden because of attacks."""
        return sum(
            int((draft.hidden & ~draft.chosen).sum())
            for draft in (self.drafts[at] for at in self.added)
        )

    def _attack(
        self, attacker: _Attacker, *, stops_at_first: bool = False
    ) -> AttackOutcome:
        """Attack the added tables; remember them if they withstand."""
        tables = self._list_tables()
        outcome = attacker.attack(tables, stops_at_first=stops_at_first)
        if not outcome.revealed_cells:
            self.withstood = tables, outcome
        return outcome

    def _list_tables(self) -> list[PublishedTable]:
        """Return the added tables with their hidden cells."""
        return [self.drafts[at].as_table() for at in self.added]

    def _find_own(self, places: Iterable[Place]) -> set[Place]:
        """Return the cells of the bundle among some that an attack names."""
        first = len(self.earlier_tables)
        return {
            (self.added[number - first], cell)
            for number, cell in places
            if 0 <= number - first < len(self.added)
        }

    def _choose_repairs(self, outcome: AttackOutcome) -> set[Place]:
        """Return more cells to hide: for each revealed cell, the smallest in its proof."""
        more: set[Place] = set()

        def find_cost(place: Place) -> tuple[int, Place]:
            table, cell = place
            people = int(self.drafts[table].counts[cell])
            return people * len(self._list_twins(place)), place

        for told in outcome.revealed_cells:
            proof = self._find_own([*told.proof, (told.table, told.cell)]) - more
            choices = [
                (table, cell)
                for table, cell in proof
                if not self.drafts[table].hidden[cell]
                and not self.drafts[table].is_kept[cell]
            ]
            if choices:
                more.add(min(choices, key=find_cost))
        return more

    def _show_unneeded(self) -> None:
        """Show hidden cells again if all attacks still fail, the largest counts first.

        Many cells are tried at once, and halves of them if an attack succeeds. Each cell
        that stays hidden is needed: with it, the attack would reveal something.
        """
        is_repaired = any((one.hidden & ~one.chosen).any() for one in self.drafts)
        if not is_repaired or self.size > MAX_CELLS_SHOWN_AGAIN:
            return
        extra = [
            (table, cell)
            for table, draft in enumerate(self.drafts)
            for cell in np.flatnonzero(draft.hidden).tolist()
            if cell not in draft.reasons
            and min(self._list_twins((table, cell))) == (table, cell)
        ]
        extra.sort(key=lambda at: (-self.drafts[at[0]].counts[at[1]], at))
        attacker = replace(self._make_attacker(), on_progress=ignore_stage_progress)
        self.progress.begin(f"showing {len(extra)}", SHARE_TO_SHOW)
        untried = [extra]
        for _ in range(MAX_ATTACKS_TO_SHOW):
            if not untried:
                break
            left = sum(map(len, untried))
            self.progress.tell_left(left, of=len(extra))
            places = untried.pop()
            before = [draft.hidden.copy() for draft in self.drafts]
            for place in places:
                for table, cell in self._list_twins(place):
                    self.drafts[table].hidden[cell] = False
            if self._attack(attacker, stops_at_first=True).revealed_cells:
                for draft, hidden in zip(self.drafts, before, strict=True):
                    draft.hidden = hidden
                half = len(places) // 2
                if half:
                    untried += [places[half:], places[:half]]

    def _check_shown(self) -> None:
        """Refuse a table that shows nothing, or nothing new.

        Raises: InfeasibleError.
        """
        for draft in self.drafts:
            shown = np.flatnonzero(~draft.hidden).tolist()
            if self.blamed and draft.shown_before.keys() >= {*shown[1:]}:
                if self.nestings:
                    raise self._refusal_error()
                raise InfeasibleError(
                    "together with an earlier exact table, this one could show nothing "
                    "new: {tables}",
                    remedy="publish other groups, or coarser ones",
                    tables=", ".join(sorted(self.blamed)),
                )
            if draft.hidden.all():
                raise InfeasibleError(
                    "the rule hides every cell of this table",
                    remedy="use coarser groups, or a rule with a smaller number",
                )
            assert not draft.hidden[list(draft.unhidden.exceptions)].any()

    def finish(self) -> list[ExactTable]:
        """Return the tables with what their owner may see.

        They are attacked once more unless these very tables withstood the last attack.

        Raises: InfeasibleError if something is told after all.
        """
        attacker = self._make_attacker()
        tables = self._list_tables()
        if self.withstood is None or self.withstood[0] != tables:
            self.progress.begin_round(self._count_more_hidden())
            outcome = self._attack(attacker)
            if outcome.revealed_cells:
                raise self._explain_refusal(outcome)
        assert self.withstood is not None
        outcome = self.withstood[1]
        self.progress.begin("bounding", 1)
        found_bounds = attacker.bound_hidden_cells(tables)
        changed = {
            number
            for number, (before, people) in enumerate(self.earlier_tables)
            if find_changed_cells(before, people).any()
        }
        names = [before.name for before, _ in self.earlier_tables]
        return [
            ExactTable(
                plan=draft.plan,
                published=count_versions(
                    draft.as_table(),
                    self.earlier_tables,
                    len(self.drafts),
                    self.maps,
                ),
                true_counts=tuple(draft.counts.tolist()),
                reasons={
                    int(cell): draft.reasons.get(int(cell), "protects others")
                    for cell in np.flatnonzero(draft.hidden)
                },
                bounds={
                    cell: bounds
                    for (number, cell), bounds in found_bounds.items()
                    if self._find_own([(number, cell)]) == {(table, cell)}
                },
                earlier_tables=tuple(
                    name for at, name in enumerate(names) if at not in changed
                ),
                bundle_tables=tuple(
                    other.unhidden.title for other in self.drafts if other is not draft
                ),
                compared=tuple(names[at] for at in sorted(changed)),
                told_before=len({one.target for one in outcome.known_cells}),
                unlisted=_list_incomplete(self.earlier_tables),
                solved_programs=outcome.programs,
                miscoded_people=_count_miscoded(self.maps),
            )
            for table, draft in enumerate(self.drafts)
        ]

    def _explain_refusal(self, outcome: AttackOutcome) -> InfeasibleError:
        """Return the error if no cell is left that could be hidden."""
        drafts = [self.drafts[at] for at in self.added]
        dropped: dict[str, set[str]] = {}
        showing: set[str] = set()
        proofs = self._find_own(
            place for one in outcome.revealed_cells for place in one.proof
        )
        for at in self.added:
            draft = self.drafts[at]
            for column, names in _find_dropped_columns(
                outcome, draft, self.earlier_tables
            ).items():
                dropped.setdefault(column, set()).update(names)
            # how many people there are in all is known without these tables
            own = {cell for table, cell in proofs if table == at and cell}
            showing |= {
                draft.shown_before[cell] for cell in own & draft.shown_before.keys()
            }
        if dropped:
            return _dropped_value_error(dropped)
        has_exceptions = any(draft.unhidden.exceptions for draft in drafts)
        if showing and not self.blamed and not has_exceptions:
            return InfeasibleError(
                "an earlier exact table shows totals of this one, and hidden counts "
                "could be worked out from them: {tables}",
                remedy="use coarser groups; next time, publish the detailed table "
                "together with its totals",
                tables=", ".join(sorted(showing)),
            )
        return self._refusal_error()

    def _refusal_error(self) -> InfeasibleError:
        """Return the error for tables that cannot be protected, naming the cause."""
        blamed = sorted(self.blamed)
        nestings = sorted(self.nestings)
        if blamed and nestings:
            return InfeasibleError(
                "together with an earlier exact table, this one would tell of few people "
                "who have a rare pair of values, such as a town in another district: "
                "{columns} in {tables}",
                remedy="if these pairs are errors of coding, say so in the plan, or correct "
                "the rows; otherwise publish other groups, or coarser ones",
                columns=", ".join(" × ".join(pair) for pair in nestings),
                tables=", ".join(blamed),
                nestings=tuple(nestings),
            )
        if blamed:
            has_exceptions = any(draft.unhidden.exceptions for draft in self.drafts)
            return InfeasibleError(
                "together with an earlier exact table, this one would give hidden counts "
                "away: {tables}",
                remedy="leave out the exceptions, or publish other groups or coarser ones"
                if has_exceptions
                else "publish other groups, or coarser ones",
                tables=", ".join(blamed),
            )
        if len(self.drafts) > 1:
            return InfeasibleError(
                "these tables cannot be protected together: hidden counts can be worked "
                "out from what is shown",
                remedy="leave one out, use coarser groups, or leave out exceptions",
            )
        return InfeasibleError(
            "this table cannot be protected: hidden counts can be worked out from what "
            "is shown",
            remedy="use coarser groups, or leave out exceptions",
        )


def count_versions(
    table: PublishedTable,
    earlier_tables: EarlierTables,
    together: int = 1,
    maps: Sequence[KnownMap] = (),
) -> PublishedTable:
    """Return the table with which others it was attacked and compared with, and how.

    Args:
        together: number of tables that are published together, with this one.
        maps: what readers were taken to know of pairs of columns.
    """
    changed = sum(
        bool(find_changed_cells(before, people).any())
        for before, people in earlier_tables
    )
    return replace(
        table,
        attacked=len(earlier_tables) - changed,
        compared=changed,
        bundled=together - 1,
        known=tuple(sorted({before.key for before, _ in earlier_tables})),
        related=tuple(
            one.columns
            for one in maps
            if not {*one.columns}.isdisjoint(table.layout.columns)
        ),
    )


def attack_all(
    tables: Sequence[PublishedTable],
    counts: Sequence[Ints],
    earlier_tables: EarlierTables,
    maps: Sequence[KnownMap] = (),
    on_progress: OnProgress = ignore_stage_progress,
    *,
    with_bounds: bool = False,
) -> AttackOutcome:
    """Attack tables that are published together, and with the earlier ones.

    Args:
        counts, earlier_tables, maps: as of `protect_tables`.
        on_progress: called with the stage and the share done.
        with_bounds: whether hidden cells are bounded too, for the report.
    """
    bases = [table.rounding_base for table in tables]
    check_rounding(bases, earlier_tables)
    attacker = _Attacker(
        counts=counts,
        earlier_tables=earlier_tables,
        maps=maps,
        on_progress=on_progress,
    )
    outcome = attacker.attack(tables)
    if with_bounds:
        return replace(outcome, bounds=attacker.bound_hidden_cells(tables))
    return outcome


@dataclass(kw_only=True, eq=False)
class _Experience:
    """What attacks on versions of the same new tables learned.

    Attributes:
        memories: of attacks, by how much they assume of people who may have left.
        known: attacked tables, with what was told before them.
    """

    memories: list[AttackMemory] = field(
        default_factory=lambda: [AttackMemory(), AttackMemory()]
    )
    known: list[tuple[list[AttackedTable], KnownBounds]] = field(default_factory=list)


@dataclass(kw_only=True, eq=False)
class _Attacker:
    """Attacks versions of new tables together with the earlier ones.

    What members know of one table, they know of all of them. Of an earlier table, the
    counts that still hold are used; those that few people changed must not be told.
    What the earlier tables tell already is no fault of the new ones.

    Attributes:
        counts: of each new table, (cells,) people.
        earlier_tables, maps, on_progress: as of `protect_tables`.
        experience: of earlier attacks on versions of these tables.
    """

    counts: Sequence[Ints]
    earlier_tables: EarlierTables
    maps: Sequence[KnownMap]
    on_progress: OnProgress
    experience: _Experience = field(default_factory=_Experience)
    _known: list[KnownBounds] | None = None
    _moved: dict[int, tuple[int, ...]] | None = None

    @property
    def _new(self) -> range:
        """Numbers of the new tables."""
        first = len(self.earlier_tables)
        return range(first, first + len(self.counts))

    def attack(
        self, tables: Sequence[PublishedTable], *, stops_at_first: bool = False
    ) -> AttackOutcome:
        """Attack a version of the new tables.

        Args:
            stops_at_first: as of `attack`.
        """
        seen = self._see_tables(tables)
        if self._known is None:
            # with earlier tables, what is told is compared with what they tell
            is_enough = stops_at_first or bool(self.earlier_tables)
            outcome = self._run(0, seen, None, is_enough)
            if not outcome.revealed_cells or not self.earlier_tables:
                return outcome
        # what is assumed of people who may have left excuses no table
        plain = drop_occupied_cells(seen)
        versions = [seen] if plain == seen else [seen, plain]
        if self._known is None:
            self._known = [self._find_known_bounds(one) for one in versions]
        outcomes: list[AttackOutcome] = []
        for number, (one, known) in enumerate(zip(versions, self._known, strict=True)):
            outcomes.append(self._run(number, one, known, stops_at_first))
            if stops_at_first and outcomes[-1].revealed_cells:
                break
        return combine_outcomes(outcomes)

    def round_counts(self, tables: Sequence[PublishedTable], base: int) -> list[Ints]:
        """Round the counts of new tables as `rounding.round_counts` does.

        Args:
            tables: with counts that are not rounded yet.
        """
        seen = self._see_tables(tables)
        before = [table for table, _ in self.earlier_tables]
        return round_counts(
            [
                TableToRound(seen=seen[at], counts=own)
                for at, own in zip(self._new, self.counts, strict=True)
            ],
            [
                (one, table.counts)
                for one, table in zip(seen, before, strict=False)
                if table.rounding_base
            ],
            AtomBlocks(seen, self.maps),
            base,
        )

    def bound_hidden_cells(
        self, tables: Sequence[PublishedTable]
    ) -> dict[Place, CountBounds]:
        """Bound the hidden cells of the new tables, for the report."""
        return bound_hidden_cells(
            self._see_tables(tables),
            self._new,
            maps=self.maps,
            on_progress=self.on_progress,
        )

    def _find_known_bounds(self, seen: list[AttackedTable]) -> KnownBounds:
        """Return what was told before, as found by an earlier attacker if there is one."""
        for tables, known in self.experience.known:
            if tables == seen:
                return known
        known = find_known_bounds(seen, self._new, self.maps)
        self.experience.known.append((seen, known))
        return known

    def _run(
        self,
        number: int,
        seen: Sequence[AttackedTable],
        known: KnownBounds | None,
        stops_at_first: bool,
    ) -> AttackOutcome:
        return attack(
            seen,
            maps=self.maps,
            known=known,
            memory=self.experience.memories[number],
            stops_at_first=stops_at_first,
            on_progress=self.on_progress,
        )

    def _see_tables(self, tables: Sequence[PublishedTable]) -> list[AttackedTable]:
        """Return the earlier tables, the new ones, and earlier ones as of then."""
        tables = [
            count_versions(table, self.earlier_tables, len(tables)) for table in tables
        ]
        members = any(
            table.rule.members
            for table in (*tables, *(before for before, _ in self.earlier_tables))
        )
        threshold = max(table.rule.threshold for table in tables)
        if self._moved is None:
            self._moved = {
                number: find_moved_cells(before, people)
                for number, (before, people) in enumerate(self.earlier_tables)
                if find_changed_cells(before, people).any()
            }
        unchanged = [
            before
            for number, (before, _) in enumerate(self.earlier_tables)
            if number not in self._moved
        ]
        new = []
        for table, counts in zip(tables, self.counts, strict=True):
            occupied = (
                np.flatnonzero(counts > 0).tolist() if members else table.occupied
            )
            wanted = match_close_counts(table.layout, threshold, self.earlier_tables)
            seen = table.as_attacked(frozenset(occupied), wanted)
            mark = NEW_BUNDLE if len(tables) > 1 else ""
            new.append(replace(seen, name="", bundle=mark))
        return [
            *(
                see_today(before, people, members=members, threshold=threshold)
                for before, people in self.earlier_tables
            ),
            *new,
            *(
                see_past(
                    self.earlier_tables[number][0],
                    moved,
                    [*unchanged, *tables],
                    threshold=threshold,
                )
                for number, moved in self._moved.items()
            ),
        ]


def _find_dropped_columns(
    outcome: AttackOutcome, draft: Draft, earlier_tables: EarlierTables
) -> dict[str, set[str]]:
    """Return columns of which a told group has only values that they no longer list.

    Returns: {column of the new table: names of earlier tables}.
    """
    dropped: dict[str, set[str]] = {}
    for told in outcome.revealed_cells:
        if told.table >= len(earlier_tables):
            continue
        before = earlier_tables[told.table][0]
        for axis in draft.layout.axes:
            for column, values in before.layout.selected_values(told.cell):
                if column == axis.column and values.isdisjoint(axis.finest_group):
                    dropped.setdefault(column, set()).add(before.name)
    return dropped


def _dropped_value_error(dropped: Mapping[str, set[str]]) -> InfeasibleError:
    """Return the error of a table without a value whose count an earlier one hides."""
    return InfeasibleError(
        "an earlier exact table hides counts of values that this one no longer lists, "
        "and would thereby show that nobody has them: {columns} in {tables}",
        remedy="list all values of that table again as categories of these columns",
        columns=", ".join(sorted(dropped)),
        tables=", ".join(sorted(set[str]().union(*dropped.values()))),
    )
