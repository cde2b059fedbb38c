"""Engine for any Spark DataFrame.

Python functions go to the rows, partial results come back, and no row is ever collected
but for samples.

Partial results are exact and come once from each task that ended well, however often
Spark repeated it. Noise is drawn later, on the driver, once.
"""

import contextlib
import functools
import os
import pickle
import tempfile
import threading
import uuid
import weakref
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import pandas as pd
import pyarrow as pa

from dpcore.engines.base import Engine, ignore_progress
from dpcore.engines.spark._tasks import (
    BatchTask,
    CellsJob,
    NumberJob,
    OwnerRankTask,
    Task,
    merge_blocks,
)
from dpcore.engines.streaming.waiting import run_cancellable
from dpcore.engines.tuples.distinct import MAX_TUPLES, too_many_error
from dpcore.engines.work import Job, Output, Result, Work, needs_cells
from dpcore.errors import ReadError, source_changed_error
from dpcore.schema.schema import Schema
from dpcore.tables.arrow import column_types, decode_categories, to_frame
from dpcore.tables.rows import DistinctRows, Microdata

SparkResult = TypeVar("SparkResult")


class SparkEngine(Engine):
    """Engine for a Spark DataFrame.

    Workers need Python, numpy, pandas and pyarrow as the driver has them; this library
    is sent along. With an id column, the rows that count are chosen by a window over
    keyed digests. Spark caches those, and the cells of all rows that count, in memory
    or on the disks of its workers until the engine ends; what a worker loses is
    computed again.
    """

    def __init__(
        self,
        frame: Any,
        schema: Schema,
        *,
        key: bytes,
        on_rows: Callable[[int], None] = ignore_progress,
    ) -> None:
        """Open a DataFrame by reading every row once.

        Args:
            frame: a DataFrame of PySpark, classic or Connect; it must give the same
                rows each time.
            schema: the declared columns, and the people who are protected.
            key: of the ledger.
            on_rows: called now and then while Spark is at work, without rows; an
                exception that it raises ends the work.

        Raises: ReadError when Spark fails; SchemaError for nested columns or values
            without a cell.
        """
        super().__init__(schema, key=key)
        from pyspark.sql import functions as F  # noqa: N812
        from pyspark.sql.pandas.types import to_arrow_schema
        from pyspark.sql.types import StringType

        self._on_rows = on_rows
        self._session = frame.sparkSession
        with spark_errors():
            _send_library(frame.sparkSession)
            self._columns = list(frame.columns)
            # Number the columns, since their names may contain any character
            named = frame.toDF(*(f"c{place}" for place in range(len(self._columns))))
            # Remove collations, under which "a" and "A" may be equal
            texts = [
                column.name
                for column in named.schema
                if isinstance(column.dataType, StringType)
            ]
            if texts:  # Connect takes no empty list
                named = named.withColumns(
                    {name: F.col(name).cast("string") for name in texts}
                )
            # make the plan unique, so that Spark does not reuse what it cached for
            # another engine, perhaps from older files
            self._all = named.filter(F.lit(uuid.uuid4().hex).isNotNull())
            column_types(to_arrow_schema(frame.schema, timezone="UTC"))
        schema.check_names(pd.DataFrame(columns=self._columns))
        self._counted = self._all
        if schema.unit.id_column is not None:
            self._cache_counted_rows(schema.unit.id_column)
        self._length = self._require_rows(self._cache_cells())
        self._people = self._people or {1: self._length}

    @classmethod
    def look(cls, frame: Any, rows: int) -> Microdata:
        """Return the first rows of a DataFrame, before a schema is declared.

        Raises: as the engine does.
        """
        with spark_errors():
            table = frame.limit(rows).toArrow()
        column_types(table.schema)
        return Microdata(_pandas_frame(table.columns, table.column_names))

    def _read_tuples(self, columns: Sequence[str]) -> DistinctRows:
        from pyspark.sql import functions as F  # noqa: N812

        places = self._spark_columns(columns)
        person = self._schema.unit.id_column
        groups = [f"t{number}" for number in range(len(places))]
        with spark_errors():
            inside = self._all.select(
                *(
                    self._column_without_nan(place).alias(f"t{number}")
                    for number, place in enumerate(places)
                ),
                *(
                    []
                    if person is None
                    else [F.col(self._spark_columns([person])[0]).alias("p")]
                ),
            )
            pairs = inside.groupBy(*inside.columns).agg(F.count(F.lit(1)).alias("n"))
            people = F.sum("n") if person is None else F.count(F.lit(1))
            few = pairs.groupBy(*groups).agg(F.sum("n"), people).limit(MAX_TUPLES + 1)
            table = self._run_cancellable(few.toArrow)
        if len(table) > MAX_TUPLES:
            raise too_many_error("distinct tuples", MAX_TUPLES)
        *values, of_rows, of_people = table.columns
        return DistinctRows(
            frame=_pandas_frame(values, columns),
            rows=of_rows.to_numpy(),
            people=of_people.to_numpy(),
        )

    def _column_without_nan(self, spark_column: str) -> Any:
        """Return a column with null in place of NaN, as in the other engines."""
        from pyspark.sql import functions as F  # noqa: N812

        column = F.col(spark_column)
        is_real = self._all.schema[spark_column].dataType.typeName() in (
            "float",
            "double",
        )
        return F.when(~F.isnan(column), column) if is_real else column

    def sample(self, rows: int) -> Microdata:
        """Return up to `rows` rows in Spark's order; no other rows leave Spark."""
        with spark_errors():
            table = self._run_cancellable(self._all.limit(rows).toArrow)
        return Microdata(_pandas_frame(table.columns, self._columns), self._key)

    def _for_each_batch(
        self, work: Job[Result], on_result: Callable[[Result], None]
    ) -> None:
        """Pass the workers' results to a function, one partition at a time.

        Only these results leave the workers, no rows.
        """
        names = self._sources(work.reads)
        task = BatchTask(work=work, names=tuple(names), schema=self._schema)
        with spark_errors():
            stream = (
                self._all.select(*self._spark_columns(names))
                .mapInArrow(task, task.spark_schema)
                .persist()
            )
        try:
            with spark_errors():
                # Let all workers compute at once, then fetch one partition at a time
                self._run_cancellable(stream.count)
                answers = stream.toLocalIterator(prefetchPartitions=True)
            while True:
                with spark_errors():
                    answer = self._run_cancellable(lambda: next(answers, None))
                if answer is None:
                    return
                if answer["refusal"] is not None:
                    raise pickle.loads(answer["refusal"]).to_error()
                on_result(pickle.loads(answer["answer"]))
        finally:
            with spark_errors():
                stream.unpersist()

    def _scan(self, work: Work[Result], *, counted: bool = True) -> Result:
        from pyspark.sql import functions as F  # noqa: N812

        names = self._sources(work.reads)
        table = self._counted if counted else self._all
        with spark_errors():
            if counted and needs_cells(work):
                selected = self._coded.select("answer")
                came = None
            else:
                selected = table.select(*self._spark_columns(names) or [F.lit(0)])
                came = tuple(names) or ("none",)
        result, rows = self._run_task(
            selected, Task(work=work, names=came, schema=self._schema)
        )
        if result is None or (counted and rows != self._length):
            raise source_changed_error()
        return cast(Result, result)

    def map_numbers(self, work: Callable[[int], Output], number: int) -> list[Output]:
        task = Task(work=NumberJob(work=work), names=("number",), schema=self._schema)
        with spark_errors():
            results, _ = self._run_task(self._session.range(0, number, 1, number), task)
        return cast(list[Output], results)

    def _run_task(self, table: Any, task: Task) -> tuple[Any, int]:
        """Run a task on a Spark table; return its result and the number of rows."""
        with spark_errors():
            # Workers add up the parts, so that the driver receives each number only
            # once
            parts = table.mapInArrow(task, task.spark_schema).repartition("block")
            return task.from_pairs(
                self._run_cancellable(
                    parts.mapInArrow(merge_blocks, task.spark_schema).toArrow
                )
            )

    def _cache_cells(self) -> int:
        """Cache the cells of all counted rows in Spark; return the number of rows."""
        from pyspark.sql import functions as F  # noqa: N812

        selected = self._counted.select(
            *self._spark_columns(self._schema.source_columns(self._names))
        )
        task = BatchTask(
            work=CellsJob(reads=self._names),
            names=tuple(self._names),
            schema=self._schema,
        )
        with spark_errors(), _apply_quick_settings(self._session):
            coded = selected.mapInArrow(task, task.spark_schema).persist()
            totals = coded.agg(F.sum("length"), F.first("refusal", ignorenulls=True))
            ((rows, refusal),) = self._run_cancellable(totals.collect)
        if refusal is not None:
            coded.unpersist()
            raise pickle.loads(refusal).to_error()
        self._coded = coded
        _drop_with_engine(self, coded)
        return int(rows or 0)

    def _run_cancellable(self, work: Callable[[], SparkResult]) -> SparkResult:
        """Return the result of a Spark action; the progress callback may cancel it."""
        from pyspark.errors import PySparkException

        name = uuid.uuid4().hex
        session = self._session
        try:
            context = session.sparkContext
        except PySparkException:  # Spark Connect has tags in place of groups
            context = None

        def named() -> SparkResult:
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

        return run_cancellable(
            named, poll=lambda: self._on_rows(0), interrupt=interrupt
        )

    def _spark_columns(self, names: Sequence[str]) -> list[str]:
        return [f"c{self._columns.index(name)}" for name in names]

    def _cache_counted_rows(self, person: str) -> None:
        """Choose the rows that count, and cache their declared columns in Spark."""
        from pyspark.sql import Window
        from pyspark.sql import functions as F  # noqa: N812
        from pyspark.sql.types import BinaryType, StructType

        declared = self._spark_columns(self._names)
        kinds = StructType([self._all.schema[place] for place in declared])
        kinds = kinds.add("p", BinaryType()).add("d", BinaryType())
        mark = OwnerRankTask(
            names=tuple(self._columns),
            declared=tuple(declared),
            person=person,
            key=self._key,
        )
        with spark_errors(), _apply_quick_settings(self._session):
            marked = self._all.mapInArrow(mark, kinds).persist()
            if refusal := self._run_cancellable(
                lambda: marked.filter("p IS NULL").select("d").take(1)
            ):
                raise pickle.loads(refusal[0][0]).to_error()
            of_people = (
                marked.groupBy("p").count().groupBy("count").agg(F.count(F.lit(1)))
            )
            sizes = self._run_cancellable(of_people.collect)
            self._people = {int(rows): int(people) for rows, people in sizes}
            rank = F.row_number().over(Window.partitionBy("p").orderBy("d"))
            counted = marked.withColumn("r", rank).filter(
                F.col("r") <= self._schema.unit.max_rows
            )
            # Spark sends only rows of low enough rank to other workers. It makes 200
            # partitions of any table, so a small table is reduced to fewer here
            counted = counted.select(*declared or ["p"]).coalesce(
                self._count_all_rows() // 2**18 + 1
            )
            self._counted = counted.persist()
            _drop_with_engine(self, self._counted)
            self._run_cancellable(self._counted.count)
            marked.unpersist()


