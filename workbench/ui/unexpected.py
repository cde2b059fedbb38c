"""Handle unexpected exceptions: show a sentence with an id, and log a line.

Streamlit would log its words and lines of code, which may hold values of the table, and
show an error page of its own. `install` puts this in its place, for pages, callbacks
and fragments alike, under every way of starting. Runs in threads of ours hand their
exceptions to `error_box`, which comes here too.
"""

import logging
import secrets
import traceback
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime import fragment
from streamlit.runtime.scriptrunner import exec_code

from dpcore.errors import DisclosureError, DpcoreError, UsageError
from workbench.language.messages import _, name_and_text
from workbench.language.wording import error_words, escape_markdown
from workbench.server.workers.process import WorkEnded

_ROOT = Path(__file__).resolve().parents[2]
_log = logging.getLogger("workbench.unexpected")


def install() -> None:
    """Replace Streamlit's own handling of exceptions.

    Once per process is enough; more do no harm.
    """
    for module in (exec_code, fragment):
        module.handle_user_script_exception = _handle  # type: ignore[attr-defined]


def log_exception(error: BaseException) -> str:
    """Log the place and type of an exception, not its text; return the line's id."""
    number = secrets.token_hex(4)
    elsewhere = f"{error.where} < " if isinstance(error, WorkEnded) else ""
    _log.error(
        "%s: %s%s at %s",
        number,
        elsewhere,
        type(error).__name__,
        _describe_traceback(error),
    )
    return number


def show_error(error: BaseException) -> None:
    """Show an error, after the file that it notes; if it was not foreseen, only its id."""
    if isinstance(error, DpcoreError) and not isinstance(
        error, (DisclosureError, UsageError)
    ):
        problem, remedy = error_words(error)
        text = escape_markdown(problem, max_length=600)
        for file in getattr(error, "__notes__", ()):
            text = name_and_text(f"**{escape_markdown(file, max_length=200)}**", text)
        if remedy:
            text += (
                f"  \n**{_('What to do:')}** {escape_markdown(remedy, max_length=600)}"
            )
        st.error(text, icon=":material/error:")
        return
    st.error(
        _(
            "An unexpected error occurred. The server's log lists it as {id}, "
            "without any value of your table.  \n**What to do:** Continue with "
            "another step or page: open tables and paid releases are kept. If it "
            "happens again, report it with this id.",
        ).format(id=f"`{log_exception(error)}`"),
        icon=":material/error:",
    )


def _handle(error: Exception, _: Any = None) -> None:
    try:
        show_error(error)
    except Exception as second:  # the page is no longer there
        log_exception(second)


def _describe_traceback(error: BaseException) -> str:
    """Return our modules and line numbers in the traceback of an exception."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [
        frame
        for frame in frames
        if Path(frame.filename).is_relative_to(_ROOT) and ".venv" not in frame.filename
    ]
    last = frames[-1:] if frames and frames[-1] not in ours else []
    return " < ".join(
        f"{Path(frame.filename).stem}:{frame.lineno}"
        for frame in reversed([*ours[-6:], *last])
    )
