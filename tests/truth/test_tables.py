"""The Tables page: counts, hidden cells, what can be told of them, and the error of
the same table with noise, each from the raw table again.

How closely a hidden count can be told is found by whole-number programs over people who
are counted here from the raw table; they share no code with the attack.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, milp

from dpcore.suppression import PublishedTable
from tests.truth.figures import bare, check, figures
from tests.truth.tables import TABLES, Odd, around, opened
from workbench.tables.state import TablesState

THRESHOLD = 10  # of the preset that is chosen at first
BUDGET = 3.0
TABLE = "Exact table > "
HIDDEN = "What this does not promise > "
NOISE = (
    "With noise, the same columns would cost {share} of the budget. No count would "
    "be hidden, and 95 of 100 counts would be within {error} people of the truth. "
    "Here, {hidden} of the counts are hidden and the others are exact.|"
)
NOISE_BESIDE_ALL = (
    "With noise, the same columns would cost {share} of the budget, and 95 of 100 "
    "counts would be within {error} people of the truth. Here, no count is hidden, and "
    "all are exact.|"
)
EPSILON = (
    "There is no epsilon. {shown} exact counts are shown, and {hidden} are hidden. "
    "Readers who know some of the people can compare.|"
)
INTERVAL = (
    "Readers may narrow a hidden count below {threshold} to an interval that also "
    "contains {threshold}. One end of that interval may still be much more "
    "likely.|threshold"
)
RISKY = "The rule hides {number} counts, and they are hidden.|number"
MUCH = "{share} of the counts are hidden. Coarser groups would show more.|share"
Place = tuple[int, int]


def lies_in(value: str, label: str) -> bool:
    """Return whether a value of the raw table belongs to a line of the page."""
    if label == "Total":
        return True
    ends = re.fullmatch(r"(\d+)-(\d+)", label)
    if ends:
        return int(ends[1]) <= int(value) <= int(ends[2])
    return value == label


def parts_of(values: list[str], labels: list[str]) -> list[list[str]]:
    """Return the values of one column in sets that the lines do not tell apart."""
    sets: dict[tuple[bool, ...], list[str]] = {}
    for value in sorted(set(values)):
        sets.setdefault(tuple(lies_in(value, label) for label in labels), []).append(
            value
        )
    return [*sets.values()]


def count(pairs: list[Place], rows: list[str], columns: list[str]) -> dict[Place, int]:
    """Count people by hand in each cell of a table, with its totals."""
    return {
        (r, c): sum(
            lies_in(first, row) and lies_in(second, column) for first, second in pairs
        )
        for r, row in enumerate(rows)
        for c, column in enumerate(columns)
    }


def bounds_of(
    pairs: list[Place],
    rows: list[str],
    columns: list[str],
    true: dict[Place, int],
    hidden: list[Place],
) -> dict[Place, tuple[int, int]]:
    """Return the least and most of each hidden cell over all tables that fit.

    Readers see all other counts, and know which cells hold people.
    """
    first = parts_of([pair[0] for pair in pairs], rows)
    second = parts_of([pair[1] for pair in pairs], columns)
    weights = {
        at: np.outer(
            [lies_in(part[0], rows[at[0]]) for part in first],
            [lies_in(part[0], columns[at[1]]) for part in second],
        )
        .ravel()
        .astype(float)
        for at in true
    }
    limits = [
        LinearConstraint(
            weights[at],
            min(true[at], 1) if at in hidden else true[at],
            np.inf if at in hidden else true[at],
        )
        for at in true
    ]

    def end(at: Place, sign: int) -> int:
        found = milp(
            sign * weights[at],
            constraints=limits,
            integrality=np.ones(len(first) * len(second)),
        )
        assert found.success, found.message
        return round(sign * found.fun)

    return {at: (end(at, 1), end(at, -1)) for at in hidden}


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
        for line in current.made_tables.content[0].published.crosstab()
    ]
    columns = heading[1:]
    rows = [line[0] for line in lines]
    shown = [line[1:] for line in lines]
    pairs = [tuple(map(str, pair)) for pair in odd.frame[names].to_numpy().tolist()]
    true = count(pairs, rows, columns)
    hidden = [at for at in true if shown[at[0]][at[1]] == "x"]
    bounds = bounds_of(pairs, rows, columns, true, hidden)
    cells = len(true)
    for at, value in true.items():
        text = shown[at[0]][at[1]]
        assert text == "x" or (value >= THRESHOLD and text == str(value))
    for at, (low, high) in bounds.items():
        assert low <= true[at] <= high
        assert true[at] >= THRESHOLD or low < THRESHOLD <= high
    # the cells of the owner's list come in the order of their reasons
    places = [*true]
    listed = [places[cell] for cell in current.made_tables.content[0].reasons]
    assert sorted(listed) == hidden
    full = {
        (r, c)
        for r, c in true
        for around in ((0, c), (r, 0))
        if true[around] and around != (r, c) and true[r, c] == true[around]
    }
    by_column = {
        f"{TABLE}{name}": (lambda _, at=at: [line[at] for line in shown])
        for at, name in enumerate(columns)
    }
    epsilon = BUDGET / 6
    return (
        around(tab)
        | by_column
        | {
            NOISE + "share": lambda _: 1 / 6,
            NOISE_BESIDE_ALL + "share": lambda _: 1 / 6,
            NOISE + "error": lambda _: half_width(epsilon),
            NOISE_BESIDE_ALL + "error": lambda _: 0 if hidden else half_width(epsilon),
            NOISE + "hidden": lambda _: len(hidden) / cells,
            EPSILON + "shown": lambda _: cells - len(hidden),
            EPSILON + "hidden": lambda _: len(hidden),
            INTERVAL: lambda _: THRESHOLD,
            HIDDEN + "people": lambda _: [true[at] for at in listed],
            HIDDEN + "readers can tell": lambda _: [
                "{} to {}".format(*bounds[at]) for at in listed
            ],
            f"{HIDDEN}{names[0]}": lambda _: [rows[r] for r, _c in listed],
            f"{HIDDEN}{names[1]}": lambda _: [columns[c] for _r, c in listed],
            f"{TABLE}{' × '.join(names)}": lambda _: (
                lambda cells: [bare(cell).strip() for cell in cells] == rows
            ),
            RISKY: lambda _: sum(
                value < THRESHOLD or at in full for at, value in true.items()
            ),
            MUCH: lambda _: len(hidden) / cells if len(hidden) > cells / 2 else None,
        }
    )


def made(odd: Odd, names: list[str]) -> Any:
    """Return a tab in which the table of two columns is made."""
    tab = opened(odd).go("tables")
    tab.set("selectbox", "Rows", names[0])
    tab.set("selectbox", "Columns", names[1])
    if tab.button("Make the table").disabled:
        tab.set("checkbox", "Everybody may know which values", True)
    return tab.press("Make the table")


CASES = [
    ("300 rows", ["age", "ill"]),
    ("constants", ["rare", "age"]),
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
    assert {TABLE + "Total", EPSILON + "shown"} <= compared
    assert {NOISE + "error", NOISE_BESIDE_ALL + "error"} & compared


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
