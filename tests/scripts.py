"""Scripts that are run as whoever copied them would."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.architecture.modules import ROOT


def printed_by(script: str, folder: Path) -> str:
    """What a Python script prints that runs in `folder`; it must end well."""
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout
