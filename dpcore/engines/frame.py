"""Rows in memory: a pandas frame, coded once, counted with one mixed-radix bincount a clique."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.engines.base import Part
from dpcore.errors import DisclosureError, ParameterError, SchemaError
from dpcore.schema.domain import Clique, Domain
from dpcore.schema.schema import Schema
from dpcore.schema.values import as_text, numbers_in
from dpcore.tables.counts import Counts, check_cells
from dpcore.tables.rows import Microdata
from dpcore.tables.sums import Entry, Integers, product

_MISSING = np.uint64(0)


class FrameEngine:
    """A frame behind a schema.

    With an id column, at most `max_rows` rows of each person are counted, chosen by a keyed hash of the
    row's content and its place among equal rows, so that the order of the file does not matter.
    """

    def __init__(self, frame: pd.DataFrame, schema: Schema, *, key: bytes) -> None:
        schema.check_names(frame)
        if len(frame) == 0:
            raise SchemaError("the table has no rows", remedy="choose a table with at least one row")
        self._frame = frame.copy(deep=False)  # later changes to the caller's frame do not reach it
        self._schema = schema
        kept = _kept_rows(frame, schema, key)
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

    def assigned(self, assign: Callable[[pd.DataFrame], npt.NDArray[np.int64]], cells: int) -> Counts:
        """Exact number of rows that a public rule puts into each of so many cells. Private."""
        places = np.asarray(assign(self._counted[list(self.domain.names)]), dtype=np.int64)
        if places.shape != (self._length,) or places.min() < 0 or places.max() >= cells:
            raise ParameterError(
                "a rule must put every row into one of {cells} cells", remedy="mend the rule", cells=cells
            )
        return Counts(clique=(), values=np.bincount(places, minlength=cells).astype(np.int64))

    def fingerprint(self, key: bytes) -> str:
        """Keyed digest of the content; the same for another order of rows or columns."""
        return fingerprint(self._frame, key)

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
        chosen: npt.NDArray[np.bool_] = self._codes[column] == part_code(self._schema, column, category)
        return chosen


def part_code(schema: Schema, column: str, category: str) -> int:
    """Cell number of a publicly declared part.

    Raises: ParameterError when the column has no such cell.
    """
    labels = schema.column(column).labels
    if category not in labels:
        raise ParameterError(
            "{category!r} is not a declared cell of column {column!r}",
            remedy="choose one of its declared categories",
            column=column,
            category=category,
        )
    return labels.index(category)


def fingerprint(frame: pd.DataFrame, key: bytes) -> str:
    """HMAC-SHA-256 over the sorted hashes of the rows, hexadecimal."""
    hashes = np.sort(_row_hashes(frame, key))
    names = "\x00".join(sorted(map(str, frame.columns)))
    return hmac.new(key, names.encode() + b"\x01" + hashes.tobytes(), hashlib.sha256).hexdigest()


def _kept_rows(frame: pd.DataFrame, schema: Schema, key: bytes) -> npt.NDArray[np.int64] | None:
    """Positions of at most `max_rows` rows of each person; None when there is no id column."""
    name = schema.unit.id_column
    if name is None:
        return None
    people = frame[name]
    if people.isna().any():
        raise SchemaError(
            "the id column {column!r} has missing values, so these rows belong to nobody",
            remedy="fill them in or remove these rows",
            column=name,
        )
    person = pd.factorize(as_text(people))[0]  # 7, 7.0 and "7" are one person, whoever else is in the table
    order = np.lexsort((_row_hashes(frame, key), person))
    rank = pd.Series(person[order]).groupby(person[order]).cumcount().to_numpy()
    return np.sort(order[rank < schema.unit.max_rows])


def _row_hashes(frame: pd.DataFrame, key: bytes) -> npt.NDArray[np.uint64]:
    """One keyed 64-bit hash a row, from its own values alone, in any order of columns.

    It must not depend on other rows, not even through the types of columns: it decides which rows of a
    person are kept, and one person must not change which rows of another are.
    """
    total = np.zeros(len(frame), dtype=np.uint64)
    for name in frame.columns:
        digest = hmac.new(key, str(name).encode(), hashlib.sha256)
        salt = np.uint64(int.from_bytes(digest.digest()[:8], "little"))
        # pandas keys the hash of texts only, so the salt goes in between two rounds
        total += pd.util.hash_array(_value_hashes(frame[name]) ^ salt)
    return total


def _value_hashes(values: pd.Series) -> npt.NDArray[np.uint64]:
    """A hash of each value; the same for 7, 7.0 and "7", so that CSV and Parquet of a table agree."""
    if pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype):
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan) + 0.0
        hashes = pd.util.hash_array(numbers)
        large = np.abs(numbers) >= 2**53  # a float would take two long numbers for one
        if large.any():
            hashes[large] = pd.util.hash_array(as_text(values[large]).to_numpy(dtype=object))
        return np.where(np.isnan(numbers), _MISSING, hashes)
    codes, distinct = pd.factorize(values)
    texts = as_text(pd.Series(distinct))
    numbers = numbers_in(texts)
    hashes = np.where(
        np.abs(numbers) < 2**53,
        pd.util.hash_array(numbers),
        pd.util.hash_array(texts.to_numpy(dtype=object)),
    )
    return np.append(hashes, _MISSING)[codes]
