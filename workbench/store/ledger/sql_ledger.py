"""The durable ledger: the promises of `MemoryLedger`, kept in a database."""

import json
import logging
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from dpcore.accounting.chain import (
    TAIL_LINES,
    check_chain,
    check_head,
    check_tail,
    digest_release,
    head_of,
    replay_lines,
)
from dpcore.accounting.ledger import (
    NO_CHARGE,
    Account,
    Charge,
    Line,
    Standing,
    State,
    altered_error,
    check_charge_fits,
    check_same_account,
    no_account_error,
    opening_content,
)
from dpcore.errors import LedgerCorrupt, LedgerError
from workbench.store.database.connections import insert_if_new
from workbench.store.database.store import Store
from workbench.store.database.tables import accounts, lines, releases, running
from workbench.store.database.witness import SeenLine, check_line_present
from workbench.store.ledger.leases import Leases
from workbench.store.ledger.rows import (
    PRESUMED_FAILURE,
    account_row,
    all_lines,
    charge_at_end,
    check_request_unused,
    is_line_present,
    last_line,
    line_fields,
    parse_account,
    parse_line,
    release_text,
    release_texts,
)

_log = logging.getLogger("workbench.work")
_MAX_WAITING_ENDS = 50
"""Ends of paid runs, with their releases, that are kept while the database cannot take
them.
"""
_MAX_CACHED_DATA_SETS = 64
"""Data sets whose lines are kept, those read last, so that only new ones are read."""


def _is_note(
    request_id: str, among: sa.Select[Any] | Collection[str]
) -> sa.ColumnElement[bool]:
    """Return whether a line is the note with this id of one of these accounts."""
    return sa.and_(
        lines.c.dataset.in_(among),
        lines.c.request_id == request_id,
        lines.c.state == "outside",
    )


