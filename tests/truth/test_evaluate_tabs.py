"""More tabs of the Evaluate page: learning, attacks, two releases side by side, counts
of two columns.

Who is learned from and attacked is split again by people, by the stated seed; models
are trained by plain scikit-learn. Of the attacks one is tried again by hand, the others
on people who were split here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import dpcore as dp
from dpcore.evaluation.attacks import disclosure as attacks
from dpcore.evaluation.utility import learning, similarity
from tests.truth.figures import Figure, MarkedTab, agrees, bare, check, figures, rounded
from tests.truth.reports import in_this_process
from tests.truth.tables import TABLES, around, opened
from tests.truth.test_evaluate import (
    COUNTED,
    EVERY,
    HEAD,
    SEED,
    STATIC,
    Truth,
    either,
    merged,
    of_columns,
    overview,
    v_of,
)
from workbench.evaluate import side_by_side_view

ODD = TABLES["visits"]
NAMES = ["age", "ward", "days"]
SCORE = "accuracy, share of right answers"
SAFE = (
    "No attack works better on {people} rows of people in the table than on "
    "{control} rows of other people.|"
)
V = "**Cramér's V of {columns}: {values}**|values"
SPLIT = learning.make_random_splits
WAYS = ["release", "original, no privacy", "one answer for all", "shuffled labels"]


def walked() -> tuple[MarkedTab, Truth, Truth]:
    """The page with two releases; what is true of the newer one, which is judged, and
    of the older one.
    """
    tab = opened(ODD)
    older, newer = (
        tab.curator.run(recipe, dp.PureDP(epsilon="1"))
        for recipe in (dp.Tree(), dp.Independent(columns=NAMES))
    )
    return tab.go("evaluate"), Truth(ODD, tab, newer), Truth(ODD, tab, older)


def beside(truth: Truth, tab: MarkedTab, *parts: dict[str, Any]) -> dict[str, Any]:
    """Facts of a tab, with those that stand above all of them."""
    return around(tab) | merged(overview(truth), *parts)


class Learned:
    """Scores of logistic regressions of the ward, over two splits of the people."""

    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        self.drawn = truth.drawn_rows
        found: dict[tuple[int, str], list[float]] = {}
        people = pd.factorize(truth.counted[ODD.id])[0]
        for number in range(2):
            tested = np.isin(
                people,
                np.random.default_rng(SEED + number).permutation(people.max() + 1)[
                    : 90 // 5
                ],
            )
            rng = np.random.default_rng(SEED + number)
            train, test, made = (
                self._examples(each, rng)
                for each in (truth.counted[~tested], truth.counted[tested], self.drawn)
            )
            of_train = self._fit(*train)
            of_made = self._fit(*made)
            noise = [
                self._fit(part[0], self._mixed(part, rng)) for part in (train, made)
            ]
            most = np.bincount(train[1]).argmax()
            for scenario, tested_on, model, mixed in (
                (1, made, of_train, noise[0]),
                (2, test, of_made, noise[1]),
            ):
                answers = {
                    "release": (model.predict(tested_on[0]), tested_on[1]),
                    "original, no privacy": (of_train.predict(test[0]), test[1]),
                    "one answer for all": (
                        np.full(len(tested_on[1]), most),
                        tested_on[1],
                    ),
                    "shuffled labels": (mixed.predict(tested_on[0]), tested_on[1]),
                }
                for name, (told, true) in answers.items():
                    found.setdefault((scenario, name), []).append(
                        float((told == true).mean())
                    )
        self.scores = found

    def _examples(
        self, frame: pd.DataFrame, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Numbers scaled by their declared bounds, and the place of the ward among
        those declared.
        """
        rows = frame.iloc[rng.permutation(len(frame))]
        scaled = []
        for name in ("age", "days"):
            column = self.truth.schema.column(name)
            low = column.low
            high = column.high + column.bin_width
            scaled.append(
                np.clip(
                    2 * (rows[name].to_numpy(float) - low) / (high - low) - 1, -1, 1
                )
            )
        place = {label: i for i, label in enumerate(self.truth.labels["ward"])}
        return np.column_stack(scaled), rows["ward"].map(place).to_numpy()

    def _fit(self, features: np.ndarray, labels: np.ndarray) -> LogisticRegression:
        return LogisticRegression(max_iter=500).fit(features, labels)

    def _mixed(
        self, part: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
    ) -> np.ndarray:
        for _ in part[0].T:  # features are put in another order first
            rng.permutation(len(part[0]))
        return rng.permutation(part[1])

    def of(self, scenario: int, figure: Callable[[list[float]], float]) -> Any:
        return rounded(figure(self.scores[scenario, name]) for name in WAYS)


