"""Connections for strangers' pages: they can read one table and change nothing.

SQLite asks an authorizer before it reads a column; on PostgreSQL the connection takes
on a role that may read that table alone. If the database's user may not make roles, its
transactions are read-only, and the log says what is missing.
"""

import logging
import sqlite3
from typing import Any

import sqlalchemy as sa

READABLE_TABLE = "shares"
READER_ROLE = "workbench_share"
_ALLOWED_ACTIONS = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_TRANSACTION,
    sqlite3.SQLITE_FUNCTION,
}
_log = logging.getLogger("workbench.store")


def restrict_connections(engine: sa.Engine) -> None:
    """Restrict each new connection of this engine to reading the table of links."""
    postgres = engine.dialect.name == "postgresql"
    sa.event.listen(engine, "connect", _take_role if postgres else _authorize)


def grant_link_reading(connection: sa.Connection) -> None:
    """Create the PostgreSQL role that may read only the table of links."""
    if connection.dialect.name != "postgresql":
        return
    try:
        with connection.begin_nested():
            known = sa.text("SELECT 1 FROM pg_roles WHERE rolname = :role")
            if connection.execute(known, {"role": READER_ROLE}).one_or_none() is None:
                connection.exec_driver_sql(f"CREATE ROLE {READER_ROLE} NOLOGIN")
            connection.exec_driver_sql(f"GRANT {READER_ROLE} TO CURRENT_USER")
            schema = connection.execute(
                sa.select(sa.func.current_schema())
            ).scalar_one()
            quoted = connection.dialect.identifier_preparer.quote(schema)
            connection.exec_driver_sql(
                f"GRANT USAGE ON SCHEMA {quoted} TO {READER_ROLE}"
            )
            connection.exec_driver_sql(
                f"GRANT SELECT ON {READABLE_TABLE} TO {READER_ROLE}"
            )
    except sa.exc.DBAPIError as error:
        _log.warning(
            "links are read by the database's own user, in read-only transactions: "
            "the role %s could not be "
            "made (%s)",
            READER_ROLE,
            type(error).__name__,
        )


def _authorize(connection: Any, _: Any) -> None:
    def allows(action: int, table: str | None, *_: str | None) -> int:
        seen = action in _ALLOWED_ACTIONS or (
            action == sqlite3.SQLITE_READ and table == READABLE_TABLE
        )
        return sqlite3.SQLITE_OK if seen else sqlite3.SQLITE_DENY

    connection.set_authorizer(allows)


def _take_role(connection: Any, _: Any) -> None:
    import psycopg

    connection.execute("SET default_transaction_read_only = on")
    connection.commit()
    try:
        connection.execute(f"SET ROLE {READER_ROLE}")
        connection.commit()
    except psycopg.Error:  # there is no such role here; `let_look` has said so
        connection.rollback()
