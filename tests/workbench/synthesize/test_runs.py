"""What the Synthesize page says a run has cost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dpcore.accounting.loss import PureDP
from dpcore.synthesis import Histogram
from workbench.session.run import ReleaseRun


@pytest.mark.parametrize(
    ("request_id", "charged"), [("paid", True), ("refused", False)]
)
def test_a_charge_whose_answer_was_lost_is_a_charge(
    request_id: str,
    charged: bool,
) -> None:
    """The page would say that nothing was charged, under an error that says that the
    charge stays.
    """
    line = SimpleNamespace(request_id="paid", state="reserved")
    curator: Any = SimpleNamespace(lines=lambda: (line,))
    recipe = Histogram("age")
    run = ReleaseRun(
        curator=curator, recipe=recipe, loss=PureDP(epsilon=1), request_id=request_id
    )
    assert run.is_charged() is charged
