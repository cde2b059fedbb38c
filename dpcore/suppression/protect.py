"""Hide cells of a table until attacks on it and all earlier tables fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dpcore.errors import InfeasibleError, ParameterError
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.schema.values import MISSING
from dpcore.suppression.attack import attack, drop_occupied_cells, find_known_bounds
from dpcore.suppression.attacked import AttackedTable, KnownMap
from dpcore.suppression.hide import CellHider, find_demands, find_risky_cells
from dpcore.suppression.layout import Layout
from dpcore.suppression.outcome import AttackOutcome, KnownBounds, combine_outcomes
from dpcore.suppression.plan import TablePlan
from dpcore.suppression.published import ExactTable, PublishedTable, list_lines
from dpcore.suppression.rules import HidingRule
from dpcore.suppression.versions import (
    EarlierTables,
    find_changed_cells,
    find_close_counts,
    find_complete_columns,
    find_moved_cells,
    match_cells,
    match_close_counts,
    see_past,
    see_today,
)

MAX_REPAIR_ROUNDS = 200  # rounds of attack and suppression

MAX_CELLS_SHOWN_AGAIN = 1_000  # of a table whose cells are shown again after repairs
MAX_ATTACKS_TO_SHOW = 100  # attacks, each with some hidden cells shown

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def protect_table(
    plan: TablePlan,
    counts: Ints,
    earlier_tables: EarlierTables = (),
    maps: Sequence[KnownMap] = (),
    on_progress: OnProgress = ignore_stage_progress,
) -> ExactTable:
    """Hide cells until an attack reveals no count of this or an earlier table.

    Args:
        plan: with hierarchies.
        counts: (cells,) people in each cell of its layout.
        earlier_tables: tables that were published about the same people, with the
            people of today; some may have come or left.
        maps: what readers know of pairs of columns of these tables.
        on_progress: called with the stage and the share done.

    Raises: InfeasibleError if no table can be published; ParameterError for an
        exception that names no cell or is not needed.
    """
    layout = plan.build_layout()
    risky = find_risky_cells(layout, counts, plan.rule)
    exceptions = {layout.find_cell(one.labels): one.reason for one in plan.exceptions}
    if any(layout.is_ambiguous(one.labels) for one in plan.exceptions):
        raise ParameterError(
            "several cells have the labels of an exception",
            remedy="give the groups of the table different labels",
        )
    if not exceptions.keys() <= risky.keys():
        raise ParameterError(
            "an exception is for a cell that the rule shows anyway",
            remedy="leave this exception out",
        )
    reasons = {cell: why for cell, why in risky.items() if cell not in exceptions}
    if 0 in reasons:
        raise InfeasibleError(
            "the whole table has fewer people than the rule requires in one cell, {least}",
            remedy="choose another table, or a rule with a smaller number",
            least=plan.rule.threshold,
        )
    wanted = match_close_counts(layout, plan.rule.threshold, earlier_tables)
    if 0 in wanted:
        raise _few_changed_error(plan.rule, earlier_tables)
    if wanted.keys() & exceptions.keys():
        raise InfeasibleError(
            "an exception is for a cell whose count is close to that of an exact "
            "table about the same people: the two counts together would give away "
            "the people who came or left",
            remedy="leave this exception out",
        )
    for cell in wanted:
        reasons.setdefault(cell, "few changed")
    shown_before, hidden_before = _match_earlier_cells(
        layout, counts, plan.rule, earlier_tables
    )
    hiding = sorted(
        {hidden_before[cell] for cell in exceptions if cell in hidden_before}
    )
    if hiding:
        raise InfeasibleError(
            "an exception is for a cell that an earlier exact table hides, and showing "
            "it would give away what that table protects: {tables}",
            remedy="leave this exception out",
            tables=", ".join(hiding),
        )
    for cell in hidden_before:
        reasons.setdefault(cell, "earlier table")
    hidden = np.zeros(layout.size, dtype=bool)
    hidden[list(reasons)] = True
    fixed = np.zeros(layout.size, dtype=bool)
    if plan.rule.shows_zeros:
        fixed[counts == 0] = True  # so readers know that hidden cells are not empty
    elif not plan.rule.hide_zeros and not earlier_tables:
        # a cell may also hold all people of a group of an earlier table
        is_beside = _find_cells_beside_full(layout, counts, hidden)
        fixed[(counts == 0) & ~is_beside] = True
    fixed[0] = True  # how many people the file has is known from elsewhere
    fixed[list(exceptions)] = True
    fixed[list(shown_before)] = True
    fixed[list(reasons)] = False
    occupied = _find_occupied_cells(plan, layout, counts)
    least = np.zeros(layout.size, dtype=np.int64)
    least[occupied] = 1
    least[_find_filled_cells(plan.rule, layout, counts, hidden)] = 1
    on_progress("suppressing", 0.0)
    hidden = CellHider(
        layout=layout,
        counts=counts,
        demands=find_demands(
            layout,
            counts,
            plan.rule,
            reasons,
            wanted,
            needed=plan.rule.find_possible_count(is_first=not earlier_tables),
        ),
        is_hidden=hidden,
        is_fixed=fixed,
        min_counts=least,
    ).choose(on_progress)
    attacker = _Attacker(
        counts=counts,
        earlier_tables=earlier_tables,
        maps=maps,
        on_progress=on_progress,
    )
    blamed: set[str] = set()
    nestings: set[tuple[str, str]] = set()
    nothing_hidden = PublishedTable(
        layout=layout,
        counts=tuple(counts.tolist()),
        rule=plan.rule,
        exceptions=exceptions,
        unrelated=_find_unrelated_columns(plan, earlier_tables),
        occupied=tuple(occupied.tolist()),
        miscoded=tuple(
            known.nesting for known in maps if known.errors and known.nesting
        ),
    )
    chosen = hidden.copy()
    for _ in range(MAX_REPAIR_ROUNDS):
        table = _hide(nothing_hidden, hidden)
        outcome = attacker.attack(table)
        if not outcome.revealed_cells:
            break
        blamed.update(outcome.blamed)
        nestings.update(outcome.told_nestings)
        more = _choose_repairs(
            outcome, len(earlier_tables), layout, counts, hidden | fixed
        )
        if not more:
            dropped = _find_dropped_columns(outcome, layout, earlier_tables)
            if dropped:
                raise _dropped_value_error(dropped)
            showing = _find_tables_in_proofs(outcome, len(earlier_tables), shown_before)
            if showing and not blamed and not exceptions:
                raise InfeasibleError(
                    "an earlier exact table shows totals of this one, and hidden counts "
                    "could be worked out from them: {tables}",
                    remedy="use coarser groups; next time, publish the detailed table "
                    "before its totals",
                    tables=", ".join(showing),
                )
            raise _refusal_error(sorted(blamed), sorted(nestings))
        hidden[list(more)] = True
    else:
        raise _refusal_error(sorted(blamed), sorted(nestings))
    if (hidden & ~chosen).any() and layout.size <= MAX_CELLS_SHOWN_AGAIN:
        extra = [
            cell for cell in np.flatnonzero(hidden).tolist() if cell not in reasons
        ]
        hidden = _show_unneeded(attacker, nothing_hidden, hidden, extra)
        table = _hide(nothing_hidden, hidden)
    shown = np.flatnonzero(~hidden).tolist()
    if blamed and shown_before.keys() >= {*shown[1:]}:
        if nestings:
            raise _refusal_error(sorted(blamed), sorted(nestings))
        raise InfeasibleError(
            "together with an earlier exact table, this one could show nothing new: "
            "{tables}",
            remedy="publish other groups, or coarser ones",
            tables=", ".join(sorted(blamed)),
        )
    if hidden.all():
        raise InfeasibleError(
            "the rule hides every cell of this table",
            remedy="use coarser groups, or a rule with a smaller number",
        )
    assert all(table.counts[cell] is not None for cell in exceptions)
    outcome = attacker.attack(table, with_bounds=True)
    return ExactTable(
        plan=plan,
        published=count_versions(table, earlier_tables),
        true_counts=tuple(counts.tolist()),
        reasons={
            int(cell): reasons.get(int(cell), "protects others")
            for cell in np.flatnonzero(hidden)
        },
        bounds=outcome.bounds,
        earlier_tables=tuple(
            before.name
            for before, people in earlier_tables
            if not find_changed_cells(before, people).any()
        ),
        compared=tuple(
            before.name
            for before, people in earlier_tables
            if find_changed_cells(before, people).any()
        ),
        told_before=len({one.target for one in outcome.known_cells}),
        unlisted=tuple(
            before.name
            for before, people in earlier_tables
            if len(find_complete_columns(before, people)) < len(before.layout.axes)
        ),
        solved_programs=outcome.programs,
        miscoded_people=sum(
            known.rare[pair] for known in maps for pair in known.errors
        ),
    )


def _hide(table: PublishedTable, hidden: Bools) -> PublishedTable:
    """Return a table in which some cells are hidden."""
    counts = tuple(
        None if is_hidden else count
        for count, is_hidden in zip(table.counts, hidden.tolist(), strict=True)
    )
    people = np.array(table.counts)
    is_filled = _find_filled_cells(table.rule, table.layout, people, hidden)
    filled = np.flatnonzero(hidden & is_filled).tolist()
    occupied = tuple(sorted({*table.occupied, *filled}))
    return replace(table, counts=counts, occupied=occupied)


def _show_unneeded(
    attacker: _Attacker, table: PublishedTable, hidden: Bools, extra: Sequence[int]
) -> Bools:
    """Show hidden cells again if all attacks still fail, the largest counts first.

    Many cells are tried at once, and halves of them if an attack succeeds. Each cell that
    stays hidden is needed: with it, the attack would reveal something.

    Args:
        extra: cells that are hidden to protect others.
    """
    order = sorted(extra, key=lambda cell: (-(table.counts[cell] or 0), cell))
    untried = [order]
    for _ in range(MAX_ATTACKS_TO_SHOW):
        if not untried:
            break
        cells = untried.pop()
        fewer = hidden.copy()
        fewer[cells] = False
        if not attacker.attack(_hide(table, fewer)).revealed_cells:
            hidden = fewer
        elif len(cells) > 1:
            half = len(cells) // 2
            untried += [cells[half:], cells[:half]]
    return hidden


def _find_occupied_cells(plan: TablePlan, layout: Layout, counts: Ints) -> Ints:
    """Return the cells that readers know to hold somebody, whatever is hidden.

    Members know it of all cells. Everybody knows it of hidden cells if the rule shows
    empty ones, and of lines that are there because somebody has their values.
    """
    if plan.rule.members or plan.rule.shows_zeros:
        return np.flatnonzero(counts > 0)
    cells = [
        cell
        for shown, axis, lines in zip(
            plan.columns, layout.axes, list_lines(layout), strict=True
        )
        for group, cell in zip(axis.groups[1:], lines, strict=True)
        if counts[cell] and (shown.values_are_public or group.values == {MISSING})
    ]
    return np.array(sorted(cells), dtype=np.int64)


def _find_cells_beside_full(layout: Layout, counts: Ints, hidden: Bools) -> Bools:
    """Return (cells,) whether a line of a cell has a hidden cell with all its people."""
    is_beside = np.zeros(layout.size, dtype=bool)
    for _, children in layout.equations:
        occupied = np.array(children)[counts[children] > 0]
        if len(occupied) == 1 and hidden[occupied[0]]:
            is_beside[children] = True
    return is_beside


def _find_filled_cells(
    rule: HidingRule, layout: Layout, counts: Ints, hidden: Bools
) -> Bools:
    """Return (cells,) whether readers know that a cell holds somebody if it is hidden.

    A rule that hides full cells hides the empty cells beside them, and others for an
    earlier table alone. A line that shows people in another cell has no full one.
    """
    if rule.hide_zeros:
        return np.zeros(layout.size, dtype=bool)
    is_filled = counts > 0
    if rule.hide_full:
        is_shown = (counts > 0) & ~hidden
        for _, children in layout.equations:
            others = is_shown[children].sum() - is_shown[children]
            is_filled[children] &= others > 0
    return is_filled


def _find_unrelated_columns(
    plan: TablePlan, earlier_tables: EarlierTables
) -> tuple[str, ...]:
    """Return the columns of earlier tables that the owner says are unrelated."""
    columns = {name for table, _ in earlier_tables for name in table.layout.columns}
    return tuple(sorted(columns.intersection(plan.unrelated)))


def count_versions(
    table: PublishedTable, earlier_tables: EarlierTables
) -> PublishedTable:
    """Return the table with how many earlier ones it was attacked and compared with."""
    changed = sum(
        bool(find_changed_cells(before, people).any())
        for before, people in earlier_tables
    )
    return replace(table, attacked=len(earlier_tables) - changed, compared=changed)


def attack_all(
    table: PublishedTable,
    counts: Ints,
    earlier_tables: EarlierTables,
    maps: Sequence[KnownMap] = (),
    on_progress: OnProgress = ignore_stage_progress,
    *,
    with_bounds: bool = False,
) -> AttackOutcome:
    """Attack a table together with the earlier ones.

    Args:
        earlier_tables, maps: as of `protect_table`.
        on_progress: called with the stage and the share done.
        with_bounds: whether hidden cells are bounded too, for the report.
    """
    attacker = _Attacker(
        counts=counts,
        earlier_tables=earlier_tables,
        maps=maps,
        on_progress=on_progress,
    )
    return attacker.attack(table, with_bounds=with_bounds)


@dataclass(kw_only=True, eq=False)
class _Attacker:
    """Attacks versions of a new table together with the earlier ones.

    What members know of one table, they know of all of them. Of an earlier table, the
    counts that still hold are used; those that few people changed must not be told.
    What the earlier tables tell already is no fault of the new one.

    Attributes:
        counts: (cells,) people of the new table.
        earlier_tables, maps, on_progress: as of `protect_table`.
    """

    counts: Ints
    earlier_tables: EarlierTables
    maps: Sequence[KnownMap]
    on_progress: OnProgress
    _known: list[KnownBounds] | None = None
    _moved: dict[int, tuple[int, ...]] | None = None

    def attack(
        self, table: PublishedTable, *, with_bounds: bool = False
    ) -> AttackOutcome:
        seen = self._see_tables(table)
        if self._known is None:
            outcome = self._run(seen, None, with_bounds)
            if not outcome.revealed_cells or not self.earlier_tables:
                return outcome
        # what is assumed of people who may have left excuses no table
        plain = drop_occupied_cells(seen)
        versions = [seen] if plain == seen else [seen, plain]
        if self._known is None:
            new = len(self.earlier_tables)
            self._known = [find_known_bounds(one, new, self.maps) for one in versions]
        outcomes = [
            self._run(one, known, with_bounds and one is seen)
            for one, known in zip(versions, self._known, strict=True)
        ]
        return combine_outcomes(outcomes)

    def _run(
        self,
        seen: Sequence[AttackedTable],
        known: KnownBounds | None,
        with_bounds: bool,
    ) -> AttackOutcome:
        return attack(
            seen,
            maps=self.maps,
            known=known,
            bounded_table=len(self.earlier_tables) if with_bounds else None,
            on_progress=self.on_progress,
        )

    def _see_tables(self, table: PublishedTable) -> list[AttackedTable]:
        """Return the earlier tables, the new one, and earlier ones as of then."""
        table = count_versions(table, self.earlier_tables)
        members = table.rule.members or any(
            before.rule.members for before, _ in self.earlier_tables
        )
        threshold = table.rule.threshold
        occupied = (
            np.flatnonzero(self.counts > 0).tolist() if members else table.occupied
        )
        wanted = match_close_counts(table.layout, threshold, self.earlier_tables)
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
        return [
            *(
                see_today(before, people, members=members, threshold=threshold)
                for before, people in self.earlier_tables
            ),
            replace(table.as_attacked(frozenset(occupied), wanted), name=""),
            *(
                see_past(self.earlier_tables[number][0], moved, [*unchanged, table])
                for number, moved in self._moved.items()
            ),
        ]


def _few_changed_error(
    rule: HidingRule, earlier_tables: EarlierTables
) -> InfeasibleError:
    """Return the error of a table whose total is close to published ones."""
    close = [
        table
        for table, people in earlier_tables
        if 0 in find_close_counts(table, people, rule.threshold)
    ]
    return InfeasibleError(
        "the total is within {least} of the total of an exact table about the same "
        "people, and together the tables would reveal something about those who "
        "came or left: {tables}",
        remedy="publish this table when more people have come or left",
        least=max(rule.threshold, *(table.rule.threshold for table in close)),
        tables=", ".join(table.name for table in close),
    )


def _match_earlier_cells(
    layout: Layout, counts: Ints, rule: HidingRule, earlier_tables: EarlierTables
) -> tuple[dict[int, str], dict[int, str]]:
    """Return the cells that an earlier table shows, and those that one hides.

    Each one comes with the name of the first such table.

    A count that changed is not shown by it; a cell of a table of which some people came
    or left is free if it is large by now.
    """
    shown: dict[int, str] = {}
    hidden: dict[int, str] = {}
    for before, people in earlier_tables:
        changed = find_changed_cells(before, people)
        least = max(rule.threshold, before.rule.threshold)
        cells = match_cells(before.layout, layout)
        for there in np.flatnonzero((cells >= 0) & ~changed).tolist():
            cell = int(cells[there])
            count = before.counts[there]
            if count is not None:
                shown.setdefault(cell, before.name)
            elif not changed.any() or counts[cell] < least:
                hidden.setdefault(cell, before.name)
    return shown, {cell: name for cell, name in hidden.items() if cell not in shown}


def _choose_repairs(
    outcome: AttackOutcome,
    own_number: int,
    layout: Layout,
    counts: Ints,
    is_kept: Bools,
) -> set[int]:
    """Return more cells to hide: for each revealed cell, the smallest in its proof."""
    more: set[int] = set()
    for told in outcome.revealed_cells:
        proof = {cell for number, cell in told.proof if number == own_number} - more
        choices = [cell for cell in proof if not is_kept[cell]]
        if told.table == own_number and not is_kept[told.cell]:
            choices.append(told.cell)
        if choices and not proof & more:
            more.add(min(choices, key=lambda cell: (counts[cell], cell)))
    return more


def _find_tables_in_proofs(
    outcome: AttackOutcome, own_number: int, shown_before: Mapping[int, str]
) -> list[str]:
    """Return the earlier tables that show counts by which the new table tells others.

    How many people there are in all is known without them.
    """
    proofs = {
        cell
        for told in outcome.revealed_cells
        for number, cell in told.proof
        if number == own_number and cell
    }
    return sorted({shown_before[cell] for cell in proofs & shown_before.keys()})


def _find_dropped_columns(
    outcome: AttackOutcome, layout: Layout, earlier_tables: EarlierTables
) -> dict[str, set[str]]:
    """Return columns of which a told group has only values that they no longer list.

    Returns: {column of the new table: names of earlier tables}.
    """
    dropped: dict[str, set[str]] = {}
    for told in outcome.revealed_cells:
        if told.table >= len(earlier_tables):
            continue
        before = earlier_tables[told.table][0]
        for axis in layout.axes:
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


def _refusal_error(
    blamed: Sequence[str], nestings: Sequence[tuple[str, str]]
) -> InfeasibleError:
    """Return the error for a table that cannot be protected, naming the cause."""
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
        return InfeasibleError(
            "together with an earlier exact table, this one would give hidden counts "
            "away: {tables}",
            remedy="publish other groups, or coarser ones",
            tables=", ".join(blamed),
        )
    return InfeasibleError(
        "this table cannot be protected: hidden counts can be worked out from what "
        "is shown",
        remedy="use coarser groups, or leave out exceptions",
    )
