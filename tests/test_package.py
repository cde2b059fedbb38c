"""What `pip install .` gives: the library alone, typed, with its version."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import dpcore
from tests.architecture.modules import ROOT

WITHOUT_THE_APP = """
import sys

for name in ("streamlit", "altair", "sqlalchemy", "psycopg"):
    sys.modules[name] = None  # as if it were not installed
import pandas as pd
import dpcore as dp
from dpcore.anonymization import KAnonymity, Plan, apply
from dpcore.evaluation import range_query
from dpcore.io import read_table, to_csv
from dpcore.risk import column_sets

assert "installed" in dp.__file__, dp.__file__
frame = read_table(b"age,sex\\n" + b"30,F\\n41,M\\n" * 50, "people.csv").frame
schema = dp.Schema(
    columns=(dp.Integer("age", low=0, high=99), dp.Categorical("sex", categories=("F", "M"))),
    unit=dp.PrivacyUnit(max_rows=1),
)
curator = dp.Curator.open(frame, schema, budget=dp.PureDP(epsilon="3"), ledger=dp.MemoryLedger())
release = curator.run(dp.Adaptive(), loss=dp.PureDP(epsilon="1"))
print(dp.__version__, len(release.sample(rows=10)), range_query(frame, "age", 30, 31))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"  # setuptools leaves a build folder beside what it builds
    source.mkdir()
    for name in ("dpcore", "README.md", "pyproject.toml"):
        (source / name).symlink_to(ROOT / name)
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    subprocess.run(
        [*command, "--quiet", "--wheel-dir", str(folder), str(source)],
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_library_and_nothing_else(wheel: Path) -> None:
    """A module would be missing once installed, or the pages come along without what
    they need.
    """
    with zipfile.ZipFile(wheel) as files:
        names = {name for name in files.namelist() if ".dist-info/" not in name}
    assert names == {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "dpcore").rglob("*")
        if path.suffix in (".py", ".toml") or path.name == "py.typed"
    }


def test_the_wheel_works_without_the_pages(wheel: Path, tmp_path: Path) -> None:
    """A script elsewhere would need Streamlit, or a file of this checkout."""
    with zipfile.ZipFile(wheel) as files:
        files.extractall(tmp_path / "installed")
    (tmp_path / "empty").mkdir()
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_APP],
        cwd=tmp_path / "empty",
        env={"PYTHONPATH": str(tmp_path / "installed"), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == [dpcore.__version__, "10", "50"]


def test_there_is_one_version(wheel: Path) -> None:
    """Two places for a version disagree sooner or later."""
    assert wheel.name.startswith(f"privacy_workbench-{dpcore.__version__}-")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    assert "version" in project["dynamic"]


def test_every_requirement_is_pinned_and_allowed() -> None:
    """An installed library would need another version than the one that was tested."""
    from packaging.requirements import Requirement

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    lines = [
        line
        for name in sorted(path.name for path in ROOT.glob("requirements*.txt"))
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines()
        if "==" in line
    ]
    pinned = {
        each.name: str(each.specifier).removeprefix("==")
        for each in map(Requirement, lines)
    }
    wanted = project["dependencies"] + [
        each for extra in project["optional-dependencies"].values() for each in extra
    ]
    for each in map(Requirement, wanted):
        assert each.specifier.contains(pinned[each.name]), each.name
