"""Quick hashes of rows and people without a key, for use inside one computation.

They follow from the texts of values as models and hierarchies see them, so that two passes over a table
agree, and go nowhere. What is stored, or is secret, has a keyed digest of `tables.digests`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.schema.values import as_text, canonical
from dpcore.tables.classes import IntArray, class_index

Hashes = npt.NDArray[np.uint64]

_KEYS = ("0123456789123456", "6543219876543210")
_MISSING = np.uint64(0x9E3779B97F4A7C15)


def tuple_hashes(frame: pd.DataFrame, columns: Sequence[str]) -> tuple[Hashes, IntArray]:
    """Return a number for each class of rows that agree on the columns, and the class of each row."""
    if not columns:
        return np.zeros(1, dtype=np.uint64), np.zeros(len(frame), dtype=np.int64)
    index = class_index([canonical(frame[name]).codes + 1 for name in columns])
    _, first = np.unique(index, return_index=True)
    few = frame[list(columns)].iloc[first]
    texts = pd.DataFrame({name: _marked(few[name]) for name in columns})
    return np.asarray(pd.util.hash_pandas_object(texts, index=False), np.uint64), index


def person_hashes(column: pd.Series) -> Hashes:
    """Return 128 bits per row that identify its person, of shape (rows, 2).

    Whole numbers are what they are, and their texts are never written.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        of_values = person_hashes(pd.Series(column.dtype.categories))
        of_missing = person_hashes(pd.Series([None], dtype=object))
        return np.append(of_values, of_missing, axis=0)[column.cat.codes.to_numpy()]
    if column.dtype.kind in "iu":
        hashes = np.zeros((len(column), 2), dtype=np.uint64)
        missing = column.isna().to_numpy()
        number = column.fillna(0).to_numpy(dtype="uint64" if column.dtype.kind == "u" else "int64")
        hashes[:, 0] = np.where(missing, _MISSING, pd.util.hash_array(number))
        hashes[:, 1] = missing
        return hashes
    ids = canonical(column)
    texts = [f"t{value[1:]}".encode(errors="surrogatepass") for value in ids.values]
    words = [pd.util.hash_array(np.array([*texts, b""], dtype=object), hash_key=key) for key in _KEYS]
    return np.column_stack(words).astype(np.uint64)[ids.codes]


def _marked(column: pd.Series) -> pd.Series:
    """Return texts that differ from that of a missing value, whatever they are."""
    return ("t" + as_text(column)).fillna("").astype(object)
