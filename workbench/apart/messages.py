"""Objects between two processes, over a socket and never a file; large arrays are sent without a copy."""

from __future__ import annotations

import pickle
from multiprocessing.connection import Connection
from typing import Any


def send(line: Connection, message: Any) -> None:
    """Send anything that can be pickled. Raises: what pickling raises; OSError when nobody is there."""
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(message, protocol=5, buffer_callback=buffers.append)
    parts = [buffer.raw() for buffer in buffers]
    line.send([len(data), *(part.nbytes for part in parts)])
    for part in (memoryview(data), *parts):
        line.send_bytes(part)


def receive(line: Connection) -> Any:
    """What the other side sent. Raises: EOFError, OSError when it has ended."""
    data, *parts = [bytearray(size) for size in line.recv()]
    for part in (data, *parts):
        line.recv_bytes_into(part)
    return pickle.loads(data, buffers=parts)
