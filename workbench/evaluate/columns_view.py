"""The columns of a release: a card each, all figures, and one of them from every source."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation.utility.similarity import SimilarityReport
from workbench.evaluate import cards, comparing
from workbench.evaluate.candidates import Candidate
from workbench.evaluate.cards import Card
from workbench.ui import widgets
from workbench.ui.language import _
from workbench.ui.wording import percent, plain

SHOWN = 20
"""Cards at once; others are found by name, or shown when asked for."""


def columns(curator: Curator, candidate: Candidate, found: SimilarityReport) -> None:
    """Every column before and after, and one of them drawn."""
    worst = found.columns[0]
    st.markdown(
        _("**The column that moved most is {column}: {distance} of its rows would have to change.**").format(
            column=plain(worst.column), distance=percent(worst.distance)
        )
    )
    show_cards(cards.of_columns(found), key="cards-columns")
    with st.expander(_("All figures as a table"), key="all-figures"):
        st.dataframe(comparing.columns_table(curator, found), hide_index=True, key="columns-table")
        st.caption(_("Pairs of figures: the original → the release."))
    _one(curator, candidate, [each.column for each in found.columns])


def counted(curator: Curator, candidate: Candidate) -> None:
    """What counts alone can tell, of an original of any size: columns, pairs, and one column drawn."""
    st.subheader(_("Counts of all rows"))
    found, left_out = comparing.distances(curator, candidate)
    columns = [clique for clique in found if len(clique) == 1]
    worst = columns[0]
    st.markdown(
        _("**The column that moved most is {column}: {distance} of its rows would have to change.**").format(
            column=plain(worst[0]), distance=percent(found[worst])
        )
    )
    st.dataframe(comparing.distances_table(found), hide_index=True, key="counted")
    if left_out:
        st.caption(
            _("{left_out:,} pairs of columns have too many cells and are left out.").format(left_out=left_out)
        )
    _one(curator, candidate, [name for (name,) in columns])


def show_cards(all_: Sequence[Card], *, key: str) -> None:
    """The worst cards, or those that a person looks for."""
    end, shown = cards.end_of(all_), list(all_)
    if len(all_) > SHOWN:
        left, right = st.columns([3, 2], vertical_alignment="bottom")
        text = left.text_input(_("Find a column by its name"), key=f"{key}-find")
        everything = right.toggle(_("All {number} cards").format(number=len(all_)), key=f"{key}-all")
        shown = cards.matching(all_, text)
        if not text and not everything:
            st.caption(_("The {shown} that came out worst, of {all}.").format(shown=SHOWN, all=len(all_)))
            shown = shown[:SHOWN]
    st.html(cards.drawn(shown, end=end))
    st.html(cards.legend(has_independent=any(card.independent is not None for card in all_)))


def _one(curator: Curator, candidate: Candidate, names: Sequence[str]) -> None:
    """One column in one chart: original, noisy counts, drawn rows, other releases of it."""
    st.subheader(_("One column from every source"))
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    name = left.selectbox(_("Column"), names, key=f"evaluate-column-{candidate.key[:8]}")
    shares = right.segmented_control(
        _("Counted in"),
        [True, False],
        default=True,
        required=True,
        format_func=lambda is_share: _("share of rows") if is_share else _("rows"),
        key="evaluate-unit",
    )
    sources = comparing.sources(curator, candidate, name)
    titles = list(sources)
    chosen = st.multiselect(
        _("In the chart"), titles, titles[:2], key=f"evaluate-sources-{candidate.key[:20]}-{name}"
    )
    if chosen:
        labels = comparing.counts_of(curator, candidate, name).labels[0]
        drawn = {title: sources[title]() for title in chosen}
        chart = comparing.column_chart(labels, drawn, column=name, shares=bool(shares))
        widgets.show_chart(chart, key="column")
