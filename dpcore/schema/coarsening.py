"""Propose coarser cells for a column, from its bounds alone."""

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

from dpcore.schema.column import Column
from dpcore.schema.date import DATE_STEPS, Date
from dpcore.schema.interval import Integer, Real
from dpcore.schema.numbers import TARGET_CELLS, multiply_rounded, round_up_width
from dpcore.schema.origin import AGES_RULE, TEXT_FACTS

MIN_VISIBLE_CELLS = 6  # cells of a number or date, below which its shape cannot be seen
_JOINED_CELLS = (2, 3, 4, 6, 8, 12, 16)  # neighboring cells that become one


def list_coarser_columns(column: Column) -> list[Column]:
    """Return the column, followed by versions with coarser and coarser cells.

    A step of these is chosen among round ones by the bounds. Where a fact of the column
    was taken from the data, so is the step, and all marks stay. No number or date gets
    fewer than six cells; other columns have no coarser ones.
    """
    if isinstance(column, Date):
        return [column, *_with_longer_steps(column)]
    if isinstance(column, Integer | Real):
        return [column, *_with_wider_cells(column)]
    return [column]


def _with_longer_steps(column: Date) -> Iterator[Column]:
    for step in DATE_STEPS[DATE_STEPS.index(column.step) + 1 :]:
        coarser = dataclasses.replace(
            column, step=step, from_data=_marks_with(column, "step")
        )
        if coarser.values_size >= MIN_VISIBLE_CELLS:
            yield coarser


def _with_wider_cells(column: Integer | Real) -> Iterator[Column]:
    """Yield the column without cells for single numbers, then with ever wider cells.

    Zero, and codes beyond the bounds such as 99999, keep their cells: among other
    numbers they would mislead.
    """
    alone: tuple[Any, ...] = tuple(
        number
        for number in column.special
        if number == 0 or not column.low <= number <= column.high
    )
    marks = (
        _marks_with(column, "special") if alone != column.special else column.from_data
    )
    plain = dataclasses.replace(column, special=alone, from_data=marks)
    if column.cuts:
        for joined in _JOINED_CELLS:
            cuts: tuple[Any, ...] = column.cuts[joined - 1 :: joined]
            if len(cuts) + 1 >= MIN_VISIBLE_CELLS:
                yield dataclasses.replace(
                    plain, cuts=cuts, from_data=_marks_with(plain, "cuts")
                )
        return
    span = column.high - column.low
    width = getattr(column, "bin_width", None) or span
    if span / width + 1 >= MIN_VISIBLE_CELLS:
        if alone != column.special:
            yield plain
    else:
        width = span / TARGET_CELLS
    while True:
        width = round_up_width(width * 1.01)
        coarser = _with_cell_width(plain, width)
        if coarser.values_size - len(alone) < MIN_VISIBLE_CELLS:
            return
        yield coarser


def _with_cell_width(column: Integer | Real, width: float) -> Column:
    """Return the column with cells of the given width.

    Bounds that were taken from the data move out to whole cells, but never to a zero
    that lies beyond them: it would be drawn.
    """
    low = column.low
    high = column.high
    is_real = isinstance(column, Real)
    if "low" in column.from_data:
        low = multiply_rounded(math.floor(low / width), width) or low
    if "high" in column.from_data:
        end = multiply_rounded(
            math.ceil((high if is_real else high + 1) / width), width
        )
        high = end if is_real else end - 1
    facts: dict[str, Any] = {
        "low": low if is_real else round(low),
        "high": high if is_real else round(high),
        "bin_width": width if is_real else max(1, round(width)),
        "rules": tuple(rule for rule in column.rules if rule != AGES_RULE),
        "from_data": _marks_with(column, "bin_width"),
    }
    return dataclasses.replace(column, **facts)


def mark_step(column: Column) -> Column:
    """Return the column with all marks that its coarser versions would have."""
    marks = list(column.from_data)
    for other in list_coarser_columns(column):
        marks += other.from_data
    return dataclasses.replace(column, from_data=tuple(dict.fromkeys(marks)))


def _marks_with(column: Column, fact: str) -> tuple[str, ...]:
    """Return a column's marks, plus `fact` if its cells were looked up in the data."""
    # privately found cells are never marked as taken from the data
    if column.found is not None or not has_looked_up_cells(column):
        return column.from_data
    return tuple(dict.fromkeys((*column.from_data, fact)))


def has_looked_up_cells(column: Column) -> bool:
    """Return whether facts that decide a column's cells were taken from the data."""
    return not set(column.from_data).issubset(TEXT_FACTS)
