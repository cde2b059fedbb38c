"""Conversion of tables made elsewhere, or anonymized, to the cells of a schema.

A label for several values is read as those values. Nobody can tell which of them a row
had, so each of them counts as often as the others.
"""

import dataclasses
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.evaluation._records import (
    INTERVAL_PATTERN,
    Bools,
    Codes,
    read_numbers,
    read_texts,
)
from dpcore.schema.column import Column
from dpcore.schema.interval import IntervalColumn
from dpcore.schema.origin import CENSORED_RULE
from dpcore.schema.schema import Schema
from dpcore.schema.values import MISSING, SUPPRESSED, as_text

_FLOW_UNITS = 10**9
"""Units of a whole table in a flow, whose capacities are whole numbers."""
_INTERVAL_OR_DATES = re.compile(rf"{INTERVAL_PATTERN}|^[\[(](.+), (.+)[\])]$")
"""Two numbers, or two dates in brackets."""


Meanings = Mapping[str, Mapping[str, Sequence[str | None]]]
"""Column -> label -> the values that it stands for, None for a missing one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LabeledRows:
    """Number of rows with a label, and the cells of the values that it stands for."""

    label: str
    rows: int
    cells: Codes


@dataclass(frozen=True, kw_only=True, eq=False)
class LabeledColumn:
    """Column with labels that stand for several values in some rows.

    Attributes:
        own_counts: (cells,) rows with a value of their own.
        labels: those of the other rows.
    """

    own_counts: Codes
    labels: tuple[LabeledRows, ...]

    @property
    def is_one_label(self) -> bool:
        """Whether every row has the same label of several values."""
        return (
            not self.own_counts.any()
            and len(self.labels) == 1
            and len(self.labels[0].cells) > 1
        )

    def least_distance(self, original: Codes) -> float:
        """Return the least total variation distance from the original, in [0, 1].

        Each row of a label may hold any of its values. What is left whichever they are
        is wrong; the rest of the distance is detail that the labels do not give. The
        best choice is a largest flow from labels to cells (Ford and Fulkerson, 1956).

        Args:
            original: (cells,) rows; not all 0.
        """
        rows = int(self.own_counts.sum()) + sum(label.rows for label in self.labels)
        room = np.rint(original / original.sum() * _FLOW_UNITS).astype(np.int64)
        own = np.rint(self.own_counts / rows * _FLOW_UNITS).astype(np.int64)
        placed = np.minimum(own, room)
        room -= placed
        # Place rows with a value of their own first, since they fit into one cell only
        places = _flow_of_labels(self.labels, room, rows)
        return max(0.0, 1 - float(placed.sum() + places) / _FLOW_UNITS)


def _flow_of_labels(labels: Sequence[LabeledRows], room: Codes, rows: int) -> int:
    """Return how many units of the labels' rows fit into the room of their cells."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    first_cell = 1 + len(labels)
    sink = first_cell + len(room)
    sizes = [np.array([round(label.rows / rows * _FLOW_UNITS)]) for label in labels]
    cells = [label.cells for label in labels]
    source = np.zeros(len(labels), dtype=np.int64)
    numbers = np.arange(1, first_cell)
    repeated = np.repeat(numbers, [len(own) for own in cells])
    every = np.concatenate([*cells, np.zeros(0, dtype=np.int64)])
    tails = np.concatenate([source, repeated, first_cell + np.arange(len(room))])
    heads = np.concatenate([numbers, first_cell + every, np.full(len(room), sink)])
    capacities = np.concatenate([*sizes, np.full(len(every), _FLOW_UNITS), room])
    graph = csr_array(
        (capacities.astype(np.int32), (tails, heads)), shape=(sink + 1, sink + 1)
    )
    return int(maximum_flow(graph, 0, sink).flow_value)


@dataclass(frozen=True, kw_only=True, eq=False)
class DeclaredTable:
    """Table whose values all have cells of a schema.

    Attributes:
        frame: the columns and rows with a cell for each value.
        left_out_columns: columns of the schema in which most values have no cell.
        left_out_row_share: share of the rows with a value without a cell in a column that
            was kept.
        labels: the columns with labels of several values, which were read as those
            values.
        unknown_texts: column -> texts that are none of its values, and of which nobody says
            what they stand for, the most frequent first.
        unknown_row_share: share of the rows that hold such a text.
    """

    frame: pd.DataFrame
    left_out_columns: tuple[str, ...]
    left_out_row_share: float
    labels: Mapping[str, LabeledColumn]
    unknown_texts: Mapping[str, tuple[str, ...]]
    unknown_row_share: float

    @property
    def has_spread_labels(self) -> bool:
        """Whether any label was replaced by the values that it stands for."""
        return bool(self.labels)


