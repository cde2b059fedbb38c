"""Charts of aggregates, such as noisy counts.

Nothing here takes rows of a table, and a guard refuses them.
"""

import dataclasses
import html
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import DisclosureError
from dpcore.schema import Column
from dpcore.schema.interval import NumberColumn
from dpcore.tables.answer import CliqueCounts
from workbench.language.messages import (
    N_,
    _,
    localize_number,
    number_signs,
    percent_sign,
    translate_table,
)

MAX_MARKS = 2_000
LEGEND_LINE_HEIGHT = 30  # pixels of a line of a legend above a chart
MAX_FOLDED_CELLS = 40
MAX_AXIS_LABELS = 10  # labels below a chart; more would overlap or stand upright
MAX_NAMES_BELOW_BARS = 4  # categories whose names fit below bars; more lie beside them
MAX_NAMES_BESIDE_BARS = 40  # categories that fit below each other beside their bars
MAX_CELLS_TOLD_APART = (
    150  # cells of one width beside each other that can be told apart
)
MAX_HEIGHT_RATIO = 4.0  # a narrow cell is drawn up to this many times as tall as others
MAX_TALL_CELLS = 5  # cells that are told above a chart instead of drawn
MAX_EVEN_WIDTH_RATIO = 1.2  # widths of cells that differ by less are drawn alike
ORIGINAL = "#7A7A7A"
PRIVATE = "#0072B2"
SYNTHETIC = "#009E73"
WARNING = "#D55E00"
ERROR_BAR = "#8A8A8A"  # seen on white and on black
ERROR_LINE = "#333333"  # with its edge, seen on white, on black and on blue
ERROR_EDGE = "#FFFFFF"
MAX_BARS_WITH_EDGED_ERRORS = 60  # narrower bars would be hidden by the edges
SERIES_COLORS = [PRIVATE, SYNTHETIC, WARNING, ORIGINAL]
HEADINGS = {
    "cell": N_("cell"),
    "rows": N_("rows"),
    "low": N_("low"),
    "high": N_("high"),
    "first": N_("first column"),
    "second": N_("second column"),
    "error": N_("error"),
    "of": N_("of"),
    "share": N_("share"),
    "strength": N_("strength (Cramér's V)"),
    "k": N_("k"),
    "limit": N_("suppressed, at most"),
    "loss": N_("information loss"),
    "levels": N_("levels"),
    "suppressed rows": N_("suppressed rows"),
    "suppressed people": N_("people with a suppressed row"),
    "suppressed households": N_("households with a suppressed row"),
    "group size": N_("people in their group"),
    "original": N_("original"),
    "release": N_("release"),
    "figure": N_("figure"),
    "independent columns": N_("independent columns"),
    "distance": N_("distance"),
    "table": N_("table"),
    "columns": N_("columns"),
    "task": N_("learner"),
    "mean": N_("mean"),
    "runs": N_("splits"),
    "attack": N_("attack"),
    "rate": N_("rate"),
    "attempts": N_("attempts"),
    "method": N_("method"),
    "scenario": N_("scenario"),
    "epsilon": N_("epsilon"),
    "another sample": N_("another sample"),
    "place": N_("place between perfect (0) and independent columns (1)"),
    "value": N_("value"),
    "half": N_("error (95 %)"),
    "from": N_("from"),
    "to": N_("to"),
    "protocol": N_("protocol"),
    "people": N_("people"),
    "answer": N_("answer"),
    "true": N_("true"),
    "reported": N_("reported"),
    "corrected": N_("corrected"),
    "as a distribution": N_("as a distribution"),
    "way": N_("way"),
    "off": N_("error (95 %)"),
}
"""Headings for the fields of frames of aggregates."""
NOISY_COUNTS = {
    "rows": N_("rows (noisy)"),
    "people": N_("people (noisy)"),
    "events": N_("events (noisy)"),
}
NOISY_COUNTS_PER_UNIT = {
    "rows": N_("rows (noisy) per unit"),
    "people": N_("people (noisy) per unit"),
    "events": N_("events (noisy) per unit"),
}
"""Titles of axes by what is counted: events and people of linked tables, or rows."""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A chart, its description in words, and its numbers as a table.

    Attributes:
        spec: an Altair chart.
        alt: one or two sentences for people who do not see it.
        table: the aggregates that were drawn.
    """

    spec: Any
    alt: str
    table: pd.DataFrame


@dataclass(frozen=True, kw_only=True)
class Pictures:
    """Several charts of one table, in lines, with a common legend.

    Attributes:
        lines: charts that stand beside each other.
        legend: one for all of them, HTML of each entry.
    """

    lines: list[list[Chart]]
    legend: list[str]


def legend_entry(color: str, words: str, *, bar: bool = False) -> str:
    """Return a legend entry as HTML: a dot or bar in its color, and its name."""
    size = (
        "width:4px;height:14px" if bar else "width:12px;height:12px;border-radius:6px"
    )
    mark = (
        f"display:inline-block;{size};background:{color};margin:0 5px 0 "
        "0;vertical-align:middle"
    )
    return (
        '<span style="margin-right:14px"><span '
        f'style="{mark}"></span>{html.escape(words)}</span>'
    )


def describe_chart(titles: Mapping[str, str]) -> str:
    """Describe a chart in words.

    Args:
        titles: of the fields of its axis and of its figure, in this order.
    """
    axis, figure = list(titles.values())[:2]
    return _("{figure}, by {axis}").format(figure=figure, axis=axis)


def base_chart(frame: pd.DataFrame) -> Any:
    """Return a chart base over aggregates.

    Raises: DisclosureError for a frame that could be rows.
    """
    if len(frame) > MAX_MARKS:
        raise DisclosureError(
            "a chart can show at most {max_marks} aggregated values",
            remedy="aggregate first",
            max_marks=MAX_MARKS,
        )
    import altair

    # Altair would check each part of a chart; tests check whole charts.
    altair.utils.schemapi.disable_debug_mode()
    return altair, altair.Chart(frame)


def layer_marks(*layers: Any, **properties: Any) -> Any:
    """Lay charts over each other; what they have in common is their data.

    Altair would write the frame of each layer out to find a name for it, which no chart
    here needs.
    """
    import altair

    data = layers[0].data
    if all(layer.data is data for layer in layers):
        layers = tuple(layer.copy(deep=False) for layer in layers)
        for layer in layers:
            layer.data = altair.Undefined
        properties["data"] = data
    return altair.layer(*layers, **properties)


def make_readable(spec: Any, *, dark: bool) -> Any:
    """Set text contrast to at least 4.5 and the number format of the language."""
    import altair

    words = "#C9CED6" if dark else "#4A4F57"
    spec.config = altair.Config(  # in place: `configure` would copy the whole chart
        locale=altair.Locale(number=number_signs()),
        axis=altair.AxisConfig(labelColor=words, titleColor=words),
        legend=altair.LegendConfig(labelColor=words, titleColor=words),
        text=altair.MarkConfig(color=words),
        title=altair.TitleConfig(color=words, subtitleColor=words),
    )
    return spec


def with_headings(frame: pd.DataFrame) -> pd.DataFrame:
    """Rename the fields of aggregates to headings for people."""
    return frame.rename(columns=lambda name: translate_table(HEADINGS).get(name, name))


def round_figures(frame: pd.DataFrame) -> pd.DataFrame:
    """Round aggregates to significant digits, as `wording.number` does."""
    shown = frame.copy()
    for name in frame.columns[[kind.kind == "f" for kind in frame.dtypes]]:
        values = frame[name].to_numpy()
        size = np.log10(
            np.abs(values),
            out=np.zeros(len(values)),
            where=(values != 0) & np.isfinite(values),
        )
        places = np.clip(2 - np.floor(size), 0, 12)
        shown[name] = np.round(values * 10**places) / 10**places
    return shown


def tooltips(*names: str, **formats: str) -> list[Any]:
    """Return tooltips for fields, some with a number format."""
    import altair

    return [
        altair.Tooltip(f"{name}:N", title=translate_table(HEADINGS).get(name, name))
        for name in names
    ] + [
        altair.Tooltip(f"{name}:Q", format=form, title=_(HEADINGS[name]))
        for name, form in formats.items()
    ]


def tooltips_of(frame: pd.DataFrame) -> list[Any]:
    """Return tooltips for every field: whole numbers grouped, others in three digits."""
    import altair

    formats = {"i": ",d", "f": ",.3~r"}
    return [
        altair.Tooltip(
            f"{name}:Q",
            format=formats[kind],
            title=translate_table(HEADINGS).get(name, name),
        )
        if (kind := frame[name].dtype.kind) in formats
        else tooltips(name)[0]
        for name in frame.columns
    ]


def fold_labels(labels: Sequence[str], max_cells: int = 200) -> list[str]:
    """Return labels for at most `max_cells` runs of neighboring cells."""
    width = -(-len(labels) // max_cells)
    if width == 1:
        return list(labels)
    alone = len(labels) - 1 if len(labels) % width == 1 else None
    return [
        label if place == alone else f"{label} …"
        for place, label in enumerate(labels)
        if place % width == 0
    ]


def fold_table(table: Any, max_cells: int = 200) -> Any:
    """Add up runs of neighboring cells, so that no axis has more than `max_cells`."""
    for axis, size in enumerate(np.shape(table)):
        table = np.add.reduceat(
            table, np.arange(0, size, -(-size // max_cells)), axis=axis
        )
    return table


def fold_cells(
    labels: Sequence[str], answer: CliqueCounts, *, max_cells: int = 200
) -> tuple[list[str], CliqueCounts]:
    """Add up neighboring cells of one column until at most `max_cells` are left."""
    width = -(-len(labels) // max_cells)
    return fold_labels(labels, max_cells), answer if width == 1 else answer.merge_cells(
        width
    )


@dataclass(frozen=True, kw_only=True)
class Extents:
    """Lower and upper ends of the cells of a column of numbers, as a chart shows them.

    Attributes:
        starts, ends: of each cell, in the unit of the column.
        is_narrow: cells that are too narrow to be told apart.
        is_needle: narrow cells of one value, which could not be seen as bars.
    """

    starts: npt.NDArray[np.float64]
    ends: npt.NDArray[np.float64]
    is_narrow: npt.NDArray[np.bool_]
    is_needle: npt.NDArray[np.bool_]

    @property
    def spans(self) -> list[tuple[float, float]]:
        """Start and end of each cell on a scale from 0 (lowest end) to 1 (highest
        end).
        """
        low = float(self.starts.min())
        reach = float(self.ends.max()) - low
        return [
            ((start - low) / reach, (end - low) / reach)
            for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        ]

    @property
    def widths(self) -> npt.NDArray[np.float64]:
        """Array of cell widths; a needle gets the median width of the other cells."""
        widths = self.ends - self.starts
        return np.where(self.is_needle, np.median(widths[~self.is_needle]), widths)


def uneven_extents(column: Column, max_cells: int = 200) -> Extents | None:
    """Return the extents of a column's cells, or None if all are about equally wide.

    Bars of equal width would draw a wide cell as tall as many narrow ones.
    """
    if not isinstance(column, NumberColumn) or column.values_size < 2:
        return None
    starts = column.edges[:-1]
    ends = column.ends
    reach = float(ends.max() - starts.min())
    needles = column.single_value_cells
    width = -(-column.size // max_cells)
    if width > 1:
        first = np.arange(0, len(starts), width)
        starts = starts[first]
        ends = ends[np.minimum(first + width, len(ends)) - 1]
        needles = np.logical_and.reduceat(needles, first)
    is_narrow = ends - starts < reach / MAX_CELLS_TOLD_APART
    needles = needles & is_narrow
    extents = Extents(starts=starts, ends=ends, is_narrow=is_narrow, is_needle=needles)
    if needles.all():
        return None
    widths = (ends - starts)[~needles]
    is_even = widths.max() < MAX_EVEN_WIDTH_RATIO * widths.min() and not needles.any()
    return None if is_even else extents


def find_tall_cells(
    heights: npt.NDArray[np.float64], is_narrow: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Mark the few narrow cells that are so tall that no other cell could be seen.

    A chart tells them in words: nine of ten people have no capital gain at all.
    """
    marks = np.zeros(len(heights), dtype=np.bool_)
    narrow = np.flatnonzero(is_narrow)
    tallest = narrow[np.argsort(-heights[narrow], kind="stable")][:MAX_TALL_CELLS]
    for count in range(len(tallest), 0, -1):
        others = np.delete(heights, tallest[:count])
        most = float(others.max(initial=0))
        if 0 < most < heights[tallest[count - 1]] / MAX_HEIGHT_RATIO:
            marks[tallest[:count]] = True
            break
    return marks


