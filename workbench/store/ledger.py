"""The durable ledger: the same promises as `MemoryLedger`, in a database."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from dpcore.accounting.ledger import (
    NOTHING,
    Account,
    Charge,
    Line,
    State,
    check_chain,
    check_head,
    check_reserve,
    check_same,
    check_states,
    corrupt,
    digest_of,
    head_of,
    no_account,
    open_content,
)
from workbench.store.database import Store, accounts, lines, releases


class SqlLedger:
    """A ledger that all processes share. Check and append are one transaction, for each method."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def key(self) -> bytes:
        return self._store.key

    def check_answers(self) -> None:
        """Ask the database for something. Raises: LedgerError."""
        with self._store.reading() as connection:
            connection.execute(sa.select(accounts.c.dataset).limit(1)).all()

    def open(self, account: Account) -> Account:
        stored = self.account(account.dataset)
        if stored is not None:
            return check_same(stored, account)
        with self._store.writing() as connection:
            insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
            connection.execute(
                insert(accounts)
                .values(
                    dataset=account.dataset,
                    rule=account.rule,
                    units=account.units,
                    threshold_units=account.threshold_units,
                    promise=json.dumps(account.promise),
                    unit=json.dumps(account.unit),
                    head="",
                )
                .on_conflict_do_nothing()
            )
            stored, head = _locked(connection, account.dataset)
            if not head:  # filed just now, and not by another tab
                self._append(connection, stored, head, "", "opened", NOTHING, open_content(account))
        return check_same(stored, account)

    def account(self, dataset: str) -> Account | None:
        with self._store.reading() as connection:
            row = connection.execute(sa.select(accounts).where(accounts.c.dataset == dataset)).one_or_none()
        return None if row is None else _account(row)

    def reserve(self, dataset: str, request_id: str, charge: Charge, content: dict[str, Any]) -> None:
        with self._store.writing() as connection:
            account, head = _locked(connection, dataset)
            _check_states(connection, dataset, request_id, [])
            check_reserve(account, _reserved(connection, dataset), charge)
            self._append(connection, account, head, request_id, "reserved", charge, content)

    def commit(self, dataset: str, request_id: str, content: dict[str, Any], release: str) -> None:
        sealed = {**content, "release": digest_of(release)}
        with self._store.writing() as connection:
            self._end(connection, dataset, request_id, "committed", sealed)
            connection.execute(
                sa.insert(releases).values(dataset=dataset, request_id=request_id, text=release)
            )

    def fail(self, dataset: str, request_id: str, content: dict[str, Any]) -> None:
        with self._store.writing() as connection:
            self._end(connection, dataset, request_id, "failed", content)

    def note(self, dataset: str, request_id: str, content: dict[str, Any]) -> None:
        with self._store.writing() as connection:
            account, head = _locked(connection, dataset)
            _check_states(connection, dataset, request_id, [])
            self._append(connection, account, head, request_id, "outside", NOTHING, content)

    def lines(self, dataset: str) -> tuple[Line, ...]:
        with self._store.reading() as connection:
            return _lines(connection, dataset)

    def release(self, dataset: str, request_id: str) -> str | None:
        query = sa.select(releases.c.text).where(
            releases.c.dataset == dataset, releases.c.request_id == request_id
        )
        with self._store.reading() as connection:
            text: str | None = connection.execute(query).scalar_one_or_none()
        return text

    def verify(self, dataset: str) -> None:
        of_dataset = sa.select(releases.c.request_id, releases.c.text).where(releases.c.dataset == dataset)
        with self._store.reading() as connection:
            row = connection.execute(sa.select(accounts).where(accounts.c.dataset == dataset)).one_or_none()
            if row is None:
                raise no_account()
            stored = {release.request_id: release.text for release in connection.execute(of_dataset).all()}
            check_chain(self.key, _account(row), _lines(connection, dataset), stored, row.head)

    def _end(
        self,
        connection: sa.Connection,
        dataset: str,
        request_id: str,
        state: State,
        content: dict[str, Any],
    ) -> None:
        account, head = _locked(connection, dataset)
        _check_states(connection, dataset, request_id, ["reserved"])
        self._append(connection, account, head, request_id, state, NOTHING, content)

    def _append(
        self,
        connection: sa.Connection,
        account: Account,
        head: str,
        request_id: str,
        state: State,
        charge: Charge,
        content: dict[str, Any],
    ) -> None:
        dataset = account.dataset
        last = _last(connection, dataset)
        if state != "opened":
            check_head(self.key, last, head)
        line = Line.sealed(
            self.key,
            previous=last,
            dataset=dataset,
            request_id=request_id,
            state=state,
            charge=charge,
            content=content,
        )
        connection.execute(
            sa.insert(lines).values(
                dataset=dataset,
                number=line.number,
                request_id=request_id,
                state=state,
                units=charge.units,
                threshold_units=charge.threshold_units,
                part=json.dumps(charge.part) if charge.part else None,
                at=line.at,
                previous=line.previous,
                digest=line.digest,
                content=json.dumps(line.content),
            )
        )
        connection.execute(
            sa.update(accounts).where(accounts.c.dataset == dataset).values(head=head_of(self.key, line))
        )


