"""Learning from a release, against scikit-learn called by hand, and the rows P1 to P9
of the seeds.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import f1_score, normalized_mutual_info_score

import dpcore as dp
from dpcore.errors import ParameterError, SchemaError
from dpcore.evaluation.utility._features import (
    class_numbers,
    feature_matrix,
    numeric_target,
)
from dpcore.evaluation.utility.learning import (
    LEARNING_TASKS,
    LearningQuestion,
    Score,
    Split,
    can_predict,
    make_random_splits,
    score_tasks,
    sort_by_likely_target,
)
from dpcore.tables.rows import PublicTable
from tests.evaluation.people import SCHEMA, independent, people

NUMBERS = dp.Schema(
    columns=(
        dp.Real("a", low=-1, high=1, bin_width=0.1),
        dp.Real("b", low=-1, high=1, bin_width=0.1),
        dp.Categorical("label", categories=(-1, 1)),
    ),
    unit=dp.PrivacyUnit(max_rows=1),
)
FAST = ("logistic", "linear", "k-means")


def blobs(rows: int, seed: int) -> pd.DataFrame:
    """Two clouds of points with a label each."""
    rng = np.random.default_rng(seed)
    label = rng.choice([-1, 1], rows, p=[0.7, 0.3])
    points = np.clip(rng.normal(0.45 * label[:, None], 0.2, (rows, 2)), -1, 1)
    return pd.DataFrame({"a": points[:, 0], "b": points[:, 1], "label": label})


def score(
    found: tuple[Score, ...], task: str, measure: str, scenario: int, of: str
) -> float:
    return next(
        each.mean
        for each in found
        if (each.task, each.measure, each.scenario, each.model_name)
        == (task, measure, scenario, of)
    )


def one_split(release: pd.DataFrame) -> Split:
    return Split(train=blobs(300, 1), test=blobs(200, 2), release=release)


def test_features_are_of_the_schema_not_of_the_rows() -> None:
    """Scaling by the data's own bounds would let one row move all others."""
    frame = people(50, 1)
    columns = ["age", "city", "married", "income"]
    features = feature_matrix(frame, SCHEMA, columns)
    assert features.shape == (50, 1 + 4 + 2 + 1)
    assert features[:, 0] == pytest.approx(2 * frame["age"] / 100 - 1)
    assert (
        features[:, 1:5].sum(axis=1).tolist()
        == frame["city"].notna().astype(float).tolist()
    )
    np.testing.assert_array_equal(
        features[:7], feature_matrix(frame.iloc[:7], SCHEMA, columns)
    )
    beyond = pd.DataFrame(
        {"a": [5.0, -5.0, np.nan, np.inf], "b": 0.0, "label": [1, 1, -1, 3]}
    )
    assert feature_matrix(beyond, NUMBERS, ["a"]).ravel().tolist() == [1, -1, 0, 0]
    assert class_numbers(beyond, NUMBERS, "label").tolist() == [1, 1, 0, -1]
    assert numeric_target(beyond, NUMBERS, "label").tolist()[:3] == [1, 1, -1]


def test_both_scenarios_by_hand() -> None:
    """A scenario trained or tested on the wrong table would flatter the release
    (P4).
    """
    split = one_split(blobs(250, 3).assign(b=0.0))
    found = score_tasks([split], NUMBERS, "label", tasks=FAST)
    sides = {1: (split.train, split.release), 2: (split.release, split.test)}
    for scenario, (train, test) in sides.items():
        model = LogisticRegression(max_iter=500).fit(train[["a", "b"]], train["label"])
        answers = model.predict(test[["a", "b"]])
        assert score(
            found, "logistic", "accuracy", scenario, "release"
        ) == pytest.approx(
            (answers == test["label"]).mean(),
            abs=0.01,
        )
        f1 = f1_score(test["label"], answers, average="macro")
        assert score(found, "logistic", "f1", scenario, "release") == pytest.approx(
            f1, abs=0.01
        )
        line = LinearRegression().fit(train[["a", "b"]], train["label"])
        squared = ((line.predict(test[["a", "b"]]) - test["label"]) ** 2).mean()
        assert score(found, "linear", "mse", scenario, "release") == pytest.approx(
            squared
        )
        r2 = line.score(test[["a", "b"]], test["label"])
        assert score(found, "linear", "r2", scenario, "release") == pytest.approx(r2)


