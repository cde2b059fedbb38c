"""Count people exactly, for tables in which small counts are then hidden."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.accounting.ledger import Line
from dpcore.anonymization.hierarchies.builders import build_flat
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.engines.base import Engine
from dpcore.errors import (
    HierarchyError,
    InfeasibleError,
    ParameterError,
    UsageError,
)
from dpcore.schema.column import Boolean, Categorical
from dpcore.schema.schema import Schema
from dpcore.schema.unit import PrivacyUnit
from dpcore.schema.values import MISSING, SUPPRESSED, as_text, declared_texts
from dpcore.suppression.attack import DecidedColumn
from dpcore.suppression.layout import Axis, Layout
from dpcore.suppression.plan import TablePlan
from dpcore.suppression.published import PublishedTable
from dpcore.suppression.versions import UNKNOWN
from dpcore.tables.rows import DistinctRows

LEDGER_KEY = "exact table"
"""Key of a published table in a line outside the total."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Tabulated:
    """Counts of people for a plan, and for the tables that were published before.

    Attributes:
        plan: with a hierarchy of every column.
        counts: (cells,) of the plan.
        earlier: tables that are attacked together with it, with the people of today.
        decided: columns of all these tables that others of them decide.
    """

    plan: TablePlan
    counts: Ints
    earlier: list[tuple[PublishedTable, Ints]]
    decided: list[DecidedColumn]


def tabulate(
    engine: Engine,
    plan: TablePlan,
    schema: Schema,
    earlier: Sequence[PublishedTable],
    others: Sequence[PublishedTable],
) -> Tabulated:
    """Count people for a plan and for the tables on file, in one state of the engine.

    Args:
        earlier: published from this account.
        others: published from accounts about the same people.

    Raises: as `read_people`, `complete_plan` and `count_people`.
    """
    names = set(engine.domain.names)
    unit = schema.unit
    with engine.hold_state():
        people = read_people(engine, plan.column_names, unit)
        complete = complete_plan(plan, people, _groups_around(engine, plan), schema)
        counts = count_people(complete, people)
        recounted = []
        for table in [*earlier, *others]:
            here = tuple(name for name in table.layout.columns if name in names)
            people_here = read_people(engine, here, unit) if here else None
            recounted.append((table, recount_published(table, people_here, counts[0])))
        columns = dict.fromkeys(
            name
            for own in (
                plan.column_names,
                *(t.layout.columns for t in [*earlier, *others]),
            )
            for name in own
            if name in names
        )
        decided = find_decided_columns(engine, list(columns))
    return Tabulated(
        plan=complete,
        counts=counts,
        earlier=recounted,
        decided=decided,
    )


def find_decided_columns(engine: Engine, columns: Sequence[str]) -> list[DecidedColumn]:
    """Return the columns that another column decides in every row.

    Such as a district, which follows from the town. Readers of the tables know it.
    """
    decided = []
    for pair in itertools.combinations(columns, 2):
        frame = engine.tuples(pair).frame
        texts = pd.DataFrame({name: _read_values(frame[name]) for name in pair})
        texts = texts.drop_duplicates()
        for by, column in (pair, pair[::-1]):
            if not texts[by].duplicated().any():
                values = dict(zip(texts[by], texts[column], strict=True))
                decided.append(DecidedColumn(column=column, by=by, values=values))
    return decided


def _read_values(series: pd.Series) -> list[str]:
    """Return the values of a column as the groups of a table list them."""
    tree, leaves = build_flat(as_text(series).dropna().unique()).read_column(series)
    return [tree.values[leaf] for leaf in leaves]


def list_published_tables(lines: Sequence[Line]) -> list[PublishedTable]:
    """Return the exact tables that were published from an account."""
    return [
        PublishedTable.from_record(line.content[LEDGER_KEY])
        for line in lines
        if line.state == "outside" and LEDGER_KEY in line.content
    ]


def count_exact_tables(lines: Sequence[Line]) -> int:
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


def _groups_around(engine: Engine, plan: TablePlan) -> dict[str, Hierarchy]:
    """Return the hierarchies of columns that other columns group.

    Raises: HierarchyError for a value that lies in several groups; LimitError.
    """
    trees = {}
    for shown in plan.columns:
        if not shown.within:
            continue
        names = [shown.column, *shown.within]
        frame = engine.tuples(names).frame[names]
        texts = pd.DataFrame({name: as_text(frame[name]) for name in names})
        texts = texts.dropna(subset=[shown.column]).fillna(MISSING).drop_duplicates()
        texts = texts.sort_values(names[::-1])
        for inner, outer in itertools.pairwise(names):
            pairs = texts[[inner, outer]].drop_duplicates()
            if pairs[inner].duplicated().any():
                raise HierarchyError(
                    "some values of {inner} belong to more than one value of {outer}",
                    remedy="leave {outer} out of the groups, or make the values of "
                    "{inner} unique, for example with codes",
                    inner=inner,
                    outer=outer,
                )
        levels = tuple(tuple(texts[name]) for name in names)
        top = (SUPPRESSED,) * len(texts)
        trees[shown.column] = Hierarchy(values=levels[0], levels=(*levels, top))
    return trees


