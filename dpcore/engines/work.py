"""Work that engines do with rows.

Each takes a batch and gives a result, and results add up.

A result follows from the batch alone, and adding is whole-number arithmetic or the
union of sets, so that neither the cut into batches nor their order, nor a task that a
cluster repeats, changes what comes out.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from dpcore.engines.batch import Batch
from dpcore.engines.cells import Cells
from dpcore.engines.streaming.spool import MOST_BYTES, NoRoomError, Spool
from dpcore.errors import UsageError, source_changed
from dpcore.schema.domain import Clique, Domain
from dpcore.schema.values import as_text
from dpcore.tables.digests import digests_sum, row_digests
from dpcore.tables.rows import Published
from dpcore.tables.sums import Entry, Integers, multiply_levels

Part = tuple[str, str]
Whole = Sequence[int] | Integers
Groups = Mapping[str, Integers]
Result = TypeVar("Result")
Made = TypeVar("Made", covariant=True)
_ROWS_AT_ONCE = 2**17
"""Rows whose places in a table are found at once: they stay in the caches of a
processor.
"""
_SMALL = 2**16
"""Cells of a table that is made anew for some rows."""


class Making(Protocol[Made]):
    """A result of some rows at a time.

    It can be sent to another process, with what it holds.
    """

    @property
    def reads(self) -> tuple[str, ...] | None:
        """The columns it needs, None for all."""

    def of(self, batch: Batch) -> Made:
        """Return the result of some rows. Private."""


class Work(Making[Result], Protocol[Result]):
    """One question to all rows, whose answers for some of them add up."""

    def add(self, one: Result, other: Result) -> Result:
        """Return the answer for both. The first one may be changed."""


class Added(Generic[Result]):
    """Work whose results are numbers, arrays or counters."""

    def add(self, one: Result, other: Result) -> Result:
        """Return the sum of two results. The first one may be changed."""
        one += other  # type: ignore[operator]
        return one


@dataclass(frozen=True, kw_only=True)
class Counting(Added[Integers]):
    """Exact counts of each clique, int64, the cells of one table after the other in one
    array.
    """

    domain: Domain
    cliques: Sequence[Clique]
    part: Part | None = None
    groups: Groups = field(default_factory=dict)

    @property
    def reads(self) -> tuple[str, ...]:
        names = dict.fromkeys(name for clique in self.cliques for name in clique)
        return tuple(names | dict.fromkeys(self.part[:1] if self.part else ()))

    def of(self, batch: Batch) -> Integers:
        return self.into(self.whole((), ()), batch)

    def into(self, total: Integers, batch: Batch) -> Integers:
        """Return the total with the rows of a batch added."""
        inside = batch.part(self.part)
        rows = len(batch) if isinstance(inside, slice) else int(inside.sum())
        cells = {
            name: self._merged(name, batch.cells(name)[inside]) for name in self.reads
        }
        if any(
            each.max(initial=0) >= self.domain.size(name)
            for name, each in cells.items()
        ):
            raise source_changed()
        for start in range(0, rows, _ROWS_AT_ONCE):
            some = {
                name: each[start : start + _ROWS_AT_ONCE]
                for name, each in cells.items()
            }
            for clique, table in self.tables(total):
                _put(
                    table,
                    place(clique, self.domain, some, min(rows - start, _ROWS_AT_ONCE)),
                )
        return total

    def tables(self, total: Integers) -> Iterator[tuple[Clique, Integers]]:
        """Each clique with its cells, flat."""
        begin = 0
        for clique in self.cliques:
            end = begin + self.domain.cells(clique)
            yield clique, total[begin:end]
            begin = end

    def whole(self, keys: Whole, numbers: Whole) -> Integers:
        """Return the result that is 0 but at some places."""
        return _filled((sum(map(self.domain.cells, self.cliques)),), keys, numbers)

    def _merged(self, name: str, cells: Cells) -> Cells:
        if name not in self.groups:
            return cells
        merged: Cells = self.groups[name].astype(
            np.min_scalar_type(self.domain.size(name))
        )[cells]
        return merged


@dataclass(frozen=True, kw_only=True)
class Summing(Added[Integers]):
    """Exact sums over the rows of each cell of `by`, int64 (cells, entries), in units
    of 1 / GRID rows.
    """

    domain: Domain
    by: Clique
    entries: Sequence[Entry]
    part: Part | None = None

    @property
    def reads(self) -> tuple[str, ...]:
        names = dict.fromkeys(
            [*self.by, *(name for entry in self.entries for name in entry)]
        )
        return tuple(names | dict.fromkeys(self.part[:1] if self.part else ()))

    def of(self, batch: Batch) -> Integers:
        inside = batch.part(self.part)
        cells = {name: batch.cells(name)[inside] for name in self.reads}
        rows = len(batch) if isinstance(inside, slice) else int(inside.sum())
        line = place(self.by, self.domain, cells, rows)
        sums = np.empty((self.domain.cells(self.by), len(self.entries)), dtype=np.int64)
        for number, entry in enumerate(self.entries):
            added = multiply_levels(
                [levels[cells[name]] for name, levels in entry.items()], rows
            )
            # whole numbers below 2^53 in all partial sums, so that float64 adds them up
            # exactly
            sums[:, number] = np.bincount(line, weights=added, minlength=len(sums))
        return sums

    def whole(self, keys: Whole, numbers: Whole) -> Integers:
        """Return the result that is 0 but at some flat places."""
        return _filled((self.domain.cells(self.by), len(self.entries)), keys, numbers)


@dataclass(frozen=True, kw_only=True)
class Texts(Added[Counter[str]]):
    """Exact number of rows of every text of a column, missing ones left out."""

    column: str
    part: Part | None = None

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys([self.column, *(self.part[:1] if self.part else ())])
        )

    def of(self, batch: Batch) -> Counter[str]:
        counts = as_text(batch.column(self.column))[
            batch.part(self.part)
        ].value_counts()
        return Counter({str(text): int(count) for text, count in counts.items()})

    def whole(self, keys: npt.NDArray[Any], numbers: Integers) -> Counter[str]:
        """Return the result for some texts."""
        return Counter(dict(zip(keys.tolist(), numbers.tolist(), strict=True)))


@dataclass(frozen=True, kw_only=True)
class Assigning(Added[Integers]):
    """Exact number of rows that a public rule puts into each cell, int64."""

    assign: Callable[[pd.DataFrame], Integers]
    number: int
    reads: tuple[str, ...]

    def of(self, batch: Batch) -> Integers:
        places = np.asarray(self.assign(batch.frame(self.reads)), dtype=np.int64)
        if places.shape != (len(batch),) or (
            len(places) and not 0 <= places.min() <= places.max() < self.number
        ):
            raise UsageError(
                f"a rule must put every row into one of {self.number} cells",
                remedy="mend the rule",
            )
        return np.bincount(places, minlength=self.number)

    def whole(self, keys: Whole, numbers: Whole) -> Integers:
        """Return the result that is 0 but at some places."""
        return _filled((self.number,), keys, numbers)


@dataclass(frozen=True, kw_only=True)
class Publishing(Added[Published]):
    """What becomes of the rows, published where they are."""

    publish: Callable[[pd.DataFrame], Published]
    reads: None = None

    def of(self, batch: Batch) -> Published:
        return self.publish(batch.frame())

    def whole(
        self, keys: Integers, numbers: Integers, places: list[tuple[Any, ...]]
    ) -> Published:
        """Return the result for some keys, in any order, and the places of several
        parts.
        """
        return Published.of(keys, numbers, tuple(itertools.chain.from_iterable(places)))


Keyed = Counting | Summing | Texts | Assigning | Publishing
"""Work whose result is a number for each key: a place in a table, counted through, or a
text.
"""


@dataclass(frozen=True, kw_only=True)
class Checking(Added[int]):
    """The number of rows, once every value has a cell.

    Attributes:
        coded: takes the cells, if any.
    """

    reads: tuple[str, ...]
    coded: Spool | None = None

    def of(self, batch: Batch) -> int:
        cells = {name: batch.cells(name) for name in self.reads}
        if self.coded is not None:
            try:
                self.coded.take(pa.record_batch(cells))
            except OSError as error:
                raise NoRoomError from error
            if self.coded.bytes > MOST_BYTES:
                raise NoRoomError
        return len(batch)


@dataclass(frozen=True, kw_only=True)
class Digesting(Added[int]):
    """The sum over all rows that the fingerprint is made of."""

    key: bytes = field(repr=False)
    reads: None = None

    def of(self, batch: Batch) -> int:
        return digests_sum(row_digests(batch.coded(), self.key), self.key)


@dataclass(frozen=True, kw_only=True)
class Handing(Added[int], Generic[Result]):
    """Work that hands over results of rows, which do not fit together, and counts the
    rows.
    """

    work: Making[Result]
    take: Callable[[Result], None]

    @property
    def reads(self) -> tuple[str, ...] | None:
        return self.work.reads

    def of(self, batch: Batch) -> int:
        self.take(self.work.of(batch))
        return len(batch)


def place(
    clique: Clique, domain: Domain, cells: Mapping[str, Cells], rows: int
) -> npt.NDArray[np.integer]:
    """Return the flat cell of each row in the table over the clique, in as few bytes as
    it needs.
    """
    if not clique:
        return np.zeros(rows, dtype=np.uint8)
    # one type that counting takes, up to 32 bits
    kind = np.min_scalar_type(min(domain.cells(clique), 2**31))
    flat = cells[clique[0]].astype(kind)
    for name in clique[1:]:
        flat *= kind.type(domain.size(name))
        np.add(flat, cells[name], out=flat, casting="unsafe")
    return flat


def _put(table: Integers, places: npt.NDArray[np.integer]) -> None:
    """Add each row to its cell of a flat table.

    A large one is not made anew for some rows.
    """
    if len(table) > _SMALL:
        np.add.at(table, places, 1)
    else:
        table += np.bincount(places, minlength=len(table))


def taken(work: Work[Result], total: Result | None, batch: Batch) -> Result:
    """Return the answer for the rows so far, if any, and those of a batch."""
    if total is None:
        return work.of(batch)
    put: Callable[[Result, Batch], Result] | None = getattr(work, "into", None)
    return work.add(total, work.of(batch)) if put is None else put(total, batch)


def spread(result: Integers | Counter[str] | Published) -> tuple[Any, Any]:
    """Return the keys of a result, but where a table is 0, and the number of each."""
    if isinstance(result, Counter):
        return np.array(list(result), dtype=object), np.fromiter(
            result.values(), dtype=np.int64
        )
    if isinstance(result, Published):
        return result.keys, result.numbers
    flat = result.ravel()
    keys = np.flatnonzero(flat)
    return keys, flat[keys]


def _filled(shape: tuple[int, ...], places: Whole, numbers: Whole) -> Integers:
    total = np.zeros(shape, dtype=np.int64)
    if len(places):
        total.ravel()[places] = numbers
    return total


def needs_cells(work: object) -> bool:
    """Return whether work needs only the cells of the rows that count, which an engine
    may have kept.
    """
    return isinstance(work, Counting | Summing)
