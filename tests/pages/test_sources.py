"""A connected source that does not fit, on every page: what counts and samples tell,
and what is written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import duckdb
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from psycopg.conninfo import conninfo_to_dict

from dpcore.accounting.loss import loss_from_fields
from dpcore.accounting.memory import MemoryLedger
from dpcore.curator import Curator, LinkedCurator
from dpcore.curator import linked as linked_curator
from dpcore.engines import base
from dpcore.evaluation.table.cells_of_numbers import search_loss
from dpcore.schema import Categorical, PrivacyUnit, Schema
from dpcore.schema.source import Source
from dpcore.synthesis import LinkedRelease
from dpcore.tables.rows import Microdata
from tests.contracts.engine_kinds import write_to_postgres
from tests.needs import need_postgres
from tests.pages.tab import Tab
from tests.pages.test_linked import PAGES, answer, patients, say_cap, stays
from tests.truth import reports
from workbench import session
from workbench.server.workers.callbacks import cancelled_error
from workbench.session.run import Run
from workbench.store import settings
from workbench.synthesize.script import job_of, write_job_notebook
from workbench.upload import linked, opening

ROWS = 3_000


@pytest.fixture
def source(app: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tab:
    """A tab on the Data page of a server with one source of 3,000 rows, of which 2,999
    fit.
    """
    (tmp_path / "visits").mkdir()
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 60, ROWS),
            "sex": rng.choice(["F", "M"], ROWS),
            "job": rng.choice(["nurse", "cook", "clerk"], ROWS),
        },
    )
    frame.to_parquet(tmp_path / "visits" / "a.parquet", row_group_size=500)
    (tmp_path / "sources.toml").write_text(
        (
            '[[source]]\nname = "Visits"\nkind = "parquet"\nlocation = '
            f'"{tmp_path}/visits"\n'
        ),
    )
    monkeypatch.setenv("WORKBENCH_SOURCES", str(tmp_path / "sources.toml"))
    monkeypatch.setenv("WORKBENCH_OUTPUT", str(tmp_path / "out"))
    settings.read_settings.cache_clear()
    monkeypatch.setattr(base, "MAX_ROWS_IN_MEMORY", ROWS - 1)
    return app.go("upload")


@contextmanager
def cancelled(
    monkeypatch: pytest.MonkeyPatch, where: ModuleType = opening
) -> Iterator[None]:
    """Whoever is told that rows are read wants none of them.

    How many are told, and whether any, hangs on which thread reads them.
    """

    def tell(rows: int) -> None:
        raise cancelled_error()

    with monkeypatch.context() as patched:
        patched.setattr(where, "report_rows", tell)
        yield


def test_a_file_is_opened_where_it_lies(
    app: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has 2 GB on a laptop was told of 50 MB, or of a list in TOML."""
    assert "make app FILES=folder" in app.text
    (tmp_path / "tables").mkdir()
    file = tmp_path / "tables" / "large.csv"
    file.write_text("age,sex\n" + "31,F\n45,M\n" * 30)
    monkeypatch.setenv("WORKBENCH_FILES", str(tmp_path / "tables"))
    settings.read_settings.cache_clear()
    app.go("upload").press("Show its first rows")
    app.open_draft()
    assert app.errors == ""
    assert app.curator.account.source == "large.csv"
    app.press("Open another table")
    file.rename(tmp_path / "elsewhere.csv")
    file.symlink_to(tmp_path / "elsewhere.csv")
    app.press("Show its first rows")
    assert "no file where the source should be" in app.errors


