"""A table before it is published: which cells must be hidden, and which may be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dpcore.errors import InfeasibleError, ParameterError
from dpcore.progress import OnProgress
from dpcore.schema.values import MISSING
from dpcore.suppression.attacked import KnownMap
from dpcore.suppression.hide import CellHider, find_demands, find_risky_cells
from dpcore.suppression.layout import Layout
from dpcore.suppression.plan import TablePlan
from dpcore.suppression.published import PublishedTable, list_lines
from dpcore.suppression.rules import HidingRule
from dpcore.suppression.versions import (
    EarlierTables,
    find_changed_cells,
    find_close_counts,
    match_cells,
    match_close_counts,
)

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(kw_only=True, eq=False)
class Draft:
    """A table whose hidden cells may still change.

    Attributes:
        counts: (cells,) people.
        unhidden: the table with all its counts.
        reasons: of the cells that must be hidden.
        wanted: counts that must be possible for some of them.
        shown_before: cells that an earlier table shows, with its name.
        is_kept: (cells,) whether a cell must stay shown.
        is_first: whether it is the only table about these people.
        hidden: (cells,) whether a cell is hidden by now.
        chosen: (cells,) whether it was hidden before any attack.
    """

    plan: TablePlan
    layout: Layout
    counts: Ints
    unhidden: PublishedTable
    reasons: dict[int, str]
    wanted: dict[int, int]
    shown_before: dict[int, str]
    is_kept: Bools
    is_first: bool
    hidden: Bools
    chosen: Bools

    @classmethod
    def prepare(
        cls,
        plan: TablePlan,
        counts: Ints,
        earlier_tables: EarlierTables,
        maps: Sequence[KnownMap],
        *,
        threshold: int,
        is_first: bool,
    ) -> Draft:
        """Find the cells of a table that must be hidden, and those that must be shown.

        Args:
            threshold: the largest one of all new tables.
            is_first: whether it is the only table about these people.

        Raises: as `protect_table`.
        """
        layout = plan.build_layout()
        risky = find_risky_cells(layout, counts, plan.rule)
        exceptions = {
            layout.find_cell(one.labels): one.reason for one in plan.exceptions
        }
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
        wanted = match_close_counts(layout, threshold, earlier_tables)
        if 0 in wanted:
            raise _few_changed_error(threshold, earlier_tables)
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
            layout, counts, threshold, earlier_tables
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
        elif not plan.rule.hide_zeros and is_first:
            # a cell may also hold all people of a group of another table
            is_beside = _find_cells_beside_full(layout, counts, hidden)
            fixed[(counts == 0) & ~is_beside] = True
        fixed[0] = True  # how many people the file has is known from elsewhere
        fixed[list(exceptions)] = True
        fixed[list(shown_before)] = True
        fixed[list(reasons)] = False
        occupied = find_occupied_cells(plan, layout, counts)
        unhidden = PublishedTable(
            layout=layout,
            counts=tuple(counts.tolist()),
            rule=plan.rule,
            exceptions=exceptions,
            unrelated=find_unrelated_columns(plan, earlier_tables),
            occupied=tuple(occupied.tolist()),
            miscoded=tuple(
                known.nesting for known in maps if known.errors and known.nesting
            ),
        )
        return cls(
            plan=plan,
            layout=layout,
            counts=counts,
            unhidden=unhidden,
            reasons=reasons,
            wanted=wanted,
            shown_before=shown_before,
            is_kept=fixed,
            is_first=is_first,
            hidden=hidden,
            chosen=hidden.copy(),
        )

    def must_hide(self, cell: int, reason: str) -> None:
        """Note that a cell must be hidden, if nothing else says so."""
        self.reasons.setdefault(cell, reason)
        self.hidden[cell] = True
        self.is_kept[cell] = False

    def choose_hidden(
        self, shown: Sequence[int], weights: Floats, on_progress: OnProgress
    ) -> None:
        """Hide cells so that no sum of this table alone tells too much.

        Args:
            shown: cells that are shown elsewhere.
            weights: (cells,) how much more it costs to hide a cell.
        """
        occupied = np.array(self.unhidden.occupied, dtype=np.int64)
        least = np.zeros(self.layout.size, dtype=np.int64)
        least[occupied] = 1
        least[
            _find_filled_cells(self.plan.rule, self.layout, self.counts, self.hidden)
        ] = 1
        is_fixed = self.is_kept.copy()
        is_fixed[list(shown)] = True
        others = dict.fromkeys(np.flatnonzero(self.hidden).tolist(), "protects others")
        on_progress("suppressing", 0.0)
        self.hidden = CellHider(
            layout=self.layout,
            counts=self.counts,
            demands=find_demands(
                self.layout,
                self.counts,
                self.plan.rule,
                self.reasons | others,
                self.wanted,
                needed=self.plan.rule.find_possible_count(is_first=self.is_first),
            ),
            is_hidden=self.hidden,
            is_fixed=is_fixed,
            min_counts=least,
            weights=weights,
        ).choose(on_progress)
        self.chosen = self.hidden.copy()

    def as_table(self) -> PublishedTable:
        """Return the table with its hidden cells."""
        table = self.unhidden
        counts = tuple(
            None if is_hidden else count
            for count, is_hidden in zip(table.counts, self.hidden.tolist(), strict=True)
        )
        is_filled = _find_filled_cells(
            table.rule, table.layout, self.counts, self.hidden
        )
        filled = np.flatnonzero(self.hidden & is_filled).tolist()
        occupied = tuple(sorted({*table.occupied, *filled}))
        return replace(table, counts=counts, occupied=occupied)


def find_occupied_cells(plan: TablePlan, layout: Layout, counts: Ints) -> Ints:
    """Return the cells that readers know to hold somebody, whatever is hidden.

    Members know it of all cells. Everybody knows it of hidden cells if the rule shows
    empty ones, and of lines that are there because somebody has their values.
    """
    shows_zeros = plan.rule.shows_zeros and not plan.rounding_base
    if plan.rule.members or shows_zeros:
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


def find_unrelated_columns(
    plan: TablePlan, earlier_tables: EarlierTables
) -> tuple[str, ...]:
    """Return the columns of earlier tables that the owner says are unrelated."""
    columns = {name for table, _ in earlier_tables for name in table.layout.columns}
    return tuple(sorted(columns.intersection(plan.unrelated)))


def _few_changed_error(
    threshold: int, earlier_tables: EarlierTables
) -> InfeasibleError:
    """Return the error of a table whose total is close to published ones."""
    close = [
        table
        for table, people in earlier_tables
        if 0 in find_close_counts(table, people, threshold)
    ]
    return InfeasibleError(
        "the total is within {least} of the total of an exact table about the same "
        "people, and together the tables would reveal something about those who "
        "came or left: {tables}",
        remedy="publish this table when more people have come or left",
        least=max(threshold, *(table.rule.threshold for table in close)),
        tables=", ".join(table.name for table in close),
    )


def _match_earlier_cells(
    layout: Layout, counts: Ints, threshold: int, earlier_tables: EarlierTables
) -> tuple[dict[int, str], dict[int, str]]:
    """Return the cells that an earlier table shows, and those that one hides.

    Each one comes with the name of the first such table.

    A count that changed is not shown by it, nor is a rounded one; a cell of a table of
    which some people came or left is free if it is large by now.
    """
    shown: dict[int, str] = {}
    hidden: dict[int, str] = {}
    for before, people in earlier_tables:
        if before.rounding_base:
            continue
        changed = find_changed_cells(before, people)
        least = max(threshold, before.rule.threshold)
        cells = match_cells(before.layout, layout)
        for there in np.flatnonzero((cells >= 0) & ~changed).tolist():
            cell = int(cells[there])
            count = before.counts[there]
            if count is not None:
                shown.setdefault(cell, before.name)
            elif not changed.any() or counts[cell] < least:
                hidden.setdefault(cell, before.name)
    return shown, {cell: name for cell, name in hidden.items() if cell not in shown}
