"""Connected sources that a deployment lists in a file, `sources.toml`:

[[source]]
name = "Visits"                       # its identity: one account for all its days
kind = "parquet"                      # or csv, duckdb, postgres, spark
location = "/data/visits"             # for PostgreSQL "host=db dbname=clinic user=reader"
query = "SELECT ..."                  # for DuckDB; may be left out for files
password = "CLINIC_PASSWORD"          # the name of an environment variable, for PostgreSQL
schema = "/data/visits-schema.json"   # what is publicly known, as the Data page saves it
people = ["ada@example.org"]          # who may open it, as in [roles]; everybody where it is left out
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpcore.accounting.ledger import source_dataset
from dpcore.errors import ParameterError
from dpcore.schema.schema import Schema
from dpcore.schema.source import Source
from workbench.store.roles import Person, is_listed

_KNOWN = {"name", "kind", "location", "query", "password", "schema", "people"}


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A source of the list.

    Attributes:
        schema: a file of what is publicly known; None where the page suggests it.
        people: addresses that may open it, each a whole one or "*@" and a domain; empty for everybody.
    """

    source: Source
    schema: Path | None = None
    people: tuple[str, ...] = ()

    def known(self) -> Schema | None:
        """What is publicly known, where a file says it. Raises: ParameterError, SchemaError."""
        if self.schema is None:
            return None
        try:
            return Schema.from_json(self.schema.read_text())
        except OSError:
            raise _wrong(self.source.name, "its schema cannot be read") from None


def sources_in(file: Path | None, environment: Mapping[str, str]) -> tuple[Listed, ...]:
    """The sources that a file lists; none without a file.

    Raises: ParameterError, which repeats no location, query or password.
    """
    if file is None:
        return ()
    try:
        entries = tomllib.loads(file.read_text()).get("source", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        raise ParameterError(
            "the list of sources cannot be read", remedy="correct the file that WORKBENCH_SOURCES names"
        ) from None
    listed = tuple(_listed(entry, environment) for entry in entries)
    names = [each.source.name for each in listed]
    for name in names:
        if names.count(name) > 1:
            raise _wrong(name, "it is there twice")
    return listed


def sources_of(person: Person | None, listed: tuple[Listed, ...]) -> tuple[Listed, ...]:
    """The sources that somebody may open: a steward, and one of its people where it names any."""
    if person is None or person.role != "steward":
        return ()
    return tuple(
        each
        for each in listed
        if not each.people or not person.address or is_listed(person.address, each.people)
    )


def _listed(entry: Mapping[str, Any], environment: Mapping[str, str]) -> Listed:
    name = entry.get("name")
    if not isinstance(name, str):
        raise ParameterError("a source of the list has no name", remedy="name it")
    source_dataset(name)  # refuses what cannot be an identity
    for field in entry:
        if field not in _KNOWN:
            raise _wrong(name, "it has a field that is not known")
    texts = {field: entry.get(field, "") for field in ("kind", "location", "query", "password", "schema")}
    people = entry.get("people", [])
    if not all(isinstance(text, str) for text in (*texts.values(), *people)) or not texts["location"]:
        raise _wrong(name, "a field is missing or no text")
    location = texts["location"]
    if texts["kind"] == "postgres":
        location = _with_password(name, location, texts["password"], environment)
    source = Source(name=name, kind=texts["kind"], location=location, query=texts["query"])
    return Listed(
        source=source, schema=Path(texts["schema"]) if texts["schema"] else None, people=tuple(people)
    )


def _with_password(name: str, location: str, variable: str, environment: Mapping[str, str]) -> str:
    """A connection string with its password, which is kept in a variable of the environment alone."""
    if "password" in location.lower() or "://" in location:
        raise _wrong(name, "its location holds a password or an address")
    if not variable:
        return location
    if variable not in environment:
        raise _wrong(name, "the variable of its password is not set")
    password = environment[variable].replace("\\", "\\\\").replace("'", "\\'")
    return f"{location} password='{password}'"


def _wrong(name: str, what: str) -> ParameterError:
    return ParameterError(
        "source {name!r} of the list is not understood: {what}",
        remedy="correct it in the list of sources",
        name=name,
        what=what,
    )
