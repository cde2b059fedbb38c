"""The comparison of a pair of linked tables: one verdict, then either table."""

import streamlit as st

from dpcore.curator import LinkedCurator
from dpcore.errors import RowsError
from dpcore.evaluation.utility import measures
from workbench.evaluate import columns_view, document, linked_report, pairs_view
from workbench.evaluate.form import PairCandidate
from workbench.evaluate.linked_report import LinkedSimilarity
from workbench.evaluate.report import kept_relations, score_words
from workbench.evaluate.view import show_verdict
from workbench.language.messages import _, capital
from workbench.language.wording import percent
from workbench.report.files import file_name
from workbench.ui import address, file_view, widgets
from workbench.ui.verdict import Verdict


def show(linked: LinkedCurator, candidate: PairCandidate) -> None:
    """Show the verdict of both tables together, and the columns of either."""
    try:
        similarity = linked_report.compare_pair(linked, candidate)
    except RowsError as error:
        widgets.error_box(error)
        return
    halves = linked_report.judge_halves(linked, similarity)
    judged = linked_report.verdict_of_pair(halves, similarity, candidate.broken_links)
    show_verdict(judged)
    _show_figures(similarity, candidate)
    _offer_file(linked, candidate, similarity, judged)
    tables = {"people": _("People"), "events": _("Events")}
    view = address.choose_part(_("Table"), tables, key="evaluate-table")
    parts = {"columns": capital("columns"), "pairs": capital("pairs of columns")}
    part = address.choose_part(_("Show"), parts, key="evaluate-tab")
    of_view = {
        "people": (linked.people, candidate.people, similarity.people),
        "events": (linked.events, candidate.events, similarity.events),
    }[view]
    if part == "columns":
        columns_view.show_columns(*of_view)
    else:
        pairs_view.show_pairs(*of_view)
    st.caption(
        _("For side by side, learning and disclosure, choose one of both tables above.")
    )


def _show_figures(similarity: LinkedSimilarity, candidate: PairCandidate) -> None:
    """Show six figures of both tables."""
    within = kept_relations(similarity.people)
    across = similarity.kept_across
    figures = (
        (
            _("Worst column of people"),
            score_words(similarity.people, measures.COLUMN_DISTANCE),
            _("Share of the rows that would have to change. 0 % is perfect."),
        ),
        (
            _("Worst column of events"),
            score_words(similarity.events, measures.COLUMN_DISTANCE),
            _("Share of the rows that would have to change. 0 % is perfect."),
        ),
        (
            _("Number of events off by"),
            percent(similarity.number_of_events.distance),
            _("Share of the people who would need another number of events."),
        ),
        (
            _("Relations of people kept"),
            "–" if within is None else percent(within),
            _(
                "How much of the relations between columns of the person is kept, "
                "including the number of events."
            ),
        ),
        (
            _("Relations across kept"),
            "–" if across is None else percent(across),
            _(
                "How much of the relations between a column of the person and one of "
                "the event is kept. Independent columns keep 0 %."
            ),
        ),
        (
            _("Keys that do not fit"),
            f"{candidate.broken_links:,}",
            _(
                "Keys that several people have, and events without a person or beyond "
                "the maximum."
            ),
        ),
    )
    cells = [cell for _line in range(2) for cell in st.columns(3)]
    for cell, (title, figure, explanation) in zip(cells, figures, strict=True):
        cell.metric(title, figure, help=explanation)


def _offer_file(
    linked: LinkedCurator,
    candidate: PairCandidate,
    similarity: LinkedSimilarity,
    judged: Verdict,
) -> None:
    day = candidate.release.people.created[:10]
    file_view.download(
        _("Download as one HTML file"),
        lambda: document.evaluation_html(
            linked.people.name,
            {
                _("People"): (linked.people, similarity.people),
                _("Events"): (linked.events, similarity.events),
            },
            judged,
        ),
        file_name(linked.people.name, "verdict internal", "html", day=day),
        icon="visibility_lock",
    )
