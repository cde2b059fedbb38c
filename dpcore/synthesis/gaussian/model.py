"""The model that Gaussian learns: normal features and categories in each class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpcore.errors import UsageError
from dpcore.model import Model
from dpcore.schema.domain import Domain
from dpcore.synthesis._sampling import Integers, sample_cells
from dpcore.synthesis.gaussian._moments import Moments
from dpcore.synthesis.gaussian._split_classes import ClassSplit
from dpcore.tables.counts import Values, pack_array, unpack_array


def cell_positions(size: int, *, missing: bool = False) -> Values:
    """Return the positions of a column's cells, evenly spaced from -1 to 1.

    These are its public bounds.

    Args:
        missing: whether the last cell is that of missing values, at 0, the middle.
    """
    if missing:
        return np.append(cell_positions(size - 1), 0.0)
    return np.linspace(-1.0, 1.0, size) if size > 1 else np.zeros(1)


def upper_half_indicator(size: int, edge: float, *, missing: bool = False) -> Integers:
    """Return 1 for cells with positions above `edge`, else 0.

    Both occur if there are two cells of values.

    Args:
        missing: as in `cell_positions`.
    """
    if missing:
        return np.append(upper_half_indicator(size - 1, edge), int(edge < 0))
    high = cell_positions(size) > edge
    high[-1:] = True
    high[:1] = size == 1
    return high.astype(np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class GaussianModel(Model):
    """Normal distributions per class, clipped to public bounds and rounded to cells.

    Attributes:
        domain: of label, features and categories, in the table's order.
        label: the column whose cells are the classes.
        counts: (classes,), noisy rows of each class, at least 0.
        features: columns with positions, in the order of the moments.
        moments: of the features.
        split: laws of the features in two cells of each class; None if the noise did
            not allow them.
        shares: column -> (classes, cells), noisy counts of categories, at least 0.
        with_missing: features whose last cell was that of missing values; no drawn row
            has it.
    """

    kind: ClassVar[str] = "gaussian"

    domain: Domain
    label: str
    counts: Values
    features: tuple[str, ...]
    moments: Moments
    shares: Mapping[str, Values]
    split: ClassSplit | None = None
    with_missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        shape = len(self.counts), len(self.features)
        covariances = self.moments.covariances
        fits = self.moments.centers.shape == shape and covariances.shape == (
            *shape,
            shape[1],
        )
        if self.split is not None:
            fits = (
                fits
                and self.split.centers.shape == (2, *shape)
                and self.split.scales.shape == shape
            )
        if not (fits and np.linalg.eigvalsh(covariances).min(initial=1.0) > 0):
            raise UsageError(
                "the model has other classes or features than its numbers",
                remedy="ask for it again where it was made",
            )

    @property
    def total(self) -> float:
        """Noisy number of rows."""
        return float(self.counts.sum())

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of the domain."""
        return self.domain.names

    def sample_codes(self, rows: int, rng: np.random.Generator) -> dict[str, Integers]:
        """Draw `rows` rows of cell numbers, one int64 array per column."""
        classes = sample_cells(
            np.zeros(rows, dtype=np.int64), self.counts[None, :], rng
        )
        codes = {self.label: classes}
        for name, table in self.shares.items():
            codes[name] = sample_cells(classes, table, rng)
        places = self._draw_positions(classes, rng)
        for number, name in enumerate(self.features):
            last = self.domain.size(name) - 1 - (name in self.with_missing)
            codes[name] = np.rint((places[:, number] + 1) / 2 * last).astype(np.int64)
        return {name: codes[name] for name in self.domain.names}

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with `kind`."""
        return {
            "kind": self.kind,
            **self.domain.to_dict(),
            "label": self.label,
            "counts": pack_array(self.counts),
            "features": list(self.features),
            "centers": pack_array(self.moments.centers),
            "covariances": pack_array(self.moments.covariances),
            "shares": {name: pack_array(table) for name, table in self.shares.items()},
            "halves": None if self.split is None else self.split.to_dict(),
            **({"with_missing": list(self.with_missing)} if self.with_missing else {}),
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> GaussianModel:
        """Read the output of `to_dict`."""
        return cls(
            domain=Domain.from_dict(fields),
            label=fields["label"],
            counts=unpack_array(fields["counts"]),
            features=tuple(fields["features"]),
            moments=Moments(
                centers=unpack_array(fields["centers"]),
                covariances=unpack_array(fields["covariances"]),
            ),
            shares={
                name: unpack_array(table) for name, table in fields["shares"].items()
            },
            split=None
            if fields["halves"] is None
            else ClassSplit.from_dict(fields["halves"]),
            with_missing=tuple(fields.get("with_missing", ())),
        )

    def _draw_positions(self, classes: Integers, rng: np.random.Generator) -> Values:
        """Draw each row's feature positions in [-1, 1], given its class."""
        noise = rng.standard_normal(size=(len(classes), len(self.features)))
        places = np.empty_like(noise)
        laws = zip(self.moments.centers, self.moments.covariances, strict=True)
        for number, (center, covariance) in enumerate(laws):
            rows = classes == number
            places[rows] = center + noise[rows] @ np.linalg.cholesky(covariance).T
        if self.split is not None:
            values = places[:, self.split.feature].copy()
            high = (values > self.split.edge).astype(np.int64)
            places = (
                self.split.centers[high, classes] + self.split.scales[classes] * noise
            )
            places[:, self.split.feature] = values
        return np.clip(places, -1.0, 1.0)
