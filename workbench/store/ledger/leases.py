"""Leases: how other processes know that a paid request is still running.

A lease lasts a minute by the clock of the database and is renewed in the background. A
process that was cut off from the database for longer counts as dead; it may still come
back with its release (`rows.charge_to_end`).
"""

import threading
from contextlib import suppress

import sqlalchemy as sa

from dpcore.errors import LedgerError
from workbench.store.database.store import Store
from workbench.store.database.tables import running

LEASE_SECONDS = 60
"""How long a lease lasts."""
RENEWAL_SECONDS = 10.0
_NOW = sa.cast(sa.extract("epoch", sa.func.current_timestamp()), sa.BigInteger)


class Leases:
    """Leases of this process, renewed for as long as this object lives."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ends: dict[tuple[str, str], threading.Event] = {}

    def __del__(self) -> None:
        for end in self._ends.values():
            end.set()

    def take(self, connection: sa.Connection, dataset: str, request_id: str) -> None:
        """Insert a lease in the transaction that reserves its request."""
        lease = {"dataset": dataset, "request_id": request_id, "renewed": _NOW}
        connection.execute(sa.insert(running).values(**lease))

    def keep(self, dataset: str, request_id: str) -> None:
        """Renew a lease in the background until it is given up."""
        end = self._ends[dataset, request_id] = threading.Event()
        threading.Thread(
            target=_renew, args=(self._store, dataset, request_id, end), daemon=True
        ).start()

    def give_up(self, dataset: str, request_id: str) -> None:
        """Stop renewing a lease."""
        self._ends.pop((dataset, request_id), threading.Event()).set()

    def expired_leases(self) -> list[tuple[str, str]]:
        """Return data set and request id of each lease that ran out.

        Raises: LedgerError.
        """
        silent = sa.select(running.c.dataset, running.c.request_id).where(
            running.c.renewed < _NOW - LEASE_SECONDS
        )
        with self._store.read_transaction() as connection:
            rows = connection.execute(silent).all()
        return [(row[0], row[1]) for row in rows if tuple(row) not in self._ends]


def _renew(store: Store, dataset: str, request_id: str, end: threading.Event) -> None:
    own = (running.c.dataset == dataset) & (running.c.request_id == request_id)
    while not end.wait(RENEWAL_SECONDS):
        with (
            suppress(LedgerError),
            store.write_transaction() as connection,
        ):  # else the next time
            connection.execute(sa.update(running).where(own).values(renewed=_NOW))
