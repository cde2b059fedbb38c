"""Types that hold rows: private rows, distinct tuples, and public tables."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import DisclosureError
from dpcore.tables.classes import IntArray, joint_keys, leaves_of, sorting_order

MAX_DISTINCT_TEXTS = 5_000_000
"""Different texts of a coded column, at most.

A text out of more than these is as good as a name.
"""


@dataclass(frozen=True, eq=False, repr=False)
class Microdata:
    """Private rows about people.

    They print column names only, and are never pickled.

    Attributes:
        key: of the ledger, for random draws per row; empty if nothing is drawn.
    """

    frame: pd.DataFrame
    key: bytes = b""

    def __repr__(self) -> str:
        return f"Microdata(columns={list(self.frame.columns)}, private)"

    def __reduce__(self) -> NoReturn:
        raise DisclosureError(
            "microdata are private and are not stored or sent", remedy="release first"
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TupleOwners:
    """Which groups of people own which distinct tuples of a table. Private.

    Attributes:
        group, place: (pairs,) each group with the index of each tuple of its people.
        people: (groups,) number of people.
        sums: (tuples,) uint64: the sum of the owner hashes over the rows of a tuple,
            see `tables.hashes`.
    """

    group: npt.NDArray[np.int64]
    tuple_index: npt.NDArray[np.int64]
    people: npt.NDArray[np.int64]
    sums: npt.NDArray[np.uint64]

    def select(self, tuples: npt.NDArray[np.bool_]) -> TupleOwners:
        """Return the (group, tuple) pairs of the marked tuples."""
        here = tuples[self.tuple_index]
        return replace(self, group=self.group[here], tuple_index=self.tuple_index[here])

    def select_and_renumber(self, tuples: npt.NDArray[np.bool_]) -> TupleOwners:
        """Select the marked tuples, and renumber them without gaps."""
        pairs = self.select(tuples)
        return replace(
            pairs,
            tuple_index=(np.cumsum(tuples) - 1)[pairs.tuple_index],
            sums=self.sums[tuples],
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LinkedMicrodata(Microdata):
    """Private rows of people, and of their events.

    Attributes:
        frame: a row for each person, with all columns.
        events: all events of these people, with all columns but the key; a column whose
            name is one of people has another name.
        parents: (events,) the place of each event's person in `frame`.
        left_out_rows: rows of either table that the rules leave out.
    """

    events: pd.DataFrame
    parents: npt.NDArray[np.int64]
    left_out_rows: int


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DistinctRows(Microdata):
    """The distinct tuples of some columns, as private as rows.

    Attributes:
        frame: each tuple once.
        rows: (tuples,) rows of each.
        people: (tuples,) people of each; the rows if no column names people.
        owners: the owners of the tuples, if they were asked for.
    """

    rows: npt.NDArray[np.int64]
    people: npt.NDArray[np.int64]
    owners: TupleOwners | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CodedColumn:
    """A column of all rows as compact codes, as private as rows.

    Attributes:
        codes: (rows,) the code of each value, in as few bytes as possible.
        values: the value of each code, sorted; a missing one is the last.
    """

    codes: IntArray
    values: pd.Series


def code_column(
    frame: pd.DataFrame, name: str, places: Iterable[IntArray] | None = None
) -> CodedColumn:
    """Encode the values of a column as compact codes.

    Args:
        frame: with the column of this name; with places, each of its values once.
        places: the line of the frame that holds each row's value, in parts; None if
            the lines are the rows.

    Raises: SchemaError for an unknown column, or without rows.
    """
    leaves = leaves_of(frame, name)
    codes = leaves.codes.astype(np.min_scalar_type(int(leaves.codes.max())))
    if places is not None:
        codes = np.concatenate([codes[part] for part in places])
    distinct = pd.Series(leaves.values, name=name)
    return CodedColumn(
        codes=codes,
        values=distinct.reindex(range(len(distinct) + leaves.has_missing)),
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CodedRows(Microdata):
    """Some columns of all rows as compact codes, as private as rows.

    Attributes:
        frame: (rows,) the code of each value, in as few bytes as possible.
        values: column -> the value of each code, sorted; a missing one is the last.
        person: (rows,) number of the person; None if every row is one.
        counts: (rows,) how many rows each stands for, all of different people; None for
            one each.
        omitted_columns: columns that are not coded, as they have too many different texts.
    """

    values: Mapping[str, pd.Series]
    person: IntArray | None
    counts: IntArray | None = None
    omitted_columns: tuple[str, ...] = ()

    @classmethod
    def from_frames(
        cls,
        names: Sequence[str],
        frame: Callable[[str], pd.DataFrame],
        person: IntArray | None,
    ) -> Self:
        """Encode columns one after the other.

        Args:
            names: of the columns.
            frame: returns a frame with the column of a name.
            person: (rows,) number of the person.

        Raises: SchemaError for an unknown column, or without rows.
        """
        coded = {name: code_column(frame(name), name) for name in names}
        codes = {name: column.codes for name, column in coded.items()}
        values = {name: column.values for name, column in coded.items()}
        return cls(frame=pd.DataFrame(codes, copy=False), values=values, person=person)

    @classmethod
    def build_sorted(
        cls, columns: Iterable[tuple[str, CodedColumn]], person: IntArray | None
    ) -> Self:
        """Build from coded columns, with rows sorted by the first columns.

        Args:
            columns: each with its name; nothing else may hold them, so that the
                memory of each is free once it is sorted.
            person: (rows,) number of the person.
        """
        codes = dict[str, IntArray]()
        values = dict[str, pd.Series]()
        for name, column in columns:
            codes[name] = column.codes
            values[name] = column.values
            del column
        bounds = accumulate(
            (len(distinct) for distinct in values.values()), operator.mul
        )
        first = list(codes)[: sum(bound < 2**31 for bound in bounds)]
        order = sorting_order(*joint_keys([codes[name] for name in first]))
        for name in codes:
            codes[name] = codes[name][order]
        return cls(
            frame=pd.DataFrame(codes, copy=False),
            values=values,
            person=None if person is None else person[order],
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PublishedSums:
    """Sums over published rows by key, and where the rows are stored. Private.

    Attributes:
        keys: (keys,) int64, sorted.
        numbers: (keys,) int64: exact sums over the rows.
        locations: location of the rows of each batch.
    """

    keys: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int64]
    locations: tuple[Any, ...]

    @classmethod
    def sum_by_key(
        cls,
        keys: npt.NDArray[np.int64],
        numbers: npt.NDArray[np.int64],
        places: tuple[Any, ...],
    ) -> PublishedSums:
        """Add up the numbers of each key."""
        # a stable sort is quick for two sorted parts
        order = np.argsort(keys, kind="stable")
        keys, first = np.unique(keys[order], return_index=True)
        return cls(
            keys=keys, numbers=np.add.reduceat(numbers[order], first), locations=places
        )

    def __add__(self, other: PublishedSums) -> PublishedSums:
        keys = np.concatenate([self.keys, other.keys])
        return self.sum_by_key(
            keys,
            np.concatenate([self.numbers, other.numbers]),
            self.locations + other.locations,
        )


@dataclass(frozen=True, eq=False)
class PublicTable:
    """Rows that may be shown and exported: drawn from a release or anonymized."""

    frame: pd.DataFrame
