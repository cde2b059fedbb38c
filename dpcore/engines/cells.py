"""The cell of each value, found once per distinct value and from that value alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.schema.column import Column

Cells = npt.NDArray[np.unsignedinteger]
Array = npt.NDArray[Any]

_NARROW = 2**16
"""Whole numbers that lie closer together are looked up in a table of so many
numbers.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class CellTable:
    """The cells of values that have numbers from 0 on.

    Attributes:
        cells: by number; for values that were not seen yet, the number of all cells,
            which is none of them.
        names: the categories that are numbered, or the whole number that has the number
            0.
    """

    cells: Cells
    names: Any

    @classmethod
    def of(cls, column: Column, width: int, names: Any) -> CellTable:
        """Make one without a seen value."""
        cells: Cells = np.full(
            width, column.size, dtype=np.min_scalar_type(column.size)
        )
        return cls(cells=cells, names=names)

    def look(
        self, column: Column, places: Array, named: Callable[[Array], pd.Series]
    ) -> Cells:
        """Return the cell of each number, -1 for a missing value.

        Raises: SchemaError.

        Args:
            named: the values of some distinct numbers.
        """
        cells = self._taken(places)
        if cells.max(initial=0) == column.size:
            unseen = places[cells == column.size]
            is_new = np.zeros(len(self.cells), dtype=np.bool_)
            is_new[unseen] = True
            if unseen.min() < 0:
                self.cells[-1] = cell_of_missing(column)
                is_new[-1] = False
            new = np.flatnonzero(is_new)
            self.cells[new] = column.encode(named(new))
            cells = self._taken(places)
        return cells.astype(cell_type(column), copy=False)

    def _taken(self, places: Array) -> Cells:
        # twice as fast
        if len(self.cells) == 2**8 and places.dtype == self.cells.dtype == np.uint8:
            return np.frombuffer(
                places.tobytes().translate(self.cells.tobytes()), dtype=np.uint8
            )
        cells: Cells = np.take(self.cells, places)
        return cells


CellTables = dict[str, CellTable]
"""By column: what was looked at before, for the next batch."""


def cell_type(column: Column) -> np.dtype[Any]:
    """Return the smallest type that holds the cells of a column."""
    return np.min_scalar_type(max(1, column.size) - 1)


def cell_of_missing(column: Column) -> int:
    """Return the cell of a missing value.

    Raises: SchemaError where it has none.
    """
    return int(column.encode(pd.Series([None], dtype=object))[0])


def cells_of(
    column: Column, values: pd.Series, tables: CellTables | None = None
) -> Cells:
    """Return the cell of each value, in as few bytes as their number needs.

    Args:
        tables: what was looked at before; more is put in.

    Raises: SchemaError for a value without a cell.
    """
    tables = {} if tables is None else tables
    dtype: Any = values.dtype
    # few are equal, or not the same though equal
    if not len(values) or pd.api.types.is_object_dtype(dtype) or dtype.kind == "f":
        return column.encode(values).astype(cell_type(column))
    if isinstance(dtype, pd.CategoricalDtype):
        return _of_names(
            column, values.cat.codes.to_numpy(), pd.Series(dtype.categories), tables
        )
    if (
        dtype.kind in "iu"
        and (cells := _of_numbers(column, values, tables)) is not None
    ):
        return cells
    places, distinct = pd.factorize(values)
    return _of_names(column, places, pd.Series(distinct, dtype=dtype), {})


def _of_names(
    column: Column, places: Array, names: pd.Series, tables: CellTables
) -> Cells:
    table = tables.get(column.name)
    if table is None or not (
        isinstance(table.names, pd.Series) and table.names.equals(names)
    ):
        table = tables[column.name] = CellTable.of(column, len(names) + 1, names)
    return table.look(column, places, lambda new: names[new])


def _of_numbers(column: Column, values: pd.Series, tables: CellTables) -> Cells | None:
    """Return the cells of whole numbers, some perhaps missing, or None where they lie
    too far apart.
    """
    dtype: Any = values.dtype
    kind = np.dtype(dtype if isinstance(dtype, np.dtype) else dtype.numpy_dtype)
    numbers = values.dropna().to_numpy(kind)
    limits = np.iinfo(kind)
    width = _NARROW if limits.bits > 8 else 2**8
    least, largest = (
        (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    )
    if largest - least >= width:
        return None
    table = tables.get(column.name)
    low = table.names if table is not None and len(table.cells) == width else None
    if table is None or not (
        isinstance(low, int) and low <= least and largest < low + width
    ):
        middle = least - (width - 1 - largest + least) // 2
        low = min(max(middle, int(limits.min)), int(limits.max) + 1 - width)
        table = tables[column.name] = CellTable.of(column, width, low)
    zero = kind.type(low)
    places = (numbers - zero).astype(np.uint8 if width == 2**8 else np.uint16)
    cells = table.look(column, places, lambda new: pd.Series(new.astype(kind) + zero))
    if len(numbers) == len(values):
        return cells
    every = np.full(len(values), cell_of_missing(column), dtype=cells.dtype)
    every[values.notna().to_numpy()] = cells
    return every
