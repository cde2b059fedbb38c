"""A Parquet file, or a folder of them, streamed in batches by two threads."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.engines.base import unheeded
from dpcore.engines.batch import Batch
from dpcore.engines.cells import Found
from dpcore.engines.coded import MOST_BYTES, Coded, NoRoomError
from dpcore.engines.files import files_at, state_of
from dpcore.engines.keeper import Keeper, Keeping, places_kept
from dpcore.engines.streamed import Streamed
from dpcore.engines.tupling import Tupling
from dpcore.engines.work import Coding, Result, Work, needs_cells, taken
from dpcore.errors import ReadError, SchemaError, source_changed
from dpcore.schema.schema import Schema
from dpcore.tables.arrow import check_types, frame_of, is_text, kind_of, uncoded
from dpcore.tables.rows import DistinctRows, Microdata

_ROWS_AT_ONCE = 131_072
_THREADS = 2
_BUFFER = 2**20


@dataclass(frozen=True, kw_only=True)
class _Piece:
    """A row group of a file.

    Attributes:
        start: the number of its first row in the whole table.
    """

    path: Path
    group: int
    start: int
    rows: int


class ParquetEngine(Streamed):
    """Parquet behind a schema; its memory does not grow with the rows.

    Files of a folder are read in the order of their names; those that begin with "." or "_" are left out.
    When one is not as it was at the start of a pass or at its end, the pass fails.
    """

    def __init__(
        self,
        path: Path,
        schema: Schema,
        *,
        key: bytes,
        on_rows: Callable[[int], None] = unheeded,
    ) -> None:
        """Read the footers, and look at every row once.

        Args:
            path: of a file, or of a folder.
            key: of the ledger.
            on_rows: told now and then how many rows of a pass are done; what it raises ends the pass.
        Raises: ReadError for what is not Parquet; SchemaError when files disagree, hold nested columns or
            values without a cell.
        """
        super().__init__(schema, key=key)
        self._on_rows = on_rows
        self._paths = files_at(path, ".parquet")
        self._state = state_of(self._paths)
        self._pieces, self._texts, self._columns = _footers(self._paths)
        schema.check_names(pd.DataFrame(columns=self._columns))
        self._length = self._checked(sum(piece.rows for piece in self._pieces))
        self._kept: npt.NDArray[np.uint8] | None = None
        self._coded: Coded | None = None
        self._people = {1: self._length}
        if schema.unit.id_column is not None:
            keeper = Keeper(self._length, schema.unit.max_rows)
            self._scan(Keeping(id_column=schema.unit.id_column, key=key, keeper=keeper))
            self._kept, self._people = keeper.kept()
        self._code()

    def _tuples(self, columns: Sequence[str]) -> DistinctRows:
        work = Tupling(columns=tuple(columns), id_column=self._schema.unit.id_column, key=self._key)
        return self._scan(work, counted=False).distinct(named=work.id_column is not None)

    def sample(self, rows: int) -> Microdata:
        """The first so many rows."""
        self._check_same()
        try:
            return _first(self._pieces, self._texts, self._columns, rows)
        finally:
            self._check_same()

    def _code(self) -> None:
        """Look at every row, and keep the cells where they are not too many and the disk takes them."""
        coded = Coded(self._schema)
        if coded.width * self._length <= MOST_BYTES:
            with contextlib.suppress(NoRoomError):
                self._scan(Coding(reads=self._names, coded=coded))
                self._coded = coded
                return
        self._scan(self._checking())

    def _scan(self, work: Work[Result], *, counted: bool = True) -> Result:
        self._check_same()
        coded = self._coded if counted and needs_cells(work) else None
        blocks: Sequence[Any] = self._pieces if coded is None else coded.blocks
        pieces, lock, ended = iter(blocks), threading.Lock(), threading.Event()
        rows = 0

        def share(on_rows: Callable[[int], None]) -> list[Result]:
            """What one thread makes of the pieces that it gets hold of."""
            nonlocal rows
            total: Result | None = None
            found: Found = {}
            try:
                while True:
                    with lock:
                        piece = next(pieces, None)
                    if piece is None:
                        return [] if total is None else [total]
                    batches = (
                        self._batches(piece, work.reads, found, counted=counted)
                        if coded is None
                        else [(piece[1], coded.batch(piece, work.reads or ()))]
                    )
                    for number, batch in batches:
                        if ended.is_set():
                            return []
                        total = taken(work, total, batch)
                        with lock:
                            rows += number
                        on_rows(rows)
            except BaseException:
                ended.set()
                raise

        try:
            self._on_rows(0)  # the other thread may be through before this one has begun
            with _readable(), ThreadPoolExecutor(_THREADS - 1) as pool:
                others = [pool.submit(share, unheeded) for _ in range(_THREADS - 1)]
                results = share(self._on_rows)
                results += [result for other in others for result in other.result()]
        finally:
            self._check_same()
        return functools.reduce(work.add, results)

    def _batches(
        self, piece: _Piece, reads: Sequence[str] | None, found: Found, *, counted: bool
    ) -> Iterator[tuple[int, Batch]]:
        """The rows of a piece, some at a time, with how many they are before any is left out."""
        start = piece.start
        for frame in _read(piece, self._texts, self._columns if reads is None else reads):
            kept = None
            if counted and self._kept is not None:
                kept = places_kept(self._kept, start, len(frame))
            yield len(frame), Batch(frame, self._schema, kept=kept, start=start, found=found)
            start += len(frame)

    def _check_same(self) -> None:
        if self._state != state_of(self._paths):
            raise source_changed()


def look(path: Path, rows: int) -> Microdata:
    """The first so many rows of a file or folder, before anything is declared. Raises: as the engine does."""
    return _first(*_footers(files_at(path, ".parquet")), rows)


def _first(pieces: Sequence[_Piece], texts: frozenset[str], names: Sequence[str], rows: int) -> Microdata:
    frames: list[pd.DataFrame] = []
    with _readable():
        for frame in (frame for piece in pieces for frame in _read(piece, texts, names)):
            frames.append(uncoded(frame).iloc[: rows - sum(map(len, frames))])
            if sum(map(len, frames)) >= rows:
                break
    return Microdata(pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(names)))


def _read(piece: _Piece, texts: frozenset[str], names: Sequence[str]) -> Iterator[pd.DataFrame]:
    """The rows of a piece, some at a time; texts as categories."""
    import pyarrow.parquet as pq

    if not names:
        yield pd.DataFrame(index=range(piece.rows))
        return
    coded = [name for name in names if name in texts]
    with pq.ParquetFile(piece.path, read_dictionary=coded, pre_buffer=False, buffer_size=_BUFFER) as file:
        for batch in file.iter_batches(
            batch_size=_ROWS_AT_ONCE, row_groups=[piece.group], columns=list(names), use_threads=False
        ):
            yield frame_of(batch)


def _footers(paths: Sequence[Path]) -> tuple[list[_Piece], frozenset[str], list[str]]:
    """Row groups, columns of texts and all columns. Raises: ReadError, SchemaError."""
    import pyarrow.parquet as pq

    pieces: list[_Piece] = []
    first: dict[str, Any] = {}
    start = 0
    for path in paths:
        with _readable(), pq.ParquetFile(path) as file:
            footer, kinds = file.metadata, file.schema_arrow
        check_types(zip(kinds.names, kinds.types, strict=True))
        first = first or dict(zip(kinds.names, kinds.types, strict=True))
        _check_agree(first, dict(zip(kinds.names, kinds.types, strict=True)))
        for group in range(footer.num_row_groups):
            rows = footer.row_group(group).num_rows
            pieces.append(_Piece(path=path, group=group, start=start, rows=rows))
            start += rows
    return pieces, frozenset(name for name, kind in first.items() if is_text(kind)), list(first)


def _check_agree(first: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    for name in dict.fromkeys([*first, *other]):
        if name not in first or name not in other:
            raise SchemaError(
                "only some files of the folder have the column {column!r}",
                remedy="write all files with the same columns",
                column=name,
            )
        one, two = kind_of(first[name]), kind_of(other[name])
        if one != two:
            raise SchemaError(
                "the files of the folder disagree about the type of {column!r}: {one} and {two}",
                remedy="write all files with the same types",
                column=name,
                one=one,
                two=two,
            )


@contextlib.contextmanager
def _readable() -> Iterator[None]:
    """Say that reading failed without the words of another library, which may quote a value."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise ReadError(
            "the source could not be read to its end ({kind})",
            remedy="see that its files are there, complete and may be read, and that the disk is not full",
            kind=type(error).__name__,
        ) from None
