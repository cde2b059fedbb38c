"""Declarations on file: of today, and of earlier versions."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pandas as pd
import pytest

import dpcore as dp
from dpcore.io import read_table
from dpcore.schema import ExcludedColumn
from dpcore.schema.schema import LEFT_OUT_MARK
from workbench.store.ledger import datasets
from workbench.store.ledger.datasets import (
    DataSet,
    Declaration,
    list_readable,
    load_data_set,
)

ID = ExcludedColumn(name="patient_id", reason="names the person")
BY_HAND = ExcludedColumn(name="note", reason="of no use")
BY_TABLE = ExcludedColumn(
    name="diag", reason="too many values", from_data=(LEFT_OUT_MARK,)
)
FRAME = pd.DataFrame({"sex": ["F", "M"] * 50, "patient_id": map(str, range(100))})
UNIT = dp.PrivacyUnit(max_rows=1, id_column="patient_id")
SEX = dp.Categorical("sex", categories=("F", "M"), known_from="a law")


def declared(*excluded: ExcludedColumn) -> dict[str, Any]:
    schema = dp.Schema(columns=(SEX,), unit=UNIT, excluded=excluded)
    fields: dict[str, Any] = Declaration(name="t.csv", schema=schema).to_dict()
    return json.loads(json.dumps(fields))  # type: ignore[no-any-return]


@pytest.mark.parametrize("excluded", [(ID, BY_HAND), (ID, BY_HAND, BY_TABLE)])
def test_a_declaration_is_read_as_it_was_written(
    excluded: tuple[ExcludedColumn, ...],
) -> None:
    """A column that somebody left out by hand would be called the table's choice."""
    assert Declaration.from_dict(declared(*excluded)).schema.excluded == excluded


@pytest.mark.parametrize("has_key", [True, False])
def test_what_an_earlier_version_left_out_is_marked(has_key: bool) -> None:
    """A release of today would not say that the table decided which columns it has, or
    the account would not open at all.
    """
    fields = declared(ID, BY_HAND)
    fields["schema"].pop("left_out")
    fields["schema"]["version"] = 1
    for column in fields["excluded"]:
        column["from_data"] = []
        if not has_key:
            column.pop("from_data")
    ledger = dp.MemoryLedger()
    curator = dp.Curator.open(
        FRAME,
        dp.Schema(columns=(SEX,), unit=UNIT),
        budget=dp.PureDP(epsilon=1),
        ledger=ledger,
    )
    dataset = curator.account.dataset
    ledger.note(dataset, "declaration 1", {"declared": fields})
    data_sets, errors = list_readable(ledger, [dataset])
    assert (len(data_sets), errors) == (1, [])
    data_set = load_data_set(dataset, ledger)
    assert data_set is not None
    assert data_set.declaration is not None
    schema = data_set.declaration.schema
    again = dp.Curator.open(FRAME, schema, budget=dp.PureDP(epsilon=1), ledger=ledger)
    release = again.run(dp.Histogram("sex"), dp.PureDP(epsilon=1))
    assert release.guarantee.from_data["note"] == (LEFT_OUT_MARK,)
    assert "patient_id" not in release.guarantee.from_data


@pytest.mark.parametrize("is_known", [False, True])
def test_the_reading_of_an_account_of_before_is_from_the_data(is_known: bool) -> None:
    """Declarations of then had no mark, and their encoding passed as told."""
    read = read_table(b"x,y\n01/02/2020,1\n13/02/2020,2\n", "t.csv")
    schema = dp.Schema(
        columns=(dp.Categorical("y", categories=("1", "2"), known_from="a law"),),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    options = dataclasses.replace(read.options, is_known=is_known)
    fields = Declaration(name="t.csv", schema=schema, reading=options).to_dict()
    now = Declaration.from_dict(json.loads(json.dumps(fields)))
    assert now.schema.reading_from_data is not is_known
    later = ("columns", "seen", "rules", "is_known")
    fields["reading"] = {
        name: value for name, value in fields["reading"].items() if name not in later
    }
    before = Declaration.from_dict(json.loads(json.dumps(fields)))
    assert before.schema.reading_from_data
    # and so are the releases that were made under it
    ledger = dp.MemoryLedger()
    frame = read.frame.assign(y=read.frame["y"].astype(str))
    frame.attrs.clear()
    curator = dp.Curator.open(frame, schema, budget=dp.PureDP(epsilon=3), ledger=ledger)
    release = curator.run(dp.Histogram("y"), dp.PureDP(epsilon=1))
    assert not release.guarantee.reading_from_data
    data_set = DataSet(account=curator.account, declaration=before, ledger=ledger)
    # where no declaration was kept, nobody said how the file was read
    without = DataSet(account=curator.account, declaration=None, ledger=ledger)
    for found in (data_set, without):
        stored = found.release(release.request_id)
        assert stored.guarantee.reading_from_data
        assert dp.Release.from_json(stored.to_json()).guarantee == stored.guarantee


def test_a_declaration_is_parsed_once_for_each_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A list of data sets parsed each declaration again; a viewer gets no other's."""
    ledger = dp.MemoryLedger()
    frame = pd.DataFrame({"sex": ["F", "M"] * 20})
    schema = dp.suggest_schema(frame)
    curator = dp.Curator.open(frame, schema, budget=dp.PureDP(epsilon=1), ledger=ledger)
    dataset = curator.account.dataset
    datasets.store_declaration(
        Declaration(name="wards.csv", schema=schema), dataset, ledger
    )
    first = datasets.load_data_set(dataset, ledger)
    assert first is not None
    assert first.name == "wards.csv"
    with monkeypatch.context() as here:
        here.setattr(Declaration, "from_dict", None)
        again = datasets.load_data_set(dataset, ledger)
    assert again is not None
    assert again.declaration is first.declaration

    class Viewer(dp.MemoryLedger):
        def account(self, dataset: str) -> Any:
            return ledger.account(dataset)

        def lines(self, dataset: str) -> Any:
            return tuple(
                datasets.redact_line(line, "shown") for line in ledger.lines(dataset)
            )

    seen = datasets.load_data_set(dataset, Viewer())
    assert seen is not None
    assert seen.declaration is not None
    assert (seen.name, seen.declaration.schema.columns) == ("shown", ())