def column_bars(
    column: Column,
    labels: Sequence[str],
    counts: CliqueCounts,
    *,
    max_cells: int = 200,
    counted: str = "rows",
) -> Chart:
    """Draw the noisy counts of one column; neighboring cells are merged if many.

    Numbers in cells of different widths are drawn from the low to the high end of
    each, as high as its rows in a unit of the column.

    Args:
        counted: what a count is of, a key of `NOISY_COUNTS`.
    """
    cells, folded = fold_cells(labels, counts, max_cells=max_cells)
    extents = uneven_extents(column, max_cells)
    if extents is None:
        return count_bars(
            cells,
            folded.values,
            folded.low,
            folded.high,
            column=column.name,
            counted=counted,
            is_horizontal=not column.is_interval
            and MAX_NAMES_BELOW_BARS < len(cells) <= MAX_NAMES_BESIDE_BARS,
        )
    frame = pd.DataFrame(
        {
            "cell": cells,
            "rows": folded.values,
            "low": folded.low,
            "high": folded.high,
        }
    )
    inside = frame.iloc[: len(extents.starts)].assign(
        start=extents.starts,
        end=extents.ends,
        middle=(extents.starts + extents.ends) / 2,
    )
    for name, field in (("density", "rows"), ("least", "low"), ("most", "high")):
        inside[name] = inside[field] / extents.widths
    tall = find_tall_cells(inside["density"].to_numpy(), extents.is_narrow)
    drawn = inside[~tall]
    altair, _chart = base_chart(drawn)
    hint = tooltips("cell", rows=",.0f", low=",.0f", high=",.0f")
    y = altair.Y("density:Q", title=_(NOISY_COUNTS_PER_UNIT[counted]))
    bars = (
        altair.Chart(drawn[~extents.is_needle[~tall]])
        .mark_rect(color=PRIVATE, opacity=0.75)
        .encode(
            x=altair.X("start:Q", title=column.name, scale=altair.Scale(zero=False)),
            x2=altair.X2("end:Q"),
            y=y,
            y2=altair.Y2Datum(0),
            tooltip=hint,
        )
    )
    needles = (
        altair.Chart(drawn[extents.is_needle[~tall]])
        .mark_rule(color=PRIVATE, strokeWidth=3)
        .encode(x=altair.X("start:Q"), y=y, y2=altair.Y2Datum(0), tooltip=hint)
    )
    errors = draw_error_bars(
        altair.Chart(drawn),
        len(drawn),
        x=altair.X("middle:Q"),
        y=altair.Y("least:Q", title=counted),
        y2=altair.Y2("most:Q"),
        tooltip=hint,
    )
    told = frame[[*tall, *[True] * (len(frame) - len(inside))]]
    beside = [
        f"{cell}: {localize_number(str(round(rows)), grouped=True)}"
        for cell, rows in zip(told["cell"], told["rows"], strict=True)
    ]
    alt = _("Bar chart of {cells} noisy counts of {column}.").format(
        cells=len(frame), column=column.name
    )
    spec = layer_marks(bars, needles, *errors, height=320)
    if beside:
        spec = spec.properties(
            title=altair.Title("", subtitle=" · ".join(beside), anchor="start")
        )
    return Chart(spec=spec, alt=alt, table=with_headings(frame))


