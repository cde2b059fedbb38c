"""Commands beside the data: the same ledger as in the browser, errors as sentences, no half results."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

import dpcore as dp
from dpcore.anonymize import KAnonymity, Plan
from dpcore.anonymize.hierarchies.builders import flat
from dpcore.errors import ParameterError
from dpcore.io import folder as folders
from dpcore.release import Guarantee
from dpcore.schema.source import Source
from dpcore.tables.rows import PublicTable
from workbench import __main__ as commands
from workbench.store import start
from workbench.store.database import Store
from workbench.store.job import Job
from workbench.store.ledger import SqlLedger
from workbench.store.owners import Owners
from workbench.store.roles import Person
from workbench.store.settings import Settings

FRAME = pd.DataFrame({"age": [20, 30, 40, 50] * 50, "sex": ["F", "M"] * 100})
SCHEMA = dp.Schema(
    columns=(dp.Integer("age", low=0, high=99, bin_width=10), dp.Categorical("sex", categories=("F", "M"))),
    unit=dp.PrivacyUnit(max_rows=1),
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, a list of sources and the files of a job; settings and ledger of its own."""
    FRAME.to_parquet(tmp_path / "visits.parquet")
    (tmp_path / "sources.toml").write_text(
        f'[[source]]\nname = "Visits"\nkind = "parquet"\nlocation = "{tmp_path}/visits.parquet"\n'
    )
    (tmp_path / "schema.json").write_text(SCHEMA.to_json())
    (tmp_path / "recipe.json").write_text(json.dumps(dp.Histogram("age").to_dict()))
    settings = replace(Settings(data_dir=tmp_path / "var"), sources=tmp_path / "sources.toml")
    store = Store.open(settings)
    ledger, owners = SqlLedger(store), Owners(store)
    monkeypatch.setattr(commands, "read_settings", lambda: settings)
    monkeypatch.setattr(start, "ledger", lambda: ledger)
    monkeypatch.setattr(start, "owners", lambda: owners)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert commands.main([str(word) for word in words]) == 0
    return capsys.readouterr().out


