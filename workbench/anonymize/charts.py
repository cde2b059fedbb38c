"""Charts of the Anonymize page."""

import dataclasses

import pandas as pd

from workbench.language.messages import _
from workbench.report.charts import (
    ORIGINAL,
    PRIVATE,
    SERIES_COLORS,
    WARNING,
    Chart,
    base_chart,
    cells_axis,
    describe_chart,
    layer_marks,
    tooltips,
    tooltips_of,
    with_headings,
)


def draw_ring(chart_before: Chart, chosen_point: pd.DataFrame) -> Chart:
    """Draw a ring around the chosen point of a frontier."""
    altair, chart = base_chart(chosen_point)
    ring = chart.mark_point(size=420, strokeWidth=3, color=WARNING).encode(
        x=altair.X("k:Q", title="k"),
        y=altair.Y("loss:Q", title=_("information loss")),
    )
    return dataclasses.replace(chart_before, spec=chart_before.spec + ring)


def draw_frontier(frame: pd.DataFrame) -> Chart:
    """Draw information loss against k, one line per suppression limit.

    A click on a point selects its k and, as `share`, its limit.

    Where several limits bring the same loss, the smallest of them has the point:
    nothing is gained by the others, and a point below another could not be clicked.
    """
    altair, chart = base_chart(frame)
    shown = frame.drop(columns="share")
    limits = list(frame["limit"].unique())
    seen = frame.assign(near=frame["loss"].round(3)).sort_values(["share", "k"])
    seen = seen.drop_duplicates(["k", "near"])
    chosen = altair.selection_point(name="chosen", fields=["k", "share"], on="click")
    title = _("suppressed, at most")
    base = chart.encode(
        x=altair.X(
            "k:Q",
            title="k",
            scale=altair.Scale(type="log"),
            axis=altair.Axis(values=sorted(set(frame["k"]))),
        ),
        y=altair.Y(
            "loss:Q", title=_("information loss"), scale=altair.Scale(domain=[0, 1])
        ),
        color=altair.Color(
            "limit:N",
            title=title,
            scale=altair.Scale(domain=limits, range=SERIES_COLORS[: len(limits)]),
        ),
        tooltip=tooltips_of(shown),
    )
    line = base.mark_line(opacity=0.6)
    points = (
        base.properties(data=seen.drop(columns="near"))
        .mark_point(filled=True, size=120)
        .encode(
            shape=altair.Shape(
                "limit:N", title=title, scale=altair.Scale(domain=limits)
            )
        )
        .add_params(chosen)
    )
    alt = describe_chart({"k": "k", "loss": _("information loss")})
    return Chart(
        spec=layer_marks(line, points, height=300), alt=alt, table=with_headings(shown)
    )


def draw_grouped_bars(
    frame: pd.DataFrame, *, x: str, x_title: str, y_title: str
) -> Chart:
    """Draw bars of shares before and after anonymization, side by side."""
    altair, chart = base_chart(frame)
    spec = chart.mark_bar(opacity=0.85).encode(
        x=cells_axis(frame[x].tolist(), title=x_title, field=x),
        xOffset=altair.XOffset("of:N", sort=None, title=None),
        y=altair.Y("share:Q", title=y_title, axis=altair.Axis(format="%")),
        color=altair.Color(
            "of:N",
            sort=None,
            title=None,
            scale=altair.Scale(range=[ORIGINAL, PRIVATE]),
            # beside the bars it would leave no room for their labels
            legend=altair.Legend(orient="top"),
        ),
        tooltip=tooltips(x, "of", share=".1%"),
    )
    table = with_headings(frame.rename(columns={x: x_title, "share": y_title}))
    return Chart(
        spec=spec.properties(height=240),
        alt=describe_chart({x: x_title, "share": y_title}),
        table=table,
    )


def draw_shape_bars(before: pd.Series, after: pd.Series, *, column: str) -> Chart:
    """Draw the distribution of a column before anonymization, and below it after.

    Values and labels differ, so each has an axis of its own.
    """
    sides = ((_("before"), before, ORIGINAL), (_("after"), after, PRIVATE))
    altair, _chart = base_chart(pd.DataFrame({"value": [], "share": []}))
    parts = []
    frames = []
    for side, counts, color in sides:
        frame = pd.DataFrame(
            {
                "of": side,
                "value": [str(value) for value in counts.index],
                "share": counts.to_numpy() / max(1, counts.sum()),
            }
        )
        chart = base_chart(frame)[1]
        parts.append(
            chart.mark_bar(color=color)
            .encode(
                x=cells_axis(
                    frame["value"].tolist(), title=f"{column}, {side}", field="value"
                ),
                y=altair.Y(
                    "share:Q", title=_("share of rows"), axis=altair.Axis(format="%")
                ),
                tooltip=tooltips("value", share=".1%"),
            )
            .properties(height=110)
        )
        frames.append(frame)
    titles = {"value": _("value"), "share": _("share of rows")}
    return Chart(
        spec=altair.vconcat(*parts),
        alt=describe_chart({"value": column, "share": titles["share"]}),
        table=with_headings(pd.concat(frames).rename(columns=titles)),
    )
