"""Figures 6.19 to 6.21 of the book, measured anew: ours, microaggregation and the book's code."""

import json
from pathlib import Path

import pandas as pd
import streamlit as st

from workbench.ui import examples, widgets
from workbench.ui.charts import ORIGINAL, PRIVATE, SYNTHETIC, WARNING, Pictures
from workbench.ui.language import Words, _
from workbench.ui.method_charts import SCENARIOS, against_epsilon

FIGURES = Path(__file__).with_name("book.json")
"""Written by `benchmarks/learning.py --figures`."""
METHODS = Words("learn.methods")
COLORS = {"gaussian": PRIVATE, "mdav": SYNTHETIC, "book": WARNING, "original": ORIGINAL}
MEASURES = Words("learn.measures")
NOTES = Words("learn.notes")


def lines() -> pd.DataFrame:
    """One line per table, method, k, measure, scenario and epsilon; 0 where there is no k or scenario."""
    frame = pd.DataFrame(json.loads(FIGURES.read_text(encoding="utf-8"))["lines"])
    parts = frame["score"].str.partition("_")
    frame["measure"] = parts[0]
    frame["scenario"] = pd.to_numeric(parts[2]).fillna(0).astype(int)
    return frame


def show() -> None:
    """One measure against epsilon: three tables, two scenarios, one line a method and k."""
    frame = lines()
    measure = widgets.choose(_("Measure"), MEASURES, key="book-measure")
    widgets.show_pictures(pictures(frame[frame["measure"] == measure], measure=MEASURES[measure]), key="book")
    st.caption(_(examples.BOOK))
    st.caption(NOTES["book"])


def pictures(frame: pd.DataFrame, *, measure: str) -> Pictures:
    """Draw a measure against epsilon; color tells the method, dashes and shapes tell k."""
    parts = [frame[frame["method"] == key].assign(method=METHODS[key]) for key in METHODS]
    shown = pd.concat(parts).assign(
        k=lambda each: [f"k = {k}" if k else "–" for k in each["k"]],
        scenario=lambda each: each["scenario"].astype(str).map(SCENARIOS.__getitem__),
        low=lambda each: each["mean"] - each["spread"],
        high=lambda each: each["mean"] + each["spread"],
    )
    return against_epsilon(
        shown[["table", "method", "k", "scenario", "epsilon", "mean", "low", "high"]],
        measure=measure,
        colors=[COLORS[key] for key in METHODS if (frame["method"] == key).any()],
        by="k",
    )
