"""CSV, Parquet, a DuckDB file or a PostgreSQL data base, through DuckDB: joins and views of its owner."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from dpcore.engines.base import MOST_TUPLES, too_many, unheeded
from dpcore.engines.batch import Batch
from dpcore.engines.cells import Found
from dpcore.engines.duck_source import DuckDBSource, quoted
from dpcore.engines.files import state_of
from dpcore.engines.streamed import Streamed
from dpcore.engines.waiting import awaited
from dpcore.engines.work import Result, Work, taken
from dpcore.errors import ReadError, source_changed
from dpcore.schema.interval import Integer, Real
from dpcore.schema.schema import Schema
from dpcore.schema.values import READ_AS_TEXT, number_in
from dpcore.tables.arrow import check_types, frame_of, uncoded
from dpcore.tables.digests import person_digests
from dpcore.tables.rows import DistinctRows, Microdata

_ROWS_AT_ONCE = 131_072
Waited = TypeVar("Waited")


class DuckDBEngine(Streamed):
    """What a source of DuckDB gives, behind a schema, within a limit of memory.

    With an id column, the rows that count are copied once, their declared columns alone, into a table that
    ends with the engine: a window over keyed digests chooses them.
    A connection answers one query at a time, so that passes of several threads take turns.
    """

    def __init__(
        self,
        source: DuckDBSource,
        schema: Schema,
        *,
        key: bytes,
        on_rows: Callable[[int], None] = unheeded,
    ) -> None:
        """Connect, and look at every row once.

        Args:
            key: of the ledger.
            on_rows: told now and then how many rows of a pass are done; what it raises ends the pass.
        Raises: ReadError for what cannot be read; SchemaError for nested columns or values without a cell.
        """
        super().__init__(schema, key=key)
        self._on_rows = on_rows
        self._source = source
        self._state = state_of(source.files)
        self._read = 0
        self._passing = threading.RLock()  # a pass inside a pass is refused by DuckDB, and does not wait
        with _readable():
            self._connection = source.connect()
            kinds = self._waited(lambda: self._reader(f"SELECT * FROM {source.rows} LIMIT 0").schema)
        check_types(zip(kinds.names, kinds.types, strict=True))
        self._kinds = kinds
        self._columns = list(kinds.names)
        schema.check_names(pd.DataFrame(columns=self._columns))
        self._counted = source.rows
        self._length: int | None = None
        if schema.unit.id_column is not None:
            self._keep(schema.unit.id_column)
        self._length = self._checked(self._scan(self._checking()))
        self._people = self._people or {1: self._length}

    def _tuples(self, columns: Sequence[str]) -> DistinctRows:
        import pyarrow as pa

        person = self._schema.unit.id_column
        named = [
            f"{_value(name, self._kinds.field(name).type)} AS c{place}" for place, name in enumerate(columns)
        ]
        named += [] if person is None else [f"{quoted(person)} AS p"]
        groups = ", ".join(f"c{place}" for place in range(len(columns)))
        of_people = "sum(n)" if person is None else "count(*)"
        query = (
            f"SELECT {groups}, sum(n)::BIGINT, {of_people}::BIGINT FROM "
            f"(SELECT {', '.join(named)}, count(*) AS n FROM {self._source.rows} GROUP BY ALL) "
            f"GROUP BY {groups} LIMIT {MOST_TUPLES + 1}"
        )
        with self._turn(), _readable():
            found = self._waited(lambda: self._connection.sql(query).to_arrow_table())
        if len(found) > MOST_TUPLES:
            raise too_many("distinct tuples", MOST_TUPLES)
        *values, rows, people = found.columns
        values = pa.table(values, names=list(columns)).combine_chunks()
        return DistinctRows(
            frame=self._typed(frame_of(values)),
            rows=rows.to_numpy(),
            people=people.to_numpy(),
        )

    def sample(self, rows: int) -> Microdata:
        """The first so many rows that DuckDB comes by."""
        query = f"SELECT * FROM {self._source.rows} LIMIT {int(rows)}"
        with self._turn(), _readable():
            read = self._waited(lambda: self._reader(query).read_all())
        frame = self._typed(frame_of(read.combine_chunks()))
        return Microdata(frame)

    def _scan(self, work: Work[Result], *, counted: bool = True) -> Result:
        table = self._counted if counted else self._source.rows
        names = self._columns if work.reads is None else work.reads
        query = f"SELECT {', '.join(map(quoted, names)) or '0'} FROM {table}"
        total: Result | None = None
        found: Found = {}
        with self._turn(), contextlib.closing(self._frames(query)) as frames:
            for frame in frames:
                total = taken(work, total, Batch(frame, self._schema, found=found))
                self._read += len(frame)
                self._on_rows(self._read)
            if counted and self._length is not None and self._read != self._length:
                raise source_changed()
            return work.of(Batch(self._none(names), self._schema)) if total is None else total

    def _none(self, names: Sequence[str]) -> pd.DataFrame:
        with _readable():
            columns = ", ".join(map(quoted, names)) or "0"
            return frame_of(self._reader(f"SELECT {columns} FROM {self._counted} LIMIT 0").read_all())

    def _frames(self, query: str) -> Generator[pd.DataFrame, None, None]:
        with _readable(), contextlib.ExitStack() as open_result:  # while it is open, DuckDB refuses the next
            batches = self._waited(
                lambda: open_result.enter_context(self._connection.sql(query).to_arrow_reader(_ROWS_AT_ONCE))
            )
            while (batch := self._waited(lambda: next(batches, None))) is not None:
                frame = frame_of(batch)
                frame.attrs[READ_AS_TEXT] = self._source.kind == "csv"
                yield frame

    def _keep(self, person: str) -> None:
        """Copy the declared columns of the rows that count into a table of their own."""
        import pyarrow as pa

        names = self._names
        places = [self._columns.index(name) for name in names]
        marks = ("p0", "p1", "d0", "d1")
        staged = pa.schema(
            [*((f"c{i}", self._kinds.field(place).type) for i, place in enumerate(places))]
            + [(mark, pa.uint64()) for mark in marks]
        )
        failures: list[BaseException] = []

        def marked() -> Iterator[Any]:
            self._read = 0
            try:
                reader = self._source.cursor(self._connection).sql(f"SELECT * FROM {self._source.rows}")
                for batch in reader.to_arrow_reader(_ROWS_AT_ONCE):
                    frame = frame_of(batch)
                    frame.attrs[READ_AS_TEXT] = self._source.kind == "csv"
                    whole = Batch(frame, self._schema)
                    digests = np.hstack(
                        [person_digests(whole.column(person), self._key), whole.digests(self._key)]
                    )
                    columns = [batch.column(place) for place in places]
                    marks_of_rows = [pa.array(np.ascontiguousarray(each)) for each in digests.T]
                    yield pa.record_batch([*columns, *marks_of_rows], schema=staged)
                    self._read += len(frame)
            except BaseException as error:  # DuckDB would make a text of it
                failures.append(error)
                raise

        reader = pa.RecordBatchReader.from_batches(staged, marked())
        cells = ", ".join(f"c{i} AS {quoted(name)}" for i, name in enumerate(names)) or "0 AS none"
        try:
            with _readable():
                people = self._waited(lambda: self._stage(reader, cells))
        except ReadError as error:
            raise (failures or [error])[0] from None
        self._people = dict(people)
        self._counted = "temp.kept"

    def _stage(self, reader: Any, cells: str) -> list[tuple[int, int]]:
        """Make the table of the rows that count; the numbers of rows of a person, and of such people."""
        self._connection.register("reader", reader)
        self._connection.execute("CREATE TEMP TABLE staged AS SELECT * FROM reader")
        self._connection.unregister("reader")
        people: list[tuple[int, int]] = self._connection.execute(
            "SELECT n, count(*) FROM (SELECT count(*) AS n FROM staged GROUP BY p0, p1) GROUP BY n"
        ).fetchall()
        self._connection.execute(
            f"CREATE TEMP TABLE kept AS SELECT {cells} FROM staged "
            "QUALIFY row_number() OVER (PARTITION BY p0, p1 ORDER BY d1, d0) "
            f"<= {self._schema.unit.max_rows}"
        )
        self._connection.execute("DROP TABLE staged")
        return people

    def _waited(self, work: Callable[[], Waited]) -> Waited:
        """What a query brings; whoever waits is told meanwhile, and may end it."""
        return awaited(work, tell=lambda: self._on_rows(self._read), interrupt=self._connection.interrupt)

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """One pass, once those of other threads have ended.

        Raises: what is raised by whoever is told meanwhile; ReadError for files that change during the pass.
        """
        while not self._passing.acquire(timeout=0.2):
            self._on_rows(0)
        try:
            self._read = 0
            self._check_same()
            try:
                yield
            finally:
                self._check_same()
        finally:
            self._passing.release()

    def _typed(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame with texts as texts, and with numbers where a file of texts is declared to hold them."""
        frame = uncoded(frame)
        frame.attrs[READ_AS_TEXT] = self._source.kind == "csv"
        numbers = [each.name for each in self._schema.columns if isinstance(each, Integer | Real)]
        for name in [name for name in numbers if name in frame and self._source.kind == "csv"]:
            if all(number_in(text) is not None for text in frame[name].dropna().unique()):
                frame[name] = pd.to_numeric(frame[name])
        return frame

    def _reader(self, query: str) -> Any:
        return self._connection.sql(query).to_arrow_reader()

    def _check_same(self) -> None:
        if self._state != state_of(self._source.files):
            raise source_changed()


