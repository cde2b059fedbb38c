"""Events of people that somebody may know, and the groups that two of them make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.errors import LimitError, UsageError
from dpcore.tables.classes import BoolArray, IntArray, class_index, last_rows

MAX_KNOWN_EVENTS = 2
"""Events of a person that somebody may know, at most."""
MAX_EVENT_PAIRS = 4_000_000
"""Pairs of different events of a person that are looked at, at most; they take a
minute.
"""


@dataclass(frozen=True, kw_only=True)
class KnownEvents:
    """Each person with each choice of no, one or two of the person's events.

    Two events are in both orders, so that any columns of both tell the group of
    everybody with these events. Equal events of a person make one choice, and one with
    each other.

    Attributes:
        first: (choices,) row of the first known event; any row of the person if none is
            known.
        second: (choices,) likewise of the second one.
        counts: (choices,) how many events are known, up to 2.
    """

    first: IntArray
    second: IntArray
    counts: IntArray

    @classmethod
    def choose(
        cls,
        person: IntArray,
        columns: Sequence[IntArray],
        has_event: BoolArray,
        *,
        most: int,
    ) -> KnownEvents:
        """Return all choices of up to `most` events.

        Args:
            person: (rows,) number of each row's person, without gaps. A row is an
                event, or a person without events.
            columns: (rows,) codes of each column of events.
            has_event: (rows,) whether the row is an event.
            most: 1 or 2.

        Raises: LimitError for too many pairs.
        """
        check_known_events(most)
        nobody = last_rows(person)
        events = np.flatnonzero(has_event & bool(columns))
        # 1. The distinct events of each person, ordered by person.
        index = class_index([person[events], *(codes[events] for codes in columns)])
        distinct = events[last_rows(index)]
        times = np.bincount(index)
        sizes = np.bincount(person[distinct], minlength=len(nobody))
        left = right = np.zeros(0, dtype=np.int64)
        if most > 1:
            # 2. Each distinct event with each of the same person, and with itself if
            # the person has it twice.
            if int((sizes**2).sum()) > MAX_EVENT_PAIRS:
                raise LimitError(
                    "people have more than {most:,} pairs of different events",
                    remedy="ask about one known event, or name fewer columns of events",
                    most=MAX_EVENT_PAIRS,
                )
            partners = sizes[person[distinct]]
            left = np.repeat(np.arange(len(distinct)), partners)
            starts = np.repeat(np.cumsum(partners) - partners, partners)
            place = np.arange(len(left)) - starts
            right = (np.cumsum(sizes) - sizes)[person[distinct]][left] + place
            is_pair = (left != right) | (times[left] > 1)
            left, right = left[is_pair], right[is_pair]
        return cls(
            first=np.concatenate([nobody, distinct, distinct[left]]),
            second=np.concatenate([nobody, distinct, distinct[right]]),
            counts=np.repeat([0, 1, 2], [len(nobody), len(distinct), len(left)]),
        )


def check_known_events(most: int) -> None:
    """Refuse a number of known events that is not looked at."""
    if most not in range(1, MAX_KNOWN_EVENTS + 1):
        raise UsageError(
            f"somebody may know 1 or {MAX_KNOWN_EVENTS} events of a person",
            remedy="choose one of these numbers",
        )


def join_events(first: IntArray, second: IntArray, counts: IntArray) -> IntArray:
    """Return one code for the values of both known events, in their order.

    Args:
        first, second: (choices,) codes of a column in each event.
        counts: of known events; codes of others mean nothing.
    """
    return class_index(
        [
            np.where(counts > least, codes.astype(np.int64) + 1, 0)
            for least, codes in enumerate((first, second))
        ]
    )
