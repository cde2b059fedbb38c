"""Engine for a pandas frame in memory, whose values are encoded as cells once."""

import pandas as pd

from dpcore.engines._batch import Batch
from dpcore.engines._cells import cells_of
from dpcore.engines.base import Engine
from dpcore.engines.work import Result, Work
from dpcore.progress import Compute, compute_here
from dpcore.schema.schema import Schema
from dpcore.schema.values import READING_FROM_DATA
from dpcore.tables.digests import find_counted_rows, fingerprint
from dpcore.tables.rows import Microdata


class FrameEngine(Engine):
    """Engine for a pandas frame in memory.

    Args:
        compute: calls the function that takes the fingerprint, the longest part of
            opening a table, perhaps in another process. None: it is taken when it is
            asked for.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        schema: Schema,
        *,
        key: bytes,
        compute: Compute | None = compute_here,
    ) -> None:
        super().__init__(schema, key=key)
        schema.check_names(frame)
        self._require_rows(len(frame))
        # Copy the frame, so that the caller's later changes do not reach it
        self._frame = frame.copy(deep=False)
        self.reading_from_data = bool(frame.attrs.get(READING_FROM_DATA, False))
        self._columns = list(frame.columns)
        if compute is not None:
            self._print = compute(fingerprint, self._frame, key)
        places, self._people = find_counted_rows(frame, key, schema.unit)
        cells = {
            column.name: cells_of(
                column,
                column.values_of(frame if places is None else frame.iloc[places]),
            )
            for column in schema.columns
        }
        self._counted = Batch(self._frame, schema, row_indices=places, cells=cells)

    def _scan(self, work: Work[Result], *, counted: bool = True) -> Result:
        return work.compute(
            self._counted if counted else Batch(self._frame, self._schema)
        )

    @property
    def in_memory(self) -> bool:
        """Whether all rows fit into memory; here they always do."""
        return True

    def rows(self) -> Microdata:
        """Return all rows, unchanged."""
        return Microdata(self._frame, self._key)

    def sample(self, rows: int) -> Microdata:
        """Return the first `rows` rows of the frame, or fewer."""
        return Microdata(self._frame.iloc[:rows], self._key)
