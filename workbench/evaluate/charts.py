"""Charts of the Evaluate page: two distributions in one, measures on a scale, scores, attacks, sweeps."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import pandas as pd

from workbench.ui.charts import (
    ORIGINAL,
    PRIVATE,
    SYNTHETIC,
    WARNING,
    Chart,
    Pictures,
    dot,
    drawing,
    headed,
    tips,
    tips_of,
)
from workbench.ui.language import _
from workbench.ui.wording import percent

_WIDE = ("#009E73", "#0072B2", "#CC79A7", "#D55E00", "#7A7A7A", "#56B4E9", "#E69F00", "#4D4D4D")
_SHAPES = {
    "circle": "●",
    "square": "■",
    "triangle-up": "▲",
    "diamond": "◆",
    "cross": "✚",
    "triangle-down": "▼",
}
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
    color = _color(altair, "of", names, [ORIGINAL, *_WIDE])
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


def against_epsilon(
    frame: pd.DataFrame, *, measure: str, colors: Sequence[str] = _WIDE, by: str = "method"
) -> Pictures:
    """A measure against epsilon: a line of pictures per table, one per scenario, each as wide as its place.

    Methods without an epsilon are level lines. These are figures 6.19 to 6.21 of the book.

    Args:
        frame: table, method, scenario, epsilon, mean, low, high; and what `by` names.
        by: the field that is told by shapes, while colors tell the method.
    """
    names, ways = list(frame["method"].unique()), list(frame[by].unique())
    wide = 0 < 20 * frame["mean"].min() < frame["mean"].max()
    if wide:
        frame = frame.assign(low=frame["low"].clip(lower=frame["mean"] / 10))  # on a log scale too
    colors = [colors[i % len(colors)] for i in range(len(names))]
    shapes = [list(_SHAPES)[i % len(_SHAPES)] for i in range(len(ways))]
    lines: list[list[Chart]] = []
    for table, of_table in frame.groupby("table", sort=False):
        lines.append([])
        for scenario, shown in of_table.groupby("scenario"):
            altair, chart = drawing(shown)
            chart = chart.encode(
                x=altair.X(
                    "epsilon:Q",
                    title=_("epsilon"),
                    scale=altair.Scale(type="log"),
                    axis=altair.Axis(values=sorted(frame["epsilon"].unique()), format="~g"),
                ),
                y=altair.Y(
                    "mean:Q", title=None, scale=altair.Scale(type="log") if wide else altair.Scale(zero=False)
                ),
                color=altair.Color("method:N", scale=altair.Scale(domain=names, range=colors), legend=None),
            )
            spread = chart.mark_rule(opacity=0.3).encode(y=altair.Y("low:Q"), y2=altair.Y2("high:Q"))
            line = chart.mark_line().encode(detail=altair.Detail(f"{by}:N"))
            points = chart.mark_point(filled=True, size=70, opacity=0.9).encode(
                shape=altair.Shape(f"{by}:N", scale=altair.Scale(domain=ways, range=shapes), legend=None),
                tooltip=tips_of(shown),
            )
            alt = _("{measure} against epsilon for {methods}: {table}, {scenario}.").format(
                measure=measure, methods=", ".join(names), table=table, scenario=scenario
            )
            title = altair.Title(str(table), subtitle=str(scenario), anchor="start")
            spec = altair.layer(spread, line, points, title=title, height=300)
            lines[-1].append(Chart(spec=spec, alt=alt, table=headed(shown)))
    signs = [_SHAPES[shape] for shape in shapes]
    if by == "method":
        legend = [dot(*each) for each in zip(colors, map("{} {}".format, signs, names), strict=True)]
    else:
        legend = [dot(*each) for each in zip(colors, names, strict=True)]
        legend += [f"<span>{sign} {html.escape(way)}</span>" for sign, way in zip(signs, ways, strict=True)]
    return Pictures(lines=lines, legend=legend)


def _color(altair: Any, field: str, names: Sequence[str], colors: Sequence[str]) -> Any:
    return altair.Color(
        f"{field}:N",
        title=None,
        scale=altair.Scale(domain=list(names), range=list(colors[: len(names)])),
        legend=altair.Legend(orient="top", columns=2, labelLimit=0),
    )
