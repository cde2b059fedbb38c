"""Offer and show a verdict on a release, paid for with a little of the budget."""

import streamlit as st

from dpcore.accounting.loss import loss_from_fields
from dpcore.curator import Curator
from dpcore.release import PrivateReport, Release
from dpcore.synthesis import GaussianModel, SyntheticModel
from workbench import session
from workbench.language.budget import affordable_epsilon, amount_words, spent_epsilon
from workbench.language.messages import N_, _, join
from workbench.language.wording import percent
from workbench.store.ledger.datasets import DataSet
from workbench.ui import charged, epsilon_view, verdict, widgets

NOTICE = "verdict"
MESSAGES = {
    "offer": N_(
        "The verdict compares the release with the original. Noise is added, so you "
        "may publish the answer."
    ),
    "too small": N_(
        "A verdict is offered only if its error is within ± 3 % of the rows. With "
        "so few rows, or so small a share, noise would decide the answer. Rely "
        "instead on the errors that are shown before you pay."
    ),
}


def show(data_set: DataSet, curator: Curator | None, release: Release) -> None:
    """Show the bought verdict, or offer it.

    Args:
        curator: of the rows; None if they are not here.
    """
    widgets.show_notice(NOTICE)
    with widgets.catch_and_show_errors():
        report = charged.bought_verdict(data_set, release)
        if report is not None:
            _show_bought(curator, release, report)
        elif curator is not None and charged.can_have_verdict(release):
            _offer_verdict(curator, release)


def _offer_verdict(curator: Curator, release: Release) -> None:
    question = charged.verdict_question(release)
    loss = charged.verdict_price(curator, release)
    units = curator.rule.to_units(curator.rule.convert(loss))
    error = session.compute_once(
        (NOTICE, release.request_id), lambda: charged.verdict_error(curator, release)
    )
    is_told = error <= charged.MAX_VERDICT_ERROR
    st.button(
        _("Is it good enough? Get a verdict within ± {error} for {cost}").format(
            error=percent(error), cost=amount_words(units, curator.account)
        ),
        icon=":material/balance:",
        disabled=not is_told or units > curator.balance().remaining_units,
        on_click=charged.pay,
        args=(curator, question, loss, curator.find_request_id(question, loss), NOTICE),
    )
    st.caption(_(MESSAGES["offer" if is_told else "too small"]))


def _show_bought(
    curator: Curator | None, release: Release, report: PrivateReport
) -> None:
    judged = verdict.judge_release(report)
    box = {
        "good": st.success,
        "mixed": st.info,
        "poor": st.warning,
        "open": st.info,
    }[judged.level]
    box(" ".join([f"**{judged.sentence}**", *judged.reasons]))
    widgets.show_private_badge(report)
    if judged.level == "poor" and curator is not None:
        _offer_new_plans(curator, release)


def _offer_new_plans(curator: Curator, release: Release) -> None:
    """Offer to plan the release again with a larger loss or with fewer columns.

    A second draw of the same would be chosen by the rows.
    """
    spent = curator.rule.to_units(
        curator.rule.convert(loss_from_fields(release.guarantee.loss))
    )
    epsilon = spent_epsilon(spent, curator.account)
    size = curator.schema.domain.size
    kind = "table" if isinstance(release.model, SyntheticModel) else "marginals"
    if isinstance(release.model, GaussianModel):
        kind = "learning"
    names = sorted(release.model_columns, key=size)
    twice = affordable_epsilon(2 * spent, curator.account)
    plans = {
        _("Spend {cost}").format(cost=amount_words(2 * spent, curator.account)): (
            twice,
            names,
        )
    }
    if len(names) > 1 and kind != "learning":
        fewer = names[: len(names) // 2]
        plans[_("Plan a release of {columns} only").format(columns=join(fewer))] = (
            epsilon,
            fewer,
        )
    with st.container(horizontal=True):
        for label, (loss, columns) in plans.items():
            plan = session.PlanRelease(kind=kind, epsilon=loss, columns=tuple(columns))
            is_left = loss <= epsilon_view.remaining_epsilon(curator)
            st.button(
                label, disabled=not is_left, on_click=session.leave_note, args=(plan,)
            )
