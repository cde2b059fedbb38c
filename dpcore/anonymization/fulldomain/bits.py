"""Places of several numbers in one integer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.tables.classes import IntArray

WORD = 63
"""Bits of a key in one word; the sign bit stays unused so that keys sort as they
are.
"""


@dataclass(frozen=True, kw_only=True)
class Bits:
    """The place of the numbers of a column inside the keys."""

    shift: int
    mask: int

    @classmethod
    def at(cls, shift: int, numbers: int) -> Bits:
        """Bits that hold so many different numbers, at least one bit."""
        return cls(shift=shift, mask=(1 << _bits(numbers)) - 1)

    def of(self, keys: IntArray) -> IntArray:
        """Return the numbers inside the keys."""
        return np.asarray((keys >> self.shift) & self.mask, dtype=np.int64)


def zeros(number: int, columns: Sequence[Bits]) -> IntArray:
    """Return so many empty keys, which are Python's integers where the columns do not
    fit into one word.
    """
    top = columns[0]
    is_wide = top.shift + top.mask.bit_length() > WORD
    return np.zeros(number, dtype=object if is_wide else np.int64)


def side_by_side(sizes: Sequence[int], *, below: int) -> tuple[Bits, ...]:
    """Bits for columns of so many numbers each, the last one lowest, above so many
    other bits.
    """
    widths = list(map(_bits, sizes))
    shifts = [below + sum(widths[place + 1 :]) for place in range(len(widths))]
    return tuple(
        Bits.at(shift, size) for shift, size in zip(shifts, sizes, strict=True)
    )


def _bits(values: int) -> int:
    """Bits that hold the codes of so many values, at least one."""
    return max(1, (values - 1).bit_length())
