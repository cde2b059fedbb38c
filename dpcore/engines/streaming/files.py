"""Functions that find the files of a source and check them for changes."""

import contextlib
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from dpcore.errors import ReadError, SchemaError

State = list[tuple[int, int, int]]


def find_files(path: Path, ending: str) -> list[Path]:
    """Return the file at a path, or the folder's files with this ending, sorted.

    Files and folders that begin with "." or "_" are left out.

    Raises: ReadError when there is none.
    """
    try:
        inside = path.rglob(f"*{ending}") if path.is_dir() else []
        files = sorted(
            file for file in inside if not _is_hidden(file.relative_to(path))
        )
        if path.is_file():
            files = [path]
    except OSError:
        files = []
    if not files:
        raise _no_file_error()
    return files


def open_without_links(path: Path) -> BinaryIO:
    """Open a regular file of this process's user; refuse a path with links.

    Raises: ReadError if there is none.
    """
    with contextlib.suppress(OSError):
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
        seen = os.fstat(file.fileno())
        place = os.readlink(f"/proc/self/fd/{file.fileno()}")
        if (
            stat.S_ISREG(seen.st_mode)
            and seen.st_uid == os.getuid()
            and place == os.fspath(path)
        ):
            return file
    raise _no_file_error()


def _no_file_error() -> ReadError:
    return ReadError(
        "there is no file where the source should be",
        remedy=(
            "check that it is there, complete and readable, and that the disk is not "
            "full"
        ),
    )


def read_file_states(paths: Sequence[Path]) -> State:
    """Return size, time and inode of each file; empty if any file is gone."""
    try:
        return [
            (seen.st_size, seen.st_mtime_ns, seen.st_ino)
            for seen in map(Path.stat, paths)
        ]
    except OSError:
        return []


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def check_same_columns(
    first: Mapping[str, object], other: Mapping[str, object]
) -> None:
    """Refuse a file whose columns or types differ from those of the first file.

    Raises: SchemaError.
    """
    for name in dict.fromkeys([*first, *other]):
        if name not in first or name not in other or first[name] != other[name]:
            raise SchemaError(
                "the files of the folder disagree about the column {column!r}",
                remedy="write all files with the same columns and types",
                column=name,
            )
