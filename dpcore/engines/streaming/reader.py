"""Readers of the places where tables lie, for an engine of Arrow."""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from dpcore.errors import ReadError
from dpcore.schema.source import Source

ROWS_AT_ONCE = 131_072
"""Rows of a batch, where a reader can choose."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of a table. Threads read several of them at a time.

    Attributes:
        place: where it lies.
        start: the number of its first row in the whole table.
    """

    place: Any = None
    start: int = 0


class Snapshot(Protocol):
    """One state of a table, for as long as it is held."""

    @property
    def pieces(self) -> Sequence[Piece]:
        """All of the table."""

    def rows(self) -> int:
        """Return the number of rows. Private."""

    def check(self) -> None:
        """Refuse a state that was not held to the end.

        Raises: ReadError.
        """

    def batches(
        self, piece: Piece, names: Sequence[str], poll: Callable[[], object]
    ) -> Iterator[Any]:
        """Iterate over the rows of a piece as record batches of Arrow, of at least one
        column.

        Args:
            poll: called now and then while a query is at work; what it raises ends it.

        Raises: ReadError, in words that hold no value, password or place.
        """


class Reader(ABC):
    """A place where a table lies.

    Attributes:
        kinds: the columns and their types in Arrow, once a state was held.
        as_text: it knows texts only, so that the cell of a number follows from its
            text.
        ordered: rows come in one order each time; a place then says which rows count.
        threads: how many read at a time.
        file: what is held open for as long as it reads.
        source: its description, where joins or the word of its owner are to be heeded.
    """

    kinds: dict[str, Any]
    as_text = False
    ordered = False
    threads = 2
    file: object = None
    source: Source | None = None

    @abstractmethod
    def hold(self, poll: Callable[[], object]) -> AbstractContextManager[Snapshot]:
        """One state of the table, the one that was held first as far as can be told.

        Raises: ReadError, also where it is not that state any more.
        """


@contextlib.contextmanager
def readable(*errors: type[Exception]) -> Iterator[None]:
    """Say that reading failed without the words of another library, which may quote a
    value or a password.

    Args:
        errors: of that library, besides those of Arrow and of files.
    """
    try:
        yield
    except (pa.ArrowException, OSError, *errors) as error:
        raise ReadError(
            "the source could not be read to its end ({kind})",
            remedy=(
                "see that it is there, whole, and may be read, and that the disk is "
                "not full"
            ),
            kind=type(error).__name__,
        ) from None
