"""What `pip install .` gives: the whole product, typed, with its version.

The command and the pages of an installed wheel are in `tests/pages/test_installed.py`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import dpcore
from tests.architecture.modules import ROOT
from tests.wheel import build_wheel

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
    return build_wheel(tmp_path_factory.mktemp("wheel"))


def files_of(top: str) -> set[str]:
    """The files of a package that git keeps, but for the tools of its translations."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", top],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    names = {name for name in listed.stdout.split("\0") if (ROOT / name).is_file()}
    return {name for name in names if not name.endswith("babel.cfg")}


def test_the_wheel_holds_the_product_under_two_names(wheel: Path) -> None:
    """A module, a picture or a sample would be missing once installed, or a package
    named `pages` would be there for everybody.
    """
    with zipfile.ZipFile(wheel) as files:
        names = {name for name in files.namelist() if ".dist-info/" not in name}
    top = {
        f"workbench/installed/{name}"
        for name in ("app.py", ".streamlit/config.toml", *files_of("pages"))
    }
    assert names == files_of("dpcore") | files_of("workbench") | top
    assert {name.partition("/")[0] for name in names} == {"dpcore", "workbench"}
    assert {"dpcore/py.typed", "workbench/py.typed"} <= names


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


def test_the_wheel_asks_for_what_the_app_needs() -> None:
    """One install gave a library whose command ended with "No module named
    'streamlit'".
    """
    from packaging.requirements import Requirement

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pinned = {Requirement(line).name for line in lines if "==" in line}
    assert {Requirement(each).name for each in project["dependencies"]} == pinned


def test_versions_of_python_are_those_that_are_tested() -> None:
    """A version would be promised that nobody tried, or tried and not promised."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    (workflow,) = (ROOT / ".github" / "workflows").glob("*.yml")
    tested = re.findall(
        r'"(3\.\d+)"', re.findall(r"^ +python: \[.*\]$", workflow.read_text(), re.M)[0]
    )
    named = [
        each.removeprefix("Programming Language :: Python :: ")
        for each in project["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", each)
    ]
    assert named == tested
    last = f"3.{int(tested[-1].partition('.')[2]) + 1}"
    assert project["requires-python"] == f">={tested[0]},<{last}"
    assert "Typing :: Typed" in project["classifiers"]
