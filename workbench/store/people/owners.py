"""Owners of data sets, and people who may see their releases.

An account's fingerprint was made with the key of whoever opened the table, and stays;
the steward may change. A data set from before there were owners has no line here, and
belongs to whoever sits at that computer.
"""

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from workbench.store.database.connections import insert_if_new
from workbench.store.database.store import Store
from workbench.store.database.tables import accounts, owners, viewers

# built once, since this query runs very often
_OWNER_QUERY = sa.select(owners).where(owners.c.dataset == sa.bindparam("dataset"))


def select_owned(*stewards: str) -> sa.Select[Any]:
    """Select the data sets these people may spend on."""
    return (
        sa.select(accounts.c.dataset)
        .outerjoin(owners, owners.c.dataset == accounts.c.dataset)
        .where(sa.func.coalesce(owners.c.steward, "").in_(stewards))
    )


def select_opened(*openers: str) -> sa.Select[Any]:
    """Select the data sets that these people opened, also those handed on."""
    return sa.select(owners.c.dataset).where(owners.c.opener.in_(openers))


def select_shown(person: str) -> sa.Select[Any]:
    """Select other people's data sets whose releases a person may see."""
    return sa.select(viewers.c.dataset).where(
        viewers.c.person == person, viewers.c.person != ""
    )


@dataclass(frozen=True, kw_only=True)
class Owner:
    """Opener of a data set, and the steward who answers for it now.

    Attributes:
        opener: under whose key it is filed.
        steward: who may open it and spend.
    """

    opener: str = ""
    steward: str = ""


class Owners:
    """Owners of the data sets of a database, and viewers of their releases.

    People are named by their addresses; "" is whoever sits at the computer.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def claim(self, dataset: str, owner: Owner) -> None:
        """Record the owner of a new data set, unless it has one already."""
        with self._store.write_transaction() as connection:
            insert_if_new(
                connection,
                owners,
                dataset=dataset,
                opener=owner.opener,
                steward=owner.steward,
            )

    def owner_of(self, dataset: str) -> Owner:
        """Return the owner of a data set."""
        with self._store.read_transaction() as connection:
            row = connection.execute(_OWNER_QUERY, {"dataset": dataset}).one_or_none()
        return Owner() if row is None else Owner(opener=row.opener, steward=row.steward)

    def owned_by(self, *stewards: str) -> list[str]:
        """Return the data sets these people may spend on."""
        with self._store.read_transaction() as connection:
            return list(connection.execute(select_owned(*stewards)).scalars())

    def openers(self, *stewards: str, of: str = "") -> set[str]:
        """Return who opened the data sets that these people may spend on.

        Args:
            of: only of this data set.
        """
        opener = sa.func.coalesce(owners.c.opener, "")
        query = select_owned(*stewards).with_only_columns(
            opener, maintain_column_froms=True
        )
        if of:
            query = query.where(accounts.c.dataset == of)
        with self._store.read_transaction() as connection:
            return set(connection.execute(query.distinct()).scalars())

    def shared_with(self, person: str) -> list[str]:
        """Return other people's data sets whose releases a person may see."""
        with self._store.read_transaction() as connection:
            return list(connection.execute(select_shown(person)).scalars())

    def viewers(self, dataset: str) -> list[str]:
        """Return the people who may see the releases of a data set."""
        query = (
            sa.select(viewers.c.person)
            .where(viewers.c.dataset == dataset)
            .order_by(viewers.c.person)
        )
        with self._store.read_transaction() as connection:
            return list(connection.execute(query).scalars())

    def hand_over(self, dataset: str, steward: str) -> None:
        """Give a data set to another steward.

        The steward before sees nothing of it any more.
        """
        with self._store.write_transaction() as connection:
            connection.execute(
                sa.update(owners)
                .where(owners.c.dataset == dataset)
                .values(steward=steward)
            )

    def show_releases(self, dataset: str, person: str) -> None:
        """Let a person see the releases of a data set."""
        with self._store.write_transaction() as connection:
            insert_if_new(connection, viewers, dataset=dataset, person=person)

    def hide_releases(self, dataset: str, person: str) -> None:
        """Stop a person from seeing the releases of a data set."""
        with self._store.write_transaction() as connection:
            connection.execute(
                sa.delete(viewers).where(
                    viewers.c.dataset == dataset, viewers.c.person == person
                ),
            )

    def adopt(self, steward: str) -> int:
        """Give one steward all data sets opened without sign-in; return their
        number.
        """
        nobody = self.owned_by("")
        for dataset in nobody:
            self.claim(dataset, Owner())
            self.hand_over(dataset, steward)
        return len(nobody)
