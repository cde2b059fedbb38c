"""Propose a schema for a table. A person confirms it; what it took from the data is marked."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from dpcore.errors import SchemaError
from dpcore.schema.column import Boolean, Categorical, Column
from dpcore.schema.date import Date, days_in, has_days
from dpcore.schema.detector import PLACES, detect
from dpcore.schema.interval import Integer, Real
from dpcore.schema.schema import Excluded, Schema
from dpcore.schema.unit import PrivacyUnit
from dpcore.schema.values import as_text
from dpcore.text import Text

MISSING_TOKENS = ("?", "", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "-", "--")
MAX_CATEGORIES = 200
YES_AND_NO = (
    ("yes", "no"), ("y", "n"), ("true", "false"), ("on", "off"), ("ja", "nein"), ("j", "n"),
    ("wahr", "falsch"), ("oui", "non"), ("o", "n"), ("vrai", "faux"), ("sí", "no"), ("si", "no"),
    ("s", "n"),
    ("verdadero", "falso"), ("是", "否"), ("有", "无"), ("真", "假"), ("对", "错"),
)  # fmt: skip
TARGET_CELLS = 100
SPECIAL_SHARE, MOST_SPECIAL = 0.05, 5
SPECIAL_ROWS = 10
_AGE = re.compile(r"(^|[_\-. ])age([_\-. ]|$)", re.IGNORECASE)
_PERSON = re.compile(
    r"(^|[_\-. ])(patient|person|user|customer|client|member|subject|student|employee)?"
    r"[_\-. ]?(id|nr|no|number|key)$",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?")


def suggest_schema(frame: pd.DataFrame, *, told: Callable[[float], None] = lambda share: None) -> Schema:
    """Propose kinds, bounds, categories and the privacy unit from a look at the data.

    Every column carries its reason; every fact that could change with one person's rows is marked in
    `from_data`, also that a column was left out, because facts that follow the data reveal it. What comes
    from convention alone, such as ages from 0 to 119, is not. Confirm or replace each of them.

    Args: told: hears the share of the columns that are done.

    Raises: SchemaError when no column can be released.
    """
    duplicated = frame.columns[frame.columns.duplicated()]
    if len(duplicated):
        raise SchemaError(
            "the table has more than one column {duplicated!r}",
            remedy="rename one of them",
            duplicated=str(duplicated[0]),
        )
    unit = _unit(frame)
    columns: list[Column] = []
    excluded: list[Excluded] = []
    for place, name in enumerate(frame.columns):
        told(place / len(frame.columns))
        suggestion = (
            Excluded(name=str(name), reason="it names the person whom a row is about")
            if str(name) == unit.id_column
            else _suggest(str(name), frame[name])
        )
        if isinstance(suggestion, Excluded):
            excluded.append(dataclasses.replace(suggestion, from_data=("kind",)))
        else:
            columns.append(suggestion)
    if not columns:
        raise SchemaError(
            "no column of the table can be released as it is",
            remedy="declare the columns by hand",
        )
    return Schema(columns=tuple(map(_marked, columns)), unit=unit, excluded=tuple(excluded))


def _marked(column: Column) -> Column:
    """Mark every fact that could be another one if one person's rows were others.

    The kind and whether something is missing were looked up for every column; `_suggest` marks what else.
    """
    return dataclasses.replace(column, from_data=(*column.from_data, "kind", "missing", "missing_tokens"))


def _unit(frame: pd.DataFrame) -> PrivacyUnit:
    for name in frame.columns:
        if _PERSON.search(str(name)) and frame[name].notna().all() and frame[name].duplicated().any():
            return PrivacyUnit(max_rows=1, id_column=str(name))
    return PrivacyUnit(max_rows=1)


def _suggest(name: str, values: pd.Series) -> Column | Excluded:
    texts = None if pd.api.types.is_numeric_dtype(values.dtype) else as_text(values)
    tokens: tuple[str, ...] = ()
    if texts is not None and not pd.api.types.is_datetime64_any_dtype(values.dtype):
        found = set(texts[texts.isin(MISSING_TOKENS)].unique())
        tokens = tuple(token for token in MISSING_TOKENS if token in found)
    present = values[~values.isna() & (~texts.isin(tokens) if texts is not None else True)]
    missing = len(present) < len(values)
    if present.empty:
        return Excluded(name=name, reason="every value is missing")
    distinct = present.nunique()
    held = detect(name, as_text(pd.Series(present.unique())).tolist())
    if (
        held is not None
        and held.kind not in (*PLACES, "date")
        and not (
            held.kind == "personal number" and distinct <= MAX_CATEGORIES and distinct < len(present) / 10
        )
    ):
        return Excluded(name=name, reason=Text("it looks like {kind}", kind=held.kind))
    base: dict[str, Any] = {"name": name, "missing": missing, "missing_tokens": tokens}
    if pd.api.types.is_bool_dtype(values.dtype):
        return Boolean(**base, reason="every value is true or false")
    if pd.api.types.is_datetime64_any_dtype(values.dtype) and not has_days(present):
        return Excluded(name=name, reason="it has dates before the year 1 or after 9999")
    if pd.api.types.is_datetime64_any_dtype(values.dtype) or _looks_like_dates(present):
        return _date(base, present)
    numbers = pd.to_numeric(present, errors="coerce") if not _has_leading_zeros(present) else None
    if numbers is not None and (numbers.abs() < 1e300).all():
        if _PERSON.search(name) and distinct == len(present) > 1:
            return Excluded(name=name, reason="every row has its own number, so it may name people")
        return _number(base, numbers)
    if (labels := _yes_and_no(present)) is not None:
        return Boolean(
            **base,
            true_label=labels[0],
            false_label=labels[1],
            from_data=("true_label", "false_label"),
            reason="every value is a word for yes or no",
        )
    if distinct > MAX_CATEGORIES or distinct > max(len(present) / 2, 20):
        return Excluded(
            name=name,
            reason="most values are different texts, so it may name people"
            if distinct > len(present) / 2
            else f"more than {MAX_CATEGORIES} different texts",
        )
    categories = tuple(sorted(as_text(present).unique()))
    return Categorical(
        **base,
        categories=categories,
        from_data=("categories", "other"),
        reason="a text with few different values",
    )


def _yes_and_no(present: pd.Series) -> tuple[str, str] | None:
    """The two texts, yes first, if there are no others."""
    texts = sorted(as_text(present.drop_duplicates()).unique())
    if len(texts) != 2:
        return None
    for yes, no in YES_AND_NO:
        for pair in (texts, texts[::-1]):
            if pair[0].lower() == yes and pair[1].lower() == no:
                return pair[0], pair[1]
    return None


def _looks_like_dates(present: pd.Series) -> bool:
    if pd.api.types.is_numeric_dtype(present.dtype):
        return False
    texts = as_text(present)
    if not texts.head(100).map(lambda text: bool(_DATE.fullmatch(text))).all():
        return False
    return has_days(texts)


def _has_leading_zeros(present: pd.Series) -> bool:
    """Codes such as the zip 01234 are texts, not numbers."""
    if pd.api.types.is_numeric_dtype(present.dtype):
        return False
    return bool(as_text(present).str.match(r"0\d").any())


def _date(base: dict[str, Any], present: pd.Series) -> Date:
    days = days_in(present)
    low, high = str(days.min()), str(days.max())
    years = (days.max() - days.min()).astype(np.int64) / 365
    step = "month" if years <= 10 else "quarter" if years <= 30 else "year"
    return Date(
        **base,
        low=f"{low[:4]}-01-01",
        high=f"{high[:4]}-12-31",
        step=step,
        from_data=("low", "high", "step"),
        reason=Text("every value is a date; bounds at whole years, one cell per {step}", step=step),
    )


def _number(base: dict[str, Any], numbers: pd.Series) -> Column:
    low, high = float(numbers.min()), float(numbers.max())
    whole = bool((numbers == np.floor(numbers)).all()) and max(abs(low), abs(high)) < 2**52
    name = str(base["name"])
    if whole and _AGE.search(name):
        return Integer(**base, low=0, high=119, reason="whole numbers, and the name says age: 0 to 119")
    if whole and high - low < TARGET_CELLS:
        return Integer(
            **base,
            low=int(low),
            high=int(high),
            from_data=("low", "high", "bin_width"),
            reason="whole numbers over a short range, one cell each",
        )
    special = _special(numbers)
    inner = numbers[~numbers.isin(_far(numbers))]
    low, high = float(inner.min()), float(inner.max())
    largest = max(abs(low), abs(high))
    width = _round_width(max((high - low) / TARGET_CELLS, largest * 1e-10) if high > low else largest)
    if whole and low == 0 and high >= TARGET_CELLS and (numbers == 0).mean() > 0.5:
        *cuts, end = _rising(high)
        return Integer(
            **base,
            low=0,
            high=end - 1,
            cuts=tuple(cuts),
            special=tuple(map(int, special)),
            from_data=("low", "high", "cuts", "special"),
            reason=Text("whole numbers, mostly 0: a cell for 0, and cells that grow with the numbers"),
        )
    if whole:
        step = max(1, math.ceil(width))
        first = math.floor(low / step) * step
        last = math.floor(high / step) * step + step - 1
        special = tuple(value for value in special if step > 1 or not first <= value <= last)
        return Integer(
            **base,
            low=first,
            high=last,
            bin_width=step,
            special=tuple(map(int, special)),
            from_data=("low", "high", "bin_width", *(("special",) if special else ())),
            reason=Text(
                "whole numbers over a wide range, cells of {step}; numbers that many share have their own"
                if special
                else "whole numbers over a wide range, cells of {step}",
                step=step,
            ),
        )
    start = _multiple(math.floor(low / width), width)
    stop = _multiple(math.floor(high / width) + 1, width)
    return Real(
        **base,
        low=start if start <= low else start - width,
        high=stop if stop >= high else stop + width,
        bin_width=width,
        special=special,
        from_data=("low", "high", "bin_width", *(("special",) if special else ())),
        reason=Text(
            "decimal numbers, cells of {width:g}; numbers that many share have their own"
            if special
            else "decimal numbers, cells of {width:g}",
            width=width,
        ),
    )


def _special(numbers: pd.Series) -> tuple[float, ...]:
    """Numbers that deserve a cell of their own: those that many rows share, and codes far from all others."""
    counts = numbers.value_counts()
    many = counts[(counts >= SPECIAL_SHARE * len(numbers)) & (counts >= SPECIAL_ROWS)].index[:MOST_SPECIAL]
    return tuple(sorted({*many.astype("float64"), *_far(numbers)}))


def _far(numbers: pd.Series) -> list[float]:
    """A largest or smallest number, such as 99999, that is further from all others than they are wide."""
    values = np.sort(numbers.unique().astype(np.float64))
    if len(values) < 4:
        return []
    far = []
    if values[-1] - values[-2] > values[-2] - values[0]:
        far.append(float(values[-1]))
    if values[1] - values[0] > values[-1] - values[1]:
        far.append(float(values[0]))
    return [value for value in far if (numbers == value).sum() >= SPECIAL_ROWS]


def _rising(high: float) -> list[int]:
    """The series 1, 2, 5, 10, ... of the last three powers of ten, to the first number above `high`."""
    last = int(math.log10(high))
    series = [step * 10**power for power in range(max(1, last - 2), last + 2) for step in (1, 2, 5)]
    return series[: next(place for place, bound in enumerate(series) if bound > high) + 1]


def _multiple(times: int, width: float) -> float:
    """In twelve digits, so that 3 times 0.1 is 0.3."""
    return float(f"{times * width:.12g}")


def _round_width(width: float) -> float:
    """The next width of the series 1, 2, 5, 10, ...; 1 for next to nothing."""
    if width < 1e-300:
        return 1.0
    power = 10.0 ** math.floor(math.log10(width))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= width * (1 - 1e-9))