def _drop_with_engine(engine: SparkEngine, table: Any) -> None:
    """Arrange that a cached Spark table is dropped when its engine is gone."""

    def forget() -> None:
        with contextlib.suppress(Exception):  # the session may be gone
            table.unpersist()

    # Drop the table in another thread, since this thread may be in the middle of a
    # Spark call
    def begin() -> None:
        with contextlib.suppress(RuntimeError):
            threading.Thread(target=forget, daemon=True).start()

    weakref.finalize(engine, begin).atexit = False


def _pandas_frame(columns: Sequence[Any], names: Sequence[str]) -> pd.DataFrame:
    return decode_categories(
        to_frame(pa.table(list(columns), names=list(names)).combine_chunks())
    )


_QUICK_SETTINGS = {
    "spark.sql.execution.arrow.maxBytesPerBatch": "2147483647",
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
}
"""Settings that halve the time of sending rows to Python and caching cells.

Without them Spark sums up the bytes of a batch at each row, and looks for distinct texts
in what it caches.
"""
_SESSIONS_WITH_LIBRARY: weakref.WeakKeyDictionary[Any, dict[str, str]] = (
    weakref.WeakKeyDictionary()
)
"""Sessions that have this library, with their original settings."""


@contextlib.contextmanager
def _apply_quick_settings(session: Any) -> Iterator[None]:
    """Apply `_QUICK_SETTINGS` to a Spark session within this context.

    A plan of another thread may use them too, with the same result.
    """
    _set_options(session, _QUICK_SETTINGS)
    try:
        yield
    finally:
        _set_options(session, _SESSIONS_WITH_LIBRARY[session])


