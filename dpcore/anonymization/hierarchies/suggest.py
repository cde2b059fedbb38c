"""Suggest a first hierarchy for any column, with a reason for the reviewer."""

import math
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpcore.anonymization.hierarchies.builders import (
    GROUP_SIZES,
    build_cuts,
    build_dates,
    build_flat,
    build_intervals,
    build_masks,
    build_order,
    build_rare_groups,
)
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.schema.date import are_all_days
from dpcore.schema.values import MISSING, SUPPRESSED, list_texts
from dpcore.text import Text

MISSING_TEXTS = {"na", "n/a", "nan", "null", "none", "-", "?", ""}
"""Texts for a missing number, in lower case."""
MAX_CATEGORIES = 20
"""Distinct values of a column of numbers that is grouped like categories, at most."""
RARE_BELOW = 5
"""Rows of a category below which it is merged into "(other)"."""
TOP_AGE = 90
"""Ages from here on share one label (HIPAA Safe Harbor, 45 CFR 164.514)."""
MIN_FORMAT_SHARE = 0.9
"""Share of values that must have a form for the whole column to count as of it."""
MAX_SUGGESTED_NODES = 100_000
"""Nodes of the lattice of suggested hierarchies, at most.

More remain only if no hierarchy has an inner level to spare.
"""
_AGE_NAME = re.compile(r"(^|[_\-. ])age([_\-. ]|$)", re.IGNORECASE)
_CODE_NAME = re.compile(r"zip|post.?code|postal|\bplz\b", re.IGNORECASE)
_ZIP_PATTERN = r"\d{5}(-\d{4})?"
_DATE_PATTERN = r"\d{4}-\d{2}-\d{2}([T ].*)?"


def suggest_hierarchy(series: pd.Series) -> Hierarchy:
    """Suggest a hierarchy that covers every value of a column.

    `reason` says in one sentence why.
    """
    labels = pd.Series(list_texts(series.unique()), dtype=object)
    shown = labels[~labels.isin([MISSING, SUPPRESSED])].sort_values(ignore_index=True)
    # Texts for missing values do not turn a column of numbers into one of texts
    nothing = shown[shown.str.strip().str.lower().isin(MISSING_TEXTS)]
    rest = shown.drop(nothing.index)
    if (
        len(nothing)
        and len(rest)
        and pd.to_numeric(rest, errors="coerce").notna().all()
    ):
        kept = series[~pd.Series(list_texts(series), series.index).isin(set(nothing))]
        return (
            _propose(kept, rest.reset_index(drop=True))
            .extend(nothing)
            .cover_special_cells(series)
        )
    if shown.empty:
        return Hierarchy(
            values=(MISSING,), levels=((MISSING,), (SUPPRESSED,))
        ).cover_special_cells(series)
    return _propose(series, shown).cover_special_cells(series)


def suggest_together(frame: pd.DataFrame, names: Sequence[str]) -> dict[str, Hierarchy]:
    """Suggest hierarchies that are small enough to be searched together.

    If there are more than `MAX_SUGGESTED_NODES` combinations of levels, the highest
    hierarchy loses every second of its inner levels, again and again.
    """
    hierarchies = {name: suggest_hierarchy(frame[name]) for name in names}
    while (
        math.prod(hierarchy.height + 1 for hierarchy in hierarchies.values())
        > MAX_SUGGESTED_NODES
    ):
        name = max(hierarchies, key=lambda column: hierarchies[column].height)
        if hierarchies[name].height < 3:
            break
        hierarchies[name] = hierarchies[name].thin_out()
    return hierarchies


def _propose(series: pd.Series, distinct_texts: pd.Series) -> Hierarchy:
    name = str(series.name)
    if len(distinct_texts) <= 2:
        return build_flat(distinct_texts)
    if distinct_texts.str.fullmatch(_DATE_PATTERN).all() and are_all_days(
        distinct_texts
    ):
        return build_dates(distinct_texts)
    numbers = pd.to_numeric(distinct_texts, errors="coerce")
    if _is_code(series, distinct_texts) or (
        _CODE_NAME.search(name) and not _AGE_NAME.search(name)
    ):
        return _mask_codes(distinct_texts)
    if np.isfinite(numbers).all():
        return _propose_for_numbers(
            series, distinct_texts, numbers, bool(_AGE_NAME.search(name))
        )
    for separator, keep in (("/", "start"), (", ", "end")):
        if (
            distinct_texts.str.contains(separator, regex=False).mean()
            >= MIN_FORMAT_SHARE
        ):
            return build_cuts(distinct_texts, separator, keep=keep)
    if (
        len(distinct_texts) > MAX_CATEGORIES
        and len(distinct_texts) > series.notna().sum() / 2
    ):
        return build_flat(
            distinct_texts,
            reason=(
                "More than half of the values are distinct: rather an identifier, to "
                "be dropped"
            ),
        )
    tally = series.value_counts()
    rows = dict(zip(list_texts(tally.index), tally.tolist(), strict=True))
    return build_rare_groups(
        {value: rows[value] for value in distinct_texts},
        RARE_BELOW,
        reason=Text(
            (
                "Categories: values in fewer than {rare} rows merged, then groups "
                "of 2, 4, 8, 16 of similar frequency"
            ),
            rare=RARE_BELOW,
        ),
    )


