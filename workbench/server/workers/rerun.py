"""Run the recipe of a release again in memory, on other rows."""

import dataclasses
from dataclasses import dataclass

import pandas as pd

from dpcore.accounting.loss import AnyLoss, loss_from_fields
from dpcore.accounting.memory import MemoryLedger
from dpcore.curator import Curator
from dpcore.evaluation import CanaryReport, LossAudit, audit_loss, audit_with_canaries
from dpcore.release import Release
from dpcore.schema import PrivacyUnit, Schema
from dpcore.synthesis import Recipe, load_recipe


def drop_id_column(schema: Schema) -> Schema:
    """Return the schema without the column that names people, with the same row cap."""
    return dataclasses.replace(schema, unit=PrivacyUnit(max_rows=schema.unit.max_rows))


def run_in_memory(
    recipe: Recipe, loss: AnyLoss, schema: Schema, frame: pd.DataFrame
) -> Release:
    """Run a recipe under a temporary ledger; its result is not for publication."""
    columns = tuple(
        dataclasses.replace(column, found=None) for column in schema.columns
    )
    unit = dataclasses.replace(schema.unit, found="")
    # treat privately found facts as declared, so that the run does not search again
    known = dataclasses.replace(schema, columns=columns, unit=unit)
    return Curator.open(frame, known, budget=loss, ledger=MemoryLedger()).run(
        recipe, loss
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class RecipeRun:
    """Recipe, loss and schema of a release, to run on other rows in a worker."""

    recipe: Recipe
    loss: AnyLoss
    schema: Schema

    def __call__(self, frame: pd.DataFrame) -> Release:
        return run_in_memory(self.recipe, self.loss, self.schema, frame)

    def draw_rows(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Run the recipe on these rows, and return rows drawn from the new release."""
        return self(frame).sample(seed=0)


def recipe_run_of(release: Release, schema: Schema) -> RecipeRun | None:
    """Return the recipe run of a release; None if the release does not record it."""
    recipe = None if release.part else load_recipe(release.recipe)
    if recipe is None or not {"epsilon"} & set(release.guarantee.loss):
        return None
    return RecipeRun(
        recipe=recipe, loss=loss_from_fields(release.guarantee.loss), schema=schema
    )


def audit(
    recipe_run: RecipeRun, frame: pd.DataFrame, canaries: int, delta: float
) -> CanaryReport:
    """Run a recipe once on rows with canaries; bound epsilon by guesses about them.

    Args:
        recipe_run: recipe to run, on rows without a column of people.
        frame: rows that may be public.
        canaries: invented people, each planted with chance one half.
        delta: at which the bound holds.
    """
    return audit_with_canaries(
        recipe_run, frame, recipe_run.schema, canaries=canaries, delta=delta
    )


def prove_loss(recipe_run: RecipeRun, runs: int, max_seconds: float) -> LossAudit:
    """Run a recipe again and again on invented rows, and bound its loss from below.

    Args:
        recipe_run: recipe to run, on rows without a column of people.
        runs: at most.
        max_seconds: after which no other run begins.
    """
    return audit_loss(recipe_run, recipe_run.schema, runs=runs, max_seconds=max_seconds)
