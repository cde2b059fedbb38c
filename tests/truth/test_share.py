"""What is behind a link, page and files: every figure again from the release's own
file, by numpy and scipy.

The file itself is held against the table: noise apart, it counts the rows that the
declared number of rows a person leaves.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import io
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from starlette.applications import Starlette

import dpcore as dp
from dpcore.release import Release
from dpcore.synthesis import SomeColumns
from dpcore.synthesis import _consistency as consistency
from dpcore.tables.rows import PublicTable
from tests.truth.anonymized import Truth
from tests.truth.figures import MarkedTab, agrees, check, figures, of_html
from tests.truth.groups import cells, text
from tests.truth.limits import at_most, coins_limit, pure_limit, rho_limit
from tests.truth.released import Told, array, cells_of, width
from tests.truth.reports import in_this_process
from tests.truth.tables import TABLES, Odd, opened
from tests.truth.test_anonymize import SHOWN, TRIED, after_making
from tests.workbench.share.asgi import call
from workbench import session
from workbench.language.messages import join
from workbench.records.link_form import LinksState
from workbench.report import asking, downloads, of_release, of_table, sentences
from workbench.report.document import render_page
from workbench.share import links
from workbench.store.links.shares import SharedPage
from workbench.store.links.surveys import links_work

COUNT = (
    "{column}: each count is within {half} {counted} of the truth in 95 of 100 cases|"
)
BARS = "Bar chart of {cells} noisy counts of {column}.|"
PAIR = "{a} and {b} together|"
WHOLE = "{rows} {counted} were counted, give or take {half}.|"
LARGEST = "The largest is {cells}: {low} to {high} % of the {counted} counted.|"
AMONG = "The largest is one of {cells}; the noise hides which.|cells"
HALF = (
    "More than half of the {counted} counted ({low} to {high} %) are from {first} "
    "to below {end}.|"
)
CITED = "{title}. Made on {day}, {loss}. SHA-256 of the release: {digest}|"
CAPPED = (
    "At most {number} rows of each person were counted. Any further rows are "
    "left out.|number"
)
MADE = (
    "{what}: numbers from a table of personal data. Random noise was added, which "
    "limits what they can reveal about any one person. Made on {day}.|day"
)
SURE = (
    "Someone who is 50 % sure that a person is in the table could become at "
    "most {sure} % sure by seeing this.|sure"
)
ANSWER = "The true number lies between {low} and {high} in 95 of 100 cases.|"
UNITS = (
    (
        "Limits what anybody can learn about whether one person is in the table. "
        "Protected change: {unit}.|unit"
    ),
)
STATIC = {
    # bounds that were declared, in the form and in its empty fields
    "{low} to {high}|low",
    "{low} to {high}|high",
    "page > value",
    "{column} from {low} to below {high}|low",  # what was asked
    "{column} from {low} to below {high}|high",
    "Declared from outside knowledge ({source}): {columns}.|columns",  # names of columns
    "Made on {day}.|day",
    "condition {number}|number",
    CITED + "title",
}
EPSILON = 2.5

RIGHT = Release.answer
CASES: dict[str, tuple[Any, dict[str, tuple[str, ...]]]] = {
    "visits": (
        dp.Marginals(cliques=[("ward", "days"), ("age",)]),
        {"ward": ("surgery",), "days": ("2", "3", "4", "5")},
    ),
    "odd cells": (dp.Histogram(column="admitted"), {}),
    "wide": (dp.Independent(columns=[f"q{j:02}" for j in range(30)]), {"q07": ("2",)}),
    "300 rows": (dp.Tree(), {"city": ("Graz", "Wien")}),
    "two-valued": (dp.Adaptive(), {"label": ("1",)}),
    "constants": (dp.Tree(), {}),
    "twins": (dp.Histogram(column="Abteilung {neu}"), {}),
}


def counted(odd: Odd) -> pd.DataFrame:
    """The rows that count: of each person as many as were declared."""
    return odd.frame if odd.id is None else odd.frame.groupby(odd.id).head(odd.cap)


def drawn(
    values: np.ndarray, ends: np.ndarray | None = None
) -> dict[str, Callable[[Any], bool]]:
    """Whether bars, lines and signs stand where the values do, on one scale from 0."""

    def bars(shapes: Any) -> bool:
        heights, widths = (np.array([each[side] for each in shapes]) for side in (3, 2))
        sizes = widths if len(set(heights)) == 1 and len(set(widths)) > 1 else heights
        return bool(
            np.allclose(
                sizes * values.max(), values * sizes.max(), atol=0.11 * values.max()
            )
        )

    def lines(shapes: Any) -> bool:
        upright = [each for each in shapes if each[0] == each[2]]
        lying = [
            each
            for each in shapes
            if each[1] == each[3] and len(shapes) == 3 * len(values)
        ]
        places = np.array(
            [(194 - a[1], 194 - a[3]) for a in upright]
            if not lying
            else [(a[0], a[2]) for a in lying],
        )
        return bool(
            np.allclose(
                places * ends.max(), ends * places.max(), atol=0.11 * ends.max()
            )
        )

    def signs(shapes: Any) -> bool:
        if lying := [text for x, _y, text in shapes if x == 360]:
            return agrees(lying, values.tolist())
        ticks = np.array(
            [
                (198 - y, float(text.replace(",", "")))
                for x, y, text in shapes
                if x == 39
            ]
        )
        return bool(
            np.allclose(
                ticks[:, 0] * ticks[-1, 1],
                ticks[:, 1] * ticks[-1, 0],
                atol=0.11 * ticks[-1, 1],
            ),
        )

    return {
        "drawn value": bars,
        "drawn error": lines,
        "drawn edge": lines,
        "drawn sign": signs,
        "drawn grid": lambda _: True,
    }


def facts_of(told: Told, release: Release, odd: Odd) -> dict[str, Callable[[Any], Any]]:
    """What is true of each figure of the page."""
    true: dict[str, Any] = {}
    labels = {name: release.schema.column(name).labels for name in told.columns}
    error = 0.05 / (1 + len(told.columns))

    def reach(values: Any, low: Any, high: Any) -> float:
        return float(np.maximum(values - low, high - values).max())

    for name in told.columns[:24]:
        fold = -(-len(labels[name]) // 60)
        cells = [f"{each} …" if fold > 1 else each for each in labels[name][::fold]]
        values, low, high = told.of((name,), fold)
        bars, ends = bars_of(told, release.schema.column(name))
        of = {
            COUNT + "half": reach(values, low, high),
            COUNT + "column": name,
            BARS + "column": name,
            BARS + "cells": len(cells),
            name: cells,
            "rows": values.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            **drawn(bars, ends),
            **said_of(told, release.schema.column(name), error),
        }
        true |= {f"{name}: {key}": value for key, value in of.items()}
    for pair in [clique for clique in told.cliques if len(clique) == 2][:8]:
        values, low, high = told.of(pair)
        cells = cells_of([labels[name] for name in pair])
        heading = " × ".join(pair)
        of = {
            COUNT + "half": reach(values, low, high),
            PAIR + "a": pair[0],
            PAIR + "b": pair[1],
        }
        of |= {
            name: [cell[place] for cell in cells][:300]
            for place, name in enumerate(pair)
        }
        sides = {"rows": values, "low": low, "high": high}
        of |= {side: each.ravel()[:300].tolist() for side, each in sides.items()}
        of["drawn cell"] = lambda shapes, values=values: (
            bool(math.isclose(shapes[0][4], 1) or max(each[4] for each in shapes) == 1)
            and (
                len(shapes) != values.size
                or np.allclose(
                    [s[4] for s in shapes], values.ravel() / values.max(), atol=6e-4
                )
            )
        )
        # of the legend, and labels of cells
        of["drawn sign"] = lambda signs, values=values: any(
            x > 100
            and y == 12
            and text.split()[0] == f"{round(folded_of(values).max()):,}"
            for x, y, text in signs
        )
        of["drawn shade"] = lambda shapes: (
            [round(each[4], 2) for each in shapes] == [0, 0.2, 0.4, 0.6, 0.8, 1]
        )
        true |= {f"{heading}: {key}": value for key, value in of.items()}
    values, low, high = told.of((), error=error)
    true[WHOLE + "rows"] = lambda shown: (
        agrees(shown, told.total) and near(told, len(counted(odd)))
    )
    true[WHOLE + "half"] = reach(values, low, high)
    true["{name} {loss}|loss"] = EPSILON
    true |= cited(told.file)
    true[SURE] = 100 / (1 + math.exp(-EPSILON))
    true |= at_most(pure_limit(told.file["recipe"], EPSILON))
    true["{number} columns|number"] = len(told.columns)
    true[MADE] = told.file["created"][:10]
    true[CAPPED] = odd.cap
    rows = (
        "one row" if odd.id is None else f"at most {odd.cap} rows, named by {odd.id!r}"
    )
    true |= dict.fromkeys(UNITS, f"add or remove one person ({rows})")
    return {key: lambda _, value=value: value for key, value in true.items()}


def cited(file: Any) -> dict[str, Any]:
    """What the line to cite a release says."""
    whole = json.dumps(
        {name: value for name, value in file.items() if name != "digest"},
        sort_keys=True,
    )
    digest = hashlib.sha256(whole.encode()).hexdigest()
    return {CITED + "digest": digest, CITED + "day": file["created"][:10]}


def folded_of(values: np.ndarray) -> np.ndarray:
    """The table as it is drawn: at most 20 cells a side."""
    for axis, size in enumerate(values.shape):
        values = np.add.reduceat(values, np.arange(0, size, -(-size // 20)), axis=axis)
    return values


def bars_of(told: Told, column: Any) -> tuple[np.ndarray, np.ndarray]:
    """The bars of a column with their ends: of categories that may be empty one bar for
    all.
    """
    values, low, high = told.of((column.name,))
    small = np.flatnonzero(low <= 0)
    if column.bounds or not 1 < len(small) < len(values):
        fold = -(-len(values) // 60)
        values, low, high = told.of((column.name,), fold)
        return values, np.stack([low, high], axis=1)
    kept = np.flatnonzero(low > 0)
    rest = told.asked({column.name: small.tolist()})
    bars = np.append(values[kept], rest[0])
    ends = np.stack(
        [np.append(low[kept], rest[1]), np.append(high[kept], rest[2])], axis=1
    )
    return bars, ends


def written(bound: float | str) -> str:
    """A bound without the rounding error of a float."""
    return f"{bound:.12g}" if isinstance(bound, float) else str(bound)


def said_of(told: Told, column: Any, error: float) -> dict[str, Any]:
    """What the sentence over a chart may say: of all runs of cells, one by one, the
    first that holds half.
    """
    size = max(0, len(column.bounds) - 1)
    each = error / (column.size + size * (size + 1) // 2)
    values, low, high = told.of((column.name,), error=each)
    _all, least, most = told.of((), error=error)

    def shares(ends: Sequence[float]) -> tuple[int, int]:
        return math.floor(100 * ends[0] / most + 1e-9), math.ceil(
            min(100, 100 * ends[1] / least) - 1e-9
        )

    unsaid = dict.fromkeys([HALF + each for each in ("low", "high", "first", "end")])
    unsaid |= dict.fromkeys(
        [AMONG, *(LARGEST + each for each in ("cells", "low", "high"))]
    )
    _values, measured, variance, pooled = told._of((column.name,))
    for wide in range(1, size):
        half = width(variance * wide, pooled, told.noise, each)
        sums = [
            (measured[i : i + wide].sum(), values[i : i + wide].sum(), i)
            for i in range(size - wide + 1)
        ]
        best = max(min(rows - half, value) for rows, value, _i in sums)
        if best > most / 2:
            # one of equals
            held = [each for each in sums if min(each[0] - half, each[1]) > best - 1e-6]
            ends = [shares((best, max(rows + half, value))) for rows, value, _i in held]
            named = {
                "low": [str(low) for low, _high in ends],
                "high": [str(high) for _low, high in ends],
                "first": [written(column.bounds[i]) for *_rows, i in held],
                "end": [written(column.bounds[i + wide]) for *_rows, i in held],
            }
            return unsaid | {
                HALF + key: lambda shown, some=some: shown in some
                for key, some in named.items()
            }
    rivals = np.flatnonzero(high >= low.max())
    if len(rivals) > 1:
        return unsaid | {
            AMONG: join([column.labels[cell] for cell in rivals])
            if len(rivals) <= 3
            else None
        }
    (cell,) = rivals
    shown = shares((low[cell], high[cell]))
    said = {
        LARGEST + "cells": column.labels[cell],
        LARGEST + "low": shown[0],
        LARGEST + "high": shown[1],
    }
    return unsaid | said


def near(told: Told, rows: int) -> bool:
    """Whether the total of the file is that of the rows that count; wrong once in a
    million.
    """
    values, low, high = told.of(())
    half = max(float(values - low), float(high - values))
    # the law of the widest tails
    return abs(told.total - rows) <= half * math.log(1e6) / math.log(20)


@functools.cache
def released(name: str) -> tuple[Release, Told]:
    """One release of a table, and its file."""
    release = opened(TABLES[name]).curator.run(
        CASES[name][0], dp.PureDP(epsilon=str(EPSILON))
    )
    return release, Told(downloads.file_content(release, "release.json"))


def shown(release: Release, query: str = "") -> str:
    return render_page(of_release.document(release)).html(
        asking.question_form(release, query)
    )


@pytest.mark.parametrize("name", CASES)
def test_every_figure_is_of_the_release(marking, name: str) -> None:
    """A person would read counts, intervals or answers that the release does not
    say.
    """
    odd = TABLES[name]
    asked = CASES[name][1]
    release, told = released(name)
    facts = facts_of(told, release, odd)
    names = list(release.schema.domain.names)
    cells = {
        each: [release.schema.column(each).labels.index(label) for label in asked[each]]
        for each in asked
    }
    query = []
    for each in asked:
        place = [column for column in names if column in told.columns].index(each)
        if isinstance(release.schema.column(each), dp.Integer):
            query.append(
                f"from-{place}={asked[each][0]}&below-{place}={int(asked[each][-1]) + 1}"
            )
        else:
            query += [f"is-{place}={number}" for number in cells[each]]
    if asked:
        value, low, high = told.asked(cells)
        facts |= {
            "About {rows} {counted}.|rows": lambda _: value,
            ANSWER + "low": lambda _: low,
            ANSWER + "high": lambda _: high,
        }
        facts |= {
            "{column}: {labels}|labels": lambda _: (
                lambda shown: any(", ".join(asked[each]) == shown for each in asked)
            ),
        }
    static = STATIC | {
        "{column}: {labels}|column",
        "{column} from {low} to below {high}|column",
    }
    checked = check(
        of_html(shown(release, "&".join(query)), marking), facts, static, None
    )
    assert {WHOLE + "rows", *(f"{each}: rows" for each in told.columns[:24])} <= checked
    assert not asked or "About {rows} {counted}.|rows" in checked


@pytest.mark.parametrize("name", CASES)
def test_files_say_the_same(name: str) -> None:
    """Counts, rows or the guarantee that are downloaded would be others than those on
    the page.
    """
    release, told = released(name)
    counts = pd.read_csv(
        io.BytesIO(downloads.file_content(release, "counts.csv")),
        dtype=str,
        keep_default_na=False,
    )
    start = 0
    for clique in told.cliques:
        some = counts.iloc[start : start + array(told.tables[clique]["values"]).size]
        start += len(some)
        figures = dict(zip(("rows", "low", "high"), told.of(clique), strict=True))
        figures["as measured"] = array(told.tables[clique]["values"])
        for heading, values in figures.items():
            assert np.allclose(
                some[heading].astype(float), np.ravel(values), atol=1e-6
            ), (clique, heading)
        cells = cells_of([release.schema.column(each).labels for each in clique])
        lines = [
            tuple(each.removeprefix("'") for each in line)
            for line in some[list(clique)].to_numpy()
        ]
        assert lines == cells  # a quote keeps -2 from being a formula
    assert start == len(counts)
    promise = json.loads(downloads.file_content(release, "guarantee.json"))
    assert promise["guarantee"]["loss"] == {"epsilon": "5/2"}
    for line in promise["marginals"]:
        table = told.tables[tuple(line["columns"])]
        assert line["standard_deviation_of_a_cell"] == pytest.approx(
            table["variance"] ** 0.5
        )
        assert line["interval_95_half_width"] == width(
            table["variance"], table["pooled"]
        )
    rows = pd.read_csv(io.BytesIO(downloads.file_content(release, "rows.csv")))
    assert len(rows) == round(told.total)


def test_the_rows_of_the_file_are_another_number() -> None:
    """The release would not be told from one of all rows, whatever was declared of a
    person.
    """
    odd = TABLES["visits"]
    _release, told = released("visits")
    assert near(told, len(counted(odd)))
    assert not near(told, len(odd.frame))


def rows_of_the_file(
    release: Release, clique: tuple[str, ...], *, level: float = 0.95
) -> Any:
    """Counts as if all rows of the file counted."""
    odd = TABLES["visits"]
    right = RIGHT(release, clique, level=level)
    return dataclasses.replace(
        right, values=right.values * len(odd.frame) / len(counted(odd))
    )


def first_table(
    release: Release, clique: tuple[str, ...], *, level: float = 0.95
) -> Any:
    """Counts with the interval of the first table, whatever is asked."""
    right = RIGHT(release, clique, level=level)
    half = release.marginals[next(iter(release.marginals))].half_width(level)
    return dataclasses.replace(
        right, low=np.maximum(0, right.values - half), high=right.values + half
    )


@pytest.mark.parametrize("wrong", [rows_of_the_file, first_table])
def test_a_wrong_base_is_caught(
    marking, monkeypatch: pytest.MonkeyPatch, wrong: Any
) -> None:
    """The tests above would not see counts of another base."""
    release, told = released("visits")
    monkeypatch.setattr(Release, "answer", wrong)
    with pytest.raises(AssertionError, match="not true"):
        check(
            of_html(shown(release), marking),
            facts_of(told, release, TABLES["visits"]),
            STATIC,
            None,
        )


def test_sentences_of_single_intervals_are_caught(
    marking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tests above would not see a number or a share that holds alone, and not with
    the others.
    """
    release, told = released("visits")
    monkeypatch.setattr(sentences, "joint_level", lambda release, tables=0: 0.95)
    with pytest.raises(AssertionError, match="not true"):
        check(
            of_html(shown(release), marking),
            facts_of(told, release, TABLES["visits"]),
            STATIC,
            None,
        )


