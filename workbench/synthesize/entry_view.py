"""Form for listing a release in the public registry of deployments."""

import streamlit as st

from dpcore.release import Release
from workbench.language.messages import _, join_with_commas
from workbench.report.deployment import (
    ENTRY_FIELDS,
    MAX_FIELD_CHARACTERS,
    deployment_entry,
    missing_fields,
    to_yaml,
)
from workbench.report.files import release_file
from workbench.ui import file_view, widgets

_LONG_FIELDS = ("data_curators", "intended_use", "justification", "registry_authors")


def show(name: str, release: Release) -> None:
    """Ask for the fields that a release cannot fill in, and offer the entry as a file.

    Args:
        name: public name of the data set.
        release: what the entry is about.
    """
    title = _("List this release in a public registry")
    with widgets.fold(title, key="deployment-entry") as is_open:
        if not is_open:
            return
        st.write(
            _(
                "Public registries list what was released with differential privacy "
                "and what each release promises. The release fills in its promise. "
                "Only you can fill in these seven fields; the entry states nothing "
                "else."
            )
        )
        typed = {field: _ask_field(field, release) for field in ENTRY_FIELDS}
        missing = missing_fields(typed)
        if missing:
            st.caption(
                _("Still empty: {fields}").format(
                    fields=join_with_commas(_(ENTRY_FIELDS[field]) for field in missing)
                )
            )
        file_view.download(
            _("Deployment entry (YAML)"),
            "" if missing else lambda: to_yaml(deployment_entry(release, typed)),
            release_file(name, release, "deployment", "yaml"),
            icon="assignment",
            disabled=bool(missing),
            key="deployment-entry-file",
        )


def _ask_field(field: str, release: Release) -> str:
    """Ask for one field and return its text; a date is returned in ISO format."""
    title = _(ENTRY_FIELDS[field])
    key = f"entry-{field}-{release.request_id}"
    if field == "publication_date":
        day = st.date_input(title, None, key=key, persist_state="session")
        return "" if day is None else day.isoformat()
    ask = st.text_area if field in _LONG_FIELDS else st.text_input
    text: str = ask(
        title, max_chars=MAX_FIELD_CHARACTERS, key=key, persist_state="session"
    )
    return text
