"""Columns of a table in the order in which they once came, in a file without a name.

Rows of a data base come in another order each time, and a place then says nothing. What is on disk meanwhile
are declared values of private rows: the file is in the folder for temporary files, and ends with its engine.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Generator, Sequence
from typing import Any

from dpcore.engines.streaming.reader import Piece


class Spool:
    """Takes batches of one thread, and gives some of their columns to several."""

    def __init__(self, names: Sequence[str]) -> None:
        self.pieces: list[Piece] = []
        self._names = list(names)
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._bytes = self._rows = 0

    def take(self, batch: Any) -> None:
        """Keep the columns of a batch.

        Raises: OSError, as where the disk is full.
        """
        import pyarrow as pa

        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.select(self._names).schema) as stream:
            stream.write_batch(batch.select(self._names))
        data = sink.getvalue()
        self.pieces.append(Piece(place=(self._bytes, data.size), start=self._rows))
        if os.pwrite(self._file.fileno(), data, self._bytes) != data.size:
            raise OSError("the disk is full")
        self._bytes, self._rows = self._bytes + data.size, self._rows + batch.num_rows

    def rows(self) -> int:
        """Return the number of rows."""
        return self._rows

    def check(self) -> None:
        """Do nothing, as no other program writes to it."""

    def batches(
        self, piece: Piece, names: Sequence[str], poll: Callable[[], object]
    ) -> Generator[Any, None, None]:
        """Iterate over the one batch of a piece, with some of its columns."""
        import pyarrow as pa

        start, size = piece.place
        with pa.ipc.open_stream(os.pread(self._file.fileno(), size, start)) as stream:
            yield stream.read_next_batch().select(list(names))