def test_a_release_as_a_job(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A batch job would spend from another ledger than the pages, or twice."""
    parts = ("--schema", place / "schema.json", "--recipe", place / "recipe.json")
    text = run(capsys, "job", "Visits", *parts, "--epsilon", "0.5", "--budget", "1")
    assert Job.from_json(text).to_json() == text.strip()
    (place / "job.json").write_text(text)
    first, second = (
        json.loads(run(capsys, "release", place / "job.json", "--to", place / "release.json"))
        for _ in range(2)
    )
    assert first == second
    assert first["left_units"] == 5 * 10**11
    lines = json.loads(run(capsys, "ledger", "Visits"))
    assert [line["state"] for line in lines][-2:] == ["reserved", "committed"]
    assert run(capsys, "ledger", "Visits") == run(capsys, "ledger", "Visits")
    drawn = json.loads(run(capsys, "sample", place / "release.json", "--rows", 1234, "--to", place / "drawn"))
    assert drawn == {"rows": 1234}
    assert pq.read_table(place / "drawn").num_rows == 1234


def test_audit_and_plan(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the pages do outside differential privacy would leave no line when a script does it, or a plan,
    whose hierarchies list values of suppressed rows, would go with the published files."""
    asked = ("Visits", "--schema", place / "schema.json", "--budget", "1")
    assert json.loads(run(capsys, "audit", *asked, "--known", "age", "sex"))["k"] == 50
    plan = Plan(
        roles={"age": "quasi-identifier", "sex": "quasi-identifier"},
        hierarchies={},
        models=(KAnonymity(k=20),),
        method="mondrian",
    )
    (place / "plan.json").write_text(plan.to_json())
    run(capsys, "anonymize", *asked, "--plan", place / "plan.json", "--to", place / "anonymous")
    assert pq.read_table(place / "anonymous").num_rows == 200
    assert [line["state"] for line in json.loads(run(capsys, "ledger", "Visits"))].count("outside") == 3
    plan = Plan(
        roles={"age": "quasi-identifier", "sex": "insensitive"},
        hierarchies={"age": flat([*map(str, range(20, 60, 10)), "a value of a suppressed row"])},
        models=(KAnonymity(k=20),),
    )
    (place / "plan.json").write_text(plan.to_json())
    run(capsys, "anonymize", *asked, "--plan", place / "plan.json", "--to", place / "published")
    (file,) = (place / "published").iterdir()
    footer = pq.read_schema(file).metadata
    assert set(footer) == {b"guarantee"}
    assert Guarantee.from_dict(json.loads(footer[b"guarantee"])).kind == "syntactic"
    assert b"suppressed row" not in file.read_bytes()


def test_where_people_sign_in_a_job_is_a_stewards(
    place: Path, capsys: pytest.CaptureFixture[str], write_secrets: Callable[[str], None]
) -> None:
    """The command line would give every table a second, full budget that is nobody's."""
    table = str(place / "visits.parquet")
    parts = ("--schema", place / "schema.json", "--recipe", place / "recipe.json")
    job = run(capsys, "job", table, *parts, "--epsilon", "1", "--budget", "1")
    (place / "job.json").write_text(job)
    asked = ("release", str(place / "job.json"), "--to", str(place / "release.json"))
    write_secrets(
        '[auth]\ncookie_secret = "c"\n[roles]\nstewards = ["*@example.org"]\nanalysts = ["ann@b.org"]'
    )
    for nobody in ((), ("--as", "ann@b.org"), ("--as", "eve@c.org")):
        assert commands.main([*asked, *nobody]) == 1
        assert "steward" in capsys.readouterr().err
    assert start.ledger().datasets() == []
    ada = ("--as", " Ada@example.org")
    run(capsys, *asked, *ada)
    page = commands.ledger_of(Person(address="ada@example.org", role="steward"))
    (dataset,) = start.ledger().datasets()
    assert dataset == dp.Curator.dataset_of(FRAME, page)
    assert page.is_mine(dataset)
    assert page.standing(dataset).balance.left == 0
    lines = json.loads(run(capsys, "ledger", table, *ada))
    assert {line["by"] for line in lines} == {"ada@example.org"}
    page.hand(dataset, "bob@example.org")  # and it stays one account
    run(capsys, *asked, "--as", "bob@example.org")
    assert start.ledger().datasets() == [dataset]


def test_a_source_is_read_under_the_key_of_whoever_opened_it(
    place: Path, capsys: pytest.CaptureFixture[str], write_secrets: Callable[[str], None]
) -> None:
    """Handed on, or in a script, other rows of a person would count: more than max_rows in one account."""
    write_secrets('[auth]\ncookie_secret = "c"\n[roles]\nstewards = ["*@example.org"]')
    ada, bob = (Person(address=f"{name}@example.org", role="steward") for name in ("ada", "bob"))
    curator = commands.opened("Visits", SCHEMA, dp.PureDP(epsilon=1), ada.address)
    key = commands.ledger_of(ada).key
    commands.ledger_of(ada).hand(curator.account.dataset, bob.address)
    source = commands.table_of("Visits", bob)
    assert isinstance(source, Source)
    dataset, theirs = commands.ledger_of(bob).filed(source)
    assert (dataset, theirs.key) == (curator.account.dataset, key)
    assert commands.ledger_of(bob).key != key
    again = commands.opened("Visits", SCHEMA, dp.PureDP(epsilon=1), bob.address)
    assert again._ledger.key == key
    (place / "sources.toml").write_text(
        (place / "sources.toml").read_text() + 'people = ["ada@example.org"]\n'
    )
    assert (
        commands.main(["ledger", "Visits", "--as", bob.address]) == 1
    )  # as the pages show it to nobody else
    assert "no connected source" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ("ledger", "Nothing"),
        ("release", "no-such-file", "--to", "x"),
        ("release", "schema.json", "--to", "x"),
        ("audit", "Visits", "--schema", "schema.json", "--known", "zip"),
    ],
)
def test_errors_are_sentences(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """A traceback in a batch log helps nobody, and may quote a value."""
    monkeypatch.chdir(place)
    assert commands.main(words) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err
    assert said.err.strip()


def test_a_folder_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a table under its final name would be taken for the table."""
    table = PublicTable(FRAME)
    assert folders.write_folder([table, table], tmp_path / "out") == 400
    with pytest.raises(ParameterError, match="there is something"):
        folders.write_folder([table], tmp_path / "out")
    calls = []

    def full(*words: object) -> bytes:
        calls.append(1)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        return b"PAR1"

    monkeypatch.setattr(folders, "to_parquet", full)
    with pytest.raises(ParameterError, match="could not be written"):
        folders.write_folder([table, table], tmp_path / "other")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out"]
