"""Connections with timeouts to a SQLite file or a PostgreSQL server.

Readers and writers have separate pools, so that a queue of spends never blocks a
reader. A server that stops answering on an open connection is given up by this
program's own clock.
"""

import os
import sqlite3
import time
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from dpcore.errors import LedgerError
from workbench.store.database.failures import explain_errors
from workbench.store.database.narrow import restrict_connections
from workbench.store.settings import Settings

READ_TIMEOUT = 8.0
"""Seconds that one statement of a reader may take; a writer has those it may wait for
its lock on top.
"""
FIRST_ANSWER_TIMEOUT = 2
"""Seconds in which a server must answer at first, on a connection of before and then on
a new one.
"""
_MAX_EXTRA_CONNECTIONS = 50


class Connections:
    """Transactions on the database that the settings name.

    Attributes:
        file: of SQLite; None for a server.
    """

    def __init__(self, settings: Settings) -> None:
        url = sa.make_url(settings.database_url)
        self.file = (
            Path(str(url.database)) if url.get_backend_name() == "sqlite" else None
        )
        if self.file is not None:
            make_folder(self.file.parent)
            _make_private(self.file)
            self._inode = _inode(self.file)
        make = _sqlite_engine if self.file is not None else _postgres_engine
        self._reader = make(url, settings.lock_timeout, READ_TIMEOUT)
        self._writer = make(
            url, settings.lock_timeout, READ_TIMEOUT + settings.lock_timeout
        )
        self._looker = make(url, settings.lock_timeout, READ_TIMEOUT)
        restrict_connections(self._looker)

    def read_transaction(self) -> AbstractContextManager[sa.Connection]:
        """Begin a read transaction on one snapshot of the database."""
        return self._transaction(self._reader, is_writing=False)

    def write_transaction(self) -> AbstractContextManager[sa.Connection]:
        """Begin a transaction that is committed whole or not at all."""
        return self._transaction(self._writer, is_writing=True)

    def link_transaction(self) -> AbstractContextManager[sa.Connection]:
        """Begin a read-only transaction on the table of links alone; see `narrow`."""
        return self._transaction(self._looker, is_writing=False)

    @contextmanager
    def _transaction(
        self, engine: sa.Engine, *, is_writing: bool
    ) -> Iterator[sa.Connection]:
        if self.file is not None and _inode(self.file) != self._inode:
            raise LedgerError(
                (
                    "the ledger's file was replaced or removed while the program ran; "
                    "nothing was written"
                ),
                remedy=(
                    "stop the program, put the right file in place, and start it again"
                ),
            )
        options: dict[str, Any] = {"writing": is_writing}
        if engine.dialect.name == "postgresql":
            options["isolation_level"] = (
                "READ COMMITTED" if is_writing else "REPEATABLE READ"
            )
        with (
            explain_errors(),
            engine.connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            yield connection

    def close(self) -> None:
        """Give up idle connections."""
        self._reader.dispose()
        self._writer.dispose()
        self._looker.dispose()


def insert_if_new(connection: sa.Connection, table: sa.Table, **values: Any) -> None:
    """Insert a row, unless the table has a row with the same key."""
    insert = (
        postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    )
    connection.execute(insert(table).values(**values).on_conflict_do_nothing())


def make_folder(folder: Path) -> None:
    """Make a folder that only its owner can read."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _inode(file: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(file)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _make_private(file: Path) -> None:
    """Let only the owner read and write the ledger's file."""
    file.touch(mode=0o600)
    file.chmod(0o600)


def _sqlite_engine(url: sa.URL, lock_timeout: float, _: float) -> sa.Engine:
    engine = sa.create_engine(
        url,
        hide_parameters=True,
        connect_args={"timeout": lock_timeout},
        max_overflow=_MAX_EXTRA_CONNECTIONS,
        pool_timeout=lock_timeout,
    )

    def set_up(connection: Any, _: Any) -> None:
        # keep the driver from beginning transactions itself
        connection.isolation_level = None
        _use_wal(connection, lock_timeout)
        connection.execute("PRAGMA synchronous = FULL")
        # 256 KiB: the system caches the file for all connections anyway
        connection.execute("PRAGMA cache_size = -256")
        connection.execute("PRAGMA foreign_keys = ON")

    sa.event.listen(engine, "connect", set_up)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _postgres_engine(
    url: sa.URL, lock_timeout: float, answer_timeout: float
) -> sa.Engine:
    import psycopg

    class Bounded(psycopg.Connection[Any]):
        """Connection with a time limit on every answer of the server."""

        def wait(self, gen: Any, *given: Any, **named: Any) -> Any:
            # only the ping that tests a pooled connection runs in autocommit mode
            timeout = FIRST_ANSWER_TIMEOUT if self.autocommit else answer_timeout
            return super().wait(
                _run_until(gen, time.monotonic() + timeout, self), *given, **named
            )

    engine = sa.create_engine(
        url,
        hide_parameters=True,
        pool_pre_ping=True,
        max_overflow=_MAX_EXTRA_CONNECTIONS,
        pool_timeout=lock_timeout,
    )
    milliseconds = round(lock_timeout * 1000)

    def connect(_: Any, __: Any, given: Any, named: dict[str, Any]) -> Any:
        return Bounded.connect(
            *given, **{"connect_timeout": FIRST_ANSWER_TIMEOUT, **named}
        )

    def set_up(connection: Any, _: Any) -> None:
        connection.execute(f"SET lock_timeout = {milliseconds}")
        connection.execute(f"SET statement_timeout = {round(answer_timeout * 1000)}")
        # ends the transaction of a client that hangs, which frees its locks
        connection.execute("SET idle_in_transaction_session_timeout = '60s'")
        connection.commit()

    sa.event.listen(engine, "do_connect", connect)
    sa.event.listen(engine, "connect", set_up)
    return engine


def _run_until(
    steps: Generator[Any, Any, Any], deadline: float, connection: Any
) -> Generator[Any, Any, Any]:
    """Yield the steps of a conversation with the server until its deadline."""
    import psycopg

    try:
        wanted = next(steps)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() > deadline:
                connection.pgconn.finish()
                raise psycopg.OperationalError("no answer in time")
            wanted = steps.send(ready)
    except StopIteration as end:
        return end.value


def _use_wal(connection: Any, timeout: float) -> None:
    """Turn on SQLite's write-ahead log.

    SQLite does not wait for its lock when several programs turn the log on at once on a
    new file, so this tries again.
    """
    deadline = time.monotonic() + timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except UnicodeDecodeError:  # of what SQLite says about a damaged file
            raise sqlite3.DatabaseError("the file is damaged") from None
        except sqlite3.OperationalError as error:
            if (
                error.sqlite_errorcode != sqlite3.SQLITE_BUSY
                or time.monotonic() > deadline
            ):
                raise
            time.sleep(0.02)


def _begin_sqlite(connection: sa.Connection) -> None:
    # a deferred BEGIN would fail with "locked" when a reading transaction begins to
    # write after another one wrote
    writing = connection.get_execution_options().get("writing", True)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
