"""A link before it is made: what it shows, how long it works, what it gives."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

import streamlit as st

from dpcore.curator import Curator
from dpcore.errors import DpcoreError
from dpcore.release import Release
from workbench import session
from workbench.report.downloads import CONTENTS
from workbench.store.roles import sign_in_needed
from workbench.store.shares import MAX_DAYS, MAX_NOTE, MAX_TITLE, in_days
from workbench.store.surveys import links_work
from workbench.ui import releases
from workbench.ui.language import _
from workbench.ui.wording import printable

DAYS = (7, 30, 90)
NOBODY = ""
"""In place of the addresses that are still to be written."""
RELEASE = session.Widget[str]("links-release")


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A link as it was filled in.

    Attributes:
        days: until it ends; None for `until`, a day that is included.
        contents: names of what is given beside pictures, tables and the guarantee.
        readers: addresses of those who may open it; none for anybody with the link.
    """

    title: str
    note: str
    days: int | None
    until: date | None
    contents: tuple[str, ...]
    readers: tuple[str, ...]

    @property
    def expires(self) -> datetime:
        """When it ends, in UTC."""
        if self.days is not None:
            return in_days(self.days)
        return datetime.combine(self.until or date.today(), time.max, tzinfo=UTC)


def choose(curator: Curator) -> Release | None:
    """The release to be shown; None where there is none yet."""
    made = releases.earlier(curator)
    if not made:
        st.write(_("Nothing was released from this data set yet, so there is nothing to show."))
        st.page_link("pages/synthesize.py", label=_("Release something"), icon=":material/bar_chart:")
        return None
    wanted = session.take(session.ShowRelease)
    ids = [line["request_id"] for line in made]
    if wanted is not None and wanted.request_id in ids:
        RELEASE.put(wanted.request_id)
    named = {line["request_id"]: _("{what} · {when} UTC").format(**line) for line in made}
    chosen = st.selectbox(_("Release"), ids, format_func=named.__getitem__, key=RELEASE.key)
    return curator.release(chosen)


def ask(release: Release) -> Draft:
    """Title, note, time and contents, each with what is usual filled in."""
    key = release.request_id
    title = st.text_input(
        _("Title"),
        printable(releases.describe(release.recipe), at_most=MAX_TITLE),
        max_chars=MAX_TITLE,
        key=f"links-title-{key}",
    )
    note = st.text_area(
        _("Note to whoever opens it"), max_chars=MAX_NOTE, key=f"links-note-{key}", height=100
    )
    days = st.segmented_control(
        _("The link works for"),
        [*DAYS, None],
        default=DAYS[1],
        format_func=lambda days: _("until a day") if days is None else _("{days} days").format(days=days),
        required=True,
        key="links-days",
    )
    until = None
    if days is None:
        today = datetime.now(UTC).date()
        until = st.date_input(
            _("Last day"),
            today + timedelta(days=14),
            min_value=today,
            max_value=today + timedelta(days=MAX_DAYS - 1),
            key="links-until",
        )
    contents = st.multiselect(
        _("Beside pictures, tables and the guarantee it gives"),
        list(CONTENTS),
        list(CONTENTS),
        format_func=CONTENTS.__getitem__,
        key="links-contents",
    )
    return Draft(
        title=title,
        note=note,
        days=days,
        until=until,
        contents=tuple(contents),
        readers=tuple(_readers()) if sign_in_needed() else (),
    )


def _readers() -> list[str]:
    """Who may open the link; asked where people sign in, so that the server can tell them apart."""
    ways = {"anybody": _("anybody with the link"), "listed": _("people who sign in, of these addresses")}
    way = st.radio(_("Who may open it"), list(ways), format_func=ways.__getitem__, key="links-who")
    if way == "anybody":
        return []
    text = st.text_area(
        _("Addresses, one per line; *@ and a domain for everybody there"),
        placeholder="ada@example.org\n*@example.com",
        key="links-readers",
        height=100,
    )
    return text.split() or [NOBODY]


def make(curator: Curator, release: Release, draft: Draft) -> None:
    """The button that makes the link."""
    st.button(
        _("Make the link"),
        type="primary",
        icon=":material/link:",
        disabled=not (links_work.is_set() and draft.title.strip() and NOBODY not in draft.readers),
        on_click=_make,
        args=(curator.account.dataset, release, draft),
    )
    if not draft.title.strip():
        st.caption(_("A link needs a title."))
    if NOBODY in draft.readers:
        st.caption(_("Say who may open it: write at least one address."))
    if not draft.readers:
        st.caption(_("Anybody who has the link can open it: send it as you would send the page itself."))


def _make(dataset: str, release: Release, draft: Draft) -> None:
    held = session.session()
    try:
        token = session.shares().make(
            release,
            dataset=dataset,
            title=draft.title,
            note=draft.note,
            expires=draft.expires,
            contents=draft.contents,
            readers=draft.readers,
        )
    except DpcoreError as error:
        held.notices["links"] = error
        return
    held.link = draft.title, token


def make_again(dataset: str, share: str, title: str, days: int) -> None:
    """A new token for a link, for as long as it was meant to work."""
    held = session.session()
    try:
        held.link = title, session.shares().make_again(dataset, share, expires=in_days(days))
    except DpcoreError as error:
        held.notices["links"] = error


def revoke(dataset: str, share: str) -> None:
    """Let a link work no more."""
    held = session.session()
    held.link = None
    try:
        session.shares().revoke(dataset, share)
    except DpcoreError as error:
        held.notices["links"] = error
