"""The owners of the entries of a table, and how many of them some entries have."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpcore.tables.classes import BoolArray, IntArray, starts_of


@dataclass(frozen=True, kw_only=True, eq=False)
class Members:
    """The owners of the entries of a table, as pairs of a person and an entry, sorted
    by both.

    Attributes:
        alike: (persons,) how many people hold the same entries, where one stands for
            all of them; None where each stands for one.
    """

    person: IntArray
    entry: IntArray
    alike: IntArray | None = None

    @classmethod
    def of(
        cls,
        person: IntArray,
        entry: IntArray,
        entries: int,
        alike: IntArray | None = None,
    ) -> Members:
        """From pairs in any order that may repeat."""
        pairs = np.sort(person * entries + entry)
        pairs = pairs[starts_of(pairs)]
        return cls(person=pairs // entries, entry=pairs % entries, alike=alike)

    @property
    def weights(self) -> IntArray:
        """(pairs,) the people whom each stands for."""
        return (
            np.ones(len(self.person), dtype=np.int64)
            if self.alike is None
            else self.alike[self.person]
        )

    def among(self, entries: BoolArray) -> Members:
        """Return the pairs of the marked entries."""
        here = entries[self.entry]
        return replace(self, person=self.person[here], entry=self.entry[here])

    def number_among(self, entries: BoolArray) -> int:
        """Return the people who have rows in one of the marked entries."""
        person = self.person.take(np.flatnonzero(entries.take(self.entry)))
        if self.alike is not None:
            return int(self.alike[person[starts_of(person)]].sum())
        return int(np.count_nonzero(person[1:] != person[:-1])) + bool(len(person))

    def fewest(self, pairs: IntArray) -> IntArray:
        """Return the people, at least, who have so many pairs of person and entry."""
        sizes, people, most = self._by_size
        place = np.searchsorted(most, pairs, side="right") - 1
        return np.asarray(people[place] + -(-(pairs - most[place]) // sizes[place]))

    @cached_property
    def _by_size(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the pairs of each one, those with most first, the people before them,
        and their pairs.
        """
        sizes = np.bincount(self.person)
        order = np.argsort(-sizes)
        sizes = np.append(np.maximum(sizes[order], 1), 1)
        number = np.append(
            np.ones(len(order), dtype=np.int64)
            if self.alike is None
            else self.alike[order],
            0,
        )
        people, most = (np.cumsum(each) - each for each in (number, number * sizes))
        return sizes, people, most
