"""A damaged or altered ledger is refused in words, and a full disk is named."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from dpcore.accounting.ledger import Charge
from dpcore.errors import BudgetExceeded, DpcoreError, LedgerCorrupt, LedgerError
from tests.contracts.ledger_kinds import DATASET, SqlKind, account, sqlite_kind
from workbench.store.database.connections import _use_wal
from workbench.store.database.failures import explain
from workbench.store.database.store import Store
from workbench.store.database.tables import accounts, lines, releases
from workbench.store.ledger.sql_ledger import SqlLedger
from workbench.store.settings import Settings

DEEP = "[" * 400 + "]" * 400
DEEPER = "[" * 100_000 + "]" * 100_000
VALUES = {
    "a blob": "x'00ff'",
    "no UTF-8": "CAST(x'c328' AS TEXT)",
    "a word": "'word'",
    "JSON of another shape": "'[1, {}]'",
    "deep JSON": f"'{DEEP}'",
    "deep JSON in an object": f"""'{{"unit": {DEEP}}}'""",
    "deeper JSON": f"'{DEEPER}'",
    "a negative number": "-1",
    "a large number": "9e18",
}
ROWS = {
    **{f"ledger_lines.{column.name}": "number = 2" for column in lines.columns},
    **{f"ledger_accounts.{column.name}": "1 = 1" for column in accounts.columns},
    **{
        f"ledger_releases.{column.name}": "request_id = 'r0'"
        for column in releases.columns
    },
    "workbench.version": "1 = 1",
    "workbench.key_check": "1 = 1",
    "workbench.row_key": "1 = 1",
}


@pytest.fixture
def spent(tmp_path: Path) -> Iterator[SqlKind]:
    """A ledger in which 300,000 of 1,000,000 units are spent, on SQLite."""
    with sqlite_kind(tmp_path / "var") as kind:
        ledger = kind.open()
        ledger.open(account())
        for number in range(3):
            ledger.reserve(DATASET, f"r{number}", Charge(units=100_000), {})
            ledger.commit(DATASET, f"r{number}", {}, "release")
        kind.close()
        yield kind


def _alter(kind: SqlKind, cell: str, value: str) -> bool:
    """Put a value into a cell behind the ledger's back; return whether it was taken."""
    table, column = cell.split(".")
    with sqlite3.connect(kind.settings.data_dir / "workbench.sqlite") as database:
        database.execute("PRAGMA ignore_check_constraints = ON")
        try:
            database.execute(
                f"UPDATE {table} SET {column} = {value} WHERE {ROWS[cell]}"
            )
        except sqlite3.IntegrityError:
            return False
    database.close()
    return True


def _use(kind: SqlKind) -> list[DpcoreError]:
    """Do what the pages do; return what was refused, and never spend too much."""
    refused = list[DpcoreError]()

    @contextlib.contextmanager
    def refusing() -> Iterator[None]:
        try:
            yield
        except DpcoreError as error:
            refused.append(error)

    with refusing():
        ledger = kind.open()
        with refusing():
            ledger.datasets()
            ledger.by_last_use(sa.select(accounts.c.dataset))
        with refusing():
            ledger.account(DATASET)
            ledger.standing(DATASET)
        with refusing():
            ledger.lines(DATASET)
        with refusing():
            ledger.release(DATASET, "r0")
        with refusing():
            ledger.verify(DATASET)
        with refusing():
            ledger.end_dead_runs()
        with refusing():
            with pytest.raises(BudgetExceeded):
                ledger.reserve(DATASET, "over", Charge(units=700_001), {})
            ledger.reserve(DATASET, "next", Charge(units=1), {})
            ledger.commit(DATASET, "next", {}, "release")
    kind.close()
    return refused


@pytest.mark.parametrize("cell", ROWS)
def test_an_altered_row_is_no_raw_exception(spent: SqlKind, cell: str) -> None:
    """A start or Verify would end in AttributeError, TypeError or RecursionError."""
    for number, (name, value) in enumerate(VALUES.items()):
        folder = spent.settings.data_dir.with_name(f"copy-{number}")
        shutil.copytree(spent.settings.data_dir, folder)
        copy = SqlKind(Settings(data_dir=folder))
        if not _alter(copy, cell, value):
            continue
        for error in _use(copy):
            assert isinstance(error, LedgerError), f"{name}: {error!r}"
            assert "reached" not in str(error), name
            assert "word" not in str(error), name


@pytest.mark.parametrize(
    "cell",
    [
        "ledger_lines.request_id",
        "ledger_lines.content",
        "ledger_accounts.unit",
        "ledger_releases.text",
        "workbench.row_key",
    ],
)
def test_a_damaged_file_says_so(spent: SqlKind, cell: str) -> None:
    """The operator would look for a server that does not exist."""
    _alter(spent, cell, VALUES["no UTF-8"])
    refused = _use(spent)
    assert refused
    assert "is damaged" in str(refused[0])
    assert "restore the newest backup" in str(refused[0])


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("workbench.version", "a word"),
        ("workbench.row_key", "a word"),
        ("workbench.row_key", "a blob"),
        ("ledger_lines.content", "a blob"),
        ("ledger_lines.content", "deeper JSON"),
        ("ledger_releases.text", "a blob"),
    ],
)
def test_an_altered_row_asks_for_the_backup(
    spent: SqlKind, cell: str, value: str
) -> None:
    """What no program of ours wrote would pass for another fault."""
    _alter(spent, cell, VALUES[value])
    refused = _use(spent)
    assert any(isinstance(error, LedgerCorrupt) for error in refused)
    assert "from a backup" in str(refused[0])


def test_a_file_that_is_no_database_is_damaged(tmp_path: Path) -> None:
    """A file overwritten by something else would be a refusal without a reason."""
    (tmp_path / "workbench.sqlite").write_bytes(b"something else " * 1_000)
    with pytest.raises(LedgerError, match=r"damaged.*restore the newest backup"):
        Store(Settings(data_dir=tmp_path))


def test_what_sqlite_says_of_a_damaged_file_may_be_no_text() -> None:
    """A flipped bit would end the start in an error that nobody turns into words."""

    class Damaged:
        def execute(self, _: str) -> None:
            raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")

    with pytest.raises(sqlite3.DatabaseError) as raised:
        _use_wal(Damaged(), 1)
    problem, _ = explain(sa.exc.DatabaseError("", {}, raised.value))
    assert "damaged" in problem


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("SQLITE_IOERR_SHMSIZE", "disk of the ledger is full;"),
        ("SQLITE_IOERR_WRITE", "full or failing"),
        ("SQLITE_CORRUPT_VTAB", "is damaged"),
    ],
)
def test_errors_of_sqlite_have_their_sentence(name: str, words: str) -> None:
    """A full or failing disk would be "the database refused"."""
    cause = sqlite3.OperationalError("disk I/O error")
    cause.sqlite_errorname = name
    problem, _remedy = explain(sa.exc.OperationalError("", {}, cause))
    assert words in problem


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
@pytest.mark.parametrize("size", [4, 16, 24, 32, 48, 64, 96])
def test_a_full_disk_at_the_first_start_is_named(tmp_path: Path, size: int) -> None:
    """The first start on a full disk would say "see the log of the server"."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}k", "none", str(tmp_path)],
        capture_output=True,
    )
    if mounted.returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        with pytest.raises(LedgerError, match=r"disk of the ledger is full"):
            SqlLedger(Store(Settings(data_dir=tmp_path / "var"))).open(account())
    finally:
        subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)
