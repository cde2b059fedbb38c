"""Evaluate page: compare a release with the original. Internal."""

import streamlit as st

from dpcore.errors import RowsError
from workbench import session
from workbench.evaluate import (
    columns_view,
    counts_view,
    disclosure_view,
    document,
    form,
    learning_view,
    linked_view,
    methods_view,
    pairs_view,
    proof_view,
    questions_view,
    report,
    share_view,
    side_by_side_view,
    view,
)
from workbench.evaluate.form import Candidate, PairCandidate
from workbench.language.messages import _, capital
from workbench.report.files import file_name, release_file
from workbench.ui import address, data_sets_view, file_view, widgets

st.title(_("How good is it?"))
curator = data_sets_view.need_curator()


def _verdict_file_name(name: str, candidate: Candidate) -> str:
    if candidate.release is not None:
        return release_file(name, candidate.release, "verdict internal", "html")
    return file_name(name, "verdict internal", "html", detail=candidate.title)


def warn_of_picking() -> None:
    st.caption(
        _(
            "The budget does not cover this comparison. Use it to understand a "
            "release. Do not use it to pick a release, or to draw rows again "
            "until they look good: that would leak information that no budget "
            "counts."
        )
    )


def show_pair(candidate: PairCandidate) -> None:
    linked = session.session().linked
    assert linked is not None  # a pair is offered for linked tables alone
    warn_of_picking()
    linked_view.show(linked, candidate)


def show_evaluation(candidate: Candidate) -> None:
    if candidate.release is not None:
        warn_of_picking()
    for note in candidate.notes:
        st.caption(note)
    try:
        similarity = report.compare_with_original(curator, candidate)
    except RowsError as error:
        widgets.error_box(error)
        columns_view.show_count_distances(curator, candidate)
        questions_view.show_range_errors(curator, candidate)
        return
    judged = view.judge_candidate(curator, candidate, similarity)
    view.show_overview(candidate, similarity, judged)
    file_view.download(
        _("Download as one HTML file"),
        lambda: document.evaluation_html(
            curator.name, {"": (curator, similarity)}, judged
        ),
        _verdict_file_name(curator.name, candidate),
        icon="visibility_lock",
    )
    parts = {
        "columns": (capital("columns"), columns_view.show_columns),
        "pairs": (capital("pairs of columns"), pairs_view.show_pairs),
        "questions": (
            _("Questions"),
            lambda curator, candidate, similarity: questions_view.show_range_errors(
                curator, candidate
            ),
        ),
        "side-by-side": (_("Side by side"), side_by_side_view.show_side_by_side),
        "learning": (_("Learning"), learning_view.show_learning),
        "disclosure": (_("Disclosure"), disclosure_view.show_disclosure),
    }
    titles = {name: title for name, (title, _show) in parts.items()}
    part = address.choose_part(_("Show"), titles, key="evaluate-tab")
    parts[part][1](curator, candidate, similarity)
    # Charged figures are only offered for releases: a figure about another table would
    # reveal something about the rows that was not paid for.
    if candidate.release is not None:
        title = _("Share one of these figures: it costs some of the budget")
        with widgets.fold(title, key="open-share") as is_open:
            if is_open:
                share_view.show_charged_figures(curator, candidate.release)
        proof_view.show_loss_audit(candidate)


widgets.show_internal_badge()
widgets.show_notice("evaluate")
candidate: Candidate | None = None
with widgets.catch_and_show_errors():
    chosen = form.choose_candidate(curator)
    if isinstance(chosen, PairCandidate):
        show_pair(chosen)
    elif chosen is not None:
        candidate = chosen
        show_evaluation(candidate)
counts_view.show(curator, candidate)
with (
    widgets.fold(_("Compare the methods"), key="open-methods") as is_open,
    widgets.catch_and_show_errors(),
):
    if is_open:
        methods_view.compare_methods()
