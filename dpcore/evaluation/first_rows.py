"""A question that needs rows, asked about the first ones of a table whose rows do not fit."""

from __future__ import annotations

from collections.abc import Sequence

from dpcore.evaluation.base import Evaluation, Read, Readable, Result
from dpcore.schema.domain import Clique
from dpcore.schema.schema import Schema
from dpcore.tables.counts import Counts
from dpcore.tables.rows import DistinctRows, Microdata

FIRST = 100_000
"""Rows that stand for a table where a person asked for that; they are no random part of it."""


class OnFirstRows(Evaluation[Read, Result]):
    """An evaluation that reads all rows where it can, and the first ones where these do not fit."""

    def __init__(self, evaluation: Evaluation[Read, Result]) -> None:
        self.evaluation = evaluation
        self.kind = evaluation.kind  # type: ignore[misc]

    @property
    def about(self) -> tuple[str, ...]:
        return self.evaluation.about

    def read(self, table: Readable, schema: Schema) -> Read:
        """As the evaluation; of the first rows where all of them would be needed."""
        return self.evaluation.read(_First(table), schema)

    def compute(self, original: Read, schema: Schema) -> Result:
        """As the evaluation."""
        return self.evaluation.compute(original, schema)


class _First:
    """A table whose first rows take the place of rows that do not fit."""

    def __init__(self, table: Readable) -> None:
        self._table = table

    @property
    def in_memory(self) -> bool:
        return self._table.in_memory

    def rows(self) -> Microdata:
        return self._table.rows() if self._table.in_memory else self._table.sample(FIRST)

    def counted(self, rows: Microdata) -> Microdata:
        return self._table.counted(rows)

    def sample(self, rows: int) -> Microdata:
        return self._table.sample(min(rows, FIRST))

    def counts(self, cliques: Sequence[Clique]) -> list[Counts]:
        return self._table.counts(cliques)

    def tuples(self, columns: Sequence[str], *, by: str | None = None) -> DistinctRows:
        return self._table.tuples(columns, by=by)
