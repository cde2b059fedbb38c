"""Keyed digests of rows: which rows of a person count, which table this is, and which it looks like.

A digest of a row comes from its own values alone, as `schema.values` writes them, so that nobody's digest
changes with another person's rows. BLAKE2b under the ledger's key, 128 bits: without the key nobody can make
two rows alike, nor find out a row from its digest.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import SchemaError
from dpcore.schema.unit import PrivacyUnit
from dpcore.schema.values import MERGED, READ_AS_TEXT, canonical, from_text

Digests = npt.NDArray[np.uint64]
"""Shape (rows, 2): 128 bits per row."""


def row_digests(frame: pd.DataFrame, key: bytes) -> Digests:
    """The digest of every row, whatever the order of the columns: the sum of its cells' digests.

    Cells are digested under the key and the name of their column, so two rows that differ have sums that
    differ by an unpredictable amount, and agree with a chance of 2^-128. It tells 0, a missing value, "" and
    "0" apart. In a table that was read as text, where one word in a column of numbers makes all of them
    texts, a text that is written as a number counts as that number.

    Returns: uint64 of shape (rows, 2).
    """
    total = np.zeros((len(frame), 2), dtype=np.uint64)
    for place, name in enumerate(frame.columns):
        codes, digests = _cells(frame.iloc[:, place], str(name), key, bool(frame.attrs.get(READ_AS_TEXT)))
        total += np.take(digests, codes, axis=0)
    return total


def column_digest(column: pd.Series, key: bytes) -> str:
    """A keyed digest of the content of one column, whatever the order of its rows; hexadecimal."""
    codes, digests = _cells(column, str(column.name), key, bool(column.attrs.get(READ_AS_TEXT)))
    total: Digests = np.take(digests, codes, axis=0).sum(axis=0, dtype=np.uint64)
    return total.tobytes().hex()


def fingerprint(frame: pd.DataFrame, key: bytes, digests: Digests | None = None) -> str:
    """A keyed digest of the whole table, whatever the order of its rows and columns; hexadecimal.

    Args:
        digests: of the rows, where they are known.
    """
    digests = row_digests(frame, key) if digests is None else digests
    names = "".join(f"{len(name)} {name}" for name in sorted(map(str, frame.columns)))
    whole = blake2b(names.encode(errors="surrogatepass") + b"\x00", digest_size=32, key=key)
    whole.update(digests[np.lexsort(digests.T)].tobytes())
    return whole.hexdigest()


def kept_rows(frame: pd.DataFrame, digests: Digests, unit: PrivacyUnit) -> npt.NDArray[np.int64] | None:
    """Places of at most `max_rows` rows of each person, those with the lowest digests; None without ids.

    An id is a text as it was written: two ids are one person only if their texts are equal.
    Raises: SchemaError for a row without an id, and where reading the file has made one number of two texts.
    """
    if unit.id_column is None:
        return None
    if unit.id_column in frame.attrs.get(MERGED, ()):
        raise SchemaError(
            "{column!r} was read as numbers, and some ids became one, such as 12.1 and 12.10",
            remedy="open the file with a name for this column that says what it is, such as id",
            column=unit.id_column,
        )
    ids = canonical(frame[unit.id_column])
    if (ids.codes < 0).any():
        raise SchemaError(
            "the id column {column!r} has missing values, so these rows belong to nobody",
            remedy="fill them in or remove these rows",
            column=unit.id_column,
        )
    person = pd.factorize(np.array([value[1:] for value in ids.values], dtype=object))[0][ids.codes]
    order = np.lexsort((*digests.T, person))
    first = np.flatnonzero(np.diff(person[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    return np.sort(order[rank < unit.max_rows])


def _cells(
    column: pd.Series, name: str, key: bytes, read_as_text: bool
) -> tuple[npt.NDArray[np.int64], Digests]:
    """A column as places in the digests of its distinct values; the last one is that of a missing value."""
    content = canonical(column)
    start = blake2b(f"{len(name)} {name} ".encode(errors="surrogatepass"), digest_size=16, key=key).copy
    digests = []
    for value in (*(map(from_text, content.values) if read_as_text else content.values), ""):
        cell = start()
        cell.update(value.encode(errors="surrogatepass"))
        digests.append(cell.digest())
    return content.codes, np.frombuffer(b"".join(digests), dtype="<u8").reshape(-1, 2)
