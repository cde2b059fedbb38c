"""Noisy tables stored in a release, and the likelihood that a person is in them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dpcore.accounting.loss import PureDP
from dpcore.release import Release
from dpcore.schema.domain import Clique
from dpcore.synthesis.chain import ChainModel
from dpcore.synthesis.discrete.model import SyntheticModel
from dpcore.tables.counts import Integers, Marginal, Noise, Values

Codes = Mapping[str, npt.NDArray[np.integer]]
"""Column -> the declared cell of each row."""
_SIGNS = np.array([1.0, -1.0])


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredTable:
    """One stored table of a release, as it was measured.

    Attributes:
        clique: names of the columns, one an axis.
        values: noisy rows per cell; of a contrast, along its other columns, the rows of
            first cells minus those of second ones.
        variance: of the noise of one value.
        noise: its distribution.
        signed: columns of which the difference of the two cells was measured.
        groups: column -> the cell of the table of each declared cell; empty if the
            table is over declared cells.
    """

    clique: Clique
    values: Values
    variance: float
    noise: Noise
    signed: Clique = ()
    groups: Mapping[str, Integers] = field(default_factory=dict)

    @classmethod
    def from_marginal(
        cls, marginal: Marginal, groups: Mapping[str, Integers] | None = None
    ) -> StoredTable:
        """Return the stored table of a marginal, with contrasts as differences."""
        values = marginal.values
        for name in marginal.signed:
            # Axes of the columns summed before this one are gone
            axes = [each for each in marginal.clique if each not in marginal.signed]
            order = [*marginal.signed[marginal.signed.index(name) :], *axes]
            clique = [each for each in marginal.clique if each in order]
            values = np.tensordot(values, _SIGNS, axes=(clique.index(name), 0))
        cells = 2 ** len(marginal.signed)
        return cls(
            clique=marginal.clique,
            values=values,
            variance=max(marginal.measured_variance * cells, 1e-12),
            noise=marginal.noise,
            signed=marginal.signed,
            groups=groups or {},
        )

    def cells_and_signs(self, codes: Codes) -> tuple[npt.NDArray[np.int64], Values]:
        """Return each row's flat cell index, and what the row adds to it: 1 or -1."""
        rows = len(next(iter(codes.values())))
        place = np.zeros(rows, dtype=np.int64)
        added = np.ones(rows)
        sizes = iter(self.values.shape)
        for name in self.clique:
            cell = np.asarray(codes[name], dtype=np.int64)
            if name in self.groups:
                cell = self.groups[name][cell]
            if name in self.signed:
                added = added * _SIGNS[cell]
            else:
                place = place * next(sizes) + cell
        return place, added

    def laplace_epsilon(self, rows: int) -> float:
        """Return the epsilon of this table alone, if its noise is Laplace noise."""
        return rows * 2 * math.asinh(math.sqrt(0.5 / self.variance))

    def log_ratios(
        self, codes: Codes, counts: Values, rows: int
    ) -> npt.NDArray[np.float64]:
        """Return for each person the log-likelihood ratio of being in this table.

        Args:
            codes: of the people, one row each.
            counts: what the table would hold without each of them, one number each.
            rows: that each of them would add.

        Returns: log of the likelihood with them over the one without; for max-norm
            noise, of normal noise with the same variance.
        """
        place, added = self.cells_and_signs(codes)
        off = (self.values.ravel()[place] - counts) * added
        if self.noise == "laplace":
            ratio: Values = np.abs(off) - np.abs(off - rows)
            return ratio * self.laplace_epsilon(rows) / rows
        normal: Values = (off * rows - rows**2 / 2) / self.variance
        return normal


def read_stored_tables(release: Release) -> list[StoredTable]:
    """Return the stored tables of a release, as they were measured."""
    model = release.model
    if isinstance(model, ChainModel):
        return [
            StoredTable.from_marginal(table)
            for table in model.measured or model.marginals
        ]
    if not isinstance(model, SyntheticModel):
        return [
            StoredTable.from_marginal(table) for table in release.marginals.values()
        ]
    grouped = model.grouping.groups
    tables = [
        StoredTable.from_marginal(
            marginal,
            None
            if marginal.values.shape == model.domain.shape(marginal.clique)
            else {name: grouped[name] for name in marginal.clique},
        )
        for marginal in model.measurements
    ]
    if model.outside_pairs:
        coarse = model.outside_pairs.groups
        tables += [
            StoredTable.from_marginal(
                table, {name: coarse[name][grouped[name]] for name in table.clique}
            )
            for table in model.outside_pairs.tables
        ]
    return tables


def has_pure_loss(release: Release) -> bool:
    """Return whether the loss of a release is a pure epsilon."""
    return PureDP.name in release.guarantee.loss and "delta" not in (
        release.guarantee.loss
    )
