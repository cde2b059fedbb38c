"""The state of a tab is found fast, is that of the tab, and ends with it."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from workbench import session
from workbench.session import Session


class _Context:
    """A run of a page."""


class _Tabs:
    """Looks states up as Streamlit does, and counts it."""

    def __init__(self) -> None:
        self.now: _Context | None = None
        self.states: weakref.WeakKeyDictionary[_Context, Session] = (
            weakref.WeakKeyDictionary()
        )
        self.lookups = 0

    def look_up(self, context: Any) -> Session:
        self.lookups += 1
        return self.states.setdefault(context, Session())


@pytest.fixture
def tabs(monkeypatch: pytest.MonkeyPatch) -> _Tabs:
    found = _Tabs()
    monkeypatch.setattr(session, "get_script_run_ctx", lambda **_: found.now)
    monkeypatch.setattr(session, "_look_up_session", found.look_up)
    monkeypatch.setattr(session, "_last_lookup", session._LastLookup())
    return found


def test_a_run_looks_its_tab_up_once(tabs: _Tabs) -> None:
    """Each of hundreds of sentences asked Streamlit for the language of the tab."""
    tabs.now = _Context()
    first = session.session()
    assert all(session.session() is first for _ in range(100))
    assert tabs.lookups == 1


def test_a_thread_that_serves_two_tabs_mixes_them_up_never(tabs: _Tabs) -> None:
    """Somebody would see the table of somebody else."""
    ada = _Context()
    bob = _Context()
    for _ in range(3):
        for context in (ada, bob):
            tabs.now = context
            assert session.session() is tabs.states[context]
    assert tabs.states[ada] is not tabs.states[bob]
    tabs.now = None
    nobody = tabs.lookups
    with pytest.raises(TypeError):  # outside of any tab, Streamlit is asked
        session.session()
    assert tabs.lookups == nobody + 1


def test_a_closed_tab_is_not_kept_by_a_thread_that_stays(tabs: _Tabs) -> None:
    """Its rows would stay in memory."""
    context = _Context()
    tabs.now = context
    kept = weakref.ref(session.session())
    tabs.now = None
    del context
    gc.collect()
    assert kept() is None
