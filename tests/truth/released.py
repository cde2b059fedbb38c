"""What a release says, worked out again from its own file by numpy and scipy alone."""

from __future__ import annotations

import base64
import functools
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import dlaplace, norm

Array = np.ndarray[Any, Any]
Clique = tuple[str, ...]


def array(packed: Mapping[str, Any]) -> Array:
    """A table of the file."""
    return np.frombuffer(base64.b64decode(packed["data"]), packed["dtype"]).reshape(
        packed["shape"]
    )


def width(
    variance: float, pooled: bool, noise: str = "laplace", error: float = 0.05
) -> int:
    """Rows within which all but so many draws of the discrete law lie; averages are not
    whole numbers.
    """
    if noise == "gaussian":  # the discrete law lies within the normal one
        return math.ceil(norm.isf(error / 2) * math.sqrt(variance) + pooled / 2)
    law = dlaplace(2 * math.asinh(math.sqrt(0.5 / variance)))
    rows = np.arange(math.ceil(20 * math.sqrt(variance)) + 2)
    return int(np.argmax(2 * law.sf(rows) <= error * (1 + 1e-11))) + pooled


def nearest(values: Array, total: float) -> Array:
    """The table without negative cells of this total that lies nearest."""
    if total <= 0:
        return np.zeros(values.shape)
    ends = values.min() - total, values.max()
    cut = brentq(
        lambda cut: np.maximum(values - cut, 0).sum() - total,
        *ends,
        xtol=1e-13,
        rtol=1e-15,
    )
    return np.maximum(values - cut, 0)


def onto(values: Array, clique: Clique, kept: Clique) -> Array:
    """Sums over all columns but these, in the order of the clique."""
    return values.sum(
        axis=tuple(i for i, name in enumerate(clique) if name not in kept)
    )


@dataclass(frozen=True)
class Measured:
    """What was drawn at once: the cells of some columns, or of some of them the
    differences of two cells.

    Attributes:
        values: noisy, one a cell of the columns that are not `signed`, in the order of
            the table.
        variance: of each.
        shape: of the table in the file, which a difference stands in with both signs.
        pooled: whether it is an average of several draws.
    """

    clique: Clique
    values: Array
    variance: float
    shape: tuple[int, ...]
    pooled: bool
    signed: Clique = ()

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Measured:
        """From its fields in the file, where a difference is halved once a column."""
        clique = tuple(fields["clique"])
        values = array(fields["values"])
        signed = tuple(fields.get("signed", ()))
        difference = values
        for place in reversed(range(len(clique))):
            if clique[place] in signed:
                difference = difference.take(0, place) - difference.take(1, place)
        variance = fields["variance"] * 4 ** len(signed)
        return cls(clique, difference, variance, values.shape, fields["pooled"], signed)


