"""Copy of columns that stops when one has too many different texts."""

import threading
from typing import Any

import numpy as np
import pyarrow as pa

from dpcore.engines.streaming.spool import Spool
from dpcore.tables.hashes import Hashes, text_hashes
from dpcore.tables.rows import MAX_DISTINCT_TEXTS

_PENDING_HASHES = 2**18
"""Hashes that are collected before equal ones are merged, at least."""


class ManyTextsError(Exception):
    """A column has too many different texts for memory."""

    def __init__(self, column: str) -> None:
        super().__init__()
        self.column = column


class CountingSpool(Spool):
    """Spool that counts the different texts of each column by 64-bit hashes.

    One column is left out.
    """

    def __init__(self, uncounted_column: str | None) -> None:
        """Create an empty spool that leaves one column uncounted.

        Args:
            uncounted_column: the column that names people, who may be many.
        """
        super().__init__()
        self._uncounted = uncounted_column
        self._seen: dict[str, Hashes] = {}
        self._waiting: dict[str, list[Hashes]] = {}
        self._counting = threading.Lock()

    def store(self, batch: Any) -> None:
        """Store a batch, and count its texts.

        Raises: ManyTextsError; OSError.
        """
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if pa.types.is_dictionary(column.type) and name != self._uncounted:
                texts = column.dictionary.to_numpy(zero_copy_only=False)
                self._count(name, text_hashes(texts))
        super().store(batch)

    def _count(self, name: str, hashes: Hashes) -> None:
        with self._counting:
            waiting = self._waiting.setdefault(name, [])
            seen = self._seen.get(name, hashes[:0])
            waiting.append(hashes)
            if sum(map(len, waiting)) < max(_PENDING_HASHES, len(seen) // 2):
                return
            united = np.unique(np.concatenate([seen, *waiting]))
            self._seen[name], self._waiting[name] = united, []
        if len(united) > MAX_DISTINCT_TEXTS:
            raise ManyTextsError(name)
