"""Ask a release how many rows meet some conditions; the table itself is not read."""

import streamlit as st

from dpcore.release import Release
from dpcore.synthesis import count_rows, queryable_columns
from dpcore.synthesis.release.row_count import MAX_CONDITIONS, Condition
from workbench.language.labels import bound_text, cell_labels
from workbench.language.messages import _, capital
from workbench.language.wording import (
    escape_markdown,
    make_printable,
    row_count_sentences,
)
from workbench.ui import widgets


@widgets.catch_and_show_errors()
def ask_row_count(release: Release, *, key: str) -> None:
    """Ask for ranges and categories; show the number of rows and its interval.

    It costs nothing, and leaves no line in the ledger.
    """
    key = f"{key}-{release.request_id}"
    names = st.multiselect(
        capital("columns"),
        queryable_columns(release),
        format_func=make_printable,
        max_selections=MAX_CONDITIONS,
        key=f"{key}-columns",
    )
    where: dict[str, Condition] = {}
    for name in names:
        column = release.schema.column(name)
        of = f"{key}-{name}"
        if column.is_interval:
            where[name] = st.select_slider(
                _("{column}: from (included) to (not included)").format(
                    column=escape_markdown(name)
                ),
                column.bounds,
                (column.bounds[0], column.bounds[-1]),
                key=of,
                format_func=bound_text,
            )
        elif labels := st.multiselect(
            escape_markdown(name),
            column.labels,
            column.labels[:1],
            key=of,
            format_func=dict(
                zip(column.labels, cell_labels(column), strict=True)
            ).__getitem__,
        ):
            where[name] = labels
    first, *others = row_count_sentences(count_rows(release, where))
    st.markdown(
        "  \n".join(
            [
                f"**{escape_markdown(first)}**",
                *(escape_markdown(condition, max_length=300) for condition in others),
            ]
        )
    )