def _is_code(series: pd.Series, distinct_texts: pd.Series) -> bool:
    """Return whether texts are codes: with digits, and nearly all of one length.

    Nearly all of them have this length.
    """
    if pd.api.types.is_numeric_dtype(series):
        return False
    lengths = distinct_texts.str.len()
    width = lengths.mode().iloc[0]
    return bool(
        width >= 4
        and (lengths == width).mean() >= MIN_FORMAT_SHARE
        and distinct_texts.str.contains(r"\d\d", regex=True).mean() >= MIN_FORMAT_SHARE,
    )


def _mask_codes(distinct_texts: pd.Series) -> Hierarchy:
    """Mask codes from the end; ZIP codes first lose the digits after the dash."""
    if (
        distinct_texts.str.fullmatch(_ZIP_PATTERN).all()
        and distinct_texts.str.contains("-").any()
    ):
        return _mask_zip_codes(distinct_texts)
    width = int(distinct_texts.str.len().mode().iloc[0])
    step = math.ceil(width / 5)
    return build_masks(
        distinct_texts,
        tuple(range(step, width, step)),
        reason="Codes of one length: the last characters are masked first",
    )


def _mask_zip_codes(distinct_texts: pd.Series) -> Hierarchy:
    """Merge 02134-1234 with 02134, then mask 0213*, 021**, and so on."""
    areas = [code[:5] for code in distinct_texts]
    masked = build_masks(areas, (1, 2, 3, 4))
    of_area = dict(zip(masked.values, zip(*masked.levels, strict=True), strict=True))
    levels = zip(*(of_area[area] for area in areas), strict=True)
    return Hierarchy(
        values=tuple(distinct_texts),
        levels=(tuple(distinct_texts), *levels),
        reason="ZIP codes: the digits after the dash are cut off first",
    )


def _propose_for_numbers(
    series: pd.Series, distinct_texts: pd.Series, numbers: pd.Series, is_age: bool
) -> Hierarchy:
    if is_age and numbers.between(0, 130).all():
        return build_intervals(
            distinct_texts,
            (5, 10, 20),
            high=TOP_AGE,
            reason=Text(
                "Numbers: intervals {width:g} to {width_2:g} wide, with open ends",
                width=5,
                width_2=20,
            ),
        )
    if len(distinct_texts) <= MAX_CATEGORIES:
        return build_order(distinct_texts[numbers.argsort()], GROUP_SIZES)
    cells = pd.to_numeric(series.dropna(), errors="coerce").astype("float64").dropna()
    low, lower, upper, high = np.quantile(cells, [0.01, 0.25, 0.75, 0.99])
    widths = _round_widths((upper - lower) / 10 or (high - low) / 50 or 1.0)
    return build_intervals(
        distinct_texts,
        widths,
        low=float(np.floor(low / widths[0]) * widths[0]),
        high=float(np.ceil(high / widths[0]) * widths[0]),
        reason=Text(
            "Numbers: intervals {width:g} to {width_2:g} wide, with open ends",
            width=widths[0],
            width_2=widths[-1],
        ),
    )


def _round_widths(target: float) -> tuple[float, float, float]:
    """Return three round, nested widths such as 1, 5, 10, the first >= `target`.

    Each is a multiple of the one before.
    """
    power = 10.0 ** math.floor(math.log10(target))
    for factors in ((1, 5, 10), (2, 10, 20), (5, 10, 20)):
        if target <= factors[0] * power:
            break
    else:
        factors = (1, 5, 10)
        power = power * 10
    return factors[0] * power, factors[1] * power, factors[2] * power