def draw_error_bars(chart: Any, bars: int, **encoding: Any) -> list[Any]:
    """Draw error bars whose halves are seen on their bars and beside them."""
    if bars > MAX_BARS_WITH_EDGED_ERRORS:
        return [chart.mark_rule(color=ERROR_BAR, opacity=0.9).encode(**encoding)]
    return [
        chart.mark_rule(color=color, strokeWidth=width).encode(**encoding)
        for color, width in ((ERROR_EDGE, 3), (ERROR_LINE, 1.2))
    ]


def cells_axis(labels: Sequence[str], *, title: str, field: str = "cell") -> Any:
    """Return an axis of cells from left to right, with about ten horizontal labels."""
    import altair

    order = list(dict.fromkeys(labels))
    step = -(-len(order) // MAX_AXIS_LABELS)
    axis = altair.Axis(
        values=order[::step], labelAngle=0, labelOverlap="greedy", labelLimit=120
    )
    return altair.X(f"{field}:N", sort=None, title=title, axis=axis)


def count_bars(
    labels: Sequence[str],
    values: Any,
    low: Any,
    high: Any,
    *,
    column: str,
    is_horizontal: bool = False,
    counted: str = "rows",
) -> Chart:
    """Draw bars of noisy counts, each with its interval from `low` to `high`.

    Args:
        counted: what a count is of, a key of `NOISY_COUNTS`.
        is_horizontal: whether the bars lie below each other, each with its whole label.
    """
    frame = pd.DataFrame(
        {"cell": list(labels), "rows": values, "low": low, "high": high}
    )
    altair, chart = base_chart(frame)
    hint = tooltips("cell", rows=",.0f", low=",.0f", high=",.0f")
    title = _(NOISY_COUNTS[counted])
    rows: dict[str, Any]
    interval: dict[str, Any]
    if is_horizontal:
        every = altair.Axis(labelOverlap=False, labelLimit=160)
        cells = {"y": altair.Y("cell:N", sort=None, title=column, axis=every)}
        rows = {"x": altair.X("rows:Q", title=title)}
        interval = {"x": altair.X("low:Q", title=title), "x2": altair.X2("high:Q")}
    else:
        cells = {"x": cells_axis(labels, title=column)}
        rows = {"y": altair.Y("rows:Q", title=title)}
        interval = {"y": altair.Y("low:Q", title=title), "y2": altair.Y2("high:Q")}
    bars = chart.mark_bar(color=PRIVATE, opacity=0.75).encode(
        **cells, **rows, tooltip=hint
    )
    reach = float(
        np.maximum(frame["high"] - frame["rows"], frame["rows"] - frame["low"]).max()
    )
    rules = (
        draw_error_bars(chart, len(frame), **cells, **interval, tooltip=hint)
        if reach
        else [chart.mark_rule(color=PRIVATE).encode(**cells, **interval, tooltip=hint)]
    )
    alt = _("Bar chart of {cells} noisy counts of {column}.").format(
        cells=len(frame), column=column
    )
    height = max(320, 22 * len(frame)) if is_horizontal else 320
    return Chart(
        spec=layer_marks(bars, *rules, height=height),
        alt=alt,
        table=with_headings(frame),
    )


def series_color(
    field: str, names: Sequence[str], colors: Sequence[str], **legend: Any
) -> Any:
    """Return the color scale of a field, with a legend above the chart."""
    import altair

    scale = altair.Scale(domain=list(names), range=list(colors[: len(names)]))
    legend_above = altair.Legend(orient="top", **legend)
    return altair.Color(
        f"{field}:N", title=None, sort=None, scale=scale, legend=legend_above
    )


def shade_scale(field: str, title: str, darkest: float | None, **legend: Any) -> Any:
    """Return the color scale of a figure, from 0 in white to dark.

    Args:
        darkest: the figure drawn darkest; None for the largest.
    """
    import altair

    most = altair.Undefined if darkest is None else darkest
    scale = altair.Scale(scheme="blues", domainMin=0, domainMax=most)
    return altair.Color(f"{field}:Q", title=title, scale=scale, **legend)


def heatmap(
    names: Sequence[str], matrix: Any, *, title: str, darkest: float | None = None
) -> Chart:
    """Draw a heatmap of errors of pairs; white is 0, darker is larger.

    Args:
        darkest: the error drawn darkest, so that two maps can be compared; the largest if
            not given.
    """
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
    altair, chart = base_chart(frame)
    spec = chart.mark_rect().encode(
        x=names_axis(altair.X, "second", order),
        y=names_axis(altair.Y, "first", order),
        color=shade_scale(
            "error", title, darkest, legend=altair.Legend(orient="top", format="%")
        ),
        tooltip=tooltips("first", "second", error=".1%"),
    )
    alt = _("{title} of every pair of columns.").format(title=title)
    if len(frame):
        worst = frame.iloc[int(frame["error"].argmax())]
        alt += " " + _("The largest is {error} for {a} and {b}.").format(
            error=localize_number(f"{100 * worst['error']:.1f}") + percent_sign(),
            a=worst["first"],
            b=worst["second"],
        )
    return Chart(
        spec=spec.properties(height=60 + 26 * len(order)),
        alt=alt,
        table=with_headings(frame),
    )


def draw_two_way_table(
    marginal_values: Any,
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    names: tuple[str, str],
    *,
    intervals: tuple[Any, Any] | None = None,
    title: str = "",
    darkest: float | None = None,
) -> Chart:
    """Draw a two-way table of counts as shades; a large table is folded first.

    Args:
        marginal_values: counts, one row per label of the first column.
        row_labels: of the cells of the first column.
        column_labels: of the cells of the second column.
        names: of the two columns.
        intervals: low and high of the interval of every cell, for the table beside it; sums
            of them if cells are folded.
        title: what is counted; noisy rows if not given.
        darkest: the count drawn darkest, so that two tables can be compared; the largest if
            not given.
    """
    rows = fold_labels(row_labels, MAX_FOLDED_CELLS)
    columns = fold_labels(column_labels, MAX_FOLDED_CELLS)
    title = title or _("rows (noisy)")
    frame = pd.DataFrame(
        [(a, b) for a in rows for b in columns], columns=["first", "second"]
    )
    frame["rows"] = fold_table(marginal_values, MAX_FOLDED_CELLS).ravel()
    altair, chart = base_chart(frame)
    # Every row gets its label, so that also the darkest rows are named.
    every = altair.Axis(labelOverlap=False, labelLimit=140)
    spec = chart.mark_rect().encode(
        x=cells_axis(columns, title=names[1], field="second"),
        y=altair.Y("first:N", sort=None, title=names[0], axis=every),
        color=shade_scale("rows", title, darkest),
        tooltip=tooltips("first", "second", rows=",.1f"),
    )
    # This heading differs from every column name.
    of = _("{what} of {a} × {b}").format(what=title, a=names[0], b=names[1])
    alt = _("{table}: darker is more.").format(table=of)
    table = frame.set_axis([*names, of], axis="columns")
    if intervals is not None:
        low, high = (fold_table(bound, MAX_FOLDED_CELLS).ravel() for bound in intervals)
        table = table.assign(**{_("low"): low, _("high"): high})
    return Chart(
        spec=spec.properties(height=max(200, 100 + 18 * len(rows))),
        alt=alt,
        table=table,
    )


def largest_folded_count(table: Any) -> float:
    """Return the largest count of a table as `draw_two_way_table` draws it."""
    return float(fold_table(table, MAX_FOLDED_CELLS).max())


def draw_lines(
    frame: pd.DataFrame,
    titles: Mapping[str, str],
    *,
    colors: Sequence[str] = (ORIGINAL, PRIVATE, SYNTHETIC, WARNING),
    logarithmic_fields: Collection[str] = (),
    has_wide_range: bool = False,
    has_points: bool = True,
    rule_x: float | None = None,
) -> Chart:
    """Draw one line per series, distinguished by dashes as well as color.

    Args:
        frame: aggregates, one row per point, series in order of appearance.
        titles: of the fields of x, y and series, in this order.
        colors: of the series.
        logarithmic_fields: fields with a logarithmic axis.
        has_wide_range: whether y goes from next to 0 to thousands, and small values have to be
            told apart.
        has_points: whether values are marked; otherwise the line is a step function.
        rule_x: x of a vertical rule.
    """
    altair, chart = base_chart(frame)
    x, y, series = titles
    order = list(frame[series].unique())
    legend = altair.Legend(orient="top", columns=1, labelLimit=400)

    def scale(field: str) -> Any:
        return altair.Scale(type="log" if field in logarithmic_fields else "linear")

    whole_axis = (
        altair.Axis(tickMinStep=1) if (frame[x] % 1 == 0).all() else altair.Undefined
    )
    small = altair.Scale(type="symlog", constant=0.01)
    ticks = altair.Axis(values=[0, 0.01, 0.1, 1, 10, 100, 1000, 10_000], format="~g")
    spec = chart.mark_line(
        point=has_points, interpolate="linear" if has_points else "step"
    ).encode(
        x=altair.X(f"{x}:Q", title=titles[x], scale=scale(x), axis=whole_axis),
        y=altair.Y(
            f"{y}:Q",
            title=titles[y],
            scale=small if has_wide_range else scale(y),
            axis=ticks if has_wide_range else altair.Undefined,
        ),
        color=series_color(series, order, colors, columns=1, labelLimit=400),
        **{
            name: channel(
                f"{series}:N",
                title=None,
                sort=None,
                scale=altair.Scale(domain=order),
                legend=legend,
            )
            for name, channel in (
                ("strokeDash", altair.StrokeDash),
                ("shape", altair.Shape),
            )
        },
        tooltip=[
            altair.Tooltip(f"{series}:N", title=titles[series]),
            *(
                altair.Tooltip(f"{field}:Q", title=titles[field], format=",.4~g")
                for field in (x, y)
            ),
        ],
    )
    if rule_x is not None:
        rule = base_chart(pd.DataFrame({x: [rule_x]}))[1].mark_rule(
            color=ERROR_BAR, strokeDash=[4, 4]
        )
        spec = layer_marks(spec, rule.encode(x=altair.X(f"{x}:Q", title=titles[x])))
    table = frame.rename(columns=dict(titles))
    return Chart(
        spec=spec.properties(height=240 + LEGEND_LINE_HEIGHT * len(order)),
        alt=describe_chart(titles),
        table=table,
    )


def share_bars(
    labels: Sequence[str],
    shares: Sequence[float],
    *,
    x_title: str,
    alt: str,
    color: str = WARNING,
) -> Chart:
    """Draw shares as horizontal bars from 0 to 100 %, in the given order."""
    frame = pd.DataFrame({"of": list(labels), "share": list(shares)})
    altair, chart = base_chart(frame)
    spec = chart.mark_bar(color=color, opacity=0.85).encode(
        y=altair.Y("of:N", sort=None, title=None, axis=altair.Axis(labelLimit=320)),
        x=altair.X(
            "share:Q",
            title=x_title,
            axis=altair.Axis(format="%", titleAnchor="end"),
            scale=altair.Scale(domain=[0, 1]),
        ),
        tooltip=tooltips("of", share=".2%"),
    )
    words = chart.mark_text(align="left", dx=4).encode(
        y=altair.Y("of:N", sort=None, title=None),
        x=altair.X("share:Q", title=x_title),
        text=altair.Text("share:Q", title=None, format=".1%"),
    )
    return Chart(
        spec=layer_marks(spec, words, height={"step": 24}),
        alt=alt,
        table=with_headings(frame),
    )


def clickable_bars(
    labels: Sequence[str], shares: Sequence[float], *, x_title: str, alt: str
) -> Chart:
    """Draw bars like `share_bars` that can be clicked along their whole line.

    A bar of length 0 could not be hit otherwise.
    """
    drawn = share_bars(labels, shares, x_title=x_title, alt=alt)
    altair, chart = base_chart(pd.DataFrame({"of": list(labels)}))
    clicked = altair.selection_point(name="clicked", fields=["of"], on="click")
    lines_of = (
        chart.mark_bar(opacity=0)
        .encode(
            y=altair.Y("of:N", sort=None, title=None),
            x=altair.XDatum(1),
            tooltip=tooltips("of"),
        )
        .add_params(clicked)
    )
    return dataclasses.replace(drawn, spec=drawn.spec + lines_of)


def names_axis(channel: Any, field: str, order: Sequence[str]) -> Any:
    """Return an axis with every one of these column names, in this order."""
    import altair

    axis = altair.Axis(
        labelOverlap=False,
        labelLimit=140,
        labelAngle=-40 if channel is altair.X else altair.Undefined,
    )
    return channel(
        f"{field}:N", title=None, axis=axis, scale=altair.Scale(domain=list(order))
    )
