"""Anonymize: roles, hierarchies, the frontier, the chosen result. Syntactic: there is no epsilon here."""

import streamlit as st

from dpcore.errors import DpcoreError
from workbench import anonymize_view, anonymizing, hierarchy_form, outcomes, state, widgets
from workbench.wording import GLOSSARY, _

curator = widgets.need_curator(
    _(
        "Here a table is made k-anonymous: what others may know about people becomes coarser until everybody "
        "looks like at least k - 1 others. You see what each k costs before you choose."
    )
)
held = state.session()
work = anonymizing.work(curator)


def ask_demands():
    rows = st.select_slider(
        _("Everybody looks like at least … rows (k)"),
        anonymizing.KS,
        5,
        key="anonymize-k",
        help=GLOSSARY["equivalence class"],
        persist_state="session",
    )
    share = st.select_slider(
        _("Rows that may be suppressed, at most"),
        anonymizing.LIMITS,
        0.02,
        format_func="{:.0%}".format,
        key="anonymize-limit",
        help=GLOSSARY["suppression"],
        persist_state="session",
    )
    return rows, share, ask_secret()


def ask_secret():
    names = anonymizing.sensitive(work)
    if not names:
        return None
    kind = st.selectbox(
        _("And about what should stay unknown"),
        list(anonymizing.SECRET_MODELS),
        format_func=anonymizing.SECRET_MODELS.get,
        key="anonymize-secret",
        persist_state="session",
    )
    if kind == "none":
        return None
    left, right = st.columns(2)
    column = left.selectbox(_("Column"), names, key="anonymize-secret-column", persist_state="session")
    if kind == "t":
        value = right.slider("t", 0.05, 0.95, 0.4, key="anonymize-t", persist_state="session")
    else:
        value = right.slider("l", 2, 10, 2, key="anonymize-l", persist_state="session")
    return anonymizing.secret_model(kind, column, value)


def ask_method():
    return st.selectbox(
        _("Method"),
        [anonymizing.SUGGESTED, *anonymizing.METHODS],
        format_func=lambda method: anonymizing.METHODS.get(method, _("as suggested for this table")),
        key="anonymize-method",
        persist_state="session",
    )


st.title(_("Anonymize"))
st.badge(_("syntactic, no epsilon"), color="gray", icon=":material/blur_on:")
left, right = st.columns([2, 3], gap="large")
with left:
    k, limit, model = ask_demands()
    method = ask_method()
    try:
        plan = anonymizing.plan_of(curator, work, k=k, limit=limit, method=method, model=model)
        st.caption(anonymizing.method_words(curator, work, plan))
    except DpcoreError as error:
        widgets.error_box(error)
        plan = None
    st.button(
        _("Make the anonymized table"),
        type="primary",
        disabled=plan is None,
        on_click=outcomes.make,
        args=(curator, work, plan),
    )
with right:
    if plan is not None:
        anonymize_view.frontier(curator, work, plan, k)
if held.notice is not None:
    widgets.error_box(held.notice)
    held.notice = None
if work.made is not None:
    anonymize_view.result(work.made)
hierarchy_form.roles(curator, work)
hierarchy_form.hierarchies(work)
if plan is not None:
    anonymize_view.before_and_after(curator, work, plan)
    anonymize_view.comparison(curator, work, plan)
anonymize_view.guided_example()
