"""Any DataFrame of Spark: the kernel goes to the rows, partial results come back, no row is ever collected.

Partial results are exact and come once from each task that ended well, however often Spark repeated it. Noise
is drawn later, on the driver, once.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import tempfile
import uuid
import weakref
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from dpcore.engines.base import MOST_TUPLES, too_many, unheeded
from dpcore.engines.batch import Batch
from dpcore.engines.streamed import Streamed
from dpcore.engines.waiting import awaited
from dpcore.engines.work import Result, Work
from dpcore.errors import DpcoreError, ReadError, source_changed
from dpcore.schema.schema import Schema
from dpcore.tables.arrow import check_types, frame_of, uncoded
from dpcore.tables.digests import person_digests, row_digests
from dpcore.tables.rows import DistinctRows, Microdata

_ROWS_AT_ONCE = 131_072
Waited = TypeVar("Waited")
_TASKS = 256
"""Partial results that the driver takes in one pass, at most."""


class SparkEngine(Streamed):
    """A DataFrame behind a schema.

    Workers need Python, numpy, pandas and pyarrow as the driver has them; this library is sent along. With an
    id column, the rows that count are chosen by a window over keyed digests, and kept by Spark until its
    session ends.
    """

    def __init__(
        self, frame: Any, schema: Schema, *, key: bytes, on_rows: Callable[[int], None] = unheeded
    ) -> None:
        """Look at every row once.

        Args:
            frame: a DataFrame of PySpark, classic or Connect; it must give the same rows each time.
            key: of the ledger.
            on_rows: told now and then that Spark is at work, without rows; what it raises ends the work.
        Raises: ReadError when Spark fails; SchemaError for nested columns or values without a cell.
        """
        super().__init__(schema, key=key)
        from pyspark.sql.pandas.types import to_arrow_schema

        self._on_rows = on_rows
        self._session = frame.sparkSession
        with _readable():
            _ship(frame.sparkSession)
            self._columns = list(frame.columns)
            # by number, as names may hold anything
            self._all = frame.toDF(*(f"c{place}" for place in range(len(self._columns))))
            self._kinds = to_arrow_schema(frame.schema)
        check_types(zip(self._columns, self._kinds.types, strict=True))
        schema.check_names(pd.DataFrame(columns=self._columns))
        self._counted = self._all
        self._length: int | None = None
        if schema.unit.id_column is not None:
            self._keep(schema.unit.id_column)
        self._length = self._checked(self._scan(self._checking()))
        self._people = self._people or {1: self._length}

    @classmethod
    def look(cls, frame: Any, rows: int) -> Microdata:
        """The first so many rows, before anything is declared. Raises: as the engine does."""
        with _readable():
            found = frame.limit(rows).toArrow()
        check_types(zip(found.column_names, found.schema.types, strict=True))
        return Microdata(_frame(found.columns, found.column_names))

    def _tuples(self, columns: Sequence[str]) -> DistinctRows:
        from pyspark.sql import functions as F  # noqa: N812

        places = self._places(columns)
        person = self._schema.unit.id_column
        inside = self._all.select(
            *(F.col(place).alias(f"t{number}") for number, place in enumerate(places)),
            *([] if person is None else [F.col(self._places([person])[0]).alias("p")]),
        )
        groups = [f"t{number}" for number in range(len(places))]
        pairs = inside.groupBy(*inside.columns).agg(F.count(F.lit(1)).alias("n"))
        people = F.sum("n") if person is None else F.count(F.lit(1))
        with _readable():
            few = pairs.groupBy(*groups).agg(F.sum("n"), people).limit(MOST_TUPLES + 1)
            found = self._waited(few.toArrow)
        if len(found) > MOST_TUPLES:
            raise too_many("distinct tuples", MOST_TUPLES)
        *values, of_rows, of_people = found.columns
        return DistinctRows(
            frame=_frame(values, columns), rows=of_rows.to_numpy(), people=of_people.to_numpy()
        )

    def sample(self, rows: int) -> Microdata:
        """The first so many rows that Spark comes by: the only ones that ever leave it."""
        with _readable():
            found = self._waited(self._all.limit(rows).toArrow)
        return Microdata(_frame(found.columns, self._columns))

    def _each(self, work: Work[Result], take: Callable[[Result], None]) -> None:
        """Hand over what workers make of their rows, a partition at a time; no other row leaves them."""
        names = self._columns if work.reads is None else work.reads
        task = _Each(work=work, names=tuple(names), schema=self._schema)
        with _readable():
            asked = self._all.select(*self._places(names)).mapInArrow(task, "answer binary")
            answers = asked.toLocalIterator()
        while True:
            with _readable():
                answer = self._waited(lambda: next(answers, None))
            if answer is None:
                return
            found = pickle.loads(answer[0])
            if isinstance(found, _Refusal):
                raise found.error(found.problem, remedy=found.remedy)
            take(found)

    def _scan(self, work: Work[Result], *, counted: bool = True) -> Result:
        from pyspark.sql import functions as F  # noqa: N812

        names = self._columns if work.reads is None else work.reads
        table = self._counted if counted else self._all
        chosen = table.select(*self._places(names)) if names else table.select(F.lit(0))
        task = _Task(work=work, names=tuple(names) or ("none",), schema=self._schema)
        with _readable():
            answers = self._waited(chosen.coalesce(_TASKS).mapInArrow(task, "answer binary").collect)
        rows = 0
        results: list[Result] = []
        for answer in answers:
            part, result = pickle.loads(answer[0])
            if isinstance(result, _Refusal):
                raise result.error(result.problem, remedy=result.remedy)
            rows += part
            results.append(result)
        if counted and self._length is not None and rows != self._length:
            raise source_changed()
        if not results:
            empty = [self._kinds.field(self._columns.index(name)).type for name in names]
            return work.of(Batch(_nothing(empty, names), self._schema))
        total = results[0]
        for result in results[1:]:
            total = work.add(total, result)
        return total

    def _waited(self, work: Callable[[], Waited]) -> Waited:
        """What Spark brings; whoever waits is asked meanwhile, and may end it."""
        from pyspark.errors import PySparkException

        name = uuid.uuid4().hex
        session = self._session
        try:
            context = session.sparkContext
        except PySparkException:  # Spark Connect has tags in place of groups
            context = None

        def named() -> Waited:
            if context is None:
                session.addTag(name)
            else:
                context.setJobGroup(name, "dpcore", interruptOnCancel=True)
            return work()

        def interrupt() -> None:
            if context is None:
                session.interruptTag(name)
            else:
                context.cancelJobGroup(name)

        return awaited(named, tell=lambda: self._on_rows(0), interrupt=interrupt)

    def _places(self, names: Sequence[str]) -> list[str]:
        return [f"c{self._columns.index(name)}" for name in names]

    def _keep(self, person: str) -> None:
        """Have Spark keep the declared columns of the rows that count."""
        from pyspark.sql import Window
        from pyspark.sql import functions as F  # noqa: N812
        from pyspark.sql.types import BinaryType, StructType

        declared = self._places(self._names)
        kinds = StructType([self._all.schema[place] for place in declared])
        kinds = kinds.add("p", BinaryType()).add("d", BinaryType())
        mark = _Mark(names=tuple(self._columns), declared=tuple(declared), person=person, key=self._key)
        with _readable():
            marked = self._all.mapInArrow(mark, kinds).persist()
            if refusal := self._waited(lambda: marked.filter("p IS NULL").select("d").take(1)):
                refused: _Refusal = pickle.loads(refusal[0][0])
                raise refused.error(refused.problem, remedy=refused.remedy)
            of_people = marked.groupBy("p").count().groupBy("count").agg(F.count(F.lit(1)))
            sizes = self._waited(of_people.collect)
            self._people = {int(rows): int(people) for rows, people in sizes}
            rank = F.row_number().over(Window.partitionBy("p").orderBy("d"))
            kept = marked.withColumn("r", rank).filter(F.col("r") <= self._schema.unit.max_rows)
            self._counted = kept.select(*declared or ["p"]).persist()
            self._waited(self._counted.count)
            marked.unpersist()


@dataclass(frozen=True, kw_only=True)
class _Refusal:
    """An error of this library on its way from a worker."""

    error: type[DpcoreError]
    problem: str
    remedy: str

    @classmethod
    def of(cls, error: DpcoreError) -> _Refusal:
        return cls(error=type(error), problem=error.problem, remedy=error.remedy)


@dataclass(frozen=True, kw_only=True)
class _Task:
    """What a worker does with its rows: the number of them and one partial result, as bytes."""

    work: Work[Any]
    names: tuple[str, ...]
    schema: Schema

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        rows = 0
        total: list[Any] = []
        try:
            for frame in _gathered(batches, self.names):
                result = self.work.of(Batch(frame, self.schema))
                total = [self.work.add(total[0], result) if total else result]
                rows += len(frame)
        except DpcoreError as error:
            total = [_Refusal.of(error)]
        if total:
            yield pa.record_batch({"answer": pa.array([pickle.dumps((rows, total[0]))], pa.binary())})


@dataclass(frozen=True, kw_only=True)
class _Each:
    """What a worker makes of its rows, some at a time, as bytes."""

    work: Work[Any]
    names: tuple[str, ...]
    schema: Schema

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for frame in _gathered(batches, self.names):
            made: Any
            try:
                made = self.work.of(Batch(frame, self.schema))
            except DpcoreError as error:
                made = _Refusal.of(error)
            yield pa.record_batch({"answer": pa.array([pickle.dumps(made)], pa.binary())})


@dataclass(frozen=True, kw_only=True)
class _Mark:
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
                refusal = pa.array([pickle.dumps(_Refusal.of(error))], pa.binary())
                nothing = [pa.nulls(1, column.type) for column in columns]
                yield pa.RecordBatch.from_arrays([*nothing, pa.nulls(1, pa.binary()), refusal], names=names)
                return
            sortable = [np.ascontiguousarray(each[:, ::-1]).astype(">u8").tobytes() for each in marks]
            binary = [
                pa.array([data[at : at + 16] for at in range(0, len(data), 16)], pa.binary())
                for data in sortable
            ]
            yield pa.RecordBatch.from_arrays([*columns, *binary], names=names)


def _gathered(batches: Iterable[Any], names: Sequence[str]) -> Iterator[pd.DataFrame]:
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


def _frame(columns: Sequence[Any], names: Sequence[str]) -> pd.DataFrame:
    import pyarrow as pa

    return uncoded(frame_of(pa.table(list(columns), names=list(names)).combine_chunks()))


def _nothing(kinds: Sequence[Any], names: Sequence[str]) -> pd.DataFrame:
    import pyarrow as pa

    return _frame([pa.array([], kind) for kind in kinds], names)


_SENT: weakref.WeakSet[Any] = weakref.WeakSet()


def _ship(session: Any) -> None:
    """Send this library to the workers of a session, once."""
    if session in _SENT:
        return
    root = Path(__file__).parents[1]
    archive = Path(tempfile.mkdtemp(prefix="dpcore-")) / "dpcore.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for module in sorted(root.rglob("*.py")):
            packed.write(module, module.relative_to(root.parent))
    session.addArtifacts(os.fspath(archive), pyfile=True)
    _SENT.add(session)


@contextlib.contextmanager
def _readable() -> Iterator[None]:
    """Say that Spark failed without its words, which may quote a value."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, OSError) as error:
        raise ReadError(
            "Spark could not read the source to its end ({kind})",
            remedy="see the logs of its workers; they need Python, numpy, pandas and pyarrow as here",
            kind=type(error).__name__,
        ) from None
