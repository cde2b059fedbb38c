"""Public tables of any size as a folder of Parquet files: complete under its name, or not there at all."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import ParameterError
from dpcore.io.export import to_parquet
from dpcore.release import Release
from dpcore.tables.arrow import is_text, uncoded
from dpcore.tables.rows import PublicTable

ROWS_AT_ONCE = 250_000
"""Rows in a file, about."""
_MOST_FILES = 256


def write_folder(
    tables: Iterable[PublicTable], folder: Path, metadata: Mapping[str, str] | None = None
) -> int:
    """Write the tables, one file for each, and give the folder its name once all are written; how many rows.

    Free post-processing. Raises: ParameterError for a folder that is there or cannot be written to, as on a
    full disk; nothing is left behind.
    """
    rows = 0
    with _new(folder) as unfinished:
        for number, table in enumerate(tables):
            (unfinished / _name(number)).write_bytes(to_parquet(table, metadata))
            rows += len(table.frame)
    return rows


def write_drawn(
    release: Release, rows: int, folder: Path, *, on_rows: Callable[[int], None] = lambda rows: None
) -> int:
    """Draw so many rows of a release into a folder, some at a time. Free.

    Args: on_rows: told how many are drawn; what it raises ends it, and nothing is left behind.
    Raises: as `write_folder`.
    """

    def drawn() -> Iterator[PublicTable]:
        for start in range(0, rows, ROWS_AT_ONCE):
            on_rows(start)
            yield release.table(min(ROWS_AT_ONCE, rows - start))

    return write_folder(drawn(), folder)


def write_mixed(
    hand_over: Callable[[Callable[[pd.DataFrame], None]], None],
    folder: Path,
    *,
    rows: int,
    metadata: Mapping[str, str] | None = None,
) -> int:
    """Write rows that may be published in an order that tells nothing of the one they come in.

    Each row goes to a file chosen by chance, and each file is shuffled, by the system's randomness. On the
    way the rows lie in files without names, in the order in which they came; those end with the process.

    Args:
        hand_over: calls what it is given with some rows at a time, perhaps from several threads.
        rows: how many they are, about.
    Raises: as `write_folder`; what `hand_over` raises.
    """
    with _new(folder) as unfinished, ExitStack() as files:
        mixer = _Mixer(unfinished, min(_MOST_FILES, 1 << max(0, (rows // ROWS_AT_ONCE).bit_length())), files)
        hand_over(mixer.take)
        return mixer.finish(metadata)


class _Mixer:
    """Rows on their way into files by chance. A power of two of them, so that every one is as likely."""

    def __init__(self, folder: Path, number: int, files: ExitStack) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._files = [_nameless(folder, files) for _ in range(number)]
        self._writers: list[Any] = []
        self._schema: Any = None

    def take(self, frame: pd.DataFrame) -> None:
        """Rows, from any thread. Raises: ParameterError where they cannot be written."""
        import pyarrow as pa

        table = pa.Table.from_pandas(uncoded(frame), preserve_index=False).replace_schema_metadata(None)
        file = np.frombuffer(os.urandom(2 * len(frame)), dtype=np.uint16) % len(self._files)
        order = np.argsort(file, kind="stable")
        table = table.take(order)
        ends = np.cumsum(np.bincount(file, minlength=len(self._files)))
        with self._lock, _writable():
            if self._schema is None:
                self._schema = pa.schema([field.with_type(_plain(field.type)) for field in table.schema])
                self._writers = [pa.ipc.new_stream(each, self._schema) for each in self._files]
            table = table.cast(self._schema)
            for writer, begin, end in zip(self._writers, [0, *ends[:-1]], ends, strict=True):
                writer.write_table(table.slice(begin, end - begin))

    def finish(self, metadata: Mapping[str, str] | None) -> int:
        """Shuffle each file into one of Parquet; how many rows there are."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows = 0
        for number, (writer, file) in enumerate(zip(self._writers, self._files, strict=True)):
            writer.close()
            file.seek(0)
            table = pa.ipc.open_stream(file).read_all()
            file.truncate(0)
            shuffled = table.take(_shuffled(len(table))).replace_schema_metadata(metadata)
            pq.write_table(shuffled, self._folder / _name(number))
            rows += len(table)
        return rows


def _nameless(folder: Path, files: ExitStack) -> IO[bytes]:
    return files.enter_context(tempfile.TemporaryFile(dir=folder))


def _shuffled(rows: int) -> npt.NDArray[np.int64]:
    """The places of rows in an order by chance."""
    return np.argsort(np.frombuffer(os.urandom(8 * rows), dtype=np.uint64))


def _plain(kind: Any) -> Any:
    """One type for all texts, and for columns of which nothing is known yet."""
    import pyarrow as pa

    return pa.string() if is_text(kind) or pa.types.is_null(kind) else kind


def _name(number: int) -> str:
    return f"part-{number:05d}.parquet"


def discard(folder: Path) -> None:
    """Remove what a process that was ended has left of a folder; one that has its name stays."""
    shutil.rmtree(_unfinished(folder), ignore_errors=True)


def _unfinished(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.unfinished")


@contextmanager
def _new(folder: Path) -> Iterator[Path]:
    """A folder that gets its name once all is in it."""
    unfinished = _unfinished(folder)
    try:
        with _writable():
            if folder.exists():
                raise ParameterError("there is something at the place of the folder", remedy="name a new one")
            unfinished.mkdir(parents=True)
            yield unfinished
            unfinished.rename(folder)
    finally:
        discard(folder)


@contextmanager
def _writable() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ParameterError(
            "the folder could not be written ({kind})",
            remedy="see whether the disk is full and who may write there, or name another place",
            kind=type(error).__name__,
        ) from None
