"""The address in the browser leads to one data set and one release."""

from __future__ import annotations

from workbench.ui.address import SHORT_ID_LENGTH, _matches_id, short_id


def test_names_that_begin_alike_keep_apart() -> None:
    """A link to one source led to another whose name begins with the same sixteen
    signs.
    """
    first = "source hospital visits of 2024"
    second = "source hospital visits of 2025"
    assert short_id(first) != short_id(second)
    assert not _matches_id(second, short_id(first))
    assert _matches_id("a" * 64, "a" * SHORT_ID_LENGTH)
    assert short_id("a" * 64) == "a" * SHORT_ID_LENGTH
    assert not _matches_id("a" * 64, "a" * 4)
    assert not _matches_id("a" * 64, "")
