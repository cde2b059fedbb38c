"""Charged figures about a release, which may be shared."""

from fractions import Fraction

import streamlit as st

from dpcore.curator import Curator
from dpcore.release import Release
from workbench.language.budget import amount_words, charged_units
from workbench.language.messages import _, capital
from workbench.language.wording import escape_markdown
from workbench.ui import charged, epsilon_view, widgets
from workbench.ui.progress_view import say_computing


def show_charged_figures(curator: Curator, release: Release) -> None:
    """Offer to buy figures about a release, and show those that were bought."""
    _offer_figures(curator, release)
    if running := charged.running_requests(curator):
        say_computing(lambda: charged.running_requests(curator) != running)
    for report in charged.bought_reports(curator):
        st.markdown(
            f"**{escape_markdown(charged.question_title(report), max_length=200)}**  "
            f"\n{charged.answer_sentence(report)}"
        )
        widgets.show_private_badge(report)


@widgets.catch_and_show_errors()
def _offer_figures(curator: Curator, release: Release) -> None:
    offers = charged.offered_figures(curator, release)
    title = st.selectbox(
        capital("figure"), list(offers), key=f"share-figure-{release.request_id[:8]}"
    )
    left = epsilon_view.remaining_epsilon(curator)
    if left <= 0:
        st.info(_("The budget is spent. Everything released so far stays free to use."))
        return
    epsilon = epsilon_view.ask_share("share", curator=curator, default=Fraction(1, 30))
    loss = epsilon_view.loss_of_epsilon(curator, epsilon)
    request_id = curator.find_request_id(offers[title], loss)
    st.button(
        _("Pay {cost} for this figure").format(
            cost=amount_words(charged_units(epsilon, curator.account), curator.account)
        ),
        key=f"share-pay-{request_id}",
        disabled=epsilon > left or request_id in charged.running_requests(curator),
        on_click=charged.pay,
        args=(curator, offers[title], loss, request_id),
    )