def test_clusters_need_no_row_alignment() -> None:
    """P9: fitted on the release, original rows assigned, against clusters of the
    original, in any order.
    """
    split = one_split(blobs(250, 3))
    found = score_tasks([split], NUMBERS, "label", tasks=("k-means",))
    own = KMeans(2, n_init=10, random_state=0).fit(split.train[["a", "b"]])
    other = KMeans(2, n_init=10, random_state=0).fit(split.release[["a", "b"]])
    for scenario, rows in ((1, split.release), (2, split.train)):
        labels = [model.predict(rows[["a", "b"]]) for model in (own, other)]
        expected = normalized_mutual_info_score(*labels)
        assert score(found, "k-means", "nmi", scenario, "release") == pytest.approx(
            expected, abs=0.02
        )
    turned = one_split(split.release.iloc[::-1])
    assert (
        score(
            score_tasks([turned], NUMBERS, "label", tasks=("k-means",)),
            "k-means",
            "nmi",
            2,
            "release",
        )
        > 0.9
    )


@pytest.mark.parametrize("task", ["svm", "logistic", "trees"])
def test_a_good_release_and_a_useless_one(task: str) -> None:
    """A learner would not tell a second sample from columns that lost their
    relations.
    """
    good = score_tasks([one_split(blobs(300, 3))], NUMBERS, "label", tasks=(task,))
    bad = score_tasks(
        [one_split(independent(blobs(300, 3), 300, 4, NUMBERS))],
        NUMBERS,
        "label",
        tasks=(task,),
    )
    for scenario in (1, 2):
        assert score(good, task, "accuracy", scenario, "release") > 0.93
        assert score(bad, task, "f1", scenario, "release") < 0.75
        assert score(good, task, "accuracy", scenario, "original") > 0.93
        assert score(good, task, "f1", scenario, "shuffled") < 0.75


def test_the_majority_stands_beside_every_score() -> None:
    """P8: an accuracy of 0.65 looks like learning where always saying one class brings
    as much.
    """
    found = score_tasks(
        [one_split(blobs(300, 3))], NUMBERS, "label", tasks=("svm", *FAST)
    )
    keys = {(each.task, each.measure, each.scenario) for each in found}
    for task, measure, scenario in keys:
        beside = {
            each.model_name
            for each in found
            if (each.task, each.measure, each.scenario) == (task, measure, scenario)
        }
        assert beside == {"release", "original", "majority", "shuffled"}
        assert {1, 2} == {each.scenario for each in found if each.task == task}
    assert score(found, "logistic", "accuracy", 2, "majority") == pytest.approx(
        (blobs(200, 2)["label"] == -1).mean(),
    )
    assert score(found, "linear", "r2", 2, "majority") == pytest.approx(0, abs=0.02)


def test_repeated_splits() -> None:
    """P3 and P7 want error bars: one split tells nothing about chance."""
    frame = blobs(400, 1)
    splits = make_random_splits(frame, frame, times=4)
    assert [(len(each.train), len(each.test)) for each in splits] == [(320, 80)] * 4
    assert len({tuple(each.test.index) for each in splits}) == 4
    assert all(not set(each.train.index) & set(each.test.index) for each in splits)
    found = score_tasks(splits, NUMBERS, "label", tasks=("logistic",))
    assert all(each.split_count == 4 for each in found)
    assert any(each.standard_deviation > 0 for each in found)
    twice = pd.concat([frame, frame]).assign(person=lambda each: each.index)
    for each in make_random_splits(twice, frame, person="person", times=2):
        assert not set(each.train["person"]) & set(each.test["person"])


