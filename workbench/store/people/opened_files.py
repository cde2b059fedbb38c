"""The files that accounts were opened from: all readings of one file have one budget.

An account keeps a digest of the file's bytes and the options under which they were
read. Accounts of earlier versions kept no digest, and their files were read by other
rules: their bytes find them by being read as they were then.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dpcore.accounting.ledger import Line
from dpcore.errors import DpcoreError, ParameterError, RequestConflict
from dpcore.io.options import FIRST_RULES, ReadOptions
from dpcore.io.read import ReadResult, read_names, read_table
from dpcore.tables.digests import fingerprint
from workbench.store.ledger import datasets
from workbench.store.people.personal import PersonalLedger

SKETCH_ID = "likeness"
"""Request id of the line that keeps the sketch of a table."""
FILE_KEY = "file"
"""Key of the digest of a file, in the line that opens an account or in a later note,
whose request id it is.
"""
FIRST_DECLARATION_ID = "declaration 1"


@dataclass(frozen=True, kw_only=True)
class OpenedFile:
    """Digest of a file's bytes, and the options with which the file was read."""

    digest: str
    reading: ReadOptions

    def to_content(self) -> dict[str, Any]:
        """Return plain data for a line of the ledger."""
        return {FILE_KEY: self.digest, "reading": dataclasses.asdict(self.reading)}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> OpenedFile:
        """Read the output of `to_content`."""
        return cls(digest=content[FILE_KEY], reading=ReadOptions(**content["reading"]))


def digest_file(data: bytes, ledger: PersonalLedger) -> str:
    """Return the keyed digest of a file's bytes, by which its account is found.

    It is made with the key of the whole ledger, so that a table that was handed on is
    found too; it is compared with the person's own data sets alone.
    """
    return hmac.new(ledger.ledger.key, b"file\0" + data, hashlib.sha256).hexdigest()


def find_file(digest: str, ledger: PersonalLedger) -> Line | None:
    """Return the line that records the account opened from the file with this
    digest.
    """
    lines = ledger.file_lines(digest, FILE_KEY, f"{FILE_KEY} {digest}")
    return next((line for line in lines if line.content.get(FILE_KEY) == digest), None)


def note_file(file: OpenedFile, dataset: str, ledger: PersonalLedger) -> None:
    """Record that a table was read from this file, unless that is recorded already.

    Raises: ParameterError if they belong to another account.
    """
    if is_file_known(file, dataset, ledger):
        return
    for request_id in (FILE_KEY, f"{FILE_KEY} {file.digest}"):
        try:
            ledger.note(dataset, request_id, file.to_content())
        except RequestConflict:
            continue  # other bytes held the same table
        return


def is_file_known(file: OpenedFile, dataset: str, ledger: PersonalLedger) -> bool:
    """Return whether the ledger records that this account was opened from this file.

    Raises: ParameterError if another one was: they get no second budget.
    """
    line = find_file(file.digest, ledger)
    if line is not None and line.dataset != dataset:
        raise ParameterError(
            "this file was opened before as {name}, and was read with other options",
            remedy=(
                "read it with the same options as then: all ways of reading a file "
                "share one budget"
            ),
            name=_name_of(line, ledger),
        )
    return line is not None


def recorded_options(
    data: bytes, options: ReadOptions, ledger: PersonalLedger
) -> ReadOptions:
    """Return the options with which this file was opened before, or the given ones.

    So no second reading of a file gets a budget of its own.

    Raises: ParameterError if another reading is asked for than the one on file.
    """
    line = find_file(digest_file(data, ledger), ledger)
    if line is None:
        return options
    stored = OpenedFile.from_content(line.content).reading
    asked = [
        name
        for name, value in options.known_options.items()
        if value != getattr(stored, name)
    ]
    if asked:
        raise ParameterError(
            (
                "this file was opened before as {name}, and was read with other "
                "options: {options}"
            ),
            remedy=(
                "read it with the same options as then: all ways of reading a file "
                "share one budget"
            ),
            name=_name_of(line, ledger),
            options=", ".join(sorted(asked)),
        )
    return dataclasses.replace(stored, is_known=stored.is_known or options.is_known)


def _name_of(line: Line, ledger: PersonalLedger) -> str:
    on_file = datasets.find_data_set(line.dataset, ledger)
    return on_file.name if on_file is not None else line.dataset[:8]


@dataclass(frozen=True, kw_only=True)
class EarlierAccount:
    """Account of an earlier version, which stored no digest of its file.

    Attributes:
        dataset: the keyed fingerprint of its table.
        name: of the file; empty if it was not kept.
        columns: of the table; None if they were not kept.
        reading: options under which the file was read; None if they were not kept.
        key: under which its table is recognized.
    """

    dataset: str
    name: str
    columns: frozenset[str] | None
    reading: ReadOptions | None
    key: bytes = field(repr=False)

    def may_hold_table(self, name: str, columns: Iterable[str]) -> bool:
        """Return whether a table may belong to this account, read in another way."""
        if name == self.name or not (self.name or self.columns):
            return True
        return self.columns is not None and not self.columns.isdisjoint(columns)


def earlier_accounts(ledger: PersonalLedger) -> list[EarlierAccount]:
    """Return the accounts of earlier versions that do not know their files yet."""
    before = [line.dataset for line in ledger.opened_before_rules()]
    if not before:
        return []
    known = ledger.digests_of_notes(FILE_KEY)
    before = [dataset for dataset in before if dataset not in known]
    names = {line.dataset: line.content.get("name") for line in ledger.noted(SKETCH_ID)}
    declared = {
        line.dataset: line.content["declared"]
        for line in ledger.noted(FIRST_DECLARATION_ID)
    }
    found = []
    for dataset in before:
        if dataset.startswith("source ") or not ledger.is_mine(dataset):
            continue
        declaration = None
        if dataset in declared:
            declaration = datasets.Declaration.from_dict(declared[dataset])
        reading = declaration.reading if declaration is not None else None
        if declaration is not None and (reading is None or reading.rules > FIRST_RULES):
            continue
        name = declaration.name if declaration is not None else ""
        found.append(
            EarlierAccount(
                dataset=dataset,
                name=name or names.get(dataset) or "",
                columns=_columns_of(declaration),
                reading=reading,
                key=ledger.for_dataset(dataset).key,
            )
        )
    return found


def _columns_of(declaration: datasets.Declaration | None) -> frozenset[str] | None:
    if declaration is None:
        return None
    schema = declaration.schema
    left_out = (column.name for column in schema.excluded)
    return frozenset((*schema.domain.names, *left_out))


def read_as_before(
    data: bytes, name: str, accounts: Iterable[EarlierAccount]
) -> tuple[ReadResult, EarlierAccount] | None:
    """Read a file as an earlier version did; return it with its account, or None."""
    for account in accounts:
        if account.reading is None:
            continue
        try:
            names = read_names(data, name, account.reading)
            if names is None and name != account.name:
                continue
            if names is not None and account.columns != frozenset(names):
                continue
            read = read_table(data, name, options=account.reading)
        except DpcoreError:
            continue
        if fingerprint(read.frame, account.key) == account.dataset:
            return read, account
    return None
