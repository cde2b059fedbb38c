"""Errors of the database and the disk as one sentence with a remedy."""

import errno
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from dpcore.errors import LedgerError
from dpcore.text import Text

_log = logging.getLogger("workbench.store")


@contextmanager
def explain_errors() -> Iterator[None]:
    """Turn errors of the database and the disk into a LedgerError with a remedy."""
    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        problem, remedy = explain(error)
        _log.error("%s (%s %s)", problem, type(error).__name__, _error_code(error))
        raise LedgerError(problem, remedy=remedy) from error


_BUSY_LEDGER = (
    Text("another request locked the ledger for too long; nothing was written"),
    Text("try again in a minute"),
)
_FULL_DISK = (
    Text("the disk of the ledger is full; nothing was written"),
    Text("free some space, then try again"),
)
_FAILING_DISK = (
    Text("the disk of the ledger is full or failing; nothing was written"),
    Text("free some space, or have the disk checked, then try again"),
)
_DAMAGED_DATABASE = (
    Text("the ledger's database is damaged; nothing was written"),
    Text("restore the newest backup"),
)
_FORBIDDEN_FILES = (
    Text("the ledger's files cannot be opened for writing; nothing was written"),
    Text("allow this program to write to the data directory"),
)
_BROKEN_DATABASE = (
    Text("the ledger's database refused the request; nothing was written"),
    Text("see the log of the server"),
)
_LOST_CONNECTION = (
    Text(
        "the ledger's database cannot be reached; a charge that was stored before "
        "the connection broke still counts"
    ),
    Text(
        "check that the database runs and that DATABASE_URL is right, then check "
        "the ledger"
    ),
)
# PostgreSQL codes: 55P03 lock not available; 53100 disk full; 58030 I/O error; XX001
# and XX002 data or index corrupted; 08 connection errors; 57P server stopping; 25P03
# idle in transaction. SQLite reports SHMSIZE if the disk is too full for the shared
# memory of its log.
_ERROR_CODES = {
    _BUSY_LEDGER: ("SQLITE_BUSY", "55P03"),
    _FULL_DISK: ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE", "53100", "ENOSPC", "EDQUOT"),
    _FAILING_DISK: ("SQLITE_IOERR", "58030", "EIO"),
    _DAMAGED_DATABASE: ("SQLITE_CORRUPT", "SQLITE_NOTADB", "XX001", "XX002"),
    _LOST_CONNECTION: ("08", "57P", "25P03"),
    _FORBIDDEN_FILES: (
        "SQLITE_READONLY",
        "SQLITE_CANTOPEN",
        "EACCES",
        "EPERM",
        "EROFS",
    ),
}


def explain(error: SQLAlchemyError | OSError) -> tuple[str, str]:
    """Return (problem, remedy) for an error of the database or the disk.

    The codes of SQLite, PostgreSQL and the system decide, since their texts differ with
    the language.
    """
    code = _error_code(error)
    if not code and isinstance(getattr(error, "orig", None), sqlite3.Error):
        # the driver could not decode what the database file holds
        return _DAMAGED_DATABASE
    if not code and isinstance(error, OperationalError | InterfaceError):
        return _LOST_CONNECTION
    if isinstance(error, PoolTimeout):
        return _BUSY_LEDGER
    return next(
        (words for words, signs in _ERROR_CODES.items() if code.startswith(signs)),
        _BROKEN_DATABASE,
    )


def _error_code(error: SQLAlchemyError | OSError) -> str:
    if isinstance(error, OSError):
        return errno.errorcode.get(error.errno or 0, "")
    cause = getattr(error, "orig", None)
    return (
        getattr(cause, "sqlstate", None)
        or getattr(cause, "sqlite_errorname", None)
        or ""
    )
