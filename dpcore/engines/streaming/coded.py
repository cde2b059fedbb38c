"""The cells of the rows that count, each in as few bytes as it needs, in a file without a name.

What is on disk meanwhile is coarse, but it is of private rows: the file is in the folder for temporary files,
nobody can open it by a name, and it ends with its engine.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from dpcore.engines.batch import Batch
from dpcore.engines.cells import Cells, cell_type
from dpcore.schema.schema import Schema

MOST_BYTES = 2**31
"""A table that needs more is coded anew in each pass."""


def unpacked(data: Any, rows: int, schema: Schema) -> Batch:
    """Return a batch again from its cells, column by column. It knows those alone."""
    cells, start = {}, 0
    for column in schema.columns:
        kind = cell_type(column)
        cells[column.name] = np.frombuffer(data, dtype=kind, count=rows, offset=start)
        start += rows * kind.itemsize
    return Batch(pd.DataFrame(index=range(rows)), schema, cells=cells)


class NoRoomError(Exception):
    """There are too many cells, or the disk did not take them. The table is read without them."""


class Coded:
    """Takes batches in any order from several threads, and gives them back as they came."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._kinds = {column.name: cell_type(column) for column in schema.columns}
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._lock = threading.Lock()
        self._end = 0
        self.blocks: list[tuple[int, int]] = []
        """Where each batch begins, and its rows."""

    def take(self, batch: Batch) -> None:
        """Keep the cells of a batch.

        Raises: NoRoomError.
        """
        cells = {name: batch.cells(name) for name in self._kinds}
        rows = len(batch)
        with self._lock:
            start, self._end = self._end, self._end + sum(each.nbytes for each in cells.values())
        if self._end > MOST_BYTES:
            raise NoRoomError
        self._write(cells.values(), start)
        with self._lock:
            self.blocks.append((start, rows))

    def _write(self, columns: Iterable[Cells], start: int) -> None:
        try:
            for cells in columns:
                if os.pwrite(self._file.fileno(), cells.data, start) != cells.nbytes:
                    raise NoRoomError
                start += cells.nbytes
        except OSError as error:
            raise NoRoomError from error

    def batch(self, block: tuple[int, int], names: tuple[str, ...]) -> Batch:
        """Return some columns of a batch, which knows their cells alone.

        Raises: OSError.
        """
        start, rows = block
        cells = {}
        for name, kind in self._kinds.items():
            if name in names:
                data = os.pread(self._file.fileno(), rows * kind.itemsize, start)
                cells[name] = np.frombuffer(data, dtype=kind)
            start += rows * kind.itemsize
        return Batch(pd.DataFrame(index=range(rows)), self._schema, cells=cells)
