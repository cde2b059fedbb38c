"""The address in the browser: which data set and which release are shown, so that it can be kept and sent.

It holds beginnings of two random-looking texts: the keyed fingerprint of the table and the id of the request.
Neither tells anything about the rows.
"""

from __future__ import annotations

from dpcore.errors import DpcoreError
from workbench import session
from workbench.ui import releases, reopening

LENGTH = 16
"""Signs of an id that stand in the address; 64 bits."""


def follow(*, shows_release: bool) -> None:
    """Go where the address says, if a person typed it, and write into it where this tab is.

    Args: shows_release: whether the page shows the release of this tab.
    """
    held = session.session()
    asked = session.address()
    if asked and asked != held.address:
        _go(asked)
    here = {}
    if held.data_set is not None:
        here["data"] = held.data_set.id[:LENGTH]
        if held.shown is not None and shows_release:
            here["release"] = held.shown[:LENGTH]
    if here != asked:
        session.set_address(here)
    held.address = here


def _go(asked: dict[str, str]) -> None:
    held = session.session()
    dataset, request = asked.get("data", ""), asked.get("release", "")
    if len(dataset) < LENGTH:
        return
    if held.data_set is None or not held.data_set.id.startswith(dataset):
        known = [each for each in held.data_sets if each.startswith(dataset)]
        reopening.continue_with(known[0] if known else dataset)
    if held.data_set is None or len(request) < LENGTH:
        return
    try:
        made = [each["request_id"] for each in releases.earlier(held.data_set)]
    except DpcoreError:
        return  # the header says what is wrong
    held.shown = next((each for each in made if each.startswith(request)), held.shown)
