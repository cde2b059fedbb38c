"""The queue of long work: first come, first served, a limited number at once."""

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from workbench.server.workers.callbacks import check_cancelled
from workbench.store.settings import read_settings

POLL_SECONDS = 0.5


class RunQueue:
    """A first-in, first-out queue.

    Args:
        at_once: how many of its blocks run at the same time.
    """

    def __init__(self, max_running: int) -> None:
        self._at_once = max_running
        self._running = 0
        self._waiting: list[object] = []
        self._changed = threading.Condition()

    @contextmanager
    def wait_for_turn(self, on_place: Callable[[int], object]) -> Iterator[None]:
        """Wait for a turn, and keep it while the block runs.

        Args:
            on_place: called twice a second with the place in the queue, from 1; may
                raise to leave it.

        Raises: StoppedError if this thread's work is cancelled; errors of `on_place`.
        """
        ticket = object()
        with self._changed:
            self._waiting.append(ticket)
        try:
            while (place := self._place(ticket)) > 0:
                check_cancelled()
                on_place(place)
                with self._changed:
                    self._changed.wait(POLL_SECONDS)
        except BaseException:
            with self._changed:
                self._waiting.remove(ticket)
                self._changed.notify_all()
            raise
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def _place(self, ticket: object) -> int:
        """Return the place of a ticket in the queue, or take the turn and return 0."""
        with self._changed:
            place = self._waiting.index(ticket) + 1
            if place > self._at_once - self._running:
                return place
            self._waiting.remove(ticket)
            self._running += 1
            self._changed.notify_all()
            return 0


@functools.cache
def run_queue() -> RunQueue:
    """Return the queue shared by the long work of all tabs."""
    return RunQueue(read_settings().runs)