def learning_facts(truth: Truth) -> dict[str, Any]:
    learned = Learned(truth)
    mean = np.mean
    spread = functools.partial(np.std, ddof=1)
    ends = {
        "low": lambda scores: mean(scores) - spread(scores),
        "high": lambda scores: mean(scores) + spread(scores),
        SCORE: mean,
        "mean": mean,
    }
    facts = {
        HEAD + name: either(learned.of(2, figure), learned.of(1, figure))
        for name, figure in ends.items()
    }
    best, own = (float(np.mean(learned.scores[2, name])) for name in WAYS[:2])
    return facts | {
        HEAD + "task": ["logistic regression"] * 4,
        HEAD + "of": WAYS,
        HEAD + "splits": [2] * 4,
        "Learning > value": f"{best:.2f} ({own:.2f})",
    }


def learning_walk(marks: Any) -> tuple[list[Figure], dict[str, Any]]:
    tab, truth, _older = walked()
    tab.set("button_group", "Show", marks.gettext("Learning"))
    tab.set("selectbox", "Column to predict", "ward").set(
        "multiselect", "learner", ["logistic"]
    )
    tab.set("number_input", "splits", 2)
    tab.button("Learn").click().run()
    return figures(tab, marks), beside(truth, tab, learning_facts(truth))


def wilson(hits: int, attempts: int) -> tuple[float, float]:
    """The interval at 99.9 % (Wilson 1927); nothing is known without attempts."""
    if not attempts:
        return 0.0, 1.0
    z = 3.2905267314919255
    share = hits / attempts
    middle = share + z**2 / 2 / attempts
    whole = 1 + z**2 / attempts
    half = z * math.sqrt(share * (1 - share) / attempts + z**2 / 4 / attempts**2)
    return max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole)


