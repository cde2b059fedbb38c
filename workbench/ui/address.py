"""The browser's address, which names the data set and the release that are shown.

So it can be kept and sent.

It also holds the part of a page that is chosen, by its name in the program: never a
label or a value, nor a digest of one. A data set has a random id for it, which the
first line of its account keeps. A release has the beginning of its random id; a name
that a person gave to a request is written whole, as others may begin alike.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from dpcore.errors import DpcoreError
from workbench import session
from workbench.ui import releases, reopening, widgets

SHORT_ID_LENGTH = 16  # characters of a random id in the address; 64 bits
_IS_RANDOM = re.compile("[0-9a-f]{32}|[0-9a-f]{64}").fullmatch


@dataclass(kw_only=True)
class AddressState:
    """State that a tab keeps about its address in the browser.

    Attributes:
        followed_first_address: whether the first address was followed.
        parts: the chosen part of each page that has several, by the page's name.
        steps_back: number of times that Back or Forward led to such a page.
        data_sets: ids of data sets in addresses, by fingerprint.
    """

    followed_first_address: bool = False
    parts: dict[str, str] = field(default_factory=dict)
    steps_back: int = 0
    data_sets: dict[str, str] = field(default_factory=dict)

    def id_of(self, dataset: str) -> str:
        """Return the id of a data set in addresses; empty if it cannot be read."""
        if dataset not in self.data_sets:
            try:
                self.data_sets[dataset] = session.ledger().address_of(dataset)
            except DpcoreError:
                return ""  # the header says what is wrong
        return self.data_sets[dataset]


def follow_address(*, shows_release: bool) -> None:
    """Open what the address names, at the start or after Back, and update the address.

    A click brings the address of the page that it was made on, which may be of before:
    it leads nowhere.

    Args:
        shows_release: whether the page shows the release of this tab.
    """
    tab = session.session()
    memory = session.own(AddressState)
    wanted = session.address_parameters()
    leads = not memory.followed_first_address or session.is_history_navigation()
    if "data" in wanted and leads:
        _open_wanted(wanted)
    memory.followed_first_address = True
    here = {} if tab.language == session.browser_language() else {"lang": tab.language}
    if tab.data_set is not None:
        here["data"] = memory.id_of(tab.data_set.id)
        if tab.runs.shown_request_id is not None and shows_release:
            here["release"] = short_id(tab.runs.shown_request_id)
    if tab.page in memory.parts:
        if session.is_history_navigation():
            memory.parts[tab.page] = wanted.get("tab", "")
            memory.steps_back += 1
        here["tab"] = memory.parts[tab.page]
    elif leads:
        here["tab"] = wanted.get("tab", "")  # the page takes it when it is drawn
    here = {name: value for name, value in here.items() if value}
    if here != wanted:
        session.set_address_parameters(here)


def choose_part(label: str, titles: Mapping[str, str], *, key: str) -> str:
    """Ask for a part of the page by title; the address stores the name of the part.

    The first part has no name in the address.
    """
    tab = session.session()
    memory = session.own(AddressState)
    first = next(iter(titles))
    wanted = (
        memory.parts.get(tab.page, session.address_parameters().get("tab", "")) or first
    )
    chosen: str = widgets.choose(
        label,
        titles,
        default=wanted if wanted in titles else first,
        # After Back, a new key resets the control to the part that the address names.
        key=f"{key}-{memory.steps_back}" if memory.steps_back else key,
    )
    said = "" if chosen == first else chosen
    if (
        memory.parts.get(tab.page) != said
        or session.address_parameters().get("tab", "") != said
    ):
        memory.parts[tab.page] = said
        here = {**session.address_parameters(), "tab": said}
        session.set_address_parameters(
            {name: value for name, value in here.items() if value}
        )
    return chosen


def short_id(name: str) -> str:
    """Return an id as the address writes it: shortened if it is random."""
    return name[:SHORT_ID_LENGTH] if _IS_RANDOM(name) else name


def _open_wanted(wanted: dict[str, str]) -> None:
    tab = session.session()
    request = wanted.get("release", "")
    if tab.data_set is None or not _means(wanted["data"], tab.data_set.id):
        try:
            known = _find(wanted["data"])
        except DpcoreError:
            known = wanted["data"]  # the notice says what is wrong
        if known is None:
            return
        reopening.continue_with(known)
    if tab.data_set is None:
        return
    try:
        listed = [
            *releases.list_with_pairs(tab.data_set),
            *releases.list_releases(tab.data_set),
        ]
        ids = [line["request_id"] for line in listed]
    except DpcoreError:
        return  # the header says what is wrong
    shown = tab.runs.shown_request_id
    tab.runs.shown_request_id = next(
        (request_id for request_id in ids if _matches_id(request_id, request)), shown
    )


def _means(wanted: str, dataset: str) -> bool:
    """Return whether the address means this data set.

    Addresses of earlier versions hold the beginning of its fingerprint.
    """
    own = session.own(AddressState).id_of(dataset)
    return wanted == own or _matches_id(dataset, wanted)


def _find(wanted: str) -> str | None:
    """Return the data set that the address means; None if this person has none."""
    ledger = session.ledger()
    known = ledger.find_by_address(wanted)
    if known is not None:
        return known
    all_known = (*session.session().data_sets, *ledger.datasets())
    return next(
        (dataset for dataset in all_known if _matches_id(dataset, wanted)), None
    )


def _matches_id(name: str, wanted: str) -> bool:
    """Return whether the text in the address is this id or its short form."""
    return wanted in (name, short_id(name))
