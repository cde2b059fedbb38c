"""Normalize a table given by a script: text column names, one value per cell."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpcore.errors import SchemaError

_MULTI_VALUE_TYPES = (list, dict, set, frozenset, np.ndarray)


def normalize_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with texts as column names; the same table if it has them.

    Parts of a name in several lines are joined.

    Raises: SchemaError for names that become the same, and for a column whose cells
        hold several values each.
    """
    names = [_column_name(name) for name in frame.columns]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise SchemaError(
                "the table has more than one column {column!r}",
                remedy="rename one of them",
                column=name,
            )
        if _has_multi_value_cells(frame.iloc[:, place]):
            raise SchemaError(
                "column {column!r} holds lists or other cells with several values",
                remedy="leave the column out, or give each value its own column or row",
                column=name,
            )
    if names == list(frame.columns):
        return frame
    return frame.set_axis(names, axis="columns")


def _column_name(name: object) -> str:
    if isinstance(name, tuple):
        return " ".join(str(part) for part in name if str(part))
    return str(name)


def _has_multi_value_cells(values: pd.Series) -> bool:
    if isinstance(values.dtype, pd.ArrowDtype):
        import pyarrow as pa

        return bool(pa.types.is_nested(values.dtype.pyarrow_dtype))
    return values.dtype == object and any(
        isinstance(cell, _MULTI_VALUE_TYPES) for cell in values
    )