def _set_options(session: Any, settings: Mapping[str, str]) -> None:
    for name, value in settings.items():
        session.conf.set(name, value)


def _send_library(session: Any) -> None:
    """Send this library to the workers of a session, once."""
    if session in _SESSIONS_WITH_LIBRARY:
        return
    session.addArtifacts(os.path.join(_pack_library().name, "dpcore.zip"), pyfile=True)
    _SESSIONS_WITH_LIBRARY[session] = {
        name: session.conf.get(name) for name in _QUICK_SETTINGS
    }


@functools.cache
def _pack_library() -> tempfile.TemporaryDirectory[str]:
    """Pack this library as a zip archive, and return its temporary folder.

    Late workers fetch it until this process ends.
    """
    root = Path(__file__).parents[2]
    folder = tempfile.TemporaryDirectory(prefix="dpcore-")
    with zipfile.ZipFile(Path(folder.name) / "dpcore.zip", "w") as packed:
        for file in sorted([*root.rglob("*.py"), *root.rglob("*.toml")]):
            packed.write(file, file.relative_to(root.parent))
    return folder


@contextlib.contextmanager
def spark_errors() -> Iterator[None]:
    """Replace Spark's errors, whose messages may quote a private value."""
    from py4j.protocol import Py4JError
    from pyspark.errors import AnalysisException, PySparkException

    try:
        yield
    except AnalysisException as error:  # no worker has begun
        raise ReadError(
            "Spark does not read this table as it is ({kind})",
            remedy="check that it exists and has types that Spark supports, for "
            "example times in microseconds, not nanoseconds",
            kind=error.getCondition() or type(error).__name__,
        ) from None
    except (PySparkException, Py4JError, OSError) as error:
        raise ReadError(
            "the source could not be read to its end ({kind})",
            remedy="see that Java is installed and the cluster answers, and open the "
            "source again; a worker, "
            "whose log says more, needs Python, numpy, pandas and pyarrow as here",
            kind=type(error).__name__,
        ) from None
