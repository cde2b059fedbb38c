"""Other libraries, each in an environment of its own that ends with the run: CPU seconds and answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import pandas as pd

PYCANON = """
import json, sys, time
import pandas as pd
from pycanon import anonymity

frame, known, secret = pd.read_csv(sys.argv[1], dtype=str), json.loads(sys.argv[2]), sys.argv[3]
tasks = {
    "k": lambda: anonymity.k_anonymity(frame, known),
    "l": lambda: anonymity.l_diversity(frame, known, [secret]),
    "entropy l": lambda: anonymity.entropy_l_diversity(frame, known, [secret]),
    "t": lambda: anonymity.t_closeness(frame, known, [secret]),
}
found = {}
for name, task in tasks.items():
    start = time.process_time()
    answer = task()
    found[name] = [time.process_time() - start, float(answer)]
print(json.dumps(found))
"""

ANONYPY = """
import json, sys, time
import anonypy
import pandas as pd

frame, known, secret = pd.read_csv(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3]
for name in frame.columns:
    if not pd.api.types.is_numeric_dtype(frame[name]):
        frame[name] = frame[name].astype("category")
start = time.process_time()
rows = anonypy.Preserver(frame, known, secret).anonymize_k_anonymity(k=5)
spent = time.process_time() - start
classes = len({tuple(str(row[name]) for name in known) for row in rows})
print(json.dumps({"Mondrian": [spent, classes]}))
"""


def pycanon(frame: pd.DataFrame, known: list[str], secret: str) -> dict[str, tuple[float, float]] | None:
    """(CPU seconds, answer) of k, l, entropy l and t; None where it does not install."""
    return _run(["pycanon"], PYCANON, frame, known, secret)


def anonypy(frame: pd.DataFrame, known: list[str], secret: str) -> dict[str, tuple[float, float]] | None:
    """(CPU seconds, classes) of Mondrian at k = 5; None where it does not install."""
    return _run(["anonypy", "pandas"], ANONYPY, frame, known, secret)


def _run(
    packages: list[str], script: str, frame: pd.DataFrame, *given: Any
) -> dict[str, tuple[float, float]] | None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame.to_csv(folder / "table.csv", index=False)
        venv.create(folder / "own", with_pip=True)
        python = folder / "own" / "bin" / "python"
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
        if subprocess.run(install, capture_output=True, check=False).returncode:
            print(f"{packages[0]} does not install here and is left out", file=sys.stderr)
            return None
        known, secret = given
        done = subprocess.run(
            [python, "-c", script, folder / "table.csv", json.dumps(known), secret],
            capture_output=True,
            check=True,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        found: dict[str, tuple[float, float]] = json.loads(done.stdout.splitlines()[-1])
        return found
