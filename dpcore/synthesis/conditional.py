"""Rare rows on demand: a model of those rows that have some cells, for every kind of model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpcore.errors import InfeasibleError, ParameterError
from dpcore.release import Model
from dpcore.synthesis.sampling import Integers

BATCH = 100_000
MOST = 20_000_000
"""Rows that are drawn at most to find those that are asked for."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Conditioned:
    """A model and the cells its rows must have. Draws from the model and keeps the rows that have them.

    This is the model's own conditional law, exactly, for any model; free post-processing. What is rarer than
    one row in millions is refused.

    Attributes:
        cells: column -> cell numbers of which a row has one.
    """

    kind: ClassVar[str] = "conditioned"

    model: Model
    cells: Mapping[str, tuple[int, ...]]

    @classmethod
    def of(cls, model: Model, cells: Mapping[str, int | Sequence[int]]) -> Conditioned:
        """Refuses columns that the model does not draw. Raises: ParameterError."""
        for name in cells:
            if name not in model.columns:
                raise ParameterError(
                    "column {column!r} is not drawn by this release",
                    remedy="choose among {columns}",
                    column=name,
                    columns=", ".join(map(repr, model.columns)) or "no columns",
                )
        chosen = {name: tuple(map(int, np.atleast_1d(np.asarray(each)))) for name, each in cells.items()}
        return cls(model=model, cells=chosen)

    @property
    def total(self) -> float:
        """Noisy number of such rows, from a fixed draw of the model."""
        return self.model.total * self._share

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that the model draws."""
        return self.model.columns

    def sample_codes(self, rows: int, rng: np.random.Generator) -> dict[str, Integers]:
        """`rows` rows of cell numbers. Raises: InfeasibleError when such rows are too rare."""
        found: list[dict[str, Integers]] = []
        kept = drawn = 0
        while kept < rows:
            if drawn >= MOST:
                raise InfeasibleError(
                    "the model found only {found} such rows in {drawn} draws",
                    remedy="ask for fewer rows, or for less at once",
                    found=kept,
                    drawn=drawn,
                )
            codes = self.model.sample_codes(BATCH, rng)
            fits = self._fits(codes)
            found.append({name: each[fits] for name, each in codes.items()})
            kept, drawn = kept + int(fits.sum()), drawn + BATCH
        return {
            name: np.concatenate([each[name] for each in found])[:rows]
            if found
            else np.zeros(0, dtype=np.int64)
            for name in self.columns
        }

    def given(self, cells: Mapping[str, int | Sequence[int]]) -> Conditioned:
        """The rows among these that have these cells too."""
        return Conditioned.of(self, cells)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with `kind`."""
        cells = {name: list(each) for name, each in self.cells.items()}
        return {"kind": self.kind, "model": self.model.to_dict(), "cells": cells}

    def _fits(self, codes: Mapping[str, Integers]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        fits = np.ones(len(next(iter(codes.values()))), dtype=np.bool_)
        for name, cells in self.cells.items():
            fits &= np.isin(codes[name], cells)
        return fits

    @cached_property
    def _share(self) -> float:
        return float(self._fits(self.model.sample_codes(BATCH, np.random.default_rng(0))).mean())
