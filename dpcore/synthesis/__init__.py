"""Recipes: what to learn from a table under a stated loss; and the models they learn."""

from __future__ import annotations

from dpcore.release import FILE_READERS, Model
from dpcore.synthesis.answer import Answer
from dpcore.synthesis.base import Expected, Recipe
from dpcore.synthesis.categories import Categories, FoundCategories
from dpcore.synthesis.chain import ChainModel
from dpcore.synthesis.closeness import (
    Closeness,
    Pipeline,
    Record,
    Step,
    closeness_step,
    model_steps,
    sample_steps,
    sample_test,
)
from dpcore.synthesis.conditional import Conditioned
from dpcore.synthesis.cuts import quantile_cuts
from dpcore.synthesis.discrete.adaptive import Adaptive
from dpcore.synthesis.discrete.model import SyntheticModel
from dpcore.synthesis.discrete.tree import Tree
from dpcore.synthesis.gaussian.model import GaussianModel
from dpcore.synthesis.gaussian.recipe import Gaussian
from dpcore.synthesis.marginals import Histogram, Independent, Joint, Marginals
from dpcore.synthesis.release.pooling import Pooled, pool
from dpcore.synthesis.release.read import read_release
from dpcore.synthesis.release.row_count import RowCount, answer, askable, count_rows
from dpcore.synthesis.some_columns import SomeColumns
from dpcore.synthesis.statistics import Figure, Figures, Statistics
from dpcore.synthesis.stored import describe, load_model, load_recipe

FILE_READERS.append(read_release)

__all__ = [
    "Adaptive",
    "Answer",
    "Categories",
    "ChainModel",
    "Closeness",
    "Conditioned",
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
    "Pipeline",
    "Pooled",
    "Recipe",
    "Record",
    "RowCount",
    "SomeColumns",
    "Statistics",
    "Step",
    "SyntheticModel",
    "Tree",
    "answer",
    "askable",
    "closeness_step",
    "count_rows",
    "describe",
    "load_model",
    "load_recipe",
    "model_steps",
    "pool",
    "quantile_cuts",
    "sample_steps",
    "sample_test",
]
