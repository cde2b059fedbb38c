"""Measure how well each set of columns tells people apart.

Distinction of a set of columns is the number of its classes over the rows, separation
the share of pairs of rows that it distinguishes (Motwani, Xu, 2007). If people have
several rows, a person counts in both once in each class.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.errors import too_many_columns_error
from dpcore.tables.classes import IntArray, check_columns, renumber
from dpcore.tables.people import count_people_and_unique_share

MAX_COLUMN_SETS = 20_000
"""Sets of columns that are looked at, at most; 30,162 rows of Adult take about a
millisecond a set.
"""


@dataclass(frozen=True, kw_only=True)
class ColumnSet:
    """How well one set of columns tells people apart.

    Attributes:
        columns: sorted as in the choice.
        uniques: share of people (rows, where each is a person) whom the set makes
            unique by some row.
    """

    columns: tuple[str, ...]
    distinction: float
    separation: float
    uniques: float


def measure_column_sets(
    codes: Mapping[str, IntArray],
    columns: Sequence[str],
    *,
    max_columns: int | None = None,
    person: IntArray | None = None,
    counts: IntArray | None = None,
) -> list[ColumnSet]:
    """Measure all sets of up to `max_columns` columns, small sets first.

    Args:
        codes: column -> (rows,) code of the value.
        columns: to choose from.
        max_columns: columns of a set, at most; all of them by default.
        person: (rows,) number of the person whose row it is; None where every row is a
            person.
        counts: how many rows, all of different people, each row stands for where these
            are distinct tuples.

    Raises: ParameterError without columns; LimitError for too many sets.
    """
    check_columns(columns)
    max_columns = (
        len(columns) if max_columns is None else min(max_columns, len(columns))
    )
    if max_columns > max_set_size(len(columns), max_columns):
        raise too_many_columns_error()
    sets = []
    for chosen, keys in _iterate_column_sets(
        [codes[name] for name in columns], max_columns
    ):
        sizes, uniques = count_people_and_unique_share(keys, person, counts)
        rows = int(sizes.sum())
        pairs = (sizes * (sizes - 1)).sum() / max(1, rows * (rows - 1))
        figures = ColumnSet(
            columns=tuple(columns[column] for column in chosen),
            distinction=len(sizes) / rows,
            separation=float(1 - pairs),
            uniques=uniques,
        )
        sets.append((len(chosen), chosen, figures))
    return [figures for _, _, figures in sorted(sets, key=lambda each: each[:2])]


def max_set_size(
    columns: int, max_columns: int, max_sets: int = MAX_COLUMN_SETS
) -> int:
    """Return the largest set size for which all sets can be measured.

    At most `max_columns` and at least 1; of these and all smaller sets there are at most
    `max_sets`.
    """
    number = columns
    size = 1
    while (
        size < max_columns
        and (number := number + math.comb(columns, size + 1)) <= max_sets
    ):
        size += 1
    return size


def _iterate_column_sets(
    codes: Sequence[IntArray], max_columns: int
) -> Iterator[tuple[tuple[int, ...], IntArray]]:
    """Yield every set of up to `max_columns` columns, with each row's class key.

    Each is made from the set without its last column.
    """

    def grow(
        chosen: tuple[int, ...],
        classes: IntArray,
        number: int,
    ) -> Iterator[tuple[tuple[int, ...], IntArray]]:
        for column in range(chosen[-1] + 1 if chosen else 0, len(codes)):
            width = int(codes[column].max()) + 1
            keys = classes * width
            keys += codes[column]
            yield (*chosen, column), keys
            if len(chosen) + 1 < max_columns:
                finer = renumber(keys, number * width)
                del keys
                yield from grow((*chosen, column), finer, int(finer.max()) + 1)

    return grow((), np.zeros(len(codes[0]), dtype=np.int64), 1)
