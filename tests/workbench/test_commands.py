"""Commands beside the data: the same ledger as in the browser, errors as sentences, no
half results.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import dpcore as dp
from dpcore.accounting.ledger import source_dataset
from dpcore.anonymization import KAnonymity, Plan
from dpcore.anonymization.hierarchies.builders import build_flat
from dpcore.curator.linked import propose_recipe
from dpcore.engines import base
from dpcore.engines.streaming import _many_texts as many_texts
from dpcore.engines.streaming.engine import ArrowEngine
from dpcore.errors import ParameterError
from dpcore.io import folder as folders
from dpcore.io.checks import Limits, check_size
from dpcore.mechanisms import measurer
from dpcore.release import Guarantee
from dpcore.risk.criteria import list_criteria
from dpcore.schema.source import Source
from dpcore.synthesis import LinkedRelease
from dpcore.tables.rows import CodedRows, PublicTable
from dpcore.tables.sketch import SketchedTable
from tests.io.test_workbooks import PEOPLE as SHEET
from tests.io.test_workbooks import workbook
from tests.linked_tables import linked_schema
from tests.ports import free_port
from tests.tiers import examples
from tests.workbench.store.test_opened_files import KEY, MONTHS, load
from workbench import __main__ as commands
from workbench.records.lines import (
    export_lines,
    list_charges,
    list_not_covered,
    list_notes,
)
from workbench.report.downloads import linked_guarantee_json
from workbench.store import settings, start
from workbench.store.database.store import Store
from workbench.store.ledger.datasets import find_data_set
from workbench.store.ledger.sql_ledger import SqlLedger
from workbench.store.links.shares import Shares
from workbench.store.people import likeness
from workbench.store.people.owners import Owners
from workbench.store.people.roles import LOCAL_PERSON, Person
from workbench.store.people.same_people import same_people
from workbench.store.settings import Settings
from workbench.store.sources.job import Job, LinkedJob, read_job

FRAME = pd.DataFrame({"age": [20, 30, 40, 50] * 50, "sex": ["F", "M"] * 100})
SCHEMA = dp.Schema(
    columns=(
        dp.Integer("age", low=0, high=99, bin_width=10),
        dp.Categorical("sex", categories=("F", "M")),
    ),
    unit=dp.PrivacyUnit(max_rows=1),
)
WRITTEN = io.BytesIO()
FRAME.assign(who=range(200)).to_parquet(WRITTEN)
PEOPLE = WRITTEN.getvalue()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, a list of sources and the files of a job; settings and
    ledger of its own.
    """
    FRAME.to_parquet(tmp_path / "visits.parquet")
    (tmp_path / "sources.toml").write_text(
        (
            '[[source]]\nname = "Visits"\nkind = "parquet"\nlocation = '
            f'"{tmp_path}/visits.parquet"\n'
        ),
    )
    (tmp_path / "schema.json").write_text(SCHEMA.to_json())
    (tmp_path / "recipe.json").write_text(json.dumps(dp.Histogram("age").to_dict()))
    configured = replace(
        Settings(data_dir=tmp_path / "var"), sources=tmp_path / "sources.toml"
    )
    store = Store(configured)
    ledger = SqlLedger(store)
    owners = Owners(store)
    monkeypatch.setattr(commands, "read_settings", lambda: configured)
    monkeypatch.setattr(start, "ledger", lambda: ledger)
    monkeypatch.setattr(start, "owners", lambda: owners)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert commands.main([str(word) for word in words]) == 0
    return capsys.readouterr().out


