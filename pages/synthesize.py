"""Synthesize: choose what to release, see its error and cost first, pay once, read the
result.
"""

import streamlit as st

from dpcore.curator import Curator
from workbench import session
from workbench.language.messages import _
from workbench.synthesize import form, preview_view, runs, view
from workbench.ui import data_sets_view, epsilon_view, widgets

tab = session.session()
runs.take_note()
if tab.shown is None:
    st.title(_("Release something"))


def plan(curator: Curator) -> None:
    card = form.choose_card()
    offer = st.container()  # on the first screen of a telephone, too
    left, right = st.columns([2, 3], gap="large")
    with left:
        recipe = card.choose(
            curator, list(curator.schema.domain.names), curator.account.dataset
        )
        part = form.choose_part(curator)
        largest = min(10.0, epsilon_view.left(curator))
        key = f"loss-{curator.account.dataset}"  # each data set has a share of its own
        epsilon = epsilon_view.picker(
            _("Share of the budget, epsilon"),
            key=key,
            default=0.5,
            largest=largest,
        )
        epsilon_view.say(epsilon)
    with right:
        if recipe is None:
            st.info(_("Choose at least one column."))
        else:
            with widgets.errors_shown():
                loss = epsilon_view.loss(curator, epsilon)
                preview_view.show(
                    curator, card, recipe, loss, part, epsilon_view.box(key), offer
                )


if (planned := runs.planned()) is not None:
    plan(planned)
    st.stop()
data_set = widgets.need_data_set()
if tab.running is not None and tab.shown is None:
    view.follow_run()
elif tab.shown is not None:
    view.show(data_set, tab.shown)
elif tab.curator is not None:
    plan(tab.curator)
else:
    data_sets_view.bring_rows(data_set)
data_sets_view.earlier_releases(data_set)
