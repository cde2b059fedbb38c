"""Checks that cells declared as privately found come from a paid search."""

import dataclasses
from collections.abc import Sequence

from dpcore.accounting.ledger import Ledger, Line
from dpcore.accounting.loss import ApproxDP, loss_from_fields
from dpcore.errors import ParameterError
from dpcore.evaluation.table.cells_of_numbers import (
    NumberCellsQuestion,
    make_cell_search,
)
from dpcore.release import PrivateReport
from dpcore.schema.column import Column
from dpcore.schema.origin import CELL_FACTS, CellSearch
from dpcore.schema.schema import Schema


def confirm_found_cells(schema: Schema, ledger: Ledger, dataset: str) -> Schema:
    """Return the schema with the paid search recorded on each found column.

    Earlier declarations do not name it, so that two searches of one loss counted as
    one.

    Raises: ParameterError with the column's name, if no search on this account was
        charged for its cells, or none found these cells.
    """
    if not schema.found:
        return schema
    lines = ledger.lines(dataset)
    columns = [
        dataclasses.replace(column, found=_find_search(column, lines, ledger))
        if column.found
        else column
        for column in schema.columns
    ]
    return dataclasses.replace(schema, columns=tuple(columns))


def mark_found_as_taken(column: Column) -> Column:
    """Mark cells that were found privately as taken from the data.

    An account that did not pay for the search cannot promise anything about them.
    """
    if column.found is None:
        return column
    cells = tuple(fact for fact in CELL_FACTS if fact in column.facts)
    return dataclasses.replace(
        column, found=None, from_data=(*column.from_data, *cells)
    )


def list_candidate_searches(
    column: Column, lines: Sequence[Line]
) -> list[tuple[CellSearch, Line]]:
    """Return the searches of an account that may have found a column's cells.

    The named one, or every one with its loss; each with the line of its charge.
    """
    answered = {line.request_id for line in lines if line.state == "committed"}
    searches = []
    for line in lines:
        question = line.content.get("recipe", {})
        if (
            line.request_id in answered
            and question.get("kind") == NumberCellsQuestion.kind
            and column.name in question["columns"]
        ):
            loss = loss_from_fields(line.content["loss"])
            assert not isinstance(loss, ApproxDP)  # of which no search makes use
            search = make_cell_search(loss, line.request_id, question["columns"])
            earlier = dataclasses.replace(search, columns=())
            if column.found in (search, earlier, search.without_id):
                searches.append((search, line))
    return searches


def _find_search(column: Column, lines: Sequence[Line], ledger: Ledger) -> CellSearch:
    """Return the first search that found a column's cells."""
    searches = list_candidate_searches(column, lines)
    if not searches:
        raise ParameterError(
            (
                "the cells of column {name!r} are marked as found privately, but "
                "nothing was charged for finding them"
            ),
            remedy="find them again, or say where they are known from",
            name=column.name,
        )
    for search, line in searches:
        text = ledger.release(line.dataset, line.request_id)
        if text is not None and _has_same_cells(column, PrivateReport.from_json(text)):
            return search
    raise ParameterError(
        (
            "the cells of column {name!r} are marked as found privately, but they "
            "are not those that were found"
        ),
        remedy=(
            "use the cells exactly as they were found, or mark them as taken from "
            "the data"
        ),
        name=column.name,
    )


def _has_same_cells(column: Column, report: PrivateReport) -> bool:
    """Return whether a search found exactly these cells."""
    fields = next(
        fields for fields in report.content["columns"] if fields["name"] == column.name
    )
    found = Column.from_dict(fields)
    return column.kind == found.kind and all(
        getattr(column, fact) == getattr(found, fact) for fact in CELL_FACTS
    )
