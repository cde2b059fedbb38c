"""Connected sources, listed in the deployment's `sources.toml`.

    [[source]]
    name = "Visits"          # its identity: one account, whatever day it is read
    kind = "postgres"        # or parquet, csv, duckdb, spark
    # files: a path; Spark: the name of a table or a folder
    location = "host=db dbname=clinic user=reader"
    password = "CLINIC_PASSWORD"  # PostgreSQL: name of an environment variable
    table = "visits"         # PostgreSQL, DuckDB: a base table, no view
    columns = ["person", "age", "zip"]  # default: all
    # each condition: a column, one of = != < <= > >=, and a text, number, truth value
    # or day
    where = [["year", ">=", 2020]]
    # a join adds to each row the columns of the other table's row with the same key, if
    # there is one
    joins = [
      # joined by the id column: facts about the same person
      {table = "people", on = "person", columns = ["sex"]},
      # public: a table that is not about people
      {table = "zips", on = "zip", key = "code", columns = ["region"], public = true},
    ]
    delimiter = ";"          # CSV, if the header does not show it
    schema = "/data/visits-schema.json"  # public facts, as saved by the Data page
    people = ["ada@example.org"]  # who may open it, as in [roles]; default: everybody

So each row that is counted comes from the rows of one person. A view may look at rows
of other people, and so may `query = "SELECT ..."`, which takes the place of table,
columns, where and joins (a file is called `source` in it); nobody can check that. A
query is read only with

    rows = "one person each, declared by Ada Lovelace"

and every guarantee, ledger line and shared page of the source repeats whose word that
is.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpcore.accounting.ledger import source_dataset
from dpcore.schema.schema import Schema
from dpcore.schema.source import (
    Condition,
    ConditionValue,
    Join,
    Source,
    wrong_source_error,
)
from workbench.store.people.roles import Person, is_listed
from workbench.store.settings import unreadable_file_error

_TEXT_FIELDS = (
    "kind",
    "location",
    "table",
    "delimiter",
    "query",
    "rows",
    "password",
    "schema",
)
_KNOWN_FIELDS = {"name", *_TEXT_FIELDS, "columns", "where", "joins", "people"}
_DECLARED_BY_PREFIX = "one person each, declared by "


@dataclass(frozen=True, kw_only=True)
class ListedSource:
    """A connected source, as an entry of `sources.toml` describes it.

    Attributes:
        schema: a file of public facts; None if the page suggests them.
        people: addresses that may open it, each a whole one or "*@" and a domain; empty
            for everybody.
    """

    source: Source
    schema: Path | None = None
    people: tuple[str, ...] = ()

    def read_schema(self) -> Schema | None:
        """Read the public facts from their file, if there is one.

        Raises: ParameterError, SchemaError.
        """
        if self.schema is None:
            return None
        try:
            return Schema.from_json(self.schema.read_text())
        except OSError:
            raise wrong_source_error(
                self.source.name, "its schema cannot be read"
            ) from None


def read_sources(
    file: Path | None, environment: Mapping[str, str]
) -> tuple[ListedSource, ...]:
    """Read the list of sources from a file.

    Raises: ParameterError, which repeats no location, query or password.
    """
    if file is None:
        return ()
    try:
        entries = tomllib.loads(file.read_text()).get("source", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        raise unreadable_file_error(file.name) from None
    listed = tuple(_parse_source(entry, environment) for entry in entries)
    names = [entry.source.name for entry in listed]
    for name in names:
        if names.count(name) > 1:
            raise wrong_source_error(name, "it is there twice")
    return listed


def sources_of(
    person: Person | None, listed: tuple[ListedSource, ...]
) -> tuple[ListedSource, ...]:
    """Return the sources that a person may open.

    The person must be a steward, and one of the source's people if it names any.
    """
    if person is None or person.role != "steward":
        return ()
    return tuple(
        entry
        for entry in listed
        if not entry.people
        or not person.address
        or is_listed(person.address, entry.people)
    )


def _parse_source(
    entry: Mapping[str, Any], environment: Mapping[str, str]
) -> ListedSource:
    name = entry.get("name")
    if not isinstance(name, str):
        raise wrong_source_error("?", "it has no name")
    source_dataset(name)  # refuses what cannot be an identity
    for field in entry:
        if field not in _KNOWN_FIELDS:
            raise wrong_source_error(name, "it has a field that is not known")
    texts = {field: entry.get(field, "") for field in _TEXT_FIELDS}
    lists = {
        field: entry.get(field, []) for field in ("columns", "where", "joins", "people")
    }
    if not all(isinstance(value, list) for value in lists.values()):
        raise wrong_source_error(name, "a field that holds several is no list")
    named = (*texts.values(), *lists["columns"], *lists["people"])
    if not all(isinstance(text, str) for text in named) or not texts["location"]:
        raise wrong_source_error(name, "a field is missing or no text")
    declared_by = texts["rows"].removeprefix(_DECLARED_BY_PREFIX).strip()
    if texts["rows"] and (
        declared_by == texts["rows"] or not declared_by.isprintable()
    ):
        raise wrong_source_error(
            name, f'"rows" does not say "{_DECLARED_BY_PREFIX}" and a name'
        )
    location = texts["location"]
    if texts["kind"] == "postgres":
        location = _with_password(name, location, texts["password"], environment)
    try:
        conditions = tuple(_make_condition(*condition) for condition in lists["where"])
        joins = tuple(
            Join(**{**join, "columns": tuple(join.get("columns", ()))})
            for join in lists["joins"]
        )
    except (TypeError, AttributeError):
        raise wrong_source_error(name, "a condition or a join") from None
    source = Source(
        name=name,
        kind=texts["kind"],
        location=location,
        table=texts["table"],
        columns=tuple(lists["columns"]),
        where=conditions,
        joins=joins,
        delimiter=texts["delimiter"],
        query=texts["query"],
        declared_by=declared_by,
    )
    return ListedSource(
        source=source,
        schema=Path(texts["schema"]) if texts["schema"] else None,
        people=tuple(lists["people"]),
    )


def _make_condition(column: str, comparison: str, value: ConditionValue) -> Condition:
    return Condition(column=column, comparison=comparison, value=value)


def _with_password(
    name: str, location: str, variable: str, environment: Mapping[str, str]
) -> str:
    """Return a connection string with the password from an environment variable."""
    if "password" in location.lower() or "://" in location:
        raise wrong_source_error(name, "its location holds a password or an address")
    if not variable:
        return location
    if variable not in environment:
        raise wrong_source_error(name, "the variable of its password is not set")
    password = environment[variable].replace("\\", "\\\\").replace("'", "\\'")
    return f"{location} password='{password}'"
