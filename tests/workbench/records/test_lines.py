"""The Ledger page in sentences: every kind of line has its words."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

import dpcore as dp
from dpcore.evaluation import Evaluation
from dpcore.schema import Excluded
from tests.contracts.ledger_kinds import DATASET, account, sqlite_kind
from workbench.records.lines import EVALUATIONS, export, notes
from workbench.store import __main__ as tasks
from workbench.store import datasets
from workbench.store.rekey import rekey


def test_every_evaluation_has_its_words() -> None:
    """A line of the ledger would show a bare kind, in English in every language."""
    kinds = {kind for kind, each in Evaluation.kinds().items() if each.__module__.startswith("dpcore.")}
    assert len(kinds) >= 18
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
    assert lines[1]["content"]["declared"]["name"] == lines[0]["dataset"][:8]
    assert lines[3]["content"]["recipe"] == dp.Histogram("income").to_dict()


def test_lines_of_the_ledger_about_itself_are_shown(tmp_path: Path) -> None:
    """Whoever deletes an account and accepts it would have its budget again, and nobody would see it."""
    with sqlite_kind(tmp_path / "var") as kind:
        ledger = kind.open()
        ledger.open(account())
        ledger.note(DATASET, "more", {"kind": "people", "shown to": "ann@example.org"})
        kind._run("DELETE FROM ledger_lines", "DELETE FROM ledger_accounts")
        tasks.accept(kind.settings)
        ledger.open(account())
        rekey(kind.settings)
        again = kind.open()
        again._store.witness.accept(DATASET, 8, "0" * 64)
        again.accept(DATASET)
        found = datasets.find(DATASET, again)
        assert found is not None
        assert list(notes(found)["note"]) == [
            "an older copy of the ledger was accepted, without 7 lines",
            "the ledger was sealed again under a new key",
            "opened again: an account of this table, with 2 lines, was deleted and forgotten",
        ]
