"""Spenders that are killed at any moment: is a spend lost, done twice, or more than the
budget?

Children reserve and commit again and again, four at a time, and write down what was
acknowledged; each is ended by SIGKILL after a random time. Then the ledger is opened
anew. Where DATABASE_URL points to a PostgreSQL server, that is tried too, in a schema
of its own. Prints a table, or JSON with --json; `--kills N` sets how many.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.harness import Table, arguments, show
from benchmarks.ledger import schema_on
from dpcore.accounting.composition import Rule
from dpcore.accounting.ledger import Account, Charge
from dpcore.errors import DpcoreError
from workbench.store.database.store import Store
from workbench.store.ledger import leases
from workbench.store.ledger.sql_ledger import SqlLedger
from workbench.store.settings import Settings

AT_ONCE = 4
UNITS = 500
BUDGET = 1_000_000
DATASET = "kills"


def spend(settings: Settings, told: Path) -> None:
    """Spend until killed or refused; each id is written down after its commit was
    acknowledged.
    """
    ledger = SqlLedger(Store(settings))
    with told.open("a") as out:
        while True:
            request = uuid.uuid4().hex
            ledger.reserve(DATASET, request, Charge(units=UNITS), {"plan": request})
            ledger.commit(DATASET, request, {}, "{}")
            out.write(f"{request}\n")
            out.flush()


def child(settings: Settings, told: Path) -> int:
    """The process id of one spender."""
    process = os.fork()
    if process == 0:
        try:
            spend(settings, told)
        except DpcoreError:  # the budget is spent, or the database too busy
            time.sleep(0.2)
        finally:
            os._exit(0)
    return process


def tried(name: str, settings: Settings, told: Path, kills: int) -> dict[str, Any]:
    """One database, and what is left of it."""
    first = Store(settings)
    SqlLedger(first).open(Account(dataset=DATASET, rule=Rule.BASIC, units=BUDGET))
    first.close()
    running: list[tuple[int, float]] = []
    done = killed = 0
    while done < kills:
        while len(running) < AT_ONCE:
            running.append(
                (child(settings, told), time.monotonic() + random.uniform(0, 0.4))
            )
        process, end = running.pop(0)
        time.sleep(max(0.0, end - time.monotonic()))
        os.kill(process, signal.SIGKILL)
        killed += os.WIFSIGNALED(os.waitpid(process, 0)[1])
        done += 1
    for process, _ in running:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    ledger = SqlLedger(Store(settings))
    time.sleep(leases.SECONDS + 1)
    ended = ledger.end_dead()  # as every server does
    ledger.verify(DATASET)
    acknowledged = told.read_text().split()
    states = Counter((line.request_id, line.state) for line in ledger.lines(DATASET))
    committed = [request for request, state in states if state == "committed"]
    balance = ledger.standing(DATASET).balance
    return {
        "ledger": name,
        "kills": killed,
        "acknowledged": len(acknowledged),
        "committed": len(committed),
        "lost": len(set(acknowledged) - set(committed)),
        "doubled": sum(number > 1 for number in states.values()),
        "over_units": max(0, balance.spent + balance.held - BUDGET),
        "ended_as_failed": ended,
        "held_units": balance.held,
        "unaccounted_units": balance.spent - UNITS * (len(committed) + ended),
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--kills", type=int, default=460)
    asked = parser.parse_args()
    url = os.environ.get("DATABASE_URL", "")
    with tempfile.TemporaryDirectory() as folder:
        local = Settings(data_dir=Path(folder) / "local")
        lines = [tried("SQLite file", local, Path(folder) / "sqlite", asked.kills)]
        if url.startswith("postgres"):
            other = Settings(
                data_dir=Path(folder) / "other", database_url=url, key=os.urandom(32)
            )
            with schema_on(other) as server:
                lines.append(
                    tried("PostgreSQL", server, Path(folder) / "postgres", asked.kills)
                )
    show([Table(title="Killed spenders", lines=lines)], as_json=asked.json)


if __name__ == "__main__":
    main()
