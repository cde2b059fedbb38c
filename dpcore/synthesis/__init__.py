"""Recipes: what to learn from a table under a stated loss; and the models they learn."""

from __future__ import annotations

from typing import Any

from dpcore.release import Model
from dpcore.synthesis.base import Expected, Recipe
from dpcore.synthesis.chain import ChainModel
from dpcore.synthesis.marginals import Histogram, Independent, Joint, Marginals

MODELS: dict[str, Any] = {model.kind: model for model in (ChainModel,)}


def load_model(fields: dict[str, Any]) -> Model:
    """The model that `to_dict` wrote."""
    model: Model = MODELS[fields["kind"]].from_dict(fields)
    return model


__all__ = [
    "ChainModel",
    "Expected",
    "Histogram",
    "Independent",
    "Joint",
    "Marginals",
    "Model",
    "Recipe",
    "load_model",
]
