"""Callbacks of a thread that waits for long work: cancel, and report rows read."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dpcore.errors import DpcoreError

CancelPoll = Callable[[], bool]
RowsCallback = Callable[[int], object]


class StoppedError(DpcoreError):
    """Error of work that was cancelled before its end."""


class _Callbacks(threading.local):
    polls: tuple[CancelPoll, ...] = ()
    reports: tuple[RowsCallback, ...] = ()


_callbacks = _Callbacks()


def cancelled_error() -> StoppedError:
    """Return the error of cancelled work."""
    return StoppedError(
        "this was stopped before it was finished",
        remedy="start it again if you still want it",
    )


def check_cancelled() -> None:
    """Raise an error if this thread's work was cancelled.

    Raises: StoppedError; what a poll raises.
    """
    if any(poll() for poll in _callbacks.polls):
        raise cancelled_error()


def report_rows(rows: int) -> None:
    """Report how many rows a pass over a source has read.

    Raises: as `check_cancelled`, which ends the pass; what a callback raises.
    """
    for report in _callbacks.reports:
        report(rows)
    check_cancelled()


@contextmanager
def cancelled_by(poll: CancelPoll) -> Iterator[None]:
    """Cancel long work of the block once `poll` returns True."""
    before = _callbacks.polls
    _callbacks.polls = (*before, poll)
    try:
        yield
    finally:
        _callbacks.polls = before


@contextmanager
def rows_reported_to(report: RowsCallback) -> Iterator[None]:
    """Call `report` with the number of rows read by each pass in this block."""
    before = _callbacks.reports
    _callbacks.reports = (*before, report)
    try:
        yield
    finally:
        _callbacks.reports = before
