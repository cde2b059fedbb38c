"""Anonymize: roles, hierarchies, the frontier, the chosen result. Syntactic: there is no epsilon here."""

import streamlit as st

from dpcore.anonymize.models import Model
from dpcore.anonymize.plan import Plan
from dpcore.errors import DpcoreError
from workbench import session
from workbench.anonymize import form, outcomes, view, work
from workbench.ui import widgets
from workbench.ui.glossary import GLOSSARY
from workbench.ui.language import _

curator = widgets.need_curator(
    _(
        "Here a table is made k-anonymous: what others may know about people becomes coarser until everybody "
        "looks like at least k - 1 others. You see what each k costs before you choose."
    )
)
held = session.session()
note = session.take(session.TakeColumns)
if note is not None:
    work.take_columns(curator, note.known, note.secret)
current = work.work(curator)


def ask_demands() -> tuple[int, float, Model | None]:
    rows = st.select_slider(
        _("Everybody looks like at least … rows (k)"),
        work.KS,
        5,
        key="anonymize-k",
        help=GLOSSARY["equivalence class"],
        persist_state="session",
    )
    share = st.select_slider(
        _("Rows that may be suppressed, at most"),
        work.LIMITS,
        0.02,
        format_func="{:.0%}".format,
        key="anonymize-limit",
        help=GLOSSARY["suppression"],
        persist_state="session",
    )
    return rows, share, ask_secret()


def ask_secret() -> Model | None:
    names = work.sensitive(current)
    if not names:
        return None
    kind = st.selectbox(
        _("And about what should stay unknown"),
        list(work.SECRET_MODELS),
        format_func=work.SECRET_MODELS.__getitem__,
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
    return work.secret_model(kind, column, value)


def ask_method() -> str:
    method: str = st.selectbox(
        _("Method"),
        [work.SUGGESTED, *work.METHODS],
        format_func=lambda method: work.METHODS.get(method) or _("as suggested for this table"),
        key="anonymize-method",
        persist_state="session",
    )
    return method


st.title(_("Anonymize"))
st.badge(_("syntactic, no epsilon"), color="gray", icon=":material/blur_on:")
left, right = st.columns([2, 3], gap="large")
with left:
    k, limit, model = ask_demands()
    method = ask_method()
    plan: Plan | None = None
    try:
        plan = work.plan_of(curator, current, k=k, limit=limit, method=method, model=model)
        st.caption(work.method_words(curator, current, plan))
    except DpcoreError as error:
        widgets.error_box(error)
    st.button(
        _("Make the anonymized table"),
        type="primary",
        disabled=plan is None,
        on_click=outcomes.make,
        args=(curator, current, plan),
    )
with right:
    if plan is not None:
        view.frontier(curator, current, plan, k)
if held.notice is not None:
    widgets.error_box(held.notice)
    held.notice = None
if current.made is not None:
    view.result(current.made)
form.roles(curator, current)
form.hierarchies(current)
if plan is not None:
    view.before_and_after(curator, current, plan)
    view.comparison(curator, current, plan)
view.guided_example()
