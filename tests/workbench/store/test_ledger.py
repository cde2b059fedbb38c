"""SqlLedger when the disk is full or the server goes away: said in words, and nothing
half-written.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from dpcore.accounting.ledger import Charge
from dpcore.errors import LedgerError
from tests.contracts.ledger_kinds import (
    DATASET,
    SqlKind,
    account,
    postgres_kind,
    sqlite_kind,
)
from tests.needs import need_postgres
from tests.workbench.store.mute import way
from workbench.store.database.connections import FIRST_ANSWER_TIMEOUT
from workbench.store.ledger.sql_ledger import SqlLedger


@pytest.fixture
def on_file(tmp_path: Path) -> Iterator[SqlKind]:
    with sqlite_kind(tmp_path) as kind:
        yield kind


@pytest.fixture
def on_server(tmp_path: Path) -> Iterator[SqlKind]:
    with postgres_kind(tmp_path, need_postgres()) as kind:
        yield kind


def _limit_pages(ledger: SqlLedger, more: int) -> None:
    """Let the file of the ledger's one writing connection grow by so many pages of 4
    kB.
    """
    with ledger._store.write_transaction() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + more}")


def test_full_disk_refuses_the_charge_and_keeps_the_ledger(on_file: SqlKind) -> None:
    """A full disk would show a traceback, leave half a charge, or make the ledger
    unreadable.
    """
    ledger = on_file.open()
    ledger.open(account())
    _limit_pages(ledger, 3)
    ledger.reserve(DATASET, "small", Charge(units=1), {})
    with pytest.raises(
        LedgerError, match=r"disk .* is full; nothing was written; free some space"
    ):
        ledger.reserve(DATASET, "large", Charge(units=1), {"text": "x" * 20_000})
    assert [line.request_id for line in ledger.lines(DATASET)] == ["", "small"]
    ledger.verify(DATASET)
    on_file.open().verify(DATASET)


def test_full_disk_keeps_line_and_release_together(on_file: SqlKind) -> None:
    """A request would be called committed and its release be lost."""
    ledger = on_file.open()
    ledger.open(account())
    ledger.reserve(DATASET, "a", Charge(units=1), {})
    _limit_pages(ledger, 3)
    with pytest.raises(LedgerError, match="is full"):
        ledger.commit(DATASET, "a", {}, "x" * 1_000_000)
    assert [line.state for line in ledger.lines(DATASET)] == ["opened", "reserved"]
    assert ledger.release(DATASET, "a") is None
    _limit_pages(ledger, 10_000)
    ledger.commit(DATASET, "a", {}, "x" * 1_000_000)
    ledger.verify(DATASET)


@pytest.mark.postgres
def test_a_lost_connection_leaves_nothing_and_is_replaced(on_server: SqlKind) -> None:
    """A restart of the server would leave half a charge, or break the app until it is
    restarted too.
    """
    ledger = on_server.open()
    ledger.open(account())
    with ledger._store.write_transaction() as connection:
        process = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()

    def cut(_: object, __: object, statement: str, *___: object) -> None:
        if statement.startswith("UPDATE ledger_accounts"):
            with on_server.connection() as other:
                other.exec_driver_sql(f"SELECT pg_terminate_backend({process}, 5000)")

    engine = ledger._store._writer
    sa.event.listen(engine, "before_cursor_execute", cut)
    with pytest.raises(
        LedgerError,
        match=r"cannot be reached; a charge that was stored before .* counts",
    ):
        ledger.reserve(DATASET, "a", Charge(units=1), {})
    sa.event.remove(engine, "before_cursor_execute", cut)
    assert len(ledger.lines(DATASET)) == 1
    ledger.reserve(DATASET, "a", Charge(units=1_000_000), {})
    ledger.verify(DATASET)


@pytest.mark.proof
@pytest.mark.postgres
def test_a_charge_while_the_server_is_silent_or_gone_is_refused_in_words(
    on_server: SqlKind,
) -> None:
    """Whoever pays would wait for 18 s, and then read an exception of the driver with
    host and port.
    """
    with way(on_server.settings.database_url) as between:
        ledger = on_server.open(database_url=between.url)
        ledger.open(account())
        ledger.reserve(DATASET, "a", Charge(units=1), {})
        ledger.commit(DATASET, "a", {}, "release")
        between.open.clear()
        for ask in (
            # the connection of before
            lambda: ledger.reserve(DATASET, "b", Charge(units=1), {}),
            lambda: ledger.reserve(DATASET, "b", Charge(units=1), {}),  # a new one
        ):
            started = time.monotonic()
            with pytest.raises(LedgerError, match="cannot be reached") as refused:
                ask()
            # what is waited for is twice as long, and a busy machine takes its time
            assert time.monotonic() - started < 7 * FIRST_ANSWER_TIMEOUT < 18
            assert not re.search(r"127|localhost|psycopg|\d{4}", str(refused.value))
        between._door.close()
        with pytest.raises(LedgerError, match="cannot be reached"):
            ledger.reserve(DATASET, "b", Charge(units=1), {})
    again = on_server.open()
    assert [line.state for line in again.lines(DATASET)] == [
        "opened",
        "reserved",
        "committed",
    ]


def test_a_spend_reads_no_lines_but_the_last(on_file: SqlKind) -> None:
    """Each spend would cost more than the one before, as the ledger grows."""
    ledger = on_file.open()
    ledger.open(account())
    for number in range(20):
        ledger.reserve(
            DATASET, f"r{number}", Charge(units=1, part=("sex", str(number % 2))), {}
        )
    plans = []

    def plan(
        connection: sa.Connection,
        _: object,
        statement: str,
        parameters: object,
        *__: object,
    ) -> None:
        if statement.startswith("SELECT") and "ledger_lines" in statement:
            rows = connection.connection.cursor().execute(
                f"EXPLAIN QUERY PLAN {statement}", parameters
            )
            plans.extend(row[3] for row in rows)

    sa.event.listen(ledger._store._writer, "before_cursor_execute", plan)
    ledger.reserve(DATASET, "planned", Charge(units=1), {})
    searched = [text.split("(")[0] for text in plans]
    assert all(text.startswith("SEARCH ledger_lines USING ") for text in searched), (
        searched
    )
    assert len(searched) <= 3
