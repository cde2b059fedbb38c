"""Synthesize: choose what to release, see its error and cost first, pay once, read the
result.
"""

import streamlit as st

from dpcore.curator import Curator
from workbench import session
from workbench.language.messages import _
from workbench.store.policy import read_policy
from workbench.synthesize import (
    form,
    linked_release_view,
    linked_view,
    pay_view,
    preview_view,
    view,
)
from workbench.synthesize.state import planned_linked, planning_curator
from workbench.ui import data_sets_view, epsilon_view, releases, widgets

runs = session.session().runs
form.plan_from_note()
if runs.shown_request_id is None:
    st.title(_("Release something"))


def plan_release(curator: Curator) -> None:
    card = form.choose_card()
    linked = planned_linked()
    if card is None:
        assert linked is not None  # the card is shown for linked tables alone
        linked_view.plan(linked)
        return
    # The offer stands above the form, so that a phone shows it without scrolling.
    offer = st.container()
    left, right = st.columns([2, 3], gap="large")
    with left:
        recipe = card.choose(
            curator, list(curator.schema.domain.names), session.table_key(curator)
        )
        part = form.choose_part(curator)
        key = f"loss-{curator.account.dataset}"  # each data set has a share of its own
        epsilon = epsilon_view.ask_share(
            key, curator=curator, default=read_policy().proposed_share("")
        )
        epsilon_view.show_meaning(epsilon)
    with right:
        if recipe is None:
            st.info(_("Choose at least one column."))
        else:
            with widgets.catch_and_show_errors():
                loss = epsilon_view.loss_of_epsilon(curator, epsilon)
                preview_view.show(
                    curator,
                    card,
                    recipe,
                    loss,
                    part,
                    epsilon_view.number_field(key),
                    offer,
                )


if (planning := planning_curator()) is not None:
    plan_release(planning)
    st.stop()
data_set = data_sets_view.need_data_set()
curator = session.session().curator
if runs.current is not None and runs.shown_request_id is None:
    pay_view.follow_run()
elif runs.shown_request_id is not None:
    if releases.is_pair(data_set, runs.shown_request_id):
        linked_release_view.show(data_set, runs.shown_request_id)
    else:
        view.show(data_set, runs.shown_request_id)
elif curator is not None:
    plan_release(curator)
else:
    data_sets_view.ask_for_rows(data_set)
data_sets_view.list_earlier_releases(data_set)
