"""Count people with several rows by sums over tuples, with corrections.

The people in a class are no sum over its tuples, since a person may be in two of them.
One too many is counted from the node on at which two rows of a person fall into one
class. So each person adds 1 to each of their tuples, and a correction of -1 that begins
at the node where two of them meet; where three meet, +1 again, and so on (inclusion and
exclusion). Corrections add up as rows do, and equal ones are merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np

from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.errors import LimitError
from dpcore.tables.classes import BoolArray, IntArray, class_index

MAX_CORRECTIONS = 1_000_000
"""Corrections of a table; a person with n rows, all different, has up to 2 ** n."""
MAX_OWNERS_PER_BATCH = 50_000
"""People in a batch; a batch with too many corrections is halved."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PeopleSums:
    """Counts of the people of a table, with corrections for people with several rows.

    View 0 counts published people. One view for each sensitive column counts them by
    sensitive value. Under a research subset, the last view counts people of the
    population.

    Attributes:
        counts: (views, entries) people, once in each of their tuples.
        view, entry, count: (corrections,) what to add to the class of an entry, in a
            view.
        levels: (columns, corrections) the node from which on a correction holds.
    """

    counts: IntArray
    view: IntArray
    entry: IntArray
    count: IntArray
    levels: IntArray

    @classmethod
    def from_tuples(cls, table: Tuples) -> PeopleSums:
        """Compute the counts and corrections of a table.

        Raises: LimitError when people have too many different rows.
        """
        assert table.members is not None
        shown = table.members.select(table.published > 0)
        secrets = (
            field.extract(table.keys[shown.entry])
            for field in table.sensitive_bits.values()
        )
        views = [
            (shown.person, shown),
            *((class_index([shown.person, values]), shown) for values in secrets),
        ]
        if table.has_subset:
            views.append((table.members.person, table.members))
        folded = [
            _count_view(table, owner, members.entry, members.weights)
            for owner, members in views
        ]
        return cls(
            counts=np.stack([counts for counts, _ in folded]),
            view=np.repeat(
                np.arange(len(folded)), [len(terms.entry) for _, terms in folded]
            ),
            entry=np.concatenate([terms.entry for _, terms in folded]),
            count=np.concatenate([terms.count for _, terms in folded]),
            levels=np.concatenate([terms.levels for _, terms in folded], axis=1),
        )


_PEOPLE_SUMS: WeakKeyDictionary[Tuples, PeopleSums] = WeakKeyDictionary()
"""Sums of tables that are still in use."""


def people_sums_of(table: Tuples) -> PeopleSums | None:
    """Return the people counts of a table, cached; None if every row is a person."""
    if table.members is not None and table not in _PEOPLE_SUMS:
        _PEOPLE_SUMS[table] = PeopleSums.from_tuples(table)
    return _PEOPLE_SUMS.get(table)


@dataclass(frozen=True, kw_only=True, eq=False)
class _CountTerms:
    """Numbers to add to the people of an entry's class, from a node upwards."""

    owner: IntArray
    entry: IntArray
    count: IntArray
    levels: IntArray

    @classmethod
    def concatenate(cls, parts: list[_CountTerms]) -> _CountTerms:
        names = vars(parts[0])
        return cls(
            **{
                name: np.concatenate([vars(part)[name] for part in parts], axis=-1)
                for name in names
            }
        )

    def select(self, places: IntArray | BoolArray) -> _CountTerms:
        return _CountTerms(
            **{name: array[..., places] for name, array in vars(self).items()}
        )

    def merge_equal(self, keys: IntArray) -> _CountTerms:
        """Merge terms with equal keys, and drop those whose counts cancel."""
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        count = np.bincount(place, self.count, len(first)).astype(np.int64)
        return replace(self.select(first), count=count).select(count != 0)


