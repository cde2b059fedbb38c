"""The ledgers under contract, each with a way in behind its back, and what other
processes do to them.
"""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from dpcore.accounting.composition import total_units
from dpcore.accounting.ledger import Account, Balance, Charge, Ledger, Line
from dpcore.accounting.memory import MemoryLedger
from dpcore.errors import BudgetExceeded, DpcoreError, LedgerError
from workbench.store.database.store import Store
from workbench.store.ledger.sql_ledger import SqlLedger
from workbench.store.people.owners import Owners
from workbench.store.people.personal import PersonalLedger
from workbench.store.people.roles import Person
from workbench.store.settings import Settings

DATASET = "d" * 64
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload([__name__, "sqlalchemy.dialects.sqlite"])


def account(**fields: Any) -> Account:
    """An account of 1,000,000 units."""
    usual = {
        "rule": "basic",
        "units": 1_000_000,
        "unit": {"max_rows": 1},
        "promise": {"epsilon": "0.000001"},
    }
    given: dict[str, Any] = {"dataset": DATASET, **usual, **fields}
    return Account(**given)


class MemoryKind:
    """`MemoryLedger`, altered through its internals."""

    def __init__(self) -> None:
        self._ledger = MemoryLedger()

    def open(self) -> Ledger:
        return self._ledger

    def alter_line(
        self, number: int, *, units: int | None = None, title: str | None = None
    ) -> None:
        lines = self._ledger._lines[DATASET]
        line = lines[number]
        charge = line.charge if units is None else Charge(units=units)
        content = line.content if title is None else {"title": title}
        lines[number] = dataclasses.replace(line, charge=charge, content=content)

    def drop_line(self, number: int) -> None:
        del self._ledger._lines[DATASET][number]

    def swap_lines(self, one: int, other: int) -> None:
        lines = self._ledger._lines[DATASET]
        lines[one], lines[other] = (
            dataclasses.replace(lines[other], number=one),
            dataclasses.replace(lines[one], number=other),
        )

    def put_release(self, request_id: str, text: str) -> None:
        self._ledger._releases[DATASET][request_id] = text

    def drop_release(self, request_id: str) -> None:
        del self._ledger._releases[DATASET][request_id]

    def alter_account(self, units: int) -> None:
        standing = self._ledger._standings[DATASET]
        altered = dataclasses.replace(standing.account, units=units)
        self._ledger._standings[DATASET] = dataclasses.replace(
            standing, account=altered
        )

    def alter_totals(self) -> None:
        standing = self._ledger._standings[DATASET]
        self._ledger._standings[DATASET] = dataclasses.replace(standing, reserved={})


