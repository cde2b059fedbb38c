"""A batch of rows: its columns, and the cell of each value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.engines._cells import Cells, CellTables, cells_of
from dpcore.schema.schema import Schema
from dpcore.tables.arrow import decode_categories


class Batch:
    """Rows of a private table that fit into memory together."""

    def __init__(
        self,
        frame: pd.DataFrame,
        schema: Schema,
        *,
        row_indices: npt.NDArray[np.int64] | None = None,
        cells: Mapping[str, Cells] | None = None,
        start: int = 0,
        tables: CellTables | None = None,
    ) -> None:
        """Create a batch from a frame, in which texts may be categorical.

        Args:
            frame: the columns, of all rows.
            schema: the declared columns.
            row_indices: indices of the rows of the batch; None for all of the frame.
            cells: of these rows, by declared column, if they are known.
            start: the number of the first row, if the rows of a source have an order.
            tables: the cells of values in earlier batches, extended by this one.
        """
        self.start = start
        self._tables = tables
        self._frame = frame
        self._schema = schema
        self._places = row_indices
        self._cells: dict[str, Cells] = dict(cells or {})

    @classmethod
    def from_cells(cls, cells: Any, schema: Schema) -> Batch:
        """Make a batch from an Arrow batch of cells, without values."""
        known = dict(
            zip(
                cells.schema.names,
                (column.to_numpy() for column in cells.columns),
                strict=True,
            )
        )
        return cls(pd.DataFrame(index=range(cells.num_rows)), schema, cells=known)

    def __len__(self) -> int:
        return len(self._frame if self._places is None else self._places)

    def column(self, name: str) -> pd.Series:
        """Return the values of a column; texts may be categorical."""
        column = self._frame[name]
        return column if self._places is None else column.iloc[self._places]

    def cells(self, name: str) -> Cells:
        """Return the cell of each row in a declared column, in the smallest type.

        Raises: SchemaError for a value without a cell.
        """
        if name not in self._cells:
            column = self._schema.column(name)
            values = (
                self.column(name)
                if column.source_columns == (name,)
                else column.values_of(self.frame(column.source_columns))
            )
            self._cells[name] = cells_of(column, values, self._tables)
        return self._cells[name]

    def frame(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        """Return the named columns, or all, with categorical texts decoded."""
        return decode_categories(self.coded_frame(names))

    def coded_frame(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        """Return the named columns, or all; texts may be categorical."""
        frame = self._frame if names is None else self._frame[list(names)]
        return frame if self._places is None else frame.iloc[self._places]

    def select_part(
        self, part: tuple[str, str] | None
    ) -> npt.NDArray[np.bool_] | slice:
        """Return a mask or slice that selects the rows with one category."""
        if part is None:
            return slice(None)
        return np.asarray(self.cells(part[0]) == self._schema.part_code(*part))
