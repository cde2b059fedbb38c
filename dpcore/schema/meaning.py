"""Relations between columns that their names suggest: time stamps, starts and ends.

Only names and kinds of columns decide, never how their values are spread or whether a
rule holds in the rows.
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from dpcore.schema._derived import Difference, Time, parse_minutes
from dpcore.schema.column import Column
from dpcore.schema.date import Date, parse_moments
from dpcore.schema.interval import Integer, NumberColumn
from dpcore.text import Text

MIN_TIME_SHARE = 0.98
"""Share of the values that are times in a column of times."""
_TIME_WORDS = re.compile(
    r"(^|[^a-z])(time|clock|hhmm|uhrzeit|zeit|heure|hora|ora)([^a-z]|$)", re.IGNORECASE
)
_START_AND_END_WORDS = (
    ("start", "end"),
    ("begin", "end"),
    ("began", "ended"),
    ("started", "ended"),
    ("started", "finished"),
    ("start", "stop"),
    ("start", "finish"),
    ("pickup", "dropoff"),
    ("pick up", "drop off"),
    ("admission", "discharge"),
    ("admitted", "discharged"),
    ("admit", "discharge"),
    ("check in", "check out"),
    ("checkin", "checkout"),
    ("opened", "closed"),
    ("open", "close"),
    ("created", "closed"),
    ("created", "resolved"),
    ("in", "out"),
    ("from", "to"),
    ("from", "until"),
    ("entry", "exit"),
    ("hired", "left"),
    ("beginn", "ende"),
    ("anfang", "ende"),
    ("von", "bis"),
    ("aufnahme", "entlassung"),
    ("début", "fin"),
    ("debut", "fin"),
    ("inicio", "fin"),
    ("inizio", "fine"),
)
"""Words of a begin and its end."""
_NUMBER_START_AND_END_WORDS = (
    ("start", "end"),
    ("begin", "end"),
    ("min", "max"),
    ("low", "high"),
    ("subtotal", "total"),
    ("sub total", "total"),
)
"""The same of numbers; money that goes "in" and "out" is none of them."""
_CAMEL_CASE_GAP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TIME_COLUMN_NAME = "{column}: time of day"


def relate_columns(
    columns: Sequence[Column], frame: pd.DataFrame, *, missing: bool
) -> list[Column]:
    """Add columns for times of day, and turn end columns into differences."""
    names = {column.name for column in columns}
    found: list[Column] = []
    timed = {
        column.name
        for column in columns
        if isinstance(column, Date) and _has_times(frame[column.name])
    }
    for column in columns:
        end = _as_difference(column, columns, timed)
        if end is not None:
            found.append(end)
            continue
        found.append(column)
        if column.name in timed:
            time = time_of_day_column(column)
            if time.name not in names:
                found.append(time)
    return found


def time_of_day_column(column: Column) -> Time:
    """Return a column for the times of day in a column of time stamps."""
    return Time(
        _TIME_COLUMN_NAME.format(column=column.name),
        of=column.name,
        missing=column.missing,
        unreadable_is_missing=column.missing,
        from_data=tuple(fact for fact in column.from_data if fact == "kind"),
        known_from=column.known_from,
        reason=Text("the time of day of {column}", column=column.name),
    )


def detect_times_of_day(name: str, present: pd.Series) -> Time | None:
    """Return a column of times if the values, and for numbers the name, suggest it."""
    written = "clock"
    if pd.api.types.is_numeric_dtype(present.dtype):
        if pd.api.types.is_bool_dtype(present.dtype) or not _TIME_WORDS.search(
            _CAMEL_CASE_GAP.sub(" ", name)
        ):
            return None
        written = "hhmm"
        if not pd.to_numeric(present).max() > 60:
            return None
    minutes = parse_minutes(present, written)
    if np.isnan(minutes).mean() > 1 - MIN_TIME_SHARE:
        return None
    return Time(
        name,
        written=written,
        from_data=("kind", "written"),
        reason="times of day, one cell per hour",
    )


def pair_starts_and_ends(
    names: Iterable[str], words: Sequence[tuple[str, str]]
) -> dict[str, str]:
    """Return a dict from end columns to start columns, matched by their names alone."""
    plain = {_normalize_name(name): name for name in names}
    pairs: dict[str, str] = {}
    for text, name in plain.items():
        for begin, end in words:
            other = re.sub(rf"\b{begin}\b", end, text)
            if other != text and other in plain:
                pairs.setdefault(plain[other], name)
    return pairs


def _as_difference(
    column: Column, columns: Sequence[Column], timed: set[str]
) -> Difference | None:
    """Return an end column as the difference from its start; None for other columns."""
    kind = Date if isinstance(column, Date) else NumberColumn
    words = _START_AND_END_WORDS if kind is Date else _NUMBER_START_AND_END_WORDS
    alike = {each.name: each for each in columns if isinstance(each, kind)}
    pairs = pair_starts_and_ends(alike, words)
    start = pairs.get(column.name)
    # a start keeps its own values, so in a chain only every second column is a
    # difference
    if start is None or start in pairs:
        return None
    begin = alike[start]
    high, unit = _largest_difference(
        begin, column, column.name in timed or start in timed
    )
    if not high > 0:
        return None
    return Difference(
        column.name,
        start=start,
        unit=unit,
        high=high,
        missing=column.missing,
        unreadable_is_missing=column.missing,
        from_data=(
            *(("kind", "start", "unit", "high") if "kind" in column.from_data else ()),
        ),
        reason=Text(
            (
                "judging by its name, this column contains the end whose start is "
                "in {column}"
            ),
            column=start,
        ),
    )


def _largest_difference(
    begin: Column, end: Column, has_times: bool
) -> tuple[float, str]:
    """Return the largest difference within the bounds of both columns, and its unit."""
    if isinstance(begin, Date) and isinstance(end, Date):
        days = float(end.edges[-1] - begin.edges[0])
        return (days * 24 * 60, "minute") if has_times else (days, "day")
    assert isinstance(begin, NumberColumn)
    assert isinstance(end, NumberColumn)
    whole = isinstance(begin, Integer) and isinstance(end, Integer)
    return float(end.high) - float(begin.low), "whole" if whole else "hundredth"


def _has_times(values: pd.Series) -> bool:
    """Return whether some value has a time of day other than midnight."""
    moments = parse_moments(values)
    return bool((moments != moments.astype("datetime64[D]"))[~np.isnat(moments)].any())


def _normalize_name(name: str) -> str:
    return " ".join(
        re.sub(r"[\W_]+", " ", _CAMEL_CASE_GAP.sub(" ", name)).lower().split()
    )
