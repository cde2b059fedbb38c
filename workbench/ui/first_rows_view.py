"""Let a person use the first rows of a source if not all rows fit into memory."""

import contextlib

import streamlit as st
from streamlit.errors import StreamlitDuplicateElementKey

from dpcore.evaluation.first_rows import FIRST_ROWS
from workbench import session
from workbench.language.messages import _

_REDRAW_SECONDS = 0.3


def offer_first_rows() -> None:
    """Offer to use the first rows if not all rows fit into memory."""
    if not session.session().uses_first_rows:
        _show_switch_button(
            _("Use the first {rows:,} rows instead").format(rows=FIRST_ROWS),
            to_first=True,
        )


def first_rows_words() -> str:
    """Return the sentence about the first rows; empty if all rows are used."""
    return (
        _(
            "Results that need rows use the first {rows:,} rows of the source."
            " These are not a random sample. Only counts use all rows."
        ).format(rows=FIRST_ROWS)
        if session.session().uses_first_rows
        else ""
    )


def show_first_rows_note() -> None:
    """Warn that figures use only the first rows, and offer to use all rows again."""
    if words := first_rows_words():
        st.warning(words, icon=":material/vertical_align_top:")
        _show_switch_button(_("Use all rows again"), to_first=False)


def _show_switch_button(label: str, *, to_first: bool) -> None:
    # the page may call this twice; one button is enough
    with contextlib.suppress(StreamlitDuplicateElementKey):
        st.button(
            label,
            key="first-rows",
            icon=":material/vertical_align_top:",
            on_click=session.session().use_first_rows,
            args=(to_first,),
        )
