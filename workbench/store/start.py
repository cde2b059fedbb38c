"""The one ledger of this process, opened and checked at the start, with what is wrong in the log."""

from __future__ import annotations

import functools
import logging

from dpcore.errors import DpcoreError
from workbench.store.database import Store
from workbench.store.ledger import SqlLedger
from workbench.store.settings import read_settings

_log = logging.getLogger("workbench.store")


@functools.cache
def ledger() -> SqlLedger:
    """The durable ledger that all tabs of this server share. Raises: LedgerError, ParameterError."""
    return SqlLedger(Store.open(read_settings()))


def check_ready() -> None:
    """Whether the database answers. Raises: LedgerError."""
    ledger().check_answers()


def check_all() -> None:
    """Check settings, key, database and every chain; the log says what is wrong, and so do the pages."""
    try:
        ledger().check_answers()
    except DpcoreError as error:
        _log.error("the ledger cannot be used: %s", error)
        return
    _log.info("the ledger is in order")
