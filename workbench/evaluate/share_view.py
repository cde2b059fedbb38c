"""Charged figures about a release, which may be shared."""

import streamlit as st

from dpcore.curator import Curator
from dpcore.release import Release
from workbench.language.messages import _, capital
from workbench.language.wording import plain
from workbench.ui import charged, epsilon_view, widgets
from workbench.ui.progress_view import being_computed


def share(curator: Curator, release: Release) -> None:
    """Offer charged figures about a release, and show the bought ones."""
    _offer(curator, release)
    if running := charged.running(curator):
        being_computed(lambda: charged.running(curator) != running)
    for report in charged.reports(curator):
        st.markdown(
            f"**{plain(charged.title(report), at_most=200)}**  "
            f"\n{charged.words(report)}"
        )
        widgets.private_badge(report)


@widgets.errors_shown()
def _offer(curator: Curator, release: Release) -> None:
    offers = charged.offers(curator, release)
    title = st.selectbox(
        capital("figure"), list(offers), key=f"share-figure-{release.request_id[:8]}"
    )
    left = epsilon_view.left(curator)
    if left <= 0:
        st.info(
            _("Nothing is left of the budget. What was released stays free to use.")
        )
        return
    epsilon = epsilon_view.picker(
        _("Share of the budget, epsilon"), key="share", default=0.1, largest=left
    )
    loss = epsilon_view.loss(curator, epsilon)
    request_id = curator.request_of(offers[title], loss)
    st.button(
        _("Pay epsilon {epsilon:g} for this figure").format(epsilon=epsilon),
        key=f"share-pay-{request_id}",
        disabled=epsilon > left or request_id in charged.running(curator),
        on_click=charged.pay,
        args=(curator, offers[title], loss, request_id),
    )
