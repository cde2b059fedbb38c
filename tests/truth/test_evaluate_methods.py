"""Methods against epsilon, before anything is spent: every point of the chart from a
public table.

Rows to learn from are split off again by the stated seed. MDAV is written again for one
column without ties; of a private recipe, whose noise is new each time, the rows that it
drew are kept, and their noise is held against the epsilon at which the point stands.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

import dpcore as dp
from tests.truth.figures import MarkedTab, bare, check, figures, rounded
from tests.truth.released import sums
from tests.truth.reports import in_this_process
from tests.truth.tables import TABLES, around, opened
from tests.truth.test_evaluate import HEAD, SEED, STATIC
from workbench.evaluate import methods

EPSILONS = [0.4, 2.0]
ROWS = 240
K = 25
PRIVATE = "Independent"
CLUSTERS = f"MDAV, k = {K} (no epsilon)"
ORIGINAL = "original, no privacy"
NAMES = ["x", "city", "label"]
Key = tuple[str, float]
Made = dict[Key, list[tuple[pd.DataFrame, pd.DataFrame]]]


def public() -> pd.DataFrame:
    """A table in which nobody is, with no number twice, so that MDAV has no ties to
    decide.
    """
    rng = np.random.default_rng(20_260_023)
    label = rng.choice([-1, 1], ROWS)
    x = np.round(rng.normal(0.7 * label, 1), 6)
    assert len(np.unique(x)) == ROWS
    return pd.DataFrame(
        {"x": x, "city": rng.choice(["Graz", "Linz", "Wien"], ROWS), "label": label}
    )


def splits() -> list[tuple[pd.DataFrame, pd.DataFrame]]:
    """Rows to learn from and to test on, by the seed of the evaluations."""
    frame = (
        public().iloc[np.random.default_rng(0).permutation(ROWS)].reset_index(drop=True)
    )
    tested = [
        np.isin(
            range(ROWS),
            np.random.default_rng(SEED + number).permutation(ROWS)[: ROWS // 5],
        )
        for number in range(2)
    ]
    return [(frame[~each].reset_index(drop=True), frame[each]) for each in tested]


def mdav(values: np.ndarray) -> np.ndarray:
    """Domingo-Ferrer, Torra (2005) for one column: each value becomes the mean of its
    cluster.
    """
    means = np.empty(len(values))
    rest = np.arange(len(values))

    def take(around: float) -> None:
        nonlocal rest
        order = np.argsort(abs(values[rest] - around))
        means[rest[order[:K]]] = values[rest[order[:K]]].mean()
        rest = rest[order[K:]]

    def farthest(point: float) -> float:
        return float(max(values[rest], key=lambda each: abs(each - point)))

    while len(rest) >= 3 * K:
        first = farthest(values[rest].mean())
        second = farthest(first)
        take(first)
        take(second)
    if len(rest) >= 2 * K:
        take(farthest(values[rest].mean()))
    means[rest] = values[rest].mean()
    return means


class Points:
    """What is true of each method at each epsilon.

    Attributes:
        made: rows to learn from and rows of the release, of each split.
    """

    def __init__(self, made: Made) -> None:
        self.column = dp.suggest_schema(public()).column("x")
        self.edges = np.array(self.column.bounds, dtype=float)
        self.made = dict(made)
        clusters = [
            (train, train.assign(x=mdav(train["x"].to_numpy())))
            for train, _test in splits()
        ]
        self.made |= {(CLUSTERS, epsilon): clusters for epsilon in EPSILONS}
        for releases in self.made.values():
            for (train, _release), (own, _test) in zip(releases, splits(), strict=True):
                pd.testing.assert_frame_equal(train[NAMES], own[NAMES])

    def _cells(self, frame: pd.DataFrame, names: tuple[str, str]) -> pd.Series:
        """Share of the rows in each cell of two columns."""
        last = len(self.edges) - 2
        cells = np.clip(
            np.searchsorted(self.edges, frame["x"], side="right") - 1, 0, last
        )
        return frame.assign(x=cells).value_counts([*names], normalize=True)

    def pairs(self, key: Key) -> list[float]:
        """Of each split, the mean distance of all pairs of columns."""
        return [
            float(
                np.mean(
                    [
                        self._cells(train, pair)
                        .sub(self._cells(release, pair), fill_value=0)
                        .abs()
                        .sum()
                        / 2
                        for pair in itertools.combinations(NAMES, 2)
                    ],
                ),
            )
            for train, release in self.made[key]
        ]

    def _examples(
        self, frame: pd.DataFrame, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        rows = frame.iloc[rng.permutation(len(frame))]
        low, high = self.edges[[0, -1]]
        scaled = np.clip(2 * (rows["x"].to_numpy() - low) / (high - low) - 1, -1, 1)
        cities = [
            (rows["city"] == city).to_numpy(float) for city in ("Graz", "Linz", "Wien")
        ]
        return np.column_stack([scaled, *cities]), (
            rows["label"].astype(int) == 1
        ).to_numpy(int)

    def accuracy(self, key: Key, scenario: int) -> list[float]:
        """Of each split, right answers of a logistic regression, in the scenario."""
        method, _epsilon = key
        source = self.made[(PRIVATE, EPSILONS[0]) if method == ORIGINAL else key]
        found = []
        for number, ((train, release), (_train, test)) in enumerate(
            zip(source, splits(), strict=True)
        ):
            rng = np.random.default_rng(SEED + number)
            own, tested, other = (
                self._examples(each, rng) for each in (train, test, release)
            )
            learned, asked = (other, tested) if scenario == 2 else (own, other)
            if method == ORIGINAL:
                learned = own
                asked = tested
            model = LogisticRegression(max_iter=500).fit(*learned)
            found.append(float((model.predict(asked[0]) == asked[1]).mean()))
        return found


def facts_of(
    charts: list[tuple[str, list[tuple[Key, list[float]]]]],
) -> dict[str, Callable[[Any], Any]]:
    """Facts of charts, a scenario and its points each, and of the one table below
    them.
    """
    whole = [
        (scenario, key, scores) for scenario, points in charts for key, scores in points
    ]
    tables = [
        [each for each in whole if each[0] == scenario] for scenario, _points in charts
    ] + [whole]
    ends = {
        "mean": np.mean,
        "low": lambda scores: np.mean(scores) - np.std(scores, ddof=1),
        "high": lambda scores: np.mean(scores) + np.std(scores, ddof=1),
    }

    def column(of: Callable[..., Any]) -> Callable[[Any], Any]:
        return lambda _: (
            lambda shown: any(
                [*shown] == [of(*each) for each in table] for table in tables
            )
        )

    def numbers(of: Callable[..., Any]) -> Callable[[Any], Any]:
        return lambda _: (
            lambda shown: any(
                rounded(of(scores) for _scenario, _key, scores in table)(shown)
                for table in tables
            )
        )

    return {
        HEAD + "epsilon": column(lambda _scenario, key, _scores: key[1]),
        HEAD + "method": column(lambda _scenario, key, _scores: key[0]),
        HEAD + "scenario": column(lambda scenario, _key, _scores: scenario),
        HEAD + "table": column(lambda *_: "table"),
        **{HEAD + name: numbers(of) for name, of in ends.items()},
    }


def variances(schema: Any, epsilon: float) -> dict[str, float]:
    """Of a cell of each column: Laplace noise for a third of epsilon, made to agree on
    the rows in all.
    """
    sizes = dict(zip(schema.domain.names, schema.domain.sizes, strict=True))
    lines = np.vstack([sums(sizes, (name,)) for name in sizes])
    inverse = np.linalg.pinv(lines)
    drawn = stats.dlaplace.var(epsilon / len(sizes))
    return {
        name: float(drawn * ((sums(sizes, (name,)) @ inverse) ** 2).sum(axis=1).max())
        for name in sizes
    }


def walked(marks: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[MarkedTab, Points]:
    """The page with a comparison on the public table; what is true of its points."""
    in_this_process(monkeypatch)
    made: Made = {}
    right = methods.run_in_memory

    def record(recipe: Any, loss: Any, schema: Any, train: pd.DataFrame) -> Any:
        release = right(recipe, loss, schema, train)
        epsilon = float(loss.epsilon)
        assert recipe.kind == "independent"
        left = {name: each.variance for (name,), each in release.marginals.items()}
        assert left == pytest.approx(variances(schema, epsilon), rel=1e-6), (
            "noise of another epsilon"
        )
        made.setdefault((PRIVATE, epsilon), []).append(
            (train, release.sample(len(train), seed=0))
        )
        return release

    monkeypatch.setattr(methods, "run_in_memory", record)
    tab = opened(TABLES["300 rows"]).go("evaluate").unfold("Compare the methods")
    uploader = next(
        each
        for each in tab.at.file_uploader
        if bare(each.label).startswith("A public table")
    )
    uploader.upload(
        "public.csv", public().to_csv(index=False).encode(), "text/csv"
    ).run()
    tab.set("multiselect", "table", []).set(
        "multiselect", "method", ["independent", f"mdav-{K}"]
    )
    tab.set("multiselect", "epsilon", EPSILONS).press("Compare")
    return tab, Points(made)


def compared(
    tab: MarkedTab, marks: Any, facts: dict[str, Callable[[Any], Any]], charts: int
) -> set[str]:
    """The ids that were compared, of so many charts with these epsilons on their axis,
    and of their table.
    """
    seen = figures(tab, marks)
    assert sum(each.id == HEAD + "mean" for each in seen) == charts + 1
    specs = [json.loads(each.proto.spec) for each in tab.at.get("vega_lite_chart")]
    axes = [
        layer["encoding"]["x"]["axis"]["values"]
        for each in specs
        for layer in each["layer"]
    ]
    assert axes == [EPSILONS] * len(axes)
    assert len(specs) == charts
    static = STATIC | {"MDAV, k = {k} (no epsilon)|k"}
    return check(seen, around(tab) | facts, static, None)


def of_pairs(points: Points) -> dict[str, Callable[[Any], Any]]:
    keys = itertools.product((PRIVATE, CLUSTERS), EPSILONS)
    return facts_of(
        [("distance of pairs of columns", [(key, points.pairs(key)) for key in keys])]
    )


def test_methods_against_epsilon(marking, monkeypatch: pytest.MonkeyPatch) -> None:
    """A method would be chosen by a point of another epsilon, of another table or of
    other rows.
    """
    tab, points = walked(marking, monkeypatch)
    assert compared(tab, marking, of_pairs(points), 1) >= {
        HEAD + "epsilon",
        HEAD + "mean",
    }
    tab.set("button_group", "Measure", "accuracy")
    order = [
        (PRIVATE, EPSILONS[0]),
        *((ORIGINAL, each) for each in EPSILONS),
        (PRIVATE, EPSILONS[1]),
    ]
    order += [(CLUSTERS, each) for each in EPSILONS]
    titles = {
        1: "1: learn from the original, test on the release",
        2: "2: learn from the release, test on the original",
    }
    facts = facts_of(
        [
            (titles[each], [(key, points.accuracy(key, each)) for key in order])
            for each in (1, 2)
        ],
    )
    assert compared(tab, marking, facts, 2) >= {HEAD + "epsilon", HEAD + "mean"}


def test_a_wrong_base_is_caught(marking, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above would not see a release held against other rows than those that it
    was made of.
    """
    right = methods.measure_marginal_error
    monkeypatch.setattr(
        methods,
        "measure_marginal_error",
        lambda train, *given, **named: right(train.iloc[::2], *given, **named),
    )
    tab, points = walked(marking, monkeypatch)
    with pytest.raises(AssertionError, match="not true"):
        compared(tab, marking, of_pairs(points), 1)
