"""The Synthesize page before and after paying: its figures from the raw table, the
noise law, the files.

Errors before paying come from draws of the law itself (scipy, numpy), those of a whole
table from the release that follows. What a release shows is compared with its file, its
CSV of counts and its drawn rows.
"""

from __future__ import annotations

import io
import itertools
import json
import math
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats
from scipy.stats import chi2_contingency

from dpcore.synthesis import count_rows
from tests.tiers import but_first
from tests.truth.figures import Figure, MarkedTab, agrees, bare, check, figures
from tests.truth.limits import at_most, pure_limit
from tests.truth.released import array, nearest
from tests.truth.tables import LOSS, TABLES, Odd, budget_facts, opened
from workbench.server.workers import drawing
from workbench.synthesize import script, tables_view
from workbench.ui.reopening import RowCounts

EPSILON = 0.5
BUDGET = 3.0
DRAWS = 10_000
FACTS = (
    "± {half} rows. An average cell of {table} has {mean} rows, of about {rows} in all."
)
ALONE = "± {half} rows, of about {rows} in all."
GROUP = (
    "A group of {rows:,} rows would be reported as {low:,} to {high:,} rows. "
    "Smaller groups would be less exact."
)
TESTS = (
    "Every test is charged, and its answer is noisy. At most {limit} tests are "
    "allowed; {left} remain."
)
BETWEEN = "The true number lies between {low} and {high} in 95 of 100 cases."
WITHIN = (
    "**Each of the {cells:,} counts, taken by itself, is within {half} rows of the "
    "truth in 95 of 100 cases.**"
)
LINKS = (
    "**{links} pairs of columns were counted together, and for {rising} pairs of "
    "number columns the program measured whether they rise together. All other "
    "relations follow from these.** A rule that shows only in three or more columns "
    "together may be lost. A thicker line means a stronger relation."
)
TITLE = "What you would get"
Fact = Callable[[Any], Any]


@dataclass
class Walk:
    """A table on the page, and what is known of it without the page.

    Attributes:
        about: rows that a mean cell is compared with.
        paid: how many releases of `EPSILON` there are.
    """

    odd: Odd
    tab: MarkedTab
    about: float
    paid: int = 0
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(22))

    @property
    def sizes(self) -> dict[str, int]:
        """Cells of each column, by the codebook that was declared."""
        assert self.tab.session.data_set is not None
        declared = self.tab.session.data_set.declaration
        assert declared is not None
        return {each.name: each.size for each in declared.schema.columns}

    @property
    def left(self) -> float:
        return BUDGET - self.paid * EPSILON

    @property
    def release(self) -> Any:
        assert self.tab.session.data_set is not None
        assert self.tab.session.runs.shown_request_id is not None
        return self.tab.session.data_set.release(self.tab.session.runs.shown_request_id)


def counted(odd: Odd) -> int:
    """Rows that count: of each person at most as many as the cap."""
    if odd.id is None:
        return len(odd.frame)
    return int(odd.frame.groupby(odd.id).head(odd.cap).shape[0])


def one_digit(rows: int) -> float:
    return float(
        np.format_float_positional(rows, precision=1, fractional=False, unique=False)
    )


def begun(name: str) -> Walk:
    odd = TABLES[name]
    tab = opened(odd)
    tab.go("synthesize")
    return Walk(odd, tab, one_digit(counted(odd)))


def laplace(rng: np.random.Generator, scale: float, shape: tuple[int, ...]) -> Any:
    """Draws of the discrete Laplace law: the difference of two geometric numbers."""
    chance = -math.expm1(-1 / scale)
    return rng.geometric(chance, shape) - rng.geometric(chance, shape)


def summed(rng: np.random.Generator, scale: float, cells: int) -> Any:
    """Draws of a sum of so many of them."""
    chance = -math.expm1(-1 / scale)
    return rng.negative_binomial(cells, chance, DRAWS) - rng.negative_binomial(
        cells, chance, DRAWS
    )


def half_of(scale: float) -> float:
    """The smallest w with P(|X| <= w) >= 0.95."""
    return float(
        next(
            w
            for w in itertools.count()
            if 1 - 2 * stats.dlaplace.sf(w, 1 / scale) >= 0.95
        )
    )


def scale_of(variance: float) -> float:
    return float(
        optimize.brentq(lambda s: stats.dlaplace.var(1 / s) - variance, 0.01, 1e6)
    )


