"""The address in the browser leads to one data set and one release."""

from __future__ import annotations

from workbench.ui.address import LENGTH, _is, written


def test_names_that_begin_alike_keep_apart() -> None:
    """A link to one source led to another whose name begins with the same sixteen
    signs.
    """
    first = "source hospital visits of 2024"
    second = "source hospital visits of 2025"
    assert written(first) != written(second)
    assert not _is(second, written(first))
    assert _is("a" * 64, "a" * LENGTH)
    assert written("a" * 64) == "a" * LENGTH
    assert not _is("a" * 64, "a" * 4)
    assert not _is("a" * 64, "")
