"""Exceptions that nobody foresaw: one sentence with an id, nothing of the table, and
the person goes on.
"""

from __future__ import annotations

import re

import pytest

from dpcore.curator import Curator
from dpcore.errors import LedgerError
from workbench.store import start
from workbench.store.ledger.datasets import DataSet
from workbench.upload import opening


def test_a_page_that_fails_says_an_id_and_goes_on(opened, monkeypatch, caplog):
    """A page would end in Streamlit's own error page, and its log would hold values of
    the table.
    """
    with monkeypatch.context() as broken:
        broken.setattr(DataSet, "balance", lambda self: 1 / {"HIV+": 0}["HIV+"])
        opened.go("ledger")
    number = re.search(r"server's log lists it as `([0-9a-f]{8})`", opened.errors)[1]
    assert f"{number}: ZeroDivisionError at " in caplog.text
    assert "HIV" not in caplog.text + opened.text
    opened.go("ledger")
    assert opened.errors == ""


def test_a_callback_that_fails_says_an_id_and_goes_on(app, monkeypatch, caplog):
    """A button would end in Streamlit's own error page."""
    with monkeypatch.context() as broken:
        broken.setattr(opening, "_make_draft", lambda *given, **named: {}["HIV+"])
        app.press("Open this sample")
    assert "server's log lists it as" in app.errors
    assert "KeyError at test_unexpected" in caplog.text
    assert "HIV" not in caplog.text
    app.go("upload").press("Open this sample")
    assert "Open the data set" in [each.label for each in app.at.button]


@pytest.mark.parametrize("error", [RuntimeError("HIV+"), MemoryError("HIV+")])
def test_a_run_that_fails_says_an_id(opened, monkeypatch, caplog, error):
    """What a thread raises would be shown with its words, or vanish."""

    def fails(self, *given, **named):
        raise error

    monkeypatch.setattr(Curator, "run", fails)
    opened.go("synthesize").release()
    assert "server's log lists it as" in opened.errors
    assert type(error).__name__ in caplog.text
    assert "HIV" not in caplog.text + opened.text


def test_a_draft_whose_ledger_goes_down_says_why(app, monkeypatch):
    """The page of an open draft would end in an error page, and nobody know that the
    database is down.
    """
    app.go("upload").press("Open this sample")
    with monkeypatch.context() as down:

        def fails():
            raise LedgerError(
                "the ledger's database cannot be reached", remedy="check that it runs"
            )

        down.setattr(start, "ledger", fails)
        app.at.run()
        assert "database cannot be reached" in app.errors
        assert "Check that it runs" in app.errors
    app.at.run()
    assert app.errors == ""
