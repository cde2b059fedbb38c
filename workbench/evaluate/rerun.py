"""Recipes that run again in memory, on half of the people, on rows with canaries, or on
public tables.
"""

import dataclasses
from dataclasses import dataclass

import pandas as pd

from dpcore.accounting.loss import AnyLoss, loss_from_fields
from dpcore.accounting.memory import MemoryLedger
from dpcore.curator import Curator
from dpcore.evaluation import CanaryReport, canary_audit
from dpcore.release import Release
from dpcore.schema import PrivacyUnit, Schema
from dpcore.synthesis import Recipe, load_recipe


def without_people(schema: Schema) -> Schema:
    """Return the schema of rows that name nobody, of whom a person may have as many as
    before.
    """
    return dataclasses.replace(schema, unit=PrivacyUnit(max_rows=schema.unit.max_rows))


def run(recipe: Recipe, loss: AnyLoss, schema: Schema, frame: pd.DataFrame) -> Release:
    """Run a recipe under a ledger that is forgotten; nothing of it may be published."""
    columns = tuple(
        dataclasses.replace(column, found=None) for column in schema.columns
    )
    unit = dataclasses.replace(schema.unit, found="")
    # nothing is found again
    known = dataclasses.replace(schema, columns=columns, unit=unit)
    return Curator.open(frame, known, budget=loss, ledger=MemoryLedger()).run(
        recipe, loss
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class RecipeRun:
    """The recipe, loss and schema of a release, to be run again on other rows; it goes
    to workers.
    """

    recipe: Recipe
    loss: AnyLoss
    schema: Schema

    def __call__(self, frame: pd.DataFrame) -> Release:
        return run(self.recipe, self.loss, self.schema, frame)

    def rows(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return rows drawn from the new release."""
        return self(frame).sample(seed=0)


def maker(release: Release, schema: Schema) -> RecipeRun | None:
    """Return the run that made a release, to be repeated; None where that cannot be
    told from it.
    """
    recipe = None if release.part else load_recipe(release.recipe)
    if recipe is None or not {"epsilon"} & set(release.guarantee.loss):
        return None
    return RecipeRun(
        recipe=recipe, loss=loss_from_fields(release.guarantee.loss), schema=schema
    )


def audit(
    recipe_run: RecipeRun, frame: pd.DataFrame, canaries: int, delta: float
) -> CanaryReport:
    """Run once on rows with canaries, and bound epsilon by the guesses which of them
    are in.

    Args:
        recipe_run: of a recipe whose rows name nobody.
        frame: rows that may be public.
        canaries: invented people, each planted with chance one half.
        delta: at which the bound holds.
    """
    return canary_audit(
        recipe_run, frame, recipe_run.schema, canaries=canaries, delta=delta
    )
