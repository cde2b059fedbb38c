"""Charts of the Synthesize page."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from workbench.language.messages import _, name_and_text
from workbench.language.wording import percent, whole_number_text
from workbench.report.charts import (
    HEADINGS,
    ORIGINAL,
    PRIVATE,
    SYNTHETIC,
    Chart,
    base_chart,
    cells_axis,
    layer_marks,
    names_axis,
    tooltips,
    with_headings,
)


def expected_errors(tables: Sequence[tuple[str, int, float]], rows: float) -> Chart:
    """Draw the error of a cell relative to a mean cell, one bar per table.

    Tables are (name, cells, half-width). Without a number of rows, the bars are in
    rows.
    """
    frame = pd.DataFrame(tables, columns=["columns", "cells", "half"])
    frame["share"] = frame["half"] * frame.pop("cells") / (rows or math.inf)
    frame["label"] = [
        f"± {whole_number_text(half)} ({percent(share)})"
        if rows
        else f"± {whole_number_text(half)}"
        for half, share in zip(frame["half"], frame["share"], strict=True)
    ]
    altair, chart = base_chart(frame)
    length = (
        altair.X(
            "share:Q",
            title=_("error as a share of an average cell"),
            axis=altair.Axis(format="%"),
        )
        if rows
        else altair.X("half:Q", title=_(HEADINGS["half"]))
    )
    bars = chart.mark_bar(color=PRIVATE, height=14).encode(
        y=altair.Y(
            "columns:N", sort=None, title=None, axis=altair.Axis(labelLimit=220)
        ),
        x=length,
        tooltip=tooltips("columns", half=",.0f", share=".1%")
        if rows
        else tooltips("columns", half=",.0f"),
    )
    values = chart.mark_text(align="left", dx=4).encode(
        y=altair.Y("columns:N", sort=None),
        x=length,
        text=altair.Text("label:N"),
    )
    words = "; ".join(
        f"{name} ±{whole_number_text(half)}" for name, _cells, half in tables[:8]
    )
    return Chart(
        spec=layer_marks(bars, values, height={"step": 24}),
        alt=name_and_text(_(HEADINGS["half"]), words),
        table=with_headings(
            frame.drop(columns=["label"] if rows else ["label", "share"])
        ),
    )


def cells_with_errors(
    labels: Sequence[str], values: Any, half: float, *, column: str
) -> Chart:
    """Draw a column's cells as gray bars from public counts, with error bands."""
    frame = pd.DataFrame({"cell": list(labels), "rows": values})
    frame["low"], frame["high"] = (
        np.maximum(0, frame["rows"] - half),
        frame["rows"] + half,
    )
    altair, chart = base_chart(frame)
    x = cells_axis(labels, title=column)
    hint = tooltips("cell", low=",.0f", high=",.0f")
    bars = chart.mark_bar(color=ORIGINAL, opacity=0.45).encode(
        x=x, y=altair.Y("rows:Q", title=_("rows")), tooltip=hint
    )
    # Bars as wide as their cells join into one band for any number of cells.
    band = chart.mark_bar(
        color=PRIVATE, opacity=0.35, width=altair.RelativeBandSize(band=1)
    ).encode(
        x=x,
        y=altair.Y("low:Q", title=_("rows")),
        y2=altair.Y2("high:Q"),
        tooltip=hint,
    )
    alt = name_and_text(column, f"± {whole_number_text(half)}")
    return Chart(
        spec=layer_marks(bars, band, height=240), alt=alt, table=with_headings(frame)
    )


def pair_grid(names: Sequence[str]) -> Chart:
    """Draw a clickable square for each pair of columns.

    A click with Shift adds to the choice.
    """
    order = list(names)
    pairs_of = [(b, a) for i, a in enumerate(order) for b in order[:i]]
    frame = pd.DataFrame(pairs_of, columns=["first", "second"])
    altair, chart = base_chart(frame)
    pairs = altair.selection_point(
        name="pairs", fields=["first", "second"], toggle="true"
    )
    spec = (
        chart.mark_rect(stroke="white")
        .encode(
            x=names_axis(altair.X, "first", order),
            y=names_axis(altair.Y, "second", order),
            color=altair.condition(
                pairs, altair.value(PRIVATE), altair.value("#D5DDE3"), empty=False
            ),
            tooltip=tooltips("first", "second"),
        )
        .add_params(pairs)
    )
    alt = _("Pairs that matter most")
    return Chart(
        spec=spec.properties(height=40 + 20 * len(order)),
        alt=alt,
        table=with_headings(frame),
    )


def relation_graph(
    names: Sequence[str], links: Mapping[tuple[str, str], float]
) -> Chart:
    """Draw columns on a circle, with lines for measured relations.

    Args:
        links: the strength of each, from 0 to 1 (Cramér's V); a stronger one is thicker.
    """
    angle = 2 * np.pi * np.arange(len(names)) / max(1, len(names))
    at = {
        name: (float(np.cos(a)), float(np.sin(a)))
        for name, a in zip(names, angle, strict=True)
    }
    ends = [
        (a, b, *at[a], *at[b], strength)
        for (a, b), strength in sorted(links.items(), key=lambda link: link[1])
    ]
    edges = pd.DataFrame(ends, columns=["from", "to", "x", "y", "x2", "y2", "strength"])
    nodes = pd.DataFrame(
        [{"column": name, "x": x, "y": y} for name, (x, y) in at.items()]
    )
    altair, lines_of = base_chart(edges)
    hidden = {"axis": None, "scale": altair.Scale(domain=[-1.5, 1.5])}
    x = altair.X("x:Q", **hidden)
    y = altair.Y("y:Q", **hidden)
    rules = lines_of.mark_rule(color=PRIVATE, opacity=0.6).encode(
        x=x,
        y=y,
        x2=altair.X2("x2:Q"),
        y2=altair.Y2("y2:Q"),
        strokeWidth=altair.StrokeWidth(
            "strength:Q",
            scale=altair.Scale(domain=[0, 1], range=[0.5, 10]),
            legend=altair.Legend(
                orient="top", title=_("strength (Cramér's V)"), values=[0.1, 0.5, 1]
            ),
        ),
        tooltip=tooltips("from", "to", strength=".2f"),
    )
    points = (
        altair.Chart(nodes)
        .mark_point(filled=True, size=80, color=SYNTHETIC)
        .encode(x=x, y=y)
    )
    texts = (
        altair.Chart(nodes)
        .mark_text(dy=-12)
        .encode(x=x, y=y, text=altair.Text("column:N"))
    )
    strongest = sorted(links, key=lambda link: -links[link])
    alt = name_and_text(
        _("Relations, the strongest first"),
        "; ".join(f"{a} × {b}" for a, b in strongest[:40]),
    )
    return Chart(
        spec=layer_marks(rules, points, texts, height=420),
        alt=alt,
        table=with_headings(edges[["from", "to", "strength"]].iloc[::-1]),
    )