def test_commands_keep_the_limits_of_the_server(
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the pages refuse would be had beside the data: a larger epsilon, or smaller
    groups.
    """
    (place / "policy.toml").write_text("epsilon = 2\nk = 5")
    monkeypatch.setenv("WORKBENCH_POLICY", str(place / "policy.toml"))
    settings.read_settings.cache_clear()
    FRAME.to_csv(place / "people.csv", index=False)
    roles = {"age": "quasi-identifier"}
    hierarchies = {"age": build_flat(["20", "30", "40", "50"])}
    for table in ("Visits", place / "people.csv"):
        schema = ("--schema", place / "schema.json")
        parts = (*schema, "--recipe", place / "recipe.json", "--epsilon", "0.5")
        (place / "job.json").write_text(
            run(capsys, "job", table, *parts, "--budget", "2.5")
        )
        asked = ["release", place / "job.json", "--to", place / "release.json"]
        assert commands.main([*map(str, asked)]) == 1
        assert "at most epsilon 2" in capsys.readouterr().err
        assert not (place / "release.json").exists()
        for k, budget, problem in (
            (5, "2.5", "at most epsilon 2"),
            (4, "2", "groups of at least 5"),
        ):
            plan = Plan(roles=roles, hierarchies=hierarchies, models=(KAnonymity(k=k),))
            (place / "plan.json").write_text(plan.to_json())
            asked = [
                "anonymize",
                table,
                *schema,
                "--plan",
                place / "plan.json",
                "--budget",
                budget,
            ]
            assert commands.main([*map(str, [*asked, "--to", place / "folder"])]) == 1
            assert problem in capsys.readouterr().err
            assert not (place / "folder").exists()
    settings.read_settings.cache_clear()


def test_a_release_as_a_job(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A batch job would spend from another ledger than the pages, or twice."""
    parts = ("--schema", place / "schema.json", "--recipe", place / "recipe.json")
    text = run(capsys, "job", "Visits", *parts, "--epsilon", "0.5", "--budget", "1")
    assert Job.from_json(text).to_json() == text.strip()
    (place / "job.json").write_text(text)
    first, second = (
        json.loads(
            run(capsys, "release", place / "job.json", "--to", place / "release.json")
        )
        for _ in range(2)
    )
    assert first == second
    assert first["left_units"] == 5 * 10**11
    lines = json.loads(run(capsys, "ledger", "Visits"))
    assert [line["state"] for line in lines][-2:] == ["reserved", "committed"]
    assert run(capsys, "ledger", "Visits") == run(capsys, "ledger", "Visits")
    drawn = json.loads(
        run(
            capsys,
            "sample",
            place / "release.json",
            "--rows",
            1234,
            "--to",
            place / "drawn",
        )
    )
    assert drawn == {"rows": 1234}
    assert pq.read_table(place / "drawn").num_rows == 1234


@pytest.fixture
def released(place: Path) -> Path:
    """Return a file with a release."""
    release = dp.Curator.open(
        FRAME, SCHEMA, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    ).run(dp.Independent(columns=("age", "sex")), dp.PureDP(epsilon=1))
    (place / "one.json").write_text(release.to_json())
    return place / "one.json"


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_drawn_rows_in_one_file(
    place: Path, released: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    """Whoever needs a workbook would have to convert a folder of Parquet first."""
    file = place / f"drawn.{ending}"
    asked = ("sample", released, "--rows", 50, "--to", file)
    assert json.loads(run(capsys, *asked)) == {"rows": 50}
    drawn = dp.read_table(file.read_bytes(), file.name).frame
    assert drawn.shape == (50, 2)
    assert set(drawn["sex"].dropna()) <= {"F", "M"}
    # nothing that is there is overwritten
    assert commands.main([*map(str, asked)]) == 1
    assert "already" in capsys.readouterr().err
    many = ("sample", released, "--rows", 1_000_001, "--to", place / f"x.{ending}")
    assert commands.main([*map(str, many)]) == 1
    assert "1,000,000" in capsys.readouterr().err
    assert not (place / f"x.{ending}").exists()


def test_a_csv_for_the_spreadsheets_of_a_language(
    place: Path, released: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A German Excel would show one column, and other letters for ä."""
    for language, separator in (("de", b";"), ("en", b",")):
        file = place / f"{language}.csv"
        asked = ("sample", released, "--rows", 5, "--to", file, "--spreadsheet")
        run(capsys, "--language", language, *asked)
        assert file.read_bytes().startswith(b"\xef\xbb\xbfage" + separator)


def test_a_job_on_a_source_reads_it_once(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The stored release of a large table would take as long as a new one."""
    schema = replace(SCHEMA, unit=dp.PrivacyUnit(max_rows=2, id_column="who"))
    (place / "schema.json").write_text(schema.to_json())
    (place / "visits.parquet").write_bytes(PEOPLE)
    parts = ("--schema", place / "schema.json", "--recipe", place / "recipe.json")
    job = run(capsys, "job", "Visits", *parts, "--epsilon", "0.5", "--budget", "1")
    (place / "job.json").write_text(job)
    asked = ("release", place / "job.json", "--to", place / "release.json")
    first = run(capsys, *asked)
    made = (place / "release.json").read_text()
    (place / "visits.parquet").unlink()
    assert run(capsys, *asked) == first
    assert (place / "release.json").read_text() == made
    for change in ({"epsilon": "0.25"}, {"budget": "2"}):
        losses = {"epsilon": "0.5", "budget": "1"} | change
        options = [f"--{name}={value}" for name, value in losses.items()]
        (place / "job.json").write_text(run(capsys, "job", "Visits", *parts, *options))
        assert commands.main([*map(str, asked)]) == 1
        said = capsys.readouterr().err
        assert ("no file" if "epsilon" in change else "another budget") in said


def test_the_ledger_is_printed_without_what_rows_tell(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file's name, the sketch of its rows and what was declared of its columns
    would be on whatever the output is sent to.
    """
    file = place / "hiv-clinic.csv"
    FRAME.to_csv(file, index=False)
    curator = commands.find_and_open_table(
        str(file),
        dp.Schema.from_json((place / "schema.json").read_text()),
        dp.PureDP(epsilon=1),
        None,
        None,
    )
    assert curator is not None
    shown = run(capsys, "ledger", file)
    whole = run(capsys, "ledger", file, "--internal")
    assert len(json.loads(shown)) == len(json.loads(whole))
    assert "hiv-clinic" in whole
    assert "sketch" in whole
    assert "hiv-clinic" not in shown
    assert "sketch" not in shown


def test_audit_and_plan(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the pages do outside differential privacy would leave no line when a script
    does it, or a plan, whose hierarchies list values of suppressed rows, would go with
    the published files.
    """
    asked = ("Visits", "--schema", place / "schema.json", "--budget", "1")
    assert (
        json.loads(run(capsys, "audit", *asked, "--known", "age", "sex", "--internal"))[
            "k"
        ]
        == 50
    )
    said = json.loads(run(capsys, "audit", *asked))
    assert said["answer"] == "yes"
    assert "age and sex" in said["verdict"]
    plan = Plan(
        roles={"age": "quasi-identifier", "sex": "quasi-identifier"},
        hierarchies={},
        models=(KAnonymity(k=20),),
        method="mondrian",
    )
    (place / "plan.json").write_text(plan.to_json())
    run(
        capsys,
        "anonymize",
        *asked,
        "--plan",
        place / "plan.json",
        "--to",
        place / "anonymous",
    )
    assert pq.read_table(place / "anonymous").num_rows == 200
    assert [
        line["state"] for line in json.loads(run(capsys, "ledger", "Visits"))
    ].count("outside") == 5
    plan = Plan(
        roles={"age": "quasi-identifier", "sex": "insensitive"},
        hierarchies={
            "age": build_flat(
                [*map(str, range(20, 60, 10)), "a value of a suppressed row"]
            )
        },
        models=(KAnonymity(k=20),),
    )
    (place / "plan.json").write_text(plan.to_json())
    run(
        capsys,
        "anonymize",
        *asked,
        "--plan",
        place / "plan.json",
        "--to",
        place / "published",
    )
    (file,) = (place / "published").iterdir()
    table = pq.read_table(file).to_pandas()
    for ending in ("csv", "xlsx", "parquet"):
        single = place / f"single.{ending}"
        ways = (*asked, "--plan", place / "plan.json", "--to", single)
        assert json.loads(run(capsys, "anonymize", *ways)) == {"rows": len(table)}
        again = dp.read_table(single.read_bytes(), single.name).frame
        assert again.astype(str).equals(table.astype(str))
        assert b"suppressed row" not in single.read_bytes()
    assert set(pq.read_schema(single).metadata) == {b"guarantee"}
    footer = pq.read_schema(file).metadata
    assert set(footer) == {b"guarantee"}
    assert Guarantee.from_dict(json.loads(footer[b"guarantee"])).kind == "syntactic"
    assert b"suppressed row" not in file.read_bytes()


def test_an_audit_prints_whole_percents_and_bounded_counts(
    place: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The number of people, a group of three and a risk in 16 digits would stand in the
    log of a check.
    """
    people = pd.concat([FRAME[FRAME["age"] != 20], FRAME[FRAME["age"] == 20].head(3)])
    people.to_csv(place / "few.csv", index=False)
    asked = (
        "audit",
        place / "few.csv",
        "--schema",
        place / "schema.json",
        "--known",
        "age",
        "sex",
    )
    told = json.loads(run(capsys, *asked))
    assert not {"people", "classes"} & {*told}
    assert told["k"] == "fewer than 11"
    for name in (
        "uniques",
        "highest",
        "average",
        "lowest",
        "threshold",
        "above",
        "journalist",
        "marketer",
    ):
        assert re.fullmatch(r"\d+\u202f%|under 1 %|over 99 %", told[name]), told[name]
    assert told["highest"] == "33\u202f%"
    assert str(len(people)) not in json.dumps(told)
    internal = json.loads(run(capsys, *asked, "--internal"))
    assert (internal["people"], internal["k"], internal["highest"]) == (
        len(people),
        3,
        1 / 3,
    )


def test_a_plan_of_the_page_makes_its_table(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A data set of many columns, which pages open under zCDP, would have no command,
    or another table.
    """
    frame = pd.DataFrame(
        {"age": [20, 30, 40, 50] * 50, "ill": ["yes", "no", "no", "no", "yes"] * 40}
    )
    frame.to_csv(place / "ill.csv", index=False)
    schema = dp.suggest_schema(frame)
    (place / "ill.json").write_text(schema.to_json())
    curator = commands.find_and_open_table(
        str(place / "ill.csv"), schema, dp.ApproxDP(epsilon=2, delta="1e-9"), None
    )
    plan = Plan(
        roles={"age": "quasi-identifier", "ill": "sensitive"},
        hierarchies={"age": build_flat(["20", "30", "40", "50"])},
        models=(KAnonymity(k=20),),
        randomized={"ill": 0.5},
    )
    made = curator.anonymize(plan)
    (place / "plan.json").write_text(made.plan)
    asked = (
        "--schema",
        place / "ill.json",
        "--plan",
        place / "plan.json",
        "--to",
        place / "out",
    )
    run(capsys, "anonymize", place / "ill.csv", *asked)
    again = pd.read_parquet(place / "out")
    assert again.astype(str).equals(made.table.frame.astype(str))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_that_is_too_large_is_read_where_it_lies(
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    ending: str,
) -> None:
    """Whoever has 2 GB on a laptop was told of 50 MB; or all of it was in memory before
    that was said.
    """
    limit = len(FRAME)  # bytes
    monkeypatch.setattr(
        commands,
        "check_size",
        lambda size: check_size(size, limits=Limits(bytes=limit)),
    )
    monkeypatch.setattr(
        commands, "read_table", lambda *_: pytest.fail("it is read whole")
    )
    file = place / f"large.{ending}"
    FRAME.to_csv(file, index=False) if ending == "csv" else FRAME.to_parquet(file)
    asked = (file, "--schema", place / "schema.json", "--budget", "1")
    assert (
        json.loads(run(capsys, "audit", *asked, "--known", "age", "sex"))["k"] == "50"
    )
    text = run(
        capsys, "job", *asked, "--recipe", place / "recipe.json", "--epsilon", "0.5"
    )
    (place / "job.json").write_text(text)
    said = json.loads(
        run(capsys, "release", place / "job.json", "--to", place / "release.json")
    )
    assert said["left_units"] == 5 * 10**11
    counts = dp.read_release((place / "release.json").read_bytes()).table(("age",))
    assert abs(counts["rows"].sum() - len(FRAME)) < 120
    assert start.ledger().datasets() == [source_dataset(file.name)]
    (place / "large.xlsx").write_bytes(file.read_bytes())
    assert (
        commands.main(["audit", str(place / "large.xlsx"), *map(str, asked[1:])]) == 1
    )
    assert "has more than" in capsys.readouterr().err


def test_an_audit_of_a_large_file_asks_for_what_is_needed_and_tells_how_far_it_is(
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A column that nobody declared or asked for cost minutes and gigabytes, without a
    word in between.
    """
    pytest.importorskip("duckdb")
    frame = FRAME.assign(note=[f"note {each}" for each in range(len(FRAME))])
    file = place / "large.csv"
    frame.to_csv(file, index=False)
    monkeypatch.setattr(
        commands, "check_size", lambda size: check_size(size, limits=Limits(bytes=10))
    )
    monkeypatch.setattr(base, "MAX_ROWS_IN_MEMORY", 10)
    monkeypatch.setattr(many_texts, "MAX_DISTINCT_TEXTS", 100)
    monkeypatch.setattr(many_texts, "_PENDING_HASHES", 10)
    monkeypatch.setattr(commands, "PROGRESS_INTERVAL_SECONDS", 0.0)
    looked_at: list[tuple[str, ...]] = []
    coded = ArrowEngine.coded_rows

    def look(engine: ArrowEngine, columns: Sequence[str]) -> CodedRows:
        looked_at.append(tuple(columns))
        return coded(engine, columns)

    monkeypatch.setattr(ArrowEngine, "coded_rows", look)
    asked = ["audit", str(file), "--schema", str(place / "schema.json"), "--known"]
    assert commands.main([*asked, "age", "sex"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["k"] == "50"
    assert "200 rows read" in told.err.splitlines()
    assert [set(each) for each in looked_at] == [{"age", "sex"}]
    assert commands.main([*asked, "note"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["answer"] == "no"
    assert (
        "Column 'note' has more than 5,000,000 different values"
        in json.loads(told.out)["verdict"]
    )
    assert commands.main([*asked, "age", "note"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["answer"] == "no"
    assert "note" in said["verdict"]
    assert said["k"] == "50"


def test_where_people_sign_in_a_job_is_a_stewards(
    place: Path,
    capsys: pytest.CaptureFixture[str],
    write_secrets: Callable[[str], None],
) -> None:
    """The command line would give every table a second, full budget that is
    nobody's.
    """
    table = str(place / "visits.parquet")
    parts = ("--schema", place / "schema.json", "--recipe", place / "recipe.json")
    job = run(capsys, "job", table, *parts, "--epsilon", "1", "--budget", "1")
    (place / "job.json").write_text(job)
    asked = ("release", str(place / "job.json"), "--to", str(place / "release.json"))
    write_secrets(
        (
            '[auth]\ncookie_secret = "c"\n[roles]\nstewards = '
            '["*@example.org"]\nanalysts = ["ann@b.org"]'
        ),
    )
    for nobody in ((), ("--as", "ann@b.org"), ("--as", "eve@c.org")):
        assert commands.main([*asked, *nobody]) == 1
        words = capsys.readouterr().err
        assert "A steward is named" in words or "does not have the needed role" in words
    assert start.ledger().datasets() == []
    ada = ("--as", " Ada@example.org")
    run(capsys, *asked, *ada)
    page = commands.ledger_of(Person(address="ada@example.org", role="steward"))
    (dataset,) = start.ledger().datasets()
    assert dataset == dp.Curator.account_fingerprint(FRAME, page)
    assert page.is_mine(dataset)
    assert page.standing(dataset).balance.remaining_units == 0
    lines = json.loads(run(capsys, "ledger", table, *ada))
    assert {line["by"] for line in lines} == {"ada@example.org"}
    page.hand(dataset, "bob@example.org")  # and it stays one account
    run(capsys, *asked, "--as", "bob@example.org")
    assert start.ledger().datasets() == [dataset]


def test_a_source_is_read_under_the_key_of_whoever_opened_it(
    place: Path,
    capsys: pytest.CaptureFixture[str],
    write_secrets: Callable[[str], None],
) -> None:
    """Handed on, or in a script, other rows of a person would count: more than max_rows
    in one account.
    """
    write_secrets('[auth]\ncookie_secret = "c"\n[roles]\nstewards = ["*@example.org"]')
    ada, bob = (
        Person(address=f"{name}@example.org", role="steward") for name in ("ada", "bob")
    )
    curator = commands.find_and_open_table(
        "Visits", SCHEMA, dp.PureDP(epsilon=1), ada.address
    )
    key = commands.ledger_of(ada).key
    commands.ledger_of(ada).hand(curator.account.dataset, bob.address)
    source = commands.find_table("Visits", bob)
    assert isinstance(source, Source)
    dataset, theirs = commands.ledger_of(bob).account_of(source)
    assert (dataset, theirs.key) == (curator.account.dataset, key)
    assert commands.ledger_of(bob).key != key
    again = commands.find_and_open_table(
        "Visits", SCHEMA, dp.PureDP(epsilon=1), bob.address
    )
    assert again.ledger.key == key
    (place / "sources.toml").write_text(
        (place / "sources.toml").read_text() + 'people = ["ada@example.org"]\n',
    )
    assert (
        commands.main(["ledger", "Visits", "--as", bob.address]) == 1
    )  # as the pages show it to nobody else
    assert "nothing with this name" in capsys.readouterr().err


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
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
) -> None:
    """A traceback in a batch log helps nobody, and may quote a value."""
    monkeypatch.chdir(place)
    assert commands.main(words) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err
    assert said.err.strip()


def test_a_folder_is_whole_or_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a table under its final name would be taken for the table."""
    table = PublicTable(FRAME)
    assert folders.write_folder([table, table], tmp_path / "out") == 400
    with pytest.raises(ParameterError, match="something with the name"):
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


def test_a_table_that_looks_like_one_on_file_is_asked_about(
    place: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One cell changed, or a column renamed, gave a full budget for the same people
    without a question.
    """
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"age": rng.integers(0, 99, 300), "sex": rng.choice(["F", "M"], 300)}
    )
    frame["place"] = rng.integers(0, 10**6, 300)
    frame.to_csv(place / "people.csv", index=False)
    frame.loc[0, "age"] += 1
    frame.to_csv(place / "again.csv", index=False)
    parts = ("--schema", str(place / "schema.json"), "--budget", "1", "--known", "age")
    run(capsys, "audit", place / "people.csv", *parts)
    run(capsys, "audit", place / "people.csv", *parts)  # the same account
    before = start.ledger().datasets()
    again = ("audit", str(place / "again.csv"), *parts)
    assert commands.main(again) == 1
    said = capsys.readouterr().err
    assert "This looks like people.csv, opened on" in said
    assert "--new-account" in said
    assert start.ledger().datasets() == before
    run(capsys, *again, "--new-account", "same")
    assert len(start.ledger().datasets()) == len(before) + 1
    lines = json.loads(run(capsys, "ledger", place / "again.csv", "--internal"))
    assert [line["people"] for line in lines if "people" in line] == ["same"]
    assert [line["alike"] for line in lines if "alike" in line] == before
    run(capsys, *again)  # it has an account now
    assert len(start.ledger().datasets()) == len(before) + 1
    page = commands.ledger_of(LOCAL_PERSON)
    third = frame.drop(index=5)
    # what a command opened is known on the page, too
    sketched = SketchedTable.from_frame(third, page.key)
    assert likeness.find_similar_table([("third.csv", sketched)], page) is not None


UNITS = st.builds(
    dp.PrivacyUnit,
    max_rows=st.integers(1, 5) | st.integers(1, 10**9),
    id_column=st.sampled_from([None, "age", "sex", "who"]),
)


@examples(
    30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(declared=UNITS | st.none(), unit=UNITS)
def test_the_unit_of_a_source_reaches_the_ledger(
    place: Path,
    declared: dp.PrivacyUnit | None,
    unit: dp.PrivacyUnit,
) -> None:
    """At most 3 rows a person would be charged as one, by a schema file that says less
    than the list.
    """
    name = uuid.uuid4().hex
    (place / "people.parquet").write_bytes(PEOPLE)
    text = (
        f'[[source]]\nname = "{name}"\nkind = "parquet"\nlocation = '
        f'"{place}/people.parquet"\n'
    )
    if declared is not None:
        (place / "declared.json").write_text(replace(SCHEMA, unit=declared).to_json())
        text += f'schema = "{place}/declared.json"\n'
    (place / "sources.toml").write_text(text)
    job = Job(
        table=name,
        schema=replace(SCHEMA, unit=unit),
        budget=dp.PureDP(epsilon=1),
        recipe=dp.Histogram("age"),
        loss=dp.PureDP(epsilon=1),
    )
    (place / "job.json").write_text(job.to_json())
    ended = commands.main(
        ["release", str(place / "job.json"), "--to", str(place / "r.json")]
    )
    if declared is None or unit.covers(declared):
        assert ended == 0
        account = start.ledger().account(f"source {name}")
        assert account is not None
        assert dp.PrivacyUnit.from_dict(account.unit) == unit
        release = dp.read_release(place / "r.json")
        assert release.guarantee.unit == str(unit)
        assert release.schema.unit == unit
    else:
        assert ended == 1
        assert start.ledger().account(f"source {name}") is None


def test_links_are_made_listed_and_revoked(
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A link of a script would show another release than the ledger has, or could not
    be taken back.
    """
    shares = Shares(start.ledger()._store)
    monkeypatch.setattr(start, "shares", lambda: shares)
    parts = ("--schema", place / "schema.json", "--recipe", place / "recipe.json")
    (place / "job.json").write_text(
        run(capsys, "job", "Visits", *parts, "--epsilon", "0.5", "--budget", "1")
    )
    made = json.loads(
        run(capsys, "release", place / "job.json", "--to", place / "release.json")
    )
    asked = (
        "link",
        "Visits",
        "--release",
        made["request_id"],
        "--title",
        "Visits of 2024",
    )
    answer = json.loads(run(capsys, *asked, "--gives", "counts"))
    token = answer["address"].removeprefix("share/")
    shown = shares.page_of(shares.open(token, None) or "")
    assert json.loads(shown.text)["request_id"] == made["request_id"]
    assert shown.contents == {"counts"}
    (listed,) = json.loads(run(capsys, "link", "Visits"))["links"]
    assert (listed["title"], listed["ended"], listed["opened"]) == (
        "Visits of 2024",
        "",
        0,
    )
    (listed,) = json.loads(run(capsys, "link", "Visits", "--revoke", listed["id"]))[
        "links"
    ]
    assert listed["ended"] == "revoked"
    assert shares.open(token, None) is None
    assert (
        commands.main(["link", "Visits", "--release", "nothing", "--title", "x"]) == 1
    )
    assert "Traceback" not in capsys.readouterr().err


CANARIES = [
    "Xanthippe Quisling",
    "77031-canary",
    "1931",
    "Coos-canary",
    "canary@example.org",
]


@pytest.fixture
def hospital(place: Path) -> Path:
    """A table of a hospital that violates several clauses, with texts that occur
    nowhere else.
    """
    rows = [f"NH,{CANARIES[3]},{CANARIES[2]},{CANARIES[0]},{CANARIES[1]},{CANARIES[4]}"]
    rows += [
        f"VT,Coos,19{60 + i % 30},Person Number{'abcdef'[i % 6]},{i},none"
        for i in range(60)
    ]
    file = place / "hospital.csv"
    file.write_text(
        "\n".join(["state,county,birth_year,patient_name,visit_code,remark", *rows])
    )
    return file


ATTESTED = 'rule = "{rule}"\n' + "".join(
    f'["{clause}"]\nanswer = "{{answer}}"\nby = "Ada Byron"\non = 2026-11-01\n'
    for clause in ("(i)(R)", "(ii)")
)


@pytest.mark.parametrize(
    ("columns", "answer", "code"),
    [
        ("state,county", "yes", 1),
        ("state", "yes", 0),
        ("state", "no", 1),
        ("state", None, 2),
    ],
)
def test_a_check_ends_with_the_code_of_its_result(
    place: Path,
    capsys: pytest.CaptureFixture[str],
    columns: str,
    answer: str | None,
    code: int,
) -> None:
    """A data team's check would let a violation through, or an open question."""
    (place / "table.csv").write_text(
        "\n".join([columns, *[",".join("NH" for _ in columns.split(","))] * 30])
    )
    words = ["audit", str(place / "table.csv"), "--rule", "hipaa-safe-harbor"]
    if answer is not None:
        (place / "answers.toml").write_text(
            ATTESTED.format(rule="hipaa-safe-harbor", answer=answer)
        )
        words += ["--attested", str(place / "answers.toml")]
    assert commands.main(words) == code
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Read: column names from line 1, encoding utf-8")
    assert lines[1] == "This is not legal advice and not an expert determination."
    assert len(lines) == 4 + 19
    assert commands.main([*words, "--json"]) == code
    assert json.loads(capsys.readouterr().out)["code"] == code


def test_a_check_says_what_was_read(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cover sheet passed the check of 200 numbers on the second sheet."""
    file = place / "two.xlsx"
    file.write_bytes(workbook([["Read me"], ["See sheet 2"]], SHEET))
    check = ("audit", file, "--rule", "hipaa-safe-harbor")
    commands.main([str(word) for word in check])
    assert "sheet S2" in capsys.readouterr().out
    commands.main([str(word) for word in (*check, "--json")])
    assert "sheet S2" in json.loads(capsys.readouterr().out)["read"][0]


def test_a_command_gives_no_second_reading_a_budget(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each sheet of one file, or each way to read it, would have a budget."""
    smaller = [["age", "sex", "city"], *SHEET[1:31]]
    file = place / "two.xlsx"
    file.write_bytes(workbook(smaller, SHEET))
    schema = dp.Schema(
        columns=(dp.Categorical("sex", categories=("F", "M")),),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    (place / "sex.json").write_text(schema.to_json())
    asked = ["audit", str(file), "--schema", str(place / "sex.json"), "--known", "sex"]
    assert commands.main([*asked, "--sheet", "S2"]) == 0
    capsys.readouterr()
    assert commands.main([*asked, "--sheet", "S2"]) == 0
    capsys.readouterr()
    assert commands.main([*asked, "--sheet", "S1"]) == 1
    assert "one budget" in capsys.readouterr().err


def test_a_command_asks_which_of_several_sheets_is_meant(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another sheet than the one that is meant would get the verdict."""
    file = place / "two.xlsx"
    smaller = [["pay", "sex", "town"], *SHEET[1:31]]
    file.write_bytes(workbook(smaller, SHEET))
    check = ["audit", str(file), "--rule", "hipaa-safe-harbor"]
    assert commands.main(check) == 3
    refused = capsys.readouterr().err
    assert "S2, S1" in refused
    assert "--sheet" in refused
    commands.main([*check, "--sheet", "S1"])
    assert "sheet S1" in capsys.readouterr().out


def test_commands_read_a_file_as_they_are_told(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that was read wrong could not be read right by a command, or the next
    command read it wrong again.
    """
    file = place / "polish.csv"
    rows = "Łódź;1,5\nKraków;2,25\nGdańsk;3,5\n" * 20
    file.write_bytes(("by us\n" + rows).encode("cp1250"))
    schema = dp.Schema(
        columns=(dp.Categorical("miasto", categories=("Łódź", "Kraków", "Gdańsk")),),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    (place / "town.json").write_text(schema.to_json())
    asked = ["audit", file, "--schema", place / "town.json", "--known", "miasto"]
    options = ["--encoding", "cp1250", "--separator", ";", "--decimal", ","]
    options += ["--header", "no", "--skip", "1", "--names", "miasto", "cena"]
    options += ["--dates", "day-first"]
    said = json.loads(run(capsys, *asked, *options))["read"]
    assert "encoding cp1250" in said[0]
    assert "no line with column names" in said[0]
    # what was said is kept: without a word the file is read so again
    again = json.loads(run(capsys, *asked))["read"]
    assert again[0] == said[0]
    assert commands.main([*map(str, asked), "--encoding", "cp1252"]) == 1
    assert "with other options: encoding" in capsys.readouterr().err
    tabs = place / "tabs.csv"
    tabs.write_text("miasto\tcena\n" + "Łódź\t1\nKraków\t2\nGdańsk\t3\n" * 9)
    run(capsys, "audit", tabs, *asked[2:], "--separator", "tab")


def test_a_command_charges_the_account_of_an_earlier_version(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read by the rules of today, the file had a new account with a whole budget."""
    load(place / "before", "fa2511dd")
    store = Store(Settings(data_dir=place / "before", key=KEY))
    ledger = SqlLedger(store)
    monkeypatch.setattr(start, "ledger", lambda: ledger)
    monkeypatch.setattr(start, "owners", lambda: Owners(store))
    before = sorted(ledger.datasets())
    schema = dp.Schema(
        columns=(
            dp.Categorical("region", categories=("r0", "r1", "r2", "r3", "Total")),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    (place / "region.json").write_text(schema.to_json())
    asked = ["--schema", place / "region.json", "--known", "region"]
    # twin: one cell more is another file, and is asked about
    (place / "months.csv").write_bytes(MONTHS + b"r1,1,\n")
    assert commands.main(["audit", *map(str, [place / "months.csv", *asked])]) == 1
    assert "which an earlier version opened" in capsys.readouterr().err
    (place / "months.csv").write_bytes(MONTHS)
    run(capsys, "audit", place / "months.csv", *asked)
    run(capsys, "audit", place / "months.csv", *asked)
    assert sorted(ledger.datasets()) == before


@pytest.mark.parametrize(
    "words",
    [
        ["--rule", "no-such-rule"],
        ["--rule", "hipaa-safe-harbor", "--attested", "{place}/schema.json"],
        ["--rule", "hipaa-safe-harbor", "--attested", "{place}/nowhere.toml"],
        ["--rule", "hipaa-safe-harbor", "--no-such-option"],
        ["--rule", "maximum-risk", "--known", "no such column"],
        [
            "--rule",
            "maximum-risk",
            "--known",
            "county",
            "--secret",
            "county",
            "patient_name",
            "--as",
            "a@b.org",
        ],
    ],
)
def test_a_check_that_cannot_run_is_no_result(
    place: Path,
    hospital: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
) -> None:
    """What could not be measured would be taken for a violation, an open question or a
    pass.
    """
    given = [each.format(place=place) for each in words]
    assert commands.main(["audit", str(hospital), *given]) == 3
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err
    assert not any(each in shown.err for each in CANARIES)


def test_an_unforeseen_error_is_no_violation(
    hospital: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A traceback ends with 1, which is the code of a violation, and may quote a
    value.
    """

    def fails(*_given: object, **_named: object) -> None:
        raise KeyError(CANARIES[0])

    monkeypatch.setattr(commands, "judge_clauses", fails)
    assert commands.main(["audit", str(hospital), "--rule", "hipaa-safe-harbor"]) == 3
    shown = capsys.readouterr()
    assert not any(each in shown.out + shown.err for each in CANARIES)
    assert commands.main(["audit", str(hospital)]) == 1  # neither a schema nor a rule


@pytest.mark.parametrize("rule", list_criteria())
def test_no_value_of_the_table_is_in_any_output(
    place: Path,
    hospital: Path,
    capsys: pytest.CaptureFixture[str],
    rule: str,
) -> None:
    """The log of a build server would publish a patient; without --internal, even which
    columns there are.
    """
    (place / "answers.toml").write_text(ATTESTED.format(rule=rule, answer="yes"))
    columns = ["county", "birth_year", "patient_name", "visit_code", "remark"]
    texts = {True: "", False: ""}
    for internal in texts:
        for form in ((), ("--json",), ("--html", str(place / "report.html"))):
            words = [
                "audit",
                str(hospital),
                "--rule",
                rule,
                *form,
                *(["--internal"] if internal else []),
            ]
            assert commands.main(words) in (0, 1, 2)
            shown = capsys.readouterr()
            texts[internal] += shown.out + shown.err
        texts[internal] += (place / "report.html").read_text()
    assert not any(each in texts[True] + texts[False] for each in CANARIES)
    assert not any(each in texts[False] for each in columns)
    assert not any(
        word in texts[True] + texts[False] for word in ("compliant", "anonymous")
    )
    assert "Internal" in texts[True]
    assert "Internal" not in texts[False]
    if rule == "hipaa-safe-harbor":
        assert all(each in texts[True] for each in columns[:3])
        assert "county: 61 people" in texts[True]
        assert "remark: fewer than 11 people" in texts[True]


def test_a_check_of_a_table_on_file_leaves_a_line(
    place: Path,
    hospital: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What is internal would be looked at without a trace; and a check alone would open
    an account.
    """
    check = ("audit", str(hospital), "--rule", "hipaa-safe-harbor")
    assert commands.main([*check]) == 1
    assert start.ledger().datasets() == []
    (place / "stays.json").write_text(
        dp.suggest_schema(pd.read_csv(hospital)).to_json()
    )
    capsys.readouterr()
    run(
        capsys, "audit", hospital, "--schema", place / "stays.json", "--known", "county"
    )
    assert commands.main([*check]) == 1
    capsys.readouterr()
    lines = json.loads(run(capsys, "ledger", hospital))
    assert lines[-1]["evaluation"] == "published criterion"
    assert "about" not in lines[-1], "the columns that were proposed follow the rows"


def test_the_server_is_started_with_what_was_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An option of the command would not reach the server, or Streamlit would ask for
    an address of e-mail at its first start.
    """
    started: list[tuple[list[str], dict[str, str]]] = []

    def execve(program: str, words: list[str], environment: dict[str, str]) -> None:
        assert program == words[0] == sys.executable
        started.append((words, environment))
        raise SystemExit(0)  # as this process ends there

    monkeypatch.setattr(os, "execve", execve)
    for name in ("WORKBENCH_DEMO", "WORKBENCH_FILES"):
        monkeypatch.delenv(name, raising=False)
    port = str(free_port())
    options: list[list[str]] = [
        [],
        ["--demo", "--no-browser"],
        ["--files", str(tmp_path)],
    ]
    for words in options:
        with pytest.raises(SystemExit):
            commands.main(["serve", "--port", port, *words])
    opens, demo, files = started
    assert opens[0][1:4] == ["-m", "streamlit", "run"]
    assert Path(opens[0][4]).samefile(settings.APP_FOLDER / "app.py")
    assert {f"--server.port={port}", "--server.showEmailPrompt=false"} <= {*opens[0]}
    assert "--server.headless=false" in opens[0]
    assert "--server.headless=true" in demo[0]
    assert demo[1]["WORKBENCH_DEMO"] == "1"
    assert files[1]["WORKBENCH_FILES"] == str(tmp_path)
    for _, environment in (opens, files):
        assert "WORKBENCH_DEMO" not in environment
    assert all(environment["PYTHONMALLOC"] == "malloc" for _, environment in started)


@pytest.mark.parametrize("port", ["70000", "-1"])
def test_a_port_that_is_none_is_refused(
    port: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A traceback of the socket."""
    assert commands.main(["serve", f"--port={port}"]) == 1
    assert f"Port {port} cannot be used." in capsys.readouterr().err


def test_prove_bounds_the_loss_of_a_recipe(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command would prove nothing, or be taken for an answer about the rows: it
    needs no table and leaves no account.
    """
    words = ["prove", "--schema", str(place / "schema.json")]
    words += ["--recipe", str(place / "recipe.json"), "--epsilon", "3", "--runs", "40"]
    assert commands.main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["unit"] == "epsilon"
    assert 1 < found["proved_loss"] <= found["stated_loss"] == 3
    assert found["runs_per_side"] == 20
    assert not found["refuted"]
    assert [each["false_alarms"] for each in found["curve"]][:2] == [0.01, 0.05]
    assert commands.main([*words, "--delta", "1e-6"]) == 0
    assert json.loads(capsys.readouterr().out)["unit"] == "mu"
    assert not start.ledger().datasets()


def test_prove_ends_with_1_if_the_noise_is_too_small(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script would go on with noise that keeps no promise."""
    monkeypatch.setattr(
        measurer, "add_discrete_laplace", lambda counts, **given: counts.copy()
    )
    words = ["prove", "--schema", str(place / "schema.json"), "--epsilon", "1"]
    words += ["--recipe", str(place / "recipe.json"), "--runs", "40"]
    assert commands.main(words) == 1
    assert json.loads(capsys.readouterr().out)["refuted"]


AGE = {"column": "age", "values_are_public": True}
"""A column of a plan whose values may be seen."""


def test_an_exact_table_is_published_once_and_refused_where_it_tells(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """0 published, 1 refused, 2 bad input; a refused table leaves no folder."""
    ages = [20] * 60 + [30] * 50 + [40] * 40 + [50] * 4
    sexes = ["F", "M"] * 77
    pd.DataFrame({"age": ages, "sex": sexes}).to_csv(place / "people.csv", index=False)
    parts = ("--schema", place / "schema.json", "--plan", place / "plan.json", "--to")

    def tables(folder: str, **plan: object) -> int:
        (place / "plan.json").write_text(json.dumps(plan))
        asked = ("tables", place / "people.csv", *parts, place / folder)
        return commands.main([*map(str, asked)])

    assert tables("first", columns=[AGE, "sex"], rule="cms") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["attacked with"] == []
    assert told["summary"] == "pass"
    assert "fewer people" not in str(told), "a log is read by many"
    assert told.keys() & {"checks", "told before"} == set()
    lines = (place / "first" / "table.csv").read_text().splitlines()
    assert lines[0] == "age × sex,Total,F,M"
    assert lines[-1].startswith("50,x,x")
    assert "values" not in (place / "first" / "table.json").read_text()
    report = (place / "first internal.html").read_text()
    assert "fewer people than the rule requires" in report
    assert (
        "fewer people than the rule requires"
        not in (place / "first" / "table.html").read_text()
    )
    # the ages alone, by a rule that shows what is hidden in the first table
    code = tables("second", columns=[AGE], rule={"threshold": 3})
    out, err = capsys.readouterr()
    assert code == 0
    assert json.loads(out)["attacked with"] == ["age × sex"]
    assert (place / "second" / "table.csv").read_text().splitlines()[-1] == "50,x"
    code = tables("third", columns=[AGE], rule={"threshold": 500})
    out, err = capsys.readouterr()
    assert code == 1
    assert "fewer people than the rule requires in one cell, 500" in err
    assert not (place / "third").exists()
    for bad in ({"threshold": 1}, "no such rule"):
        assert tables("fourth", columns=[AGE], rule=bad) == 2
    assert tables("fourth", columns=["color"], rule="cms") == 2
    assert tables("first", columns=[AGE], rule="cms") == 2
    assert commands.main(["tables"]) == 2
    capsys.readouterr()
    lines = json.loads(run(capsys, "ledger", place / "people.csv"))
    assert [line.get("exact table") for line in lines].count("published") == 2


def test_a_rounded_table_is_published_by_its_plan(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The plan names the base; every file says it, and the report alone has the truth."""
    ages = [20] * 60 + [30] * 51 + [40] * 40 + [50] * 4
    sexes = ["F", "M", "M", "F", "M"] * 31
    pd.DataFrame({"age": ages, "sex": sexes}).to_csv(place / "people.csv", index=False)

    def tables(folder: str, base: int) -> int:
        plan = {"columns": [AGE], "rule": "cms", "rounding_base": base}
        (place / "plan.json").write_text(json.dumps(plan))
        asked = ("--schema", place / "schema.json", "--plan", place / "plan.json")
        words = ("tables", place / "people.csv", *asked, "--to", place / folder)
        return commands.main([*map(str, words)])

    assert tables("first", 15) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["rounded to multiples of"], told["hidden"]) == (15, 0)
    heading, *lines = (place / "first" / "table.csv").read_text().splitlines()
    assert heading == "age (rounded to multiples of 15),people"
    counts = [int(line.rpartition(",")[2]) for line in lines]
    assert counts[0] == sum(counts[1:]) == 150
    assert all(count % 15 == 0 for count in counts)
    page = (place / "first" / "table.html").read_text()
    assert "All counts are rounded up or down to multiples of 15." in page
    assert "155" not in page
    assert "155" not in (place / "first" / "table.json").read_text()
    assert "155" in (place / "first internal.html").read_text()
    assert tables("second", 11) == 2
    assert "from 12 to" in capsys.readouterr().err
    assert tables("second", 20) == 1
    assert "multiples of the same number: 15" in capsys.readouterr().err


def test_several_exact_tables_are_published_together(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The plans come in several files, or in one list; all are published, or none."""
    ages = [20] * 60 + [30] * 50 + [40] * 40 + [50] * 4
    frame = pd.DataFrame({"age": ages, "sex": ["F", "M"] * 77})
    frame.to_csv(place / "people.csv", index=False)
    both = {"columns": [AGE, "sex"], "rule": "cms"}
    alone = {"columns": [AGE], "rule": "cms"}
    large = {"columns": ["sex"], "rule": {"threshold": 500}}

    def tables(folder: str, *plans: object) -> int:
        files = []
        for number, plan in enumerate(plans):
            file = place / f"plan {number}.json"
            file.write_text(json.dumps(plan))
            files += ["--plan", file]
        parts = ("--schema", place / "schema.json", *files, "--to", place / folder)
        return commands.main([*map(str, ("tables", place / "people.csv", *parts))])

    assert tables("none", [alone, both], large) == 1
    assert not (place / "none").exists()
    assert tables("none", []) == 2
    capsys.readouterr()
    assert tables("first", alone, both) == 0
    told = json.loads(capsys.readouterr().out)["tables"]
    assert [one["columns"] for one in told] == [["age"], ["age", "sex"]]
    assert [one["attacked with"] for one in told] == [["age × sex"], ["age"]]
    assert sorted(file.name for file in (place / "first").iterdir()) == [
        f"table {number}.{ending}"
        for number in (1, 2)
        for ending in ("csv", "html", "json")
    ]
    assert (place / "first" / "table 1.csv").read_text().splitlines()[-1] == "50,x"
    for one in told:
        assert Path(one["table"]).exists()
        assert Path(one["report"]).exists()
    lines = json.loads(run(capsys, "ledger", place / "people.csv"))
    assert [line.get("exact table") for line in lines].count("published") == 2


def test_an_exact_table_is_attacked_with_those_of_the_same_people(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same people with one more column are another account, whose table would
    show what the first one hides.
    """
    frame = pd.DataFrame(
        {
            "age": [20] * 60 + [30] * 50 + [40] * 40 + [50] * 4,
            "sex": ["F", "M"] * 77,
            "place": np.random.default_rng(3).permutation(154),
        }
    )
    frame.to_csv(place / "people.csv", index=False)
    frame.assign(more=frame["place"] % 7).to_csv(place / "again.csv", index=False)
    schema = ("--schema", place / "schema.json")

    def tables(file: str, folder: str, plan: object, *more: str) -> dict[str, Any]:
        (place / "plan.json").write_text(json.dumps(plan))
        parts = ("--plan", place / "plan.json", "--to", place / folder)
        return dict(
            json.loads(run(capsys, "tables", place / file, *schema, *parts, *more))
        )

    tables("people.csv", "first", {"columns": [AGE, "sex"], "rule": "cms"})
    lax = {"columns": [AGE], "rule": {"threshold": 3}}
    told = tables("again.csv", "second", lax, "--new-account", "same")
    assert told["attacked with"] == ["age × sex (people.csv)"]
    assert told["compared with"] == []
    assert (place / "second" / "table.csv").read_text().splitlines()[-1] == "50,x"


def test_what_a_solver_prints_is_no_part_of_the_answer(
    place: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script that reads the answer as JSON would stop at the line of a library."""
    pd.DataFrame({"age": [20, 30] * 60, "sex": ["F"] * 120}).to_csv(
        place / "people.csv", index=False
    )
    (place / "plan.json").write_text(json.dumps({"columns": [AGE], "rule": "cms"}))
    make = dp.Curator.make_exact_tables

    def printing(*given: Any, **named: Any) -> Any:
        os.write(1, b"of the solver\n")
        return make(*given, **named)

    monkeypatch.setattr(dp.Curator, "make_exact_tables", printing)
    parts = ("--schema", place / "schema.json", "--plan", place / "plan.json")
    words = ("tables", place / "people.csv", *parts, "--to", place / "folder")
    assert commands.main([*map(str, words)]) == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["hidden"] == 0
    assert "of the solver" in err


@pytest.fixture
def two_files(place: Path) -> tuple[object, ...]:
    """Two linked files, and what is asked of them."""
    rng = np.random.default_rng(1)
    people = pd.DataFrame(
        {
            "id": [f"{place:04d}" for place in range(400)],
            "age": rng.integers(0, 20, 400),
            "sex": rng.choice(["F", "M"], 400),
        }
    )
    events = pd.DataFrame(
        {
            "person": rng.choice([*people["id"], "stranger"], 900),
            "town": rng.choice([*"abc"], 900),
            "pay": rng.integers(0, 10, 900),
        }
    )
    people.to_csv(place / "people.csv", index=False)
    events.to_csv(place / "events.csv", index=False)
    (place / "linked.json").write_text(linked_schema(4).to_json())
    return (
        "linked",
        place / "people.csv",
        place / "events.csv",
        *("--schema", place / "linked.json"),
    )


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_two_linked_files_make_two_files(
    place: Path,
    two_files: tuple[object, ...],
    capsys: pytest.CaptureFixture[str],
    ending: str,
) -> None:
    """Whoever has people and their events would have to write a script."""
    asked = (*two_files, "--epsilon", "2", "--budget", "3", "--delta", "1e-9")
    folder = place / "drawn"
    options = ("--format", ending, "--rows", 50, "--internal")
    told = json.loads(run(capsys, *asked, "--to", folder, *options))
    assert told["people"] == 50
    assert told["internal"]["people"] == 400
    drawn = {
        name: dp.read_table(
            (folder / f"{name}.{ending}").read_bytes(), f"{name}.{ending}"
        ).frame
        for name in ("people", "events")
    }
    assert len(drawn["people"]) == 50
    assert len(drawn["events"]) == told["events"]
    assert set(drawn["events"]["person"]) <= set(drawn["people"]["id"])
    made = LinkedRelease.from_json((folder / "release.json").read_text())
    stated = (folder / "guarantee.json").read_text()
    assert stated == linked_guarantee_json(made), "the page writes it otherwise"
    assert json.loads(stated)["guarantee"]["loss"] == told["loss"]
    # a second time it is free, and nothing that is there is overwritten
    again = json.loads(run(capsys, *asked, "--to", place / "again"))
    assert again["request_ids"] == told["request_ids"]
    assert again["left_units"] == told["left_units"]
    assert "internal" not in again
    assert commands.main([*map(str, asked), "--to", str(folder)]) == 1
    assert "there already" in capsys.readouterr().err


def test_two_linked_files_have_one_budget(
    place: Path, two_files: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Another reading of the same files would have a budget of its own."""
    to = ("--to", place / "drawn")
    run(capsys, *two_files, "--epsilon", "0.5", *to)
    for words, problem in (
        (("--epsilon", "0.6"), "only epsilon 0.5 is left"),
        (("--epsilon", "0.1", "--header", "no"), "read with other options"),
        (("--epsilon", "0.1", "--budget", "4"), "budget"),
    ):
        asked = [*two_files, *words, "--to", place / "more"]
        assert commands.main([*map(str, asked)]) == 1
        assert problem in capsys.readouterr().err
        assert not (place / "more").exists()
    # one of the files alone looks like a table on file
    (place / "schema.json").write_text(linked_schema().people.to_json())
    alone = ["audit", place / "people.csv", "--schema", place / "schema.json"]
    assert commands.main([*map(str, alone)]) == 1
    assert "same people" in capsys.readouterr().err
    run(capsys, *alone, "--new-account", "same")


@pytest.mark.parametrize("changed", ["people", "events"])
def test_a_pair_with_one_known_file_is_asked_about(
    place: Path,
    two_files: tuple[object, ...],
    capsys: pytest.CaptureFixture[str],
    changed: str,
) -> None:
    """Half of the people with the same events would get a second budget unasked."""
    run(capsys, *two_files, "--epsilon", "0.5", "--to", place / "drawn")
    before = start.ledger().datasets()
    for name in ("people", "events"):
        rows = pd.read_csv(place / f"{name}.csv", dtype={"id": str, "person": str})
        step = 2 if name == changed else 1
        rows.iloc[::step].to_csv(place / f"new_{name}.csv", index=False)
    files = (place / "new_people.csv", place / "new_events.csv")
    asked = ("linked", *files, *two_files[3:], "--epsilon", "0.5")
    asked = (*asked, "--to", place / "more")
    assert commands.main([*map(str, asked)]) == 1
    same = "new_events.csv" if changed == "people" else "new_people.csv"
    assert f"{same} looks like a file of people.csv" in capsys.readouterr().err
    assert start.ledger().datasets() == before
    run(capsys, *asked, "--new-account", "same")
    ledger = commands.ledger_of(LOCAL_PERSON)
    (new,) = {*ledger.datasets()} - {*before}
    assert same_people(new, ledger) == before
    # twin: a pair with its own account is not asked about
    run(capsys, *asked[:-1], place / "again")


def test_a_file_that_was_opened_alone_is_of_the_same_people(
    place: Path, two_files: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Exact tables of the people alone and of the pair would not be attacked
    together.
    """
    (place / "schema.json").write_text(linked_schema().people.to_json())
    run(capsys, "audit", place / "people.csv", "--schema", place / "schema.json")
    ledger = commands.ledger_of(LOCAL_PERSON)
    (alone,) = ledger.datasets()
    run(capsys, *two_files, "--epsilon", "0.5", "--to", place / "drawn")
    assert len(same_people(alone, ledger)) == 1


def test_the_job_of_two_linked_files_is_run(
    place: Path, two_files: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """A pair that was planned without rows could be released by no command."""
    schema = linked_schema(4)
    loss = dp.ApproxDP(epsilon="1", delta="1e-9")
    job = LinkedJob(
        tables=(str(place / "people.csv"), str(place / "events.csv")),
        schema=schema,
        budget=dp.ApproxDP(epsilon="3", delta="1e-9"),
        people_recipe=propose_recipe(schema.people_view),
        events_recipe=propose_recipe(schema.events_view),
        loss=loss,
    )
    assert read_job(job.to_json()) == job
    (place / "job.json").write_text(job.to_json())
    made = place / "release.json"
    told = json.loads(run(capsys, "release", place / "job.json", "--to", made))
    pair = LinkedRelease.from_json(made.read_text())
    assert told["loss"] == pair.guarantee.loss
    spent = pair.total_loss.rho
    assert abs(float(spent) / float(loss.rho) - 1) < 1e-6
    # a second time it is free
    again = json.loads(run(capsys, "release", place / "job.json", "--to", made))
    assert again == told
    drawn = place / "drawn"
    asked = ("sample", made, "--rows", 30)
    assert json.loads(run(capsys, *asked, "--to", drawn))["people"] == 30
    people, events = (
        pd.read_parquet(drawn / f"{name}.parquet") for name in ("people", "events")
    )
    assert {*events["person"]} <= {*people["id"]}
    for name, problem in (("drawn", "there already"), ("one.csv", "two files")):
        assert commands.main([*map(str, asked), "--to", str(place / name)]) == 1
        assert problem in capsys.readouterr().err


@pytest.mark.parametrize(
    "change",
    [
        {"tables": ["people.csv"]},
        {"recipes": []},
        {"recipes": [{"kind": "marginals", "cliques": [["sex"]]}] * 2},
        {"job": 2},
        {"linked": {}},
    ],
    ids=str,
)
def test_a_job_of_two_tables_that_is_none_is_refused(change: dict[str, object]) -> None:
    """Half a job would be run, or end in a traceback."""
    schema = linked_schema(4)
    job = LinkedJob(
        tables=("people.csv", "events.csv"),
        schema=schema,
        budget=dp.PureDP(epsilon="3"),
        people_recipe=propose_recipe(schema.people_view),
        events_recipe=propose_recipe(schema.events_view),
        loss=dp.PureDP(epsilon="1"),
    )
    changed = json.loads(job.to_json()) | change
    with pytest.raises(dp.DpcoreError):
        read_job(json.dumps(changed))


def test_linked_sources_are_read_where_they_are(
    place: Path, two_files: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Two connected tables could not be released together."""
    lines = []
    for name in ("people", "events"):
        frame = pd.read_csv(place / f"{name}.csv", dtype={"id": str, "person": str})
        frame.to_parquet(place / f"{name}.parquet")
        lines += [
            "[[source]]",
            f'name = "{name}"',
            'kind = "parquet"',
            f'location = "{place}/{name}.parquet"',
        ]
    (place / "sources.toml").write_text("\n".join(lines))
    words = ("--schema", place / "linked.json", "--epsilon", "1")
    told = json.loads(
        run(capsys, "linked", "people", "events", *words, "--to", place / "drawn")
    )
    assert told["left_units"] == 0


def test_linked_files_are_a_data_set_of_the_ledger(
    place: Path, two_files: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """The page of the ledger would end in an error, or not show what was charged."""
    run(capsys, *two_files, "--epsilon", "0.5", "--internal", "--to", place / "drawn")
    own = commands.ledger_of(LOCAL_PERSON)
    (dataset,) = own.datasets()
    data_set = find_data_set(dataset, own)
    assert data_set is not None
    assert data_set.unit.max_rows == 4
    assert len(list_charges(data_set)) == 2
    assert "linked by id, person" in str(list_notes(data_set).to_dict())
    assert list_not_covered(data_set)
    assert json.loads(export_lines(data_set))
    first, second = (
        data_set.release(line.request_id)
        for line in data_set.lines()
        if line.state == "committed"
    )
    assert {first.schema.unit.id_column, second.schema.unit.id_column} == {
        "id",
        "person",
    }


def test_linked_files_that_were_handed_on_keep_their_budget(
    place: Path,
    two_files: tuple[object, ...],
    capsys: pytest.CaptureFixture[str],
    write_secrets: Callable[[str], None],
) -> None:
    """A colleague would have a second budget for the same two files."""
    write_secrets(
        '[auth]\ncookie_secret = "c"\n[roles]\nstewards = ["*@example.org"]\n'
    )
    asked = (*two_files, "--epsilon", "1")
    assert commands.main([*map(str, asked), "--to", str(place / "nobody")]) == 1
    assert "A steward is named" in capsys.readouterr().err
    first = json.loads(
        run(capsys, *asked, "--as", "ada@example.org", "--to", place / "first")
    )
    ada = commands.ledger_of(Person(address="ada@example.org", role="steward"))
    (dataset,) = ada.datasets()
    ada.hand(dataset, "bob@example.org")
    second = json.loads(
        run(capsys, *asked, "--as", "bob@example.org", "--to", place / "second")
    )
    assert second["request_ids"] == first["request_ids"]
    assert second["left_units"] == 0
