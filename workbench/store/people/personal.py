"""One person's view of the ledger; every new line names its writer."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
import sqlalchemy as sa

from dpcore.accounting.ledger import Account, Charge, Line, Standing, source_dataset
from dpcore.accounting.loss import loss_from_fields
from dpcore.accounting.own import ledger_of_person
from dpcore.errors import LedgerError, text_length_error
from dpcore.io.options import CURRENT_RULES
from dpcore.schema.source import Source
from dpcore.tables.digests import fingerprint
from workbench.store.ledger.datasets import is_declaration, public_name, redact_line
from workbench.store.ledger.sql_ledger import SqlLedger
from workbench.store.people.owners import (
    Owner,
    Owners,
    select_opened,
    select_owned,
    select_shown,
)
from workbench.store.people.roles import Person, address_with_role
from workbench.store.policy import read_policy

MAX_PUBLIC_NAME_LENGTH = 120
RULES_KEY = "rules"
"""Key of the version of the reading rules, in the line that opens an account.

Accounts of earlier versions do not have it.
"""
ADDRESS = "address"
"""Key of the random id of a data set in addresses, in the same line.

Accounts of earlier versions do not have it.
"""
ADDRESS_BYTES = 8  # of a random id in addresses


@dataclass(frozen=True, kw_only=True)
class ReadSoFar:
    """What one run of a page has read of the ledger.

    Attributes:
        standings: of the data sets that were looked at.
        is_mine: whether the person may spend on them.
    """

    standings: dict[str, Standing] = field(default_factory=dict)
    is_mine: dict[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class PersonalLedger:
    """A ledger limited to the data sets that one person may see.

    A steward may spend on data sets of their own.

    Attributes:
        ledger: of all persons.
        owners: of its data sets.
        person: who uses it.
        current_person: returns that person as of now, or None once the role was taken away.
            Called before reading.
        opener: under whose key tables are recognized: the person's own, or that of
            whoever opened a table that was handed on; "" is the key of the ledger
            itself.
        visitor: a browser that nobody signed in with; its samples have budgets of their
            own.
        cached_standings: returns what this run of a page has read, or None where each
            question goes to the ledger. What is written asks the ledger itself.
        opened_file: the file of a table that is opened now, for the first line of its account.
    """

    ledger: SqlLedger
    owners: Owners
    person: Person
    current_person: Callable[[], Person | None]
    opener: str
    visitor: str = ""
    cached_standings: Callable[[], ReadSoFar | None] = lambda: None
    opened_file: Mapping[str, Any] = field(default_factory=dict)

    @property
    def _own_addresses(self) -> tuple[str, ...]:
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

    def with_opener(self, opener: str) -> PersonalLedger:
        """Return this ledger, but recognizing tables by the key of another opener."""
        return replace(self, opener=opener)

    def for_samples(self) -> PersonalLedger:
        """Return this ledger, but with a budget per person for each sample.

        A visitor without a sign-in has a budget per browser.
        """
        return self.with_opener(self._own_addresses[-1])

    def for_dataset(self, dataset: str) -> PersonalLedger:
        """Return this ledger with the key under which a data set was opened."""
        for opener in self.owners.openers(*self._stewards, of=dataset):
            return self.with_opener(opener)
        return self

    def ledgers_of_handed_tables(self) -> list[PersonalLedger]:
        """Return this ledger once for each other key of tables handed to this
        person.
        """
        openers = self.owners.openers(*self._stewards) - {*self._own_addresses}
        return [self.with_opener(opener) for opener in sorted(openers)]

    def account_of(
        self, table: pd.DataFrame | Source, known_fingerprint: str = ""
    ) -> tuple[str, PersonalLedger]:
        """Return the account id of a table, and this ledger under the table's key.

        The account need not exist yet.

        Args:
            table: the rows, or a connected source.
            known_fingerprint: the table's fingerprint under this ledger's key, if it was taken
                before.
        """
        if isinstance(table, Source):
            dataset = source_dataset(table.name)
            return dataset, self.for_dataset(dataset)
        for ledger in self.ledgers_of_handed_tables():
            other = fingerprint(table, ledger.key)
            if ledger.is_mine(other):
                return other, ledger
        return known_fingerprint or fingerprint(table, self.key), self

    def datasets(self) -> list[str]:
        """Return the data sets this person may see, last used first."""
        return self.ledger.by_last_use(self._select_seen())

    def _select_seen(self) -> sa.Select[Any]:
        shown = select_shown(self.person.address)
        seen = sa.union(select_owned(*self._stewards), shown)
        return sa.select(seen.subquery())

    def opened_before_rules(self) -> Iterator[Line]:
        """Yield the first line of each own data set that keeps no reading rules.

        An earlier version opened it.
        """
        for line in self.ledger.opening_lines(
            select_owned(*self._stewards), lacking=f'"{RULES_KEY}": '
        ):
            if RULES_KEY not in line.content:
                yield line

    def file_lines(self, digest: str, *request_ids: str) -> Iterator[Line]:
        """Yield the lines that may name a file: first ones, and notes with these ids.

        They are those of the person's own data sets, and of those that the person
        opened and handed on: a file keeps its one budget.

        Args:
            digest: of the file.
        """
        known = sa.union(
            select_owned(*self._stewards), select_opened(*self._own_addresses)
        )
        among = sa.select(known.subquery())
        yield from self.ledger.opening_lines(among, containing=digest)
        for request_id in request_ids:
            yield from self.ledger.find_notes(request_id, among)

    def noted(
        self, request_id: str, among: Collection[str] | None = None
    ) -> Iterator[Line]:
        """Yield the note with this id of each of the person's own data sets.

        Args:
            among: only of these, which are the person's own.
        """
        own = select_owned(*self._stewards)
        return self.ledger.find_notes(request_id, own if among is None else among)

    def digests_of_notes(self, request_id: str) -> dict[str, str]:
        """Return the digest of the note with this id of each own data set."""
        return self.ledger.digests_of_notes(request_id, select_owned(*self._stewards))

    def open(self, account: Account) -> Account:
        self._check_role()
        if self.ledger.account(account.dataset) is None:
            read_policy().check_budget(loss_from_fields(account.promise))
            steward = (
                self.opener
                if self.opener in self._own_addresses
                else self.person.address
            )
            self.owners.claim(
                account.dataset, Owner(opener=self.opener, steward=steward)
            )
        # refused also while somebody else has a claim to the data set and no account
        # yet
        if not self.is_mine(account.dataset):
            raise _not_yours_error()
        note = {
            RULES_KEY: CURRENT_RULES,
            ADDRESS: secrets.token_hex(ADDRESS_BYTES),
            **self.opened_file,
        }
        return self.ledger.open(account, by=self.person.address, note=note)

    def account(self, dataset: str) -> Account | None:
        account = self.ledger.account(dataset)
        if account is not None:
            self._check_visible(dataset)
        return account

    def reserve(
        self, dataset: str, request_id: str, charge: Charge, content: dict[str, Any]
    ) -> None:
        self._forget_standing(dataset)
        self.check_may_spend(dataset)
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
        self.check_may_spend(dataset)
        self.ledger.note(dataset, request_id, self._with_writer(content))

    def note_all(self, dataset: str, notes: Mapping[str, dict[str, Any]]) -> None:
        self.check_may_spend(dataset)
        signed = {name: self._with_writer(content) for name, content in notes.items()}
        self.ledger.note_all(dataset, signed)

    def standing(self, dataset: str) -> Standing:
        self._check_visible(dataset)
        known = self.cached_standings()
        if known is None:
            return self.ledger.standing(dataset)
        if dataset not in known.standings:
            known.standings[dataset] = self.ledger.standing(dataset)
        return known.standings[dataset]

    def _forget_standing(self, dataset: str) -> None:
        known = self.cached_standings()
        if known is not None:
            known.standings.pop(dataset, None)

    def lines(self, dataset: str) -> tuple[Line, ...]:
        """Return the lines of a data set that this person may see.

        A viewer of the releases gets no line of work outside them, except the name.
        """
        mine = self._shows_as_mine(dataset)
        self._check_allowed(dataset, mine or dataset in self._data_sets_shown())
        lines = self.ledger.lines(dataset)
        if not lines or mine:
            return lines
        name = public_name(lines)
        return tuple(
            redact_line(line, name)
            for line in lines
            if line.state != "outside" or is_declaration(line)
        )

    def address_of(self, dataset: str) -> str:
        """Return the id of a data set in addresses; empty if it has no account.

        The fingerprint of the table is no such id, as it follows from the rows.
        """
        self._check_visible(dataset)
        lines = self.ledger.lines(dataset)
        return _address_in(lines[0]) if lines else ""

    def find_by_address(self, address: str) -> str | None:
        """Return the data set of this person with this id in addresses, or None."""
        opened = self.ledger.opening_lines(self._select_seen())
        return next(
            (line.dataset for line in opened if _address_in(line) == address), None
        )

    def release(self, dataset: str, request_id: str) -> str | None:
        self._check_visible(dataset)
        return self.ledger.release(dataset, request_id)

    def verify(self, dataset: str) -> None:
        self._check_visible(dataset)
        self.ledger.verify(dataset)

    def is_mine(self, dataset: str) -> bool:
        """Return whether this person may spend on a data set."""
        return (
            self.person.role == "steward"
            and self.owners.owner_of(dataset).steward in self._own_addresses
        )

    def viewers(self, dataset: str) -> list[str]:
        """Return the other people who may see the releases of a data set."""
        self._check_is_mine(dataset)
        return self.owners.viewers(dataset)

    def show(self, dataset: str, address: str, name: str) -> None:
        """Let a person see the releases of a data set; a line of the ledger says so.

        Args:
            name: of the data set, for all who do not have the table; may not be empty.

        Raises: ParameterError for a person without a role.
        """
        address = address_with_role(address)
        name = name.strip()
        if not 0 < len(name) <= MAX_PUBLIC_NAME_LENGTH:
            raise text_length_error(MAX_PUBLIC_NAME_LENGTH)
        self._note_people(dataset, {"shown to": address, "shown as": name})
        self.owners.show_releases(dataset, address)

    def hide(self, dataset: str, address: str) -> None:
        """Stop showing the releases of a data set to a person; record it in the
        ledger.
        """
        self._note_people(dataset, {"hidden from": address})
        self.owners.hide_releases(dataset, address)

    def hand(self, dataset: str, address: str) -> None:
        """Give a data set to another steward for good; a line of the ledger says so.

        Raises: ParameterError for somebody who is no steward.
        """
        address = address_with_role(address, "steward")
        self._note_people(dataset, {"handed to": address})
        self.owners.hand_over(dataset, address)

    def _note_people(self, dataset: str, content: dict[str, Any]) -> None:
        self.note(dataset, f"people {uuid.uuid4().hex}", {"kind": "people", **content})

    def _with_writer(self, content: dict[str, Any]) -> dict[str, Any]:
        return (
            {**content, "by": self.person.address} if self.person.address else content
        )

    @property
    def _stewards(self) -> tuple[str, ...]:
        """The names under which the person may spend; none for other roles."""
        return self._own_addresses if self.person.role == "steward" else ()

    def _data_sets_shown(self) -> list[str]:
        return (
            self.owners.shared_with(self.person.address) if self.person.address else []
        )

    def _check_role(self) -> None:
        now = self.current_person()
        if now is None or now.role != "steward":
            raise LedgerError(
                (
                    "you have no right to open data or to spend a budget here; "
                    "nothing was read"
                ),
                remedy="ask whoever runs this server",
            )

    def check_may_spend(self, dataset: str) -> None:
        """Refuse an action to anybody but the data set's steward. Raises:
        LedgerError.
        """
        self._check_role()
        self._check_is_mine(dataset)

    def _check_is_mine(self, dataset: str) -> None:
        self._check_allowed(dataset, self.is_mine(dataset))

    def _check_visible(self, dataset: str) -> None:
        self._check_allowed(
            dataset,
            self._shows_as_mine(dataset) or dataset in self._data_sets_shown(),
        )

    def _shows_as_mine(self, dataset: str) -> bool:
        """Return whether this run of a page shows a data set to its steward."""
        known = self.cached_standings()
        if known is None:
            return self.is_mine(dataset)
        if dataset not in known.is_mine:
            known.is_mine[dataset] = self.is_mine(dataset)
        return known.is_mine[dataset]

    def _check_allowed(self, dataset: str, allowed: bool) -> None:
        if not allowed and self.ledger.account(dataset) is not None:
            raise _not_yours_error()


def _address_in(opened: Line) -> str:
    """Return the id in addresses that the line of an opening holds.

    Accounts of earlier versions are named by the second in which they were opened.
    """
    given: str = opened.content.get(ADDRESS, opened.at)
    return given


def _not_yours_error() -> LedgerError:
    return LedgerError(
        "this data set belongs to somebody else",
        remedy="ask its steward to show it to you",
    )
