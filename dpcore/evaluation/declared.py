"""Tables made elsewhere, or anonymized, in the cells of a schema.

A label for several values is read as those values. Nobody can tell which of them a row
had, so each of them counts as often as the others.
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.evaluation.records import (
    INTERVAL,
    Bools,
    Codes,
    labels_of,
    read_numbers,
    read_texts,
)
from dpcore.schema.column import Column
from dpcore.schema.date import Date
from dpcore.schema.interval import IntervalColumn, Real
from dpcore.schema.origin import CENSORED
from dpcore.schema.schema import Schema
from dpcore.schema.values import MISSING, SUPPRESSED, as_text

_INTERVAL_OR_DATES = re.compile(rf"{INTERVAL}|^[\[(](.+), (.+)[\])]$")
"""Two numbers, or two dates in brackets."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DeclaredTable:
    """A table in the cells of a schema.

    Attributes:
        frame: the columns and rows with a cell for each value.
        left_out: columns of the schema in which most values have no cell.
        rows_left_out: share of the rows with a value without a cell in a column that
            was kept.
        spread: whether a label of several values was read as those values.
    """

    frame: pd.DataFrame
    left_out: tuple[str, ...]
    rows_left_out: float
    spread: bool


def fit_to_schema(
    frame: pd.DataFrame,
    schema: Schema,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> DeclaredTable:
    """Keep the values with cells of the schema; spread labels over their values.

    The same table is read in the same way every time.

    Args:
        hierarchies: column -> the hierarchy of its labels. Without one, intervals,
            sets, masks and `*` are read as they are written.
    """
    kept: dict[str, pd.Series] = {}
    left_out = []
    rng = np.random.default_rng(0)
    any_spread = False
    fits = np.ones(len(frame), dtype=bool)
    for column in schema.columns:
        if column.name not in frame:
            continue
        if column.reads != (column.name,):
            # it is read together with the other columns, as they are written
            kept[column.name] = frame[column.name]
            continue
        values, is_spread = _spread_labels(
            column, frame[column.name], (hierarchies or {}).get(column.name), rng
        )
        if column.check(values).refused:
            values, readable = _read_values(column, values)
            if readable.mean() < 0.5:
                left_out.append(column.name)
                continue
            fits &= readable
        any_spread |= is_spread
        kept[column.name] = values
    return DeclaredTable(
        frame=pd.DataFrame(kept, index=frame.index)[fits].reset_index(drop=True),
        left_out=tuple(left_out),
        rows_left_out=float(1 - fits.mean()) if len(fits) else 0.0,
        spread=any_spread,
    )


def _spread_labels(
    column: Column,
    values: pd.Series,
    hierarchy: Hierarchy | None,
    rng: np.random.Generator,
) -> tuple[pd.Series, bool]:
    """Replace each label by its values in turn, in random rows.

    Returns: the values, and whether there was any label.
    """
    if values.dtype.kind in "iufbM":
        return values, False
    read = values.astype(object)
    is_spread = False
    leaves = {} if hierarchy is None else _leaves_of_labels(hierarchy)
    for label, rows in _rows_of_labels(column, values).items():
        meant = (
            leaves[label]
            if label in leaves
            else _values_of_label(column, label, len(rows))
        )
        if len(meant):
            read.iloc[rows] = rng.permutation(
                np.resize(rng.permutation(np.array(meant, object)), len(rows))
            )
            is_spread = True
    return (read, True) if is_spread else (values, False)


def _rows_of_labels(column: Column, values: pd.Series) -> dict[str, Codes]:
    """Return the rows of each text that is no value of the column."""
    if isinstance(column, IntervalColumn):
        texts = as_text(values)
        # "<20" is a label here
        rules = tuple(rule for rule in column.rules if rule != CENSORED)
        column = dataclasses.replace(column, rules=rules)
        is_number = ~np.isnan(read_numbers(column, texts)) & ~texts.str.match(
            INTERVAL, na=False
        )
        texts = texts.mask(is_number | column.is_missing(values))
    else:
        texts = read_texts(column, values)
        texts = texts.mask(texts.isin(labels_of(column)))
    rows: dict[Any, Any] = texts.groupby(texts).indices
    return rows


def _leaves_of_labels(hierarchy: Hierarchy) -> dict[str, list[str | None]]:
    """Return the leaves under each label, at its lowest level."""
    leaves: dict[str, list[str | None]] = {}
    for level in reversed(hierarchy.levels):
        below: dict[str, list[str | None]] = {}
        for leaf, label in zip(hierarchy.values, level, strict=True):
            below.setdefault(label, []).append(None if leaf == MISSING else leaf)
        leaves |= below
    return leaves


def _values_of_label(column: Column, label: str, rows: int) -> Sequence[object]:
    """Return the values of a label as it is written; none if it is unknown.

    Args:
        rows: number of values to return for an interval of numbers.
    """
    ends = _INTERVAL_OR_DATES.match(label)
    between = [end for end in ends.groups() if end] if ends else []
    if isinstance(column, IntervalColumn):
        low = column.edges[0]
        high = column.edges[-1]
        if label != SUPPRESSED:
            low, high = read_numbers(column, pd.Series(between or [None, None]))
            high += not isinstance(column, Real) and not label.endswith(")")
        places = low + (high - low) * (np.arange(rows) + 0.5) / rows
        if np.isnan(places).any():
            return ()
        places = places if isinstance(column, Real) else np.floor(places)
        return list(
            places
            if not isinstance(column, Date)
            else pd.Series(places.astype("datetime64[D]"))
        )
    own = labels_of(column)
    if label == SUPPRESSED:
        return own
    if label.startswith("{"):
        several = pd.Series(label[1:-1].split(", "), dtype=object)
        is_missing = (several == MISSING) | column.is_missing(several)
        if not (is_missing | several.isin(own)).all():
            return []
        return [*several.mask(is_missing, None)]
    if label.endswith("*"):
        shown = label.rstrip("*")
        return [
            text for text in own if text.startswith(shown) and len(text) == len(label)
        ]
    low, high = pd.to_numeric(pd.Series(between or [None, None]), errors="coerce")
    numbers = pd.to_numeric(pd.Series(own, dtype=object), errors="coerce")
    return [
        text for text, number in zip(own, numbers, strict=True) if low <= number <= high
    ]


def _read_values(column: Column, values: pd.Series) -> tuple[pd.Series, Bools]:
    if isinstance(column, IntervalColumn):
        numbers = read_numbers(column, values)
        readable = ~np.isnan(numbers) | column.missing
        if isinstance(column, Date):
            days = (
                np.where(np.isnan(numbers), 0, numbers)
                .astype("datetime64[D]")
                .astype("datetime64[s]")
            )
            return pd.Series(days, index=values.index).where(
                ~np.isnan(numbers)
            ), readable
        return pd.Series(numbers, index=values.index), readable
    texts = read_texts(column, values)
    readable = texts.isin(labels_of(column)).to_numpy(dtype=bool)
    if column.missing:
        readable = readable | texts.isna().to_numpy(dtype=bool)
    return texts, readable
