"""The first rows of a table whose rows do not fit, in place of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpcore.errors import RowsError
from dpcore.evaluation.question import Evaluation, Readable
from dpcore.schema.domain import Clique
from dpcore.schema.schema import Schema
from dpcore.tables.counts import Counts
from dpcore.tables.rows import DistinctRows, Microdata

FIRST = 100_000
"""Rows that stand for a table where a person asked for that; they are no random part of it."""


def read_original(
    evaluation: Evaluation[Any], table: Readable, schema: Schema, first_rows: int | None
) -> Microdata:
    """Return what an evaluation needs of the original; of its first rows where all do not fit.

    Args: first_rows: how many rows; None where they may not stand for all.
    Raises: RowsError where rows are needed and do not fit.
    """
    try:
        return evaluation.read(table, schema)
    except RowsError:
        if first_rows is None:
            raise
        return evaluation.read(_First(table, first_rows), schema)


class _First:
    """A table of which the first rows alone are there."""

    def __init__(self, table: Readable, most: int) -> None:
        self._table = table
        self._most = most

    def rows(self) -> Microdata:
        return self._table.sample(self._most)

    def counted_rows(self) -> Microdata:
        """Return the first rows, all of them: these alone do not say which of a person's count."""
        return self.rows()

    def sample(self, rows: int) -> Microdata:
        return self._table.sample(min(rows, self._most))

    def counts(self, cliques: Sequence[Clique]) -> list[Counts]:
        return self._table.counts(cliques)

    def tuples(self, columns: Sequence[str], *, by: str | None = None) -> DistinctRows:
        return self._table.tuples(columns, by=by)
