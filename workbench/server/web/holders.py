"""Tabs that hold tables, the size of these, and the tabs that have been idle for too
long.
"""

import threading
import time
import weakref
from typing import Protocol

from dpcore.errors import LimitError
from workbench.server.web import tabs
from workbench.store.settings import read_settings

KEY = "workbench"
"""Under which a tab's state holds what is ours."""


class Holder(Protocol):
    """A tab.

    Attributes:
        tab: its id.
        used: when a person last did something in it, on the monotonic clock.
    """

    tab: str
    used: float

    def sizes(self) -> list[int]:
        """Bytes of each table that it holds."""

    def is_busy(self) -> bool:
        """Return whether it is computing something."""

    def drop_tables(self) -> None:
        """Forget all rows, and remember that it did."""


_holders: weakref.WeakSet[Holder] = weakref.WeakSet()
_lock = threading.Lock()


def register(holder: Holder) -> None:
    """Keep an eye on a tab, for as long as it lives."""
    with _lock:
        _holders.add(holder)


def sizes() -> list[int]:
    """Bytes of each table that is open in any tab."""
    with _lock:
        return [size for holder in _holders for size in holder.sizes()]


def check_room(size: int) -> None:
    """Refuse one more table, or file, where the server holds as many, or as much, as it
    may.

    Raises: LimitError.
    """
    settings = read_settings()
    open_sizes = sizes()
    together = sum(open_sizes) + tabs.sent_bytes() + size
    if len(open_sizes) >= settings.tables or together > settings.table_bytes:
        raise LimitError(
            (
                "this server has no room for one more table: open are at most "
                "{tables}, "
                "of {limit} MB together"
            ),
            remedy="close tabs that you no longer need, or try again in a while",
            tables=settings.tables,
            limit=settings.table_bytes // 10**6,
        )


def drop_idle() -> list[Holder]:
    """Drop the tables of tabs that were idle for the time of the settings, and return
    these tabs.
    """
    before = time.monotonic() - 60 * read_settings().idle_minutes
    with _lock:
        idle = [
            each
            for each in _holders
            if each.used < before and each.sizes() and not each.is_busy()
        ]
    for holder in idle:
        holder.drop_tables()
    return idle
