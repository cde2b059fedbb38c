"""The wheel of this checkout, and an environment in which it alone is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from tests.architecture.modules import ROOT

TAKEN = (
    "dpcore",
    "workbench",
    "pages",
    "app.py",
    ".streamlit",
    "setup.py",
    "README.md",
    "pyproject.toml",
)
"""What is built: a folder of links to these, as a build leaves files beside them."""
_PIP = [sys.executable, "-m", "pip"]
_OFFLINE = ["--no-deps", "--no-index", "--quiet", "--disable-pip-version-check"]


def build_wheel(folder: Path) -> Path:
    """Build the wheel in a folder."""
    source = folder / "source"
    source.mkdir()
    for name in TAKEN:
        (source / name).symlink_to(ROOT / name)
    _call(
        [*_PIP, "wheel", *_OFFLINE, "--no-build-isolation"],
        ["--wheel-dir", str(folder), str(source)],
    )
    (built,) = folder.glob("*.whl")
    return built


def install_wheel(wheel: Path, folder: Path) -> Path:
    """Install a wheel in a new environment, and return the folder of its programs.

    Packages of others are those of this environment, so that nothing is fetched.
    `test_the_wheel_asks_for_what_the_app_needs` compares the list of them.
    """
    venv.create(folder, symlinks=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    _call(
        [*_PIP, "--python", str(programs / "python")],
        ["install", *_OFFLINE, str(wheel)],
    )
    return programs


def environment_of(home: Path) -> dict[str, str]:
    """Return the environment of somebody else, in whose home nothing of ours is."""
    names = ("PATH", "LANG", "SYSTEMROOT")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return {**kept, "HOME": str(home), "OMP_NUM_THREADS": "1"}


def _call(program: list[str], words: list[str]) -> None:
    done = subprocess.run(
        [*program, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
