"""A recipe run again in memory: on half of the people, on public rows with canaries, on invented ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pandas as pd

from dpcore.accounting.loss import AnyLoss, loss_from
from dpcore.accounting.memory import MemoryLedger
from dpcore.curator import Curator
from dpcore.release import Release
from dpcore.schema import Schema
from dpcore.synthesis import Recipe, load_recipe


def without_people(schema: Schema) -> Schema:
    """The schema for rows that name nobody, such as drawn ones; a person may have as many rows as before."""
    return dataclasses.replace(schema, unit=dataclasses.replace(schema.unit, id_column=None))


def run(recipe: Recipe, loss: AnyLoss, schema: Schema, frame: pd.DataFrame) -> Release:
    """One run under a ledger that is forgotten; nothing of it may be published."""
    curator = Curator.open(frame, schema, budget=loss, ledger=MemoryLedger())
    return curator.run(recipe, loss)


def maker(release: Release, schema: Schema) -> Callable[[pd.DataFrame], Release] | None:
    """What made a release, to be run again; None where that cannot be told from it."""
    recipe = None if release.part else load_recipe(release.recipe)
    if recipe is None or not {"epsilon"} & set(release.guarantee.loss):
        return None
    return lambda frame: run(recipe, loss_from(release.guarantee.loss), schema, frame)
