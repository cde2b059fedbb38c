"""What was done behind the ledger's back is noticed before it is spent on, and what was
paid is not lost.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import sqlite3
import threading
import time
from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy as sa

import dpcore as dp
from dpcore.accounting.ledger import Charge, altered_error, source_dataset
from dpcore.errors import (
    BudgetExceeded,
    DpcoreError,
    LedgerCorrupt,
    LedgerError,
    ParameterError,
)
from tests.contracts.ledger_kinds import (
    DATASET,
    SqlKind,
    account,
    reserve_and_die,
    run_process,
    sqlite_kind,
)
from tests.needs import POSTGRES, does_not_apply
from workbench.store import operate as tasks
from workbench.store.database.store import Store
from workbench.store.ledger import rekey as rekeying
from workbench.store.ledger.rekey import rekey
from workbench.store.ledger.rows import PRESUMED_FAILURE, new_key_content
from workbench.store.ledger.sql_ledger import SqlLedger


def _spend(ledger: SqlLedger, name: str, units: int = 100_000) -> None:
    ledger.reserve(DATASET, name, Charge(units=units), {})
    ledger.commit(DATASET, name, {}, "release")


def _spent(kind: SqlKind) -> SqlLedger:
    ledger = kind.open()
    ledger.open(account())
    for number in range(3):
        _spend(ledger, f"r{number}")
    return ledger


TAMPERING = {
    "a charge lowered": "UPDATE ledger_lines SET units = 1 WHERE number = 1",
    "the totals lowered": "UPDATE ledger_accounts SET standing = replace(standing, '300000', '1')",
    "the budget raised": "UPDATE ledger_accounts SET units = 100000000",
    "the budget raised in the totals": (
        "UPDATE ledger_accounts SET standing = replace(standing, '1000000', '9000000')"
    ),
    "a line dropped": "DELETE FROM ledger_lines WHERE number = 2",
    "the last line dropped": "DELETE FROM ledger_lines WHERE number = 6",
    "the totals no JSON": "UPDATE ledger_accounts SET standing = '{'",
    "the account dropped": "DELETE FROM ledger_accounts",
    "all of it dropped": "DELETE FROM ledger_lines",
}


@pytest.mark.parametrize("tampering", TAMPERING)
def test_a_tampered_ledger_takes_no_spend(kind: SqlKind, tampering: str) -> None:
    """One SQL statement would give budget back, until somebody pressed Verify."""
    ledger = _spent(kind)
    if "account" in tampering:
        kind._run("DELETE FROM ledger_releases", "DELETE FROM ledger_lines")
    kind._run(TAMPERING[tampering])
    for each in (ledger, kind.open()):
        with pytest.raises(LedgerCorrupt):
            _spend(each, "more", 1)
        with pytest.raises(LedgerCorrupt):
            each.open(account())
    assert kind.open().datasets() == [DATASET]


def test_every_flipped_bit_is_noticed_or_harmless(tmp_path: Path) -> None:
    """A flipped bit would change a total, and spending go on from it."""
    with sqlite_kind(tmp_path / "var") as kind:
        _spent(kind)
        kind.close()
        file = kind.settings.data_dir / "workbench.sqlite"
        with sqlite3.connect(file) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        whole = file.read_bytes()
        left = 700_000
        for place in range(0, len(whole), max(1, len(whole) // 60)):
            file.write_bytes(
                whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :]
            )
            shutil.rmtree(kind.settings.data_dir / "running", ignore_errors=True)
            try:
                with pytest.raises(BudgetExceeded):
                    kind.open().reserve(
                        DATASET, f"over-{place}", Charge(units=left + 1), {}
                    )
            except DpcoreError:
                continue  # noticed
            finally:
                kind.close()
                kind._stores.clear()


def test_a_spend_takes_the_same_work_at_any_length(tmp_path: Path) -> None:
    """A balance would read every line: 318 ms at 20,000, several times a page."""
    with sqlite_kind(tmp_path / "var") as kind:
        ledger = kind.open()
        ledger.open(account())
        rows: list[int] = []

        def count(dialect: object, statement: str, *_: object) -> None:
            rows.append(statement.count("?"))

        works = []
        for length in (100, 400):
            while ledger._store.witness.last_seen(DATASET)[0] < length:  # type: ignore[index]
                ledger.note(
                    DATASET, f"n{ledger._store.witness.last_seen(DATASET)[0]}", {}
                )  # type: ignore[index]
            connection = ledger._store._writer.raw_connection().driver_connection
            assert connection is not None
            steps = 0

            def step() -> int:
                nonlocal steps
                steps += 1
                return 0

            for each in (ledger._store._writer, ledger._store._reader):
                raw = each.raw_connection()
                raw.driver_connection.set_progress_handler(step, 1)  # type: ignore[union-attr]
                raw.close()
            ledger.reserve(DATASET, f"r{length}", Charge(units=1), {})
            _ = ledger.standing(DATASET).balance
            works.append(steps)
        assert works[1] < works[0] * 1.2, works


def test_a_missing_database_is_no_new_ledger(tmp_path: Path) -> None:
    """Deleting one file would give every table its whole budget again, without a
    word.
    """
    with sqlite_kind(tmp_path / "var") as kind:
        _spent(kind)
        for path in kind.settings.data_dir.glob("workbench.sqlite*"):
            path.unlink()
        with pytest.raises(LedgerError, match="database is missing, but its key"):
            kind.open()
        (kind.settings.data_dir / "ledger.key").unlink()
        with pytest.raises(LedgerError, match="database is missing"):
            kind.open()
        shutil.rmtree(kind.settings.data_dir / "seen")
        assert kind.open().datasets() == []


def test_a_start_that_was_broken_off_can_be_made_again(tmp_path: Path) -> None:
    """A kill between key and tables would look like a lost database for ever."""
    with sqlite_kind(tmp_path / "var") as kind:
        data = kind.settings.data_dir
        data.mkdir()
        (data / "ledger.key.new").write_text("ab" * 32)
        kind.open()
        assert (data / "ledger.key").read_text() != "ab" * 32
        # killed after the tables, before the name
        (data / "ledger.key").rename(data / "ledger.key.new")
        kind.open()
        assert (data / "ledger.key").exists()


def test_a_file_replaced_under_a_running_server_is_noticed(tmp_path: Path) -> None:
    """The server would go on with the unlinked file, and its spends be gone for
    everybody else.
    """
    with sqlite_kind(tmp_path / "var") as kind:
        ledger = _spent(kind)
        file = kind.settings.data_dir / "workbench.sqlite"
        shutil.copy(file, file.with_suffix(".copy"))
        file.with_suffix(".copy").replace(file)
        for step in (lambda: _spend(ledger, "more"), lambda: ledger.lines(DATASET)):
            with pytest.raises(LedgerError, match="replaced or removed"):
                step()


@pytest.mark.alone
def test_yesterdays_copy_stays_shut_until_it_is_accepted(
    kind: SqlKind, tmp_path: Path
) -> None:
    """Putting back yesterday's copy would give back what was spent since; a backup
    would be empty.
    """
    ledger = _spent(kind)
    try:
        # while the server runs
        tasks.backup(kind.settings, tmp_path / "kept", tmp_path / "key")
    except LedgerError as error:
        pytest.skip(f"{POSTGRES}: {error}")
    _spend(ledger, "after")
    assert tasks.restore(kind.settings, tmp_path / "kept") == [DATASET]
    for each in (ledger, kind.open()):  # the running server notices too
        with pytest.raises(LedgerCorrupt, match="older than the lines already seen"):
            _spend(each, "again", 1)
        with pytest.raises(LedgerCorrupt, match="older than the lines already seen"):
            each.open(account())
    tasks.accept(kind.settings)
    assert tasks.check(kind.settings) == []
    assert ledger.lines(DATASET)[-1].content == {
        "kind": "older copy accepted",
        "forgotten": 2,
    }
    _spend(ledger, "again")
    assert ledger.standing(DATASET).balance.remaining_units == 600_000


@pytest.mark.parametrize("name", ["Visits", "Visits 2025/Été.csv"])
def test_an_older_copy_of_a_source_stays_shut_too(tmp_path: Path, name: str) -> None:
    """A connected source is filed under its name, with a blank: nothing was remembered
    of it.
    """
    dataset = source_dataset(name)
    with sqlite_kind(tmp_path / "var") as kind:
        ledger = kind.open()
        fresh = account(dataset=dataset)
        ledger.open(fresh)
        ledger.open(account())  # a fingerprint, whose file bears it as its name
        tasks.backup(kind.settings, tmp_path / "kept", tmp_path / "key")
        ledger.reserve(dataset, "spent", Charge(units=1_000_000), {})
        assert tasks.restore(kind.settings, tmp_path / "kept") == [dataset]
        for again in (ledger.open, kind.open().open):
            with pytest.raises(
                LedgerCorrupt, match="older than the lines already seen"
            ):
                again(fresh)
        kind._run("DELETE FROM ledger_lines", "DELETE FROM ledger_accounts")
        with pytest.raises(LedgerCorrupt, match="older than the lines already seen"):
            ledger.account(dataset)
        assert kind.open().datasets() == [DATASET, dataset]
        tasks.accept(kind.settings)
        assert kind.open().datasets() == []
        for number, dataset_again in enumerate((DATASET, dataset)):
            again = kind.open().open(account(dataset=dataset_again))
            (opened,) = kind.open().lines(again.dataset)
            # the lines that were seen of it
            assert opened.content["forgotten"] == 1 + number
        assert tasks.check(kind.settings) == []
        assert kind.open().open(fresh) == fresh  # opened and not accepted again


def test_a_chain_in_order_is_remembered(tmp_path: Path) -> None:
    """An account whose last line was written by a version that remembered nothing could
    be put back.
    """
    with sqlite_kind(tmp_path / "var") as kind:
        ledger = _spent(kind)
        seen = ledger._store.witness.last_seen(DATASET)
        shutil.rmtree(kind.settings.data_dir / "seen")
        assert tasks.check(kind.settings) == []
        assert ledger._store.witness.last_seen(DATASET) == seen


def test_an_account_that_is_whole_has_nothing_to_accept(kind: SqlKind) -> None:
    """A line would say for ever that an older copy was accepted, because its trace was
    behind.
    """
    ledger = _spent(kind)
    seen = ledger._store.witness.last_seen(DATASET)
    ledger.note(DATASET, "later", {})
    ledger._store.witness.accept(DATASET, *seen)
    ledger.accept(DATASET)
    assert ledger.lines(DATASET)[-1].request_id == "later"


@pytest.mark.alone
def test_the_newest_backup_opens_at_once(kind: SqlKind, tmp_path: Path) -> None:
    """A backup that lost nothing would need to be accepted."""
    ledger = _spent(kind)
    try:
        tasks.backup(kind.settings, tmp_path / "kept", tmp_path / "key")
    except LedgerError as error:
        pytest.skip(f"{POSTGRES}: {error}")
    assert tasks.restore(kind.settings, tmp_path / "kept") == []
    _spend(ledger, "more")
    assert ledger.release(DATASET, "r0") == "release"


def test_charges_of_dead_processes_end_as_failed(kind: SqlKind) -> None:
    """144 charges of killed writers stayed held for ever; those of living ones must not
    be ended.
    """
    ledger = kind.open()
    ledger.open(account())
    ledger.reserve(DATASET, "mine", Charge(units=100_000), {})
    assert run_process(reserve_and_die, kind.settings) == 7
    assert ledger.standing(DATASET).balance.reserved == 700_000
    assert kind.open().end_dead_runs() == 0  # it may have lost its connection only
    kind._run(
        "UPDATE ledger_running SET renewed = renewed - 65 WHERE request_id = 'dies'"
    )
    assert kind.open().end_dead_runs() == 1
    now = ledger.standing(DATASET).balance
    assert (now.spent, now.reserved) == (600_000, 100_000)
    last = ledger.lines(DATASET)[-1]
    assert (last.request_id, last.state) == ("dies", "failed")
    ledger.commit(DATASET, "mine", {}, "release")
    assert kind.open().end_dead_runs() == 0


def test_a_paid_release_is_kept_until_it_can_be_stored(
    kind: SqlKind,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The database is down at the wrong moment, and what was paid for is thrown
    away.
    """
    ledger = kind.open()
    ledger.open(account())
    for name in ("good", "bad"):
        ledger.reserve(DATASET, name, Charge(units=1), {})
    with monkeypatch.context() as down:
        cause = sqlite3.OperationalError("down")
        cause.sqlite_errorname = "SQLITE_BUSY"
        fails = sa.exc.OperationalError("", {}, cause)
        down.setattr(
            ledger, "_append_line", lambda *given: (_ for _ in ()).throw(fails)
        )
        with pytest.raises(
            LedgerError,
            match=r"paid and computed, but could not be stored yet: .* kept in memory",
        ):
            ledger.commit(DATASET, "good", {"events": []}, "the release")
        with pytest.raises(LedgerError, match="another request locked"):
            ledger.fail(DATASET, "bad", {})
        assert ledger.release(DATASET, "good") is None
    assert ledger.release(DATASET, "good") == "the release"
    assert {line.state for line in ledger.lines(DATASET)[3:]} == {"committed", "failed"}
    ledger.verify(DATASET)


