"""A connected source that does not fit, on every page: what counts and samples tell,
and what is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from dpcore.engines import base
from tests.pages.tab import Tab
from workbench import session
from workbench.server.workers.callbacks import cancelled_error
from workbench.session.run import Run
from workbench.store import settings
from workbench.synthesize.script import job_of, write_job_notebook
from workbench.upload import opening

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
def cancelled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whoever is told that rows are read wants none of them.

    How many are told, and whether any, hangs on which thread reads them.
    """

    def tell(rows: int) -> None:
        raise cancelled_error()

    with monkeypatch.context() as patched:
        patched.setattr(opening, "report_rows", tell)
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


def test_two_sources_are_linked_on_the_command_line(source: Tab) -> None:
    """Somebody would look for a field that a source has no use for."""
    source.press("Show its first rows")
    assert "python -m workbench linked" in source.text
    assert not [
        each for each in source.at.file_uploader if str(each.key).startswith("second")
    ]


LISTEN = Run.note_rows
