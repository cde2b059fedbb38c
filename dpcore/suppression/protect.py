"""Hide cells of a table until attacks on it and all earlier tables fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dpcore.errors import InfeasibleError, ParameterError
from dpcore.progress import OnProgress, silent
from dpcore.suppression.attack import Outcome, Published, Told, attack
from dpcore.suppression.hide import Hiding, find_demands, find_risky
from dpcore.suppression.layout import Layout
from dpcore.suppression.plan import TablePlan
from dpcore.suppression.published import ExactTable, PublishedTable
from dpcore.suppression.rules import Rule

MAX_REPAIRS = 200  # rounds of attack and suppression

Ints = npt.NDArray[np.int64]
Earlier = Sequence[tuple[PublishedTable, Ints]]


def protect(
    plan: TablePlan,
    counts: Ints,
    earlier: Earlier = (),
    changed: Sequence[PublishedTable] = (),
    on_progress: OnProgress = silent,
) -> ExactTable:
    """Hide cells until an attack reveals no count of this or an earlier table.

    Args:
        plan: with hierarchies.
        counts: (cells,) people in each cell of its layout.
        earlier: tables that were published from the same people, with their counts.
        changed: tables of other files about the same people, of whom some came or
            left.
        on_progress: called with the stage and the share done.

    Raises: InfeasibleError if no table can be published; ParameterError for an
        exception that names no cell or is not needed.
    """
    layout = plan.layout()
    risky = find_risky(layout, counts, plan.rule)
    exceptions = {layout.find(each.labels): each.reason for each in plan.exceptions}
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
    shown_before, hidden_before = _seen_before(layout, earlier)
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
    hidden = Hiding(
        layout=layout,
        counts=counts,
        demands=find_demands(layout, counts, plan.rule, reasons, wanted),
        hidden=hidden,
        fixed=fixed,
        least=least,
    ).choose()
    for _ in range(MAX_REPAIRS):
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
            attacked=len(earlier),
            compared=len(changed),
        )
        outcome = attack_all(table, counts, earlier, changed, on_progress)
        if not outcome.told:
            break
        more = _repair(outcome, len(earlier), layout, counts, hidden | fixed)
        if not more:
            raise _refusal(outcome, earlier)
        hidden[list(more)] = True
    else:
        raise _refusal(outcome, earlier)
    if hidden.all():
        raise InfeasibleError(
            "the rule hides every cell of this table",
            remedy="use coarser groups, or a rule with a smaller number",
        )
    outcome = attack_all(table, counts, earlier, changed, on_progress, bounds=True)
    own = len(earlier)
    return ExactTable(
        plan=plan,
        published=table,
        truth=tuple(counts.tolist()),
        reasons={
            int(cell): reasons.get(int(cell), "protects others")
            for cell in np.flatnonzero(hidden)
        },
        bounds={
            cell: bound
            for (number, cell), bound in outcome.bounds.items()
            if number == own
        },
        attacked=tuple(before.name for before, _ in earlier),
        compared=tuple(other.name for other in changed),
        programs=outcome.programs,
    )


def attack_all(
    table: PublishedTable,
    counts: Ints,
    earlier: Earlier,
    changed: Sequence[PublishedTable] = (),
    on_progress: OnProgress = silent,
    *,
    bounds: bool = False,
) -> Outcome:
    """Attack a table together with the earlier ones.

    What members know of one table, they know of all of them. Counts that the table
    shows may not be close to those of tables about changed people either.

    Args:
        earlier: with their counts, which are negative where they are not known.
        changed: as of `protect`.
        on_progress: called with the stage and the share done.
        bounds: whether hidden cells are bounded too, for the report.
    """
    members = any(before.rule.members for before, _ in [*earlier, (table, counts)])
    wanted = find_few_changed(table.layout, counts, table.rule, changed)

    def see(
        one: PublishedTable, people: Ints, demanded: Mapping[int, int]
    ) -> Published:
        occupied = np.flatnonzero(people > 0).tolist() if members else ()
        return one.as_attacked(frozenset(occupied), demanded)

    seen = [see(before, people, {}) for before, people in earlier]
    seen.append(see(table, counts, wanted))
    outcome = attack(seen, bounds=bounds, on_progress=on_progress)
    close = tuple(
        Told(table=len(earlier), cell=cell)
        for cell in wanted
        if table.counts[cell] is not None
    )
    return replace(outcome, told=(*outcome.told, *close))


def find_few_changed(
    layout: Layout, counts: Ints, rule: Rule, changed: Sequence[PublishedTable]
) -> dict[int, int]:
    """Return the cells whose counts are close to published ones of changed people.

    The difference of both counts tells of the few people who came or left. So the cell
    is hidden, and a count must be possible that is the threshold above both.

    Returns: {cell: that count}.
    """
    wanted: dict[int, int] = {}
    if not changed:
        return wanted
    cells = {layout.region(cell): cell for cell in range(layout.size)}
    for table in changed:
        least = max(rule.threshold, table.rule.threshold)
        for there, count in enumerate(table.counts):
            cell = cells.get(table.layout.region(there))
            if cell is None or count is None:
                continue
            if 0 < abs(count - counts[cell]) < least:
                above = max(count, int(counts[cell])) + least
                wanted[cell] = max(wanted.get(cell, 0), above)
    return wanted


def _few_changed(
    rule: Rule, counts: Ints, changed: Sequence[PublishedTable]
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


def _seen_before(layout: Layout, earlier: Earlier) -> tuple[set[int], set[int]]:
    """Return the cells that an earlier table showed, and those that it hid."""
    shown = set()
    hidden = set()
    for before, _ in earlier:
        for cell, count in enumerate(before.counts):
            region = before.layout.region(cell)
            if count is None:
                hidden.add(region)
            else:
                shown.add(region)
    regions = (
        {cell: layout.region(cell) for cell in range(layout.size)} if earlier else {}
    )
    return (
        {cell for cell, region in regions.items() if region in shown},
        {cell for cell, region in regions.items() if region in hidden - shown},
    )


def _repair(
    outcome: Outcome,
    own: int,
    layout: Layout,
    counts: Ints,
    kept: npt.NDArray[np.bool_],
) -> set[int]:
    """Return more cells to hide: for each revealed cell, the smallest in its proof."""
    more: set[int] = set()
    for told in outcome.told:
        proof = {cell for number, cell in told.proof if number == own} - more
        choices = [cell for cell in proof if not kept[cell]]
        if told.table == own and not kept[told.cell]:
            choices.append(told.cell)
        if choices and not proof & more:
            more.add(min(choices, key=lambda cell: (counts[cell], cell)))
    return more


def name_tables(
    outcome: Outcome, earlier: Earlier, changed: Sequence[PublishedTable] = ()
) -> list[str]:
    """Return the names of the tables that tell counts together with the new one."""
    own = len(earlier)
    numbers = {
        number
        for told in outcome.told
        for number in (told.table, *(number for number, _ in told.proof))
    }
    names = [earlier[number][0].name for number in sorted(numbers) if number < own]
    # a count that is close to that of changed people stands on no equation
    if any(told.table == own and not told.proof for told in outcome.told):
        names += [table.name for table in changed]
    return names


def _refusal(outcome: Outcome, earlier: Earlier) -> InfeasibleError:
    """Return the error for a table that cannot be protected, naming the cause."""
    blamed = name_tables(outcome, earlier)
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
