"""Processes that still run, known by a lock that the system, or the database, frees when they end."""

from __future__ import annotations

import fcntl
import os
import threading
import uuid

import sqlalchemy as sa

from workbench.store.connections import make_folder
from workbench.store.database import Store


class Alive:
    """The mark of this process on a store."""

    def __init__(self, store: Store) -> None:
        self.mark = uuid.uuid4().hex
        self._store = store
        self._lock = threading.Lock()
        self._held: int | sa.Connection | None = None

    def hold(self) -> str:
        """Take the lock, where it is not held, and return the mark that others know this process by."""
        with self._lock:
            if isinstance(self._held, sa.Connection):
                self._hold_again(self._held)
            if self._held is None:
                self._held = self._take()
        return self.mark

    def is_alive(self, mark: str, connection: sa.Connection) -> bool:
        """Return whether the process of a mark still runs."""
        if mark == self.mark:
            return True
        if self._store.file is None:
            asked = sa.select(sa.func.pg_try_advisory_xact_lock(_number(mark)))
            return bool(mark) and not connection.execute(asked).scalar_one()
        path = self._store.file.parent / "running" / (mark or "-")
        try:
            handle = os.open(path, os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        else:
            path.unlink(missing_ok=True)
            return False
        finally:
            os.close(handle)

    def _take(self) -> int | sa.Connection:
        if self._store.file is None:
            connection = self._store.apart()
            connection.execute(sa.select(sa.func.pg_advisory_lock(_number(self.mark))))
            return connection
        folder = self._store.file.parent / "running"
        make_folder(folder)
        handle = os.open(folder / self.mark, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
        return handle

    def _hold_again(self, connection: sa.Connection) -> None:
        """Drop a connection that broke, and has lost its lock."""
        try:
            connection.execute(sa.select(1))
        except sa.exc.SQLAlchemyError:
            connection.invalidate()
            self._held = None


def _number(mark: str) -> int:
    return int(mark[:15] or "0", 16)
