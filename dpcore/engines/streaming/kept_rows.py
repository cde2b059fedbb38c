"""The rows that count of each person, in a table that does not fit. Ranks are sorted in slices, on disk."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dpcore.engines.batch import Batch
from dpcore.engines.tuples.slices import Slices
from dpcore.engines.work import Added
from dpcore.tables.digests import Digests, first_rows, person_digests, rows_per_person
from dpcore.tables.ranks import Ranks

_RECORD = np.dtype([("person", "<u8", 2), ("row", "<u8", 2), ("place", "<i8")])


class Keeper:
    """The ranks of all rows, in any order, and from them the rows that count."""

    def __init__(self, rows: int, max_rows: int) -> None:
        self._rows = rows
        self._max_rows = max_rows
        self._slices = Slices(rows, _RECORD)

    def take(self, persons: Digests, rows: Ranks, start: int) -> None:
        """Keep ranks of rows that follow each other from the place `start` on."""
        records = np.empty(len(rows), dtype=_RECORD)
        records["person"], records["row"] = persons, rows
        records["place"] = np.arange(start, start + len(rows))
        self._slices.take(records)

    def kept(self) -> tuple[npt.NDArray[np.uint8], dict[int, int]]:
        """Return a bit per row, set where it counts, and the number of people by their number of rows."""
        bits = np.zeros(self._rows // 8 + 1, dtype=np.uint8)
        people: Counter[int] = Counter()
        for records in self._slices:
            people.update(rows_per_person(records["person"]))
            places = records["place"][first_rows(records["person"], records["row"], self._max_rows)]
            np.bitwise_or.at(bits, places >> 3, (128 >> (places & 7)).astype(np.uint8))
        return bits, dict(people)


@dataclass(frozen=True, kw_only=True)
class Keeping(Added[int]):
    """Work that hands the ranks of all rows to a keeper, and counts them."""

    id_column: str
    key: bytes = field(repr=False)
    keeper: Keeper
    reads: None = None

    def of(self, batch: Batch) -> int:
        persons = person_digests(batch.column(self.id_column), self.key)
        self.keeper.take(persons, batch.ranks(self.key), batch.start)
        return len(batch)


def places_kept(bits: npt.NDArray[np.uint8], start: int, rows: int) -> npt.NDArray[np.int64]:
    """Return the places of the rows that count among those from `start` on, numbered from 0."""
    some = np.unpackbits(bits[start >> 3 : (start + rows + 7) >> 3])
    return np.flatnonzero(some[start & 7 :][:rows])
