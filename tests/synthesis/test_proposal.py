"""Cells that are proposed for a stated number of rows."""

from __future__ import annotations

from collections.abc import Sequence

from dpcore.accounting.loss import ZCDP
from dpcore.schema import Categorical, Column, Date, Integer, PrivacyUnit, Schema
from dpcore.synthesis import Marginals, Recipe
from dpcore.synthesis.proposal import MIN_TIMES_ERROR, propose_cells

SCHEMA = Schema(
    columns=(
        Integer("age", low=0, high=119),
        Date("admitted", low="2020-01-01", high="2026-12-31", step="week"),
        Categorical(
            "zip",
            categories=tuple(f"{place:05}" for place in range(150)),
            from_data=("categories",),
        ),
        Categorical("sex", categories=("F", "M")),
    ),
    unit=PrivacyUnit(max_rows=2),
)
LOSS = ZCDP(rho="1/50")


def count_each(columns: Sequence[Column]) -> Recipe:
    return Marginals(cliques=tuple((column.name,) for column in columns))


def test_every_cell_is_three_times_its_told_error() -> None:
    """The proposal would end in "too noisy", by the figures that the preview tells."""
    for rows in (1_000, 10_000, 100_000):
        proposal = propose_cells(SCHEMA, count_each, LOSS, rows=rows)
        assert proposal.is_readable
        schema = proposal.schema
        for table in count_each(schema.columns).expect(schema.domain, LOSS, 2):
            assert rows / table.cells >= MIN_TIMES_ERROR * table.half_width()


def test_the_finest_readable_cells_are_taken() -> None:
    """Detail would be lost that noise leaves."""
    assert propose_cells(SCHEMA, count_each, LOSS, rows=10**7).schema == SCHEMA
    proposal = propose_cells(SCHEMA, count_each, LOSS, rows=10_000)
    assert proposal.coarser == ("age", "admitted")
    assert proposal.left_out == ("zip",)
    (zip_code,) = proposal.schema.excluded
    assert zip_code.from_data == ("left out",), "its labels are those of the table"
    for name in proposal.coarser:
        kept = [SCHEMA.column(name), *proposal.schema.columns]
        assert proposal.schema.column(name).size < kept[0].size


def test_columns_stay_where_their_owner_wants_them_finer() -> None:
    """A change by hand would be taken back."""
    proposal = propose_cells(
        SCHEMA, count_each, LOSS, rows=10_000, fixed=("age", "zip")
    )
    assert proposal.schema.column("age") == SCHEMA.column("age")
    assert "zip" not in proposal.left_out


def test_too_few_rows_are_said() -> None:
    """A person would pay for noise."""
    proposal = propose_cells(SCHEMA, count_each, LOSS, rows=20)
    assert not proposal.is_readable
    assert proposal.schema == SCHEMA
