"""Charts that compare methods by epsilon, with one line of pictures per table."""

import html
from collections.abc import Sequence

import pandas as pd

from workbench.language.messages import N_, _, join_with_commas
from workbench.report.charts import (
    Chart,
    Pictures,
    base_chart,
    layer_marks,
    legend_entry,
    tooltips_of,
    with_headings,
)

SCENARIOS = {
    "0": N_("both scenarios are one"),
    "1": N_("1: learn from the original, test on the release"),
    "2": N_("2: learn from the release, test on the original"),
}
METHOD_COLORS = (
    "#009E73",
    "#0072B2",
    "#CC79A7",
    "#D55E00",
    "#7A7A7A",
    "#56B4E9",
    "#E69F00",
    "#4D4D4D",
)
_METHOD_SHAPES = {
    "circle": "●",
    "square": "■",
    "triangle-up": "▲",
    "diamond": "◆",
    "cross": "✚",
    "triangle-down": "▼",
}


def draw_against_epsilon(
    frame: pd.DataFrame,
    *,
    measure: str,
    colors: Sequence[str] = METHOD_COLORS,
    shape_field: str = "method",
) -> Pictures:
    """Draw a measure against epsilon, a line of pictures per table.

    Each picture is one scenario.

    Methods without an epsilon are level lines. These are figures 6.19 to 6.21 of the
    book.

    Args:
        frame: table, method, scenario, epsilon, mean, low, high; and what `shape_field` names.
        measure: its title.
        colors: colors of the methods in their order, repeated as needed.
        shape_field: the field that is told by shapes, while colors tell the method.
    """
    names = list(frame["method"].unique())
    ways = list(frame[shape_field].unique())
    wide = 0 < 20 * frame["mean"].min() < frame["mean"].max()
    if wide:
        # a log scale has no place for intervals that reach 0
        frame = frame.assign(low=frame["low"].clip(lower=frame["mean"] / 10))
    colors = [colors[i % len(colors)] for i in range(len(names))]
    shapes = [list(_METHOD_SHAPES)[i % len(_METHOD_SHAPES)] for i in range(len(ways))]
    lines: list[list[Chart]] = []
    for table, of_table in frame.groupby("table", sort=False):
        lines.append([])
        for scenario, shown in of_table.groupby("scenario"):
            altair, chart = base_chart(shown)
            chart = chart.encode(
                x=altair.X(
                    "epsilon:Q",
                    title=_("epsilon"),
                    scale=altair.Scale(type="log"),
                    axis=altair.Axis(
                        values=sorted(frame["epsilon"].unique()), format="~g"
                    ),
                ),
                y=altair.Y(
                    "mean:Q",
                    title=None,
                    scale=altair.Scale(type="log")
                    if wide
                    else altair.Scale(zero=False),
                ),
                color=altair.Color(
                    "method:N",
                    scale=altair.Scale(domain=names, range=colors),
                    legend=None,
                ),
            )
            spread = chart.mark_rule(opacity=0.3).encode(
                y=altair.Y("low:Q"), y2=altair.Y2("high:Q")
            )
            line = chart.mark_line().encode(detail=altair.Detail(f"{shape_field}:N"))
            points = chart.mark_point(filled=True, size=70, opacity=0.9).encode(
                shape=altair.Shape(
                    f"{shape_field}:N",
                    scale=altair.Scale(domain=ways, range=shapes),
                    legend=None,
                ),
                tooltip=tooltips_of(shown),
            )
            alt = _(
                "{measure} against epsilon for {methods}: {table}, {scenario}."
            ).format(
                measure=measure,
                methods=join_with_commas(names),
                table=table,
                scenario=scenario,
            )
            title = altair.Title(str(table), subtitle=str(scenario), anchor="start")
            spec = layer_marks(spread, line, points, title=title, height=300)
            lines[-1].append(Chart(spec=spec, alt=alt, table=with_headings(shown)))
    signs = [_METHOD_SHAPES[shape] for shape in shapes]
    if shape_field == "method":
        legend = [
            legend_entry(*mark)
            for mark in zip(colors, map("{} {}".format, signs, names), strict=True)
        ]
    else:
        legend = [legend_entry(*mark) for mark in zip(colors, names, strict=True)]
        legend += [
            f"<span>{sign} {html.escape(way)}</span>"
            for sign, way in zip(signs, ways, strict=True)
        ]
    return Pictures(lines=lines, legend=legend)
