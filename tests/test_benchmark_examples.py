"""Every documented example of the benchmarks ends well, at small sizes."""

from __future__ import annotations

import ast
import importlib
import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks import harness
from benchmarks.families import Family, network
from tests.architecture.modules import ROOT

PREFIX = "python -m benchmarks."
ELSEWHERE = {
    "anonymize": "compares with files of ARX beside the checkout",
    "engines": "makes ten million rows; tests/engines runs the same engines",
    "interaction": "presses in a browser against its own server",
    "load": "sends crowds to its own server",
    "reading": "reads a folder with a truth beside each file",
    "sharing": "opens links in a browser at its own server",
}
"""Benchmarks whose examples need what tests of their own bring, with why."""
SMALLER = {
    "coverage": "--runs 1",
    "encoding": "--runs 1",
    "exact": "--cells 200 --cells-of-three 200 --people 200 --rules acro",
    "learning": "--runs 1 --epsilon 1",
    "losses": "--runs 6 --canaries 20",
    "paired": "--runs 2",
    "missing_cell": "--rows 300 --columns 10 --runs 1",
    "linked": "--runs 1 --households 300",
    "ranks": "--runs 1",
    "stays": "--runs 1",
    "synthesis": "--most 20",
    "targets": "--runs 1",
}
"""Words that come last and make an example smaller."""
CONSTANTS: dict[str, dict[str, Any]] = {
    "attacks": {"PEOPLE": 200, "ATTEMPTS": 30},
    "cells": {"ROWS": 300},
    "coverage": {"TABLES": {"small": (300, (3, 4, 5))}},
    "learning": {"SPLITS": 1, "DRAWN_ROWS": 200, "TUNED_ROWS": 60, "KS": (25,)},
    "ledger": {"WORKERS": 2, "TIMES": 3, "UNITS": 5, "LINES": (20, 100)},
    "local": {"PEOPLE": 2_000, "FEW": 200, "REPEATS": 3},
    "ranks": {"LEAST_ROWS": 10},
}


def examples() -> list[tuple[str, str]]:
    """The module and the words of each documented example."""
    found = []
    for path in sorted((ROOT / "benchmarks").glob("*.py")):
        text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        for line in text.splitlines():
            if line.strip().startswith(PREFIX):
                module, *words = shlex.split(line.strip().removeprefix(PREFIX), True)
                optional = [each for each in words if not each.startswith("[")]
                found.append((module, shlex.join(optional)))
    return found


def numbers(rows: int = 300) -> pd.DataFrame:
    """Five numbers that rise together, and a label of 1 and -1."""
    rng = np.random.default_rng(3)
    label = rng.choice([-1, 1], rows)
    columns = {
        f"x{i}": np.clip(rng.normal(label * 0.3, 0.4), -1, 1).round(3) for i in range(5)
    }
    return pd.DataFrame(columns | {"label": label})


def prepare(folder: Path) -> None:
    """Write the files that the examples name."""
    rng = np.random.default_rng(4)
    adult = pd.DataFrame(
        {
            "age": rng.integers(17, 90, 300),
            "income": rng.choice(["<=50K", ">50K"], 300),
            **{
                name: rng.choice(["a", "b", "c"], 300)
                for name in ("marital-status", "occupation", "education")
            },
        }
    )
    adult.to_csv(folder / "adult.csv", index=False)
    for name in ("privsyn_diabetes", "births", "loans"):
        numbers().to_csv(folder / f"{name}.csv", index=False)
    (folder / "tables").mkdir()
    numbers(2_500).to_csv(folder / "tables" / "one.csv", index=False)
    coded = pd.DataFrame(rng.integers(0, 3, (300, 4)), columns=list("abcd"))
    coded.to_csv(folder / "coded.csv", index=False)
    (folder / "domain.json").write_text('{"a": 3, "b": 3, "c": 3, "d": 3}')
    (folder / "workbench" / "learn").mkdir(parents=True)
    (folder / "data").mkdir()
    numbers().to_csv(folder / "data" / "privsyn_diabetes.csv", index=False)


def make_small(
    module: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let a benchmark work on few rows."""
    name = module.__name__.rpartition(".")[2]
    for constant, value in CONSTANTS.get(name, {}).items():
        monkeypatch.setattr(module, constant, value)

    def replace(function: str, by: Callable[..., Any]) -> None:
        monkeypatch.setattr(module, function, by)

    if name in ("cells", "ranks"):
        replace("tables", lambda _folder: {"numbers": numbers(2_500)})
    if name == "preview":
        replace("tables", lambda: {"numbers": numbers()})
    if name == "stays":
        replace("stays", partial(module.stays, rows=400, patients=150))
    if name == "learning":
        replace("SHARED", folder)
        replace("TABLES", ("diabetes",))
    if name in ("paired", "targets"):
        replace("bookings", partial(module.bookings, rows=400))
    if name == "targets":
        right = module.parity
        replace("parity", lambda _rows, *given, **more: right(400, *given, **more))
        replace("ADULT", folder / "adult.csv")
    if name == "paired":
        replace("SHARED", folder)
    if name in ("paired", "synthesis"):
        small = Family(
            name="small8",
            sizes={"c0": 3, "c1": 4},
            make=lambda seed: network((3, 4), 300, seed),
        )
        replace("FAMILIES", (small,))


@pytest.mark.proof
@pytest.mark.parametrize(
    ("name", "words"), [each for each in examples() if each[0] not in ELSEWHERE]
)
def test_a_documented_example_ends_well(
    name: str,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whoever copies it would wait for an error."""
    for variable, value in harness.ONE_THREAD.items():
        monkeypatch.setenv(variable, value)
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(f"benchmarks.{name}")
    make_small(module, tmp_path, monkeypatch)
    smaller = SMALLER.get(name, "").split()
    monkeypatch.setattr(sys, "argv", [name, *shlex.split(words), *smaller])
    module.main()
    printed = capsys.readouterr().out
    assert printed or "--figures" in words


def test_every_benchmark_is_tried_or_left_out_by_name() -> None:
    """A benchmark without an example, or one more that is never tried, would break
    unseen.
    """
    documented = {name for name, _words in examples()}
    assert documented > set(ELSEWHERE)
    assert set(SMALLER) | set(CONSTANTS) <= documented
