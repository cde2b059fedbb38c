"""Suppression, and the attack on it together with every earlier table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dpcore.errors import InfeasibleError, ParameterError
from dpcore.progress import OnProgress, silent
from dpcore.suppression.attack import Outcome, Told, attack
from dpcore.suppression.hide import Hiding, find_demands, find_risky
from dpcore.suppression.layout import Layout
from dpcore.suppression.plan import TablePlan
from dpcore.suppression.published import ExactTable, PublishedTable

MAX_REPAIRS = 200  # rounds of attack and suppression

Ints = npt.NDArray[np.int64]
Earlier = Sequence[tuple[PublishedTable, Ints]]


def protect(
    plan: TablePlan,
    counts: Ints,
    earlier: Earlier = (),
    on_progress: OnProgress = silent,
) -> ExactTable:
    """Hide cells of a table until the attack tells none of it, or of earlier tables.

    Args:
        plan: with hierarchies.
        counts: (cells,) people in each cell of its layout.
        earlier: tables that were published from the same people, with their counts.
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
        demands=find_demands(layout, counts, plan.rule, reasons),
        hidden=hidden,
        fixed=fixed,
        least=least,
    ).choose()
    for _ in range(MAX_REPAIRS):
        table = _publish(plan, layout, counts, hidden, exceptions)
        outcome = attack_all(table, counts, earlier, on_progress)
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
    outcome = attack_all(table, counts, earlier, on_progress, bounds=True)
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
        programs=outcome.programs,
    )


def attack_all(
    table: PublishedTable,
    counts: Ints,
    earlier: Earlier,
    on_progress: OnProgress = silent,
    *,
    bounds: bool = False,
) -> Outcome:
    """Attack a table together with the earlier ones.

    What members know of one table, they know of all of them.
    """
    tables = [*earlier, (table, counts)]
    members = any(each.rule.members for each, _ in tables)
    seen = []
    for each, people in tables:
        occupied = frozenset(np.flatnonzero(people > 0).tolist())
        seen.append(
            replace(
                each.as_attacked(occupied),
                occupied=occupied if members else frozenset(),
            )
        )
    return attack(seen, bounds=bounds, on_progress=on_progress)


def _publish(
    plan: TablePlan,
    layout: Layout,
    counts: Ints,
    hidden: npt.NDArray[np.bool_],
    exceptions: dict[int, str],
) -> PublishedTable:
    return PublishedTable(
        layout=layout,
        counts=tuple(
            None if is_hidden else count
            for count, is_hidden in zip(counts.tolist(), hidden.tolist(), strict=True)
        ),
        rule=plan.rule,
        exceptions=exceptions,
    )


def _seen_before(layout: Layout, earlier: Earlier) -> tuple[set[int], set[int]]:
    """Return the cells about the same people as a shown, or a hidden, earlier cell."""
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
    """Return for each told cell the smallest shown cell that its proof stands on."""
    more: set[int] = set()
    for told in outcome.told:
        proof = {cell for number, cell in told.proof if number == own} - more
        choices = [cell for cell in proof if not kept[cell]]
        if told.table == own and not kept[told.cell]:
            choices.append(told.cell)
        if choices and not proof & more:
            more.add(min(choices, key=lambda cell: (counts[cell], cell)))
    return more


def _refusal(outcome: Outcome, earlier: Earlier) -> InfeasibleError:
    """Return the error of a table that cannot be protected, with what stands in its
    way.
    """
    own = len(earlier)

    def numbers(told: Told) -> set[int]:
        return {told.table, *(number for number, _ in told.proof)}

    named = {number for told in outcome.told for number in numbers(told)}
    blamed = sorted(number for number in named if number < own)
    if blamed:
        return InfeasibleError(
            "together with an earlier exact table, this one would give hidden counts "
            "away: {tables}",
            remedy="publish other groups, or coarser ones",
            tables=", ".join(earlier[number][0].name for number in blamed),
        )
    return InfeasibleError(
        "this table cannot be protected: hidden counts can be worked out from what "
        "is shown",
        remedy="use coarser groups, or leave out exceptions",
    )
