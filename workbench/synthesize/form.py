"""Choice of the kind of release and of the part of the table that it covers."""

import streamlit as st

from dpcore.curator import Curator
from dpcore.schema.origin import Origin
from workbench import session
from workbench.language.labels import cell_labels
from workbench.language.messages import N_, _, capital, name_and_text
from workbench.language.textbook_names import TEXTBOOK_NAMES, textbook_names
from workbench.language.wording import escape_markdown
from workbench.synthesize import learning_form, table_form  # noqa: F401 - the forms register themselves
from workbench.synthesize.recipe_form import RecipeForm
from workbench.synthesize.state import (
    choose_kind,
    chosen_kind,
    is_pair_planned,
    planned_linked,
    planning_curator,
)
from workbench.ui import epsilon_view, releases

LINKED_TEXT = N_(
    "Two made-up files: people, and events that each belong to one of them."
)


def choose_card() -> type[RecipeForm] | None:
    """Show the kinds of releases; return the chosen one.

    None for that of both linked tables, which has no recipe of its own.
    """
    kinds = RecipeForm.kinds()
    current = chosen_kind()
    cards = {kind: (card.title, card.icon) for kind, card in kinds.items()}
    if is_pair_planned():
        cards = {}
    if planned_linked() is not None:
        linked = {session.LINKED_KIND: (releases.LINKED_TITLE, "account_tree")}
        cards = linked | cards
    with st.container(horizontal=True, gap="small"):
        for kind, (title, icon) in cards.items():
            st.button(
                _(title),
                icon=f":material/{icon}:",
                key=f"kind-{kind}",
                type="secondary" if kind == current else "tertiary",
                on_click=choose_kind,
                args=(kind,),
            )
    if current == session.LINKED_KIND:
        st.caption("✓ " + _(LINKED_TEXT))
        return None
    st.caption("✓ " + _(kinds[current].text))
    if current in TEXTBOOK_NAMES:
        st.caption(textbook_names(current))
    return kinds[current]


def choose_part(curator: Curator) -> dict[str, str]:
    """Ask for a part of the table; return {column: category}, or {} for all rows."""
    columns = [column for column in curator.schema.columns if column.has_labels]
    names = [column.name for column in columns if column.values_origin != Origin.DATA]
    if not names:
        return {}
    key = f"part-{session.table_key(curator)}"
    with st.expander(_("Only rows with")):
        name = st.selectbox(
            capital("column"), names, index=None, key=key, persist_state="session"
        )
        if name is None:
            return {}
        column = curator.schema.column(name)
        label = st.selectbox(
            name_and_text(_("Only rows with"), escape_markdown(name)),
            column.labels,
            key=f"{key}-{name}",
            format_func=dict(
                zip(column.labels, cell_labels(column), strict=True)
            ).__getitem__,
            persist_state="session",
        )
        st.caption(
            _("A release of one part costs as much as a release of all rows.")
            if curator.account.source
            else _(
                "Nobody belongs to two parts, so releasing every part of a column "
                "costs only as much as the most expensive part."
            )
        )
    return {name: label}


def plan_from_note() -> None:
    """Plan the release that another page proposed in a note, if there is one."""
    note = session.take_note(session.PlanRelease)
    curator = planning_curator() or session.session().curator
    if note is None:
        return
    session.session().runs.show(None)
    choose_kind(note.kind)
    if note.epsilon is not None and curator is not None:
        dataset = curator.account.dataset
        left = epsilon_view.remaining_epsilon(curator)
        epsilon_view.number_field(f"loss-{dataset}").put(
            min(note.epsilon, left) or note.epsilon
        )
        names = list(note.columns or curator.schema.domain.names)
        table = session.table_key(curator)
        RecipeForm.of_kind(note.kind).fill_in(names, table)
