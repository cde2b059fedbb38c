"""Codes of the distinct values of columns, and classes of rows with equal codes.

All code that counts rows without a lattice counts these codes. A missing value is a
leaf of its own.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpcore.errors import ParameterError, missing_column_error, no_rows_error
from dpcore.schema.values import MISSING, canonicalize, list_texts, readable_text

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
TextArray = NDArray[np.object_]
_ROWS_PER_BATCH = 2**20
"""Rows whose keys or digits are computed at a time."""
MAX_ROWS_IN_ONE_PASS = 4_000_000
"""Rows above which classes are counted in several passes, to save memory."""
_LARGE_TABLE_PASSES = 4
"""Passes over the keys of a large table; a power of two."""


@dataclass(frozen=True, kw_only=True)
class Leaves:
    """One column as codes of its distinct values.

    Attributes:
        codes: (rows,) index into `labels`.
        values: the distinct values, sorted, as numbers or dates, or texts; without a
            missing one.
        has_missing: whether a value is missing; it is the last leaf then.
        positions: (leaves,) position of each value of an ordered column, None for
            categories. A missing value lies one domain width above the largest value,
            so that no class mixes it with the others cheaply.
        width: the distance between the lowest and highest value of an ordered column; 1
            if they are one.
    """

    name: str
    codes: IntArray
    values: Any
    has_missing: bool
    positions: FloatArray | None
    width: float

    @cached_property
    def labels(self) -> TextArray:
        """The distinct values as texts, shape (leaves,)."""
        labels = (
            self.values
            if self.values.dtype == object
            else np.array(list_texts(self.values), dtype=object)
        )
        return np.append(labels, MISSING) if self.has_missing else labels


def leaves_of(frame: pd.DataFrame, name: str) -> Leaves:
    """Encode a column by its distinct values, in order for numbers and dates.

    Raises: SchemaError when the frame has no such column or no rows.
    """
    if name not in frame.columns:
        raise missing_column_error(name)
    column = frame[name]
    if column.empty:
        raise no_rows_error()
    is_date = pd.api.types.is_datetime64_any_dtype(column)
    is_number = pd.api.types.is_numeric_dtype(
        column
    ) and not pd.api.types.is_bool_dtype(column)
    positions = None
    width = 1.0
    if is_date or is_number:
        codes, values = pd.factorize(column, sort=True)
        positions = np.asarray(
            pd.DatetimeIndex(values).asi8 if is_date else values, dtype=np.float64
        )
        width = float(np.ptp(positions)) if len(positions) > 1 else 1.0
        # infinity has no position on a scale
        if not np.isfinite(positions).all():
            positions = None
            width = 1.0
    else:
        content = canonicalize(column)
        shown = [readable_text(value) for value in content.values]
        # a category may have no rows
        row_counts = np.bincount(content.codes + 1, minlength=len(shown) + 1)[1:]
        present = {text for text, rows in zip(shown, row_counts, strict=True) if rows}
        values = np.array(sorted(present), dtype=object)  # type: ignore[assignment]
        place = {text: code for code, text in enumerate(values)}
        codes = content.spread_to_rows(
            np.array([place.get(text, -1) for text in shown], dtype=np.int64), -1
        )
    has_missing = bool((codes < 0).any())
    if has_missing:
        codes = np.where(codes < 0, len(values), codes)
        if positions is not None:
            positions = np.append(positions, positions[-1:].sum() + width)
    codes = codes.astype(np.int64, copy=False)
    return Leaves(
        name=name,
        codes=codes,
        values=values,
        has_missing=has_missing,
        positions=positions,
        width=width,
    )


def renumber(keys: IntArray, bound: int) -> IntArray:
    """Renumber keys in [0, bound) as 0, 1, 2, ... in the same order without gaps."""
    if bound <= 4 * len(keys):
        present = np.zeros(bound, dtype=bool)
        present[keys] = True
        number = np.cumsum(present, dtype=np.min_scalar_type(len(keys)))
        numbers = number[keys].astype(np.int64)
        numbers -= 1
        return numbers
    order = sorting_order(keys, bound)
    starts = run_starts(keys[order])
    index = np.empty(len(keys), dtype=np.int64)
    index[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(keys)))
    return index


def sorting_order(keys: IntArray, bound: int) -> IntArray | slice:
    """Return a stable order that sorts keys in [0, bound).

    It sorts by digits of 16 bits, or at once if there are so many rows that memory
    counts more than time.
    """
    if (keys[1:] >= keys[:-1]).all():
        return slice(None)
    if len(keys) > MAX_ROWS_IN_ONE_PASS:
        return _sort_packed(keys, bound)
    order = np.argsort(_extract_16_bits(keys, 0), kind="stable")
    for shift in range(16, (bound - 1).bit_length(), 16):
        order = order[np.argsort(_extract_16_bits(keys, shift)[order], kind="stable")]
    return order


def _sort_packed(keys: IntArray, bound: int) -> IntArray:
    """Return the stable order of keys, sorting each packed with its row number.

    No second array of all rows is needed then.
    """
    bits = len(keys).bit_length()
    if bits + bound.bit_length() > 62:
        return np.argsort(keys, kind="stable")
    packed = np.empty(len(keys), dtype=np.int64)
    for batch in row_batches(len(keys)):
        packed[batch] = keys[batch].astype(np.int64) << bits
        packed[batch] += np.arange(batch.start, batch.start + len(packed[batch]))
    packed.sort()
    packed &= (1 << bits) - 1
    return packed


def _extract_16_bits(keys: IntArray, shift: int) -> NDArray[np.uint16]:
    """Return 16 bits of each key, a batch of rows at a time."""
    digits = np.empty(len(keys), dtype=np.uint16)
    for batch in row_batches(len(keys)):
        digits[batch] = (keys[batch] >> shift).astype(np.uint16)
    return digits


def class_index(columns: Sequence[IntArray]) -> IntArray:
    """Return each row's class number by its codes, shape (rows,), in code order."""
    widths = _widths(columns)
    bound = math.prod(widths)
    rows = len(columns[0])
    if bound > 4 * rows:
        return renumber(*joint_keys(columns))
    present = np.zeros(bound, dtype=bool)
    for batch in row_batches(rows):
        present[_batch_keys(columns, widths, batch)] = True
    number = np.cumsum(present, dtype=np.min_scalar_type(rows))
    classes = np.empty(rows, dtype=np.int64)
    for batch in row_batches(rows):
        classes[batch] = number[_batch_keys(columns, widths, batch)]
    classes -= 1
    return classes


