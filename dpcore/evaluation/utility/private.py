"""Evaluations under differential privacy, which are charged and may be shared.

What a release says is public, so only the comparison with the original costs something.
"""

import hashlib
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.accounting.loss import split_loss
from dpcore.errors import (
    UsageError,
    missing_column_error,
    no_common_columns_error,
    too_few_rows_error,
)
from dpcore.evaluation._records import EVALUATION_SEED, Floats
from dpcore.evaluation.base import PrivateEvaluation
from dpcore.evaluation.utility._features import class_numbers, feature_matrix
from dpcore.evaluation.utility._learners import (
    ConstantModel,
    train_classifier,
    train_logistic,
)
from dpcore.evaluation.utility.learning import MAX_LEARNING_ROWS
from dpcore.mechanisms.measurer import Measurer
from dpcore.release import Guarantee, Release
from dpcore.schema.schema import Schema
from dpcore.tables.counts import cell_counts, check_cells
from dpcore.text import Text

MAX_CLIQUES = 100
"""Most sets of columns to compare at once: each adds to the noise of all."""


@dataclass(frozen=True, kw_only=True)
class _ReleaseQuestion(PrivateEvaluation):
    """Base class of private questions about a release.

    Rows of another table might depend on people who were not paid for.
    """

    release: Release

    @property
    def source_guarantees(self) -> tuple[Guarantee, ...]:
        return (self.release.guarantee,)

    @cached_property
    def _drawn_rows(self) -> pd.DataFrame:
        return self.release.sample(seed=0)

    def _refuse_part(self) -> None:
        if self.release.part:
            raise UsageError(
                (
                    "the release is of one part of its table, and would be compared "
                    "with "
                    "all rows"
                ),
                remedy="compare a release of the whole table",
            )

    def to_dict(self) -> dict[str, Any]:
        own = {
            name: getattr(self, name)
            for name in ("way", "target")
            if hasattr(self, name)
        }
        columns = list(self.release.model_columns)
        text = self.release.to_json()  # one that is conditioned is another
        digest = hashlib.sha256(text.encode()).hexdigest()
        return {"kind": self.kind, **own, "columns": columns, "release": digest}


