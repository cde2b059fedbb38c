"""Tabs that hold open tables: sizes of the tables, and which tabs are idle."""

import threading
import time
import weakref
from typing import Protocol

from dpcore.errors import LimitError
from workbench.server.web import tabs
from workbench.store.settings import read_settings

SESSION_KEY = "workbench"
"""Under which a tab's state holds what is ours."""


class TableHolder(Protocol):
    """A tab that may hold tables.

    Attributes:
        tab: its id.
        last_used: time of the last action of a person in it, on the monotonic clock.
    """

    tab: str
    last_used: float

    def table_sizes(self) -> list[int]:
        """Return the size of each table that the tab holds, in bytes."""

    def is_busy(self) -> bool:
        """Return whether the tab is computing something."""

    def drop_tables(self) -> None:
        """Drop all rows that the tab holds, and remember that they were dropped."""


_holders: weakref.WeakSet[TableHolder] = weakref.WeakSet()
_lock = threading.Lock()


def register_holder(holder: TableHolder) -> None:
    """Count a tab's tables for as long as the tab lives."""
    with _lock:
        _holders.add(holder)


def sizes_of_open_tables() -> list[int]:
    """Return the size of each table open in any tab, in bytes."""
    with _lock:
        return [size for holder in _holders for size in holder.table_sizes()]


def check_room(size: int) -> None:
    """Refuse one more table or file if the server is full.

    Raises: LimitError.
    """
    settings = read_settings()
    open_sizes = sizes_of_open_tables()
    together = sum(open_sizes) + tabs.unread_upload_bytes() + size
    if len(open_sizes) >= settings.tables or together > settings.table_bytes:
        raise LimitError(
            (
                "this server has no room for another table: at most {tables} tables "
                "with {limit} MB in total may be open"
            ),
            remedy="close tabs that you no longer need, or try again in a while",
            tables=settings.tables,
            limit=settings.table_bytes // 10**6,
        )


def drop_idle_tables() -> list[TableHolder]:
    """Drop the tables of tabs idle beyond the limit; return these tabs."""
    before = time.monotonic() - 60 * read_settings().idle_minutes
    with _lock:
        idle = [
            holder
            for holder in _holders
            if holder.last_used < before
            and holder.table_sizes()
            and not holder.is_busy()
        ]
    for holder in idle:
        holder.drop_tables()
    return idle
