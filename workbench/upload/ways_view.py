"""Next steps with a data set on file."""

import streamlit as st

from workbench import session
from workbench.language.messages import N_, _
from workbench.language.wording import escape_markdown
from workbench.store.ledger.datasets import DataSet
from workbench.ui import data_sets_view
from workbench.upload import opening

MAX_COLUMNS_HISTOGRAM = (
    6  # columns up to which a histogram is proposed instead of a table
)
STEP_TITLES = {
    "audit": N_("Audit: is it anonymous?"),
    "anonymize": N_("Anonymize the table"),
    "histogram": N_("Release a histogram"),
    "table": N_("Make a synthetic table"),
    session.LINKED_KIND: N_("Make two synthetic files: people and events"),
}


def show_analyst_page() -> None:
    """Show the first page of an analyst."""
    st.title(_("Releases that others show you"))
    if not data_sets_view.list_data_sets():
        st.info(
            _(
                "Nothing is shown to you yet. Ask a steward to enter your address "
                "on the Ledger page."
            )
        )


def show(data_set: DataSet, *, steward: bool) -> None:
    """Show the next steps with a data set, and its releases."""
    st.title(_("What you can do now") if steward else escape_markdown(data_set.name))
    if steward:
        _offer_next_steps(data_set)
    else:
        st.button(_("Open another table"), on_click=opening.choose_table, args=(True,))
    data_sets_view.list_earlier_releases(data_set)


def _offer_next_steps(data_set: DataSet) -> None:
    tab = session.session()
    if tab.curator is not None:
        st.success(
            _(
                "The data set is open. From now on, everything that is computed "
                "from its rows is recorded in the ledger."
            ),
            icon=":material/lock:",
        )
    columns = data_set.declaration.schema.columns if data_set.declaration else ()
    release = "table" if len(columns) > MAX_COLUMNS_HISTOGRAM else "histogram"
    if data_set.is_linked:
        release = session.LINKED_KIND
    steps = ["audit", "anonymize", release]
    with st.container(horizontal=True):
        for step in steps:
            if st.button(
                _(STEP_TITLES[step]),
                key=f"step-{step}",
                icon=":material/arrow_forward:",
            ):
                if step == release:
                    session.leave_note(session.PlanRelease(kind=step))
                st.switch_page(
                    session.page_script("synthesize" if step == release else step)
                )
    with st.container(horizontal=True):
        st.page_link(
            session.page_script("codebook"),
            label=_("What is publicly known"),
            icon=":material/menu_book:",
        )
        st.button(_("Open another table"), on_click=opening.choose_table, args=(True,))
    if tab.curator is None:
        data_sets_view.ask_for_rows(data_set)
    elif _may_have_second_file(data_set):
        with st.expander(_("The same people have rows in a second file?")):
            st.write(
                _(
                    "Both files are then protected together, under a budget of their "
                    "own. What this data set spent about these people stays spent."
                )
            )
            data_sets_view.ask_for_pair(
                _("Drop {name} and the second file here, both at once").format(
                    name=escape_markdown(data_set.name)
                )
            )


def _may_have_second_file(data_set: DataSet) -> bool:
    declaration = data_set.declaration
    return (
        declaration is not None
        and declaration.linked is None
        and not declaration.sample
        and data_set.account.source is None
    )
