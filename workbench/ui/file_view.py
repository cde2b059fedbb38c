"""Upload and download of files; a demo accepts no uploads."""

import mimetypes
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from dpcore.io.options import ReadOptions
from dpcore.release import Release
from workbench import session
from workbench.language.messages import N_, _
from workbench.language.wording import escape_markdown, number
from workbench.server.workers import reading
from workbench.server.workers.callbacks import cancelled_by
from workbench.server.workers.reading import TableFile
from workbench.session import person
from workbench.store.people.opened_files import EarlierAccount
from workbench.store.settings import read_settings
from workbench.ui import progress_view, unexpected

FILE_ENDINGS = (
    "csv",
    "tsv",
    "txt",
    "data",
    "parquet",
    "xlsx",
    "xlsm",
    "xls",
    "ods",
    "sav",
    "zsav",
    "dta",
    "sas7bdat",
    "deid",
)

MESSAGES = {
    "until database": N_(
        "The disk of this host is not permanent, and a lost ledger forgets what was "
        "spent. Before you can open your own tables here, whoever runs the server "
        "has to set DATABASE_URL (a permanent PostgreSQL database) and "
        "WORKBENCH_KEY."
    ),
}
_GUESS_OPTIONS = ReadOptions()


def file_uploader(label: str, **options: Any) -> UploadedFile | None:
    """Show `st.file_uploader`, or in a demo a sentence that it accepts no files."""
    file: UploadedFile | None = (
        None if _refuse_files() else st.file_uploader(label, **options)
    )
    return file


def multiple_file_uploader(label: str, **options: Any) -> list[UploadedFile]:
    """Show an upload field for several files, or in a demo a sentence instead."""
    return (
        []
        if _refuse_files()
        else st.file_uploader(label, accept_multiple_files=True, **options)
    )


Content = str | bytes
"""Content of a file that is offered for download."""


def download(
    label: str,
    data: Content | Callable[[], Content],
    name: str,
    *,
    icon: str = "download",
    **options: Any,
) -> None:
    """Offer a file; its download does not rerun the page.

    Args:
        label: label of the button.
        data: the content, or a function that makes it when it is fetched.
        name: name of the file; its ending decides the type.
        icon: a Material Symbol.
        options: the key and the help of the button.
    """
    kind, _encoding = mimetypes.guess_type(name)
    st.download_button(
        label, data, name, kind, on_click="ignore", icon=f":material/{icon}:", **options
    )


def read_release_file(file: UploadedFile) -> Release:
    """Read the release in an uploaded file, once per session.

    Raises: ReadError, LimitError.
    """
    return session.compute_once(
        ("release file", file.file_id), lambda: reading.read_release(file.getvalue())
    )


def _refuse_files() -> bool:
    if person.is_demo():
        st.caption(
            _(
                "This is a demo, so you cannot upload files here. To use your own "
                "files, start the workbench on your own computer."
            )
        )
    return person.is_demo()


def show_demo_notice() -> None:
    """Tell visitors of a demo that it accepts no files and keeps nothing."""
    if person.is_demo():
        until_database = (
            f" {_(MESSAGES['until database'])}"
            if read_settings().is_demo_until_database
            else ""
        )
        st.info(
            _(
                "This is a demo with invented tables. You cannot upload files. Each "
                "browser has its own budgets. Nothing is kept: links, releases and "
                "budgets are gone when the server restarts."
            )
            + until_database,
            icon=":material/info:",
        )


def read_table(
    data: bytes,
    name: str,
    *,
    notice: str,
    key: bytes | None = None,
    options: ReadOptions = _GUESS_OPTIONS,
    earlier: Sequence[EarlierAccount] = (),
) -> TableFile | None:
    """Read a table from a file, and show a progress bar.

    None, with a notice, if that fails or is stopped.

    Args:
        data: bytes of the file.
        name: name of the file.
        notice: page or field among the notices of the session that shows what went
            wrong.
        key: key of the ledger, for the fingerprint; None if the table is not to be
            opened.
        options: how the file is read.
        earlier: accounts of earlier versions that may have been opened from it.
    """
    notices = session.session().notices
    # This notice stays if the reading is interrupted; it is removed when the reading is
    # done.
    notices[notice] = reading.interrupted_error()
    title = _("Reading {name}, {size} MB").format(
        name=escape_markdown(name, max_length=80), size=number(len(data) / 1e6)
    )
    file = None
    waits = dict[str, str]()

    def on_place(place: int) -> None:
        waits["line"] = _(
            "Other runs come first. Your place in the queue: {place}."
        ).format(place=place)
        tell("line", 0.0)

    try:
        with (
            session.keep_error(notice),
            cancelled_by(session.make_cancel_poll()),
            progress_view.show_progress(
                title, waits, key=f"stop-reading-{name}"
            ) as tell,
        ):
            file = reading.read(
                data,
                name,
                key=key,
                on_progress=tell,
                on_place=on_place,
                options=options,
                earlier_accounts=earlier,
            )
            del notices[notice]
    finally:
        session.drop_uploads()
    return file


def table_uploader(label: str, *, key: str) -> pd.DataFrame | None:
    """Ask for a second table, and read it once; None while there is none."""
    tab = session.session()
    if (table := tab.second_tables.get(key)) is not None:
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.markdown(
            f"{escape_markdown(label, max_length=200)}: **{escape_markdown(table[0], max_length=100)}**"
        )
        right.button(
            _("Remove"),
            key=f"{key}-remove",
            on_click=tab.drop_second_table,
            args=(key,),
        )
        return table[1]
    file = file_uploader(label, type=FILE_ENDINGS, key=session.file_field(key).key)
    if file is None:
        if key in tab.notices:
            unexpected.show_error(tab.notices[key])
        return None
    session.renew_file_fields()
    table_file = read_table(file.getvalue(), file.name, notice=key)
    if table_file is not None:
        tab.second_tables[key] = (file.name, table_file.table.frame)
    return st.rerun()
