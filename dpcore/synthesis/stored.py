"""Models and recipes as ledgers store them: read back, and told in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpcore.release import Model
from dpcore.synthesis.base import Recipe, columns_text
from dpcore.synthesis.categories import Categories, FoundCategories
from dpcore.synthesis.chain import ChainModel
from dpcore.synthesis.closeness import Closeness
from dpcore.synthesis.conditional import Conditioned
from dpcore.synthesis.discrete.adaptive import Adaptive
from dpcore.synthesis.discrete.model import SyntheticModel
from dpcore.synthesis.discrete.tree import Tree
from dpcore.synthesis.gaussian.model import GaussianModel
from dpcore.synthesis.gaussian.recipe import Gaussian
from dpcore.synthesis.marginals import Histogram, Independent, Joint, Marginals
from dpcore.synthesis.some_columns import SomeColumns
from dpcore.synthesis.statistics import Figures, Statistics
from dpcore.text import Text

MODELS: dict[str, Any] = {
    model.kind: model for model in (ChainModel, Figures, FoundCategories, GaussianModel, SyntheticModel)
}
RECIPES: dict[str, type[Recipe]] = {
    recipe.kind: recipe
    for recipe in (
        Adaptive,
        Categories,
        Closeness,
        Gaussian,
        Histogram,
        Independent,
        Joint,
        Marginals,
        Statistics,
        Tree,
    )
}


def load_model(fields: Mapping[str, Any]) -> Model:
    """The model that `to_dict` wrote."""
    if fields["kind"] == Conditioned.kind:
        return Conditioned.of(load_model(fields["model"]), fields["cells"])
    model: Model = MODELS[fields["kind"]].from_dict(fields)
    return model


def load_recipe(fields: Mapping[str, Any]) -> Recipe | None:
    """The recipe that `to_dict` wrote; None where it is of an unknown kind, or was not written out whole."""
    if fields["kind"] == SomeColumns.kind:
        recipe = load_recipe(fields["recipe"])
        return None if recipe is None else SomeColumns(columns=tuple(fields["columns"]), recipe=recipe)
    return RECIPES[fields["kind"]].from_dict(fields) if fields["kind"] in RECIPES else None


def describe(fields: Mapping[str, Any]) -> str:
    """What the recipe that `to_dict` wrote asks, in a few words; its kind where that is unknown."""
    if fields["kind"] == SomeColumns.kind:
        return Text(
            "{recipe}: {columns}", recipe=describe(fields["recipe"]), columns=columns_text(fields["columns"])
        )
    return RECIPES[fields["kind"]].describe(fields) if fields["kind"] in RECIPES else str(fields["kind"])
