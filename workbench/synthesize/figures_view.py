"""Figures of a column, and classes of a table for learning."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from dpcore.release import Release
from dpcore.schema import Integer, IntervalColumn, Real
from dpcore.synthesis import Figures, GaussianModel
from dpcore.synthesis.statistics import centers_of
from workbench.store.datasets import DataSet
from workbench.ui import releases
from workbench.ui.language import _
from workbench.ui.report.of_release import figure_name, figures_table
from workbench.ui.wording import number


def show_figures(data_set: DataSet, release: Release, model: Figures) -> None:
    """Show the figures with their intervals, and the same from rows of another release."""
    st.dataframe(figures_table(model), hide_index=True)
    st.caption(_("Each interval holds in 95 of 100 cases."))
    column = release.schema.column(model.column)
    others = [
        line
        for line in releases.earlier(data_set)
        if line["request_id"] != release.request_id
        and model.column in data_set.release(line["request_id"]).model.columns
    ]
    if not others or not isinstance(column, Integer | Real):
        return
    other = st.selectbox(
        _("The same from 10,000 rows drawn from"),
        [None, *others],
        format_func=lambda line: _("no release") if line is None else line["what"],
        key=f"beside-{release.request_id}",
    )
    if other is None:
        return
    values = data_set.release(other["request_id"]).sample(10_000, seed=0)[model.column]
    cells = column.encode(values[values.notna()])
    middles = pd.Series(centers_of(column)[cells[cells < column.values_size]])
    figures = {
        "mean": middles.mean(),
        "variance": middles.var(),
        "standard deviation": middles.std(),
        "quantile 1/2": middles.median(),
    }
    names, numbers = map(figure_name, figures), map(number, map(float, figures.values()))
    st.dataframe(pd.DataFrame({_("figure"): names, _("value"): numbers}), hide_index=True)


def show_classes(release: Release, model: GaussianModel) -> None:
    """Show means and deviations of the features of each class, on the scale of their columns."""
    means, variances = model.moments.clipped
    lines = []
    for place, name in enumerate(model.features):
        column, line = release.schema.column(name), {_("feature"): name}
        for code, label in enumerate(release.schema.column(model.label).labels):
            mean, spread = float(means[code, place]), float(variances[code, place]) ** 0.5
            if isinstance(column, Integer | Real):
                mean, spread = on_scale(column, mean, spread)
            line[label] = f"{number(mean)} ± {number(spread)}"
        lines.append(line)
    st.markdown(_("**What each class is like: mean ± standard deviation, from the noisy sums alone.**"))
    st.dataframe(pd.DataFrame(lines), hide_index=True)
    st.caption(_("Columns that are no numbers are shown where their cells lie between -1 and 1."))


def on_scale(column: IntervalColumn, mean: float, spread: float) -> tuple[float, float]:
    """Return a mean and a deviation in the unit of a column.

    Args:
        column: an interval column.
        mean: of places, evenly from -1 for the first cell to 1 for the last.
        spread: standard deviation of these places.

    Returns: the mean, and half of what lies within one deviation of it.
    """
    centers, cells = centers_of(column), np.arange(column.values_size)
    places = (np.array([mean, mean - spread, mean + spread]) + 1) / 2 * (column.size - 1)
    middle, low, high = np.interp(places, cells, centers)
    return float(middle), float(high - low) / 2
