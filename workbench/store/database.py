"""The database: one transaction at a time may spend, and what was committed outlasts a power failure.

SQLite (WAL, synchronous=FULL) takes its single write lock at BEGIN IMMEDIATE; on PostgreSQL a spend locks the
row of its account with SELECT ... FOR UPDATE. The ledger's key is not in the database, so that a copy of the
database is not enough to forge a line or to find out which table an account belongs to.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import os
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from dpcore.errors import LedgerError
from workbench.store.settings import Settings

VERSION = 1
_INITIALIZE_LOCK = 0x70776231  # any number that no other program on the server uses

tables = sa.MetaData()

about = sa.Table(
    "workbench",
    tables,
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("key_check", sa.Text, nullable=False),
)

accounts = sa.Table(
    "ledger_accounts",
    tables,
    sa.Column("dataset", sa.Text, primary_key=True),
    sa.Column("rule", sa.Text, sa.CheckConstraint("rule IN ('basic', 'zcdp')"), nullable=False),
    sa.Column("units", sa.BigInteger, sa.CheckConstraint("units > 0"), nullable=False),
    sa.Column("threshold_units", sa.BigInteger, sa.CheckConstraint("threshold_units >= 0"), nullable=False),
    sa.Column("promise", sa.Text, nullable=False),
    sa.Column("unit", sa.Text, nullable=False),
    sa.Column("head", sa.Text, nullable=False),
)

lines = sa.Table(
    "ledger_lines",
    tables,
    sa.Column("dataset", sa.ForeignKey(accounts.c.dataset), primary_key=True),
    sa.Column("number", sa.Integer, sa.CheckConstraint("number >= 0"), primary_key=True, autoincrement=False),
    sa.Column("request_id", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("units", sa.BigInteger, nullable=False),
    sa.Column("threshold_units", sa.BigInteger, sa.CheckConstraint("threshold_units >= 0"), nullable=False),
    sa.Column("part", sa.Text),
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("previous", sa.Text, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.UniqueConstraint("dataset", "request_id", "state"),
    sa.CheckConstraint("state IN ('opened', 'reserved', 'committed', 'failed', 'outside')"),
    sa.CheckConstraint("units > 0 AND state = 'reserved' OR units = 0 AND state <> 'reserved'"),
)
_ended = lines.c.state.in_(["committed", "failed"])
sa.Index(
    "ledger_lines_one_end",
    lines.c.dataset,
    lines.c.request_id,
    unique=True,
    sqlite_where=_ended,
    postgresql_where=_ended,
)
# holds all that a spend adds up, so that it reads no line
sa.Index(
    "ledger_lines_charges",
    lines.c.dataset,
    lines.c.state,
    lines.c.part,
    lines.c.units,
    lines.c.threshold_units,
)

releases = sa.Table(
    "ledger_releases",
    tables,
    sa.Column("dataset", sa.ForeignKey(accounts.c.dataset), primary_key=True),
    sa.Column("request_id", sa.Text, primary_key=True),
    sa.Column("text", sa.Text, nullable=False),
)


class Store:
    """A database with the workbench's tables, and the key that belongs to it. Make one with `Store.open`."""

    def __init__(self, *, engine: sa.Engine, key: bytes) -> None:
        self._engine = engine
        self.key = key

    @classmethod
    def open(cls, settings: Settings) -> Store:
        """Open the database of the settings; make its tables and its key where it is new.

        Raises: LedgerError when it cannot be reached, was made by a newer version, or with another key.
        """
        with _explained():
            engine = _engine(settings)
            with _transaction(engine, writing=True) as connection:
                return cls(engine=engine, key=_initialize(connection, settings))

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """One transaction that sees one state of the database, whatever others write."""
        with _explained(), _transaction(self._engine, writing=False) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """One transaction that is there whole or not at all."""
        with _explained(), _transaction(self._engine, writing=True) as connection:
            yield connection

    def close(self) -> None:
        """Give up idle connections."""
        self._engine.dispose()


@contextmanager
def _transaction(engine: sa.Engine, *, writing: bool) -> Iterator[sa.Connection]:
    options: dict[str, Any] = {"writing": writing}
    if engine.dialect.name == "postgresql":
        options["isolation_level"] = "READ COMMITTED" if writing else "REPEATABLE READ"
    with engine.connect().execution_options(**options) as connection, connection.begin():
        yield connection


def _make_private(file: Path) -> None:
    """The file of the ledger is its owner's alone, whatever the rights of its folder."""
    file.touch(mode=0o600)
    file.chmod(0o600)


