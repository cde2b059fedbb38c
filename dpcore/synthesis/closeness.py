"""Tests of drawn rows, and a release's record with the cost of every step.

There are two tests of a drawn table. `run_sample_test` looks at the sample alone, and at
declared public records: it is free, and may be repeated at will. `Closeness` compares
the sample with the private table: a recipe like any other, which runs through the
curator, is charged each time, and has a noisy answer. Nothing here sees a row, so a
loop "until it passes" pays for every turn; pages offer `MAX_ATTEMPTS` of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from dpcore.accounting.loss import Loss
from dpcore.errors import DisclosureError, UsageError, no_common_columns_error
from dpcore.mechanisms.measurer import GRAIN, Measurer
from dpcore.mechanisms.sensitivity import noise_kind, noise_scale, noise_variance
from dpcore.model import Model
from dpcore.progress import OnProgress
from dpcore.release import Guarantee, Release
from dpcore.schema.domain import Clique, Domain
from dpcore.schema.values import list_texts
from dpcore.synthesis.base import Recipe, format_columns
from dpcore.synthesis.statistics import Figure, Figures
from dpcore.tables.counts import Marginal, Values, cell_counts, check_cells, half_width
from dpcore.tables.rows import PublicTable
from dpcore.text import Text

MAX_ATTEMPTS = 5  # charged tests that pages offer
StepName = Literal["preprocess", "model", "sample", "privacy test"]


@dataclass(frozen=True, kw_only=True)
class RecordStep:
    """One step in the record of how a release was made.

    Attributes:
        loss: charged for the step, in words; empty if it is free.
        result: plain numbers and texts, all public.
    """

    name: StepName
    loss: str = ""
    result: Mapping[str, str | float | bool]

    @property
    def passed(self) -> bool:
        """True unless the test of this step failed."""
        return bool(self.result.get("passed", True))


@dataclass(frozen=True, kw_only=True)
class Closeness(Recipe):
    """The noisy L1 distance of a drawn table from the private one, in rows.

    A table that is not surely different from the private one may repeat its people.
    Choose columns with many cells: over few, a release is close to the table because it
    is good. Costs the stated loss each time.

    Attributes:
        columns: whose joint cells are compared, in the order of `counts`.
        counts: the drawn table's rows in each joint cell, flattened; scaled to the
            release's number of rows.
        earlier: the guarantee of the release from which the table was drawn.
    """

    kind: ClassVar[str] = "closeness"

    columns: Clique
    counts: tuple[float, ...]
    earlier: Guarantee | None = None

    @property
    def stands_on(self) -> tuple[Guarantee, ...]:
        return (self.earlier,) if self.earlier else ()

    @classmethod
    def for_sample(
        cls, release: Release, sample: PublicTable, columns: Sequence[str]
    ) -> Closeness:
        """Return the recipe that tests a drawn table, or another public table.

        A digest of its counts goes into the ledger and the answer, so it must hold
        nothing private.

        Raises: DisclosureError for anything but a PublicTable; LimitError for too many
            cells.
        """
        if not isinstance(sample, PublicTable):
            raise DisclosureError(
                "a test of drawn rows needs a public table, not {kind}",
                remedy="draw it by `release.sample_table`",
                kind=type(sample).__name__,
            )
        clique = release.schema.domain.clique(columns)
        check_cells(release.schema.domain, [clique])
        counts = _count_sample(release, sample.frame, clique)
        return cls(
            columns=clique,
            counts=tuple(counts.tolist()),
            earlier=release.guarantee,
        )

    def check(self, domain: Domain) -> None:
        """Refuse unknown columns, and cells that differ from the drawn table's."""
        if domain.cells(domain.clique(self.columns)) != len(self.counts):
            raise UsageError(
                "the drawn table was counted in other cells than this table has",
                remedy="ask about a table drawn from a release of this schema",
            )

    def fit(
        self, measurer: Measurer, on_progress: OnProgress
    ) -> tuple[dict[Clique, Marginal], Model]:
        """Measure one noisy distance."""
        on_progress("comparing", 0.0)
        table = np.array(self.counts).reshape(measurer.domain.shape(self.columns))
        gaps = measurer.measure_gaps({self.columns: table}, measurer.loss)
        scale = (
            noise_scale(max_rows=measurer.rows, queries=1, loss=measurer.loss) * GRAIN
        )
        width = (
            half_width(noise_variance(scale, measurer.loss), noise_kind(measurer.loss))
            / GRAIN
        )
        distance = Figure(name="distance", value=gaps[self.columns], half_width=width)
        return {}, Figures(column=self.columns[0], rows=0.0, figures=(distance,))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with `kind` and a digest of the counts."""
        digest = hashlib.sha256(np.array(self.counts).tobytes()).hexdigest()
        return {"kind": self.kind, "columns": list(self.columns), "counts": digest}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> None:
        """Return None, because `to_dict` only keeps a digest of the counts."""

    def reads(self, domain: Domain) -> Clique:
        """Return the columns whose joint cells are compared."""
        return self.columns

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Describe the test by its columns."""
        return Text(
            "Test of drawn rows over {columns}",
            columns=format_columns(fields["columns"]),
        )


