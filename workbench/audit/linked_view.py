"""The Audit page of two linked files: people, and some of their events. Internal."""

from functools import partial

import streamlit as st

from dpcore.curator import LinkedCurator
from dpcore.errors import DpcoreError
from dpcore.evaluation.table.linked_audit import (
    LinkedAuditQuestion,
    LinkedAuditReport,
)
from dpcore.evaluation.table.linked_proposals import LinkedRoles
from workbench import session
from workbench.audit import document, findings, person_view, view
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import _, join, ngettext
from workbench.language.wording import escape_markdown
from workbench.report.files import file_name
from workbench.ui import file_view, known_events_view, progress_view, widgets

MAX_COLUMNS_NAMED = 6  # columns of events in the sentence on what others know


def show(linked: LinkedCurator) -> None:
    """Show what somebody finds who knows people and some of their events."""
    curator = linked.people  # either view hands out the rows of both files
    roles = known_events_view.find_roles(linked)
    widgets.show_internal_badge()
    at_first = st.container()
    columns, sensitive, number = _ask(roles)
    if not columns:
        with at_first:
            st.info(_("Choose at least one column that others may know."))
        return
    with st.expander(_("Threshold"), key="attacker"):
        size = st.slider(
            _("A person is exposed in a group of fewer than"),
            2,
            20,
            5,
            key="audit-size",
        )
    try:
        with (
            at_first,
            st.spinner(_("Looking for people who stand out"), show_time=True),
        ):
            found: LinkedAuditReport = progress_view.evaluate_in_line(
                curator,
                ("audit of both", tuple(columns), tuple(sensitive), number, size),
                partial(
                    LinkedAuditQuestion.of,
                    roles,
                    curator.schema,
                    known=columns,
                    sensitive=sensitive,
                    known_events=number,
                    threshold=1 / size,
                ),
            )
    except DpcoreError as error:
        widgets.error_box(error)
        return
    report = found.report
    sentences = known_sentences(roles, columns, number, found.left_out_rows)
    expected = [
        *findings.prosecutor_sentences(report),
        *findings.suppressed_sentences(report),
    ]
    with at_first:
        view.show_verdict(report, columns)
        for sentence in sentences:
            st.caption(escape_markdown(sentence, max_length=600))
        actions = st.container(horizontal=True)
    with actions:
        if st.button(
            _("Make it safer"), type="primary", icon=":material/arrow_forward:"
        ):
            known_events_view.ANONYMIZED_COLUMNS_FIELD.put(columns)
            st.switch_page(session.page_script("anonymize"))
        file_view.download(
            _("Download as one HTML file"),
            lambda: document.to_html(
                curator,
                report,
                columns,
                "",
                reading_sentences=sentences,
                expected=expected,
            ),
            file_name(curator.name, "audit internal", "html"),
            icon="print",
        )
    of_events = {role.column for role in roles.events}
    person_view.ask_about_person_with_events(
        curator,
        [name for name in columns if name not in of_events],
        [name for name in columns if name in of_events],
        sensitive,
        number=number,
    )
    view.show_figures(report, columns, expected)


def _ask(roles: LinkedRoles) -> tuple[list[str], list[str], int]:
    """Ask what others may know, what should stay unknown, and how many events."""
    names = [role.column for role in roles.both]
    proposed = list(roles.known)
    secret = [role.column for role in roles.both if role.role == "sensitive"]
    choice = findings.KNOWN_COLUMNS_FIELD.current_value()
    known = proposed if choice is None else choice
    left, right = st.columns([3, 2])
    columns: list[str] = left.multiselect(
        _("What others may know about a person and about events"),
        names,
        proposed,
        key=findings.KNOWN_COLUMNS_FIELD.key,
        help=_(GLOSSARY["quasi-identifier"]),
        persist_state="session",
        wrap=True,
    )
    sensitive: list[str] = right.multiselect(
        _("What should stay unknown"),
        [name for name in names if name not in known],
        [name for name in secret if name not in known],
        key="audit-sensitive",
        help=_(GLOSSARY["sensitive attribute"]),
        persist_state="session",
    )
    number = known_events_view.ask_known_events(key="audit-events")
    return columns, [name for name in sensitive if name not in columns], number


def known_sentences(
    roles: LinkedRoles, columns: list[str], number: int, left_out_rows: int
) -> list[str]:
    """Return sentences on what is taken to be known, and on rows not looked at.

    Args:
        number: of known events of a person.
    """
    of_events = {role.column for role in roles.events}
    events = [name for name in columns if name in of_events] or sorted(of_events)
    sentences = [
        ngettext(
            "What others know of events, such as {columns}, they know of {number} "
            "event of each person: of the one that exposes the person most. They do "
            "not know how many events a person has.",
            "What others know of events, such as {columns}, they know of {number} "
            "events of each person: of those that expose the person most. They do "
            "not know how many events a person has.",
            number,
            columns=join(events[:MAX_COLUMNS_NAMED]),
        ),
        _(
            "All events are looked at here, also those beyond the number that counts "
            "in releases."
        ),
    ]
    if left_out_rows:
        sentences.append(
            ngettext(
                "{number:,} row does not fit the rules of this data set. It is not "
                "looked at.",
                "{number:,} rows do not fit the rules of this data set. They are not "
                "looked at.",
                left_out_rows,
            )
        )
    return sentences
