"""Attack with a list of known people on the anonymized table."""

import pandas as pd
import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation.table.list_attack import attack_with_list
from dpcore.release import AnonymizedTable
from workbench import session
from workbench.anonymize import plans
from workbench.language.messages import _
from workbench.language.wording import plain
from workbench.ui import widgets
from workbench.ui.attacker_view import known_people


def show(curator: Curator, table: AnonymizedTable) -> None:
    """Ask for the list, and show whom it finds once its values are recoded in the same
    way.
    """
    section = st.expander(
        _("What would somebody with a list of people find in it?"), key="relink"
    )
    with section, widgets.errors_shown():
        widgets.internal_badge()
        listed = known_people(curator, key="relink-list")
        if listed is None:
            return
        name, given = listed
        digest = (hash(table.plan), hash(tuple(pd.util.hash_pandas_object(given))))
        with st.spinner(_("Computing"), show_time=True):
            match = session.kept(
                ("relinked", *digest), lambda: attack_with_list(table, given)
            )
        st.markdown(
            _(plans.MESSAGES["found"]).format(
                name=plain(name),
                unique=match.unique,
                people=match.people,
                matched=match.matched,
                smallest=match.smallest,
            ),
        )
        st.caption(_(plans.MESSAGES["recoded list"]))
