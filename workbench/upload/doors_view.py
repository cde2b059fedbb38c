"""The first page: three ways to begin, each with a table, a sample, and a picture of what comes out."""

from pathlib import Path

import streamlit as st

from workbench import session
from workbench.session import person
from workbench.store.settings import read_settings
from workbench.ui import data_sets_view, file_view
from workbench.ui.language import Words, _
from workbench.ui.wording import plain
from workbench.upload import opening, source_view
from workbench.upload.opening import PLAN

SAYS = Words("upload.doors")

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
    if not person.is_demo():
        _say_who_reads()
    with st.expander(PLAN["title"]):
        st.text_area(PLAN["names"], key=opening.NAMES.key, persist_state="session")
        st.button(_("Plan it"), disabled=not opening.NAMES.value(), on_click=opening.take_names)
    doors = st.grid(3, min_column_width=280, border=True)
    for door in (_share,) if again else (_check, _share, _collect):
        with doors.cell():
            door()
    larger = "others" if person.is_shared() else "opened" if read_settings().files else "here"
    st.caption(SAYS["files"] + " " + SAYS[larger])
    if not again:
        source_view.show_cards()
        data_sets_view.my_data_sets()


def _say_who_reads() -> None:
    """Say who could read a file that is uploaded."""
    if person.is_shared():
        st.info(PLAN["read by"], icon=":material/visibility:")
    else:
        st.caption(PLAN["read by you"])


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
    st.image(PICTURES / f"{way}.svg", alt=words["title"])