def complete_plan(
    plan: TablePlan,
    people: DistinctRows,
    groups: Mapping[str, Hierarchy],
    schema: Schema,
) -> TablePlan:
    """Return the plan with a hierarchy of every column that covers all its values.

    A column without one shows its declared values, whether they occur or not.

    Args:
        groups: hierarchies of columns that other columns group.

    Raises: HierarchyError for a value without a path; ParameterError for lines that
        would show which values occur; LimitError for too many cells.
    """
    trees = {}
    for shown in plan.columns:
        series = people.frame[shown.column]
        present = set(as_text(series).dropna().unique())
        declared = list_declared_values(schema, shown.column)
        known = declared if declared and present <= {MISSING, *declared} else None
        tree = shown.hierarchy or groups.get(shown.column)
        lines = set(known or present if tree is None else tree.values)
        shows_all = known is not None and set(known) <= lines
        if shown.hierarchy is None and not shows_all and not shown.values_are_public:
            raise ParameterError(
                "the lines for {column} would be read from the rows, and would "
                "thereby show which of its values occur",
                remedy="declare its categories, or say that its values are public",
                column=shown.column,
            )
        if tree is None:
            tree = build_flat(known or sorted(present))
        trees[shown.column] = tree.read_column(series)[0]
    return plan.with_hierarchies(trees)


def list_declared_values(schema: Schema, name: str) -> list[str] | None:
    """Return the values of a column that are known from outside; None without a list.

    Whether anybody has none is not among them.
    """
    column = next((one for one in schema.columns if one.name == name), None)
    if isinstance(column, Categorical) and not column.other:
        values = declared_texts(column.categories)
        taken = "categories" in column.from_data
    elif isinstance(column, Boolean):
        values = declared_texts([column.false_label, column.true_label])
        taken = "kind" in column.from_data
    else:
        return None
    return None if taken else values


def count_people(plan: TablePlan, people: DistinctRows) -> Ints:
    """Count the people in each cell of a complete plan, shape (cells,).

    Raises: as `count_in`.
    """
    leaves = {}
    for shown in plan.columns:
        assert shown.hierarchy is not None
        found = shown.hierarchy.find_leaves(people.frame[shown.column])
        values = np.array(shown.hierarchy.values, dtype=object)
        leaves[shown.column] = values[found].tolist()
    return _count_cells(plan.build_layout(), leaves, people)


def recount_published(
    table: PublishedTable, people: DistinctRows | None, total: np.int64
) -> Ints:
    """Return (cells,) people of today for a published table.

    Cells that need a column which this account does not have are unknown. People whose
    values the table does not list are in its totals.

    Args:
        people: by the columns that both have; None without one.
        total: number of people.
    """
    layout = table.layout
    counts = np.full(layout.shape, UNKNOWN, dtype=np.int64)
    if people is None:
        counts.flat[0] = total
        return counts.ravel()
    axes = tuple(axis for axis in layout.axes if axis.column in people.frame)
    places = tuple(
        slice(None) if axis.column in people.frame else 0 for axis in layout.axes
    )
    shape = tuple(len(axis.groups) for axis in axes)
    counts[places] = _count_along(axes, people).reshape(shape)
    return counts.ravel()


def _count_along(axes: tuple[Axis, ...], people: DistinctRows) -> Ints:
    """Return (cells,) people in the groups of axes that were published."""
    # the values of a group are texts, as hierarchies have them
    leaves = {axis.column: _read_values(people.frame[axis.column]) for axis in axes}
    return _count_cells(Layout(axes=axes), leaves, people)


def _count_cells(
    layout: Layout, leaves: dict[str, list[str]], people: DistinctRows
) -> Ints:
    """Count people in the finest cells, and add these up to the coarser cells.

    Raises: InfeasibleError for a person in several cells.
    """
    places = [
        np.array([axis.finest_group.get(value, 0) for value in leaves[axis.column]])
        for axis in layout.axes
    ]
    cells = np.ravel_multi_index(places, layout.shape)
    finest = np.zeros(layout.size, dtype=np.int64)
    if people.owners is None:
        np.add.at(finest, cells, people.people)
    else:
        owned = np.unique(
            np.column_stack([people.owners.group, cells[people.owners.tuple_index]]),
            axis=0,
        )
        if len(owned) > len(people.owners.people):
            raise InfeasibleError(
                "some people are in several cells of this table, so its counts do "
                "not add up",
                remedy="choose columns in which each person has only one value, "
                "such as the year of birth",
            )
        np.add.at(finest, owned[:, 1], people.owners.people[owned[:, 0]])
    return layout.add_up(finest.reshape(layout.shape))
