"""The commands of an operator: a backup holds what it says and comes back elsewhere;
none makes a ledger.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import sqlalchemy as sa

from dpcore.accounting.ledger import Charge
from dpcore.errors import LedgerCorrupt
from tests.contracts.ledger_kinds import (
    DATASET,
    SqlKind,
    account,
    postgres_database,
    postgres_kind,
    sqlite_kind,
)
from tests.needs import need_postgres
from workbench import __main__ as commands
from workbench.store.settings import Settings


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def kinds(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[SqlKind, SqlKind]]:
    """The ledger of a server, and the place of an empty machine."""
    with ExitStack() as stack:
        if request.param == "sqlite":
            made = [
                stack.enter_context(sqlite_kind(tmp_path / name))
                for name in ("var", "other")
            ]
        else:
            url = need_postgres()
            urls = [stack.enter_context(postgres_database(url)) for _ in range(2)]
            lost = stack.enter_context(postgres_kind(tmp_path / "var", urls[0]))
            place = sa.make_url(lost.settings.database_url).set(
                database=sa.make_url(urls[1]).database
            )
            text = place.render_as_string(hide_password=False)
            other = SqlKind(Settings(data_dir=tmp_path / "other", database_url=text))
            made = [lost, other]
            stack.callback(other.close)
        yield made[0], made[1]


def _run(monkeypatch: pytest.MonkeyPatch, settings: Settings, *words: str) -> int:
    """The command line, with these settings."""
    monkeypatch.setattr(commands, "read_settings", lambda: settings)
    return commands.main(words)


@pytest.mark.parametrize(
    "words",
    [
        ("backup", "kept", "key"),
        ("check",),
        ("accept",),
        ("adopt", "ada@example.org"),
        ("rekey",),
    ],
)
def test_no_command_makes_a_ledger(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
) -> None:
    """Run without the settings of the server, "backup: done" was said of a new, empty
    ledger, every night.
    """
    monkeypatch.chdir(tmp_path)
    assert _run(monkeypatch, Settings(data_dir=tmp_path / "var"), *words) == 1
    said = capsys.readouterr()
    assert "There is no ledger at the place that the settings name" in said.err
    assert "done" not in said.out
    assert list(tmp_path.iterdir()) == []


def test_the_restore_drill(
    kinds: tuple[SqlKind, SqlKind],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A backup that is made while others write would be torn, empty, or not come back
    on another machine.
    """
    lost, fresh = kinds
    ledger = lost.open()
    over = threading.Event()
    ledger.open(account())
    spent: list[int] = []

    def write() -> None:
        while not over.is_set():
            ledger.reserve(DATASET, f"r{len(spent)}", Charge(units=1), {})
            ledger.commit(DATASET, f"r{len(spent)}", {}, "release")
            spent.append(1)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        while len(spent) < 3:
            over.wait(0.01)
        assert (
            _run(
                monkeypatch,
                lost.settings,
                "backup",
                str(tmp_path / "kept"),
                str(tmp_path / "key"),
            )
            == 0
        )
    finally:
        over.set()
        writer.join()
    copied = re.search(
        r"1 accounts, (\d+) lines\nbackup: done", capsys.readouterr().out
    )
    assert copied
    assert 7 <= int(copied[1]) <= 1 + 2 * len(spent)
    # an empty machine
    shutil.rmtree(fresh.settings.data_dir, ignore_errors=True)
    command = ("restore", str(tmp_path / "kept"), str(tmp_path / "key"))
    assert _run(monkeypatch, fresh.settings, *command) == 0
    assert f"1 accounts, {copied[1]} lines\nrestore: done\n" in capsys.readouterr().out
    # the trace of the lost machine, where its disk is still there: what is newer than
    # the backup is noticed
    shutil.copytree(
        lost.settings.data_dir / "seen",
        fresh.settings.data_dir / "seen",
        dirs_exist_ok=True,
    )
    ledger.note(DATASET, "later", {})
    shutil.copytree(
        lost.settings.data_dir / "seen",
        fresh.settings.data_dir / "seen",
        dirs_exist_ok=True,
    )
    assert _run(monkeypatch, fresh.settings, "check") == 1
    with pytest.raises(LedgerCorrupt, match="older than the lines already seen"):
        fresh.open().reserve(DATASET, "new", Charge(units=1), {})
    assert _run(monkeypatch, fresh.settings, "accept") == 0
    assert _run(monkeypatch, fresh.settings, "check") == 0
    assert (
        f"1 accounts, {int(copied[1]) + 1} lines\ncheck: done\n"
        in capsys.readouterr().out
    )
    restored = fresh.open()
    restored.reserve(DATASET, "new", Charge(units=1), {})
    assert restored.lines(DATASET)[-1].request_id == "new"
    assert dataclasses.replace(restored.account(DATASET)) == ledger.account(DATASET)
