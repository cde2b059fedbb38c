"""Who says that two accounts are about the same people, and which tables that joins."""

from __future__ import annotations

import pandas as pd
import pytest

import dpcore as dp
from dpcore.errors import LedgerError
from dpcore.suppression import HidingRule, ShownColumn, TablePlan
from dpcore.tables.sketch import SketchedTable
from tests.workbench.store.test_personal import ADA, BOB, Server
from tests.workbench.store.test_personal import server as server
from workbench.records.lines import list_notes
from workbench.store.ledger.datasets import load_data_set
from workbench.store.people import likeness
from workbench.store.people.personal import PersonalLedger
from workbench.store.people.same_people import (
    note_same_people,
    same_people,
    tables_of_same_people,
)

PLAN = TablePlan(columns=(ShownColumn(column="sex"),), rule=HidingRule(threshold=10))


def opened(ledger: PersonalLedger, women: int, men: int) -> dp.Curator:
    frame = pd.DataFrame({"sex": ["f"] * women + ["m"] * men})
    return dp.Curator.open(
        frame,
        dp.Schema(
            columns=(dp.Categorical("sex", categories=("f", "m")),),
            unit=dp.PrivacyUnit(max_rows=1),
        ),
        budget=dp.PureDP(epsilon=3),
        ledger=ledger,
        name=f"{women}.csv",
    )


def keep(curator: dp.Curator, ledger: PersonalLedger, **answer: str) -> None:
    """Store the answer about a table that looked like one on file."""
    frame = pd.DataFrame({"sex": [curator.name]})
    sketched = [SketchedTable.from_frame(frame, ledger.key)]
    dataset = curator.account.dataset
    likeness.store_sketch(sketched, dataset, curator.name, ledger, answer)


def test_what_was_said_joins_accounts_both_ways_and_by_way_of_others(
    server: Server,
) -> None:
    """A table of the first account would be published without the attack together with
    one of the third.
    """
    ada = server.of(ADA)
    first, second, third, other = (opened(ada, n, 40) for n in (40, 41, 42, 43))
    ids = [each.account.dataset for each in (first, second, third, other)]
    keep(first, ada)
    keep(second, ada, alike=ids[0], people="the same")
    keep(other, ada, alike=ids[0], people="different")
    assert same_people(ids[0], ada) == [ids[1]]
    assert same_people(ids[3], ada) == []
    note_same_people(ids[2], ids[1], ada)
    note_same_people(ids[1], ids[2], ada)
    assert sorted(same_people(ids[0], ada)) == sorted(ids[1:3])
    assert sorted(same_people(ids[2], ada)) == sorted(ids[:2])
    first.publish_table(first.exact_table(PLAN))
    (table,) = tables_of_same_people(ids[2], ada)
    assert table.name == "sex (40.csv)"
    assert tables_of_same_people(ids[3], ada) == []
    data_set = load_data_set(ids[2], ada)
    assert data_set is not None
    notes = list_notes(data_set).astype(str).agg(" ".join, axis="columns").tolist()
    assert sum("about the same people" in note for note in notes) == 1


def test_nobody_says_it_of_an_account_of_somebody_else(
    server: Server,
) -> None:
    """A stranger would learn whether an account has exact tables, and bind its owner."""
    ada = server.of(ADA)
    bob = server.of(BOB)
    mine = opened(ada, 40, 40).account.dataset
    theirs = opened(bob, 50, 40).account.dataset
    with pytest.raises(LedgerError):
        note_same_people(mine, theirs, ada)
    assert tables_of_same_people(mine, ada) == []
    assert same_people(theirs, bob) == []
