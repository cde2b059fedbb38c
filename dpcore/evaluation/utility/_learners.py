"""Wrappers of scikit-learn models; the library is imported at the first training."""

import warnings
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from dpcore.evaluation._records import EVALUATION_SEED, Codes, Floats

MAX_SVM_ROWS = 1_000
"""Most rows to train a support vector machine: its time grows with their square."""
_SVM_GRID = {"C": [0.25, 1, 4, 16, 64], "gamma": [4.0**power for power in range(-5, 0)]}
_CROSS_VALIDATION_FOLDS = 3


class TrainedModel(Protocol):
    """Protocol of a model that was trained."""

    def predict(self, features: Floats) -> Any:
        """Return the predicted class or number of each row."""


Learner = Callable[[Floats, Any], TrainedModel]


class ConstantModel:
    """Model that gives every row the same answer, such as the majority class."""

    def __init__(self, answer: float) -> None:
        self.answer = answer

    def predict(self, features: Floats) -> Floats:
        return np.full(len(features), self.answer)


def make_majority_model(labels: Codes) -> ConstantModel:
    """Return a model that always predicts the most frequent class."""
    return ConstantModel(int(np.bincount(labels).argmax()))


def train_svm(features: Floats, labels: Codes) -> TrainedModel:
    """Train a support vector machine with an RBF kernel.

    C and gamma are those of the best macro F1 in a three-fold cross-validation.
    """
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.svm import SVC

    if np.bincount(labels)[np.unique(labels)].min() < _CROSS_VALIDATION_FOLDS:
        return SVC().fit(features, labels)  # type: ignore[no-any-return]
    folds = StratifiedKFold(
        _CROSS_VALIDATION_FOLDS, shuffle=True, random_state=EVALUATION_SEED
    )
    search = GridSearchCV(SVC(), _SVM_GRID, scoring="f1_macro", cv=folds)
    return search.fit(features, labels)  # type: ignore[no-any-return]


def train_logistic(features: Floats, labels: Codes) -> TrainedModel:
    """Train a logistic regression with scikit-learn's default penalty."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=500).fit(features, labels)  # type: ignore[no-any-return]


def train_trees(features: Floats, labels: Codes) -> TrainedModel:
    """Train gradient-boosted trees on histograms."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    boosted = HistGradientBoostingClassifier(max_iter=60, random_state=EVALUATION_SEED)
    return boosted.fit(features, labels)  # type: ignore[no-any-return]


def train_linear(features: Floats, numbers: Floats) -> TrainedModel:
    """Train a linear regression by least squares."""
    from sklearn.linear_model import LinearRegression

    return LinearRegression().fit(features, numbers)  # type: ignore[no-any-return]


def find_clusters(features: Floats, count: int) -> TrainedModel:
    """Cluster rows by k-means, and keep the best of ten starts."""
    from sklearn.cluster import KMeans

    with warnings.catch_warnings():  # fewer distinct rows than clusters
        warnings.simplefilter("ignore")
        return KMeans(count, n_init=10, random_state=EVALUATION_SEED).fit(features)  # type: ignore[no-any-return]


CLASSIFIERS: dict[str, Learner] = {
    "svm": train_svm,
    "logistic": train_logistic,
    "trees": train_trees,
}


def train_classifier(learner: Learner, features: Floats, labels: Codes) -> TrainedModel:
    """Train a classifier; return a constant model if there is only one class."""
    if len(np.unique(labels)) < 2:
        return make_majority_model(labels)
    # Silence warnings such as missing convergence, since the score shows the quality
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return learner(features, labels)


def macro_f1(truth: Codes, answers: Codes) -> float:
    """Return the macro F1 over the classes in the truth or in the answers."""
    from sklearn.metrics import f1_score

    return float(f1_score(truth, answers, average="macro", zero_division=0.0))


def normalized_mutual_information(first: Codes, second: Codes) -> float:
    """Return the normalized mutual information, 0 to 1."""
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(first, second))
