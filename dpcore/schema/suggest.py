"""Propose a schema for a table. A person confirms it.

What it took from the data is marked.
"""

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from dpcore.errors import SchemaError
from dpcore.schema.column import Boolean, Categorical, Column
from dpcore.schema.date import Date, are_days, days_in, has_days
from dpcore.schema.detector import PLACES, detect
from dpcore.schema.interval import IntervalColumn
from dpcore.schema.numbers import column_of_numbers
from dpcore.schema.schema import Excluded, Schema
from dpcore.schema.unit import PrivacyUnit
from dpcore.schema.values import as_text, is_exact
from dpcore.schema.words import YES_AND_NO, means_missing
from dpcore.text import Text

MAX_CATEGORIES = 200
MOST = 0.98
"""Share of a column's values that decides what kind it is; the others count as missing."""
LEAST_RUNNING = 20
"""Rows from which on 1, 2, 3, ... are a running number."""
_CENSORED = re.compile(r"([<>≤≥]=?) ?(-?[0-9]+(?:[.,][0-9]+)?)")
_PERSON = re.compile(
    r"(^|[_\-. ])(patient|person|user|customer|client|member|subject|student|employee)?"
    r"[_\-. ]?(id|nr|no|number|key)$",
    re.IGNORECASE,
)
_DATE = r"\d{4}-\d{2}-\d{2}(?:[T ].*)?"


def suggest_schema(frame: pd.DataFrame, *, on_share: Callable[[float], None] = lambda share: None) -> Schema:
    """Propose kinds, bounds, categories and the privacy unit from a look at the data.

    Every column carries its reason; every fact that could change with one person's rows is marked in
    `from_data`, also that a column was left out, because facts that follow the data reveal it. What comes
    from convention alone, such as ages from 0 to 119, is not. Confirm or replace each of them.

    Args:
        frame: the table, one row per record of a person.
        on_share: called with the share of the columns that are done, from 0 to 1.

    Raises: SchemaError when no column can be released.

    >>> import pandas as pd
    >>> schema = suggest_schema(pd.DataFrame({"age": [17, 20, 99], "sex": ["F", "M", "M"]}))
    >>> [(column.name, column.kind, column.reason) for column in schema.columns]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('age', 'integer', 'whole numbers, and the name says age: 0 to 119'),
     ('sex', 'categorical', 'it has few different values')]
    >>> schema.from_data["sex"]
    ('categories', 'other', 'kind', 'missing', 'missing_tokens')
    """
    duplicated = frame.columns[frame.columns.duplicated()]
    if len(duplicated):
        raise SchemaError(
            "the table has more than one column {column!r}",
            remedy="rename one of them",
            column=str(duplicated[0]),
        )
    unit = _unit(frame)
    columns: list[Column] = []
    excluded: list[Excluded] = []
    for place, name in enumerate(frame.columns):
        on_share(place / len(frame.columns))
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
        raise SchemaError("no column is left", remedy="keep at least one column")
    return Schema(columns=tuple(map(_marked, columns)), unit=unit, excluded=tuple(excluded))


def _marked(column: Column) -> Column:
    """Mark every fact that could be another one if one person's rows were others.

    The kind and what is missing were looked up for every column; `_suggest` marks what else.
    """
    facts: tuple[str, ...] = ("kind", "missing", "missing_tokens")
    if isinstance(column, IntervalColumn):
        facts = (*facts, "unreadable_is_missing", "synonyms")
    return dataclasses.replace(column, from_data=(*column.from_data, *facts))


def _unit(frame: pd.DataFrame) -> PrivacyUnit:
    for name in frame.columns:
        values = frame[name]
        if not _PERSON.search(str(name)) or values.isna().any() or not values.duplicated().any():
            continue
        if not pd.api.types.is_float_dtype(values.dtype) or (values % 1 == 0).all():  # decimals are no ids
            return PrivacyUnit(max_rows=1, id_column=str(name))
    return PrivacyUnit(max_rows=1)


