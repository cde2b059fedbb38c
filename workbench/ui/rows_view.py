"""Progress of passes over a source, with a button to stop them."""

import contextlib
import time
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.errors import StreamlitDuplicateElementKey

from dpcore.evaluation.first_rows import FIRST_ROWS
from workbench import session
from workbench.language.messages import _
from workbench.server.workers.callbacks import cancelled_by, rows_reported_to
from workbench.ui.progress_view import PATIENCE, stoppable

_EACH = 0.3


@contextmanager
def being_scanned(title: str, *, key: str) -> Iterator[None]:
    """Show what the block is at when it takes longer than a second.

    Any click ends it; nothing is lost then.

    Args:
        key: of the button that stops it.
    """
    place = st.empty()
    due = time.monotonic() + PATIENCE
    words = None

    def listen(rows: int) -> None:
        nonlocal due, words
        if time.monotonic() < due:
            return
        due = time.monotonic() + _EACH
        if words is None:
            words = stoppable(place, key=key)
        words.markdown(
            _("{title}: {rows:,} rows so far").format(title=title, rows=rows)
        )

    try:
        with cancelled_by(session.unwanted()), rows_reported_to(listen):
            yield
    finally:
        place.empty()


def offer_first_rows() -> None:
    """Offer to use the first rows, where all would be needed and do not fit."""
    if not session.session().on_first_rows:
        _switch(
            _("Use the first {rows:,} rows instead").format(rows=FIRST_ROWS),
            to_first=True,
        )


def first_rows_words() -> str:
    """Say which rows are used, where a person chose the first ones; empty where all
    are.
    """
    return (
        _(
            "Results that need rows use the first {rows:,} rows of the source, which "
            "are no random part of it. Only counts use all rows."
        ).format(rows=FIRST_ROWS)
        if session.session().on_first_rows
        else ""
    )


def say_first_rows() -> None:
    """Mark a page of figures about the first rows, with the way back."""
    if words := first_rows_words():
        st.warning(words, icon=":material/vertical_align_top:")
        _switch(_("Use all rows again"), to_first=False)


def _switch(label: str, *, to_first: bool) -> None:
    with contextlib.suppress(StreamlitDuplicateElementKey):  # once on a page is enough
        st.button(
            label,
            key="first-rows",
            icon=":material/vertical_align_top:",
            on_click=session.session().take_first_rows,
            args=(to_first,),
        )
