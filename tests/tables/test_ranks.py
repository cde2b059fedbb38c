"""Ranks of rows: which of a person's rows count follows from their own values and the
key alone.
"""

from __future__ import annotations

import datetime
import decimal
import hashlib
import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.accounting.composition import total_units
from dpcore.schema.values import canonicalize
from dpcore.tables.digests import row_digests
from dpcore.tables.ranks import row_ranks
from tests.schema.test_values import ODD

KEY = b"k" * 32
MORE = [
    "2020-01-02 10:00:00",
    "2020-02-30",
    "2020-01-02 00:00:00",
    "2020-01-02 00:00:00+00:00",
    "0000-01-01",
    "2020-01-02 10:00:00.000000",
    "2020-01-02 10:00:00.500000",
    "2020-01-02 24:00:00",
    "2020-01-02+00:00",
    pd.Timestamp("2020-01-02 10:00:00"),
    pd.Timestamp("2020-01-02 10:00:00.5"),
    pd.Timestamp("2020-01-02 10:00:00.123456789"),
    pd.Timestamp("2020-01-02 10:00:00.5", tz="UTC"),
    "2020-01-02 10:00:00.500000+00:00",
    decimal.Decimal("0.1"),
    decimal.Decimal("0.1000000000000000000001"),
    2**63 - 1,
    -(2**63) - 1,
    float(-(2**63)),
    float(2**63),
    1e-5,
    decimal.Decimal("0.00001"),
    5e-324,
    "i\0\0\0\0\0\0\0\0",
    datetime.datetime(2020, 1, 2, 10),
]


def ranks(values: Sequence[Any], dtype: Any = object) -> list[tuple[int, ...]]:
    frame = pd.DataFrame({"x": pd.Series(values, dtype=dtype)})
    return [tuple(row) for row in row_ranks(frame, KEY, None).tolist()]


def texts_of(column: pd.Series) -> list[str | None]:
    """The texts, days and times of a column as texts."""
    content = canonicalize(column)
    return [None if code < 0 else content.values[code][1:] for code in content.codes]


def test_ranks_tell_apart_what_digests_tell_apart() -> None:
    """Rows of one rank would count by their place; a value of two ranks would move
    other people's rows.
    """
    values = [*ODD, *MORE]
    alone = [
        (
            ranks([value])[0],
            row_digests(pd.DataFrame({"x": pd.Series([value], dtype=object)}), KEY),
        )
        for value in values
    ]
    for place, (rank, digest) in enumerate(alone):
        for other, (other_rank, other_digest) in enumerate(alone[:place]):
            same = bool((digest == other_digest).all())
            assert (rank == other_rank) == same, (values[place], values[other])
    assert ranks(values) == [rank for rank, _ in alone]


def test_the_quick_ways_for_numbers_and_times_give_what_their_texts_give() -> None:
    """One odd cell makes a column of numbers or times another type: nobody else's ranks
    may follow.
    """
    drawn = np.random.default_rng(7)
    floats = np.concatenate(
        [
            drawn.integers(0, 2**64, 3_000, dtype=np.uint64).view(np.float64),
            np.round(10 ** drawn.uniform(-4, 12, 2_000), 3),
            np.array(
                [
                    0.0,
                    -0.0,
                    np.inf,
                    -np.inf,
                    np.nan,
                    2.0**63,
                    -(2.0**63),
                    2.0**64,
                    1e15,
                    5e-324,
                ]
            ),
        ],
    )
    assert ranks(floats, "float64") == ranks(floats.tolist())
    for kind in ("int8", "int64", "uint64", "Int64", "UInt64"):
        ends = np.iinfo(kind.lower())
        some = [
            ends.min,
            ends.max,
            0,
            1,
            ends.max - 1,
            *([None] if kind[0] in "IU" else []),
        ]
        assert ranks(some, kind) == ranks(some)
    moments = ["2020-01-02", "2020-01-02T10:00:00", "1969-12-31T23:59:59", "NaT"]
    far = ["0001-01-01", "9999-12-31T23:59:59", "10000-01-01", "-0001-01-01"]
    for unit, more in (
        ("s", far),
        ("ms", [*far, "2020-01-02T10:00:00.5"]),
        ("us", far),
        ("ns", ["2020-01-02T00:00:00.000000001"]),
    ):
        stamps = pd.Series(np.array([*moments, *more], dtype=f"M8[{unit}]"))
        assert ranks(stamps, stamps.dtype) == ranks(texts_of(stamps))
        zoned = stamps[:4].dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
        assert (
            ranks(zoned, zoned.dtype)
            == ranks(texts_of(zoned))
            != ranks(stamps[:4], stamps.dtype)
        )