def covers(errors: Any, *, most: float = 1.6) -> Fact:
    """Holds 95 % of the errors, and is not much wider than that needs.

    Of 10,000 draws with a seed, so that the share is known to within five deviations,
    0.011.
    """
    least = 0.95 - 5 * math.sqrt(0.95 * 0.05 / len(errors))

    def holds(shown: Any) -> bool:
        values = [
            float(str(each).replace(",", "").lstrip("± "))
            for each in np.atleast_1d(shown)
        ]
        needed = float(np.quantile(np.abs(errors), 0.95))
        return all(
            (np.abs(errors) <= each).mean() > least and each <= most * needed + 2
            for each in values
        )

    return holds


def best_mean(errors: list[Any]) -> Any:
    """The errors of the mean with the least variance, of independent ones."""
    return np.average(errors, axis=0, weights=[1 / each.var() for each in errors])


def as_numbers(shown: Any) -> np.ndarray:
    """One number, or several, as a page writes them."""
    return np.array(
        [
            float(str(each).replace(",", ""))
            for each in np.atleast_1d(np.array(shown, object))
        ]
    )


def near(*lists: Any) -> Fact:
    """Each number is, to three digits, that of one of the lists, which a chart and its
    table show.
    """

    def holds(shown: Any) -> bool:
        cells = as_numbers(shown)
        return any(
            len(cells) == len(each) and np.allclose(cells, each, rtol=6e-3, atol=1e-9)
            for each in lists
        )

    return holds


def between(*lists: tuple[Any, Any]) -> Fact:
    """Each number lies, to three digits, between those of one of the pairs of lists."""

    def holds(shown: Any) -> bool:
        cells = as_numbers(shown)
        return any(
            len(cells) == len(one)
            and (cells >= np.minimum(one, other) * (1 - 6e-3) - 1e-9).all()
            and (cells <= np.maximum(one, other) * (1 + 6e-3) + 1e-9).all()
            for one, other in lists
        )

    return holds


def everywhere(walk: Walk) -> dict[str, Any]:
    """What the page says of the account and of any release, wherever it is."""
    spent = walk.paid * EPSILON
    unit = (
        f"add or remove one person (at most {walk.odd.cap} rows, named by "
        f"{walk.odd.id!r})"
    )
    return {
        (
            "At most {number} rows of each person were counted. Any further rows "
            "are left out.|number"
        ): walk.odd.cap,
        (
            "Limits what anybody can learn about whether one person is in the "
            "table. Protected change: {unit}.|unit"
        ): unit,
        **at_most(lambda alarms: pure_limit(walk.release.recipe, EPSILON)(alarms)),
        " > value": f"**{walk.odd.name}.csv**  \n:small[]",
        "{number} rows|number": walk.odd.cap,
        "differentially private · {loss} · {unit}|unit": unit,
        **budget_facts(spent, 0, BUDGET),
        # of the release, of the whole budget
        LOSS: lambda shown: float(shown) in (EPSILON, BUDGET),
        # of the release, the twentieth of it that its verdict would cost, what is left
        **dict.fromkeys(
            ("epsilon {epsilon}|epsilon", "{share} (epsilon {epsilon})|epsilon"),
            lambda shown: any(
                agrees(shown, each)
                for each in (
                    EPSILON,
                    EPSILON / 20,
                    BUDGET / 30,  # proposed for a test against the table
                    BUDGET - spent,
                    walk.left - EPSILON,
                )
            ),
        ),
        "{share} of the budget|share": lambda shown: agrees(
            shown, EPSILON / 20 / BUDGET
        ),
        "people by {column}, at most {rows} each|rows": walk.odd.cap,
    }


OFF_BY = "error (95 %) > value"


