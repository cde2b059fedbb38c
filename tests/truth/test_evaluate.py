"""The Evaluate page: figures of rows that count beside rows that were drawn, again by
pandas and scipy.

Which rows count is taken from the engine, which chooses by keyed digests, and held
against the table; the drawn rows are those of the download. Samples by chance are drawn
again by their stated seed.
"""

from __future__ import annotations

import functools
import io
import itertools
import json
import math
import re
import statistics
from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.stats.contingency import association

import dpcore as dp
from dpcore.evaluation import RangeErrorsQuestion
from dpcore.evaluation.utility import similarity
from tests.tiers import but_first
from tests.truth.figures import ROUNDED, MarkedTab, agrees, check, figures
from tests.truth.released import Told, array
from tests.truth.tables import TABLES, Odd, around, opened
from workbench import session
from workbench.report import downloads

SEED = 20_210_417  # of dpcore/evaluation
HEAD = "How good is it? > "
MOVED = (
    "**{columns} is farthest from the original: {distance} of the rows would have "
    "to change.**|distance"
)
WORST = MOVED.removesuffix("distance")
OFF = (
    "Do not use figures about {column}: {share} of its rows would have to "
    "change to match the original.|share"
)
ZEROS = (
    "Do not use the mean of {column}: {before} of the original's values are 0, but "
    "{after} of the values in this table.|"
)
CELLS = "**{rows:,} rows in {cells:,} cells of {column}; {empty:,} cells are empty.**|"
SOURCE = "One column from every source > "
EVERY = "Every column > "
KEPT = (
    "Fit for counting and for relations between columns: {kept} of them are kept.|kept",
    (
        "Fit for single columns only: {kept} of the relations between columns are "
        "kept.|kept"
    ),
)
STATIC = {
    "{number} rows|number",  # of a person that count, in the line on who is protected
    "Run it for up to {seconds} seconds|seconds",  # what is proposed
    # what a release cost, in its title: compared on the Ledger page
    "epsilon {epsilon}|epsilon",
    "{share} (epsilon {epsilon})|epsilon",
    HEAD + "at",  # the two rules at 0 and 1
    HEAD + "figure",  # names of measures
    "{column}: {half} to {share}|column",
}
LOSS = 2.0
COUNTED = (
    "At most {number} rows of each person were counted. Any further rows are "
    "left out.|number"
)


def tvd(a: Any, b: Any) -> float:
    """Total variation distance of the rows of two tables, or of two columns."""
    shares = [
        pd.Series(list(map(tuple, np.atleast_2d(np.array(each).T).T.tolist())))
        for each in (a, b)
    ]
    one, other = (each.value_counts(normalize=True) for each in shares)
    return float(one.sub(other, fill_value=0).abs().sum() / 2)


