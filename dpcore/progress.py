"""Who is told how far long work is."""

from __future__ import annotations

from collections.abc import Callable

OnProgress = Callable[[str, float], None]
"""Takes the stage and the share done, from 0 to 1; what it raises ends the work."""


def silent(stage: str, share: float) -> None:
    """Nobody is told."""
