"""The quick tier of the tests holds something of every guarantee."""

from __future__ import annotations

import re

from tests.tiers import ROOT, collected

GUARANTEES = (ROOT / "docs/guarantees.md").read_text(encoding="utf-8")


def _named() -> list[str]:
    """The tests in the table of guarantees.md, row by row: the first that each row
    names.
    """
    table = GUARANTEES.split("## How it is checked")[1].split("\n\n")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table.splitlines()
        if "|" in line
    ]
    return [re.findall(r"`([\w/]+\.py)`", cells[2])[0] for cells in rows[2:]]


def _files(tests: list[str], marks: str) -> set[str]:
    names = collected([f"tests/{test}" for test in tests], marks)
    return {name.partition("::")[0].removeprefix("tests/") for name in names}


def test_every_guarantee_has_a_quick_test() -> None:
    """A promise could be broken while `make test` passes; a file of proofs alone is
    seen.
    """
    tests = _named()
    assert len(tests) > 20
    proofs = "statistical/test_answers.py"
    assert (ROOT / "tests" / proofs).exists()
    assert {*tests, proofs} - _files([*tests, proofs], "not proof") == {proofs}
