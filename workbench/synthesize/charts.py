"""Charts of the Synthesize page: the expected error, and which pairs are kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from workbench.ui.charts import PRIVATE, SYNTHETIC, Chart, drawing, headed, names_axis, tips
from workbench.ui.language import _


def expected(half_widths: Sequence[tuple[str, float]]) -> Chart:
    """The interval of one cell for each table, on a neutral scale around a count that nobody knows yet."""
    frame = pd.DataFrame(
        {"table": [name for name, _half in half_widths], "half": [half for _name, half in half_widths]}
    )
    frame["low"], frame["high"] = -frame["half"], frame["half"]
    altair, chart = drawing(frame)
    y = altair.Y("table:N", sort=None, title=None, axis=altair.Axis(labelLimit=220))
    band = chart.mark_bar(color=PRIVATE, opacity=0.35, height=14).encode(
        y=y, x=altair.X("low:Q", title=_("rows off, in 95 of 100 cases")), x2="high:Q"
    )
    middle = chart.mark_tick(color=PRIVATE, thickness=2, height=14).encode(y=y, x=altair.datum(0))
    alt = _("Expected error of a cell: ") + "; ".join(f"{name} ±{half:.0f}" for name, half in half_widths[:8])
    return Chart(
        spec=(band + middle).properties(height={"step": 30}), alt=alt, table=headed(frame[["table", "half"]])
    )


def pair_grid(names: Sequence[str]) -> Chart:
    """One square per pair of columns, to be clicked; a click with Shift adds to the choice."""
    order = list(names)
    frame = pd.DataFrame(
        [{"first": b, "second": a} for i, a in enumerate(order) for b in order[:i]],
        columns=["first", "second"],
    )
    altair, chart = drawing(frame)
    pairs = altair.selection_point(name="pairs", fields=["first", "second"], toggle="true")
    spec = (
        chart.mark_rect(stroke="white")
        .encode(
            x=names_axis(altair.X, "first", order),
            y=names_axis(altair.Y, "second", order),
            color=altair.condition(pairs, altair.value(PRIVATE), altair.value("#D5DDE3"), empty=False),
            tooltip=tips("first", "second"),
        )
        .add_params(pairs)
    )
    alt = _("One square for each pair of columns; click those that matter most.")
    return Chart(spec=spec.properties(height=40 + 20 * len(order)), alt=alt, table=headed(frame))


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
    altair, lines_of = drawing(edges)
    hidden = {"axis": None, "scale": altair.Scale(domain=[-1.5, 1.5])}
    x, y = altair.X("x:Q", **hidden), altair.Y("y:Q", **hidden)
    rules = lines_of.mark_rule(color=PRIVATE, opacity=0.6, strokeWidth=2).encode(
        x=x, y=y, x2="x2:Q", y2="y2:Q", tooltip=tips("from", "to")
    )
    points = altair.Chart(nodes).mark_point(filled=True, size=80, color=SYNTHETIC).encode(x=x, y=y)
    texts = altair.Chart(nodes).mark_text(dy=-12).encode(x=x, y=y, text="column:N")
    alt = _("The relations that were measured: ") + "; ".join(
        _("{first} and {last}").format(first=a, last=b) for a, b in links[:40]
    )
    return Chart(
        spec=(rules + points + texts).properties(height=420), alt=alt, table=headed(edges[["from", "to"]])
    )
