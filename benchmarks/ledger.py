"""Processes that spend at once from one budget: does any ledger overspend, and how fast
is it?

    python -m benchmarks.ledger

16 processes ask 200 times each for 500 of 1,000,000 units: 3,200 asked, 2,000 fit.
Beside the durable ledger is a naive total, read in one transaction and written back in
the next. Where DATABASE_URL points to a PostgreSQL server, it is measured too, in a
schema of its own. Prints a table, or JSON with --json.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.harness import Table, arguments, show
from dpcore.accounting.composition import Rule
from dpcore.accounting.ledger import Account, Charge
from dpcore.errors import BudgetExceeded, LedgerError
from workbench.store.database.store import Store
from workbench.store.ledger.sql_ledger import SqlLedger
from workbench.store.settings import Settings

WORKERS = 16
TIMES = 200
UNITS = 500
BUDGET = 1_000_000
LINES = (100, 1_000, 5_000, 20_000)
START_SECONDS = 300
processes = multiprocessing.get_context("spawn")  # finds our modules in any folder
Spend = Callable[[str], bool]


def durable(settings: Settings, dataset: str) -> Spend:
    """A spend on the durable ledger; whether it was accepted."""
    ledger = SqlLedger(Store(settings))
    ledger.open(Account(dataset=dataset, rule=Rule.BASIC, units=BUDGET))

    def spend(request_id: str) -> bool:
        try:
            ledger.reserve(dataset, request_id, Charge(units=UNITS), {})
        except BudgetExceeded:
            return False
        return True

    return spend


def naive(settings: Settings, _: str) -> Spend:
    """A total on the same database, read in one transaction and written back in the
    next.
    """
    store = Store(settings)
    with store.write_transaction() as connection:
        connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS naive (spent INTEGER)")
        connection.exec_driver_sql(
            "INSERT INTO naive SELECT 0 WHERE NOT EXISTS (SELECT * FROM naive)"
        )

    def spend(_: str) -> bool:
        with store.read_transaction() as connection:
            spent = connection.exec_driver_sql("SELECT spent FROM naive").scalar_one()
        if spent + UNITS > BUDGET:
            return False
        with store.write_transaction() as connection:
            connection.exec_driver_sql(f"UPDATE naive SET spent = {spent + UNITS}")
        return True

    return spend


def work(
    make: Callable[..., Spend],
    settings: Settings,
    dataset: str,
    start: Any,
    results: Any,
) -> None:
    """One process: ask for each spend, tell what came of it and how long it took."""
    spend = make(settings, dataset)
    accepted = refused = errors = 0
    waits = []
    start.wait()
    for _ in range(TIMES):
        began = time.perf_counter()
        try:
            if spend(uuid.uuid4().hex):
                accepted += 1
            else:
                refused += 1
        except LedgerError:
            errors += 1
        waits.append(time.perf_counter() - began)
    results.put((accepted, refused, errors, waits, time.process_time()))


def race(name: str, make: Callable[..., Spend], settings: Settings) -> dict[str, Any]:
    """All processes at once."""
    dataset = f"race {uuid.uuid4().hex}"
    make(settings, dataset)
    start = processes.Barrier(WORKERS + 1, timeout=START_SECONDS)
    results = processes.Queue()
    racers = [
        processes.Process(target=work, args=(make, settings, dataset, start, results))
        for _ in range(WORKERS)
    ]
    for racer in racers:
        racer.start()
    start.wait()
    began = time.perf_counter()
    reports = [results.get() for _ in racers]
    seconds = time.perf_counter() - began
    waits = sorted(wait for report in reports for wait in report[3])
    accepted, refused, errors = (
        sum(report[index] for report in reports) for index in range(3)
    )
    return {
        "ledger": name,
        "accepted": accepted,
        "refused": refused,
        "errors": errors,
        "overspent_units": max(0, accepted * UNITS - BUDGET),
        "spends_per_second": round(WORKERS * TIMES / seconds),
        "median_ms": round(statistics.median(waits) * 1000, 2),
        "p99_ms": round(waits[int(len(waits) * 0.99)] * 1000, 1),
        "cpu_seconds": round(sum(report[4] for report in reports), 1),
    }


@contextmanager
def schema_on(settings: Settings) -> Iterator[Settings]:
    """The same server, in a schema that is dropped afterwards."""
    server = sa.create_engine(settings.database_url)
    name = f"benchmark_{uuid.uuid4().hex}"
    with server.begin() as connection:
        connection.execute(sa.text(f"CREATE SCHEMA {name}"))
    url = server.url.update_query_dict({"options": f"-csearch_path={name}"})
    yield dataclasses.replace(
        settings, database_url=url.render_as_string(hide_password=False)
    )
    with server.begin() as connection:
        connection.execute(sa.text(f"DROP SCHEMA {name} CASCADE"))


def growth(settings: Settings) -> list[dict[str, Any]]:
    """What one more spend costs with more and more lines on file."""
    ledger = SqlLedger(Store(settings))
    account = Account(dataset="growth", rule=Rule.BASIC, units=10**12)
    ledger.open(account)
    rows = []
    for lines in LINES:
        while len(ledger.lines("growth")) < lines:
            for _ in range(lines // 20):
                ledger.reserve(
                    "growth", uuid.uuid4().hex, Charge(units=1), {"plan": "x" * 500}
                )
        began = time.process_time()
        for _ in range(100):
            ledger.reserve(
                "growth", uuid.uuid4().hex, Charge(units=1), {"plan": "x" * 500}
            )
        spent = time.process_time() - began
        began = time.process_time()
        for _ in range(100):
            _ = ledger.standing("growth").balance
        read = time.process_time() - began
        rows.append(
            {
                "lines": lines,
                "cpu_ms_per_spend": round(spent * 10, 2),
                "cpu_ms_per_balance": round(read * 10, 2),
            },
        )
    return rows


def main() -> None:
    as_json = arguments(__doc__).parse_args().json
    url = os.environ.get("DATABASE_URL", "")
    with tempfile.TemporaryDirectory() as folder:
        local = Settings(data_dir=Path(folder))
        races = [race("SQLite file", durable, local)]
        if url.startswith("postgres"):
            with schema_on(
                Settings(
                    data_dir=Path(folder) / "server",
                    database_url=url,
                    key=os.urandom(32),
                )
            ) as server:
                races.append(race("PostgreSQL", durable, server))
                races.append(race("PostgreSQL, naive", naive, server))
        races.append(race("SQLite, naive", naive, local))
        grown = growth(local)
    tables = [
        Table(title=f"{WORKERS} processes at once", lines=races),
        Table(title="One more spend with more lines on file", lines=grown),
    ]
    show(tables, as_json=as_json)


if __name__ == "__main__":
    main()
