"""The public shape of a coded table: column names and numbers of cells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpcore.errors import UsageError

Clique = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Domain:
    """The names and sizes of columns, in one order. All of it is public.

    Attributes:
        names: column names, distinct.
        sizes: cells of each column, at least 1, in the order of `names`.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.sizes) or len(set(self.names)) != len(
            self.names
        ):
            raise UsageError(
                "a domain needs one size for each of its distinct names",
                remedy="check names and sizes",
            )
        if any(size < 1 for size in self.sizes):
            raise UsageError(
                "every column must have at least 1 cell", remedy="check the sizes"
            )

    @cached_property
    def _sizes_by_name(self) -> dict[str, int]:
        return dict(zip(self.names, self.sizes, strict=True))

    def size(self, name: str) -> int:
        """Return the number of cells of a column."""
        try:
            return self._sizes_by_name[name]
        except KeyError:
            raise UsageError(
                f"column {name!r} is not in the schema",
                remedy=f"choose among {', '.join(map(repr, self.names))}",
            ) from None

    def shape(self, clique: Clique) -> tuple[int, ...]:
        """Return the size of each axis of the table over `clique`.

        The empty clique has shape ().
        """
        return tuple(self.size(name) for name in clique)

    def cells(self, clique: Clique) -> int:
        """Return the number of cells of the table over `clique`, an unbounded integer."""
        return math.prod(self.shape(clique))

    def clique(self, columns: Iterable[str]) -> Clique:
        """Return `columns` as a clique of known, distinct names, in the order given."""
        clique = tuple(columns)
        if len(set(clique)) != len(clique):
            raise UsageError(
                f"a column is twice in {clique}", remedy="name each column once"
            )
        self.shape(clique)
        return clique

    def to_dict(self) -> dict[str, Any]:
        """Return plain data with `names` and `sizes`."""
        return {"names": list(self.names), "sizes": list(self.sizes)}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Domain:
        """Read the output of `to_dict`; other fields are ignored."""
        return cls(names=tuple(fields["names"]), sizes=tuple(fields["sizes"]))

    def project(self, clique: Clique) -> Domain:
        """Return the domain of the columns of `clique` alone."""
        return Domain(names=clique, sizes=self.shape(clique))
