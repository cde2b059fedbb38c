"""From aggregates to charts. Nothing here takes rows of a table, and a guard refuses them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpcore.errors import DisclosureError
from workbench.ui.wording import _

MAX_MARKS = 2_000
ORIGINAL, PRIVATE, SYNTHETIC, WARNING = "#7A7A7A", "#0072B2", "#009E73", "#D55E00"
ERROR_BAR = "#8A8A8A"  # seen on white, on black and on blue
SERIES = [PRIVATE, SYNTHETIC, WARNING, ORIGINAL]


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A chart, what it shows in words, and the same numbers as a table.

    Attributes:
        spec: an Altair chart.
        alt: one or two sentences for people who do not see it.
        table: the aggregates that were drawn, for the twin.
    """

    spec: Any
    alt: str
    table: pd.DataFrame


def _altair(frame: pd.DataFrame) -> Any:
    """A chart base over aggregates; refuses what could be rows."""
    if len(frame) > MAX_MARKS:
        raise DisclosureError(
            f"a chart takes aggregates of at most {MAX_MARKS} marks", remedy="aggregate first"
        )
    import altair

    altair.data_transformers.disable_max_rows()
    return altair, altair.Chart(frame)


def fold(
    labels: Sequence[str], values: Any, variance: float, *, most: int = 200
) -> tuple[list[str], Any, float]:
    """Neighbouring cells added up until at most `most` are left: (labels, sums, variance of a sum)."""
    width = -(-len(labels) // most)
    if width == 1:
        return list(labels), np.asarray(values), variance
    starts = np.arange(0, len(labels), width)
    sums = np.add.reduceat(np.asarray(values), starts)
    return [f"{labels[i]} …" for i in starts], sums, variance * width


def counts(
    labels: Sequence[str], values: Any, half_width: float, *, column: str, color: str = PRIVATE
) -> Chart:
    """Bars of noisy counts with the interval of each."""
    frame = pd.DataFrame(
        {"cell": list(labels), "rows": values, "low": values - half_width, "high": values + half_width}
    )
    frame["rows shown"] = frame["rows"].clip(lower=0)
    altair, chart = _altair(frame)
    x = altair.X("cell:N", sort=None, title=column, axis=altair.Axis(labelOverlap=True, labelLimit=120))
    bars = chart.mark_bar(color=color, opacity=0.75).encode(
        x=x,
        y=altair.Y("rows shown:Q", title=_("rows (noisy)")),
        tooltip=[
            "cell",
            altair.Tooltip("rows:Q", format=",.1f"),
            altair.Tooltip("low:Q", format=",.1f"),
            altair.Tooltip("high:Q", format=",.1f"),
        ],
    )
    rules = chart.mark_rule(color=ERROR_BAR if half_width else color, opacity=0.8).encode(
        x=x, y="low:Q", y2="high:Q"
    )
    alt = _(
        "Bar chart of {cells} noisy counts of {column}, each within {half:.0f} rows in 95 of 100 cases."
    ).format(cells=len(frame), column=column, half=half_width)
    return Chart(spec=(bars + rules).properties(height=320), alt=alt, table=frame.drop(columns="rows shown"))


def overlay(labels: Sequence[str], original: Any, other: Any, *, column: str) -> Chart:
    """Two distributions of one column: grey steps for the original, green bars for the release."""
    frame = pd.DataFrame({"cell": list(labels), "original": original, "release": other})
    altair, chart = _altair(frame)
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


def heatmap(names: Sequence[str], matrix: Any, *, title: str) -> Chart:
    """A square of pairwise errors, 0 white to dark."""
    order = list(names)
    frame = pd.DataFrame(
        [
            {"first": a, "second": b, "error": float(matrix[i][j])}
            for i, a in enumerate(order)
            for j, b in enumerate(order)
            if j < i and np.isfinite(matrix[i][j])
        ],
        columns=["first", "second", "error"],
    )
    altair, chart = _altair(frame)
    spec = chart.mark_rect().encode(
        x=_names(altair.X, "second", order),
        y=_names(altair.Y, "first", order),
        color=altair.Color("error:Q", title=title, scale=altair.Scale(scheme="blues", domainMin=0)),
        tooltip=["first", "second", altair.Tooltip("error:Q", format=".3f")],
    )
    alt = _("{title} of every pair of columns.").format(title=title)
    if len(frame):
        worst = frame.loc[frame["error"].idxmax()]
        alt += " " + _("The largest is {error:.3f} for {a} and {b}.").format(
            error=worst["error"], a=worst["first"], b=worst["second"]
        )
    return Chart(spec=spec.properties(height=60 + 26 * len(order)), alt=alt, table=frame)


def two_way(
    marginal_values: Any, row_labels: Sequence[str], column_labels: Sequence[str], names: tuple[str, str]
) -> Chart:
    """A noisy two-way table as a grid of shades; large tables are folded first."""
    rows, _v, _w = fold(row_labels, np.zeros(len(row_labels)), 0.0, most=40)
    columns, _v, _w = fold(column_labels, np.zeros(len(column_labels)), 0.0, most=40)
    steps = [np.arange(0, len(labels), -(-len(labels) // 40)) for labels in (row_labels, column_labels)]
    folded = np.add.reduceat(np.add.reduceat(np.asarray(marginal_values), steps[0], axis=0), steps[1], axis=1)
    frame = pd.DataFrame(
        [(a, b, float(folded[i, j])) for i, a in enumerate(rows) for j, b in enumerate(columns)],
        columns=["first", "second", "rows"],
    )
    altair, chart = _altair(frame)
    spec = chart.mark_rect().encode(
        x=altair.X("second:N", sort=None, title=names[1], axis=altair.Axis(labelOverlap=True)),
        y=altair.Y("first:N", sort=None, title=names[0], axis=altair.Axis(labelOverlap=True)),
        color=altair.Color(
            "rows:Q", title=_("rows (noisy)"), scale=altair.Scale(scheme="blues", domainMin=0)
        ),
        tooltip=["first", "second", altair.Tooltip("rows:Q", format=",.1f")],
    )
    alt = _("Noisy counts of {a} by {b}, darker is more rows.").format(a=names[0], b=names[1])
    title = _("rows (noisy) of {a} × {b}").format(a=names[0], b=names[1])  # no column can have this name
    table = frame.set_axis([*names, title], axis="columns")
    return Chart(spec=spec.properties(height=340), alt=alt, table=table)


def expected(half_widths: Sequence[tuple[str, float]]) -> Chart:
    """The interval of one cell for each table, on a neutral scale around a count that nobody knows yet."""
    frame = pd.DataFrame(
        {"table": [name for name, _half in half_widths], "half": [half for _name, half in half_widths]}
    )
    frame["low"], frame["high"] = -frame["half"], frame["half"]
    altair, chart = _altair(frame)
    y = altair.Y("table:N", sort=None, title=None, axis=altair.Axis(labelLimit=220))
    band = chart.mark_bar(color=PRIVATE, opacity=0.35, height=14).encode(
        y=y, x=altair.X("low:Q", title=_("rows off, in 95 of 100 cases")), x2="high:Q"
    )
    middle = chart.mark_tick(color=PRIVATE, thickness=2, height=14).encode(y=y, x=altair.datum(0))
    alt = _("Expected error of a cell: ") + "; ".join(f"{name} ±{half:.0f}" for name, half in half_widths[:8])
    return Chart(
        spec=(band + middle).properties(height={"step": 30}), alt=alt, table=frame[["table", "half"]]
    )


def lines(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    series: str,
    x_title: str,
    y_title: str,
    alt: str,
    colors: Sequence[str] = (SYNTHETIC, PRIVATE, WARNING, ORIGINAL),
) -> Chart:
    """One line a series over aggregates, in order of appearance, marked by shape as well as by color."""
    altair, chart = _altair(frame)
    order = list(frame[series].unique())
    spec = chart.mark_line(point=True).encode(
        x=altair.X(f"{x}:Q", title=x_title),
        y=altair.Y(f"{y}:Q", title=y_title),
        color=altair.Color(
            f"{series}:N", title=None, scale=altair.Scale(domain=order, range=list(colors[: len(order)]))
        ),
        shape=altair.Shape(f"{series}:N", title=None, scale=altair.Scale(domain=order)),
        tooltip=list(frame.columns),
    )
    return Chart(spec=spec.properties(height=300), alt=alt, table=frame)


def scales(figures: pd.DataFrame) -> Chart:
    """One line a figure: the release as a dot between what chance alone does and independent columns."""
    names = {"release": SYNTHETIC, "sampling floor": ORIGINAL, "independent columns": WARNING}
    long = figures.melt("figure", var_name="of", value_name="distance")
    altair, chart = _altair(long)
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


def bars(labels: Sequence[str], shares: Sequence[float], *, x_title: str, alt: str) -> Chart:
    """Shares as horizontal bars, the largest first as given."""
    frame = pd.DataFrame({"of": list(labels), "share": list(shares)})
    altair, chart = _altair(frame)
    spec = chart.mark_bar(color=WARNING, opacity=0.85).encode(
        y=altair.Y("of:N", sort=None, title=None, axis=altair.Axis(labelLimit=320)),
        x=altair.X("share:Q", title=x_title, axis=altair.Axis(format="%")),
        tooltip=["of", altair.Tooltip("share:Q", format=".2%")],
    )
    return Chart(spec=spec.properties(height={"step": 24}), alt=alt, table=frame)


def clickable_bars(labels: Sequence[str], shares: Sequence[float], *, x_title: str, alt: str) -> Chart:
    """`bars` whose whole lines can be clicked, for a bar of length 0 could not be hit."""
    drawn = bars(labels, shares, x_title=x_title, alt=alt)
    altair, chart = _altair(drawn.table)
    clicked = altair.selection_point(name="clicked", fields=["of"], on="click")
    lines_of = (
        chart.mark_bar(opacity=0)
        .encode(y=altair.Y("of:N", sort=None), x=altair.datum(max(shares)), tooltip=["of"])
        .add_params(clicked)
    )
    return dataclasses.replace(drawn, spec=drawn.spec + lines_of)


def ringed(drawn: Chart, here: pd.DataFrame) -> Chart:
    """The frontier with a ring around the chosen point."""
    _module, chart = _altair(here)
    ring = chart.mark_point(size=420, strokeWidth=3, color=WARNING).encode(x="k:Q", y="loss:Q")
    return dataclasses.replace(drawn, spec=drawn.spec + ring)


def frontier(frame: pd.DataFrame) -> Chart:
    """Information loss against k, one line a suppression limit; a click on a point selects it."""
    altair, chart = _altair(frame)
    chosen = altair.selection_point(name="chosen", fields=["k", "limit"], on="click")
    title = _("suppressed, at most")
    base = chart.encode(
        x=altair.X("k:Q", scale=altair.Scale(type="log"), axis=altair.Axis(values=sorted(set(frame["k"])))),
        y=altair.Y("loss:Q", title=_("information loss"), scale=altair.Scale(domain=[0, 1])),
        color=altair.Color("limit:N", sort=None, title=title, scale=altair.Scale(range=SERIES)),
        tooltip=list(frame.columns),
    )
    line = base.mark_line(opacity=0.6)
    points = (
        base.mark_point(filled=True, size=120)
        .encode(shape=altair.Shape("limit:N", sort=None, title=title))
        .add_params(chosen)
    )
    alt = _("Information loss against k for each suppression limit: less is better, larger k is safer.")
    return Chart(spec=(line + points).properties(height=300), alt=alt, table=frame)


def grouped(frame: pd.DataFrame, *, x: str, x_title: str, y_title: str, alt: str) -> Chart:
    """Shares before and after, side by side."""
    altair, chart = _altair(frame)
    spec = chart.mark_bar(opacity=0.85).encode(
        x=altair.X(f"{x}:N", sort=None, title=x_title),
        xOffset=altair.XOffset("of:N", sort=None),
        y=altair.Y("share:Q", title=y_title, axis=altair.Axis(format="%")),
        color=altair.Color("of:N", sort=None, title=None, scale=altair.Scale(range=[ORIGINAL, PRIVATE])),
        tooltip=[x, "of", altair.Tooltip("share:Q", format=".1%")],
    )
    return Chart(spec=spec.properties(height=240), alt=alt, table=frame)


def pair_grid(names: Sequence[str]) -> Chart:
    """One square a pair of columns, to be clicked; a click with Shift adds to the choice."""
    order = list(names)
    frame = pd.DataFrame(
        [{"first": b, "second": a} for i, a in enumerate(order) for b in order[:i]],
        columns=["first", "second"],
    )
    altair, chart = _altair(frame)
    pairs = altair.selection_point(name="pairs", fields=["first", "second"], toggle="true")
    spec = (
        chart.mark_rect(stroke="white")
        .encode(
            x=_names(altair.X, "first", order),
            y=_names(altair.Y, "second", order),
            color=altair.condition(pairs, altair.value(PRIVATE), altair.value("#D5DDE3"), empty=False),
            tooltip=["first", "second"],
        )
        .add_params(pairs)
    )
    alt = _("One square for each pair of columns; click those that matter most.")
    return Chart(spec=spec.properties(height=40 + 20 * len(order)), alt=alt, table=frame)


def _names(channel: Any, field: str, order: Sequence[str]) -> Any:
    """An axis of column names, every one of them, in this order."""
    import altair

    axis = altair.Axis(labelOverlap=False, labelLimit=140)
    return channel(f"{field}:N", title=None, axis=axis, scale=altair.Scale(domain=list(order)))


def graph(names: Sequence[str], links: Sequence[tuple[str, str]]) -> Chart:
    """Columns on a circle, with a line between those whose relation was measured."""
    angle = 2 * np.pi * np.arange(len(names)) / max(1, len(names))
    at = {name: (float(np.cos(a)), float(np.sin(a))) for name, a in zip(names, angle, strict=True)}
    edges = pd.DataFrame(
        [
            {"from": a, "to": b, "x": at[a][0], "y": at[a][1], "x2": at[b][0], "y2": at[b][1]}
            for a, b in links
        ],
        columns=["from", "to", "x", "y", "x2", "y2"],
    )
    nodes = pd.DataFrame([{"column": name, "x": x, "y": y} for name, (x, y) in at.items()])
    altair, lines_of = _altair(edges)
    hidden = {"axis": None, "scale": altair.Scale(domain=[-1.5, 1.5])}
    x, y = altair.X("x:Q", **hidden), altair.Y("y:Q", **hidden)
    rules = lines_of.mark_rule(color=PRIVATE, opacity=0.6, strokeWidth=2).encode(
        x=x, y=y, x2="x2:Q", y2="y2:Q", tooltip=["from", "to"]
    )
    points = altair.Chart(nodes).mark_point(filled=True, size=80, color=SYNTHETIC).encode(x=x, y=y)
    texts = altair.Chart(nodes).mark_text(dy=-12).encode(x=x, y=y, text="column:N")
    alt = _("The relations that were measured: ") + "; ".join(f"{a} and {b}" for a, b in links[:40])
    return Chart(spec=(rules + points + texts).properties(height=420), alt=alt, table=edges[["from", "to"]])
