"""Keyed ranks of rows, which decide which rows of a person count.

A rank is computed from the canonical values of its row alone (see `schema.values`), so
that it does not depend on another person's rows. It is quick, and lives as long as one
piece of work; what is stored has a digest of `tables.digests`.
"""

import datetime
import re
import struct
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.schema.values import (
    READ_AS_TEXT,
    CanonicalColumn,
    canonical_text,
    canonicalize,
    canonicalize_file_text,
)

Ranks = npt.NDArray[np.uint64]
"""Shape (rows, 2): 128 bits per row."""

_CLOCK_PATTERN = (
    r"(?!00:00:00$)(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.(?!000000)[0-9]{6})?"
)
_match_time_text = re.compile(
    rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?: {_CLOCK_PATTERN}(?:\+00:00)?)?"
).fullmatch
"""Matches times as in canonical texts.

Midnight without a zone is written as a day, and a fraction is never 0.
"""
_FIRST_TIME = np.datetime64("0001-01-01", "us")
_LAST_TIME = np.datetime64("9999-12-31T23:59:59.999999", "us")
_RECORD_TYPE = np.dtype([("kind", "S1"), ("word", "<i8")])


def row_ranks(frame: pd.DataFrame, key: bytes, id_column: str | None) -> Ranks:
    """Return a keyed rank of every row that ignores the order of the columns.

    It is the sum of the ranks of the cells. The id is left out, since compared rows
    share it. The rank of a cell is 128 bits of a pseudorandom function under the key
    and the name
    of its column, of a message that differs for values that do: two rows that differ
    have sums that differ by an unpredictable amount, and agree with a chance of 2^-128.

    Returns: uint64 of shape (rows, 2).
    """
    total = np.zeros((len(frame), 2), dtype=np.uint64)
    for place, name in enumerate(map(str, frame.columns)):
        if name != id_column:
            codes, messages = _messages_of_column(
                frame.iloc[:, place], bool(frame.attrs.get(READ_AS_TEXT))
            )
            purpose = f"{len(name)} {name} ".encode(errors="surrogatepass")
            total += np.take(
                rank_messages([*messages, b""], purpose, key), codes, axis=0
            )
    return total


def person_ranks(ids: CanonicalColumn, key: bytes) -> Ranks:
    """Return 128 bits per row that identify its person.

    People without an id count as one person.
    """
    messages = [b"t" + value[1:].encode(errors="surrogatepass") for value in ids.values]
    return np.take(rank_messages([*messages, b""], b"person", key), ids.codes, axis=0)


def rank_messages(messages: Sequence[bytes], purpose: bytes, key: bytes) -> Ranks:
    """Return 128 pseudorandom bits of each message by two keyed SipHash-2-4 values.

    The keys are derived from `key`. SipHash is a pseudorandom function of 64 bits
    (Aumasson and Bernstein 2012, "SipHash: a fast short-input PRF"); pandas passes its
    values through a fixed permutation, which changes nothing about that.
    """
    keys = (
        blake2b(purpose, digest_size=32, key=key, person=b"rank")
        .digest()
        .decode("latin1")
    )
    column = np.array(messages, dtype=object)
    words = [
        pd.util.hash_array(column, encoding="latin1", hash_key=half, categorize=False)
        for half in (keys[:16], keys[16:])
    ]
    return np.column_stack(words)


def _messages_of_column(
    column: pd.Series, read_as_text: bool
) -> tuple[npt.NDArray[np.int64], list[bytes]]:
    """Return each row's index into the messages of distinct values, and the messages.

    -1 is a missing value.
    """
    dtype: Any = column.dtype
    if (dtype == "float64" and isinstance(dtype, np.dtype)) or (
        dtype.kind in "iuM"
        and not isinstance(dtype, pd.ArrowDtype | pd.CategoricalDtype)
    ):
        codes, distinct = pd.factorize(column)
        records, is_word = _encode_values(distinct)
        messages = records.view(f"V{_RECORD_TYPE.itemsize}").tolist()
        for place in np.flatnonzero(~is_word).tolist():
            messages[place] = _message_of_value(canonical_text(distinct[place]) or "")
        return codes.astype(np.int64), messages
    content = canonicalize(column)
    values = (
        map(canonicalize_file_text, content.values) if read_as_text else content.values
    )
    return content.codes, [_message_of_value(value) for value in values]


def _encode_values(distinct: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Return each number or time as a kind and 8 bytes, and whether that is exact."""
    records = np.empty(len(distinct), dtype=_RECORD_TYPE)
    kind = distinct.dtype.kind
    if kind == "M":
        zone = getattr(distinct, "tz", None)
        stamps = np.asarray(distinct if zone is None else distinct.tz_convert(None))
        words = stamps.astype("M8[us]")
        records["kind"] = b"d" if zone is None else b"u"
        records["word"] = words.view(np.int64)
        return records, (words.astype(stamps.dtype) == stamps) & (
            words >= _FIRST_TIME
        ) & (words <= _LAST_TIME)
    numbers = np.asarray(distinct, dtype=f"{kind}8")
    if kind == "f":
        is_whole = numbers == np.trunc(numbers)
        fits = np.abs(numbers) < 2.0**63
        wholes = np.where(is_whole & fits, numbers, 0).astype(np.int64)
        records["kind"] = np.where(is_whole, b"i", b"f")
        records["word"] = np.where(is_whole, wholes, numbers.view(np.int64))
        return records, ~is_whole | fits
    records["kind"] = b"i"
    records["word"] = numbers.astype(np.int64)
    return records, numbers <= np.iinfo(np.int64).max


def _message_of_value(value: str) -> bytes:
    """Encode a canonical text as bytes: a kind and 8 bytes if possible, else text.

    These have a kind and 8 bytes; all else is the text.
    """
    text = value[1:]
    if value[0] == "n":
        # No 64-bit integer has more than 20 characters
        if len(text) <= 20 and text.lstrip("-").isdigit():
            if -(2**63) <= int(text) < 2**63:
                return b"i" + struct.pack("<q", int(text))
        elif (
            not (number := float(text)).is_integer() and canonical_text(number) == value
        ):
            return b"f" + struct.pack("<d", number)
    elif value[0] == "t" and _match_time_text(text):
        try:
            moment = datetime.datetime.fromisoformat(text)
        except ValueError:
            return value.encode()
        since = moment - datetime.datetime(1970, 1, 1, tzinfo=moment.tzinfo)
        word = struct.pack("<q", since // datetime.timedelta(microseconds=1))
        return (b"u" if moment.tzinfo else b"d") + word
    return value.encode(errors="surrogatepass")
