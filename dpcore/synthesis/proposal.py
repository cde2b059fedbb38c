"""Proposed cells and columns that remain readable under the expected noise."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from dpcore.accounting.loss import Loss
from dpcore.schema import Column, ExcludedColumn, Schema
from dpcore.schema.coarsening import (
    has_looked_up_cells,
    list_coarser_columns,
    mark_step,
)
from dpcore.schema.schema import LEFT_OUT_MARK
from dpcore.synthesis.base import Recipe

MIN_TIMES_ERROR = 3.0
"""Rows of a mean cell, relative to its error, from which a column is readable."""
CLEAR_TIMES_ERROR = 12.0
"""The same, from which relations between such columns mostly come out."""
MIN_RELATED_COLUMNS = 5  # columns below which none is left out for their relations
NOISE_DROWNS = "with about so many rows, noise would drown it"
RELATIONS_LOST = "with about so many rows, relations of the other columns would be lost"
"""Reasons why a column is left out."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A schema whose columns are readable in a planned release.

    Attributes:
        schema: with coarser cells, and without the columns that are left out.
        coarser_columns: names of the columns with coarser cells.
        left_out_columns: the columns that are left out, and why: no cells make them readable,
            or others keep their relations only without them.
        is_readable: whether any column is readable; if none is, the schema is the one
            that was given.
    """

    schema: Schema
    coarser_columns: tuple[str, ...] = ()
    left_out_columns: Mapping[str, str] = field(default_factory=dict)
    is_readable: bool = True


def propose_cells(
    schema: Schema,
    recipe_of: Callable[[Sequence[Column]], Recipe],
    loss: Loss,
    *,
    rows: float,
    fixed: Collection[str] = (),
    related: bool = False,
) -> Proposal:
    """Choose for each column the finest cells that noise leaves readable.

    A column that no cells make readable is left out, the worst first: with fewer
    columns, the others have less noise. Columns that are told are chosen first, by told
    columns alone, so that no row decides their cells; those that were looked up follow,
    around them. Their steps are marked as taken from the data, and so is that one of
    them was left out.

    Args:
        schema: as declared.
        recipe_of: returns the planned recipe over columns.
        loss: of the release, under the rule of the account.
        rows: about how many rows the table has, as its owner states.
        fixed: columns that stay as they are.
        related: whether the release should keep relations between columns. Then cells
            get coarser until they are clear, and of more than five columns those that
            are not are left out.
    """
    told = () if schema.unit.from_data else _columns_known_without_data(schema)
    choices = {
        column.name: [column] if column.name in fixed else list_coarser_columns(column)
        for column in schema.columns
    }
    first = {name: choices[name] for name in told}
    chosen, reasons = _choose_readable(
        first, schema, recipe_of, loss, rows, fixed, related=related
    )
    is_readable = bool(chosen)
    # Keep these columns even if none is readable: whether other columns are readable
    # must not decide that.
    kept = chosen or {name: schema.column(name) for name in told}
    lost = {name for name in told if name not in kept}
    choices = {
        column.name: [kept.get(column.name, column)]
        if column.name in told
        else choices[column.name]
        for column in schema.columns
        if lost.isdisjoint(column.source_columns)
    }
    chosen, more_reasons = _choose_readable(
        choices, schema, recipe_of, loss, rows, {*fixed, *told}, related=related
    )
    if not is_readable and len(chosen) == len(kept):
        return Proposal(schema=schema, is_readable=False)
    return _make_proposal(
        schema, chosen, {**reasons, **more_reasons}, told, {*told, *fixed}
    )


def _columns_known_without_data(schema: Schema) -> tuple[str, ...]:
    """Return the columns whose cells were declared without looking at the data."""
    looked_up = {
        column.name for column in schema.columns if has_looked_up_cells(column)
    }
    return tuple(
        column.name
        for column in schema.columns
        if looked_up.isdisjoint((column.name, *column.source_columns))
    )


def _choose_readable(
    choices: dict[str, list[Column]],
    schema: Schema,
    recipe_of: Callable[[Sequence[Column]], Recipe],
    loss: Loss,
    rows: float,
    fixed: Collection[str],
    *,
    related: bool,
) -> tuple[dict[str, Column], dict[str, str]]:
    """Return the finest readable cells, and why other columns are left out."""
    kept = list(choices)
    reasons: dict[str, str] = {}
    least = CLEAR_TIMES_ERROR if related else MIN_TIMES_ERROR
    while kept:
        chosen, ratios = _choose_cells(
            {name: choices[name] for name in kept}, schema, recipe_of, loss, rows, least
        )
        worst = [
            name for name in sorted(ratios, key=ratios.__getitem__) if name not in fixed
        ]
        unreadable = [name for name in worst if ratios[name] < MIN_TIMES_ERROR]
        unclear = [name for name in worst if ratios[name] < least]
        dropped = unreadable or unclear[: max(0, len(kept) - MIN_RELATED_COLUMNS)]
        if not dropped:
            return chosen, reasons
        # If there are many unreadable columns, drop several in one step.
        lost = set(dropped[: max(1, len(dropped) // 8)])
        gone = [
            name
            for name in kept
            if name in lost or not lost.isdisjoint(choices[name][0].source_columns)
        ]
        reasons |= dict.fromkeys(gone, NOISE_DROWNS if unreadable else RELATIONS_LOST)
        kept = [name for name in kept if name not in gone]
    return {}, reasons


def _choose_cells(
    choices: dict[str, list[Column]],
    schema: Schema,
    recipe_of: Callable[[Sequence[Column]], Recipe],
    loss: Loss,
    rows: float,
    least: float,
) -> tuple[dict[str, Column], dict[str, float]]:
    """Return the finest cells of at least so many times their error, and these times.

    The error of a column can depend on the cells of others, so cells only get coarser
    until nothing changes.
    """
    places = dict.fromkeys(choices, 0)
    while True:
        chosen = {name: choices[name][places[name]] for name in choices}
        columns = list(chosen.values())
        domain = dataclasses.replace(schema, columns=tuple(columns)).domain
        expected = recipe_of(columns).expect(domain, loss, schema.unit.max_rows, rows)
        errors = {
            table.clique[0]: table.half_width()
            for table in expected
            if len(table.clique) == 1
        }
        coarsest = {
            name: next(
                (
                    place
                    for place in range(places[name], len(choices[name]))
                    if rows / choices[name][place].size >= least * error
                ),
                len(choices[name]) - 1,
            )
            for name, error in errors.items()
        }
        if all(places[name] == place for name, place in coarsest.items()):
            return chosen, {
                name: rows / (chosen[name].size * error) if error else float("inf")
                for name, error in errors.items()
            }
        places |= coarsest


def _make_proposal(
    schema: Schema,
    chosen: dict[str, Column],
    reasons: Mapping[str, str],
    known_names: Collection[str],
    unmarked: Collection[str],
) -> Proposal:
    left_out = [column for column in schema.columns if column.name not in chosen]
    return Proposal(
        schema=dataclasses.replace(
            schema,
            columns=tuple(
                column if name in unmarked else mark_step(column)
                for name, column in chosen.items()
            ),
            excluded=(
                *schema.excluded,
                *(
                    ExcludedColumn(
                        name=column.name,
                        reason=reasons.get(column.name, NOISE_DROWNS),
                        # Mark the omission as taken from the data, if this column's
                        # cells or those of others were looked up.
                        from_data=()
                        if column.name in known_names
                        else (LEFT_OUT_MARK,),
                    )
                    for column in left_out
                    # Do not list derived columns, such as a time of day: rows decided
                    # whether they exist at all.
                    if column.name in column.source_columns
                ),
            ),
        ),
        coarser_columns=tuple(
            column.name
            for column in schema.columns
            if column.name in chosen and chosen[column.name] != column
        ),
        left_out_columns={
            column.name: reasons.get(column.name, NOISE_DROWNS) for column in left_out
        },
    )
