"""Form for a new link: its contents, duration and readers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any

import streamlit as st

from dpcore.errors import DpcoreError, LimitError
from dpcore.release import Release
from dpcore.schema import Clique
from dpcore.suppression import PublishedTable
from dpcore.synthesis.release.linked import LinkedRelease
from workbench import session
from workbench.language.messages import _, capital, translate_table
from workbench.language.wording import error_words, make_printable
from workbench.report import compare, of_exact_table, of_linked_release, of_release
from workbench.report.downloads import CONTENTS, LINKED_CONTENTS, PREVIEW, ROWS
from workbench.report.explore import EXPLORE_CONTENT, is_explorable
from workbench.session import OfferTable
from workbench.store.ledger.datasets import DataSet, list_readable
from workbench.store.links.shares import (
    MAX_DAYS,
    MAX_NOTE,
    LinkDraft,
    Shares,
    check_text_length,
    in_days,
)
from workbench.store.links.surveys import links_work
from workbench.store.people.roles import sign_in_needed
from workbench.ui import releases, widgets

LIFETIME_CHOICES = (7, 30, 90)  # lifetimes of a link to choose from, in days
MAX_TITLE_LENGTH = 80  # characters of the title of a new page
MAX_COMPARED_DATA_SETS = (
    50  # data sets, the last used ones, whose releases can be compared
)
CHOSEN_RELEASE = session.Widget[str]("links-release")
Shown = Release | LinkedRelease | OfferTable | PublishedTable
"""What a page behind a link can show."""


@dataclass(kw_only=True)
class LinksState:
    """State of the Links page.

    Attributes:
        new_link: title and token of the last link that was made, shown once.
    """

    new_link: tuple[str, str] | None = None


def choose_content(data_set: DataSet) -> Shown | None:
    """Choose what is shown: a release, the anonymized table, or an exact table.

    None without any of them.
    """
    earlier = [*releases.list_pairs(data_set), *releases.list_releases(data_set)]
    offered = session.read_note(session.OfferTable)
    tables = data_set.exact_tables()
    titles = {
        "release": capital("release"),
        "table": _("Anonymized table"),
        "exact": _("Exact table"),
    }
    there = {"release": earlier, "table": offered, "exact": tables}
    ways = {way: title for way, title in titles.items() if there[way]}
    what = session.Widget[str](f"links-what-{' '.join(ways)}")
    chosen_table = session.Widget[int](f"links-exact-{data_set.id}")
    asked = session.take_note(session.ShowExactTable)
    if asked is not None and asked.table in tables:
        what.put("exact")
        chosen_table.put(tables.index(asked.table))
    way = next(iter(ways), "release")
    if len(ways) > 1:
        way = widgets.choose(_("What to show"), ways, key=what.key)
    if way == "table":
        return offered
    if way == "exact":
        return _choose_exact_table(tables, chosen_table.key)
    if not earlier:
        st.write(
            _(
                "Nothing was released from this data set yet, so there is nothing to "
                "show."
            )
        )
        st.page_link(
            session.page_script("synthesize"),
            label=_("Release something"),
            icon=":material/bar_chart:",
        )
        return None
    wanted = session.take_note(session.ShowRelease)
    named = {
        line["request_id"]: "{what} · {when} UTC".format(**line) for line in earlier
    }
    if wanted is not None and wanted.request_id in named:
        CHOSEN_RELEASE.put(wanted.request_id)
    chosen: str = widgets.ask_by_title(
        st.selectbox, capital("release"), named, key=CHOSEN_RELEASE.key
    )
    if releases.is_pair(data_set, chosen):
        return releases.load_pair(data_set, chosen)
    return data_set.release(chosen)


def _choose_exact_table(tables: list[PublishedTable], key: str) -> PublishedTable:
    """Choose one of the exact tables that were published, the last one first."""
    titles = {
        number: f"{number + 1}. {make_printable(table.title)}"
        for number, table in reversed([*enumerate(tables)])
    }
    chosen: int = widgets.ask_by_title(st.selectbox, _("Exact table"), titles, key=key)
    return tables[chosen]


def ask_for_draft(data_set: DataSet, chosen: Shown) -> tuple[LinkDraft | None, bool]:
    """Ask for title, note, time, contents and readers.

    Returns: what was chosen, None if something is wrong; and whether it has a title.
    Until there is one, what was released stands in its place in the preview.
    """
    words = LINKED_CONTENTS if isinstance(chosen, LinkedRelease) else CONTENTS
    if isinstance(chosen, Release):
        key = chosen.request_id
        usual = releases.describe_request(chosen.recipe)
        contents = list(CONTENTS)
    elif isinstance(chosen, LinkedRelease):
        key = _request_id(chosen)
        usual = _(releases.LINKED_TITLE)
        contents = list(CONTENTS)
    elif isinstance(chosen, PublishedTable):
        key = "exact"
        usual = chosen.title
        contents = []
    else:
        key = "table"
        usual = _("Anonymized table")
        contents = [ROWS]
    title = st.text_input(
        _("Title"),
        max_chars=MAX_TITLE_LENGTH,
        placeholder=_("What is this about? For example: Who lives in our county?"),
        key=f"links-title-{key}",
    )
    note = st.text_area(
        _("Note for the reader: who releases this, and why"),
        max_chars=MAX_NOTE,
        key=f"links-note-{key}",
        height=100,
    )
    expires = _ask_expiry()
    given = (
        st.multiselect(
            _("It also offers"),
            contents,
            [content for content in contents if content != PREVIEW],
            format_func=translate_table(words).__getitem__,
            key=f"links-contents-{len(contents)}",
            wrap=True,
        )
        if contents
        else []
    )
    if _is_explorable(chosen):
        help_text = _(
            "The page has its own address, which stops working when the link does. "
            "Readers can filter up to 20,000 drawn rows in their browser, using "
            "histograms.",
        )
        if st.toggle(
            _("Also an interactive page"), key=f"links-explore-{key}", help=help_text
        ):
            given.append(EXPLORE_CONTENT)
    try:
        shown: dict[str, Any] = {}
        if isinstance(chosen, LinkedRelease):
            there = of_linked_release.chart_columns(chosen)
            shown = {"pictures": _ask_pictures(there, key)}
        elif isinstance(chosen, Release) and chosen.marginals:
            shown = _ask_charts(chosen)
        readers = _ask_readers() if sign_in_needed() else ()
        offered = frozenset(given)
        both = (
            releases.loss_of_pair(data_set, chosen.request_id)
            if isinstance(chosen, Release)
            else None
        )
        draft = LinkDraft(
            title=title.strip() or make_printable(usual, max_length=MAX_TITLE_LENGTH),
            note=note,
            expires=expires,
            contents=offered,
            readers=readers,
            pair_loss=both,
            **shown,
        )
    except DpcoreError as error:
        st.error(" ".join(error_words(error)))
        return None, False
    return draft, bool(title.strip())


def _is_explorable(chosen: Shown) -> bool:
    """Return whether there can be an interactive page."""
    if isinstance(chosen, LinkedRelease):
        return is_explorable(chosen.people) or is_explorable(chosen.events)
    return isinstance(chosen, Release) and is_explorable(chosen)


def _ask_pictures(there: list[Clique], key: str) -> tuple[Clique, ...] | None:
    """Ask for the charts and their order; return None for all of them."""
    pictures = st.multiselect(
        _("Charts, the most important first"),
        there,
        there,
        format_func=lambda names: make_printable(" × ".join(names)),
        key=f"links-pictures-{key}",
        wrap=True,
    )
    return None if pictures == there else tuple(pictures)


def _ask_charts(release: Release) -> dict[str, Any]:
    """Ask for the charts, their order, and a release to compare with."""
    pictures = _ask_pictures(of_release.chart_columns(release), release.request_id)
    ledger = session.ledger()
    others = {
        line["request_id"]: (
            entry.data_set,
            "{name} · {what} · {when} UTC".format(name=entry.data_set.name, **line),
        )
        for entry in list_readable(ledger, ledger.datasets()[:MAX_COMPARED_DATA_SETS])[
            0
        ]
        if ledger.is_mine(entry.data_set.id)
        for line in releases.list_from_lines(entry.lines, entry.data_set.account)
        if line["request_id"] != release.request_id
    }
    wanted = (
        None
        if not others
        else st.selectbox(
            _("Compare with an earlier release"),
            others,
            None,
            format_func=lambda wanted: make_printable(others[wanted][1]),
            key=f"links-earlier-{release.request_id}",
        )
    )
    earlier = others[wanted][0].release(wanted) if wanted else None
    if earlier is not None:
        # raises an error before the link is made if the two releases cannot be compared
        compare.comparable_columns(release, earlier)
    return {
        "pictures": pictures,
        "earlier": earlier,
    }


def _ask_expiry() -> datetime:
    """Ask when the link ends: after some days, or at the end of a chosen day."""
    titles = {days: _("{days} days").format(days=days) for days in LIFETIME_CHOICES} | {
        0: _("Last day")
    }
    if days := widgets.choose(
        _("The link works for"), titles, default=LIFETIME_CHOICES[1], key="links-days"
    ):
        return in_days(days)
    today = datetime.now(UTC).date()
    until = st.date_input(
        _("Last day"),
        today + timedelta(days=14),
        min_value=today,
        max_value=today + timedelta(days=MAX_DAYS - 1),
        key="links-until",
    )
    return datetime.combine(until, time.max, tzinfo=UTC)


def _ask_readers() -> tuple[str, ...]:
    """Ask who may open the link, if people sign in."""
    ways = {
        "anybody": _("anybody with the link"),
        "listed": _("people who sign in with one of these addresses"),
    }
    if (
        widgets.ask_by_title(st.radio, _("Who may open it"), ways, key="links-who")
        == "anybody"
    ):
        return ()
    text = st.text_area(
        _("Addresses, one per line (*@example.com for everybody at example.com)"),
        placeholder="ada@example.org\n*@example.com",
        key="links-readers",
        height=100,
    )
    # an empty tuple would mean everybody; this tuple with an empty address is refused
    return tuple(text.split()) or ("",)


def show_make_button(
    data_set: DataSet,
    chosen: Shown,
    draft: LinkDraft | None,
    *,
    is_titled: bool,
) -> None:
    """Show the button that makes the link; it is disabled until the page has a title.

    A table without epsilon needs a ticked checkbox first, and a release that is too large
    for a link is refused.
    """
    understood = True
    fits = True
    if isinstance(chosen, Release | LinkedRelease):
        letters = session.compute_once(
            ("letters", _request_id(chosen)), lambda: len(chosen.to_json())
        )
        try:
            check_text_length(letters)
        except LimitError as error:
            fits = False
            st.error(" ".join(error_words(error)))
    else:
        with st.container(border=True):
            st.header(_("What this does not promise"))
            st.markdown(
                "\n".join(f"- {sentence}" for sentence in _not_promised(chosen))
            )
        understood = st.checkbox(
            _(
                "I have read this and want to share the table. The page of the link "
                "will also show this box."
            ),
            key="links-understood",
        )
    st.button(
        _("Make the link"),
        type="primary",
        icon=":material/link:",
        disabled=not (
            links_work.is_set()
            and draft is not None
            and is_titled
            and understood
            and fits
        ),
        on_click=_make_link,
        args=(data_set.id, chosen, draft),
    )
    if draft is not None and not is_titled:
        st.caption(
            _("Give the page a title first. Readers see it at the top of the page.")
        )
    if draft is not None and not draft.readers:
        st.caption(
            _(
                "Anybody who has the link can open it. Send it only to people to "
                "whom you would send the page itself."
            )
        )


def _request_id(release: Release | LinkedRelease) -> str:
    """Return the id of a release; of linked tables that of both halves."""
    if isinstance(release, Release):
        return release.request_id
    stem, _half = releases.split_view(release.people.request_id)
    return stem


def _not_promised(chosen: OfferTable | PublishedTable) -> Sequence[str]:
    """Return what a table without epsilon does not promise, as Markdown."""
    if isinstance(chosen, PublishedTable):
        return of_exact_table.not_promised(chosen)
    return chosen.not_promised


def _make_link(dataset: str, chosen: Shown, draft: LinkDraft) -> None:
    def made(shares: Shares) -> str:
        if isinstance(chosen, PublishedTable):
            return shares.make_exact(chosen, draft, dataset=dataset)
        if isinstance(chosen, OfferTable):
            return shares.make_syntactic(
                chosen.anonymized_table, chosen.not_promised, draft, dataset=dataset
            )
        if isinstance(chosen, LinkedRelease):
            return shares.make_linked(chosen, draft, dataset=dataset)
        return shares.make(chosen, draft, dataset=dataset)

    _change_links(dataset, draft.title, made)


def make_again(dataset: str, share: str, title: str, days: int) -> None:
    """Make a new token for a link, which works for as many days as the old one."""
    _change_links(
        dataset,
        title,
        lambda shares: shares.make_again(dataset, share, expires=in_days(days)),
    )


def revoke(dataset: str, share: str) -> None:
    """Revoke a link, so that it stops working."""
    _change_links(dataset, "", lambda shares: shares.revoke(dataset, share))


def _change_links(
    dataset: str, title: str, step: Callable[[Shares], str | None]
) -> None:
    """Change the links of a data set, and keep a new token to be shown once."""
    with session.keep_error("links"):
        session.ledger().check_may_spend(dataset)
        token = step(session.shares())
        session.own(LinksState).new_link = (title, token) if token else None
