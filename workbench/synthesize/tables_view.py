"""Noisy tables of a release, one at a time, with intervals."""

import pandas as pd
import streamlit as st

from dpcore.release import Release
from dpcore.synthesis import FoundCategories
from dpcore.tables.answer import CliqueCounts
from workbench.language.labels import chart_cells
from workbench.language.messages import N_, _, capital
from workbench.language.wording import number
from workbench.report import charts
from workbench.report.sentences import view_of_release
from workbench.ui import widgets

ACCURACY_SENTENCES = {
    "rows": N_(
        "**Each of the {cells:,} counts, taken by itself, is within {half} rows of the "
        "truth in 95 of 100 cases.**"
    ),
    "people": N_(
        "**Each of the {cells:,} counts, taken by itself, is within {half} people of the "
        "truth in 95 of 100 cases.**"
    ),
    "events": N_(
        "**Each of the {cells:,} counts, taken by itself, is within {half} events of the "
        "truth in 95 of 100 cases.**"
    ),
}
"""By what is counted: people and events of linked tables, or rows."""


def show(release: Release) -> None:
    """Ask for a table of the release, and draw it."""
    if isinstance(release.model, FoundCategories):
        st.dataframe(
            pd.DataFrame(
                release.model.counts.items(), columns=[_("value"), _("rows (noisy)")]
            ),
            hide_index=True,
            alt=_("Values found, with noisy counts"),
        )
        return
    cliques = list(release.marginals)
    clique = cliques[0]
    if len(cliques) > 1:
        clique = st.selectbox(
            capital("table"),
            cliques,
            format_func=lambda clique: " × ".join(clique) or _("number of rows"),
            key="shown-clique",
        )
    if len(clique) > 2:
        pair = st.multiselect(
            capital("columns"),
            list(clique),
            list(clique[:2]),
            max_selections=2,
            key="shown-pair",
        )
        if len(pair) != 2:
            return
        clique = tuple(pair)
    show_answer(release, release.answer(clique), key="marginal")


def show_answer(release: Release, counts: CliqueCounts, *, key: str) -> None:
    """Draw the counts of one or two columns, or of all rows, with their error."""
    if not counts.clique:
        st.metric(
            capital("number of rows"),
            f"{number(float(counts.values))} ± {number(counts.max_distance_to_bound)}",
        )
        return
    labels, counts = chart_cells(release, counts)
    counted = view_of_release(release) or "rows"
    if counts.is_measured:
        st.markdown(
            _(ACCURACY_SENTENCES[counted]).format(
                cells=counts.values.size, half=number(counts.max_distance_to_bound)
            )
        )
    else:
        st.warning(
            _(
                "This number comes from the model, because no table of these "
                "columns was measured. It is wrong if the columns are related in "
                "another way, and no interval can say by how much."
            )
        )
    ends = (counts.low, counts.high) if counts.is_measured else None
    if len(counts.clique) == 1:
        column = release.schema.column(counts.clique[0])
        chart = charts.column_bars(column, labels[0], counts, counted=counted)
    else:
        names = (counts.clique[0], counts.clique[1])
        chart = charts.draw_two_way_table(
            counts.values,
            labels[0],
            labels[1],
            names,
            intervals=ends,
            title="" if counted == "rows" else _(charts.NOISY_COUNTS[counted]),
        )
    widgets.show_chart(chart, key=key)
