"""Tasks that Spark workers run, as functions of Arrow batches."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from dpcore.engines._batch import Batch
from dpcore.engines._cells import CellTables
from dpcore.engines.work import (
    Additive,
    Job,
    KeyedJob,
    PublishJob,
    Work,
    add_batch,
    to_pairs,
)
from dpcore.errors import DpcoreError
from dpcore.schema.schema import Schema
from dpcore.tables.arrow import to_frame
from dpcore.tables.digests import person_digests
from dpcore.tables.ranks import row_ranks
from dpcore.tables.rows import PublishedSums

_ROWS_PER_FRAME = 131_072
"""Rows that are collected from Spark's small batches."""
_KEYS_PER_BLOCK = 2**13
"""Adjacent keys of one block; each block is summed up by one worker."""
_MAX_BLOCKS = 512
"""Blocks of all keys, at most."""
_NO_NUMBERS = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An error of this library that a worker sends to the driver."""

    error: type[DpcoreError]
    problem: str
    remedy: str

    @classmethod
    def from_error(cls, error: DpcoreError) -> Refusal:
        return cls(error=type(error), problem=error.problem, remedy=error.remedy)

    def to_error(self) -> DpcoreError:
        """Return the original error."""
        return self.error(self.problem, remedy=self.remedy)


@dataclass(frozen=True, kw_only=True)
class Task:
    """Worker task that returns the sums of a job by key, or its whole result.

    Attributes:
        names: of the incoming columns; None if these are cells made by `CellsJob`.
    """

    work: Work[Any]
    names: tuple[str, ...] | None
    schema: Schema
    spark_schema: ClassVar = "block long, part binary"

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        rows = 0
        total: Any = None
        try:
            for batch in self._batches(batches):
                total = add_batch(self.work, total, batch)
                rows += len(batch)
        except DpcoreError as error:
            total = Refusal.from_error(error)
        if total is None:
            return
        if isinstance(total, Refusal) or not isinstance(self.work, KeyedJob):
            yield _block_message(
                0,
                PublishedSums(
                    keys=_NO_NUMBERS, numbers=_NO_NUMBERS, locations=((rows, total),)
                ),
            )
            return
        yield _block_message(
            0,
            PublishedSums(
                keys=_NO_NUMBERS,
                numbers=_NO_NUMBERS,
                locations=((rows, getattr(total, "locations", ())),),
            ),
        )
        keys, numbers = to_pairs(total)
        blocks = _blocks_of_keys(keys)
        order = np.argsort(blocks, kind="stable")
        for some in np.split(order, np.flatnonzero(np.diff(blocks[order], prepend=-1)))[
            1:
        ]:
            yield _block_message(
                int(blocks[some[0]]),
                PublishedSums(keys=keys[some], numbers=numbers[some], locations=()),
            )

    def from_pairs(self, added: Any) -> tuple[Any, int]:
        """Combine the sums of all workers; return the result and the number of rows.

        The result is None without rows.

        Raises: the error of a worker.
        """
        parts = [pickle.loads(part) for part in added.column("part").to_pylist()]
        results = [result for part in parts for result in part.locations]
        for _, result in results:
            if isinstance(result, Refusal):
                raise result.to_error()
        rows = sum(number for number, _ in results)
        if not isinstance(self.work, KeyedJob):
            return functools.reduce(
                self.work.add, [result for _, result in results]
            ) if results else None, rows
        keys = np.concatenate([_NO_NUMBERS, *(part.keys for part in parts)])
        numbers = np.concatenate([_NO_NUMBERS, *(part.numbers for part in parts)])
        if isinstance(self.work, PublishJob):
            return self.work.from_pairs(
                keys, numbers, [places for _, places in results]
            ), rows
        total = PublishedSums.sum_by_key(keys, numbers, ())
        return self.work.from_pairs(total.keys, total.numbers), rows

    def _batches(self, batches: Iterable[Any]) -> Iterator[Batch]:
        if self.names is not None:
            tables: CellTables = {}
            for frame in gather_batches(batches, self.names):
                yield Batch(frame, self.schema, tables=tables)
            return
        for batch in batches:
            for cells in batch.column(0):
                yield Batch.from_cells(pickle.loads(cells.as_buffer()), self.schema)


def merge_blocks(batches: Iterable[Any]) -> Iterator[Any]:
    """Add up all parts of each block, which Spark sends to one worker."""
    totals: dict[int, PublishedSums] = {}
    for batch in batches:
        for block, part in zip(
            *(column.to_pylist() for column in batch.columns), strict=True
        ):
            sums = pickle.loads(part)
            totals[block] = totals[block] + sums if block in totals else sums
    for block, total in totals.items():
        yield _block_message(block, total)


def _block_message(block: int, sums: PublishedSums) -> Any:
    """Return one row for Spark: the number of a block and its pickled sums."""
    columns = [
        pa.array([block], pa.int64()),
        pa.array([pickle.dumps(sums)], pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, names=["block", "part"])


def _blocks_of_keys(keys: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the block number of each key; it is the same on all workers.

    Adjacent keys share one.
    """
    if keys.dtype == object:
        keys = np.array(
            [crc32(key.encode(errors="surrogatepass")) for key in keys], dtype=np.int64
        )
        return keys % _MAX_BLOCKS
    return keys // _KEYS_PER_BLOCK % _MAX_BLOCKS


