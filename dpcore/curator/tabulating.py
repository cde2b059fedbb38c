"""Count people exactly, for tables in which small counts are then hidden."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

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
    LimitError,
    ParameterError,
    UsageError,
)
from dpcore.schema.column import Boolean, Categorical
from dpcore.schema.origin import fold_text
from dpcore.schema.schema import Schema
from dpcore.schema.unit import PrivacyUnit
from dpcore.schema.values import MISSING, SUPPRESSED, as_text, declared_texts
from dpcore.suppression.attacked import UNLISTED, KnownMap
from dpcore.suppression.layout import Axis, Layout
from dpcore.suppression.maps import Pair, find_map, mark_errors
from dpcore.suppression.plan import TablePlan
from dpcore.suppression.published import PublishedTable, list_lines
from dpcore.suppression.versions import UNKNOWN
from dpcore.tables.rows import DistinctRows, TupleOwners

LEDGER_KEY = "exact table"
"""Key of a published table in a line outside the total."""

MAX_RENAMED_CHANGE = 0.1  # of the people whose value vanished, if it has a new name

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Tabulated:
    """Counts of people for plans, and for the tables that were published before.

    Attributes:
        plans: with a hierarchy of every column.
        counts: of each plan, (cells,).
        earlier: tables that are attacked together with them, with the people of today.
        maps: what readers know of the columns of all these tables.
    """

    plans: list[TablePlan]
    counts: list[Ints]
    earlier: list[tuple[PublishedTable, Ints]]
    maps: list[KnownMap]


def tabulate(
    engine: Engine,
    plans: Sequence[TablePlan],
    schema: Schema,
    earlier: Sequence[PublishedTable],
    others: Sequence[PublishedTable],
) -> Tabulated:
    """Count people for plans and for the tables on file, in one state of the engine.

    Args:
        earlier: published from this account.
        others: published from accounts about the same people.

    Raises: as `read_people`, `complete_plan`, `count_people` and `recount_published`.
    """
    tables = [*earlier, *others]
    names = set(engine.domain.names)
    unit = schema.unit
    missing = {name for table in tables for name in table.layout.columns} - names
    _check_unrelated(missing, plans, tables)
    with engine.hold_state():
        complete = []
        counts = []
        for plan in plans:
            people = read_people(engine, plan.column_names, unit)
            groups = _groups_around(engine, plan)
            complete.append(complete_plan(plan, people, groups, schema))
            counts.append(count_people(complete[-1], people))
        total = counts[0][0]
        recounted = []
        unreadable = set()
        for table in tables:
            here = tuple(name for name in table.layout.columns if name in names)
            people_here = read_people(engine, here, unit) if here else None
            if people_here is not None:
                recoded = _find_recoded_columns(table, people_here)
                _check_unrelated(recoded, plans, tables)
                unreadable |= recoded
                if recoded:
                    here = tuple(name for name in here if name not in recoded)
                    people_here = read_people(engine, here, unit) if here else None
            recounted.append((table, recount_published(table, people_here, total)))
        maps = _find_maps(engine, unit, complete, tables, names - unreadable)
    return Tabulated(plans=complete, counts=counts, earlier=recounted, maps=maps)


def _check_unrelated(
    columns: Collection[str],
    plans: Sequence[TablePlan],
    tables: Sequence[PublishedTable],
) -> None:
    """Refuse earlier tables with columns that cannot be attacked together.

    Raises: InfeasibleError unless the owner says of each plan that they are unrelated.
    """
    said = set.intersection(*(set(plan.unrelated) for plan in plans))
    unknown = sorted(set(columns) - said)
    if unknown:
        raise InfeasibleError(
            "an exact table about the same people has columns that this file lacks, "
            "or writes with other values, so both tables cannot be checked together: "
            "{columns} in {tables}",
            remedy="open a file that has all these columns with the same values, or "
            "say that they have nothing to do with this table",
            columns=", ".join(unknown),
            tables=", ".join(
                table.name
                for table in tables
                if not set(unknown).isdisjoint(table.layout.columns)
            ),
        )


def _find_recoded_columns(table: PublishedTable, people: DistinctRows) -> set[str]:
    """Return the columns of a table that this file seems to write in another way.

    Most people have values that the table does not list, values that vanished came back
    under other names (several of them, or one with about as many people), or a value
    differs from a listed one in case, blanks or Unicode form alone.
    """
    recoded = set()
    for axis, lines in zip(table.layout.axes, list_lines(table.layout), strict=True):
        if axis.column not in people.frame:
            continue
        texts = _read_values(people.frame[axis.column])
        is_listed = np.array([text in axis.finest_group for text in texts], dtype=bool)
        if 2 * people.people[is_listed].sum() < people.people.sum():
            recoded.add(axis.column)
            continue
        present = {axis.finest_group.get(text) for text in texts}
        vanished = [
            table.counts[cell]
            for number, cell in enumerate(lines, start=1)
            if number not in axis.children
            and number not in present
            and table.counts[cell] != 0
        ]
        is_new = ~is_listed & np.array([text != MISSING for text in texts])
        came = int(people.people[is_new].sum())
        left = sum(vanished_count or 0 for vanished_count in vanished)
        is_close = abs(came - left) <= max(
            table.rule.threshold, MAX_RENAMED_CHANGE * left
        )
        names = {text for text, new in zip(texts, is_new.tolist(), strict=True) if new}
        is_respelled = not {*map(fold_text, axis.finest_group)}.isdisjoint(
            map(fold_text, names)
        )
        is_renamed = (
            vanished and names and (is_close or min(len(vanished), len(names)) > 1)
        )
        if is_respelled or is_renamed:
            recoded.add(axis.column)
    return recoded


def _find_maps(
    engine: Engine,
    unit: PrivacyUnit,
    plans: Sequence[TablePlan],
    tables: Sequence[PublishedTable],
    names: Collection[str],
) -> list[KnownMap]:
    """Return what readers know of pairs of the columns of all tables.

    Args:
        names: columns of this file in which it writes the values as these tables do.

    Raises: InfeasibleError if rare pairs cannot be the errors that the owner says they
        are.
    """
    columns = dict.fromkeys(
        name
        for own in (
            *(plan.column_names for plan in plans),
            *(table.layout.columns for table in tables),
        )
        for name in own
        if name in names
    )
    thresholds = [
        *(plan.rule.threshold for plan in plans),
        *(table.rule.threshold for table in tables),
    ]
    layouts = [
        *(plan.build_layout() for plan in plans),
        *(table.layout for table in tables),
    ]
    miscoded = {frozenset(pair) for plan in plans for pair in plan.miscoded}
    found = []
    for pair, people in _count_pairs(engine, unit, tuple(columns)):
        near = [own for own in layouts if not {*pair}.isdisjoint(own.columns)]
        known = find_map(
            pair,
            people,
            threshold=max(thresholds),
            min_threshold=min(thresholds),
            stand_together=any({*pair} <= {*layout.columns} for layout in near),
            all_shown=all(_shows_pairs(layout, pair, people) for layout in near),
        )
        if frozenset(pair) in miscoded:
            known = mark_errors(pair, known)
        if known is not None:
            found.append(known)
    return found


def _shows_pairs(layout: Layout, pair: Pair, people: Collection[Pair]) -> bool:
    """Return whether a table has a cell for each pair of values that people have."""
    if not {*pair} <= {*layout.columns}:
        return False
    alone = {
        axis.column: {
            value
            for group in axis.groups
            if len(group.values) == 1
            for value in group.values
        }
        for axis in layout.axes
    }
    return all(
        value == UNLISTED or value in alone[name]
        for own in people
        for name, value in zip(pair, own, strict=True)
    )


def _count_pairs(
    engine: Engine, unit: PrivacyUnit, columns: Sequence[str]
) -> Iterator[tuple[Pair, Counter[Pair]]]:
    """Count the people with each pair of values, of each two columns.

    All rows are read once, unless there are too many combinations of all columns.
    """
    pairs = list(itertools.combinations(columns, 2))
    if not pairs:
        return
    try:
        codes = _CodedPeople.read(engine, unit, columns)
    except LimitError:
        for pair in pairs:
            yield pair, _CodedPeople.read(engine, unit, pair).count_pairs(pair)
        return
    for pair in pairs:
        yield pair, codes.count_pairs(pair)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _CodedPeople:
    """The values of people in some columns as codes, as private as rows.

    Attributes:
        people: (groups,) people who have the same values.
        codes: (groups,) of each column.
        values: of each code; several values of one person are unlisted.
    """

    people: Ints
    codes: Mapping[str, Ints]
    values: Mapping[str, list[str]]

    @classmethod
    def read(
        cls, engine: Engine, unit: PrivacyUnit, columns: Sequence[str]
    ) -> _CodedPeople:
        """Read the people of some columns.

        Raises: as `read_people`, LimitError for too many combinations.
        """
        distinct = read_people(engine, columns, unit)
        owners = distinct.owners
        codes = {}
        values = {}
        for name in columns:
            own, texts = pd.factorize(
                np.array(_read_values(distinct.frame[name]), dtype=object)
            )
            values[name] = [*texts.tolist(), UNLISTED]
            codes[name] = own.astype(np.int64)
            if owners is not None:
                codes[name] = _choose_single(owners, codes[name], len(texts))
        people = distinct.people if owners is None else owners.people
        return cls(people=people, codes=codes, values=values)

    def count_pairs(self, pair: Pair) -> Counter[Pair]:
        """Count the people with each pair of values."""
        first, second = (self.values[name] for name in pair)
        keys = self.codes[pair[0]] * len(second) + self.codes[pair[1]]
        distinct, place = np.unique(keys, return_inverse=True)
        people = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(people, place, self.people)
        return Counter(
            {
                (first[key // len(second)], second[key % len(second)]): number
                for key, number in zip(distinct.tolist(), people.tolist(), strict=True)
            }
        )


def _choose_single(owners: TupleOwners, codes: Ints, otherwise: int) -> Ints:
    """Return (groups,) the code of each group of people, or another one for several.

    Args:
        codes: (tuples,) of their tuples.
    """
    own = codes[owners.tuple_index]
    lowest = np.full(len(owners.people), np.iinfo(np.int64).max)
    highest = np.full(len(owners.people), -1)
    np.minimum.at(lowest, owners.group, own)
    np.maximum.at(highest, owners.group, own)
    return np.where(lowest == highest, highest, otherwise)


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


def note_other_outputs(table: PublishedTable, lines: Sequence[Line]) -> PublishedTable:
    """Return a table with the number of other outputs of its account."""
    return replace(
        table,
        anonymized=sum("anonymized" in line.content for line in lines),
        noisy=sum(line.state == "committed" for line in lines),
    )


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

    A column without one shows its declared values, whether they occur or not. Lines that
    other columns group are read from the rows.

    Args:
        groups: hierarchies of columns that other columns group.

    Raises: HierarchyError for a value without a path; ParameterError for lines that
        would show which values occur, or in which group they lie; LimitError for too
        many cells.
    """
    trees = {}
    for shown in plan.columns:
        if shown.within and not shown.values_are_public:
            raise ParameterError(
                "the lines for {column} would be read from the rows, and would "
                "thereby show which value of {outer} goes with each of its values",
                remedy="say that its values are public if everybody may know that",
                column=shown.column,
                outer=shown.within[0],
            )
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
        trees[shown.column] = _write_as_in_rows(*tree.read_column(series), series)
    return plan.with_hierarchies(trees)


