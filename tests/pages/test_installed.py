"""An empty environment with the wheel: its command, and every program of the pages.

Nothing of the checkout is there.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from tests.pages.tab import Tab
from tests.pages.test_plan import planned
from tests.ports import free_port
from tests.truth.reports import downloads
from tests.wheel import build_wheel, environment_of, install_wheel
from tests.workbench.server.web.client import Visitor, wait_for
from workbench import __main__ as commands
from workbench.learn.lessons import LESSONS

pytestmark = pytest.mark.proof
PROGRAMS = ("Script (Python)", "Notebook")
OWN = "\n".join(
    [
        "Name;Alter;Geschlecht;Gehalt",
        *(
            f"Person {i};{20 + i % 50};{'F' if i % 3 else 'M'};{1 + i % 7}.{i % 9}00,50"
            for i in range(400)
        ),
    ]
).encode("cp1252")
"""A file as a spreadsheet of Germany writes it."""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the wheel and nothing else of ours."""
    folder = tmp_path_factory.mktemp("installed")
    return install_wheel(build_wheel(folder), folder / "environment")


@pytest.fixture
def run(programs: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """Run a program of the environment in a folder of its own."""
    (tmp_path / "elsewhere").mkdir()

    def call(name: str, *words: str, **settings: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [programs / name, *words],
            cwd=tmp_path / "elsewhere",
            env=environment_of(tmp_path) | settings,
            capture_output=True,
            text=True,
            timeout=1_000,
            check=False,
        )

    return call


@contextmanager
def serving(
    programs: Path, folder: Path, *words: str, **settings: str
) -> Iterator[str]:
    """The server as `privacy-workbench serve` starts it; the name and port."""
    port = free_port()
    log = folder / "log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            [programs / "privacy-workbench", "serve", "--port", str(port), *words],
            cwd=folder,
            env=environment_of(folder) | settings,
            stdout=out,
            stderr=out,
        )
    try:
        wait_for(f"127.0.0.1:{port}")
        yield f"127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(60)
    assert server.returncode in (0, -15), log.read_text()
    assert "Traceback" not in log.read_text()


def test_the_command_lists_every_command(run) -> None:
    """`pip install` gave no command at all."""
    told = run("privacy-workbench", "--help")
    assert told.returncode == 0, told.stderr
    for command in commands.COMMANDS:
        assert f"    {command.__name__} " in told.stdout
        each = run("privacy-workbench", command.__name__, "--help")
        assert each.returncode == 0, each.stderr
        assert each.stdout.startswith(f"usage: privacy-workbench {command.__name__} ")
    as_module = run("python", "-m", "workbench", "--help")
    assert as_module.stdout == told.stdout


def test_one_command_serves_the_samples(programs: Path, tmp_path: Path) -> None:
    """The pages would look for files of the checkout, or keep the ledger beside the
    code, where the next version removes it.
    """
    with serving(programs, tmp_path, "--no-browser") as host:
        visitor = Visitor(host).run()
        assert visitor.elements("file_uploader")
        visitor.press("Open this sample").press("Open the data set")
        assert "The data set is open" in visitor.text()
        for page in ("audit", "synthesize", "ledger", "learn"):
            assert "An unexpected error occurred" not in visitor.go(page).text()
    assert (tmp_path / ".privacy-workbench" / "workbench.sqlite").exists()


def test_a_demo_keeps_nothing_and_takes_no_files(
    programs: Path, tmp_path: Path
) -> None:
    """A demo that anybody starts would hold their ledger, or take a table."""
    with serving(programs, tmp_path, "--demo", "--no-browser") as host:
        visitor = Visitor(host).run()
        assert "This is a demo" in visitor.text()
        assert not visitor.elements("file_uploader")
    assert not (tmp_path / ".privacy-workbench").exists()


