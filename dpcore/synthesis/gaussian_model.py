"""What the Gaussian recipe learns: per class a normal law of numeric features, and shares of categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from dpcore.schema.domain import Domain
from dpcore.synthesis.conditional import Conditioned
from dpcore.synthesis.moments import Moments
from dpcore.synthesis.sampling import Integers, sample_cells
from dpcore.tables.counts import Values, pack, unpack


def positions(size: int) -> Values:
    """Where the cells of a column lie: evenly from -1, its public lower bound, to 1, its upper one."""
    return np.linspace(-1.0, 1.0, size) if size > 1 else np.zeros(1)


@dataclass(frozen=True, kw_only=True, eq=False)
class GaussianModel:
    """Rows of a class are drawn from a normal law, clipped to the public bounds and put back into cells.

    Attributes:
        domain: of label, features and categories, in the table's order.
        label: the column whose cells are the classes.
        counts: (classes,), noisy rows of each class, at least 0.
        features: columns with positions, in the order of the moments.
        moments: of the features.
        shares: column -> (classes, cells), noisy counts of categories, at least 0.
    """

    kind: ClassVar[str] = "gaussian"

    domain: Domain
    label: str
    counts: Values
    features: tuple[str, ...]
    moments: Moments
    shares: Mapping[str, Values]

    @property
    def total(self) -> float:
        """Noisy number of rows."""
        return float(self.counts.sum())

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that `sample_codes` draws: all of the domain."""
        return self.domain.names

    def sample_codes(self, rows: int, rng: np.random.Generator) -> dict[str, Integers]:
        """`rows` rows of cell numbers, one int64 array a column."""
        classes = sample_cells(np.zeros(rows, dtype=np.int64), self.counts[None, :], rng)
        codes = {self.label: classes}
        for name, table in self.shares.items():
            codes[name] = sample_cells(classes, table, rng)
        places = self._places(classes, rng)
        for number, name in enumerate(self.features):
            last = self.domain.size(name) - 1
            codes[name] = np.rint((places[:, number] + 1) / 2 * last).astype(np.int64)
        return {name: codes[name] for name in self.domain.names}

    def given(self, cells: Mapping[str, int | Sequence[int]]) -> Conditioned:
        """The model of those rows that have these cells."""
        return Conditioned.of(self, cells)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with `kind`."""
        return {
            "kind": self.kind,
            **self.domain.to_dict(),
            "label": self.label,
            "counts": pack(self.counts),
            "features": list(self.features),
            "means": pack(self.moments.means),
            "covariances": pack(self.moments.covariances),
            "two_valued": self.moments.two_valued.tolist(),
            "shares": {name: pack(table) for name, table in self.shares.items()},
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> GaussianModel:
        """Read what `to_dict` wrote."""
        return cls(
            domain=Domain.from_dict(fields),
            label=fields["label"],
            counts=unpack(fields["counts"]),
            features=tuple(fields["features"]),
            moments=Moments(
                means=unpack(fields["means"]),
                covariances=unpack(fields["covariances"]),
                two_valued=np.array(fields["two_valued"], dtype=np.bool_),
            ),
            shares={name: unpack(table) for name, table in fields["shares"].items()},
        )

    def _places(self, classes: Integers, rng: np.random.Generator) -> Values:
        """Positions in [-1, 1] of the features of each row."""
        moments = self.moments
        places = rng.standard_normal(size=(len(classes), len(self.features)))
        for number, (mean, covariance) in enumerate(zip(moments.means, moments.covariances, strict=True)):
            rows = classes == number
            spread = places[rows] @ np.linalg.cholesky(covariance).T
            drawn = np.clip(mean + spread, -1.0, 1.0)
            for j in np.flatnonzero(moments.two_valued):
                share = min(max((1 + mean[j]) / 2, 1e-6), 1 - 1e-6)
                above = NormalDist(0.0, float(covariance[j, j]) ** 0.5).inv_cdf(1 - share)
                drawn[:, j] = np.where(spread[:, j] > above, 1.0, -1.0)
            places[rows] = drawn
        return places
