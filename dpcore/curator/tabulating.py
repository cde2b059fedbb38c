"""Exact counts of people for tables that are suppressed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpcore.accounting.ledger import Line
from dpcore.anonymization.hierarchies.builders import build_flat
from dpcore.engines.base import Engine
from dpcore.errors import InfeasibleError, UsageError
from dpcore.schema.unit import PrivacyUnit
from dpcore.schema.values import as_text
from dpcore.suppression.layout import Layout
from dpcore.suppression.plan import TablePlan
from dpcore.suppression.published import PublishedTable
from dpcore.tables.rows import DistinctRows

LEDGER_KEY = "exact table"
"""Key of a published table in a line outside the total."""

Ints = npt.NDArray[np.int64]


def tables_on_file(lines: Sequence[Line]) -> list[PublishedTable]:
    """Return the exact tables that were published from an account."""
    return [
        PublishedTable.from_record(line.content[LEDGER_KEY])
        for line in lines
        if line.state == "outside" and LEDGER_KEY in line.content
    ]


def exact_tables(lines: Sequence[Line]) -> int:
    """Return how many exact tables were published from an account."""
    return sum(line.state == "outside" and LEDGER_KEY in line.content for line in lines)


def read_people(
    engine: Engine, columns: Sequence[str], unit: PrivacyUnit
) -> DistinctRows:
    """Return the distinct tuples of columns with the people who have them.

    Raises: UsageError if nothing says which rows are of one person.
    """
    if unit.id_column is None and unit.max_rows > 1:
        raise UsageError(
            "a table of people needs to know which rows are of one person",
            remedy="name the column that says who a row is about, or declare one row "
            "per person",
        )
    return engine.tuples(list(columns), by=unit.id_column)


def complete_plan(plan: TablePlan, people: DistinctRows) -> TablePlan:
    """Return the plan with a hierarchy of every column that covers all its values.

    Raises: HierarchyError for a value without a path; LimitError for too many cells.
    """
    trees = {}
    for shown in plan.columns:
        series = people.frame[shown.column]
        tree = shown.hierarchy
        if tree is None:
            tree = build_flat(sorted(as_text(series).dropna().unique()))
        trees[shown.column] = tree.read_column(series)[0]
    return plan.with_hierarchies(trees)


def count_people(plan: TablePlan, people: DistinctRows) -> Ints:
    """Return (cells,) people in each cell of a complete plan.

    Raises: as `count_in`.
    """
    leaves = {}
    for shown in plan.columns:
        assert shown.hierarchy is not None
        found = shown.hierarchy.find_leaves(people.frame[shown.column])
        values = np.array(shown.hierarchy.values, dtype=object)
        leaves[shown.column] = values[found].tolist()
    return _count_in(plan.layout(), leaves, people)


def count_again(table: PublishedTable, people: DistinctRows) -> Ints:
    """Return (cells,) people in each cell of a table that was published.

    People whose values it does not have are in its totals.
    """
    # the values of a group are texts, as hierarchies have them
    leaves = {}
    for axis in table.layout.axes:
        tree = build_flat(sorted(axis.groups[0].values))
        covering, found = tree.read_column(people.frame[axis.column])
        values = np.array(covering.values, dtype=object)
        leaves[axis.column] = values[found].tolist()
    return _count_in(table.layout, leaves, people)


def _count_in(
    layout: Layout, leaves: dict[str, list[str]], people: DistinctRows
) -> Ints:
    """Add up people in the finest cells, and these in the coarser ones.

    Raises: InfeasibleError for a person in several cells.
    """
    places = [
        np.array([axis.finest.get(value, 0) for value in leaves[axis.column]])
        for axis in layout.axes
    ]
    cells = np.ravel_multi_index(places, layout.shape)
    finest = np.zeros(layout.size, dtype=np.int64)
    if people.owners is None:
        np.add.at(finest, cells, people.people)
    else:
        owned = np.unique(
            np.column_stack([people.owners.group, cells[people.owners.place]]), axis=0
        )
        if len(owned) > len(people.owners.people):
            raise InfeasibleError(
                "some people are in several cells of this table, so that its counts do "
                "not add up",
                remedy="choose columns of which each person has one value, such as the "
                "year of birth",
            )
        np.add.at(finest, owned[:, 1], people.owners.people[owned[:, 0]])
    return layout.add_up(finest.reshape(layout.shape))
