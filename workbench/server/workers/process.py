"""Run work in a worker process, follow it, and kill it if it is cancelled."""

import contextlib
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
from typing import Any, TypeVar

from dpcore.errors import LimitError
from dpcore.progress import OnProgress
from workbench.server.workers.callbacks import check_cancelled
from workbench.server.workers.child import WALL_TIME_FACTOR
from workbench.server.workers.messages import Channel
from workbench.server.workers.remote_measurer import answer_call
from workbench.store.settings import PACKAGES_FOLDER

POLL_SECONDS = 0.2
Answer = TypeVar("Answer")
_log = logging.getLogger("workbench.work")


class WorkEnded(Exception):
    """Error of work that was cut off; `kind` is "memory", "time", "busy" or
    "failed".
    """

    def __init__(self, kind: str, where: str = "") -> None:
        super().__init__(where or kind)
        self.kind = kind
        self.where = where


class _Starter:
    """Keeps the process that forks workers, and starts it when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._control: socket.socket | None = None

    def connect(self) -> Channel:
        """Return a channel to a new worker.

        Raises: OSError if the starter has just ended.
        """
        ours, theirs = socket.socketpair()
        with self._lock, theirs:
            if self._control is None:
                self._control = _start_starter()
            try:
                socket.send_fds(self._control, [b"j"], [theirs.fileno()])
            except OSError:
                self._control = None
                raise
        return Channel(Connection(ours.detach()))

    def start(self) -> tuple[Channel, int]:
        """Return a channel to a new worker, and its process id.

        Raises: OSError.
        """
        for _ in range(3):
            try:
                channel = self.connect()
                return channel, channel.receive()
            # the system has killed the starter: try again with a new one
            except (EOFError, OSError):
                continue
        raise OSError("the process that computes cannot be started")


def _start_starter() -> socket.socket:
    ours, theirs = socket.socketpair()
    with theirs:
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "workbench.server.workers.child",
                str(theirs.fileno()),
            ],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            cwd=PACKAGES_FOLDER,
            env={
                **os.environ,
                "OMP_NUM_THREADS": "1",
                "ARROW_DEFAULT_MEMORY_POOL": "system",
            },
            start_new_session=True,
        )
    return ours


_starter = _Starter()


def start_ahead() -> None:
    """Start the process that forks workers before the first work comes."""
    _starter.connect().connection.close()


def run(
    function: Callable[..., Answer],
    *args: Any,
    on_progress: OnProgress | None = None,
    memory: int = 0,
    seconds: int = 0,
) -> Answer:
    """Return `function(*given)`, computed in a new worker.

    Args:
        function: of a module, or a method of an object that can be pickled.
        args: anything that can be pickled; private rows; a measurer, for which the
            worker gets a stand-in.
        on_progress: if given, the function gets a callback as its last argument.
        memory: limit in bytes, beyond the libraries' own; 0 for no limit.
        seconds: limit of CPU time; a busy machine may take ten times as long; 0 for no
            limit.

    Raises: StoppedError if this thread's work is cancelled (see `callbacks`), which is
        polled five times a second until all noise that was paid for is drawn; the
        DpcoreError of the work; WorkEnded; errors of `on_progress`.
    """
    channel, worker = _starter.start()
    is_over = False
    kind = "stopped"
    started = time.monotonic()
    polled = started
    computed = 0.0
    try:
        channel.send((function, args, on_progress is not None, memory, seconds))
        while not is_over:
            has_message = channel.connection.poll(POLL_SECONDS)
            # polled by the clock, since a busy worker may never be silent
            if time.monotonic() > polled + POLL_SECONDS:
                polled = time.monotonic()
                with contextlib.suppress(OSError):  # it may have ended
                    # id of the CPU clock of the worker's process
                    computed = time.clock_gettime(~worker << 3 | 2)
                # work that has paid for all its noise is finished, not cancelled
                if not any(measurer.is_spent for measurer in channel.measurers):
                    check_cancelled()
            if not has_message:
                continue
            message, content = channel.receive()
            if message == "progress" and on_progress is not None:
                on_progress(*content)
            elif message == "asked":
                channel.send(_answer_call(channel, *content))
            else:
                is_over = True
                kind = message
    except (EOFError, OSError) as error:
        is_late = time.monotonic() - started >= WALL_TIME_FACTOR * seconds > 0
        # the CPU time was last read shortly before the worker ended
        is_long = computed >= 0.8 * seconds > 0
        raise WorkEnded(
            "time" if is_long else "busy" if is_late else "memory"
        ) from error
    finally:
        if not is_over:
            _kill(worker)
        channel.connection.close()
        _log.info(
            "%s %s after %.1f s",
            function.__qualname__,
            kind,
            time.monotonic() - started,
        )
    if kind == "done":
        answer: Answer = content
        return answer
    if kind == "refused":
        raise content
    raise WorkEnded(kind, content)


def compute(
    function: Callable[..., Answer], *args: Any, on_progress: OnProgress | None = None
) -> Answer:
    """Run a function in a worker without limits; see `dpcore.progress.Compute`.

    Raises: as `run`; LimitError if the system killed the worker.
    """
    try:
        return run(function, *args, on_progress=on_progress)
    except WorkEnded as error:
        if error.kind == "failed":
            raise
        raise LimitError(
            ("the system stopped the computation, most likely because memory ran out"),
            remedy=(
                "try again when the server is less busy, or with fewer columns or rows"
            ),
        ) from error


def _answer_call(
    channel: Channel,
    number: int,
    name: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[str, Any]:
    try:
        return "answered", answer_call(channel.measurers[number], name, args, kwargs)
    except Exception as error:
        error.__traceback__ = error.__cause__ = error.__context__ = None
        return "raised", error


def _kill(worker: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(worker, signal.SIGKILL)
