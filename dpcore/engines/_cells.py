"""The cell of each value, computed once per distinct value from that value alone."""

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

_MAX_TABLE_CELLS = 2**16
"""Numbers in a table of cells; integers within such a range are looked up in it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CellTable:
    """Lookup table from the number of a value to its cell.

    Attributes:
        cells: by number; for values not seen yet it is the number of cells of the
            column, which is no cell.
        numbering: the numbered categories, or the integer with the number 0.
    """

    cells: Cells
    numbering: Any

    @classmethod
    def empty(cls, column: Column, width: int, numbering: Any) -> CellTable:
        """Make an empty lookup table of cells."""
        cells: Cells = np.full(
            width, column.size, dtype=np.min_scalar_type(column.size)
        )
        return cls(cells=cells, numbering=numbering)

    def look_up(
        self, column: Column, numbers: Array, values_of: Callable[[Array], pd.Series]
    ) -> Cells:
        """Return the cell of each value number; -1 stands for a missing value.

        Args:
            values_of: returns the values of some distinct numbers.

        Raises: SchemaError.
        """
        cells = self._cells_at(numbers)
        if cells.max(initial=0) == column.size:
            unseen = numbers[cells == column.size]
            is_new = np.zeros(len(self.cells), dtype=np.bool_)
            is_new[unseen] = True
            if unseen.min() < 0:
                self.cells[-1] = cell_of_missing(column)
                is_new[-1] = False
            new = np.flatnonzero(is_new)
            self.cells[new] = column.encode(values_of(new))
            cells = self._cells_at(numbers)
        return cells.astype(cell_type(column), copy=False)

    def _cells_at(self, numbers: Array) -> Cells:
        # For one-byte tables, `bytes.translate` is twice as fast as indexing
        if len(self.cells) == 2**8 and numbers.dtype == self.cells.dtype == np.uint8:
            return np.frombuffer(
                numbers.tobytes().translate(self.cells.tobytes()), dtype=np.uint8
            )
        cells: Cells = np.take(self.cells, numbers)
        return cells


CellTables = dict[str, CellTable]
"""Tables of cells by column, kept for the next batch."""


def cell_type(column: Column) -> np.dtype[Any]:
    """Return the smallest type for the cells of a column."""
    return np.min_scalar_type(max(1, column.size) - 1)


def cell_of_missing(column: Column) -> int:
    """Return the cell of a missing value.

    Raises: SchemaError if it has none.
    """
    return int(column.encode(pd.Series([None], dtype=object))[0])


def cells_of(
    column: Column, values: pd.Series, tables: CellTables | None = None
) -> Cells:
    """Return the cell of each value, in the smallest type.

    Args:
        tables: lookup tables of earlier batches, extended by this one.

    Raises: SchemaError for a value without a cell.
    """
    tables = {} if tables is None else tables
    dtype: Any = values.dtype
    # Encode objects and floats directly: few floats are equal, and equal objects may
    # have different cells
    if not len(values) or pd.api.types.is_object_dtype(dtype) or dtype.kind == "f":
        return column.encode(values).astype(cell_type(column))
    if isinstance(dtype, pd.CategoricalDtype):
        return _cells_of_codes(
            column, values.cat.codes.to_numpy(), pd.Series(dtype.categories), tables
        )
    if (
        dtype.kind in "iu"
        and (cells := _cells_of_integers(column, values, tables)) is not None
    ):
        return cells
    places, distinct = pd.factorize(values)
    return _cells_of_codes(column, places, pd.Series(distinct, dtype=dtype), {})


def _cells_of_codes(
    column: Column, codes: Array, categories: pd.Series, tables: CellTables
) -> Cells:
    table = tables.get(column.name)
    if table is None or not (
        isinstance(table.numbering, pd.Series) and table.numbering.equals(categories)
    ):
        table = tables[column.name] = CellTable.empty(
            column, len(categories) + 1, categories
        )
    return table.look_up(column, codes, lambda new: categories[new])


def _cells_of_integers(
    column: Column, values: pd.Series, tables: CellTables
) -> Cells | None:
    """Return the cells of an integer column, which may have missing values.

    None means that they lie too far apart for a lookup table.
    """
    dtype: Any = values.dtype
    kind = np.dtype(dtype if isinstance(dtype, np.dtype) else dtype.numpy_dtype)
    numbers = values.dropna().to_numpy(kind)
    limits = np.iinfo(kind)
    width = _MAX_TABLE_CELLS if limits.bits > 8 else 2**8
    least, largest = (
        (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    )
    if largest - least >= width:
        return None
    table = tables.get(column.name)
    low = table.numbering if table is not None and len(table.cells) == width else None
    if table is None or not (
        isinstance(low, int) and low <= least and largest < low + width
    ):
        middle = least - (width - 1 - largest + least) // 2
        low = min(max(middle, int(limits.min)), int(limits.max) + 1 - width)
        table = tables[column.name] = CellTable.empty(column, width, low)
    zero = kind.type(low)
    places = (numbers - zero).astype(np.uint8 if width == 2**8 else np.uint16)
    cells = table.look_up(
        column, places, lambda new: pd.Series(new.astype(kind) + zero)
    )
    if len(numbers) == len(values):
        return cells
    every = np.full(len(values), cell_of_missing(column), dtype=cells.dtype)
    every[values.notna().to_numpy()] = cells
    return every
