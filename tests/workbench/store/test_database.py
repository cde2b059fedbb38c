"""Store: opening, versions, the key, and what it says when the database or the disk
fails.
"""

from __future__ import annotations

import dataclasses
import errno
import sqlite3
import stat
from pathlib import Path

import pytest
import sqlalchemy as sa

from dpcore.errors import LedgerError
from tests.contracts.ledger_kinds import open_and_tell, processes
from workbench.store.database.failures import explain
from workbench.store.database.migrations import NEWEST_VERSION
from workbench.store.database.store import Store
from workbench.store.database.tables import accounts, workbench_info
from workbench.store.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "var")


def _refuses(settings: Settings, words: str) -> str:
    with pytest.raises(LedgerError, match=words) as error:
        Store(settings)
    return str(error.value)


def test_sqlite_survives_power_failure_and_readers(settings: Settings) -> None:
    """A spend could be forgotten after a power failure (synchronous below FULL = 2)."""
    with Store(settings).write_transaction() as connection:
        values = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    assert values == ["wal", 2, 1]


def _add(store: Store, *units: int) -> None:
    values = {
        "rule": "basic",
        "threshold_units": 0,
        "promise": "",
        "unit": "",
        "head": "",
    }
    with store.write_transaction() as connection:
        for each in units:
            connection.execute(
                sa.insert(accounts).values(dataset=f"d{each}", units=each, **values)
            )
        1 / (len(units) - 1)


def test_a_failed_transaction_leaves_nothing(settings: Settings) -> None:
    """Half of a change would be kept, or a budget below 1 be filed."""
    store = Store(settings)
    with pytest.raises(ZeroDivisionError):
        _add(store, 1)
    with pytest.raises(LedgerError, match="refused the request; nothing was written"):
        _add(store, 1, 0)
    with store.read_transaction() as connection:
        assert connection.execute(sa.select(accounts)).all() == []


def test_key_stays_out_of_the_database_and_is_private(settings: Settings) -> None:
    """A copy of the database would be enough to forge a line or to recognize a
    table.
    """
    store = Store(settings)
    key = store.key
    files = {path.name: path for path in settings.data_dir.iterdir()}
    assert stat.S_IMODE(settings.data_dir.stat().st_mode) == 0o700
    assert stat.S_IMODE(files["ledger.key"].stat().st_mode) == 0o600
    for path in settings.data_dir.glob("workbench.sqlite*"):
        content = path.read_bytes()
        for secret in (key, store.row_key):
            assert secret not in content
            assert secret.hex().encode() not in content
    assert store.row_key != key
    assert Store(settings).key == key


def test_another_key_is_refused(settings: Settings) -> None:
    """With a new key every table is unknown, and would have its whole budget again."""
    key = Store(settings).key
    assert Store(dataclasses.replace(settings, key=key)).key == key
    _refuses(dataclasses.replace(settings, key=b"k" * 32), "key of this ledger")
    # the key of rows of another ledger, or none
    with Store(settings).write_transaction() as connection:
        kept = connection.execute(sa.select(workbench_info.c.row_key)).scalar_one()
        connection.execute(sa.update(workbench_info).values(row_key="00" * 32))
    _refuses(settings, "key of this ledger")
    with sqlite3.connect(settings.data_dir / "workbench.sqlite") as file:
        file.execute("UPDATE workbench SET row_key = ''")
    _refuses(settings, "key of this ledger")
    with sqlite3.connect(settings.data_dir / "workbench.sqlite") as file:
        file.execute("UPDATE workbench SET row_key = ?", [kept])
    path = settings.data_dir / "ledger.key"
    path.write_text("no key")
    _refuses(settings, "key of this ledger")
    path.unlink()
    _refuses(settings, "key of this ledger is missing")
    assert not path.exists()


def test_a_given_key_is_not_written(settings: Settings) -> None:
    """A key that a deployment keeps elsewhere would lie beside the database."""
    Store(dataclasses.replace(settings, key=b"k" * 32))
    assert not (settings.data_dir / "ledger.key").exists()


def test_a_newer_version_is_refused(settings: Settings) -> None:
    """An old program would misread, and spend from, a newer ledger."""
    with Store(settings).write_transaction() as connection:
        connection.execute(sa.update(workbench_info).values(version=NEWEST_VERSION + 1))
    words = (
        f"version {NEWEST_VERSION + 1}, but this program reads version {NEWEST_VERSION}; open it with the "
        "program"
    )
    _refuses(settings, words)


def test_a_file_that_is_no_database_is_refused(settings: Settings) -> None:
    """A traceback would be shown, or the file be overwritten."""
    settings.data_dir.mkdir()
    path = settings.data_dir / "workbench.sqlite"
    path.write_bytes(b"age,sex\n" * 1000)
    _refuses(settings, "is damaged")
    assert path.read_bytes() == b"age,sex\n" * 1000


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A traceback would be shown when the data directory cannot be used."""
    (tmp_path / "file").write_text("")
    _refuses(Settings(data_dir=tmp_path / "file" / "var"), "database refused")


def test_a_server_that_cannot_be_reached(tmp_path: Path) -> None:
    """A traceback, or the password, would be shown when the server is down."""
    url = "postgresql://me:secret-word@127.0.0.1:1/ledger"
    assert "secret-word" not in _refuses(
        Settings(data_dir=tmp_path, database_url=url), "cannot be reached"
    )


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOSPC, "disk .* is full"),
        (errno.EACCES, "cannot be opened for writing"),
        (errno.EIO, "full or failing"),
    ],
)
def test_system_errors_are_explained(code: int, words: str) -> None:
    """A person would read an error number instead of what to do."""
    with pytest.raises(LedgerError, match=words):
        raise LedgerError(explain(OSError(code, "text"))[0])


@pytest.mark.parametrize(
    ("sqlstate", "words"),
    [
        ("55P03", "another request locked"),
        ("53100", "disk .* is full"),
        ("57P01", "cannot be reached"),
        ("08006", "cannot be reached"),
        ("22021", "refused"),
    ],
)
def test_server_errors_are_explained_by_their_code(sqlstate: str, words: str) -> None:
    """A server that speaks German would be misunderstood."""
    cause = type("Error", (sqlite3.Error,), {"sqlstate": sqlstate})("Datenbank kaputt")
    error = sa.exc.OperationalError("SELECT 1", {}, cause)
    with pytest.raises(LedgerError, match=words):
        raise LedgerError(explain(error)[0])


def test_processes_that_start_at_once_share_one_new_ledger(settings: Settings) -> None:
    """Several servers started on an empty folder would fail, or each make a key of its
    own.
    """
    start = processes.Barrier(8)
    results = processes.Queue()
    starters = [
        processes.Process(target=open_and_tell, args=(settings, start, results))
        for _ in range(8)
    ]
    for starter in starters:
        starter.start()
    told = [results.get(timeout=300) for _ in starters]
    for starter in starters:
        starter.join()
    assert told == [Store(settings).key] * 8
