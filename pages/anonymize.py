"""Anonymize page: choose roles, hierarchies and k, then make the table.

Syntactic: there is no epsilon here.
"""

import streamlit as st

from dpcore.anonymization.methods import Method
from dpcore.anonymization.plan import Plan
from workbench import session
from workbench.anonymize import (
    advice_view,
    demands_form,
    form,
    linked_view,
    outcomes,
    plans,
    state,
    view,
)
from workbench.language.messages import _, capital, translate
from workbench.language.textbook_names import textbook_names
from workbench.language.wording import escape_markdown
from workbench.ui import data_sets_view, widgets

st.title(_("Anonymize"))
linked = data_sets_view.linked_on_page()
if linked is not None:
    linked_view.show(linked)
    st.stop()
curator = data_sets_view.need_file()
tab = session.session()
page_state = state.anonymize_state(curator)
advice_note = session.take_note(session.TakeAdvice)
if advice_note is not None:
    advice_view.apply_advice(curator, page_state, advice_note)
plan_note = session.take_note(session.TakePlan)
if plan_note is not None:
    plans.apply_plan(curator, page_state, plan_note)
for sentence in page_state.notes:
    st.info(escape_markdown(translate(sentence), max_length=300))


def ask_method() -> str:
    method: str = st.selectbox(
        capital("method"),
        [plans.SUGGESTED_METHOD, *Method.kinds()],
        format_func=plans.method_label,
        key=demands_form.METHOD_FIELD.key,
        persist_state="session",
    )
    return method


st.badge(_("syntactic, no epsilon"), color="gray", icon=":material/blur_on:")
st.caption(textbook_names("anonymize"))
advice_view.show_advice(page_state)
left, right = st.columns([2, 3], gap="large")
with (
    right,
    st.spinner(_("Working out how each column can be made coarser"), show_time=True),
    left,
):
    plan: Plan | None = page_state.loaded_plan
    if plan is None and page_state.undecided_columns:
        form.ask_undecided(page_state)
    elif plan is None:
        wanted = demands_form.ask_demands(curator, page_state)
        method = ask_method()
        node = demands_form.ask_levels(page_state, method)
        with widgets.catch_and_show_errors():
            plan = plans.plan_of(curator, page_state, wanted, method=method).with_node(
                node
            )
    elif not form.show_loaded_plan(curator, page_state, plan):
        plan = None
    is_off = plan is None or outcomes.has_failed(page_state, plan)
    st.button(
        _("Make the anonymized table"),
        type="primary",
        disabled=is_off,
        on_click=outcomes.make_table,
        args=(curator, page_state, plan),
    )
    if plan is not None and page_state.loaded_plan is None:
        st.caption(plans.method_words(curator, page_state, plan))
with right:
    if plan is not None:
        view.show_frontier(curator, page_state, plan)
widgets.show_notice("anonymize")
table = session.own(session.AnonymizeResult).table
if table is not None:
    if plan is not None and (
        page_state.plan_of_table is None
        or page_state.plan_of_table.to_json() != plan.to_json()
    ):
        st.warning(
            _(
                "This table was made under earlier settings. Make the table again, "
                "or choose those settings again."
            )
        )
    view.show_result(curator, page_state, table)
    view.show_list_attack(curator, table)
if plan is not None:
    view.offer_folder(curator, plan)
form.edit_roles(curator, page_state)
form.edit_hierarchies(page_state)
if plan is not None:
    view.show_before_and_after(curator, page_state, plan)
    if outcomes.has_failed(page_state, plan) != is_off:
        st.rerun()  # redraw the button above, which may be disabled or enabled now
    view.show_comparison(curator, page_state, plan)
form.load_plan(page_state)
view.show_guided_example()
