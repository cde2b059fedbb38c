"""Operator commands for a ledger: back up, restore, check, accept and adopt.

The commands are in `workbench/__main__.py`; see docs/hosting.md.
"""

import contextlib
import os
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from dpcore.errors import DpcoreError, LedgerError, ParameterError
from workbench.store.database.connections import make_folder
from workbench.store.database.failures import explain_errors
from workbench.store.database.keys import KEY_FILE
from workbench.store.database.store import Store
from workbench.store.database.tables import accounts, lines, workbench_info
from workbench.store.ledger.sql_ledger import SqlLedger
from workbench.store.people.owners import Owners
from workbench.store.settings import Settings


def backup(settings: Settings, target: Path, key_target: Path | None = None) -> str:
    """Copy the database into a new folder and its key into another.

    The server may go on. Whoever has both copies can forge lines, so they are never in
    one place. A key in `WORKBENCH_KEY` is not copied. Returns how many accounts and
    lines the copy holds, in words.

    Raises: ParameterError if a folder is not empty or lies in the other one.
    """
    key = settings.data_dir / KEY_FILE
    if (settings.key is None) != (key_target is not None):
        raise ParameterError(
            (
                "the database and the key file must go to two different folders; a "
                "key in WORKBENCH_KEY is not copied"
            ),
            remedy=(
                "run make backup TO=folder KEY_TO=another; leave out KEY_TO if "
                "WORKBENCH_KEY is set"
            ),
        )
    places = [target] if key_target is None else [target, key_target]
    one = places[0].resolve()
    other = places[-1].resolve()
    inside = one.is_relative_to(other) or other.is_relative_to(one)
    if (inside and len(places) > 1) or any(
        place.exists() and any(place.iterdir()) for place in places
    ):
        raise ParameterError(
            "a folder of the backup is not empty, or lies inside the other folder",
            remedy="name two new folders",
        )
    for place in places:
        make_folder(place)
    store = Store(settings)
    with (
        store.read_transaction() as connection
    ):  # which sees one state, and so does the copy
        size = ledger_size_words(connection)
        if store.file is not None:
            _copy_sqlite(
                connection.connection.driver_connection, target / "workbench.sqlite"
            )
        else:
            connection.exec_driver_sql(
                "SET LOCAL idle_in_transaction_session_timeout = 0"
            )
            snapshot = connection.exec_driver_sql(
                "SELECT pg_export_snapshot()"
            ).scalar_one()
            options = (
                "--format=custom",
                f"--snapshot={snapshot}",
                f"--file={target / 'workbench.dump'}",
            )
            _run_postgres_tool(settings, "pg_dump", *options)
    if key_target is not None:
        shutil.copy2(key, key_target / KEY_FILE)
    for copied in (file for place in places for file in place.iterdir()):
        copied.chmod(0o600)
    return size


def ledger_size_words(connection: sa.Connection) -> str:
    """Return how many accounts and lines a ledger holds, in words."""
    sizes = [
        connection.scalar(sa.select(sa.func.count()).select_from(table))
        for table in (accounts, lines)
    ]
    return "{} accounts, {} lines".format(*sizes)


def check_ledger_exists(settings: Settings) -> None:
    """Raise an error if there is no ledger, since only `restore` makes one.

    Raises: LedgerError.
    """
    url = sa.make_url(settings.database_url)
    if url.get_backend_name() != "sqlite" or Path(str(url.database)).exists():
        with explain_errors(), sa.create_engine(url).connect() as connection:
            if sa.inspect(connection).has_table(workbench_info.name):
                return
    remedy = (
        "run this with the DATABASE_URL or WORKBENCH_DATA_DIR of the server, and as "
        "its user"
    )
    raise LedgerError(
        "there is no ledger at the place that the settings name", remedy=remedy
    )


def restore(
    settings: Settings, source: Path, key_source: Path | None = None
) -> list[str]:
    """Replace the database with a backup, and put its key file back.

    The server may go on. Accounts whose last line is older than the last one this
    server saw stay shut until `accept`; they are returned.

    Raises: LedgerError, with nothing changed, if the database or its key is missing or
        the key is another one.
    """
    url = sa.make_url(settings.database_url)
    sqlite = url.get_backend_name() == "sqlite"
    copied = source / ("workbench.sqlite" if sqlite else "workbench.dump")
    key = settings.data_dir / KEY_FILE
    if not copied.exists():
        raise LedgerError(
            "there is no database in the folder of the backup",
            remedy="name the right folder",
        )
    if settings.key is None:
        kept = key if key_source is None else key_source / KEY_FILE
        if not kept.exists():
            raise LedgerError(
                (
                    "the key of the backup is missing, and the ledger cannot be "
                    "opened without it"
                ),
                remedy=(
                    "run make restore FROM=folder KEY_FROM=folder-of-the-key, or "
                    "set WORKBENCH_KEY"
                ),
            )
        if key.exists() and key.read_bytes() != kept.read_bytes():
            raise LedgerError(
                ("ledger.key in the data directory is not the key of the backup"),
                remedy="move ledger.key to another place, and start again",
            )
        if not key.exists():
            make_folder(settings.data_dir)
            shutil.copy2(kept, key)
    if sqlite:
        file = Path(str(url.database))
        make_folder(file.parent)
        with contextlib.closing(sqlite3.connect(copied)) as read:
            _copy_sqlite(read, file)
        file.chmod(0o600)
    else:
        clean = ("--clean", "--if-exists", "--single-transaction", "--no-owner")
        _run_postgres_tool(settings, "pg_restore", *clean, str(copied))
    return check(settings)


def check(settings: Settings) -> list[str]:
    """Verify the lines of every account; return the data sets that are not in order."""
    store = Store(settings)
    with store.read_transaction() as connection:
        print(ledger_size_words(connection))
    ledger = SqlLedger(store)
    broken = []
    for dataset in ledger.datasets():
        try:
            ledger.verify(dataset)
        except DpcoreError as error:
            print(f"{dataset[:12]}: {error}")
            broken.append(dataset)
    return broken


def accept(settings: Settings) -> None:
    """Accept the ledger as it is, although later lines were seen.

    A line in each account says so.
    """
    ledger = SqlLedger(Store(settings))
    for dataset in ledger.datasets():
        ledger.accept(dataset)


def adopt(settings: Settings, address: str) -> int:
    """Give one steward all data sets opened without sign-in; return their number."""
    if "@" not in address:
        raise ParameterError(
            "adopt needs the address of a steward", remedy="such as ada@example.org"
        )
    return Owners(Store(settings)).adopt(address.strip().lower())


def _copy_sqlite(source: Any, target: Path) -> None:
    """Copy a SQLite database while others read and write.

    SQLite's own backup includes the pages that are still in its log.
    """
    with contextlib.closing(sqlite3.connect(target, timeout=60)) as written:
        source.backup(written)


def _run_postgres_tool(settings: Settings, program: str, *arguments: str) -> None:
    url = sa.make_url(settings.database_url).set(drivername="postgresql")
    password = {"PGPASSWORD": url.password} if url.password else {}
    plain = url._replace(password=None).render_as_string(hide_password=False)
    try:
        done = subprocess.run(
            [program, f"--dbname={plain}", *arguments],
            env={**os.environ, **password},
            check=False,
        )
    except FileNotFoundError:
        raise LedgerError(
            f"{program} is not installed", remedy="install the client of PostgreSQL"
        ) from None
    if done.returncode:
        raise LedgerError(f"{program} failed", remedy="see its messages above")
