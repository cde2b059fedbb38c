"""Each test has a ledger of its own."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import local_script_runner

from tests.pages.tab import Tab
from workbench.server.web import guard, holders
from workbench.store import settings, start
from workbench.ui import widgets


def _wait(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
    runner._script_thread.join(timeout)
    if runner._script_thread.is_alive():
        _POLL(runner, 0)


_POLL = local_script_runner.require_widgets_deltas


@pytest.fixture(autouse=True)
def own_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A new ledger in a folder of its own; nothing of it outlives the test."""
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    # each new tab would look for components in all installed packages, a quarter of a
    # second each time
    monkeypatch.setattr(manifest_scanner, "scan_component_manifests", list)
    # AppTest looks a thousand times a second whether the run is over, and holds it up
    monkeypatch.setattr(local_script_runner, "require_widgets_deltas", _wait)
    # AppTest runs the script of the pages alone
    monkeypatch.setattr(guard.guard_is_active, "is_set", lambda: True)
    # tabs of earlier tests may still be in memory, and their tables count against the
    # server's room
    monkeypatch.setattr(holders, "_holders", weakref.WeakSet())
    # every chart of every page keeps Altair's schema
    monkeypatch.setattr(
        widgets.UncheckedDrawing, "to_dict", lambda drawing: drawing.spec.to_dict()
    )
    settings.read_settings.cache_clear()
    start.drop_shared_objects()
    yield tmp_path
    start.drop_shared_objects()
    settings.read_settings.cache_clear()


@pytest.fixture
def new_tab() -> Callable[[], Tab]:
    """Opens a browser tab: a new session on the same ledger."""

    def tab() -> Tab:
        opened = Tab()
        opened.at.run()
        return opened

    return tab


@pytest.fixture
def app(new_tab: Callable[[], Tab]) -> Tab:
    """A tab on the first page."""
    return new_tab()


@pytest.fixture
def opened(app: Tab) -> Tab:
    """A tab with a small table open, at epsilon 3."""
    return app.open()
