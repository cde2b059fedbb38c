"""Public tables of any size as a folder of Parquet files, complete under its name, or not there at all.

Until it is complete it has a name of its own beside its place, and a lock that ends with the process. What
others have left without a lock is removed whenever a folder is begun beside it.
"""

import errno
import fcntl
import os
import re
import shutil
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import ParameterError, UsageError
from dpcore.io.export import to_parquet
from dpcore.release import Release
from dpcore.tables.arrow import is_text, uncoded
from dpcore.tables.rows import PublicTable

ROWS_AT_ONCE = 250_000
"""Rows in a file, about."""
_MOST_FILES = 256
_SETTLED = 60
"""Seconds after which an unfinished folder that nobody holds is left over."""


def write_folder(
    tables: Iterable[PublicTable],
    folder: Path,
    metadata: Mapping[str, str] | None = None,
    *,
    unfinished: Path | None = None,
) -> int:
    """Write the tables, one file for each, give the folder its name, and return the number of rows.

    Free post-processing.

    Args: unfinished: what `unfinished_name` gave, for whoever must `discard` it when this process is ended.
    Raises: ParameterError for a folder that is there or cannot be written to, as on a full disk; nothing is
        left behind.
    """
    rows = 0
    with _new(folder, unfinished or unfinished_name(folder)) as unfinished:
        for number, table in enumerate(tables):
            (unfinished / _name(number)).write_bytes(to_parquet(table, metadata))
            rows += len(table.frame)
    return rows


def write_drawn(
    release: Release,
    rows: int,
    folder: Path,
    *,
    on_rows: Callable[[int], None] = lambda rows: None,
    unfinished: Path | None = None,
) -> int:
    """Draw so many rows of a release into a folder, some at a time. Free.

    Args:
        release: with a model.
        rows: to be drawn.
        folder: a new one.
        on_rows: gets the number of rows drawn; what it raises ends it, and nothing is left behind.
        unfinished: as in `write_folder`.
    Raises: as `write_folder`.
    """

    def drawn() -> Iterator[PublicTable]:
        for start in range(0, rows, ROWS_AT_ONCE):
            on_rows(start)
            yield release.sample_table(min(ROWS_AT_ONCE, rows - start))

    return write_folder(drawn(), folder, unfinished=unfinished)


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
        folder: a new one.
        metadata: for the footer of each file.
        hand_over: calls what it is given with some rows at a time, perhaps from several threads.
        rows: how many they are, about.
    Raises: as `write_folder`; what `hand_over` raises.
    """
    with _new(folder, unfinished_name(folder)) as unfinished, ExitStack() as files:
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
        """Rows, from any thread.

        Raises: ParameterError where they cannot be written.
        """
        import pyarrow as pa

        with _writable():
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
        """Shuffle each file into one of Parquet, and return the number of rows."""
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
    """Draw an order of rows."""
    return np.argsort(np.frombuffer(os.urandom(8 * rows), dtype=np.uint64))


def _plain(kind: Any) -> Any:
    """One type for all texts, and for columns of which nothing is known yet."""
    import pyarrow as pa

    return pa.string() if is_text(kind) or pa.types.is_null(kind) else kind


def _name(number: int) -> str:
    return f"part-{number:05d}.parquet"


def unfinished_name(folder: Path) -> Path:
    """Return a new name for a folder until it is complete."""
    return folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.unfinished")


def discard(unfinished: Path) -> None:
    """Remove what a process that was ended has left under a name of `unfinished_name`."""
    shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def _new(folder: Path, unfinished: Path) -> Iterator[Path]:
    """Make a folder that gets its name once all is in it and on the disk, else it is removed."""
    _check_free(folder)
    missing = [parent for parent in folder.parents if not parent.exists()]
    try:
        with _writable(), ExitStack() as stack:
            folder.parent.mkdir(parents=True, exist_ok=True)
            _remove_left(folder.parent)
            unfinished.mkdir()
            stack.callback(discard, unfinished)  # once it has its name, there is nothing
            with suppress(OSError):  # where there are no locks, nobody removes what is left either
                _lock(unfinished, stack)
            yield unfinished
            for each in (*unfinished.iterdir(), unfinished):
                _sync(each)
            _check_free(folder)
            unfinished.rename(folder)
            with suppress(OSError):  # it is complete, under either name
                _sync(folder.parent)
    except BaseException:
        for parent in missing:
            with suppress(OSError):  # somebody else has put something there
                parent.rmdir()
        raise


def _check_free(folder: Path) -> None:
    if os.path.lexists(folder):
        raise _taken()


def _taken() -> ParameterError:
    return ParameterError("there is something at the place of the folder", remedy="name a new one")


def _remove_left(parent: Path) -> None:
    """Remove what processes that were ended have left unfinished in a folder."""
    for each in parent.iterdir():
        if not re.fullmatch(r"\..+\.[0-9a-f]{32}\.unfinished", each.name):
            continue
        with suppress(OSError), ExitStack() as stack:
            if time.time() - each.stat().st_mtime > _SETTLED:
                _lock(each, stack)
                discard(each)


def _lock(folder: Path, stack: ExitStack) -> None:
    """Hold a folder.

    Raises: OSError where another one does, or where the disk knows no locks.
    """
    handle = os.open(folder, os.O_RDONLY)
    stack.callback(os.close, handle)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _writable() -> Iterator[None]:
    """Say that writing failed without the words of another library, which may quote a value."""
    import pyarrow as pa

    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            raise _taken() from None
        raise ParameterError(
            "the folder could not be written ({kind})",
            remedy="see whether the disk is full and who may write there, or name another place",
            kind=type(error).__name__,
        ) from None
    except pa.ArrowException as error:
        raise UsageError(
            f"the rows could not be written as Parquet ({type(error).__name__})",
            remedy="leave it out, or write it as text",
        ) from None
