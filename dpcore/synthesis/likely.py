"""The error to expect where the number of rows is about known; a quote promises without knowing it."""

from __future__ import annotations

from dpcore.accounting.loss import Loss
from dpcore.schema.domain import Domain
from dpcore.synthesis.base import Expected, Recipe
from dpcore.synthesis.discrete.adaptive import Adaptive
from dpcore.synthesis.discrete.columns import likely_columns
from dpcore.synthesis.discrete.tree import Tree
from dpcore.synthesis.some_columns import SomeColumns


def likely(
    recipe: Recipe, domain: Domain, loss: Loss, *, rows: int, table_rows: float
) -> tuple[Expected, ...]:
    """The error of the published counts; as `Recipe.expect` where the recipe does not ask how many rows are.

    Tree and Adaptive give one-way counts a share of the loss that depends on the noisy number of rows (see
    `one_way_share`); `expect` takes the smallest one, up to 4.5 times too pessimistic for small tables.
    Reads no data.

    Args:
        rows: that a person may hold.
        table_rows: about how many rows there are, from public knowledge; 0 where that is not known.
    """
    if isinstance(recipe, SomeColumns):
        inner = domain.project(recipe.columns)
        return likely(recipe.recipe, inner, loss, rows=rows, table_rows=table_rows)
    if table_rows and isinstance(recipe, Tree | Adaptive):
        return likely_columns(domain, recipe.constraints, loss, rows, table_rows=table_rows)
    return recipe.expect(domain, loss, rows)
