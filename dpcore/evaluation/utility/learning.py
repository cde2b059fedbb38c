"""Comparison of models trained on a release and on the original.

There are two scenarios, never one alone: 1 trains on the original and tests on the
release, where an easier release looks better than the original; 2 trains on the release
and tests on the original. Every score comes with those of the original in the release's
place, of the majority, and of a model trained on shuffled labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.errors import ParameterError, UsageError, missing_column_error
from dpcore.evaluation._records import (
    EVALUATION_SEED,
    Codes,
    Floats,
    mark_random_people,
)
from dpcore.evaluation.base import RowsEvaluation
from dpcore.evaluation.utility import _learners as learners
from dpcore.evaluation.utility._features import (
    MAX_CLASSES,
    class_numbers,
    feature_matrix,
    has_classes,
    numeric_target,
)
from dpcore.evaluation.utility._learners import (
    CLASSIFIERS,
    MAX_SVM_ROWS,
    ConstantModel,
    TrainedModel,
    find_clusters,
    make_majority_model,
    train_classifier,
    train_linear,
)
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.schema.column import Column
from dpcore.schema.schema import Schema
from dpcore.tables.rows import Microdata, PublicTable

MAX_LEARNING_ROWS = 5_000
"""Most rows of a table to learn from or test on, chosen at random."""
LEARNING_TASKS = ("logistic", "linear", "k-means", "trees", "svm")
"""Fast ones first."""
HIGHER_IS_BETTER = {"accuracy": True, "f1": True, "mse": False, "r2": True, "nmi": True}
K_MEANS_CLUSTERS = 2
"""Of k-means, which does not see the target."""
COMMON_TARGET_NAMES = ("label", "class", "target", "outcome", "y")
"""Usual names of the column to predict."""


@dataclass(frozen=True, kw_only=True)
class Split:
    """Original cut into training and test rows, with a release."""

    train: pd.DataFrame
    test: pd.DataFrame
    release: pd.DataFrame


@dataclass(frozen=True, kw_only=True)
class Score:
    """Value of one quality measure in one task, over repeated splits.

    Attributes:
        task: of `LEARNING_TASKS`.
        measure: accuracy, f1 (macro), mse and r2 (of a target in [-1, 1]) or nmi.
        scenario: 1 or 2.
        model_name: "release"; or for comparison: "original", "majority" (one answer for all),
            "shuffled".
        mean, spread: over the splits; the spread is their standard deviation, 0 for
            one.
        split_count: number of splits.
    """

    task: str
    measure: str
    scenario: int
    model_name: str
    mean: float
    standard_deviation: float
    split_count: int


def score_tasks(
    splits: Sequence[Split],
    schema: Schema,
    target: str,
    *,
    tasks: Sequence[str] = LEARNING_TASKS,
    on_progress: OnProgress = ignore_stage_progress,
) -> tuple[Score, ...]:
    """Train and test models for each task; return the scores of both scenarios.

    Args:
        splits: at least one.
        schema: of all tables.
        target: the column to predict. Columns without an order, and of few whole
            numbers, are classified; two classes are also regressed on as -1 and 1.
            Columns with an order are regressed on.
        tasks: to run; those that cannot predict the target are left out.
        on_progress: called with the task and the share done.

    Raises: ParameterError for an unknown target or task, no other column, or a target
        with one value.
    """
    if not splits or set(tasks) - set(LEARNING_TASKS):
        raise UsageError(
            f"tasks must be of {LEARNING_TASKS}, on at least one split",
            remedy="name some of them",
        )
    declared = schema.column(target)
    columns = [
        name
        for name in schema.domain.names
        if name != target
        and all(
            name in part for split in splits for part in (split.train, split.release)
        )
    ]
    if not columns:
        raise UsageError(
            "there is no column to learn from", remedy="release more columns"
        )
    wanted = [
        task for task in LEARNING_TASKS if task in tasks and can_predict(task, declared)
    ]
    values_of: dict[tuple[str, str, int, str], list[float]] = {}
    for number, split in enumerate(splits):
        rng = np.random.default_rng(EVALUATION_SEED + number)
        parts = {
            part: _Examples.from_frame(table, schema, columns, target, rng)
            for part, table in vars(split).items()
        }
        for place, task in enumerate(wanted):
            on_progress(task, (number + place / len(wanted)) / len(splits))
            for key, value in _score_task(task, parts, rng):
                values_of.setdefault((task, *key), []).append(value)
    return tuple(
        Score(
            task=task,
            measure=measure,
            scenario=scenario,
            model_name=of,
            mean=float(np.mean(values)),
            standard_deviation=float(np.std(values, ddof=1))
            if len(values) > 1
            else 0.0,
            split_count=len(values),
        )
        for (task, measure, scenario, of), values in values_of.items()
    )


def can_predict(task: str, column: Column) -> bool:
    """Return whether a task of `LEARNING_TASKS` can predict a column."""
    if task == "linear":
        return column.is_interval or column.values_size == 2
    return task == "k-means" or has_classes(column)


MIN_NUMBER_COLUMNS = 2  # columns of numbers below which a model learns little


def sort_by_likely_target(schema: Schema, names: Sequence[str]) -> list[str]:
    """Sort columns by how likely they are to be the column that users predict.

    Columns with a usual name are first, then those of few values, the last one first.
    """

    def rank(name: str) -> tuple[bool, bool, int]:
        column = schema.column(name)
        is_few = has_classes(column) and 2 <= column.values_size <= MAX_CLASSES
        return name.lower() not in COMMON_TARGET_NAMES, not is_few, -names.index(name)

    return sorted(names, key=rank)


def make_random_splits(
    original: pd.DataFrame,
    release: pd.DataFrame,
    *,
    person: str | None = None,
    times: int = 5,
) -> list[Split]:
    """Split the original `times` times at random: 80 % of people train, 20 % test."""
    cuts = []
    for number in range(times):
        test = mark_random_people(
            original, person, 5, seed=EVALUATION_SEED + number, min_people=10
        )
        cuts.append(Split(train=original[~test], test=original[test], release=release))
    return cuts


@dataclass(frozen=True, kw_only=True, eq=False)
class LearningQuestion(RowsEvaluation[tuple[Score, ...]]):
    """Evaluation of models that are trained on a release and on the original.

    The original is its rows that count. The release is made from all of these,
    including the rows to test on.

    Attributes:
        splits: how often the original is cut anew, from 1.
        target, tasks: as in `learn`.
    """

    kind = "learning"
    counted_rows_only = True

    table: PublicTable
    target: str
    tasks: tuple[str, ...] = LEARNING_TASKS
    splits: int = 3

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return (self.target,)

    def compute(
        self,
        original: Microdata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> tuple[Score, ...]:
        """Return the scores of all tasks."""
        cuts = make_random_splits(
            original.frame,
            self.table.frame,
            person=schema.unit.id_column,
            times=self.splits,
        )
        return score_tasks(
            cuts, schema, self.target, tasks=self.tasks, on_progress=on_progress
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Examples:
    """Features and labels of the rows with a label.

    Labels are classes, numbers or both.
    """

    features: Floats
    classes: Codes
    numbers: Floats

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        schema: Schema,
        columns: list[str],
        target: str,
        rng: np.random.Generator,
    ) -> _Examples:
        if target not in frame:
            raise missing_column_error(target)
        frame = frame.iloc[rng.permutation(len(frame))[:MAX_LEARNING_ROWS]]
        column = schema.column(target)
        codes = (
            class_numbers(frame, schema, target)
            if has_classes(column)
            else np.zeros(0, dtype=np.int64)
        )
        values = (
            numeric_target(frame, schema, target)
            if can_predict("linear", column)
            else np.zeros(0)
        )
        known = codes >= 0 if has_classes(column) else ~np.isnan(values)
        if not known.any():
            raise ParameterError(
                "column {target!r} has no readable value in one of the tables",
                remedy="choose another column",
                target=target,
            )
        return cls(
            features=feature_matrix(frame, schema, columns)[known],
            classes=codes[known] if len(codes) else codes,
            numbers=values[known] if len(values) else values,
        )

    def shuffle(self, rng: np.random.Generator) -> _Examples:
        """Shuffle the labels and each feature independently of each other."""
        return _Examples(
            features=np.column_stack(
                [rng.permutation(column) for column in self.features.T]
            ),
            classes=rng.permutation(self.classes),
            numbers=rng.permutation(self.numbers),
        )


ScoredTasks = list[tuple[tuple[str, int, str], float]]


def _score_task(
    task: str, parts: Mapping[str, _Examples], rng: np.random.Generator
) -> ScoredTasks:
    original = parts["train"]
    test = parts["test"]
    release = parts["release"]
    if task == "k-means":
        return _cluster_scores(original, test, release, rng)
    by_number = task == "linear"

    def fit(features: Floats, labels: _Examples, learner: str = task) -> TrainedModel:
        if by_number:
            return train_linear(features, labels.numbers)
        most = MAX_SVM_ROWS if learner == "svm" else MAX_LEARNING_ROWS
        return train_classifier(
            CLASSIFIERS[learner], features[:most], labels.classes[:most]
        )

    # Train noise by logistic regression, since a grid search takes long and finds
    # nothing
    def fit_noise(part: _Examples) -> TrainedModel:
        return fit(
            part.features, part.shuffle(rng), "logistic" if task == "svm" else task
        )

    constant = (
        ConstantModel(float(original.numbers.mean()))
        if by_number
        else make_majority_model(original.classes)
    )
    of_original = fit(original.features, original)
    of_release = fit(release.features, release)
    answers = [
        (1, "release", of_original, release),
        (1, "original", of_original, test),
        (1, "majority", constant, release),
        (1, "shuffled", fit_noise(original), release),
        (2, "release", of_release, test),
        (2, "original", of_original, test),
        (2, "majority", constant, test),
        (2, "shuffled", fit_noise(release), test),
    ]
    measured = _number_scores if by_number else _class_scores
    return [
        ((measure, scenario, of), value)
        for scenario, of, model, tested in answers
        for measure, value in measured(model, tested)
    ]


def _class_scores(model: TrainedModel, tested: _Examples) -> list[tuple[str, float]]:
    answers = np.asarray(model.predict(tested.features)).astype(np.int64)
    return [
        ("accuracy", float((answers == tested.classes).mean())),
        ("f1", learners.macro_f1(tested.classes, answers)),
    ]


def _number_scores(model: TrainedModel, tested: _Examples) -> list[tuple[str, float]]:
    squared = float(((model.predict(tested.features) - tested.numbers) ** 2).mean())
    variance = float(tested.numbers.var())
    return [("mse", squared), ("r2", 1 - squared / variance if variance else 0.0)]


def _cluster_scores(
    original: _Examples,
    test: _Examples,
    release: _Examples,
    rng: np.random.Generator,
) -> ScoredTasks:
    """Score how well clusters of two tables agree on the same rows.

    No rows of the two tables are aligned.
    """
    own, other, again = (
        find_clusters(part.features, K_MEANS_CLUSTERS)
        for part in (original, release, test)
    )
    of_nothing = find_clusters(release.shuffle(rng).features, K_MEANS_CLUSTERS)
    of_nothing_either = find_clusters(original.shuffle(rng).features, K_MEANS_CLUSTERS)

    def agree(first: TrainedModel, second: TrainedModel, rows: _Examples) -> float:
        return learners.normalized_mutual_information(
            first.predict(rows.features), second.predict(rows.features)
        )

    return [
        (("nmi", 1, "release"), agree(own, other, release)),
        (("nmi", 1, "original"), agree(own, again, test)),
        (("nmi", 1, "majority"), 0.0),
        (("nmi", 1, "shuffled"), agree(of_nothing_either, other, release)),
        (("nmi", 2, "release"), agree(other, own, original)),
        (("nmi", 2, "original"), agree(again, own, original)),
        (("nmi", 2, "majority"), 0.0),
        (("nmi", 2, "shuffled"), agree(of_nothing, own, original)),
    ]
