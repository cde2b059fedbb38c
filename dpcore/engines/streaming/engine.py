"""An engine on Arrow batches from any reader.

It stores cells, and leaves values in the source.
"""

import contextlib
import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from dpcore.engines._batch import Batch
from dpcore.engines._cells import CellTables
from dpcore.engines.base import Engine, ignore_progress
from dpcore.engines.sql.statement import check_joins
from dpcore.engines.streaming._kept_rows import (
    RANK_RECORD,
    RankJob,
    choose_counted_rows,
    counted_indices,
)
from dpcore.engines.streaming._many_texts import CountingSpool, ManyTextsError
from dpcore.engines.streaming.reader import Piece, Reader, Snapshot, reading_errors
from dpcore.engines.streaming.spool import NoRoomError, Spool
from dpcore.engines.tuples.distinct import too_many_error
from dpcore.engines.tuples.slices import Slices
from dpcore.engines.work import (
    CheckJob,
    ForEachBatchJob,
    Result,
    Work,
    add_batch,
    needs_cells,
)
from dpcore.schema.schema import Schema
from dpcore.schema.values import READ_AS_TEXT, parse_number
from dpcore.tables.arrow import (
    decode_categories,
    distinct_texts,
    encode_texts,
    find_text_lines,
    is_dictionary,
    parse_texts,
    to_frame,
)
from dpcore.tables.people import person_codes
from dpcore.tables.rows import (
    MAX_DISTINCT_TEXTS,
    CodedColumn,
    CodedRows,
    DistinctRows,
    Microdata,
    code_column,
)

MAX_CODED_ROWS = 30_000_000
"""Rows of a table whose columns are coded in memory, at most."""
Part = TypeVar("Part")
ReadBatches = Callable[
    [Part, CellTables, Callable[[], object]], Iterable[tuple[int, Batch]]
]


