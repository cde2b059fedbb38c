"""Sentences of the library as pages say them."""

from __future__ import annotations

import pytest

from dpcore.errors import ParameterError
from dpcore.text import Text
from workbench import session
from workbench.language.messages import problem_and_remedy, translate


@pytest.fixture(autouse=True)
def held(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session outside of any browser."""
    monkeypatch.setattr(session, "session", session.Session)


def test_shares_are_written_as_everywhere_else() -> None:
    """One page would write "17 %" and "17%", and a line could end between number and
    sign.
    """
    assert (
        translate(Text("{share:.0%} of {column!r}", share=0.17, column="50%"))
        == "17\u202f% of '50%'"
    )
    error = ParameterError(
        "at most {limit:.1%}", remedy="allow {more:.1%}", limit=0.02, more=0.05
    )
    assert problem_and_remedy(error) == ("at most 2.0\u202f%", "allow 5.0\u202f%")
