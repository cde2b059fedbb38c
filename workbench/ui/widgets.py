"""Widgets that several pages use: errors, charts with tables, badges, choices."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd
import streamlit as st

from dpcore.errors import DpcoreError, RowsError
from dpcore.release import PrivateReport, Release
from dpcore.synthesis import SyntheticModel
from workbench import session
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import N_, _, translate_stored
from workbench.language.wording import (
    escape_markdown,
    loss_words,
    unchecked_source_words,
)
from workbench.report import charts
from workbench.report.charts import Chart, Pictures
from workbench.report.document import BADGES
from workbench.ui import first_rows_view, link_addresses, unexpected

Value = TypeVar("Value")
LINK_NOTICES = {
    "here only": N_(
        "These addresses work only on this computer: nobody else can open them."
    ),
    "ways": N_(
        "To let others open them, run the workbench at an address that they can "
        "reach: docs/hosting.md explains how, on your own machine or on hosts that "
        "cost nothing. A release can also be sent as one HTML file."
    ),
}
MAX_MAP_COLUMNS = 20  # columns whose names fit beside a map of pairs


def error_box(error: Exception) -> None:
    """Show an error with its remedy; an unforeseen one only by its id."""
    unexpected.show_error(error)
    if isinstance(error, RowsError):
        first_rows_view.offer_first_rows()


@dataclass(frozen=True, kw_only=True)
class UncheckedDrawing:
    """An Altair chart that becomes JSON without a check against its schema.

    The check takes two thirds of the time, and its answer depends on our code alone:
    tests of the pages make it.
    """

    spec: Any

    def to_dict(self) -> dict[str, Any]:
        """Return the chart as Vega-Lite; Streamlit calls this."""
        fields: dict[str, Any] = self.spec.to_dict(validate=False)
        return fields


def recolor(chart: Chart) -> Any:
    """Return a chart's drawing in colors that are readable on this tab's background."""
    readable = charts.make_readable(chart.spec, dark=session.is_dark())
    return UncheckedDrawing(spec=readable)


def show_clickable(
    chart: Chart,
    clicked: session.Selection,
    on_click: Callable[[], None] | Literal["rerun"] = "rerun",
) -> None:
    """Show a chart with clickable marks, and its alternative text."""
    st.altair_chart(
        recolor(chart),
        alt=chart.alt,
        key=clicked.key,
        on_select=on_click,
        selection_mode=clicked.name,
    )


def show_chart(chart: Chart, *, key: str) -> None:
    """Show a chart, its alternative text, and its table in an expander."""
    st.altair_chart(recolor(chart), alt=chart.alt, key=key)
    _show_chart_table(chart.table, key=key, alt=chart.alt)


def show_pictures(pictures: Pictures, *, key: str) -> None:
    """Show several charts with one legend and one table."""
    st.html(
        '<div style="display:flex;flex-wrap:wrap;gap:2px '
        f'14px">{"".join(pictures.legend)}</div>'
    )
    for number, beside in enumerate(pictures.lines):
        for place, (column, chart) in enumerate(
            zip(st.columns(len(beside)), beside, strict=True)
        ):
            column.altair_chart(
                recolor(chart), alt=chart.alt, key=f"{key}-{number}-{place}"
            )
    _show_chart_table(
        pd.concat([chart.table for beside in pictures.lines for chart in beside]),
        key=key,
        alt=_("The same figures as a table"),
    )


@contextmanager
def fold(label: str, *, key: str) -> Iterator[bool]:
    """Show a fold; yield whether it is open, so that hidden work can be skipped."""
    section = st.expander(label, key=key, on_change="rerun")
    with section:
        yield bool(section.open)


def show_page(page: str, *, alt: str) -> None:
    """Show a whole page in a sandboxed frame."""
    style = "position:fixed;inset:0;width:100%;height:100%;border:0"
    frame = (
        f'<iframe sandbox="" style="{style}" title="{escape(alt)}" '
        f'srcdoc="{escape(page)}"></iframe>'
    )
    st.iframe(frame, height=620, alt=alt)


def _show_chart_table(table: pd.DataFrame, *, key: str, alt: str) -> None:
    with st.expander(_("The same figures as a table"), key=f"{key}-twin"):
        show_table(table, key=f"{key}-table", alt=alt)


def show_table(frame: pd.DataFrame, *, alt: str, key: str | None = None) -> None:
    """Show aggregates, rounded and with thousands separated.

    Args:
        alt: name of the table, for people who do not see it.
    """
    numbers = frame.select_dtypes("number").columns
    st.dataframe(
        charts.round_figures(frame),
        hide_index=True,
        key=key,
        column_config={
            name: st.column_config.NumberColumn(format="localized") for name in numbers
        },
        alt=alt,
    )


def show_rows(frame: pd.DataFrame, *, alt: str) -> None:
    """Show rows under the name `alt`; dates without time are written as days."""
    times = frame.select_dtypes("datetime")
    days = [
        name
        for name in times.columns
        if (times[name].dropna() == times[name].dropna().dt.normalize()).all()
    ]
    column_config = {
        name: st.column_config.DateColumn(format="YYYY-MM-DD") for name in days
    }
    st.dataframe(frame, hide_index=True, column_config=column_config, alt=alt)


def show_private_badge(release: Release | PrivateReport) -> None:
    """Show the badge of differentially private results, with their loss and unit."""
    st.badge(
        _("differentially private · {loss} · {unit}").format(
            loss=loss_words(release.guarantee.loss),
            unit=escape_markdown(
                translate_stored(release.guarantee.unit), max_length=200
            ),
        ),
        color="blue",
        icon=":material/verified_user:",
        help=_(GLOSSARY["privacy unit"]),
    )
    for sentence in unchecked_source_words(release.guarantee):
        st.caption(sentence)


def show_internal_badge() -> None:
    """Show the badge of results computed from the original."""
    st.badge(_(BADGES["internal"]), color="orange", icon=":material/visibility_lock:")
    first_rows_view.show_first_rows_note()


def choose(
    label: str,
    titles: Mapping[Value, str],
    *,
    key: str,
    default: Value | None = None,
    **options: Any,
) -> Value:
    """Ask for one of a few values by title; return it.

    The first is chosen unless a default is given.
    """
    default = next(iter(titles)) if default is None else default
    value: Value = ask_by_title(
        st.segmented_control,
        label,
        titles,
        default=default,
        required=True,
        key=key,
        **options,
    )
    return value


def ask_by_title(
    field: Callable[..., Any],
    label: str,
    titles: Mapping[Value, str],
    *given: Any,
    **options: Any,
) -> Any:
    """Show a Streamlit field whose options are values that are shown by title."""
    return field(label, list(titles), *given, format_func=titles.__getitem__, **options)


@contextmanager
def catch_and_show_errors() -> Iterator[None]:
    """Catch an error of the library that the block raises, and show it."""
    try:
        yield
    except DpcoreError as error:
        error_box(error)


def show_notice(page: str) -> None:
    """Show the error that a callback of the page left, once."""
    if (error := session.session().notices.pop(page, None)) is not None:
        error_box(error)


def show_link_ready(words: str, root: str) -> None:
    """Say that links were made, as a warning if they open on this computer only."""
    if link_addresses.is_here_only(root):
        st.warning(
            f"{words} {_(LINK_NOTICES['here only'])} {_(LINK_NOTICES['ways'])}",
            icon=":material/computer:",
        )
    else:
        st.success(words)


def choose_map_columns(names: Sequence[str], matrix: Any, *, key: str) -> list[int]:
    """Return the positions of the columns to draw.

    Of many columns, those with the largest entries, or a person's choice.
    """
    if len(names) <= MAX_MAP_COLUMNS:
        return list(range(len(names)))
    off = np.where(
        np.eye(len(names), dtype=bool), np.nan, np.asarray(matrix, dtype=float)
    )
    known = np.isfinite(off)
    means = np.where(known, off, 0).sum(axis=1) / np.maximum(1, known.sum(axis=1))
    order = [names[i] for i in np.argsort(-means, kind="stable")]
    shown_names = st.multiselect(
        _(
            "Columns in the picture ({all} in all; those with the largest "
            "errors are preselected)"
        ).format(all=len(names)),
        order,
        order[:MAX_MAP_COLUMNS],
        key=key,
        max_selections=2 * MAX_MAP_COLUMNS,
    )
    return [list(names).index(name) for name in shown_names]


def show_noise(
    model: SyntheticModel, *, shown: list[int] | None = None, end: float | None = None
) -> None:
    """Show the error that noise alone causes in each pair of columns.

    Args:
        shown, end: columns and darkest error of a map beside it.
    """
    errors = model.noise_errors()
    columns = tuple(errors.columns)
    pairs = errors.to_numpy()
    if len(columns) < 2:
        st.info(_("This release has only one column."))
        return
    if shown is None:
        shown = choose_map_columns(columns, pairs, key="noise-columns")
    names = [columns[i] for i in shown]
    chart = charts.heatmap(
        names, pairs[np.ix_(shown, shown)], title=_("error by noise"), darkest=end
    )
    show_chart(chart, key="noise")
    st.caption(
        _(
            "Share of the rows that noise alone is expected to misplace in each "
            "pair (total variation distance). These shares were computed from the "
            "release, so you may publish them. White marks pairs whose columns were "
            "not counted together.",
        ),
    )
