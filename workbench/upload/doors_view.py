"""The first page: three ways to begin, each with a picture of its result."""

from pathlib import Path

import streamlit as st

from workbench import session
from workbench.language.messages import N_, _
from workbench.language.wording import escape_markdown
from workbench.session import person
from workbench.store.settings import read_settings
from workbench.ui import data_sets_view, file_view
from workbench.upload import opening, source_view
from workbench.upload.opening import PLAN_TEXTS

MESSAGES = {
    "here": N_(
        "Larger CSV, Parquet or DuckDB files can be opened on this page without an "
        "upload: start the server with make app FILES=folder. Or audit, anonymize "
        "and release them with python -m workbench."
    ),
    "opened": N_(
        "Larger CSV, Parquet and DuckDB files can be opened below, without an upload."
    ),
    "others": N_(
        "Larger tables can be opened without an upload: ask whoever runs this "
        "server to connect them."
    ),
}

PICTURES = Path(__file__).parent / "pictures"


DOORS = {
    "check": (
        N_("Check a table"),
        N_(
            "Is it anonymous? Who could be found in it, by which columns, and what "
            "would help? You get a verdict in seconds. Nothing is spent."
        ),
    ),
    "share": (
        N_("Share numbers or a table"),
        N_(
            "Noisy counts, or made-up rows with the same patterns, for people who "
            "may not see your rows. In a few minutes you have a page to send. You "
            "see the error before you decide."
        ),
    ),
    "collect": (
        N_("Collect answers"),
        N_(
            "A survey that changes every answer at random before it leaves the "
            "person's browser. You have links to send within a minute. Nobody "
            "learns who answered what."
        ),
    ),
}
"""Title and purpose of each way to begin."""


def show() -> None:
    """Show the three ways to begin, and the data sets on file."""
    data_set = session.session().data_set
    again = (
        data_set is not None
        and session.own(session.TableChoice).redeclared_dataset is not None
    )
    name = "" if data_set is None else escape_markdown(data_set.name)
    if name:
        st.button(
            _("Back to {name}").format(name=name),
            icon=":material/arrow_back:",
            on_click=opening.choose_table,
            args=(False,),
        )
    if again:
        st.title(_("Declare {name} anew").format(name=name))
    if again and data_set is not None and data_set.account.source:
        data_sets_view.ask_for_rows(data_set)
        source_view.show_cards()
        return
    if again and data_set is not None and data_set.is_linked:
        st.write(
            _(
                "Upload both files. The earlier declaration is filled in, and you can "
                "change it."
            )
        )
        data_sets_view.ask_for_rows(data_set)
        return
    if again:
        st.write(
            _(
                "Upload its file. The earlier declaration is filled in, and you can "
                "change it."
            )
        )
    else:
        st.title(_("Privacy Workbench"))
        st.write(
            _(
                "Find out how anonymous a table is, and share what it shows without "
                "giving anybody away."
            )
        )
    file_view.show_demo_notice()
    if person.is_shared_server() and not person.is_demo():
        _warn_who_reads()
    doors = st.grid(3, min_column_width=240, border=True)
    for door in (
        (_offer_sharing,) if again else (_offer_check, _offer_sharing, _offer_survey)
    ):
        with doors.cell():
            door()
    if not person.is_shared_server() and not person.is_demo():
        st.caption(
            _(
                "Your file is kept in the memory of this computer while this tab is "
                "open, and for a short time after. It is not written to disk."
            )
        )
    larger = (
        "others"
        if person.is_shared_server()
        else "opened"
        if read_settings().files_folder
        else "here"
    )
    st.caption(
        _(
            "CSV, TSV, Parquet, Excel, SPSS, Stata, SAS or an ARX project: at most "
            "50 MB, 2,000,000 rows and 1,000 columns. The samples are invented."
        )
        + " "
        + _(MESSAGES[larger])
    )
    with st.expander(_(PLAN_TEXTS["title"])):
        st.text_area(
            _("Names of the columns: one per line, or the first line of the file"),
            key=opening.NAMES_FIELD.key,
            persist_state="session",
        )
        st.button(
            _("Plan it"),
            disabled=not opening.NAMES_FIELD.current_value(),
            on_click=opening.take_names,
        )
    if not again:
        source_view.show_cards()
        data_sets_view.list_data_sets()


def _warn_who_reads() -> None:
    """Say that whoever runs the server can read an uploaded file."""
    st.info(
        _(
            "**Whoever runs this server could read what you upload.** Your file "
            "stays in the server's memory while this tab is open, and for a short "
            "time after. This program does not write it to disk. If that is a "
            "problem, plan from the column names alone: then nothing is uploaded."
        ),
        icon=":material/visibility:",
    )


def _offer_check() -> None:
    _show_door("check")
    data_sets_view.ask_for_table(
        _("A table to check"),
        _("Check this sample: {title}"),
        page="audit",
        keys=("hospital",),
    )


def _offer_sharing() -> None:
    _show_door("share")
    st.caption(
        _(
            "Two files about the same people, such as patients and their stays? Choose "
            "both at once."
        )
    )
    data_sets_view.ask_for_table(
        _("A table to share"), _("Open this sample: {title}"), page="upload"
    )


def _offer_survey() -> None:
    _show_door("collect")
    if st.button(_("Ask a question"), key="collect", icon=":material/how_to_vote:"):
        st.switch_page(session.page_script("local_dp"))
    if st.button(_("Try it on invented people"), key="collect-sample"):
        session.leave_note(session.TrySurvey())
        st.switch_page(session.page_script("local_dp"))


def _show_door(way: str) -> None:
    """Show the title, purpose and picture of a way."""
    title, text = map(_, DOORS[way])
    st.header(title)
    st.write(text)
    st.image(PICTURES / f"{way}.svg", alt=title)
