"""Plans and counts of tables for tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.suppression import HidingRule, ShownColumn, TablePlan
from dpcore.suppression.outcome import AttackOutcome
from dpcore.suppression.protect import attack_all
from dpcore.suppression.published import PublishedTable
from dpcore.suppression.versions import EarlierTables

Ints = npt.NDArray[np.int64]


def groups(name: str, *sizes: int) -> Hierarchy:
    """Return a hierarchy of groups of these sizes; of single values if all are 1."""
    labels = [f"{name}{at}" for at, size in enumerate(sizes) for _ in range(size)]
    values = tuple(f"{name}.{number}" for number in range(len(labels)))
    inner = () if max(sizes) == 1 else (tuple(labels),)
    return Hierarchy(values=values, levels=(values, *inner, ("*",) * len(values)))


def plan_of(rule: HidingRule, **columns: Hierarchy) -> TablePlan:
    """Return a plan of columns by name."""
    return TablePlan(
        columns=tuple(
            ShownColumn(column=name, hierarchy=tree) for name, tree in columns.items()
        ),
        rule=rule,
    )


def count(plan: TablePlan, finest: Sequence[Sequence[int]] | Sequence[int]) -> Ints:
    """Return (cells,) counts from those of the values, in the order of hierarchies."""
    layout = plan.build_layout()
    leaves = np.array(finest, dtype=np.int64)
    counts = np.zeros(layout.shape, dtype=np.int64)
    places = []
    for axis, shown in zip(layout.axes, plan.columns, strict=True):
        assert shown.hierarchy is not None
        places.append([axis.finest_group[value] for value in shown.hierarchy.values])
    np.add.at(counts, np.ix_(*places), leaves)
    return layout.add_up(counts)


def show(plan: TablePlan, counts: Ints, hidden: Sequence[int]) -> PublishedTable:
    """Return a table with these cells hidden, whatever a rule says."""
    return PublishedTable(
        layout=plan.build_layout(),
        counts=tuple(
            None if cell in hidden else int(people)
            for cell, people in enumerate(counts)
        ),
        rule=plan.rule,
    )


def attack_one(
    table: PublishedTable,
    counts: Ints,
    earlier_tables: EarlierTables,
    *,
    with_bounds: bool = False,
) -> AttackOutcome:
    """Attack a table that is published alone, together with earlier ones."""
    return attack_all([table], [counts], earlier_tables, with_bounds=with_bounds)
