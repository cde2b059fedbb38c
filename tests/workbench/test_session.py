"""The language of a tab is found fast, is that of the tab, and keeps no tab."""

from __future__ import annotations

import gc
import weakref
from types import SimpleNamespace

import pytest

from workbench import session
from workbench.language.catalogues import ENGLISH
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

    def look_up(self) -> Session:
        self.lookups += 1
        assert self.now is not None
        return self.states.setdefault(self.now, Session())


@pytest.fixture
def tabs(monkeypatch: pytest.MonkeyPatch) -> _Tabs:
    found = _Tabs()
    monkeypatch.setattr(session, "get_script_run_ctx", lambda **_: found.now)
    monkeypatch.setattr(session, "session", found.look_up)
    monkeypatch.setattr(session, "_last_lookup", session._LanguageLookup())
    return found


def test_a_run_looks_its_tab_up_once(tabs: _Tabs) -> None:
    """Each of hundreds of sentences asked Streamlit for the language of the tab."""
    tabs.now = _Context()
    assert [session.language() for _ in range(100)] == [ENGLISH] * 100
    assert tabs.lookups == 1
    tabs.states[tabs.now].language = "de"  # chosen in the middle of the run
    assert session.language() == "de"


def test_a_thread_that_serves_two_tabs_mixes_them_up_never(tabs: _Tabs) -> None:
    """Somebody would read the language of somebody else."""
    ada = _Context()
    bob = _Context()
    tabs.states[ada] = Session(language="de")
    tabs.states[bob] = Session(language="zh")
    for _ in range(3):
        for context in (ada, bob):
            tabs.now = context
            assert session.language() == tabs.states[context].language
    tabs.now = None
    assert session.language() == ENGLISH


def test_a_cleared_tab_is_looked_up_again(
    tabs: _Tabs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever signs in next would get the language of whoever signed out."""
    tabs.now = _Context()
    before = Session(language="de")
    tabs.states[tabs.now] = before
    assert session.language() == "de"
    monkeypatch.setattr(session, "drop_uploads", lambda: None)
    state = SimpleNamespace(clear=tabs.states.clear)
    monkeypatch.setattr(session.st, "session_state", state)
    session.clear_tab()
    assert session.language() == ENGLISH


def test_a_closed_tab_is_not_kept_by_a_thread_that_stays(tabs: _Tabs) -> None:
    """Its rows would stay in memory."""
    context = _Context()
    tabs.now = context
    session.language()
    kept = weakref.ref(tabs.states[context])
    tabs.now = None
    del context
    gc.collect()
    assert kept() is None


def test_a_poll_for_cancelling_asks_streamlit_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Streamlit ends a run at that lookup: without it, Stop stops nothing."""

    class Stopped(BaseException):
        pass

    def get(_key: str) -> Session:
        if is_stopped:
            raise Stopped
        return tab

    tab = Session()
    is_stopped = False
    context = SimpleNamespace(session_id="")
    monkeypatch.setattr(session, "get_script_run_ctx", lambda **_: context)
    monkeypatch.setattr(session.st, "session_state", SimpleNamespace(get=get))
    poll = session.make_cancel_poll()
    assert not poll()
    is_stopped = True
    with pytest.raises(Stopped):
        poll()
