"""Root finding by bisection, without scipy."""

from collections.abc import Callable


def find_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of a rising function, found by bisection.

    The result is exact to 2^-60 of the interval and never below the root. If there is
    no root in the interval, it is the nearer end.
    """
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return high
