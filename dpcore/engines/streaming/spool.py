"""Columns of a table as they once came, batch by batch, in a file without a name.

These are the cells of the rows that count, each in as few bytes as it needs; and the
declared values of a data base, whose rows come in another order each time, so that a
place says nothing. It is about people: the file is in the folder for temporary files,
nobody can open it by a name, and it ends with its engine.
"""

import errno
import mmap
import os
import tempfile
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Any

import pyarrow as pa

from dpcore.engines.streaming.reader import Piece

MOST_BYTES = 2**31
"""Cells that are kept, at most: a table that needs more is coded anew in each pass."""


class NoRoomError(Exception):
    """There are too many cells, or the disk did not take them.

    The table is read without them.
    """


class Spool:
    """Takes batches from several threads, and gives some of their columns back."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.bytes = self._rows = 0
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._lock = threading.Lock()

    def take(self, batch: Any) -> None:
        """Keep a batch.

        Raises: OSError, as where the disk is full.
        """
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        data = sink.getvalue()
        with self._lock:
            piece = Piece(place=(self.bytes, data.size), start=self._rows)
            self.bytes = self.bytes + data.size
            self._rows = self._rows + batch.num_rows
            self.pieces.append(piece)
        self._write(data, piece.place[0])

    def _write(self, data: Any, start: int) -> None:
        if os.pwrite(self._file.fileno(), data, start) != data.size:
            raise OSError(errno.ENOSPC, "the disk is full")

    def batches(
        self,
        piece: Piece,
        names: Sequence[str],
        poll: Callable[[], object],
    ) -> Generator[Any, None, None]:
        """Iterate over the one batch of a piece, with some of its columns."""
        start, size = piece.place
        whole = mmap.mmap(self._file.fileno(), start + size, access=mmap.ACCESS_READ)
        with pa.ipc.open_stream(pa.py_buffer(whole).slice(start, size)) as stream:
            yield stream.read_next_batch().select(list(names))