class SqlKind:
    """`SqlLedger`, altered through SQL; each `open` is what another process would
    see.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._stores: list[Store] = []

    def open(self, **changes: Any) -> Any:
        self._stores.append(Store(dataclasses.replace(self.settings, **changes)))
        return SqlLedger(self._stores[-1])

    def close(self) -> None:
        for store in self._stores:
            store.close()

    @contextmanager
    def connection(self) -> Iterator[sa.Connection]:
        """A connection that knows nothing of the workbench."""
        engine = sa.create_engine(self.settings.database_url, poolclass=sa.NullPool)
        with engine.begin() as connection:
            yield connection

    def _run(self, *statements: str, **values: Any) -> None:
        with self.connection() as connection:
            for statement in statements:
                connection.execute(sa.text(statement), {"dataset": DATASET, **values})

    def alter_line(
        self, number: int, *, units: int | None = None, title: str | None = None
    ) -> None:
        if units is not None:
            self._run(
                "UPDATE ledger_lines SET units = :units WHERE number = :n",
                units=units,
                n=number,
            )
        if title is not None:
            text = f'{{"title": "{title}"}}'
            self._run(
                "UPDATE ledger_lines SET content = :text WHERE number = :n",
                text=text,
                n=number,
            )

    def drop_line(self, number: int) -> None:
        self._run("DELETE FROM ledger_lines WHERE number = :n", n=number)

    def swap_lines(self, one: int, other: int) -> None:
        self._run(
            "UPDATE ledger_lines SET number = 999 WHERE number = :one",
            "UPDATE ledger_lines SET number = :one WHERE number = :other",
            "UPDATE ledger_lines SET number = :other WHERE number = 999",
            one=one,
            other=other,
        )

    def put_release(self, request_id: str, text: str) -> None:
        self.drop_release(request_id)
        self._run(
            "INSERT INTO ledger_releases VALUES (:dataset, :id, :text)",
            id=request_id,
            text=text,
        )

    def drop_release(self, request_id: str) -> None:
        self._run("DELETE FROM ledger_releases WHERE request_id = :id", id=request_id)

    def alter_account(self, units: int) -> None:
        """The row, and the copy of it among the totals."""
        with self.connection() as connection:
            text = connection.execute(
                sa.text("SELECT standing FROM ledger_accounts")
            ).scalar_one()
        totals = json.loads(text)
        totals["account"]["units"] = units
        text = json.dumps(totals, sort_keys=True)
        self._run(
            "UPDATE ledger_accounts SET units = :units, standing = :text",
            units=units,
            text=text,
        )

    def alter_totals(self) -> None:
        with self.connection() as connection:
            text = connection.execute(
                sa.text("SELECT standing FROM ledger_accounts")
            ).scalar_one()
        text = json.dumps({**json.loads(text), "reserved": []}, sort_keys=True)
        self._run("UPDATE ledger_accounts SET standing = :text", text=text)


class PersonalKind(SqlKind):
    """The ledger as somebody uses it who signed in."""

    def open(self, **changes: Any) -> PersonalLedger:
        steward = Person(address="ada@example.org", role="steward")
        ledger = super().open(**changes)
        return PersonalLedger(
            ledger=ledger,
            owners=Owners(self._stores[-1]),
            person=steward,
            current_person=lambda: steward,
            opener=steward.address,
        )


Kind = MemoryKind | SqlKind


@contextmanager
def sqlite_kind(folder: Path) -> Iterator[SqlKind]:
    """A new SQLite file."""
    kind = SqlKind(Settings(data_dir=folder))
    yield kind
    kind.close()


@contextmanager
def postgres_kind(folder: Path, url: str) -> Iterator[SqlKind]:
    """A new schema on a PostgreSQL server."""
    server = sa.create_engine(
        Settings(database_url=url).database_url, poolclass=sa.NullPool
    )
    schema = f"test_{uuid.uuid4().hex}"
    with server.begin() as connection:
        connection.execute(sa.text(f"CREATE SCHEMA {schema}"))
    options = {"options": f"-csearch_path={schema}"}
    inside = server.url.update_query_dict(options).render_as_string(hide_password=False)
    kind = SqlKind(Settings(data_dir=folder, database_url=inside))
    yield kind
    kind.close()
    with server.begin() as connection:
        connection.execute(sa.text(f"DROP SCHEMA {schema} CASCADE"))


@contextmanager
def postgres_database(url: str) -> Iterator[str]:
    """The address of a new database: a backup takes a whole one, with the schemas of
    other tests.
    """
    given = sa.make_url(Settings(database_url=url).database_url)
    server = sa.create_engine(
        given, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT"
    )
    name = f"test_{uuid.uuid4().hex}"
    with server.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    yield given.set(database=name).render_as_string(hide_password=False)
    with server.connect() as connection:
        connection.execute(sa.text(f"DROP DATABASE {name} WITH (FORCE)"))


def run_process(target: Callable[..., None], *arguments: Any) -> int | None:
    """Run a function of this module in a process of its own; its exit code."""
    process = processes.Process(target=target, args=arguments)
    process.start()
    process.join(300)
    process.kill()
    process.join()
    return process.exitcode


def reserve_and_die(settings: Settings) -> None:
    """Die after the charge, before the release."""
    SqlLedger(Store(settings)).reserve(DATASET, "dies", Charge(units=600_000), {})
    os._exit(7)


def die_before_commit(settings: Settings) -> None:
    """Die within the transaction that charges."""
    store = Store(settings)
    sa.event.listen(store._writer, "commit", lambda _: os._exit(7))
    SqlLedger(store).reserve(DATASET, "dies", Charge(units=600_000), {})


def spend_often(
    settings: Settings, name: str, times: int, units: int, start: Any, results: Any
) -> None:
    """Try to spend `units` so many times, together with others; report (accepted,
    refused, errors).
    """
    ledger = SqlLedger(Store(settings))
    accepted = refused = errors = 0
    start.wait()
    for number in range(times):
        try:
            ledger.reserve(DATASET, f"{name}-{number}", Charge(units=units), {})
            accepted += 1
        except BudgetExceeded:
            refused += 1
        except DpcoreError:
            errors += 1
    results.put((accepted, refused, errors))


def race(
    settings: Settings, *, workers: int, times: int, units: int
) -> tuple[int, int, int]:
    """`spend_often` in so many processes at once; the sums of what they report."""
    # a slow machine may let one of many wait for long
    settings = dataclasses.replace(settings, lock_timeout=300)
    start = processes.Barrier(workers)
    results = processes.Queue()
    racers = [
        processes.Process(
            target=spend_often, args=(settings, f"p{n}", times, units, start, results)
        )
        for n in range(workers)
    ]
    for racer in racers:
        racer.start()
    reports = [results.get(timeout=300) for _ in racers]
    for racer in racers:
        racer.join()
    accepted, refused, errors = (sum(column) for column in zip(*reports, strict=True))
    return accepted, refused, errors


def open_and_tell(settings: Settings, start: Any, results: Any) -> None:
    """What another process does: open the store with others at once, and tell its key,
    or its refusal.
    """
    start.wait()
    try:
        results.put(Store(settings).key)
    except LedgerError as error:
        results.put(str(error))


def balance(account: Account, lines: Sequence[Line]) -> Balance:
    """Spent, held and left, from the lines alone."""
    ended = {line.request_id for line in lines if line.state in ("committed", "failed")}
    charges = [
        (line.request_id, line.charge) for line in lines if line.state == "reserved"
    ]
    spent = total_units(
        (charge.units, charge.part) for request, charge in charges if request in ended
    )
    both = total_units((charge.units, charge.part) for _, charge in charges)
    return Balance(budget=account.units, spent=spent, reserved=both - spent)
