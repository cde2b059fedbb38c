"""The noisy tables of a release, one at a time: counts with their intervals."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dpcore.release import Release
from dpcore.synthesis import FoundCategories
from dpcore.tables.answer import Answer
from workbench.ui import charts, widgets
from workbench.ui.language import _
from workbench.ui.wording import number


def show(release: Release) -> None:
    """Ask which of them, and draw it."""
    if isinstance(release.model, FoundCategories):
        st.dataframe(
            pd.DataFrame(release.model.counts.items(), columns=[_("category"), _("rows (noisy)")]),
            hide_index=True,
        )
        return
    cliques = list(release.marginals)
    chosen = cliques[0]
    if len(cliques) > 1:
        chosen = st.selectbox(
            _("Table"),
            cliques,
            format_func=lambda clique: " × ".join(clique) or _("number of rows"),
            key="shown-clique",
        )
    if len(chosen) > 2:
        pair = st.multiselect(
            _("Show two of its columns"), list(chosen), list(chosen[:2]), max_selections=2, key="shown-pair"
        )
        if len(pair) != 2:
            return
        chosen = tuple(pair)
    show_answer(release, release.answer(chosen), key="marginal")


def show_answer(release: Release, told: Answer, *, key: str) -> None:
    """Draw the counts of one or two columns, or the number of rows, with what they may be off by."""
    if not told.clique:
        st.metric(_("Number of rows"), f"{number(float(told.values))} ± {number(told.reach)}")
        return
    labels = [release.schema.column(name).labels for name in told.clique]
    if len(told.clique) == 1:
        cells, told = charts.folded(labels[0], told)
    if told.measured:
        st.markdown(
            _("**Each of {cells:,} counts is within {half} rows of the truth in 95 of 100 cases.**").format(
                cells=told.values.size, half=number(told.reach)
            )
        )
    else:
        st.warning(
            _(
                "These columns were not measured together: the counts follow from the model. If "
                "the columns are related otherwise, they are wrong, and no interval says by how "
                "much."
            )
        )
    ends = (told.low, told.high) if told.measured else None
    if len(told.clique) == 1:
        chart = charts.counts(cells, told.values, told.low, told.high, column=told.clique[0])
    else:
        names = (told.clique[0], told.clique[1])
        chart = charts.two_way(told.values, labels[0], labels[1], names, ends=ends)
    widgets.show_chart(chart, key=key)