class Truth:
    """Rows that count and rows that were drawn, as numbers of cells, and what follows
    from them.
    """

    def __init__(self, odd: Odd, tab: MarkedTab, release: dp.Release) -> None:
        self.odd = odd
        self.schema = tab.curator.schema
        engine = tab.curator._engine
        whole = engine.limit_rows(engine.rows()).frame
        if odd.id is not None:
            sizes = odd.frame.groupby(odd.id).size().clip(upper=odd.cap)
            assert whole.groupby(odd.id).size().equals(sizes)
        self.counted = whole
        drawn = pd.read_csv(io.BytesIO(downloads.file_content(release, "rows.csv")))
        self.drawn_rows = drawn
        self.names = list(release.schema.domain.names)
        self.labels = {
            name: list(map(str, self.schema.column(name).labels)) for name in self.names
        }
        self.own, self.other = (self._cells(each) for each in (whole, drawn))
        self.ordered = [
            name for name in self.names if self.schema.column(name).kind == "integer"
        ]
        rng = np.random.default_rng(SEED)
        places = rng.integers(len(self.own), size=len(self.own))
        self.chance = self.own.iloc[places]
        self.apart = pd.DataFrame(
            {name: rng.permutation(self.own[name]) for name in self.names}
        )
        rng = np.random.default_rng(SEED)  # of the marginals
        self.apart_too = pd.DataFrame(
            {name: rng.permutation(self.own[name]) for name in self.names}
        )
        self.chance_too = self.own.iloc[rng.integers(len(self.own), size=len(self.own))]

    def _cells(self, frame: pd.DataFrame) -> pd.DataFrame:
        place = {
            name: {label: i for i, label in enumerate(self.labels[name])}
            for name in self.names
        }
        text = {
            name: frame[name].map(lambda cell: str(cell).removesuffix(".0"))
            for name in self.names
        }
        for name in self.names:
            if frame[name].dtype == bool:
                text[name] = frame[name].map(
                    {True: self.labels[name][1], False: self.labels[name][0]}
                )
        return pd.DataFrame(
            {name: text[name].map(place[name]) for name in self.names}
        ).astype(int)

    def wide(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Columns with an order in at most 20 cells."""
        sizes = {name: len(self.labels[name]) for name in self.ordered}
        return frame.assign(
            **{n: frame[n] * 20 // size for n, size in sizes.items() if size > 20}
        )

    @functools.cached_property
    def distance(self) -> dict[str, float]:
        """Of each column, the worst first."""
        found = {name: tvd(self.own[name], self.other[name]) for name in self.names}
        return dict(sorted(found.items(), key=lambda each: -each[1]))

    def mean(self, way: int, other: pd.DataFrame) -> float:
        cliques = map(list, itertools.combinations(self.names, way))
        return float(np.mean([tvd(self.own[each], other[each]) for each in cliques]))

    def pairs(self, of: Any, other: pd.DataFrame) -> dict[tuple[str, str], float]:
        return {pair: of(other, pair) for pair in itertools.combinations(self.names, 2)}

    def together(self, other: pd.DataFrame, pair: tuple[str, str]) -> float:
        """Of a pair in wide cells, the distance."""
        return tvd(self.wide(self.own)[list(pair)], self.wide(other)[list(pair)])

    def cramer(self, other: pd.DataFrame, pair: tuple[str, str]) -> float:
        """The change of Cramér's V in wide cells."""
        own, new = (v_of(self.wide(each), pair) for each in (self.own, other))
        return abs(own - new)

    def pearson(self, other: pd.DataFrame, pair: tuple[str, str]) -> float:
        if not set(pair) <= set(self.ordered):
            return math.nan
        own, new = (
            np.nan_to_num(each[list(pair)].corr().iloc[0, 1])
            for each in (self.own, other)
        )
        return float(abs(own - new))

    def questions(self, other: pd.DataFrame) -> float:
        """Mean error of the 300 questions, asked again."""
        rng = np.random.default_rng(SEED)
        errors = []
        for _ in range(300):
            many = min(len(self.names), int(rng.integers(2, 4)))
            fits = [np.ones(len(each), dtype=bool) for each in (self.own, other)]
            for place in rng.choice(len(self.names), many, replace=False):
                name = self.names[place]
                size = len(self.labels[name])
                if name in self.ordered:
                    low, high = sorted(rng.integers(0, size + 1, 2))
                    chosen = range(low, max(high, low + 1))
                else:
                    chosen = rng.permutation(size)[
                        : rng.integers(1, max(2, size // 3 + 1))
                    ]
                fits = [
                    fit & each[name].isin(chosen)
                    for fit, each in zip(fits, (self.own, other), strict=True)
                ]
            true, share = (float(np.mean(fit)) for fit in fits)
            errors.append(min(1.0, abs(share - true) / max(true, 0.005)))
        return float(np.mean(errors))

    def never(self, other: pd.DataFrame) -> float:
        """Share of rows with a pair of wide cells that no row has of which 20 would by
        chance.
        """
        own = self.wide(self.own)
        new = self.wide(other)
        hit = np.zeros(len(new), dtype=bool)
        for a, b in itertools.combinations(self.names, 2):
            there = set(zip(own[a], own[b], strict=True))
            one = own[a].value_counts()
            two = own[b].value_counts()
            never = {
                (x, y)
                for x in one.index
                for y in two.index
                if one[x] * two[y] / len(own) >= 20 and (x, y) not in there
            }
            hit |= np.array(
                [cell in never for cell in zip(new[a], new[b], strict=True)], dtype=bool
            )
        return float(hit.mean())

    @functools.cached_property
    def scores(self) -> list[tuple[float, float | None, float]]:
        """Value, of another sample, of independent columns: in the order of the
        page.
        """
        found: list[tuple[float, float | None, float]] = []
        for way in (2, 3)[: len(self.names) - 1]:
            found.append(
                tuple(
                    self.mean(way, each)
                    for each in (self.other, self.chance_too, self.apart_too)
                ),
            )
        tables = self.other, self.chance, self.apart
        for of in (self.together, self.cramer, self.pearson):
            known = [
                [value for value in self.pairs(of, each).values() if value == value]
                for each in tables
            ]
            means = [
                statistics.fmean(values) if values else math.nan for values in known
            ]
            found.append((means[0], means[1], means[2]))
            if of is self.cramer:
                found.append((self.never(self.other), None, self.never(self.apart)))
        found.append(tuple(self.questions(each) for each in tables))
        return [each for each in found if each[2] and not math.isnan(each[0])]

    def chance_alone(self, pair: tuple[str, str]) -> float:
        """The distance that two tables without a relation seldom exceed, by shuffling."""
        own = self.wide(self.own)[list(pair)]
        rng = np.random.default_rng(5)
        tables = [
            own.assign(**{pair[1]: rng.permutation(own[pair[1]])}) for _ in range(80)
        ]
        found = [tvd(a, b) for a, b in zip(tables[::2], tables[1::2], strict=True)]
        return float(np.mean(found) + 6 * np.std(found))

    @functools.cached_property
    def relations(self) -> dict[tuple[str, str], tuple[float, float]]:
        """Of each pair with a relation, the kept share and the strength."""
        distances = (
            self.pairs(self.together, each)
            for each in (self.other, self.chance, self.apart)
        )
        found = {}
        for pair, *figures_of_pair in zip(
            itertools.combinations(self.names, 2),
            *(each.values() for each in distances),
            strict=True,
        ):
            value, chance, independent = figures_of_pair
            chance *= math.sqrt(2)
            if independent - chance < 0.02 or independent < self.chance_alone(pair):
                continue
            kept = min(1.0, max(0.0, 1 - (value - chance) / (independent - chance)))
            found[pair] = kept, independent
        return found

    def kept_by(self, names: Collection[str]) -> float:
        """Of the relations of some columns, the kept share; NaN without any."""
        own = [each for pair, each in self.relations.items() if {*pair} & {*names}]
        if not own:
            return math.nan
        kept, strengths = zip(*own, strict=True)
        return float(np.average(kept, weights=strengths))

    @property
    def kept(self) -> float:
        """Of what pairs tell, the share that is kept."""
        return self.kept_by(self.names)


def v_of(frame: pd.DataFrame, pair: tuple[str, str]) -> float:
    table = pd.crosstab(frame[pair[0]], frame[pair[1]])
    return 0.0 if min(table.shape) < 2 else float(association(table, method="cramer"))


def percents(shown: str) -> list[str]:
    return re.findall(r"(?:under |over )?-?\d[\d.,]* %", shown)


def close(true: Any) -> Any:
    """Equal, exactly in a chart or with three digits in its table."""
    values = np.array(list(true), dtype=float)
    return lambda cells: (
        len(cells) == len(values)
        and np.allclose(
            np.array(cells, dtype=float), values, rtol=6e-3, atol=1e-9, equal_nan=True
        )
    )


def overview(truth: Truth) -> dict[str, Any]:
    """What is true of the figures above the tabs."""
    worst = next(iter(truth.distance.values()))
    values, chance, alone = zip(*truth.scores, strict=True)
    places = [value / each for value, each in zip(values, alone, strict=True)]
    sampled = [
        math.nan if c is None else c / each
        for c, each in zip(chance, alone, strict=True)
    ]
    drawn = [*places, *(each for each in sampled if not math.isnan(each))]
    zeros = [name for name in truth.ordered if truth.labels[name][0] == "0"]
    before, after = (
        [float((each[name] == 0).mean()) for name in zeros]
        for each in (truth.own, truth.other)
    )
    return {
        OFF: worst,
        ZEROS + "before": lambda shown: any(agrees(shown, share) for share in before),
        ZEROS + "after": lambda shown: any(agrees(shown, share) for share in after),
        "worst column > value": worst,
        "questions off by > value": truth.questions(truth.other),
        "impossible pairs > value": truth.never(truth.other),
        "relations kept > value": truth.kept,
        **dict.fromkeys(KEPT, truth.kept),
        HEAD + "place between perfect (0) and independent columns (1)": either(
            close(drawn), close(np.minimum(drawn, 1.5))
        ),
        HEAD + "of": lambda cells: len(cells) == len(drawn),
        HEAD + "release": close(places),
        HEAD + "another sample": close(sampled),
        HEAD + "value": lambda shown: (
            not isinstance(shown, str) and close(values)(shown)
        ),
        HEAD + "independent columns": close(alone),
    }


def of_columns(truth: Truth) -> dict[str, Any]:
    """The cards, the table, and the one column in a chart."""
    names = list(truth.distance)
    chance = {name: tvd(truth.own[name], truth.chance[name]) for name in names}
    before, after = (
        {name: each[name] for name in truth.ordered}
        for each in (truth.own, truth.other)
    )
    first = {name: int(truth.labels[name][0]) for name in truth.ordered}

    def pair(of: Any, name: str, unit: str = "") -> Any:
        if name not in truth.ordered:
            return ""
        ends = [of(each[name] + first[name]) for each in (before, after)]
        return lambda shown: (
            all(map(agrees, shown.split(" → "), ends)) and shown.count("→") == 1
        )

    def apart(name: str) -> float:
        levels = np.arange(1, 10) / 10
        return float(
            abs(before[name].quantile(levels) - after[name].quantile(levels)).max()
            / len(truth.labels[name]),
        )

    deciles = {name: apart(name) for name in names if name in truth.ordered}
    few = {
        name: truth.own[name]
        .value_counts(normalize=True)
        .loc[lambda each: each < 0.01]
        .index
        for name in names
    }

    def rare(name: str) -> str:
        return (
            f"{truth.other[name][truth.other[name].isin(few[name])].nunique()} / "
            f"{len(few[name])}"
        )

    top = names[0]
    counts = [
        each[top].value_counts().reindex(range(len(truth.labels[top])), fill_value=0)
        for each in (truth.own, truth.other)
    ]
    shares = [number / each.sum() for each in counts for number in each]

    def cards(shown: str) -> bool:
        """Names with their distance; what has words, such as "under 0.1 %", is a
        message of its own.
        """
        if not isinstance(shown, str) or not all(name in shown for name in names):
            return False
        parts = {
            name: percents(
                re.split("|".join(map(re.escape, names)), shown.split(name, 1)[1])[0]
            )
            for name in names
        }
        return all(
            agrees(told, [truth.distance[name]])
            if told
            else any(way(truth.distance[name]) for way in ROUNDED.values())
            for name, told in parts.items()
        )

    return {
        MOVED: truth.distance[top],
        "another sample: |text": lambda shown: any(
            agrees(shown, each) for each in chance.values()
        ),
        "error of the deciles, as a share of the range: |text": lambda s: any(
            agrees(s, d) for d in deciles.values()
        ),
        "rare values kept: |text": lambda shown: any(shown == rare(n) for n in names),
        EVERY + "value": cards,
        EVERY + "column": names,
        EVERY + "rows that would have to change": [
            truth.distance[name] for name in names
        ],
        EVERY + "another sample": [chance[name] for name in names],
        EVERY + "mean": [pair(pd.Series.mean, name) for name in names],
        EVERY + "median": [pair(pd.Series.median, name) for name in names],
        EVERY + "zeros": [
            pair(lambda each: (each == 0).mean(), name) if first.get(name) == 0 else ""
            for name in names
        ],
        EVERY + "missing": ["0 % → 0 %"] * len(names),
        EVERY + "error of the deciles, as a share of the range": [
            deciles.get(name, "") for name in names
        ],
        EVERY + "rare values kept": [rare(n) if len(few[n]) else "" for n in names],
        SOURCE + top: 2 * truth.labels[top],
        SOURCE + "cell": 2 * truth.labels[top],
        SOURCE + "of": lambda cells: (
            [*cells] == sorted(cells, key=lambda each: each != "original")
        ),
        SOURCE + "share of rows": shares,
        SOURCE + "rows": close(shares),
    }


def either(*facts: Any) -> Any:
    """One of several figures of one id: those of the overview, and those below it."""
    return lambda shown: any(agrees(shown, each) for each in facts)


def merged(*parts: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, list[Any]] = {}
    for key, value in itertools.chain.from_iterable(part.items() for part in parts):
        found.setdefault(key, []).append(value)
    return {
        key: lambda _, values=values: either(*values) for key, values in found.items()
    }


def walked(name: str) -> tuple[MarkedTab, Truth]:
    """The page with a release of all columns."""
    tab = opened(TABLES[name])
    release = tab.curator.run(dp.Tree(), dp.PureDP(epsilon=str(LOSS)))
    return tab.go("evaluate"), Truth(TABLES[name], tab, release)


@pytest.mark.parametrize(
    "name", but_first(2, ["visits", "constants", "300 rows", "booleans"])
)
def test_overview_and_columns(marking, name: str) -> None:
    """A release would be judged by other rows than those that it counted."""
    tab, truth = walked(name)
    facts = around(tab) | merged(overview(truth), of_columns(truth))
    assert check(figures(tab, marking), facts, STATIC, None) >= {
        "worst column > value",
        MOVED,
        EVERY + "mean",
    }


def spread(name: str, tree: list[list[str]], labels: pd.Series) -> pd.Series:
    """Rows of each value, where every label adds an even share to each of the values
    below it.
    """
    parts: dict[str, float] = {}
    for label, rows in labels.value_counts().items():
        below = next(level for level in tree if label in level)
        leaves = [
            leaf for leaf, above in zip(tree[0], below, strict=True) if above == label
        ]
        for leaf in leaves:
            parts[leaf] = parts.get(leaf, 0) + rows / len(leaves)
    return pd.Series(parts, name=name)


def test_anonymized_table() -> None:
    """Rows of generalized labels would be left out, and the figures be those of the
    others.
    """
    odd = TABLES["300 rows"]
    tab = opened(odd).go("anonymize").set("selectbox", "Method", "local recoding")
    tab.press("Make the anonymized table").press("Evaluate").go("evaluate")
    made = tab.session.own(session.AnonymizeResult).table
    rows = len(odd.frame)
    trees = json.loads(made.plan)["hierarchies"]
    frame = made.table.frame.astype(str)
    assert len(frame) == rows
    assert trees.keys() & set(frame)
    distances = dict.fromkeys(frame, 0.0)
    for name in trees.keys() & set(frame):
        own = odd.frame[name].astype(str).value_counts()
        distances[name] = (
            spread(name, trees[name], frame[name]).sub(own, fill_value=0).abs().sum()
            / 2
            / rows
        )
    worst = max(distances, key=lambda name: distances[name])
    moved = "rows that would have to change"
    table = next(each.value for each in tab.at.dataframe if moved in each.value)
    names = table["column"]
    shares = table[moved]
    assert names[0] == worst
    assert distances[worst] > 0.05
    for name, share in zip(names, shares, strict=True):
        assert float(re.findall(r"[\d.]+", share)[0]) / 100 == pytest.approx(
            distances[name], abs=0.02
        )


def test_pairs(marking) -> None:
    """Pairs would be compared with another base than columns are."""
    tab, truth = walked("booleans")
    tab.set("button_group", "Show", marking.gettext("pairs of columns"))
    distances = truth.pairs(
        lambda other, pair: tvd(truth.own[[*pair]], other[[*pair]]), truth.other
    )
    with_others = {
        name: [
            np.sum(
                [
                    d
                    for pair, d in truth.pairs(truth.together, each).items()
                    if name in pair
                ]
            )
            / 2
            for each in (truth.other, truth.chance, truth.apart)
        ]
        for name in truth.names
    }

    shares = [truth.kept_by([name]) for name in truth.names]
    facts = {
        WORST + "distance": max(distances.values()),
        HEAD + "value": lambda shown: (
            len(percents(shown)) == 3
            and all(
                any(agrees(p, each[0]) for each in with_others.values())
                for p in percents(shown)
            )
        ),
        "another sample: |text": either(*(each[1] for each in with_others.values())),
        "independent columns: |text": either(
            *(each[2] for each in with_others.values())
        ),
        "relations kept: |text": either(*shares),
    }
    # maps, see below
    noise = {HEAD + each for each in ("first", "second", "error", "share of rows")}
    seen = figures(tab, marking)
    compared = check(
        seen, around(tab) | merged(overview(truth), facts), STATIC | noise, None
    )
    assert {WORST + "distance", "independent columns: |text"} <= compared
    shown = [each.shown for each in seen if each.id == HEAD + "error"]
    assert any(
        sorted(np.round(each, 9)) == sorted(np.round([*distances.values()], 9))
        for each in shown
    )


def test_questions(marking) -> None:
    """An answer from the release would be held against all rows of the file, or its
    error be so.
    """
    tab, truth = walked("visits")
    tab.set("button_group", "Show", marking.gettext("Questions"))
    column = next(name for name in truth.names if name in truth.ordered)
    size = len(truth.labels[column])
    true, told = (
        np.concatenate(
            [
                [0],
                each[column].value_counts().reindex(range(size), fill_value=0).cumsum(),
            ]
        )
        for each in (truth.own, truth.other)
    )
    release = tab.curator.release(
        next(
            each.request_id for each in tab.curator.lines() if each.state == "committed"
        ),
    )
    file = Told(downloads.file_content(release, "release.json"))
    noisy = np.concatenate([[0], np.cumsum(array(file.tables[column,]["values"]))])
    half = (size + 1) // 2
    scale = truth.odd.cap / LOSS
    answers = {"counts": noisy, "rows": told}
    assert release.marginals[column,].values.shape == (size,)

    def direct(counts: Any, level: float) -> float:
        rates = np.array(counts) / (100 * scale)
        return float(brentq(lambda x: -np.expm1(-x * rates).mean() - level, 0, 1e9))

    rng = np.random.default_rng(SEED)
    widths = []
    errors = []
    steps = [
        k * 10**p
        for p in range(math.ceil(math.log10(size)) + 1)
        for k in (1, 2, 5)
        if k * 10**p <= size
    ]
    for width in steps:
        starts = rng.permutation(size - width + 1)[:200]
        counts = true[starts + width] - true[starts]
        off = abs(
            answers["counts"][starts + width] - answers["counts"][starts] - counts
        )[counts > 0]
        counts = counts[counts > 0]
        widths += 4 * [width]
        errors += [
            *np.quantile(off / counts * 100, [0.5, 0.95]),
            direct(counts, 0.5),
            direct(counts, 0.95),
        ]
    count = true[half]
    answer = answers["counts"][half]
    facts = {
        "original > value": int(count),
        "release > value": float(answer),
        "off by > value": abs(answer - count) / count,
        "asked directly > value": math.log(2) * scale / count,
        HEAD + "cells in the range": widths,
        HEAD + "width": widths,
        HEAD + "source": lambda cells: len(cells) == len(widths),
        HEAD + "error, % of the true count": close(errors),
        HEAD + "error": close(errors),
    }
    compared = check(
        figures(tab, marking),
        around(tab) | merged(overview(truth), facts),
        STATIC,
        None,
    )
    assert {"original > value", HEAD + "cells in the range"} <= compared


def test_counts_of_the_original(marking) -> None:
    """Exact counts before any release would be of other rows than those that count."""
    tab, truth = walked("visits")
    tab.set("multiselect", "Columns", ["days"])
    own, other = (
        each["days"].value_counts().reindex(range(14), fill_value=0)
        for each in (truth.own, truth.other)
    )
    facts = {
        COUNTED: truth.odd.cap,
        CELLS + "rows": len(truth.own),
        CELLS + "cells": 14,
        CELLS + "empty": int((own == 0).sum()),
        EVERY + "days": 2 * truth.labels["days"],
        EVERY + "cell": 2 * truth.labels["days"],
        EVERY + "rows": [*own, *other],
        EVERY + "of": ["original"] * 14 + ["release"] * 14,
    }
    parts = overview(truth), of_columns(truth), facts
    compared = check(figures(tab, marking), around(tab) | merged(*parts), STATIC, None)
    assert {CELLS + "rows", EVERY + "days"} <= compared


def test_a_wrong_base_is_caught(marking, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests above would not see a release judged by all rows of the file in place
    of those that count.
    """
    monkeypatch.setattr(similarity.SimilarityQuestion, "counted_rows_only", False)
    tab, truth = walked("visits")
    # a series of other cells, too
    with pytest.raises(AssertionError, match=r"not true|no test recomputes"):
        check(
            figures(tab, marking),
            around(tab) | merged(overview(truth), of_columns(truth)),
            STATIC,
            None,
        )


def test_a_wrong_base_of_questions_is_caught(
    marking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test of questions would not see all rows of the file in place of those that
    count.
    """

    def of_all_rows(self: RangeErrorsQuestion, table: Any, schema: dp.Schema) -> Any:
        column = schema.column(self.column)
        return np.bincount(
            column.encode(table.rows().frame[self.column]), minlength=column.size
        )

    monkeypatch.setattr(RangeErrorsQuestion, "read", of_all_rows)
    with pytest.raises(AssertionError, match="not true"):
        test_questions(marking)
