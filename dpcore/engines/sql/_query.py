"""The result of a database query, in one transaction."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from dpcore.engines.streaming.reader import ROWS_PER_BATCH, Piece, reading_errors
from dpcore.engines.streaming.waiting import run_cancellable

Poll = Callable[[], object]


def quote(name: str) -> str:
    """Quote a column name for use in a query."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(kw_only=True)
class QueryReading:
    """Rows of a query, through a connection that answers one question at a time.

    Attributes:
        from_clause: the text after FROM.
        run_query: returns a context with a reader of record batches.
        interrupt: cancels the query soon.
        errors: of the database library.
        check_unchanged: refuses a state that has changed.
        column_expressions: expressions of columns in the query, if these are not their names.
    """

    from_clause: str
    run_query: Callable[[str], AbstractContextManager[Any]]
    interrupt: Poll
    errors: type[Exception]
    check_unchanged: Callable[[], None]
    column_expressions: Mapping[str, str] = field(default_factory=dict)

    pieces: Sequence[Piece] = (Piece(),)

    def schema(self, poll: Poll, names: Sequence[str] | None = None) -> Any:
        """Return the types of some columns, or of all columns of the query."""
        with self._run_query(
            "*" if names is None else self._select_list(names), " LIMIT 0", poll
        ) as given:
            return given.schema

    def rows(self, poll: Poll = lambda: None) -> int:
        """Return the number of rows. Private."""
        with self._run_query("count(*)", "", poll) as given:
            return int(given.read_all().column(0)[0].as_py())

    def batches(self, piece: Piece, names: Sequence[str], poll: Poll) -> Iterator[Any]:
        """Yield all rows as Arrow batches, in any order."""
        with self._run_query(self._select_list(names), "", poll) as given:

            def following() -> Any:
                return run_cancellable(
                    lambda: next(given, None), poll=poll, interrupt=self.interrupt
                )

            for batch in iter(following, None):
                yield from (
                    batch.slice(row, ROWS_PER_BATCH)
                    for row in range(0, len(batch), ROWS_PER_BATCH)
                )

    def _select_list(self, names: Sequence[str]) -> str:
        return ", ".join(
            f"{self.column_expressions.get(name, quote(name))} AS {quote(name)}"
            for name in names
        )

    @contextlib.contextmanager
    def _run_query(self, columns: str, end: str, poll: Poll) -> Iterator[Any]:
        query = f"SELECT {columns} FROM {self.from_clause}{end}"
        with reading_errors(self.errors), contextlib.ExitStack() as stack:
            yield run_cancellable(
                lambda: stack.enter_context(self.run_query(query)),
                poll=poll,
                interrupt=self.interrupt,
            )
