"""One person's view of the ledger; every new line names its writer."""

from __future__ import annotations

import itertools
import secrets
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from dpcore.accounting.ledger import Account, Charge, Line, Standing, source_dataset
from dpcore.accounting.loss import loss_from_fields
from dpcore.accounting.own import ledger_of_person
from dpcore.errors import LedgerError, long_text
from dpcore.io.options import CURRENT_RULES
from dpcore.schema.source import Source
from dpcore.tables.digests import fingerprint
from workbench.store.ledger.datasets import is_declaration, public_name, without_facts
from workbench.store.ledger.sql_ledger import SqlLedger
from workbench.store.people.owners import Owner, Owners
from workbench.store.people.roles import Person, with_role
from workbench.store.policy import read_policy

MAX_NAME = 120
RULES = "rules"
"""Key of the version of the reading rules, in the line that opens an account.

Accounts of earlier versions do not have it.
"""
ADDRESS = "address"
"""Key of the random id of a data set in addresses, in the same line.

Accounts of earlier versions do not have it.
"""
ADDRESS_BYTES = 8  # of a random id in addresses


@dataclass(frozen=True, kw_only=True, eq=False)
class PersonalLedger:
    """A ledger limited to the data sets that one person may see.

    A steward may spend on data sets of their own.

    Attributes:
        ledger: of all persons.
        owners: of its data sets.
        person: who uses it.
        still: returns that person as of now, or None once the role was taken away.
            Called before reading.
        opener: under whose key tables are recognized: the person's own, or that of
            whoever opened a table that was handed on; "" is the key of the ledger
            itself.
        visitor: a browser that nobody signed in with; its samples have budgets of their
            own.
        read_so_far: returns the standings that the page of now has read, or None where
            each question goes to the ledger.
        file: the file of a table that is opened now, for the first line of its account.
    """

    ledger: SqlLedger
    owners: Owners
    person: Person
    still: Callable[[], Person | None]
    opener: str
    visitor: str = ""
    read_so_far: Callable[[], dict[str, Standing] | None] = lambda: None
    file: Mapping[str, Any] = field(default_factory=dict)

    @property
    def _names(self) -> tuple[str, ...]:
        return (
            (self.person.address, self.visitor)
            if self.visitor
            else (self.person.address,)
        )

    @property
    def key(self) -> bytes:
        return (
            ledger_of_person(self.ledger, self.opener).key
            if self.opener
            else self.ledger.key
        )

    def under(self, opener: str) -> PersonalLedger:
        """Return this ledger with tables recognized by another key."""
        return replace(self, opener=opener)

    def for_samples(self) -> PersonalLedger:
        """Return this ledger with a separate budget per person for each sample.

        A visitor without a sign-in has a budget per browser.
        """
        return self.under(self._names[-1])

    def for_dataset(self, dataset: str) -> PersonalLedger:
        """Return this ledger under the key of a data set on file."""
        opener = self._own_data_sets().get(dataset)
        return self if opener is None else self.under(opener)

    def for_handed_tables(self) -> list[PersonalLedger]:
        """Return this ledger under each key of a table handed to this person."""
        openers = {*self._own_data_sets().values()} - {*self._names}
        return [self.under(opener) for opener in sorted(openers)]

    def account_of(
        self, table: pd.DataFrame | Source, known: str = ""
    ) -> tuple[str, PersonalLedger]:
        """Return a table's account id and the ledger under its key.

        The account need not exist yet.

        Args:
            table: the rows, or a connected source.
            known: the table's fingerprint under this ledger's key, if it was taken
                before.
        """
        if isinstance(table, Source):
            dataset = source_dataset(table.name)
            return dataset, self.for_dataset(dataset)
        for ledger in self.for_handed_tables():
            other = fingerprint(table, ledger.key)
            if ledger.is_mine(other):
                return other, ledger
        return known or fingerprint(table, self.key), self

    def datasets(self) -> list[str]:
        """Return the data sets this person may see, last used first."""
        used = self.ledger.last_used()
        mine = sorted({*self._own_data_sets(), *self._data_sets_shown()})
        return sorted(mine, key=lambda dataset: used.get(dataset, ""), reverse=True)

    def opened(self) -> Iterator[Line]:
        """Yield the line that opened each of the person's own data sets."""
        mine = self._own_data_sets()
        return (line for line in self.ledger.opened() if line.dataset in mine)

    def file_lines(self, *request_ids: str) -> Iterator[Line]:
        """Yield the lines that may name files: first ones, and notes with these ids.

        They are those of the person's own data sets, and of those that the person
        opened and handed on: a file keeps its one budget.
        """
        known = {*self._own_data_sets(), *self.owners.opened_by(*self._names)}
        every = (self.ledger.opened(), *map(self.ledger.noted, request_ids))
        return (
            line
            for line in itertools.chain.from_iterable(every)
            if line.dataset in known
        )

    def noted(self, request_id: str) -> Iterator[Line]:
        """Yield the note with this id of each of the person's own data sets."""
        mine = self._own_data_sets()
        return (line for line in self.ledger.noted(request_id) if line.dataset in mine)

    def open(self, account: Account) -> Account:
        self._check_role()
        if self.ledger.account(account.dataset) is None:
            read_policy().check_budget(loss_from_fields(account.promise))
            steward = self.opener if self.opener in self._names else self.person.address
            self.owners.claim(
                account.dataset, Owner(opener=self.opener, steward=steward)
            )
        # also while whoever was first has a claim and no account yet
        if not self.is_mine(account.dataset):
            raise _not_yours()
        note = {
            RULES: CURRENT_RULES,
            ADDRESS: secrets.token_hex(ADDRESS_BYTES),
            **self.file,
        }
        return self.ledger.open(account, by=self.person.address, note=note)

    def account(self, dataset: str) -> Account | None:
        account = self.ledger.account(dataset)
        if account is not None:
            self._check_seen(dataset)
        return account

    def reserve(
        self, dataset: str, request_id: str, charge: Charge, content: dict[str, Any]
    ) -> None:
        self._forget_standing(dataset)
        self.check_mine(dataset)
        self.ledger.reserve(dataset, request_id, charge, self._with_writer(content))

    def commit(
        self, dataset: str, request_id: str, content: dict[str, Any], release: str
    ) -> None:
        self._forget_standing(dataset)
        self.ledger.commit(dataset, request_id, self._with_writer(content), release)

    def fail(self, dataset: str, request_id: str, content: dict[str, Any]) -> None:
        self._forget_standing(dataset)
        self.ledger.fail(dataset, request_id, self._with_writer(content))

    def note(self, dataset: str, request_id: str, content: dict[str, Any]) -> None:
        self.check_mine(dataset)
        self.ledger.note(dataset, request_id, self._with_writer(content))

    def standing(self, dataset: str) -> Standing:
        self._check_seen(dataset)
        known = self.read_so_far()
        if known is None:
            return self.ledger.standing(dataset)
        if dataset not in known:
            known[dataset] = self.ledger.standing(dataset)
        return known[dataset]

    def _forget_standing(self, dataset: str) -> None:
        known = self.read_so_far()
        if known is not None:
            known.pop(dataset, None)

    def lines(self, dataset: str) -> tuple[Line, ...]:
        """Return all lines of a data set.

        A viewer of the releases gets no line of work outside them, except the name.
        """
        mine = self.is_mine(dataset)
        self._check(dataset, mine or dataset in self._data_sets_shown())
        lines = self.ledger.lines(dataset)
        if not lines or mine:
            return lines
        name = public_name(lines)
        return tuple(
            without_facts(line, name)
            for line in lines
            if line.state != "outside" or is_declaration(line)
        )

    def address_of(self, dataset: str) -> str:
        """Return the id of a data set in addresses; empty if it has no account.

        The fingerprint of the table is no such id, as it follows from the rows.
        """
        self._check_seen(dataset)
        lines = self.ledger.lines(dataset)
        return _address_in(lines[0]) if lines else ""

    def find_by_address(self, address: str) -> str | None:
        """Return the data set of this person with this id in addresses, or None."""
        mine = self.datasets()
        opened = {
            line.dataset: _address_in(line)
            for line in self.ledger.opened()
            if line.dataset in mine
        }
        return next((name for name in mine if opened.get(name) == address), None)

    def release(self, dataset: str, request_id: str) -> str | None:
        self._check_seen(dataset)
        return self.ledger.release(dataset, request_id)

    def verify(self, dataset: str) -> None:
        self._check_seen(dataset)
        self.ledger.verify(dataset)

    def is_mine(self, dataset: str) -> bool:
        """Return whether this person may spend on a data set."""
        return (
            self.person.role == "steward"
            and self.owners.owner_of(dataset).steward in self._names
        )

    def viewers(self, dataset: str) -> list[str]:
        """Return the other people who may see the releases of a data set."""
        self._check_mine(dataset)
        return self.owners.viewers(dataset)

    def show(self, dataset: str, address: str, name: str) -> None:
        """Let a person see the releases of a data set; a line of the ledger says so.

        Args:
            name: of the data set, for all who do not have the table; may not be empty.

        Raises: ParameterError for a person without a role.
        """
        address = with_role(address)
        name = name.strip()
        if not 0 < len(name) <= MAX_NAME:
            raise long_text(MAX_NAME)
        self._note_people(dataset, {"shown to": address, "shown as": name})
        self.owners.show(dataset, address)

    def hide(self, dataset: str, address: str) -> None:
        """Stop a person from seeing them; a line of the ledger says so."""
        self._note_people(dataset, {"hidden from": address})
        self.owners.hide(dataset, address)

    def hand(self, dataset: str, address: str) -> None:
        """Give a data set to another steward for good; a line of the ledger says so.

        Raises: ParameterError for somebody who is no steward.
        """
        address = with_role(address, "steward")
        self._note_people(dataset, {"handed to": address})
        self.owners.hand(dataset, address)

    def _note_people(self, dataset: str, content: dict[str, Any]) -> None:
        self.note(dataset, f"people {uuid.uuid4().hex}", {"kind": "people", **content})

    def _with_writer(self, content: dict[str, Any]) -> dict[str, Any]:
        return (
            {**content, "by": self.person.address} if self.person.address else content
        )

    def _own_data_sets(self) -> dict[str, str]:
        return (
            self.owners.owned_by(*self._names) if self.person.role == "steward" else {}
        )

    def _data_sets_shown(self) -> list[str]:
        return (
            self.owners.shared_with(self.person.address) if self.person.address else []
        )

    def _check_role(self) -> None:
        now = self.still()
        if now is None or now.role != "steward":
            raise LedgerError(
                "you may not open data or spend here; nothing was read",
                remedy="ask whoever runs this server",
            )

    def check_mine(self, dataset: str) -> None:
        """Refuse an action reserved for the data set's steward. Raises: LedgerError."""
        self._check_role()
        self._check_mine(dataset)

    def _check_mine(self, dataset: str) -> None:
        self._check(dataset, self.is_mine(dataset))

    def _check_seen(self, dataset: str) -> None:
        self._check(
            dataset, self.is_mine(dataset) or dataset in self._data_sets_shown()
        )

    def _check(self, dataset: str, allowed: bool) -> None:
        if not allowed and self.ledger.account(dataset) is not None:
            raise _not_yours()


def _address_in(opened: Line) -> str:
    """Return the id in addresses that the line of an opening holds.

    Accounts of earlier versions are named by the second in which they were opened.
    """
    given: str = opened.content.get(ADDRESS, opened.at)
    return given


def _not_yours() -> LedgerError:
    return LedgerError(
        "this data set is not yours, or was handed to somebody else",
        remedy="ask its steward to show it to you",
    )
