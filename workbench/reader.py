"""Reads strangers' files in a process of its own, `python -m workbench.reader FD`; see workbench.reading.

The program waits with its libraries loaded, and makes a copy of itself for each file. The system holds each
copy to a size and a time, so that no file stalls or fills the server; the copy ends with its file.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from dpcore.curator import Curator
from dpcore.errors import DpcoreError
from dpcore.io import read_table
from dpcore.schema import suggest_schema

MEMORY = 900 * 2**20
"""Bytes that reading one file may take, beyond what the libraries take."""
SECONDS = 30


def read(data: bytes, name: str, options: dict[str, Any], key: bytes | None) -> Any:
    """What was read; with a key also the schema that is suggested and the keyed fingerprint."""
    table = read_table(data, name, **options)
    if key is None or table.frame.empty:
        return table, None, ""
    holder: Any = SimpleNamespace(key=key)
    return table, suggest_schema(table.frame), Curator.dataset_of(table.frame, holder)


def serve(job: Connection) -> None:
    """Read one file within the limits, and answer ("read", ...), ("refused", error) or ("failed", type)."""
    job.send(os.getpid())
    given = job.recv()
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(SECONDS)  # ends the process, wherever it is
    os.nice(5)
    try:
        answer = ("read", read(*given))
    except DpcoreError as error:
        error.__traceback__ = error.__cause__ = error.__context__ = None
        answer = ("refused", error)
    except MemoryError:
        answer = ("memory", None)
    except Exception as error:  # its words may hold values
        answer = ("failed", type(error).__name__)
    job.send(answer)


def main(control: socket.socket) -> None:
    """One copy for each connection that comes over the control line, until that is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server tells when to end
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        message, handles, *_ = socket.recv_fds(control, 1, 1)
        if not message:
            return
        if os.fork() == 0:
            control.close()
            try:
                serve(Connection(handles[0]))
            finally:
                os._exit(0)
        os.close(handles[0])


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
