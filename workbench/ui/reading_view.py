"""What was read from a file: one line with a fold, before any verdict about it."""

import streamlit as st

from workbench import session
from workbench.language.messages import _
from workbench.language.wording import plain
from workbench.session.draft import FileDraft
from workbench.ui.reading_words import reading_sentences


def sentences() -> list[str]:
    """Return what was read of the draft, or of the open data set's file."""
    tab = session.session()
    draft = tab.draft
    if isinstance(draft, FileDraft) and draft.read is not None:
        read = draft.read
        return reading_sentences(read.options, read.notes, len(draft.frame.columns))
    declaration = tab.data_set.declaration if tab.data_set is not None else None
    if draft is not None or declaration is None or declaration.reading is None:
        return []
    return reading_sentences(declaration.reading)


def show_reading() -> None:
    """Show one line with the most important facts, and the rest in a fold."""
    said = sentences()
    if not said:
        return
    with st.expander(plain(said[0], at_most=200)):
        for sentence in said[1:]:
            st.caption(plain(sentence, at_most=300))
        st.caption(_("All of it can be changed on the Data page."))
