"""The one field for files: a demo has none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from dpcore.release import Release
from workbench import person, reading, session
from workbench.ui.language import _
from workbench.ui.wording import number, plain


def file_uploader(label: str, **options: Any) -> UploadedFile | None:
    """`st.file_uploader`; where files are not taken, a sentence instead."""
    file: UploadedFile | None = None if _refused() else st.file_uploader(label, **options)
    return file


def file_uploaders(label: str, **options: Any) -> list[UploadedFile]:
    """The same for several files."""
    return [] if _refused() else st.file_uploader(label, accept_multiple_files=True, **options)


def release_in(file: UploadedFile) -> Release:
    """The release of a file, read once. Raises: ReadError, LimitError."""
    return session.kept(("release file", file.file_id), lambda: reading.read_release(file.getvalue()))


def _refused() -> bool:
    if person.is_demo():
        st.caption(_("This is a demo: it takes no files. Start the workbench on your own computer for that."))
    return person.is_demo()


def demo_notice() -> None:
    """What a visitor of a demo has to know, on the first page."""
    if person.is_demo():
        st.info(
            _(
                "This is a demo with invented tables. It takes no files, each browser has budgets of its "
                "own, and nothing is kept: links, releases and budgets are gone when the server starts again."
            ),
            icon=":material/info:",
        )


@contextmanager
def being_read(name: str, size: int) -> Iterator[None]:
    """Say that a file is being read, and for how long already: large ones take half a minute (D17)."""
    words = _("Reading {name}, {size} MB; numbers, dates and identifiers are recognized on the way")
    with st.spinner(words.format(name=plain(name, at_most=80), size=number(size / 1e6)), show_time=True):
        yield
