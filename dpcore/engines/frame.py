"""Rows in memory: a pandas frame, coded once, counted with one mixed-radix bincount a clique."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.engines.base import Part
from dpcore.errors import DisclosureError, SchemaError
from dpcore.schema.domain import Clique, Domain
from dpcore.schema.schema import Schema
from dpcore.schema.values import as_text
from dpcore.tables.counts import Counts, check_cells
from dpcore.tables.digests import fingerprint, kept_rows, row_digests
from dpcore.tables.rows import Microdata


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

    def texts(self, column: str, *, part: Part | None = None) -> dict[str, int]:
        """Exact number of rows of every text of a declared column, missing ones left out. Private."""
        values = as_text(self._counted[column])
        chosen = values if part is None else values[self._part(part)]
        return {str(text): int(count) for text, count in chosen.value_counts().items()}

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
        flat = codes[clique[0]].astype(np.int64)
        for name in clique[1:]:
            flat *= domain.size(name)
            flat += codes[name]
        if chosen is not None:
            flat = flat[chosen]
        counted = np.bincount(flat, minlength=domain.cells(clique)).astype(np.int64)
        return counted.reshape(domain.shape(clique))

    def _part(self, part: Part) -> npt.NDArray[np.bool_]:
        column, category = part
        chosen: npt.NDArray[np.bool_] = self._codes[column] == self._schema.part_code(column, category)
        return chosen
