"""The database: one spend at a time, and no commit is lost in a power failure.

SQLite (WAL, synchronous=FULL) takes its single write lock at BEGIN IMMEDIATE; on
PostgreSQL a spend locks the row of its account with SELECT ... FOR UPDATE. The ledger's
key is not in the database: a copy of the database is not enough to forge a line or to
find out which table an account belongs to.
"""

import secrets
from datetime import UTC, datetime

import sqlalchemy as sa

from dpcore.accounting.ledger import altered_error
from dpcore.errors import LedgerError
from workbench.store.database.connections import Connections
from workbench.store.database.failures import explain_errors
from workbench.store.database.keys import (
    KEY_FILE,
    NEW_KEY_FILE,
    key_fields,
    make_key,
    read_keys,
    settle_key,
)
from workbench.store.database.migrations import NEWEST_VERSION, migrate
from workbench.store.database.tables import tables, workbench_info
from workbench.store.database.witness import Witness
from workbench.store.settings import Settings

_INITIALIZE_LOCK = 0x70776231  # any number that no other program on the server uses


class Store(Connections):
    """A database with the workbench's tables, and its keys.

    Attributes:
        key: seals the lines of the ledger; nothing outside this process gets it.
        row_key: digests rows.
        witness: the last line seen of each account.
    """

    def __init__(self, settings: Settings) -> None:
        """Open the database of the settings; make tables and key if both are new.

        Raises: LedgerError if it cannot be reached, was made by a newer version or with
            another key, or is gone although its key is there.
        """
        with explain_errors():
            super().__init__(settings)
            self.witness = Witness(settings.data_dir / "seen")
            with self.write_transaction() as connection:
                self.key, self.row_key = _initialize(connection, settings, self.witness)
            settle_key(settings.data_dir, self.key)
        self._latest = datetime.now(UTC)

    def now(self) -> datetime:
        """Return the time; it never goes back while this program runs."""
        self._latest = max(self._latest, datetime.now(UTC))
        return self._latest


def _initialize(
    connection: sa.Connection, settings: Settings, witness: Witness
) -> tuple[bytes, bytes]:
    """Make the tables if there are none; return the keys of the database."""
    lock_initialization(connection)
    if not sa.inspect(connection).has_table(workbench_info.name):
        if (settings.data_dir / KEY_FILE).exists() or witness.datasets():
            raise LedgerError(
                (
                    "the ledger's database is missing, but its key or the record of "
                    "its lines is there, so budgets may have been spent"
                ),
                remedy="restore the database with `make restore`; or, to forget all "
                "that was spent, move the file ledger.key and the folder named "
                "seen out of the data directory",
            )
        key = settings.key or make_key(settings.data_dir / NEW_KEY_FILE)
        rows = secrets.token_bytes(32)
        tables.create_all(connection)
        connection.execute(
            sa.insert(workbench_info).values(
                version=NEWEST_VERSION, **key_fields(key, rows)
            )
        )
        return key, rows
    version = connection.execute(sa.select(workbench_info.c.version)).scalar()
    if type(version) is not int or version < 1:
        raise altered_error()
    if version > NEWEST_VERSION:
        raise LedgerError(
            "the file has version {version}, but this program reads version {readable}",
            remedy="open it with the program that made it",
            version=version,
            readable=NEWEST_VERSION,
        )
    migrate(connection, version)
    # a wrong key raises an error, which also undoes the migration
    return read_keys(connection, settings)


def lock_initialization(connection: sa.Connection) -> None:
    """Let one process at a time make the tables or change the keys.

    On SQLite the transaction has locked the whole file already.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_INITIALIZE_LOCK)))
