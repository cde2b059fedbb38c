"""A source that somebody vouches for: whose word it is stands wherever a promise
stands.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pandas as pd
import pytest

import dpcore as dp
from dpcore.anonymization import KAnonymity, Plan
from dpcore.evaluation.utility.private import PrivateMarginalErrorQuestion
from dpcore.release import Guarantee, PrivateReport
from dpcore.schema.source import Source
from workbench.language.wording import escape_markdown, guarantee_words
from workbench.records import lines
from workbench.report import of_release, of_table
from workbench.store.ledger.datasets import DataSet
from workbench.upload.source_view import rows_words

ADA = "Ada <b>Lovelace"
SHOWN = "that each row of the source comes from one person"
SCHEMA = dp.Schema(
    columns=(
        dp.Integer("age", low=0, high=9),
        dp.Categorical("sex", categories=("F", "M")),
    ),
    unit=dp.PrivacyUnit(max_rows=1),
)
ONE = dp.PureDP(epsilon="1")


@pytest.fixture
def declared(tmp_path: Path) -> Source:
    """A source with a query."""
    frame = pd.DataFrame({"age": [*range(10)] * 40, "sex": ["F", "M"] * 200})
    frame.to_parquet(tmp_path / "a.parquet")
    query = "SELECT age, sex FROM source"
    return Source(
        name="v",
        kind="parquet",
        location=str(tmp_path / "a.parquet"),
        query=query,
        declared_by=ADA,
    )


def opened(source: Source, ledger: dp.MemoryLedger) -> dp.Curator:
    return dp.Curator.open(source, SCHEMA, budget=dp.PureDP(epsilon="9"), ledger=ledger)


def test_whose_word_it_is(declared: Source, tmp_path: Path) -> None:
    """A count over all rows in a query would leave as a promise of the program."""
    curator = opened(declared, dp.MemoryLedger())
    release = curator.run(dp.Histogram("age"), ONE)
    paid = curator.evaluate_privately(
        PrivateMarginalErrorQuestion(release=release, way=1), ONE
    )
    plan = Plan(
        roles={"age": "quasi-identifier", "sex": "insensitive"},
        hierarchies={},
        models=(KAnonymity(k=5),),
        method="mondrian",
    )
    table = curator.anonymize(plan)
    read = dp.read_release(release.to_json().encode())
    stored = PrivateReport.from_json(paid.to_json())
    kept = Guarantee.from_dict(json.loads(table.guarantee.as_metadata()["guarantee"]))
    for guarantee in (release.guarantee, read.guarantee, stored.guarantee, kept):
        assert guarantee.declared_by == ADA
    for guarantee in (read.guarantee, stored.guarantee):
        assert any(SHOWN in sentence for sentence in guarantee_words(guarantee))
    for page in (
        of_release.stand_alone_page(release),
        of_table.stand_alone_page(table.table, table.guarantee, []),
    ):
        assert SHOWN in page.decode()
        assert "Ada" in page.decode()
        assert "<b>Lovelace" not in page.decode()
    assert escape_markdown(ADA) in rows_words(declared)
    data_set = DataSet(ledger=curator.ledger, account=curator.account, declaration=None)
    for shown in (lines.list_charges(data_set), lines.list_notes(data_set)):
        assert ADA in shown.to_numpy()
    assert not data_set.reading_from_data, "a source takes its options as given"
    for line in curator.lines():
        if line.state == "reserved" or "anonymized" in line.content:
            assert line.content["declared_by"] == ADA


@pytest.mark.parametrize("person", [None, "age"])
def test_a_query_fails_without_the_words_of_its_row(
    declared: Source, person: str | None
) -> None:
    """What `error('found')` says about one person's row stood on the page, and in the
    log.
    """
    secret = "CASE WHEN age = 3 THEN error('found ' || sex) ELSE sex END AS sex"
    failing = dataclasses.replace(declared, query=f"SELECT age, {secret} FROM source")
    schema = dataclasses.replace(
        SCHEMA, unit=dp.PrivacyUnit(max_rows=1, id_column=person)
    )
    with pytest.raises(dp.ReadError) as refused:
        dp.Curator.open(failing, schema, budget=ONE, ledger=dp.MemoryLedger())
    assert "found" not in str(refused.value)


def test_another_word_is_another_release(declared: Source) -> None:
    """A release of a query would come back as one whose rows the program has seen
    to.
    """
    ledger = dp.MemoryLedger()
    first = opened(declared, ledger).run(dp.Histogram("age"), ONE)
    fields = dataclasses.replace(
        declared, query="", columns=("age", "sex"), declared_by=""
    )
    curator = opened(fields, ledger)  # one account still
    second = curator.run(dp.Histogram("age"), ONE)
    assert first.request_id != second.request_id
    assert second.guarantee.declared_by == ""
    assert SHOWN not in of_release.stand_alone_page(second).decode()
    assert all("declared_by" not in line.content for line in curator.lines()[-2:])
    codebook = dp.Schema.from_json(opened(declared, ledger).schema.to_json())
    frame = pd.DataFrame({"age": [1, 2], "sex": ["F", "M"]})
    plain = dp.Curator.open(frame, codebook, budget=ONE, ledger=ledger)
    # somebody's word is about a source, not about a file
    assert plain.schema.declared_by == ""
