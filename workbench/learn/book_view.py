"""Charts that repeat Figures 6.19 to 6.21 of the textbook with new measurements.

They compare ours, microaggregation and the book's code.
"""

import json
from pathlib import Path

import pandas as pd
import streamlit as st

from workbench.language.messages import N_, _, translate_table
from workbench.report.charts import ORIGINAL, PRIVATE, SYNTHETIC, WARNING, Pictures
from workbench.ui import examples, widgets
from workbench.ui.method_charts import SCENARIOS, draw_against_epsilon

FIGURES_FILE = Path(__file__).with_name("book.json")
"""Scores that `benchmarks/learning.py --figures` writes."""
METHOD_NAMES = {
    "gaussian": N_("Gaussian by class"),
    "mdav": N_("MDAV (k-anonymous, no epsilon)"),
    "book": N_("the book's code (does not satisfy its epsilon)"),
    "original": N_("original, no privacy"),
}
METHOD_COLORS = {
    "gaussian": PRIVATE,
    "mdav": SYNTHETIC,
    "book": WARNING,
    "original": ORIGINAL,
}
MEASURE_NAMES = {
    "svm": N_("support vector machine"),
    "mse": N_("mean squared error (target scaled to -1 to 1)"),
    "nmi": N_("agreement of the groups (NMI)"),
}


def read_scores() -> pd.DataFrame:
    """Return the scores, one row per table, method, k, measure, scenario and epsilon.

    k and scenario are 0 if they do not apply.
    """
    frame = pd.DataFrame(json.loads(FIGURES_FILE.read_text(encoding="utf-8"))["lines"])
    parts = frame["score"].str.partition("_")
    frame["measure"] = parts[0]
    frame["scenario"] = pd.to_numeric(parts[2]).fillna(0).astype(int)
    return frame


def show() -> None:
    """Show a measure against epsilon, for three tables and two scenarios."""
    frame = read_scores()
    measure = widgets.choose(
        _("Measure"), translate_table(MEASURE_NAMES), key="book-measure"
    )
    widgets.show_pictures(
        draw_pictures(
            frame[frame["measure"] == measure], measure=_(MEASURE_NAMES[measure])
        ),
        key="book",
    )
    st.caption(_(examples.BOOK_REFERENCE))
    st.caption(
        _(
            "Three public tables, five random splits. No k is best everywhere: it "
            "depends on the table, the scenario and the measure. The book's code "
            "publishes one column and all labels unchanged, so its lines stand for no "
            "level of privacy. In scenario 1, a score above that of the original "
            "means that the release is easier to learn from, not better."
        )
    )


def draw_pictures(frame: pd.DataFrame, *, measure: str) -> Pictures:
    """Draw a measure against epsilon; color shows the method, dash and shape show k."""
    parts = [
        frame[frame["method"] == key].assign(method=_(METHOD_NAMES[key]))
        for key in METHOD_NAMES
    ]
    shown = pd.concat(parts).assign(
        k=lambda each: [f"k = {k}" if k else "–" for k in each["k"]],
        scenario=lambda each: (
            each["scenario"].astype(str).map(translate_table(SCENARIOS).__getitem__)
        ),
        low=lambda each: each["mean"] - each["spread"],
        high=lambda each: each["mean"] + each["spread"],
    )
    return draw_against_epsilon(
        shown[["table", "method", "k", "scenario", "epsilon", "mean", "low", "high"]],
        measure=measure,
        colors=[
            METHOD_COLORS[key] for key in METHOD_NAMES if (frame["method"] == key).any()
        ],
        shape_field="k",
    )
