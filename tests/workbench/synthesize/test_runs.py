"""What the Synthesize page says a run has cost."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from workbench import session
from workbench.session.run import Run
from workbench.synthesize import runs


@pytest.mark.parametrize(
    ("request_id", "charged"), [("paid", True), ("refused", False)]
)
def test_a_charge_whose_answer_was_lost_is_a_charge(
    request_id: str,
    charged: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The page would say that nothing was charged, under an error that says that the
    charge stays.
    """
    line = SimpleNamespace(request_id="paid", state="reserved")
    held = session.Session(
        current="d",
        curators={"d": SimpleNamespace(lines=lambda: (line,))},
        running=Run(title="Release"),
    )
    monkeypatch.setattr(session, "session", lambda: held)
    assert runs.is_charged(Run(title="Release", request_id=request_id)) is charged
