"""Choose the cells of one table to hide, by linear programs on its sums.

A cell at risk is protected if another table fits everything that is shown and has
enough people in it. A linear program looks for such tables that change few and small
shown counts; the counts that change are hidden. It is the heuristic of Kelly, Golden
and Assad (1992), with costs that are reweighted (Candes, Wakin and Boyd, 2008) so that
few cells change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.suppression.layout import Layout
from dpcore.suppression.rules import HidingRule

MAX_CELLS_ONE_BY_ONE = 1_000  # of a table whose cells are protected one by one
MAX_DEMANDED_CELLS = 120_000
"""Cells of such a table times its demands, beyond which it would take minutes."""
DEMANDS_PER_SHOWING = 30  # for progress: to show cells again takes about so long
MAX_CELLS_EXCHANGED = 250  # of a table whose further cells are exchanged
MAX_REWEIGHTINGS = 4
MAX_DETOUR = 1.15  # cost on the way to an exchange, of that before it
MIN_CHANGE = 1e-6  # people
HIDDEN_COST = 1e-4  # of a change of a hidden count; keeps changes small

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Demand:
    """A change of a hidden count that an attacker must not be able to rule out.

    Attributes:
        cell: whose count must be able to rise.
        containing_cell: a cell that must be able to rise more than `cell`; None for none.
        rise: people.
    """

    cell: int
    containing_cell: int | None
    rise: int


def find_risky_cells(layout: Layout, counts: Ints, rule: HidingRule) -> dict[int, str]:
    """Return the cells that the rule hides, with the reason."""
    reasons = {
        cell: "small" if count else "empty"
        for cell, count in enumerate(counts.tolist())
        if rule.hides(count)
    }
    if rule.hide_full:
        for parent, children in layout.equations:
            for child in children:
                if counts[parent] and counts[child] == counts[parent]:
                    reasons.setdefault(child, "full")
    return reasons


def find_demands(
    layout: Layout,
    counts: Ints,
    rule: HidingRule,
    reasons: Mapping[int, str],
    wanted: Mapping[int, int],
    *,
    needed: int,
) -> list[Demand]:
    """Return the rises of hidden counts that must stay possible.

    Args:
        reasons: cells, with the reason.
        wanted: counts that must be possible for some of them, beyond that of all.
        needed: count that must be possible for all of them.
    """
    least = {cell: max(needed, wanted.get(cell, 0)) for cell in reasons}
    demands = [
        Demand(cell=cell, containing_cell=None, rise=least[cell] - int(counts[cell]))
        for cell in reasons
        if counts[cell] < least[cell]
    ]
    if rule.hide_full:
        demands += [
            Demand(cell=child, containing_cell=parent, rise=1)
            for parent, children in layout.equations
            for child in children
            if child in reasons and counts[parent] and counts[child] == counts[parent]
        ]
    return demands


Changes = dict[Demand, Floats | None]
"""A change of counts that meets each demand; None for a demand that is left."""


@dataclass(kw_only=True, eq=False)
class CellHider:
    """Chooses which cells of a table to hide, so that every demand is met.

    Attributes:
        is_fixed: cells that must stay shown, or are known anyway.
        min_counts: people whom attackers know to be in each cell.
        weights: (cells,) how much more it costs to hide a cell; 1 for the usual cost.
    """

    layout: Layout
    counts: Ints
    demands: Sequence[Demand]
    is_hidden: Bools
    is_fixed: Bools
    min_counts: Ints
    weights: Floats | None = None

    def __post_init__(self) -> None:
        from scipy import sparse

        equations = self.layout.equations
        entries = [
            (line, cell, value)
            for line, (parent, children) in enumerate(equations)
            for cell, value in [(parent, -1.0), *((child, 1.0) for child in children)]
        ]
        lines, cells, values = zip(*entries, strict=True)
        self._equations = sparse.csr_array(
            (values, (lines, cells)), shape=(len(equations), self.layout.size)
        )
        self._cost = 1 + np.log1p(self.counts.astype(np.float64))
        if self.weights is not None:
            self._cost *= self.weights
        self._primary = self.is_hidden.copy()

    def choose(self, on_progress: OnProgress = ignore_stage_progress) -> Bools:
        """Return the cells to hide so that, by linear programs, every demand is met.

        Args:
            on_progress: called with the stage and the share done.
        """
        if not self.demands:
            return self.is_hidden
        together = self._hide_cells(self.demands, self._primary)
        is_small = self.layout.size <= MAX_CELLS_ONE_BY_ONE
        if not is_small or self.layout.size * len(self.demands) > MAX_DEMANDED_CELLS:
            return together
        candidates = [together]
        steps = 2 * len(self.demands) + DEMANDS_PER_SHOWING * 3
        for sign in (-1, 1):
            hidden = self._primary
            done = len(self.demands) * (len(candidates) - 1)
            order = sorted(self.demands, key=lambda demand: sign * demand.rise)
            for number, demand in enumerate(order, start=done):
                hidden = self._hide_cells([demand], hidden)
                on_progress("suppressing", number / steps)
            candidates.append(hidden)
        choices = []
        for left, hidden in zip((3, 2, 1), candidates, strict=True):
            on_progress("suppressing", 1 - DEMANDS_PER_SHOWING * left / steps)
            choices.append(self._show_unneeded(hidden, {}))
        best = min(choices, key=self._total_cost)
        return self._exchange(best) if self.layout.size <= MAX_CELLS_EXCHANGED else best

    def _total_cost(self, hidden: Bools) -> float:
        return float(self._cost[hidden].sum())

    def _exchange(self, hidden: Bools) -> Bools:
        """Show each further cell, and hide others in its place if that costs less."""
        changes: Changes = {}
        hidden = self._show_unneeded(hidden, changes)
        extra = np.flatnonzero(hidden & ~self._primary)
        for cell in extra[np.argsort(-self._cost[extra], kind="stable")]:
            if not hidden[cell]:
                continue
            tried = dict(changes)
            other = self._hide_others(hidden, int(cell), tried)
            if self._total_cost(other) < self._total_cost(hidden):
                hidden = other
                changes = tried
        return hidden

    def _hide_others(self, hidden: Bools, cell: int, changes: Changes) -> Bools:
        """Return hidden cells without one of them; the same if that cannot be.

        Args:
            changes: of each demand under `is_hidden`; brought up to date.
        """
        fixed = self.is_fixed
        other = hidden.copy()
        other[cell] = False
        self.is_fixed = fixed.copy()
        self.is_fixed[cell] = True
        try:
            for demand, change in list(changes.items()):
                if change is None or abs(change[cell]) <= MIN_CHANGE:
                    continue
                changes[demand] = self._find_cheapest_change([demand], other, None)
                if changes[demand] is None:
                    other = self._hide_cells([demand], other)
                    changes[demand] = self._find_cheapest_change([demand], other, None)
                worse = self._total_cost(other) > MAX_DETOUR * self._total_cost(hidden)
                if worse or changes[demand] is None:
                    return hidden
            return self._show_unneeded(other, changes)
        finally:
            self.is_fixed = fixed

    def _hide_cells(self, demands: Sequence[Demand], is_hidden: Bools) -> Bools:
        """Hide the cells that change when all these demands are met at low cost."""
        best = None
        price = self._cost
        for _ in range(MAX_REWEIGHTINGS):
            change = self._find_cheapest_change(demands, is_hidden, price)
            if change is None:
                return is_hidden  # the attack decides
            moved = is_hidden | (np.abs(change) > MIN_CHANGE)
            if best is None or self._total_cost(moved) < self._total_cost(best):
                best = moved
            if not (moved & ~is_hidden).any():
                break
            price = self._cost / (np.abs(change) + 1)
        assert best is not None
        return best

    def _show_unneeded(self, is_hidden: Bools, changes: Changes) -> Bools:
        """Show hidden cells again, the costliest first, if all demands stay met.

        Args:
            changes: known ones that meet each demand; brought up to date.
        """
        for demand in self.demands:
            if demand not in changes:
                changes[demand] = self._find_cheapest_change([demand], is_hidden, None)
        extra = np.flatnonzero(is_hidden & ~self._primary)
        for cell in extra[np.argsort(-self._cost[extra], kind="stable")]:
            fewer = is_hidden.copy()
            fewer[cell] = False
            renewed = {}
            for demand, change in changes.items():
                if change is None or abs(change[cell]) <= MIN_CHANGE:
                    continue
                other = self._find_cheapest_change([demand], fewer, None)
                if other is None:
                    break
                renewed[demand] = other
            else:
                is_hidden = fewer
                changes.update(renewed)
        return is_hidden

    def _find_cheapest_change(
        self, demands: Sequence[Demand], is_hidden: Bools, cost: Floats | None
    ) -> Floats | None:
        """Return the cheapest change of counts that meets demands, None if none does.

        Args:
            cost: of a change of each shown count; None if none may change.
        """
        from scipy.optimize import linprog

        program = self._build_program(demands, is_hidden, cost)
        result = linprog(
            program.price,
            A_eq=program.equations,
            b_eq=np.zeros(program.equations.shape[0]),
            A_ub=-program.demand_weights,
            b_ub=-program.min_rises,
            bounds=np.column_stack(
                [np.zeros(len(program.max_changes)), program.max_changes]
            ),
            method="highs-ds",
        )
        if result.status != 0:
            return None
        cells = program.cells
        change = np.zeros(self.layout.size)
        change[cells] = result.x[: len(cells)] - result.x[len(cells) :]
        return change

    def _build_program(
        self, demands: Sequence[Demand], is_hidden: Bools, cost: Floats | None
    ) -> _Program:
        """Return the linear program over rises and falls of the variable counts."""
        from scipy import sparse

        size = self.layout.size
        cells = np.flatnonzero(is_hidden if cost is None else ~self.is_fixed)
        place = np.full(size, -1)
        place[cells] = np.arange(len(cells))
        price = np.full(size, HIDDEN_COST)
        if cost is not None:
            price = np.where(is_hidden, HIDDEN_COST, cost)
        equations = self._equations[:, cells]
        equations = equations[np.diff(equations.indptr) > 0]
        entries = []
        for line, demand in enumerate(demands):
            parts = [(demand.cell, 1.0)]
            if demand.containing_cell is not None:
                parts = [(demand.cell, -1.0), (demand.containing_cell, 1.0)]
            entries += [
                (line, place[cell], sign) for cell, sign in parts if place[cell] >= 0
            ]
        lines, columns, signs = zip(*entries, strict=True) if entries else ((), (), ())
        wanted = sparse.csr_array(
            (signs, (lines, columns)), shape=(len(demands), len(cells))
        )
        falls = np.maximum(self.counts - self.min_counts, 0)[cells].astype(np.float64)
        return _Program(
            cells=cells,
            price=np.tile(price[cells], 2),
            equations=sparse.hstack([equations, -equations]).tocsr(),
            demand_weights=sparse.hstack([wanted, -wanted]).tocsr(),
            min_rises=np.array([demand.rise for demand in demands], dtype=np.float64),
            max_changes=np.concatenate([np.full(len(cells), np.inf), falls]),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Program:
    """A linear program whose variables are the rises, then the falls, of cells.

    Attributes:
        cells: that may change.
        price: of each rise and fall.
        equations: whose sums stay 0.
        wanted, rises: sums that become so large at least.
        max_changes: largest rise and fall.
    """

    cells: Ints
    price: Floats
    equations: Any
    demand_weights: Any
    min_rises: Floats
    max_changes: Floats
