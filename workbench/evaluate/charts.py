"""Charts of the Evaluate page: two distributions in one, figures on their scales."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from workbench.ui.charts import ORIGINAL, SYNTHETIC, WARNING, Chart, drawing
from workbench.ui.language import _


def overlay(labels: Sequence[str], original: Any, other: Any, *, column: str) -> Chart:
    """Two distributions of one column: grey steps for the original, green bars for the release."""
    frame = pd.DataFrame({"cell": list(labels), "original": original, "release": other})
    altair, chart = drawing(frame)
    x = altair.X("cell:N", sort=None, title=column, axis=altair.Axis(labelOverlap=True, labelLimit=120))
    bars = chart.mark_bar(color=SYNTHETIC, opacity=0.6).encode(
        x=x,
        y=altair.Y("release:Q", title=_("share of rows"), axis=altair.Axis(format="%")),
        tooltip=[
            "cell",
            altair.Tooltip("release:Q", format=".2%"),
            altair.Tooltip("original:Q", format=".2%"),
        ],
    )
    ticks = chart.mark_tick(color=ORIGINAL, thickness=3).encode(x=x, y="original:Q")
    alt = _("Shares of {column}: bars are the release, grey ticks the original.").format(column=column)
    return Chart(spec=(bars + ticks).properties(height=300), alt=alt, table=frame)


def scales(figures: pd.DataFrame) -> Chart:
    """One line a figure: the release as a dot between what chance alone does and independent columns."""
    names = {"release": SYNTHETIC, "sampling floor": ORIGINAL, "independent columns": WARNING}
    long = figures.melt("figure", var_name="of", value_name="distance")
    altair, chart = drawing(long)
    spec = chart.mark_point(size=110, filled=True, opacity=0.9).encode(
        y=altair.Y("figure:N", sort=list(figures["figure"]), title=None, axis=altair.Axis(labelLimit=220)),
        x=altair.X("distance:Q", title=_("total variation distance")),
        color=altair.Color(
            "of:N",
            title=None,
            scale=altair.Scale(domain=list(names), range=list(names.values())),
            legend=altair.Legend(orient="top", columns=2),
        ),
        shape=altair.Shape(
            "of:N",
            title=None,
            scale=altair.Scale(domain=list(names), range=["circle", "triangle-right", "triangle-left"]),
        ),
        tooltip=["figure", "of", altair.Tooltip("distance:Q", format=".4f")],
    )
    alt = _("Distances of the release: ") + "; ".join(
        f"{line.figure} {line.release:.3f}" for line in figures.itertuples()
    )
    return Chart(spec=spec.properties(height=110 + 26 * len(figures)), alt=alt, table=figures)
