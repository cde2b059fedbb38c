"""The tab Disclosure, with attacks on a release or file, and canaries for the recipe of a release."""

from fractions import Fraction

import pandas as pd
import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation import Attacks, CanaryReport, Disclosure, HeldOut
from dpcore.evaluation.utility.similarity import SimilarityReport
from dpcore.tables.rows import PublicTable
from workbench import session
from workbench.evaluate import rerun
from workbench.evaluate.charts import attacks
from workbench.evaluate.form import Candidate
from workbench.evaluate.report import known, progress
from workbench.ui import widgets
from workbench.ui.language import Words, _, capital, commas
from workbench.ui.wording import percent, whole

CANARIES = 1_000
ATTACKS = Words("evaluate.attacks")
SAYS = Words("evaluate.disclosure")


def disclosure(curator: Curator, candidate: Candidate, similarity: SimilarityReport) -> None:
    """Attack the release, or the file that was brought."""
    st.markdown(SAYS["attacks"])
    make = rerun.maker(candidate.release, curator.schema) if candidate.release else None
    names = [_("all in turn"), *(name for name in curator.schema.domain.names if name in candidate.rows)]
    chosen = st.selectbox(capital("column"), names, key=f"attack-secret-{candidate.key[:8]}")
    secret = None if chosen == names[0] else chosen
    evaluation: Attacks | HeldOut
    if make is not None:
        st.caption(SAYS["again"])
        source = "half"
        evaluation = HeldOut(make=make.rows, secret=secret)
    else:
        control = widgets.table_uploader(
            _("People of the same kind who are not in the release, with the same headers"),
            key="attack-control",
        )
        source = "none" if control is None else f"{len(control)}"
        evaluation = Attacks(release=PublicTable(candidate.rows), control=control, secret=secret)
    key = ("attacks", candidate.key, secret, source)
    report = known(key)
    if report is not None:
        _attacked(report)
    elif st.button(capital("attack"), type="primary", key="attack"):
        with progress(capital("attacking"), key="stop-heavy") as on_progress:
            widgets.once_in_line(curator, key, lambda: evaluation, on_progress)
        st.rerun()  # the overview above has a figure now
    if make is not None:
        _canaries(candidate)


def _attacked(report: Disclosure) -> None:
    if not report.control:
        st.warning(SAYS["no control"])
    elif report.found:
        worst = commas(ATTACKS[each.attack] for each in report.found)
        st.warning(
            _("**People in it are exposed: {attacks}.** Do not publish this table.").format(attacks=worst),
            icon=":material/gpp_bad:",
        )
    else:
        st.success(
            SAYS.say("none works", people=whole(report.people), control=whole(report.control)),
            icon=":material/shield:",
        )
    widgets.show_chart(attacks(attacks_table(report)), key="attacks")


def _canaries(candidate: Candidate) -> None:
    report: CanaryReport | None = known(("canaries", candidate.key))
    if report is None:
        st.caption(SAYS["canaries"])
        if not st.button(_("Audit the recipe with {number} canaries").format(number=whole(CANARIES))):
            return
        with st.spinner(_("Computing")):
            report = audit_with_canaries(candidate)
    low, high = report.guesses.interval()
    st.markdown(
        SAYS.say(
            "proof",
            epsilon=report.epsilon,
            right=percent(report.guesses.value),
            attempts=report.guesses.attempts,
            low=percent(low),
            high=percent(high),
        )
    )


def audit_with_canaries(candidate: Candidate) -> CanaryReport:
    """Run the candidate's recipe once on rows drawn from it, with canaries; reads nothing private."""
    release = candidate.release
    assert release is not None
    recipe_run = rerun.maker(release, rerun.without_people(release.schema))
    delta = float(Fraction(release.guarantee.loss.get("delta", "0")))
    report = widgets.compute_in_line(rerun.audit, recipe_run, candidate.rows, CANARIES, delta)
    session.session().reports["canaries", candidate.key] = report
    return report


def attacks_table(report: Disclosure) -> pd.DataFrame:
    """Return one line per attack and group of people, with the interval of its rate."""
    lines = []
    for each in report.attacks:
        for name, rate in (
            (_("people in the release"), each.rate),
            (_("other people (control)"), each.control),
            (_("without the release (baseline)"), each.baseline),
        ):
            if rate is not None:
                lines.append((ATTACKS[each.attack], name, rate.value, *rate.interval(), rate.attempts))
    return pd.DataFrame(lines, columns=["attack", "of", "rate", "low", "high", "attempts"])
