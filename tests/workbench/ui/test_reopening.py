"""Rows that are brought back to a data set on file."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from workbench import session
from workbench.server.workers import reading
from workbench.store.ledger.datasets import DataSet
from workbench.ui import reopening


class Ended(BaseException):
    """As Streamlit ends a run that another click came for."""


def test_a_click_while_rows_are_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file would be gone without a word, and the field empty again."""
    held = session.Session()
    file = SimpleNamespace(name="people.csv", size=1, getvalue=lambda: b"a")
    ledger = SimpleNamespace(for_dataset=lambda dataset: SimpleNamespace(key=b"key"))

    def end(*given: Any, **named: Any) -> None:
        raise Ended

    monkeypatch.setattr(session, "session", lambda: held)
    monkeypatch.setattr(
        session, "file_field", lambda name: SimpleNamespace(current_value=lambda: file)
    )
    monkeypatch.setattr(session, "ledger", lambda: ledger)
    monkeypatch.setattr(reading, "read", end)
    with pytest.raises(Ended):
        reopening.take_file(
            DataSet(
                account=SimpleNamespace(dataset="d"), declaration=None, ledger=ledger
            )
        )
    assert "this was stopped before it was finished" in str(
        held.notices[reopening.NOTICE]
    )
