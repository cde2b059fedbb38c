"""Tasks for workers of Spark, as functions of Arrow batches that are sent to where the rows are."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from dpcore.engines.batch import Batch
from dpcore.engines.cells import CellTables
from dpcore.engines.work import Added, Keyed, Making, Publishing, Texts, Work, spread, taken
from dpcore.errors import DpcoreError
from dpcore.schema.schema import Schema
from dpcore.tables.arrow import frame_of
from dpcore.tables.digests import person_digests
from dpcore.tables.ranks import row_ranks
from dpcore.tables.rows import Published

_ROWS_AT_ONCE = 131_072
_KEYS_AT_ONCE = 65_536


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
        """Return the error as it was raised."""
        return self.error(self.problem, remedy=self.remedy)


@dataclass(frozen=True, kw_only=True)
class Task:
    """A task that gives numbers which add up key by key, and results that are no numbers.

    Attributes:
        names: of the columns that come; None where these are cells, as `Coding` made them.
    """

    work: Work[Any]
    names: tuple[str, ...] | None
    schema: Schema

    @property
    def kinds(self) -> str:
        """The columns of what `__call__` gives.

        The rows are the number whose key is missing.
        """
        return f"key {'string' if isinstance(self.work, Texts) else 'long'}, number long, other binary"

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        rows = 0
        total: Any = None
        try:
            for batch in self._batches(batches):
                total = taken(self.work, total, batch)
                rows += len(batch)
        except DpcoreError as error:
            yield self._answer([None], [0], Refusal.of(error))
            return
        if total is None:
            return
        if not isinstance(self.work, Keyed):
            yield self._answer([None], [rows], total)
            return
        yield self._answer([None], [rows], *([total.places] if isinstance(total, Published) else []))
        keys, numbers = spread(total)
        for start in range(0, len(keys), _KEYS_AT_ONCE):
            some = slice(start, start + _KEYS_AT_ONCE)
            yield self._answer(keys[some], numbers[some])

    def _answer(self, keys: Any, numbers: Any, *other: object) -> Any:
        import pyarrow as pa

        kind = pa.string() if isinstance(self.work, Texts) else pa.int64()
        others = [pickle.dumps(each) for each in other] if other else pa.nulls(len(keys), pa.binary())
        columns = [pa.array(keys, kind), pa.array(numbers, pa.int64()), pa.array(others, pa.binary())]
        return pa.RecordBatch.from_arrays(columns, names=["key", "number", "other"])

    def whole(self, added: Any) -> tuple[Any, int]:
        """Return the result, if there were rows, and their number, from the sums over all workers.

        Raises: what a worker refused.
        """
        keys, numbers, others = added.combine_chunks().columns
        results = [pickle.loads(each) for several in others.to_pylist() for each in several]
        for result in results:
            if isinstance(result, Refusal):
                raise result.raised()
        rows = sum(numbers.filter(keys.is_null()).to_pylist())
        if not isinstance(self.work, Keyed):
            return functools.reduce(self.work.add, results) if results else None, rows
        named = keys.is_valid()
        keys, numbers = keys.filter(named), numbers.filter(named)
        if isinstance(self.work, Texts):
            return self.work.whole(keys.to_pylist(), numbers.to_pylist()), rows
        if isinstance(self.work, Publishing):
            return self.work.whole(keys.to_numpy(), numbers.to_numpy(), results), rows
        return self.work.whole(keys.to_numpy(), numbers.to_numpy()), rows

    def _batches(self, batches: Iterable[Any]) -> Iterator[Batch]:
        if self.names is not None:
            tables: CellTables = {}
            for frame in gathered(batches, self.names):
                yield Batch(frame, self.schema, tables=tables)
            return
        for batch in batches:
            for cells in batch.column(0):
                yield Batch.of_cells(pickle.loads(cells.as_buffer()), self.schema)


@dataclass(frozen=True, kw_only=True)
class Numbering(Added[list[Any]]):
    """The results of a function for some numbers."""

    work: Callable[[int], Any]
    reads: tuple[str, ...] = ("number",)

    def of(self, batch: Batch) -> list[Any]:
        return [self.work(number) for number in batch.column("number").tolist()]


@dataclass(frozen=True, kw_only=True)
class Coding:
    """The cells of the rows, as they are kept."""

    reads: tuple[str, ...]

    def of(self, batch: Batch) -> Any:
        import pyarrow as pa

        return pa.record_batch({name: batch.cells(name) for name in self.reads})


@dataclass(frozen=True, kw_only=True)
class Each:
    """A task that gives a result for some rows at a time, as bytes."""

    work: Making[Any]
    names: tuple[str, ...]
    schema: Schema
    kinds: ClassVar = "answer binary, length long, refusal binary"

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        tables: CellTables = {}
        for frame in gathered(batches, self.names):
            result, refusal = None, None
            try:
                result = pickle.dumps(self.work.of(Batch(frame, self.schema, tables=tables)))
            except DpcoreError as error:
                refusal = pickle.dumps(Refusal.of(error))
            columns = [
                pa.array([result], pa.binary()),
                pa.array([len(frame)], pa.int64()),
                pa.array([refusal], pa.binary()),
            ]
            yield pa.RecordBatch.from_arrays(columns, names=["answer", "length", "refusal"])


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A task that adds to each row its owner and its rank, as bytes that sort as they do."""

    names: tuple[str, ...]
    declared: tuple[str, ...]
    person: str
    key: bytes = field(repr=False)

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            frame = _framed([batch], self.names)
            columns = [batch.column(int(place[1:])) for place in self.declared]
            names = [*self.declared, "p", "d"]
            try:
                marks = [
                    person_digests(frame[self.person], self.key),
                    row_ranks(frame, self.key, self.person),
                ]
            except DpcoreError as error:
                refusal = pa.array([pickle.dumps(Refusal.of(error))], pa.binary())
                nothing = [pa.nulls(1, column.type) for column in columns]
                yield pa.RecordBatch.from_arrays([*nothing, pa.nulls(1, pa.binary()), refusal], names=names)
                return
            sortable = [np.ascontiguousarray(each[:, ::-1]).astype(">u8") for each in marks]
            binary = [
                pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(each), [None, pa.py_buffer(each)])
                for each in sortable
            ]
            yield pa.RecordBatch.from_arrays(
                [*columns, *(each.cast(pa.binary()) for each in binary)], names=names
            )


def gathered(batches: Iterable[Any], names: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Spark's small batches as larger frames."""
    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= _ROWS_AT_ONCE:
            yield _framed(waiting, names)
            waiting = []
    if waiting:
        yield _framed(waiting, names)


def _framed(batches: Sequence[Any], names: Sequence[str]) -> pd.DataFrame:
    import pyarrow as pa

    return frame_of(pa.Table.from_batches(batches).combine_chunks().rename_columns(list(names)))
