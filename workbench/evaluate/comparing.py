"""A release held against the original: figures, columns, pairs, questions. All of it is internal."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dpcore.accounting.loss import PureDP
from dpcore.curator import Curator
from dpcore.evaluation import (
    Distribution,
    Distributions,
    MarginalError,
    MarginalErrors,
    RangeErrors,
    RangeQueryErrors,
)
from dpcore.release import Release
from dpcore.schema import IntervalColumn
from workbench import session
from workbench.evaluate.charts import overlay
from workbench.ui import charts
from workbench.ui.charts import Chart
from workbench.ui.language import _


def errors(curator: Curator, release: Release) -> MarginalError:
    """Marginal error of a table drawn from the release, over one, two and three columns."""
    columns = sum(column.name in release.model_columns for column in release.schema.columns)
    ways = tuple(range(1, min(3, columns) + 1))
    return session.once(
        curator,
        ("errors", release.request_id),
        lambda: MarginalErrors(other=release.table(seed=0), ways=ways),
    )


def columns(curator: Curator, release: Release) -> tuple[Distribution, ...]:
    """The distribution of every column of the release and of the original."""
    return session.once(
        curator, ("columns", release.request_id), lambda: Distributions(other=release.table(seed=0))
    )


def ranges(curator: Curator, release: Release, column: str, low: Any, high: Any) -> RangeErrors:
    """Errors of range queries on one column, answered from the release's noisy counts or a drawn table."""
    held = any(column in clique for clique in release.marginals)
    source = release if held else release.table(seed=0)
    epsilon = release.guarantee.loss.get("epsilon")
    loss = PureDP(epsilon=epsilon) if epsilon and curator.rule == "basic" else None
    return session.once(
        curator,
        ("ranges", release.request_id, column, low, high),
        lambda: RangeQueryErrors(source=source, column=column, named=((low, high),), loss=loss),
    )


def figures(error: MarginalError) -> pd.DataFrame:
    """One line a figure: of the release, of chance alone, and of independent columns."""
    names = {1: _("single columns"), 2: _("pairs of columns"), 3: _("triples of columns")}
    lines = []
    for way, floor, independent in zip(error.ways, error.floor, error.independent, strict=True):
        picks = (
            ((", " + _("mean"), "mean"), (", " + _("worst"), "worst")) if way.cliques > 1 else (("", "mean"),)
        )
        for label, pick in picks:
            lines.append(
                {
                    "figure": f"{names[way.way]}{label}",
                    "release": getattr(way, pick),
                    "sampling floor": getattr(floor, pick),
                    "independent columns": getattr(independent, pick),
                }
            )
    return pd.DataFrame(lines)


def column_chart(distribution: Distribution) -> Chart:
    """Both distributions of one column; neighbouring cells are added up where there are many."""
    labels, original, _variance = charts.fold(distribution.labels, distribution.original, 0.0)
    _labels, other, _variance = charts.fold(distribution.labels, distribution.other, 0.0)
    return overlay(labels, original, other, column=distribution.column)


def range_chart(found: RangeErrors) -> Chart:
    """Median and 95 % error by width, from the release and asked directly."""
    lines = []
    for width in found.widths:
        for series, quantiles in (
            (_("from the release"), width.answered),
            (_("asked directly"), width.direct),
        ):
            if quantiles is not None:
                lines.append(
                    {"width": width.width, "source": f"{series}, {_('median')}", "error": quantiles.median}
                )
                lines.append(
                    {"width": width.width, "source": f"{series}, {_('95 %')}", "error": quantiles.high}
                )
    return charts.lines(
        pd.DataFrame(lines, columns=["width", "source", "error"]),
        x="width",
        y="error",
        series="source",
        x_title=_("cells in the range"),
        y_title=_("error, % of the true count"),
        alt=_("Error of range queries on {column} by width of the range.").format(column=found.column),
        colors=(charts.SYNTHETIC, charts.SYNTHETIC, charts.PRIVATE, charts.PRIVATE),
    )


def worst_pair(error: MarginalError) -> str:
    """The pair of columns that came out worst, in words."""
    pairs = [way for way in error.ways if way.way == 2]
    if not pairs:
        return ""
    a, b = pairs[0].worst_clique
    return _("{a} and {b}, {distance:.1%} of the rows would have to change").format(
        a=a, b=b, distance=pairs[0].worst
    )


def interval_columns(release: Release) -> list[str]:
    """Columns of the release that have an order of numbers or dates."""
    return [
        column.name
        for column in release.schema.columns
        if isinstance(column, IntervalColumn) and column.name in release.model_columns
    ]


def bounds(release: Release, column: str) -> list[Any]:
    """Bounds of the cells of an ordered column, for choosing a range."""
    declared = release.schema.column(column)
    assert isinstance(declared, IntervalColumn)
    return declared.bounds