class Attacked:
    """Attacks on a release of half of the people; the other half is the control."""

    def __init__(self, truth: Truth, made: pd.DataFrame) -> None:
        people = pd.factorize(truth.counted[ODD.id])[0]
        count = int(people.max()) + 1
        half = np.isin(
            people, np.random.default_rng(SEED).permutation(count)[: count // 2]
        )
        self.schema = truth.schema
        self.made = made
        self.inside = truth.counted[half]
        self.outside = truth.counted[~half]
        self.rows = min(len(self.inside), len(self.outside))
        report = attacks.attack_release(
            self.inside, made, self.schema, control=self.outside
        )
        self.rates = [
            (rate.successes, rate.attempts)
            for each in report.attacks
            for rate in (each.rate, each.control, each.baseline)
        ]
        self.rates[:2] = self._copies()
        self.works = sum(each.succeeds is True for each in report.attacks)

    def _copies(self) -> list[tuple[int, int]]:
        """Released rows that are a whole row of somebody in it, and of somebody
        else.
        """
        rng = np.random.default_rng(SEED)
        cut = {}
        # to as many rows each
        for name, table in (("inside", self.inside), ("outside", self.outside)):
            places = (
                np.sort(rng.permutation(len(table))[: self.rows])
                if len(table) > self.rows
                else slice(None)
            )
            cut[name] = set(
                table[NAMES].iloc[places].itertuples(index=False, name=None)
            )
        released = [*self.made[NAMES].itertuples(index=False, name=None)]
        assert len(released) <= 500  # all of them are looked at
        return [
            (sum(row in rows for row in released), len(released))
            for rows in cut.values()
        ]


def attack_walk(
    marks: Any, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[Figure], dict[str, Any]]:
    in_this_process(monkeypatch)
    made: list[pd.DataFrame] = []
    right = attacks.attack_release

    def record(
        original: pd.DataFrame, release: pd.DataFrame, *given: Any, **named: Any
    ) -> Any:
        made.append(release)
        return right(original, release, *given, **named)

    tab, truth, _older = walked()
    tab.set("button_group", "Show", marks.gettext("Disclosure"))
    with monkeypatch.context() as patch:
        patch.setattr(attacks, "attack_release", record)
        tab.button("Attack").click().run()
    seen = figures(tab, marks)
    attacked = Attacked(truth, made[0])
    low, high = zip(*(wilson(*each) for each in attacked.rates), strict=True)
    shares = [hits / max(1, attempts) for hits, attempts in attacked.rates]
    facts = {
        SAFE + "people": attacked.rows,
        SAFE + "control": attacked.rows,
        "Disclosure > value": f"{attacked.works} / 7",
        HEAD + "attack": lambda cells: len(cells) == 21,
        HEAD + "of": lambda cells: len(cells) == 21,
        HEAD + "attempts": [attempts for _hits, attempts in attacked.rates],
        HEAD + "attempts that succeed": rounded(shares),
        HEAD + "rate": rounded(shares),
        HEAD + "low": rounded(low),
        HEAD + "high": rounded(high),
        "Audit the recipe with {number} canaries|number": 1_000,
    }
    return seen, beside(truth, tab, facts)


def side_walk(marks: Any) -> tuple[list[Figure], dict[str, Any]]:
    tab, truth, older = walked()
    tab.set("button_group", "Show", marks.gettext("Side by side"))
    other = next(
        each for each in tab.at.selectbox if bare(each.label) == "Side by side"
    )
    other.select_index(0).run()
    seen = figures(tab, marks)
    both = (truth, older)
    told = [
        [
            next(iter(each.distance.values())),
            each.mean(2, each.other),
            each.questions(each.other),
            each.never(each.other),
            each.kept,
        ]
        for each in both
    ]
    order = sorted(
        NAMES, key=lambda name: -abs(truth.distance[name] - older.distance[name])
    )
    drawn = [each.distance[name] for name in order for each in both]
    better = [
        a < b if place < 4 else a > b
        for place, (a, b) in enumerate(zip(*told, strict=True))
    ]
    sides = {
        each.id
        for each in seen
        if each.id.startswith(HEAD) and isinstance(each.shown, tuple)
    }
    facts = {
        HEAD + "rows that would have to change": rounded(drawn),
        HEAD + "distance": rounded(drawn),
        HEAD + "figure": lambda cells: (
            set(cells) - {*NAMES} or [*cells] == [n for n in order for _ in both]
        ),
        # titles
        HEAD + "value": lambda shown: (
            isinstance(shown, str) and shown.startswith(("**A:", "**B:"))
        ),
        HEAD + "of": lambda cells: len(cells) == 2 * len(order),
        HEAD + "better": lambda cells: all(
            cell == "=" or cell.startswith("A" if is_first else "B")
            # what was kept may not be told
            for cell, is_first in zip(cells, better, strict=False)
        ),
    }
    for side, figures_told in zip("AB", told, strict=True):
        facts |= {
            name: percents_are(figures_told)
            for name in sides
            if name.startswith(f"{HEAD}{side}: ")
        }
    return seen, beside(truth, tab, overview(older), facts)


def percents_are(true: list[float]) -> Any:
    # what was kept may not be told
    return lambda shown: len(shown) >= 4 and all(map(agrees, shown, true))


def two_walk(marks: Any) -> tuple[list[Figure], dict[str, Any]]:
    tab, truth, _older = walked()
    tab.set("multiselect", "Columns", ["ward", "days"])
    tab.set("selectbox", "Only rows with: ward", 1)
    own, other = (
        pd.crosstab(each["ward"], each["days"]).reindex(
            index=range(3),
            columns=range(len(truth.labels["days"])),
            fill_value=0,
        )
        for each in (truth.own, truth.other)
    )
    wards, days = (truth.labels[name] for name in ("ward", "days"))
    counts = either(own.to_numpy().ravel().tolist(), other.to_numpy().ravel().tolist())
    facts = {
        COUNTED: ODD.cap,
        V: lambda shown: agrees(
            shown.split(" → "),
            [v_of(each, ("ward", "days")) for each in (truth.own, truth.other)],
        ),
        "original > value": int(own.iloc[1, 0]),
        "release > value": int(other.iloc[1, 0]),
        "If they were unrelated > value": own.sum(axis=1)[1]
        * own.sum(axis=0)[0]
        / own.to_numpy().sum(),
    }
    for heading in (HEAD, EVERY):
        facts |= {
            heading + "ward": [ward for ward in wards for _ in days],
            heading + "days": days * len(wards),
            heading + "rows": counts,
            heading + "rows of ward × days": counts,
        }
    return figures(tab, marks), beside(truth, tab, of_columns(truth), facts)


def test_learning(marking) -> None:
    """A release would be judged by models that learned from those on whom they are
    tested.
    """
    seen, facts = learning_walk(marking)
    assert check(seen, facts, STATIC, None) >= {HEAD + SCORE, "Learning > value"}


def test_attacks(marking, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows would be called people, or people attacked whose other rows are the
    control.
    """
    seen, facts = attack_walk(marking, monkeypatch)
    compared = check(seen, facts, STATIC, None)
    assert compared >= {HEAD + "attempts that succeed", "Disclosure > value"}


def test_side_by_side(marking) -> None:
    """The better of two releases would be the worse one."""
    seen, facts = side_walk(marking)
    assert check(seen, facts, STATIC, None) >= {HEAD + "rows that would have to change"}


def test_counts_of_two_columns(marking) -> None:
    """A cell, or how strongly two columns go together, would be of other rows than
    those that count.
    """
    seen, facts = two_walk(marking)
    assert check(seen, facts, STATIC, None) >= {V, "If they were unrelated > value"}


def _by_rows(
    original: pd.DataFrame, release: pd.DataFrame, *, person: str, times: int
) -> Any:
    return SPLIT(original, release, times=times)


@pytest.mark.parametrize(
    ("place", "named", "wrong"),
    [
        (learning, "make_random_splits", _by_rows),
        (learning.LearningQuestion, "counted_rows_only", False),
    ],
)
def test_a_wrong_base_of_learning_is_caught(
    marking,
    monkeypatch: pytest.MonkeyPatch,
    place: Any,
    named: str,
    wrong: Any,
) -> None:
    """The test of learning would not see a person on both sides of a split, or rows
    that do not count.
    """
    in_this_process(monkeypatch)
    monkeypatch.setattr(place, named, wrong)
    seen, facts = learning_walk(marking)
    with pytest.raises(AssertionError, match="not true"):
        check(seen, facts, STATIC, None)


def test_a_wrong_base_of_side_by_side_is_caught(
    marking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test of two releases would not see one that is judged by all rows of the
    file.
    """
    right = side_by_side_view.compare_with_original

    def by_all_rows(*given: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(similarity.SimilarityQuestion, "counted_rows_only", False)
            return right(*given)

    in_this_process(monkeypatch)
    monkeypatch.setattr(side_by_side_view, "compare_with_original", by_all_rows)
    seen, facts = side_walk(marking)
    drawn = [
        each for each in seen if each.id == HEAD + "rows that would have to change"
    ]
    with pytest.raises(AssertionError, match="not true"):
        check(drawn, facts, (), None)


def test_a_wrong_base_of_attacks_is_caught(
    marking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test of attacks would not see a person on both sides."""
    right = attacks.HeldOutAttacksQuestion.compute

    def by_rows(self: Any, original: Any, *given: Any, **named: Any) -> Any:
        class Places:
            frame = original.frame.assign(**{ODD.id: range(len(original.frame))})

        return right(self, Places, *given, **named)

    monkeypatch.setattr(attacks.HeldOutAttacksQuestion, "compute", by_rows)
    seen, facts = attack_walk(marking, monkeypatch)
    with pytest.raises(AssertionError, match="not true"):
        check(seen, facts, STATIC, None)


def test_a_wrong_base_of_two_columns_is_caught(
    marking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test of two columns would not see all rows of the file in place of those that
    count.
    """
    tab = opened(ODD)
    whole = type(tab.curator._engine)
    right = whole.counts
    monkeypatch.setattr(
        whole,
        "counts",
        lambda self, *given, **named: _grown(right(self, *given, **named)),
    )
    seen, facts = two_walk(marking)
    with pytest.raises(AssertionError, match="not true"):
        check(seen, facts, STATIC, None)


def _grown(counts: list[Any]) -> list[Any]:
    for each in counts:
        each.values.ravel()[...] *= 2
    return counts
