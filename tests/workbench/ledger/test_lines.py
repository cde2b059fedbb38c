"""The Ledger page in sentences: every kind of line has its words."""

from __future__ import annotations

import dpcore.evaluation  # noqa: F401 - so that every evaluation is known
from dpcore.evaluation import (  # noqa: F401
    audit,
    distributions,
    learning,
    marginal_error,
    proposals,
    range_errors,
    similarity,
    trial,
)
from dpcore.evaluation.question import Evaluation
from workbench.ledger.lines import EVALUATIONS


def test_every_evaluation_has_its_words() -> None:
    """A line of the ledger would show a bare kind, in English in every language."""
    kinds = {each.kind for each in Evaluation.__subclasses__() if each.__module__.startswith("dpcore.")}
    assert len(kinds) >= 9
    assert kinds <= set(EVALUATIONS)
