"""The language of a tab: of its address, else of its browser, until the person chooses
another.
"""

from __future__ import annotations

import gettext

import pytest

from tests.pages.tab import Tab
from tests.pages.test_pseudo_locale import Pseudo
from workbench import session
from workbench.language import messages


@pytest.fixture(autouse=True)
def pseudo(monkeypatch: pytest.MonkeyPatch) -> None:
    """German is the made-up language here, whatever is translated so far."""
    known = {"de": Pseudo()}
    monkeypatch.setattr(
        messages, "catalogue", lambda code: known.get(code, gettext.NullTranslations())
    )


def is_german(tab: Tab) -> bool:
    return "⟦" in tab.text


def test_the_address_names_a_language(own_ledger) -> None:
    """A page sent to a reader of German would open in English."""
    tab = Tab()
    tab.at.query_params["lang"] = "de-AT"
    tab.at.run()
    assert is_german(tab)
    assert tab.at.query_params["lang"] == "de"
    assert is_german(tab.go("learn"))


def test_the_browser_names_a_language(own_ledger, monkeypatch) -> None:
    """Everybody would begin in English and look for the switch."""
    monkeypatch.setattr(session, "browser_language", lambda: "de")
    monkeypatch.setattr(
        session, "choose_language", lambda address, _accepted: address or "de"
    )
    tab = Tab()
    tab.at.run()
    assert is_german(tab)
    assert "lang" not in tab.at.query_params


def test_the_switch_changes_this_tab_and_keeps_its_work(new_tab) -> None:
    """SEEDS G9: a choice would be gone with the next page, or take the open table with
    it.
    """
    tab = new_tab()
    other = new_tab()
    tab.open()
    switch = tab.at.sidebar.selectbox(key="language")
    assert switch.options == ["English", "Deutsch", "中文"]
    switch.set_value("de").run()
    assert is_german(tab)
    assert tab.at.query_params["lang"] == "de"
    assert is_german(tab.go("audit"))
    assert tab.session.curator is not None
    other.at.run()
    assert not is_german(other)
    tab.at.sidebar.selectbox(key="language").set_value("en").run()
    assert not is_german(tab)
