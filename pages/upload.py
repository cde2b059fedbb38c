"""Data: read a table, say who is protected and what is publicly known, set the budget, open it."""

import streamlit as st

from workbench import session
from workbench.session import person
from workbench.session.draft import Draft
from workbench.ui import data_sets_view, file_view, reopening, widgets
from workbench.ui.language import _, said
from workbench.ui.wording import SAMPLE_LINES, SAMPLE_TITLES, plain
from workbench.upload import form, opening, reading, source_view, unit_view, ways_view

tab = session.session()


def choose_table() -> None:
    if tab.data_set is not None:
        st.button(
            _("Back to {name}").format(name=plain(tab.data_set.name)),
            icon=":material/arrow_back:",
            on_click=opening.choose_table,
            args=(False,),
        )
    if tab.declaring is not None and tab.data_set is not None:
        st.title(_("Declare {name} anew").format(name=plain(tab.data_set.name)))
        st.write(_("Bring its file: what was declared is filled in, and can be changed."))
    else:
        st.title(_("Share something from a table of personal data"))
        st.write(
            _(
                "Open a table, say what is public about it, and release counts or a synthetic table "
                "whose privacy loss is on file. Start with an invented sample, or with your own table."
            )
        )
    file_view.demo_notice()
    for column, sample in zip(st.columns(len(reopening.SAMPLES)), reopening.SAMPLES.values(), strict=True):
        title = SAMPLE_TITLES[sample.key]
        with column.container(border=True, height="stretch"):
            st.subheader(title)
            st.write(SAMPLE_LINES[sample.key])
            st.button(
                _("Open this sample: {title}").format(title=title),
                key=f"sample-{sample.key}",
                on_click=opening.take_sample,
                args=(sample.key,),
            )
    source_view.show_cards()
    file_view.file_uploader(
        _(
            "Or drop your own table here: CSV, TSV, Parquet, Excel, SPSS, Stata or SAS, "
            "at most 50 MB, 2,000,000 rows, 1,000 columns"
        ),
        type=data_sets_view.ENDINGS,
        key=session.file_field(opening.NOTICE).key,
        on_change=opening.take_upload,
    )
    st.caption(
        _(
            "The file stays in the memory of this server until its table is opened or put aside, the table "
            "while this tab is open, and may stay a while after. This program writes neither to disk."
        )
    )
    if tab.declaring is None:
        data_sets_view.my_data_sets()


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
    opening.take_wanted_sample()
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
    choose_table()
else:
    ways_view.shown_to_me()
