"""Jobs of engines on batches of rows; their results can be added.

A result depends on the batch alone, and adding is integer arithmetic or the union of
sets, so that the result is the same for any batches in any order, and if a cluster
repeats a task.
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

from dpcore.engines._batch import Batch
from dpcore.engines._cells import Cells
from dpcore.engines.streaming.spool import MAX_SPOOL_BYTES, NoRoomError, Spool
from dpcore.errors import UsageError, source_changed_error
from dpcore.schema.domain import Clique, Domain
from dpcore.schema.values import as_text
from dpcore.tables.digests import row_digests, sum_digests
from dpcore.tables.rows import PublishedSums
from dpcore.tables.sums import Entry, Integers, multiply_levels

Part = tuple[str, str]
IntSequence = Sequence[int] | Integers
Groups = Mapping[str, Integers]
Result = TypeVar("Result")
Output = TypeVar("Output", covariant=True)
_ROWS_PER_BLOCK = 2**17
"""Rows counted at a time, so that they stay in the processor's caches."""
_MAX_BINCOUNT_CELLS = 2**16
"""Cells of a table that is counted by `bincount`, at most."""


class Job(Protocol[Output]):
    """A function of batches of rows.

    It can be sent to another process, with its attributes.
    """

    @property
    def reads(self) -> tuple[str, ...] | None:
        """The columns that the job needs, None for all."""

    def compute(self, batch: Batch) -> Output:
        """Return the result for one batch. Private."""


class Work(Job[Result], Protocol[Result]):
    """Job whose results for several batches can be added."""

    def add(self, one: Result, other: Result) -> Result:
        """Return the sum of two results; may change the first in place."""


class Additive(Generic[Result]):
    """Base class of work whose results are numbers, arrays or counters."""

    def add(self, one: Result, other: Result) -> Result:
        """Return the sum of two results; may change the first in place."""
        one += other  # type: ignore[operator]
        return one


@dataclass(frozen=True, kw_only=True)
class CountJob(Additive[Integers]):
    """Job that counts the rows in each cell of each clique, in one int64 array."""

    domain: Domain
    cliques: Sequence[Clique]
    part: Part | None = None
    groups: Groups = field(default_factory=dict)

    @property
    def reads(self) -> tuple[str, ...]:
        names = dict.fromkeys(name for clique in self.cliques for name in clique)
        return tuple(names | dict.fromkeys(self.part[:1] if self.part else ()))

    def compute(self, batch: Batch) -> Integers:
        return self.add_into(self.from_pairs((), ()), batch)

    def add_into(self, total: Integers, batch: Batch) -> Integers:
        """Add the counts of a batch to the total, in place."""
        inside = batch.select_part(self.part)
        rows = len(batch) if isinstance(inside, slice) else int(inside.sum())
        cells = {
            name: self._merge_cells(name, batch.cells(name)[inside])
            for name in self.reads
        }
        if any(
            column_cells.max(initial=0) >= self.domain.size(name)
            for name, column_cells in cells.items()
        ):
            raise source_changed_error()
        for start in range(0, rows, _ROWS_PER_BLOCK):
            block = {
                name: column_cells[start : start + _ROWS_PER_BLOCK]
                for name, column_cells in cells.items()
            }
            for clique, table in self.split_tables(total):
                _add_rows(
                    table,
                    flat_cells(
                        clique, self.domain, block, min(rows - start, _ROWS_PER_BLOCK)
                    ),
                )
        return total

    def split_tables(self, total: Integers) -> Iterator[tuple[Clique, Integers]]:
        """Yield each clique with its part of the total, as a flat array."""
        begin = 0
        for clique in self.cliques:
            end = begin + self.domain.cells(clique)
            yield clique, total[begin:end]
            begin = end

    def from_pairs(self, keys: IntSequence, numbers: IntSequence) -> Integers:
        """Return a result with these numbers at these flat indices, and 0 elsewhere."""
        return _scatter((sum(map(self.domain.cells, self.cliques)),), keys, numbers)

    def _merge_cells(self, name: str, cells: Cells) -> Cells:
        if name not in self.groups:
            return cells
        merged: Cells = self.groups[name].astype(
            np.min_scalar_type(self.domain.size(name))
        )[cells]
        return merged