DIFFERENCES: dict[str, tuple[Any, dict[str, tuple[str, ...]]]] = {
    "booleans": (dp.Adaptive(), {"smoker": ("True",)}),
    "two-valued": (
        SomeColumns(columns=("label", "sign", "sex"), recipe=dp.Adaptive()),
        {"sign": ("1",), "label": ("0",)},
    ),
}
RHO = 0.125


@functools.cache
def under_zcdp(name: str) -> tuple[Release, Told]:
    """A release with Gaussian noise, which of two cells measures the difference alone,
    and its file.
    """
    schema = opened(TABLES[name]).curator.schema
    curator = dp.Curator.open(
        TABLES[name].frame, schema, budget=dp.ZCDP(rho="1"), ledger=dp.MemoryLedger()
    )
    release = curator.run(DIFFERENCES[name][0], dp.ZCDP(rho=str(RHO)))
    told = Told(downloads.file_content(release, "release.json"))
    assert any(each.signed for each in told.measured)
    assert told.noise == "gaussian"
    return release, told


def facts_under_zcdp(name: str) -> dict[str, Callable[[Any], Any]]:
    """What is true of each figure of the page, with what somebody can become sure of at
    a delta of 1e-9.
    """
    release, told = under_zcdp(name)
    orders = 1 + np.geomspace(1e-3, 1e4, 200_000)
    bounds = (
        RHO * orders
        + (math.log(1e9) - np.log(orders)) / (orders - 1)
        + np.log1p(-1 / orders)
    )
    epsilon = float(bounds.min())  # Canonne, Kamath, Steinke (2020), proposition 12
    return facts_of(told, release, TABLES[name]) | {
        "{name} {loss}|loss": lambda _: RHO,
        SURE: lambda _: 100 / (1 + math.exp(-epsilon)),
        **{
            key: lambda _, holds=holds: holds
            for key, holds in at_most(functools.partial(rho_limit, RHO)).items()
        },
    }


