"""Audit page: measure how easily people can be found in the table. Internal."""

import streamlit as st

from dpcore.errors import DpcoreError
from workbench import session
from workbench.audit import (
    criteria_view,
    document,
    findings,
    linked_view,
    person_view,
    rows_view,
    view,
)
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import _
from workbench.language.textbook_names import textbook_names
from workbench.report.files import file_name
from workbench.ui import data_sets_view, file_view, reading_view, widgets
from workbench.ui.attacker_view import ask_known_people

st.title(_("Is this anonymous?"))
st.caption(textbook_names("audit"))
draft = session.session().draft
if draft is None and (linked := data_sets_view.linked_on_page()) is not None:
    linked_view.show(linked)
    st.stop()
curator = data_sets_view.need_rows()
roles = {role.column: role for role in findings.suggested_roles(curator)}


def ask_columns() -> tuple[list[str], list[str]]:
    proposed = [name for name, role in roles.items() if role.role == "quasi-identifier"]
    secret = [name for name, role in roles.items() if role.role == "sensitive"]
    choice = findings.KNOWN_COLUMNS_FIELD.current_value()
    known = proposed if choice is None else choice
    left, right = st.columns([3, 2])
    columns = left.multiselect(
        _("What others may know about a person"),
        list(roles),
        proposed,
        key=findings.KNOWN_COLUMNS_FIELD.key,
        help=_(GLOSSARY["quasi-identifier"]),
        persist_state="session",
        wrap=True,
    )
    sensitive = right.multiselect(
        _("What should stay unknown"),
        [name for name in roles if name not in known],
        [name for name in secret if name not in known],
        key="audit-sensitive",
        help=_(GLOSSARY["sensitive attribute"]),
        persist_state="session",
    )
    return columns, sensitive


widgets.show_internal_badge()
reading_view.show_reading("audit")
verdict_container = st.container()
columns, sensitive = ask_columns()
if not columns:
    with verdict_container:
        view.show_no_columns_chosen(curator)
    st.stop()
with st.expander(_("Attacker, population and threshold"), key="attacker"):
    listed, attacker = ask_known_people(curator, key="audit-list") or ("", None)
    people = st.number_input(
        _("People in the population (0: not known)"),
        0,
        10**10,
        0,
        key="audit-population",
    )
    size = st.slider(
        _("A person is exposed in a group of fewer than"), 2, 20, 5, key="audit-size"
    )
try:
    with (
        verdict_container,
        st.spinner(_("Looking for people who stand out"), show_time=True),
    ):
        report = findings.compute_audit(
            curator,
            columns,
            sensitive,
            threshold=1 / size,
            attacker=attacker,
            population=int(people) or None,
        )
except DpcoreError as error:
    widgets.error_box(error)
    st.stop()
with verdict_container:
    view.show_verdict(report, columns)
    max_rows = None if draft is None else view.ask_max_rows(draft)
    actions = st.container(horizontal=True)
criterion_results = criteria_view.ask_criterion(curator, report)
with actions:
    if st.button(_("Make it safer"), type="primary", icon=":material/arrow_forward:"):
        session.leave_note(findings.change_note(report, columns, sensitive))
        if draft is None:
            st.switch_page(session.page_script("anonymize"))
        session.leave_note(session.OpenAsProposed(page="anonymize", max_rows=max_rows))
        st.switch_page(session.page_script("upload"))
    file_view.download(
        _("Download as one HTML file"),
        lambda: document.to_html(
            curator,
            report,
            columns,
            listed,
            criterion_results,
            reading_view.printed_reading_sentences(),
        ),
        file_name(curator.name, "audit internal", "html"),
        icon="print",
    )
if draft is not None:
    view.show_proposed_opening(curator.schema.unit, max_rows)
person_view.ask_about_person(curator, columns, sensitive)
rows_view.show_row_risks(
    curator, columns, [name for name in roles if name not in columns]
)
view.show_details(report, columns, listed)