@dataclass(frozen=True, kw_only=True)
class SumJob(Additive[Integers]):
    """Job that sums each entry over the rows of each cell of `by`, exactly.

    The unit is 1 / GRID rows.
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

    def compute(self, batch: Batch) -> Integers:
        inside = batch.select_part(self.part)
        cells = {name: batch.cells(name)[inside] for name in self.reads}
        rows = len(batch) if isinstance(inside, slice) else int(inside.sum())
        line = flat_cells(self.by, self.domain, cells, rows)
        sums = np.empty((self.domain.cells(self.by), len(self.entries)), dtype=np.int64)
        for number, entry in enumerate(self.entries):
            added = multiply_levels(
                [levels[cells[name]] for name, levels in entry.items()], rows
            )
            # Partial sums are integers below 2^53, so float64 adds them exactly
            sums[:, number] = np.bincount(line, weights=added, minlength=len(sums))
        return sums

    def from_pairs(self, keys: IntSequence, numbers: IntSequence) -> Integers:
        """Return a result with these numbers at these flat indices, and 0 elsewhere."""
        return _scatter((self.domain.cells(self.by), len(self.entries)), keys, numbers)


@dataclass(frozen=True, kw_only=True)
class TextCountJob(Additive[Counter[str]]):
    """Job that counts the rows of each text of a column, without missing values."""

    column: str
    part: Part | None = None

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys([self.column, *(self.part[:1] if self.part else ())])
        )

    def compute(self, batch: Batch) -> Counter[str]:
        counts = as_text(batch.column(self.column))[
            batch.select_part(self.part)
        ].value_counts()
        return Counter({str(text): int(count) for text, count in counts.items()})

    def from_pairs(self, keys: npt.NDArray[Any], numbers: Integers) -> Counter[str]:
        """Return a result with these counts of these texts."""
        return Counter(dict(zip(keys.tolist(), numbers.tolist(), strict=True)))


@dataclass(frozen=True, kw_only=True)
class RuleCountJob(Additive[Integers]):
    """Job that counts the rows of each cell of a public rule."""

    assign: Callable[[pd.DataFrame], Integers]
    number: int
    reads: tuple[str, ...]

    def compute(self, batch: Batch) -> Integers:
        places = np.asarray(self.assign(batch.frame(self.reads)), dtype=np.int64)
        if places.shape != (len(batch),) or (
            len(places) and not 0 <= places.min() <= places.max() < self.number
        ):
            raise UsageError(
                f"a rule must put every row into one of {self.number} cells",
                remedy="mend the rule",
            )
        return np.bincount(places, minlength=self.number)

    def from_pairs(self, keys: IntSequence, numbers: IntSequence) -> Integers:
        """Return a result with these numbers in these cells, and 0 elsewhere."""
        return _scatter((self.number,), keys, numbers)


@dataclass(frozen=True, kw_only=True)
class PublishJob(Additive[PublishedSums]):
    """Job that calls a publishing function in the process of the rows."""

    publish: Callable[[pd.DataFrame], PublishedSums]
    reads: None = None

    def compute(self, batch: Batch) -> PublishedSums:
        return self.publish(batch.frame())

    def from_pairs(
        self, keys: Integers, numbers: Integers, places: list[tuple[Any, ...]]
    ) -> PublishedSums:
        """Return a result from keys in any order and a list of locations per worker."""
        return PublishedSums.sum_by_key(
            keys, numbers, tuple(itertools.chain.from_iterable(places))
        )


KeyedJob = CountJob | SumJob | TextCountJob | RuleCountJob | PublishJob
"""Work with numbers by key as result.

A key is a flat index of a table, or a text.
"""


@dataclass(frozen=True, kw_only=True)
class CheckJob(Additive[int]):
    """Job that refuses values without a cell, and counts the rows.

    Attributes:
        coded: stores the cells, if given.
    """

    reads: tuple[str, ...]
    coded: Spool | None = None

    def compute(self, batch: Batch) -> int:
        cells = {name: batch.cells(name) for name in self.reads}
        if self.coded is not None:
            try:
                self.coded.store(pa.record_batch(cells))
            except OSError as error:
                raise NoRoomError from error
            if self.coded.bytes > MAX_SPOOL_BYTES:
                raise NoRoomError
        return len(batch)


@dataclass(frozen=True, kw_only=True)
class DigestJob(Additive[int]):
    """Job that adds up row digests for the fingerprint of the table."""

    key: bytes = field(repr=False)
    reads: None = None

    def compute(self, batch: Batch) -> int:
        return sum_digests(row_digests(batch.coded_frame(), self.key), self.key)


@dataclass(frozen=True, kw_only=True)
class ForEachBatchJob(Additive[int], Generic[Result]):
    """Job that passes the result of each batch to a function, and counts the rows.

    The results do not fit into memory together.
    """

    work: Job[Result]
    on_result: Callable[[Result], None]

    @property
    def reads(self) -> tuple[str, ...] | None:
        return self.work.reads

    def compute(self, batch: Batch) -> int:
        self.on_result(self.work.compute(batch))
        return len(batch)


def flat_cells(
    clique: Clique, domain: Domain, cells: Mapping[str, Cells], rows: int
) -> npt.NDArray[np.integer]:
    """Return the index of each row's cell in the flattened table of a clique."""
    if not clique:
        return np.zeros(rows, dtype=np.uint8)
    # Choose an unsigned type of at most 32 bits, which `bincount` accepts
    kind = np.min_scalar_type(min(domain.cells(clique), 2**31))
    flat = cells[clique[0]].astype(kind)
    for name in clique[1:]:
        flat *= kind.type(domain.size(name))
        np.add(flat, cells[name], out=flat, casting="unsafe")
    return flat


def _add_rows(table: Integers, places: npt.NDArray[np.integer]) -> None:
    """Add 1 to each row's cell of a flat table."""
    if len(table) > _MAX_BINCOUNT_CELLS:
        np.add.at(table, places, 1)
    else:
        table += np.bincount(places, minlength=len(table))


def add_batch(work: Work[Result], total: Result | None, batch: Batch) -> Result:
    """Add the result of a batch to the total; without a total, return it alone."""
    if total is None:
        return work.compute(batch)
    add_into: Callable[[Result, Batch], Result] | None = getattr(work, "add_into", None)
    return (
        work.add(total, work.compute(batch))
        if add_into is None
        else add_into(total, batch)
    )


def to_pairs(result: Integers | Counter[str] | PublishedSums) -> tuple[Any, Any]:
    """Return the keys and numbers of a result; zeros of a table are left out."""
    if isinstance(result, Counter):
        return np.array(list(result), dtype=object), np.fromiter(
            result.values(), dtype=np.int64
        )
    if isinstance(result, PublishedSums):
        return result.keys, result.numbers
    flat = result.ravel()
    keys = np.flatnonzero(flat)
    return keys, flat[keys]


def _scatter(
    shape: tuple[int, ...], places: IntSequence, numbers: IntSequence
) -> Integers:
    total = np.zeros(shape, dtype=np.int64)
    if len(places):
        total.ravel()[places] = numbers
    return total


def needs_cells(work: object) -> bool:
    """Return whether a job reads only cells of counted rows, which may be stored."""
    return isinstance(work, CountJob | SumJob)
