"""Build hierarchies from intervals, masks, dates, cut texts, orders or counts.

Each builder gets the distinct values of a column. Missing and already suppressed cells
need no mention: `Hierarchy.cover_special_cells` adds their leaves if a column has them.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.errors import ParameterError, UsageError
from dpcore.schema.date import parse_days
from dpcore.schema.values import MISSING, SUPPRESSED, list_texts

OTHER_LABEL = "(other)"
"""Label of merged rare values."""
GROUP_SIZES = (2, 4, 8, 16)
"""Values per group, level by level, if nothing else tells which belong together."""
DATE_LEVELS = ("month", "quarter", "year", "decade")
"""Periods to which days may be generalized, in order."""


def build_flat(values: Iterable[object], *, reason: str = "") -> Hierarchy:
    """Build a hierarchy with one step: from each value to `*`."""
    return _build_from_labels(_distinct_texts(values), lambda leaf, _: leaf, (), reason)


def build_intervals(
    values: Iterable[object],
    widths: Sequence[float],
    *,
    low: float | None = None,
    high: float | None = None,
    start: float = 0.0,
    reason: str = "",
) -> Hierarchy:
    """Build a hierarchy from numbers to wider and wider intervals, then `*`.

    Args:
        values: distinct numbers, or texts of numbers.
        widths: ascending, each a whole multiple of the one before, so that the levels
            nest.
        low: numbers below it share one label on every level.
        high: numbers from it on share one label on every level.
        start: a bound of every interval.
        reason: why it was suggested.

    Raises: ParameterError for widths that do not nest, or values that are no numbers.
    """
    ratios = [width / widths[0] for width in widths] if widths and widths[0] > 0 else []
    steps = [round(ratio) for ratio in ratios]
    nests = all(b > a and b % a == 0 for a, b in pairwise(steps))
    if (
        not ratios
        or not nests
        or not all(math.isclose(r, s) for r, s in zip(ratios, steps, strict=True))
    ):
        raise _wrong_steps_error()
    distinct = _distinct_texts(values)
    parsed = pd.to_numeric(pd.Series(distinct, dtype=object), errors="coerce")
    if not np.isfinite(parsed).all():
        raise ParameterError(
            "the column holds no numbers", remedy="choose another column"
        )
    numbers = dict(zip(distinct, map(float, parsed), strict=True))
    leaves = sorted(distinct, key=lambda leaf: (numbers[leaf], leaf))
    whole = all(
        number.is_integer()
        for number in map(float, (*numbers.values(), *widths, start))
    )

    def label(number: float, step: int) -> str:
        if low is not None and number < low:
            return f"<{_format_number(low)}"
        if high is not None and number >= high:
            return f"≥{_format_number(high)}"
        # Build on the narrowest intervals, so that rounding cannot break the nesting
        place = math.floor((number - start) / widths[0] + 1e-9) // step * step
        first = start + place * widths[0]
        end = start + (place + step) * widths[0]
        first = first if low is None else max(first, low)
        end = end if high is None else min(end, high)
        if whole:
            return (
                _format_number(first)
                if end - first <= 1
                else f"{_format_number(first)}-{_format_number(end - 1)}"
            )
        return f"[{_format_number(first)}, {_format_number(end)})"

    return _build_from_labels(
        leaves,
        lambda leaf, step: label(numbers[leaf], step),
        steps,
        reason,
        keeps_single_label=start != 0,
    )


def build_masks(
    values: Iterable[object], masked: Sequence[int], *, reason: str = ""
) -> Hierarchy:
    """Mask the last characters of codes level by level: 33617, 3361*, 336**, *.

    Args:
        masked: characters replaced on each level, ascending; shorter codes are replaced
            whole.

    Raises: ParameterError when `masked` is not ascending from at least 1.
    """
    if not all(b > a for a, b in pairwise([0, *masked])):
        raise _wrong_steps_error()
    leaves = _distinct_texts(values)

    def label(leaf: str, count: int) -> str:
        return leaf[:-count] + "*" * count if count < len(leaf) else SUPPRESSED

    return _build_from_labels(leaves, label, masked, reason)


def build_dates(
    values: Iterable[object], levels: Sequence[str] = DATE_LEVELS, *, reason: str = ""
) -> Hierarchy:
    """Build day -> month -> quarter -> year -> decade -> `*`, or some of these.

    Raises: ParameterError for an unknown level, levels out of order, or values that are
        no dates.
    """
    if list(levels) != [level for level in DATE_LEVELS if level in levels]:
        raise UsageError(
            "levels must be some of month, quarter, year, decade, in this order"
        )
    distinct = _distinct_texts(values)
    parsed = pd.Series(
        parse_days(pd.Series(distinct, dtype="str")).astype("datetime64[s]")
    )
    if parsed.isna().any():
        raise ParameterError(
            "a hierarchy of dates needs a column of dates",
            remedy="write year-month-day",
        )
    moments = dict(zip(distinct, parsed, strict=True))
    leaves = sorted(distinct, key=lambda leaf: (moments[leaf], leaf))
    return _build_from_labels(
        leaves, lambda leaf, level: _format_period(moments[leaf], level), levels, reason
    )


def build_cuts(
    values: Iterable[object], separator: str, *, keep: str = "start", reason: str = ""
) -> Hierarchy:
    """Cut one part off a text on every level: a/b/c, a/b, a, *.

    With keep="end" it is a/b/c, b/c, c, *.

    Raises: ParameterError when `separator` is empty or `keep` is neither start nor end.
    """
    if not separator or keep not in ("start", "end"):
        raise UsageError(
            "a separator and keep=start or keep=end are needed", remedy="name both"
        )
    leaves = _distinct_texts(values)
    parts = {leaf: leaf.split(separator) for leaf in leaves}
    depth = max(len(part) for part in parts.values())

    def label(leaf: str, kept: int) -> str:
        return separator.join(
            parts[leaf][:kept] if keep == "start" else parts[leaf][-kept:]
        )

    return _build_from_labels(leaves, label, range(depth - 1, 0, -1), reason)


def build_order(
    values: Iterable[object], sizes: Sequence[int] = (2,), *, reason: str = ""
) -> Hierarchy:
    """Join neighbors in the given order into larger groups at each level, then `*`.

    A group is named by its members.

    Args:
        sizes: values per group on each level, ascending, each a multiple of the one
            before.

    Raises: ParameterError when sizes do not nest.
    """
    if not all(b > a and b % a == 0 for a, b in pairwise([1, *sizes])):
        raise _wrong_steps_error()
    leaves = _distinct_texts(values)
    return _build_from_labels(leaves, _make_group_namer(leaves), sizes, reason)


def _wrong_steps_error() -> ParameterError:
    return ParameterError(
        "the steps must rise, and each must be a multiple of the one before",
        remedy="write numbers such as 5, 10, 20",
    )


def build_rare_groups(
    counts: Mapping[str, int], minimum: int, *, reason: str = ""
) -> Hierarchy:
    """Build value -> rare values merged -> groups of 2, 4, 8, 16 -> `*`.

    Groups are of like frequency. A value with the name of the merged ones is one of
    them.

    Args:
        counts: rows of every value.
        minimum: rows below which a value is rare.
    """
    leaves = sorted(counts, key=lambda value: (-counts[value], value))
    common = [
        value for value in leaves if counts[value] >= minimum and value != OTHER_LABEL
    ]
    kept = set(common)
    grouped = _make_group_namer(common)

    def label(leaf: str, size: int) -> str:
        if leaf not in kept:
            return OTHER_LABEL
        return leaf if size == 1 else grouped(leaf, size)

    return _build_from_labels(
        leaves,
        label,
        [1, *(size for size in GROUP_SIZES if size < len(common))],
        reason,
    )


def _build_from_labels(
    leaves: list[str],
    label: Callable[[str, Any], str],
    steps: Iterable[Any],
    reason: str,
    *,
    keeps_single_label: bool = False,
) -> Hierarchy:
    """Build a hierarchy from leaves, skipping levels equal to the one below.

    Args:
        leaves: distinct.
        label: from a leaf and a step to the label of the leaf at the level of the step.
        steps: one for each level.
        reason: why it was suggested.
        keeps_single_label: whether a level with one label for all is kept, for the name it gives.
    """
    if not leaves:
        raise UsageError(
            "a hierarchy needs at least one value",
            remedy="take a column that is not empty",
        )
    stack = [leaves]
    for level in ([label(leaf, step) for leaf in leaves] for step in steps):
        if level != stack[-1] and (keeps_single_label or len(set(level)) > 1):
            stack.append(level)
    return Hierarchy(
        values=tuple(leaves),
        levels=(*map(tuple, stack), (SUPPRESSED,) * len(leaves)),
        reason=reason,
    )


def _distinct_texts(values: Iterable[object]) -> list[str]:
    """Return the distinct values as texts, in the given order."""
    return [
        text
        for text in dict.fromkeys(list_texts(values))
        if text not in (MISSING, SUPPRESSED)
    ]


def _make_group_namer(values: Sequence[str]) -> Callable[[str, int], str]:
    """Return a function that names the group of a value, given a group size.

    Groups have `size` neighbors each.
    """
    position = {value: place for place, value in enumerate(values)}

    def label(value: str, size: int) -> str:
        start = position[value] // size * size
        return "{" + ", ".join(values[start : start + size]) + "}"

    return label


def _format_period(moment: pd.Timestamp, level: str) -> str:
    if level == "month":
        return f"{moment.year:04d}-{moment.month:02d}"
    if level == "quarter":
        return f"{moment.year:04d}-Q{moment.quarter}"
    return f"{moment.year:04d}" if level == "year" else f"{moment.year // 10 * 10:04d}s"


def _format_number(value: float) -> str:
    return f"{value:.12g}"
