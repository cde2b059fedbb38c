"""Checks of public bounds, cuts and special values."""

import itertools
import math
from collections.abc import Sequence

import numpy as np

from dpcore.errors import ParameterError, falling_range_error
from dpcore.text import Text


def invalid_number_error(name: str, label: str, value: object) -> ParameterError:
    """Return the error for a declared fact that is not a number of the required
    kind.
    """
    return ParameterError(
        (
            "{label} ({value}) of column {name!r} must be a number, or a whole "
            "number if the column holds whole numbers; a step must be above 0"
        ),
        remedy="use a number such as 10",
        label=Text(label),
        value=value,
        name=name,
    )


def check_special_values(name: str, special: Sequence[float]) -> None:
    for value in special:
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not math.isfinite(value)
        ):
            raise invalid_number_error(name, "special value", value)


def check_whole_number(name: str, label: str, value: object) -> int:
    """Return `value` as a whole number that a float64 holds exactly."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, np.integer))
        or abs(int(value)) > 2**53
    ):
        raise invalid_number_error(name, label, value)
    return int(value)


def check_bounds(
    name: str, low: float, high: float, cuts: Sequence[float], *, equal_bounds: bool
) -> None:
    """Refuse bounds that are not finite and ascending, and cuts outside the bounds."""
    for label, value in (
        ("low", low),
        ("high", high),
        *(("a cut", cut) for cut in cuts),
    ):
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float, np.number))
            or not math.isfinite(value)
        ):
            raise invalid_number_error(name, label, value)
    if high < low or (high == low and not equal_bounds):
        raise falling_range_error(name)
    points = [low, *cuts, high + 1 if equal_bounds else high]
    if any(a >= b for a, b in itertools.pairwise(points)):
        raise ParameterError(
            (
                "the cuts of column {column!r} must rise strictly and lie between its "
                "bounds"
            ),
            remedy=(
                "sort the cuts, and remove repeated ones and those outside the bounds"
            ),
            column=name,
        )
