"""Models that are learned from noisy marginals and draw synthetic rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dpcore.errors import InfeasibleError, UsageError
from dpcore.registry import Registered
from dpcore.schema.domain import Clique
from dpcore.tables.answer import CliqueCounts
from dpcore.tables.counts import Integers

Ranks = dict[str, npt.NDArray[np.float32]]
"""Column -> rank of each row's value among those of its cell, from 0 to 1."""
BATCH_ROWS = 100_000
MAX_ROWS_TO_CONDITION = 20_000_000
"""Rows that are drawn at most to find those that are asked for."""


class Model(Registered, ABC, home="dpcore.synthesis"):
    """A model learned from noisy marginals only; its use is free post-processing.

    Attributes:
        copies: columns that repeat another one in drawn rows, each with that one.
    """

    copies: tuple[tuple[str, str], ...] = ()

    @property
    @abstractmethod
    def total(self) -> float:
        """Noisy number of rows."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that `sample_codes` draws; none if it draws no rows."""

    @abstractmethod
    def sample_codes(self, rows: int, rng: np.random.Generator) -> dict[str, Integers]:
        """Draw `rows` rows of cell numbers, one array of integers per column."""

    def sample_ranked(
        self, rows: int, rng: np.random.Generator
    ) -> tuple[dict[str, Integers], Ranks]:
        """Draw rows as `sample_codes` does, with the ranks of values inside cells.

        Returns: the cell numbers; and the ranks of the columns of which the model knows
            them, from 0 to 1 among the rows of a cell.
        """
        return self.sample_codes(rows, rng), {}

    def sample_known(
        self, known: Mapping[str, Integers], rng: np.random.Generator
    ) -> tuple[dict[str, Integers], Ranks]:
        """Draw one row for each row of known cells, given these.

        Args:
            known: column -> cell of each row; all of one length.
            rng: of the post-processing.

        Returns: as `sample_ranked`; known columns come back as they are, without ranks.

        Raises: ParameterError if a model of this kind cannot.
        """
        raise UsageError(
            "this release cannot draw rows for given values",
            remedy="use a release of Tree or Adaptive",
        )

    def given(self, cells: Mapping[str, int | Sequence[int]]) -> Model:
        """Return the model restricted to rows with the given cells.

        Args:
            cells: column -> a cell number, or several of which a row has one.

        Raises: ParameterError for unknown columns or cells; InfeasibleError if there
            are no such rows.
        """
        return ConditionedModel.of(self, cells)

    def answer(self, clique: Clique, level: float = 0.95) -> CliqueCounts | None:
        """Return the model's counts over a clique, with intervals, or None.

        Raises: ParameterError for columns without a common noisy table.
        """
        return None

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain data, with its `kind`."""

    @classmethod
    @abstractmethod
    def from_dict(cls, fields: dict[str, Any]) -> Model:
        """Read the output of `to_dict`."""


class Summary(Model):
    """A result without rows to draw, such as single figures."""

    @property
    def columns(self) -> tuple[str, ...]:
        return ()

    def sample_codes(self, rows: int, rng: np.random.Generator) -> dict[str, Integers]:
        return {}


def load_model(fields: dict[str, Any]) -> Model:
    """Build a model of any kind from the output of its `to_dict`.

    Raises: ParameterError for an unknown kind.
    """
    return Model.of_kind(fields["kind"]).from_dict(fields)


@dataclass(frozen=True, kw_only=True, eq=False)
class ConditionedModel(Model):
    """A model restricted to rows that have the given cells.

    This is the model's own conditional distribution, exactly, for any model; free
    post-processing. Rows rarer than one in millions are refused.

    Attributes:
        cells: column -> cell numbers of which a row has one.
    """

    kind: ClassVar[str] = "conditioned"

    model: Model
    cells: Mapping[str, tuple[int, ...]]

    @classmethod
    def of(
        cls, model: Model, cells: Mapping[str, int | Sequence[int]]
    ) -> ConditionedModel:
        """Restrict a model to rows with the given cells.

        Raises: ParameterError for columns not drawn.
        """
        for name in cells:
            if name not in model.columns:
                raise UsageError(
                    f"column {name!r} is not drawn by this release",
                    remedy=(
                        "choose among "
                        f"{', '.join(map(repr, model.columns)) or 'no columns'}"
                    ),
                )
        numbers = {
            name: tuple(map(int, np.atleast_1d(np.asarray(numbers))))
            for name, numbers in cells.items()
        }
        return cls(model=model, cells=numbers)

    @property
    def total(self) -> float:
        """Noisy number of rows with the given cells, from a fixed draw of the model."""
        return self.model.total * self._matching_share

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns drawn by the model."""
        return self.model.columns

    def sample_codes(self, rows: int, rng: np.random.Generator) -> dict[str, Integers]:
        """Draw `rows` rows with the given cells, as cell numbers.

        Raises: InfeasibleError when such rows are too rare.
        """
        batches: list[dict[str, Integers]] = []
        fitting = drawn = 0
        while fitting < rows:
            if drawn >= MAX_ROWS_TO_CONDITION:
                raise InfeasibleError(
                    "the model has no such rows, or hardly any",
                    remedy="choose other values",
                )
            codes = self.model.sample_codes(BATCH_ROWS, rng)
            fits = self._matching_rows(codes)
            batches.append({name: column[fits] for name, column in codes.items()})
            fitting = fitting + int(fits.sum())
            drawn = drawn + BATCH_ROWS
        return {
            name: np.concatenate([batch[name] for batch in batches])[:rows]
            if batches
            else np.zeros(0, dtype=np.int64)
            for name in self.columns
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain data, with its `kind`."""
        cells = {name: list(numbers) for name, numbers in self.cells.items()}
        return {"kind": self.kind, "model": self.model.to_dict(), "cells": cells}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> ConditionedModel:
        """Read the output of `to_dict`."""
        return cls.of(load_model(fields["model"]), fields["cells"])

    def _matching_rows(
        self, codes: Mapping[str, Integers]
    ) -> np.ndarray[Any, np.dtype[np.bool_]]:
        fits = np.ones(len(next(iter(codes.values()))), dtype=np.bool_)
        for name, cells in self.cells.items():
            fits &= np.isin(codes[name], cells)
        return fits

    @cached_property
    def _matching_share(self) -> float:
        return float(
            self._matching_rows(
                self.model.sample_codes(BATCH_ROWS, np.random.default_rng(0))
            ).mean()
        )
