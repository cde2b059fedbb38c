"""Data: read a table, say who is protected and what is publicly known, set the budget, open it."""

import streamlit as st

from dpcore.curator import Curator
from workbench import session
from workbench.drafts import Draft
from workbench.ui import file_view, widgets
from workbench.ui.language import _, said
from workbench.ui.wording import SAMPLE_LINES, SAMPLE_TITLES, plain
from workbench.upload import form, opening, reading

held = session.session()


def choose_table() -> None:
    if held.curator is not None:
        st.button(
            _("Back to {name}").format(name=plain(held.curator.name)),
            icon=":material/arrow_back:",
            on_click=opening.stay,
        )
    st.title(_("Share something from a table of personal data"))
    st.write(
        _(
            "Open a table, say what is public about it, and release counts or a synthetic table "
            "whose privacy loss is on file. Start with an invented sample, or with your own table."
        )
    )
    file_view.demo_notice()
    for column, sample in zip(st.columns(len(opening.SAMPLES)), opening.SAMPLES.values(), strict=True):
        with column.container(border=True, height="stretch"):
            st.subheader(SAMPLE_TITLES[sample.key])
            st.write(SAMPLE_LINES[sample.key])
            st.button(
                _("Open this sample"),
                key=f"sample-{sample.key}",
                on_click=opening.take_sample,
                args=(sample.key,),
            )
    file_view.file_uploader(
        _("Or drop your own table here: CSV, TSV or Parquet, at most 50 MB, 2,000,000 rows, 1,000 columns"),
        type=["csv", "tsv", "txt", "data", "parquet"],
        key=session.uploader().key,
        on_change=opening.take_upload,
    )
    st.caption(
        _(
            "The table stays in the memory of this server while this tab is open, and may stay a "
            "while after. This program does not write it to disk."
        )
    )


def describe(draft: Draft) -> None:
    st.title(plain(draft.name))
    st.write(
        _("{rows:,} rows and {columns} columns were read.").format(
            rows=len(draft.frame), columns=len(draft.frame.columns)
        )
    )
    for note in draft.notes:
        st.caption(plain(said(note), at_most=300))
    reading.show_reading(draft)
    with st.expander(_("Look at the first rows (private)")):
        widgets.internal_badge()
        st.dataframe(draft.frame.head(20), hide_index=True)
    st.button(_("Choose another table"), on_click=opening.drop_draft)


def next_steps(curator: Curator) -> None:
    st.title(_("What you can do now"))
    st.success(
        _("The data set is open. What is computed from its rows now goes through the ledger."),
        icon=":material/lock:",
    )
    for column, (kind, label, text) in zip(st.columns(3), opening.steps(curator), strict=True):
        with column.container(border=True, height="stretch"):
            if st.button(
                label,
                key=f"step-{kind}",
                icon=":material/arrow_forward:",
                on_click=opening.plan,
                args=(kind,),
            ):
                st.switch_page("pages/synthesize.py")
            st.write(text)
    with st.container(horizontal=True):
        st.button(_("Open another table"), on_click=opening.another)
        st.download_button(
            _("Save what is publicly known, as JSON"),
            curator.schema.to_json(),
            "schema.json",
            on_click="ignore",
            icon=":material/download:",
        )


opening.take_wanted_sample()
notice = held.notices.get("upload")
if notice is not None:
    widgets.error_box(notice)
if held.draft is not None:
    describe(held.draft)
    unit = form.ask_unit(held.draft)
    schema = form.ask_schema(held.draft, unit)
    budget = form.ask_budget(held.draft)
    ready = schema is not None and budget is not None
    st.button(
        _("Open the data set"),
        type="primary",
        disabled=not ready,
        on_click=opening.open_draft,
        args=(held.draft, schema, budget),
    )
    if not ready:
        st.caption(_("It can be opened once the points above are settled."))
elif held.curator is not None and not held.choosing and notice is None:
    next_steps(held.curator)
else:
    choose_table()
