"""What earlier programs stored opens unchanged: the files of `stored/`, written by
`write_stored`.
"""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import dpcore as dp
import dpcore.anonymization as da
from dpcore.synthesis import describe_recipe, load_recipe
from tests.golden.write_stored import (
    FOLDER,
    SCHEMA,
    curator_of,
    digest,
    file_of,
    frame_of,
    ledger_of,
    opened,
    plans,
    recipes,
)
from workbench.store.links.shares import Shares
from workbench.store.links.surveys import Surveys

FACTS = json.loads((FOLDER / "facts.json").read_text(encoding="utf-8"))


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8").removesuffix("\n")


def test_nothing_was_left_out() -> None:
    """A file nobody opens would prove nothing."""
    files = {file_of(name, "release") for name in recipes()} | {
        file_of(name, "plan") for name in plans()
    }
    others = {FOLDER / name for name in ("schema.json", "workbench.sql", "facts.json")}
    assert set(FOLDER.iterdir()) == files | others


def test_a_schema_is_read_back() -> None:
    """A saved schema would be refused, or mean other columns."""
    schema = dp.Schema.from_json(_text(FOLDER / "schema.json"))
    columns = [dataclasses.replace(each, from_data=()) for each in schema.columns]
    assert (columns, schema.unit) == (list(SCHEMA.columns), SCHEMA.unit)
    assert schema.plan_text == SCHEMA.plan_text
    assert schema.columns_from_data == SCHEMA.domain.names, (
        "it does not say who knows it"
    )
    again = dp.Schema.from_json(schema.to_json())
    assert again == schema, "a file of today has the marks"
    assert again.plan_text == schema.plan_text


def written_today(release: dp.Release) -> dict[str, Any]:
    """The fields of a release file of today."""
    fields: dict[str, Any] = json.loads(release.to_json())
    fields.pop("digest")
    return fields


def as_marked(text: str) -> dict[str, Any]:
    """The fields of a stored release, with the marks that its reading gives it.

    Its file does not say where facts are known from, so that all of them are marked.
    """
    fields: dict[str, Any] = json.loads(text)
    fields.pop("digest", None)
    schema = dp.Schema.from_json(json.dumps(fields["schema"]))
    fields["schema"] = json.loads(schema.to_json())
    fields["guarantee"]["from_data"] = {
        name: list(facts) for name, facts in schema.from_data.items()
    }
    assert set(schema.from_data) == set(schema.domain.names)
    return fields


@pytest.mark.parametrize("name", recipes())
def test_a_release_is_read_back(name: str) -> None:
    """A file that somebody was sent would be refused, lose a field, or draw other
    rows.
    """
    text = _text(file_of(name, "release"))
    release = dp.read_release(text.encode())
    assert written_today(release) == as_marked(text)
    recipe, _ = recipes()[name]
    assert load_recipe(release.recipe) == recipe
    assert describe_recipe(release.recipe)
    if name in FACTS["drawn"]:
        assert digest(release.sample(50, seed=3)) == FACTS["drawn"][name]


@pytest.mark.parametrize("name", plans())
def test_a_plan_is_read_back(name: str) -> None:
    """A saved plan would be refused, or make another table."""
    text = _text(file_of(name, "plan"))
    plan = da.Plan.from_json(text)
    assert json.loads(plan.to_json()) == json.loads(text)
    assert digest(da.apply(frame_of(plan), plan)) == FACTS["anonymized"][name]


def test_a_workbench_is_opened(tmp_path: Path) -> None:
    """After an update the ledger would be shut or forget a charge, or links and surveys
    would end.
    """
    with sqlite3.connect(tmp_path / "workbench.sqlite") as file:
        file.executescript(_text(FOLDER / "workbench.sql"))
        file.execute("UPDATE shares SET expires = '2999-01-01T00:00:00+00:00'")
    file.close()
    with opened(tmp_path) as store:
        ledger = ledger_of(store)
        dataset = FACTS["dataset"]
        ledger.verify(dataset)
        lines: list[dict[str, Any]] = [
            dataclasses.asdict(line) for line in ledger.lines(dataset)
        ]
        assert json.loads(json.dumps(lines)) == FACTS["lines"]
        curator = curator_of(ledger)
        assert curator.account.dataset == dataset
        assert str(curator.balance().spent) == FACTS["spent"]
        for name, (recipe, loss) in recipes().items():
            text = _text(file_of(name, "release"))
            assert written_today(curator.release(name)) == as_marked(text)
            assert curator.stored_request(recipe, loss) == name
        shares = Shares(store)
        released, anonymized = (shares.open(token, None) for token in FACTS["tokens"])
        assert released
        assert shares.page_of(released).text == _text(file_of("marginals", "release"))
        assert anonymized
        assert shares.page_of(anonymized).syntactic()
        survey = Surveys(store).survey_of(FACTS["survey"])
        assert survey is not None
        assert survey.invited == 3


def test_an_altered_file_is_refused() -> None:
    """The tests above would not see a release that says something else."""
    text = _text(file_of("histogram", "release")).replace('"age"', '"agf"')
    with pytest.raises(dp.DpcoreError):
        dp.read_release(text.encode())
