"""What whoever runs the server can do: backup, restore, check, accept, adopt. See docs/hosting.md."""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa

from dpcore.errors import DpcoreError, LedgerError, ParameterError
from workbench.store.connections import make_folder
from workbench.store.database import Store
from workbench.store.ledger import SqlLedger
from workbench.store.owners import Owners
from workbench.store.settings import Settings, read_settings


def backup(settings: Settings, target: Path) -> None:
    """Copy the database as it is, and the key, into a new folder; the server may go on."""
    make_folder(target)
    if any(target.iterdir()):
        raise ParameterError("the folder of the backup is not empty", remedy="name a new one")
    file = Store.open(settings).file
    if file is not None:
        _copy(file, target / "workbench.sqlite")
    else:
        _postgres(settings, "pg_dump", "--format=custom", f"--file={target / 'workbench.dump'}")
    key = settings.data_dir / "ledger.key"
    if key.exists():
        shutil.copy2(key, target / key.name)
    for copied in target.iterdir():
        copied.chmod(0o600)


def restore(settings: Settings, source: Path) -> list[str]:
    """Put a backup in the place of the database; the server may go on. What is older than what was seen
    stays shut until `accept`: its data sets are returned.
    """
    key = settings.data_dir / "ledger.key"
    if (source / key.name).exists() and not key.exists():
        make_folder(settings.data_dir)
        shutil.copy2(source / key.name, key)
    url = sa.make_url(settings.database_url)
    if url.get_backend_name() == "sqlite":
        file = Path(str(url.database))
        make_folder(file.parent)
        _copy(source / "workbench.sqlite", file)
        file.chmod(0o600)
    else:
        clean = ("--clean", "--if-exists", "--single-transaction", "--no-owner")
        _postgres(settings, "pg_restore", *clean, str(source / "workbench.dump"))
    return check(settings)


def check(settings: Settings) -> list[str]:
    """Walk every chain; the data sets that are not in order."""
    ledger = SqlLedger(Store.open(settings))
    broken = []
    for dataset in ledger.datasets():
        try:
            ledger.verify(dataset)
        except DpcoreError as error:
            print(f"{dataset[:12]}: {error}")
            broken.append(dataset)
    return broken


def accept(settings: Settings) -> None:
    """Go on with what is there although more was seen; a line in each account says so."""
    ledger = SqlLedger(Store.open(settings))
    for dataset in ledger.datasets():
        ledger.accept(dataset)


def adopt(settings: Settings, address: str) -> int:
    """Give all that was opened before people signed in to one steward; how many data sets."""
    if "@" not in address:
        raise ParameterError("adopt needs the address of a steward", remedy="such as ada@example.org")
    return Owners(Store.open(settings)).adopt(address.strip().lower())


def _copy(source: Path, target: Path) -> None:
    """SQLite's own way: whole pages, with what is still in its log, while others read and write."""
    if not source.exists():
        raise LedgerError("there is no database to copy", remedy="name the right folder")
    with sqlite3.connect(source) as read, sqlite3.connect(target, timeout=60) as written:
        read.backup(written)
    read.close()
    written.close()


def _postgres(settings: Settings, program: str, *arguments: str) -> None:
    url = sa.make_url(settings.database_url).set(drivername="postgresql")
    password = {"PGPASSWORD": url.password} if url.password else {}
    plain = url._replace(password=None).render_as_string(hide_password=False)
    try:
        done = subprocess.run(
            [program, f"--dbname={plain}", *arguments], env={**os.environ, **password}, check=False
        )
    except FileNotFoundError:
        raise LedgerError(f"{program} is not installed", remedy="install the client of PostgreSQL") from None
    if done.returncode:
        raise LedgerError(f"{program} failed", remedy="see what it says above")


def main(arguments: Sequence[str]) -> int:
    """The command line; 0 when all is in order."""
    parser = argparse.ArgumentParser(prog="python -m workbench.store", description=__doc__)
    parser.add_argument("task", choices=["backup", "restore", "check", "accept", "adopt"])
    parser.add_argument("folder", nargs="?", help="of the backup; with adopt: the address of a steward")
    given = parser.parse_args(arguments)
    if given.task in ("backup", "restore", "adopt") and given.folder is None:
        parser.error("name a folder, or the address of a steward")
    broken: list[str] = []
    try:
        settings = read_settings()
        if given.task == "backup":
            backup(settings, Path(given.folder))
        elif given.task == "restore":
            broken = restore(settings, Path(given.folder))
        elif given.task == "check":
            broken = check(settings)
        elif given.task == "adopt":
            print(f"{adopt(settings, given.folder)} data sets now belong to {given.folder}")
        else:
            accept(settings)
    except DpcoreError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{given.task}: done" + (f"; {len(broken)} accounts are not in order" if broken else ""))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
