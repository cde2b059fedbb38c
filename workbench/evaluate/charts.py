"""Charts of the Evaluate page: two distributions in one, measures on a scale, scores, attacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from workbench.ui.charts import (
    ORIGINAL,
    PRIVATE,
    SYNTHETIC,
    WARNING,
    Chart,
    drawing,
    headed,
    tips,
    tips_of,
)
from workbench.ui.language import _
from workbench.ui.method_charts import COLORS
from workbench.ui.wording import percent

STEPS = 30
"""Cells from which on lines are clearer than bars."""


def several(frame: pd.DataFrame, *, column: str, y_title: str, shares: bool) -> Chart:
    """One column as several sources have it: bars side by side, or steps where there are many cells.

    Args: frame: cell, of (the source), rows; in the order of the cells and of the sources.
    """
    names, cells = list(frame["of"].unique()), list(frame["cell"].unique())
    altair, chart = drawing(frame)
    x = altair.X("cell:N", sort=None, title=column, axis=altair.Axis(labelOverlap=True, labelLimit=120))
    form = "%" if shares else ",.0f"
    y = altair.Y("rows:Q", title=y_title, axis=altair.Axis(format=form))
    color = _color(altair, "of", names, [ORIGINAL, *COLORS])
    tooltip = tips("of", "cell", rows=".2%" if shares else ",.1f")
    if len(cells) > STEPS:
        dash = altair.StrokeDash("of:N", title=None, scale=altair.Scale(domain=names))
        marks = chart.mark_line(interpolate="step").encode(
            x=x, y=y, color=color, strokeDash=dash, tooltip=tooltip
        )
    else:
        offset = altair.XOffset("of:N", sort=names)
        marks = chart.mark_bar().encode(x=x, xOffset=offset, y=y, color=color, tooltip=tooltip)
    alt = _("{column} in {cells} cells: {sources}.").format(
        column=column, cells=len(cells), sources="; ".join(names)
    )
    return Chart(spec=marks.properties(height=320), alt=alt, table=headed(frame))


def dots(frame: pd.DataFrame, *, title: str) -> Chart:
    """Distances as one line per figure and a dot per table."""
    names = list(frame["of"].unique())
    altair, chart = drawing(frame)
    y = altair.Y("figure:N", sort=None, title=None, axis=altair.Axis(labelLimit=220))
    points = chart.mark_point(size=110, filled=True, opacity=0.9).encode(
        y=y,
        x=altair.X("distance:Q", title=title, axis=altair.Axis(format="%")),
        color=_color(altair, "of", names, [SYNTHETIC, WARNING]),
        shape=altair.Shape("of:N", title=None, scale=altair.Scale(domain=names)),
        tooltip=tips("figure", "of", distance=".2%"),
    )
    lines = chart.mark_line(color=ORIGINAL, opacity=0.6).encode(
        y=y, x=altair.X("distance:Q"), detail=altair.Detail("figure:N")
    )
    alt = _("{title}: {tables} side by side.").format(title=title, tables="; ".join(names))
    return Chart(spec=altair.layer(lines, points, height={"step": 24}), alt=alt, table=headed(frame))


def scales(figures: pd.DataFrame) -> Chart:
    """One line per measure: the release and another sample, from perfect (0) to independent columns (1)."""
    names = {"release": SYNTHETIC, "another sample": ORIGINAL}
    long = figures.melt("figure", value_vars=list(names), var_name="of", value_name="place").dropna()
    long["shown"] = long["place"].clip(upper=1.5)
    altair, chart = drawing(long)
    y = altair.Y("figure:N", sort=list(figures["figure"]), title=None, axis=altair.Axis(labelLimit=220))
    points = chart.mark_point(size=110, filled=True, opacity=0.9).encode(
        y=y,
        x=altair.X(
            "shown:Q",
            title=_("0 is perfect · 1 is what independent columns would score"),
            scale=altair.Scale(domain=[0, 1.5]),
        ),
        color=_color(altair, "of", list(names), list(names.values())),
        shape=altair.Shape(
            "of:N", title=None, scale=altair.Scale(domain=list(names), range=["circle", "triangle-right"])
        ),
        tooltip=tips("figure", "of", place=".3f"),
    )
    marks = altair.Chart(pd.DataFrame({"at": [0, 1]})).mark_rule(strokeDash=[4, 4], color=WARNING)
    alt = _("Between perfect (0) and independent columns (1): ") + "; ".join(
        f"{line.figure} {line.release:.2f}" for line in figures.itertuples()
    )
    return Chart(
        spec=altair.layer(marks.encode(x=altair.X("at:Q")), points, height=80 + 26 * len(figures)),
        alt=alt,
        table=headed(figures),
    )


def scores(frame: pd.DataFrame, *, title: str) -> Chart:
    """Scores of learners with their spread: one line per learner and scenario, four marks on it."""
    names = list(frame["of"].unique())
    altair, chart = drawing(frame)
    y = altair.Y("task:N", sort=None, title=None, axis=altair.Axis(labelLimit=180))
    x = altair.X("mean:Q", title=title, scale=altair.Scale(zero=False))
    color = _color(altair, "of", names, [SYNTHETIC, ORIGINAL, WARNING, PRIVATE])
    points = chart.mark_point(size=100, filled=True, opacity=0.9).encode(
        y=y,
        x=x,
        color=color,
        shape=altair.Shape("of:N", title=None, scale=altair.Scale(domain=names)),
        tooltip=tips_of(frame),
    )
    spread = chart.mark_rule(opacity=0.6).encode(
        y=y, x=altair.X("low:Q"), x2=altair.X2("high:Q"), color=color
    )
    spec = altair.layer(spread, points, height={"step": 34})
    alt = _("{title} by learner. The release: ").format(title=title) + "; ".join(
        f"{line.task} {line.mean:.3f}" for line in frame.itertuples() if line.of == names[0]
    )
    return Chart(spec=spec, alt=alt, table=headed(frame))


def attacks(frame: pd.DataFrame) -> Chart:
    """Success of each attack with its interval: on people in the release, on others, and without it."""
    names = list(frame["of"].unique())
    altair, chart = drawing(frame)
    y = altair.Y("attack:N", sort=None, title=None, axis=altair.Axis(labelLimit=320))
    offset = altair.YOffset("of:N", sort=names)
    color = _color(altair, "of", names, [WARNING, PRIVATE, ORIGINAL])
    x = altair.X(
        "rate:Q",
        title=_("attempts that succeed"),
        axis=altair.Axis(format="%"),
        scale=altair.Scale(domain=[0, 1]),
    )
    tooltip = tips("attack", "of", "attempts", rate=".1%", low=".1%", high=".1%")
    points = chart.mark_point(size=80, filled=True).encode(
        y=y,
        yOffset=offset,
        x=x,
        color=color,
        shape=altair.Shape("of:N", title=None, scale=altair.Scale(domain=names)),
        tooltip=tooltip,
    )
    bars = chart.mark_rule(strokeWidth=2, opacity=0.7).encode(
        y=y, yOffset=offset, x=altair.X("low:Q"), x2=altair.X2("high:Q"), color=color
    )
    alt = _("Success of each attack: ") + "; ".join(
        f"{attack}, {of}: {percent(rate)}"
        for attack, of, rate in zip(frame["attack"], frame["of"], frame["rate"], strict=True)
    )
    return Chart(spec=altair.layer(bars, points, height={"step": 16}), alt=alt, table=headed(frame))


def _color(altair: Any, field: str, names: Sequence[str], colors: Sequence[str]) -> Any:
    return altair.Color(
        f"{field}:N",
        title=None,
        scale=altair.Scale(domain=list(names), range=list(colors[: len(names)])),
        legend=altair.Legend(orient="top", columns=2, labelLimit=0),
    )
