"""Charts of the Learn page."""

from __future__ import annotations

import pandas as pd

from workbench.ui.charts import ORIGINAL, PRIVATE, SYNTHETIC, WARNING, Chart, drawing


def curves(
    frame: pd.DataFrame,
    titles: dict[str, str],
    *,
    alt: str,
    logarithmic: tuple[str, ...] = (),
    points: bool = True,
) -> Chart:
    """One line per series: `titles` names the fields of x, y and series, in this order."""
    altair, chart = drawing(frame)
    x, y, series = titles
    order = list(frame[series].unique())

    legend = altair.Legend(orient="top", columns=1, labelLimit=400)

    def scale(field: str) -> object:
        return altair.Scale(type="log" if field in logarithmic else "linear")

    spec = chart.mark_line(point=points, interpolate="linear" if points else "step").encode(
        x=altair.X(f"{x}:Q", title=titles[x], scale=scale(x), axis=altair.Axis(tickMinStep=1)),
        y=altair.Y(f"{y}:Q", title=titles[y], scale=scale(y)),
        color=altair.Color(
            f"{series}:N",
            title=None,
            sort=None,
            scale=altair.Scale(domain=order, range=[ORIGINAL, PRIVATE, SYNTHETIC, WARNING][: len(order)]),
            legend=legend,
        ),
        strokeDash=altair.StrokeDash(
            f"{series}:N", title=None, sort=None, scale=altair.Scale(domain=order), legend=legend
        ),
        tooltip=[
            altair.Tooltip(f"{series}:N", title=titles[series]),
            altair.Tooltip(f"{x}:Q", title=titles[x], format=",.4~g"),
            altair.Tooltip(f"{y}:Q", title=titles[y], format=",.4~g"),
        ],
    )
    return Chart(spec=spec.properties(height=280), alt=alt, table=frame.rename(columns=titles))


def lying_bars(frame: pd.DataFrame, titles: dict[str, str], *, alt: str) -> Chart:
    """One horizontal bar per row: `titles` names the fields of the label and of the value, in this order."""
    altair, chart = drawing(frame)
    label, value = list(titles)[:2]
    spec = chart.mark_bar(color=PRIVATE, opacity=0.85).encode(
        y=altair.Y(f"{label}:N", sort=None, title=None, axis=altair.Axis(labelLimit=320)),
        x=altair.X(f"{value}:Q", title=titles[value]),
        tooltip=[
            altair.Tooltip(f"{label}:N", title=titles[label]),
            altair.Tooltip(f"{value}:Q", title=titles[value], format=",.3~g"),
        ],
    )
    return Chart(spec=spec.properties(height={"step": 30}), alt=alt, table=frame.rename(columns=titles))
