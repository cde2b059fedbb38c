"""A stored release of two linked tables: people and events, drawn together."""

import functools
from collections.abc import Callable

import streamlit as st

from dpcore.errors import DpcoreError
from dpcore.release import MAX_UNCERTAIN_ROWS
from dpcore.schema.linked import NUMBER_OF_EVENTS
from dpcore.synthesis.release.linked import LinkedRelease
from workbench import session
from workbench.language.budget import amount_words
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import _, capital
from workbench.language.wording import loss_words
from workbench.report import of_linked_release
from workbench.report.downloads import linked_guarantee_json
from workbench.report.explore import is_explorable
from workbench.report.files import file_name
from workbench.server.workers import drawing
from workbench.store.ledger.datasets import DataSet, public_name
from workbench.synthesize import tables_view
from workbench.synthesize.script import (
    linked_job_of,
    rows_to_draw,
    write_linked_notebook,
    write_linked_script,
)
from workbench.synthesize.state import SynthesizeState
from workbench.ui import file_view, progress_view, releases, widgets

MAX_PEOPLE_DRAWN = 200_000


def show(data_set: DataSet, request_id: str) -> None:
    """Show both drawn tables, the number of events a person, files and promise.

    Args:
        request_id: of the release of both views, without the name of a view.
    """
    runs = session.session().runs
    try:
        release = releases.load_pair(data_set, request_id)
    except DpcoreError as error:
        widgets.error_box(error)
        st.button(_("Back"), on_click=runs.show, args=(None,))
        return
    st.title(_(releases.LINKED_TITLE))
    st.badge(
        _("differentially private · {loss} · {unit}").format(
            loss=loss_words(release.guarantee.loss),
            unit=_("one person with all rows in both tables"),
        ),
        color="blue",
        icon=":material/verified_user:",
        help=_(GLOSSARY["privacy unit"]),
    )
    people = max(0, round(release.people.model.total))
    events = max(0, round(release.events.model.total))
    st.markdown(
        _("**About {people:,} people and {events:,} events.** Cost: {cost}.").format(
            people=people, events=events, cost=_cost_words(data_set, request_id)
        )
    )
    st.caption(of_linked_release.most_events_sentence(release))
    with st.container(horizontal=True):
        st.button(
            _("Release something else"),
            on_click=runs.show,
            args=(None,),
            icon=":material/arrow_back:",
        )
        mine = session.ledger().is_mine(data_set.id)
        if mine and st.button(_("Show it to somebody"), icon=":material/link:"):
            session.leave_note(session.ShowRelease(request_id=request_id))
            st.switch_page(session.page_script("links"))
        is_open = session.session().linked is not None
        if is_open and st.button(
            _("Compare with the original"), icon=":material/balance:"
        ):
            st.switch_page(session.page_script("evaluate"))
        for view, title in releases.VIEW_TITLES.items():
            st.button(
                _("{table}: figures and links").format(table=_(title)),
                key=f"view-{view}",
                icon=":material/bar_chart:",
                on_click=_show_half,
                args=(request_id, view),
            )
        files = st.popover(
            _("Download"), icon=":material/download:", key="release-files"
        )
    number = _show_drawn(release, request_id, people, events)
    st.header(_("Events of a person"))
    counts = release.people.answer((NUMBER_OF_EVENTS,))
    tables_view.show_answer(release.people, counts, key="number-of-events")
    with st.expander(_("What is promised and what is not"), expanded=True):
        for sentence in of_linked_release.promise_sentences(release):
            st.markdown(f"- {sentence}")
    with files:
        _offer_files(data_set, release, request_id, number)


def _show_half(request_id: str, view: str) -> None:
    """Show the release of one table, and work on this table if it is open."""
    if session.session().linked is not None:
        session.session().look_at(view)
    session.session().runs.show(f"{request_id} {view}")


def _cost_words(data_set: DataSet, request_id: str) -> str:
    """Write what both views cost together."""
    units = sum(
        line.charge.units
        for line in data_set.lines()
        if line.state == "reserved"
        and releases.split_view(line.request_id)[0] == request_id
    )
    return amount_words(units, data_set.account)