def test_a_source_on_every_page(
    source: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What does not fit would end in errors, in figures of a part that pass for all, or
    in half a table.
    """
    assert "Each row is computed from the rows of one person only" in source.text
    app = source.press("Show its first rows")
    with cancelled(monkeypatch):
        app.open_draft()
    assert "stopped before it was finished" in app.errors
    assert app.session.curator is None
    assert app.session.draft is not None
    app.press("Open the data set")
    assert app.errors == ""
    curator = app.curator

    app.go("synthesize").release()
    assert app.errors == ""
    release = curator.release(app.session.runs.shown_request_id)
    assert app.session.data_set is not None
    cells = json.loads(write_job_notebook(*job_of(app.session.data_set, release)))[
        "cells"
    ]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names: dict[str, object] = {}
    with monkeypatch.context() as patched:
        patched.chdir(tmp_path)  # where it writes the release
        exec("\n".join(code), names)  # as Jupyter runs it
    assert names["release"].guarantee == release.guarantee
    app.at.number_input(key="folder-rows").set_value(1234).run()
    app.press("Write a table of any size")
    assert app.errors == ""
    (drawn,) = (tmp_path / "out").iterdir()
    assert pq.read_table(drawn).num_rows == 1234
    app.press("Write a table of any size")
    assert "with the name of this folder exists" in app.errors
    app.set("text_input", "Name of the new folder", "../elsewhere").press(
        "Write a table of any size"
    )
    assert "1 to 80 characters\\: letters" in app.errors
    assert not (tmp_path / "elsewhere").exists()

    app.go("evaluate")
    assert "Counts of all rows" in app.text
    assert "More than 2,999 rows" in app.errors
    app.press("Use the first 100,000 rows instead")
    assert app.errors == ""
    assert "Results that need rows use the first 100,000 rows" in app.text
    assert "More than 2,999 rows" not in app.go("anonymize").text
    assert "Results that need rows use the first 100,000 rows" in app.text
    app.press("Make the anonymized table")
    assert "More than 2,999 rows" in app.errors
    app.press("Use all rows again")

    before = len(curator.lines())
    with monkeypatch.context() as patched:
        patched.setattr(
            session, "make_cancel_poll", lambda: lambda: True
        )  # the tab was closed
        assert "stopped before it was finished" in app.go("audit").errors
    app.go("audit")
    assert app.errors == ""
    assert len(curator.lines()) > before
    app.go("anonymize")
    assert "More than 2,999 rows" in app.errors
    app.set("text_input", "Name of the new folder", "visits").press(
        "Write a table of any size"
    )
    assert [path.name for path in (tmp_path / "out").iterdir() if path != drawn] == [
        "visits"
    ]
    assert pq.read_table(tmp_path / "out" / "visits").num_rows <= ROWS

    def half() -> bool:  # a folder is being written: now somebody presses Stop
        return any((tmp_path / "out").glob(".*.unfinished"))

    with monkeypatch.context() as patched:
        patched.setattr(session, "make_cancel_poll", lambda: half)
        app.set("text_input", "Name of the new folder", "half").press(
            "Write a table of any size"
        )
        assert "stopped before it was finished" in app.errors
        app.go("synthesize").set("text_input", "Name of the new folder", "half").press(
            "Write a table of any size",
        )
        assert "stopped before it was finished" in app.errors
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        drawn.name,
        "visits",
    }

    left = curator.balance().remaining_units
    with monkeypatch.context() as patched:
        patched.setattr(
            Run,
            "note_rows",
            lambda run, rows: run.stop_requested.set() or LISTEN(run, rows),
        )
        app.go("synthesize").press("Release something else").press("Draw again for")
        app.press("Pay and release").settle()
    assert "stopped before it was finished" in app.errors
    assert [line.state for line in curator.lines()][-2:] == ["reserved", "failed"]
    assert curator.balance().remaining_units < left


def write_pair(app: Tab, place: Path, *entries: str) -> Tab:
    """Connect patients, stays and other sources; the Data page is open."""
    texts = [
        f'[[source]]\nname = "{name}"\nkind = "parquet"\n'
        f'location = "{place}/{name}.parquet"\n'
        for name in ("patients", "stays")
    ]
    (place / "sources.toml").write_text("\n".join([*texts, *entries]))
    settings.read_settings.cache_clear()
    return app.go("upload")


@pytest.fixture
def pair_of_sources(
    app: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Tab, Path]:
    """Two connected tables about the same people, in Parquet.

    The first rows of the stays are of the last patients, so that the first rows of both
    have no key in common.
    """
    people = patients(1_500)
    people.to_parquet(tmp_path / "patients.parquet")
    stays(people).iloc[::-1].to_parquet(tmp_path / "stays.parquet")
    monkeypatch.setenv("WORKBENCH_SOURCES", str(tmp_path / "sources.toml"))
    return write_pair(app, tmp_path), tmp_path


def link(app: Tab, first: str = "patients", second: str = "stays") -> Tab:
    """Show the first rows of a source, and link another with it."""
    app.at.button(key=f"source-{first}").click().run()
    return app.set("selectbox", "The second source", second).press("Link both")


@pytest.mark.parametrize("is_turned", [False, True])
def test_two_sources_are_linked(
    pair_of_sources: tuple[Tab, Path], is_turned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two connected tables could be released together on the command line alone."""
    app, place = pair_of_sources
    link(app, *(("stays", "patients") if is_turned else ("patients", "stays")))
    assert app.errors == ""
    assert "How the tables belong together" in app.text
    pair = app.session.linked_draft
    assert pair is not None
    assert pair.people.name == "patients"
    assert (pair.people_key, pair.events_key) == ("patient", "patient")
    # the first rows tell nothing of what does not fit: all keys are read first
    assert not [each for each in app.at.radio if each.label.startswith("Keys such")]
    assert app.button("Open the data set").disabled
    app.press("Read the keys")
    assert app.errors == ""
    assert "patients, 1,500 rows" in app.text
    answer(say_cap(app, 3))
    # the first rows tell nothing of the bounds: all rows are searched, with noise
    assert "Found privately" in app.text
    with cancelled(monkeypatch, linked):
        app.press("Open the data set")
    assert "stopped before it was finished" in app.errors
    assert app.session.linked is None
    app.press("Open the data set")
    assert app.errors == ""
    assert app.session.linked is not None
    assert app.session.linked.linked.events.column("nights").found
    rule = app.curator.rule
    of_search = search_loss(loss_from_fields(app.curator.account.promise))
    assert app.curator.balance().spent == rule.to_units(rule.convert(of_search))
    assert app.session.linked.count_rows().content.people == 1_500
    account = app.curator.account
    assert account.source == "patients + stays"
    # the command finds the same account
    sources = [
        Source(name=name, kind="parquet", location=name)
        for name in ("patients", "stays")
    ]
    assert account.dataset == LinkedCurator.account_name(*sources, MemoryLedger())
    for page in PAGES:
        assert app.go(page).errors == ""
    app.go("synthesize").release()
    assert app.errors == ""
    # a new tab, or tomorrow: both are linked again, and nothing is asked
    app.session.open_tables.clear()
    app.go("audit")
    assert "in the connected sources patients and stays" in app.text
    app.go("upload").press("Open another table")
    link(app)
    assert app.errors == ""
    assert app.curator.account == account
    app.go("codebook").press("Declare it anew").go("upload")
    link(app)
    assert app.errors == ""
    assert app.session.linked_draft is not None
    assert "Found privately" not in app.text
    assert place.is_dir()


def test_the_program_of_linked_sources_runs(
    pair_of_sources: tuple[Tab, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release of two sources would have no program, or one with their addresses."""
    app, place = pair_of_sources
    offered = reports.downloads(monkeypatch)
    link(app).press("Read the keys")
    answer(say_cap(app, 3)).press("Open the data set").go("synthesize").release()
    text = offered["Script (Python)"].decode()
    assert str(place) not in text
    monkeypatch.chdir(place)
    exec(text, {})
    again = LinkedRelease.from_json((place / "linked-release.json").read_text())
    # its ledger did not pay for the search of cells, so that it promises less
    assert not again.guarantee.found
    assert "nights" in again.guarantee.from_data
    lines = app.curator.lines()
    made = [line.request_id for line in lines if line.state == "committed"]
    assert again.people.recipe == app.curator.release(made[-2]).recipe


def test_sources_of_other_people_are_not_opened(
    pair_of_sources: tuple[Tab, Path],
) -> None:
    """Two sources would be filed for good under keys of different things."""
    app, place = pair_of_sources
    events = stays(patients(1_500))
    events["patient"] = "q" + events["patient"]
    events.to_parquet(place / "stays.parquet")
    link(app).press("Read the keys")
    say_cap(app, 3)
    assert "No event belongs to a person" in app.errors
    assert app.button("Open the data set").disabled


def test_sources_that_are_too_large_to_be_linked(
    pair_of_sources: tuple[Tab, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server would run out of memory by a table that is read whole."""
    app, _place = pair_of_sources
    monkeypatch.setattr(linked_curator, "MAX_ROWS_IN_MEMORY", 1_499)
    link(app).press("Read the keys")
    assert "More than 1,499 rows" in app.errors
    assert app.button("Open the data set").disabled
    monkeypatch.setattr(linked_curator, "MAX_ROWS_IN_MEMORY", 10**6)
    app.press("Read the keys")
    assert app.errors == ""


def test_what_a_source_declares_of_its_people_holds_in_a_pair(
    pair_of_sources: tuple[Tab, Path],
) -> None:
    """The operator's word on who is protected would be weakened by a second source."""
    app, place = pair_of_sources
    declared = Schema(
        columns=(Categorical("ward", categories=("A", "B", "C")),),
        unit=PrivacyUnit(max_rows=5, id_column="patient"),
    )
    (place / "schema.json").write_text(declared.to_json())
    text = (place / "sources.toml").read_text()
    (place / "sources.toml").write_text(f'{text}schema = "{place}/schema.json"\n')
    settings.read_settings.cache_clear()
    link(app.go("upload")).press("Read the keys")
    assert app.errors == ""
    answer(say_cap(app, 3)).press("Open the data set")
    assert "weaker" in app.errors or "declare" in app.errors
    assert app.session.linked is None
    say_cap(app, 5).press("Open the data set")
    assert app.errors == ""
    assert app.session.linked is not None


def test_a_table_of_spark_is_not_linked(
    pair_of_sources: tuple[Tab, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody would wait for a table that does not fit, or not know why it is not
    offered.
    """
    app, place = pair_of_sources
    spark = '[[source]]\nname = "large"\nkind = "spark"\nlocation = "large"\n'
    write_pair(app, place, spark)
    app.at.button(key="source-patients").click().run()
    assert app.button("Link both").disabled, "nothing is chosen"
    (field,) = [
        each for each in app.at.selectbox if each.label.startswith("The second source")
    ]
    assert field.options == ["stays"]
    first_rows = Microdata(patients(), key=b"")
    monkeypatch.setattr(Curator, "look", lambda source, rows, on_rows: first_rows)
    app.press("Open another table")
    app.at.button(key="source-large").click().run()
    assert app.errors == ""
    assert "Tables of Spark are too large to be linked here" in app.text
    assert "Link both" not in [each.label for each in app.at.button]


def test_one_source_alone_has_none_beside_it(
    pair_of_sources: tuple[Tab, Path],
) -> None:
    """Somebody would choose from an empty list."""
    app, place = pair_of_sources
    text = (place / "sources.toml").read_text().partition("\n\n")[0]
    (place / "sources.toml").write_text(text)
    settings.read_settings.cache_clear()
    app.go("upload")
    app.at.button(key="source-patients").click().run()
    assert "No other source is connected" in app.text


@pytest.fixture(scope="module")
def postgres_entries() -> Iterator[list[str]]:
    """Patients and stays in PostgreSQL, as entries of a list of sources.

    It is made before any test takes DATABASE_URL away. The password stands in a
    variable of its own, as the entries of an operator's list ask for it.
    """
    need_postgres()
    here = conninfo_to_dict(os.environ["DATABASE_URL"])
    location = " ".join(
        f"{name}={here[name]}"
        for name in ("host", "port", "dbname", "user")
        if name in here
    )
    people = patients()
    entries = [
        f'[[source]]\nname = "{name}"\nkind = "postgres"\n'
        f'location = "{location}"\npassword = "SOURCES_PASSWORD"\n'
        f'table = "{write_to_postgres(table)}"\n'
        for name, table in (("patients", people), ("stays", stays(people)))
    ]
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SOURCES_PASSWORD", str(here.get("password", "")))
        yield entries


def release_pair(app: Tab, place: Path, entries: list[str]) -> Tab:
    """Link two connected tables of a list, and release both."""
    (place / "sources.toml").write_text("\n".join(entries))
    settings.read_settings.cache_clear()
    link(app.go("upload")).press("Read the keys")
    answer(say_cap(app, 3)).press("Open the data set")
    assert app.errors == ""
    app.go("synthesize").release()
    assert app.errors == ""
    assert app.session.linked is not None
    assert app.session.linked.count_rows().content.people == 300
    return app


def test_two_tables_of_duckdb_are_linked(
    app: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two tables in one file of a database would be read as one, or as none."""
    people = patients()
    monkeypatch.setenv("WORKBENCH_SOURCES", str(tmp_path / "sources.toml"))
    entries = []
    with duckdb.connect(str(tmp_path / "both.duckdb")) as connection:
        for name, table in (("patients", people), ("stays", stays(people))):
            connection.register("rows", table)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM rows")
            entries.append(
                f'[[source]]\nname = "{name}"\nkind = "duckdb"\n'
                f'location = "{tmp_path}/both.duckdb"\ntable = "{name}"\n'
            )
    release_pair(app, tmp_path, entries)


def test_two_tables_of_postgres_are_linked(
    postgres_entries: list[str],
    app: Tab,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A hospital's database would have to be written into files first."""
    monkeypatch.setenv("WORKBENCH_SOURCES", str(tmp_path / "sources.toml"))
    release_pair(app, tmp_path, postgres_entries)


LISTEN = Run.note_rows
