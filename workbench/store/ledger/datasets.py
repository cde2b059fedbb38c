"""Data sets on file: declarations, charges and releases, without any rows.

What was declared public is a line of the ledger outside its total, so that it is sealed
with the charges that rest on it. A later declaration is one more line; the last one
holds.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from dpcore.accounting.ledger import Account, Balance, Ledger, Line
from dpcore.curator.on_file import TableOnFile
from dpcore.curator.tabulating import LEDGER_KEY
from dpcore.errors import DpcoreError, RequestConflict
from dpcore.evaluation.table.rows_of_people import read_privacy_unit
from dpcore.io.options import FIRST_RULES, ReadOptions
from dpcore.schema import ExcludedColumn, PrivacyUnit, Schema
from dpcore.schema.linked import LinkedSchema
from dpcore.schema.schema import LEFT_OUT_MARK

_MAX_DECLARATIONS_KEPT = 100


@dataclass(frozen=True, kw_only=True)
class LinkedDeclaration:
    """What was declared of two linked files.

    Attributes:
        schema: of both tables, with the rules that link them.
        names: of the file of people, and of that of events.
        readings: options under which they were read.
    """

    schema: LinkedSchema
    names: tuple[str, str]
    readings: tuple[ReadOptions | None, ReadOptions | None]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for a line of the ledger."""
        return {
            "schema": json.loads(self.schema.to_json()),
            "names": list(self.names),
            "readings": [
                None if reading is None else dataclasses.asdict(reading)
                for reading in self.readings
            ],
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> LinkedDeclaration:
        """Read the output of `to_dict`.

        Raises: as `LinkedSchema.from_json`.
        """
        people, events = (
            None if reading is None else ReadOptions(**reading)
            for reading in fields["readings"]
        )
        return cls(
            schema=LinkedSchema.from_json(json.dumps(fields["schema"])),
            names=(fields["names"][0], fields["names"][1]),
            readings=(people, events),
        )


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """Public facts and choices declared when a table was opened.

    Attributes:
        name: of the table, for people: its file's name.
        schema: what is publicly known, with its marks; of two linked files, that of
            one of their views.
        reading: options under which the file was read; None for a sample. Those that
            were seen from the file are for no other person.
        sample: key of the sample; empty for a file.
        linked: what was declared of two linked files; None for one table.
    """

    name: str
    schema: Schema
    reading: ReadOptions | None = None
    sample: str = ""
    linked: LinkedDeclaration | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for a line of the ledger."""
        return {
            "name": self.name,
            "schema": {"left_out": [], **json.loads(self.schema.to_json())},
            "excluded": [dataclasses.asdict(column) for column in self.schema.excluded],
            "reading": None
            if self.reading is None
            else dataclasses.asdict(self.reading),
            "sample": self.sample,
            **({} if self.linked is None else {"linked": self.linked.to_dict()}),
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Declaration:
        """Read the output of `to_dict`.

        Earlier versions did not say whether a column was left out for what the table
        holds; then it is read so, but for the one that names people.

        Raises: SchemaError.
        """
        schema = Schema.from_json(json.dumps(fields["schema"]))
        is_said = "left_out" in fields["schema"]
        excluded = tuple(
            ExcludedColumn(
                name=column["name"],
                reason=column["reason"],
                from_data=tuple(column.get("from_data", ()))
                if is_said or column["name"] == schema.unit.id_column
                else (LEFT_OUT_MARK,),
            )
            for column in fields["excluded"]
        )
        reading = _parse_reading(fields)
        linked = (
            LinkedDeclaration.from_dict(fields["linked"])
            if "linked" in fields
            else None
        )
        readings = (reading,) if linked is None else linked.readings
        return cls(
            name=fields["name"],
            schema=dataclasses.replace(
                schema,
                excluded=excluded,
                reading_from_data=any(each and each.is_guessed for each in readings),
            ),
            reading=reading,
            sample=fields["sample"],
            linked=linked,
        )


def _parse_reading(fields: dict[str, Any]) -> ReadOptions | None:
    """Return the reading options of a declaration, by old rules for earlier
    versions.
    """
    stored = fields["reading"]
    if stored is None:
        return None
    reading = ReadOptions(**{"rules": FIRST_RULES, **stored})
    if reading.rules > FIRST_RULES:
        return reading
    told = fields.get("told_options", ())
    seen = tuple(name for name in reading.known_options if name not in told)
    return dataclasses.replace(reading, seen=seen)


@dataclass(frozen=True, kw_only=True, eq=False)
class DataSet(TableOnFile):
    """An account and its declaration; it holds no rows.

    Attributes:
        declaration: None for a table opened before declarations were kept; how its file
            was read counts as read from the file.
    """

    account: Account
    declaration: Declaration | None
    ledger: Ledger = field(repr=False)

    @property
    def id(self) -> str:
        """The keyed fingerprint of the table."""
        return self.account.dataset

    @property
    def name(self) -> str:
        """Name of the table, as its owner sees it."""
        return self.declaration.name if self.declaration else self.id[:8]

    @property
    def reading_from_data(self) -> bool:
        if self.declaration is None:
            return self.account.source is None
        return self.declaration.schema.reading_from_data

    @property
    def is_linked(self) -> bool:
        """Whether these are two linked tables."""
        return "linked" in self.account.unit

    @property
    def unit(self) -> PrivacyUnit:
        """Privacy unit that the account protects.

        While the number of rows per person is still to be found, it is one.
        """
        one = {**self.account.unit, "max_rows": 1}
        return read_privacy_unit(self.account, self.ledger) or PrivacyUnit.from_dict(
            one
        )


def store_declaration(declaration: Declaration, dataset: str, ledger: Ledger) -> None:
    """Store a declaration in the ledger, unless it repeats the last one."""
    lines = [line for line in ledger.lines(dataset) if is_declaration(line)]
    declared = declaration.to_dict()
    if lines and lines[-1].content["declared"] == json.loads(json.dumps(declared)):
        return
    try:
        ledger.note(dataset, f"declaration {len(lines) + 1}", {"declared": declared})
    except RequestConflict:
        return  # another tab declares at this moment; its declaration is as good


def is_declaration(line: Line) -> bool:
    """Return whether a line of the ledger is a declaration."""
    return "declared" in line.content


def public_name(lines: Sequence[Line]) -> str:
    """Return the name of the table that people without the table may see.

    The name of a file may tell of the rows. A sample or a connected source keeps its
    name; a file gets the name under which it was last shown, or the beginning of its
    keyed fingerprint.
    """
    dataset = lines[0].dataset
    name = dataset.removeprefix("source ")
    name = dataset[:8] if name == dataset else name
    for line in lines:
        declared = line.content.get("declared", {})
        name = (
            declared["name"]
            if declared.get("sample")
            else line.content.get("shown as", name)
        )
    return name


PUBLIC_KEYS = {
    "opened": ("account", "by", "forgotten"),
    "reserved": ("recipe", "loss", "report", "declared_by", "linked", "by"),
    "committed": ("events", "by"),
    "failed": ("events", "error", "by"),
    "outside": (
        "kind",
        "by",
        "about",
        "declared_by",
        "evaluation",
        "anonymized",
        "forgotten",
        "before",
        "shown to",
        "shown as",
        "hidden from",
        "handed to",
    ),
}
"""What of a line's content may be seen without the table, by its state.

All else stays in the ledger: the digest of a plan, which has no key in older lines, the
digest of a release, which earlier versions stored with single people's words, the
sketch of the table, the answer about a table that looks like it, the name of its file.
"""


def redact_line(line: Line, name: str) -> Line:
    """Return a line without anything that may come from the rows.

    Args:
        name: the public one of the table.
    """
    content = {
        key: line.content[key] for key in PUBLIC_KEYS[line.state] if key in line.content
    }
    # these columns may have been chosen by reading the rows, by a proposal or for a
    # plan's roles
    if "evaluation" in content or "anonymized" in content:
        content.pop("about", None)
    if "recipe" in content:  # of a question about a release: the release's digest
        content["recipe"] = _without_cells(content["recipe"])
    if LEDGER_KEY in line.content:  # the values of its groups may be rare ones
        content[LEDGER_KEY] = "published"
    if is_declaration(line):
        declared = line.content["declared"]
        schema = {
            key: declared["schema"][key]
            for key in ("version", "unit")
            if key in declared["schema"]
        }
        content["declared"] = {
            "name": name,
            "schema": {**schema, "columns": []},
            "excluded": [],
            "reading": None,
            "sample": declared["sample"],
        }
        content["shown as"] = name
    return dataclasses.replace(line, content=content)


_CELL_FIELDS = ("release", "copies", "ordered", "with_missing", "constraints")
"""Fields of a recipe that say which cells a column has, or a release's digest."""


def _without_cells(recipe: dict[str, Any]) -> dict[str, Any]:
    """Return a recipe without the labels and cells that may come from the rows."""
    return {
        key: _without_cells(value) if isinstance(value, dict) else value
        for key, value in recipe.items()
        if key not in _CELL_FIELDS
    }


def find_data_set(dataset: str, ledger: Ledger) -> DataSet | None:
    """Return the data set with this fingerprint or unique prefix of it, or None.

    A prefix is enough if only one fingerprint begins with it.
    """
    on_file = ledger.datasets()
    named = [name for name in on_file if dataset and name.startswith(dataset)]
    # the name of one source may be the beginning of another's name
    named = [dataset] if dataset in on_file else named
    return load_data_set(named[0], ledger) if len(named) == 1 else None


def load_data_set(dataset: str, ledger: Ledger) -> DataSet | None:
    """Return the data set with this fingerprint, or None without an account."""
    account = ledger.account(dataset)
    return (
        None
        if account is None
        else _make_data_set(account, ledger.lines(dataset), ledger)
    )


def _make_data_set(account: Account, lines: Sequence[Line], ledger: Ledger) -> DataSet:
    kept = [line for line in lines if is_declaration(line)]
    declared = (
        _parse_declaration(json.dumps(kept[-1].content["declared"])) if kept else None
    )
    return DataSet(account=account, declaration=declared, ledger=ledger)


@lru_cache(maxsize=_MAX_DECLARATIONS_KEPT)
def _parse_declaration(text: str) -> Declaration:
    """Read a declaration, once for each text: lists of data sets do it again and again.

    The digest of its line would not do, since some people get the line without what
    comes from the rows.
    """
    return Declaration.from_dict(json.loads(text))


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Data set in a list, with the lines and the balance that were read for the
    list.
    """

    data_set: DataSet
    lines: tuple[Line, ...]
    balance: Balance


def list_readable(
    ledger: Ledger, datasets: Sequence[str]
) -> tuple[list[Entry], list[DpcoreError]]:
    """Return an entry for each readable data set, and the errors of the others."""
    readable = []
    broken = []
    for dataset in datasets:
        try:
            standing = ledger.standing(dataset)
            lines = ledger.lines(dataset)
            data_set = _make_data_set(standing.account, lines, ledger)
        except DpcoreError as error:
            broken.append(error)
        else:
            readable.append(
                Entry(data_set=data_set, lines=lines, balance=standing.balance)
            )
    return readable, broken
