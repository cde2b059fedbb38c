"""Releases of several owners under one schema, pooled into one model.

Pooling is post-processing. A person in several tables loses the sum of the losses; if
nobody is in several, the loss is the largest one. Neither is computed unless the caller
says which of the two holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import pandas as pd

from dpcore.errors import SchemaError
from dpcore.release import MAX_DRAWN_ROWS, Guarantee, Release, check_rows
from dpcore.schema.schema import Schema
from dpcore.synthesis._sampling import sample_cells
from dpcore.tables.rows import PublicTable

People = Literal["unknown", "different", "the same"]


@dataclass(frozen=True, kw_only=True, eq=False)
class PooledReleases:
    """Releases of one schema as one model, weighted by noisy numbers of rows.

    Attributes:
        people: whether the tables hold different people, the same, or that is unknown.
    """

    releases: tuple[Release, ...]
    people: People = "unknown"

    def __post_init__(self) -> None:
        object.__setattr__(self, "releases", tuple(self.releases))
        ids = {release.request_id for release in self.releases}
        first = self.releases[0] if self.releases else None
        if (
            first is None
            or not first.model_columns
            or not 1 < len(ids) == len(self.releases)
            or any(
                _shared_facts(other.schema, other.model_columns)
                != _shared_facts(first.schema, first.model_columns)
                for other in self.releases
            )
        ):
            raise SchemaError(
                (
                    "pooling needs different releases with drawn rows and with the "
                    "same columns, cells and unit"
                ),
                remedy="choose another release",
            )

    @property
    def total(self) -> float:
        """Noisy number of rows of all releases together."""
        return float(sum(self._row_counts))

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """The guarantees of the releases, each about its own table."""
        return tuple(release.guarantee for release in self.releases)

    @property
    def loss(self) -> Mapping[str, str] | None:
        """A person's total loss to all releases, or None if it cannot be stated.

        It is the largest loss for different people, the sum for the same. What finding
        cells and rows per person cost is in it, once for each release. None if the
        people are unknown, or if the losses are of different kinds. Amounts are exact
        numbers as texts.
        """
        paid = [release.losses_paid for release in self.releases]
        names = set(paid[0][0])
        if self.people == "unknown" or any(
            set(loss) != names for losses in paid for loss in losses
        ):
            return None
        together = max if self.people == "different" else sum
        return {
            name: str(
                together(
                    sum(Fraction(loss[name]) for loss in losses) for losses in paid
                )
            )
            for name in paid[0][0]
        }

    def sample(
        self, rows: int | None = None, *, seed: int | None = None
    ) -> pd.DataFrame:
        """Draw synthetic rows of all owners in one table, in random order. Free.

        Args:
            rows: how many; None for the sum of the noisy counts.
            seed: for drawing the same rows again; it has no part in the privacy noise.

        Raises: ParameterError for a number of rows that cannot be drawn.
        """
        rows = min(round(self.total), MAX_DRAWN_ROWS) if rows is None else rows
        check_rows(rows)
        rng = np.random.default_rng(seed)
        holder = sample_cells(
            np.zeros(rows, dtype=np.int64), np.array([self._row_counts]), rng
        )
        shares = np.bincount(holder, minlength=len(self.releases))
        drawn = pd.concat(
            [
                release.sample(int(share), seed=int(rng.integers(2**63)))
                for release, share in zip(self.releases, shares, strict=True)
            ],
            ignore_index=True,
        )
        return drawn.iloc[rng.permutation(len(drawn))].reset_index(drop=True)

    def sample_table(
        self, rows: int | None = None, *, seed: int | None = None
    ) -> PublicTable:
        """Draw rows as `sample` does, as a public table that may be exported."""
        return PublicTable(self.sample(rows, seed=seed))

    @property
    def _row_counts(self) -> list[float]:
        return [max(release.model.total, 0.0) for release in self.releases]


def _shared_facts(schema: Schema, columns: Sequence[str]) -> list[object]:
    """Return the facts that all schemas must share: columns, cells and `max_rows`."""
    described = [
        {
            key: fact
            for key, fact in schema.column(name).to_dict().items()
            if key not in ("from_data", "known_from", "found", "reason")
        }
        for name in columns
    ]
    return [schema.unit.max_rows, *described]