def of_tables(
    walk: Walk, halves: Mapping[str, tuple[int, float]], total: Any
) -> dict[str, Any]:
    """Before paying, for tables of (cells, half-width)."""
    alike: dict[tuple[int, float], list[str]] = {}
    for name in sorted(halves, key=lambda name: -halves[name][0] * halves[name][1]):
        alike.setdefault(halves[name], []).append(name)
    bars = [", ".join(of) for of in alike.values()]
    shares = near([cells * half / walk.about for cells, half in alike])
    (cells, half), *_others = alike
    group = math.ceil(half / 0.2)
    return {
        **everywhere(walk),
        (
            "Someone who is 50 % sure that a person is in the table could "
            "become at most {sure} % sure by seeing this.|sure"
        ): 100 / (1 + math.exp(-EPSILON)),
        "cost > value": rounded_cost(walk.paid * EPSILON),
        "Left after > value": (walk.left - EPSILON) / BUDGET,
        OFF_BY: half,  # of the table with the largest error relative to its cells
        "**Blurred:** an average count is off by about {share}. {facts}|share": (
            half * cells / walk.about
        ),
        f"{FACTS}|half": half,
        f"{FACTS}|mean": near([walk.about / cells]),
        f"{FACTS}|rows": near([walk.about]),
        f"{FACTS}|table": bars[0].partition(", ")[0],
        f"{GROUP}|rows": group,
        f"{GROUP}|low": group - half,
        f"{GROUP}|high": group + half,
        f"{TITLE} > columns": bars,
        f"{TITLE} > label": lambda shown: (
            len(shown) == len(alike)
            and all(
                agrees(text.partition("(")[0], half)
                and agrees(text.partition("(")[2], cells * half / walk.about)
                for text, (cells, half) in zip(shown, alike, strict=True)
            )
        ),
        f"{TITLE} > error (95 %)": [each for _cells, each in alike],
        f"{TITLE} > error as a share of an average cell": shares,
        f"{TITLE} > share": shares,
        "The number of rows would be reported within ± {half}.|half": total,
        "The budget allows {number:,} such releases.|number": math.floor(
            walk.left / EPSILON
        ),
    }


def compared(walk: Walk, marking: Any, facts: Mapping[str, Any]) -> set[str]:
    """The ids of the page as it stands that were compared."""
    return checked(figures(walk.tab, marking), facts, walk)


def checked(seen: list[Figure], facts: Mapping[str, Any], walk: Walk) -> set[str]:
    """The ids of these figures that were compared."""
    return check(
        seen,
        {name: (lambda _walk, true=true: true) for name, true in facts.items()},
        STATIC,
        walk,
    )


def rounded_cost(spent: float) -> float:
    """The share of the budget that one more release costs, as it adds up in percent with
    what was spent before.
    """
    before, after = (
        round(100 * units / BUDGET, 2) for units in (spent, spent + EPSILON)
    )
    return (after - before) / 100


STATIC = {
    "{when} UTC · {cost}|when",
    (
        "The bars show the earlier release of {when}, which is public. The band "
        "shows the error.|when"
    ),
    # of a constant: what is called narrow
    "between columns of at most {cells} cells|cells",
    "where one column has more than {cells} cells|cells",
    "{where} from a strength of {strength} on|strength",  # of invented tables: nothing of this one
    # how many relations of invented tables were kept: nothing of this one
    "In a trial on invented tables of this shape, {kept} of {number} strong relations "
    "kept at least half of their strength.|kept",
    "In a trial on invented tables of this shape, {kept} of {number} strong relations "
    "kept at least half of their strength.|number",
    f"{TESTS}|limit",
    (
        "**Little to learn from.** This kind of table needs columns of numbers, and "
        "you chose fewer than {least}. The kind “A whole table” keeps more of what "
        "categories show.|least"
    ),
    # from the noise that the verdict would have, held in tests/pages/test_verdict.py
    "Is it good enough? Get a verdict within ± {error} for {cost}|error",
    "Test against the table for epsilon {epsilon}|epsilon",  # what is proposed
    # on a circle
    *(f"Columns and relations > {place}" for place in ("x", "y", "x2", "y2")),
}


def shown_of(walk: Walk, marking: Any, name: str) -> Any:
    """What the page shows under one id."""
    return next(each.shown for each in figures(walk.tab, marking) if each.id == name)


def before_a_histogram(walk: Walk, marking: Any) -> set[str]:
    column, cells = next(iter(walk.sizes.items()))
    half = half_of(walk.odd.cap / EPSILON)
    flat = np.full(cells, walk.about / cells)
    error = summed(walk.rng, walk.odd.cap / EPSILON, cells)
    facts = of_tables(walk, {column: (cells, half)}, covers(error))
    facts |= {
        f"{TITLE} > {column}": lambda shown: len(set(shown)) == cells,
        f"{TITLE} > cell": lambda shown: len(set(shown)) == cells,
        # both ends of a line have this title
        f"{TITLE} > rows": near(flat, np.maximum(0, flat - half)),
        f"{TITLE} > low": near(np.maximum(0, flat - half)),
        f"{TITLE} > high": near(flat + half),
    }
    return compared(walk, marking, facts)


