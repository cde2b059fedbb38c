"""How many rows of a source a pass has read: told to whoever waits for it in the same thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from workbench.apart.line import stopped

Listener = Callable[[int], None]
_here = threading.local()


def tell(rows: int) -> None:
    """What a curator of a source is opened with. Raises: what a listener raises, which ends the pass."""
    for listener in getattr(_here, "listeners", ()):
        listener(rows)


def until(cancelled: Callable[[], bool]) -> Listener:
    """A listener that ends the pass once nobody wants it, with StoppedError or what `cancelled` raises."""

    def listen(rows: int) -> None:
        if cancelled():
            raise stopped()

    return listen


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Have one more listener in this thread."""
    before = getattr(_here, "listeners", ())
    _here.listeners = (*before, listener)
    try:
        yield
    finally:
        _here.listeners = before
