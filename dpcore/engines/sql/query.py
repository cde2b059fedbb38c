"""The result of a database query, in one transaction."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from dpcore.engines.streaming.reader import ROWS_AT_ONCE, Piece, reading_errors
from dpcore.engines.streaming.waiting import run_cancellable

Poll = Callable[[], object]


def quote(name: str) -> str:
    """Quote a column name for use in a query."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(kw_only=True)
class QueryReading:
    """Rows of a query, through a connection that answers one question at a time.

    Attributes:
        table: the text after FROM.
        ask: returns a context with a reader of record batches.
        interrupt: cancels the query soon.
        errors: of the database library.
        check: refuses a state that has changed.
        written: expressions of columns in the query, if these are not their names.
    """

    table: str
    ask: Callable[[str], AbstractContextManager[Any]]
    interrupt: Poll
    errors: type[Exception]
    check: Callable[[], None]
    written: Mapping[str, str] = field(default_factory=dict)

    pieces: Sequence[Piece] = (Piece(),)

    def schema(self, poll: Poll, names: Sequence[str] | None = None) -> Any:
        """Return the types of some columns, or of all columns of the query."""
        with self._ask(
            "*" if names is None else self._list(names), " LIMIT 0", poll
        ) as given:
            return given.schema

    def rows(self, poll: Poll = lambda: None) -> int:
        """Return the number of rows. Private."""
        with self._ask("count(*)", "", poll) as given:
            return int(given.read_all().column(0)[0].as_py())

    def batches(self, piece: Piece, names: Sequence[str], poll: Poll) -> Iterator[Any]:
        """Yield all rows as Arrow batches, in any order."""
        with self._ask(self._list(names), "", poll) as given:

            def following() -> Any:
                return run_cancellable(
                    lambda: next(given, None), poll=poll, interrupt=self.interrupt
                )

            for batch in iter(following, None):
                yield from (
                    batch.slice(row, ROWS_AT_ONCE)
                    for row in range(0, len(batch), ROWS_AT_ONCE)
                )

    def _list(self, names: Sequence[str]) -> str:
        return ", ".join(
            f"{self.written.get(name, quote(name))} AS {quote(name)}" for name in names
        )

    @contextlib.contextmanager
    def _ask(self, columns: str, end: str, poll: Poll) -> Iterator[Any]:
        query = f"SELECT {columns} FROM {self.table}{end}"
        with reading_errors(self.errors), contextlib.ExitStack() as stack:
            yield run_cancellable(
                lambda: stack.enter_context(self.ask(query)),
                poll=poll,
                interrupt=self.interrupt,
            )
