"""The Ledger page in sentences: every kind of line has its words."""

from __future__ import annotations

import json

import pandas as pd

import dpcore as dp
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
from dpcore.schema import Excluded
from workbench.ledger.lines import EVALUATIONS, export
from workbench.store import datasets


def test_every_evaluation_has_its_words() -> None:
    """A line of the ledger would show a bare kind, in English in every language."""
    ours = [each for each in Evaluation.__subclasses__() if each.__module__.startswith("dpcore.")]
    kinds = {each.kind for each in ours if hasattr(each, "kind")}  # what wraps another has that one's
    assert len(kinds) >= 9
    assert kinds <= set(EVALUATIONS)


def test_an_export_holds_no_facts_of_the_rows() -> None:
    """The richest person's income, and a category of one row, would be in a file that says it holds none."""
    frame = pd.DataFrame(
        {"income": [0, 54_321_987_654], "job": ["clerk", "the only mayor"], "name": ["Ada", "Bob"]}
    )
    schema = dp.Schema(
        columns=(
            dp.Integer("income", low=0, high=54_321_987_654, bin_width=10**9, from_data=("high",)),
            dp.Categorical("job", categories=("clerk", "the only mayor"), from_data=("categories",)),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
        excluded=(Excluded(name="name", reason="such as 54321987654", from_data=("kind",)),),
    )
    ledger = dp.MemoryLedger()
    curator = dp.Curator.open(frame, schema, budget=dp.PureDP(epsilon=1), ledger=ledger)
    dataset = curator.account.dataset
    datasets.keep(datasets.Declaration(name="people.csv", schema=schema), dataset, ledger)
    ledger.note(dataset, "sketch", {"sketch": "of the rows"})
    curator.run(dp.Histogram("income"), dp.PureDP(epsilon=1))
    found = datasets.find(dataset, ledger)
    assert found is not None
    exported = export(found)
    asked = next(line for line in curator.lines() if line.state == "reserved")
    for planted in ("54321987654", "mayor", "of the rows", asked.content["plan"]):
        assert planted not in exported
    lines = json.loads(exported)["lines"]
    assert [line["state"] for line in lines] == ["opened", "outside", "outside", "reserved", "committed"]
    assert lines[1]["content"]["declared"]["name"] == "people.csv"
    assert lines[3]["content"]["recipe"] == dp.Histogram("income").to_dict()
