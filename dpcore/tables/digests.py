"""Keyed digests of rows, people and tables.

The digest of a row is computed from its own values alone, as `schema.values` writes
them, so that no digest changes with another person's rows. It is BLAKE2b under the
ledger's key, 128 bits: without the key no one can make two rows alike, nor find out a
row from its digest.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import SchemaError, unsupported_values_error
from dpcore.schema.unit import PrivacyUnit
from dpcore.schema.values import (
    MERGED_COLUMNS,
    READ_AS_TEXT,
    CanonicalColumn,
    Codes,
    canonicalize,
    canonicalize_file_text,
)
from dpcore.tables.ranks import Ranks, person_ranks, rank_messages, row_ranks

Digests = npt.NDArray[np.uint64]
"""Shape (rows, 2): 128 bits per row."""

_ROWS_PER_BATCH = 65_536
"""Rows whose digests are summed at a time."""


def row_digests(frame: pd.DataFrame, key: bytes) -> Digests:
    """Return a keyed digest of every row that ignores the order of the columns.

    It is the sum of the digests of the cells. Cells are digested under the key and the
    name of their column, so two rows that differ have sums that differ by an
    unpredictable amount, and agree with a chance of 2^-128. 0, a missing value, "" and
    "0" are told apart. In a table that was read as text, where one word in a column of
    numbers makes all of them texts, a text that is written as a number counts as that
    number.

    Returns: uint64 of shape (rows, 2).
    """
    total = np.zeros((len(frame), 2), dtype=np.uint64)
    for _, column in digest_columns(frame, key):
        total += column.of_rows()
    return total


@dataclass(frozen=True, kw_only=True)
class ColumnDigests:
    """Keyed digests of the cells of a column.

    Attributes:
        codes: index of each row's digest; -1, the last one, for a missing value.
        of_values: digest of each distinct value.
    """

    codes: Codes
    of_values: Digests

    def of_rows(self) -> Digests:
        """Return the digest of each row's cell."""
        cells: Digests = np.take(self.of_values, self.codes, axis=0)
        return cells


def digest_columns(
    frame: pd.DataFrame, key: bytes
) -> Iterator[tuple[str, ColumnDigests]]:
    """Yield the name and the digests of each column, one column at a time."""
    is_read_as_text = bool(frame.attrs.get(READ_AS_TEXT))
    for place, name in enumerate(frame.columns):
        column = frame.iloc[:, place]
        yield str(name), _digest_column(column, str(name), key, is_read_as_text)


def sum_to_text(cells: Digests) -> str:
    """Return a hexadecimal digest of a column that ignores the row order."""
    total: Digests = cells.sum(axis=0, dtype=np.uint64)
    return total.tobytes().hex()


def pseudonyms(column: pd.Series, key: bytes, series: str) -> pd.Series:
    """Return a pseudonym of 24 hexadecimal digits for each value, NA if missing.

    The same text has the same pseudonym in all tables of a series, and another one in
    every other series.
    """
    series_key = blake2b(
        series.encode(), digest_size=32, key=key, person=b"pseudonyms"
    ).digest()
    cells = canonicalize(column)
    values = (value[1:].encode(errors="surrogatepass") for value in cells.values)
    texts = [
        blake2b(value, digest_size=12, key=series_key).hexdigest() for value in values
    ]
    return pd.Series(
        np.array([*texts, None], dtype=object)[cells.codes], index=column.index
    )


def row_messages(frame: pd.DataFrame, key: bytes) -> list[bytes]:
    """Return a distinct message for each row, from its values.

    Equal rows are numbered.
    """
    digests = row_digests(frame, key)
    times = pd.DataFrame(digests).groupby([0, 1]).cumcount().to_numpy(np.uint64)
    return [row.tobytes() for row in np.column_stack([digests, times])]


