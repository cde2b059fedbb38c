"""The result of a query to a data base, in one transaction."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from dpcore.engines.streaming.reader import ROWS_AT_ONCE, Piece, readable
from dpcore.engines.streaming.waiting import awaited

Poll = Callable[[], object]


def quoted(name: str) -> str:
    """Quote the name of a column for a query."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(kw_only=True)
class QueryReading:
    """The rows of a query, through a connection that answers one question at a time.

    Attributes:
        table: what is after FROM.
        ask: gives a reader of record batches, which ends with its context.
        interrupt: cancels the query soon.
        errors: of the library that reads.
        check: refuses a state that was not held.
        written: how columns are written in the query, where it is not by their names.
    """

    table: str
    ask: Callable[[str], AbstractContextManager[Any]]
    interrupt: Poll
    errors: type[Exception]
    check: Callable[[], None]
    written: Mapping[str, str] = field(default_factory=dict)

    pieces: Sequence[Piece] = (Piece(),)

    def schema(self, poll: Poll, names: Sequence[str] | None = None) -> Any:
        """Return the types of some columns, or of all that the query gives."""
        with self._asked(
            "*" if names is None else self._list(names), " LIMIT 0", poll
        ) as given:
            return given.schema

    def rows(self, poll: Poll = lambda: None) -> int:
        """Return the number of rows. Private."""
        with self._asked("count(*)", "", poll) as given:
            return int(given.read_all().column(0)[0].as_py())

    def batches(self, piece: Piece, names: Sequence[str], poll: Poll) -> Iterator[Any]:
        """Iterate over the rows, in any order."""
        with self._asked(self._list(names), "", poll) as given:

            def following() -> Any:
                return awaited(
                    lambda: next(given, None), poll=poll, interrupt=self.interrupt
                )

            for batch in iter(following, None):
                yield from (
                    batch.slice(row, ROWS_AT_ONCE)
                    for row in range(0, len(batch), ROWS_AT_ONCE)
                )

    def _list(self, names: Sequence[str]) -> str:
        return ", ".join(
            f"{self.written.get(name, quoted(name))} AS {quoted(name)}"
            for name in names
        )

    @contextlib.contextmanager
    def _asked(self, columns: str, end: str, poll: Poll) -> Iterator[Any]:
        query = f"SELECT {columns} FROM {self.table}{end}"
        with readable(self.errors), contextlib.ExitStack() as stack:
            yield awaited(
                lambda: stack.enter_context(self.ask(query)),
                poll=poll,
                interrupt=self.interrupt,
            )
