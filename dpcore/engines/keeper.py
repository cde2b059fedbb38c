"""Which rows of each person count, in a table that does not fit: digests are sorted in slices, on disk.

A slice holds all rows of its people, as the digest of a person says which one is theirs. What is on disk
meanwhile are digests under the ledger's key and places, no values; the files have no names and end with the
process.
"""

from __future__ import annotations

import tempfile
import threading
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dpcore.engines.batch import Batch
from dpcore.tables.digests import Digests, first_rows, person_digests, rows_per_person

_ROWS = 1_000_000
"""Rows in a slice, about."""
_MOST_SLICES = 256

_RECORD = np.dtype([("person", "<u8", 2), ("row", "<u8", 2), ("place", "<i8")])


class Keeper:
    """Takes the digests of all rows, in any order, and tells which rows count."""

    def __init__(self, rows: int, max_rows: int) -> None:
        self._rows = rows
        self._max_rows = max_rows
        self._lock = threading.Lock()
        slices = min(_MOST_SLICES, rows // _ROWS + 1)
        self._files = [tempfile.TemporaryFile() for _ in range(slices)]  # noqa: SIM115

    def take(self, persons: Digests, rows: Digests, start: int) -> None:
        """Digests of rows that follow each other from the place `start` on."""
        records = np.empty(len(rows), dtype=_RECORD)
        records["person"], records["row"] = persons, rows
        records["place"] = np.arange(start, start + len(rows))
        of_slice = (persons[:, 0] % np.uint64(len(self._files))).astype(np.int64)
        records = records[np.argsort(of_slice, kind="stable")]
        ends = np.cumsum(np.bincount(of_slice, minlength=len(self._files)))
        with self._lock:
            for file, begin, end in zip(self._files, [0, *ends[:-1]], ends, strict=True):
                file.write(records[begin:end].tobytes())

    def kept(self) -> tuple[npt.NDArray[np.uint8], dict[int, int]]:
        """One bit per row by its place, set where it counts; and how many people have so many rows."""
        bits = np.zeros(self._rows // 8 + 1, dtype=np.uint8)
        people: Counter[int] = Counter()
        for file in self._files:
            file.seek(0)
            records = np.frombuffer(file.read(), dtype=_RECORD)
            file.close()
            people.update(rows_per_person(records["person"]))
            places = records["place"][first_rows(records["person"], records["row"], self._max_rows)]
            np.bitwise_or.at(bits, places >> 3, (128 >> (places & 7)).astype(np.uint8))
        return bits, dict(people)


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """Work that hands the digests of all rows to a keeper; how many they are."""

    id_column: str
    key: bytes = field(repr=False)
    keeper: Keeper
    reads: None = None

    def of(self, batch: Batch) -> int:
        self.keeper.take(
            person_digests(batch.column(self.id_column), self.key), batch.digests(self.key), batch.start
        )
        return len(batch)

    def add(self, one: int, other: int) -> int:
        return one + other


def places_kept(bits: npt.NDArray[np.uint8], start: int, rows: int) -> npt.NDArray[np.int64]:
    """Which of the rows from `start` on count, numbered from 0."""
    some = np.unpackbits(bits[start >> 3 : (start + rows + 7) >> 3])
    return np.flatnonzero(some[start & 7 :][:rows])
