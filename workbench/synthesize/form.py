"""Choice of the kind of release and of the part of the table that it covers."""

import streamlit as st

from dpcore.curator import Curator
from dpcore.schema.origin import Origin
from workbench import session
from workbench.language.labels import cell_labels
from workbench.language.messages import _, capital, name_and_text
from workbench.language.textbook_names import TEXTBOOK_NAMES, textbook_names
from workbench.language.wording import escape_markdown
from workbench.synthesize import learning_form, table_form  # noqa: F401 - the forms register themselves
from workbench.synthesize.recipe_form import RecipeForm
from workbench.synthesize.state import SynthesizeState, choose_kind, planning_curator
from workbench.ui import epsilon_view


def choose_card() -> type[RecipeForm]:
    """Show the kinds of releases; return the chosen one."""
    kinds = RecipeForm.kinds()
    current = session.own(SynthesizeState).kind
    with st.container(horizontal=True, gap="small"):
        for kind, card in kinds.items():
            st.button(
                _(card.title),
                icon=f":material/{card.icon}:",
                key=f"kind-{kind}",
                type="secondary" if kind == current else "tertiary",
                on_click=choose_kind,
                args=(kind,),
            )
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
    key = f"part-{curator.account.dataset}"
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
        RecipeForm.of_kind(note.kind).fill_in(names, dataset)
