"""Strangers' files to tables, through a process that the system holds to a size and a time."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from dpcore.errors import DpcoreError, LimitError, ReadError
from dpcore.io import ReadResult
from dpcore.schema import Schema
from workbench.reader import MEMORY, SECONDS
from workbench.store.settings import CHECKOUT

_AT_ONCE = threading.BoundedSemaphore(2)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A table as it was read; with a key, its suggested schema and keyed fingerprint."""

    table: ReadResult
    schema: Schema | None
    dataset: str


class _Reader:
    """The process that waits for files; started when it is first needed, and again when it was ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._control: socket.socket | None = None

    def job(self) -> Connection:
        """A connection to a new copy of it."""
        ours, theirs = socket.socketpair()
        with self._lock, theirs:
            for _ in range(2):
                if self._control is None:
                    self._control = _start()
                try:
                    socket.send_fds(self._control, [b"j"], [theirs.fileno()])
                    break
                except OSError:
                    self._control.close()
                    self._control = None
        return Connection(ours.detach())


def _start() -> socket.socket:
    ours, theirs = socket.socketpair()
    with theirs:
        subprocess.Popen(
            [sys.executable, "-m", "workbench.reader", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            cwd=CHECKOUT,
            env={**os.environ, "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"},
        )
    return ours


_reader = _Reader()


def read(
    data: bytes,
    name: str,
    *,
    key: bytes | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    **options: Any,
) -> Reading:
    """`dpcore.io.read_table` within 900 MB and 30 seconds.

    Args:
        key: of the ledger, for the fingerprint; None where the table is not to be opened.
        cancelled: asked while waiting; reading ends when it says yes.
        options: of `read_table`.
    Raises: LimitError, ReadError, and SchemaError of the suggestion.
    """
    with _AT_ONCE:
        job = _reader.job()
        started = time.monotonic()
        process = None
        try:
            process = job.recv()
            job.send((data, name, options, key))
            while not job.poll(0.2):
                if cancelled() or time.monotonic() - started > 2 * SECONDS:
                    raise ReadError("reading was stopped", remedy="choose the file again")
            kind, content = job.recv()
        except (EOFError, OSError):
            late = time.monotonic() - started >= SECONDS
            kind, content = ("time" if late else "memory"), None
        finally:
            if process is not None and not job.closed:
                _end(process)
            job.close()
    if kind == "read":
        table, schema, dataset = content
        return Reading(table=table, schema=schema, dataset=dataset)
    raise _refusal(kind, content)


def _refusal(kind: str, content: Any) -> DpcoreError:
    if kind == "refused":
        assert isinstance(content, DpcoreError)
        return content
    if kind == "memory":
        return LimitError(
            "reading this file takes more than {limit} MB of memory, whatever its own size",
            remedy="keep only the columns or rows that you need",
            limit=MEMORY // 2**20,
        )
    if kind == "time":
        return LimitError(
            "reading this file takes more than {limit} seconds",
            remedy="keep only the columns or rows that you need",
            limit=SECONDS,
        )
    return ReadError(
        "the file holds something that cannot be read ({kind})",
        remedy="write it again as CSV with plain numbers, texts and dates, and report this if it stays",
        kind=str(content),
    )


def _end(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return


def warm() -> None:
    """Have the process wait with its libraries loaded before the first file comes."""
    _reader.job().close()
