"""Rows in memory: a pandas frame, coded once, counted with one mixed-radix bincount a clique."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.engines.base import Part
from dpcore.errors import DisclosureError, ParameterError, SchemaError
from dpcore.schema.domain import Clique, Domain
from dpcore.schema.schema import Schema
from dpcore.schema.values import as_text
from dpcore.tables.counts import Counts, check_cells
from dpcore.tables.digests import fingerprint, kept_rows, row_digests
from dpcore.tables.rows import Microdata
from dpcore.tables.sums import Entry, Integers, product


class FrameEngine:
    """A frame behind a schema.

    With an id column, at most `max_rows` rows of each person are counted: those with the lowest keyed digests
    of their own content, so that neither the order of the file nor other people's rows matter.
    """

    def __init__(self, frame: pd.DataFrame, schema: Schema, *, key: bytes) -> None:
        schema.check_names(frame)
        if len(frame) == 0:
            raise SchemaError("the table has no rows", remedy="choose a table with at least one row")
        self._frame = frame.copy(deep=False)  # later changes to the caller's frame do not reach it
        self._schema = schema
        digests = row_digests(frame, key)
        self.fingerprint = fingerprint(frame, key, digests)
        kept = kept_rows(frame, digests, schema.unit)
        counted = frame if kept is None else frame.iloc[kept]
        self._codes = {
            name: codes.astype(np.min_scalar_type(int(schema.domain.size(name))))
            for name, codes in schema.encode(counted).items()
        }
        self._counted = counted
        self._length = len(counted)

    def __repr__(self) -> str:
        return f"FrameEngine({self.domain})"

    def __reduce__(self) -> NoReturn:
        raise DisclosureError("an engine holds private rows and is never stored", remedy="release first")

    @property
    def domain(self) -> Domain:
        """Names and sizes of the declared columns."""
        return self._schema.domain

    def counts(
        self,
        cliques: Sequence[Clique],
        *,
        part: Part | None = None,
        groups: Mapping[str, npt.NDArray[np.int64]] | None = None,
    ) -> list[Counts]:
        """Exact counts over each clique, int64, of all rows or of those of one part.

        Raises: LimitError for a clique with too many cells, before anything is allocated.
        """
        codes = dict(self._codes)
        sizes = dict(zip(self.domain.names, self.domain.sizes, strict=True))
        for name, group in (groups or {}).items():
            sizes[name] = int(group.max()) + 1
            codes[name] = group.astype(np.min_scalar_type(sizes[name]))[codes[name]]
        domain = Domain(names=tuple(sizes), sizes=tuple(sizes.values()))
        check_cells(domain, cliques)
        chosen = None if part is None else self._part(part)
        return [
            Counts(clique=clique, values=self._count(clique, domain, codes, chosen)) for clique in cliques
        ]

    def sums(self, by: Clique, entries: Sequence[Entry], *, part: Part | None = None) -> Integers:
        """Exact sums over the rows of each cell of `by`, int64 (cells, entries), in units of 1 / GRID rows.

        Raises: LimitError for too many cells, before anything is allocated.
        """
        check_cells(self.domain, [by] * len(entries))
        line = self._flat(by, self.domain, self._codes)
        chosen = slice(None) if part is None else self._part(part)
        sums = np.empty((self.domain.cells(by), len(entries)), dtype=np.int64)
        for number, entry in enumerate(entries):
            factors = [levels[self._codes[name]] for name, levels in entry.items()]
            added = product(factors, self._length)[chosen]
            # whole numbers below 2^53 in all partial sums, so that float64 adds them up exactly
            sums[:, number] = np.bincount(line[chosen], weights=added, minlength=len(sums))
        return sums

    def texts(self, column: str, *, part: Part | None = None) -> dict[str, int]:
        """Exact number of rows of every text of a declared column, missing ones left out. Private."""
        values = as_text(self._counted[column])
        chosen = values if part is None else values[self._part(part)]
        return {str(text): int(count) for text, count in chosen.value_counts().items()}

    def assigned(
        self, assign: Callable[[pd.DataFrame], npt.NDArray[np.int64]], cells: int, reads: Clique
    ) -> Counts:
        """Exact number of rows that a public rule puts into each of so many cells. Private."""
        places = np.asarray(assign(self._counted[list(reads)]), dtype=np.int64)
        if places.shape != (self._length,) or places.min() < 0 or places.max() >= cells:
            raise ParameterError(
                "a rule must put every row into one of {cells} cells", remedy="mend the rule", cells=cells
            )
        return Counts(clique=(), values=np.bincount(places, minlength=cells).astype(np.int64))

    def rows(self) -> Microdata:
        """All rows as they were given."""
        return Microdata(self._frame)

    def _count(
        self,
        clique: Clique,
        domain: Domain,
        codes: Mapping[str, npt.NDArray[np.unsignedinteger]],
        chosen: npt.NDArray[np.bool_] | None,
    ) -> npt.NDArray[np.int64]:
        """One mixed-radix bincount."""
        if not clique:
            return np.array(self._length if chosen is None else int(chosen.sum()), dtype=np.int64)
        flat = self._flat(clique, domain, codes)
        if chosen is not None:
            flat = flat[chosen]
        counted = np.bincount(flat, minlength=domain.cells(clique)).astype(np.int64)
        return counted.reshape(domain.shape(clique))

    def _flat(
        self, clique: Clique, domain: Domain, codes: Mapping[str, npt.NDArray[np.unsignedinteger]]
    ) -> npt.NDArray[np.int64]:
        """The cell of each row in the table over the clique, counted through."""
        flat = np.zeros(self._length, dtype=np.int64)
        for name in clique:
            flat *= domain.size(name)
            flat += codes[name]
        return flat

    def _part(self, part: Part) -> npt.NDArray[np.bool_]:
        column, category = part
        chosen: npt.NDArray[np.bool_] = self._codes[column] == self._schema.part_code(column, category)
        return chosen