def _down(
    ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch, *, error: Exception
) -> None:
    """The database, or the state of the ledger in it, refuses what is appended."""
    monkeypatch.setattr(
        ledger, "_append_line", lambda *given: (_ for _ in ()).throw(error)
    )


BUSY = sa.exc.OperationalError("", {}, sqlite3.OperationalError("down"))


def test_a_kept_release_outlives_the_restore_of_an_older_copy(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One page that looks while the wrong backup lies there would throw away what was
    paid for.
    """
    with sqlite_kind(tmp_path / "var") as kind:
        ledger = _spent(kind)
        tasks.backup(kind.settings, tmp_path / "older", tmp_path / "older key")
        ledger.reserve(DATASET, "paid", Charge(units=1), {})
        with monkeypatch.context() as down:
            _down(ledger, down, error=BUSY)
            with pytest.raises(LedgerError, match="kept in memory"):
                ledger.commit(DATASET, "paid", {}, "the release")
        tasks.backup(kind.settings, tmp_path / "newest", tmp_path / "newest key")
        assert tasks.restore(kind.settings, tmp_path / "older") == [DATASET]
        for _ in range(2):
            with pytest.raises(
                LedgerCorrupt, match="older than the lines already seen"
            ):
                ledger.standing(DATASET)
            assert ledger.waiting_releases(DATASET) == {"paid": "the release"}
        assert tasks.restore(kind.settings, tmp_path / "newest") == []
        assert ledger.release(DATASET, "paid") == "the release"
        assert not ledger.is_release_waiting("paid")
        assert ledger.standing(DATASET).balance.reserved == 0
        ledger.verify(DATASET)


def test_a_release_whose_ledger_is_shut_at_its_end_is_kept(
    kind: SqlKind,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An older copy that is put back while noise is drawn would cost the release, and
    not only the charge.
    """
    ledger = _spent(kind)
    ledger.reserve(DATASET, "paid", Charge(units=1), {})
    with monkeypatch.context() as shut:
        _down(ledger, shut, error=altered_error())
        with pytest.raises(
            LedgerCorrupt, match="paid and computed, but could not be stored yet"
        ):
            ledger.commit(DATASET, "paid", {}, "the release")
        assert ledger.waiting_releases(DATASET) == {"paid": "the release"}
        assert ledger.waiting_releases("another") == {}
    assert ledger.release(DATASET, "paid") == "the release"


def test_a_kept_end_is_dropped_once_its_line_has_an_end(
    kind: SqlKind,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The memory of the server would hold releases for ever that nobody can store any
    more.
    """
    ledger = _spent(kind)
    for name in ("committed", "failed", "presumed"):
        ledger.reserve(DATASET, name, Charge(units=1), {})
        with monkeypatch.context() as down:
            _down(ledger, down, error=BUSY)
            with pytest.raises(LedgerError, match="kept in memory"):
                ledger.commit(DATASET, name, {}, "the release")
    other = kind.open()
    other.commit(DATASET, "committed", {}, "another text")
    other.fail(DATASET, "failed", {"error": "stopped"})
    other.fail(DATASET, "presumed", PRESUMED_FAILURE)
    ledger.store_waiting()
    assert ledger.waiting_releases(DATASET) == {}
    assert ledger.release(DATASET, "committed") == "another text"
    assert ledger.release(DATASET, "failed") is None
    assert ledger.release(DATASET, "presumed") == "the release"


def test_a_kept_release_keeps_no_page_waiting(
    kind: SqlKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the database takes its time to refuse it, every page of the server would
    wait, one by one.
    """
    ledger = kind.open()
    ledger.open(account())
    ledger._kept[DATASET, "kept"] = ("committed", {}, "release")
    asked = threading.Event()
    go = threading.Event()

    def refuse_slowly(*given: object) -> None:
        asked.set()
        go.wait(60)
        raise LedgerError("down", remedy="wait") from OSError()

    monkeypatch.setattr(ledger, "_end_request", refuse_slowly)
    pages = [
        threading.Thread(target=ledger.standing, args=(DATASET,)) for _ in range(2)
    ]
    pages[0].start()
    try:
        assert asked.wait(60)
        pages[1].start()
        pages[1].join(50)
        assert not pages[1].is_alive()
    finally:
        go.set()
        pages[0].join()
    assert ledger.is_release_waiting("kept")


def test_a_commit_whose_answer_was_lost_is_no_second_one(kind: SqlKind) -> None:
    """The connection is cut after the commit: storing again would be refused, and look
    like a loss.
    """
    ledger = _spent(kind)
    ledger.commit(DATASET, "r0", {}, "release")
    assert len(ledger.lines(DATASET)) == 7


def test_waiting_writers_keep_no_reader_waiting(kind: SqlKind) -> None:
    """30 spenders that wait for a lock made a mere read wait until they had given up,
    for 9.5 s.
    """
    ledger = kind.open(lock_timeout=20.0)
    ledger.open(account())
    is_sqlite = kind.settings.database_url.startswith("sqlite")
    refused: list[str] = []

    def spend(number: int) -> None:
        try:
            _spend(ledger, f"w{number}", 1)
        except LedgerError as error:
            refused.append(str(error))

    with kind.connection() as other:
        other.exec_driver_sql(
            "BEGIN IMMEDIATE"
            if is_sqlite
            else "SELECT 1 FROM ledger_accounts FOR UPDATE"
        )
        writers = [
            threading.Thread(target=spend, args=(number,)) for number in range(30)
        ]
        for writer in writers:
            writer.start()
        time.sleep(0.5)
        assert ledger.standing(DATASET).balance.remaining_units == 1_000_000
        assert len(ledger.lines(DATASET)) == 1
        assert not refused  # all of them still wait
        assert all(writer.is_alive() for writer in writers)
    for writer in writers:
        writer.join()


@pytest.mark.postgres
def test_a_server_that_says_nothing_is_given_up(
    kind: SqlKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network that hangs without a reset would hang a page for 75 s."""
    if kind.settings.database_url.startswith("sqlite"):
        does_not_apply("a file does not hang")
    from workbench.store.database import connections

    monkeypatch.setattr(connections, "READ_TIMEOUT", 0.5)
    store = Store(kind.settings)
    started = time.monotonic()
    with (
        pytest.raises(LedgerError, match="cannot be reached"),
        store.read_transaction() as connection,
    ):
        # without its own limit, as if the server had stopped
        connection.exec_driver_sql("SET statement_timeout = 0; SELECT pg_sleep(60)")
    assert time.monotonic() - started < 50
    with store.read_transaction() as connection:
        assert connection.exec_driver_sql("SELECT 1").scalar_one() == 1


@pytest.mark.alone
def test_a_backup_lies_in_two_places_and_comes_back_from_both(
    kind: SqlKind, tmp_path: Path
) -> None:
    """Whoever finds the folder of the backups could forge lines, as the key lay in
    it.
    """
    ledger = _spent(kind)
    one = tmp_path / "kept"
    other = tmp_path / "key"
    data = kind.settings.data_dir
    for places in [(one,), (one, one), (one, one / "key"), (one / "kept", one)]:
        with pytest.raises(
            DpcoreError,
            match=r"two different folders|not empty, or lies inside the other",
        ):
            tasks.backup(kind.settings, *places)
    try:
        tasks.backup(kind.settings, one, other)
    except LedgerError as error:
        pytest.skip(f"{POSTGRES}: {error}")
    key = ledger._store.key
    for path in one.rglob("*"):
        assert not any(each in path.read_bytes() for each in (key, key.hex().encode()))
    assert [path.name for path in other.iterdir()] == ["ledger.key"]
    kind.close()
    # the disk of the server; that of PostgreSQL is another
    shutil.move(data, tmp_path / "lost")
    (tmp_path / "nothing").mkdir()
    for places, words in [
        ((tmp_path / "nothing", other), "no database in the folder of the backup"),
        ((one,), "key of the backup is missing"),
        ((one, tmp_path / "nothing"), "key of the backup is missing"),
    ]:
        with pytest.raises(LedgerError, match=words):
            tasks.restore(kind.settings, *places)
    assert not data.exists()
    assert tasks.restore(kind.settings, one, other) == []
    _spend(kind.open(), "more")
    (data / "ledger.key").write_text("ab" * 32)
    with pytest.raises(LedgerError, match="is not the key of the backup"):
        tasks.restore(kind.settings, one, other)


def test_the_key_of_the_environment_is_in_no_backup(tmp_path: Path) -> None:
    """A key that is kept elsewhere would be asked for as a file, or be written into the
    backup.
    """
    with sqlite_kind(tmp_path / "var") as kind:
        kind.settings = dataclasses.replace(kind.settings, key=b"k" * 32)
        _spent(kind)
        tasks.backup(kind.settings, tmp_path / "kept")
        assert [path.name for path in (tmp_path / "kept").iterdir()] == [
            "workbench.sqlite"
        ]
        shutil.rmtree(tmp_path / "var")
        assert tasks.restore(kind.settings, tmp_path / "kept") == []


TABLE = pd.DataFrame({"person": ["a", "a", "b"], "age": [10, 20, 30]})
SCHEMA = dp.Schema(
    columns=(dp.Integer("age", low=0, high=99, bin_width=10),),
    unit=dp.PrivacyUnit(max_rows=1, id_column="person"),
)


def _curator(ledger: SqlLedger) -> dp.Curator:
    return dp.Curator.open(TABLE, SCHEMA, budget=dp.PureDP(epsilon="1"), ledger=ledger)


@pytest.mark.parametrize("given", [False, True], ids=["file", "WORKBENCH_KEY"])
def test_a_new_key_seals_every_line_again(
    kind: SqlKind, tmp_path: Path, given: bool
) -> None:
    """Whoever got hold of the key could forge lines for ever, or a new key would forget
    what was spent.
    """
    if given:
        kind.settings = dataclasses.replace(kind.settings, key=b"k" * 32)
    ledger = _spent(kind)
    old = ledger._store.key
    question = (dp.Histogram("age"), dp.PureDP(epsilon="0.25"))
    request = _curator(ledger).run(*question).request_id
    before = {name: ledger.lines(name) for name in ledger.datasets()}
    file = tmp_path / "elsewhere" / "new.key" if given else None
    assert rekey(kind.settings, file) == 2
    with pytest.raises(LedgerCorrupt):  # a server that goes on with the old key
        _spend(ledger, "more")
    if file is not None:
        with pytest.raises(LedgerError, match="is a different one"):
            kind.open()
        kind.settings = dataclasses.replace(
            kind.settings, key=bytes.fromhex(file.read_text())
        )
        assert not (kind.settings.data_dir / "ledger.key").exists()
    again = kind.open()
    assert again._store.key != old
    for name, lines in before.items():
        now = again.lines(name)
        assert [(each.request_id, each.content, each.charge) for each in now[:-1]] == [
            (each.request_id, each.content, each.charge) for each in lines
        ]
        assert {each.digest for each in now}.isdisjoint(each.digest for each in lines)
        assert (now[-1].state, now[-1].content) == (
            "outside",
            new_key_content(lines[-1].digest),
        )
        again.verify(name)
    _spend(again, "more")
    curator = _curator(again)  # the same table, and the same question
    assert curator.balance().spent == 250_000_000_000
    assert curator.stored_request(*question) == request


def test_a_new_key_is_for_a_ledger_in_order(kind: SqlKind, tmp_path: Path) -> None:
    """An altered line would get a good seal, or a run that has paid would lose its
    release.
    """
    ledger = _spent(kind)
    kind.alter_line(1, units=1)
    key = (kind.settings.data_dir / "ledger.key").read_text()
    with pytest.raises(LedgerCorrupt):
        rekey(kind.settings)
    kind.alter_line(1, units=100_000)
    ledger.reserve(DATASET, "runs", Charge(units=1), {})
    with pytest.raises(LedgerError, match="paid run is in progress"):
        rekey(kind.settings)
    with pytest.raises(ParameterError, match="the new key needs a new file"):
        rekey(kind.settings, tmp_path / "new.key")
    assert (kind.settings.data_dir / "ledger.key").read_text() == key
    kind.open().verify(DATASET)


@pytest.mark.parametrize("given", [False, True], ids=["file", "WORKBENCH_KEY"])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_new_key_that_was_broken_off(
    kind: SqlKind,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
    given: bool,
) -> None:
    """The database would be sealed under one key and the other be on file, or every
    account stay shut until somebody accepts it as older than the lines already seen.
    """
    if given:
        kind.settings = dataclasses.replace(kind.settings, key=b"k" * 32)
    _spent(kind)
    file = tmp_path / "first.key" if given else None

    def die(*given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(
            rekeying, "key_fields" if moment == "before" else "settle_key", die
        )
        with pytest.raises(KeyboardInterrupt):
            rekey(kind.settings, file)
    if file is not None and moment == "after":
        kind.settings = dataclasses.replace(
            kind.settings, key=bytes.fromhex(file.read_text())
        )
    for turn in range(2):
        ledger = kind.open()
        ledger.verify(DATASET)
        assert not (kind.settings.data_dir / "ledger.key.new").exists() or (
            moment,
            turn,
        ) == ("before", 0)
        _spend(ledger, f"more {turn}")
        if turn == 0:  # run again
            file = tmp_path / "second.key" if given else None
            assert rekey(kind.settings, file) == 1
            if file is not None:
                kind.settings = dataclasses.replace(
                    kind.settings, key=bytes.fromhex(file.read_text())
                )
    assert kind.open().standing(DATASET).balance.remaining_units == 500_000


def test_who_has_no_key_cannot_pass_an_older_copy_off_as_sealed_again(
    kind: SqlKind,
) -> None:
    """A line that says so, written into the database, would open an older copy to every
    server.
    """
    ledger = _spent(kind)
    digests = [line.digest for line in ledger.lines(DATASET)]
    ledger._store.witness.accept(DATASET, 3, "0" * 64)  # as of another history
    text = json.dumps(new_key_content("0" * 64))
    kind._run("UPDATE ledger_lines SET content = :text WHERE number = 4", text=text)
    with pytest.raises(LedgerCorrupt, match="altered"):
        kind.open().standing(DATASET)
    ledger._store.witness.accept(DATASET, 3, digests[3])
    assert kind.open().standing(DATASET).balance.remaining_units == 700_000
