"""Tables in the files of a local folder, which are opened in place."""

import functools
import hashlib
import itertools
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dpcore.accounting.ledger import MAX_NAME_LENGTH
from dpcore.curator import Curator
from dpcore.errors import DpcoreError, ParameterError
from dpcore.schema.source import Source
from workbench.store.people import roles
from workbench.store.settings import LOOPBACK_HOSTS, Settings
from workbench.store.sources.sources import ListedSource, read_sources

MAX_TABLES = 100
"""Tables that are listed, of the first 10,000 files."""
_MAX_FILES = 10_000
_CACHE_SECONDS = 5
_KIND_BY_SUFFIX = {".csv": "csv", ".parquet": "parquet", ".duckdb": "duckdb"}


def all_sources(settings: Settings) -> tuple[ListedSource, ...]:
    """Return all connected sources: those listed, and the files of the folder.

    A file whose name is taken by a listed source gets another one.

    Raises: ParameterError.
    """
    listed = read_sources(settings.sources, os.environ)
    names = {entry.source.name for entry in listed}
    files = _cached_tables_under(
        settings.files_folder, int(time.monotonic() // _CACHE_SECONDS)
    )
    every = (*listed, *(file for file in files if file.source.name not in names))
    return tuple(
        replace(entry, source=replace(entry.source, threads=settings.threads))
        for entry in every
    )


def check_folder(settings: Settings) -> None:
    """Raise an error if people other than the folder's owner may reach its files.

    Raises: ParameterError.
    """
    if settings.files_folder is None:
        return
    if settings.demo or settings.hosts != LOOPBACK_HOSTS or roles.sign_in_needed():
        raise ParameterError(
            "WORKBENCH_FILES works only for one person at this computer",
            remedy="correct it as docs/hosting.md says",
        )
    folder = settings.files_folder.resolve()
    is_wide = folder in (Path("/"), Path.home()) or any(
        part.startswith(".") for part in folder.parts
    )
    if not folder.is_dir() or (is_wide and folder != settings.files_folder):
        raise ParameterError(
            "WORKBENCH_FILES must be a folder",
            remedy="correct it as docs/hosting.md says",
        )


def files_under(folder: Path | None) -> tuple[ListedSource, ...]:
    """Return the tables under a folder: CSV, Parquet, base tables of DuckDB.

    Hidden files, links, files of other people and unreadable files are left out.
    """
    if folder is None:
        return ()
    folder = folder.resolve()
    files = itertools.islice(_walk_files(folder), _MAX_FILES)
    sources = (
        source
        for file in files
        for source in _sources_in_file(file, file.relative_to(folder).as_posix())
    )
    return tuple(
        ListedSource(source=source) for source in itertools.islice(sources, MAX_TABLES)
    )


@functools.lru_cache(maxsize=1)
def _cached_tables_under(folder: Path | None, _: int) -> tuple[ListedSource, ...]:
    """Return the tables under a folder, from a cache of a few seconds."""
    return files_under(folder)


def _walk_files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (
            Path(place, name) for name in sorted(names) if not name.startswith(".")
        )


def _sources_in_file(file: Path, name: str) -> Iterator[Source]:
    try:
        seen = file.lstat()
    except OSError:
        return
    kind = _KIND_BY_SUFFIX.get(file.suffix.lower())
    if (
        kind is None
        or not name.isprintable()
        or not stat.S_ISREG(seen.st_mode)
        or seen.st_uid != os.getuid()
    ):
        return
    if kind != "duckdb":
        yield Source(
            name=_shorten_name(name), kind=kind, location=str(file), linked=False
        )
        return
    for table in _duckdb_tables(str(file), seen.st_size, seen.st_mtime_ns):
        yield Source(
            name=_shorten_name(f"{name}/{table}"),
            kind=kind,
            location=str(file),
            table=table,
            linked=False,
        )


@functools.lru_cache
def _duckdb_tables(file: str, *_: int) -> tuple[str, ...]:
    """Return the base tables of a DuckDB file."""
    try:
        return Curator.tables_in(file)
    except DpcoreError:
        return ()


def _shorten_name(name: str) -> str:
    """Shorten a name to the length of an account's name; it stays unique."""
    if len(name) <= MAX_NAME_LENGTH:
        return name
    return f"{name[:36]}~{hashlib.sha256(name.encode()).hexdigest()[:20]}"
