"""A small keyed sketch of a table, by which a table that was changed a little is
recognized.

It holds a bit for each of 4,096 places, which a row's digest flips: two sketches differ
in the bits of those rows that are in one table only, and their number tells how many
these are (Mitzenmacher, Pagh, Pham 2014, "Efficient estimation for high similarities
using odd sketches", section 3). Beside it, a digest of each column, for tables whose
other columns were renamed, added or replaced. Private: it is kept with the account, and
tells nothing without the ledger's key.

Two tables of other people agree by chance where there are few distinct rows: of those
that n rows have, another sample of the same law has n too, give or take the root of 2
n. What agrees no better than that says nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpcore.schema.values import canonical
from dpcore.tables.digests import column_digest, row_digests

PLACES = 4096
MOST = 0.45
"""Part of all bits beyond which the number of rows that differ can no longer be
told.
"""
SELDOM = 3
"""Standard deviations below what other tables differ by on average."""
BITS = 16
"""How unlikely columns of the same content must be to say that two tables are alike."""


@dataclass(frozen=True, kw_only=True)
class Likeness:
    """The similarity of two tables.

    Attributes:
        rows: about how many rows are in one of the two only; None where columns differ.
        columns: how many columns have the same content.
    """

    rows: int | None
    columns: int


@dataclass(frozen=True, kw_only=True)
class Sketch:
    """The stored summary of a table.

    Attributes:
        columns: column name -> digest of its content, hexadecimal.
        bits: of all places, hexadecimal.
    """

    columns: dict[str, str]
    bits: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"columns": self.columns, "bits": self.bits}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Sketch:
        """Read what `to_dict` wrote."""
        return cls(columns=fields["columns"], bits=fields["bits"])


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A table at hand, to be compared with sketches of tables on file.

    Attributes:
        most: rows in one of two tables only, at most, for which they look alike: half
            of those that another sample would have, and so few that it seldom has.
        telling: column name -> bits: how unlikely another sample has the same content
            there.
    """

    sketch: Sketch
    most: float
    telling: dict[str, float]

    @classmethod
    def of(cls, frame: pd.DataFrame, key: bytes) -> Seen:
        """Look at a table, whatever the order of its rows and columns."""
        digests = row_digests(frame, key)
        ordered = digests[np.lexsort(digests.T)]
        first = np.flatnonzero(
            np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
        )
        counts = np.diff(np.append(first, len(ordered)))
        again = np.arange(len(ordered)) - np.repeat(first, counts)
        places = (ordered[:, 0] + again.astype(np.uint64) * ordered[:, 1]) % np.uint64(
            PLACES
        )
        flipped = np.bincount(places.astype(np.int64), minlength=PLACES) % 2
        sketch = Sketch(
            columns={
                str(name): column_digest(frame[name], key) for name in frame.columns
            },
            bits=np.packbits(flipped.astype(np.uint8)).tobytes().hex(),
        )
        # differences of two Poisson counts of mean n: their mean size is the root of 4
        # n / pi
        roots = float(np.sqrt(counts).sum())
        spread = math.sqrt((2 - 4 / math.pi) * len(frame))
        return cls(
            sketch=sketch,
            most=min(roots / 2, math.sqrt(4 / math.pi) * roots - SELDOM * spread),
            telling={str(name): _bits(frame[name]) for name in frame.columns},
        )

    def likeness(self, other: Sketch) -> Likeness | None:
        """Return the similarity to the table of a sketch, or None where they are too
        different.

        Like are tables of the same columns with at least half of their rows in common,
        fewer where few are distinct, and tables of which at least half of the columns
        have the same content.
        """
        mine = self.sketch
        ours, theirs = (
            np.frombuffer(bytes.fromhex(each.bits), np.uint8) for each in (mine, other)
        )
        odd = int(np.unpackbits(ours ^ theirs).sum())
        same = [
            name
            for name, digest in mine.columns.items()
            if other.columns.get(name) == digest
        ]
        if mine.columns.keys() == other.columns.keys() and odd < MOST * PLACES:
            differing = round(-PLACES / 2 * math.log(1 - 2 * odd / PLACES))
            if differing <= self.most:
                return Likeness(rows=differing, columns=len(same))
        bits = sum(self.telling[name] for name in same)
        if 2 * len(same) >= max(len(mine.columns), len(other.columns)) and bits >= BITS:
            return Likeness(rows=None, columns=len(same))
        return None


def _bits(column: pd.Series) -> float:
    """Return the bits of surprise if another sample of one law has each value as
    often.
    """
    counts = np.sort(np.bincount(canonical(column).codes + 1))[:-1]
    return float(np.log2(4 * np.pi * counts[counts > 0]).sum() / 2)