def unique_row_share(columns: Sequence[IntArray]) -> float:
    """Return the share of rows alone in their class.

    Args:
        columns: codes, each (rows,).
    """
    keys = joint_keys(columns)[0]
    rows = len(columns[0])
    if rows <= MAX_ROWS_IN_ONE_PASS:
        return int((class_sizes(keys) == 1).sum()) / rows
    alone = 0
    # Each pass sorts the keys whose lowest bits have one value
    for part in range(_LARGE_TABLE_PASSES):
        ordered = np.concatenate(
            [
                keys[batch][keys[batch] & (_LARGE_TABLE_PASSES - 1) == part]
                for batch in row_batches(rows)
            ]
        )
        ordered.sort()
        # Mark the first row of each class, and the end of the array
        is_first = np.ones(len(ordered) + 1, dtype=bool)
        np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:-1])
        alone += int((is_first[1:] & is_first[:-1]).sum())
    return alone / rows


def _widths(columns: Sequence[IntArray]) -> list[int]:
    return [int(codes.max(initial=0)) + 1 for codes in columns]


def row_batches(rows: int, size: int = 0) -> list[slice]:
    """Return consecutive slices that cover all rows."""
    size = size or _ROWS_PER_BATCH
    return [slice(start, start + size) for start in range(0, rows, size)]


