"""Rows drawn along a chain of marginals: each clique's new columns, given those already drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.conditional import Conditioned
from dpcore.synthesis.sampling import Integers, flat_cells, sample_cells
from dpcore.tables.counts import Marginal, project
from dpcore.tables.nearest import nearest_distribution


@dataclass(frozen=True, kw_only=True, eq=False)
class ChainModel:
    """A model made of consistent marginals.

    The cliques are walked so that each overlaps as much as possible with the columns drawn before. Its
    other columns are drawn given that overlap, and independent of all else. Where the cliques form a
    tree this is the distribution of largest entropy; where they form a loop, the relations of the
    cliques walked last are kept only in part.
    """

    kind: ClassVar[str] = "chain"

    domain: Domain
    marginals: Sequence[Marginal]

    @property
    def total(self) -> float:
        """Noisy number of rows: the total with the least variance; after `consistent` all are the same."""
        return min(self.marginals, key=lambda marginal: marginal.variance * marginal.values.size).total

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the cliques, in the domain's order."""
        held = {name for marginal in self.marginals for name in marginal.clique}
        return tuple(name for name in self.domain.names if name in held)

    def sample_codes(self, rows: int, rng: np.random.Generator) -> dict[str, Integers]:
        """`rows` rows of cell numbers, one int64 array a column of the cliques."""
        drawn: dict[str, Integers] = {}
        for clique, given, table in self._steps:
            new = tuple(name for name in clique if name not in given)
            parents = flat_cells([drawn[name] for name in given], self.domain.shape(given), rows)
            cells = np.unravel_index(sample_cells(parents, table, rng), self.domain.shape(new))
            drawn |= dict(zip(new, cells, strict=True))
        return drawn

    def given(self, cells: Mapping[str, int | Sequence[int]]) -> Conditioned:
        """The model of those rows that have these cells."""
        return Conditioned.of(self, cells)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with `kind`."""
        return {
            "kind": self.kind,
            **self.domain.to_dict(),
            "marginals": [marginal.to_dict() for marginal in self.marginals],
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> ChainModel:
        """Read what `to_dict` wrote."""
        return cls(
            domain=Domain.from_dict(fields),
            marginals=tuple(Marginal.from_dict(each) for each in fields["marginals"]),
        )

    @cached_property
    def _steps(self) -> list[tuple[Clique, Clique, np.ndarray[Any, np.dtype[np.float64]]]]:
        """(clique, columns given, table of given x new cells), in the order of the walk."""
        largest = [
            marginal
            for marginal in self.marginals
            if marginal.clique
            and not any(set(marginal.clique) < set(other.clique) for other in self.marginals)
        ]
        known: list[str] = []
        steps = []
        while largest:
            marginal = max(largest, key=lambda each: len(set(each.clique) & set(known)))
            largest.remove(marginal)
            given = tuple(name for name in marginal.clique if name in known)
            new = tuple(name for name in marginal.clique if name not in known)
            if new:
                table = nearest_distribution(marginal.values, max(self.total, 0.0))
                ordered = project(table, marginal.clique, given + new)
                steps.append((marginal.clique, given, ordered.reshape(self.domain.cells(given), -1)))
                known.extend(new)
        return steps
