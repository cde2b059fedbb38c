"""Comparison of methods at several epsilons, on invented or public tables.

Nothing is charged.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.accounting.loss import PureDP
from dpcore.anonymization.apply import apply
from dpcore.anonymization.methods import Microaggregation
from dpcore.anonymization.models import KAnonymity
from dpcore.anonymization.plan import Plan
from dpcore.errors import ParameterError
from dpcore.evaluation.utility.learning import (
    Score,
    Split,
    make_random_splits,
    score_tasks,
)
from dpcore.evaluation.utility.marginal_error import measure_marginal_error
from dpcore.progress import OnProgress
from dpcore.schema import PrivacyUnit, Schema, suggest_schema
from dpcore.schema.suggest import without_missing
from dpcore.synthesis import Adaptive, Gaussian, Independent, Recipe, Tree
from workbench import samples
from workbench.language.messages import N_, _, translate_table
from workbench.language.wording import SAMPLE_TITLES
from workbench.server.workers.rerun import run_in_memory
from workbench.ui import progress_view
from workbench.ui.method_charts import SCENARIOS

# Epsilons that the form offers.
EPSILONS = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0, 5.0)
DEFAULT_EPSILONS = (0.1, 0.4, 1.0)
MDAV_GROUP_SIZES = (25, 50, 100)  # group sizes of MDAV
# Rows of a table that are used at most, so that a sweep takes minutes, not hours.
MAX_ROWS_USED = 3_000
SPLITS_PER_TABLE = 2  # random splits per table, method and epsilon
TABLE_SHAPES = {
    "shape-8": (768, 8, 0.65),
    "shape-9": (683, 9, 0.35),
    "shape-14": (690, 14, 0.44),
}
"""Rows, features and share of the class 1 of the three tables of the book."""
FIGURE_FIELDS = [
    "table",
    "method",
    "scenario",
    "measure",
    "mean",
    "low",
    "high",
    "epsilon",
]
RECIPE_TITLES = {
    "gaussian": N_("Gaussian by class"),
    "adaptive": N_("Adaptive"),
    "tree": N_("Tree"),
    "independent": N_("Independent"),
}
MICROAGGREGATION_KS = {f"mdav-{k}": k for k in MDAV_GROUP_SIZES}
"""Microaggregation at several k, which has no epsilon."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PublicSource:
    """Public table that is used free of charge, with the column to predict."""

    title: str
    frame: pd.DataFrame
    schema: Schema
    target: str


def method_titles() -> dict[str, str]:
    """Return the title of each method: the recipes at hand, and microaggregation."""
    mdav = {
        key: _("MDAV, k = {k} (no epsilon)").format(k=k)
        for key, k in MICROAGGREGATION_KS.items()
    }
    return {**translate_table(RECIPE_TITLES), **mdav}


def invented_table_titles() -> dict[str, str]:
    """Return the titles of the invented tables."""
    numeric = {
        key: _("{rows} rows, {features} number columns and a label").format(
            rows=rows, features=features
        )
        for key, (rows, features, _share) in TABLE_SHAPES.items()
    }
    return translate_table(SAMPLE_TITLES) | numeric


def invented_table(key: str) -> PublicSource:
    """Build an invented table by its key."""
    title = invented_table_titles()[key]
    if key in TABLE_SHAPES:
        return public_table(title, invent_shape(*TABLE_SHAPES[key]))
    return public_table(
        title, next(sample for sample in samples.SAMPLES if sample.key == key).build()
    )


def invent_shape(rows: int, features: int, share: float) -> pd.DataFrame:
    """Build numbers in [-1, 1] that predict a label of 1 or -1.

    The first of them predicts it best.
    """
    rng = np.random.default_rng(features)
    # the i-th number is shifted by 0.3 / sqrt(i) in the direction of the label
    label = np.where(rng.random(rows) < share, 1, -1)
    centers = np.multiply.outer(label, 0.3 / np.arange(1, features + 1) ** 0.5)
    values = np.clip(rng.normal(centers, 0.35), -1, 1).round(3)
    return pd.DataFrame(
        {f"x{i + 1}": column for i, column in enumerate(values.T)} | {"label": label}
    )


def public_table(title: str, frame: pd.DataFrame) -> PublicSource:
    """Return a public table with its suggested schema, all of it public.

    Its target is the last column with two to ten classes.

    Raises: ParameterError when there is no such column.
    """
    # Use a random part of the rows, which is the same every time.
    frame = frame.iloc[
        np.random.default_rng(0).permutation(len(frame))[:MAX_ROWS_USED]
    ].reset_index(drop=True)
    # The rows are public, so they may show which columns have no missing values.
    columns = tuple(
        column
        if column.is_missing(column.values_of(frame)).any()
        else without_missing(column)
        for column in suggest_schema(frame).columns
    )
    schema = Schema(columns=columns, unit=PrivacyUnit(max_rows=1))
    classes = [
        column.name
        for column in schema.columns
        if column.has_labels and 2 <= column.values_size <= 10
    ]
    if not classes:
        raise ParameterError(
            "the table has no column of two to ten classes",
            remedy="use a table with a label column to predict",
        )
    return PublicSource(title=title, frame=frame, schema=schema, target=classes[-1])