def _value(name: str, kind: Any) -> str:
    """A column inside a query in which NaN is a missing value, as it is elsewhere."""
    import pyarrow as pa

    column = quoted(name)
    is_real = pa.types.is_floating(kind)
    return f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END" if is_real else column


def look(source: DuckDBSource, rows: int, on_rows: Callable[[int], None] = unheeded) -> Microdata:
    """The first so many rows of a source, before anything is declared. Raises: as the engine does."""
    with _readable():
        connection = source.connect()
        found = awaited(
            lambda: connection.sql(f"SELECT * FROM {source.rows} LIMIT {int(rows)}").to_arrow_table(),
            tell=lambda: on_rows(0),
            interrupt=connection.interrupt,
        )
        check_types(zip(found.schema.names, found.schema.types, strict=True))
        frame = uncoded(frame_of(found.combine_chunks()))
    for name in frame.columns if source.kind == "csv" else ():
        if all(number_in(text) is not None for text in frame[name].dropna().unique()):
            frame[name] = pd.to_numeric(frame[name])
    frame.attrs[READ_AS_TEXT] = source.kind == "csv"
    return Microdata(frame)


@contextlib.contextmanager
def _readable() -> Iterator[None]:
    """Say that reading failed without DuckDB's words, which may quote a value or a password."""
    import duckdb
    import pyarrow as pa

    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise ReadError(
            "the source could not be read ({kind})",
            remedy="see that it is there and may be read, that its query fits, and that the disk is not full",
            kind=type(error).__name__,
        ) from None