def _locked(connection: sa.Connection, dataset: str) -> tuple[Account, str]:
    """The account and its head, locked until the transaction ends (SQLite has locked the whole file)."""
    query = sa.select(accounts).where(accounts.c.dataset == dataset).with_for_update()
    row = connection.execute(query).one_or_none()
    if row is None:
        raise no_account()
    return _account(row), row.head


def _account(row: Any) -> Account:
    try:
        promise, unit = json.loads(row.promise), json.loads(row.unit)
    except ValueError as error:
        raise corrupt("the account was altered after it was opened") from error
    return Account(
        dataset=row.dataset,
        rule=row.rule,
        units=row.units,
        threshold_units=row.threshold_units,
        promise=promise,
        unit=unit,
    )


def _check_states(connection: sa.Connection, dataset: str, request_id: str, expected: list[State]) -> None:
    query = sa.select(lines.c.state).where(lines.c.dataset == dataset, lines.c.request_id == request_id)
    check_states(request_id, connection.execute(query).scalars().all(), expected)


def _reserved(connection: sa.Connection, dataset: str) -> list[Charge]:
    """What was charged so far, added up by part."""
    query = (
        sa.select(lines.c.part, sa.func.sum(lines.c.units), sa.func.sum(lines.c.threshold_units))
        .where(lines.c.dataset == dataset, lines.c.state == "reserved")
        .group_by(lines.c.part)
    )
    return [
        Charge(units=int(units), threshold_units=int(threshold_units), part=_part(part))
        for part, units, threshold_units in connection.execute(query).all()
    ]


def _last(connection: sa.Connection, dataset: str) -> Line | None:
    query = sa.select(lines).where(lines.c.dataset == dataset).order_by(lines.c.number.desc()).limit(1)
    row = connection.execute(query).one_or_none()
    return None if row is None else _line(row)


def _lines(connection: sa.Connection, dataset: str) -> tuple[Line, ...]:
    query = sa.select(lines).where(lines.c.dataset == dataset).order_by(lines.c.number)
    # all rows first: a cursor left open by an error would keep SQLite at an old state
    return tuple(_line(row) for row in connection.execute(query).all())


def _line(row: Any) -> Line:
    try:
        charge = Charge(units=row.units, threshold_units=row.threshold_units, part=_part(row.part))
        content = json.loads(row.content)
    except ValueError as error:
        raise corrupt("line {number} of the ledger was altered", number=row.number) from error
    return Line(
        dataset=row.dataset,
        number=row.number,
        request_id=row.request_id,
        state=row.state,
        charge=charge,
        content=content,
        at=row.at,
        previous=row.previous,
        digest=row.digest,
    )


def _part(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    column, category = json.loads(text)
    return column, category
