"""The log, without ids of sessions and without the words of exceptions."""

from __future__ import annotations

import logging
import re
import sys

_SESSION = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class _Careful(logging.Formatter):
    """One line per event, with the type alone of an exception, as the rest of it may hold values."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        text = _SESSION.sub("-", record.getMessage()).replace("\n", " ")
        ending = f" [{type(error).__name__}]" if error else ""
        return f"{self.formatTime(record)} {record.levelname} {record.name}: {text}{ending}"


def set_up(level: str) -> None:
    """Send all that this program and its servers say to the standard error output, carefully."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Careful())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("workbench").setLevel(level.upper())
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    for name in [*logging.root.manager.loggerDict]:
        if name.startswith("streamlit") or name == "uvicorn.error":
            logger = logging.getLogger(name)
            logger.handlers.clear()
            logger.propagate = True
