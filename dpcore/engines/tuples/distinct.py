"""Distinct tuples of columns, with row and people counts added up over batches."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from dpcore.engines._batch import Batch
from dpcore.errors import LimitError, RowsError
from dpcore.schema.values import canonicalize
from dpcore.tables.arrow import decode_categories
from dpcore.tables.classes import IntArray, class_index
from dpcore.tables.digests import Digests, person_digests
from dpcore.tables.rows import DistinctRows

MAX_TUPLES = 5_000_000
"""Distinct tuples in memory, at most."""
_PENDING_ENTRIES = 2**19
"""Tuples and people that are collected before equal ones are merged, at least."""


@dataclass(kw_only=True, eq=False)
class TupleCounts:
    """Tuples with their counts; equal tuples may repeat until they are merged.

    Attributes:
        rows: (tuples,) rows of each.
        holder, persons: the index of the tuple, and the digest of the person, of each
            pair that occurs; empty if no column names people.
        merged_size: number of entries after the last merge.
    """

    frame: pd.DataFrame
    rows: IntArray
    pair_tuples: IntArray
    pair_persons: Digests
    merged_size: int = 0

    def add(self, other: TupleCounts) -> TupleCounts:
        """Return the tuples of both tables, merged if there are many."""
        both = TupleCounts(
            frame=pd.concat([self.frame, other.frame], ignore_index=True),
            rows=np.concatenate([self.rows, other.rows]),
            pair_tuples=np.concatenate(
                [self.pair_tuples, other.pair_tuples + len(self.frame)]
            ),
            pair_persons=np.concatenate([self.pair_persons, other.pair_persons]),
            merged_size=self.merged_size,
        )
        return (
            both
            if both.size < max(_PENDING_ENTRIES, 2 * self.merged_size)
            else both.merge()
        )

    @property
    def size(self) -> int:
        return len(self.frame) + len(self.pair_tuples)

    def merge(self) -> TupleCounts:
        """Return each tuple once, and each pair of tuple and person once."""
        index = class_index(
            [canonicalize(self.frame[name]).codes + 1 for name in self.frame.columns]
        )
        number = int(index.max(initial=-1)) + 1
        if number > MAX_TUPLES:
            raise too_many_error("distinct tuples", MAX_TUPLES)
        first = np.empty(number, dtype=np.int64)
        first[index[::-1]] = np.arange(len(index))[::-1]
        rows = np.zeros(number, dtype=np.int64)
        np.add.at(rows, index, self.rows)
        holder = index[self.pair_tuples]
        order = np.lexsort((*self.pair_persons.T, holder))
        holder = holder[order]
        persons = self.pair_persons[order]
        again = (holder[1:] == holder[:-1]) & (persons[1:] == persons[:-1]).all(axis=1)
        once = np.append(True, ~again)[: len(holder)]
        merged = TupleCounts(
            frame=self.frame.iloc[first].reset_index(drop=True),
            rows=rows,
            pair_tuples=holder[once],
            pair_persons=persons[once],
        )
        merged.merged_size = merged.size
        return merged

    def to_distinct_rows(self, *, has_ids: bool) -> DistinctRows:
        """Return each distinct tuple with its numbers of rows and people.

        Otherwise every row is a person.
        """
        once = self.merge()
        people = (
            np.bincount(once.pair_tuples, minlength=len(once.rows))
            if has_ids
            else once.rows
        )
        return DistinctRows(frame=once.frame, rows=once.rows, people=people)


@dataclass(frozen=True, kw_only=True)
class TupleJob:
    """Job that returns the distinct tuples of some columns."""

    columns: tuple[str, ...]
    id_column: str | None
    key: bytes = field(repr=False)

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys(
                [*self.columns, *([self.id_column] if self.id_column else [])]
            )
        )

    def compute(self, batch: Batch) -> TupleCounts:
        rows = len(batch)
        every = TupleCounts(
            frame=pd.DataFrame(
                {name: batch.column(name) for name in self.columns}
            ).reset_index(drop=True),
            rows=np.ones(rows, dtype=np.int64),
            pair_tuples=np.arange(0 if self.id_column is None else rows),
            pair_persons=person_digests(batch.column(self.id_column), self.key)
            if self.id_column is not None
            else np.empty((0, 2), dtype=np.uint64),
        )
        distinct = every.merge()
        distinct.frame = decode_categories(distinct.frame)
        return distinct

    def add(self, one: TupleCounts, other: TupleCounts) -> TupleCounts:
        return one.add(other)


def too_many_error(what: str, limit: int) -> LimitError:
    """Return the error for more than `limit` "rows" or "distinct tuples" in memory."""
    return (RowsError if what == "rows" else LimitError)(
        (
            "more than {most:,} rows, or distinct rows, would have to be brought "
            "into memory"
        ),
        remedy="use fewer columns, or a sample that is marked as one",
        most=limit,
    )
