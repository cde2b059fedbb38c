"""The log: short lines without session ids and without texts of exceptions."""

import logging
import re
import sys
import threading
import warnings
from collections import Counter
from typing import Any

MAX_LINES_PER_MINUTE = 600
"""Lines a minute of each logger and level."""
_SESSION_ID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
)
_log = logging.getLogger("workbench.program")


class _SafeFormatter(logging.Formatter):
    """Log formatter that writes one line per event, without values from data.

    An exception gives its type alone, since its message and lines of code may hold
    values. So may a library's message: the place in its code is logged instead.
    """

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        if record.name.startswith("workbench"):
            text = _SESSION_ID.sub("-", record.getMessage()).replace("\n", " ")
        else:
            text = f"at {record.module}:{record.lineno}"
        ending = f" [{type(error).__name__}]" if error else ""
        return (
            f"{self.formatTime(record)} {record.levelname} {record.name}: "
            f"{text}{ending}"
        )


class _RateLimitedHandler(logging.StreamHandler[Any]):
    """Log handler that limits the lines of each logger and level per minute."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self._minute = 0
        self._counts = Counter[tuple[str, int]]()

    def emit(self, record: logging.LogRecord) -> None:
        minute = int(record.created // 60)
        kind = (record.name, record.levelno)
        if minute != self._minute:
            self._minute = minute
            self._counts = Counter()
        self._counts[kind] += 1
        if self._counts[kind] <= MAX_LINES_PER_MINUTE:
            super().emit(record)
        elif self._counts[kind] == MAX_LINES_PER_MINUTE + 1:
            _log.warning(
                "too many lines of %s: no more of them in this minute", record.name
            )


def set_up(level: str) -> None:
    """Send the logs of this program and its libraries to standard error."""
    handler = _RateLimitedHandler()
    handler.setFormatter(_SafeFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    # remove the handlers that uvicorn and Streamlit install themselves
    for name in [*logging.root.manager.loggerDict]:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(logging.NOTSET)  # that of the root
    logging.getLogger("workbench").setLevel(level.upper())
    warnings.showwarning = lambda _words, kind, *_: _log.warning(
        "a library warns [%s]", kind.__name__
    )
    sys.excepthook = lambda _kind, error, _trace: _log.critical(
        "the program ended", exc_info=error
    )
    threading.excepthook = lambda ended: _log.error(
        "a thread ended", exc_info=ended.exc_value
    )
    sys.unraisablehook = lambda lost: _log.error(
        "an error was lost", exc_info=lost.exc_value
    )