def _engine(settings: Settings) -> sa.Engine:
    url = sa.make_url(settings.database_url)
    if url.get_backend_name() == "sqlite":
        _make_folder(Path(str(url.database)).parent)
        _make_private(Path(str(url.database)))
        engine = sa.create_engine(url, hide_parameters=True, connect_args={"timeout": settings.lock_timeout})

        def set_up_sqlite(connection: Any, _: Any) -> None:
            connection.isolation_level = None  # the driver must not begin transactions of its own
            _use_wal(connection, settings.lock_timeout)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")

        sa.event.listen(engine, "connect", set_up_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine
    engine = sa.create_engine(
        url, hide_parameters=True, pool_pre_ping=True, connect_args={"connect_timeout": 10}
    )
    milliseconds = round(settings.lock_timeout * 1000)

    def set_up_postgres(connection: Any, _: Any) -> None:
        connection.execute(f"SET lock_timeout = {milliseconds}")
        # frees the locks of a client that hangs
        connection.execute("SET idle_in_transaction_session_timeout = '60s'")
        connection.commit()

    sa.event.listen(engine, "connect", set_up_postgres)
    return engine


def _use_wal(connection: Any, patience: float) -> None:
    """SQLite does not wait for its lock when several programs turn WAL on at once, on a new file."""
    deadline = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _begin_sqlite(connection: sa.Connection) -> None:
    # a deferred BEGIN would fail with "locked" when a reader turns into a writer after another one wrote
    writing = connection.get_execution_options().get("writing", True)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _initialize(connection: sa.Connection, settings: Settings) -> bytes:
    """Make the tables where there are none, and return the key that they were made with."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_INITIALIZE_LOCK)))
    is_new = not sa.inspect(connection).has_table(about.name)
    if is_new:
        key = settings.key or _key_in(settings.data_dir, make=True)
        tables.create_all(connection)
        connection.execute(sa.insert(about).values(version=VERSION, key_check=_key_check(key)))
        return key
    row = connection.execute(sa.select(about)).one()
    if row.version > VERSION:
        raise LedgerError(
            "the ledger has version {version} and this program knows up to version {readable}",
            remedy="start the newer version of the program",
            version=row.version,
            readable=VERSION,
        )
    key = settings.key or _key_in(settings.data_dir, make=False)
    if row.key_check != _key_check(key):
        raise LedgerError(
            "the key does not belong to this ledger",
            remedy="restore ledger.key in the data directory, or WORKBENCH_KEY, with which it was made",
        )
    return key


def _key_check(key: bytes) -> str:
    return hmac.new(key, b"key of this ledger", hashlib.sha256).hexdigest()


def _make_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _key_in(folder: Path, *, make: bool) -> bytes:
    """The key in `ledger.key`, a file that only its owner reads."""
    path = folder / "ledger.key"
    if make and not path.exists():
        _make_folder(folder)
        draft = path.with_suffix(".new")
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    try:
        return bytes.fromhex(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        raise LedgerError(
            "the key of this ledger is missing",
            remedy="set WORKBENCH_KEY, or restore ledger.key in the data directory",
        ) from None
    except ValueError:
        raise LedgerError(
            "ledger.key in the data directory does not hold a key", remedy="restore it from a backup"
        ) from None


@contextmanager
def _explained() -> Iterator[None]:
    """Turn what the database or the disk says into one sentence with a way on."""
    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        problem, remedy = _explain(error)
        raise LedgerError(problem, remedy=remedy) from error


_BUSY = "another spend holds the ledger for too long; nothing was written", "try again in a moment"
_FULL = "the disk that holds the ledger is full; nothing was written", "free some space, then try again"
_FORBIDDEN = (
    "the ledger's files cannot be opened for writing; nothing was written",
    "give this program the right to write in the data directory",
)
_BROKEN = "the ledger's database refused; nothing was written", "see the log of the server"
_LOST = (
    "the ledger's database cannot be reached; a charge that it took before it was lost stays",
    "check that the database runs and that DATABASE_URL is right, then look into the ledger",
)
_SIGNS = {
    "SQLITE_BUSY": _BUSY,
    "SQLITE_FULL": _FULL,
    "SQLITE_READONLY": _FORBIDDEN,
    "SQLITE_CANTOPEN": _FORBIDDEN,
    "55P03": _BUSY,  # lock_not_available
    "53100": _FULL,  # disk_full
    "08": _LOST,  # connection exceptions
    "57P": _LOST,  # the server stops
    "25P03": _LOST,  # idle_in_transaction_session_timeout
    "ENOSPC": _FULL,
    "EDQUOT": _FULL,
    "EACCES": _FORBIDDEN,
    "EPERM": _FORBIDDEN,
    "EROFS": _FORBIDDEN,
}


def _explain(error: SQLAlchemyError | OSError) -> tuple[str, str]:
    """By the codes of SQLite, PostgreSQL and the system: their sentences differ with the language."""
    if isinstance(error, OSError):
        code = errno.errorcode.get(error.errno or 0, "")
    else:
        cause = getattr(error, "orig", None)
        code = getattr(cause, "sqlstate", None) or getattr(cause, "sqlite_errorname", None) or ""
        if not code and isinstance(error, OperationalError | InterfaceError):
            return _LOST
        if isinstance(error, PoolTimeout):
            return _BUSY
    return next((words for sign, words in _SIGNS.items() if code.startswith(sign)), _BROKEN)
