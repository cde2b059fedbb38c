"""The model of Tree and Adaptive: a graphical model over groups of cells."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.accounting.loss import ZCDP, Loss, PureDP
from dpcore.errors import InfeasibleError
from dpcore.model import Model, Ranks
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis._consistency import Evidence, combine_evidence
from dpcore.synthesis._sampling import Integers
from dpcore.synthesis.discrete._binary_contrasts import (
    complete_tables,
    merge_to_groups,
    pool_draws,
)
from dpcore.synthesis.discrete._places import draw_positions_in_runs
from dpcore.synthesis.discrete._rare_values import Grouping
from dpcore.synthesis.discrete._refinement import (
    affordable_passes,
    block_sizes,
    refine_rows,
)
from dpcore.synthesis.discrete.coarse_pairs import CoarsePairs
from dpcore.synthesis.discrete.concordance import Concordances
from dpcore.synthesis.discrete.constraints import Constraints
from dpcore.synthesis.graph.model import GraphicalModel
from dpcore.tables.answer import CliqueCounts
from dpcore.tables.counts import Marginal, Values, cell_mask

SCALING_STEPS = 5
"""Rounds of fitting a pair's table to the rows of its columns."""
MAX_PASSES_GIVEN_CELLS = 10
"""Passes of refining rows of which cells are known, at most; more take longer than all
else, and bring pairs of events closer by a twentieth (docs/decisions/0059).
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class SyntheticModel(Model):
    """Expected counts of all columns, learned from noisy marginals only.

    Attributes:
        domain: of all columns, determined ones too, as declared.
        grouping: of the columns of the graphical model.
        graph: the model over groups.
        constraints: facts that every row keeps.
        measurements: all noisy tables that were paid for, over groups, and of contrasts
            the differences alone. They are independent, so that a later run can use
            them again.
        outside_pairs: pairs outside the tree measured over coarser cells; drawn rows
            are refined towards them.
        concordances: of pairs of ordered columns; drawn rows are refined towards them,
            too. They move pairs alone: `given` and tables of three columns are those of
            the graph.
        copies: columns that repeat another one, each with that one; both are in
            `constraints`, too.
        losses: paid, release by release. A run that uses the model again depends on all
            of them.
    """

    kind: ClassVar[str] = "graphical"

    domain: Domain
    grouping: Grouping
    graph: GraphicalModel
    constraints: Constraints
    measurements: tuple[Marginal, ...]
    losses: tuple[Loss, ...] = ()
    outside_pairs: CoarsePairs | None = None
    concordances: Concordances | None = None
    copies: tuple[tuple[str, str], ...] = ()

    @property
    def total(self) -> float:
        """Noisy number of rows."""
        return self.graph.total

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of the domain."""
        return self.domain.names

    @cached_property
    def tables(self) -> tuple[Marginal, ...]:
        """One noisy table per measured clique, with contrasts completed."""
        return tuple(complete_tables(self.grouping, self.measurements))

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """The measured cliques of two columns or more."""
        return tuple(
            marginal.clique
            for marginal in self.measurements
            if len(marginal.clique) > 1
        )

    @property
    def is_refined(self) -> bool:
        """Whether drawn rows are adjusted to pairs outside the tree by swapping values.

        Time allows it up to some rows times columns. Beyond, such pairs are not
        measured, and whether numbers rise together is not asked.
        """
        return (
            affordable_passes(round(self.total), self.grouping.group_domain.sizes, 0.0)
            > 0
        )

    def add_found_copies(self, constraints: Constraints) -> Constraints:
        """Return the constraints with the copied columns that this model found."""
        return constraints.add_copies(
            function
            for function in self.constraints.determines
            if (function.target, function.column) in self.copies
        )

    def sample_codes(self, rows: int, rng: np.random.Generator) -> dict[str, Integers]:
        """Draw `rows` rows of cell numbers, one array of integers per column."""
        codes = self.sample_ranked(rows, rng)[0]
        return {name: codes.pop(name).astype(np.int32) for name in self.domain.names}

    def sample_ranked(
        self, rows: int, rng: np.random.Generator
    ) -> tuple[dict[str, Integers], Ranks]:
        """Draw rows of cell numbers, and the ranks of ordered values inside cells.

        Numbers are of the smallest type that holds them, as a table may have millions.
        Many rows that are refined are drawn in blocks, each like a table of its own.
        """
        return self._draw_rows(rows, {}, rng)

    def sample_known(
        self, known: Mapping[str, Integers], rng: np.random.Generator
    ) -> tuple[dict[str, Integers], Ranks]:
        """Draw one row for each row of known cells, given these.

        Other columns follow their exact conditional distribution in the tree, then
        move towards pairs outside of it as in any drawn rows. A known column that
        another one determines is returned, but tells nothing about that one.
        """
        self.domain.clique(known)  # refuses an unknown name
        rows = len(next(iter(known.values())))
        codes, ranks = self._draw_rows(rows, known, rng)
        return codes, {name: ranks[name] for name in ranks if name not in known}

    def _draw_rows(
        self, rows: int, known: Mapping[str, Integers], rng: np.random.Generator
    ) -> tuple[dict[str, Integers], Ranks]:
        """Draw rows in blocks, given the cells that are known."""
        passes = self._passes_for(rows)
        if known:
            passes = min(passes, MAX_PASSES_GIVEN_CELLS)
        fixed = self._fixed_columns(known)
        expected = {
            pair: self._expected_rows(pair)
            for pair in itertools.combinations(self.grouping.group_domain.names, 2)
            if passes and not fixed.issuperset(pair)
        }
        codes: dict[str, Integers] = {
            name: np.empty(rows, dtype=np.min_scalar_type(self.domain.size(name)))
            for name in self.domain.names
        }
        ranked = self.concordances.ranked if self.concordances else ()
        ranks: Ranks = {name: np.empty(rows, dtype=np.float32) for name in ranked}
        first = 0
        for size in block_sizes(rows) if passes else [rows]:
            part = slice(first, first + size)
            here = {name: cells[part] for name, cells in known.items()}
            cells, places = self._draw_block(size, passes, expected, fixed, here, rng)
            for name, column in codes.items():
                column[part] = cells.pop(name)
            for name, own_ranks in ranks.items():
                own_ranks[part] = places.pop(name)
            first = first + size
        return codes, ranks

    def _fixed_columns(self, known: Collection[str]) -> frozenset[str]:
        """Return the columns whose drawn values stay where they are.

        Swaps only preserve pairs, so columns in larger cliques must not change either.
        """
        cliques = [
            marginal.clique
            for marginal in self.measurements
            if len(marginal.clique) > 2
        ]
        cliques += [rule.columns for rule in self.constraints.impossible]
        merged = [name for name in known if name in self.grouping.domain.names]
        return frozenset(merged).union(*cliques)

    def _passes_for(self, rows: int) -> int:
        """Return how often so many drawn rows are gone through to refine them."""
        if not self.measurements or self.total <= 0:
            return 0
        joint = [
            marginal.variance**0.5
            for marginal in self.measurements
            if len(marginal.clique) > 1
        ]
        # how columns of numbers rise together is clear beside noisy tables
        deviation = statistics.fmean(joint) if joint and not self.concordances else 0.0
        return affordable_passes(rows, self.grouping.group_domain.sizes, deviation)

    def _draw_block(
        self,
        rows: int,
        passes: int,
        expected: Mapping[tuple[str, str], Values],
        fixed: Collection[str],
        known: Mapping[str, Integers],
        rng: np.random.Generator,
    ) -> tuple[dict[str, Integers], Ranks]:
        """Draw rows, and move them closer to the model's pairs within the constraints.

        Args:
            passes: see `refine_rows`.
            expected: pair -> rows of each cell over groups, as many as the model holds;
                not of pairs of fixed columns.
            fixed: as of `_fixed_columns`.
            known: cells of columns that stay as they are.
        """
        merged = {
            name: self.grouping.groups[name][cells]
            for name, cells in known.items()
            if name in self.grouping.domain.names
        }
        drawn = self.graph.sample_codes(rows, rng, merged)
        if passes:
            # known cells may be of another law than the model's
            goals = {
                pair: _scale_to_rows(table, pair, drawn)
                if merged
                else table * (rows / self.total)
                for pair, table in expected.items()
            }
            drawn = refine_rows(drawn, goals, rng, passes=passes, fixed_columns=fixed)
        places = self._positions_in_runs(drawn, rng)
        codes, ranks = self.grouping.split_codes(drawn, rng, places)
        codes |= known
        for function in self.constraints.determines:
            if function.target not in known:
                codes[function.target] = np.array(function.cells)[
                    codes[function.column]
                ]
        return codes, ranks

    def _positions_in_runs(
        self, drawn: Mapping[str, Integers], rng: np.random.Generator
    ) -> dict[str, Values]:
        """Choose positions inside merged cells that follow the concordances."""
        if self.concordances is None:
            return {}
        return draw_positions_in_runs(
            drawn,
            {
                name: self.graph.marginal((name,))[side != 0]
                for name, side in self.concordances.sides.items()
            },
            self._correlations,
            rng,
        )

    @cached_property
    def _correlations(self) -> dict[Clique, float]:
        """The correlation of normal variables with each concordance."""
        assert self.concordances is not None
        return self.concordances.correlations(
            {pair: self.graph.marginal(pair) for pair in self.concordances.rows}
        )

    def _expected_rows(self, clique: Clique) -> Values:
        """Return the expected rows of a table over groups of cells.

        Pairs outside the tree and concordances are taken into account.
        """
        values = self.graph.marginal(clique)
        values = (
            self.outside_pairs.adjust_table(clique, values)
            if self.outside_pairs
            else values
        )
        return (
            self.concordances.adjust_table(clique, values)
            if self.concordances
            else values
        )

    def marginal(self, clique: Clique) -> Values:
        """Return the expected number of rows in each cell of any set of columns.

        The axes are in the order given.
        """
        clique = self.domain.clique(clique)
        decider = {
            f.target: f for f in self.constraints.determines if f.target in clique
        }
        measured = tuple(
            dict.fromkeys(decider[n].column if n in decider else n for n in clique)
        )
        values = self.grouping.split(measured, self._expected_rows(measured))
        if not decider:
            return values
        # Add each measured cell to the clique's cell that it determines.
        places = np.indices(values.shape)
        table = np.zeros(self.domain.shape(clique))
        index = tuple(
            np.array(decider[n].cells)[places[measured.index(decider[n].column)]]
            if n in decider
            else places[measured.index(n)]
            for n in clique
        )
        np.add.at(table, index, values)
        return table

    def answer(self, clique: Clique, level: float = 0.95) -> CliqueCounts:
        """Return the marginal over a clique, with an interval of each cell at `level`.

        The interval uses all measurements together, see `Evidence`. Inside a merged
        group they tell the group's rows only, so that a cell may hold none or all of
        them. A model from `given` has no measurements of its own: its intervals have no
        end.
        """
        clique = self.domain.clique(clique)
        values = self.marginal(clique)
        measured = self.evidence(clique)
        if measured is not None:
            answer = CliqueCounts.from_marginal(
                values, self._expand_to_cells(measured.table()), level
            )
            if measured.shape == self.domain.shape(clique):
                return answer
            alone = self._unmerged_cells(clique)
            return replace(
                answer, low=np.where(alone, answer.low, 0.0), counted_alone=alone
            )
        high = np.full(values.shape, np.inf)
        for axis, name in enumerate(clique):
            if self.evidence((name,)) is not None:
                shape = [-1 if i == axis else 1 for i in range(len(clique))]
                high = np.minimum(high, self.answer((name,), level).high.reshape(shape))
        return CliqueCounts(
            clique=clique,
            values=values,
            low=np.zeros(values.shape),
            high=np.maximum(high, values),
            counted_alone=np.zeros(values.shape, dtype=np.bool_),
        )

    def evidence(self, clique: Clique) -> Evidence | None:
        """Return the combined evidence of all measurements about a clique.

        It is over declared cells if possible, else over groups.

        Returns: None if no measurement covers the clique.
        """
        if set(clique) - set(self.grouping.domain.names):
            return None
        domain = self.grouping.domain
        coarse = self.grouping.group_domain
        if domain.shape(clique) != coarse.shape(clique):
            declared = [
                m for m in self.measurements if m.values.shape == domain.shape(m.clique)
            ]
            estimate = combine_evidence(domain, declared, clique)
            if estimate is not None:
                return estimate
        return combine_evidence(coarse, self._group_measurements, clique)

    @cached_property
    def _group_measurements(self) -> tuple[Marginal, ...]:
        return tuple(pool_draws(merge_to_groups(self.grouping, self.measurements)))

    def given(self, cells: Mapping[str, int | Sequence[int]]) -> SyntheticModel:
        """Return the model of the rows with these cells, such as `given({"sex": 1})`.

        This is free. It uses the tree alone, not pairs measured outside of it.

        Args:
            cells: column -> cell number, or several cell numbers of which a row has
                one.

        Raises: ParameterError for unknown cells; InfeasibleError if the model holds no
            such rows.
        """
        masks: dict[str, Values] = {}
        for name, chosen in cells.items():
            mask = cell_mask(self.domain, name, chosen).astype(np.float64)
            function = next(
                (f for f in self.constraints.determines if f.target == name), None
            )
            measured = name if function is None else function.column
            if function is not None:
                mask = mask[np.array(function.cells)]
            masks[measured] = masks[measured] * mask if measured in masks else mask
        weights = {
            name: self.grouping.merge(name, self.grouping.shares[name] * mask)
            for name, mask in masks.items()
        }
        if any(not weight.any() for weight in weights.values()):
            raise InfeasibleError(
                "the model has no such rows, or hardly any",
                remedy="ask for other values",
            )
        return replace(
            self,
            grouping=self.grouping.restrict(masks),
            graph=self.graph.restrict(weights),
            measurements=(),
            outside_pairs=None,
            concordances=None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with `kind`."""
        return {
            "kind": self.kind,
            **self.domain.to_dict(),
            "grouping": self.grouping.to_dict(),
            "graph": self.graph.to_dict(),
            "constraints": self.constraints.to_dict(),
            "measurements": [marginal.to_dict() for marginal in self.measurements],
            "losses": [{loss.name: str(loss.amount)} for loss in self.losses],
            **({"copies": list(map(list, self.copies))} if self.copies else {}),
            **({"beyond": self.outside_pairs.to_dict()} if self.outside_pairs else {}),
            **(
                {"concordances": self.concordances.to_dict()}
                if self.concordances
                else {}
            ),
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> SyntheticModel:
        """Read the output of `to_dict`."""
        return cls(
            domain=Domain.from_dict(fields),
            grouping=Grouping.from_dict(fields["grouping"]),
            graph=GraphicalModel.from_dict(fields["graph"]),
            constraints=Constraints.from_dict(fields["constraints"]),
            measurements=tuple(
                Marginal.from_dict(marginal) for marginal in fields["measurements"]
            ),
            losses=tuple(
                PureDP(**loss) if "epsilon" in loss else ZCDP(**loss)
                for loss in fields["losses"]
            ),
            outside_pairs=CoarsePairs.from_dict(fields["beyond"])
            if "beyond" in fields
            else None,
            concordances=Concordances.from_dict(fields["concordances"])
            if "concordances" in fields
            else None,
            copies=tuple((copy, other) for copy, other in fields.get("copies", ())),
        )

    def noise_errors(self) -> pd.DataFrame:
        """Return the expected total variation distance of each pair by noise alone.

        With standard deviation s in each of n groups of cells it is n s sqrt(2 / pi) /
        (2 total) for Gaussian noise, at most 1; Laplace noise of the same variance has
        a smaller mean, so this bounds it. The fit of the whole model lowers it further.
        It reads the model only, so it may be published.

        Returns: symmetric, with the columns as index and columns, of one column on the
            diagonal. NaN for a pair that no noisy table covers: its error comes from
            the assumption that other columns explain the pair, and no release can
            measure that.
        """
        coarse = self.grouping.group_domain
        columns = [name for name in self.columns if name in coarse.names]
        pairs = np.full((len(columns), len(columns)), np.nan)
        scale = math.sqrt(2 / math.pi) / (2 * max(self.total, 1.0))
        for i, first in enumerate(columns):
            for j, second in enumerate(columns[: i + 1]):
                clique = (first,) if i == j else (second, first)
                measured = combine_evidence(coarse, self._group_measurements, clique)
                if measured is not None:
                    deviation = math.sqrt(measured.table().variance)
                    pairs[i, j] = pairs[j, i] = min(
                        1.0, coarse.cells(clique) * deviation * scale
                    )
        return pd.DataFrame(pairs, index=columns, columns=columns)

    def _expand_to_cells(self, table: Marginal) -> Marginal:
        """Expand a table over groups: each declared cell gets its group's count."""
        if table.values.shape == self.domain.shape(table.clique):
            return table
        index = np.ix_(*(self.grouping.groups[name] for name in table.clique))
        return replace(table, values=table.values[index])

    def _unmerged_cells(self, clique: Clique) -> npt.NDArray[np.bool_]:
        """Return a mask of the cells in a group of their own."""
        alone = np.ones(self.domain.shape(clique), dtype=bool)
        for axis, name in enumerate(clique):
            groups = self.grouping.groups[name]
            shape = [-1 if i == axis else 1 for i in range(len(clique))]
            alone &= (np.bincount(groups)[groups] == 1).reshape(shape)
        return alone


def _scale_to_rows(
    table: Values, pair: tuple[str, str], drawn: Mapping[str, Integers]
) -> Values:
    """Scale a pair's expected rows to the rows of both columns that were drawn.

    Iterative proportional fitting keeps how the two columns go together.
    """
    goals = [
        np.bincount(drawn[name], minlength=size)
        for name, size in zip(pair, table.shape, strict=True)
    ]
    for _ in range(SCALING_STEPS):
        for axis, goal in enumerate(goals):
            sums = table.sum(axis=1 - axis)
            factor = np.divide(goal, sums, out=np.zeros(len(sums)), where=sums > 0)
            table = table * (factor[:, None] if axis == 0 else factor)
    return table
