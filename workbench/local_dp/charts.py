"""Charts of the Local answers page."""

from typing import Any

import pandas as pd

from workbench.language.messages import _, localize_number, translate_table
from workbench.language.wording import COUNTED_WORDS
from workbench.local_dp.words import PROTOCOL_TITLES
from workbench.report.charts import (
    ERROR_BAR,
    HEADINGS,
    ORIGINAL,
    PRIVATE,
    SYNTHETIC,
    WARNING,
    Chart,
    base_chart,
    describe_chart,
    draw_lines,
    layer_marks,
    series_color,
    tooltips,
    with_headings,
)

# palette of Okabe and Ito, for color-blind readers
PROTOCOL_COLORS = [PRIVATE, SYNTHETIC, WARNING, "#CC79A7", "#E69F00", ORIGINAL]


def draw_error_lines(
    frame: pd.DataFrame, *, x_field: str, title: str, survey_x: float
) -> Chart:
    """Draw the error of each protocol on logarithmic scales, and mark the survey."""
    named = frame.replace({"protocol": translate_table(PROTOCOL_TITLES)})
    titles = {
        x_field: title,
        "error": _("error (95 %)"),
        "protocol": _(HEADINGS["protocol"]),
    }
    return draw_lines(
        named[list(titles)],
        titles,
        colors=PROTOCOL_COLORS,
        logarithmic_fields=(x_field, "error"),
        rule_x=survey_x,
    )


def draw_share_intervals(frame: pd.DataFrame) -> Chart:
    """Draw corrected shares with intervals, next to true and reported ones."""
    tones = {"true": ORIGINAL, "reported": WARNING, "corrected": PRIVATE}
    kinds = [kind for kind in tones if kind in frame]
    names = {kind: _(HEADINGS[kind]) for kind in kinds}
    long = frame.melt(
        ["answer", "low", "high"], kinds, var_name="kind", value_name="share"
    )
    long["shown"] = long["share"].clip(0, 1)
    long["of"] = [names[kind] for kind in long["kind"]]
    altair, chart = base_chart(long)
    order = list(names.values())
    title = _("share of {whom}").format(whom=_(COUNTED_WORDS["people"]))
    y = altair.Y("answer:N", sort=None, title=None, axis=altair.Axis(labelLimit=240))
    offset = altair.YOffset("of:N", sort=order)
    bars = chart.mark_bar(opacity=0.85).encode(
        y=y,
        yOffset=offset,
        x=altair.X("shown:Q", title=title, axis=altair.Axis(format="%")),
        color=series_color("of", order, [tones[kind] for kind in kinds]),
        tooltip=tooltips("answer", "of", share=".2%"),
    )
    rules = (
        chart.transform_filter("datum.kind == 'corrected'")
        .mark_bar(color=ERROR_BAR, size=2)
        .encode(
            y=y,
            yOffset=offset,
            x=altair.X("low:Q"),
            x2=altair.X2("high:Q"),
            tooltip=tooltips("answer", low=".1%", high=".1%"),
        )
    )
    alt = describe_chart({"answer": _(HEADINGS["answer"]), "share": title})
    step: Any = {
        "step": 12 if len(kinds) > 1 else 22,
        "for": "offset" if len(kinds) > 1 else "position",
    }
    return Chart(
        spec=layer_marks(bars, rules, height=step), alt=alt, table=with_headings(frame)
    )


def draw_mean_intervals(frame: pd.DataFrame) -> Chart:
    """Draw the mean estimated in each way with its interval, and the true mean."""
    named = frame.assign(
        way=[_(PROTOCOL_TITLES[way]) for way in frame["way"]],
        low=frame["mean"] - frame["off"],
        high=frame["mean"] + frame["off"],
    )
    altair, chart = base_chart(named)
    y = altair.Y("way:N", sort=None, title=None, axis=altair.Axis(labelLimit=320))
    points = chart.mark_point(filled=True, size=90).encode(
        y=y,
        x=altair.X("mean:Q", title=_("mean"), scale=altair.Scale(zero=False)),
        color=altair.condition(
            "datum.private", altair.value(PRIVATE), altair.value(ORIGINAL)
        ),
        tooltip=tooltips("way", mean=".4~g", off=".3~g"),
    )
    rules = chart.mark_rule(color=ERROR_BAR).encode(
        y=y, x=altair.X("low:Q"), x2=altair.X2("high:Q")
    )
    true = chart.transform_filter("datum.off == 0").transform_window(
        rank="row_number()"
    )
    line = (
        true.transform_filter("datum.rank == 1")
        .mark_rule(color=ORIGINAL, strokeDash=[4, 4])
        .encode(x=altair.X("mean:Q"))
    )
    alt = "; ".join(
        f"{row.way} {localize_number(f'{row.mean:.4g}')} ± {localize_number(f'{row.off:.2g}')}"
        for row in named.itertuples()
    )
    return Chart(
        spec=layer_marks(line, rules, points, height={"step": 30}),
        alt=alt,
        table=with_headings(named[["way", "mean", "off"]]),
    )
