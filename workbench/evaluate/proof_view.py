"""Section of the Evaluate page that audits the privacy loss of a recipe."""

import streamlit as st

from dpcore.evaluation import LossAudit
from workbench import session
from workbench.evaluate.form import Candidate
from workbench.evaluate.report import computed_report
from workbench.language.messages import N_, _
from workbench.language.wording import number, percent, whole_number_text
from workbench.server.workers import rerun
from workbench.ui import progress_view, widgets

MAX_RUNS = 1_000  # runs of the recipe in one audit
MAX_SECONDS = 30.0  # after which no other run begins
LOSS_UNITS = {"epsilon": N_("epsilon"), "mu": N_("mu of Gaussian noise")}


def show_loss_audit(candidate: Candidate) -> None:
    """Offer the audit of the recipe that made a release, or show its result."""
    release = candidate.release
    recipe_run = (
        rerun.recipe_run_of(release, rerun.drop_id_column(release.schema))
        if release is not None
        else None
    )
    if recipe_run is None:
        return
    with widgets.fold(
        _("Check the privacy loss with an attack"), key="open-proof"
    ) as is_open:
        if not is_open:
            return
        key = ("loss audit", candidate.key)
        found: LossAudit | None = computed_report(key)
        if found is None:
            st.caption(
                _(
                    "The recipe runs many times on an invented table with the same "
                    "columns, with and without some invented people. An attacker "
                    "who knows all other rows sees the tables that the release "
                    "would contain, and guesses whether these people were in. The "
                    "share of right guesses proves a lower bound of the loss. Your "
                    "rows are not read."
                )
            )
            if not st.button(
                _("Run it for up to {seconds} seconds").format(
                    seconds=whole_number_text(MAX_SECONDS)
                )
            ):
                return
            with st.spinner(_("Running the recipe again and again"), show_time=True):
                found = progress_view.compute_in_line(
                    rerun.prove_loss, recipe_run, MAX_RUNS, MAX_SECONDS
                )
            session.session().reports[key] = found
        _show_bound(found)


def _show_bound(audit: LossAudit) -> None:
    unit = _(LOSS_UNITS[audit.unit])
    if audit.is_refuted:
        st.error(
            _(
                "**The noise is too small: the runs prove a larger loss than "
                "stated.** Do not publish this release, and report this fault of "
                "the program."
            )
        )
    st.markdown(
        _(
            "**The runs prove a loss of at least {bound}** ({unit}; in 95 of 100 "
            "audits, this bound is below the true loss). The stated loss is "
            "{stated}; {measured} of it belongs to the tables in the release."
        ).format(
            bound=number(audit.proved_loss),
            unit=unit,
            stated=number(audit.stated_loss),
            measured=number(audit.measured_loss),
        )
    )
    achieved, law = audit.curve[0.05]
    st.markdown(
        _(
            "{runs} runs with each of {canaries} invented people, and as many "
            "without them, took {seconds} seconds. With 5 % false alarms, the "
            "attacker recognized {achieved} of the runs with them; the noise "
            "distribution predicts {law}."
        ).format(
            runs=whole_number_text(audit.runs_per_side),
            canaries=whole_number_text(audit.canaries),
            seconds=number(round(audit.seconds, 1)),
            achieved=percent(achieved),
            law=percent(law),
        )
    )
