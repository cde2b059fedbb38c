"""Figures 6.19 to 6.21 of the book, measured anew: ours, microaggregation and the book's code."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import streamlit as st

from workbench.ui import examples, widgets
from workbench.ui.charts import ORIGINAL, PRIVATE, SYNTHETIC, WARNING, Chart, drawing, headed, tips
from workbench.ui.language import N_, Words, _

FIGURES = Path(__file__).with_name("figures.json")
"""Written by `benchmarks/learning.py --figures`."""
METHODS = Words(
    {
        "gaussian": N_("Gaussian by class (differentially private)"),
        "mdav": N_("MDAV (k-anonymous, no epsilon)"),
        "book": N_("the book's code (keeps no epsilon)"),
        "original": N_("original, no privacy"),
    }
)
COLORS = {"gaussian": PRIVATE, "mdav": SYNTHETIC, "book": WARNING, "original": ORIGINAL}
MEASURES = Words(
    {
        "svm": N_("accuracy of a support vector machine"),
        "mse": N_("mean squared error of a line through labels of 1 and -1"),
        "nmi": N_("agreement of the groups (NMI)"),
    }
)


def lines() -> pd.DataFrame:
    """One line per table, method, k, measure, scenario and epsilon; 0 where there is no k or scenario."""
    frame = pd.DataFrame(json.loads(FIGURES.read_text(encoding="utf-8"))["lines"])
    parts = frame["score"].str.partition("_")
    frame["measure"] = parts[0]
    frame["scenario"] = pd.to_numeric(parts[2]).fillna(0).astype(int)
    return frame


def show() -> None:
    """One measure against epsilon: three tables, two scenarios, one line a method and k."""
    found = lines()
    measure = st.segmented_control(
        _("Measure"),
        list(MEASURES),
        default="svm",
        required=True,
        format_func=MEASURES.__getitem__,
        key="book-measure",
    )
    chart = against_epsilon(found[found["measure"] == measure], measure=MEASURES[measure])
    widgets.show_chart(chart, key="book")
    st.caption(_(examples.BOOK))
    st.caption(
        _(
            "Three public tables, five random splits. No k is best everywhere: which one is, depends on the "
            "table, the scenario and the measure. The book's code publishes a column and all labels as they "
            "are, so its lines are no level of privacy. In scenario 1 a score above that of the original "
            "means that the release is easier, not better."
        )
    )


def against_epsilon(frame: pd.DataFrame, *, measure: str) -> Chart:
    """The measure against epsilon: color tells the method, the dashes tell k."""
    scenarios = {
        0: _("both scenarios are one"),
        1: _("1: learn from the original, test on the release"),
        2: _("2: learn from the release, test on the original"),
    }
    ks = sorted(frame["k"].unique())
    names = {key: METHODS[key] for key in METHODS if (frame["method"] == key).any()}
    shown = pd.DataFrame(
        {
            "table": frame["table"],
            "method": frame["method"].map(names),
            "k": frame["k"].map(lambda k: f"k = {k}" if k else _("no k")),
            "scenario": frame["scenario"].map(scenarios),
            "epsilon": frame["epsilon"],
            "mean": frame["mean"],
            "low": (frame["mean"] - frame["spread"]).clip(lower=frame["mean"] / 10),  # on a log scale too
            "high": frame["mean"] + frame["spread"],
        }
    )
    altair, chart = drawing(shown)
    x = altair.X("epsilon:Q", title=_("epsilon"))
    wide = frame["mean"].max() > 20 * frame["mean"].min()
    scale = altair.Scale(type="log") if wide else altair.Scale(zero=False)
    color = altair.Color(
        "method:N",
        title=None,
        scale=altair.Scale(domain=list(names.values()), range=[COLORS[key] for key in names]),
        legend=altair.Legend(orient="top", columns=2, labelLimit=0),
    )
    domain = [f"k = {k}" if k else _("no k") for k in ks]
    dashes = altair.StrokeDash(
        "k:N",
        title=None,
        scale=altair.Scale(domain=domain, range=[[1, 0], [2, 2], [4, 2], [6, 3], [10, 4]][: len(domain)]),
        legend=altair.Legend(orient="top"),
    )
    line = chart.mark_line(point=True).encode(
        x=x,
        y=altair.Y("mean:Q", title=measure, scale=scale),
        color=color,
        strokeDash=dashes,
        detail=altair.Detail("k:N"),
        tooltip=tips(*shown.columns),
    )
    spread = chart.mark_rule(opacity=0.25).encode(
        x=x, y=altair.Y("low:Q"), y2=altair.Y2("high:Q"), color=color
    )
    tables = list(dict.fromkeys(shown["table"]))
    spec = (
        (spread + line)
        .properties(width=620 // len(tables), height=220)
        .facet(
            column=altair.Column("table:N", sort=tables, title=None),
            row=altair.Row("scenario:N", title=None),
        )
        .resolve_scale(y="independent")
    )
    alt = _("{measure} against epsilon for {methods}, on {tables}, in each scenario.").format(
        measure=measure, methods=", ".join(names.values()), tables=", ".join(tables)
    )
    return Chart(spec=spec, alt=alt, table=headed(shown))
