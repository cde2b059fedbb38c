"""Write public tables of any size as a folder of Parquet files, all or nothing.

Until it is complete it has a name of its own beside its place, and a lock that ends
with the process. What others have left without a lock is removed whenever a folder is
begun beside it.
"""

import fcntl
import functools
import os
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pandas as pd

from dpcore.io._mixing import RowShuffler, explain_write_errors, taken_folder_error
from dpcore.io.export import to_parquet
from dpcore.release import Release
from dpcore.tables.rows import PublicTable

ROWS_PER_FILE = 250_000
"""Rows in a file, about."""
_MAX_FILES = 256
_ABANDONED_AFTER_SECONDS = 60
"""Seconds after which an unfinished folder that nobody holds is left over."""


def write_folder(
    tables: Iterable[PublicTable],
    folder: Path,
    metadata: Mapping[str, str] | None = None,
    *,
    unfinished: Path | None = None,
) -> int:
    """Write a folder with one file for each table, and return its number of rows.

    Free post-processing.

    Args:
        unfinished: what `unfinished_name` gave, for whoever must `discard_unfinished` it when this
            process is ended.

    Raises: ParameterError for a folder that is there or cannot be written to, as on a
        full disk; nothing is left behind.
    """
    rows = 0
    with _create_folder(folder, unfinished or unfinished_name(folder)) as unfinished:
        for number, table in enumerate(tables):
            (unfinished / _file_name(number)).write_bytes(to_parquet(table, metadata))
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
    """Draw synthetic rows of a release into a folder, in batches. Free.

    Args:
        release: with a model.
        rows: to be drawn.
        folder: a new one.
        on_rows: gets the number of rows drawn; what it raises ends it, and nothing is
            left behind.
        unfinished: as in `write_folder`.

    Raises: as `write_folder`.
    """

    def drawn() -> Iterator[PublicTable]:
        for start in range(0, rows, ROWS_PER_FILE):
            on_rows(start)
            yield release.sample_table(min(ROWS_PER_FILE, rows - start))

    return write_folder(drawn(), folder, unfinished=unfinished)


def write_shuffled(
    hand_over: Callable[[Callable[[pd.DataFrame], str]], Sequence[str]],
    folder: Path,
    *,
    rows: int,
    spread: Callable[[Callable[[int], tuple[str, int]], int], list[tuple[str, int]]],
    metadata: Mapping[str, str] | None = None,
) -> int:
    """Write publishable rows into a folder in random order.

    Each row goes to a file chosen by chance, and each file is shuffled, by the system's
    randomness, wherever the rows are. What was written there counts once its name came
    back from there, and no other file stays: neither of a process that was ended, nor
    of one that did again what another one had done.

    Args:
        folder: a new one, which all these processes reach under this name.
        hand_over: has what it is given called with some rows at a time, and returns all
            names that count.
        rows: how many they are, about.
        spread: has a function called with 0, 1, ... below a number, and returns what
            counts of it.
        metadata: for the footer of each file.

    Raises: as `write_folder`; what `hand_over` and `spread` raise.
    """
    number = min(_MAX_FILES, 1 << max(0, (rows // ROWS_PER_FILE).bit_length()))
    with _create_folder(folder, unfinished_name(folder)) as unfinished:
        mixing = RowShuffler(folder=unfinished / "rows", files=number)
        mixing.folder.mkdir(mode=0o700)
        written = spread(
            functools.partial(
                mixing.write_shuffled_file,
                hand_over(mixing.write_random_sections),
                metadata,
            ),
            number,
        )
        for place, (name, _) in enumerate(written):
            (mixing.folder / name).rename(unfinished / _file_name(place))
        shutil.rmtree(mixing.folder)
        return sum(length for _, length in written)


def _file_name(number: int) -> str:
    return f"part-{number:05d}.parquet"


def unfinished_name(folder: Path) -> Path:
    """Return a new temporary path for a folder that is not complete yet."""
    return folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.unfinished")


def discard_unfinished(unfinished: Path) -> None:
    """Remove an unfinished folder of a process that ended."""
    shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def _create_folder(folder: Path, unfinished: Path) -> Iterator[Path]:
    """Create a folder that gets its name once it is complete and on the disk."""
    _check_free(folder)
    missing = [parent for parent in folder.parents if not parent.exists()]
    try:
        with explain_write_errors(), ExitStack() as stack:
            folder.parent.mkdir(parents=True, exist_ok=True)
            _remove_abandoned(folder.parent)
            unfinished.mkdir()
            # after the renaming, there is no unfinished folder left to discard
            stack.callback(discard_unfinished, unfinished)
            # on a disk without locks, nobody else removes unfinished folders either
            with suppress(OSError):
                _lock(unfinished, stack)
            yield unfinished
            for path in (*unfinished.iterdir(), unfinished):
                _sync_to_disk(path)
            _check_free(folder)
            unfinished.rename(folder)
            with suppress(OSError):  # it is complete, under either name
                _sync_to_disk(folder.parent)
    except BaseException:
        for parent in missing:
            with suppress(OSError):  # somebody else has put something there
                parent.rmdir()
        raise


def _check_free(folder: Path) -> None:
    if os.path.lexists(folder):
        raise taken_folder_error()


def _remove_abandoned(parent: Path) -> None:
    """Remove unfinished folders of processes that ended."""
    for path in parent.iterdir():
        if not re.fullmatch(r"\..+\.[0-9a-f]{32}\.unfinished", path.name):
            continue
        with suppress(OSError), ExitStack() as stack:
            if time.time() - path.stat().st_mtime > _ABANDONED_AFTER_SECONDS:
                _lock(path, stack)
                discard_unfinished(path)


def _lock(folder: Path, stack: ExitStack) -> None:
    """Lock a folder until the stack is closed.

    Raises: OSError where another one does, or where the disk knows no locks.
    """
    handle = os.open(folder, os.O_RDONLY)
    stack.callback(os.close, handle)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _sync_to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