def model_steps(release: Release) -> tuple[RecordStep, RecordStep]:
    """Return the record's steps for preprocessing and for the model."""
    paid = ", ".join(
        f"{name} {float(Fraction(amount)):g}"
        for name, amount in release.guarantee.loss.items()
    )
    model = RecordStep(
        name="model", loss=paid, result={"rows": round(max(release.model.total, 0))}
    )
    return RecordStep(name="preprocess", result=_public_bounds(release)), model


def sample_steps(sample: pd.DataFrame) -> tuple[RecordStep, RecordStep]:
    """Return the record's steps for drawing a table and for testing it for free."""
    drawn = RecordStep(name="sample", result={"rows": len(sample)})
    return drawn, RecordStep(name="privacy test", result=run_sample_test(sample))


def closeness_step(answer: Release, loss: Loss) -> RecordStep:
    """Return the record's step for a charged test of the distance to the table.

    Args:
        loss: of that run.
        answer: of a run of `Closeness`, which cost `loss`.
    """
    figures = answer.model
    assert isinstance(figures, Figures)
    (distance,) = figures.figures
    width = distance.half_width or 0.0
    result = {
        "distance": distance.value,
        "half width": width,
        "passed": distance.value > 2 * width,
    }
    return RecordStep(name="privacy test", loss=str(loss), result=result)


def combinations_step(
    sample: pd.DataFrame, columns: Sequence[str], min_rows: int
) -> RecordStep:
    """Test whether each combination of values is frequent enough in a drawn table.

    This is free. Drawn rows have no people behind them: it is no k-anonymity and
    protects nobody further.

    Args:
        sample: drawn rows.
        columns: at least one; a missing value is a value.
        min_rows: rows that each occurring combination should have.
    """
    smallest = (
        int(sample.groupby(list(columns), dropna=False, observed=True).size().min())
        if len(sample)
        else 0
    )
    result: dict[str, str | float | bool] = {
        "columns": ", ".join(columns),
        "rarest combination": smallest,
        "passed": smallest >= min_rows,
    }
    return RecordStep(name="privacy test", result=result)


def run_sample_test(
    sample: pd.DataFrame, records: pd.DataFrame | None = None
) -> dict[str, float | bool]:
    """Test a drawn table for repeated rows and for copies of public records.

    Returns: rows that another row repeats; the smallest distance of two different rows,
        with numeric columns scaled to [0, 1]; copies of the records. It passes without
        such copies.
    """
    repeated = int(sample.duplicated(keep=False).sum())
    numbers = (
        sample.select_dtypes("number").drop_duplicates().to_numpy(dtype=np.float64)
    )
    copies = 0
    if records is not None:
        shared = [name for name in sample.columns if name in records.columns]
        if not shared:
            raise no_common_columns_error()
        known, drawn = (
            zip(*(list_texts(table[name]) for name in shared), strict=True)
            for table in (records, sample)
        )
        copies = sum(map(set(known).__contains__, drawn))
    return {
        "repeated rows": repeated,
        "smallest distance": _smallest_distance(numbers),
        "copies of public records": copies,
        "passed": copies == 0,
    }


def _smallest_distance(numbers: Values) -> float:
    """Return the smallest Euclidean distance of two rows.

    Each column is scaled to its range.
    """
    if len(numbers) < 2:
        return 0.0
    reach = np.ptp(numbers, axis=0)
    scaled = numbers[:, reach > 0] / reach[reach > 0]
    if not scaled.shape[1]:
        return 0.0
    from scipy.spatial import cKDTree

    tree = cKDTree(scaled)
    # Begin with a few rows: their smallest distance limits the search for the others.
    smallest = np.inf
    searched = 64
    while True:
        bound = np.nextafter(smallest, np.inf)
        nearest, _ = tree.query(scaled[:searched], k=2, distance_upper_bound=bound)
        smallest = min(smallest, float(nearest[:, 1].min()))
        if searched >= len(scaled):
            return smallest
        searched *= 4


def _public_bounds(release: Release) -> dict[str, str]:
    """Return the names of the columns, and the origin of their bounds."""
    columns = [release.schema.column(name) for name in release.model_columns]
    from_data = [column.name for column in columns if column.from_data]
    return {
        "columns": ", ".join(column.name for column in columns),
        "bounds": Text("taken from the data: {columns}", columns=", ".join(from_data))
        if from_data
        else Text("known from outside"),
    }


def _count_sample(release: Release, sample: pd.DataFrame, columns: Clique) -> Values:
    """Count a drawn table per joint cell, scaled to the release's number of rows."""
    schema = release.schema
    codes = [
        schema.column(name).encode(schema.column(name).values_of(sample))
        for name in columns
    ]
    counts = cell_counts(codes, schema.domain.shape(columns)).ravel()
    scale = max(release.model.total, 0.0) / max(len(codes[0]), 1)
    return np.asarray(counts * scale, dtype=np.float64)
