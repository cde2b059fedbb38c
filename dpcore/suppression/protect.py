"""Hide cells of a table until attacks on it and all earlier tables fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dpcore.errors import InfeasibleError, ParameterError
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.suppression.attack import (
    AttackedTable,
    AttackOutcome,
    DecidedColumn,
    RevealedCell,
    attack,
)
from dpcore.suppression.hide import CellHider, find_demands, find_risky_cells
from dpcore.suppression.layout import Layout
from dpcore.suppression.plan import TablePlan
from dpcore.suppression.published import ExactTable, PublishedTable
from dpcore.suppression.rules import HidingRule

MAX_REPAIR_ROUNDS = 200  # rounds of attack and suppression

Ints = npt.NDArray[np.int64]
EarlierTables = Sequence[tuple[PublishedTable, Ints]]


def protect_table(
    plan: TablePlan,
    counts: Ints,
    earlier_tables: EarlierTables = (),
    changed: Sequence[PublishedTable] = (),
    decided: Sequence[DecidedColumn] = (),
    on_progress: OnProgress = ignore_stage_progress,
) -> ExactTable:
    """Hide cells until an attack reveals no count of this or an earlier table.

    Args:
        plan: with hierarchies.
        counts: (cells,) people in each cell of its layout.
        earlier_tables: tables that were published from the same people, with their counts.
        changed: tables of other files about the same people, of whom some came or
            left.
        decided: columns of these tables that others of them decide.
        on_progress: called with the stage and the share done.

    Raises: InfeasibleError if no table can be published; ParameterError for an
        exception that names no cell or is not needed.
    """
    layout = plan.build_layout()
    risky = find_risky_cells(layout, counts, plan.rule)
    exceptions = {
        layout.find_cell(each.labels): each.reason for each in plan.exceptions
    }
    if not exceptions.keys() <= risky.keys():
        raise ParameterError(
            "an exception is for a cell that the rule shows anyway",
            remedy="leave this exception out",
        )
    reasons = {cell: why for cell, why in risky.items() if cell not in exceptions}
    if 0 in reasons:
        raise InfeasibleError(
            "the whole table has fewer people than the rule wants in one cell, {least}",
            remedy="choose another table, or a rule with a smaller number",
            least=plan.rule.threshold,
        )
    wanted = find_few_changed(layout, counts, plan.rule, changed)
    if 0 in wanted:
        raise _few_changed(plan.rule, counts, changed)
    if wanted.keys() & exceptions.keys():
        raise InfeasibleError(
            "an exception is for a cell whose count is close to that of an exact table "
            "about the same people: both together would tell of the people who came "
            "or left",
            remedy="leave this exception out",
        )
    for cell in wanted:
        reasons.setdefault(cell, "few changed")
    shown_before, hidden_before = _match_earlier_cells(layout, earlier_tables)
    for cell in hidden_before:
        reasons.setdefault(cell, "earlier table")
    fixed = np.zeros(layout.size, dtype=bool)
    fixed[list(exceptions)] = True
    fixed[list(shown_before)] = True
    fixed[list(reasons)] = False
    hidden = np.zeros(layout.size, dtype=bool)
    hidden[list(reasons)] = True
    least = np.zeros(layout.size, dtype=np.int64)
    if plan.rule.members:
        least = np.minimum(counts, 1)
    on_progress("suppressing", 0.0)
    hidden = CellHider(
        layout=layout,
        counts=counts,
        demands=find_demands(layout, counts, plan.rule, reasons, wanted),
        is_hidden=hidden,
        is_fixed=fixed,
        min_counts=least,
    ).choose()
    for _ in range(MAX_REPAIR_ROUNDS):
        table = PublishedTable(
            layout=layout,
            counts=tuple(
                None if is_hidden else count
                for count, is_hidden in zip(
                    counts.tolist(), hidden.tolist(), strict=True
                )
            ),
            rule=plan.rule,
            exceptions=exceptions,
            attacked=len(earlier_tables),
            compared=len(changed),
        )
        outcome = attack_all(
            table, counts, earlier_tables, changed, decided, on_progress
        )
        if not outcome.revealed_cells:
            break
        more = _choose_repairs(
            outcome, len(earlier_tables), layout, counts, hidden | fixed
        )
        if not more:
            raise _refusal_error(outcome, earlier_tables)
        hidden[list(more)] = True
    else:
        raise _refusal_error(outcome, earlier_tables)
    if hidden.all():
        raise InfeasibleError(
            "the rule hides every cell of this table",
            remedy="use coarser groups, or a rule with a smaller number",
        )
    outcome = attack_all(
        table,
        counts,
        earlier_tables,
        changed,
        decided,
        on_progress,
        with_bounds=True,
    )
    own = len(earlier_tables)
    return ExactTable(
        plan=plan,
        published=table,
        true_counts=tuple(counts.tolist()),
        reasons={
            int(cell): reasons.get(int(cell), "protects others")
            for cell in np.flatnonzero(hidden)
        },
        bounds={
            cell: bound
            for (number, cell), bound in outcome.bounds.items()
            if number == own
        },
        earlier_tables=tuple(before.name for before, _ in earlier_tables),
        compared=tuple(other.name for other in changed),
        solved_programs=outcome.programs,
    )


def attack_all(
    table: PublishedTable,
    counts: Ints,
    earlier_tables: EarlierTables,
    changed: Sequence[PublishedTable] = (),
    decided: Sequence[DecidedColumn] = (),
    on_progress: OnProgress = ignore_stage_progress,
    *,
    with_bounds: bool = False,
) -> AttackOutcome:
    """Attack a table together with the earlier ones.

    What members know of one table, they know of all of them. Counts that the table
    shows may not be close to those of tables about changed people either.

    Args:
        earlier_tables: with their counts, which are negative where they are not known.
        changed, decided: as of `protect_table`.
        on_progress: called with the stage and the share done.
        with_bounds: whether hidden cells are bounded too, for the report.
    """
    members = any(
        before.rule.members for before, _ in [*earlier_tables, (table, counts)]
    )
    wanted = find_few_changed(table.layout, counts, table.rule, changed)

    def see(
        one: PublishedTable, people: Ints, demanded: Mapping[int, int]
    ) -> AttackedTable:
        occupied = np.flatnonzero(people > 0).tolist() if members else ()
        return one.as_attacked(frozenset(occupied), demanded)

    seen = [see(before, people, {}) for before, people in earlier_tables]
    seen.append(see(table, counts, wanted))
    outcome = attack(
        seen, decided=decided, with_bounds=with_bounds, on_progress=on_progress
    )
    close = tuple(
        RevealedCell(table=len(earlier_tables), cell=cell)
        for cell in wanted
        if table.counts[cell] is not None
    )
    return replace(outcome, revealed_cells=(*outcome.revealed_cells, *close))


def find_few_changed(
    layout: Layout, counts: Ints, rule: HidingRule, changed: Sequence[PublishedTable]
) -> dict[int, int]:
    """Return the cells whose counts are close to published ones of changed people.

    The difference of both counts tells of the few people who came or left. So the cell
    is hidden, and a count must be possible that is the threshold above both.

    Returns: {cell: that count}.
    """
    wanted: dict[int, int] = {}
    if not changed:
        return wanted
    cells = {layout.selected_values(cell): cell for cell in range(layout.size)}
    for table in changed:
        least = max(rule.threshold, table.rule.threshold)
        for there, count in enumerate(table.counts):
            cell = cells.get(table.layout.selected_values(there))
            if cell is None or count is None:
                continue
            if 0 < abs(count - counts[cell]) < least:
                above = max(count, int(counts[cell])) + least
                wanted[cell] = max(wanted.get(cell, 0), above)
    return wanted


def _few_changed(
    rule: HidingRule, counts: Ints, changed: Sequence[PublishedTable]
) -> InfeasibleError:
    """Return the error of a table whose total is close to published ones."""
    close = [
        table
        for table in changed
        if table.counts[0] is not None
        and 0
        < abs(table.counts[0] - counts[0])
        < max(rule.threshold, table.rule.threshold)
    ]
    return InfeasibleError(
        "the total is within {least} of that of an exact table about the same people: "
        "both together would tell of those who came or left: {tables}",
        remedy="publish it when more people have changed",
        least=max(rule.threshold, *(table.rule.threshold for table in close)),
        tables=", ".join(table.name for table in close),
    )


def _match_earlier_cells(
    layout: Layout, earlier_tables: EarlierTables
) -> tuple[set[int], set[int]]:
    """Return the cells that an earlier table showed, and those that it hid."""
    shown = set()
    hidden = set()
    for before, _ in earlier_tables:
        for cell, count in enumerate(before.counts):
            region = before.layout.selected_values(cell)
            if count is None:
                hidden.add(region)
            else:
                shown.add(region)
    regions = (
        {cell: layout.selected_values(cell) for cell in range(layout.size)}
        if earlier_tables
        else {}
    )
    return (
        {cell for cell, region in regions.items() if region in shown},
        {cell for cell, region in regions.items() if region in hidden - shown},
    )


def _choose_repairs(
    outcome: AttackOutcome,
    own_number: int,
    layout: Layout,
    counts: Ints,
    is_kept: npt.NDArray[np.bool_],
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


def name_tables(
    outcome: AttackOutcome,
    earlier: EarlierTables,
    changed: Sequence[PublishedTable] = (),
) -> list[str]:
    """Return the names of the tables that tell counts together with the new one."""
    own = len(earlier)
    numbers = {
        number
        for told in outcome.revealed_cells
        for number in (told.table, *(number for number, _ in told.proof))
    }
    names = [earlier[number][0].name for number in sorted(numbers) if number < own]
    # a count that is close to that of changed people stands on no equation
    if any(told.table == own and not told.proof for told in outcome.revealed_cells):
        names += [table.name for table in changed]
    return names


def _refusal_error(
    outcome: AttackOutcome, earlier_tables: EarlierTables
) -> InfeasibleError:
    """Return the error for a table that cannot be protected, naming the cause."""
    blamed = name_tables(outcome, earlier_tables)
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
