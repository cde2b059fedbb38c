"""A table for learning, and the figures of one column: their forms, and what to expect of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from dpcore.accounting.loss import Loss
from dpcore.curator import Curator
from dpcore.errors import DpcoreError
from dpcore.evaluation.utility.learning import likely_labels
from dpcore.release import Release
from dpcore.schema import Categorical, Integer, IntervalColumn, Real
from dpcore.synthesis import Figures, Gaussian, GaussianModel, Recipe, Statistics
from dpcore.synthesis.statistics import centers_of
from workbench.report.of_release import figure_name, figures_table
from workbench.store.datasets import DataSet
from workbench.ui import releases, widgets
from workbench.ui.language import N_, PERCENT, _
from workbench.ui.wording import hundredths, number

CLASS_ROWS = (100, 1_000, 10_000)
_SHARES = {"1/10": 10, "1/4": 25, "1/2": 50, "3/4": 75, "9/10": 90}
ORDERS = {order: f"{share}{PERCENT}" for order, share in _SHARES.items()}
DIFFERENCE = N_(
    "Microaggregation (on the Anonymize page) puts at least k similar people into each group and publishes "
    "the mean of the group: a syntactic promise, without epsilon. A published method draws rows from such "
    "groups, adds noise to their means, and calls that private. It keeps no epsilon at all. One feature and "
    "all labels come out unchanged, row by row. For a class of 400 people the means alone cost 140 times the "
    "stated epsilon, because the noise is divided by their number. And one person can change the groups of "
    "everybody else. With the noise that its own text asks for, its accuracy falls to chance at epsilon 0.1. "
    "Here, sums over public classes get noise for the largest change that one person can make, and all else "
    "follows from the noisy sums."
)


def choose_learning(curator: Curator, names: list[str], table: str) -> Recipe | None:
    """The Gaussian recipe that the form says; None while something is missing."""
    schema = curator.schema
    label = st.selectbox(
        _("Label: the column to be learned"),
        likely_labels(schema, names),
        key=f"label-{table}",
        persist_state="session",
    )
    others = [name for name in names if name != label]
    varied = [name for name in others if schema.column(name).size > 1]
    columns = st.multiselect(
        _("Features"), others, varied, key=f"features-{table}-{label}", persist_state="session"
    )
    unordered = [
        name
        for name in columns
        if schema.column(name).missing
        or (isinstance(column := schema.column(name), Categorical) and not column.ordered and column.size > 2)
    ]
    one_hot = st.multiselect(
        _("Drawn by their categories (one-hot)"),
        columns,
        unordered,
        key=f"one-hot-{table}-{label}-{len(columns)}",
        help=_("Columns that are no numbers, or have missing values. Each of their cells is counted."),
    )
    found = st.checkbox(
        _("Find features that go together, for a fifth of the loss"),
        key="feature-groups",
        persist_state="session",
    )
    with st.expander(_("How is this different from microaggregation?")):
        st.write(_(DIFFERENCE))
    if not columns:
        return None
    try:
        return Gaussian.of(
            schema, label=label, columns=columns, one_hot=one_hot, groups=None if found else ()
        )
    except DpcoreError as error:
        widgets.error_box(error)
        return None


def choose_statistics(curator: Curator, names: list[str], table: str) -> Recipe | None:
    """The statistics that the form asks for; None while something is missing."""
    numeric = [name for name in names if isinstance(curator.schema.column(name), Integer | Real)]
    if not numeric:
        st.info(_("No column holds numbers."))
        return None
    column = st.selectbox(_("Column"), numeric, key=f"figures-column-{table}", persist_state="session")
    moments = st.checkbox(_("Mean and spread"), True, key="figures-moments", persist_state="session")
    orders = st.multiselect(
        _("Quantiles; half of the rows lie below the 50 % one"),
        list(ORDERS),
        ["1/2"],
        format_func=ORDERS.__getitem__,
        key="figures-orders",
        persist_state="session",
    )
    if not (moments or orders):
        return None
    return Statistics.of(curator.schema, column, moments=moments, quantiles=orders)


def mean_off(curator: Curator, recipe: Recipe, loss: Loss, people: float) -> float | None:
    """How far the mean of so many rows is off at most; None for a recipe without a mean."""
    if not (isinstance(recipe, Statistics) and recipe.moments):
        return None
    return recipe.mean_width(loss, rows=curator.schema.unit.max_rows, people=people)


def expectations(curator: Curator, recipe: Recipe, loss: Loss, about: float) -> list[str]:
    """What to expect of these two recipes for a table of about so many rows, if known; reads no data."""
    rows = curator.schema.unit.max_rows
    if isinstance(recipe, Gaussian):
        ratios = [recipe.signal_to_noise(curator.schema.domain, loss, rows, people) for people in CLASS_ROWS]
        noise = recipe.mean_noise(curator.schema.domain, loss, rows)
        sizes = [
            _("{rows:,} rows: ± {error}, {ratio} to 1").format(
                rows=people, error=hundredths(50 * noise / people), ratio=number(ratio)
            )
            for people, ratio in zip(CLASS_ROWS, ratios, strict=True)
        ]
        return [
            _(
                "How far each mean of a class is off, in parts of the column's range, and the expected "
                "signal-to-noise ratio, for {sizes}."
            ).format(sizes="; ".join(sizes)),
            _(
                "Below 1 to 1, in classes of fewer than about {rows} rows, noise hides what sets them apart: "
                "take fewer features, or more epsilon."
            ).format(rows=number(CLASS_ROWS[0] / ratios[0])),
        ]
    if isinstance(recipe, Statistics):
        sentences = []
        people = about or 1_000
        width = mean_off(curator, recipe, loss, people)
        if width is not None:
            sentences.append(
                _("The mean of {rows} rows is off by at most {width}.").format(
                    rows=number(people), width=number(width)
                )
            )
        if recipe.quantiles:
            error = number(recipe.rank_error(loss, rows=rows)[0])
            sentences.append(
                _("A quantile is off by at most {error} places in the order.").format(error=error)
            )
        return [*sentences, _("Each in 95 of 100 cases.")] if sentences else []
    return []


def show_figures(data_set: DataSet, release: Release, model: Figures) -> None:
    """The figures with their intervals, and the same from rows of another release."""
    st.dataframe(figures_table(model), hide_index=True)
    st.caption(_("Each interval holds in 95 of 100 cases."))
    declared = release.schema.column(model.column)
    drawing = [
        line
        for line in releases.earlier(data_set)
        if line["request_id"] != release.request_id
        and model.column in data_set.release(line["request_id"]).model.columns
    ]
    if not drawing or not isinstance(declared, Integer | Real):
        return
    chosen = st.selectbox(
        _("The same from 10,000 rows drawn from"),
        [None, *drawing],
        format_func=lambda line: _("no release") if line is None else line["what"],
        key=f"beside-{release.request_id}",
    )
    if chosen is not None:
        values = data_set.release(chosen["request_id"]).sample(10_000, seed=0)[model.column]
        cells = declared.encode(values[values.notna()])
        middles = pd.Series(centers_of(declared)[cells[cells < declared.values_size]])
        st.dataframe(
            pd.DataFrame(
                {
                    _("figure"): [
                        figure_name(name)
                        for name in ("mean", "variance", "standard deviation", "quantile 1/2")
                    ],
                    _("value"): [
                        number(float(value))
                        for value in (middles.mean(), middles.var(), middles.std(), middles.median())
                    ],
                }
            ),
            hide_index=True,
        )


def show_classes(release: Release, model: GaussianModel) -> None:
    """Means and deviations of the features of each class, on the scale of their columns."""
    labels = release.schema.column(model.label).labels
    means, variances = model.moments.clipped
    lines = []
    for number_, name in enumerate(model.features):
        column = release.schema.column(name)
        line: dict[str, str] = {_("feature"): name}
        for code, label in enumerate(labels):
            mean, spread = float(means[code, number_]), float(variances[code, number_]) ** 0.5
            if isinstance(column, Integer | Real):
                mean, spread = on_scale(column, mean, spread)
            line[label] = f"{number(mean)} ± {number(spread)}"
        lines.append(line)
    st.markdown(_("**What each class is like: mean ± standard deviation, from the noisy sums alone.**"))
    st.dataframe(pd.DataFrame(lines), hide_index=True)
    st.caption(_("Columns that are no numbers are shown where their cells lie between -1 and 1."))


def on_scale(column: IntervalColumn, mean: float, spread: float) -> tuple[float, float]:
    """A mean and a deviation of places, evenly from -1 for the first cell to 1 for the last, in the column's
    unit; the deviation is half of what lies within one of the mean."""
    centers, cells = centers_of(column), np.arange(column.values_size)
    places = (np.array([mean, mean - spread, mean + spread]) + 1) / 2 * (column.size - 1)
    middle, low, high = np.interp(places, cells, centers)
    return float(middle), float(high - low) / 2
