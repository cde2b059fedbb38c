"""Two speeds of tests: `make test` leaves out what is marked as a proof, `make proofs`
runs it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]


def examples(most: int, **options: Any) -> settings:
    """How many examples of a property are tried: a few in the quick tier, `most` with
    the profile `full`.
    """
    is_full = settings.get_current_profile_name() == "full"
    return settings(
        max_examples=most if is_full else min(most, settings.default.max_examples),
        **options,
    )


def but_first(quick: int, values: Iterable[Any]) -> list[Any]:
    """Parameters of a test: the first `quick` values belong to the quick tier, the
    others are proofs.
    """
    return [
        value if place < quick else pytest.param(value, marks=pytest.mark.proof)
        for place, value in enumerate(values)
    ]


def collected(names: Iterable[str], marks: str) -> list[str]:
    """The ids of the tests in these files, or of these names, that a run with these
    marks takes.
    """
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-m",
        marks,
        *sorted(set(names)),
    ]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    return [line for line in listed.splitlines() if "::" in line]
