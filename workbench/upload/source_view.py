"""Connected sources on the Data page: cards, and a look at the first rows of one."""

import streamlit as st

from dpcore.curator import Curator
from dpcore.errors import nothing_named
from dpcore.schema.source import Source, SourceKind
from workbench import session
from workbench.language.messages import _, translate
from workbench.language.wording import plain
from workbench.server.workers.callbacks import report_rows
from workbench.session import person
from workbench.session.draft import Draft, SourceDraft
from workbench.store.settings import read_settings
from workbench.store.sources.files import all_sources
from workbench.store.sources.sources import Listed, sources_of
from workbench.ui import rows_view, widgets
from workbench.upload import opening

ROWS = 1_000
"""Rows that are looked at before a source is opened."""


@widgets.errors_shown()
def show_cards() -> None:
    """One card for each source that this person may open; nothing where there is
    none.
    """
    listed = _listed()
    if not listed:
        return
    st.subheader(_("Connected sources"))
    for each in listed:
        with st.container(border=True):
            st.markdown(f"**{plain(each.source.name)}**")
            kind = translate(SourceKind.of_kind(each.source.kind).title)
            st.caption(
                _(
                    "{kind}. It stays where it is; all that is ever spent on it is "
                    "one account. {rows}"
                ).format(kind=kind, rows=rows_words(each.source))
            )
            st.button(
                _("Show its first rows"),
                key=f"source-{each.source.name}",
                on_click=take_source,
                args=(each.source.name,),
            )


def _listed() -> tuple[Listed, ...]:
    return sources_of(person.person(), all_sources(read_settings()))


def rows_words(source: Source) -> str:
    """Say why a row is one person's."""
    if not source.declared_by:
        return _(
            "Each row comes from the rows of one person, whatever is in the others."
        )
    return _(
        "{name} declared that each row comes from one person; this is not checked."
    ).format(
        name=plain(source.declared_by, at_most=80),
    )


def take_source(name: str) -> None:
    """Read the first rows of a source as it is listed now, and put it on the way to
    being opened.
    """
    with session.noticing(opening.NOTICE):
        listed = next((each for each in _listed() if each.source.name == name), None)
        if listed is None:
            raise nothing_named()
        with rows_view.being_scanned(_("Reading the rows"), key="stop-looking"):
            frame = Curator.look(listed.source, ROWS, report_rows).frame
        schema = listed.read_schema()
        opening.take_rows_of(listed.source, frame, schema)


def say_which_rows(draft: Draft) -> None:
    """Mark what is shown of a source as the part that it is."""
    if isinstance(draft, SourceDraft):
        st.info(
            _(
                "This is a look at the first {rows:,} rows of a connected source, "
                "and no random part of it. Below, what falls outside is counted in "
                "these rows alone; once it is open, all rows count."
            ).format(rows=len(draft.frame)),
            icon=":material/database:",
        )
