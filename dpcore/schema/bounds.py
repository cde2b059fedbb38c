"""Checks of public bounds, cuts and special values, with one sentence for each that does not hold."""

import itertools
import math
from collections.abc import Sequence

import numpy as np

from dpcore.errors import ParameterError


def check_special(name: str, special: Sequence[float]) -> None:
    for value in special:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise ParameterError(
                "{label} ({value}) of column {name!r} must be a finite number",
                remedy="use a number such as 10",
                label="special value",
                value=value,
                name=name,
            )


def whole_number(name: str, label: str, value: object) -> int:
    """`value` as a whole number that a float64 holds exactly."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or abs(int(value)) > 2**53:
        raise ParameterError(
            "{label} ({value}) of column {name!r} must be a whole number within 2^53 of 0",
            remedy="use a number such as 10",
            label=label,
            value=value,
            name=name,
        )
    return int(value)


def check_bounds(name: str, low: float, high: float, cuts: Sequence[float], *, equal_bounds: bool) -> None:
    """Refuse bounds that are not finite, ascending numbers, and cuts outside of them."""
    for label, value in (("low", low), ("high", high), *(("a cut", cut) for cut in cuts)):
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float, np.number))
            or not math.isfinite(value)
        ):
            raise ParameterError(
                "{label} ({value}) of column {name!r} must be a finite number",
                remedy="use a number such as 10",
                label=label,
                value=value,
                name=name,
            )
    if high < low or (high == low and not equal_bounds):
        raise ParameterError(
            "low ({low}) of column {column!r} must be below high ({high})",
            remedy="put the lower bound first",
            column=name,
            low=low,
            high=high,
        )
    points = [low, *cuts, high + 1 if equal_bounds else high]
    if any(a >= b for a, b in itertools.pairwise(points)):
        raise ParameterError(
            "the cuts of column {column!r} must rise strictly and lie between its bounds",
            remedy="sort the cuts and drop those outside",
            column=name,
        )
