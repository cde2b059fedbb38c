"""Show an uploaded release file and answer questions about it, without its table."""

import streamlit as st

from dpcore.synthesis import queryable_columns
from workbench.language.messages import _, capital
from workbench.language.textbook_names import textbook_names
from workbench.report import of_release
from workbench.report.document import render_page
from workbench.report.files import release_file
from workbench.ui import file_view, questions_view, widgets


def show() -> None:
    """Ask for a release file, and show its release."""
    with (
        st.expander(_("Open a release"), icon=":material/file_open:"),
        widgets.catch_and_show_errors(),
    ):
        file = file_view.file_uploader(
            _("A release file (JSON), from a link or from the Synthesize page"),
            type=["json"],
            key="opened-release",
        )
        if file is None:
            return
        release = file_view.read_release_file(file)
        st.caption(
            _(
                "The file is complete: its digest matches. This does not show who "
                "made the file. Accept it only from a source that you trust.",
            ),
        )
        if queryable_columns(release):
            st.header(_("How many rows fit?"))
            st.caption(textbook_names("range query"))
            questions_view.ask_row_count(release, key="opened")
        file_view.download(
            _("Download as one HTML file"),
            of_release.stand_alone_page(release),
            release_file(file.name, release, "report", "html"),
            icon="description",
            key="opened-html",
        )
        document = of_release.document(release, contents=())
        widgets.show_page(render_page(document).html(), alt=capital("release"))
