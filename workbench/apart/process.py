"""One piece of work in another process: started, followed, and ended when nobody wants it any more."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from dpcore.errors import LimitError
from dpcore.progress import OnProgress, silent
from workbench.apart.line import stopped
from workbench.apart.messages import receive, send
from workbench.store.settings import CHECKOUT

_log = logging.getLogger("workbench.deeds")


class WorkEnded(Exception):
    """Work that did not come to its end: "memory", "time", or "failed" with type and place of its error."""

    def __init__(self, kind: str, where: str = "") -> None:
        super().__init__(where or kind)
        self.kind = kind
        self.where = where


class _Worker:
    """The process that waits for work; started when it is first needed, and again when it was ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._control: socket.socket | None = None

    def line(self) -> Connection:
        """A line to a new copy of it. Raises: OSError where it has just ended."""
        ours, theirs = socket.socketpair()
        with self._lock, theirs:
            if self._control is None:
                self._control = _start()
            try:
                socket.send_fds(self._control, [b"j"], [theirs.fileno()])
            except OSError:
                self._control = None
                raise
        return Connection(ours.detach())

    def copy(self) -> tuple[Connection, int]:
        """A line to a new copy of it, and its process id. Raises: EOFError, OSError."""
        for _ in range(3):
            try:
                line = self.line()
                return line, receive(line)
            except (EOFError, OSError):  # the system ended the one that waits: it is started again
                continue
        raise OSError("the process that computes cannot be started")


def _start() -> socket.socket:
    ours, theirs = socket.socketpair()
    with theirs:
        subprocess.Popen(
            [sys.executable, "-m", "workbench.apart.worker", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            cwd=CHECKOUT,
            env={**os.environ, "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"},
            start_new_session=True,
        )
    return ours


_worker = _Worker()


def warm() -> None:
    """Have the process wait with its libraries loaded before the first work comes."""
    _worker.line().close()


def run(
    function: Callable[..., Any],
    *given: Any,
    on_progress: OnProgress = silent,
    answer: Callable[..., Any] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    memory: int = 0,
    seconds: int = 0,
) -> Any:
    """`function(server, *given)` in another process, which ends with it.

    Args:
        function: of a module; it gets a `workbench.apart.worker.Server` first.
        given: anything that can be pickled.
        on_progress: what the work tells is handed to it.
        answer: answers what the work asks.
        cancelled: asked five times a second; the work ends when it says yes, or raises.
        memory: bytes beyond what the libraries take; 0 for no limit. `seconds` likewise, of CPU and waiting.
    Raises: StoppedError; the DpcoreError of the work; WorkEnded; what `on_progress` and `cancelled` raise.
    """
    line, number = _worker.copy()
    process: int | None = number
    kind = ""
    started = time.monotonic()
    try:
        send(line, (function, given, memory, seconds))
        asked = started
        while True:
            told = line.poll(0.2)
            if time.monotonic() > asked + 0.2:  # also where the work never falls silent
                asked = time.monotonic()
                if cancelled():
                    raise stopped()
            if not told:
                continue
            kind, content = receive(line)
            if kind == "told":
                on_progress(*content)
            elif kind == "asked":
                send(line, _answered(answer, content))
            else:
                process = None  # it ends by itself
                break
    except (EOFError, OSError) as error:
        late = seconds and time.monotonic() - started >= seconds
        raise WorkEnded("time" if late else "memory") from error
    finally:
        if process is not None:
            _end(process)
        line.close()
        ended = "stopped" if process is not None else kind
        _log.info("%s %s after %.1f s", function.__name__, ended, time.monotonic() - started)
    if kind == "done":
        return content
    if kind == "refused":
        raise content
    raise WorkEnded(kind, content)


def compute(function: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """`run` of work that has no limits of its own. Raises: as that; LimitError where the system ended it."""
    try:
        return run(function, *given, **options)
    except WorkEnded as error:
        if error.kind == "failed":
            raise
        raise LimitError(
            "the system ended the process that was computing, most likely because memory ran out",
            remedy="try again when less is going on, or with fewer columns or rows",
        ) from error


def _answered(answer: Callable[..., Any] | None, question: tuple[Any, ...]) -> tuple[str, Any]:
    assert answer is not None
    try:
        return "answered", answer(*question)
    except Exception as error:
        error.__traceback__ = error.__cause__ = error.__context__ = None
        return "raised", error


def _end(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return
