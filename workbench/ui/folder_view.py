"""Write tables of any size as folders of Parquet files, where the settings allow it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

from dpcore.errors import DpcoreError
from workbench import session
from workbench.language.messages import _, ngettext
from workbench.language.wording import escape_markdown
from workbench.session import person
from workbench.store.sources import places
from workbench.ui import progress_view, widgets


@dataclass(kw_only=True)
class FolderState(session.DataSetState):
    """Folders written in this tab.

    Attributes:
        written_folders: the name of each and its rows, by the field that named it.
    """

    written_folders: dict[str, tuple[str, int]] = field(default_factory=dict)


def offer_folder(
    label: str, name: str, write: Callable[[Path], int], *, key: str
) -> None:
    """Ask for the name of a new folder, and offer to write it.

    Nothing is shown if the settings name no place.

    Args:
        label: label of the button.
        name: proposed for the folder.
        write: writes a folder that is not there yet, all of it or nothing, and returns
            its rows.
        key: key of the widgets and of the notice.
    """
    if not places.can_write_tables() or not person.is_steward():
        return
    name_field = session.Widget[str](f"{key}-folder")
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    left.text_input(
        _("Name of the new folder"), folder_name(name), key=name_field.key, max_chars=80
    )
    right.button(
        label,
        key=f"{key}-write",
        icon=":material/create_new_folder:",
        on_click=_write_folder,
        args=(name_field, write, key),
    )
    widgets.show_notice(key)
    if written := session.own(FolderState).written_folders.get(key):
        st.success(
            ngettext(
                "{number:,} row is in the folder {name}.",
                "{number:,} rows are in the folder {name}.",
                written[1],
                name=escape_markdown(written[0]),
            )
        )


def folder_name(name: str) -> str:
    """Turn a name into a valid name of a folder."""
    return re.sub(r"[^A-Za-z0-9 ._-]+", "-", name).lstrip(" ._-")[:80] or "table"


def _write_folder(
    name_field: session.Widget[str], write: Callable[[Path], int], key: str
) -> None:
    tab = session.session()
    folders = session.own(FolderState).written_folders
    name = (name_field.current_value() or "").strip()
    folders.pop(key, None)
    try:
        place = places.new_folder_path(name)
        with progress_view.show_rows_read(
            _("Writing {name}").format(name=escape_markdown(name)), key=f"{key}-stop"
        ):
            folders[key] = (name, write(place))
    except DpcoreError as error:
        tab.notices[key] = error
