"""A recipe run again in memory: on half of the people, on public rows with canaries, on invented ones."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import pandas as pd

from dpcore.accounting.loss import AnyLoss, PureDP, loss_from
from dpcore.accounting.memory import MemoryLedger
from dpcore.anonymize.apply import apply
from dpcore.anonymize.methods import Microaggregation
from dpcore.anonymize.models import KAnonymity
from dpcore.anonymize.plan import Plan
from dpcore.curator import Curator
from dpcore.errors import ParameterError
from dpcore.evaluation.utility.learning import Score, Split, learn, random_splits
from dpcore.evaluation.utility.marginal_error import marginal_error
from dpcore.release import Release
from dpcore.schema import IntervalColumn, PrivacyUnit, Schema
from dpcore.synthesis import Adaptive, Gaussian, Independent, Recipe, Tree, load_recipe


def without_people(schema: Schema) -> Schema:
    """The schema for rows that name nobody, such as drawn ones; a person may have as many rows as before."""
    return dataclasses.replace(schema, unit=PrivacyUnit(max_rows=schema.unit.max_rows))


def run(recipe: Recipe, loss: AnyLoss, schema: Schema, frame: pd.DataFrame) -> Release:
    """One run under a ledger that is forgotten; nothing of it may be published."""
    known = dataclasses.replace(schema, unit=dataclasses.replace(schema.unit, found=""))  # not found again
    curator = Curator.open(frame, known, budget=loss, ledger=MemoryLedger())
    return curator.run(recipe, loss)


@dataclass(frozen=True, kw_only=True, eq=False)
class Made:
    """What made a release, to be run again on other rows; it goes to other processes."""

    recipe: Recipe
    loss: AnyLoss
    schema: Schema

    def __call__(self, frame: pd.DataFrame) -> Release:
        return run(self.recipe, self.loss, self.schema, frame)

    def rows(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Rows drawn from the new release."""
        return self(frame).sample(seed=0)


def maker(release: Release, schema: Schema) -> Made | None:
    """What made a release, to be run again; None where that cannot be told from it."""
    recipe = None if release.part else load_recipe(release.recipe)
    if recipe is None or not {"epsilon"} & set(release.guarantee.loss):
        return None
    return Made(recipe=recipe, loss=loss_from(release.guarantee.loss), schema=schema)


def figures(
    frame: pd.DataFrame, schema: Schema, target: str, method: str, k: int, epsilon: float, splits: int
) -> tuple[tuple[Score, ...], list[float]]:
    """Scores of the learners, and the distance of all pairs of columns on each split, of a public table.

    Args:
        method: "gaussian", "adaptive", "tree" or "independent", at an epsilon; or MDAV, where k is above 0.
    """
    cut, errors = [], []
    for split in random_splits(frame, frame, times=splits):
        train = split.train.reset_index(drop=True)
        if k:
            made = _microaggregated(schema, k, train)
        else:
            recipe = _recipe(method, schema, target)
            made = run(recipe, PureDP(epsilon=repr(epsilon)), schema, train).sample(len(train), seed=0)
        cut.append(Split(train=train, test=split.test, release=made))
        errors.append(marginal_error(train, made, schema, (2,), max_cliques=100).ways[0].mean)
    return learn(cut, schema, target, tasks=("logistic", "linear", "k-means")), errors


def _recipe(method: str, schema: Schema, target: str) -> Recipe:
    if method == "gaussian":
        return _gaussian(schema, target)
    if method == "independent":
        return Independent(columns=schema.domain.names)
    return Adaptive() if method == "adaptive" else Tree()


def _gaussian(schema: Schema, target: str) -> Recipe:
    """By class of the target; columns without an order, or with missing values, by their cells."""
    others = [column for column in schema.columns if column.name != target]
    numbers = [column.name for column in others if isinstance(column, IntervalColumn) and not column.missing]
    cells = [column.name for column in others if column.name not in numbers]
    return Gaussian.of(schema, label=target, one_hot=cells)


def _microaggregated(schema: Schema, k: int, train: pd.DataFrame) -> pd.DataFrame:
    """MDAV on the complete columns of numbers; the others stay as they are, as in the book."""
    numbers = [
        column.name
        for column in schema.columns
        if isinstance(column, IntervalColumn)
        and pd.api.types.is_numeric_dtype(train[column.name])
        and train[column.name].notna().all()
    ]
    if not numbers:
        raise ParameterError(
            "microaggregation needs columns of numbers", remedy="take another method or another table"
        )
    names = [name for name in schema.domain.names if name in train]
    plan = Plan(
        roles={name: "quasi-identifier" if name in numbers else "insensitive" for name in names},
        hierarchies={},
        models=(KAnonymity(k=k),),
        method=Microaggregation(),
    )
    return apply(train[names], plan)
