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
    outcomes,
    plans,
    state,
    view,
)
from workbench.language.messages import _, capital, translate
from workbench.language.textbook_names import textbook_names
from workbench.language.wording import plain
from workbench.ui import data_sets_view, widgets

st.title(_("Anonymize"))
curator = data_sets_view.need_curator()
tab = session.session()
current = state.state(curator)
note = session.take_note(session.TakeAdvice)
if note is not None:
    advice_view.take(curator, current, note)
project = session.take_note(session.TakePlan)
if project is not None:
    plans.take_plan(curator, current, project)
for sentence in current.notes:
    st.info(plain(translate(sentence), at_most=300))


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
advice_view.show(current)
left, right = st.columns([2, 3], gap="large")
with (
    right,
    st.spinner(_("Working out how each column can be made coarser"), show_time=True),
    left,
):
    plan: Plan | None = current.loaded
    if plan is None and current.undecided:
        form.ask_undecided(current)
    elif plan is None:
        wanted = demands_form.ask(curator, current)
        method = ask_method()
        node = demands_form.ask_levels(current, method)
        with widgets.errors_shown():
            plan = plans.plan_of(curator, current, wanted, method=method).with_node(
                node
            )
    elif not form.loaded_plan(curator, current, plan):
        plan = None
    is_off = plan is None or outcomes.has_failed(current, plan)
    st.button(
        _("Make the anonymized table"),
        type="primary",
        disabled=is_off,
        on_click=outcomes.make,
        args=(curator, current, plan),
    )
    if plan is not None and current.loaded is None:
        st.caption(plans.method_words(curator, current, plan))
with right:
    if plan is not None:
        view.frontier(curator, current, plan)
widgets.show_notice("anonymize")
table = session.own(session.AnonymizeResult).table
if table is not None:
    if plan is not None and (
        current.made_by is None or current.made_by.to_json() != plan.to_json()
    ):
        st.warning(
            _(
                "This table was made under earlier settings. Make it again, or "
                "choose them again."
            )
        )
    view.show_result(curator, current, table)
    view.attack_by_list(curator, table)
if plan is not None:
    view.write(curator, plan)
form.roles(curator, current)
form.hierarchies(current)
if plan is not None:
    view.before_and_after(curator, current, plan)
    if outcomes.has_failed(current, plan) != is_off:
        st.rerun()  # redraw the button above, which may be disabled or enabled now
    view.comparison(curator, current, plan)
form.load_plan(current)
view.guided_example()
