"""What answers strangers sees one table of the database, on SQLite and PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from dpcore.errors import LedgerError
from tests.contracts.ledger_kinds import SqlKind, postgres_kind, sqlite_kind
from workbench.store.database import Store
from workbench.store.shares import Shares

FORBIDDEN = (
    "SELECT * FROM ledger_lines",
    "SELECT count(*) FROM ledger_releases",
    "SELECT key_check FROM workbench",
    "SELECT * FROM survey_reports",
    "SELECT dataset FROM data_set_owners",
    "DELETE FROM shares",
    "UPDATE shares SET ended = ''",
    "INSERT INTO shares (id) VALUES ('x')",
    "CREATE TABLE more (a integer)",
)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlKind]:
    url = os.environ.get("DATABASE_URL", "")
    if request.param == "sqlite":
        made = sqlite_kind(tmp_path)
    elif url.startswith("postgres"):
        made = postgres_kind(tmp_path, url)
    else:
        pytest.skip("DATABASE_URL names no PostgreSQL server")
    with made as kind:
        yield kind


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_one_table_and_no_writing(kind: SqlKind, statement: str) -> None:
    """A fault in what answers links could read the ledger, or write."""
    store = Store.open(kind.settings)
    Shares(store)
    with pytest.raises(LedgerError), store.looking() as connection:
        connection.execute(sa.text(statement))
    with store.looking() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM shares")).scalar_one() == 0
    with store.reading() as connection:  # and nothing is taken from everybody else
        connection.execute(sa.text("SELECT count(*) FROM ledger_lines")).scalar_one()
    store.close()
