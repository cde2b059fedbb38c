"""Hierarchies built by a rule that a person chooses, and their groups."""

import re
from collections.abc import Sequence

import pandas as pd

from dpcore.anonymization.hierarchies.builders import (
    DATE_LEVELS,
    build_dates,
    build_intervals,
    build_masks,
    build_order,
)
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.errors import ParameterError
from dpcore.schema.date import are_all_days
from workbench.language.messages import N_, _

RULE_TITLES = {
    "intervals": N_("intervals of numbers"),
    "masking": N_("masking the last characters"),
    "order": N_("neighbors in an order"),
    "dates": N_("parts of dates"),
}
PERIOD_TITLES = {
    "month": N_("month"),
    "quarter": N_("quarter"),
    "year": N_("year"),
    "decade": N_("decade"),
}
MAX_EXAMPLES = 3  # groups shown per level
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def fitting_rules(values: Sequence[str]) -> list[str]:
    """Return the rules that fit these values, the likeliest first."""
    shown = pd.Series(list(values), dtype="str")
    if not len(shown):
        return []
    if are_all_days(shown):
        return ["dates", "masking", "order"]
    if pd.to_numeric(shown, errors="coerce").notna().all():
        codes = shown.str.len().nunique() == 1 and int(shown.str.len().iloc[0]) >= 4
        return (
            ["masking", "intervals", "order"]
            if codes
            else ["intervals", "order", "masking"]
        )
    return ["order", "masking"]


def parse_numbers(text: str) -> list[float]:
    """Return the numbers of a text such as "5, 10, 20".

    Raises: ParameterError without any.
    """
    numbers = [float(digits) for digits in _NUMBER.findall(text)]
    if not numbers:
        raise ParameterError(
            "there is no number in {text!r}",
            remedy="write numbers such as 5, 10, 20",
            text=text,
        )
    return numbers


def make_intervals(
    values: Sequence[str],
    widths: str,
    low: float | None,
    high: float | None,
    *,
    start: float = 0.0,
) -> Hierarchy:
    """Build a hierarchy of intervals with these widths, counted from `start`.

    Raises: ParameterError if they cross.
    """
    return build_intervals(
        values, parse_numbers(widths), low=low, high=high, start=start
    )


def make_masks(values: Sequence[str], masked_counts: Sequence[int]) -> Hierarchy:
    """Build a hierarchy whose levels mask these numbers of last characters.

    Raises: ParameterError without any.
    """
    return build_masks(values, sorted(masked_counts))


def join_neighbors(values: Sequence[str], ordered_lines: str, sizes: str) -> Hierarchy:
    """Build a hierarchy that joins neighbors of an order into groups of these sizes.

    Args:
        ordered_lines: one value per line; those that it lacks come last.

    Raises: ParameterError for sizes that do not nest, or lines that are no values.
    """
    lines = [line.strip() for line in ordered_lines.splitlines() if line.strip()]
    own = set(values)
    strange = [line for line in lines if line not in own]
    if strange:
        raise ParameterError(
            "this line is not a value of the column: {line}",
            remedy="correct it",
            line=strange[0],
        )
    complete = list(dict.fromkeys([*lines, *values]))
    return build_order(complete, [int(size) for size in parse_numbers(sizes)])


def make_periods(values: Sequence[str], periods: Sequence[str]) -> Hierarchy:
    """Build a hierarchy of dates whose levels are these periods, shortest first.

    Raises: ParameterError for values that are no dates.
    """
    return build_dates(values, [level for level in DATE_LEVELS if level in periods])


def describe_levels(hierarchy: Hierarchy) -> pd.DataFrame:
    """Return a table of levels with their number of groups, largest size and
    examples.
    """
    lines = []
    for number, labels in enumerate(hierarchy.levels):
        sizes = pd.Series(labels).value_counts(sort=False)
        examples = " · ".join(map(str, sizes.index[:MAX_EXAMPLES]))
        lines.append((number, len(sizes), int(sizes.max()), examples))
    headings = [_("level"), _("groups"), _("values in the largest"), _("such as")]
    return pd.DataFrame(lines, columns=headings)
