"""The one field for files: a demo has none."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from workbench import session
from workbench.ui.language import _


def file_uploader(label: str, **options: Any) -> UploadedFile | None:
    """`st.file_uploader`; where files are not taken, a sentence instead."""
    if not session.is_demo():
        file: UploadedFile | None = st.file_uploader(label, **options)
        return file
    st.caption(_("This is a demo: it takes no files. Start the workbench on your own computer for that."))
    return None


def demo_notice() -> None:
    """What a visitor of a demo has to know, on the first page."""
    if session.is_demo():
        st.info(
            _(
                "This is a demo with invented tables. It takes no files, each browser has budgets of its "
                "own, and nothing is kept: links, releases and budgets are gone when the server starts again."
            ),
            icon=":material/info:",
        )
