"""Readers of tables for the Arrow engine."""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from dpcore.errors import ReadError
from dpcore.schema.source import Source

ROWS_PER_BATCH = 131_072
"""Rows of a batch, if a reader can choose."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One part of a table; several threads read one piece each at a time.

    Attributes:
        place: its location, for the reader.
        start: the number of its first row in the whole table.
    """

    place: Any = None
    start: int = 0


class Snapshot(Protocol):
    """One state of a table, which can be read while it is held."""

    @property
    def pieces(self) -> Sequence[Piece]:
        """Pieces that together make up the table."""

    def rows(self) -> int:
        """Return the number of rows. Private."""

    def check_unchanged(self) -> None:
        """Refuse a table that has changed since this state.

        Raises: ReadError.
        """

    def batches(
        self, piece: Piece, names: Sequence[str], poll: Callable[[], object]
    ) -> Iterator[Any]:
        """Yield the rows of a piece as Arrow record batches.

        Args:
            names: of columns, at least one.
            poll: called now and then during a query; an exception that it raises ends
                it.

        Raises: ReadError, in words that hold no value, password or place.
        """


class Reader(ABC):
    """Base class of readers, which give access to a table in pieces.

    Attributes:
        arrow_types: the columns and their Arrow types, after a state was held.
        as_text: whether all values are texts, so that the cell of a number follows from
            its text.
        ordered: whether rows come in the same order each time; then row numbers tell
            which rows count.
        threads: number of threads that read at a time.
        file: an object to be kept open while it reads.
        source: its description, if joins or declarations of its owner matter.
    """

    arrow_types: dict[str, Any]
    as_text = False
    ordered = False
    threads = 2
    file: object = None
    source: Source | None = None

    @abstractmethod
    def hold_state(
        self, poll: Callable[[], object]
    ) -> AbstractContextManager[Snapshot]:
        """Hold the state in which the table was first read, if changes can be noticed.

        Raises: ReadError, also if it is not that state any more.
        """


@contextlib.contextmanager
def reading_errors(*errors: type[Exception]) -> Iterator[None]:
    """Replace errors of other libraries, whose messages may quote private values.

    Args:
        errors: of a library, besides those of Arrow and of files.
    """
    try:
        yield
    except (pa.ArrowException, OSError, *errors) as error:
        raise ReadError(
            "the source could not be read to its end ({kind})",
            remedy=(
                "check that it is there, complete and readable, and that the disk is "
                "not full"
            ),
            kind=type(error).__name__,
        ) from None
