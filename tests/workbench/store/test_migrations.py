"""Databases as the programs of earlier versions left them, brought to the newest, on
SQLite and PostgreSQL.

`versions/` holds them as SQL, written by those programs with the key below: "2-surveys"
is a version 2 whose program had made the tables of surveys beside it.
"""

from __future__ import annotations

import dataclasses
import os
import sqlite3
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa

import dpcore as dp
from dpcore.accounting.ledger import Charge
from dpcore.errors import DpcoreError, LedgerCorrupt, LedgerError
from dpcore.schema.source import Source
from tests.contracts.ledger_kinds import DATASET, SqlKind, postgres_kind, sqlite_kind
from workbench.store.database import migrations
from workbench.store.database.migrations import NEWEST_VERSION
from workbench.store.database.store import Store
from workbench.store.database.tables import workbench_info
from workbench.store.ledger.rekey import rekey
from workbench.store.links.surveys import Surveys
from workbench.store.people.owners import Owners
from workbench.store.people.personal import PersonalLedger
from workbench.store.people.roles import Person

VERSIONS = Path(__file__).parent / "versions"
KEY = b"k" * 32
OLD = ["1", "2", "2-surveys", "3", "4"]


@pytest.fixture
def kind(kind: SqlKind) -> SqlKind:
    kind.settings = dataclasses.replace(kind.settings, key=KEY)
    return kind


def _load(kind: SqlKind, version: str) -> None:
    dialect = (
        "sqlite" if kind.settings.database_url.startswith("sqlite") else "postgresql"
    )
    script = (VERSIONS / f"{dialect}-{version}.sql").read_text(encoding="utf-8")
    if dialect == "sqlite":
        kind.settings.data_dir.mkdir(parents=True)
        with sqlite3.connect(kind.settings.data_dir / "workbench.sqlite") as file:
            file.executescript(script)
        file.close()
    else:
        with kind.connection() as connection:
            connection.exec_driver_sql(script)


def _version(kind: SqlKind) -> int:
    with kind.connection() as connection:
        version: int = connection.execute(
            sa.select(workbench_info.c.version)
        ).scalar_one()
    return version


def _shape(kind: SqlKind) -> dict[str, Any]:
    """All that the database says about its tables, without the order in which it was
    declared.
    """
    shape: dict[str, Any] = {}
    with kind.connection() as connection:
        look = sa.inspect(connection)
        for table in look.get_table_names():
            columns = [
                (each["name"], str(each["type"]), each["nullable"], each["default"])
                for each in look.get_columns(table)
            ]
            keys = [
                (
                    key["constrained_columns"],
                    key["referred_table"],
                    key["referred_columns"],
                )
                for key in look.get_foreign_keys(table)
            ]
            indexes = [
                (each["name"], each["column_names"], bool(each["unique"]), _where(each))
                for each in look.get_indexes(table)
            ]
            shape[table] = {
                "columns": sorted(columns, key=str),
                "primary": look.get_pk_constraint(table)["constrained_columns"],
                "foreign": sorted(keys, key=str),
                "indexes": sorted(indexes, key=str),
                "unique": sorted(
                    each["column_names"] for each in look.get_unique_constraints(table)
                ),
                "checks": sorted(
                    each["sqltext"] for each in look.get_check_constraints(table)
                ),
            }
    return shape


def _where(index: Any) -> str:
    options = index.get("dialect_options", {})
    return str(options.get("sqlite_where", options.get("postgresql_where", "")))


def test_there_is_a_database_of_each_version() -> None:
    """A new version could be delivered whose way from the one before was never
    walked.
    """
    dialects = ("sqlite", "postgresql")
    assert {file.name for file in VERSIONS.iterdir()} == {
        f"{d}-{v}.sql" for d in dialects for v in OLD
    }
    assert {int(version[0]) for version in OLD} == set(range(1, NEWEST_VERSION))