@pytest.mark.parametrize("name", DIFFERENCES)
def test_differences_of_cells_tell_every_figure(marking, name: str) -> None:
    """Where the difference of two cells was measured, counts or intervals would be
    those of whole tables.
    """
    (release, told), asked = under_zcdp(name), DIFFERENCES[name][1]
    labels = {each: release.schema.column(each).labels for each in asked}
    cells = {
        each: [labels[each].index(label) for label in asked[each]] for each in asked
    }
    query = "&".join(
        f"is-{told.columns.index(each)}={code}"
        for each in asked
        for code in cells[each]
    )
    value, low, high = told.asked(cells)
    facts = facts_under_zcdp(name) | {
        "About {rows} {counted}.|rows": lambda _: value,
        ANSWER + "low": lambda _: low,
        ANSWER + "high": lambda _: high,
        "{column}: {labels}|labels": lambda _: (
            lambda shown: shown in {", ".join(each) for each in asked.values()}
        ),
    }
    static = STATIC | {"{column}: {labels}|column"}
    checked = check(of_html(shown(release, query), marking), facts, static, None)
    assert {
        "About {rows} {counted}.|rows",
        WHOLE + "rows",
        *(f"{each}: rows" for each in told.columns),
    } <= checked


@pytest.mark.parametrize("name", DIFFERENCES)
def test_differences_taken_for_tables_are_caught(
    marking, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The test above would not see a table that is made up from a difference counted as
    a measured one.
    """
    release, _told = under_zcdp(name)
    right = consistency._inverse_variance
    monkeypatch.setattr(
        consistency,
        "_inverse_variance",
        lambda domain, clique, variance, _signed, shared: right(
            domain, clique, variance, (), shared
        ),
    )
    with pytest.raises(AssertionError, match="not true"):
        check(of_html(shown(release), marking), facts_under_zcdp(name), STATIC, None)


LISTED = {
    "statistics": dp.Statistics(
        column="age",
        centers=tuple(map(float, range(120))),
        quantiles=("1/4", "1/2"),
    ),
    "found categories": dp.Categories(column="ward", delta="1e-6"),
}
LOST = "{name} {loss} with delta {delta}|"
FOUND = "ward: Bar chart of {cells} noisy counts of {column}.|cells"


@functools.cache
def without_tables(name: str) -> tuple[Release, dict[str, Any], pd.DataFrame]:
    """A release that has no tables of cells, its file, and the rows that count."""
    columns = (
        dp.Integer("age", low=0, high=119),
        dp.Categorical("ward", categories=(), other=True),
    )
    schema = dp.Schema(
        columns=columns, unit=dp.PrivacyUnit(max_rows=2, id_column="patient_id")
    )
    budget = dp.ApproxDP(epsilon="30", delta="1e-5", threshold_delta="1e-6")
    curator = dp.Curator.open(
        TABLES["visits"].frame, schema, budget=budget, ledger=dp.MemoryLedger()
    )
    release = curator.run(LISTED[name], dp.PureDP(epsilon=str(EPSILON)))
    rows = curator._engine.limit_rows(curator._engine.rows()).frame
    assert (
        rows.groupby("patient_id")
        .size()
        .equals(counted(TABLES["visits"]).groupby("patient_id").size())
    )
    return (
        release,
        json.loads(downloads.file_content(release, "release.json"))["model"],
        rows,
    )


def listed_facts(name: str, release: Release) -> dict[str, Any]:
    """What is true of the page, by the file."""
    model = without_tables(name)[1]
    lost = 1e-6 if name == "found categories" else 0.0
    true: dict[str, Any] = {
        "{name} {loss}|loss": EPSILON,
        LOST + "loss": EPSILON,
        LOST + "delta": "1 in a million",
        SURE: 100 / (1 + math.exp(-EPSILON)),
        **at_most(lambda alarms: coins_limit(1, EPSILON, alarms) + lost),
        MADE: release.created[:10],
        CAPPED: 2,
        **cited(json.loads(downloads.file_content(release, "release.json"))),
        **dict.fromkeys(
            UNITS, "add or remove one person (at most 2 rows, named by 'patient_id')"
        ),
    }
    if name == "statistics":
        figures_of = model["figures"]
        names = [each["name"] for each in figures_of]
        assert names == [
            "mean",
            "variance",
            "standard deviation",
            "quantile 1/4",
            "quantile 1/2",
        ]
        true["figure"] = [
            *names[:3],
            "value below which 25 % of the rows lie",
            "value below which 50 % of the rows lie",
        ]
        true["value"] = [each["value"] for each in figures_of]
        for heading, field in (
            ("off by", "half_width"),
            ("places off, at most", "rank_error"),
        ):
            true[heading] = [
                "" if each[field] is None else each[field] for each in figures_of
            ]
    else:
        counts = np.array(sorted(model["counts"].values(), reverse=True), dtype=float)
        true |= {FOUND: len(counts), "ward: rows": counts.tolist()}
        true |= {f"ward: {shape}": fits for shape, fits in drawn(counts).items()}
    return {key: lambda _, value=value: value for key, value in true.items()}


def table_of(name: str) -> bool:
    """Whether the file says of the rows that count what is so, but for noise; wrong
    once in a million.
    """
    _release, model, rows = without_tables(name)
    if name == "found categories":
        off = (
            width(variance_of(2 / EPSILON), pooled=False) * math.log(1e6) / math.log(20)
        )
        return all(
            abs(model["counts"][ward] - n) <= off
            for ward, n in rows["ward"].value_counts().items()
        )
    age = rows["age"]
    of = {each["name"]: each for each in model["figures"]}
    widest = math.log(1e6) / math.log(20)
    places = all(
        (age < of[f"quantile {order}"]["value"]).sum() - reach <= share * len(age)
        and share * len(age) <= (age <= of[f"quantile {order}"]["value"]).sum() + reach
        for order, share in (("1/4", 0.25), ("1/2", 0.5))
        for reach in [of[f"quantile {order}"]["rank_error"] * widest]
    )
    return (
        places
        and abs(of["mean"]["value"] - age.mean()) <= of["mean"]["half_width"] * widest
    )


def variance_of(scale: float) -> float:
    """The variance of discrete Laplace noise."""
    return 1 / (2 * math.sinh(1 / scale / 2) ** 2)


@pytest.mark.parametrize("name", LISTED)
def test_figures_that_are_no_cells_are_of_the_release(marking, name: str) -> None:
    """A page would show another mean, another error or other categories than its
    release has.
    """
    release = without_tables(name)[0]
    facts = listed_facts(name, release)
    compared = check(of_html(shown(release), marking), facts, STATIC, None)
    assert compared >= (
        {"value", "off by"} if name == "statistics" else {"ward: rows", FOUND}
    )
    assert table_of(name)


@pytest.mark.parametrize("name", LISTED)
def test_a_wrong_base_of_figures_is_caught(marking, name: str) -> None:
    """The test above would not see figures of all rows of the file, or errors of one
    row a person.
    """
    release, _model, rows = without_tables(name)
    more = len(TABLES["visits"].frame) / len(rows)
    model: Any = release.model
    if name == "statistics":
        halves = [
            dataclasses.replace(
                each, half_width=each.half_width and each.half_width / 2
            )
            for each in model.figures
        ]
        wrong = dataclasses.replace(model, figures=tuple(halves))
    else:
        wrong = dataclasses.replace(
            model, counts={ward: round(n * more) for ward, n in model.counts.items()}
        )
    facts = listed_facts(name, release)
    with pytest.raises(AssertionError, match="not true"):
        check(
            of_html(shown(dataclasses.replace(release, model=wrong)), marking),
            facts,
            STATIC,
            None,
        )


Syntactic = tuple[MarkedTab, dict[str, bytes], Truth]
"""The Links page with a link to an anonymized table, what is behind it, and what is
true.
"""


@pytest.fixture
def anonymized(marking, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Syntactic]:
    """Make a table, and a link to it, as a person does."""

    def shared() -> Syntactic:
        tab, files = after_making(TABLES["visits"], monkeypatch)
        truth = Truth(TABLES["visits"], files)
        monkeypatch.setattr(links_work, "is_set", lambda: True)
        monkeypatch.setattr(links_work, "set", lambda: None)
        tab.press("Show it to somebody").go("links")
        tab.set("text_input", "Title", "Visits")
        tab.set("checkbox", "I have read this", True).press("Make the link")
        address = f"/share/{tab.session.own(LinksState).new_link[1]}"
        app = Starlette(routes=links.routes(session.shares()))
        offered = ("rows.csv", "rows.xlsx", "rows.parquet", "guarantee.json")
        files = {
            name: call(app, "GET", address, query=f"file={name}").body
            for name in offered
        }
        return tab, files | {"page": call(app, "GET", address).body}, truth

    return shared


def syntactic_facts(
    files: dict[str, bytes], t: Truth
) -> dict[str, Callable[[Any], Any]]:
    """What is true of the page of an anonymized table, by the raw rows and the rows
    that are offered.
    """
    rows = cells(files["rows.csv"])
    heading = " × ".join(rows)
    columns = {
        f"{heading}: {name}": [*rows[name][: of_table.SHOWN_ROWS]] for name in rows
    }
    facts = {name: true(t) for name, true in SHOWN.items()} | columns
    return {
        f"{before}{name}": lambda _, true=true: true
        for name, true in facts.items()
        for before in ("", f"{heading}: ")
    }


def test_the_page_of_an_anonymized_table(
    marking, anonymized: Callable[[], Syntactic]
) -> None:
    """A stranger would read another table than was made, or other risks than it has."""
    tab, files, t = anonymized()
    rows = cells(files["rows.csv"])
    assert Counter(rows.itertuples(index=False)) == Counter(
        t.made[[*rows]].itertuples(index=False)
    )
    parquet = pd.read_parquet(io.BytesIO(files["rows.parquet"])).astype(str).map(text)
    assert parquet.equals(rows)
    excel = dp.read_table(files["rows.xlsx"], "rows.xlsx").frame.astype(str).map(text)
    assert excel.equals(rows)
    assert json.loads(files["guarantee.json"])["guarantee"]["models"] == t.promised
    facts = syntactic_facts(files, t)
    behind = of_html(files["page"].decode(), marking)
    compared = check(behind, facts, STATIC, None)
    assert len(compared & facts.keys()) >= len(rows.columns) + 4
    assert set(behind) <= set(figures(tab, marking))  # the preview is the page


def all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Warnings that count rows in place of people."""
    for module in TRIED:
        monkeypatch.setattr(module, "person_codes", lambda frame, column: None)


def some_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page, and files, of every second row."""
    right = SharedPage.syntactic

    def half(self: SharedPage) -> Any:
        table, *others = right(self)
        return (PublicTable(table.frame.iloc[::2]), *others)

    monkeypatch.setattr(SharedPage, "syntactic", half)


@pytest.mark.parametrize("plant", [all_rows, some_rows])
def test_a_wrong_base_of_an_anonymized_table_is_caught(
    marking,
    anonymized: Callable[[], Syntactic],
    monkeypatch: pytest.MonkeyPatch,
    plant: Any,
) -> None:
    """The test above would not see the risks of rows in place of people, or a part of
    the table.
    """
    in_this_process(monkeypatch)
    plant(monkeypatch)
    _tab, files, t = anonymized()
    with pytest.raises(AssertionError, match="not true"):
        check(
            of_html(files["page"].decode(), marking),
            syntactic_facts(files, t),
            STATIC,
            None,
        )


COMPARED = ("earlier", "now", "difference", "true difference", "with chance", "so")
BOTH = (
    "For a person in both tables, the privacy loss of both releases together is "
    "{loss}.|loss"
)
CHANGED = "Noise and chance do not explain these differences: {cells}.|cells"
SIGNS = {
    2: "more than noise and chance explain",
    1: "larger than the noise",
    0: "cannot be told",
    -1: "larger than the noise",
    -2: "fewer than noise and chance explain",
}


def two_releases() -> list[tuple[Release, Told]]:
    """Releases of the visits and of every second of them, and their files."""
    odd = TABLES["visits"]
    made = []
    for frame in (odd.frame, odd.frame[pd.factorize(odd.frame[odd.id])[0] % 2 == 0]):
        curator = dp.Curator.open(
            frame,
            opened(odd).curator.schema,
            budget=dp.PureDP(epsilon="9"),
            ledger=dp.MemoryLedger(),
        )
        release = curator.run(CASES["visits"][0], dp.PureDP(epsilon=str(EPSILON)))
        made.append((release, Told(downloads.file_content(release, "release.json"))))
    return made


def compared_facts(
    now: Told, earlier: Told, odd: Odd, release: Release
) -> dict[str, Callable[[Any], Any]]:
    """What is true of the tables that compare two releases, cell by cell, by their
    files.
    """
    true: dict[str, Any] = {}
    for name in now.columns:
        labels = release.schema.column(name).labels
        error = 0.05 / (1 + 3 * len(now.columns)) / len(labels)
        (values, _low, high), (before, _least, most) = (
            told.of((name,), error=error) for told in (now, earlier)
        )
        (_n, drawn_now, one, _p), (_b, drawn_before, other, _q) = (
            told._of((name,)) for told in (now, earlier)
        )
        half = width(one + other, True, now.noise, error)
        change = drawn_now - drawn_before
        ends = (
            np.minimum(change - half, values - before),
            np.maximum(change + half, values - before),
        )
        chance = scipy.stats.norm.isf(error / 2) * np.sqrt(
            odd.cap * np.maximum(high + most, 1)
        )
        heading = f"{name}: "
        sides = (before, values, values - before)
        for key, more in (("true difference", 0), ("with chance", chance)):
            true[heading + key] = between(ends[0] - more, ends[1] + more)
        true |= {
            heading + key: side.tolist()
            for key, side in zip(COMPARED, sides, strict=False)
        }
        verdicts = (
            (ends[0] > 0) * 1
            + (ends[0] > chance)
            - (ends[1] < 0) * 1
            - (ends[1] < -chance)
        )
        words = [SIGNS[int(each)] for each in verdicts]
        true[heading + "so"] = lambda seen, words=words: all(
            map(str.startswith, seen, words)
        )
        true[heading + name] = [*labels]
        sides_of = [
            join([labels[i] for i in np.flatnonzero(verdicts == sign)])
            for sign in (2, -2)
        ]
        parts = [
            f"{word} {cells}"
            for word, cells in zip(("more", "fewer"), sides_of, strict=True)
            if cells
        ]
        true[heading + CHANGED] = "; ".join(parts)
    true[BOTH] = true["{name} {loss}|loss"] = lambda shown: "5" in shown
    return {key: lambda _, value=value: value for key, value in true.items()}


def between(low: np.ndarray, high: np.ndarray) -> Callable[[list[str]], bool]:
    """Whether texts such as "-12 … 8" name these ends, as whole numbers."""
    ends = [
        f"{round(a)} … {round(b)}"
        for a, b in zip(low.tolist(), high.tolist(), strict=True)
    ]
    return lambda shown: (
        [each.replace(",", "").replace("\u2212", "-") for each in shown] == ends
    )


def test_a_comparison_is_of_both_files(marking) -> None:
    """A board would read differences, or intervals of them, that the two releases do
    not say.
    """
    (release, now), (earlier, before) = two_releases()
    document = of_release.document(release, earlier=earlier, pictures=())
    odd = TABLES["visits"]
    tables = [
        each
        for each in of_html(render_page(document).html(), marking)
        if each.id.startswith(tuple(f"{name}: " for name in now.columns))
    ]
    facts = compared_facts(now, before, odd, release)
    compared = check(tables, facts, {"{column}: now and earlier|column"}, None)
    assert {
        f"{name}: {heading}" for name in now.columns for heading in COMPARED[:5]
    } <= compared


def test_a_comparison_with_another_release_is_caught(marking) -> None:
    """The test above would not see that the earlier counts are those of another
    release.
    """
    (release, now), (_earlier, before) = two_releases()
    document = of_release.document(release, earlier=release, pictures=())
    tables = [
        each
        for each in of_html(render_page(document).html(), marking)
        if each.id.startswith(tuple(f"{name}: " for name in now.columns))
    ]
    with pytest.raises(AssertionError, match="not true"):
        check(
            tables, compared_facts(now, before, TABLES["visits"], release), STATIC, None
        )
