"""A small keyed sketch of a table, to recognize a slightly changed table.

It holds 4,096 bits. The digest of each row flips one: two sketches differ in the bits
of those rows that are in one table only, and the number of differing bits estimates how
many rows these are (Mitzenmacher, Pagh, Pham 2014, "Efficient estimation for high
similarities using odd sketches", section 3). It also holds a digest of each column, for
tables with other columns renamed, added or replaced. Private: it is stored with the
account, and tells nothing without the ledger's key.

Two tables of other people agree by chance if there are few distinct rows: if n rows are
equal, another sample of the same population has n such rows too, give or take the root
of 2 n. An agreement that is no better says nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpcore.schema.values import Codes
from dpcore.tables.digests import (
    digest_columns,
    fingerprint_of_digests,
    sum_to_text,
)

SKETCH_BITS = 4096
"""Bits of a sketch, each flipped by the rows that fall on it."""
MAX_DIFFERING_BIT_SHARE = 0.45
"""Share of differing bits beyond which the number of differing rows is unknown."""
MIN_SDS = 3
"""Standard deviations below the mean difference of two samples, for likeness."""
MIN_SURPRISE_BITS = 16
"""Surprise, in bits, of equal columns from which two tables count as alike."""


@dataclass(frozen=True, kw_only=True)
class TableSimilarity:
    """The similarity of two tables.

    Attributes:
        rows: estimated rows in one of the two only; None if columns differ.
        columns: number of columns with the same content.
    """

    rows: int | None
    columns: int


@dataclass(frozen=True, kw_only=True)
class Sketch:
    """The stored summary of a table.

    Attributes:
        columns: column name -> digest of its content, hexadecimal.
        bits: all bits, hexadecimal.
    """

    columns: dict[str, str]
    bits: str

    def to_dict(self) -> dict[str, Any]:
        """Return the sketch as plain data for JSON."""
        return {"columns": self.columns, "bits": self.bits}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Sketch:
        """Read a sketch that `to_dict` wrote."""
        return cls(columns=fields["columns"], bits=fields["bits"])


@dataclass(frozen=True, kw_only=True)
class SketchedTable:
    """A table with its sketch, to be compared with stored sketches.

    Attributes:
        fingerprint: keyed fingerprint of the same table, as `digests.fingerprint` takes
            it; a sketch of this fingerprint is of this table and under this key.
        max_differing_rows: rows in one of two tables only, up to which they look alike:
            half of those expected for another sample, and so few that it seldom has.
        surprise_bits: column name -> bits of surprise if another sample had the same
            content there.
    """

    sketch: Sketch
    fingerprint: str
    max_differing_rows: float
    surprise_bits: dict[str, float]

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, key: bytes) -> SketchedTable:
        """Sketch a table; the order of rows and columns does not matter."""
        digests = np.zeros((len(frame), 2), dtype=np.uint64)
        columns = {}
        surprise_bits = {}
        # take each column once, for its rows, its digest and its surprise
        for name, column in digest_columns(frame, key):
            cells = column.of_rows()
            digests += cells
            columns[name] = sum_to_text(cells)
            surprise_bits[name] = _measure_surprise(column.codes)
        ordered = digests[np.lexsort(digests.T)]
        first = np.flatnonzero(
            np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
        )
        counts = np.diff(np.append(first, len(ordered)))
        # Give equal rows different positions in the sketch
        again = np.arange(len(ordered)) - np.repeat(first, counts)
        places = (ordered[:, 0] + again.astype(np.uint64) * ordered[:, 1]) % np.uint64(
            SKETCH_BITS
        )
        flipped = np.bincount(places.astype(np.int64), minlength=SKETCH_BITS) % 2
        # Two Poisson counts of mean n differ by sqrt(4 n / pi) on average
        roots = float(np.sqrt(counts).sum())
        spread = math.sqrt((2 - 4 / math.pi) * len(frame))
        return cls(
            sketch=Sketch(
                columns=columns,
                bits=np.packbits(flipped.astype(np.uint8)).tobytes().hex(),
            ),
            fingerprint=fingerprint_of_digests(frame, digests, key),
            max_differing_rows=min(
                roots / 2, math.sqrt(4 / math.pi) * roots - MIN_SDS * spread
            ),
            surprise_bits=surprise_bits,
        )

    def compare(self, other: Sketch) -> TableSimilarity | None:
        """Return the similarity to a sketched table, None if they are too different.

        Two kinds are similar: tables of the same columns where the rows in one of them
        only are at most half as many as this table's (fewer if few are distinct), and
        tables with the same content in at least half of the columns. A sketch is full
        beyond about 4,700 rows in one of the tables only.
        """
        mine = self.sketch
        ours = np.frombuffer(bytes.fromhex(mine.bits), np.uint8)
        theirs = np.frombuffer(bytes.fromhex(other.bits), np.uint8)
        odd = int(np.unpackbits(ours ^ theirs).sum())
        same = [
            name
            for name, digest in mine.columns.items()
            if other.columns.get(name) == digest
        ]
        if (
            mine.columns.keys() == other.columns.keys()
            and odd < MAX_DIFFERING_BIT_SHARE * SKETCH_BITS
        ):
            # Estimate the rows from the differing bits (Mitzenmacher, Pagh, Pham 2014,
            # section 3)
            differing = round(-SKETCH_BITS / 2 * math.log(1 - 2 * odd / SKETCH_BITS))
            if differing <= self.max_differing_rows:
                return TableSimilarity(rows=differing, columns=len(same))
        bits = sum(self.surprise_bits[name] for name in same)
        if (
            2 * len(same) >= max(len(mine.columns), len(other.columns))
            and bits >= MIN_SURPRISE_BITS
        ):
            return TableSimilarity(rows=None, columns=len(same))
        return None


def _measure_surprise(codes: Codes) -> float:
    """Return the bits of surprise if another sample had the same value counts."""
    counts = np.sort(np.bincount(codes + 1))[:-1]
    return float(np.log2(4 * np.pi * counts[counts > 0]).sum() / 2)