def before_tables(walk: Walk, marking: Any) -> set[str]:
    """Tables that are made to agree: the least-squares estimate of them all, of drawn
    noise.
    """
    columns = sorted(walk.sizes, key=walk.sizes.__getitem__)[:3]
    while math.prod(walk.sizes[name] for name in columns) > 800:
        columns.pop()
    walk.tab.press("A few columns together")
    walk.tab.set("multiselect", "Columns that should be counted together", columns)
    shape = [walk.sizes[name] for name in columns]
    joint = np.eye(math.prod(shape)).reshape(*shape, -1)
    pairs = list(itertools.combinations(range(len(columns)), 2))
    sums = [
        joint.sum(axis=tuple({0, 1, 2}.intersection(range(len(columns))) - {*pair}))
        for pair in pairs
    ]
    sums = [each.reshape(-1, joint.shape[-1]) for each in sums]
    design = np.concatenate(sums)
    noise = laplace(walk.rng, walk.odd.cap * len(pairs) / EPSILON, (DRAWS, len(design)))
    # a cell of each, and all
    targets = np.array([*(each[0] for each in sums), np.ones(joint.shape[-1])])
    errors = (noise @ (targets @ np.linalg.pinv(design, rcond=1e-9)).T).T
    names = [" × ".join(columns[i] for i in pair) for pair in pairs]
    bars = shown_of(walk, marking, f"{TITLE} > error (95 %)")
    shown = dict(zip(shown_of(walk, marking, f"{TITLE} > columns"), bars, strict=True))
    assert set(shown) == set(names), "no two tables are alike here"
    for name, error in zip(names, errors[:-1], strict=True):
        assert covers(error)(shown[name]), name
    halves = {n: (len(each), shown[n]) for n, each in zip(names, sums, strict=True)}
    facts = of_tables(walk, halves, covers(errors[-1], most=4))
    return compared(walk, marking, facts)


def before_figures(walk: Walk, marking: Any) -> set[str]:
    """The mean of a table of this size, and the rank of its median, by draws of the two
    laws.
    """
    walk.tab.press("Mean and median")
    assert walk.tab.session.data_set is not None
    assert walk.tab.session.data_set.declaration is not None
    name = str(
        next(
            each.value for each in walk.tab.at.selectbox if bare(each.label) == "column"
        )
    )
    column = next(
        c
        for c in walk.tab.session.data_set.declaration.schema.columns
        if c.name == name
    )
    low = float(column.low)
    high = float(column.high)
    radius = stats.gamma.rvs(
        4, scale=walk.odd.cap / (EPSILON / 2), size=DRAWS, random_state=walk.rng
    )
    # of the number of rows and of the sum
    noise = radius[:, None] * walk.rng.uniform(-1, 1, (DRAWS, 2))
    step = float(getattr(column, "step", 0) or 0)
    mean = (noise[:, 0] + noise[:, 1]) / walk.about * (high - low) / 2
    cells = laplace(walk.rng, walk.odd.cap / (EPSILON / 2), (DRAWS, column.values_size))
    farthest = np.abs(cells.cumsum(axis=1)).max(axis=1)  # of any number of first cells
    half = shown_of(walk, marking, f"{ALONE}|half")
    assert covers(noise[:, 0])(half)
    facts = of_tables(walk, {"number of rows": (1, float(half))}, covers(noise[:, 0]))
    facts |= {
        OFF_BY: covers(np.abs(mean) + step / 2),
        f"{ALONE}|half": covers(noise[:, 0]),
        f"{ALONE}|rows": near([walk.about]),
        "The mean of {rows} rows is off by at most {width}.|rows": walk.about,
        "The mean of {rows} rows is off by at most {width}.|width": covers(
            np.abs(mean) + step / 2
        ),
        "A quantile is off by at most {error} places in the sorted column.|error": lambda shown: (
            agrees(
                shown,
                2 * walk.odd.cap / (EPSILON / 2) * math.log(column.values_size / 0.05),
            )
            or covers(farthest, most=4)(shown)
        ),
    }
    return compared(walk, marking, facts)


