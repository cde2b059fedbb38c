"""What answers strangers sees one table of the database, on SQLite and PostgreSQL."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
import sqlalchemy as sa

from dpcore.errors import LedgerError
from tests.contracts.ledger_kinds import SqlKind
from tests.needs import need_postgres
from workbench.store.database.store import Store
from workbench.store.links.shares import Shares
from workbench.store.settings import Settings

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


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_one_table_and_no_writing(kind: SqlKind, statement: str) -> None:
    """A fault in what answers links could read the ledger, or write."""
    store = Store(kind.settings)
    Shares(store)
    with pytest.raises(LedgerError), store.link_transaction() as connection:
        connection.execute(sa.text(statement))
    with store.link_transaction() as connection:
        assert (
            connection.execute(sa.text("SELECT count(*) FROM shares")).scalar_one() == 0
        )
    with (
        store.read_transaction() as connection
    ):  # and nothing is taken from everybody else
        connection.execute(sa.text("SELECT count(*) FROM ledger_lines")).scalar_one()
    store.close()


@pytest.mark.postgres
def test_a_user_who_may_not_make_roles(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Links would not work on a database of whose server one is not the master; or
    somebody could write.
    """
    url = need_postgres()
    name = f"plain_{uuid.uuid4().hex}"
    server = sa.create_engine(
        Settings(database_url=url).database_url, isolation_level="AUTOCOMMIT"
    )
    with server.connect() as connection:
        for statement in (
            f"CREATE ROLE {name} LOGIN PASSWORD 'x'",
            f"CREATE SCHEMA {name} AUTHORIZATION {name}",
            f"ALTER ROLE {name} SET search_path = {name}",
        ):
            connection.exec_driver_sql(statement)
    try:
        plain = server.url.set(username=name, password="x").render_as_string(
            hide_password=False
        )
        store = Store(Settings(data_dir=tmp_path, database_url=plain))
        shares = Shares(store)
        assert shares.open("x" * 43, None) is None
        assert "could not be made" in caplog.text
        with pytest.raises(LedgerError), store.link_transaction() as connection:
            connection.execute(sa.text("DELETE FROM shares"))
        store.close()
    finally:
        with server.connect() as connection:
            connection.exec_driver_sql(f"DROP OWNED BY {name} CASCADE")
            connection.exec_driver_sql(f"DROP ROLE {name}")
