"""The Ledger page in sentences: every kind of line has its words."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import get_args

import pandas as pd
import pytest

import dpcore as dp
from dpcore.accounting.ledger import Charge, State
from dpcore.evaluation import Evaluation
from dpcore.evaluation.table.audit import AuditQuestion
from dpcore.evaluation.table.proposals import RolesQuestion
from dpcore.evaluation.utility.private import PrivateMarginalErrorQuestion
from dpcore.io.options import ReadOptions
from dpcore.schema import ExcludedColumn
from tests.contracts.ledger_kinds import DATASET, account, sqlite_kind
from workbench.records.lines import EVALUATION_SENTENCES, export_lines, list_notes
from workbench.store import operate as tasks
from workbench.store.ledger import datasets
from workbench.store.ledger.rekey import rekey
from workbench.store.ledger.rows import PRESUMED_FAILURE, new_key_content


def test_every_evaluation_has_its_words() -> None:
    """A line of the ledger would show a bare kind, in English in every language."""
    kinds = {
        kind
        for kind, each in Evaluation.kinds().items()
        if each.__module__.startswith("dpcore.")
    }
    assert len(kinds) >= 18
    assert kinds <= set(EVALUATION_SENTENCES)


def test_an_export_holds_no_facts_of_the_rows() -> None:
    """The richest person's income, and a category of one row, would be in a file that
    says it holds none.
    """
    frame = pd.DataFrame(
        {
            "income": [0, 54_321_987_654],
            "job": ["clerk", "the only mayor"],
            "name": ["Ada", "Bob"],
        },
    )
    schema = dp.Schema(
        columns=(
            dp.Integer(
                "income",
                low=0,
                high=54_321_987_654,
                bin_width=10**9,
                from_data=("high",),
            ),
            dp.Categorical(
                "job", categories=("clerk", "the only mayor"), from_data=("categories",)
            ),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
        excluded=(
            ExcludedColumn(
                name="name", reason="such as 54321987654", from_data=("kind",)
            ),
        ),
    )
    ledger = dp.MemoryLedger()
    curator = dp.Curator.open(frame, schema, budget=dp.PureDP(epsilon=1), ledger=ledger)
    dataset = curator.account.dataset
    datasets.store_declaration(
        datasets.Declaration(name="people.csv", schema=schema), dataset, ledger
    )
    ledger.note(dataset, "sketch", {"sketch": "of the rows"})
    curator.run(dp.Histogram("income"), dp.PureDP(epsilon=1))
    found = datasets.find_data_set(dataset, ledger)
    assert found is not None
    exported = export_lines(found)
    asked = next(line for line in curator.lines() if line.state == "reserved")
    for planted in ("54321987654", "mayor", "of the rows", asked.content["plan"]):
        assert planted not in exported
    lines = json.loads(exported)["lines"]
    assert [line["state"] for line in lines] == [
        "opened",
        "outside",
        "outside",
        "reserved",
        "committed",
    ]
    assert lines[1]["content"]["declared"]["name"] == lines[0]["dataset"][:8]
    assert lines[3]["content"]["recipe"] == dp.Histogram("income").to_dict()


CANARY = "hiv-clinic-4817"
FREE = {
    "name": CANARY,
    "plan": CANARY,
    "sketch": {"rows": CANARY},
    "alike": CANARY,
    "new": [CANARY],
}
"""What no line may show; the last one is of a key that nobody has thought of."""


def every_kind_of_line(ledger: dp.MemoryLedger) -> str:
    """Write each kind of line that the program writes, with canaries wherever something
    private may stand.
    """
    dataset = ledger.open(account()).dataset
    schema = dp.Schema(
        columns=(dp.Categorical(CANARY, categories=(CANARY, "other")),),
        unit=dp.PrivacyUnit(max_rows=1),
        excluded=(
            ExcludedColumn(name=f"{CANARY} too", reason=CANARY, from_data=("kind",)),
        ),
    )
    declared = datasets.Declaration(
        name=CANARY, schema=schema, reading=ReadOptions(names=(CANARY,))
    )
    datasets.store_declaration(declared, dataset, ledger)
    charge = Charge(units=1)
    asked = {
        "recipe": {"kind": "histogram"},
        "loss": {"epsilon": "1"},
        "report": True,
        "declared_by": "Ada",
    }
    ledger.reserve(dataset, "a", charge, {**asked, "by": "ada", **FREE})
    ledger.commit(
        dataset, "a", {"events": [{"mechanism": "laplace"}], "by": "ada", **FREE}, "{}"
    )
    ledger.reserve(dataset, "b", charge, {**asked, **FREE})
    ledger.fail(dataset, "b", {"error": "ReadError", "events": [], **FREE})
    ledger.reserve(dataset, "c", charge, {**asked, **FREE})
    ledger.fail(dataset, "c", {**PRESUMED_FAILURE, **FREE})
    notes_outside: list[dict[str, object]] = [
        {"sketch": {"rows": CANARY}, "name": CANARY},
        {"sketch": {"rows": CANARY}, "name": CANARY, "alike": CANARY, "people": "same"},
        {"anonymized": "0" * 64, "about": ["age"], "declared_by": "Ada"},
        {"evaluation": "audit", "about": ["age"], "by": "ada"},
        {"kind": "people", "shown to": "ann", "shown as": "The study"},
        {"kind": "people", "hidden from": "ann"},
        {"kind": "people", "handed to": "bob"},
        {"kind": "older copy accepted", "forgotten": 7},
        {"kind": "totals sealed"},
        new_key_content("0" * 64),
        {"file": CANARY, "reading": {"names": [CANARY]}},
    ]
    for number, content in enumerate(notes_outside):
        ledger.note(dataset, f"note {number}", {**FREE, **content})
    return dataset


def test_an_export_holds_the_listed_keys_of_each_kind_of_line_alone() -> None:
    """The name of a file, which may be a fact about its rows, or a later key would
    leave with the export.
    """
    ledger = dp.MemoryLedger()
    found = datasets.find_data_set(every_kind_of_line(ledger), ledger)
    assert found is not None
    exported = export_lines(found)
    assert CANARY not in exported
    shown = [line["content"] for line in json.loads(exported)["lines"]]
    written = [line.content for line in found.lines()]
    assert len(shown) == len(written) == 19
    # twin: nothing but what is private is missing
    for told, kept in zip(shown, written, strict=True):
        is_proposed = {"evaluation", "anonymized"} & {*kept}
        chosen = {"about"} if is_proposed else {"people"} & {*kept}
        assert {*kept} - {*told} <= {*FREE, "file", "reading", "release", *chosen}
        assert not {*told} & chosen
        assert {
            key: kept[key] for key in told if key not in ("declared", "shown as")
        } == {key: told[key] for key in told if key not in ("declared", "shown as")}
    assert (
        shown[12]["shown as"]
        == shown[1]["shown as"]
        == shown[1]["declared"]["name"]
        == "The study"
    )
    assert set(datasets.PUBLIC_KEYS) == set(get_args(State))


@pytest.mark.parametrize("hers", [[], ["w99"]])
def test_an_export_does_not_say_what_a_proposal_read(hers: list[str]) -> None:
    """One word more makes a column of dates one that an audit does not ask about."""
    days = pd.date_range("2020-01-01", periods=80).strftime("%Y-%m-%d")
    seen = [*days, *(f"w{place}" for place in range(20)), *hers]
    frame = pd.DataFrame({"seen": seen, "sex": [*"FM" * 60][: len(seen)]})
    schema = dp.Schema(
        columns=(
            dp.Categorical("seen", categories=("x",), other=True),
            dp.Categorical("sex", categories=("F", "M")),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    ledger = dp.MemoryLedger()
    curator = dp.Curator.open(frame, schema, budget=dp.PureDP(epsilon=1), ledger=ledger)
    roles = curator.evaluate(RolesQuestion()).content
    question = AuditQuestion.of(roles, curator.schema, known=None, sensitive=None)
    curator.evaluate(question)
    assert curator.lines()[-1].content["about"] == ["sex"] if hers else ["seen", "sex"]
    data_set = datasets.find_data_set(curator.account.dataset, ledger)
    assert data_set is not None
    exported = json.loads(export_lines(data_set))["lines"][-1]
    assert exported["content"] == {"evaluation": "re-identification risk"}


def test_an_export_holds_no_digest_of_a_release() -> None:
    """Earlier versions stored releases with single people's words, which anybody could
    try out by the digest.
    """
    frame = pd.DataFrame({"sex": ["F", "M"] * 50, "age": [20, 30] * 50})
    ledger = dp.MemoryLedger()
    curator = dp.Curator.open(
        frame, dp.suggest_schema(frame), budget=dp.PureDP(epsilon=3), ledger=ledger
    )
    loss = dp.PureDP(epsilon=1)
    release = curator.run(dp.Independent(columns=("sex", "age")), loss)
    curator.evaluate_privately(PrivateMarginalErrorQuestion(release=release), loss)
    found = datasets.find_data_set(curator.account.dataset, ledger)
    assert found is not None
    digest = hashlib.sha256(release.to_json().encode()).hexdigest()
    assert digest in json.dumps([line.content for line in found.lines()])
    assert digest not in export_lines(found)
    assert '"release"' not in export_lines(found)


def test_an_export_names_no_declaration_of_a_part() -> None:
    """Declared cells could be guessed, and tried against a digest without a key of an
    older line.
    """
    sex = dp.Categorical("sex", categories=("F", "M"))
    schema = dp.Schema(columns=(sex,), unit=dp.PrivacyUnit(max_rows=1))
    frame = pd.DataFrame({"sex": ["F", "M"] * 50})
    guessed = hashlib.sha256(
        json.dumps(sex.to_dict(), sort_keys=True).encode()
    ).hexdigest()[:16]
    for older in (False, True):
        ledger = dp.MemoryLedger()
        curator = dp.Curator.open(
            frame, schema, budget=dp.PureDP(epsilon=3), ledger=ledger
        )
        if older:
            charge = Charge(units=10**12, part=(f"sex #{guessed}", "F"))
            ledger.reserve(
                curator.account.dataset,
                "a",
                charge,
                {"recipe": dp.Histogram("sex").to_dict()},
            )
        for part in ("F", "M"):
            curator.run(
                dp.Histogram("sex"),
                dp.PureDP(epsilon=1),
                part={"sex": part},
                request_id=part,
            )
        # parts of one declaration cost as the largest one, also beside a line of an
        # earlier version
        balance = curator.balance()
        assert balance.spent + balance.reserved == (2 if older else 1) * 10**12
        partitions = {
            line.charge.part[0]
            for line in curator.lines()
            if line.charge.part is not None
        }
        assert len(partitions) == 1
        assert (partitions == {f"sex #{guessed}"}) == older
        found = datasets.find_data_set(curator.account.dataset, ledger)
        assert found is not None
        assert guessed not in export_lines(found)
        parts = [
            line["charge"]["part"] for line in json.loads(export_lines(found))["lines"]
        ]
        assert [part for part in parts if part] == [
            ["sex #1", each] for each in "F" * older + "FM"
        ]


def test_lines_of_the_ledger_about_itself_are_shown(tmp_path: Path) -> None:
    """Whoever deletes an account and accepts it would have its budget again, and nobody
    would see it.
    """
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
        found = datasets.find_data_set(DATASET, again)
        assert found is not None
        assert list(list_notes(found)["note"]) == [
            "an older copy of the ledger was accepted, which lacks 7 later lines",
            "the ledger was sealed again under a new key",
            (
                "opened again: an earlier account of this table, with 2 lines, had been "
                "deleted"
            ),
        ]
