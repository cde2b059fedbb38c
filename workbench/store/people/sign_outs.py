"""People who signed out: their cookies of before are dead on every server, copies
too.
"""

import time

import sqlalchemy as sa

from workbench.store.database.connections import insert_if_new
from workbench.store.database.store import Store
from workbench.store.database.tables import sign_outs
from workbench.store.people import roles


class SignOuts:
    """The list of a database, of which `roles` knows what was read last."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def end(self, person: str, issued: int) -> None:
        """End the sign-ins of a person up to one, with the second in which the provider
        confirmed that one.

        Raises: LedgerError where other servers will not hear of it.
        """
        roles.end_sign_ins(person, issued)
        with self._store.writing() as connection:
            # such cookies are over anyway
            over = sign_outs.c.until < time.time() - 2 * roles.HOURS * 3600
            connection.execute(sa.delete(sign_outs).where(over))
            insert_if_new(connection, sign_outs, person=person, until=issued)
            theirs = (sign_outs.c.person == person) & (sign_outs.c.until < issued)
            connection.execute(sa.update(sign_outs).where(theirs).values(until=issued))

    def settle(self) -> None:
        """Read who signed out on another server. Raises: LedgerError."""
        with self._store.reading() as connection:
            for person, until in connection.execute(sa.select(sign_outs)).all():
                roles.end_sign_ins(person, until)
