"""The Tables page: counts, hidden cells, what can be told of them, and the error of
the same table with noise, each from the raw table again.

How closely a hidden count can be told is found by filling the table in every way that
fits what is shown, which shares no code with the attack.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpcore.suppression import PublishedTable
from tests.truth.figures import bare, check, figures
from tests.truth.tables import TABLES, Odd, around, opened
from workbench.tables.state import TablesState

THRESHOLD = 10  # of the preset that is chosen at first
BUDGET = 3.0
TABLE = "Exact table > "
HIDDEN = "What this does not promise > "
NOISE = (
    "With noise, the same columns cost {share} of the budget: no count is hidden, and "
    "95 of 100 counts are within {error} people of the truth. Here {hidden} of the "
    "counts are hidden and the others are exact.|"
)
EPSILON = (
    "There is no epsilon. {shown} exact counts are shown, and {hidden} are hidden; "
    "whoever knows some people can compare.|"
)
INTERVAL = (
    "A hidden count below {threshold} may be told up to an interval that also holds "
    "{threshold}; it may still be much likelier at one end.|threshold"
)
ATTACKED = (
    "The table was attacked together with {number} earlier exact tables about the "
    "same people. Tables from other servers or other owners, and files that nobody "
    "said are about the same people, were not known.|number"
)
Grid = list[list[int]]


def count(odd: Odd, rows: list[str], columns: list[str], names: list[str]) -> Grid:
    """Count people by hand in each cell of a table, with its totals."""
    pairs = [tuple(map(str, pair)) for pair in odd.frame[names].to_numpy().tolist()]
    return [
        [
            sum(
                row in ("Total", first) and column in ("Total", second)
                for first, second in pairs
            )
            for column in columns
        ]
        for row in rows
    ]


def fill_in(true: Grid, shown: list[list[str]]) -> list[tuple[int, int]]:
    """Return the least and the most of each hidden cell, by trying every table.

    Readers know which cells hold people, and see all that is shown. The first row and
    column are totals.
    """
    inner = [*itertools.product(range(1, len(true)), range(1, len(true[0])))]
    unknown = [(r, c) for r, c in inner if shown[r][c] == "x"]
    least: dict[tuple[int, int], int] = {}
    most: dict[tuple[int, int], int] = {}
    whole = true[0][0]
    ranges = [range(1 if true[r][c] else 0, whole + 1) for r, c in unknown]

    def complete(filled: dict[tuple[int, int], int]) -> dict[tuple[int, int], int]:
        cells = {(r, c): filled.get((r, c), true[r][c]) for r, c in inner}
        for r in range(1, len(true)):
            cells[r, 0] = sum(cells[r, c] for c in range(1, len(true[0])))
        for c in range(1, len(true[0])):
            cells[0, c] = sum(cells[r, c] for r in range(1, len(true)))
        cells[0, 0] = sum(cells[r, 0] for r in range(1, len(true)))
        return cells

    def fits(cells: dict[tuple[int, int], int]) -> bool:
        return all(shown[r][c] == "x" or cells[r, c] == true[r][c] for r, c in cells)

    def go(number: int, filled: dict[tuple[int, int], int]) -> None:
        if number == len(unknown):
            cells = complete(filled)
            if fits(cells):
                for at, value in cells.items():
                    least[at] = min(value, least.get(at, value))
                    most[at] = max(value, most.get(at, value))
            return
        r, c = unknown[number]
        possible = {*ranges[number]}
        later = unknown[number + 1 :]
        for line, total in (((r, None), (r, 0)), ((None, c), (0, c))):
            if shown[total[0]][total[1]] == "x":
                continue
            room = _room(true, shown, filled, *line)
            is_last = not any(at[0] == line[0] or at[1] == line[1] for at in later)
            possible &= {room} if is_last else {*range(room + 1)}
        for value in possible:
            go(number + 1, filled | {(r, c): value})

    go(0, {})
    cells = itertools.product(range(len(true)), range(len(true[0])))
    return [(least[at], most[at]) for at in cells if shown[at[0]][at[1]] == "x"]


def _room(
    true: Grid,
    shown: list[list[str]],
    filled: dict[tuple[int, int], int],
    row: int | None,
    column: int | None,
) -> int:
    """Return what a shown total leaves for the next hidden cell of its line."""
    if row is not None:
        line = [(row, c) for c in range(1, len(true[0]))]
        total = true[row][0]
    else:
        assert column is not None
        line = [(r, column) for r in range(1, len(true))]
        total = true[0][column]
    used = sum(
        filled.get((r, c), 0 if shown[r][c] == "x" else true[r][c]) for r, c in line
    )
    return total - used


def half_width(epsilon: float) -> int:
    """Return the error of a count with geometric noise, in 95 of 100 cases."""
    base = math.exp(-epsilon)
    return next(
        width
        for width in itertools.count()
        if 2 * base ** (width + 1) / (1 + base) <= 0.05
    )


def facts(odd: Odd, tab: Any, names: list[str]) -> dict[str, Callable[[Any], Any]]:
    """Return what is true of each figure of the page."""
    current = tab.session.own(TablesState)
    heading, *lines = [
        [bare(text).strip() for text in line]
        for line in current.made.content.published.crosstab()
    ]
    columns = heading[1:]
    rows = [line[0] for line in lines]
    shown = [line[1:] for line in lines]
    true = count(odd, rows, columns, names)
    hidden = [text for line in shown for text in line if text == "x"]
    cells = len(rows) * len(columns)
    bounds = fill_in(true, shown)
    small = [
        value for value in itertools.chain.from_iterable(true) if value < THRESHOLD
    ]
    assert len(small) <= len(hidden) < cells
    for line, texts in zip(true, shown, strict=True):
        for value, text in zip(line, texts, strict=True):
            assert text == "x" or (value >= THRESHOLD and text == str(value))
    told = [
        (value, low, high)
        for (value, text), (low, high) in zip(
            [
                pair
                for pair in zip(
                    itertools.chain.from_iterable(true),
                    itertools.chain.from_iterable(shown),
                    strict=True,
                )
                if pair[1] == "x"
            ],
            bounds,
            strict=True,
        )
    ]
    # the cells of the owner's list come in the order of their reasons
    by_cell = dict(
        zip(
            [
                at
                for at, text in enumerate(itertools.chain.from_iterable(shown))
                if text == "x"
            ],
            told,
            strict=True,
        )
    )
    listed = [by_cell[cell] for cell in current.made.content.reasons]
    for value, low, high in told:
        assert low <= value <= high
        assert value >= THRESHOLD or low < THRESHOLD <= high
    by_column = {
        f"{TABLE}{name}": (lambda _, at=at: [line[at] for line in shown])
        for at, name in enumerate(columns)
    }
    epsilon = BUDGET / 8
    return (
        around(tab)
        | by_column
        | {
            NOISE + "share": lambda _: (
                lambda text: text.startswith(("12", "13", "an "))
            ),
            NOISE + "error": lambda _: half_width(epsilon),
            NOISE + "hidden": lambda _: len(hidden) / cells,
            EPSILON + "shown": lambda _: cells - len(hidden),
            EPSILON + "hidden": lambda _: len(hidden),
            INTERVAL: lambda _: THRESHOLD,
            ATTACKED: lambda _: 0,
            HIDDEN + "people": lambda _: [value for value, *_ in listed],
            HIDDEN + "readers can tell": lambda _: [
                f"{low} to {high}" for _value, low, high in listed
            ],
        }
    )


def made(odd: Odd, names: list[str]) -> Any:
    """Return a tab in which the table of two columns is made."""
    tab = opened(odd).go("tables")
    tab.set("selectbox", "Rows", names[0])
    tab.set("selectbox", "Columns", names[1])
    return tab.press("Make the table")


CASES = [
    ("300 rows", ["city", "ill"]),
    ("two-valued", ["label", "sex"]),
    ("booleans", ["smoker", "ill"]),
]


@pytest.mark.parametrize(("name", "names"), CASES, ids=[name for name, _ in CASES])
def test_every_figure_is_of_the_table(marking, name: str, names: list[str]) -> None:
    """The page would show a wrong count, a hidden one, or say that a count cannot be
    told which can.
    """
    odd = TABLES[name]
    tab = made(odd, names)
    compared = check(figures(tab, marking), facts(odd, tab, names), set(), None)
    assert {TABLE + "Total", NOISE + "error", EPSILON + "shown"} <= compared


def test_a_wrong_base_is_caught(marking, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above would not see counts of other people."""
    odd = TABLES["300 rows"]
    tab = made(odd, ["city", "ill"])
    true = facts(odd, tab, ["city", "ill"])
    right = PublishedTable.crosstab
    draw = np.random.default_rng(1)

    def other(table: PublishedTable) -> list[list[str]]:
        heading, *lines = right(table)
        return [
            heading,
            *(
                [
                    line[0],
                    *(
                        text if text == "x" else str(int(text) + draw.integers(1, 3))
                        for text in line[1:]
                    ),
                ]
                for line in lines
            ),
        ]

    monkeypatch.setattr(PublishedTable, "crosstab", other)
    tab.at.run()
    with pytest.raises(AssertionError, match="not true"):
        check(figures(tab, marking), true, set(), None)