@dataclass(frozen=True, kw_only=True, eq=False)
class _SpreadColumn:
    """Column with each label replaced by the values it stands for.

    Attributes:
        values: of all rows.
        rows: label -> its rows, of those that were read.
        cells: label -> cells of its values.
        unknown_texts: other text that is no value -> its rows, the most frequent first.
    """

    values: pd.Series
    rows: dict[str, Codes]
    cells: dict[str, Codes]
    unknown_texts: dict[str, Codes]


def label_meanings(hierarchies: Mapping[str, Hierarchy]) -> Meanings:
    """Return for each column the values that each label of its hierarchy stands for."""
    return {name: _leaves_of_labels(tree) for name, tree in hierarchies.items()}


def fit_to_schema(
    frame: pd.DataFrame,
    schema: Schema,
    meanings: Meanings | None = None,
    *,
    excluded: Collection[str] = (),
) -> DeclaredTable:
    """Keep columns and rows whose values have cells; replace labels by values.

    The same rows are read in the same way every time, whatever their order and however
    they were written.

    Args:
        meanings: what labels stand for that do not say so themselves, as intervals,
            sets, masks and `*` do.
        excluded: columns that are left out as a whole.
    """
    order = _order_by_content(frame)
    frame = frame.iloc[order]
    kept: dict[str, pd.Series] = {}
    left_out = []
    unknown: dict[str, tuple[str, ...]] = {}
    spread: dict[str, _SpreadColumn] = {}
    rng = np.random.default_rng(0)
    fits = np.ones(len(frame), dtype=bool)
    is_unknown = np.zeros(len(frame), dtype=bool)
    for column in schema.columns:
        if column.name not in frame:
            continue
        if column.name in excluded:
            left_out.append(column.name)
            continue
        if column.source_columns != (column.name,):
            # A column derived from several columns is computed later, from these as
            # they are
            kept[column.name] = frame[column.name]
            continue
        read = _spread_labels(
            column, frame[column.name], (meanings or {}).get(column.name, {}), rng
        )
        values = read.values
        if read.unknown_texts:
            unknown[column.name] = tuple(read.unknown_texts)
            is_unknown[np.concatenate([*read.unknown_texts.values()])] = True
        if column.check(values).refused:
            values, readable = _read_values(column, values)
            if readable.mean() < 0.5:
                left_out.append(column.name)
                continue
            fits &= readable
        if read.cells:
            spread[column.name] = read
        kept[column.name] = values
    labels = {
        name: _count_labeled_column(schema.column(name), kept[name], read, fits)
        for name, read in spread.items()
    }
    in_cells = pd.DataFrame(kept, index=frame.index)[fits].iloc[np.argsort(order[fits])]
    return DeclaredTable(
        frame=in_cells.reset_index(drop=True),
        left_out_columns=tuple(left_out),
        left_out_row_share=float(1 - fits.mean()) if len(fits) else 0.0,
        labels=labels,
        unknown_texts=unknown,
        unknown_row_share=float(is_unknown.mean()) if len(fits) else 0.0,
    )


def _count_labeled_column(
    column: Column, values: pd.Series, read: _SpreadColumn, fits: Bools
) -> LabeledColumn:
    """Count the fitting rows of a column: values by cell, and labels."""
    is_own = fits.copy()
    for rows in read.rows.values():
        is_own[rows] = False
    codes = column.encode(values[is_own])
    labels = (
        LabeledRows(label=label, rows=int(fits[rows].sum()), cells=read.cells[label])
        for label, rows in read.rows.items()
    )
    return LabeledColumn(
        own_counts=np.bincount(codes, minlength=column.size).astype(np.int64),
        labels=tuple(label for label in labels if label.rows),
    )


def _order_by_content(frame: pd.DataFrame) -> Codes:
    """Return row indices in an order that depends on the rows' content alone."""
    if frame.empty:
        return np.arange(len(frame))
    columns = sorted(frame.columns, key=str)
    ranks = [pd.factorize(as_text(frame[name]), sort=True)[0] for name in columns]
    return np.lexsort(ranks)


