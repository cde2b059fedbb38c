"""How much runs at once: whoever comes later waits in line, sees the place, and may step out."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dpcore.errors import DpcoreError
from workbench.store.settings import read_settings


class StoppedError(DpcoreError):
    """Somebody stopped a piece of work, or left it."""


def stopped() -> StoppedError:
    """What stopped work ends with."""
    return StoppedError("this was stopped before its end", remedy="start it again when you want it")


class Line:
    """First come, first served.

    Args:
        at_once: how many run beside each other.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._running = 0
        self._waiting: list[object] = []
        self._moved = threading.Condition()

    @contextmanager
    def turn(
        self, waits: Callable[[int], object], cancelled: Callable[[], bool] = lambda: False
    ) -> Iterator[None]:
        """Wait for a turn, and keep it for the block.

        Args:
            waits: told the place in line, from 1, twice a second; may raise to step out.
            cancelled: asked as often.
        Raises: StoppedError; what `waits` raises.
        """
        ticket = object()
        with self._moved:
            self._waiting.append(ticket)
        try:
            while (place := self._place(ticket)) > 0:
                if cancelled():
                    raise stopped()
                waits(place)
                with self._moved:
                    self._moved.wait(0.5)
        except BaseException:
            with self._moved:
                self._waiting.remove(ticket)
                self._moved.notify_all()
            raise
        try:
            yield
        finally:
            with self._moved:
                self._running -= 1
                self._moved.notify_all()

    def _place(self, ticket: object) -> int:
        """The place in line; 0 when the turn has come, which is then taken."""
        with self._moved:
            place = self._waiting.index(ticket) + 1
            if place > self._at_once - self._running:
                return place
            self._waiting.remove(ticket)
            self._running += 1
            self._moved.notify_all()
            return 0


@functools.cache
def runs() -> Line:
    """The line for releases, searches and other long work of all tabs."""
    return Line(read_settings().runs)