@pytest.mark.parametrize("version", OLD)
def test_each_version_becomes_the_newest(
    kind: SqlKind, version: str, tmp_path: Path
) -> None:
    """A ledger of before would be refused, lose a charge or a release, or go on in
    other tables.
    """
    _load(kind, version)
    ledger = kind.open()
    assert _version(kind) == NEWEST_VERSION
    before = ledger.standing(DATASET).balance
    assert (before.spent, before.reserved) == (350_000, 20_000)
    assert ledger.end_dead_runs() == 1
    assert ledger.release(DATASET, "r2") == "release 2"
    sealed = [
        line.content for line in ledger.lines(DATASET) if line.request_id == "version 2"
    ]
    assert sealed == [{"kind": "totals sealed"}] * (version == "1")
    ledger.reserve(DATASET, "more", Charge(units=630_000), {})
    ledger.commit(DATASET, "more", {}, "release")
    ledger.verify(DATASET)
    survey = Surveys(kind._stores[-1]).survey_of("owner-key")
    assert (
        (survey.invited, survey.answered) == (2, 1)
        if survey
        else version != "2-surveys"
    )
    shape = _shape(kind)
    kind.close()
    url = os.environ.get("DATABASE_URL", "")
    sqlite = kind.settings.database_url.startswith("sqlite")
    with (
        sqlite_kind(tmp_path / "new")
        if sqlite
        else postgres_kind(tmp_path / "new", url) as fresh
    ):
        fresh.open()
        assert _shape(fresh) == shape


def test_an_altered_ledger_stays_shut(kind: SqlKind) -> None:
    """Totals would be sealed over what somebody made of the lines."""
    _load(kind, "1")
    kind._run("UPDATE ledger_lines SET units = 1 WHERE number = 1")
    with pytest.raises(LedgerCorrupt):
        kind.open().reserve(DATASET, "more", Charge(units=1), {})


def test_a_broken_migration_changes_nothing(
    kind: SqlKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database between two versions could be opened by no program."""
    _load(kind, "1")
    before = _shape(kind)
    monkeypatch.setitem(
        migrations._STATEMENTS, 2, (*migrations._STATEMENTS[2], "SELECT * FROM nowhere")
    )
    with pytest.raises(LedgerError, match="refused"):
        Store(kind.settings)
    assert (_version(kind), _shape(kind)) == (1, before)
    monkeypatch.undo()
    kind.open().verify(DATASET)


def test_the_wrong_key_brings_nothing_forward(kind: SqlKind) -> None:
    """A program started with the key of another ledger would alter this one before it
    is refused.
    """
    _load(kind, "2")
    with pytest.raises(DpcoreError, match="is a different one"):
        kind.open(key=b"x" * 32)
    assert _version(kind) == 2


def test_accounts_of_before_the_key_of_rows_are_found(
    kind: SqlKind, tmp_path: Path
) -> None:
    """Tables were digested under the sealing key: with another one each would have its
    whole budget again.
    """
    table = pd.DataFrame({"person": ["a", "a", "b", "c"], "age": [10, 20, 30, 40]})
    unit = dp.PrivacyUnit(max_rows=1, id_column="person")
    schema = dp.Schema(
        columns=(dp.Integer("age", low=0, high=99, bin_width=10),), unit=unit
    )
    budget = dp.PureDP(epsilon="1")
    quarter = dp.PureDP(epsilon="0.25")
    path = tmp_path / "visits.parquet"
    table.to_parquet(path)
    source = Source(name="Visits", kind="parquet", location=str(path))
    _load(kind, "3")
    for turn in range(2):
        ledger = kind.open()
        for address, left in (("", 75), ("ada@example.org", 75)):
            who = Person(address=address, role="steward")
            owners = Owners(kind._stores[-1])
            mine = PersonalLedger(
                ledger=ledger,
                owners=owners,
                person=who,
                current_person=lambda who=who: who,  # type: ignore[misc]
                opener=address,
            )
            curator = dp.Curator.open(table, schema, budget=budget, ledger=mine)
            assert curator.balance().remaining_units == left * 10**10
            assert curator.stored_request(dp.Histogram("age"), quarter)
            if not address:
                there = dp.Curator.open(source, schema, budget=budget, ledger=mine)
                assert there.balance().remaining_units == 5 * 10**11
                assert there._engine._key != mine.key  # what goes to other machines
                assert (mine.key == ledger._store.key) == (turn == 0)
        if turn == 0:
            new = tmp_path / "new.key"
            rekey(kind.settings, new)
            kind.settings = dataclasses.replace(
                kind.settings, key=bytes.fromhex(new.read_text())
            )
