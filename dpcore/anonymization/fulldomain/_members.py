"""Which people own which entries of a table, if people have several rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpcore.tables.classes import BoolArray, IntArray, run_starts


@dataclass(frozen=True, kw_only=True, eq=False)
class Members:
    """Pairs of a person and an entry of a table, sorted by both.

    Attributes:
        people_represented: (persons,) how many people hold exactly these entries, if one person
            stands for all of them; None if each stands for one.
    """

    person: IntArray
    entry: IntArray
    people_represented: IntArray | None = None

    @classmethod
    def from_pairs(
        cls,
        person: IntArray,
        entry: IntArray,
        entries: int,
        alike: IntArray | None = None,
    ) -> Members:
        """Build from (person, entry) pairs in any order, which may repeat."""
        pairs = np.sort(person * entries + entry)
        pairs = pairs[run_starts(pairs)]
        return cls(
            person=pairs // entries, entry=pairs % entries, people_represented=alike
        )

    @property
    def weights(self) -> IntArray:
        """How many people the person of each pair represents, shape (pairs,)."""
        return (
            np.ones(len(self.person), dtype=np.int64)
            if self.people_represented is None
            else self.people_represented[self.person]
        )

    def select(self, entries: BoolArray) -> Members:
        """Return the pairs whose entry is marked."""
        here = entries[self.entry]
        return replace(self, person=self.person[here], entry=self.entry[here])

    def count_people(self, entries: BoolArray) -> int:
        """Count the people with a row in a marked entry."""
        person = self.person.take(np.flatnonzero(entries.take(self.entry)))
        if self.people_represented is not None:
            return int(self.people_represented[person[run_starts(person)]].sum())
        return int(np.count_nonzero(person[1:] != person[:-1])) + bool(len(person))

    def fewest_people(self, pairs: IntArray) -> IntArray:
        """Return the smallest number of people that can have so many pairs."""
        # Take people with most pairs first: no fewer people can have as many pairs
        sizes, people_before, pairs_before = self._sorted_by_pairs
        place = np.searchsorted(pairs_before, pairs, side="right") - 1
        further = -(-(pairs - pairs_before[place]) // sizes[place])
        return np.asarray(people_before[place] + further)

    @cached_property
    def _sorted_by_pairs(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the pairs per person, descending, with running totals before each.

        Both sums are those before each person.
        """
        sizes = np.bincount(self.person)
        order = np.argsort(-sizes)
        sizes = np.append(np.maximum(sizes[order], 1), 1)
        number = np.append(
            np.ones(len(order), dtype=np.int64)
            if self.people_represented is None
            else self.people_represented[order],
            0,
        )
        people_before = np.asarray(np.cumsum(number) - number)
        pairs = number * sizes
        pairs_before = np.asarray(np.cumsum(pairs) - pairs)
        return sizes, people_before, pairs_before