@dataclass(frozen=True, kw_only=True)
class NumberJob(Additive[list[Any]]):
    """Job that calls a function with each number of a batch."""

    work: Callable[[int], Any]
    reads: tuple[str, ...] = ("number",)

    def compute(self, batch: Batch) -> list[Any]:
        return [self.work(number) for number in batch.column("number").tolist()]


@dataclass(frozen=True, kw_only=True)
class CellsJob:
    """Job that returns the cells of a batch for Spark to cache."""

    reads: tuple[str, ...]

    def compute(self, batch: Batch) -> Any:
        return pa.record_batch({name: batch.cells(name) for name in self.reads})


@dataclass(frozen=True, kw_only=True)
class BatchTask:
    """Worker task that returns the pickled result of a job for each batch."""

    work: Job[Any]
    names: tuple[str, ...]
    schema: Schema
    spark_schema: ClassVar = "answer binary, length long, refusal binary"

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        tables: CellTables = {}
        for frame in gather_batches(batches, self.names):
            result = None
            refusal = None
            try:
                result = pickle.dumps(
                    self.work.compute(Batch(frame, self.schema, tables=tables))
                )
            except DpcoreError as error:
                refusal = pickle.dumps(Refusal.from_error(error))
            columns = [
                pa.array([result], pa.binary()),
                pa.array([len(frame)], pa.int64()),
                pa.array([refusal], pa.binary()),
            ]
            yield pa.RecordBatch.from_arrays(
                columns, names=["answer", "length", "refusal"]
            )


@dataclass(frozen=True, kw_only=True)
class OwnerRankTask:
    """Worker task that adds each row's owner and rank as sortable bytes."""

    names: tuple[str, ...]
    declared: tuple[str, ...]
    person: str
    key: bytes = field(repr=False)

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            frame = _to_frame([batch], self.names)
            columns = [batch.column(int(place[1:])) for place in self.declared]
            names = [*self.declared, "p", "d"]
            try:
                marks = [
                    person_digests(frame[self.person], self.key),
                    row_ranks(frame, self.key, self.person),
                ]
            except DpcoreError as error:
                refusal = pa.array(
                    [pickle.dumps(Refusal.from_error(error))], pa.binary()
                )
                nothing = [pa.nulls(1, column.type) for column in columns]
                yield pa.RecordBatch.from_arrays(
                    [*nothing, pa.nulls(1, pa.binary()), refusal], names=names
                )
                return
            sortable = [
                np.ascontiguousarray(mark[:, ::-1]).astype(">u8") for mark in marks
            ]
            binary = [
                pa.FixedSizeBinaryArray.from_buffers(
                    pa.binary(16), len(mark), [None, pa.py_buffer(mark)]
                )
                for mark in sortable
            ]
            yield pa.RecordBatch.from_arrays(
                [*columns, *(mark.cast(pa.binary()) for mark in binary)],
                names=names,
            )


def gather_batches(
    batches: Iterable[Any], names: Sequence[str]
) -> Iterator[pd.DataFrame]:
    """Combine Spark's small batches into larger frames."""
    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= _ROWS_PER_FRAME:
            yield _to_frame(waiting, names)
            waiting = []
    if waiting:
        yield _to_frame(waiting, names)


def _to_frame(batches: Sequence[Any], names: Sequence[str]) -> pd.DataFrame:
    return to_frame(
        pa.Table.from_batches(batches).combine_chunks().rename_columns(list(names))
    )
