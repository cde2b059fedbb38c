"""Open the ledger and other shared objects of this process once, and check them."""

import functools
import logging
import threading
from collections.abc import Callable
from typing import TypeVar, cast

from dpcore.errors import DpcoreError
from workbench.store.database.store import Store
from workbench.store.ledger.sql_ledger import SqlLedger
from workbench.store.links.shares import Shares
from workbench.store.links.surveys import Surveys
from workbench.store.people.owners import Owners
from workbench.store.people.sign_outs import SignOuts
from workbench.store.settings import read_settings

_log = logging.getLogger("workbench.store")


_lock = threading.RLock()
Opened = TypeVar("Opened")


def _once(make: Callable[[], Opened]) -> Callable[[], Opened]:
    """Wrap a constructor so that all threads share the object that it makes."""

    @functools.wraps(make)
    def made() -> Opened:
        with _lock:
            if make not in _shared_objects:
                _shared_objects[make] = make()
            return cast(Opened, _shared_objects[make])

    return made


_shared_objects: dict[Callable[[], object], object] = {}


@_once
def _store() -> Store:
    return Store(read_settings())


@_once
def ledger() -> SqlLedger:
    """Open the durable ledger shared by all tabs of this server.

    Raises: LedgerError, ParameterError.
    """
    opened = SqlLedger(_store())
    opened.end_dead_runs()
    return opened


owners = _once(lambda: Owners(_store()))
"""Opens the owners of data sets, once, as do those below.

Raises: LedgerError, ParameterError.
"""
surveys = _once(lambda: Surveys(_store()))
shares = _once(lambda: Shares(_store()))
sign_outs = _once(lambda: SignOuts(_store()))


def settle() -> None:
    """Expire what is out of date, and read what other servers have written.

    Raises: LedgerError.
    """
    ledger().store_waiting()
    ledger().end_dead_runs()
    shares().settle()
    surveys().settle()
    sign_outs().settle()


def drop_shared_objects() -> None:
    """Drop the objects that all threads share; the next call opens new ones."""
    with _lock:
        _shared_objects.clear()


def check_ready() -> None:
    """Check that the database answers. Raises: LedgerError."""
    ledger().account("")  # which there never is


def check_all() -> None:
    """Check settings, key, database and the lines of every account; log each fault."""
    broken = 0
    try:
        opened = ledger()
        datasets = opened.datasets()
        for dataset in datasets:
            try:
                opened.verify(dataset)
            except DpcoreError as error:
                broken += 1
                _log.error("account %s: %s", dataset[:8], error)
    except DpcoreError as error:
        _log.error("the ledger cannot be used: %s", error)
        return
    _log.info(
        "the ledger is open: %d accounts, %d of them not in order",
        len(datasets),
        broken,
    )
