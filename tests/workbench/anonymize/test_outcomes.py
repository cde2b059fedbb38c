"""What is said of a search while it runs."""

from __future__ import annotations

from workbench.anonymize.outcomes import stage_words


def test_the_time_left_is_said_once_it_can_be_told() -> None:
    """A search of two seconds said that ten were left, as soon as a bar was there."""
    assert stage_words("searching", 1.0, 0.1) == "searching"
    assert stage_words("searching", 10.0, 0.25) == "searching, about 30 s left"
    assert stage_words("searching", 3.0, 0.9) == "searching", "less than a second"
