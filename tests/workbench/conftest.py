"""Streamlit's secrets as a file that tests write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.runtime.secrets import Secrets

from workbench.server.web import guard


@pytest.fixture(autouse=True)
def guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest runs parts of pages alone, without the server and its guard."""
    monkeypatch.setattr(guard.guard_is_active, "is_set", lambda: True)


@pytest.fixture
def write_secrets(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Callable[[str], None]]:
    """Writes the file, which is not there at first."""
    path = tmp_path / "secrets.toml"
    monkeypatch.setattr(Secrets, "_maybe_install_file_watchers", lambda self: None)
    usual = st.config.get_option("secrets.files")
    st.config.set_option("secrets.files", [str(path)])
    st.secrets._reset()

    def write(text: str) -> None:
        path.write_text(text, encoding="utf-8")
        st.secrets._reset()

    yield write
    st.config.set_option("secrets.files", usual)
    st.secrets._reset()