@pytest.mark.parametrize("name", ["visits", "300 rows", "twins"])
def test_before_paying_every_figure_is_of_the_rows_that_count(marking, name) -> None:
    """A release would be bought by an error beside rows that do not count, or narrower
    than its law.
    """
    walk = begun(name)
    assert before_a_histogram(walk, marking) >= {f"{FACTS}|rows", f"{FACTS}|mean"}
    assert before_tables(walk, marking) >= {
        f"{FACTS}|rows",
        f"{TITLE} > error (95 %)",
    }
    assert before_figures(walk, marking) >= {OFF_BY}


def test_before_paying_a_wrong_base_is_caught(marking) -> None:
    """The test above would not see the rows of the file where a cap counts fewer of
    them.
    """
    walk = begun("visits")
    about = walk.tab.session.own(RowCounts).rows_by_dataset
    about.update(dict.fromkeys(about, one_digit(len(walk.odd.frame))))
    walk.tab.at.run()
    with pytest.raises(AssertionError, match="not true"):
        before_a_histogram(walk, marking)


def paid(walk: Walk) -> dict[str, Any]:
    """Pay for what is planned; the release file."""
    walk.tab.release()
    walk.paid += 1
    return dict(json.loads(walk.release.to_json()))


def of_release(walk: Walk, total: float, errors: Any) -> dict[str, Any]:
    """After paying, of any release that rows are drawn from: its number of rows, rows,
    record, promise.
    """
    rows = max(0, round(total))
    drawn = pd.read_csv(io.BytesIO(drawing.csv_file(walk.release, rows)))
    assert len(drawn) == rows
    least = covers(errors, most=4)
    return {
        **everywhere(walk),
        "About {rows} {counted}.|rows": max(0.0, total),
        f"{BETWEEN}|low": lambda low: (
            low == "0" or least(total - float(low.replace(",", "")))
        ),
        f"{BETWEEN}|high": lambda high: least(
            float(high.replace(",", "")) - max(total, 0)
        ),
        **{
            f"Draw a table > {name}": lambda shown, name=name: (
                [str(each) for each in shown]
                == [str(each) for each in drawn[name].head(200)]
            )
            for name in drawn
        },
        "For experts > cost": ("none", f"epsilon {EPSILON:g}", "none"),
        "For experts > result": lambda shown: (
            [*shown][1:] == [f"rows: {rows:,.4g}", f"rows: {rows:,.4g}; draw: 1"]
        ),
        f"{TESTS}|left": 5,
    }


def after_a_histogram(walk: Walk, marking: Any) -> set[str]:
    walk.tab.press("One column")
    file = paid(walk)
    ((column,), measured) = (
        file["marginals"][0]["clique"],
        array(file["marginals"][0]["values"]),
    )
    scale = walk.odd.cap / EPSILON
    half = half_of(scale)
    total = float(measured.sum())
    values = nearest(measured, total)
    low = np.minimum(np.maximum(0, measured - half), values)
    high = np.maximum(measured + half, values)
    told = pd.read_csv(
        io.BytesIO(script.counts_file(walk.release)), dtype={column: str}
    )
    assert np.allclose(
        told[["rows", "low", "high", "as measured"]].T, [values, low, high, measured]
    )
    here = "Histogram of {column}"
    facts = of_release(walk, total, summed(walk.rng, scale, measured.size))
    facts |= {
        f"{WITHIN}|cells": measured.size,
        f"{WITHIN}|half": near([max((values - low).max(), (high - values).max())]),
        f"{here} > {column}": lambda shown: [*map(str, shown)] == [*told[column]],
        f"{here} > cell": lambda shown: [*map(str, shown)] == [*told[column]],
        # both ends of a line have this title
        f"{here} > rows (noisy)": near(values, low),
        f"{here} > rows": near(values),
        f"{here} > low": near(low),
        f"{here} > high": near(high),
    }
    seen = compared(walk, marking, facts)
    walk.about = (
        total if walk.release.has_reliable_row_count else walk.about
    )  # else noise alone
    walk.tab.press("Release something else")
    return seen


def questioned(
    walk: Walk, clique: tuple[str, ...], cell: tuple[str, ...]
) -> tuple[float, float, float]:
    """Value, low and high of one cell, as a question to the release is answered."""
    asked: dict[str, Any] = {}
    for name, label in zip(clique, cell, strict=True):
        asked |= asked_of(walk, name, [label])
    answer = count_rows(walk.release, asked)
    return answer.value, answer.low, answer.high


