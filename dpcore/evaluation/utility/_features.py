"""Feature matrices and labels for machine learning.

Features are a matrix of numbers in [-1, 1], labels classes or numbers.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpcore.errors import UsageError
from dpcore.evaluation._records import Codes, Floats, read_numbers, read_texts
from dpcore.schema.column import Column
from dpcore.schema.interval import IntervalColumn
from dpcore.schema.schema import Schema

MAX_CATEGORIES = 50
"""Most features for one column; further categories share the last one."""
MAX_CLASSES = 10
"""Most whole numbers that count as classes, such as labels of -1 and 1."""


def feature_matrix(
    frame: pd.DataFrame, schema: Schema, columns: Sequence[str]
) -> Floats:
    """Return an array of shape (rows, features), scaled by the schema alone.

    Ordered columns are scaled to [-1, 1] by their bounds. The others are one feature
    per declared category. A column with an order that declares missing values has a
    second feature, 1 for missing values. No row depends on other rows.
    """
    return np.column_stack(
        [
            _column_features(schema.column(name), schema.column(name).values_of(frame))
            for name in columns
        ]
    )


def numeric_target(frame: pd.DataFrame, schema: Schema, target: str) -> Floats:
    """Return an ordered target scaled to [-1, 1], with NaN for missing values.

    Two classes are -1 and 1.
    """
    column = schema.column(target)
    if isinstance(column, IntervalColumn) and not (
        has_classes(column) and column.values_size == 2
    ):
        return _scale_to_bounds(column, column.values_of(frame))
    codes = class_numbers(frame, schema, target)
    return np.where(codes < 0, np.nan, 2.0 * codes - 1)


def has_classes(column: Column) -> bool:
    """Return whether a column can be predicted by classification.

    It has classes if it has no order, or few whole numbers in cells of their own.
    """
    if not isinstance(column, IntervalColumn):
        return True
    alone = column.is_whole and bool((column.ends - column.edges[:-1] == 1).all())
    return alone and column.values_size <= MAX_CLASSES


def class_numbers(frame: pd.DataFrame, schema: Schema, target: str) -> Codes:
    """Return the class number of each row, as an array of shape (rows,).

    It is -1 if the class is missing or not declared.
    """
    column = schema.column(target)
    if not has_classes(column):
        raise UsageError(
            f"column {target!r} holds numbers, not classes",
            remedy="predict it by regression",
        )
    if isinstance(column, IntervalColumn):
        values = pd.Index(read_numbers(column, column.values_of(frame)))
        return pd.Index(column.edges[:-1]).get_indexer(values).astype(np.int64)
    return _label_numbers(column, frame[target])


def _column_features(column: Column, values: pd.Series) -> Floats:
    if isinstance(column, IntervalColumn):
        scaled = _scale_to_bounds(column, values)
        missing = np.isnan(scaled)
        filled = np.where(missing, 0.0, scaled)
        return np.column_stack([filled, missing]) if column.missing else filled[:, None]
    codes = np.minimum(_label_numbers(column, values), MAX_CATEGORIES - 1)
    known = min(len(column.declared_labels), MAX_CATEGORIES)
    return np.asarray(codes[:, None] == np.arange(known)[None, :], dtype=np.float64)


def _label_numbers(column: Column, values: pd.Series) -> Codes:
    """Return the index of each row's text among the declared texts.

    It is -1 for an undeclared text.
    """
    labels = pd.Index(column.declared_labels, dtype="str")
    return labels.get_indexer(pd.Index(read_texts(column, values))).astype(np.int64)


def _scale_to_bounds(column: IntervalColumn, values: pd.Series) -> Floats:
    low = float(column.edges[0])
    high = float(column.edges[-1])
    # Clip before scaling, since the largest floats would overflow
    inside = np.clip(read_numbers(column, values), low, high)
    return np.asarray(np.clip(2 * (inside - low) / (high - low) - 1, -1, 1))