def test_classes_of_many_kinds() -> None:
    """Four classes, numbers as a target, and missing labels must all be learned
    from.
    """
    split = Split(train=people(300, 1), test=people(200, 2), release=people(250, 3))
    found = score_tasks([split], SCHEMA, "city", tasks=FAST)
    assert {each.task for each in found} == {"logistic", "k-means"}
    found = score_tasks([split], SCHEMA, "income", tasks=LEARNING_TASKS)
    assert {each.task for each in found} == {"linear", "k-means"}
    assert score(found, "linear", "r2", 2, "release") > 0.6


@pytest.mark.parametrize("low", [-1, 0])
def test_whole_numbers_are_classes(low: int) -> None:
    """P8: labels of 0 / 1 or -1 / 1, the usual ones, were regressed on, and had no
    accuracy.
    """
    frames = [
        blobs(rows, seed).assign(label=lambda each: each["label"].clip(lower=low))
        for rows, seed in ((300, 1), (200, 2), (250, 3))
    ]
    split = Split(train=frames[0], test=frames[1], release=frames[2])
    listed = dp.Categorical("label", categories=(low, 1))
    whole = dp.Integer("label", low=low, high=1)
    by_list, by_number = (
        score_tasks(
            [split],
            dp.Schema(columns=(*NUMBERS.columns[:2], label), unit=NUMBERS.unit),
            "label",
            tasks=FAST,
        )
        for label in (listed, whole)
    )
    for scenario in (1, 2):
        for measure in ("accuracy", "f1"):
            of = [
                score(each, "logistic", measure, scenario, "release")
                for each in (by_list, by_number)
            ]
            assert of[0] == of[1]
    assert {each.task for each in by_number} == set(FAST)
    frame = pd.DataFrame({"a": 0.0, "b": 0.0, "label": [low, 1, np.nan, 7, 0.5]})
    schema = dp.Schema(columns=(*NUMBERS.columns[:2], whole), unit=NUMBERS.unit)
    assert class_numbers(frame, schema, "label").tolist() == [0, 1 - low, -1, -1, -1]


def test_what_can_be_predicted_how() -> None:
    """A learner would be tried on what it cannot predict, or left out where it
    could.
    """
    applying = {
        name: {
            task for task in LEARNING_TASKS if can_predict(task, SCHEMA.column(name))
        }
        for name in SCHEMA.domain.names
    }
    classifiers = {"logistic", "trees", "svm"}
    assert applying == {
        "age": {"linear", "k-means"},
        "city": {"k-means", *classifiers},
        "married": set(LEARNING_TASKS),
        "income": {"linear", "k-means"},
        "children": set(LEARNING_TASKS),
        "weight": {"linear", "k-means"},
    }
    wide = dp.Integer("age", low=0, high=99, bin_width=10)
    assert not can_predict("logistic", wide), "ten cells, but no classes"


@pytest.mark.parametrize(
    ("names", "likeliest"),
    [
        (
            ["income", "city", "married", "children", "age"],
            ["children", "married", "city"],
        ),
        (["label", "city", "married"], ["label", "married", "city"]),
        (["married", "Outcome", "city"], ["Outcome", "city", "married"]),
        (["age", "income"], ["income", "age"]),
    ],
)
def test_the_likeliest_label_comes_first(
    names: list[str], likeliest: list[str]
) -> None:
    """The first column was proposed as the label, 110 cells of pregnancies, beside a
    column called label.
    """
    columns = [
        dp.Integer(each, low=-1, high=1)
        if each in ("label", "Outcome")
        else SCHEMA.column(each)
        for each in names
    ]
    schema = dp.Schema(columns=tuple(columns), unit=SCHEMA.unit)
    assert sort_by_likely_target(schema, names)[: len(likeliest)] == likeliest


