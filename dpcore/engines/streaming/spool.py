"""Store of table columns on disk, in an unnamed file and the order of one pass.

They are the cells of the counted rows, each in as few bytes as it needs, or the
declared values of a database with rows in another order each time, so that row numbers
mean nothing there. They are about people: the file is in the folder for temporary
files, nobody can open it by a name, and it ends with its engine.
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

MAX_SPOOL_BYTES = 2**31
"""Bytes of kept cells, at most; a larger table is coded again in each pass."""


class NoRoomError(Exception):
    """The cells exceed the limit of a spool, or the disk is full.

    The table is read without stored cells then.
    """


class Spool:
    """Store of batches from several threads, which returns selected columns."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.bytes = self._rows = 0
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._lock = threading.Lock()

    def store(self, batch: Any) -> None:
        """Store a batch.

        Raises: OSError, as if the disk is full.
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
        """Yield the only batch of a piece, with the named columns."""
        start, size = piece.place
        whole = mmap.mmap(self._file.fileno(), start + size, access=mmap.ACCESS_READ)
        with pa.ipc.open_stream(pa.py_buffer(whole).slice(start, size)) as stream:
            yield stream.read_next_batch().select(list(names))
