"""State of the Tables page, and the table that is made on it."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.curator import Curator
from dpcore.curator.tabulating import list_declared_values, list_published_tables
from dpcore.errors import DpcoreError
from dpcore.evaluation.table.proposals import HierarchiesQuestion
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.release import InternalReport
from dpcore.suppression import (
    ExactTable,
    HidingRule,
    PublishedTable,
    ShownColumn,
    TablePlan,
)
from dpcore.suppression.plan import ExceptedCell
from dpcore.synthesis import Joint
from workbench import session
from workbench.language.budget import affordable_epsilon, delta_of
from workbench.language.messages import _
from workbench.language.wording import number, percent
from workbench.report import of_exact_table
from workbench.server.workers.callbacks import cancelled_by
from workbench.store.people.same_people import (
    name_of,
    note_same_people,
    same_people,
    tables_of_same_people,
)
from workbench.store.policy import read_policy
from workbench.ui import progress_view

MAX_GROUPS_PER_LEVEL = 30  # labels of a level that is shown without being asked for


@dataclass(frozen=True, kw_only=True)
class Grouping:
    """What groups the values of a column.

    Attributes:
        within: other columns, the finest first.
        levels: of the suggested hierarchy; None for the finest that is short enough.
    """

    within: tuple[str, ...] = ()
    levels: tuple[int, ...] | None = None


Columns = dict[str, Grouping]
"""The columns of a table."""
Asked = tuple[Columns, HidingRule, int]
"""What is chosen for one table; last the base of rounding, 0 to hide small counts."""


Nesting = tuple[str, str]
"""An inner and an outer column, such as town and district."""


@dataclass(frozen=True, kw_only=True)
class Retry:
    """What was asked of tables that were refused.

    Attributes:
        asked, plans, unrelated: as of `make_tables`.
    """

    asked: Sequence[Asked]
    plans: Sequence[TablePlan]
    unrelated: tuple[str, ...]


@dataclass(kw_only=True)
class TablesState(session.DataSetState):
    """Choices and results of the Tables page.

    Attributes:
        listed: further tables that are made together with the chosen one.
        asked: what was chosen for each one of `made_tables`.
        made_tables: the tables that wait to be accepted, or were.
        published_tables: what left.
        hierarchies: suggested, by column.
        rare_people: people with a rare pair of an inner and an outer column, by these
            columns. A table was refused because of them.
        miscoded: those columns of which the owner says that rare pairs are errors.
        retry: what was asked when a table was refused because of rare pairs.
    """

    listed: list[Asked] = field(default_factory=list)
    asked: Sequence[Asked] = ()
    made_tables: InternalReport[tuple[ExactTable, ...]] | None = None
    published_tables: Sequence[PublishedTable] = ()
    hierarchies: dict[str, Hierarchy] = field(default_factory=dict)
    rare_people: dict[Nesting, int] = field(default_factory=dict)
    miscoded: set[Nesting] = field(default_factory=set)
    retry: Retry | None = None


def countable_columns(curator: Curator) -> list[str]:
    """Return the columns that an exact table can count."""
    person = curator.schema.unit.id_column
    return [name for name in curator.schema.domain.names if name != person]


def shows_declared_values(curator: Curator, name: str, grouping: Grouping) -> bool:
    """Return whether the lines of a column are its declared values.

    Otherwise they are read from the rows, and show which values occur.
    """
    declared = list_declared_values(curator.schema, name)
    is_short = declared is not None and len(declared) <= MAX_GROUPS_PER_LEVEL
    return is_short and grouping == Grouping()


def list_revealing_columns(curator: Curator, columns: Columns) -> list[str]:
    """Return the columns whose lines show which values occur in the rows."""
    return [
        name
        for name, grouping in columns.items()
        if not shows_declared_values(curator, name, grouping)
    ]


def list_foreign_columns(curator: Curator) -> list[str]:
    """Return the columns of other exact tables that this file does not have.

    A column that declares none of the values of a table counts as another one.
    """
    present = set(curator.schema.domain.names)
    foreign = set()
    for table in [*curator.exact_tables(), *others(curator)]:
        for axis in table.layout.axes:
            declared = list_declared_values(curator.schema, axis.column)
            is_recoded = declared is not None and axis.finest_group.keys().isdisjoint(
                declared
            )
            if axis.column not in present or is_recoded:
                foreign.add(axis.column)
    return sorted(foreign)


def plan_of(
    curator: Curator,
    page_state: TablesState,
    columns: Columns,
    rule: HidingRule,
    rounding_base: int = 0,
    unrelated: Sequence[str] = (),
) -> TablePlan:
    """Return the plan for a table, with suggested groups if no columns group it.

    The page asks first whether the values in the rows are no secret.

    Args:
        rounding_base: to whose multiples counts are rounded; 0 to hide small ones.
        unrelated: columns of other tables that have nothing to do with this one.
    """
    missing = tuple(
        name
        for name, grouping in columns.items()
        if not grouping.within and name not in page_state.hierarchies
    )
    if missing:
        key = ("hierarchies", missing)
        suggested = session.evaluate_once(
            curator, key, lambda: HierarchiesQuestion(columns=missing)
        )
        page_state.hierarchies |= {
            name: _in_order(tree) for name, tree in suggested.items()
        }
    shown = []
    for name, grouping in columns.items():
        if grouping.within:
            column = ShownColumn(
                column=name, within=grouping.within, values_are_public=True
            )
        elif shows_declared_values(curator, name, grouping):
            column = ShownColumn(column=name)
        else:
            tree = page_state.hierarchies[name]
            levels = grouping.levels or (usual_level(tree),)
            column = ShownColumn(
                column=name, hierarchy=tree, levels=levels, values_are_public=True
            )
        shown.append(column)
    return TablePlan(
        columns=tuple(shown),
        rule=rule,
        unrelated=tuple(unrelated),
        rounding_base=rounding_base,
    )


def _in_order(tree: Hierarchy) -> Hierarchy:
    """Return a hierarchy with its values in the order in which people look for them."""

    def key(place: int) -> list[tuple[bool, float, str]]:
        parts = re.findall(r"\d+|\D+", tree.values[place])
        return [
            (not part.isdecimal(), float(part) if part.isdecimal() else 0.0, part)
            for part in parts
        ]

    order = sorted(range(len(tree.values)), key=key)
    levels = tuple(tuple(level[place] for place in order) for level in tree.levels)
    return dataclasses.replace(tree, values=levels[0], levels=levels)


def named_levels(tree: Hierarchy) -> list[int]:
    """Return the levels whose groups have names, such as 20-29.

    A group that only lists its values, {a, b}, is for hiding people in it.
    """
    return [
        level
        for level in range(tree.height)
        if level == 0 or not any(label[:1] == "{" for label in tree.labels(level))
    ]


def usual_level(tree: Hierarchy) -> int:
    """Return the finest level with groups that have names and are not too many."""
    levels = named_levels(tree)
    short = (
        level for level in levels if len(tree.labels(level)) <= MAX_GROUPS_PER_LEVEL
    )
    return next(short, levels[-1])


def list_asked(page_state: TablesState, chosen: Asked) -> list[Asked]:
    """Return what is asked of all tables: those of the list, and the chosen one."""
    listed = page_state.listed
    return [*listed, *([] if chosen in listed else [chosen])]


def add_to_list(page_state: TablesState, chosen: Asked) -> None:
    """Keep the chosen table in the list."""
    page_state.listed = list_asked(page_state, chosen)


def remove_from_list(page_state: TablesState, number: int) -> None:
    """Take a table from the list."""
    del page_state.listed[number]


def make_tables(
    curator: Curator,
    page_state: TablesState,
    asked: Sequence[Asked],
    on_progress: OnProgress,
    plans: Sequence[TablePlan] = (),
    unrelated: Sequence[str] = (),
) -> None:
    """Make exact tables that wait to be accepted, and note them in the ledger.

    Args:
        asked: what is chosen on the page for each table.
        plans: to be carried out in their place.
        unrelated: columns of other tables that have nothing to do with these.
    """
    page_state.asked = ()
    page_state.made_tables = None
    page_state.published_tables = ()
    page_state.retry = Retry(asked=asked, plans=plans, unrelated=tuple(unrelated))
    try:
        with progress_view.wait_in_line(), cancelled_by(session.make_cancel_poll()):
            plans = plans or [
                plan_of(curator, page_state, *one, unrelated) for one in asked
            ]
            miscoded = page_state.miscoded.union(*(plan.miscoded for plan in plans))
            plans = [
                dataclasses.replace(plan, miscoded=tuple(sorted(miscoded)))
                for plan in plans
            ]
            for plan in plans:
                read_policy().check_table(plan)
            page_state.made_tables = curator.make_exact_tables(
                plans, on_progress, others=others(curator)
            )
            page_state.asked = asked
    except DpcoreError as error:
        session.session().notices["tables"] = error
        for pair in error.details.get("nestings", ()):
            report = curator.count_rare_people(plans, pair, others=others(curator))
            page_state.rare_people[pair] = report.content


def say_miscoded(
    curator: Curator, page_state: TablesState, pair: Nesting, *, is_error: bool
) -> None:
    """Note whether rare pairs of two columns are errors, and make the tables again."""
    if is_error:
        page_state.miscoded.add(pair)
    else:
        page_state.miscoded.discard(pair)
    retry = page_state.retry
    assert retry is not None
    make_tables(
        curator,
        page_state,
        retry.asked,
        ignore_stage_progress,
        retry.plans,
        retry.unrelated,
    )


def except_cell(
    curator: Curator, current: TablesState, table: int, cell: int, reason: str
) -> None:
    """Make the tables again with one cell shown, for a written reason.

    The tables stay as they are if that cannot be.

    Args:
        table: number of the made table.
    """
    made = current.made_tables
    asked = current.asked
    assert made is not None
    with session.keep_error("tables"):
        labels = made.content[table].published.layout.labels(cell)
        excepted = ExceptedCell(labels=labels, reason=reason)
        plans = [one.plan for one in made.content]
        exceptions = (*plans[table].exceptions, excepted)
        plans[table] = dataclasses.replace(plans[table], exceptions=exceptions)
        make_tables(curator, current, asked, ignore_stage_progress, plans)
        if current.made_tables is None:
            current.made_tables = made
            current.asked = asked


def cells_to_except(made: ExactTable) -> dict[int, str]:
    """Return the cells that the rule hides, by what they are called."""
    layout = made.published.layout
    return {
        cell: " × ".join(of_exact_table.group_names(layout, cell))
        for cell, reason in made.reasons.items()
        if reason in ("small", "empty", "full")
        and not layout.is_ambiguous(layout.labels(cell))
    }


def publish_tables(curator: Curator, page_state: TablesState) -> None:
    """Attack the tables once more, note them in the ledger, and publish them.

    Nothing is published if one of them is refused.
    """
    assert page_state.made_tables is not None
    try:
        with progress_view.wait_in_line(), cancelled_by(session.make_cancel_poll()):
            page_state.published_tables = curator.publish_tables(
                page_state.made_tables, others=others(curator)
            )
        page_state.listed = []
    except DpcoreError as error:
        page_state.made_tables = None
        session.session().notices["tables"] = error


def others(curator: Curator) -> list[PublishedTable]:
    """Return the exact tables of the person's other accounts about the same people."""
    return tables_of_same_people(curator.account.dataset, session.ledger())


