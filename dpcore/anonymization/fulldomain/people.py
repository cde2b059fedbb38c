"""People who have several rows, folded once, so that a search still works on tuples.

How many people a class holds is no sum over its tuples: somebody may be in two of them.
But only from the node on at which two rows of a person meet, one too many is counted.
So each person adds 1 for each of their tuples, and a correction of -1 that begins at
the node where two of them meet; where three meet, +1 again, and so on (inclusion and
exclusion). Corrections are numbers that add up as rows do; equal ones are folded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np

from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.errors import LimitError
from dpcore.tables.classes import BoolArray, IntArray, class_index

MOST_CORRECTIONS = 1_000_000
"""A person whose n rows differ in every column has up to 2 ** n of them."""
OWNERS = 50_000
"""People whose corrections are found at once, if these are not too many."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Folded:
    """The sums of the people of a table.

    Counted are published people (view 0), published people by each sensitive value (a
    view for each sensitive column), and under a research subset people of the whole
    table (the last view).

    Attributes:
        counts: (views, entries) people, each in every tuple of theirs.
        view, entry, count: (corrections,) what to add to a view's classes that hold the
            entry, and
        levels: (columns, corrections) from which node on.
    """

    counts: IntArray
    view: IntArray
    entry: IntArray
    count: IntArray
    levels: IntArray

    @classmethod
    def of(cls, table: Tuples) -> Folded:
        """Fold the people of a table.

        Raises: LimitError when people have too many different rows.
        """
        assert table.members is not None
        shown = table.members.among(table.published > 0)
        secrets = (field.of(table.keys[shown.entry]) for field in table.fields.values())
        views = [
            (shown.person, shown),
            *((class_index([shown.person, each]), shown) for each in secrets),
        ]
        if table.has_subset:
            views.append((table.members.person, table.members))
        folded = [
            _view(table, owner, members.entry, members.weights)
            for owner, members in views
        ]
        return cls(
            counts=np.stack([counts for counts, _ in folded]),
            view=np.repeat(
                np.arange(len(folded)), [len(each.entry) for _, each in folded]
            ),
            entry=np.concatenate([each.entry for _, each in folded]),
            count=np.concatenate([each.count for _, each in folded]),
            levels=np.concatenate([each.levels for _, each in folded], axis=1),
        )


_FOLDED: WeakKeyDictionary[Tuples, Folded] = WeakKeyDictionary()


def folded_of(table: Tuples) -> Folded | None:
    """Return the sums of the people of a table, found once, None where every row is a
    person.
    """
    if table.members is not None and table not in _FOLDED:
        _FOLDED[table] = Folded.of(table)
    return _FOLDED.get(table)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Terms:
    """Numbers (terms,) that count in the classes of an entry, from a node (columns,
    terms) on.
    """

    owner: IntArray
    entry: IntArray
    count: IntArray
    levels: IntArray

    @classmethod
    def joined(cls, parts: list[_Terms]) -> _Terms:
        names = vars(parts[0])
        return cls(
            **{
                name: np.concatenate([vars(part)[name] for part in parts], axis=-1)
                for name in names
            }
        )

    def taken(self, places: IntArray | BoolArray) -> _Terms:
        return _Terms(**{name: each[..., places] for name, each in vars(self).items()})

    def folded(self, same: IntArray) -> _Terms:
        """Return one term for those with equal numbers in `same`, and none where they
        add up to 0.
        """
        _, first, place = np.unique(same, return_index=True, return_inverse=True)
        count = np.bincount(place, self.count, len(first)).astype(np.int64)
        return replace(self.taken(first), count=count).taken(count != 0)


