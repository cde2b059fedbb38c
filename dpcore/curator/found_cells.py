"""Cells that a declaration calls found privately, and what was found."""

import dataclasses
from collections.abc import Sequence

from dpcore.accounting.ledger import Ledger, Line
from dpcore.accounting.loss import ApproxDP, loss_from
from dpcore.errors import ParameterError
from dpcore.evaluation.table.cells_of_numbers import NumberCellsQuestion, search_of
from dpcore.release import PrivateReport
from dpcore.schema.column import Column
from dpcore.schema.origin import CELLS, CellSearch
from dpcore.schema.schema import Schema


def confirm_found(schema: Schema, ledger: Ledger, dataset: str) -> Schema:
    """Return the schema with the search on file that found the cells of each column.

    Declarations of before do not name it, so that two searches of one loss counted as
    one.

    Raises: ParameterError that names the column, for cells that are called found, and
        that no search on this account was charged for, or has found.
    """
    if not schema.found:
        return schema
    lines = ledger.lines(dataset)
    columns = [
        dataclasses.replace(column, found=_search_of(column, lines, ledger))
        if column.found
        else column
        for column in schema.columns
    ]
    return dataclasses.replace(schema, columns=tuple(columns))


def searches_on_file(
    column: Column, lines: Sequence[Line]
) -> list[tuple[CellSearch, Line]]:
    """Find the searches of an account that a column may say found its cells: the named
    one, or every one of its loss, each with the line of its charge.
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
            loss = loss_from(line.content["loss"])
            assert not isinstance(loss, ApproxDP)  # of which no search makes use
            search = search_of(loss, line.request_id)
            if column.found in (search, search.unnamed):
                searches.append((search, line))
    return searches


def _search_of(column: Column, lines: Sequence[Line], ledger: Ledger) -> CellSearch:
    """Return the search that found the cells of a column; the first one where several
    found the same cells.
    """
    searches = searches_on_file(column, lines)
    if not searches:
        raise ParameterError(
            (
                "the cells of column {name!r} are called found privately, and "
                "nothing was charged for it"
            ),
            remedy="find them again, or say where they are known from",
            name=column.name,
        )
    for search, line in searches:
        text = ledger.release(line.dataset, line.request_id)
        if text is not None and _has_found(column, PrivateReport.from_json(text)):
            return search
    raise ParameterError(
        (
            "the cells of column {name!r} are called found privately, and "
            "are not those that were found"
        ),
        remedy=(
            "take the declaration as it was found, or mark its cells as taken "
            "from the data"
        ),
        name=column.name,
    )


def _has_found(column: Column, report: PrivateReport) -> bool:
    """Return whether a search found the cells that a column has."""
    fields = next(
        each for each in report.content["columns"] if each["name"] == column.name
    )
    found = Column.from_dict(fields)
    return column.kind == found.kind and all(
        getattr(column, fact) == getattr(found, fact) for fact in CELLS
    )
