"""The database: one transaction at a time may spend, and what was committed outlasts a power failure.

SQLite (WAL, synchronous=FULL) takes its single write lock at BEGIN IMMEDIATE; on PostgreSQL a spend locks the
row of its account with SELECT ... FOR UPDATE. The ledger's key is not in the database, so that a copy of the
database is not enough to forge a line or to find out which table an account belongs to.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from dpcore.errors import LedgerError
from workbench.store.connections import Connections, make_folder
from workbench.store.failures import explained
from workbench.store.migrations import VERSION, bring_forward
from workbench.store.settings import Settings
from workbench.store.tables import about, tables
from workbench.store.witness import Witness

_INITIALIZE_LOCK = 0x70776231  # any number that no other program on the server uses


class Store:
    """A database with the workbench's tables, and the key that belongs to it. Make one with `Store.open`."""

    def __init__(self, *, connections: Connections, key: bytes, witness: Witness) -> None:
        self._connections = connections
        self.key = key
        self.witness = witness

    @classmethod
    def open(cls, settings: Settings) -> Store:
        """Open the database of the settings; make its tables and its key where both are new.

        Raises: LedgerError when it cannot be reached, was made by a newer version or with another key, or
            is gone although its key is there.
        """
        with explained():
            connections = Connections(settings)
            witness = Witness(settings.data_dir / "seen")
            with connections.transaction(writing=True) as connection:
                key = _initialize(connection, settings, witness)
            _settle_key(settings.data_dir)
            return cls(connections=connections, key=key, witness=witness)

    @property
    def file(self) -> Path | None:
        """The SQLite file, if it is one."""
        return self._connections.file

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """One transaction that sees one state of the database, whatever others write."""
        with explained(), self._connections.transaction(writing=False) as connection:
            yield connection

    @contextmanager
    def looking(self) -> Iterator[sa.Connection]:
        """One transaction that sees the table of links alone, and cannot write."""
        with explained(), self._connections.looking() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """One transaction that is there whole or not at all."""
        with explained(), self._connections.transaction(writing=True) as connection:
            yield connection

    def apart(self) -> sa.Connection:
        """A connection for a lock that is held for long."""
        return self._connections.apart()

    def close(self) -> None:
        """Give up idle connections."""
        self._connections.close()


def _initialize(connection: sa.Connection, settings: Settings, witness: Witness) -> bytes:
    """Make the tables where there are none, and return the key that they were made with."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_INITIALIZE_LOCK)))
    if not sa.inspect(connection).has_table(about.name):
        if (settings.data_dir / _KEY).exists() or witness.datasets():
            raise LedgerError(
                "the ledger's database is gone, but its key or its trace is there: budgets may be spent",
                remedy="restore the database with `make restore`; or, to forget all that was spent, move "
                "ledger.key and the folder seen out of the data directory",
            )
        key = settings.key or _new_key(settings.data_dir)
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
    key = settings.key or _key_in(settings.data_dir)
    if row.key_check != _key_check(key):
        raise LedgerError(
            "the key does not belong to this ledger",
            remedy="restore ledger.key in the data directory, or WORKBENCH_KEY, with which it was made",
        )
    bring_forward(connection, row.version)
    return key


_KEY, _NEW_KEY = "ledger.key", "ledger.key.new"


def _key_check(key: bytes) -> str:
    return hmac.new(key, b"key of this ledger", hashlib.sha256).hexdigest()


def _new_key(folder: Path) -> bytes:
    """A key on its way: it becomes `ledger.key`, which only its owner reads, once the tables are there."""
    key = secrets.token_bytes(32)
    make_folder(folder)
    draft = folder / f"{_NEW_KEY}-{uuid.uuid4().hex}"
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(key.hex())
        file.flush()
        os.fsync(file.fileno())
    draft.replace(folder / _NEW_KEY)
    return key


def _settle_key(folder: Path) -> None:
    try:
        (folder / _NEW_KEY).replace(folder / _KEY)
    except FileNotFoundError:
        return  # settled before, by this start or another one


def _key_in(folder: Path) -> bytes:
    """The key in `ledger.key`, or the one that a start which was broken off had on its way."""
    for name in (_KEY, _NEW_KEY, _KEY):  # another start may settle it between two looks
        try:
            return bytes.fromhex((folder / name).read_text(encoding="ascii"))
        except FileNotFoundError:
            continue
        except ValueError:
            raise LedgerError(
                "ledger.key in the data directory does not hold a key", remedy="restore it from a backup"
            ) from None
    raise LedgerError(
        "the key of this ledger is missing",
        remedy="set WORKBENCH_KEY, or restore ledger.key in the data directory",
    )
