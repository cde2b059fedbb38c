"""Data: read a table, say who is protected and what is publicly known, set the budget, open it."""

import streamlit as st

from workbench import session
from workbench.session import person
from workbench.session.draft import Draft
from workbench.ui import file_view, widgets
from workbench.ui.language import _, said
from workbench.ui.wording import plain
from workbench.upload import doors_view, form, opening, reading, source_view, unit_view, ways_view

tab = session.session()


def describe(draft: Draft) -> None:
    st.title(plain(draft.name))
    st.write(
        _("{rows:,} rows and {columns} columns were read.").format(
            rows=len(draft.frame), columns=len(draft.frame.columns)
        )
    )
    source_view.say_which_rows(draft)
    for note in draft.notes:
        st.caption(plain(said(note), at_most=300))
    reading.show_reading(draft)
    with st.container(horizontal=True):
        if st.button(_("Audit it first: is it anonymous?"), icon=":material/policy:"):
            st.switch_page("pages/audit.py")
        st.button(_("Choose another table"), on_click=opening.choose_table, args=(True,))
    with st.expander(_("Show the first rows (private)")):
        widgets.internal_badge()
        widgets.show_rows(draft.frame.head(20))
    with st.expander(_("Declare it by a codebook that was saved earlier")):
        file_view.file_uploader(
            _("A codebook, as JSON"),
            type=["json"],
            key=session.file_field(opening.CODEBOOK).key,
            on_change=opening.take_codebook,
        )


steward = person.is_steward()
if steward:
    opening.take_brought()
if (wanted := session.take(session.GoTo)) is not None:  # also back here, with the header of now
    st.switch_page(f"pages/{wanted.page}.py")
notice = tab.notices.get(opening.NOTICE)
if notice is not None:
    widgets.error_box(notice)
if tab.draft is not None:
    describe(tab.draft)
    unit = unit_view.ask_unit(tab.draft)
    schema = form.ask_schema(tab.draft, unit) if unit else None
    budget = form.ask_budget(tab.draft) if unit else None
    ready = schema is not None and budget is not None
    st.button(
        _("Open the data set"),
        type="primary",
        disabled=not ready,
        on_click=opening.open_draft,
        args=(tab.draft, schema, budget),
    )
    if not ready:
        st.caption(_("It can be opened once the points above are settled."))
elif tab.data_set is not None and not tab.choosing and notice is None:
    ways_view.show(tab.data_set, steward=steward)
elif steward:
    doors_view.show()
else:
    ways_view.shown_to_me()
