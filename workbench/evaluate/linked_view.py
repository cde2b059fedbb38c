"""The comparison of a pair of linked tables: one verdict, then either table."""

import streamlit as st

from dpcore.curator import LinkedCurator
from dpcore.errors import RowsError
from dpcore.evaluation.utility import measures
from workbench.evaluate import columns_view, document, linked_report, pairs_view
from workbench.evaluate.form import PairCandidate
from workbench.evaluate.linked_report import LinkedSimilarity
from workbench.evaluate.relations import kept_relations
from workbench.evaluate.report import score_words
from workbench.evaluate.view import show_verdict
from workbench.language.messages import _, capital
from workbench.language.wording import number, percent
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
    halves = linked_report.judge_halves(
        linked, similarity, is_from_recipe=candidate.release is not None
    )
    judged = linked_report.verdict_of_pair(
        halves, similarity, candidate.broken_links, candidate.left_out_share
    )
    for note in dict.fromkeys((*candidate.people.notes, *candidate.events.notes)):
        st.caption(note)
    show_verdict(judged)
    _show_figures(similarity, candidate)
    _offer_file(linked, candidate, similarity, judged)
    tables = {
        "both": _("Both together"),
        "people": _("People"),
        "events": _("Events"),
    }
    view = address.choose_part(_("Table"), tables, key="evaluate-table")
    if view == "both":
        _show_together(similarity)
        return
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
    if candidate.release is not None:
        st.caption(
            _(
                "For side by side, learning and disclosure, choose one of both tables "
                "above."
            )
        )


def _show_together(similarity: LinkedSimilarity) -> None:
    """Show what people and events, and events of one person, have to do together."""
    numbers = similarity.number_of_events
    st.header(_("Number of events of a person"))
    if numbers.mean is not None:
        before, after = map(number, numbers.mean)
        st.write(
            _(
                "{before} on average in the original, {after} here. {share} of the "
                "people would need another number."
            ).format(before=before, after=after, share=percent(numbers.distance))
        )
    for title, table, empty in (
        (
            _("Columns of people with columns of events"),
            linked_report.across_table(similarity),
            _("No column of events can be compared."),
        ),
        (
            _("Two events of one person"),
            linked_report.within_person_table(similarity),
            _("Nobody has two events that can be compared."),
        ),
    ):
        st.header(title)
        if table.empty:
            st.caption(empty)
        else:
            st.dataframe(table, hide_index=True, alt=title)
    st.caption(
        _(
            "Both tables list the farthest first. A dash means that the original has "
            "hardly any relation to keep, or no more than chance explains."
        )
    )


def _show_figures(similarity: LinkedSimilarity, candidate: PairCandidate) -> None:
    """Show seven or eight figures of both tables."""
    within = kept_relations(similarity.people)
    across = similarity.kept_across
    figures: tuple[tuple[str, str, str], ...] = (
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
            _("Events of one person kept"),
            "–"
            if similarity.kept_within_person is None
            else percent(similarity.kept_within_person),
            _(
                "How much two events of one person resemble each other, as a share of "
                "the original."
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
    if candidate.release is None:
        left_out = (
            _("People left out"),
            percent(candidate.left_out_share),
            _("They would be in too small a group. Their events are left out too."),
        )
        figures = (*figures, left_out)
    cells = [cell for _line in range(2) for cell in st.columns(4)]
    for cell, (title, figure, explanation) in zip(cells, figures, strict=False):
        cell.metric(title, figure, help=explanation)


def _offer_file(
    linked: LinkedCurator,
    candidate: PairCandidate,
    similarity: LinkedSimilarity,
    judged: Verdict,
) -> None:
    day = candidate.release.people.created[:10] if candidate.release else ""
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