def uniform_draws(
    messages: Sequence[bytes], key: bytes, purpose: str
) -> npt.NDArray[np.float64]:
    """Return two uniform numbers in [0, 1) for every message, secret without the key.

    Returns: float64 of shape (messages, 2).
    """
    words = rank_messages(messages, purpose.encode(errors="surrogatepass"), key)
    return np.asarray((words >> np.uint64(11)) * 2.0**-53)


def fingerprint(frame: pd.DataFrame, key: bytes) -> str:
    """Return a keyed digest of a table that ignores the order of rows and columns."""
    return fingerprint_of_digests(frame, row_digests(frame, key), key)


def fingerprint_of_digests(frame: pd.DataFrame, digests: Digests, key: bytes) -> str:
    """Return the fingerprint of a table from its columns and its row digests."""
    names = list(map(str, frame.columns))
    return combine_fingerprint(names, sum_digests(digests, key), key)


def sum_digests(digests: Digests, key: bytes) -> int:
    """Return the sum over rows of a keyed 128-bit number, as an unbounded integer.

    Sums of the parts of a table add up to that of the table, so that it can be read in
    batches, by several machines, in any order. Each row adds F(its digest), F a
    pseudorandom function to 128 bits. Take two tables in which some row occurs a and b
    times, a != b. Their sums agree only if F of this row is that one number which makes
    up for all other rows over a - b: a chance of 2^-128, whatever the rows are, as no
    one can choose rows by F without the key. (MSet-Add-Hash of Clarke, Devadas, van
    Dijk, Gassend, Suh 2003, "Incremental multiset hash functions", section 4.2, here
    over the integers, so that no number of equal rows adds up to 0.) The digests of two
    rows agree with a chance of 2^-128 too, see `row_digests`.
    """
    start = blake2b(b"row", digest_size=16, key=key).copy
    words = np.zeros(4, dtype=np.uint64)
    for begin in range(0, len(digests), _ROWS_PER_BATCH):
        data = digests[begin : begin + _ROWS_PER_BATCH].tobytes()
        drawn = []
        for place in range(0, len(data), 16):
            row = start()
            row.update(data[place : place + 16])
            drawn.append(row.digest())
        words += (
            np.frombuffer(b"".join(drawn), dtype="<u4")
            .reshape(-1, 4)
            .sum(axis=0, dtype=np.uint64)
        )
    return sum(int(word) << 32 * place for place, word in enumerate(words))


def combine_fingerprint(names: Sequence[str], total: int, key: bytes) -> str:
    """Return the fingerprint of a table from its column names and row sum."""
    text = "".join(f"{len(name)} {name}" for name in sorted(names))
    whole = blake2b(
        text.encode(errors="surrogatepass") + b"\x00", digest_size=32, key=key
    )
    whole.update(total.to_bytes(32, "little"))
    return whole.hexdigest()


def combine_tables(fingerprints: Sequence[str], key: bytes) -> str:
    """Return the fingerprint of several tables together, in no order."""
    whole = blake2b(digest_size=32, key=key, person=b"linked tables")
    for text in sorted(fingerprints):
        whole.update(text.encode())
    return whole.hexdigest()


def person_digests(column: pd.Series, key: bytes) -> Digests:
    """Return 128 bits for each row that identify its person by the text of the id.

    Raises: SchemaError for a row without an id.
    """
    return person_ranks(_check_ids(column), key)


def find_counted_rows(
    frame: pd.DataFrame,
    key: bytes,
    unit: PrivacyUnit,
) -> tuple[npt.NDArray[np.int64] | None, dict[int, int]]:
    """Return indices of the rows that count, and how many people have n rows.

    The rows that count are the `max_rows` rows of each person with the lowest ranks;
    None means all rows. An id is a text as it was written: two ids are one person only
    if their texts are equal.

    Raises: SchemaError for a row without an id.
    """
    if unit.id_column is None:
        return None, {1: len(frame)}
    ids = _check_ids(frame[unit.id_column])
    ranks = row_ranks(frame, key, unit.id_column)
    places, people = lowest_ranked_rows(ids.persons()[:, None], ranks, unit.max_rows)
    return np.sort(places), people