@pytest.mark.parametrize(
    "release",
    [
        blobs(200, 3).assign(label=1),
        pd.concat([blobs(200, 3).assign(label=1), blobs(2, 4).assign(label=-1)]),
        blobs(200, 3).assign(a=0.5),
        blobs(3, 3),
        blobs(200, 3).assign(a=np.nan),
        blobs(200, 3).assign(a="?"),
    ],
    ids=[
        "one class",
        "a class of two",
        "constant",
        "three rows",
        "all missing",
        "not numbers",
    ],
)
@pytest.mark.proof
def test_releases_that_are_hard_to_learn_from(release: pd.DataFrame) -> None:
    """A poor release would end in a traceback instead of a poor score."""
    for each in score_tasks([one_split(release)], NUMBERS, "label"):
        assert np.isfinite(each.mean)


@pytest.mark.parametrize(
    ("release", "target", "tasks", "said"),
    [
        (blobs(9, 3).assign(label=None), "label", FAST, "no readable value"),
        (blobs(9, 3)[["a", "b"]], "label", FAST, "no column 'label'"),
        (blobs(9, 3)[["label"]], "label", FAST, "no column to learn from"),
        (blobs(9, 3), "label", ("magic",), "tasks"),
        (blobs(9, 3), "shoe", FAST, "shoe"),
    ],
)
def test_bad_input_gets_a_sentence(
    release: pd.DataFrame,
    target: str,
    tasks: tuple[str, ...],
    said: str,
) -> None:
    """A label without values, or none at all, would end in a traceback."""
    with pytest.raises((ParameterError, SchemaError), match=said):
        score_tasks([one_split(release)], NUMBERS, target, tasks=tasks)


def test_through_the_curator() -> None:
    """The report would not be internal, or its stages not be told."""
    frame = blobs(200, 1)
    curator = dp.Curator.open(
        frame, NUMBERS, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    stages: list[str] = []
    evaluation = LearningQuestion(
        table=PublicTable(blobs(200, 2)),
        target="label",
        tasks=FAST,
        splits=2,
    )
    report = curator.evaluate(evaluation, lambda stage, share: stages.append(stage))
    assert score(report.content, "logistic", "accuracy", 2, "release") > 0.9
    assert stages == ["logistic", "linear", "k-means"] * 2
    assert curator.lines()[-1].state == "outside"
    with pytest.raises(ParameterError, match="too few rows"):
        make_random_splits(frame.iloc[:5], frame)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "rows", "features", "accuracy", "mse"),
    [
        ("diabetes", 768, 8, 0.756, 0.66),
        ("breast-cancer", 683, 9, 0.971, 0.175),
        ("australian", 690, 14, 0.858, 0.43),
    ],
)
@pytest.mark.proof
def test_no_privacy_lines_of_the_book(
    shared: Path,
    name: str,
    rows: int,
    features: int,
    accuracy: float,
    mse: float,
) -> None:
    """P1 and P8: sizes of the three tables, and what is learned without privacy, as
    SEEDS 7.3 and 7.4 say.
    """
    frame = pd.read_csv(shared / "data" / f"privsyn_{name}.csv").drop(
        columns="sample_id", errors="ignore"
    )
    columns = [column for column in frame if column != "label"]
    assert frame.shape == (rows, features + 1)
    assert len(columns) == features
    schema = dp.Schema(
        columns=(
            *(
                dp.Real(
                    column, low=-1, high=1, bin_width=0.1, from_data=("low", "high")
                )
                for column in columns
            ),
            dp.Categorical("label", categories=(-1, 1)),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    found = score_tasks(
        make_random_splits(frame, frame, times=1),
        schema,
        "label",
        tasks=("svm", "linear", "k-means"),
    )
    assert score(found, "svm", "accuracy", 2, "original") == pytest.approx(
        accuracy, abs=0.05
    )
    assert score(found, "linear", "mse", 2, "original") == pytest.approx(mse, abs=0.06)
    assert score(found, "svm", "accuracy", 2, "majority") < accuracy - 0.05
    assert score(found, "k-means", "nmi", 2, "release") > 0.9
