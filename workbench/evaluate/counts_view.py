"""Exact counts of one or two columns in the original and in the judged table."""

from collections.abc import Sequence

import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation.utility.counts import CountsQuestion, CountsReport
from dpcore.schema import Column
from workbench import session
from workbench.evaluate.columns_view import column_chart
from workbench.evaluate.form import Candidate
from workbench.language.labels import cell_labels
from workbench.language.messages import _, capital, name_and_text
from workbench.language.wording import (
    counted_rows_words,
    escape_markdown,
    number,
    whole_number_text,
)
from workbench.report import charts
from workbench.ui import widgets


def show(curator: Curator, candidate: Candidate | None) -> None:
    """Ask for the columns, and show their counts."""
    section = st.expander(
        _("Count one or two columns of the original"), key="open-together"
    )
    with section, widgets.catch_and_show_errors():
        widgets.show_internal_badge()
        columns = st.multiselect(
            capital("columns"),
            curator.schema.domain.names,
            max_selections=2,
            key="together-columns",
        )
        if not columns:
            return
        of = (
            candidate
            if candidate and set(columns) <= set(candidate.table.frame)
            else None
        )
        (counts,) = session.evaluate_once(
            curator,
            ("together", tuple(columns), None if of is None else of.key),
            lambda: CountsQuestion(
                cliques=(tuple(columns),), table=None if of is None else of.table
            ),
        )
        if counted := counted_rows_words(curator.schema.unit):
            st.caption(counted)
        if len(columns) == 1:
            _show_one_column(curator.schema.column(columns[0]), counts)
        else:
            _show_two_columns(counts, list(map(curator.schema.column, columns)))


def _show_one_column(column: Column, counts: CountsReport) -> None:
    tables = {_("original"): counts.original.astype(float)}
    if counts.other is not None:
        tables[_("release")] = counts.other.astype(float)
    st.markdown(
        _(
            "**{rows:,} rows in {cells:,} cells of {column}; {empty:,} cells are "
            "empty.**"
        ).format(
            rows=int(counts.original.sum()),
            cells=counts.original.size,
            column=escape_markdown(column.name),
            empty=int((counts.original == 0).sum()),
        ),
    )
    chart = column_chart(tables, column=column, shares=False)
    widgets.show_chart(chart, key="together-one")


def _show_two_columns(counts: CountsReport, columns: Sequence[Column]) -> None:
    own, other = counts.association
    values = number(own) if other is None else f"{number(own)} → {number(other)}"
    pair = " × ".join(map(escape_markdown, counts.columns))
    st.markdown(
        _("**Cramér's V of {columns}: {values}**").format(columns=pair, values=values)
    )
    a, b = counts.columns
    rows, across = map(cell_labels, columns)
    places = [
        widgets.ask_by_title(
            side.selectbox,
            name_and_text(_("Only rows with"), escape_markdown(name)),
            dict(enumerate(labels)),
            key=f"together-{name}",
        )
        for side, name, labels in zip(
            st.columns(2), counts.columns, (rows, across), strict=True
        )
    ]
    cell = places[0], places[1]
    exact, here, unrelated = st.columns(3)
    exact.metric(capital("original"), whole_number_text(counts.original[cell]))
    if counts.other is not None:
        here.metric(capital("release"), whole_number_text(counts.other[cell]))
    unrelated.metric(
        _("If they were unrelated"), number(float(counts.expected_if_independent[cell]))
    )
    tables = {_("original"): counts.original} | (
        {} if counts.other is None else {_("release"): counts.other}
    )
    end = max(charts.largest_folded_count(table) for table in tables.values())
    for side, (title, table) in zip(
        st.columns(len(tables)), tables.items(), strict=True
    ):
        with side:
            st.markdown(title)
            chart = charts.draw_two_way_table(
                table, rows, across, (a, b), title=_("rows"), darkest=end
            )
            widgets.show_chart(chart, key=f"together-{len(tables)}-{title}")
