"""The address in the browser: which data set and which release are shown, so that it
can be kept and sent.

It holds beginnings of two random-looking texts: the keyed fingerprint of the table and
the id of the request. Neither tells anything about the rows. Names that people gave, of
a connected source or a request of theirs, are written whole: they may begin alike.
"""

import re
from dataclasses import dataclass

from dpcore.errors import DpcoreError
from workbench import session
from workbench.ui import releases, reopening

LENGTH = 16
"""Signs of a random-looking id that stand in the address; 64 bits."""
_IS_RANDOM = re.compile("[0-9a-f]{32}|[0-9a-f]{64}").fullmatch


@dataclass(kw_only=True)
class AddressState:
    """Whether this tab has gone where its first address says."""

    arrived: bool = False


def follow(*, shows_release: bool) -> None:
    """Go where the address says that a tab begins with or steps back to, and write into
    it where this tab is.

    A click brings the address of the page that it was made on, which may be of before:
    it leads nowhere.

    Args:
        shows_release: whether the page shows the release of this tab.
    """
    tab = session.session()
    memory = session.own(AddressState)
    wanted = session.address()
    if "data" in wanted and (not memory.arrived or session.stepped_back()):
        _go(wanted)
    memory.arrived = True
    here = {} if tab.language == session.browser_language() else {"lang": tab.language}
    if tab.data_set is not None:
        here["data"] = written(tab.data_set.id)
        if tab.runs.shown is not None and shows_release:
            here["release"] = written(tab.runs.shown)
    if here != wanted:
        session.set_address(here)


def written(name: str) -> str:
    """Return an id as it stands in the address."""
    return name[:LENGTH] if _IS_RANDOM(name) else name


def _go(wanted: dict[str, str]) -> None:
    tab = session.session()
    dataset = wanted.get("data", "")
    request = wanted.get("release", "")
    if tab.data_set is None or not _is(tab.data_set.id, dataset):
        try:
            known = [
                each
                for each in (*tab.data_sets, *session.ledger().datasets())
                if _is(each, dataset)
            ]
        except DpcoreError:
            known = [dataset]  # the notice says what is wrong
        if not known:
            return
        reopening.continue_with(known[0])
    if tab.data_set is None:
        return
    try:
        ids = [each["request_id"] for each in releases.earlier(tab.data_set)]
    except DpcoreError:
        return  # the header says what is wrong
    shown = tab.runs.shown
    tab.runs.shown = next((each for each in ids if _is(each, request)), shown)


def _is(name: str, wanted: str) -> bool:
    """Return whether the address means this id, by its prefix or whole."""
    return wanted in (name, written(name))
