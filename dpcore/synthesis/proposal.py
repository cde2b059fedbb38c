"""Cells and columns of a release that noise leaves readable, from public facts alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from dpcore.accounting.loss import Loss
from dpcore.schema import Column, Excluded, Schema
from dpcore.schema.coarsening import is_looked_up, list_coarser, with_marked_step
from dpcore.schema.schema import LEFT_OUT
from dpcore.synthesis.base import Recipe

MIN_TIMES_ERROR = 3.0
"""Rows of a mean cell, relative to its error, from which a column is readable."""
NOISE_DROWNS = "with about so many rows, noise would drown it"
"""Reason why a column is left out."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A schema whose columns are readable in a planned release.

    Attributes:
        schema: with coarser cells, and without the columns that are left out.
        coarser: names of the columns with coarser cells.
        left_out: names of the columns that no cells make readable.
        is_readable: whether any column is readable; if none is, the schema is the one
            that was given.
    """

    schema: Schema
    coarser: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    is_readable: bool = True


def propose_cells(
    schema: Schema,
    recipe_of: Callable[[Sequence[Column]], Recipe],
    loss: Loss,
    *,
    rows: float,
    fixed: Collection[str] = (),
) -> Proposal:
    """Choose the finest cells of each column at least three times its told error.

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
    """
    told = () if schema.unit.from_data else _told_columns(schema)
    choices = {
        column.name: [column] if column.name in fixed else list_coarser(column)
        for column in schema.columns
    }
    first = {name: choices[name] for name in told}
    chosen = _choose_readable(first, schema, recipe_of, loss, rows, fixed)
    is_readable = bool(chosen)
    # whether others are readable must not decide whether these are there
    kept = chosen or {name: schema.column(name) for name in told}
    lost = {name for name in told if name not in kept}
    choices = {
        column.name: [kept.get(column.name, column)]
        if column.name in told
        else choices[column.name]
        for column in schema.columns
        if lost.isdisjoint(column.reads)
    }
    chosen = _choose_readable(choices, schema, recipe_of, loss, rows, {*fixed, *told})
    if not is_readable and len(chosen) == len(kept):
        return Proposal(schema=schema, is_readable=False)
    return _proposal(schema, chosen, told, {*told, *fixed})


def _told_columns(schema: Schema) -> tuple[str, ...]:
    """Return the columns whose cells follow from nothing that was looked up."""
    looked_up = {column.name for column in schema.columns if is_looked_up(column)}
    return tuple(
        column.name
        for column in schema.columns
        if looked_up.isdisjoint((column.name, *column.reads))
    )


def _choose_readable(
    choices: dict[str, list[Column]],
    schema: Schema,
    recipe_of: Callable[[Sequence[Column]], Recipe],
    loss: Loss,
    rows: float,
    fixed: Collection[str],
) -> dict[str, Column]:
    """Return the finest readable cells, without the columns that have none."""
    kept = list(choices)
    while kept:
        chosen, ratios = _choose(
            {name: choices[name] for name in kept}, schema, recipe_of, loss, rows
        )
        unreadable = [
            name
            for name in sorted(ratios, key=ratios.__getitem__)
            if ratios[name] < MIN_TIMES_ERROR and name not in fixed
        ]
        if not unreadable:
            return chosen
        # if there are many columns, several are taken in one step
        lost = set(unreadable[: max(1, len(unreadable) // 8)])
        kept = [
            name
            for name in kept
            if name not in lost and lost.isdisjoint(choices[name][0].reads)
        ]
    return {}


def _choose(
    choices: dict[str, list[Column]],
    schema: Schema,
    recipe_of: Callable[[Sequence[Column]], Recipe],
    loss: Loss,
    rows: float,
) -> tuple[dict[str, Column], dict[str, float]]:
    """Return the finest readable cells of columns, and rows of a cell over its error.

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
                    if rows / choices[name][place].size >= MIN_TIMES_ERROR * error
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


def _proposal(
    schema: Schema,
    chosen: dict[str, Column],
    told: Collection[str],
    unmarked: Collection[str],
) -> Proposal:
    left_out = [column for column in schema.columns if column.name not in chosen]
    return Proposal(
        schema=dataclasses.replace(
            schema,
            columns=tuple(
                column if name in unmarked else with_marked_step(column)
                for name, column in chosen.items()
            ),
            excluded=(
                *schema.excluded,
                *(
                    Excluded(
                        name=column.name,
                        reason=NOISE_DROWNS,
                        # how many cells it has, or others have, was looked up
                        from_data=() if column.name in told else (LEFT_OUT,),
                    )
                    for column in left_out
                    # of a time of day, a row decides whether it exists
                    if column.name in column.reads
                ),
            ),
        ),
        coarser=tuple(
            column.name
            for column in schema.columns
            if column.name in chosen and chosen[column.name] != column
        ),
        left_out=tuple(column.name for column in left_out),
    )
