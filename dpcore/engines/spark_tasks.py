"""What workers of Spark do with their rows: functions of Arrow batches, sent to where the rows are."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from dpcore.engines.batch import Batch
from dpcore.engines.coded import packed, unpacked
from dpcore.engines.work import Work
from dpcore.errors import DpcoreError
from dpcore.schema.schema import Schema
from dpcore.tables.arrow import frame_of
from dpcore.tables.digests import person_digests, row_digests

_ROWS_AT_ONCE = 131_072


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An error of this library on its way from a worker."""

    error: type[DpcoreError]
    problem: str
    remedy: str

    @classmethod
    def of(cls, error: DpcoreError) -> Refusal:
        return cls(error=type(error), problem=error.problem, remedy=error.remedy)

    def raised(self) -> DpcoreError:
        """The error again."""
        return self.error(self.problem, remedy=self.remedy)


@dataclass(frozen=True, kw_only=True)
class Task:
    """What a worker does with its rows: the number of them and one partial result, as bytes.

    Attributes:
        names: of the columns that come; None where these are cells, as `Code` made them.
    """

    work: Work[Any]
    names: tuple[str, ...] | None
    schema: Schema

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        rows = 0
        total: list[Any] = []
        try:
            for batch in self._batches(batches):
                result = self.work.of(batch)
                total = [self.work.add(total[0], result) if total else result]
                rows += len(batch)
        except DpcoreError as error:
            total = [Refusal.of(error)]
        if total:
            yield pa.record_batch({"answer": pa.array([pickle.dumps((rows, total[0]))], pa.binary())})

    def _batches(self, batches: Iterable[Any]) -> Iterator[Batch]:
        if self.names is not None:
            for frame in gathered(batches, self.names):
                yield Batch(frame, self.schema)
            return
        for batch in batches:
            for length, cells in zip(batch.column(0), batch.column(1), strict=True):
                yield unpacked(cells.as_buffer(), length.as_py(), self.schema)


@dataclass(frozen=True, kw_only=True)
class Code:
    """What a worker makes of its rows to be kept: their cells, many rows at a time, as bytes."""

    names: tuple[str, ...]
    schema: Schema

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for frame in gathered(batches, self.names):
            cells, refusal = None, None
            try:
                cells = packed(Batch(frame, self.schema), self.schema)
            except DpcoreError as error:
                refusal = pickle.dumps(Refusal.of(error))
            columns = {
                "length": pa.array([len(frame)], pa.int64()),
                "cells": pa.array([cells], pa.binary()),
                "refusal": pa.array([refusal], pa.binary()),
            }
            yield pa.record_batch(columns)


@dataclass(frozen=True, kw_only=True)
class Each:
    """What a worker makes of its rows, some at a time, as bytes."""

    work: Work[Any]
    names: tuple[str, ...]
    schema: Schema

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for frame in gathered(batches, self.names):
            made: Any
            try:
                made = self.work.of(Batch(frame, self.schema))
            except DpcoreError as error:
                made = Refusal.of(error)
            yield pa.record_batch({"answer": pa.array([pickle.dumps(made)], pa.binary())})


@dataclass(frozen=True, kw_only=True)
class Mark:
    """What a worker adds to rows: whose each one is, and its digest, as bytes that sort as the digests do."""

    names: tuple[str, ...]
    declared: tuple[str, ...]
    person: str
    key: bytes = field(repr=False)

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            frame = frame_of(pa.RecordBatch.from_arrays(batch.columns, names=list(self.names)))
            columns = [batch.column(int(place[1:])) for place in self.declared]
            names = [*self.declared, "p", "d"]
            try:
                marks = [person_digests(frame[self.person], self.key), row_digests(frame, self.key)]
            except DpcoreError as error:
                refusal = pa.array([pickle.dumps(Refusal.of(error))], pa.binary())
                nothing = [pa.nulls(1, column.type) for column in columns]
                yield pa.RecordBatch.from_arrays([*nothing, pa.nulls(1, pa.binary()), refusal], names=names)
                return
            sortable = [np.ascontiguousarray(each[:, ::-1]).astype(">u8").tobytes() for each in marks]
            binary = [
                pa.array([data[at : at + 16] for at in range(0, len(data), 16)], pa.binary())
                for data in sortable
            ]
            yield pa.RecordBatch.from_arrays([*columns, *binary], names=names)


def gathered(batches: Iterable[Any], names: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Spark's small batches as larger frames."""
    import pyarrow as pa

    waiting: list[Any] = []
    for batch in batches:
        waiting.append(pa.RecordBatch.from_arrays(batch.columns, names=list(names)))
        if sum(map(len, waiting)) >= _ROWS_AT_ONCE:
            yield frame_of(pa.Table.from_batches(waiting).combine_chunks())
            waiting = []
    if waiting:
        yield frame_of(pa.Table.from_batches(waiting).combine_chunks())
