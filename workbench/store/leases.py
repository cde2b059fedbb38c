"""Leases of processes on the requests that they run, by which others know that they still do.

A lease lasts a minute by the clock of the database, and is renewed in the background. A process that was cut
off from the database for longer is taken for dead; it may come back with its release (`rows.charge_to_end`).
"""

from __future__ import annotations

import threading
from contextlib import suppress

import sqlalchemy as sa

from dpcore.errors import LedgerError
from workbench.store.database import Store
from workbench.store.tables import running

SECONDS = 60
"""How long a lease lasts."""
RENEWED_EACH = 10.0
_NOW = sa.cast(sa.extract("epoch", sa.func.current_timestamp()), sa.BigInteger)
_REQUEST = sa.tuple_(running.c.dataset, running.c.request_id)


class Leases:
    """The leases of this process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: set[tuple[str, str]] = set()
        self._changed = threading.Condition()
        self._renewing = False

    def take(self, connection: sa.Connection, dataset: str, request_id: str) -> None:
        """Write a lease in the transaction that reserves its request."""
        lease = {"dataset": dataset, "request_id": request_id, "renewed": _NOW}
        connection.execute(sa.insert(running).values(**lease))

    def keep(self, dataset: str, request_id: str) -> None:
        """Renew a lease that was taken, until it is given up."""
        with self._changed:
            self._held.add((dataset, request_id))
            if not self._renewing:
                self._renewing = True
                threading.Thread(target=self._renew, daemon=True).start()

    def give_up(self, dataset: str, request_id: str) -> None:
        """Renew a lease no more."""
        with self._changed:
            self._held.discard((dataset, request_id))
            self._changed.notify()

    def run_out(self) -> list[tuple[str, str]]:
        """Return data set and id of each request whose process is gone. Raises: LedgerError."""
        silent = sa.select(running.c.dataset, running.c.request_id).where(running.c.renewed < _NOW - SECONDS)
        with self._store.reading() as connection:
            return [(row[0], row[1]) for row in connection.execute(silent) if tuple(row) not in self._held]

    def _renew(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: not self._held, RENEWED_EACH)
                held = list(self._held)
                self._renewing = bool(held)
            if not held:
                return
            with suppress(LedgerError), self._store.writing() as connection:  # else the next time
                connection.execute(sa.update(running).where(_REQUEST.in_(held)).values(renewed=_NOW))
