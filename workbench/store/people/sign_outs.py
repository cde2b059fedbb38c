"""Sign-outs, which make the cookies of a person invalid on every server."""

import time

import sqlalchemy as sa

from workbench.store.database.connections import insert_if_new
from workbench.store.database.store import Store
from workbench.store.database.tables import sign_outs
from workbench.store.people import roles


class SignOuts:
    """The database's list of sign-outs; `roles` holds what was last read."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def end_sign_ins(self, person: str, issued: int) -> None:
        """End all sign-ins of a person that were issued up to this Unix time.

        Raises: LedgerError if other servers will not hear of it.
        """
        roles.end_sign_ins(person, issued)
        with self._store.write_transaction() as connection:
            # delete old entries, whose cookies have expired by now
            over = sign_outs.c.until < time.time() - 2 * roles.SIGN_IN_HOURS * 3600
            connection.execute(sa.delete(sign_outs).where(over))
            insert_if_new(connection, sign_outs, person=person, until=issued)
            theirs = (sign_outs.c.person == person) & (sign_outs.c.until < issued)
            connection.execute(sa.update(sign_outs).where(theirs).values(until=issued))

    def settle(self) -> None:
        """Read who signed out on other servers. Raises: LedgerError."""
        with self._store.read_transaction() as connection:
            for person, until in connection.execute(sa.select(sign_outs)).all():
                roles.end_sign_ins(person, until)