def _spread_labels(
    column: Column,
    values: pd.Series,
    meanings: Mapping[str, Sequence[str | None]],
    rng: np.random.Generator,
) -> _SpreadColumn:
    """Replace each label by its values, evenly and in random rows."""
    read = values.astype(object)
    rows: dict[str, Codes] = {}
    cells: dict[str, Codes] = {}
    unknown: dict[str, Codes] = {}
    labels = {} if values.dtype.kind in "iufbM" else _find_label_rows(column, values)
    for label, places in labels.items():
        meant, covered = _values_and_cells_of_label(
            column, label, len(places), meanings.get(label, ())
        )
        if not len(meant):
            unknown[label] = places
            continue
        rows[label] = places
        cells[label] = covered
        read.iloc[places] = rng.permutation(
            np.resize(rng.permutation(np.array(meant, object)), len(places))
        )
    return _SpreadColumn(
        values=read if rows else values,
        rows=rows,
        cells=cells,
        unknown_texts=dict(sorted(unknown.items(), key=lambda item: -len(item[1]))),
    )


def _values_and_cells_of_label(
    column: Column, label: str, rows: int, leaves: Sequence[str | None]
) -> tuple[Sequence[object], Codes]:
    """Return the values that a label stands for, and their cells.

    A label that says so itself is read as it is written, with a plan and without one.

    Args:
        rows: in which it stands.
        leaves: the values, as somebody said them; may be empty.
    """
    every = values = _values_of_label(column, label, rows)
    if not len(values):
        # Leave out leaves without a cell, since no row can have had them
        readable = _read_values(column, pd.Series(leaves, dtype=object))[1]
        every = values = [
            leaf for leaf, is_read in zip(leaves, readable, strict=True) if is_read
        ]
    elif isinstance(column, IntervalColumn):
        every = [*values, *_values_of_label(column, label, 0)]
    if not len(values):
        return (), np.zeros(0, dtype=np.int64)
    read = _read_values(column, pd.Series(np.array(every, object)))[0]
    return values, np.unique(column.encode(read))


def _find_label_rows(column: Column, values: pd.Series) -> dict[str, Codes]:
    """Return the row indices of each text that is not a value of the column."""
    if isinstance(column, IntervalColumn):
        texts = as_text(values)
        # Read a text such as "<20" as a label, not as a censored number
        rules = tuple(rule for rule in column.rules if rule != CENSORED_RULE)
        column = dataclasses.replace(column, rules=rules)
        is_number = ~np.isnan(read_numbers(column, texts)) & ~texts.str.match(
            INTERVAL_PATTERN, na=False
        )
        texts = texts.mask(is_number | column.is_missing(values))
    else:
        texts = read_texts(column, values)
        texts = texts.mask(texts.isin(column.declared_labels))
    rows: dict[Any, Any] = texts.groupby(texts).indices
    return rows


def _leaves_of_labels(hierarchy: Hierarchy) -> dict[str, list[str | None]]:
    """Return the leaves under each label, at the lowest level that has the label."""
    leaves: dict[str, list[str | None]] = {}
    for level in reversed(hierarchy.levels):
        below: dict[str, list[str | None]] = {}
        for leaf, label in zip(hierarchy.values, level, strict=True):
            below.setdefault(label, []).append(None if leaf == MISSING else leaf)
        leaves |= below
    return leaves


def _values_of_label(column: Column, label: str, rows: int) -> Sequence[object]:
    """Return the values that a label spells out; empty if it spells out none.

    Args:
        rows: number of values to return for an interval of numbers, evenly spread; if
            it is 0, one value in each of its cells.
    """
    ends = _INTERVAL_OR_DATES.match(label)
    between = [end for end in ends.groups() if end] if ends else []
    if isinstance(column, IntervalColumn):
        has_fractions = column.holds_numbers and not column.is_whole
        low = column.edges[0]
        high = column.edges[-1]
        if label != SUPPRESSED:
            low, high = read_numbers(column, pd.Series(between or [None, None]))
            high += not has_fractions and not label.endswith(")")
        if np.isnan(low) or np.isnan(high):
            return ()
        places = low + (high - low) * (np.arange(rows) + 0.5) / max(rows, 1)
        if not rows:
            own_places = np.array([low, *column.edges, *getattr(column, "special", ())])
            places = own_places[(own_places >= low) & (own_places < high)]
        places = places if has_fractions else np.floor(places)
        return list(
            pd.Series(places.astype("datetime64[D]")) if column.holds_days else places
        )
    own = column.declared_labels
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
        if column.holds_days:
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
    readable = texts.isin(column.declared_labels).to_numpy(dtype=bool)
    if column.missing:
        readable = readable | texts.isna().to_numpy(dtype=bool)
    return texts, readable
