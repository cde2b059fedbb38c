"""Migrations between versions of the database, in SQL that never changes.

`tables` describes the newest version; `migrations.toml` says how to reach it from each
older one, in SQL that SQLite and PostgreSQL share. A migration that was delivered is
not edited: the next one follows it. tests/workbench/store/versions holds a database of
each version, as the program of its day left it.
"""

import tomllib
from pathlib import Path

import sqlalchemy as sa

from workbench.store.database.tables import workbench_info

_STATEMENTS: dict[int, tuple[str, ...]] = {
    int(version): tuple(statements)
    for version, statements in tomllib.loads(
        Path(__file__).with_suffix(".toml").read_text("utf-8")
    ).items()
}
NEWEST_VERSION = max(_STATEMENTS) + 1


def migrate(connection: sa.Connection, version: int) -> None:
    """Migrate an older database to the newest version in one transaction."""
    for version_before in range(version, NEWEST_VERSION):
        for statement in _STATEMENTS[version_before]:
            connection.exec_driver_sql(statement)
        connection.execute(sa.update(workbench_info).values(version=version_before + 1))
