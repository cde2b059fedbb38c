"""Worker program `python -m workbench.server.workers.child FD`; see `process`.

The program waits with its libraries loaded and forks for each piece of work, which may
be limited in memory and time. The fork ends with its work, so that no row stays in any
memory.
"""

import gc
import importlib
import os
import resource
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from dpcore.errors import DpcoreError
from workbench.server.web import logs
from workbench.server.workers.messages import Channel
from workbench.server.workers.remote_measurer import RemoteMeasurer

MODULES_TO_PRELOAD = (
    Path(__file__).with_name("loaded.txt").read_text(encoding="utf-8").split()
)
"""Modules that take long to import, loaded before the first work."""
WALL_TIME_FACTOR = 10
"""How many times the seconds of computing that it may take a worker may last, on a busy
machine.
"""


def serve(channel: Channel) -> None:
    """Do one piece of work and send its outcome."""
    channel.send(os.getpid())
    function, given, reports, memory, seconds = channel.receive()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        size = pages * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    if seconds:  # both end the process, wherever it is
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    signal.alarm(WALL_TIME_FACTOR * seconds)
    os.nice(10)  # pages go first

    def on_progress(stage: str, share: float) -> None:
        channel.send(("progress", (stage, share)))

    def ask(*question: Any) -> Any:
        channel.send(("asked", question))
        kind, content = channel.receive()
        if kind == "raised":
            raise content
        return content

    RemoteMeasurer.ask = staticmethod(ask)
    channel.send(compute_outcome(function, (*given, on_progress) if reports else given))


def compute_outcome(
    function: Callable[..., Any], args: tuple[Any, ...]
) -> tuple[str, Any]:
    """Call a function and return its outcome: ("done", result), ("refused", error),
    ("memory", "") or ("failed", place).

    The message of an unexpected error may hold values; its type and place do not.
    """
    try:
        return "done", function(*args)
    except DpcoreError as error:
        error.__traceback__ = error.__cause__ = error.__context__ = None
        return "refused", error
    except MemoryError:
        return "memory", ""
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)[-4:]
        places = " < ".join(
            f"{Path(frame.filename).stem}:{frame.lineno}" for frame in reversed(frames)
        )
        return "failed", f"{type(error).__name__} at {places}"


def main(control: socket.socket) -> None:
    """Fork a worker per socket received; kill all when the control socket closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server says when to end
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    logs.set_up("warning")
    for name in MODULES_TO_PRELOAD:
        importlib.import_module(name)
    gc.freeze()  # copies share what is loaded
    while True:
        message, handles, *_ = socket.recv_fds(control, 1, 1)
        if not message:
            os.killpg(0, signal.SIGKILL)
        if os.fork() == 0:
            control.close()
            try:
                serve(Channel(Connection(handles[0])))
            finally:
                os._exit(0)
        os.close(handles[0])


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