@pytest.mark.parametrize("words", [(), ("--no-browser",), ("--files", "files")])
def test_the_browser_is_opened_once_the_pages_answer(
    programs: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """A person would look at an empty window, or a token would be in the list of
    processes, where other accounts read it.
    """
    (tmp_path / "files").mkdir()
    opener = tmp_path / "bin" / "xdg-open"
    opener.parent.mkdir()
    opener.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/opened\n')
    opener.chmod(0o755)
    path = f"{opener.parent}:{os.environ['PATH']}"
    with serving(programs, tmp_path, *words, PATH=path) as host:
        end = time.monotonic() + (300 if not words else 3)
        while time.monotonic() < end and not (tmp_path / "opened").exists():
            time.sleep(0.1)
        if words:
            assert not (tmp_path / "opened").exists()
        else:
            assert (tmp_path / "opened").read_text() == f"http://{host}/\n"
    if "--files" in words:
        assert f"Open http://{host}/?token=" in (tmp_path / "log").read_text()


def test_what_keeps_it_from_starting_is_one_sentence(run, tmp_path: Path) -> None:
    """A traceback, or an exit code of 0, where a port is in use or a folder may not be
    written.
    """
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        told = run("privacy-workbench", "serve", "--port", port)
    assert told.returncode == 1
    assert told.stderr == (
        f"Port {port} cannot be used. Stop the program that uses it, or name another "
        "one by --port.\n"
    )
    assert told.stdout == ""
    (tmp_path / "file").touch()
    free = ("serve", "--no-browser", "--port", str(free_port()))
    told = run("privacy-workbench", *free, WORKBENCH_DATA_DIR=str(tmp_path / "file"))
    assert told.returncode != 0
    assert "The server cannot start: " in told.stderr + told.stdout
    assert "cannot write to the data folder" in told.stderr + told.stdout
    assert "Traceback" not in told.stderr + told.stdout
    told = run("privacy-workbench", *free, "--files", str(tmp_path / "nowhere"))
    assert told.returncode != 0
    assert "The server cannot start: " in told.stderr + told.stdout
    assert "Traceback" not in told.stderr + told.stdout


def runs(run, label: str, content: bytes, folder: Path) -> pd.DataFrame:
    """Run a downloaded program; return the table that it wrote."""
    text = content.decode()
    if label == "Notebook":
        cells = json.loads(text)["cells"]
        code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        text = "\n".join("".join(lines) for lines in code)
    for old in folder.glob("*.csv"):
        if old.name != "table.csv":
            old.unlink()
    (folder / "program.py").write_text(text, encoding="utf-8")
    done = run("python", "program.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") > 3
    (written,) = [each for each in folder.glob("*.csv") if each.name != "table.csv"]
    table = pd.read_csv(written)
    assert len(table)
    return table


CARDS = (
    "A whole table",
    "One column",
    "A few columns",
    "A table for learning",
    "Mean and median",
)


@pytest.mark.parametrize(
    "sample", ["Census", "Hospital visits", "Customers", "Patients in China"]
)
def test_programs_of_a_sample_run(
    app: Tab, run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sample: str
) -> None:
    """Scripts of samples ended with "No module named 'workbench'"."""
    app.press(f"Open this sample: {sample}").open_draft().go("synthesize")
    offered = downloads(monkeypatch)
    app.release()
    for label in PROGRAMS:
        runs(run, label, offered[label], tmp_path / "elsewhere")


@pytest.mark.parametrize("card", CARDS)
def test_programs_of_an_own_file_run(
    app: Tab, run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, card: str
) -> None:
    """A downloaded program would read the file otherwise than the page did."""
    app.upload(OWN, "Gehälter.csv").open_draft().go("synthesize").press(card)
    if card == "A few columns":
        app.set("multiselect", "Columns", ["Alter", "Geschlecht"])
    offered = downloads(monkeypatch)
    app.release()
    (tmp_path / "elsewhere" / "table.csv").write_bytes(OWN)
    for label in PROGRAMS:
        assert "Gehälter" not in offered[label].decode()
        table = runs(run, label, offered[label], tmp_path / "elsewhere")
        if card == "A whole table":
            assert {"Alter", "Geschlecht", "Gehalt"} <= set(table.columns)
            # the program draws noise of its own: 15 rows are its standard deviation
            assert abs(len(table) - 400) < 200


def test_the_program_of_a_plan_runs(
    app: Tab, run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whoever may not upload a table would have a script that fails beside it."""
    offered = downloads(monkeypatch)
    planned(app).press("See what you would get").go("synthesize")
    rows = [f"{20 + i % 50};{'F' if i % 3 else 'M'};x" for i in range(200)]
    text = "\n".join(["age;sex;name", *rows])
    (tmp_path / "elsewhere" / "table.csv").write_text(text)
    content = offered["Script (Python)"]
    assert len(runs(run, "Script (Python)", content, tmp_path / "elsewhere")) == 1_000


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_notebook_of_a_lesson_runs(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lesson: str
) -> None:
    """A notebook of a lesson would need a file of the checkout."""

    from workbench.learn.view import notebook_cells

    (tmp_path / "elsewhere" / "lesson.py").write_text("\n".join(notebook_cells(lesson)))
    done = run("python", "lesson.py")
    assert done.returncode == 0, done.stderr
