"""Recipes that learn from a table under a stated loss, and the models that they learn."""

from __future__ import annotations

from dpcore.model import Model, load_model
from dpcore.synthesis.base import Expected, Recipe, SomeColumns, describe, load_recipe
from dpcore.synthesis.categories import Categories, FoundCategories
from dpcore.synthesis.chain import ChainModel
from dpcore.synthesis.closeness import (
    Closeness,
    Step,
    closeness_step,
    combinations_step,
    model_steps,
    sample_steps,
    sample_test,
)
from dpcore.synthesis.discrete.model import SyntheticModel
from dpcore.synthesis.discrete.recipes import Adaptive, Tree
from dpcore.synthesis.gaussian.model import GaussianModel
from dpcore.synthesis.gaussian.recipe import Gaussian
from dpcore.synthesis.marginals import Histogram, Independent, Joint, Marginals
from dpcore.synthesis.release.pooling import Pooled
from dpcore.synthesis.release.read import read_release
from dpcore.synthesis.release.row_count import RowCount, askable, count_rows
from dpcore.synthesis.statistics import Figure, Figures, Statistics

__all__ = [
    "Adaptive",
    "Categories",
    "ChainModel",
    "Closeness",
    "Expected",
    "Figure",
    "Figures",
    "FoundCategories",
    "Gaussian",
    "GaussianModel",
    "Histogram",
    "Independent",
    "Joint",
    "Marginals",
    "Model",
    "Pooled",
    "Recipe",
    "RowCount",
    "SomeColumns",
    "Statistics",
    "Step",
    "SyntheticModel",
    "Tree",
    "askable",
    "closeness_step",
    "combinations_step",
    "count_rows",
    "describe",
    "load_model",
    "load_recipe",
    "model_steps",
    "read_release",
    "sample_steps",
    "sample_test",
]
