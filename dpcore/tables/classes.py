"""Codes of the distinct values of columns, and classes of rows that share them.

Everything that counts rows in this package without a lattice counts these codes. A missing value is a leaf of
its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpcore.errors import ParameterError, no_column, no_rows
from dpcore.schema.values import MISSING, canonical, plain, texts

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
TextArray = NDArray[np.object_]


@dataclass(frozen=True, kw_only=True)
class Leaves:
    """One column as codes of its distinct values.

    Attributes:
        codes: (rows,) index into `labels`.
        values: the distinct values, sorted, as numbers or dates, or texts; without a missing one.
        has_missing: whether a value is missing, which is the last leaf then.
        positions: (leaves,) where an ordered column's values lie, None for categories. A missing value lies
            one domain width above the largest value, so that no class mixes it with the others cheaply.
        width: the distance between the lowest and highest value of an ordered column; 1 if they are one.
    """

    name: str
    codes: IntArray
    values: Any
    has_missing: bool
    positions: FloatArray | None
    width: float

    @cached_property
    def labels(self) -> TextArray:
        """(leaves,) the distinct values as text."""
        labels = self.values if self.values.dtype == object else np.array(texts(self.values), dtype=object)
        return np.append(labels, MISSING) if self.has_missing else labels


def leaves_of(frame: pd.DataFrame, name: str) -> Leaves:
    """Return the leaves of a column, ordered for finite numbers and dates.

    Raises: SchemaError when the frame has no such column or no rows.
    """
    if name not in frame.columns:
        raise no_column(name)
    column = frame[name]
    if column.empty:
        raise no_rows()
    is_date = pd.api.types.is_datetime64_any_dtype(column)
    is_number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    positions, width = None, 1.0
    if is_date or is_number:
        codes, values = pd.factorize(column, sort=True)
        positions = np.asarray(pd.DatetimeIndex(values).asi8 if is_date else values, dtype=np.float64)
        width = float(np.ptp(positions)) if len(positions) > 1 else 1.0
        if not np.isfinite(positions).all():  # infinity has no place on a scale
            positions, width = None, 1.0
    else:
        content = canonical(column)
        shown = [plain(value) for value in content.values]
        # a category may have no rows
        rows_of = np.bincount(content.codes + 1, minlength=len(shown) + 1)[1:]
        present = {text for text, rows in zip(shown, rows_of, strict=True) if rows}
        values = np.array(sorted(present), dtype=object)  # type: ignore[assignment]
        place = {text: code for code, text in enumerate(values)}
        codes = content.put(np.array([place.get(text, -1) for text in shown], dtype=np.int64), -1)
    has_missing = bool((codes < 0).any())
    if has_missing:
        codes = np.where(codes < 0, len(values), codes)
        if positions is not None:
            positions = np.append(positions, positions[-1:].sum() + width)
    codes = codes.astype(np.int64, copy=False)
    return Leaves(
        name=name, codes=codes, values=values, has_missing=has_missing, positions=positions, width=width
    )


def dense(keys: IntArray, bound: int) -> IntArray:
    """Map keys in [0, bound) to indices 0, 1, 2, ... in the same order and without gaps."""
    if bound <= 4 * len(keys):
        present = np.zeros(bound, dtype=bool)
        present[keys] = True
        number = np.cumsum(present, dtype=np.min_scalar_type(len(keys)))
        return number[keys].astype(np.int64) - 1
    order = ascending(keys, bound)
    starts, index = starts_of(keys[order]), np.empty(len(keys), dtype=np.int64)
    index[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(keys)))
    return index


def ascending(keys: IntArray, bound: int) -> IntArray | slice:
    """Return the order that sorts keys in [0, bound), equal ones as they stand, by digits of 16 bits."""
    if (keys[1:] >= keys[:-1]).all():
        return slice(None)
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    for shift in range(16, (bound - 1).bit_length(), 16):
        order = order[np.argsort((keys >> shift).astype(np.uint16)[order], kind="stable")]
    return order


def class_index(columns: Sequence[IntArray]) -> IntArray:
    """Return the class of each row by its codes, of shape (rows,), numbered in their order."""
    return dense(*joint_keys(columns))


def joint_keys(columns: Sequence[IntArray]) -> tuple[IntArray, int]:
    """Return a number for each row by its codes, of shape (rows,), in their order, and what all are below."""
    index, bound = np.zeros(len(columns[0]), dtype=np.int64), 1
    for codes in columns:
        width = int(codes.max(initial=0)) + 1
        if bound * width >= 2**62:
            index = dense(index, bound)
            bound = int(index.max()) + 1
        index *= width
        index += codes
        bound *= width
    return index, bound


def class_sizes(keys: IntArray) -> IntArray:
    """Return how many rows have each key that is there, of shape (classes,), in the order of the keys."""
    largest = int(keys.max(initial=0))
    if largest < len(keys):
        sizes = np.bincount(keys)
        return sizes[sizes > 0]
    starts = starts_of(np.sort(keys.astype(np.uint32) if largest < 2**32 else keys))
    return np.diff(starts, append=len(keys))


def equivalence_classes(frame: pd.DataFrame, columns: Sequence[str]) -> IntArray:
    """Return the class of each row, of shape (rows,), equal where rows agree on all the columns.

    Raises: ParameterError without columns; SchemaError for an unknown column or an empty table.
    """
    check_columns(columns)
    return class_index([leaves_of(frame, name).codes for name in columns])


def joint_classes(
    left: pd.DataFrame, right: pd.DataFrame, columns: Sequence[str]
) -> tuple[IntArray, IntArray]:
    """Return the classes of two tables by one numbering, equal for equal values.

    Raises: as `equivalence_classes`, for either table.
    """
    check_columns(columns)
    joint = []
    for name in columns:
        sides = [leaves_of(frame, name) for frame in (left, right)]
        labels = [side.labels[side.codes] for side in sides]
        joint.append(pd.factorize(np.concatenate(labels), sort=True)[0].astype(np.int64))
    both = class_index(joint)
    return both[: len(left)], both[len(left) :]


def check_columns(columns: Sequence[str]) -> None:
    """Refuse an empty choice of quasi-identifiers."""
    if not len(columns):
        raise ParameterError("there is no quasi-identifier", remedy="give a column this role")


def counted_pairs(
    groups: IntArray, codes: IntArray, weights: IntArray | None = None
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the sorted (group, code) pairs that occur, and the rows, or summed weights, of each.

    The work follows the rows. Weights are above 0.

    """
    width = int(codes.max(initial=0)) + 1
    keys, bound = groups * width + codes, (int(groups.max(initial=-1)) + 1) * width
    if bound <= 8 * len(keys):
        counts = np.bincount(keys, weights, bound)
        present = np.flatnonzero(counts)
        counts = counts[present]
    elif weights is None:
        present, counts = np.unique(keys, return_counts=True)
    else:
        present, place = np.unique(keys, return_inverse=True)
        counts = np.bincount(place, weights)
    return present // width, present % width, counts.astype(np.int64)


def starts_of(groups: IntArray) -> IntArray:
    """Return the place of the first of each run of equal numbers in a sorted array."""
    first = np.empty(len(groups), dtype=bool)
    first[:1] = True
    np.not_equal(groups[1:], groups[:-1], out=first[1:])
    return first.nonzero()[0]