def asked_of(walk: Walk, name: str, run: Sequence[str]) -> dict[str, Any]:
    """The question for neighboring cells of one column."""
    column = walk.release.schema.column(name)
    place = column.labels.index(run[0])
    bounds = column.bounds
    return {name: (bounds[place], bounds[place + len(run)]) if bounds else [*run]}


def runs_of(labels: Sequence[str]) -> dict[str, list[str]]:
    """Neighboring cells that share one of at most 40 bars, by the label of the bar."""
    width = math.ceil(len(labels) / 40)
    runs = [[*labels[i : i + width]] for i in range(0, len(labels), width)]
    return {run[0] if len(run) == 1 else f"{run[0]} …": run for run in runs}


def of_picture(walk: Walk, here: str, clique: tuple[str, ...]) -> dict[str, Any]:
    """A table of two columns as it is drawn: that of the CSV, with answers and
    intervals that agree.
    """
    content = script.counts_file(walk.release)
    files = [content]
    if content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as held:
            files = [held.read(name) for name in held.namelist()]
    tables = [
        pd.read_csv(io.BytesIO(each), dtype=dict.fromkeys(clique, str))
        for each in files
    ]
    labels = [walk.release.schema.column(name).labels for name in clique]
    cells = list(itertools.product(*labels))
    held = [each for each in tables if {*clique} == {*each.columns[:-4]}]
    asked = {
        cell: questioned(walk, clique, cell) for cell in (cells[:3] if held else cells)
    }
    told = pd.DataFrame(
        asked.values(),
        index=pd.MultiIndex.from_tuples(asked),
        columns=["rows", "low", "high"],
    )
    if held:
        listed = held[0].set_index([*clique])[["rows", "low", "high"]].reindex(cells)
        assert np.allclose(listed.iloc[:3], told)
        told = listed
    assert (
        (told["low"] <= told["rows"])
        & (told["rows"] <= told["high"])
        & (told["low"] >= 0)
    ).all()
    whole = told
    # a picture of more adds neighbors up
    steps = [-(-len(each) // 40) for each in labels]
    groups = [
        [label[i - i % step] + " …" * (step > 1) for i in range(len(label))]
        for label, step in zip(labels, steps, strict=True)
    ]
    told = (
        told.set_axis(pd.MultiIndex.from_product(groups))
        .groupby(level=[0, 1], sort=False)
        .sum()
    )
    one, other = clique
    facts: dict[str, Any] = {
        f"{here} > {name}": near(told[name]) for name in ("rows", "low", "high")
    }
    facts |= {
        f"{here} > {{what}} of {{a}} × {{b}}": near(told["rows"]),
        f"{here} > rows (noisy) of {one} × {other}": near(told["rows"]),
        f"{here} > rows (noisy)": near(told["rows"]),
        f"{WITHIN}|cells": len(whole),
        f"{WITHIN}|half": near(
            [
                max(
                    (whole["rows"] - whole["low"]).max(),
                    (whole["high"] - whole["rows"]).max(),
                )
            ],
        ),
    }
    for place, (name, title) in enumerate(
        zip(clique, ("first", "second"), strict=True)
    ):
        cells = [str(each[place]) for each in told.index]
        same = lambda shown, cells=cells: [*map(str, shown)] == cells  # noqa: E731
        facts |= {f"{here} > {name}": same, f"{here} > {title}": same}
    return facts


def of_columns(walk: Walk, here: str) -> dict[str, Any]:
    """Pictures of single columns: what the release answers about each of their bars.

    The interval of a bar of several cells may be wider, at most the sum of theirs.
    """
    told: dict[str, list[pd.DataFrame]] = {}
    bars: dict[str, list[str]] = {}
    for name in walk.sizes:
        runs = runs_of(walk.release.schema.column(name).labels)
        counts = [
            count_rows(walk.release, asked_of(walk, name, run)) for run in runs.values()
        ]
        whole = [(count.value, count.low, count.high) for count in counts]
        sums = [
            np.sum([questioned(walk, (name,), (label,)) for label in run], axis=0)
            for run in runs.values()
        ]
        told[name] = [
            pd.DataFrame(answers, columns=["rows", "low", "high"])
            for answers in (whole, np.array(sums))
        ]
        bars[name] = list(runs)
    ends = {
        end: [[answers[end] for answers in ways] for ways in told.values()]
        for end in ("rows", "low", "high")
    }
    facts: dict[str, Any] = {
        f"{here} > {end}": between(
            *columns, tuple(map(np.concatenate, zip(*columns, strict=True)))
        )
        for end, columns in ends.items()
    }
    facts[f"{here} > rows (noisy)"] = between(*ends["rows"], *ends["low"])
    cells = [label for each in bars.values() for label in each]
    facts[f"{here} > cell"] = lambda shown: [*map(str, shown)] == cells
    for name, each in bars.items():
        facts[f"{here} > {name}"] = lambda shown, each=each: [*map(str, shown)] == each
    return facts


def after_a_table(walk: Walk, marking: Any) -> set[str]:
    """A whole table: error before, relations, answers and the error by noise of its
    file.
    """
    walk.tab.press("A whole table")
    before = figures(walk.tab, marking)
    bars = [
        next(each.shown for each in before if each.id == f"{TITLE} > {name}")
        for name in ("columns", "error (95 %)")
    ]
    halves = {
        name: (walk.sizes[name], float(half))
        for alike, half in zip(*bars, strict=True)
        for name in alike.split(", ")
    }
    planned = of_tables(walk, halves, lambda shown: True)
    file = paid(walk)
    measured = file["model"]["measurements"]
    # the share of columns follows a noisy number of rows
    for name, (_cells, half) in halves.items():
        own = half_of(
            scale_of(next(m["variance"] for m in measured if m["clique"] == [name]))
        )
        assert 0.8 * own - 1 <= half <= 1.25 * own + 1, (
            f"{name}: {half} was said before, {own} came"
        )
    total = file["model"]["graph"]["total"]
    pairs = {
        tuple(pair) for m in measured for pair in itertools.combinations(m["clique"], 2)
    }
    sums = [
        summed(walk.rng, scale_of(m["variance"]), array(m["values"]).size)
        for m in measured
    ]
    alone = [
        each for each, m in zip(sums, measured, strict=True) if len(m["clique"]) <= 1
    ]
    # before, no pair is chosen
    needed = float(np.quantile(np.abs(best_mean(alone)), 0.95))
    two = [
        walk.sizes[a] * walk.sizes[b] for a, b in itertools.combinations(walk.sizes, 2)
    ]
    size = (
        "It can choose from {pairs:,} pairs with {cells:,} cells in all. This "
        "takes {seconds}."
    )
    planned |= {
        "The number of rows would be reported within ± {half}.|half": lambda shown: (
            0.8 * needed - 1 <= float(shown.replace(",", "")) <= 1.5 * needed + 2
        ),
        f"{size}|pairs": len(two),
        f"{size}|cells": sum(two),
        "Facts that hold for every row ({number})|number": 0,
        "Release something > first": lambda shown: len(shown) == len(two),
        "Release something > second": lambda shown: len(shown) == len(two),
    }
    seen = checked(before, planned, walk)
    facts = of_release(walk, total, best_mean(sums))
    here = "Columns and relations"
    seen |= compared(walk, marking, facts | of_columns(walk, here))
    walk.tab.set("button_group", "Show", marking.gettext("Relations"))
    strengths = {pair: strength(walk, pair) for pair in pairs}
    drawn = sorted(pairs, key=lambda pair: strengths[pair])

    def either_way(shown: list[Any]) -> Any:
        # the chart draws strong lines last, its table begins with them
        return lambda told: [*told] in (shown, shown[::-1])

    facts |= {
        f"{LINKS}|links": len(pairs),
        f"{LINKS}|rising": len(file["model"].get("concordances", {"rows": []})["rows"]),
        f"{here} > from": either_way([a for a, _b in drawn]),
        f"{here} > to": either_way([b for _a, b in drawn]),
        f"{here} > strength (Cramér's V)": lambda told: (
            sorted(told) == pytest.approx(sorted(strengths.values()), abs=6e-4)
        ),
        f"{here} > column": [*walk.sizes],
    }
    seen |= compared(walk, marking, facts)
    walk.tab.set("button_group", "Show", marking.gettext("answers"))
    clique = tuple(
        next(
            each.value
            for each in walk.tab.at.multiselect
            if each.key == "answer-columns"
        )
    )
    seen |= compared(walk, marking, facts | of_picture(walk, here, clique))
    walk.tab.set("button_group", "Show", marking.gettext("error by noise"))
    largest = {
        pair: math.sqrt(2 / math.pi * m["variance"])
        * array(m["values"]).size
        / (2 * max(total, 1))
        for m in measured
        for pair in [tuple(m["clique"])]
        if len(pair) == 2
    }
    errors = shown_of(walk, marking, f"{here} > error")
    facts |= {
        f"{here} > error": near(errors),
        f"{here} > first": lambda shown: len(shown) == len(pairs),
        f"{here} > second": lambda shown: len(shown) == len(pairs),
        "The largest is {error} for {a} and {b}.|error": max(errors),
    }
    assert len(errors) == len(pairs)
    assert max(errors) <= min(1, max(largest.values())) + 1e-9, (
        "pooled tables are more precise than one"
    )
    return seen | compared(walk, marking, facts)


def after_figures(walk: Walk, marking: Any) -> set[str]:
    """The figures of a column: as its file has them, and the mean's interval by draws
    of the law.
    """
    walk.tab.press("Release something else").press("Mean and median")
    file = paid(walk)
    made = {each["name"]: each for each in file["model"]["figures"]}
    mean = made["mean"]
    median = made["quantile 1/2"]
    column = walk.release.schema.column(file["model"]["column"])
    middle = (column.low + column.high) / 2
    reach = (column.high - column.low) / 2
    radius = stats.gamma.rvs(
        4, scale=walk.odd.cap / (EPSILON / 2), size=DRAWS, random_state=walk.rng
    )
    noise = radius[:, None] * walk.rng.uniform(-1, 1, (DRAWS, 2))
    place = (mean["value"] - middle) / reach
    off = (noise[:, 1] - place * noise[:, 0]) / max(file["model"]["total"], 1) * reach
    assert covers(off)(mean["half_width"])
    names = ("mean", "variance", "standard deviation", "quantile 1/2")
    told = [made[name]["half_width"] for name in names[:3]]
    here = "Mean and quantiles of {column}"
    facts = everywhere(walk) | {
        f"{here} > figure": (
            "mean",
            "variance",
            "standard deviation",
            "value below which 50 % of the rows lie",
        ),
        f"{here} > value": lambda shown: all(
            map(agrees, shown, [made[name]["value"] for name in names])
        ),
        f"{here} > off by": lambda shown: all(map(agrees, shown[:3], told)),
        f"{here} > places off, at most": lambda shown: agrees(
            shown[3], median["rank_error"]
        ),
    }
    return compared(walk, marking, facts)


def strength(walk: Any, pair: tuple[str, str]) -> float:
    """Cramér's V of a pair, from chi-square over the counts of the release."""
    tab = walk.tab
    release = tab.session.data_set.release(tab.session.runs.shown_request_id)
    counts = np.maximum(release.answer(pair).values, 0)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    if min(counts.shape) < 2:
        return 0.0
    chi_square = chi2_contingency(counts, correction=False).statistic
    return float((chi_square / counts.sum() / (min(counts.shape) - 1)) ** 0.5)


@pytest.mark.parametrize("name", but_first(1, ["visits", "300 rows"]))
def test_after_paying_every_figure_is_of_the_release(marking, name) -> None:
    """A picture, an answer or a file would say another number than the release, or than
    its noise allows.
    """
    walk = begun(name)
    assert after_a_histogram(walk, marking) >= {
        "About {rows} {counted}.|rows",
        f"{WITHIN}|half",
    }
    assert after_a_table(walk, marking) >= {
        "About {rows} {counted}.|rows",
        f"{FACTS}|rows",
    }
    assert after_figures(walk, marking) >= {"Mean and quantiles of {column} > value"}


def test_after_paying_a_shifted_share_is_caught(
    marking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above would not see a picture of another table than that of the
    release.
    """
    right = tables_view.show_answer

    def wrong(release, counts, *, key):
        right(release, replace(counts, values=np.roll(counts.values, 1)), key=key)

    monkeypatch.setattr(tables_view, "show_answer", wrong)
    walk = begun("300 rows")
    with pytest.raises(AssertionError, match="not true"):
        after_a_histogram(walk, marking)
