"""The Links page: what it lists of links, and that its preview is the page that is
sent.
"""

from __future__ import annotations

from typing import Any

import pytest
from starlette.applications import Starlette

import dpcore as dp
from tests.truth.figures import check, figures, of_html
from tests.truth.released import Told
from tests.truth.tables import LOSS, TABLES, around, opened
from tests.truth.test_share import EPSILON, STATIC, facts_of
from tests.workbench.share.asgi import call
from workbench import session
from workbench.records.link_form import LinksState
from workbench.report import downloads
from workbench.share import links
from workbench.store.links.surveys import links_work

STATE = "made on {made}, works until {expires} UTC, open to {whom}|"
SEEN = "opened {number} times, last on {when} UTC|"
CHOICES = {
    "{days} days|days",  # for how long a link may work
    "Show it to somebody > code",  # the address, which is drawn by chance
}


@pytest.fixture
def made(marking, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The page after a link was made and opened three times; the page behind it; what
    is true of both.
    """
    odd = TABLES["visits"]
    tab = opened(odd)
    release = tab.curator.run(
        dp.Histogram(column="days"), dp.PureDP(epsilon=str(EPSILON))
    )
    monkeypatch.setattr(links_work, "is_set", lambda: True)
    monkeypatch.setattr(links_work, "set", lambda: None)
    tab.go("links").set("text_input", "Title", "Days").press("Make the link")
    assert tab.session.own(LinksState).new_link is not None
    app = Starlette(routes=links.routes(session.shares()))
    sent = [
        call(app, "GET", f"/share/{tab.session.own(LinksState).new_link[1]}").text
        for _ in range(3)
    ][-1]
    tab.at.run()
    (share,) = session.shares().links_of(tab.session.current_dataset)
    facts = facts_of(
        Told(downloads.file_content(release, "release.json")), release, odd
    ) | around(tab)
    facts |= {
        # of the release, of the whole budget
        LOSS: lambda _: lambda shown: float(shown) in (EPSILON, 3),
        "{number} rows|number": lambda _: odd.cap,
        STATE + "made": lambda _: lambda shown: shown == f"{share.made:%Y-%m-%d}",
        STATE + "expires": lambda _: (
            lambda shown: shown[:10] == f"{share.expires:%Y-%m-%d}"
        ),
        SEEN + "number": lambda _: 3,
        SEEN + "when": lambda _: (
            lambda shown: shown[:10] == f"{share.last_opened:%Y-%m-%d}"
        ),
    }
    return tab, sent, facts


def test_the_preview_and_the_page_say_what_the_release_does(made, marking) -> None:
    """Whoever opens a link would see other figures than its owner, or the owner another
    number of visits.
    """
    tab, sent, facts = made
    seen = figures(tab, marking)
    compared = check(
        seen, facts, STATIC | CHOICES | {"Show it to somebody > code"}, None
    )
    assert {"days: rows", STATE + "expires", SEEN + "number"} <= compared
    behind = of_html(sent, marking)
    assert "days: rows" in check(behind, facts, STATIC, None)
    assert set(behind) <= set(seen)


def test_a_wrong_base_is_caught(made, marking, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above would not see the figures of another release of the same
    column.
    """
    tab, _sent, facts = made
    other = tab.curator.run(dp.Histogram(column="days"), dp.PureDP(epsilon="1/4"))
    monkeypatch.setattr(
        type(tab.session.data_sets[tab.session.current_dataset]),
        "release",
        lambda self, _id: other,
    )
    tab.at.run()
    with pytest.raises(AssertionError, match="not true"):
        check(
            figures(tab, marking),
            facts,
            STATIC | CHOICES | {"Show it to somebody > code"},
            None,
        )
