"""Charts of the Evaluate page: distributions, measures, scores, attacks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from workbench.language.messages import _, localize_number, name_and_text
from workbench.language.wording import number, percent
from workbench.report.charts import (
    HEADINGS,
    ORIGINAL,
    PRIVATE,
    SYNTHETIC,
    WARNING,
    Chart,
    Extents,
    base_chart,
    cells_axis,
    describe_chart,
    find_tall_cells,
    layer_marks,
    series_color,
    tooltips,
    tooltips_of,
    with_headings,
)
from workbench.ui.method_charts import METHOD_COLORS

NEEDLE_SHARE = 1 / 250  # width of the bar of a single value, of the whole axis
MIN_CELLS_FOR_LINES = 30  # cells of a column from which lines are clearer than bars


def sources_chart(
    frame: pd.DataFrame, *, column: str, y_title: str, shares: bool
) -> Chart:
    """Draw one column from several sources, as bars, or as steps if it has many cells.

    Args:
        frame: cell, of (the source), rows; in the order of the cells and of the
            sources.
        column: its name.
        y_title: what is counted.
        shares: whether rows are shares of all.
    """
    names = list(frame["of"].unique())
    cells = list(frame["cell"].unique())
    altair, chart = base_chart(frame)
    x = cells_axis(cells, title=column)
    y = altair.Y(
        "rows:Q", title=y_title, axis=altair.Axis(format="%" if shares else ",.0f")
    )
    color = series_color(
        "of", names, [ORIGINAL, *METHOD_COLORS], columns=2, labelLimit=0
    )
    tooltip = tooltips("of", "cell", rows=".2%" if shares else ",.1f")
    if len(cells) > MIN_CELLS_FOR_LINES:
        dash = altair.StrokeDash("of:N", title=None, scale=altair.Scale(domain=names))
        marks = chart.mark_line(interpolate="step").encode(
            x=x,
            y=y,
            color=color,
            strokeDash=dash,
            tooltip=tooltip,
        )
    else:
        offset = altair.XOffset("of:N", sort=names)
        marks = chart.mark_bar().encode(
            x=x, xOffset=offset, y=y, color=color, tooltip=tooltip
        )
    alt = name_and_text(
        describe_chart({"cell": column, "rows": y_title}), "; ".join(names)
    )
    return Chart(spec=marks.properties(height=320), alt=alt, table=with_headings(frame))


def uneven_sources_chart(
    frame: pd.DataFrame, extents: Extents, *, column: str, shares: bool
) -> Chart:
    """Draw a column in cells of different widths, from several sources.

    Each cell reaches from its low to its high end, as high as its rows in a unit of
    the column; a single value has a narrow bar for each source. What has no place on
    the axis, and values that would dwarf all others, are told above.

    Args:
        frame: cell, of (the source), rows; in the order of the cells and of the
            sources.
        extents: ends of the cells of values, which are the first ones.
        column: its name.
        shares: whether rows are shares of all.
    """
    names = list(frame["of"].unique())
    count = len(extents.starts)
    rows = {name: frame[frame["of"] == name] for name in names}
    heights = {
        name: rows[name]["rows"].to_numpy()[:count] / extents.widths for name in names
    }
    tall = np.logical_or.reduce(
        [find_tall_cells(heights[name], extents.is_narrow) for name in names]
    )
    needle_width = float(extents.ends.max() - extents.starts.min()) * NEEDLE_SHARE
    parts = []
    for place, name in enumerate(names):
        # draw the thin bars of single values next to each other, one per table
        left = extents.starts + (place - len(names) / 2) * needle_width
        inside = (
            rows[name]
            .iloc[:count]
            .assign(
                start=np.where(extents.is_needle, left, extents.starts),
                end=np.where(extents.is_needle, left + needle_width, extents.ends),
                density=heights[name],
            )
        )
        parts.append(inside[~tall])
    altair, chart = base_chart(pd.concat(parts, ignore_index=True))
    colors = [ORIGINAL, *METHOD_COLORS]
    outline = altair.Scale(domain=names, range=colors[: len(names)])
    unit = _("share of rows per unit") if shares else _("rows per unit")
    spec = chart.mark_rect(fillOpacity=0.3, strokeWidth=1).encode(
        x=altair.X("start:Q", title=column, scale=altair.Scale(zero=False)),
        x2=altair.X2("end:Q"),
        y=altair.Y(
            "density:Q",
            title=unit,
            axis=altair.Axis(format=".2~p" if shares else ",.3~r"),
        ),
        y2=altair.Y2Datum(0),
        color=series_color("of", names, colors, columns=2, labelLimit=0),
        stroke=altair.Stroke("of:N", sort=None, scale=outline, legend=None),
        tooltip=tooltips("of", "cell", rows=".2%" if shares else ",.1f"),
    )
    is_told = np.append(tall, np.ones(len(rows[names[0]]) - count, dtype=bool))
    told = [
        name_and_text(
            cell,
            "; ".join(
                f"{percent(counted) if shares else number(counted)} ({name})"
                for name, counted in zip(names, counts, strict=True)
            ),
        )
        for cell, counts in zip(
            rows[names[0]]["cell"][is_told],
            zip(*(rows[name]["rows"][is_told] for name in names), strict=True),
            strict=True,
        )
    ]
    if told:
        spec = spec.properties(title=altair.Title("", subtitle=told, anchor="start"))
    alt = name_and_text(
        describe_chart({"cell": column, "rows": unit}), "; ".join(names)
    )
    return Chart(spec=spec.properties(height=320), alt=alt, table=with_headings(frame))


def distances_chart(frame: pd.DataFrame, *, title: str) -> Chart:
    """Draw distances: a line for each figure, and a mark on it for each table."""
    altair, chart = base_chart(frame)
    names = list(frame["of"].unique())
    tooltip = tooltips("figure", "of", distance=".2%")
    chart, points, _spread = _marks(
        altair, chart, "figure", names, [SYNTHETIC, WARNING], tooltip
    )
    x = altair.X("distance:Q", title=title, axis=altair.Axis(format="%"))
    lines = chart.mark_line(color=ORIGINAL, opacity=0.6).encode(
        x=x, detail=altair.Detail("figure:N")
    )
    alt = name_and_text(title, "; ".join(names))
    spec = layer_marks(lines, points.encode(x=x), height={"step": 24})
    return Chart(spec=spec, alt=alt, table=with_headings(frame))


def measures_chart(figures: pd.DataFrame) -> Chart:
    """Draw each measure on a scale from perfect (0) to independent columns (1).

    Another sample of the original is drawn beside the release.
    """
    colors = {"release": SYNTHETIC, "another sample": ORIGINAL}
    long = figures.melt(
        "figure", value_vars=list(colors), var_name="of", value_name="place"
    ).dropna()
    long["shown"] = long["place"].clip(upper=1.5)
    altair, chart = base_chart(long)
    tooltip = tooltips("figure", "of", place=".3f")
    _chart, points, _spread = _marks(
        altair, chart, "figure", list(colors), list(colors.values()), tooltip
    )
    x = altair.X(
        "shown:Q", title=_(HEADINGS["place"]), scale=altair.Scale(domain=[0, 1.5])
    )
    ends = altair.Chart(pd.DataFrame({"at": [0, 1]})).mark_rule(
        strokeDash=[4, 4], color=WARNING
    )
    places = (
        f"{line.figure} {localize_number(f'{line.release:.2f}')}"
        for line in figures.itertuples()
    )
    alt = name_and_text(_(HEADINGS["place"]), "; ".join(places))
    layers = ends.encode(x=altair.X("at:Q")), points.encode(x=x)
    return Chart(
        spec=layer_marks(*layers, height=80 + 26 * len(figures)),
        alt=alt,
        table=with_headings(figures),
    )


def scores_chart(frame: pd.DataFrame, *, title: str) -> Chart:
    """Draw scores of learners with their spread, a line for each learner."""
    altair, chart = base_chart(frame)
    names = list(frame["of"].unique())
    colors = [SYNTHETIC, ORIGINAL, WARNING, PRIVATE]
    _chart, points, spread = _marks(
        altair, chart, "task", names, colors, tooltips_of(frame)
    )
    x = altair.X("mean:Q", title=title, scale=altair.Scale(zero=False))
    means = (
        f"{line.task} {localize_number(f'{line.mean:.3f}')}"
        for line in frame.itertuples()
        if line.of == names[0]
    )
    alt = name_and_text(f"{title}, {names[0]}", "; ".join(means))
    spec = layer_marks(spread, points.encode(x=x), height={"step": 34})
    return Chart(spec=spec, alt=alt, table=with_headings(frame))


def attacks_chart(frame: pd.DataFrame) -> Chart:
    """Draw the success of each attack with its interval.

    The three groups are people in the release, others, and a guess without it.
    """
    altair, chart = base_chart(frame)
    names = list(frame["of"].unique())
    colors = [WARNING, PRIVATE, ORIGINAL]
    tooltip = tooltips("attack", "of", "attempts", rate=".1%", low=".1%", high=".1%")
    _chart, points, spread = _marks(altair, chart, "attack", names, colors, tooltip)
    x = altair.X(
        "rate:Q",
        title=_("attempts that succeed"),
        axis=altair.Axis(format="%"),
        scale=altair.Scale(domain=[0, 1]),
    )
    offset = altair.YOffset("of:N", sort=names)
    alt = "; ".join(
        name_and_text(f"{attack}, {of}", percent(rate))
        for attack, of, rate in zip(
            frame["attack"], frame["of"], frame["rate"], strict=True
        )
    )
    layers = spread.encode(yOffset=offset), points.encode(x=x, yOffset=offset)
    return Chart(
        spec=layer_marks(*layers, height={"step": 16}),
        alt=alt,
        table=with_headings(frame),
    )


def _marks(
    altair: Any,
    chart: Any,
    line_field: str,
    names: Sequence[str],
    colors: Sequence[str],
    tooltip: Any,
) -> tuple[Any, Any, Any]:
    """Return a chart with points and intervals, one line per value of the field `line_field`.

    Color and shape tell the `of` of a point, which still has to get its place.
    """
    chart = chart.encode(
        y=altair.Y(
            f"{line_field}:N", sort=None, title=None, axis=altair.Axis(labelLimit=320)
        )
    )
    color = series_color("of", names, colors, columns=2, labelLimit=0)
    shape = altair.Shape("of:N", title=None, scale=altair.Scale(domain=list(names)))
    points = chart.mark_point(size=100, filled=True, opacity=0.9)
    spread = chart.mark_rule(strokeWidth=2, opacity=0.6)
    return (
        chart,
        points.encode(color=color, shape=shape, tooltip=tooltip),
        spread.encode(x=altair.X("low:Q"), x2=altair.X2("high:Q"), color=color),
    )