def _write_as_in_rows(tree: Hierarchy, leaves: Ints, series: pd.Series) -> Hierarchy:
    """Return a hierarchy whose values are the texts of the rows.

    One that writes 1 as 1.0 reads the rows all the same, but other tables would not
    find its values.
    """
    texts = dict(zip(leaves.tolist(), _read_values(series), strict=True))
    values = tuple(texts.get(leaf, value) for leaf, value in enumerate(tree.values))
    return replace(tree, values=values, levels=(values, *tree.levels[1:]))


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
    layout = Layout(axes=axes)
    places = _find_places(layout, leaves)
    if people.owners is None:
        return _add_up_people(layout, places, people.people)
    # A person with several values of a column by now is in the totals alone
    single = [_choose_single(people.owners, place, 0) for place in places]
    return _add_up_people(layout, single, people.owners.people)


def _count_cells(
    layout: Layout, leaves: dict[str, list[str]], people: DistinctRows
) -> Ints:
    """Count people in the finest cells, and add these up to the coarser cells.

    Raises: InfeasibleError for a person in several cells.
    """
    places = _find_places(layout, leaves)
    if people.owners is None:
        return _add_up_people(layout, places, people.people)
    cells = np.ravel_multi_index(places, layout.shape)
    single = _choose_single(people.owners, cells, -1)
    if (single < 0).any():
        raise InfeasibleError(
            "some people are in several cells of this table, so its counts do "
            "not add up",
            remedy="choose columns in which each person has only one value, "
            "such as the year of birth",
        )
    places = list(np.unravel_index(single, layout.shape))
    return _add_up_people(layout, places, people.owners.people)


def _find_places(layout: Layout, leaves: Mapping[str, list[str]]) -> list[Ints]:
    """Return (tuples,) the finest group of each value, for each axis."""
    return [
        np.array([axis.finest_group.get(value, 0) for value in leaves[axis.column]])
        for axis in layout.axes
    ]


def _add_up_people(layout: Layout, places: Sequence[Ints], people: Ints) -> Ints:
    """Return the counts of all cells for people in the finest groups."""
    finest = np.zeros(layout.shape, dtype=np.int64)
    np.add.at(finest, tuple(places), people)
    return layout.add_up(finest)