@dataclass(frozen=True, kw_only=True)
class OtherAccount:
    """Another data set of the person that exact tables were published from.

    Attributes:
        is_same: whether it was said to be about the same people.
    """

    name: str
    is_same: bool


def other_accounts(curator: Curator) -> dict[str, OtherAccount]:
    """Return the person's other data sets with exact tables, or about the same people."""
    ledger = session.ledger()
    dataset = curator.account.dataset
    same = same_people(dataset, ledger)
    return {
        other: OtherAccount(name=name_of(other, ledger), is_same=other in same)
        for other in ledger.datasets()
        if other != dataset
        and ledger.is_mine(other)
        and (other in same or list_published_tables(ledger.lines(other)))
    }


def say_same_people(curator: Curator, accounts: list[str]) -> None:
    """Note that other data sets are about the same people as this one."""
    with session.keep_error("tables"):
        for other in accounts:
            note_same_people(curator.account.dataset, other, session.ledger())


def noise_words(curator: Curator, exact_table: ExactTable) -> str:
    """Say what error the same table would have with noise, from public facts alone.

    Empty if there is no such release.
    """
    account = curator.account
    share = read_policy().proposed_share("")
    epsilon = affordable_epsilon(math.floor(share * account.units), account)
    try:
        loss = account.rule.make_loss(repr(epsilon), delta_of(account))
        quote = curator.quote(Joint(exact_table.plan.column_names), loss)
    except DpcoreError:
        return ""
    hidden = len(exact_table.reasons) / len(exact_table.true_counts)
    base = exact_table.published.rounding_base
    words = (
        _(
            "With noise, the same columns would cost {share} of the budget, and 95 of "
            "100 counts would be within {error} people of the truth. Here, every count "
            "is within {off} people of the truth, and all sums hold."
        )
        if base
        else _(
            "With noise, the same columns would cost {share} of the budget. No count "
            "would be hidden, and 95 of 100 counts would be within {error} people of "
            "the truth. Here, {hidden} of the counts are hidden and the others are "
            "exact."
        )
        if hidden
        else _(
            "With noise, the same columns would cost {share} of the budget, and 95 of "
            "100 counts would be within {error} people of the truth. Here, no count is "
            "hidden, and all are exact."
        )
    )
    return words.format(
        share=percent(float(share)),
        error=number(math.ceil(quote.expected[0].half_width())),
        hidden=percent(hidden),
        off=number(base - 1),
    )