def _show_drawn(
    release: LinkedRelease, request_id: str, people: int, events: int
) -> int:
    """Draw both tables, and show their first rows; return how many people.

    Args:
        people, events: the noisy numbers of both that were released.
    """
    st.header(_("Draw both tables"), help=_(GLOSSARY["post-processing"]))
    suggested = min(people, MAX_PEOPLE_DRAWN)
    if suggested > MAX_UNCERTAIN_ROWS and not release.people.has_reliable_row_count:
        st.warning(
            _("The number of people is mostly noise. Say how many people to draw.")
        )
        suggested = 1_000
    number = int(
        st.number_input(
            capital("people"),
            0,
            MAX_PEOPLE_DRAWN,
            suggested,
            key=f"people-{request_id}-{suggested}",
        )
    )
    state = session.own(SynthesizeState)
    draw = state.draws.get(request_id, 0)
    with widgets.catch_and_show_errors():
        shown = session.compute_once(
            ("drawn both", request_id, number, draw),
            lambda: progress_view.compute_in_worker(
                drawing.draw_linked_rows, release, number, draw
            ),
        )
        for table, title, alt in (
            (shown.people, _("People"), _("The first drawn people")),
            (shown.events, _("Events"), _("The first drawn events")),
        ):
            st.markdown(f"**{title}**")
            widgets.show_rows(table, alt=alt)
        if shown.people.isna().any(axis=None) or shown.events.isna().any(axis=None):
            st.caption(
                _(
                    "Some drawn cells are empty, even if no cell of your files is: a "
                    "count of missing values gets noise as every other count does."
                )
            )
        drawn = _("{people:,} people and {events:,} events are drawn.").format(
            people=number, events=shown.event_count
        )
        if number == people and shown.event_count != events:
            drawn += " " + _(
                "The released number of events is {events:,}, which was counted with "
                "noise of its own. The drawn people have their numbers of events from "
                "the chart below."
            ).format(events=events)
        st.caption(drawn)
    st.button(
        _("Draw other rows"),
        on_click=state.draw_again,
        args=(request_id,),
        key="draw-again",
    )
    return number


def _offer_files(
    data_set: DataSet, release: LinkedRelease, request_id: str, people: int
) -> None:
    """Offer both drawn tables, the guarantee and the release as files."""
    st.caption(_("All of this may be published. Nothing is charged."))
    name = public_name(data_set.lines())
    day = release.people.created[:10]
    draw = session.own(SynthesizeState).draws.get(request_id, 0)

    def offer(label: str, what: str, ending: str, icon: str) -> None:
        file_view.download(
            label,
            lambda: drawing.linked_file(
                release, people, draw, what, ending, linked_guarantee_json(release)
            ),
            file_name(name, f"drawn {what}", ending, day=day),
            icon=icon,
            width="stretch",
        )

    def offer_page(label: str, what: str, make: Callable[[], bytes], icon: str) -> None:
        name_of_file = file_name(name, what, "html", day=day)
        file_view.download(label, make, name_of_file, icon=icon, width="stretch")

    st.markdown(f"**{_('To read')}**")
    offer_page(
        _("Download as one HTML file"),
        "report",
        lambda: of_linked_release.stand_alone_page(release),
        "description",
    )
    titles = {
        "people": _("Interactive page of people (HTML, cannot be revoked)"),
        "events": _("Interactive page of events (HTML, cannot be revoked)"),
    }
    for view, half in release.halves.items():
        if is_explorable(half):
            page = functools.partial(of_linked_release.interactive_file, release, view)
            offer_page(titles[view], f"explore {view}", page, "filter_alt")
    st.markdown(f"**{_('Tables')}**")
    for ending, title in (("csv", "CSV"), ("parquet", "Parquet")):
        offer(f"{_('People')} ({title})", "people", ending, "table_rows")
        offer(f"{_('Events')} ({title})", "events", ending, "table_rows")
    st.markdown(f"**{_('For programs')}**")
    file_view.download(
        f"{capital('the guarantee')} (JSON)",
        lambda: linked_guarantee_json(release),
        file_name(name, "guarantee", "json", day=day),
        icon="verified_user",
        width="stretch",
    )
    file_view.download(
        _("Noisy counts and model (JSON)"),
        release.to_json,
        file_name(name, "linked release", "json", day=day),
        icon="data_object",
        width="stretch",
    )
    found = linked_job_of(data_set, release)
    if found is None:
        return
    of_script = rows_to_draw(release.people)
    for label, what, ending, write, icon in (
        (_("Script (Python)"), "script", "py", write_linked_script, "code"),
        (_("Notebook"), "notebook", "ipynb", write_linked_notebook, "menu_book"),
    ):
        file_view.download(
            label,
            functools.partial(write, *found, of_script),
            file_name(name, what, ending, day=day),
            icon=icon,
            width="stretch",
        )
