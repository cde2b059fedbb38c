"""A small keyed sketch of a table, by which a table that was changed a little is recognized.

It holds a bit for each of 4,096 places, which a row's digest flips: two sketches differ in the bits of those
rows that are in one table only, and their number tells how many these are (Mitzenmacher, Pagh, Pham 2014,
"Efficient estimation for high similarities using odd sketches", section 3). Beside it, a digest of each
column, for tables whose other columns were renamed, added or replaced. Private: it is kept with the account,
and tells nothing without the ledger's key.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpcore.tables.digests import column_digest, row_digests

PLACES = 4096
MOST = 0.45
"""Part of all bits beyond which the number of rows that differ can no longer be told."""


@dataclass(frozen=True, kw_only=True)
class Likeness:
    """How a table looks like another one.

    Attributes:
        rows: about how many rows are in one of the two only; None where columns differ.
        columns: how many columns have the same content.
    """

    rows: int | None
    columns: int


@dataclass(frozen=True, kw_only=True)
class Sketch:
    """What is kept of a table.

    Attributes:
        columns: column name -> digest of its content, hexadecimal.
        bits: of all places, hexadecimal.
    """

    columns: dict[str, str]
    bits: str

    @classmethod
    def of(cls, frame: pd.DataFrame, key: bytes) -> Sketch:
        """The sketch of a table, whatever the order of its rows and columns."""
        digests = row_digests(frame, key)
        ordered = digests[np.lexsort(digests.T)]
        first = np.flatnonzero(np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1)))
        again = np.arange(len(ordered)) - np.repeat(first, np.diff(np.append(first, len(ordered))))
        places = (ordered[:, 0] + again.astype(np.uint64) * ordered[:, 1]) % np.uint64(PLACES)
        flipped = np.bincount(places.astype(np.int64), minlength=PLACES) % 2
        return cls(
            columns={str(name): column_digest(frame[name], key) for name in frame.columns},
            bits=np.packbits(flipped.astype(np.uint8)).tobytes().hex(),
        )

    def likeness(self, other: Sketch, rows: int) -> Likeness | None:
        """How a table of so many rows looks like that of the other sketch; None where it does not.

        Like are tables of the same columns with at least half of their rows in common, and tables of which
        at least half of the columns have the same content.
        """
        mine, theirs = (np.frombuffer(bytes.fromhex(each.bits), np.uint8) for each in (self, other))
        odd = int(np.unpackbits(mine ^ theirs).sum())
        same = sum(other.columns.get(name) == digest for name, digest in self.columns.items())
        if self.columns.keys() == other.columns.keys() and odd < MOST * PLACES:
            differing = round(-PLACES / 2 * math.log(1 - 2 * odd / PLACES))
            if 2 * differing <= rows:
                return Likeness(rows=differing, columns=same)
        if 2 * same >= max(len(self.columns), len(other.columns)):
            return Likeness(rows=None, columns=same)
        return None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"columns": self.columns, "bits": self.bits}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Sketch:
        """Read what `to_dict` wrote."""
        return cls(columns=fields["columns"], bits=fields["bits"])
