"""Connected sources on the Data page: cards, and a look at the first rows of one."""

import streamlit as st

from dpcore.curator import Curator
from dpcore.errors import unknown_name_error
from dpcore.schema.source import Source, SourceKind
from workbench import session
from workbench.language.messages import _, translate
from workbench.language.wording import escape_markdown
from workbench.server.workers.callbacks import report_rows
from workbench.session import person
from workbench.session.draft import Draft, SourceDraft
from workbench.store.settings import read_settings
from workbench.store.sources.files import all_sources
from workbench.store.sources.sources import ListedSource, sources_of
from workbench.ui import progress_view, widgets
from workbench.upload import opening

FIRST_ROWS = 1_000  # rows of a source that are shown before it is opened


@widgets.catch_and_show_errors()
def show_cards() -> None:
    """Show one card per connected source of this person."""
    listed = _list_sources()
    if not listed:
        return
    st.header(_("Connected sources"))
    for entry in listed:
        with st.container(border=True):
            st.markdown(f"**{escape_markdown(entry.source.name)}**")
            kind = translate(SourceKind.of_kind(entry.source.kind).title)
            st.caption(
                _(
                    "{kind}. The data stays where it is. Everything that is spent "
                    "on it is charged to one account. {rows}"
                ).format(kind=kind, rows=rows_words(entry.source))
            )
            st.button(
                _("Show its first rows"),
                key=f"source-{entry.source.name}",
                on_click=take_source,
                args=(entry.source.name,),
            )


def _list_sources() -> tuple[ListedSource, ...]:
    return sources_of(person.person(), all_sources(read_settings()))


def rows_words(source: Source) -> str:
    """Return a sentence on why each row belongs to one person."""
    if not source.declared_by:
        return _(
            "Each row is computed from the rows of one person only; the rows of "
            "other people do not affect it."
        )
    return _(
        "{name} declared that each row comes from one person; this is not checked."
    ).format(
        name=escape_markdown(source.declared_by, max_length=80),
    )


def take_source(name: str) -> None:
    """Read the first rows of a source, and make a draft of it."""
    with session.keep_error(opening.NOTICE):
        listed = next(
            (entry for entry in _list_sources() if entry.source.name == name), None
        )
        if listed is None:
            raise unknown_name_error()
        with progress_view.show_rows_read(_("Reading the rows"), key="stop-looking"):
            frame = Curator.look(listed.source, FIRST_ROWS, report_rows).frame
        schema = listed.read_schema()
        opening.take_rows_of(listed.source, frame, schema)


def say_which_rows(draft: Draft) -> None:
    """Say that the first rows of a source are shown."""
    if isinstance(draft, SourceDraft):
        st.info(
            _(
                "You see the first {rows:,} rows of a connected source, which are "
                "not a random sample. Values outside the declaration are counted in "
                "these rows only. Once the source is open, all rows are used."
            ).format(rows=len(draft.frame)),
            icon=":material/database:",
        )
