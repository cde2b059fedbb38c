"""Search for the people who own distinct tuples, in a table larger than memory.

They are sorted in slices, on disk.

Groups of people are counted from this: a person with two tuples is one person of a
class with both, so that people of tuples do not add up. People with the same tuples are
one entry, with their number, so that memory depends on the different holdings, not on
the people.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.engines._batch import Batch
from dpcore.engines.tuples.slices import Records, Slices
from dpcore.errors import LimitError, source_changed_error
from dpcore.tables.classes import IntArray
from dpcore.tables.hashes import Hashes, person_hashes, tuple_hashes
from dpcore.tables.rows import DistinctRows, TupleOwners

MAX_PAIRS = 5_000_000
"""Pairs of distinct holdings and their tuples in memory, at most."""
_PENDING_PAIRS = 1_000_000
"""Pairs that are collected before equal holdings are merged, at least."""

_OWNER_RECORD = np.dtype([("person", "<u8", 2), ("tuple", "<u8")])


@dataclass(frozen=True, kw_only=True)
class OwnerJob:
    """Job that records the person and the tuple of each row."""

    columns: tuple[str, ...]
    owner_column: str

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.columns, self.owner_column]))

    def compute(self, batch: Batch) -> Records:
        hashes, index = tuple_hashes(batch.coded_frame(self.columns), self.columns)
        records = np.empty(len(batch), dtype=_OWNER_RECORD)
        records["person"] = person_hashes(batch.column(self.owner_column))
        records["tuple"] = hashes[index]
        return records


class Holders:
    """Collector of row records that finds the owners of each tuple."""

    def __init__(self, distinct: DistinctRows, columns: Sequence[str]) -> None:
        """Prepare to find the owners of these distinct tuples."""
        hashes, index = tuple_hashes(distinct.frame, columns)
        first = np.empty(len(hashes), dtype=np.int64)
        first[index[::-1]] = np.arange(len(index))[::-1]
        order = np.argsort(hashes)
        self._hashes = hashes[order]
        self._places = first[order]
        self._words = np.frombuffer(
            os.urandom(16 * len(index)), dtype=np.uint64
        ).reshape(-1, 2)
        self._sums = np.zeros(len(index), dtype=np.uint64)
        self._slices = Slices(int(distinct.rows.sum()), _OWNER_RECORD)

    def store(self, records: Records) -> None:
        """Store some records; any thread may call this."""
        self._slices.store(records)

    def find_owners(self, on_rows: Callable[[int], None]) -> TupleOwners:
        """Return groups of people who have the same set of tuples.

        Args:
            on_rows: called now and then with the number of finished rows; an exception
                that it raises ends the pass.

        Raises: LimitError for too many different holdings; ReadError for an unknown
            tuple.
        """
        rows = 0
        holdings = _Holdings.of_single_people(np.empty((0, 2), dtype=np.uint64))
        waiting = list[_Holdings]()
        for records in self._slices:
            on_rows(rows)
            waiting.append(self._holdings_of_slice(records))
            rows += len(records)
            if sum(len(holding.place) for holding in waiting) > max(
                _PENDING_PAIRS, len(holdings.place)
            ):
                holdings = _Holdings.merge([holdings, *waiting])
                waiting = []
        holdings = _Holdings.merge([holdings, *waiting])
        return TupleOwners(
            group=holdings.group,
            tuple_index=holdings.place,
            people=holdings.people,
            sums=self._sums,
        )

    def _holdings_of_slice(self, records: Records) -> _Holdings:
        """Group the people of one slice of records by their set of tuples."""
        near = np.searchsorted(self._hashes, records["tuple"]).clip(
            max=len(self._hashes) - 1
        )
        if (self._hashes[near] != records["tuple"]).any():
            raise source_changed_error()
        places = self._places[near]
        np.add.at(self._sums, places, records["person"][:, 0])
        order = np.lexsort((places, *records["person"].T))
        person = records["person"][order]
        places = places[order]
        new = np.append(True, (person[1:] != person[:-1]).any(axis=1))[: len(order)]
        once = new | np.append(True, places[1:] != places[:-1])[: len(order)]
        group = (np.cumsum(new) - 1)[once]
        places = places[once]
        sums = np.zeros((int(new.sum()), 2), dtype=np.uint64)
        if len(places):
            np.add.reduceat(
                self._words[places], np.flatnonzero(new[once]), axis=0, out=sums
            )
        return _Holdings.merge([_Holdings.of_single_people(sums, group, places)])


_NO_NUMBERS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class _Holdings:
    """Groups of people with their tuples; a group may repeat until it is merged.

    Attributes:
        sums_of_hashes: (groups, 2) uint64: the sum of 128 random bits of each tuple of a group,
            drawn anew each time. Two different sets of tuples have the same sum with a
            chance of 2^-128.
    """

    sums_of_hashes: Hashes
    people: IntArray
    group: IntArray
    place: IntArray

    @classmethod
    def of_single_people(
        cls, sums: Hashes, group: IntArray = _NO_NUMBERS, place: IntArray = _NO_NUMBERS
    ) -> _Holdings:
        """Make groups of one person each."""
        return cls(
            sums_of_hashes=sums,
            people=np.ones(len(sums), dtype=np.int64),
            group=group,
            place=place,
        )

    @classmethod
    def merge(cls, parts: Sequence[_Holdings]) -> _Holdings:
        """Merge groups that have the same set of tuples.

        Raises: LimitError.
        """
        begins = np.cumsum([0, *(len(part.sums_of_hashes) for part in parts)])
        sums = np.concatenate([part.sums_of_hashes for part in parts])
        order = np.lexsort(sums.T)
        new = np.append(True, (sums[order][1:] != sums[order][:-1]).any(axis=1))[
            : len(order)
        ]
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.cumsum(new) - 1
        stands = np.zeros(len(order), dtype=bool)
        stands[order[new]] = True
        people = np.zeros(int(new.sum()), dtype=np.int64)
        np.add.at(people, number, np.concatenate([part.people for part in parts]))
        group = np.concatenate(
            [part.group + begin for part, begin in zip(parts, begins, strict=False)]
        )
        place = np.concatenate([part.place for part in parts])
        here = stands[group]
        if int(here.sum()) > MAX_PAIRS:
            raise LimitError(
                "people have too many different rows to be counted in memory",
                remedy="use fewer columns, or a sample that is marked as one",
            )
        return cls(
            sums_of_hashes=sums[order[new]],
            people=people,
            group=number[group[here]],
            place=place[here],
        )
