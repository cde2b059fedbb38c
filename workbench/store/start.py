"""The one ledger of this process, opened and checked at the start, with what is wrong in the log."""

from __future__ import annotations

import functools
import logging
import threading

from dpcore.errors import DpcoreError
from workbench.store.database import Store
from workbench.store.ledger import SqlLedger
from workbench.store.owners import Owners
from workbench.store.settings import read_settings
from workbench.store.shares import Shares
from workbench.store.surveys import Surveys

_log = logging.getLogger("workbench.store")


_open = threading.Lock()


def ledger() -> SqlLedger:
    """Open the durable ledger that all tabs of this server share. Raises: LedgerError, ParameterError."""
    with _open:
        return _ledger()


def owners() -> Owners:
    """Open the owners of data sets. Raises: LedgerError, ParameterError."""
    with _open:
        return Owners(_store())


def surveys() -> Surveys:
    """Open the surveys that all tabs of this server share. Raises: LedgerError, ParameterError."""
    with _open:
        return _surveys()


def shares() -> Shares:
    """Open the links that all tabs of this server share. Raises: LedgerError, ParameterError."""
    with _open:
        return _shares()


@functools.cache
def _store() -> Store:
    return Store.open(read_settings())


@functools.cache
def _surveys() -> Surveys:
    return Surveys(_store())


@functools.cache
def _shares() -> Shares:
    return Shares(_store())


@functools.cache
def _ledger() -> SqlLedger:
    opened = SqlLedger(_store())
    ended = opened.end_dead()
    if ended:
        _log.warning("%d runs of a program that ended were ended as failed; their charges stay", ended)
    return opened


def forget() -> None:
    """Open all of it anew the next time."""
    for each in (_ledger, _surveys, _shares, _store):
        each.cache_clear()


def check_ready() -> None:
    """Check that the database answers. Raises: LedgerError."""
    ledger().check_answers()


def check_all() -> None:
    """Check settings, key, database and every chain; the log says what is wrong, and so do the pages."""
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
    _log.info("the ledger is open: %d accounts, %d of them not in order", len(datasets), broken)
