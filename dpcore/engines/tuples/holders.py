"""Owners of distinct tuples, in a table that does not fit.

They are sorted in slices, on disk.

Groups of people are counted from this: a person with two tuples is one person of a
class that has both, so that people of tuples do not add up. People who hold the same
tuples are one entry, with their number, and what is kept in memory follows the
different holdings, not the people.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.engines.batch import Batch
from dpcore.engines.tuples.slices import Records, Slices
from dpcore.errors import LimitError, source_changed
from dpcore.tables.classes import IntArray
from dpcore.tables.hashes import Hashes, person_hashes, tuple_hashes
from dpcore.tables.rows import DistinctRows, TupleOwners

MOST_PAIRS = 5_000_000
"""Pairs of different holdings with their tuples that are brought into memory, at
most.
"""
_WAITING = 1_000_000
"""Pairs that are gathered before equal holdings are united."""

_RECORD = np.dtype([("person", "<u8", 2), ("tuple", "<u8")])


@dataclass(frozen=True, kw_only=True)
class Holding:
    """Work that makes a record of the owner and the tuple of each row."""

    columns: tuple[str, ...]
    by: str

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.columns, self.by]))

    def of(self, batch: Batch) -> Records:
        hashes, index = tuple_hashes(batch.coded(self.columns), self.columns)
        records = np.empty(len(batch), dtype=_RECORD)
        records["person"] = person_hashes(batch.column(self.by))
        records["tuple"] = hashes[index]
        return records


class Holders:
    """The records of all rows, in any order, and from them the owners of each tuple."""

    def __init__(self, distinct: DistinctRows, columns: Sequence[str]) -> None:
        """Make one for the tuples of the table, which are to be the same in the
        records.
        """
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
        self._slices = Slices(int(distinct.rows.sum()), _RECORD)

    def take(self, records: Records) -> None:
        """Keep some records, from any thread."""
        self._slices.take(records)

    def held(self, on_rows: Callable[[int], None]) -> TupleOwners:
        """Return the groups of people who have the same tuples.

        Args:
            on_rows: called now and then with how many rows are looked at; what it
                raises ends it.

        Raises: LimitError for too many different holdings; ReadError for a tuple that
            is not known.
        """
        rows = 0
        holdings = _Holdings.of(np.empty((0, 2), dtype=np.uint64))
        waiting = list[_Holdings]()
        for records in self._slices:
            on_rows(rows)
            waiting.append(self._of(records))
            rows += len(records)
            if sum(len(each.place) for each in waiting) > max(
                _WAITING, len(holdings.place)
            ):
                holdings = _Holdings.united([holdings, *waiting])
                waiting = []
        holdings = _Holdings.united([holdings, *waiting])
        return TupleOwners(
            group=holdings.group,
            place=holdings.place,
            people=holdings.people,
            sums=self._sums,
        )

    def _of(self, records: Records) -> _Holdings:
        """Of the people of one slice."""
        near = np.searchsorted(self._hashes, records["tuple"]).clip(
            max=len(self._hashes) - 1
        )
        if (self._hashes[near] != records["tuple"]).any():
            raise source_changed()
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
        return _Holdings.united([_Holdings.of(sums, group, places)])


_NONE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class _Holdings:
    """Groups of people, some perhaps alike, and what each holds.

    Attributes:
        sums: (groups, 2) uint64: the sum of 128 random bits of each tuple that a group
            holds, drawn anew each time. Two different sets of tuples have one sum with
            a chance of 2^-128.
    """

    sums: Hashes
    people: IntArray
    group: IntArray
    place: IntArray

    @classmethod
    def of(
        cls, sums: Hashes, group: IntArray = _NONE, place: IntArray = _NONE
    ) -> _Holdings:
        """Of groups of one person each."""
        return cls(
            sums=sums,
            people=np.ones(len(sums), dtype=np.int64),
            group=group,
            place=place,
        )

    @classmethod
    def united(cls, parts: Sequence[_Holdings]) -> _Holdings:
        """Unite those who have the same tuples into one group.

        Raises: LimitError.
        """
        begins = np.cumsum([0, *(len(part.sums) for part in parts)])
        sums = np.concatenate([part.sums for part in parts])
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
        if int(here.sum()) > MOST_PAIRS:
            raise LimitError(
                "people have too many different rows to be counted in memory",
                remedy="take fewer columns, or a sample that is marked as one",
            )
        return cls(
            sums=sums[order[new]],
            people=people,
            group=number[group[here]],
            place=place[here],
        )
