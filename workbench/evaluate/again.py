"""A recipe run again in memory: on half of the people, on public rows with canaries, on invented ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from dpcore.accounting.loss import AnyLoss, ApproxDP, PureDP
from dpcore.accounting.memory import MemoryLedger
from dpcore.curator import Curator
from dpcore.release import Release
from dpcore.schema import Schema
from dpcore.synthesis import (
    Adaptive,
    Gaussian,
    Histogram,
    Independent,
    Joint,
    Marginals,
    Recipe,
    SomeColumns,
    Tree,
)
from dpcore.synthesis.constraints import Constraints


def recipe_of(fields: Mapping[str, Any]) -> Recipe | None:
    """The recipe that a release names; None for one that cannot be run again from its name."""
    kind = fields["kind"]
    if kind == "histogram":
        return Histogram(fields["column"])
    if kind == "marginals":
        return Marginals(cliques=tuple(map(tuple, fields["cliques"])), weights=fields.get("weights"))
    if kind in ("independent", "joint"):
        return (Independent if kind == "independent" else Joint)(columns=tuple(fields["columns"]))
    if kind == "gaussian":
        groups = fields["groups"]
        return Gaussian(
            label=fields["label"],
            features=tuple(fields["features"]),
            one_hot=tuple(fields["one_hot"]),
            groups=None if groups is None else tuple(map(tuple, groups)),
            detail=fields["detail"],
        )
    if kind == "some columns":
        inner = recipe_of(fields["recipe"])
        return None if inner is None else SomeColumns(columns=tuple(fields["columns"]), recipe=inner)
    if kind in ("tree", "adaptive") and not fields.get("earlier"):
        ordered = frozenset(fields["ordered"])
        constraints = Constraints.from_dict(fields["constraints"])
        if kind == "tree":
            return Tree(ordered=ordered, constraints=constraints)
        weights = {tuple(clique): weight for clique, weight in fields["weights"]}
        return Adaptive(
            degree=fields["degree"],
            weights=weights,
            rounds=fields["rounds"],
            max_cells=fields["max_cells"],
            ordered=ordered,
            constraints=constraints,
        )
    return None


def loss_of(release: Release) -> AnyLoss:
    """The loss that a release cost."""
    loss = release.guarantee.loss
    if "delta" in loss:
        return ApproxDP(epsilon=loss["epsilon"], delta=loss["delta"])
    return PureDP(epsilon=loss["epsilon"])


def without_people(schema: Schema) -> Schema:
    """The schema for rows that name nobody, such as drawn ones; a person may have as many rows as before."""
    return dataclasses.replace(schema, unit=dataclasses.replace(schema.unit, id_column=None))


def run(recipe: Recipe, loss: AnyLoss, schema: Schema, frame: pd.DataFrame) -> Release:
    """One run under a ledger that is forgotten; nothing of it may be published."""
    curator = Curator.open(frame, schema, budget=loss, ledger=MemoryLedger())
    return curator.run(recipe, loss)


def maker(release: Release, schema: Schema) -> Callable[[pd.DataFrame], Release] | None:
    """What made a release, to be run again; None where that cannot be told from it."""
    recipe = None if release.part else recipe_of(release.recipe)
    if recipe is None or not {"epsilon"} & set(release.guarantee.loss):
        return None
    return lambda frame: run(recipe, loss_of(release), schema, frame)
