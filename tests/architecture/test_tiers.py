"""The quick tier of the tests holds something of every guarantee."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUARANTEES = (ROOT / "docs/guarantees.md").read_text(encoding="utf-8")


def _named() -> list[str]:
    """The tests in the table of guarantees.md, row by row: the first that each row names."""
    table = GUARANTEES.split("## How it is checked")[1].split("\n\n")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if "|" in line
    ]
    return [re.findall(r"`([\w/]+\.py)`", cells[2])[0] for cells in rows[2:]]


def _collected(tests: list[str], marks: str) -> set[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", marks]
    run = subprocess.run(
        [*command, *(f"tests/{test}" for test in sorted(set(tests)))],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    return set(re.findall(r"tests/([\w/]+\.py): \d+", run.stdout))


def _with_folder(test: str) -> str:
    return test if (ROOT / "tests" / test).exists() else f"workbench/{test}"


def test_every_guarantee_has_a_quick_test() -> None:
    """A promise could be broken while `make test` passes."""
    tests = [_with_folder(test) for test in _named()]
    assert len(tests) > 20
    assert set(tests) - _collected(tests, "not proof") == set()


def test_a_file_of_proofs_alone_is_seen() -> None:
    """The test above would pass whatever is marked."""
    proofs = "statistical/test_answers.py"
    assert _collected([proofs], "proof") == {proofs}
    assert _collected([proofs], "not proof") == set()