def test_the_id_has_no_part_in_the_ranks_of_its_own_rows() -> None:
    """Rows of a person are compared with each other alone; other columns must count
    under their names.
    """
    frame = pd.DataFrame({"id": ["a", "b"], "x": [1, 1], "y": [2, 2]})
    one, other = row_ranks(frame, KEY, "id").tolist()
    assert one == other
    assert (
        row_ranks(frame, KEY, None)[0].tolist()
        != row_ranks(frame, KEY, None)[1].tolist()
    )
    assert row_ranks(frame[["y", "x", "id"]], KEY, "id")[0].tolist() == one
    swapped = frame.rename(columns={"x": "y", "y": "x"})
    assert row_ranks(swapped, KEY, "id")[0].tolist() != one
    assert row_ranks(frame, b"other", "id")[0].tolist() != one


def test_parts_that_were_charged_for_other_rows_of_a_person_add_up() -> None:
    """Two parts would cost as one, though rows of one person were counted in each, then
    and now.
    """
    column = dp.Categorical("sex", categories=("F", "M"))
    before = hashlib.sha256(
        json.dumps(column.to_dict(), sort_keys=True).encode()
    ).hexdigest()[:16]
    for id_column, number in ((None, 3), ("id", 5)):
        schema = dp.Schema(
            columns=(column,), unit=dp.PrivacyUnit(max_rows=2, id_column=id_column)
        )
        now, older = schema.part_in_ledger(("sex", "M"), KEY)
        assert total_units([(3, (f"sex #{before}", "F")), (2, older)]) == number
        assert before not in now[0]
        assert (
            total_units([(2, schema.part_in_ledger(("sex", "F"), KEY)[0]), (2, now)])
            == 2
        )


def siphash(key: bytes, message: bytes) -> int:
    """SipHash-2-4 as its paper writes it."""
    most = 2**64 - 1
    k0, k1 = struct.unpack("<QQ", key)
    v = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]

    def turned(word: int, bits: int) -> int:
        return (word << bits | word >> 64 - bits) & most

    def rounds(number: int) -> None:
        for _ in range(number):
            for a, b, bits, half in (
                (0, 1, 13, True),
                (2, 3, 16, False),
                (0, 3, 21, False),
                (2, 1, 17, True),
            ):
                v[a] = (v[a] + v[b]) & most
                v[b] = turned(v[b], bits) ^ v[a]
                v[a] = turned(v[a], 32) if half else v[a]

    padded = message + bytes(-(len(message) + 1) % 8) + bytes([len(message) % 256])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def permuted(word: int) -> int:
    """What pandas does to a hash at its end: a permutation of 64 bits."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    return word ^ word >> 31


@pytest.mark.parametrize(
    "message",
    [
        b"",
        bytes(range(8)),
        bytes(range(15)),
        b"t" + b"0123456789ab" * 3,
        b"\xed\xa0\x80",
    ],
)
def test_the_function_is_siphash(message: bytes) -> None:
    """The chance of 2^-128 that two rows agree rests on a function that is known to be
    pseudorandom.
    """
    # of the paper, appendix A
    assert siphash(bytes(range(16)), bytes(range(15))) == 0xA129CA6149BE45E5
    key = bytes(range(16))
    column = np.array([message], dtype=object)
    given = pd.util.hash_array(
        column, encoding="latin1", hash_key=key.decode("latin1"), categorize=False
    )
    assert int(given[0]) == permuted(siphash(key, message))
