"""All tables of the database, as its newest version has them.

A change here is a migration as well.
"""

from functools import cache
from typing import Any

import sqlalchemy as sa

tables = sa.MetaData()


def _text_columns(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text, nullable=False) for name in names]


workbench_info = sa.Table(
    "workbench",
    tables,
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("key_check", sa.Text, nullable=False),
    sa.Column("row_key", sa.Text, nullable=False, server_default=""),
)

accounts = sa.Table(
    "ledger_accounts",
    tables,
    sa.Column("dataset", sa.Text, primary_key=True),
    sa.Column(
        "rule", sa.Text, sa.CheckConstraint("rule IN ('basic', 'zcdp')"), nullable=False
    ),
    sa.Column("units", sa.BigInteger, sa.CheckConstraint("units > 0"), nullable=False),
    sa.Column(
        "threshold_units",
        sa.BigInteger,
        sa.CheckConstraint("threshold_units >= 0"),
        nullable=False,
    ),
    *_text_columns("promise", "unit", "head"),
    sa.Column("standing", sa.Text, nullable=False, server_default=""),
)

lines = sa.Table(
    "ledger_lines",
    tables,
    sa.Column("dataset", sa.ForeignKey(accounts.c.dataset), primary_key=True),
    sa.Column(
        "number",
        sa.Integer,
        sa.CheckConstraint("number >= 0"),
        primary_key=True,
        autoincrement=False,
    ),
    *_text_columns("request_id", "state"),
    sa.Column("units", sa.BigInteger, nullable=False),
    sa.Column(
        "threshold_units",
        sa.BigInteger,
        sa.CheckConstraint("threshold_units >= 0"),
        nullable=False,
    ),
    sa.Column("part", sa.Text),
    *_text_columns("at", "previous", "digest", "content"),
    sa.Column("standing", sa.Text, nullable=False, server_default=""),
    sa.UniqueConstraint("dataset", "request_id", "state"),
    sa.CheckConstraint(
        "state IN ('opened', 'reserved', 'committed', 'failed', 'outside')"
    ),
    sa.CheckConstraint(
        "units > 0 AND state = 'reserved' OR units = 0 AND state <> 'reserved'"
    ),
)
releases = sa.Table(
    "ledger_releases",
    tables,
    sa.Column("dataset", sa.ForeignKey(accounts.c.dataset), primary_key=True),
    sa.Column("request_id", sa.Text, primary_key=True),
    sa.Column("text", sa.Text, nullable=False),
)


running = sa.Table(
    "ledger_running",
    tables,
    sa.Column("dataset", sa.Text, primary_key=True),
    sa.Column("request_id", sa.Text, primary_key=True),
    sa.Column("renewed", sa.BigInteger, nullable=False, server_default=sa.text("0")),
)
"""Leases of the processes that run the reserved requests, with the second in which each
was renewed.

They are not sealed, as they can only end a request, never refund it.
"""

surveys = sa.Table(
    "surveys",
    tables,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("key_digest", sa.Text, nullable=False, unique=True),
    *_text_columns("question", "expires"),
    sa.Column("closed", sa.Boolean, nullable=False),
)

invitations = sa.Table(
    "survey_invitations",
    tables,
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("survey", sa.ForeignKey(surveys.c.id), nullable=False, index=True),
    sa.Column("answered", sa.Boolean, nullable=False),
)

reports = sa.Table(
    "survey_reports",
    tables,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("survey", sa.ForeignKey(surveys.c.id), nullable=False, index=True),
    sa.Column("report", sa.Text, nullable=False),
)

owners = sa.Table(
    "data_set_owners",
    tables,
    sa.Column("dataset", sa.Text, primary_key=True),
    sa.Column("opener", sa.Text, nullable=False),
    sa.Column("steward", sa.Text, nullable=False, index=True),
)
"""The person under whose key a data set is filed, for ever, and the one who may spend
on it now.
"""

sign_outs = sa.Table(
    "sign_outs",
    tables,
    sa.Column("person", sa.Text, primary_key=True),
    sa.Column("until", sa.BigInteger, nullable=False),
)
"""The second up to which sign-ins of a person have ended, by the clock of the
provider.
"""

viewers = sa.Table(
    "data_set_viewers",
    tables,
    sa.Column("dataset", sa.ForeignKey(owners.c.dataset), primary_key=True),
    sa.Column("person", sa.Text, primary_key=True),
)
"""People who may see the releases of a data set, besides its steward."""

shares = sa.Table(
    "shares",
    tables,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("digest", sa.Text, nullable=False, unique=True),
    sa.Column("dataset", sa.Text, nullable=False, index=True),
    *_text_columns(
        "title", "note", "contents", "readers", "text", "made", "expires", "ended"
    ),
    sa.Column("opened", sa.Integer, nullable=False),
    sa.Column("last_opened", sa.Text, nullable=False),
)
"""Links to releases, each with its release; `ended` is empty, "revoked" or
"expired".
"""


def has_types(row: Any, table: sa.Table) -> bool:
    """Return whether each cell of a row has the type of its column.

    SQLite stores a value of any type in any column.
    """
    for name, kind, is_nullable in _column_types(table):
        value = getattr(row, name)
        if type(value) is not kind and not (value is None and is_nullable):
            return False
    return True


@cache
def _column_types(table: sa.Table) -> tuple[tuple[str, type, bool], ...]:
    """Return the name and the type of each column, and whether it may be empty."""
    return tuple(
        (column.name, column.type.python_type, bool(column.nullable))
        for column in table.columns
    )
