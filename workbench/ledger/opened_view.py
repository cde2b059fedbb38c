"""A release file, opened: the page that its link would show, and questions, without table or database."""

from __future__ import annotations

import streamlit as st

from dpcore.errors import DpcoreError
from dpcore.release import Release
from dpcore.schema import IntervalColumn
from dpcore.synthesis import askable, count_rows
from dpcore.synthesis.counting import MAX_CONDITIONS, Asked
from workbench.report import of_release
from workbench.report.asking import answer_words
from workbench.report.document import page
from workbench.ui import file_view, widgets
from workbench.ui.files import release_file
from workbench.ui.language import _
from workbench.ui.wording import plain, printable


def show() -> None:
    """The place for a file, and what it holds."""
    with st.expander(_("Open a release"), icon=":material/file_open:"):
        file = file_view.file_uploader(
            _("A release file (JSON), from a link or from the Synthesize page"),
            type=["json"],
            key="opened-release",
        )
        if file is None:
            return
        try:
            release = file_view.release_in(file)
        except DpcoreError as error:
            widgets.error_box(error)
            return
        st.caption(
            _(
                "The file is whole: its digest fits. It cannot show who made it: take it from somebody whom "
                "you trust."
            )
        )
        _questions(release)
        report = of_release.file(release)
        st.download_button(
            _("Download as one HTML file"),
            report,
            release_file(file.name, release, "report", "html"),
            "text/html",
            on_click="ignore",
            icon=":material/description:",
            key="opened-html",
        )
        document = of_release.document(release, contents=())
        st.iframe(page(document).html(), height=620, alt=_("What the release holds"))


def _questions(release: Release) -> None:
    """Columns, ranges and categories in; the number of rows with its interval out. Free."""
    columns = askable(release)
    if not columns:
        return
    st.subheader(_("How many rows fit?"))
    chosen = st.multiselect(
        _("Columns"), columns, format_func=printable, max_selections=MAX_CONDITIONS, key="opened-columns"
    )
    where: dict[str, Asked] = {}
    for name in chosen:
        column = release.schema.column(name)
        key = f"opened-{release.request_id}-{name}"
        if isinstance(column, IntervalColumn):
            ends = (column.bounds[0], column.bounds[-1])
            where[name] = st.select_slider(
                _("{column}, from and to below").format(column=plain(name)),
                column.bounds,
                ends,
                key=key,
                format_func=str,
            )
        elif labels := st.multiselect(plain(name), column.labels, column.labels[:1], key=key):
            where[name] = labels
    try:
        first, *others = answer_words(count_rows(release, where))
    except DpcoreError as error:
        widgets.error_box(error)
        return
    st.markdown("  \n".join([f"**{plain(first)}**", *(plain(each, at_most=300) for each in others)]))