class Told:
    """A release by its file: `of` is what it must say of a clique."""

    def __init__(self, content: bytes) -> None:
        self.file = json.loads(content)
        self.model = self.file["model"]
        self.tables = {tuple(each["clique"]): each for each in self.file["marginals"]}
        self.sizes = dict(
            zip(self.model.get("names", ()), self.model.get("sizes", ()), strict=True)
        )
        self.cliques = list(self.tables)
        (self.noise,) = {each["noise"] for each in self.tables.values()}
        self.columns = [
            name for name in self.sizes if any(name in each for each in self.cliques)
        ]

    @functools.cached_property
    def total(self) -> float:
        """Rows in all."""
        if self.model["kind"] == "graphical":
            return float(self.model["graph"]["total"])
        best = min(
            self.tables.values(),
            key=lambda each: each["variance"] * array(each["values"]).size,
        )
        return float(array(best["values"]).sum())

    def of(
        self, clique: Clique, fold: int = 1, error: float = 0.05
    ) -> tuple[Array, Array, Array]:
        """Values, low and high of each cell, wrong as often as `error`; of so many
        neighbors added up.
        """
        values, measured, variance, pooled = self._of(clique)
        starts = np.arange(0, len(values), fold) if clique else None
        if fold > 1:
            values, measured = (
                np.add.reduceat(each, starts) for each in (values, measured)
            )
        half = width(variance * fold, pooled, self.noise, error)
        low = np.maximum(0, measured - half)
        high = np.maximum(0, measured + half)
        return values, np.minimum(low, values), np.maximum(high, values)

    def asked(self, cells: Mapping[str, Sequence[int]]) -> tuple[float, float, float]:
        """Value, low and high of the rows with these cells, of columns that one table
        holds.
        """
        clique = tuple(name for name in self.sizes if name in cells)
        fits = np.zeros([self.sizes[name] for name in clique], dtype=bool)
        fits[np.ix_(*(cells[name] for name in clique))] = True
        values, measured, variance, pooled = self._of(clique, fits)
        value = float(values[fits].sum())
        told = float(measured[fits].sum())
        half = width(variance, pooled, self.noise)
        ends = max(0.0, told - half), max(0.0, told + half)
        return value, min(ends[0], value), max(ends[1], value)

    def _of(
        self, clique: Clique, fits: Array | None = None
    ) -> tuple[Array, Array, float, bool]:
        """Values, what was measured, variance of a cell or of all that fit, whether
        draws were averaged.
        """
        if self.model["kind"] == "graphical":
            return (
                onto(self.joint, tuple(self.sizes), clique),
                *self._best(clique, fits),
            )
        held = [each for each in self.tables if set(clique) <= set(each)]
        name = min(held, key=lambda each: self._variance(each, clique))
        table = array(self.tables[name]["values"])
        values = (
            onto(nearest(table, self.total), name, clique)
            if clique
            else np.array(max(0.0, self.total))
        )
        variance = self._variance(name, clique) * (1 if fits is None else fits.sum())
        return values, onto(table, name, clique), variance, self.tables[name]["pooled"]

    def _variance(self, table: Clique, clique: Clique) -> float:
        summed = math.prod(self.sizes[name] for name in table if name not in clique)
        return float(self.tables[table]["variance"] * summed)

    @functools.cached_property
    def joint(self) -> Array:
        """Expected rows of every combination of declared cells: all factors multiplied
        out.
        """
        graph = self.model["graph"]
        names = list(self.sizes)
        groups = np.array(1.0).reshape([1] * len(names))
        for clique, factor in graph["factors"]:
            order = [name for name in names if name in clique]
            table = np.transpose(array(factor), [clique.index(name) for name in order])
            shape = [
                table.shape[order.index(name)] if name in order else 1 for name in names
            ]
            groups = groups * table.reshape(shape)
        shares = [array(self.model["grouping"]["shares"][name]) for name in names]
        found = groups[
            np.ix_(*(array(self.model["grouping"]["groups"][name]) for name in names))
        ]
        found = found * functools.reduce(np.multiply.outer, shares)
        return found * graph["total"] / found.sum()

    def _best(self, clique: Clique, fits: Array | None) -> tuple[Array, float, bool]:
        """The best linear unbiased estimate of a table that was measured over declared
        cells.

        Of all draws over declared cells where a column of it was merged into groups,
        else of all draws.
        """
        declared = [
            each
            for each in self.measured
            if each.shape == self._shape(each.clique, self.sizes)
        ]
        groups = {
            name: array(each) for name, each in self.model["grouping"]["groups"].items()
        }
        coarse = {name: int(each.max()) + 1 for name, each in groups.items()}
        if self._shape(clique, coarse) != self._shape(clique, self.sizes):
            return self._squares(clique, fits, declared, self.sizes)
        merged = []
        for each in self.measured:
            if each.shape == self._shape(each.clique, coarse):
                merged.append(each)
            elif not each.signed:  # the difference of two cells in one group is none
                (name,) = each.clique
                values = np.bincount(groups[name], each.values)
                variance = each.variance * self.sizes[name] / coarse[name]
                merged.append(replace(each, values=values, variance=variance))
        return self._squares(clique, fits, merged, coarse)

    @functools.cached_property
    def measured(self) -> list[Measured]:
        """All that was drawn."""
        return [Measured.of(each) for each in self.model["measurements"]]

    def _squares(
        self,
        clique: Clique,
        fits: Array | None,
        measured: Sequence[Measured],
        sizes: Mapping[str, int],
    ) -> tuple[Array, float, bool]:
        """Weighted least squares over the joint table of all columns, by its solution
        of least length.
        """
        parts = [
            sums(sizes, each.clique, each.signed) / each.variance**0.5
            for each in measured
        ]
        lines = np.vstack(parts)
        target = sums(sizes, clique)
        wanted = (
            target
            @ lines.T
            @ np.linalg.pinv(lines @ lines.T, rcond=1e-10, hermitian=True)
        )
        assert np.allclose(wanted @ lines, target, atol=1e-6), (
            f"nothing that was measured tells {clique}"
        )
        found = wanted @ np.concatenate(
            [each.values.ravel() / each.variance**0.5 for each in measured]
        )
        added = (
            wanted if fits is None else wanted[fits.ravel()].sum(axis=0, keepdims=True)
        )
        variance = float((added**2).sum(axis=1).max())
        ends = np.cumsum([len(each) for each in parts])[:-1]
        shares = np.split(np.abs(wanted).max(axis=0), ends)
        used = [
            each
            for each, share in zip(measured, shares, strict=True)
            if share.max() > 1e-9
        ]
        pooled = len(used) > 1 or any(each.pooled for each in used)
        return found.reshape(self._shape(clique, sizes)), variance, pooled

    def _shape(self, clique: Clique, sizes: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(sizes[name] for name in sizes if name in clique)


def sums(sizes: Mapping[str, int], clique: Clique, signed: Clique = ()) -> Array:
    """(cells of the clique, cells of all columns) which are added up; a second signed
    cell is taken off.
    """
    parts = [
        np.array([[1.0, -1.0]])
        if name in signed
        else np.eye(size)
        if name in clique
        else np.ones((1, size))
        for name, size in sizes.items()
    ]
    return functools.reduce(np.kron, parts, np.ones((1, 1)))


def cells_of(labels: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Labels of every cell of a table, in its order."""
    return list(itertools.product(*labels))
