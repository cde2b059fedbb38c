"""Disclosure tab of the Evaluate page: attacks on a release, and canary audits."""

from fractions import Fraction

import pandas as pd
import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation import (
    AttacksQuestion,
    AttacksReport,
    CanaryReport,
    HeldOutAttacksQuestion,
)
from dpcore.evaluation.utility.similarity import SimilarityReport
from dpcore.tables.rows import PublicTable
from workbench import session
from workbench.evaluate.charts import attacks_chart
from workbench.evaluate.form import Candidate
from workbench.evaluate.report import computed_report, progress
from workbench.language.messages import N_, _, capital, join_with_commas
from workbench.language.wording import percent, whole_number_text
from workbench.server.workers import rerun
from workbench.ui import file_view, progress_view, widgets

# Number of invented people in one audit. More of them would give a tighter bound of
# epsilon.
CANARY_COUNT = 1_000
ATTACKS = {
    "exact copies": N_("a released row is an exact copy of somebody's row"),
    "closest record": N_(
        "a released row is closer to people in the release than to others"
    ),
    "one-to-one linkage": N_(
        "pairing each released row with one person finds people of the release"
    ),
    "singling out by one column": N_("a question about one column finds one person"),
    "singling out by several columns": N_(
        "a question about three columns finds one person"
    ),
    "linkability": N_("rows of the same person in two lists are linked"),
    "inference": N_("an unknown value of a person is guessed"),
}


def show_disclosure(
    curator: Curator, candidate: Candidate, similarity: SimilarityReport
) -> None:
    """Ask for a column, attack the release or uploaded file, and show the results."""
    st.markdown(
        _(
            "An attack can show a leak, but an attack that fails proves nothing. "
            "Each attack is tried on people in the release and on other people (the "
            "control), whom the release cannot harm. It shows a leak only if it "
            "works better on people in the release."
        )
    )
    make = (
        rerun.recipe_run_of(candidate.release, curator.schema)
        if candidate.release
        else None
    )
    names = [
        _("all in turn"),
        *(name for name in curator.schema.domain.names if name in candidate.rows),
    ]
    chosen = st.selectbox(
        capital("column"), names, key=f"attack-secret-{candidate.key[:8]}"
    )
    secret = None if chosen == names[0] else chosen
    evaluation: AttacksQuestion | HeldOutAttacksQuestion
    if make is not None:
        st.caption(
            _(
                "The recipe runs again in memory, on half of the people; the others "
                "are the control. Nothing is charged."
            )
        )
        source = "half"
        evaluation = HeldOutAttacksQuestion(make_release=make.draw_rows, secret=secret)
    else:
        control = file_view.table_uploader(
            _(
                "Control table: similar people who are not in the release, with the "
                "same column names"
            ),
            key="attack-control",
        )
        source = "none" if control is None else f"{len(control)}"
        evaluation = AttacksQuestion(
            table=PublicTable(candidate.rows), control=control, secret=secret
        )
    key = ("attacks", candidate.key, secret, source)
    report = computed_report(key)
    if report is not None:
        _show_attacks(report)
    elif st.button(capital("attack"), type="primary", key="attack"):
        with progress(capital("attacking"), key="stop-heavy") as on_progress:
            progress_view.evaluate_in_line(
                curator, key, lambda: evaluation, on_progress
            )
        st.rerun()  # redraw the overview above, which shows this figure
    if make is not None:
        _show_canary_audit(candidate)


def _show_attacks(report: AttacksReport) -> None:
    if not report.control:
        st.warning(
            _(
                "There is no verdict without a control table: what the release "
                "teaches about people in general looks the same as what it leaks "
                "about the people in it. Upload a control table above, or keep some "
                "people out of the next release."
            )
        )
    elif report.successful:
        worst = join_with_commas(
            _(ATTACKS[attack.attack]) for attack in report.successful
        )
        st.warning(
            _(
                "**People in this table are exposed: {attacks}.** Do not publish it."
            ).format(attacks=worst),
            icon=":material/gpp_bad:",
        )
    else:
        st.success(
            _(
                "No attack works better on {people} rows of people in the table "
                "than on {control} rows of other people."
            ).format(
                people=whole_number_text(report.people),
                control=whole_number_text(report.control),
            ),
            icon=":material/shield:",
        )
    widgets.show_chart(attacks_chart(attacks_table(report)), key="attacks")


def _show_canary_audit(candidate: Candidate) -> None:
    report: CanaryReport | None = computed_report(("canaries", candidate.key))
    if report is None:
        st.caption(
            _(
                "Canaries are invented people. The toss of a coin decides for each "
                "of them whether they are added to rows drawn from the release; "
                "then the recipe runs once. The more often it can be guessed who "
                "was added, the higher the epsilon that is proved. Nothing private "
                "is read."
            )
        )
        if not st.button(
            _("Audit the recipe with {number} canaries").format(
                number=whole_number_text(CANARY_COUNT)
            )
        ):
            return
        with st.spinner(_("Auditing the recipe with canaries"), show_time=True):
            report = audit_with_canaries(candidate)
    low, high = report.guesses.interval()
    st.markdown(
        _(
            "**Canaries prove an epsilon of at least {epsilon:.2f}** (in 95 of 100 "
            "audits, this bound is below the true epsilon). {right} of {attempts} "
            "guesses were right (interval: {low} to {high}); tossing a coin would "
            "give 50 %."
        ).format(
            epsilon=report.epsilon,
            right=percent(report.guesses.value),
            attempts=report.guesses.attempts,
            low=percent(low),
            high=percent(high),
        ),
    )


def audit_with_canaries(candidate: Candidate) -> CanaryReport:
    """Plant canaries in the candidate's rows, run its recipe once, and audit it.

    It reads nothing private.
    """
    release = candidate.release
    assert release is not None
    recipe_run = rerun.recipe_run_of(release, rerun.drop_id_column(release.schema))
    delta = float(Fraction(release.guarantee.loss.get("delta", "0")))
    report = progress_view.compute_in_line(
        rerun.audit, recipe_run, candidate.rows, CANARY_COUNT, delta
    )
    session.session().reports["canaries", candidate.key] = report
    return report


def attacks_table(report: AttacksReport) -> pd.DataFrame:
    """Return one line per attack and group of people, with the interval of its rate."""
    lines = []
    for attack in report.attacks:
        for name, rate in (
            (_("people in the release"), attack.rate),
            (_("other people (control)"), attack.control),
            (_("without the release (baseline)"), attack.baseline),
        ):
            if rate is not None:
                lines.append(
                    (
                        _(ATTACKS[attack.attack]),
                        name,
                        rate.value,
                        *rate.interval(),
                        rate.attempts,
                    )
                )
    return pd.DataFrame(
        lines, columns=["attack", "of", "rate", "low", "high", "attempts"]
    )