def _view(
    table: Tuples, owner: IntArray, entry: IntArray, weights: IntArray
) -> tuple[IntArray, _Terms]:
    """Return (entries,) owners in each of their tuples, and the corrections, for some
    owners at a time.

    Args:
        weights: (pairs of owner and entry,) the people that the owner stands for.
    """
    order = np.lexsort((entry, owner))
    owner = owner[order]
    entry = entry[order]
    weights = weights[order]
    tuple_of = table.keys[entry] >> table.tail
    once = (np.diff(owner, prepend=-1) != 0) | (np.diff(tuple_of, prepend=-1) != 0)
    owner = owner[once]
    entry = entry[once]
    weights = weights[once]
    counts = np.bincount(entry, weights, len(table.keys)).astype(np.int64)
    sizes = np.diff(np.flatnonzero(np.diff(owner, prepend=-1)), append=len(owner))
    several = np.repeat(sizes > 1, sizes)
    owner = owner[several]
    entry = entry[several]
    weights = weights[several]
    ends = [0, *np.cumsum(sizes[sizes > 1]).tolist()]
    waiting = [
        (first, min(first + OWNERS, len(ends) - 1))
        for first in range(0, len(ends) - 1, OWNERS)
    ]
    corrections = _folded(table, [])
    while waiting:
        first, last = waiting.pop()
        here = slice(ends[first], ends[last])
        more = _corrections(table, owner[here], entry[here], weights[here])
        if more is not None:
            corrections = _folded(table, [corrections, more])
        elif last - first > 1:
            middle = (first + last) // 2
            waiting += [(first, middle), (middle, last)]
        if len(corrections.owner) > MOST_CORRECTIONS or (
            more is None and last - first == 1
        ):
            raise LimitError(
                "people have too many different rows to be counted in memory",
                remedy="take fewer columns, or a sample that is marked as one",
            )
    return counts, corrections


def _corrections(
    table: Tuples, owner: IntArray, entry: IntArray, weights: IntArray
) -> _Terms | None:
    """Return the corrections of some owners with their tuples, None where they are too
    many at once.
    """
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    rank = np.arange(len(owner)) - np.repeat(starts, np.diff(starts, append=len(owner)))
    owner = np.cumsum(rank == 0) - 1

    def single(places: BoolArray) -> _Terms:
        return _Terms(
            owner=owner[places],
            entry=entry[places],
            count=weights[places],
            levels=np.zeros((len(table.names), int(places.sum())), dtype=np.int64),
        )

    terms = single(rank == 0)
    corrections = [single(rank < 0)]
    for turn in range(1, int(rank.max(initial=0)) + 1):
        further = single(rank == turn)
        with_more = np.full(int(owner[-1]) + 1, -1)
        with_more[further.owner] = further.entry
        terms = terms.taken(with_more[terms.owner] >= 0)
        other = with_more[terms.owner]
        met = np.maximum(terms.levels, _meeting(table, terms.entry, other))
        met_terms = _Terms(
            owner=terms.owner, entry=other, count=-terms.count, levels=met
        )
        met_terms = met_terms.folded(class_index([met_terms.owner, *met]))
        corrections.append(met_terms)
        terms = _Terms.joined([terms, further, met_terms])
        if len(terms.owner) > MOST_CORRECTIONS:
            return None
    return _Terms.joined(corrections)


def _folded(table: Tuples, parts: Sequence[_Terms]) -> _Terms:
    """One correction for those that begin at one node in one class."""
    nothing = np.empty(0, dtype=np.int64)
    none = _Terms(
        owner=nothing,
        entry=nothing,
        count=nothing,
        levels=np.empty((len(table.names), 0), np.int64),
    )
    joined = _Terms.joined([none, *parts])
    if not len(joined.entry):
        return joined
    tails = (table.keys[joined.entry] & ((1 << table.tail) - 1)).astype(np.int64)
    same = [*joined.levels, tails]
    for column, codes in enumerate(table.codes):
        same.append(
            codes[joined.levels[column], table.digits(table.keys[joined.entry], column)]
        )
    return joined.folded(class_index(same))


def _meeting(table: Tuples, left: IntArray, right: IntArray) -> IntArray:
    """(columns, pairs) the lowest levels at which the tuples of two entries have one
    label.
    """
    result = np.empty((len(table.names), len(left)), dtype=np.int64)
    for column, codes in enumerate(table.codes):
        a, b = (table.digits(table.keys[entry], column) for entry in (left, right))
        result[column] = (codes[:, a] != codes[:, b]).sum(axis=0)
    return result
