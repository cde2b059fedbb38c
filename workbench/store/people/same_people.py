"""Accounts that their owner says are about the same people.

It is said when a table is opened that looks like another one on file, or later on the
Tables page. Exact tables of such accounts are attacked together.
"""

from __future__ import annotations

import dataclasses

from dpcore.curator.tabulating import list_published_tables
from dpcore.errors import RequestConflict
from dpcore.suppression import PublishedTable
from workbench.store.ledger.datasets import load_data_set
from workbench.store.people.opened_files import SKETCH_ID
from workbench.store.people.personal import PersonalLedger

SAME_PEOPLE = "same people"
"""Kind of a line that says so of two accounts; its request id ends with the other."""
_THE_SAME = ("same", "the same")  # the answer to the command, and on the page


def same_people(dataset: str, ledger: PersonalLedger) -> list[str]:
    """Return the person's other accounts about the same people, also by way of others."""
    said: dict[str, set[str]] = {}
    for line in ledger.noted(SKETCH_ID):
        if line.content.get("people") in _THE_SAME:
            alike = line.content["alike"]
            said.setdefault(line.dataset, set()).add(alike)
            said.setdefault(alike, set()).add(line.dataset)
    found = [dataset]
    for account in found:
        told = {line.dataset for line in ledger.noted(f"{SAME_PEOPLE} {account}")}
        near = sorted(told | said.get(account, set()))
        found += [other for other in near if other not in found]
    return [other for other in found[1:] if ledger.is_mine(other)]


def note_same_people(dataset: str, other: str, ledger: PersonalLedger) -> None:
    """Note in both accounts that they are about the same people; it is said for good.

    Raises: LedgerError for an account of somebody else.
    """
    for account, near in ((dataset, other), (other, dataset)):
        content = {"kind": SAME_PEOPLE, "with": near}
        try:
            ledger.note(account, f"{SAME_PEOPLE} {near}", content)
        except RequestConflict:
            continue  # it was said before


def name_of(dataset: str, ledger: PersonalLedger) -> str:
    """Return the name of an account's table for its owner."""
    data_set = load_data_set(dataset, ledger)
    if data_set is not None and data_set.declaration is not None:
        return data_set.name
    names = {
        line.dataset: str(line.content["name"]) for line in ledger.noted(SKETCH_ID)
    }
    return names.get(dataset) or dataset[:8]


def tables_of_same_people(dataset: str, ledger: PersonalLedger) -> list[PublishedTable]:
    """Return the exact tables of the other accounts, each with its account's name."""
    return [
        dataclasses.replace(table, account=name_of(other, ledger))
        for other in same_people(dataset, ledger)
        for table in list_published_tables(ledger.lines(other))
    ]