@dataclass(frozen=True, kw_only=True)
class PrivateMarginalErrorQuestion(_ReleaseQuestion):
    """Noisy total variation distances of column pairs: their mean and the worst.

    Single columns may be asked about, too. K distances and one number of rows each have
    an even share of the loss. The distances are between the original's counts and the
    release's shares of the noisy number of rows. A person changes each by at most their
    rows, and an error of that number moves it by as much.

    Attributes:
        release: of any data set; rows drawn from it are compared.
        way: columns at a time, 1 or 2.
    """

    kind = "marginal error"

    way: int = 2

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return (str(self.way),)

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Describe the question by the number of columns in each marginal."""
        return Text("Marginal error, columns at a time: {way}", way=fields["way"])

    def check(self, schema: Schema) -> None:
        """Refuse tables or columns that cannot be compared.

        Raises: ParameterError; LimitError for too many cells.
        """
        self._refuse_part()
        if self.way not in (1, 2):
            raise UsageError(f"way ({self.way}) must be 1 or 2", remedy="compare pairs")
        if not len(self._drawn_rows) or not self._cliques(schema):
            raise no_common_columns_error()
        check_cells(schema.domain, self._cliques(schema))

    def measure(self, measurer: Measurer, schema: Schema) -> dict[str, Any]:
        """Return {"mean", "worst", "columns", "half_width", "compared", "distances"}.

        "columns" are those of the worst, "half_width" is of each distance at 95 %.
        "distances" has all of them, with their columns.
        """
        cliques = self._cliques(schema)
        for_total, for_gaps = split_loss(measurer.loss, 2, (1, len(cliques)))
        (total,) = measurer.measure([()], for_total)
        rows = max(1.0, float(total.values))
        frame = self._drawn_rows
        names = {name for clique in cliques for name in clique}
        codes = {
            name: schema.column(name).encode(schema.column(name).values_of(frame))
            for name in names
        }
        estimates = {}
        for clique in cliques:
            counts = cell_counts(
                [codes[name] for name in clique], schema.domain.shape(clique)
            )
            estimates[clique] = counts * rows / len(frame)
        gaps = measurer.measure_gaps(estimates, for_gaps)
        distances = {
            clique: min(1.0, max(0.0, gap / 2 / rows)) for clique, gap in gaps.items()
        }
        worst = max(distances, key=lambda clique: distances[clique])
        return {
            "mean": float(np.mean(list(distances.values()))),
            "worst": distances[worst],
            "columns": list(worst),
            "half_width": (
                _laplace_half_width(measurer.gap_deviation(len(cliques), for_gaps))
                + total.half_width(0.975)
            )
            / (2 * rows),
            "compared": len(cliques),
            "distances": [
                {"columns": list(clique), "distance": distance}
                for clique, distance in distances.items()
            ],
        }

    def _cliques(self, schema: Schema) -> list[tuple[str, ...]]:
        names = [name for name in schema.domain.names if name in self._drawn_rows]
        cliques = list(itertools.combinations(names, self.way))
        if len(cliques) > MAX_CLIQUES:
            chosen = np.random.default_rng(EVALUATION_SEED).choice(
                len(cliques), MAX_CLIQUES, replace=False
            )
            cliques = [cliques[place] for place in np.sort(chosen)]
        return cliques


@dataclass(frozen=True, kw_only=True)
class PrivateAccuracyQuestion(_ReleaseQuestion):
    """Noisy share of original rows whose class a public model predicts.

    The model learned from a release and is public, a logistic regression. Right
    answers, wrong ones and rows without a class are counted with noise, as a table of
    three cells.
    """

    kind = "accuracy"

    target: str

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return (self.target,)

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Describe the question by the column that is predicted."""
        return Text(
            "Accuracy of predicting {column}, learned from a release",
            column=fields["target"],
        )

    def check(self, schema: Schema) -> None:
        """Refuse a target without classes, or a release without other columns."""
        self._refuse_part()
        if schema.column(self.target).is_interval:
            raise UsageError(
                f"column {self.target!r} holds numbers, not classes",
                remedy="predict a column of categories",
            )
        if self.target not in self._drawn_rows or not self._columns(schema):
            raise missing_column_error(self.target)
        if not (class_numbers(self._drawn_rows, schema, self.target) >= 0).any():
            raise too_few_rows_error()

    def measure(self, measurer: Measurer, schema: Schema) -> dict[str, Any]:
        """Return {"accuracy", "low", "high", "majority"}.

        The bounds are at 95 %; "majority" is of one answer for all in the release.
        """
        columns = self._columns(schema)
        frame = self._drawn_rows
        frame = frame.iloc[
            np.random.default_rng(EVALUATION_SEED).permutation(len(frame))[
                :MAX_LEARNING_ROWS
            ]
        ]
        labels = class_numbers(frame, schema, self.target)
        known = labels >= 0
        model = train_classifier(
            train_logistic, feature_matrix(frame, schema, columns)[known], labels[known]
        )

        def right(rows: pd.DataFrame) -> npt.NDArray[np.int64]:
            """Return 1 for a right answer, 0 for a wrong one, 2 without a class."""
            answers = _model_answers(model, feature_matrix(rows, schema, columns))
            truth = class_numbers(rows, schema, self.target)
            return np.where(truth < 0, 2, answers == truth).astype(np.int64)

        noisy = measurer.count_by_rule(right, 3, (*columns, self.target), measurer.loss)
        wrong_count, right_count, _ = np.maximum(noisy.values, 0)
        half = noisy.half_width(0.975)  # of two cells at once
        total = max(1.0, float(right_count + wrong_count))
        return {
            "accuracy": float(right_count) / total,
            "low": max(0.0, float(right_count - half) / total),
            "high": min(1.0, float(right_count + half) / total),
            "majority": float(np.bincount(labels[known]).max() / known.sum()),
        }

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        return tuple(
            name
            for name in schema.domain.names
            if name in self._drawn_rows and name != self.target
        )


def _model_answers(model: Any, features: Floats) -> npt.NDArray[np.int64]:
    """Return the model's answer to each row, from that row alone.

    A product of matrices rounds the scores of a row by its place among the others, so
    that one person more could flip the answers to ties of others.
    """
    if isinstance(model, ConstantModel):
        return model.predict(features).astype(np.int64)
    scores = [
        (features * line).sum(axis=1) + start
        for line, start in zip(model.coef_, model.intercept_, strict=True)
    ]
    places = (
        (scores[0] > 0).astype(np.int64)
        if len(scores) == 1
        else np.argmax(scores, axis=0)
    )
    answers: npt.NDArray[np.int64] = model.classes_[places]
    return answers


def _laplace_half_width(deviation: float) -> float:
    """Return the 97.5 % half-width of Laplace noise with this standard deviation.

    That of Gaussian noise is smaller.
    """
    return deviation * math.log(40) / math.sqrt(2)
