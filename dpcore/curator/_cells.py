"""Open one or two tables after finding the cells of number columns privately."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import pandas as pd

from dpcore.accounting.ledger import Ledger
from dpcore.accounting.loss import UNIT, AnyLoss, Loss
from dpcore.curator.curator import Curator
from dpcore.curator.linked import LinkedCurator
from dpcore.errors import budget_exceeded_error
from dpcore.evaluation.table.cells_of_numbers import (
    NumberCellsQuestion,
    check_numbers,
    make_cell_search,
    search_loss,
    with_public_cells,
)
from dpcore.schema.column import Column
from dpcore.schema.interval import Real
from dpcore.schema.linked import LinkedSchema
from dpcore.schema.schema import Schema
from dpcore.schema.source import Source


def open_with_cells(
    table: pd.DataFrame | Source,
    schema: Schema,
    columns: Sequence[str],
    *,
    budget: AnyLoss,
    ledger: Ledger,
    **options: Any,
) -> Curator:
    """Find cells of number columns privately, then open the table with them.

    The report of the search may be shared and holds the declaration. Texts of these
    columns that mean missing or count as others are therefore dropped, even if their
    owner called them public. The public rules then say what is missing; a number that
    stands for missing, such as -9, counts as a number.

    Costs `loss_of_search(budget)`, a twentieth of a release at epsilon 1 or of the
    budget, charged before anything is read. The same table finds the answer that is on
    file, and pays nothing.

    Args:
        table: the private rows, or a connected source.
        schema: the public facts. Bounds, cuts and special values of `columns` are not
            looked at; decimals that were told stay.
        columns: names of the columns of numbers, at least one.
        budget: as of `Curator.open`.
        ledger: keeps the account.
        **options: others of `Curator.open`.

    Raises: as `Curator.open`; BudgetExceeded if the search cannot be paid;
        ParameterError for a column that holds no numbers.

    >>> import dpcore as dp
    >>> people = pd.DataFrame({"pay": [*range(1_000, 9_000)] * 2})
    >>> schema = dp.suggest_schema(people)
    >>> curator = open_with_cells(
    ...     people, schema, ["pay"], budget=dp.PureDP(epsilon=3), ledger=dp.MemoryLedger()
    ... )
    >>> curator.schema.column("pay").found.loss, curator.schema.columns_from_data
    ({'epsilon': '1/20'}, ())
    """
    loss = search_loss(budget)
    check_numbers(schema, columns)
    options |= {"budget": budget, "ledger": ledger}
    curator = Curator.open(table, _make_public(schema, columns), **options)
    found = _find_cells(curator, schema, columns, loss)
    return Curator.open(table, found, **options)


def open_linked_with_cells(
    people: pd.DataFrame | Source,
    events: pd.DataFrame | Source,
    linked: LinkedSchema,
    columns: Sequence[str],
    *,
    budget: AnyLoss,
    ledger: Ledger,
    **options: Any,
) -> LinkedCurator:
    """Find cells of number columns of two linked tables privately, then open both.

    As `open_with_cells`. Columns of people are counted where a person is a row, and
    columns of events where a person has up to as many rows as count. If both tables
    have such columns, they share the loss as releases of both do.

    Args:
        people, events: as of `LinkedCurator.open`.
        linked: the public facts. Bounds, cuts and special values of `columns` are not
            looked at.
        columns: names of columns of numbers of either table, at least one.
        budget: as of `LinkedCurator.open`.
        ledger: keeps the account.
        **options: others of `LinkedCurator.open`.

    Raises: as `LinkedCurator.open`; BudgetExceeded if the search cannot be paid;
        ParameterError for a column that holds no numbers, or an unknown one.
    """
    of_people, of_events = (
        [name for name in columns if name in schema.domain.names]
        for schema in (linked.people, linked.events)
    )
    for name in set(columns).difference(of_people, of_events):
        linked.events.column(name)  # refuses an unknown name
    check_numbers(linked.events_view, columns)
    options |= {"budget": budget, "ledger": ledger}
    curator = LinkedCurator.open(
        people,
        events,
        dataclasses.replace(
            linked,
            people=_make_public(linked.people, of_people),
            events=_make_public(linked.events, of_events),
            order_by="",
        ),
        **options,
    )
    loss = search_loss(budget)
    losses = (loss, loss)
    if of_people and of_events:
        losses = curator.split_loss(loss)
    searches = (
        (curator.people, linked.people, of_people, losses[0]),
        (curator.events, linked.events, of_events, losses[1]),
    )
    _check_both_can_be_paid(
        [(view, names, part) for view, _schema, names, part in searches if names]
    )
    found = [
        _find_cells(view, schema, names, part) if names else schema
        for view, schema, names, part in searches
    ]
    return LinkedCurator.open(
        people,
        events,
        dataclasses.replace(linked, people=found[0], events=found[1]),
        **options,
    )


def _make_public(schema: Schema, columns: Sequence[str]) -> Schema:
    """Return the schema of the searched columns alone, in public cells."""
    return Schema(
        columns=tuple(with_public_cells(schema.column(name)) for name in columns),
        unit=schema.unit,
        excluded=schema.unread_columns(columns),
    )


def _check_both_can_be_paid(
    searches: Sequence[tuple[Curator, Sequence[str], Loss]],
) -> None:
    """Refuse searches before the first one is charged, if not all can be paid.

    Args:
        searches: the view, the columns and the loss of each, of one account.

    Raises: BudgetExceeded.
    """
    view = searches[0][0]
    answered = {line.request_id for line in view.lines() if line.state == "committed"}
    units = sum(
        curator.rule.to_units(loss)
        for curator, columns, loss in searches
        if curator.find_request_id(_make_question(columns), loss) not in answered
    )
    remaining = view.balance().remaining_units
    if units > remaining:
        raise budget_exceeded_error(view.rule.unit, units / UNIT, remaining / UNIT)


def _make_question(columns: Sequence[str]) -> NumberCellsQuestion:
    return NumberCellsQuestion(columns=tuple(columns))


def _find_cells(
    curator: Curator, schema: Schema, columns: Sequence[str], loss: Loss
) -> Schema:
    """Pay for a search, once, and return the schema with the cells that it found.

    Args:
        curator: of the columns in public cells.
        schema: as its owner declared it.
    """
    question = _make_question(columns)
    report = curator.evaluate_privately(
        question, loss, request_id=curator.find_request_id(question, loss)
    )
    declared = {column.name: column for column in schema.columns}
    for fields in report.content["columns"]:
        name = fields["name"]
        declared[name] = dataclasses.replace(
            _keep_declared_decimals(Column.from_dict(fields), declared[name]),
            found=make_cell_search(loss, report.request_id, columns),
        )
    return dataclasses.replace(schema, columns=tuple(declared.values()))


def _keep_declared_decimals(found: Column, declared: Column) -> Column:
    """Return a column with the found cells and the decimals its owner declared.

    The search does not see them: they say how drawn numbers are written, not where
    rows lie. Decimals that were read from the table follow its rows, and go.
    """
    if not isinstance(found, Real) or not isinstance(declared, Real):
        return found
    if declared.decimals is None or "decimals" in declared.from_data:
        return found
    return dataclasses.replace(
        found, decimals=declared.decimals, known_from=declared.known_from
    )
