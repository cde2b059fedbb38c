"""Connected sources on the Data page: cards, and a look at the first rows of one."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from dpcore.curator import Curator
from dpcore.errors import unknown_name_error
from dpcore.schema import Schema
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

TakeRows = Callable[[Source, pd.DataFrame, Schema | None], None]
SPARK = "spark"
"""Kind of the sources that cannot be linked."""
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


def take_source(name: str, take_rows: TakeRows = opening.take_rows_of) -> None:
    """Read the first rows of a source, and make a draft of it.

    Args:
        take_rows: called with the source, these rows, and its facts on file.
    """
    session.session().notices.pop(opening.NOTICE, None)
    with session.keep_error(opening.NOTICE):
        listed = next(
            (entry for entry in _list_sources() if entry.source.name == name), None
        )
        if listed is None:
            raise unknown_name_error()
        with progress_view.show_rows_read(_("Reading the rows"), key="stop-looking"):
            frame = Curator.look(listed.source, FIRST_ROWS, report_rows).frame
        take_rows(listed.source, frame, listed.read_schema())


def offer_second_source(first: Source, take_rows: TakeRows) -> None:
    """Offer the connected sources that can be linked with the first one.

    Args:
        take_rows: called with the chosen source, as by `take_source`.
    """
    if first.kind == SPARK:
        st.caption(
            _(
                "Tables of Spark are too large to be linked here: join them there, and "
                "open one table in which a person has several rows."
            )
        )
        return
    names = [
        entry.source.name
        for entry in _list_sources()
        if entry.source.name != first.name and entry.source.kind != SPARK
    ]
    if not names:
        st.caption(
            _("No other source is connected that could be linked with this one.")
        )
        return
    chosen = st.selectbox(
        _("The second source"),
        names,
        index=None,
        placeholder=_("Choose a connected source"),
        key=f"second-source-{first.name}",
        persist_state="session",
    )
    st.button(
        _("Link both"),
        disabled=chosen is None,
        on_click=take_source,
        args=(chosen, take_rows),
    )


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
