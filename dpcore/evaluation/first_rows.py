"""Use of a table's first rows if the whole table does not fit into memory."""

from collections.abc import Sequence

from dpcore.evaluation.base import OriginalTable
from dpcore.schema.domain import Clique
from dpcore.tables.counts import Counts
from dpcore.tables.rows import DistinctRows, LinkedMicrodata, Microdata

FIRST_ROWS = 100_000
"""Rows that stand for a table if a person asked for that; they are no random sample."""


class FirstRows:
    """Original table whose first rows stand for all if not all rows fit."""

    def __init__(self, table: OriginalTable, max_rows: int = FIRST_ROWS) -> None:
        self._table = table
        self._most = max_rows

    @property
    def in_memory(self) -> bool:
        return self._table.in_memory

    def rows(self) -> Microdata:
        return (
            self._table.rows()
            if self._table.in_memory
            else self._table.sample(self._most)
        )

    def linked_rows(self) -> LinkedMicrodata:
        return self._table.linked_rows()

    def limit_rows(self, rows: Microdata) -> Microdata:
        return self._table.limit_rows(rows)

    def sample(self, rows: int) -> Microdata:
        return self._table.sample(min(rows, self._most))

    def counts(self, cliques: Sequence[Clique]) -> list[Counts]:
        return self._table.counts(cliques)

    def coded_rows(self, columns: Sequence[str]) -> Microdata:
        return self._table.coded_rows(columns)

    def tuples(self, columns: Sequence[str], *, by: str | None = None) -> DistinctRows:
        return self._table.tuples(columns, by=by)
