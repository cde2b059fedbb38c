"""Cells that a declaration calls found privately, and what was found."""

from collections import defaultdict
from collections.abc import Iterator

from dpcore.accounting.ledger import Ledger, Line
from dpcore.errors import ParameterError
from dpcore.evaluation.table.cells_of_numbers import check_charged, searches_on_file
from dpcore.release import PrivateReport
from dpcore.schema.column import Column
from dpcore.schema.origin import CELLS
from dpcore.schema.schema import Schema


def check_found(schema: Schema, ledger: Ledger, dataset: str) -> None:
    """Refuse cells that a declaration calls found, and that no search on this account
    was charged for, or has found.

    Raises: ParameterError that names the column.
    """
    check_charged(schema, ledger.lines(dataset))
    for column in schema.columns:
        if column.found and not any(
            _has_cells_of(column, found)
            for found in _found_on_file(column, ledger, dataset)
        ):
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


def _found_on_file(column: Column, ledger: Ledger, dataset: str) -> Iterator[Column]:
    """Read what searches have found that were charged what the column says."""
    requests: dict[str, list[Line]] = defaultdict(list)
    for line in ledger.lines(dataset):
        requests[line.request_id].append(line)
    for request_id, lines in requests.items():
        if (column.name, column.found) not in searches_on_file(lines):
            continue
        text = ledger.release(dataset, request_id)
        if text is None:
            continue
        for fields in PrivateReport.from_json(text).content["columns"]:
            if fields["name"] == column.name:
                yield Column.from_dict(fields)


def _has_cells_of(column: Column, found: Column) -> bool:
    return column.kind == found.kind and all(
        getattr(column, fact) == getattr(found, fact) for fact in CELLS
    )
