"""The one field for files: a demo has none."""

import mimetypes
from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from dpcore.io.options import ReadOptions
from dpcore.release import Release
from workbench import session
from workbench.language.messages import N_, _
from workbench.language.wording import number, plain
from workbench.server.workers import reading
from workbench.server.workers.callbacks import cancelled_by
from workbench.server.workers.reading import TableFile
from workbench.session import person
from workbench.store.settings import read_settings
from workbench.ui import progress_view

MESSAGES = {
    "until database": N_(
        "The disk of this host does not last, and a ledger that is lost forgets what "
        "was spent. To open tables of your own here, whoever runs it sets "
        "DATABASE_URL, a PostgreSQL database that lasts, and WORKBENCH_KEY."
    ),
}
_GUESSED = ReadOptions()


def file_uploader(label: str, **options: Any) -> UploadedFile | None:
    """Show `st.file_uploader`, or a sentence where files are not taken."""
    file: UploadedFile | None = (
        None if _refused() else st.file_uploader(label, **options)
    )
    return file


def file_uploaders(label: str, **options: Any) -> list[UploadedFile]:
    """Show the same field for several files."""
    return (
        []
        if _refused()
        else st.file_uploader(label, accept_multiple_files=True, **options)
    )


Content = str | bytes
"""Of a file that is offered."""


def download(
    label: str,
    data: Content | Callable[[], Content],
    name: str,
    *,
    icon: str = "download",
    **options: Any,
) -> None:
    """Offer a file, whose download draws no page anew.

    Args:
        label: of the button.
        data: its content, or what makes it when it is fetched.
        name: of the file; its ending says of what type it is.
        icon: a Material Symbol.
        options: the key and the help of the button.
    """
    kind, _encoding = mimetypes.guess_type(name)
    st.download_button(
        label, data, name, kind, on_click="ignore", icon=f":material/{icon}:", **options
    )


def release_in(file: UploadedFile) -> Release:
    """Read the release of a file, once.

    Raises: ReadError, LimitError.
    """
    return session.kept(
        ("release file", file.file_id), lambda: reading.read_release(file.getvalue())
    )


def _refused() -> bool:
    if person.is_demo():
        st.caption(
            _(
                "This is a demo: it takes no files. Start the workbench on your own "
                "computer for that."
            )
        )
    return person.is_demo()


def demo_notice() -> None:
    """Show what a visitor of a demo has to know, on the first page."""
    if person.is_demo():
        until_database = (
            f" {_(MESSAGES['until database'])}"
            if read_settings().until_database
            else ""
        )
        st.info(
            _(
                "This is a demo with invented tables. It takes no files, each "
                "browser has its own budgets, and nothing is kept: links, releases "
                "and budgets are gone when the server starts again."
            )
            + until_database,
            icon=":material/info:",
        )


def read(
    data: bytes,
    name: str,
    *,
    notice: str,
    key: bytes | None = None,
    options: ReadOptions = _GUESSED,
) -> TableFile | None:
    """Read a table from a file with a bar on the page; None, and a notice, where that
    fails or is stopped.

    Args:
        data: bytes of the file.
        name: of the file.
        notice: page or field among the notices of the session that shows what went
            wrong.
        key: of the ledger, for the fingerprint; None where the table is not to be
            opened.
        options: how the file is read.
    """
    notices = session.session().notices
    notices[notice] = reading.interrupted_error()  # until it has been read
    title = _("Reading {name}, {size} MB").format(
        name=plain(name, at_most=80), size=number(len(data) / 1e6)
    )
    file = None
    waits = dict[str, str]()

    def on_place(place: int) -> None:
        waits["line"] = _("Other runs go first: place {place} in line.").format(
            place=place
        )
        tell("line", 0.0)

    try:
        with (
            session.noticing(notice),
            cancelled_by(session.unwanted()),
            progress_view.told(title, waits, key="stop-reading") as tell,
        ):
            file = reading.read(
                data,
                name,
                key=key,
                on_progress=tell,
                on_place=on_place,
                options=options,
            )
            del notices[notice]
    finally:
        session.drop_uploads()
    return file
