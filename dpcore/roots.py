"""Roots by halving, for the few places that must not need scipy."""

from collections.abc import Callable


def crossing(rising: Callable[[float], float], low: float, high: float) -> float:
    """Return where a rising function passes 0, to 2^-60 of the distance between the
    ends, never below.

    The nearer end where it does not pass 0 between them.
    """
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return high
