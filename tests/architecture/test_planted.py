"""The list of planted faults fits the code, and the quick tier catches nine of ten."""

from __future__ import annotations

import subprocess
import sys

from tests.planted import FAULTS, ROOT


def test_each_fault_can_be_planted() -> None:
    """A fault whose place is gone would be called caught by a test that fails for another reason."""
    places = {each.breaks: (ROOT / each.file).read_text(encoding="utf-8").count(each.old) for each in FAULTS}
    assert {what: count for what, count in places.items() if count != 1} == {}


def test_nine_of_ten_are_caught_by_the_quick_tier() -> None:
    """`make test` would pass over what breaks the guarantee."""
    names = {each.test.partition("[")[0] for each in FAULTS}
    command = [sys.executable, "-m", "pytest", "--collect-only", "-m", "not proof", *sorted(names)]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    quick = [each for each in FAULTS if each.test in listed]
    assert len(quick) >= 0.9 * len(FAULTS)
