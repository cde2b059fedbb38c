"""Places of several numbers in one integer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpcore.errors import LimitError
from dpcore.tables.classes import IntArray

WORD = 63
"""Bits of a key; the sign bit stays unused so that keys sort as they are."""


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
        return (keys >> self.shift) & self.mask


def side_by_side(sizes: Sequence[int], *, below: int) -> tuple[Bits, ...]:
    """Bits for columns of so many numbers each, the last one lowest, above so many other bits."""
    widths = list(map(_bits, sizes))
    if sum(widths) + below > WORD:
        raise LimitError(
            "the quasi-identifiers have too many values together for full-domain search",
            remedy="take fewer columns, or local recoding",
        )
    shifts = [below + sum(widths[place + 1 :]) for place in range(len(widths))]
    return tuple(Bits.at(shift, size) for shift, size in zip(shifts, sizes, strict=True))


def _bits(values: int) -> int:
    """Bits that hold the codes of so many values, at least one."""
    return max(1, (values - 1).bit_length())
