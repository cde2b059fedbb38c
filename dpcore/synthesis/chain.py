"""A model that draws rows along a chain of consistent marginals.

The new columns of each clique are drawn given those already drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpcore.errors import InfeasibleError, LimitError, too_many_columns_error
from dpcore.model import Model
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis._sampling import Integers, flat_cell_indices, sample_cells
from dpcore.synthesis.graph.junction_tree import JunctionTree
from dpcore.synthesis.graph.model import GraphicalModel
from dpcore.tables.answer import CliqueCounts, find_most_precise, get_most_precise
from dpcore.tables.counts import MAX_CELLS, Marginal, Values, cell_mask, project
from dpcore.tables.nearest import nearest_distribution


@dataclass(frozen=True, kw_only=True, eq=False)
class ChainModel(Model):
    """A model made of consistent marginals.

    The cliques are visited so that each overlaps as much as possible with the columns
    drawn before. Its other columns are drawn given that overlap, and independent of all
    else. If the cliques form a tree, this is the distribution of largest entropy; if
    they form a loop, the relations of the cliques visited last are kept only in part.

    Attributes:
        marginals: tables that agree with each other.
        measured: the tables as they were measured, if they were changed to agree: with
            them anybody can check the noise.
    """

    kind: ClassVar[str] = "chain"

    domain: Domain
    marginals: Sequence[Marginal]
    measured: Sequence[Marginal] = ()

    @property
    def total(self) -> float:
        """Noisy number of rows, from the table with the least variance of its total."""
        return min(
            self.marginals,
            key=lambda marginal: marginal.variance * marginal.values.size,
        ).total

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the cliques, in the domain's order."""
        names = {name for marginal in self.marginals for name in marginal.clique}
        return tuple(name for name in self.domain.names if name in names)

    def sample_codes(self, rows: int, rng: np.random.Generator) -> dict[str, Integers]:
        """Draw `rows` rows of cell numbers, one int64 array per column."""
        drawn: dict[str, Integers] = {}
        for given, new, table in self._steps:
            parents = flat_cell_indices(
                [drawn[name] for name in given], self.domain.shape(given), rows
            )
            cells = np.unravel_index(
                sample_cells(parents, table, rng), self.domain.shape(new)
            )
            drawn |= dict(zip(new, cells, strict=True))
        return drawn

    def marginal(self, clique: Clique) -> Values:
        """Return the expected number of rows in each cell of any set of columns.

        The axes are in the order given. If the cliques are joined too closely to
        compute that, the most precise table over these columns is used.
        """
        if self.total <= 0 or not clique:
            return np.full(
                self.domain.shape(clique), max(0.0, self.total) if not clique else 0.0
            )
        try:
            return self._graph.marginal(clique)
        except LimitError:
            table = find_most_precise(self.marginals, clique)
            if table is None:
                raise
            return project(
                nearest_distribution(table.values, self.total), table.clique, clique
            )

    def answer(self, clique: Clique, level: float = 0.95) -> CliqueCounts:
        """Return the expected counts over columns of a measured table, with intervals.

        These come from the most precise table.

        Raises: ParameterError if no table covers the clique.
        """
        measured = get_most_precise(self.marginals, clique).project(clique)
        return CliqueCounts.from_marginal(self.marginal(clique), measured, level)

    def count_rows(self, cells: Mapping[str, Sequence[int]]) -> float:
        """Return the expected number of rows whose cells are among these.

        Raises: LimitError if the cliques are joined so closely that this would take
            a large table.
        """
        weights = {
            name: cell_mask(self.domain, name, numbers).astype(np.float64)
            for name, numbers in cells.items()
        }
        try:
            return self._graph.restrict(weights).total if self.total > 0 else 0.0
        except InfeasibleError:
            return 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with `kind`."""
        return {
            "kind": self.kind,
            **self.domain.to_dict(),
            "marginals": [marginal.to_dict() for marginal in self.marginals],
            **(
                {"measured": [marginal.to_dict() for marginal in self.measured]}
                if self.measured
                else {}
            ),
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> ChainModel:
        """Read the output of `to_dict`."""
        return cls(
            domain=Domain.from_dict(fields),
            marginals=tuple(Marginal.from_dict(table) for table in fields["marginals"]),
            measured=tuple(map(Marginal.from_dict, fields.get("measured", ()))),
        )

    @cached_property
    def _graph(self) -> GraphicalModel:
        """The same distribution as a graphical model on a junction tree."""
        tree = JunctionTree.build(
            self.domain, [given + new for given, new, _ in self._steps]
        )
        if tree.cells > MAX_CELLS:
            raise too_many_columns_error()
        factors = []
        for given, new, table in self._steps:
            # A row of zeros gets the overall shares, as in `sample_cells`.
            lines = np.where(
                table.sum(axis=1, keepdims=True) > 0, table, table.sum(axis=0)
            )
            shares = lines / np.maximum(lines.sum(axis=1, keepdims=True), 1e-300)
            factors.append(
                (given + new, shares.reshape(self.domain.shape(given + new)))
            )
        return GraphicalModel(tree=tree, factors=tuple(factors), total=self.total)

    @cached_property
    def _steps(self) -> list[tuple[Clique, Clique, Values]]:
        """The drawing steps in order: (given columns, new columns, their joint table).

        The table is of shape (cells of given, cells of new).
        """
        largest = [
            marginal
            for marginal in self.marginals
            if marginal.clique
            and not any(
                set(marginal.clique) < set(other.clique) for other in self.marginals
            )
        ]
        known: list[str] = []
        steps = []
        while largest:
            marginal = max(
                largest, key=lambda table: len(set(table.clique) & set(known))
            )
            largest.remove(marginal)
            given = tuple(name for name in marginal.clique if name in known)
            new = tuple(name for name in marginal.clique if name not in known)
            if new:
                table = nearest_distribution(marginal.values, max(self.total, 0.0))
                ordered = project(table, marginal.clique, given + new)
                steps.append(
                    (given, new, ordered.reshape(self.domain.cells(given), -1))
                )
                known.extend(new)
        return steps
