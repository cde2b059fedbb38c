"""A way to a database server that can fall silent, its connections still open, as a
network may.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import sqlalchemy as sa


class Way:
    """A port of this computer that leads to a server.

    Attributes:
        url: the address of the database, by this way.
        open: cleared while nothing goes through it; what was said meanwhile is lost.
    """

    def __init__(self, url: str) -> None:
        there = sa.make_url(url)
        self._there = (there.host or "127.0.0.1", there.port or 5432)
        self._door = socket.create_server(("127.0.0.1", 0))
        here = there.set(host="127.0.0.1", port=self._door.getsockname()[1])
        self.url = here.render_as_string(hide_password=False)
        self.open = threading.Event()
        self.open.set()
        threading.Thread(target=self._let_in, daemon=True).start()

    def _let_in(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                ours, _ = self._door.accept()
                theirs = socket.create_connection(self._there)
                for one, other in ((ours, theirs), (theirs, ours)):
                    threading.Thread(
                        target=self._pass_on, args=(one, other), daemon=True
                    ).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65_536):
                if self.open.is_set():
                    other.sendall(data)
            other.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def way(url: str) -> Iterator[Way]:
    """A way that ends with the block."""
    made = Way(url)
    yield made
    made._door.close()
