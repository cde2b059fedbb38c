"""The first page: three ways to begin, each with a table, a sample, and a picture of what comes out."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from workbench import session
from workbench.ui import data_sets_view, file_view
from workbench.ui.language import Words, _
from workbench.ui.wording import plain
from workbench.upload import opening, source_view

PICTURES = Path(__file__).parent / "pictures"


def show() -> None:
    """Show the three ways to begin, and the data sets on file."""
    data_set = session.session().data_set
    again = data_set is not None and session.session().declaring is not None
    name = "" if data_set is None else plain(data_set.name)
    if name:
        st.button(
            _("Back to {name}").format(name=name),
            icon=":material/arrow_back:",
            on_click=opening.choose_table,
            args=(False,),
        )
    if again:
        st.title(_("Declare {name} anew").format(name=name))
        st.write(_("Bring its file: what was declared is filled in, and can be changed."))
    else:
        st.title(_("Privacy Workbench"))
        st.write(_("Know how anonymous a table is, and share what it tells without giving anybody away."))
    file_view.demo_notice()
    st.caption(
        _(
            "A file stays in the memory of this server until its table is opened or put aside, the table "
            "while this tab is open, and may stay a while after. This program writes neither to disk. "
            "Whoever runs the server could read both; on your own computer that is you."
        )
    )
    doors = st.grid(3, min_column_width=280, border=True)
    for door in (_share,) if again else (_check, _share, _collect):
        with doors.cell():
            door()
    st.caption(
        _(
            "CSV, TSV, Parquet, Excel, SPSS, Stata, SAS or a project of ARX: at most 50 MB, 2,000,000 rows, "
            "1,000 columns. The samples are invented. Larger CSV or Parquet is audited, anonymized and "
            "released where it lies by python -m workbench; or whoever runs this server connects it."
        )
    )
    if not again:
        source_view.show_cards()
        data_sets_view.my_data_sets()


def _check() -> None:
    _say("check")
    data_sets_view.bring_table(
        _("A table to check"), _("Check this sample: {title}"), page="audit", keys=("hospital",)
    )


def _share() -> None:
    _say("share")
    data_sets_view.bring_table(_("A table to share"), _("Open this sample: {title}"), page="upload")


def _collect() -> None:
    _say("collect")
    if st.button(_("Ask a question"), key="collect", icon=":material/how_to_vote:"):
        st.switch_page("pages/local_dp.py")
    if st.button(_("Try it on invented people"), key="collect-sample"):
        session.leave(session.TrySurvey())
        st.switch_page("pages/local_dp.py")


def _say(way: str) -> None:
    """Say what a way is for, show what comes out, and say what it costs in time."""
    words = Words(f"upload.{way}")
    st.subheader(words["title"])
    st.write(words["text"])
    st.image(PICTURES / f"{way}.svg", alt=words["picture"])
    st.caption(words["time"])