def sweep_epsilons(
    tables: Sequence[PublicSource],
    names: Sequence[str],
    epsilons: Sequence[float],
    on_progress: OnProgress,
) -> pd.DataFrame:
    """Return a table of scores by table, method, epsilon, scenario and measure.

    "original" stands for no privacy; methods without an epsilon have the same figures
    at every epsilon.
    """
    lines: list[tuple[object, ...]] = []
    jobs = [(table, name) for table in tables for name in names]
    for number, (table, name) in enumerate(jobs):
        title = method_titles()[name]
        has_epsilon = name not in MICROAGGREGATION_KS
        runs = epsilons if has_epsilon else epsilons[:1]
        for place, epsilon in enumerate(runs):
            on_progress(
                f"{table.title}: {title}", (number + place / len(runs)) / len(jobs)
            )
            scores, errors = progress_view.compute_in_worker(
                score_method,
                table.frame,
                table.schema,
                table.target,
                name,
                epsilon,
                SPLITS_PER_TABLE,
            )
            spread = float(np.std(errors, ddof=1)) if len(errors) > 1 else 0.0
            pairs = _figure_row(
                _("distance of pairs of columns"),
                "pairs",
                float(np.mean(errors)),
                spread,
            )
            of_release = [*_figures_of("release", scores), pairs]
            # A method without an epsilon runs once; its figures are repeated at every
            # epsilon.
            epsilons_of_run = [epsilon] if has_epsilon else epsilons
            lines += [
                (table.title, title, *line, at)
                for line in of_release
                for at in epsilons_of_run
            ]
            # The original has the same figures for all methods, so they are added once
            # per table.
            if name == names[0] and place == 0:
                original = _("original, no privacy")
                of_original = _figures_of("original", scores)
                lines += [
                    (table.title, original, *line, at)
                    for line in of_original
                    for at in epsilons
                ]
    return pd.DataFrame(lines, columns=FIGURE_FIELDS)


def _figures_of(source: str, scores: Sequence[Score]) -> list[tuple[object, ...]]:
    """Return the figures of the release or of the original, as `source` says."""
    theirs = [score for score in scores if score.model_name == source]
    return [
        _figure_row(
            _(SCENARIOS[str(score.scenario)]),
            score.measure,
            score.mean,
            score.standard_deviation,
        )
        for score in theirs
    ]


def _figure_row(
    scenario: str, measure: str, mean: float, spread: float
) -> tuple[object, ...]:
    return scenario, measure, mean, mean - spread, mean + spread


def score_method(
    frame: pd.DataFrame,
    schema: Schema,
    target: str,
    method: str,
    epsilon: float,
    splits: int,
) -> tuple[tuple[Score, ...], list[float]]:
    """Return scores of learners, and the mean distance of pairs, per split.

    Args:
        frame: a public table.
        schema: schema of the table.
        target: the column to predict.
        method: key of `RECIPE_TITLES` or of `MICROAGGREGATION_KS`.
        epsilon: loss of a recipe.
        splits: number of random splits into rows for training and for testing.
    """
    cuts = []
    errors = []
    for split in make_random_splits(frame, frame, times=splits):
        train = split.train.reset_index(drop=True)
        if method in MICROAGGREGATION_KS:
            release = _microaggregate(schema, MICROAGGREGATION_KS[method], train)
        else:
            recipe = _recipe_of_method(method, schema, target)
            loss = PureDP(epsilon=repr(epsilon))
            release = run_in_memory(recipe, loss, schema, train).sample(
                len(train), seed=0
            )
        cuts.append(Split(train=train, test=split.test, release=release))
        errors.append(
            measure_marginal_error(train, release, schema, (2,), max_cliques=100)
            .ways[0]
            .mean
        )
    return score_tasks(
        cuts, schema, target, tasks=("logistic", "linear", "k-means")
    ), errors


def _recipe_of_method(method: str, schema: Schema, target: str) -> Recipe:
    if method == "gaussian":
        return _gaussian_recipe(schema, target)
    if method == "independent":
        return Independent(columns=schema.domain.names)
    return Adaptive() if method == "adaptive" else Tree()


def _gaussian_recipe(schema: Schema, target: str) -> Recipe:
    """Return the Gaussian recipe with the target as its label.

    Columns without an order, or with missing values, are used by their cells.
    """
    others = [column for column in schema.columns if column.name != target]
    numbers = [
        column.name for column in others if column.is_interval and not column.missing
    ]
    cells = [column.name for column in others if column.name not in numbers]
    return Gaussian.for_schema(schema, label=target, one_hot=cells)


def _microaggregate(schema: Schema, k: int, train: pd.DataFrame) -> pd.DataFrame:
    """Apply MDAV to the complete number columns, as in the book."""
    numbers = [
        column.name
        for column in schema.columns
        if column.is_interval
        and pd.api.types.is_numeric_dtype(train[column.name])
        and train[column.name].notna().all()
    ]
    if not numbers:
        raise ParameterError(
            "the column holds no numbers", remedy="choose another column"
        )
    names = [name for name in schema.domain.names if name in train]
    plan = Plan(
        roles={
            name: "quasi-identifier" if name in numbers else "insensitive"
            for name in names
        },
        hierarchies={},
        models=(KAnonymity(k=k),),
        method=Microaggregation(),
    )
    return apply(train[names], plan)