def _count_view(
    table: Tuples, owner: IntArray, entry: IntArray, weights: IntArray
) -> tuple[IntArray, _CountTerms]:
    """Count each owner once per tuple, by entry; return the corrections too.

    Args:
        weights: (pairs of owner and entry,) the people that the owner stands for.
    """
    # Keep one pair for each owner and quasi-identifier tuple
    order = np.lexsort((entry, owner))
    owner = owner[order]
    entry = entry[order]
    weights = weights[order]
    tuple_of = table.keys[entry] >> table.tail_bits
    once = (np.diff(owner, prepend=-1) != 0) | (np.diff(tuple_of, prepend=-1) != 0)
    owner = owner[once]
    entry = entry[once]
    weights = weights[once]
    counts = np.bincount(entry, weights, len(table.keys)).astype(np.int64)
    # Only owners with several tuples need corrections
    sizes = np.diff(np.flatnonzero(np.diff(owner, prepend=-1)), append=len(owner))
    several = np.repeat(sizes > 1, sizes)
    owner = owner[several]
    entry = entry[several]
    weights = weights[several]
    # Compute corrections in batches of owners; halve a batch that has too many
    ends = [0, *np.cumsum(sizes[sizes > 1]).tolist()]
    waiting = [
        (first, min(first + MAX_OWNERS_PER_BATCH, len(ends) - 1))
        for first in range(0, len(ends) - 1, MAX_OWNERS_PER_BATCH)
    ]
    corrections = _merge_corrections(table, [])
    while waiting:
        first, last = waiting.pop()
        here = slice(ends[first], ends[last])
        more = _corrections_of_owners(table, owner[here], entry[here], weights[here])
        if more is not None:
            corrections = _merge_corrections(table, [corrections, more])
        elif last - first > 1:
            middle = (first + last) // 2
            waiting += [(first, middle), (middle, last)]
        if len(corrections.owner) > MAX_CORRECTIONS or (
            more is None and last - first == 1
        ):
            raise LimitError(
                "people have too many different rows to be counted in memory",
                remedy="use fewer columns, or a sample that is marked as one",
            )
    return counts, corrections


def _corrections_of_owners(
    table: Tuples, owner: IntArray, entry: IntArray, weights: IntArray
) -> _CountTerms | None:
    """Return the corrections of some owners, None if they are too many at once."""
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    rank = np.arange(len(owner)) - np.repeat(starts, np.diff(starts, append=len(owner)))
    owner = np.cumsum(rank == 0) - 1

    def single(places: BoolArray) -> _CountTerms:
        return _CountTerms(
            owner=owner[places],
            entry=entry[places],
            count=weights[places],
            levels=np.zeros((len(table.names), int(places.sum())), dtype=np.int64),
        )

    # Start with the first tuple of each owner, then add one further tuple per round
    terms = single(rank == 0)
    corrections = [single(rank < 0)]
    for turn in range(1, int(rank.max(initial=0)) + 1):
        further = single(rank == turn)
        with_more = np.full(int(owner[-1]) + 1, -1)
        with_more[further.owner] = further.entry
        terms = terms.select(with_more[terms.owner] >= 0)
        other = with_more[terms.owner]
        # Each term meets the further tuple, which gives a term of opposite sign
        met = np.maximum(terms.levels, _meeting_levels(table, terms.entry, other))
        met_terms = _CountTerms(
            owner=terms.owner, entry=other, count=-terms.count, levels=met
        )
        met_terms = met_terms.merge_equal(class_index([met_terms.owner, *met]))
        corrections.append(met_terms)
        terms = _CountTerms.concatenate([terms, further, met_terms])
        if len(terms.owner) > MAX_CORRECTIONS:
            return None
    return _CountTerms.concatenate(corrections)


def _merge_corrections(table: Tuples, parts: Sequence[_CountTerms]) -> _CountTerms:
    """Merge the corrections that apply to the same node and class."""
    nothing = np.empty(0, dtype=np.int64)
    none = _CountTerms(
        owner=nothing,
        entry=nothing,
        count=nothing,
        levels=np.empty((len(table.names), 0), np.int64),
    )
    joined = _CountTerms.concatenate([none, *parts])
    if not len(joined.entry):
        return joined
    tails = (table.keys[joined.entry] & ((1 << table.tail_bits) - 1)).astype(np.int64)
    same = [*joined.levels, tails]
    for column, codes in enumerate(table.codes):
        same.append(
            codes[joined.levels[column], table.digits(table.keys[joined.entry], column)]
        )
    return joined.merge_equal(class_index(same))


def _meeting_levels(table: Tuples, left: IntArray, right: IntArray) -> IntArray:
    """Return, per column and pair, the lowest level at which both entries agree."""
    result = np.empty((len(table.names), len(left)), dtype=np.int64)
    for column, codes in enumerate(table.codes):
        a, b = (table.digits(table.keys[entry], column) for entry in (left, right))
        result[column] = (codes[:, a] != codes[:, b]).sum(axis=0)
    return result