class SqlLedger:
    """A ledger shared by all processes.

    Each method checks and appends in one transaction.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._leases = Leases(store)
        self._kept: dict[tuple[str, str], tuple[State, dict[str, Any], str | None]] = {}
        self._known: dict[str, tuple[Line, ...]] = {}
        self._lock = threading.Lock()
        self._storing = threading.Lock()
        self._seal_old_standings()

    @property
    def key(self) -> bytes:
        return self._store.row_key

    def datasets(self) -> list[str]:
        """Return all data sets that have an account, or had one that was seen."""
        with self._store.read_transaction() as connection:
            accounted = (
                connection.execute(sa.select(accounts.c.dataset)).scalars().all()
            )
        if not all(isinstance(dataset, str) for dataset in accounted):
            raise altered_error()
        return sorted({*accounted, *self._store.witness.datasets()})

    def by_last_use(self, among: sa.Select[Any]) -> list[str]:
        """Return some data sets with an account, last used first.

        Args:
            among: a query for their data sets.
        """
        last_at = (
            sa.select(lines.c.at)
            .where(lines.c.dataset == accounts.c.dataset)
            .order_by(lines.c.number.desc())
            .limit(1)
            .scalar_subquery()
        )
        query = (
            sa.select(accounts.c.dataset)
            .where(accounts.c.dataset.in_(among))
            .order_by(sa.func.coalesce(last_at, "").desc(), accounts.c.dataset)
        )
        with self._store.read_transaction() as connection:
            return list(connection.execute(query).scalars())

    def find_notes(
        self, request_id: str, among: sa.Select[Any] | Collection[str]
    ) -> Iterator[Line]:
        """Yield the note with this id of each account that has one.

        Args:
            among: the accounts to look at, as a query for their data sets or by name.
        """
        query = sa.select(lines).where(_is_note(request_id, among))
        with self._store.read_transaction() as connection:
            yield from map(
                parse_line, connection.execution_options(yield_per=50).execute(query)
            )

    def digests_of_notes(
        self, request_id: str, among: sa.Select[Any]
    ) -> dict[str, str]:
        """Return the digest of the note with this id of each account that has one."""
        query = sa.select(lines.c.dataset, lines.c.digest).where(
            _is_note(request_id, among)
        )
        with self._store.read_transaction() as connection:
            return {row.dataset: row.digest for row in connection.execute(query)}

    def opening_lines(
        self, among: sa.Select[Any], *, containing: str = "", lacking: str = ""
    ) -> Iterator[Line]:
        """Yield the line that opened each of some accounts.

        Args:
            among: a query for their data sets.
            containing: a text that the line has in its content, as JSON.
            lacking: a text that it has not.
        """
        query = sa.select(lines).where(
            lines.c.dataset.in_(among),
            lines.c.request_id == "",
            lines.c.state == "opened",
        )
        if containing:
            query = query.where(lines.c.content.contains(containing, autoescape=True))
        if lacking:
            query = query.where(~lines.c.content.contains(lacking, autoescape=True))
        with self._store.read_transaction() as connection:
            yield from map(
                parse_line, connection.execution_options(yield_per=50).execute(query)
            )

    def open(
        self, account: Account, by: str = "", note: Mapping[str, Any] | None = None
    ) -> Account:
        """Open a new account, or return the one on file.

        Args:
            by: the person who opens it.
            note: what else its first line keeps.
        """
        stored = self.account(account.dataset)
        if stored is not None:
            self.verify(account.dataset)
            return check_same_account(stored, account)
        line = None
        with self._store.write_transaction() as connection:
            standing = Standing(account=account)
            insert_if_new(
                connection,
                accounts,
                dataset=account.dataset,
                rule=account.rule.value,
                units=account.units,
                threshold_units=account.threshold_units,
                promise=json.dumps(account.promise),
                unit=json.dumps(account.unit),
                head="",
                standing=standing.to_json(),
            )
            row = account_row(connection, account.dataset, lock=True)
            # the row was inserted just now, and not by another tab
            if row is not None and not row.head:
                forgotten = self._store.witness.forgotten_lines(account.dataset)
                content = {**opening_content(account, by, forgotten), **(note or {})}
                line = self._append_line(
                    connection, standing, None, "", "opened", NO_CHARGE, content
                )
        self._note_line_seen(line)
        with self._read_transaction(account.dataset) as (connection, seen):
            return check_same_account(
                self._checked_standing(connection, account.dataset, seen)[0].account,
                account,
            )

    def account(self, dataset: str) -> Account | None:
        with self._read_transaction(dataset) as (connection, seen):
            if account_row(connection, dataset) is None:
                check_line_present(seen is None)
                return None
            return self._checked_standing(connection, dataset, seen)[0].account

    def reserve(
        self, dataset: str, request_id: str, charge: Charge, content: dict[str, Any]
    ) -> None:
        with self._store.write_transaction() as connection:
            standing, last = self._checked_standing(
                connection, dataset, self._store.witness.last_seen(dataset), lock=True
            )
            check_request_unused(connection, dataset, request_id)
            since = max(0, last.number + 1 - TAIL_LINES)
            check_tail(self._store.key, all_lines(connection, dataset, since=since))
            check_charge_fits(standing, charge)
            after = standing.with_change("reserved", charge)
            line = self._append_line(
                connection, after, last, request_id, "reserved", charge, content
            )
            self._leases.take(connection, dataset, request_id)
        self._leases.keep(dataset, request_id)
        self._note_line_seen(line)

    def commit(
        self, dataset: str, request_id: str, content: dict[str, Any], release: str
    ) -> None:
        sealed = {**content, "release": digest_release(release)}
        self._end_or_keep(dataset, request_id, "committed", sealed, release)

    def fail(self, dataset: str, request_id: str, content: dict[str, Any]) -> None:
        self._end_or_keep(dataset, request_id, "failed", content, None)

    def note(self, dataset: str, request_id: str, content: dict[str, Any]) -> None:
        self.note_all(dataset, {request_id: content})

    def note_all(self, dataset: str, notes: Mapping[str, dict[str, Any]]) -> None:
        with self._store.write_transaction() as connection:
            standing, line = self._checked_standing(
                connection, dataset, self._store.witness.last_seen(dataset), lock=True
            )
            for request_id, content in notes.items():
                check_request_unused(connection, dataset, request_id)
                line = self._append_line(
                    connection,
                    standing,
                    line,
                    request_id,
                    "outside",
                    NO_CHARGE,
                    content,
                )
        self._note_line_seen(line)

    def standing(self, dataset: str) -> Standing:
        self.store_waiting()
        with self._read_transaction(dataset) as (connection, seen):
            return self._checked_standing(connection, dataset, seen)[0]

    def lines(self, dataset: str) -> tuple[Line, ...]:
        self.store_waiting()
        with self._lock:
            known = self._known.pop(dataset, ())
        with self._store.read_transaction() as connection:
            chain = all_lines(
                connection, dataset, since=known[-1].number if known else 0
            )
            # the database was replaced by another one, so the cached lines do not count
            if known and (not chain or chain[0] != known[-1]):
                known = ()
                chain = all_lines(connection, dataset)
        chain = (*known[:-1], *chain)
        with self._lock:
            self._known[dataset] = chain
            if len(self._known) > _MAX_CACHED_DATA_SETS:
                del self._known[next(iter(self._known))]
        return chain

    def release(self, dataset: str, request_id: str) -> str | None:
        self.store_waiting()
        with self._store.read_transaction() as connection:
            return release_text(connection, dataset, request_id)

    def verify(self, dataset: str) -> None:
        with self._read_transaction(dataset) as (connection, seen):
            standing, last = self._checked_standing(connection, dataset, seen)
            row = account_row(connection, dataset)
            stored = release_texts(connection, dataset)
            check_chain(
                self._store.key,
                standing,
                all_lines(connection, dataset),
                stored,
                row.head,
            )
        self._store.witness.note(dataset, last.number, last.digest)

    def is_release_waiting(self, request_id: str) -> bool:
        """Return whether the release of a paid run waits to be stored."""
        return any(
            kept == request_id and end[2] for (_, kept), end in list(self._kept.items())
        )

    def waiting_releases(self, dataset: str) -> dict[str, str]:
        """Return the releases that wait for the database, by request id."""
        ends = list(self._kept.items())
        return {
            request_id: end[2]
            for (own, request_id), end in ends
            if own == dataset and end[2]
        }

    def store_waiting(self) -> None:
        """Store the ends of paid runs that the database could not store before.

        An end is kept until its line says committed or failed for good, so also while
        an older copy lies in the place of the newest. If another page is trying at this
        moment, nobody
        waits for it: the database may take long to refuse.
        """
        if not self._kept or not self._storing.acquire(blocking=False):
            return
        try:
            for (dataset, request_id), (state, content, release) in list(
                self._kept.items()
            ):
                try:
                    self._end_request(dataset, request_id, state, content, release)
                except LedgerError as error:
                    if isinstance(error.__cause__, Exception):
                        return
                    if isinstance(error, LedgerCorrupt) or not self._has_ended(
                        dataset, request_id
                    ):
                        continue
                del self._kept[dataset, request_id]
        finally:
            self._storing.release()

    def end_dead_runs(self) -> int:
        """End the runs of dead processes as failed; return their number. Charges
        stay.
        """
        ended = 0
        for dataset, request_id in self._leases.expired_leases():
            try:
                self.fail(dataset, request_id, PRESUMED_FAILURE)
                ended += 1
            except LedgerError:
                # another server ended it, or the account was altered, which every use
                # of it reports
                continue
        if ended:
            _log.warning(
                (
                    "%d runs of a program that ended were ended as failed; their "
                    "charges "
                    "stay"
                ),
                ended,
            )
        return ended

    def accept(self, dataset: str) -> None:
        """Accept an older copy that was restored on purpose.

        A line says how many later lines were forgotten; if the account is gone, the
        line that opens it again says so.

        Raises: LedgerCorrupt if the copy is not consistent in itself.
        """
        with self._read_transaction(dataset) as (connection, seen):
            row = account_row(connection, dataset)
            last = last_line(connection, dataset)
            known = not (seen and last) or is_line_present(
                connection, self._store.key, last, seen
            )
        if row is None or last is None:
            self._store.witness.forget(dataset)
            return
        self._store.witness.accept(dataset, last.number, last.digest)
        self.verify(dataset)
        if seen is not None and not known:
            forgotten = max(0, seen[0] - last.number)
            self.note(
                dataset,
                f"accepted {seen[1][:16]}",
                {"kind": "older copy accepted", "forgotten": forgotten},
            )

    def _end_or_keep(
        self,
        dataset: str,
        request_id: str,
        state: State,
        content: dict[str, Any],
        release: str | None,
    ) -> None:
        try:
            self._end_request(dataset, request_id, state, content, release)
        except LedgerError as error:
            if not isinstance(error, LedgerCorrupt) and not isinstance(
                error.__cause__, Exception
            ):
                raise  # the request was refused, not by the database
            with self._lock:
                room = len(self._kept) < _MAX_WAITING_ENDS
                if room:
                    self._kept[dataset, request_id] = (state, content, release)
            if release is None:
                raise
            kind = LedgerCorrupt if isinstance(error, LedgerCorrupt) else LedgerError
            raise kind(
                (
                    "the release was paid and computed, but could not be stored yet: "
                    "{problem}"
                )
                if room
                else (
                    "the release was paid and computed, but is lost, as too many "
                    "wait already: {problem}"
                ),
                remedy=(
                    "the release is kept in memory until the database can store it; "
                    "do not stop the server"
                )
                if room
                else "the charge stays; repair the database before the next release",
                problem=error.problem,
            ) from error

    def _has_ended(self, dataset: str, request_id: str) -> bool:
        """Return whether a request was committed, or failed for good.

        A request that was only presumed to have failed may still come to its end.
        """
        with self._store.read_transaction() as connection:
            own = [
                line
                for line in all_lines(connection, dataset)
                if line.request_id == request_id
            ]
        return any(
            line.state == "committed"
            or (line.state == "failed" and line.content != PRESUMED_FAILURE)
            for line in own
        )

    def _end_request(
        self,
        dataset: str,
        request_id: str,
        state: State,
        content: dict[str, Any],
        release: str | None,
    ) -> None:
        with self._store.write_transaction() as connection:
            standing, last = self._checked_standing(
                connection, dataset, self._store.witness.last_seen(dataset), lock=True
            )
            if (
                release is not None
                and release_text(connection, dataset, request_id) == release
            ):
                return  # the answer to the first time was lost
            charge = charge_at_end(connection, self._store.key, dataset, request_id)
            if charge == NO_CHARGE and state == "failed":
                return  # as was presumed
            after = standing.with_change(state, charge)
            line = self._append_line(
                connection, after, last, request_id, state, NO_CHARGE, content
            )
            if release is not None:
                connection.execute(
                    sa.insert(releases).values(
                        dataset=dataset, request_id=request_id, text=release
                    ),
                )
            done = (running.c.dataset == dataset) & (running.c.request_id == request_id)
            connection.execute(sa.delete(running).where(done))
        self._leases.give_up(dataset, request_id)
        self._note_line_seen(line)

    def _append_line(
        self,
        connection: sa.Connection,
        standing: Standing,
        last: Line | None,
        request_id: str,
        state: State,
        charge: Charge,
        content: dict[str, Any],
    ) -> Line:
        dataset = standing.account.dataset
        line = Line.next_line(
            self._store.key,
            previous=last,
            dataset=dataset,
            request_id=request_id,
            state=state,
            charge=charge,
            content=content,
            standing=standing.digest,
        )
        connection.execute(sa.insert(lines).values(**line_fields(line)))
        connection.execute(
            sa.update(accounts)
            .where(accounts.c.dataset == dataset)
            .values(head=head_of(self._store.key, line), standing=standing.to_json()),
        )
        return line

    def _note_line_seen(self, line: Line | None) -> None:
        if line is not None:
            self._store.witness.note(line.dataset, line.number, line.digest)
            _log.info(
                "account %s line %d: %s, request %s, %d units",
                line.dataset[:8],
                line.number,
                line.state,
                line.request_id[:8],
                line.charge.units,
            )

    @contextmanager
    def _read_transaction(
        self, dataset: str
    ) -> Iterator[tuple[sa.Connection, SeenLine]]:
        """Begin a read transaction; yield it and the last line seen before it.

        Lines that others add meanwhile are not in either.
        """
        seen = self._store.witness.last_seen(dataset)
        with self._store.read_transaction() as connection:
            yield connection, seen

    def _checked_standing(
        self,
        connection: sa.Connection,
        dataset: str,
        seen: SeenLine,
        *,
        lock: bool = False,
    ) -> tuple[Standing, Line]:
        """Return the standing and the last line, checked in constant time.

        Both are checked against their seals and the witness.
        """
        row = account_row(connection, dataset, lock=lock)
        if row is None:
            check_line_present(seen is None)
            raise no_account_error()
        standing = Standing.from_json(row.standing)
        last = last_line(connection, dataset)
        check_head(self._store.key, last, row.head, standing)
        assert last is not None
        if parse_account(row) != standing.account:
            raise altered_error()
        if seen is not None:
            check_line_present(is_line_present(connection, self._store.key, last, seen))
        return standing, last

    def _seal_old_standings(self) -> None:
        """Seal the standings of version 1 accounts; altered accounts stay unusable."""
        with self._store.read_transaction() as connection:
            unsealed = sa.select(accounts.c.dataset).where(accounts.c.standing == "")
            old = connection.execute(unsealed).scalars().all()
        for dataset in old:
            with self._store.write_transaction() as connection:
                row = account_row(connection, dataset, lock=True)
                last = last_line(connection, dataset)
                stored = release_texts(connection, dataset)
                try:
                    now = replay_lines(
                        self._store.key,
                        parse_account(row),
                        all_lines(connection, dataset),
                        stored,
                        row.head,
                    )
                except LedgerCorrupt:
                    continue
                content = {"kind": "totals sealed"}
                self._append_line(
                    connection, now, last, "version 2", "outside", NO_CHARGE, content
                )
