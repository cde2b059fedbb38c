"""Small columns of Spark, several to a word.

To hand over a value costs about the same whatever its size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_KINDS = {"byte": "int8", "short": "int16", "integer": "int32", "boolean": "bool"}
"""Types of Spark that share words."""


@dataclass(frozen=True, kw_only=True)
class Packing:
    """The way in which columns come to a worker, some by themselves, then the words of the others.

    A word has 64 bits: from the lowest on the values of its columns, wide ones first, and from the highest on
    a bit for each that is set where the value is missing.

    Attributes:
        words: (name, type) of the columns of each word.
    """

    names: tuple[str, ...]
    words: tuple[tuple[tuple[str, str], ...], ...] = ()

    @classmethod
    def of(cls, kinds: Mapping[str, str]) -> Packing:
        """For columns of these types of Spark, each into the first word with room for it."""
        words: list[list[tuple[str, str]]] = []
        small = [(name, _KINDS[kind]) for name, kind in kinds.items() if kind in _KINDS]
        for name, kind in sorted(small, key=lambda each: -_bits(each[1])):
            fits = (word for word in words if sum(_bits(other) + 1 for _, other in word) + _bits(kind) < 64)
            word = next(fits, [])
            if not word:
                words.append(word)
            word.append((name, kind))
        return cls(names=tuple(kinds), words=tuple(tuple(word) for word in words if len(word) > 1))

    @property
    def alone(self) -> list[str]:
        """The columns that come by themselves."""
        inside = {name for word in self.words for name, _ in word}
        return [name for name in self.names if name not in inside]

    def columns(self, places: Mapping[str, str]) -> list[Any]:
        """Return the expressions that Spark computes, from the names that its columns have there."""
        from pyspark.sql import functions as F  # noqa: N812

        expressions = [F.col(places[name]) for name in self.alone]
        for word in self.words:
            bits, total = 0, F.lit(0).cast("long")
            for number, (name, kind) in enumerate(word):
                column = F.col(places[name])
                value = F.coalesce(column.cast("long"), F.lit(0)).bitwiseAND(2 ** _bits(kind) - 1)
                missing = column.isNull().cast("long")
                total = total.bitwiseOR(F.shiftleft(value, bits)).bitwiseOR(F.shiftleft(missing, 63 - number))
                bits += _bits(kind)
            expressions.append(total)
        return expressions

    def table(self, batches: Sequence[Any]) -> Any:
        """Return the columns again from batches of Arrow as they come."""
        import pyarrow as pa

        came = pa.Table.from_batches(batches).combine_chunks()
        alone = self.alone
        by_name = dict(zip(alone, came.columns, strict=False))
        for word, column in zip(self.words, came.columns[len(alone) :], strict=True):
            values = column.to_numpy()
            missing = values.view(np.uint64) >> np.uint64(64 - len(word))
            bits = 0
            for number, (name, kind) in enumerate(word):
                lane = "uint8" if kind == "bool" else kind
                every = values.view(lane)[bits // _bits(kind) :: 64 // _bits(kind)].astype(kind)
                bits += _bits(kind)
                is_missing = missing >> np.uint64(len(word) - 1 - number) & np.uint64(1) != 0
                by_name[name] = pa.array(every, mask=is_missing if missing.any() else None)
        return pa.table([by_name[name] for name in self.names], names=list(self.names))


def _bits(kind: str) -> int:
    return 8 * np.dtype(kind).itemsize
