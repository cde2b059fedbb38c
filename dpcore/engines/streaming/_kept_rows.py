"""Choice of the rows of each person that count, in a table larger than memory.

Ranks are sorted in slices, on disk.
"""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dpcore.engines._batch import Batch
from dpcore.engines.tuples.slices import Records, Slices
from dpcore.tables.digests import lowest_ranked_rows, person_digests
from dpcore.tables.ranks import row_ranks

RANK_RECORD = np.dtype([("person", "<u8", 2), ("row", "<u8", 2), ("place", "<i8")])
"""Digest of the person, rank of the row, and its number."""


@dataclass(frozen=True, kw_only=True)
class RankJob:
    """Job that records the owner, the rank and the number of each row."""

    id_column: str
    key: bytes = field(repr=False)
    reads: None = None

    def compute(self, batch: Batch) -> Records:
        records = np.empty(len(batch), dtype=RANK_RECORD)
        records["person"] = person_digests(batch.column(self.id_column), self.key)
        records["row"] = row_ranks(batch.coded_frame(), self.key, self.id_column)
        records["place"] = np.arange(batch.start, batch.start + len(batch))
        return records


def choose_counted_rows(
    slices: Slices, rows: int, max_rows: int
) -> tuple[npt.NDArray[np.uint8], dict[int, int]]:
    """Return one bit per row, set if the row counts, and people by number of rows."""
    bits = np.zeros(rows // 8 + 1, dtype=np.uint8)
    people: Counter[int] = Counter()
    for records in slices:
        first, of_slice = lowest_ranked_rows(
            records["person"], records["row"], max_rows
        )
        people.update(of_slice)
        places = records["place"][first]
        np.bitwise_or.at(bits, places >> 3, (128 >> (places & 7)).astype(np.uint8))
    return bits, dict(people)


def counted_indices(
    counted_bits: npt.NDArray[np.uint8], start: int, rows: int
) -> npt.NDArray[np.int64]:
    """Return the indices of the counted rows in a batch that begins at `start`."""
    flags = np.unpackbits(counted_bits[start >> 3 : (start + rows + 7) >> 3])
    return np.flatnonzero(flags[start & 7 :][:rows])