def select_counted_rows(
    frame: pd.DataFrame, key: bytes, unit: PrivacyUnit
) -> pd.DataFrame:
    """Select the rows of a frame that count, at most `max_rows` of each person.

    Raises: SchemaError for a row without an id.
    """
    places, _ = find_counted_rows(frame, key, unit)
    return frame if places is None else frame.iloc[places].reset_index(drop=True)


def lowest_ranked_rows(
    person: npt.NDArray[Any],
    ranks: Ranks,
    max_rows: int,
) -> tuple[npt.NDArray[np.int64], dict[int, int]]:
    """Return each person's lowest-ranked rows, and how many people have n rows.

    Args:
        person: (rows, any) identifies the person.
        ranks: (rows, 2), compared by the second word, then by the first.
        max_rows: rows of one person, at most.
    """
    # Sort by person, then by rank, and number the rows of each person
    order = np.lexsort((*ranks.T, *person.T))
    ordered = person[order]
    starts = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))[: len(order)]
    first = np.flatnonzero(starts)
    sizes = np.diff(first, append=len(order))
    rank = np.arange(len(order)) - np.repeat(first, sizes)
    rows, people = np.unique(sizes, return_counts=True)
    return order[rank < max_rows], dict(
        zip(rows.tolist(), people.tolist(), strict=True)
    )


def _check_ids(column: pd.Series) -> CanonicalColumn:
    # with missing values, pandas turns whole numbers into floats
    if column.isna().any():
        raise SchemaError(
            (
                "the id column {column!r} has missing values, so some rows belong "
                "to nobody"
            ),
            remedy="fill them in or remove these rows",
            column=str(column.name),
        )
    return read_ids(column)


def read_ids(column: pd.Series) -> CanonicalColumn:
    """Return the ids of a column in canonical form, missing ones among them.

    Raises: SchemaError for ids of which two may have become one.
    """
    values = (
        column.cat.categories
        if isinstance(column.dtype, pd.CategoricalDtype)
        else column
    )
    is_read = bool(column.attrs.get(READ_AS_TEXT))
    if (not is_read and _has_floats(values)) or column.name in column.attrs.get(
        MERGED_COLUMNS, ()
    ):
        raise SchemaError(
            "the ids in {column!r} are numbers with a point or too many digits, or "
            "were read as numbers, "
            "times or labels, and two may have become one",
            remedy=(
                "export them as text or as whole numbers; in a text file, give the "
                "column a name like id"
            ),
            column=str(column.name),
        )
    ids = canonicalize(column)
    # Different objects may have the same text, so objects are no ids
    if any(value[0] == "o" for value in ids.values):
        raise unsupported_values_error(str(column.name))
    return ids


def _has_floats(values: pd.Series | pd.Index) -> bool:
    """Return whether some values are floats, in a column of any type."""
    if values.dtype.kind != "O" or isinstance(values.dtype, pd.StringDtype):
        return bool(values.dtype.kind == "f")
    return any(
        isinstance(value, float | np.floating) and value == value for value in values
    )


def _digest_column(
    column: pd.Series, name: str, key: bytes, is_read_as_text: bool
) -> ColumnDigests:
    content = canonicalize(column)
    start = blake2b(
        f"{len(name)} {name} ".encode(errors="surrogatepass"), digest_size=16, key=key
    ).copy
    values = (
        map(canonicalize_file_text, content.values)
        if is_read_as_text
        else content.values
    )
    return ColumnDigests(
        codes=content.codes, of_values=_digest_values((*values, ""), start)
    )


def _digest_values(values: Iterable[str], start: Callable[[], blake2b]) -> Digests:
    digests = []
    for value in values:
        cell = start()
        cell.update(value.encode(errors="surrogatepass"))
        digests.append(cell.digest())
    return np.frombuffer(b"".join(digests), dtype="<u8").reshape(-1, 2)