def _suggest(name: str, values: pd.Series) -> Column | Excluded:
    is_text = not pd.api.types.is_numeric_dtype(values.dtype)
    is_stamp = pd.api.types.is_datetime64_any_dtype(values.dtype)
    texts = as_text(values) if is_text else None
    tokens: tuple[str, ...] = ()
    if texts is not None and not is_stamp:
        tokens = tuple(sorted(text for text in texts.dropna().unique() if means_missing(text)))
    present = values[~values.isna() & (~texts.isin(tokens) if texts is not None else True)]
    missing = len(present) < len(values)
    if present.empty:
        return Excluded(name=name, reason="every value is missing")
    distinct = present.nunique()
    detection = detect(name, as_text(pd.Series(present.unique())).tolist())
    if (
        detection is not None
        and detection.kind not in (*PLACES, "date")
        and not (
            detection.kind == "personal number"
            and distinct <= MAX_CATEGORIES
            and distinct < len(present) / 10
        )
    ):
        return Excluded(name=name, reason=Text("it looks like {kind}", kind=detection.kind))
    base: dict[str, Any] = {"name": name, "missing": missing, "missing_tokens": tokens}
    if pd.api.types.is_bool_dtype(values.dtype):
        return Boolean(**base, reason="it has few different values")
    if is_stamp and not has_days(present):
        return Excluded(name=name, reason="it has dates before the year 1 or after 9999")
    days = present if is_stamp else _days(present)
    if len(days) >= MOST * len(present):
        return _date(base | _unreadable(days, present), days)
    numbers, censored = _numbers(present)
    if len(numbers) >= MOST * len(present):
        if _is_running(numbers) or (_PERSON.search(name) and distinct == len(present) > 1):
            return Excluded(name=name, reason="it has too many different values, and they may name people")
        return _of_numbers(base | _unreadable(numbers, present), numbers, censored)
    if (labels := _yes_and_no(present)) is not None:
        return Boolean(
            **base,
            true_label=labels[0],
            false_label=labels[1],
            from_data=("true_label", "false_label"),
            reason="it has few different values",
        )
    if distinct > MAX_CATEGORIES or distinct > max(len(present) / 2, 20):
        return Excluded(name=name, reason="it has too many different values, and they may name people")
    categories = tuple(sorted(as_text(present).unique()))
    return Categorical(
        **base, categories=categories, from_data=("categories", "other"), reason="it has few different values"
    )


def _days(present: pd.Series) -> pd.Series:
    """Return the values that are written as days."""
    if pd.api.types.is_numeric_dtype(present.dtype):
        return present[:0]
    texts = as_text(present)
    if texts.head(100).str.fullmatch(_DATE).mean() < 0.5:
        return present[:0]
    return present[texts.str.fullmatch(_DATE).to_numpy(dtype=bool) & are_days(texts)]


def _unreadable(read: pd.Series, present: pd.Series) -> dict[str, bool]:
    """Return the facts that count values as missing which are not of the kind of most."""
    return {"missing": True, "unreadable_is_missing": True} if len(read) < len(present) else {}


def _numbers(present: pd.Series) -> tuple[pd.Series, dict[str, float]]:
    """Return the numbers of a column, and the number that each censored text counts as.

    Codes such as the zip 01234 are texts, not numbers; a column with one has none.
    """
    if pd.api.types.is_numeric_dtype(present.dtype):
        if is_exact(present.dtype) or present.dtype.kind == "f":
            present = present.astype("float64")  # which holds 1e300, and is what is declared
        return present[present.abs() < 1e300], {}
    texts = as_text(present)
    if texts.str.match(r"0\d").any():
        return present[:0], {}
    numbers = pd.to_numeric(texts, errors="coerce")
    matches = {text: _CENSORED.fullmatch(text) for text in texts[numbers.isna()].unique()}
    censored = {
        text: float(match[2].replace(",", ".")) / (2 if match[1] in "<=≤" else 1)
        for text, match in matches.items()
        if match is not None
    }
    numbers = numbers.fillna(texts.map(censored))
    return numbers[numbers.abs() < 1e300], censored


def _of_numbers(base: dict[str, Any], numbers: pd.Series, censored: dict[str, float]) -> Column:
    """Declare a column of numbers, in which each censored text counts as a number with its own cell."""
    column = column_of_numbers(base, numbers, tuple(censored.values()))
    if not censored:
        return column
    synonyms = tuple((text, f"{number:.12g}") for text, number in sorted(censored.items()))
    return dataclasses.replace(column, synonyms=synonyms)


def _is_running(numbers: pd.Series) -> bool:
    """Return whether the rows are numbered 0, 1, 2, ... or 1, 2, 3, ..., in any order."""
    count, first = len(numbers), numbers.min()
    return bool(
        count >= LEAST_RUNNING
        and first in (0, 1)
        and numbers.max() == int(first) + count - 1  # small types hold fewer numbers than there are rows
        and numbers.nunique() == count
    )


def _yes_and_no(present: pd.Series) -> tuple[str, str] | None:
    """Return the two texts, yes first, if there are no others."""
    texts = sorted(as_text(present.drop_duplicates()).unique())
    if len(texts) != 2:
        return None
    for yes, no in YES_AND_NO:
        for pair in (texts, texts[::-1]):
            if pair[0].lower() == yes and pair[1].lower() == no:
                return pair[0], pair[1]
    return None


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
        reason=Text("the values are dates; bounds at whole years, one cell per {step}", step=step),
    )