def has_few_cells(cells: int, rows: int) -> bool:
    """Return whether an array of all cells needs much less memory than the rows."""
    return rows > _ROWS_PER_BATCH and cells <= max(_ROWS_PER_BATCH, rows // 4)


def count_codes(codes: NDArray[Any]) -> IntArray:
    """Count the rows of each code in batches, shape (codes,)."""
    counts = np.zeros(int(codes.max()) + 1 if len(codes) else 0, dtype=np.int64)
    for batch in row_batches(len(codes)):
        counts += np.bincount(codes[batch], minlength=len(counts))
    return counts


def last_rows(classes: IntArray) -> IntArray:
    """Return the index of the last row of each class, shape (classes,)."""
    last = np.empty(int(classes.max(initial=-1)) + 1, dtype=np.int64)
    for batch in row_batches(len(classes)):
        part = classes[batch]
        last[part] = np.arange(batch.start, batch.start + len(part))
    return last


def _batch_keys(
    columns: Sequence[IntArray], widths: Sequence[int], batch: slice
) -> IntArray:
    """Return an integer key for each row of a batch, made from its codes."""
    keys = np.zeros(len(columns[0][batch]), dtype=np.int64)
    for codes, width in zip(columns, widths, strict=True):
        keys *= width
        keys += codes[batch]
    return keys


def joint_keys(columns: Sequence[IntArray]) -> tuple[IntArray, int]:
    """Return an integer key for each row, made from its codes, and an upper bound.

    Numbers are in the order of the codes, all below the bound. They have 32 bits if
    these suffice for all combinations of codes.
    """
    widths = _widths(columns)
    small = math.prod(widths) < 2**31
    index: IntArray = np.zeros(len(columns[0]), dtype=np.int32 if small else np.int64)
    bound = 1
    for codes, width in zip(columns, widths, strict=True):
        if bound * width >= 2**62:
            index = renumber(index, bound)
            bound = int(index.max()) + 1
        index *= width
        np.add(index, codes, out=index, casting="unsafe")
        bound *= width
    return index, bound


def class_sizes(keys: IntArray) -> IntArray:
    """Return the rows of each occurring key, ordered by key, shape (classes,)."""
    largest = int(keys.max(initial=0))
    if largest < len(keys):
        sizes = np.bincount(keys)
        return sizes[sizes > 0]
    small: Any = np.uint32 if largest < 2**32 else np.int64
    ordered: IntArray = keys.astype(small)
    ordered.sort()
    starts = run_starts(ordered)
    del ordered
    return np.diff(starts, append=len(keys))


def equivalence_classes(frame: pd.DataFrame, columns: Sequence[str]) -> IntArray:
    """Return each row's class: rows that agree on all the columns share one.

    Raises: ParameterError without columns; SchemaError for an unknown column or an
        empty table.
    """
    check_columns(columns)
    return class_index([leaves_of(frame, name).codes for name in columns])


def joint_classes(
    left: pd.DataFrame,
    right: pd.DataFrame,
    columns: Sequence[str],
) -> tuple[IntArray, IntArray]:
    """Return the classes of two tables, numbered alike for equal values.

    Raises: as `equivalence_classes`, for either table.
    """
    check_columns(columns)
    joint = []
    for name in columns:
        sides = [leaves_of(frame, name) for frame in (left, right)]
        labels = [side.labels[side.codes] for side in sides]
        joint.append(
            pd.factorize(np.concatenate(labels), sort=True)[0].astype(np.int64)
        )
    both = class_index(joint)
    return both[: len(left)], both[len(left) :]


def check_columns(columns: Sequence[str]) -> None:
    """Refuse an empty choice of quasi-identifiers."""
    if not len(columns):
        raise ParameterError(
            "there is no quasi-identifier", remedy="give a column this role"
        )


def count_pairs(
    groups: IntArray,
    codes: IntArray,
    weights: IntArray | None = None,
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the sorted (group, code) pairs, with the rows or summed weights of each.

    Work and memory depend on the rows. Weights are above 0.
    """
    width = int(codes.max(initial=0)) + 1
    bound = (int(groups.max(initial=-1)) + 1) * width
    # Fewer cells than rows: count a batch of rows at a time
    if weights is None and has_few_cells(bound, len(groups)):
        counts = np.zeros(bound, dtype=np.int64)
        for batch in row_batches(len(groups), max(_ROWS_PER_BATCH, bound)):
            counts += np.bincount(groups[batch] * width + codes[batch], minlength=bound)
        present = np.flatnonzero(counts)
        return present // width, present % width, counts[present]
    keys = groups * width + codes
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


def run_starts(groups: IntArray) -> IntArray:
    """Return the index where each run of equal numbers starts in a sorted array."""
    first = np.empty(len(groups), dtype=bool)
    first[:1] = True
    np.not_equal(groups[1:], groups[:-1], out=first[1:])
    return first.nonzero()[0]
