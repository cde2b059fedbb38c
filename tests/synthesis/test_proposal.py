"""Cells that are proposed for a stated number of rows."""

from __future__ import annotations

from collections.abc import Sequence

from dpcore.accounting.loss import ZCDP, PureDP
from dpcore.schema import Categorical, Column, Date, Integer, PrivacyUnit, Schema
from dpcore.synthesis import Adaptive, Marginals, Recipe, SomeColumns
from dpcore.synthesis.discrete.recipes import table_recipe_arguments
from dpcore.synthesis.proposal import (
    CLEAR_TIMES_ERROR,
    MIN_RELATED_COLUMNS,
    MIN_TIMES_ERROR,
    NOISE_DROWNS,
    RELATIONS_LOST,
    propose_cells,
)

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
    assert proposal.coarser_columns == ("age", "admitted")
    assert proposal.left_out_columns == {"zip": NOISE_DROWNS}
    (zip_code,) = proposal.schema.excluded
    assert zip_code.from_data == ("left out",), "its labels are those of the table"
    for name in proposal.coarser_columns:
        kept = [SCHEMA.column(name), *proposal.schema.columns]
        assert proposal.schema.column(name).size < kept[0].size


def test_columns_stay_where_their_owner_wants_them_finer() -> None:
    """A change by hand would be taken back."""
    proposal = propose_cells(
        SCHEMA, count_each, LOSS, rows=10_000, fixed=("age", "zip")
    )
    assert proposal.schema.column("age") == SCHEMA.column("age")
    assert "zip" not in proposal.left_out_columns


def test_too_few_rows_are_said() -> None:
    """A person would pay for noise."""
    proposal = propose_cells(SCHEMA, count_each, LOSS, rows=20)
    assert not proposal.is_readable
    assert proposal.schema == SCHEMA


def test_no_row_decides_the_cells_of_columns_that_are_told() -> None:
    """One more rare label of another column left that column out, and a told one got
    finer cells without a mark.
    """
    told = Integer("load", low=0, high=4999, bin_width=50)
    seen = []
    for labels in range(1, 120):
        code = Categorical(
            "code",
            categories=tuple(f"c{place:03}" for place in range(labels)),
            from_data=("kind", "categories"),
        )
        schema = Schema(columns=(told, code), unit=PrivacyUnit(max_rows=1))
        proposal = propose_cells(schema, count_each, PureDP(epsilon=1), rows=1_000)
        seen.append((proposal.schema.column("load"), tuple(proposal.left_out_columns)))
        assert proposal.is_readable
        for left_out in proposal.schema.excluded:
            assert left_out.from_data == ("left out",)
    assert {left_out for _load, left_out in seen} == {(), ("code",)}
    assert {load for load, _left_out in seen} == {seen[0][0]}
    assert seen[0][0].from_data == ()


def test_told_columns_that_are_unreadable_stay_whatever_others_are() -> None:
    """Whether a row makes another column readable would say whether they are left out."""
    told = Categorical("zip", categories=tuple(f"{place:05}" for place in range(900)))
    for labels in (2, 900):
        code = Categorical(
            "code",
            categories=tuple(f"c{place:03}" for place in range(labels)),
            from_data=("kind", "categories"),
        )
        schema = Schema(columns=(told, code), unit=PrivacyUnit(max_rows=1))
        proposal = propose_cells(schema, count_each, PureDP(epsilon=1), rows=1_000)
        assert proposal.schema.column("zip") == told
        assert proposal.is_readable == (labels == 2)


def test_steps_of_columns_that_were_looked_up_are_marked() -> None:
    """They follow bounds of the rows, and the cells of other columns."""
    age = Integer("age", low=0, high=119, from_data=("kind",))
    schema = Schema(columns=(age,), unit=PrivacyUnit(max_rows=1))
    proposal = propose_cells(schema, count_each, PureDP(epsilon=1), rows=1_000)
    assert proposal.coarser_columns == ("age",)
    assert proposal.schema.column("age").from_data == ("kind", "bin_width")
    proposal = propose_cells(schema, count_each, PureDP(epsilon=1), rows=10**6)
    assert proposal.coarser_columns == ()
    assert proposal.schema.column("age").from_data == ("kind", "bin_width")


def table_of(columns: Sequence[Column]) -> Recipe:
    return SomeColumns(
        columns=tuple(column.name for column in columns),
        recipe=Adaptive(**table_recipe_arguments(columns)),
    )


def test_a_table_keeps_few_clear_columns_rather_than_many_blurred_ones() -> None:
    """All relations of a whole table were lost in the noise of its many columns."""
    columns = [
        Integer(f"n{place}", low=0, high=99, from_data=("kind",)) for place in range(9)
    ]
    columns += [
        Categorical(
            f"c{place}",
            categories=tuple(f"{label}" for label in range(2 + place)),
            from_data=("kind", "categories"),
        )
        for place in range(6)
    ]
    schema = Schema(columns=tuple(columns), unit=PrivacyUnit(max_rows=1))
    for rows in (500, 1_000, 3_000, 30_000):
        proposal = propose_cells(schema, table_of, LOSS, rows=rows, related=True)
        kept = proposal.schema.columns
        assert len(kept) >= MIN_RELATED_COLUMNS
        domain = proposal.schema.domain
        for table in table_of(kept).expect(domain, LOSS, 1, rows):
            times = rows / table.cells / table.half_width()
            assert times >= MIN_TIMES_ERROR
            assert times >= CLEAR_TIMES_ERROR or len(kept) == MIN_RELATED_COLUMNS
        alone = propose_cells(schema, table_of, LOSS, rows=rows)
        assert len(alone.schema.columns) >= len(kept)
    few = propose_cells(schema, table_of, LOSS, rows=1_000, related=True)
    assert RELATIONS_LOST in few.left_out_columns.values()
    assert set(few.left_out_columns) == {column.name for column in few.schema.excluded}
    for column in few.schema.excluded:
        assert column.reason == few.left_out_columns[column.name]
