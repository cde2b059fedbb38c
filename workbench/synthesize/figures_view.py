"""Show the figures of a column, or the class means of a table for learning."""

import math

import numpy as np
import pandas as pd
import streamlit as st

from dpcore.release import Release
from dpcore.schema import IntervalColumn, NumberColumn
from dpcore.synthesis import Figures, GaussianModel
from dpcore.synthesis.statistics import cell_centers
from workbench.language.labels import cell_labels
from workbench.language.messages import _
from workbench.language.wording import number
from workbench.report.of_release import figure_name, figures_table
from workbench.store.ledger.datasets import DataSet
from workbench.ui import releases


def show_figures(data_set: DataSet, release: Release, model: Figures) -> None:
    """Show a column's figures with intervals, and the same figures of drawn rows."""
    st.dataframe(
        figures_table(model), hide_index=True, alt=_("Figures with their intervals")
    )
    st.caption(_("Each interval contains the true value in 95 of 100 cases."))
    column = release.schema.column(model.column)
    others = [
        line
        for line in releases.list_releases(data_set)
        if line["request_id"] != release.request_id
        and model.column in data_set.release(line["request_id"]).model.columns
    ]
    if not others or not isinstance(column, NumberColumn):
        return
    other = st.selectbox(
        _("Compare with 10,000 rows drawn from another release"),
        [None, *others],
        format_func=lambda line: _("none") if line is None else line["what"],
        key=f"beside-{release.request_id}",
    )
    if other is None:
        return
    values = data_set.release(other["request_id"]).sample(10_000, seed=0)[model.column]
    cells = column.encode(values[values.notna()])
    middles = pd.Series(cell_centers(column)[cells[cells < column.values_size]])
    figures = {
        "mean": middles.mean(),
        "variance": middles.var(),
        "standard deviation": middles.std(),
        "quantile 1/2": middles.median(),
    }
    names = map(figure_name, figures)
    numbers = map(number, map(float, figures.values()))
    st.dataframe(
        pd.DataFrame({_("figure"): names, _("value"): numbers}),
        hide_index=True,
        alt=_("The same figures of drawn rows"),
    )


def show_classes(release: Release, model: GaussianModel) -> None:
    """Show means and deviations of each class, in the units of the columns."""
    laws = model.moments
    means, variances = laws.drawn_moments
    scales = np.sqrt(np.diagonal(laws.covariances, axis1=1, axis2=2))
    lines = []
    for place, name in enumerate(model.features):
        column = release.schema.column(name)
        line = {_("column"): name}
        for code, label in enumerate(cell_labels(release.schema.column(model.label))):
            if isinstance(column, NumberColumn):
                mean, spread = moments_in_units(
                    column, laws.centers[code, place], scales[code, place]
                )
            else:
                mean = float(means[code, place])
                spread = float(variances[code, place]) ** 0.5
            line[label] = f"{number(mean)} ± {number(spread)}"
        lines.append(line)
    st.markdown(
        _(
            "**Mean ± standard deviation of each class, computed from the noisy "
            "sums alone.**"
        )
    )
    st.dataframe(
        pd.DataFrame(lines),
        hide_index=True,
        alt=_("Mean and standard deviation of each class"),
    )


def moments_in_units(
    column: IntervalColumn, center: float, scale: float
) -> tuple[float, float]:
    """Convert a normal law's mean and standard deviation to the unit of its column.

    They are those of drawn cells, at the middle of each cell.

    Args:
        column: an interval column.
        center: mean of a normal law of places, evenly from -1 for the first cell to 1 for
            the last.
        scale: standard deviation of that law, whose places are drawn to the nearest
            cell.
    """
    from scipy.special import ndtr

    # The chance of a cell is the normal law's mass between the midpoints to its
    # neighbors; the first and last cells get the tails.
    between = (2 * np.arange(1, column.values_size) - 1) / (column.values_size - 1) - 1
    shares = np.diff(ndtr((between - center) / scale), prepend=0.0, append=1.0)
    values = cell_centers(column)
    mean = float(shares @ values)
    return mean, math.sqrt(shares @ (values - mean) ** 2)
