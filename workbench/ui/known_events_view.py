"""What somebody may know of people and of their events, in two linked files."""

import streamlit as st

from dpcore.curator import LinkedCurator
from dpcore.evaluation.table.linked_proposals import LinkedRoles, LinkedRolesQuestion
from dpcore.tables.events import MAX_KNOWN_EVENTS
from workbench import session
from workbench.language.messages import _, ngettext
from workbench.ui import widgets

ANONYMIZED_COLUMNS_FIELD = session.Widget[list[str]]("anonymize-pair-known")
"""Field of the Anonymize page for what others may know of two linked files."""


def find_roles(linked: LinkedCurator) -> LinkedRoles:
    """Return a proposed role for every column of both files."""
    # either half hands out the rows of both files
    return session.evaluate_once(
        linked.people, ("roles of both files",), LinkedRolesQuestion
    )


def ask_known_events(*, key: str) -> int:
    """Ask how many events of each person others may know.

    Args:
        key: of the question.
    """
    number: int = widgets.ask_by_title(
        st.radio,
        _("How many events of a person others may know"),
        {
            number: ngettext(
                "{number} event of each person",
                "{number} events of each person",
                number,
            )
            for number in range(1, MAX_KNOWN_EVENTS + 1)
        },
        index=MAX_KNOWN_EVENTS - 1,
        horizontal=True,
        key=key,
        persist_state="session",
    )
    return number
