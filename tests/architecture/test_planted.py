"""The list of planted faults fits the code, and the quick tier catches nine of ten."""

from __future__ import annotations

from tests.planted import FAULTS, ROOT, place_of
from tests.tiers import collected


def test_each_fault_can_be_planted() -> None:
    """A fault whose place is gone would be called caught by a test that fails for
    another reason.
    """
    places = {
        each.breaks: len(
            place_of(each.old).findall((ROOT / each.file).read_text(encoding="utf-8"))
        )
        for each in FAULTS
    }
    assert {what: count for what, count in places.items() if count != 1} == {}


def test_nine_of_ten_are_caught_by_the_quick_tier() -> None:
    """`make test` would pass over what breaks the guarantee."""
    quick = collected((each.test.partition("[")[0] for each in FAULTS), "not proof")
    caught = [
        each for each in FAULTS if any(name.startswith(each.test) for name in quick)
    ]
    assert len(caught) >= 0.9 * len(FAULTS)
