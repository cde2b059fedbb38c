"""No more is hidden than GaussSuppression and sdcTable hide of the same tables.

The figures are those of GaussSuppression 1.2.3 and sdcTable 0.32.6, run in R 4.2.2 on
the invented tables below; `docs/decisions/0054-exact-tables.md` has those of their own
examples. Both protect less than a rule here: GaussSuppression against being told
exactly, sdcTable by one person. So each is compared at its own protection. What makes
every count of the threshold possible is compared with the choice for that; readers who
know that no hidden cell is empty are left out, as both leave them out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.suppression import HidingRule, ShownColumn, TablePlan
from dpcore.suppression.hide import CellHider, Demand, find_risky_cells
from tests.suppression.tables import Ints, count

Bools = npt.NDArray[np.bool_]

MOST = 1.1  # of the better of both
FOURS = 4  # rows, or columns, in a group


@dataclass(frozen=True, kw_only=True)
class Reference:
    """What the better of both hides, in cells and people.

    Attributes:
        by_one: the best that protects every small count by one person.
        by_rule: the best that passes the attack for the rule; None if none does.
    """

    rows: int
    columns: int
    mean: int
    threshold: int
    by_one: tuple[int, int]
    by_rule: tuple[int, int] | None


REFERENCES = [
    # optimal choice (sdcTable OPT); simple heuristic
    Reference(
        rows=12,
        columns=8,
        mean=12,
        threshold=5,
        by_one=(54, 429),
        by_rule=(61, 473),
    ),
    # both packages; none
    Reference(
        rows=20,
        columns=10,
        mean=25,
        threshold=10,
        by_one=(108, 753),
        by_rule=None,
    ),
    # HITAS; hypercubes
    Reference(
        rows=24,
        columns=12,
        mean=8,
        threshold=4,
        by_one=(147, 631),
        by_rule=(215, 1840),
    ),
]


def tables() -> list[tuple[TablePlan, Ints]]:
    """Return the invented tables, drawn one after the other."""
    draw = np.random.default_rng(5)
    made = []
    for reference in REFERENCES:
        shape = (reference.rows, reference.columns)
        rates = np.outer(*(draw.gamma(1, 1, size) for size in shape)) * reference.mean
        people = [[int(draw.poisson(rate)) for rate in line] for line in rates]
        columns = []
        for name, size in zip("ab", shape, strict=True):
            leaves = tuple(f"{name}{number:02d}" for number in range(size))
            groups = tuple(f"{name.upper()}{at // FOURS}" for at in range(size))
            inner = () if size % FOURS else (groups,)
            tree = Hierarchy(values=leaves, levels=(leaves, *inner, ("*",) * size))
            columns.append(ShownColumn(column=name, hierarchy=tree))
        rule = HidingRule(threshold=reference.threshold)
        plan = TablePlan(columns=tuple(columns), rule=rule)
        made.append((plan, count(plan, people)))
    return made


def choose_cells(
    number: int, rise: Callable[[int, int], int]
) -> tuple[TablePlan, Ints, Bools]:
    """Return a table with the cells that are hidden so that small counts can rise.

    Args:
        rise: of a count under a threshold.
    """
    plan, counts = tables()[number]
    layout = plan.build_layout()
    risky = find_risky_cells(layout, counts, plan.rule)
    hidden = np.zeros(layout.size, dtype=bool)
    hidden[list(risky)] = True
    demands = [
        Demand(
            cell=cell,
            containing_cell=None,
            rise=rise(int(counts[cell]), plan.rule.threshold),
        )
        for cell in risky
    ]
    chosen = CellHider(
        layout=layout,
        counts=counts,
        demands=demands,
        is_hidden=hidden,
        is_fixed=np.zeros(layout.size, dtype=bool),
        min_counts=np.zeros(layout.size, dtype=np.int64),
    ).choose()
    return plan, counts, chosen


@pytest.mark.proof
@pytest.mark.parametrize("number", range(len(REFERENCES)))
def test_no_more_is_hidden_by_the_rule(number: int) -> None:
    """Counts would be hidden for nothing, where others show them as safely."""
    _, counts, chosen = choose_cells(number, lambda count, least: least - count)
    best = REFERENCES[number].by_rule
    if best is not None:
        assert chosen.sum() <= MOST * best[0]
        assert counts[chosen].sum() <= MOST * best[1]


@pytest.mark.proof
@pytest.mark.parametrize("number", range(len(REFERENCES)))
def test_no_more_is_hidden_at_the_protection_of_the_others(number: int) -> None:
    plan, counts, chosen = choose_cells(number, lambda count, least: 1)
    layout = plan.build_layout()
    risky = find_risky_cells(layout, counts, plan.rule)
    best = REFERENCES[number].by_one
    assert chosen.sum() <= MOST * best[0]
    assert counts[chosen].sum() <= MOST * best[1]
    # twin: without a choice, every cell of a line with a small count would go
    all_of_lines = np.zeros(layout.shape, dtype=bool)
    for cell in risky:
        row, column = np.unravel_index(cell, layout.shape)
        all_of_lines[row, 1:] = all_of_lines[1:, column] = True
    assert all_of_lines.sum() > MOST * best[0]
