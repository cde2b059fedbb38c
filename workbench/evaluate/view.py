"""The head of the Evaluate page: the verdict, and at most six figures."""

import streamlit as st

from dpcore.curator import Curator
from dpcore.errors import DpcoreError
from dpcore.evaluation import AttacksReport
from dpcore.evaluation.utility import measures
from dpcore.evaluation.utility.similarity import SimilarityReport
from workbench import session
from workbench.evaluate.charts import measures_chart
from workbench.evaluate.form import Candidate
from workbench.evaluate.learning_view import (
    last_or_quick_scores,
    last_scores,
    learning_label,
)
from workbench.evaluate.relations import kept_relations
from workbench.evaluate.report import (
    computed_report,
    dependent_columns,
    place_measures,
    score_words,
    verdict_of_learning,
    verdict_of_similarity,
)
from workbench.language.messages import _, capital, localize_number
from workbench.language.wording import escape_markdown, percent
from workbench.ui import releases, widgets
from workbench.ui.progress_view import PATIENCE_SECONDS
from workbench.ui.verdict import Verdict


def judge_candidate(
    curator: Curator, candidate: Candidate, similarity: SimilarityReport
) -> Verdict:
    """Return the verdict; a release made for learning is judged by its models first."""
    label = learning_label(candidate)
    if label is None:
        release = candidate.release
        return verdict_of_similarity(
            similarity,
            is_from_recipe=release is not None,
            counts_columns_alone=release is not None
            and releases.has_independent_columns(release),
            dependent=dependent_columns(curator),
            columns_of_one_label=candidate.columns_of_one_label,
        )
    try:
        scores = last_or_quick_scores(curator, candidate, label, PATIENCE_SECONDS)
    except DpcoreError as error:  # too few people to test on, for instance
        widgets.error_box(error)
        return verdict_of_similarity(similarity, is_from_recipe=True)
    return verdict_of_learning(
        scores, verdict_of_similarity(similarity, is_from_recipe=False)
    )


def show_verdict(verdict: Verdict) -> None:
    """Show a verdict in its color, with its reasons and what to do next."""
    box, icon = {
        "good": (st.success, ":material/check_circle:"),
        "mixed": (st.info, ":material/info:"),
        "poor": (st.warning, ":material/do_not_disturb_on:"),
    }[verdict.level]
    box(
        f"**{verdict.sentence}**"
        + "".join(f"  \n{line}" for line in (*verdict.reasons, *verdict.actions)),
        icon=icon,
    )


def show_overview(
    candidate: Candidate, similarity: SimilarityReport, verdict: Verdict
) -> None:
    """Show the verdict, and at most six figures."""
    show_verdict(verdict)
    kept = kept_relations(similarity)
    figures = (
        (
            capital("worst column"),
            score_words(similarity, measures.COLUMN_DISTANCE),
            _(
                "Share of the rows that would have to change in {column}, the worst "
                "column. 0 % is perfect."
            ).format(
                column=escape_markdown(similarity.columns[0].column),
            ),
        ),
        (
            capital("relations kept"),
            "–" if kept is None else percent(kept),
            _(
                "How much of the relations between pairs of columns is kept. "
                "Independent columns keep 0 %."
            ),
        ),
        (
            capital("questions off by"),
            score_words(similarity, measures.QUERY_ERROR),
            _(
                "Average error of 300 random questions about two or three "
                "columns, in % of the true share."
            ),
        ),
        (
            capital("impossible pairs"),
            score_words(similarity, measures.IMPOSSIBLE_PAIRS),
            _(
                "Rows with a pair of values that never occurs in the original, "
                "although it would be expected by chance."
            ),
        ),
        (_("Learning"), *_learning_words(candidate)),
        (
            _("Disclosure"),
            _attack_words(candidate),
            _("Attacks that work better on people in the release than on others."),
        ),
    )
    cells = [cell for _line in range(2) for cell in st.columns(3)]
    for cell, (title, figure, explanation) in zip(cells, figures, strict=True):
        cell.metric(title, figure, help=explanation)
    places = place_measures(similarity)
    if len(places):
        with st.expander(
            capital("place between perfect (0) and independent columns (1)")
        ):
            widgets.show_chart(measures_chart(places), key="figures")
            st.caption(
                _(
                    "“Another sample” shows how far apart two samples of this size "
                    "are by chance. Single columns are not shown, because "
                    "independent columns get each of them right."
                )
            )


def _learning_words(candidate: Candidate) -> tuple[str, str]:
    """Return the last learner's score, and its explanation.

    It is the accuracy, or R² if no classes were predicted.
    """
    about = _(
        "Accuracy or R² of a model that learned from the release (in brackets:"
        " from the original)."
    )
    scores = last_scores(candidate)
    if scores is None:
        return _("not computed"), about
    own, best = (
        localize_number(f"{scores.score_of_source[side]:.2f}")
        for side in ("release", "original")
    )
    return (
        f"{own} ({best})" if scores.measure == "accuracy" else f"R² {own} ({best})",
        about,
    )


def _attack_words(candidate: Candidate) -> str:
    keys = [
        key
        for key in session.session().reports
        if key[:2] == ("attacks", candidate.key)
    ]
    if not keys:
        return _("not computed")
    report: AttacksReport = computed_report(keys[-1])
    return (
        f"{len(report.successful)} / {len(report.attacks)}"
        if report.control
        else _("no control")
    )
