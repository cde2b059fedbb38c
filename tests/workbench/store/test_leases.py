"""Leases of paid runs: a server that was cut off is taken for dead, and nothing that
was paid is lost.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa

import dpcore as dp
from dpcore.accounting.ledger import Charge
from dpcore.errors import LedgerError
from tests.contracts.ledger_kinds import DATASET, SqlKind, account
from workbench.store.ledger import leases
from workbench.store.ledger.sql_ledger import SqlLedger

STATES = (
    "reserved",
    "measuring",
    "post-processing",
    "committing",
    "committed and unread",
)
TABLE = pd.DataFrame({"sex": ["F", "M"] * 20})
SCHEMA = dp.Schema(
    columns=(dp.Categorical("sex", categories=("F", "M")),),
    unit=dp.PrivacyUnit(max_rows=1),
)


def _age(kind: SqlKind) -> None:
    """As if nobody had renewed a lease for more than a minute."""
    kind._run(
        f"UPDATE ledger_running SET renewed = renewed - {leases.LEASE_SECONDS + 5}"
    )


def _cut(ledger: SqlLedger) -> None:
    """End a server's connections to its database, as a failover does; a file has none
    that could end.
    """
    if ledger._store.file is None:
        for engine in (ledger._store._reader, ledger._store._writer):
            with engine.connect() as connection:
                process = connection.exec_driver_sql(
                    "SELECT pg_backend_pid()"
                ).scalar_one()
                connection.rollback()
            with sa.create_engine(engine.url, poolclass=sa.NullPool).begin() as other:
                other.exec_driver_sql(f"SELECT pg_terminate_backend({process}, 5000)")


def fail_over(kind: SqlKind, state: str, *, silent: bool) -> tuple[SqlLedger, str]:
    """A run whose server loses its database in one state, while a second one starts;
    its ledger and request.

    Args:
        silent: whether the first could not renew its lease for more than a minute.
    """
    first = kind.open()
    seconds: list[SqlLedger] = []

    def lose() -> None:
        if silent:
            _age(kind)
        _cut(first)
        seconds.append(kind.open())
        seconds[0].end_dead_runs()

    def compute(
        function: Callable[..., Any], *given: Any, on_progress: Any = None
    ) -> Any:
        paid = on_progress is told
        if paid and state == "reserved":
            lose()
        if paid and state == "measuring":
            measure = given[0].measure
            given[0].measure = lambda *asked: (measure(*asked), lose())[0]
        answer = function(*given, *([on_progress] if on_progress else []))
        if paid and state == "post-processing":
            lose()
        return answer

    def told(stage: str, share: float) -> None:
        """Tell the run from its rehearsal."""

    def committing(
        connection: sa.Connection, _: object, statement: str, *__: object
    ) -> None:
        if statement.startswith("INSERT INTO ledger_releases") and not seconds:
            sa.event.remove(first._store._writer, "before_cursor_execute", committing)
            raise sa.exc.OperationalError(
                statement, {}, sqlite3.OperationalError("gone")
            )

    budget = dp.PureDP(epsilon=1)
    half = dp.PureDP(epsilon="0.5")
    curator = dp.Curator.open(
        TABLE, SCHEMA, budget=budget, ledger=first, compute=compute
    )
    if state == "committing":
        sa.event.listen(first._store._writer, "before_cursor_execute", committing)
    try:
        curator.run(dp.Histogram("sex"), half, request_id="paid", on_progress=told)
    except LedgerError:
        if state != "committing" or not first.is_release_waiting("paid"):
            raise
    if not seconds:
        lose()
    first.store_waiting()  # as the server does every few seconds
    return seconds[0], curator.account.dataset


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("state", STATES)
def test_a_failover_loses_no_paid_release(
    kind: SqlKind, state: str, silent: bool
) -> None:
    """A second server ended the runs of one that had only lost its connection: what was
    paid was gone.
    """
    second, dataset = fail_over(kind, state, silent=silent)
    assert (
        dp.Release.from_json(second.release(dataset, "paid") or "").request_id == "paid"
    )
    ends = [line.state for line in second.lines(dataset) if line.request_id == "paid"]
    taken_for_dead = ["failed"] if silent and state != "committed and unread" else []
    assert ends == ["reserved", *taken_for_dead, "committed"]
    balance = second.standing(dataset).balance
    assert (balance.spent, balance.reserved) == (5 * 10**11, 0)
    second.verify(dataset)
    assert second.end_dead_runs() == 0


def test_a_lease_is_renewed_while_its_run_goes_on(
    kind: SqlKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of more than a minute would be ended as dead by the next server that
    looks.
    """
    monkeypatch.setattr(leases, "RENEWAL_SECONDS", 0.01)
    ledger = kind.open()
    renewed = threading.Event()
    ledger.open(account())
    engine = ledger._store._writer

    def note(_: object, __: object, statement: str, *___: object) -> None:
        if statement.startswith("UPDATE ledger_running"):
            renewed.set()

    ledger.reserve(DATASET, "long", Charge(units=1), {})
    _age(kind)
    sa.event.listen(engine, "after_cursor_execute", note)
    # the second one began after the lease was aged, and the first has ended
    for _ in range(2):
        renewed.clear()
        assert renewed.wait(60)
    assert kind.open().end_dead_runs() == 0
    ledger.commit(DATASET, "long", {}, "release")
    with kind.connection() as connection:
        assert not connection.exec_driver_sql("SELECT * FROM ledger_running").all()


def test_a_run_that_was_taken_for_dead_and_fails_has_failed_once(kind: SqlKind) -> None:
    """Its own error would become one of the ledger, and be tried again for ever."""
    first = kind.open()
    first.open(account())
    first.reserve(DATASET, "a", Charge(units=5), {})
    _age(kind)
    assert kind.open().end_dead_runs() == 1
    first.fail(DATASET, "a", {"error": "ValueError"})
    assert [line.state for line in first.lines(DATASET)] == [
        "opened",
        "reserved",
        "failed",
    ]
    first.commit(DATASET, "a", {}, "release")
    for end in (first.fail, kind.open().fail):
        with pytest.raises(LedgerError, match="no charge is held"):
            end(DATASET, "a", {})
    with pytest.raises(LedgerError, match="no charge is held"):
        first.commit(DATASET, "a", {}, "another release")
    assert first.standing(DATASET).balance.spent == 5
    first.verify(DATASET)


def test_a_charge_whose_answer_was_lost_ends_by_itself(kind: SqlKind) -> None:
    """Nobody runs it, and it would be held for as long as the server lives."""
    ledger = kind.open()
    ledger.open(account())
    ledger.reserve(DATASET, "a", Charge(units=5), {})
    # as if `reserve` had raised after its transaction
    ledger._leases.give_up(DATASET, "a")
    assert ledger.end_dead_runs() == 0
    _age(kind)
    assert ledger.end_dead_runs() == 1


def test_a_lease_ends_with_its_ledger(
    kind: SqlKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads wrote into databases that were closed, or gone, for as long as their
    process lived.
    """
    monkeypatch.setattr(leases, "RENEWAL_SECONDS", 0.01)
    ledger = kind.open()
    before = {*threading.enumerate()}
    ledger.open(account())
    ledger.reserve(DATASET, "a", Charge(units=5), {})
    (renewing,) = {*threading.enumerate()} - before
    del ledger
    renewing.join(60)
    assert not renewing.is_alive()
