"""Propose cells for a column of numbers.

It knows classes, lists, short ranges, wide ones, and heavy tails.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpcore.schema.column import Categorical, Column
from dpcore.schema.interval import Integer, Real, is_age_name
from dpcore.schema.origin import AGES_RULE, ONLY_NUMBERS_RULE
from dpcore.schema.values import as_text
from dpcore.text import Text

TARGET_CELLS = 100
MAX_LISTED_NUMBERS = 40
MIN_ROWS_PER_LISTED_NUMBER = 5
"""Different numbers that are listed where they are far apart, and rows that each has on
average.
"""
MIN_SPECIAL_SHARE = 0.002
MAX_SPECIAL_NUMBERS = 20
MIN_SPECIAL_ROWS = 10
MIN_SPECIAL_ROWS_OVER_MEDIAN = 5
"""Of a number with a cell of its own: rows at least, and times the rows of the median
one among all.
"""
MIN_TAIL_OVER_MEDIAN = 20
"""Times the median number that the largest is, from which cells grow with the
numbers.
"""
GROWING_STEPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
MAX_DECADES = 6
MAX_PROPOSED_DECIMALS = 6
"""Digits behind the point that are proposed; numbers with more are measured ones."""


def propose_number_column(
    base: dict[str, Any], numbers: pd.Series, singled_out: tuple[float, ...]
) -> Column:
    """Propose a column for numbers, with its cells and its number of decimals.

    Those in `singled_out` get their own cells.

    Args:
        base: the name, as argument of the column.
        numbers: float64, without missing ones.
        singled_out: numbers that get their own cells.
    """
    column = _propose_cells(base, numbers, singled_out)
    decimals = count_decimals(numbers)
    if not isinstance(column, Real) or decimals is None:
        return column
    return dataclasses.replace(column, decimals=decimals)


def count_decimals(numbers: pd.Series) -> int | None:
    """Return the largest number of decimals; None above `MAX_PROPOSED_DECIMALS`."""
    values = numbers.unique().astype("float64")
    for decimals in range(MAX_PROPOSED_DECIMALS + 1):
        if (np.round(values, decimals) == values).all():
            return decimals
    return None


def _propose_cells(
    base: dict[str, Any], numbers: pd.Series, singled_out: tuple[float, ...]
) -> Column:
    low = float(numbers.min())
    high = float(numbers.max())
    whole = (
        bool((numbers == np.floor(numbers)).all()) and max(abs(low), abs(high)) < 2**52
    )
    name = str(base["name"])
    distinct = numbers.nunique()
    if is_age_name(name) and bool((numbers[~numbers.isin(singled_out)] % 1 == 0).all()):
        reason = "whole numbers, and the name says age: 0 to 119"
        return Integer(**base, low=0, high=119, rules=(AGES_RULE,), reason=reason)
    if singled_out:
        return _propose_intervals(
            base, numbers, are_whole=False, singled_out=singled_out
        )
    if distinct == 2:
        return _as_categories(
            base, numbers, are_whole=whole, reason="it has few different values"
        )
    if whole and high - low < TARGET_CELLS:
        return Integer(
            **base,
            low=int(low),
            high=int(high),
            from_data=("low", "high", "bin_width"),
            reason="it has few different values",
        )
    if (
        2 < distinct <= MAX_LISTED_NUMBERS
        and distinct * MIN_ROWS_PER_LISTED_NUMBER <= len(numbers)
    ):
        reason = Text("it has few different values")
        if whole:
            return _as_categories(base, numbers, are_whole=True, reason=reason)
        facts = ("low", "high", "bin_width", "special")
        listed = tuple(np.sort(numbers.unique()).tolist())
        return Real(
            **base,
            low=low,
            high=high,
            bin_width=high - low,
            special=listed,
            from_data=facts,
            reason=reason,
        )
    return _propose_intervals(base, numbers, are_whole=whole)


def _as_categories(
    base: dict[str, Any], numbers: pd.Series, *, are_whole: bool, reason: str
) -> Categorical:
    """Declare the numbers as ascending categories; anything else is missing."""
    rising = np.sort(numbers.unique())
    categories = (
        rising.astype(np.int64).tolist()
        if are_whole
        else as_text(pd.Series(rising)).tolist()
    )
    return Categorical(
        **base,
        categories=tuple(categories),
        rules=(ONLY_NUMBERS_RULE,),
        from_data=("categories",),
        reason=reason,
    )


def _propose_intervals(
    base: dict[str, Any],
    numbers: pd.Series,
    *,
    are_whole: bool,
    singled_out: tuple[float, ...] = (),
) -> Column:
    """Propose cells of equal or growing width; frequent numbers get their own cells."""
    special = tuple(sorted({*_find_special_numbers(numbers), *singled_out}))
    inner = numbers[~numbers.isin(_find_isolated_extremes(numbers))]
    low = float(inner.min())
    high = float(inner.max())
    largest = max(abs(low), abs(high))
    # each special number splits the cell that it lies in
    cells = max(TARGET_CELLS // 2, TARGET_CELLS - 2 * len(special))
    width = round_up_width(
        max((high - low) / cells, largest * 1e-10) if high > low else largest
    )
    usual = inner[(inner != 0) & ~inner.isin(special)].astype("float64").abs()
    edges = list[float]()
    if are_whole and low == 0 and high >= TARGET_CELLS and (numbers == 0).mean() > 0.5:
        edges = [0, *_rising_bounds(high, decades=3, steps=(1, 2, 5), are_whole=True)]
    elif high > 0 and len(usual) and usual.median() * MIN_TAIL_OVER_MEDIAN <= largest:
        last = _count_decades(usual)
        above = _rising_bounds(
            high, decades=last, steps=GROWING_STEPS, are_whole=are_whole
        )
        below = (
            _rising_bounds(-low, decades=last, steps=GROWING_STEPS, are_whole=are_whole)
            if low < 0
            else []
        )
        edges = sorted({0.0, *above, *(-bound for bound in below)})
    if edges:
        kind: type[Any] = Integer if are_whole else Real
        number: Any = int if are_whole else float
        first, *cuts, end = map(number, edges)
        column: Column = kind(
            **base,
            low=first,
            high=end - are_whole,
            cuts=tuple(cuts),
            special=tuple(map(number, special)),
            from_data=("low", "high", "cuts", "special"),
            reason=(
                "most numbers are far below the largest, so the cells grow with the "
                "numbers"
            ),
        )
        return column
    if are_whole:
        step = max(1, math.ceil(width))
        first = math.floor(low / step) * step
        last = math.floor(high / step) * step + step - 1
        special = tuple(
            value for value in special if step > 1 or not first <= value <= last
        )
        return Integer(
            **base,
            low=first,
            high=last,
            bin_width=step,
            special=tuple(map(int, special)),
            from_data=("low", "high", "bin_width", *(("special",) if special else ())),
            reason=Text("numbers over a wide range, in cells of {step}", step=step),
        )
    start = multiply_rounded(math.floor(low / width), width)
    # the last cell is closed, so `high` may be its end
    stop = multiply_rounded(
        max(math.ceil(high / width), math.floor(low / width) + 1), width
    )
    return Real(
        **base,
        low=start if start <= low else start - width,
        high=stop if stop >= high else stop + width,
        bin_width=width,
        special=special,
        from_data=("low", "high", "bin_width", *(("special",) if special else ())),
        reason=Text("numbers over a wide range, in cells of {step}", step=f"{width:g}"),
    )


def _find_special_numbers(numbers: pd.Series) -> tuple[float, ...]:
    """Return numbers that get their own cell: frequent ones, and isolated extremes."""
    counts = numbers.value_counts()
    least = max(
        MIN_SPECIAL_SHARE * len(numbers),
        MIN_SPECIAL_ROWS,
        MIN_SPECIAL_ROWS_OVER_MEDIAN * counts.median(),
    )
    many = counts[counts >= least].index[:MAX_SPECIAL_NUMBERS]
    return tuple(sorted({*many.astype("float64"), *_find_isolated_extremes(numbers)}))


def _find_isolated_extremes(numbers: pd.Series) -> list[float]:
    """Return an isolated largest or smallest number that recurs, such as 99999.

    It is further from all others than these are wide.
    """
    values = np.sort(numbers.unique().astype(np.float64))
    if len(values) < 4:
        return []
    far = []
    if values[-1] - values[-2] > values[-2] - values[0]:
        far.append(float(values[-1]))
    if values[1] - values[0] > values[-1] - values[1]:
        far.append(float(values[0]))
    return [value for value in far if (numbers == value).sum() >= MIN_SPECIAL_ROWS]


def _count_decades(numbers: pd.Series) -> int:
    """Return how many powers of ten nearly all numbers span, up to the largest."""
    small = float(numbers.quantile(0.02, interpolation="lower"))
    return min(
        MAX_DECADES,
        math.floor(math.log10(numbers.max())) - math.floor(math.log10(small)) + 1,
    )


def _rising_bounds(
    high: float, *, decades: int, steps: Sequence[float], are_whole: bool
) -> list[float]:
    """Return the steps times powers of ten, up to the first product above `high`.

    Only the `decades` powers of ten are used.
    """
    top = math.floor(math.log10(high))
    first = max(1, top - decades + 1) if are_whole else top - decades + 1
    series = [
        float(f"{step}e{power}") for power in range(first, top + 2) for step in steps
    ]
    return series[
        : next(place for place, bound in enumerate(series) if bound > high) + 1
    ]


def multiply_rounded(times: int, width: float) -> float:
    """Return `times * width` in twelve digits, so that 3 times 0.1 is 0.3."""
    return float(f"{times * width:.12g}")


def round_up_width(width: float) -> float:
    """Round a width up to the series 1, 2, 5, 10, ...; return 1 if it is almost
    zero.
    """
    if width < 1e-300:
        return 1.0
    power = 10.0 ** math.floor(math.log10(width))
    return next(
        step * power for step in (1, 2, 5, 10) if step * power >= width * (1 - 1e-9)
    )
