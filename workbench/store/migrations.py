"""Migrations from each version of the database to the next, in plain SQL that never changes.

`tables` says how the newest version is; the statements here say how an older one becomes it, in words that
SQLite and PostgreSQL share. A migration that was delivered is not edited: the next one follows it.
tests/workbench/store/versions holds a database of each version, as the program of its day left it.
"""

from __future__ import annotations

import sqlalchemy as sa

from workbench.store.tables import about

_STATEMENTS: dict[int, tuple[str, ...]] = {
    # Standings: `SqlLedger` fills them in once it has walked each chain.
    1: (
        "ALTER TABLE ledger_accounts ADD COLUMN standing TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE ledger_lines ADD COLUMN standing TEXT NOT NULL DEFAULT ''",
        "DROP INDEX IF EXISTS ledger_lines_charges",
        "CREATE TABLE ledger_running ("
        "dataset TEXT NOT NULL, request_id TEXT NOT NULL, owner TEXT NOT NULL, "
        "PRIMARY KEY (dataset, request_id))",
        "INSERT INTO ledger_running (dataset, request_id, owner) "
        "SELECT dataset, request_id, '' FROM ledger_lines WHERE state = 'reserved' EXCEPT "
        "SELECT dataset, request_id, '' FROM ledger_lines WHERE state IN ('committed', 'failed')",
    ),
    # Surveys, whose tables were made on demand before; whose each data set is; links to releases.
    2: (
        "CREATE TABLE IF NOT EXISTS surveys ("
        "id TEXT NOT NULL PRIMARY KEY, key_digest TEXT NOT NULL UNIQUE, question TEXT NOT NULL, "
        "expires TEXT NOT NULL, closed BOOLEAN NOT NULL)",
        "CREATE TABLE IF NOT EXISTS survey_invitations ("
        "digest TEXT NOT NULL PRIMARY KEY, survey TEXT NOT NULL REFERENCES surveys (id), "
        "answered BOOLEAN NOT NULL)",
        "CREATE INDEX IF NOT EXISTS ix_survey_invitations_survey ON survey_invitations (survey)",
        "CREATE TABLE IF NOT EXISTS survey_reports ("
        "id TEXT NOT NULL PRIMARY KEY, survey TEXT NOT NULL REFERENCES surveys (id), report TEXT NOT NULL)",
        "CREATE INDEX IF NOT EXISTS ix_survey_reports_survey ON survey_reports (survey)",
        "CREATE TABLE data_set_owners ("
        "dataset TEXT NOT NULL PRIMARY KEY, opener TEXT NOT NULL, steward TEXT NOT NULL)",
        "CREATE INDEX ix_data_set_owners_steward ON data_set_owners (steward)",
        "CREATE TABLE data_set_viewers ("
        "dataset TEXT NOT NULL REFERENCES data_set_owners (dataset), person TEXT NOT NULL, "
        "PRIMARY KEY (dataset, person))",
        "CREATE TABLE shares ("
        "id TEXT NOT NULL PRIMARY KEY, digest TEXT NOT NULL UNIQUE, dataset TEXT NOT NULL, "
        "title TEXT NOT NULL, note TEXT NOT NULL, contents TEXT NOT NULL, readers TEXT NOT NULL, "
        "text TEXT NOT NULL, made TEXT NOT NULL, expires TEXT NOT NULL, ended TEXT NOT NULL, "
        "opened INTEGER NOT NULL, last_opened TEXT NOT NULL)",
        "CREATE INDEX ix_shares_dataset ON shares (dataset)",
    ),
    # The key of rows, apart from the one that seals: `read_keys` fills it in.
    3: ("ALTER TABLE workbench ADD COLUMN row_key TEXT NOT NULL DEFAULT ''",),
    # Leases in place of locks, after which a request may have both ends; people who signed out.
    4: (
        "ALTER TABLE ledger_running DROP COLUMN owner",
        "ALTER TABLE ledger_running ADD COLUMN renewed BIGINT NOT NULL DEFAULT 0",
        "DROP INDEX ledger_lines_one_end",
        "CREATE TABLE sign_outs (person TEXT NOT NULL PRIMARY KEY, until BIGINT NOT NULL)",
    ),
}
VERSION = max(_STATEMENTS) + 1


def bring_forward(connection: sa.Connection, version: int) -> None:
    """Lead a database of an older version to the newest, within the transaction of the connection."""
    for each in range(version, VERSION):
        for statement in _STATEMENTS[each]:
            connection.exec_driver_sql(statement)
        connection.execute(sa.update(about).values(version=each + 1))
