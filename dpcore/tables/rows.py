"""Types of private rows, their distinct tuples, what became of them, and public
tables.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import DisclosureError
from dpcore.tables.classes import IntArray, ascending, joint_keys, leaves_of

MOST_TEXTS = 5_000_000
"""Different texts of a column that is coded, at most: whoever has one of more of them
is as good as named.
"""


@dataclass(frozen=True, eq=False, repr=False)
class Microdata:
    """Private rows about people, which print column names only and are never pickled.

    Attributes: key: of the ledger, for what is drawn for each row; empty where nothing
    is.
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
class Held:
    """The private relation between tuples and groups of people with the same tuples.

    Attributes:
        group, place: (pairs,) each group with the place of each tuple that its people
            hold.
        people: (groups,) how many they are.
        sums: (tuples,) uint64: the sum over the rows of a tuple of a number for whose
            each is, see `tables.hashes`.
    """

    group: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    people: npt.NDArray[np.int64]
    sums: npt.NDArray[np.uint64]

    def among(self, tuples: npt.NDArray[np.bool_]) -> Held:
        """Return the pairs of the marked tuples."""
        here = tuples[self.place]
        return replace(self, group=self.group[here], place=self.place[here])

    def within(self, tuples: npt.NDArray[np.bool_]) -> Held:
        """Return the same for a frame of the marked tuples alone."""
        pairs = self.among(tuples)
        return replace(
            pairs, place=(np.cumsum(tuples) - 1)[pairs.place], sums=self.sums[tuples]
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DistinctRows(Microdata):
    """The distinct tuples of some columns, as private as rows.

    Attributes:
        frame: each tuple once.
        rows: (tuples,) rows of each.
        people: (tuples,) people of each; the rows where no column names people.
        held: who holds which of them, where that was asked for.
    """

    rows: npt.NDArray[np.int64]
    people: npt.NDArray[np.int64]
    held: Held | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CodedRows(Microdata):
    """Some columns of all rows, as private as rows, by codes of their values in as few
    bytes as these need.

    Attributes:
        frame: (rows,) the code of each value.
        values: column -> the value of each code, sorted; a missing one is the last.
        person: (rows,) number of the person; None where every row is one.
        counts: (rows,) how many rows each stands for, all of different people; None for
            one each.
        left_out: columns that are not coded, as they have too many different texts.
    """

    values: Mapping[str, pd.Series]
    person: IntArray | None
    counts: IntArray | None = None
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        frame: Callable[[str], pd.DataFrame],
        person: IntArray | None,
    ) -> Self:
        """Code columns, one after the other.

        Args:
            frame: gives one with the column of a name.

        Raises: SchemaError for an unknown column, or without rows.
        """
        codes = dict[str, IntArray]()
        values = dict[str, pd.Series]()
        for name in names:
            leaves = leaves_of(frame(name), name)
            codes[name] = leaves.codes.astype(
                np.min_scalar_type(int(leaves.codes.max()))
            )
            own = pd.Series(leaves.values, name=name)
            values[name] = own.reindex(range(len(own) + leaves.has_missing))
            del leaves  # before the next column comes
        return cls(frame=pd.DataFrame(codes, copy=False), values=values, person=person)

    def in_order(self) -> Self:
        """Return the rows sorted by their first columns, as many as a key of 32 bits
        takes.
        """
        bounds = accumulate((len(own) for own in self.values.values()), operator.mul)
        first = self.frame.columns[: sum(bound < 2**31 for bound in bounds)]
        order = ascending(*joint_keys([self.frame[name].to_numpy() for name in first]))
        codes = {name: own.to_numpy()[order] for name, own in self.frame.items()}
        frame = pd.DataFrame(codes, copy=False)
        return replace(
            self,
            frame=frame,
            person=None if self.person is None else self.person[order],
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Published:
    """What became of rows that were published where they are. Private.

    Attributes:
        keys, numbers: (keys,) int64: exact sums over the rows, and what each is of, in
            order.
        places: where the rows were put, one for each batch.
    """

    keys: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int64]
    places: tuple[Any, ...]

    @classmethod
    def of(
        cls,
        keys: npt.NDArray[np.int64],
        numbers: npt.NDArray[np.int64],
        places: tuple[Any, ...],
    ) -> Published:
        """Add up the numbers of each key."""
        # quick where two are added, whose keys are in order
        order = np.argsort(keys, kind="stable")
        keys, first = np.unique(keys[order], return_index=True)
        return cls(
            keys=keys, numbers=np.add.reduceat(numbers[order], first), places=places
        )

    def __add__(self, other: Published) -> Published:
        keys = np.concatenate([self.keys, other.keys])
        return self.of(
            keys,
            np.concatenate([self.numbers, other.numbers]),
            self.places + other.places,
        )


@dataclass(frozen=True, eq=False)
class PublicTable:
    """Rows that may be shown and exported, drawn from a release or anonymized by a
    plan.
    """

    frame: pd.DataFrame
