"""The noisy tables of a release, one at a time: counts with their intervals."""

from __future__ import annotations

import dataclasses

import pandas as pd
import streamlit as st

from dpcore.release import Release
from dpcore.synthesis import FoundCategories
from dpcore.tables.counts import Marginal
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
    _marginal(release, release.marginals[chosen])


def _marginal(release: Release, marginal: Marginal) -> None:
    clique = marginal.clique
    half = marginal.half_width()
    if not clique:
        st.metric(_("Number of rows"), f"{number(float(marginal.values))} ± {number(half)}")
        return
    if len(clique) == 1:
        column = release.schema.column(clique[0])
        labels, values, variance = charts.fold(column.labels, marginal.values, marginal.variance)
        shown = dataclasses.replace(marginal, values=values, variance=variance)
        st.markdown(
            _("**Each count is within {half} rows of the truth in 95 of 100 cases.**").format(
                half=number(shown.half_width())
            )
        )
        widgets.show_chart(charts.counts(labels, values, *shown.interval(), column=clique[0]), key="marginal")
        return
    st.markdown(
        _("**Each of {cells:,} counts is within {half} rows of the truth in 95 of 100 cases.**").format(
            cells=marginal.values.size, half=number(half)
        )
    )
    if len(clique) > 2:
        pair = st.multiselect(
            _("Show two of its columns"), list(clique), list(clique[:2]), max_selections=2, key="shown-pair"
        )
        if len(pair) != 2:
            return
        marginal = marginal.project(tuple(pair))
    a, b = marginal.clique
    chart = charts.two_way(
        marginal.values,
        release.schema.column(a).labels,
        release.schema.column(b).labels,
        (a, b),
        ends=marginal.interval(),
    )
    widgets.show_chart(chart, key="marginal")
