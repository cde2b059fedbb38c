"""People who have several rows, folded once, so that a search still works on tuples.

How many people a class holds is no sum over its tuples: somebody may be in two of them. But only from the
node on at which two rows of a person meet, one too many is counted. So each person adds 1 for each of their
tuples, and a correction of -1 that begins at the node where two of them meet; where three meet, +1 again, and
so on (inclusion and exclusion). Corrections are numbers that add up as rows do; equal ones are folded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpcore.anonymize.fulldomain.lattice import Lattice
from dpcore.errors import LimitError
from dpcore.tables.classes import BoolArray, IntArray, class_index

MOST_CORRECTIONS = 1_000_000
"""A person whose n rows differ in every column has up to 2 ** n of them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Members:
    """Whose rows the entries of a table are: (pairs,) each person with each entry that holds rows of theirs,
    sorted by person, then by entry."""

    person: IntArray
    entry: IntArray

    @classmethod
    def of(cls, pairs: IntArray, entries: int) -> Members:
        """From distinct numbers, ascending: person times entries plus entry."""
        return cls(person=pairs // entries, entry=pairs % entries)

    def among(self, entries: BoolArray) -> Members:
        """The pairs of the marked entries."""
        here = entries[self.entry]
        return Members(person=self.person[here], entry=self.entry[here])

    def number_among(self, entries: BoolArray) -> int:
        """The people who have rows in one of the marked entries."""
        person = self.person.take(np.flatnonzero(entries.take(self.entry)))
        return int(np.count_nonzero(person[1:] != person[:-1])) + bool(len(person))


class Field(Protocol):
    """Where the numbers of a column are inside the keys."""

    def of(self, keys: IntArray) -> IntArray:
        """The numbers inside the keys."""


class Table(Protocol):
    """What is read of the tuples; each is explained there."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def keys(self) -> IntArray: ...
    @property
    def published(self) -> IntArray: ...
    @property
    def tail(self) -> int: ...
    @property
    def has_subset(self) -> bool: ...
    @property
    def fields(self) -> Mapping[str, Field]: ...
    @property
    def members(self) -> Members | None: ...
    @property
    def priority(self) -> tuple[int, ...]: ...
    @property
    def lattice(self) -> Lattice: ...
    @property
    def codes(self) -> Sequence[IntArray]: ...

    def digits(self, keys: IntArray, column: int) -> IntArray:
        """The codes of a column inside the keys."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Folded:
    """How the people of a table add up.

    Counted are published people (view 0), published people by each sensitive value (a view for each sensitive
    column), and under a research subset people of the whole table (the last view).

    Attributes:
        counts: (views, entries) people, each in every tuple of theirs.
        view, entry, count: (corrections,) what to add to a view's classes that hold the entry, and
        levels: (columns, corrections) from which node on.
        begin: (corrections,) the last column, by its place in the table's priority, of a level above 0.
    """

    counts: IntArray
    view: IntArray
    entry: IntArray
    count: IntArray
    levels: IntArray
    begin: IntArray

    @classmethod
    def of(cls, table: Table) -> Folded:
        """Fold the people of a table.

        Raises: LimitError when people have too many different rows.
        """
        assert table.members is not None
        shown = table.members.among(table.published > 0)
        views = [(shown.person, shown.entry)]
        for field in table.fields.values():
            value = field.of(table.keys[shown.entry])
            views.append((class_index([shown.person, value]), shown.entry))
        if table.has_subset:
            views.append((table.members.person, table.members.entry))
        found = [_view(table, owner, entry) for owner, entry in views]
        levels = np.concatenate([each.levels for _, each in found], axis=1)
        rank = np.empty(len(table.priority), dtype=np.int64)
        rank[list(table.priority)] = np.arange(len(rank))
        return cls(
            counts=np.stack([counts for counts, _ in found]),
            view=np.repeat(np.arange(len(found)), [len(each.entry) for _, each in found]),
            entry=np.concatenate([each.entry for _, each in found]),
            count=np.concatenate([each.count for _, each in found]),
            levels=levels,
            begin=((levels > 0) * rank[:, None]).max(axis=0),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Terms:
    """Numbers (terms,) that count in the classes of an entry, from a node (columns, terms) on."""

    owner: IntArray
    entry: IntArray
    count: IntArray
    levels: IntArray

    @classmethod
    def joined(cls, parts: list[_Terms]) -> _Terms:
        return cls(
            owner=np.concatenate([part.owner for part in parts]),
            entry=np.concatenate([part.entry for part in parts]),
            count=np.concatenate([part.count for part in parts]),
            levels=np.concatenate([part.levels for part in parts], axis=1),
        )

    def taken(self, places: IntArray | BoolArray) -> _Terms:
        return _Terms(
            owner=self.owner[places],
            entry=self.entry[places],
            count=self.count[places],
            levels=self.levels[:, places],
        )

    def folded(self, same: IntArray) -> _Terms:
        """One term for those with equal numbers in `same`; none where they add up to 0."""
        _, first, place = np.unique(same, return_index=True, return_inverse=True)
        count = np.bincount(place, self.count, len(first)).astype(np.int64)
        folded = self.taken(first)
        return _Terms(owner=folded.owner, entry=folded.entry, count=count, levels=folded.levels).taken(
            count != 0
        )


def _view(table: Table, owner: IntArray, entry: IntArray) -> tuple[IntArray, _Terms]:
    """(entries,) owners, each in every tuple of theirs, and the corrections."""
    order = np.lexsort((entry, owner))
    owner, entry = owner[order], entry[order]
    tuple_of = table.keys[entry] >> table.tail
    once = (np.diff(owner, prepend=-1) != 0) | (np.diff(tuple_of, prepend=-1) != 0)
    owner, entry = owner[once], entry[once]
    counts = np.bincount(entry, minlength=len(table.keys))
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    rank = np.arange(len(owner)) - np.repeat(starts, np.diff(starts, append=len(owner)))
    columns, strides = len(table.names), np.array(table.lattice.strides)

    def single(places: BoolArray) -> _Terms:
        number = int(places.sum())
        return _Terms(
            owner=owner[places],
            entry=entry[places],
            count=np.ones(number, dtype=np.int64),
            levels=np.zeros((columns, number), dtype=np.int64),
        )

    terms, corrections = single(rank == 0), [single(rank < 0)]
    for turn in range(1, int(rank.max(initial=0)) + 1):
        further = single(rank == turn)
        with_more = np.full(int(owner[-1]) + 1, -1)
        with_more[further.owner] = further.entry
        terms = terms.taken(with_more[terms.owner] >= 0)
        other = with_more[terms.owner]
        met = np.maximum(terms.levels, _meeting(table, terms.entry, other))
        met_terms = _Terms(owner=terms.owner, entry=other, count=-terms.count, levels=met)
        node = strides @ met
        met_terms = met_terms.folded(class_index([met_terms.owner, node]))
        corrections.append(met_terms)
        terms = _Terms.joined([terms, further, met_terms])
        if len(terms.owner) > MOST_CORRECTIONS:
            raise LimitError(
                "people have too many different rows for full-domain search",
                remedy="take fewer quasi-identifiers, or local recoding",
            )
    found = _Terms.joined(corrections)
    if not len(found.entry):
        return counts, found
    same = [strides @ found.levels, table.keys[found.entry] & ((1 << table.tail) - 1)]
    for column, codes in enumerate(table.codes):
        same.append(codes[found.levels[column], table.digits(table.keys[found.entry], column)])
    return counts, found.folded(class_index(same))


def _meeting(table: Table, left: IntArray, right: IntArray) -> IntArray:
    """(columns, pairs) the lowest levels at which the tuples of two entries have one label."""
    result = np.empty((len(table.names), len(left)), dtype=np.int64)
    for column, codes in enumerate(table.codes):
        a, b = (table.digits(table.keys[entry], column) for entry in (left, right))
        result[column] = (codes[:, a] != codes[:, b]).sum(axis=0)
    return result
