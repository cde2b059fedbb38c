"""Seal a ledger again under a new key, all accounts in one transaction."""

import dataclasses
import uuid
from pathlib import Path

import sqlalchemy as sa

from dpcore.accounting.chain import check_chain, head_of
from dpcore.accounting.ledger import NO_CHARGE, Line, Standing
from dpcore.errors import LedgerError, ParameterError
from workbench.store.database.keys import NEW_KEY_FILE, key_fields, make_key, settle_key
from workbench.store.database.store import Store, lock_initialization
from workbench.store.database.tables import accounts, lines, running, workbench_info
from workbench.store.ledger.rows import (
    account_row,
    all_lines,
    line_fields,
    new_key_content,
    release_texts,
)
from workbench.store.ledger.sql_ledger import SqlLedger
from workbench.store.settings import Settings


def rekey(settings: Settings, file: Path | None = None) -> int:
    """Seal every line of every account under a new key; return the number of accounts.

    All accounts change in one transaction. The last line of each account says so:
    whoever saw the line before it under the old key recognizes it, and nobody needs to
    have written down what the database held. Tables and plans on file are found as
    before, since the row key stays. Other processes must have ended: they would go on
    with the old key and be refused.

    Args:
        settings: of the deployment.
        file: where the new key goes if the old one came from `WORKBENCH_KEY`; otherwise
            it becomes `ledger.key`.

    Raises: LedgerError, with nothing changed, if an account is not in order or a run is
        in progress.
    """
    if (settings.key is None) != (file is None) or (file is not None and file.exists()):
        raise ParameterError(
            (
                "if the old key is WORKBENCH_KEY, the new key needs a new file; "
                "otherwise it goes into ledger.key"
            ),
            remedy="name a new file only if WORKBENCH_KEY is set",
        )
    store = Store(settings)
    ledger = SqlLedger(store)
    ledger.end_dead_runs()
    for dataset in ledger.datasets():
        ledger.verify(dataset)  # the witness, too
    with store.write_transaction() as connection:
        lock_initialization(connection)
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(
                "LOCK TABLE ledger_accounts, ledger_lines IN EXCLUSIVE MODE"
            )
        if connection.execute(sa.select(running.c.dataset).limit(1)).all():
            raise LedgerError(
                "a paid run is in progress", remedy="stop the server first"
            )
        key = make_key(file or settings.data_dir / NEW_KEY_FILE)
        sealed = connection.execute(sa.select(accounts.c.dataset)).scalars().all()
        for dataset in sealed:
            _seal_again(connection, dataset, store, key)
        connection.execute(
            sa.update(workbench_info).values(**key_fields(key, store.row_key))
        )
    settle_key(settings.data_dir, key)
    return len(sealed)


def _seal_again(
    connection: sa.Connection, dataset: str, store: Store, new_key_bytes: bytes
) -> None:
    """Seal an account's lines under the new key, and add a line that records it."""
    row = account_row(connection, dataset, lock=True)
    chain = all_lines(connection, dataset)
    standing = Standing.from_json(row.standing)
    check_chain(
        store.key, standing, chain, release_texts(connection, dataset), row.head
    )
    store.witness.note(dataset, chain[-1].number, chain[-1].digest)
    previous = None
    for line in chain:
        draft = dataclasses.replace(
            line, previous=previous.digest if previous else "", digest=""
        )
        previous = dataclasses.replace(draft, digest=draft.seal(new_key_bytes))
        place = (lines.c.dataset == dataset) & (lines.c.number == line.number)
        sealed = {"previous": previous.previous, "digest": previous.digest}
        connection.execute(sa.update(lines).where(place).values(**sealed))
    last = Line.next_line(
        new_key_bytes,
        previous=previous,
        dataset=dataset,
        request_id=f"new key {uuid.uuid4().hex}",
        state="outside",
        charge=NO_CHARGE,
        content=new_key_content(chain[-1].digest),
        standing=standing.digest,
    )
    connection.execute(sa.insert(lines).values(**line_fields(last)))
    whose = accounts.c.dataset == dataset
    connection.execute(
        sa.update(accounts).where(whose).values(head=head_of(new_key_bytes, last))
    )
