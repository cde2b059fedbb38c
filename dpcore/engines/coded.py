"""The cells of the rows that count, each in as few bytes as it needs, in a file without a name.

What is on disk meanwhile is coarse, but it is of private rows: the file is in the folder for temporary files,
nobody can open it by a name, and it ends with its engine.
"""

from __future__ import annotations

import os
import tempfile
import threading
from typing import Any

import numpy as np
import pandas as pd

from dpcore.engines.batch import Batch
from dpcore.schema.schema import Schema

MOST_BYTES = 2**31
"""A table that needs more is coded anew in each pass."""


def packed(batch: Batch, schema: Schema) -> bytes:
    """The cells of a batch, column by column. Raises: SchemaError for a value without a cell."""
    cells = (batch.cells(name).astype(kind, copy=False) for name, kind in _kinds(schema).items())
    return b"".join(each.tobytes() for each in cells)


def unpacked(data: Any, rows: int, schema: Schema) -> Batch:
    """The batch of so many rows again; it knows its cells alone."""
    cells, start = {}, 0
    for name, kind in _kinds(schema).items():
        cells[name] = np.frombuffer(data, dtype=kind, count=rows, offset=start)
        start += rows * kind.itemsize
    return Batch(pd.DataFrame(index=range(rows)), schema, cells=cells)


def _kinds(schema: Schema) -> dict[str, np.dtype[Any]]:
    """The type of the cells of each column."""
    return {each.name: np.min_scalar_type(max(1, each.size) - 1) for each in schema.columns}


class NoRoomError(Exception):
    """The disk did not take the cells; the table is read without them."""


class Coded:
    """Takes batches in any order from several threads, and gives them back as they came."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._kinds = _kinds(schema)
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._lock = threading.Lock()
        self._end = 0
        self.blocks: list[tuple[int, int]] = []
        """Where each batch begins, and its rows."""

    @property
    def width(self) -> int:
        """Bytes of a row."""
        return sum(kind.itemsize for kind in self._kinds.values())

    def take(self, batch: Batch) -> None:
        """Keep the cells of a batch. Raises: NoRoomError."""
        data = packed(batch, self._schema)
        with self._lock:
            self._write(data)
            self.blocks.append((self._end, len(batch)))
            self._end += len(data)

    def _write(self, data: bytes) -> None:
        try:
            written = self._file.write(data)
        except OSError as error:
            raise NoRoomError from error
        if written != len(data):
            raise NoRoomError

    def batch(self, block: tuple[int, int], names: tuple[str, ...]) -> Batch:
        """Some of the columns of a batch; it knows their cells alone. Raises: OSError."""
        start, rows = block
        cells = {}
        for name, kind in self._kinds.items():
            if name in names:
                data = os.pread(self._file.fileno(), rows * kind.itemsize, start)
                cells[name] = np.frombuffer(data, dtype=kind)
            start += rows * kind.itemsize
        return Batch(pd.DataFrame(index=range(rows)), self._schema, cells=cells)
