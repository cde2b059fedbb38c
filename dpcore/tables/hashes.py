"""Quick hashes of rows and people without a key, for use inside one computation.

They are computed from the texts of values as models and hierarchies see them, so that
two passes over a table agree, and never leave. Stored and secret digests have a key,
see `tables.digests`.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.schema.values import as_text, canonicalize
from dpcore.tables.classes import IntArray, class_index
from dpcore.tables.ranks import person_ranks

Hashes = npt.NDArray[np.uint64]


def tuple_hashes(
    frame: pd.DataFrame, columns: Sequence[str]
) -> tuple[Hashes, IntArray]:
    """Group rows by the columns; return each class's hash, and each row's class."""
    if not columns:
        return np.zeros(1, dtype=np.uint64), np.zeros(len(frame), dtype=np.int64)
    index = class_index([canonicalize(frame[name]).codes + 1 for name in columns])
    _, first = np.unique(index, return_index=True)
    representatives = frame[list(columns)].iloc[first]
    # The prefix keeps any text apart from a missing value
    texts = pd.DataFrame(
        {
            name: ("t" + as_text(representatives[name])).fillna("").astype(object)
            for name in columns
        }
    )
    return np.asarray(pd.util.hash_pandas_object(texts, index=False), np.uint64), index


def text_hashes(texts: npt.NDArray[np.object_]) -> Hashes:
    """Return a hash for each text, to count different ones."""
    return np.asarray(pd.util.hash_array(texts, categorize=False), np.uint64)


def person_hashes(column: pd.Series) -> Hashes:
    """Return 128 bits for each row that identify its person, shape (rows, 2)."""
    return person_ranks(canonicalize(column), b"")