class ArrowEngine(Engine):
    """Engine on a reader, in memory that does not grow with the number of rows.

    Opening it reads every row once, and stores the cells of those that count if there
    are
    not too many: counts are of the table as it was opened. Everything else reads again,
    in the state of the table that is held.
    """

    def __init__(
        self,
        reader: Reader,
        schema: Schema,
        *,
        key: bytes,
        on_rows: Callable[[int], None] = ignore_progress,
    ) -> None:
        """Open a table by reading every row once.

        Args:
            reader: access to the table.
            schema: the declared columns, and the people who are protected.
            key: of the ledger.
            on_rows: called now and then with the number of finished rows of a pass; an
                exception that it raises ends the pass.

        Raises: ReadError for what cannot be read; SchemaError for nested columns or
            values without a cell.
        """
        super().__init__(schema, key=key)
        self.declared_by = ""
        if reader.source is not None:
            check_joins(reader.source, schema)
            self.declared_by = reader.source.declared_by
        self._on_rows = on_rows
        self._reader = reader
        self._here = threading.local()
        self._kept: npt.NDArray[np.uint8] | None = None
        self._spool: Spool | None = None
        self._coded: Spool | None = None
        with self._hold_state() as reading:
            self._columns = list(reader.arrow_types)
            schema.check_names(pd.DataFrame(columns=self._columns))
            if schema.unit.id_column is not None:
                self._people = self._choose_counted_rows(reading, schema.unit.id_column)
            rows = self._check_counted_rows()
        self._people = self._people or {1: rows}

    def hold_state(self) -> AbstractContextManager[object]:
        """Return a context in which this thread reads one state of the table.

        Raises: ReadError when it changed.
        """
        return self._hold_state()

    @contextlib.contextmanager
    def _hold_state(self) -> Iterator[Snapshot]:
        """Hold the state that this thread already holds, or else a new one."""
        reading: Snapshot | None = getattr(self._here, "reading", None)
        if reading is not None:
            yield reading
            return
        with self._reader.hold_state(lambda: self._on_rows(0)) as reading:
            self._here.reading = reading
            try:
                yield reading
            finally:
                self._here.reading = None

    def _choose_counted_rows(self, reading: Snapshot, person: str) -> dict[int, int]:
        """Choose the rows that count; return how many people have each number of rows.

        If rows come in another order each time, their declared columns are copied in
        the order of this pass.
        """
        rows = self._require_rows(reading.rows())
        slices = Slices(rows, RANK_RECORD)
        spool = None if self._reader.ordered else Spool()
        work = ForEachBatchJob(
            work=RankJob(id_column=person, key=self._key), on_result=slices.store
        )
        self._run_pass(
            work,
            reading.pieces,
            functools.partial(self._read_batches, reading, None, None, spool),
        )
        self._kept, people = choose_counted_rows(
            slices, rows, self._schema.unit.max_rows
        )
        self._spool = spool
        return people

    def _check_counted_rows(self) -> int:
        """Check that every counted row has cells, and return the number of these rows.

        Their cells are stored if there are not too many and the disk has room.
        """
        coded = Spool()
        with contextlib.suppress(NoRoomError):
            rows = self._scan(CheckJob(reads=self._names, coded=coded))
            self._coded = coded
            return rows
        return self._scan(CheckJob(reads=self._names))

    def _read_tuples(self, columns: Sequence[str]) -> DistinctRows:
        tuples = super()._read_tuples(columns)
        return replace(tuples, frame=self._parse_numbers(tuples.frame))

    def coded_rows(self, columns: Sequence[str]) -> CodedRows:
        """Return columns of all rows as codes, with the owners, in one pass.

        They are copied to disk, and coded from there one column after the other. If a
        column has
        too many different texts, it is left out and named in the result: the copy ends
        there, and begins anew without it.

        Raises: RowsError for too many rows, before any is read.
        """
        self._check_columns(columns)
        if self._count_all_rows() > MAX_CODED_ROWS:
            raise too_many_error("rows", MAX_CODED_ROWS)
        names = list(dict.fromkeys(columns))
        many = list[str]()
        while names:
            try:
                return replace(self._coded_columns(names), omitted_columns=tuple(many))
            except ManyTextsError as error:
                if error.column not in names:
                    raise too_many_error("people", MAX_DISTINCT_TEXTS) from None
                names.remove(error.column)
                many.append(error.column)
        return CodedRows(
            frame=pd.DataFrame(), values={}, person=None, omitted_columns=tuple(many)
        )

    def _coded_columns(self, columns: Sequence[str]) -> CodedRows:
        """Return columns of all rows as codes. Raises: ManyTextsError."""
        person = self._schema.unit.id_column
        names = tuple(dict.fromkeys([*columns, *([] if person is None else [person])]))
        copy = CountingSpool(person)
        with self._hold_state() as reading:
            read = functools.partial(self._read_batches, reading, names, None, copy)
            self._run_pass(CheckJob(reads=()), reading.pieces, read)
        whose = (
            None
            if person is None
            else person_codes(self._read_column(copy, person), person)
        )
        return CodedRows.build_sorted(
            ((name, self._coded_column(copy, name)) for name in columns), whose
        )

    def _coded_column(self, copy: Spool, name: str) -> CodedColumn:
        """Encode one column of a copy.

        Of texts, only the different ones are parsed and sorted: each batch has its own.
        """
        batches = self._read_column_batches(copy, name)
        if not all(is_dictionary(batch.column(0).type) for batch in batches):
            return code_column(self._join_column(batches, name), name)
        distinct = distinct_texts(batches)
        return code_column(
            self._join_column([distinct], name),
            name,
            find_text_lines(batches, distinct),
        )

    def _read_column(self, copy: Spool, name: str) -> pd.DataFrame:
        """Return one column of a copy; texts are categorical."""
        return self._join_column(self._read_column_batches(copy, name), name)

    def _read_column_batches(self, copy: Spool, name: str) -> list[Any]:
        self._on_rows(self._count_all_rows())
        return [
            next(copy.batches(piece, [name], lambda: None)) for piece in copy.pieces
        ]

    def _join_column(self, batches: list[Any], name: str) -> pd.DataFrame:
        declared = next(
            (column for column in self._schema.columns if column.name == name), None
        )
        is_read = declared is not None and (
            declared.holds_days or declared.holds_numbers
        )
        if self._reader.as_text and declared is not None and is_read:
            batches = parse_texts(batches, is_date=declared.holds_days)
        (whole,) = (
            pa.Table.from_batches(batches)
            .unify_dictionaries()
            .combine_chunks()
            .to_batches()
        )
        if (
            pa.types.is_dictionary(whole.column(0).type)
            and len(whole.column(0).dictionary) > MAX_DISTINCT_TEXTS
        ):
            # Texts of the last batches and ids of people are checked only here
            raise ManyTextsError(name)
        return to_frame(whole)

    def sample(self, rows: int) -> Microdata:
        """Return the first `rows` rows of the reader, or fewer."""
        with self._hold_state() as reading:
            first = _read_first_rows(
                reading, self._columns, rows, lambda: self._on_rows(0)
            )
            return Microdata(self._parse_numbers(first), self._key)

    def _parse_numbers(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Parse the declared number columns if the reader gives all values as texts."""
        numbers = [
            column.name for column in self._schema.columns if column.holds_numbers
        ]
        return parse_numbers(frame, numbers) if self._reader.as_text else frame

    def _scan(self, work: Work[Result], *, counted: bool = True) -> Result:
        coded = self._coded
        bits = self._kept if counted else None
        with self._hold_state() as reading:
            if counted and coded is not None and needs_cells(work):
                read = functools.partial(self._read_cells, coded, work.reads or ())
                return self._run_pass(work, coded.pieces, read)
            source = self._spool if counted and self._spool is not None else reading
            return self._run_pass(
                work,
                source.pieces,
                functools.partial(
                    self._read_batches, source, self._sources(work.reads), bits, None
                ),
            )

    def _run_pass(
        self, work: Work[Result], parts: Sequence[Part], read: ReadBatches[Part]
    ) -> Result:
        """Run a job on all parts in several threads, and return the combined result."""
        left = iter(parts)
        lock = threading.Lock()
        ended = threading.Event()
        rows = 0

        def share(on_rows: Callable[[int], None]) -> list[Result]:
            """Return the result for the parts that one thread takes."""
            nonlocal rows
            total: Result | None = None
            tables: CellTables = {}

            def poll() -> None:
                on_rows(rows)

            try:
                while True:
                    with lock:
                        part = next(left, None)
                    if part is None:
                        return [] if total is None else [total]
                    for number, batch in read(part, tables, poll):
                        if ended.is_set():
                            return []
                        total = add_batch(work, total, batch)
                        with lock:
                            rows += number
                        on_rows(rows)
            except BaseException:
                ended.set()
                raise

        threads = self._reader.threads
        others = min(threads, len(parts)) - 1
        with self._hold_state() as reading:
            reading.check_unchanged()
            try:
                # Report first, since another thread may finish before this one starts
                self._on_rows(0)
                with reading_errors(), ThreadPoolExecutor(threads) as pool:
                    futures = [
                        pool.submit(share, ignore_progress) for _ in range(others)
                    ]
                    results = share(self._on_rows)
                    results += [
                        result for other in futures for result in other.result()
                    ]
            finally:
                reading.check_unchanged()
        if not results:
            self._require_rows(0)
        return functools.reduce(work.add, results)

    def _read_batches(
        self,
        source: Snapshot | Spool,
        columns: Sequence[str] | None,
        counted_bits: npt.NDArray[np.uint8] | None,
        spool: Spool | None,
        piece: Piece,
        tables: CellTables,
        poll: Callable[[], object],
    ) -> Iterator[tuple[int, Batch]]:
        """Yield batches of a piece, each with its number of rows before selection."""
        names = self._columns if columns is None else columns or self._columns[:1]
        start = piece.start
        for batch in source.batches(piece, names, poll):
            batch = encode_texts(batch)
            if spool is not None:
                spool.store(
                    batch
                    if columns
                    else batch.select(self._schema.source_columns(self._names))
                )
            frame = to_frame(batch)
            frame.attrs[READ_AS_TEXT] = self._reader.as_text
            places = (
                None
                if counted_bits is None
                else counted_indices(counted_bits, start, len(frame))
            )
            yield (
                len(frame),
                Batch(
                    frame, self._schema, row_indices=places, start=start, tables=tables
                ),
            )
            start += len(frame)

    def _read_cells(
        self,
        coded: Spool,
        names: Sequence[str],
        piece: Piece,
        _: CellTables,
        poll: Callable[[], object],
    ) -> Iterator[tuple[int, Batch]]:
        """Yield the only batch of a piece of stored cells."""
        for cells in coded.batches(piece, names, poll):
            yield cells.num_rows, Batch.from_cells(cells, self._schema)


def read_sample(
    reader: Reader, rows: int, on_rows: Callable[[int], None] = ignore_progress
) -> Microdata:
    """Return the first rows of a reader, before a schema is declared.

    Raises: as the engine does.
    """
    with reader.hold_state(lambda: on_rows(0)) as reading:
        frame = _read_first_rows(
            reading, list(reader.arrow_types), rows, lambda: on_rows(0)
        )
    return Microdata(
        parse_numbers(frame, list(reader.arrow_types)) if reader.as_text else frame
    )


def parse_numbers(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Convert the named columns to numbers where all their texts are numbers."""
    frame = frame.copy(deep=False)
    frame.attrs[READ_AS_TEXT] = True
    for name in [name for name in names if name in frame]:
        if all(
            parse_number(text) is not None for text in frame[name].dropna().unique()
        ):
            frame[name] = pd.to_numeric(frame[name])
    return frame


def _read_first_rows(
    reading: Snapshot, names: Sequence[str], rows: int, poll: Callable[[], object]
) -> pd.DataFrame:
    """Return the first rows, with categorical texts decoded."""
    frames = [pd.DataFrame(columns=list(names))]
    reading.check_unchanged()
    with reading_errors():
        for batch in (
            arrow_batch
            for piece in reading.pieces
            for arrow_batch in reading.batches(piece, names, poll)
        ):
            frames.append(decode_categories(to_frame(batch)).iloc[:rows])
            rows -= len(frames[-1])
            if not rows:
                break
    reading.check_unchanged()
    return pd.concat(frames[1:] or frames, ignore_index=True)
